"""The plugins that start Java, HBase and catalogs, and the number of examples per property."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from _pytest.unraisableexception import gc_collect_iterations_key
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadGroupScheduling

from ramdisk import RAM_FOLDER

# Tests start the command some hundred times, so the compiled files are kept even where the shell
# forbids it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

pytest_plugins = [
    "oracles.plugin",
    "cluster.plugin",
    "catalog.plugin",
    "chromium.plugin",
    "searches",
]

MAX_ID_LENGTH = 60
EARLY_PLACES = (
    "cluster",
    "portal",
    "reliability",
    "render",
    "docs",
    "verdicts",
    "table",
    "simulate",
    "cli",
)
"""Folders whose tests take long: begun first, they leave no process alone at the end."""
IGNORED_HEALTH_CHECKS = [
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
]
# `make test` tries the same cases on every machine, so that it fails for what was changed and for
# nothing else; `make test-long` draws new ones each time.
settings.register_profile(
    "test",
    max_examples=12,
    derandomize=True,
    deadline=None,
    suppress_health_check=IGNORED_HEALTH_CHECKS,
)
settings.register_profile(
    "long", max_examples=50, deadline=None, suppress_health_check=IGNORED_HEALTH_CHECKS
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "test")
settings.load_profile(PROFILE)
# Tables wait for the disk most of the time; `make test-long` uses it.
if RAM_FOLDER is not None and PROFILE != "long":
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", RAM_FOLDER)


@pytest.fixture(scope="session", autouse=True)
def _remove_folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Free the memory that the folders of tests take, at the end of a run without failures."""
    yield
    if not request.session.testsfailed:
        shutil.rmtree(tmp_path_factory.getbasetemp(), ignore_errors=True)


_FOLDER_NUMBERS = count()


def pytest_configure(config: pytest.Config) -> None:
    """Let tests interrupt their processes, also where a shell runs pytest in the background."""
    config.stash[gc_collect_iterations_key] = 1  # five take seconds at the end of each process
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class FileScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """Run the tests of a file, or of an `xdist_group` of several files, in one process.

    xdist's own scheduler sends each test alone, in time that grows with the square of their number.
    """

    def _split_scope(self, nodeid: str) -> str:
        """Return the name of the group or the path of the file of a test."""
        scope = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if scope == nodeid else scope


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadGroupScheduling | None:
    """Return the scheduler of `--dist loadgroup`."""
    return FileScheduling(config, log) if config.getoption("dist") == "loadgroup" else None


def pytest_collection() -> None:
    """Do without the garbage collector while a million objects are made that all stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage again during the tests, but never what was made until now."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Look for doctests in files that have an example only."""
    outcome: Any = yield
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        outcome.force_result(
            [one for one in outcome.get_result() if not isinstance(one, DoctestModule)]
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests of the cluster, one long piece of work, and of slow folders."""
    if changing := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        # Each worker collects for itself, and refuses to begin where another has other names.
        raise pytest.UsageError(f"names of tests hold addresses: {changing[0]}; give ids=")
    places = {name: rank for rank, name in enumerate(EARLY_PLACES)}

    def rank(item: pytest.Item) -> int:
        if item.get_closest_marker("cluster"):
            return -1
        folders = item.path.relative_to(item.config.rootpath).parts[1:]
        return places.get(folders[0], len(places)) if folders else len(places)

    items.sort(key=rank)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new empty folder; pytest's own fixture lists the folders of all tests before it."""
    name = f"{request.node.originalname[:MAX_ID_LENGTH]}-{next(_FOLDER_NUMBERS)}"
    return tmp_path_factory.mktemp(name, numbered=False)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Return a short id for a long parameter: some have ten million characters."""
    if not isinstance(val, str | bytes) or len(val) <= MAX_ID_LENGTH:
        return None
    text = val if isinstance(val, str) else val.decode("latin-1")
    return f"{text[:MAX_ID_LENGTH]}... {len(val)}".encode("unicode_escape").decode()
