"""Several tables of one directory can be open in one process, each once."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rowkey
from rowkey.cells import Family
from rowkey.engines import open_engine
from rowkey.engines.rocksdb_files.descriptor import (
    Descriptor,
    read_descriptor,
    write_descriptor,
)
from rowkey.errors import CorruptionError, RowkeyError, Unavailable
from rowkey.table import drop_table, verify_tables

DESIGNS = [rowkey.Design(name, "[id]", fields={"id": "u32"}) for name in ("a", "b")]


def test_two_tables_of_one_directory_can_be_open_at_once(tmp_path: Path) -> None:
    """Two calls of `open` give two tables, and closing one leaves the other."""
    url = f"rocks:{tmp_path}"
    first = rowkey.open(DESIGNS[0], url)
    with rowkey.open(DESIGNS[1], f"rocks:{tmp_path}/../{tmp_path.name}") as second:
        first.put({"id": 1})
        first.close()
        second.put({"id": 2})
        with pytest.raises(RowkeyError):
            first.put({"id": 3})
        with rowkey.open(DESIGNS[0], url) as again:
            assert [{"id": 1}] == list(again.scan())
    with rowkey.open(DESIGNS[1], url) as table:
        assert [{"id": 2}] == list(table.scan())


def test_opening_a_table_that_is_open_already_is_refused(tmp_path: Path) -> None:
    """A second opening, a drop and a verification of an open table are one plain sentence."""
    url = f"rocks:{tmp_path}"
    with rowkey.open(DESIGNS[0], url) as table:
        table.put({"id": 1})
        for use in (
            lambda: rowkey.open(DESIGNS[0], url),
            lambda: rowkey.open("a", url),
            lambda: drop_table("a", url),
            lambda: list(verify_tables(url)),
        ):
            with pytest.raises(Unavailable, match="table a: the table is open already, by another"):
                use()
        table.put({"id": 2})
        assert 2 == table.count()
    assert all(one.is_sound for one in verify_tables(url))


def test_threads_open_and_close_tables_of_one_directory_without_errors(tmp_path: Path) -> None:
    """Threads that open, write and close tables of their own never meet a closed lock."""

    def write(number: int) -> int:
        design = rowkey.Design(f"t{number}", "[id]", fields={"id": "u32"})
        for index in range(4):
            with rowkey.open(design, f"rocks:{tmp_path}") as table:
                table.put({"id": index})
                count = table.count()
        return count

    with ThreadPoolExecutor(4) as pool:
        assert [4] * 4 == list(pool.map(write, range(4)))


def test_descriptors_written_by_several_threads_do_not_mix(tmp_path: Path) -> None:
    """Threads that write descriptors of tables of one directory each write their own table's."""

    def write(number: int) -> list[str]:
        directory = tmp_path / f"t{number}"
        directory.mkdir()
        found = []
        for index in range(50):
            write_descriptor(directory, Descriptor((Family("d"),), f"{number}-{index}"))
            found.append(read_descriptor(directory).table_id)
        return found

    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(write, range(4)))
    assert [[f"{number}-{index}" for index in range(50)] for number in range(4)] == written


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_table_that_was_not_closed_can_be_opened_after_garbage_collection(tmp_path: Path) -> None:
    """A table that was not closed and is gone can be opened again, and the lock file is free."""
    fcntl = pytest.importorskip("fcntl")
    url = f"rocks:{tmp_path}"
    table: rowkey.Table | None = rowkey.open(DESIGNS[0], url)
    assert table is not None
    table.put({"id": 1})
    table = None
    gc.collect()
    with (tmp_path / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with rowkey.open(DESIGNS[0], url) as again:
        assert [{"id": 1}] == list(again.scan())


def test_a_failed_opening_does_not_keep_other_engines_from_the_table(tmp_path: Path) -> None:
    url = f"rocks:{tmp_path}"
    with rowkey.open(DESIGNS[0], url) as table:
        table.put({"id": 1})
    descriptor = tmp_path / "a" / "descriptor.json"
    intact = descriptor.read_bytes()
    with open_engine(url) as engine:
        descriptor.write_bytes(b"")
        with pytest.raises(CorruptionError):
            engine.open_table("a")
        descriptor.write_bytes(intact)
        with rowkey.open(DESIGNS[0], url) as table:
            assert 1 == table.count()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_is_refused_while_its_parent_has_the_directory_open(tmp_path: Path) -> None:
    """A forked child is refused while its parent has the directory open, and opens it later."""
    url = f"rocks:{tmp_path}"
    with rowkey.open(DESIGNS[0], url):
        child = os.fork()
        if child == 0:  # pragma: no cover
            try:
                rowkey.open(DESIGNS[1], url)
            except Unavailable:
                os._exit(7)
            os._exit(1)
        assert 7 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with rowkey.open(DESIGNS[1], url) as table:
        table.put({"id": 1})
