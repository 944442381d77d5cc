"""Every exception of rowkey can be pickled and copied."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

import pytest

import rowkey
from rowkey.errors import Mistake, OneMistakeError, RowError, Unavailable
from rowkey.hbase.errors import ConnectionLost, FailedAction
from rowkey.hbase.registry.contract import NodeFailure

ARGUMENTS: dict[str, Any] = {
    "str": "host",
    "int": 7,
    "bool": True,
    "Any": "value",
    "str | None": "server:16020",
    "bytes | None": b"row",
    "HBaseError | None": ConnectionLost("server:16020", "the server is gone"),
    "Iterable[Mistake]": [Mistake("key", "is missing", "a key", "Write one.", 3, 4)],
    "Sequence[Mistake]": [Mistake("url", "is empty"), Mistake("port", "is 0")],
    "Iterable[tuple[int, RowError]]": [(3, RowError("host", "it is missing"))],
    "Sequence[NodeFailure]": [NodeFailure("zk1:2181", "no answer", False)],
    "Iterable[FailedAction]": [FailedAction(0, b"r", None, None, ConnectionLost("t", "is gone"))],
    "StdinRowWriter": SimpleNamespace(first_errors=[], refused_count=2),
}
"""A value for each type of argument that the constructor of an exception takes."""


def list_error_classes() -> list[type[BaseException]]:
    """Return every exception class that a module of rowkey defines, in order of their names."""
    classes: set[type[BaseException]] = set()
    for module in pkgutil.walk_packages(rowkey.__path__, "rowkey."):
        if not module.name.endswith("__main__"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and issubclass(value, BaseException):
                    classes.add(value)
    own = (one for one in classes if one.__module__.startswith("rowkey"))
    return sorted(own, key=lambda each: f"{each.__module__}.{each.__qualname__}")


def build_error(error_class: type[BaseException]) -> BaseException:
    """Return an error with a value for each argument of its constructor."""
    if not inspect.isfunction(error_class.__init__):
        return error_class("text", 7)
    positional, keywords = [], {}
    for parameter in list(inspect.signature(error_class.__init__).parameters.values())[1:]:
        value = ARGUMENTS[str(parameter.annotation)]
        if parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = value
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            positional.append(value)
    return error_class(*positional, **keywords)


@pytest.mark.parametrize(
    "error_class", list_error_classes(), ids=lambda each: f"{each.__module__}.{each.__qualname__}"
)
def test_a_pickled_error_keeps_its_class_text_and_attributes(
    error_class: type[BaseException],
) -> None:
    """A pickled or copied error has the class, the text and the attributes of the first."""
    error = build_error(error_class)
    error.__dict__.update(added=(1, 2))
    for restored in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(restored) is error_class
        assert str(restored) == str(error)
        assert repr(restored.args) == repr(error.args)
        assert repr(restored.__dict__) == repr(error.__dict__)


def test_a_pickled_mistake_keeps_its_parts() -> None:
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
def test_an_error_in_a_worker_process_reaches_the_caller_of_the_pool() -> None:
    """A pool of processes raises the error of its worker and goes on."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for _ in range(2):
            with pytest.raises(OneMistakeError, match="no server answers"):
                pool.submit(raise_unavailable).result(timeout=60)
