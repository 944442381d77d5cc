"""Other threads see a row as before or as after a change that is delayed at the worst moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from tempfile import TemporaryDirectory
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.engines.hbase.row_clock import ClusterClock
from rowkey.engines.pairs.row_decoder import read_row_cells
from rowkey.table.row_writer import RowWriter
from table.linear_history import ABSENT, Client, RowHistory, build_design, require_linearizable

if TYPE_CHECKING:
    from rowkey.cells import Cell, RowCells
    from rowkey.engines import CellSelection

ROWS = range(8)
"""Rows of which some have another place among eight buckets than among four."""
READ_A_ROW = "rowkey.engines.rocksdb.store.read_row_cells"
DELAY_S = 0.3
"""Seconds that a change waits for others that may have to wait for it."""


def put_and_note(client: Client, row: int, **values: Any) -> None:
    """Put a row and note the operation."""
    client._note(row, "put", values, lambda: client.table.put({"id": row, **values}))


def delete_and_note(client: Client, row: int) -> None:
    """Delete a row and note the operation."""
    client.do_delete(row, [row])


def replace_and_note(client: Client, row: int) -> None:
    """Replace a row by its key alone and note the operation."""
    client._note(row, "replace", {}, lambda: client.table.replace({"id": row}))


def put_null_and_note(client: Client, row: int) -> None:
    """Put a null into one column and note the operation."""
    put_and_note(client, row, a=None)


def check_and_put_and_note(client: Client, row: int) -> None:
    """Put a null into one column on a condition and note the operation."""
    given = (("b", 1), {"a": None})
    change = {"id": row, "a": None}
    client._note(row, "check_and_put", given, lambda: client.table.check_and_put(change, b=1))


CHANGES = (delete_and_note, replace_and_note, put_null_and_note, check_and_put_and_note)


def require_one_order(client: Client) -> None:
    """Fail unless some order explains all operations that a client noted of each row."""
    noted: dict[int, RowHistory] = {}
    for row, one in client.noted:
        noted.setdefault(row, RowHistory(row, ABSENT, [])).operations.append(one)
    require_linearizable(noted.values())


@contextmanager
def open_two_count_table(engine: str) -> Iterator[Client]:
    """Open a table with rows of four buckets, part of which were put again with eight."""
    with (
        TemporaryDirectory(dir=RAM_FOLDER) as place,
        rowkey.open(build_design(), f"{engine}:{place}", max_stale=0.1) as table,
    ):
        client = Client(table, 0, 0, count(1))
        for row in ROWS:
            put_and_note(client, row, a=1, b=1)
        table.set_buckets(8)
        for row in ROWS:
            put_and_note(client, row, a=2)
        yield client


def test_a_later_put_does_not_overtake_a_delayed_put(monkeypatch: pytest.MonkeyPatch) -> None:
    """A put with a later timestamp does not overtake a delayed put."""
    with rowkey.open(build_design(), "memory:") as table:
        clock = ClusterClock(lambda: time.time_ns() // 1_000_000)
        monkeypatch.setattr(table.writer, "clock", clock)
        client = Client(table, 0, 0, count(1))
        put_and_note(client, 1, a=0, s="old")
        send, is_stamped, may_send = table.store.mutate, Event(), Event()

        def send_late(mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
            if current_thread() is late:
                is_stamped.set()
                may_send.wait(DELAY_S)
            send(mutations, sync=sync)

        late = Thread(target=lambda: put_and_note(client, 1, a=1, s="new"))
        monkeypatch.setattr(table.store, "mutate", send_late)
        late.start()
        is_stamped.wait()
        time.sleep(0.005)  # so that the next put has a later timestamp
        put_and_note(client, 1, a=2)
        client.do_get(1, [1])
        may_send.set()
        late.join()
        client.do_get(1, [1])
    require_one_order(client)


@pytest.mark.parametrize("order", [1, -1], ids=["as sent", "backwards"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_two_regions_shows_no_older_value(
    change: Callable[[Client, int], None], order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change in two regions, answered in any order, shows no older value."""
    with open_two_count_table("memory") as client:
        send = client.table.store.mutate

        def send_apart(mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
            for mutation in mutations[::order]:
                send([mutation], sync=sync)
                client.do_get(row, [row])

        monkeypatch.setattr(client.table.store, "mutate", send_apart)
        monkeypatch.setattr(type(client.table.store), "is_shared", True)
        for row in ROWS:
            change(client, row)
            client.do_get(row, [row])
    require_one_order(client)


@pytest.mark.parametrize("n_gets", [1, 2, 3])
@pytest.mark.parametrize("change", CHANGES)
def test_a_row_that_changes_between_two_gets_of_a_read_is_never_mixed(
    change: Callable[[Client, int], None], n_gets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that changes between the gets of a read is returned as before or as after."""
    with open_two_count_table("memory") as client:
        get, gets = client.table.store.get, count()
        changer = Client(client.table, 1, 0, count(1))

        def change_after_get(rows: Sequence[bytes], ask: CellSelection) -> list[RowCells]:
            found = get(rows, ask)
            if next(gets) == n_gets - 1:
                change(changer, row)
            return found

        monkeypatch.setattr(type(client.table.store), "is_shared", True)
        for row in ROWS:
            gets = count()
            monkeypatch.setattr(client.table.store, "get", change_after_get)
            client.do_get(row, [row])
            monkeypatch.setattr(client.table.store, "get", get)
            client.do_get(row, [row])
        client.noted += changer.noted
    require_one_order(client)


@pytest.mark.parametrize("change", CHANGES)
def test_a_row_that_changes_between_two_embedded_reads_is_never_mixed(
    change: Callable[[Client, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No change occurs between an embedded engine's reads of two places."""
    with open_two_count_table("rocks") as client:
        changer, changes = Client(client.table, 1, 0, count(1)), list[Thread]()

        def read_late(*given: Any) -> list[Cell]:
            found: list[Cell] = read_row_cells(*given)
            if not changes:
                changes.append(Thread(target=change, args=(changer, row)))
                changes[0].start()
                changes[0].join(DELAY_S / 3)  # it may have to wait for the read
            return found

        for row in ROWS:
            changes = []
            monkeypatch.setattr(READ_A_ROW, read_late)
            client.do_get(row, [row])
            monkeypatch.setattr(READ_A_ROW, read_row_cells)
            changes[0].join()
            client.do_get(row, [row])
        client.noted += changer.noted
    require_one_order(client)


@pytest.mark.parametrize("engine", ["memory", "rocks"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_by_several_embedded_calls_shows_no_older_value(
    engine: str, change: Callable[[Client, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change by several calls of an embedded engine shows no older value in between."""
    send, readers = RowWriter.send_mutations, []

    def send_late(
        writing: RowWriter, mutations: Sequence[RowCells], *, sync: bool | None = None
    ) -> None:
        reader = Thread(target=lambda: client.do_get(row, [row]))
        reader.start()
        reader.join(DELAY_S / 10)  # it may have to wait for the change
        readers.append(reader)
        send(writing, mutations, sync=sync)

    with open_two_count_table(engine) as client:
        monkeypatch.setattr(RowWriter, "send_mutations", send_late)
        for row in ROWS:
            change(client, row)
        for reader in readers:
            reader.join()
    require_one_order(client)
