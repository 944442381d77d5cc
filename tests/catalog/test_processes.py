"""Several processes on one catalog of files: ids stay unique, and no document is torn by a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from catalog.writers import DESIGN, build_entry
from rowkey.catalog import CatalogDictionary, CatalogEntry, open_catalog
from rowkey.catalog.stores import file
from rowkey.errors import Unavailable

SCRIPT = Path(__file__).parent / "writers.py"
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
ALLOCATORS = 4
EACH, KILLS = (120, 12) if IS_LONG else (60, 8)


def start_writers(*arguments: object) -> subprocess.Popen[str]:
    """Start a process that runs a command of `catalog.writers`."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


def test_four_processes_give_each_value_one_unique_id(tmp_path: Path) -> None:
    """Four processes that allocate the same values give every value one unique id."""
    catalog = open_catalog(f"file:{tmp_path}")
    catalog.write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    allocating = start_writers("allocate", tmp_path, ALLOCATORS, EACH)
    lines = allocating.communicate()[0].splitlines()
    assert (0, ALLOCATORS * EACH) == (allocating.returncode, len(lines))
    told = [(line.split()[0], line.split()[1]) for line in lines]
    ids = dict(told)
    assert len(set(told)) == len(ids) == len(set(ids.values()))
    assert list(range(1, len(ids) + 1)) == sorted(map(int, ids.values()))
    dictionary = CatalogDictionary(catalog, "logs", DESIGN.fields)
    assert ids == {
        str(dictionary.find_value("host", number)): str(number) for number in range(1, len(ids) + 1)
    }


HOLDER = """
import fcntl, sys
with open(sys.argv[1], "ab") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.readline()
"""
"""A program that holds a lock until it reads a line."""


def test_a_writer_reports_a_lock_held_by_another_after_a_limited_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer waits for the lock for a limited time and names it; readers need none."""
    catalog = open_catalog(f"file:{tmp_path}")
    version = catalog.write("logs", CatalogEntry.from_design(DESIGN, (), 0), None)
    entry = catalog.read("logs")
    assert entry is not None
    lock = tmp_path / "catalog.lock"
    command = [sys.executable, "-c", HOLDER, str(lock)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        stdin, stdout = holder.stdin, holder.stdout
        assert stdin is not None
        assert stdout is not None
        assert "held\n" == stdout.readline()
        with monkeypatch.context() as patched:
            patched.setattr(file, "LOCK_TIMEOUT_S", 0.05)
            told = "another process has held this lock of the catalog for more than 0.05 s"
            for use in (
                lambda: catalog.write("logs", entry, version),
                lambda: catalog.remove("logs"),
                lambda: catalog.write_note("logs", "word", "text"),
            ):
                with pytest.raises(Unavailable, match=told) as refused:
                    use()
                assert f"{lock}: " in str(refused.value)
                assert f"lsof {lock}" in refused.value.mistake.remedy
        assert entry == catalog.read("logs")
        monkeypatch.setattr(time, "sleep", lambda _: stdin.close())
        monkeypatch.setattr(
            file, "LOCK_TIMEOUT_S", 3_600.0
        )  # it is let go of as soon as it is waited for
        assert version + 1 == catalog.write("logs", entry, version)


def test_a_killed_writer_leaves_a_complete_document(tmp_path: Path) -> None:
    """A writer that is killed at any moment leaves its last entry or the next one, complete."""
    catalog, random = open_catalog(f"file:{tmp_path}"), Random(1)
    with start_writers("rewrite", tmp_path) as forking:
        assert forking.stdin is not None
        assert forking.stdout is not None
        for _ in range(KILLS):
            acknowledged = kill_writer(forking, random.randrange(1, 8), random.random)
            entry = catalog.read("logs")
            assert entry is not None
            assert entry.version in (acknowledged, acknowledged + 1)
            assert replace(build_entry(entry.version), version=entry.version) == entry
            dictionary = CatalogDictionary(catalog, "logs", DESIGN.fields)
            assert entry.version == dictionary.count_ids("host")
            assert f"host-{entry.version - 1}" == dictionary.find_value("host", entry.version)
        forking.stdin.close()
    assert ["logs"] == catalog.list_tables()
    assert {"logs.json", "catalog.lock", "catalog.new"} >= {p.name for p in tmp_path.iterdir()}


def kill_writer(forking: subprocess.Popen[str], writes: int, chance: Callable[[], float]) -> int:
    """Kill a writer and return the last version that it reported as written.

    Args:
        forking: the process that forks a writer for each input line.
        writes: how many it acknowledges at least.
        chance: how far the next one comes, as a part of a loop that does nothing.
    """
    assert forking.stdin is not None
    assert forking.stdout is not None
    forking.stdin.write("go\n")
    forking.stdin.flush()
    child, version, told = 0, 0, 0
    for line in forking.stdout:
        word, number = line.split()
        if word == "gone":
            break
        if word == "forked":
            child = int(number)
        else:
            version, told = int(number), told + 1
        if child and told >= writes:
            for _ in range(int(chance() * 60_000)):
                pass
            os.kill(child, signal.SIGKILL)
            child = 0
    return version
