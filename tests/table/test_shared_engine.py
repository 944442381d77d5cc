"""Tables that share an engine which their process has open."""

from __future__ import annotations

import time
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from threading import Event, Thread

import pytest

import rowkey
from rowkey.catalog import DEFAULT_MAX_STALE_S
from rowkey.engines import open_engine
from rowkey.errors import RowkeyError
from rowkey.table import create_table, open_table

DESIGN = rowkey.Design(
    "logs", "[bucket(host, 2)][host][n]", fields={"host": "text", "n": "i64", "note": "text"}
)

DEADLINE_S = 10
"""Seconds for a writer to follow; without the engine's limit it takes 20 and more."""


def test_closing_a_table_keeps_the_shared_engine_open(tmp_path: Path) -> None:
    """A table that is closed leaves the engine open for the others, and reads their rows."""
    url = f"rocks:{tmp_path / 'data'}"
    row = {"host": "web-1", "n": 1, "note": "x"}
    with open_engine(url) as engine, open_table(DESIGN, url, engine=engine) as table:
        with open_table("logs", url, create=False, engine=engine) as other:
            other.put(row)
        assert row == table.get(host="web-1", n=1)
        assert ["logs"] == [one for one in engine.list_tables() if not one.startswith(".")]


@pytest.mark.parametrize("open_writer", [open_table, create_table])
def test_no_row_is_lost_when_another_table_object_changes_the_buckets(
    tmp_path: Path, open_writer: Callable[..., rowkey.Table]
) -> None:
    """A writer next to the one that changes the number of buckets follows the change in time."""
    url = f"rocks:{tmp_path / 'data'}"
    ended = Event()
    written: list[dict[str, object]] = []
    with open_engine(url) as engine, open_writer(DESIGN, url, engine=engine) as writer:
        assert writer.lease.last_entry.max_stale_s == DEFAULT_MAX_STALE_S  # for other processes

        def write() -> None:
            while not ended.is_set():
                row = {"host": f"web-{len(written)}", "n": len(written), "note": "x"}
                writer.put(row)
                written.append(row)
                ended.wait(0.001)

        thread = Thread(target=write)
        thread.start()
        with open_table("logs", url, create=False, engine=engine) as table:
            try:
                table.set_buckets(8)
                end = time.monotonic() + DEADLINE_S
                while "bucket(host, 8)" not in str(writer.design.key):
                    assert time.monotonic() < end, "the writer does not follow"
                    time.sleep(0.01)
            finally:
                ended.set()
                thread.join()
            assert written == sorted(table.scan(), key=itemgetter("n"))
            assert written[-1] == table.get(written[-1])


def test_a_scan_of_a_table_dropped_meanwhile_ends_with_an_error(tmp_path: Path) -> None:
    """Rows that are read while another thread drops the table end with an error of rowkey."""
    url = f"rocks:{tmp_path / 'data'}"
    with open_engine(url) as engine, open_table(DESIGN, url, engine=engine) as table:
        for n in range(3_000):
            table.put({"host": f"web-{n}", "n": n, "note": "x"})
        rows = iter(table.scan())
        next(rows)
        engine.drop_table("logs")
        with pytest.raises(RowkeyError):
            list(rows)
