"""Every exception of rowkey can be pickled and copied."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import rowkey
from rowkey.errors import OneMistakeError, RowError, RowkeyError, Unavailable


def list_error_classes() -> list[type[RowkeyError]]:
    """Return every exception class of rowkey, in order of their names."""
    for module in pkgutil.walk_packages(rowkey.__path__, "rowkey."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    classes, waiting = [], [RowkeyError]
    while waiting:
        waiting += (found := waiting.pop()).__subclasses__()
        classes.append(found)
    return sorted(classes, key=lambda each: each.__qualname__)


@pytest.mark.parametrize("error_class", list_error_classes(), ids=lambda each: each.__qualname__)
def test_an_error_of_each_class_comes_back_from_a_pickle(error_class: type[RowkeyError]) -> None:
    """A pickled or copied error has the class, the text and the attributes of the first."""
    error = error_class.__new__(error_class)
    error.args = ("key: 'a' is out of range",)
    error.__dict__.update(path="key", numbers=(1, 2))
    for restored in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(restored) is error_class
        assert restored.args == error.args
        assert restored.__dict__ == error.__dict__


def test_a_mistake_survives_a_pickle() -> None:
    """The parts of a message come back as they were, also those of a batch."""
    first = Unavailable("url", "no server answers", "a running server", "Start it.")
    batch = rowkey.BatchError([(3, RowError("host", "it is missing"))], 1, 10)
    assert pickle.loads(pickle.dumps(first)).mistake == first.mistake
    restored = pickle.loads(pickle.dumps(batch))
    assert str(restored) == str(batch)
    assert [number for number, _ in restored.row_errors] == [3]


def raise_unavailable() -> None:
    """Raise the error of a server that does not answer."""
    raise Unavailable("url", "no server answers")


@pytest.mark.long
def test_an_error_of_a_worker_reaches_the_caller_of_a_pool() -> None:
    """A pool of processes raises the error of its worker and goes on."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for _ in range(2):
            with pytest.raises(OneMistakeError, match="no server answers"):
                pool.submit(raise_unavailable).result(timeout=60)
