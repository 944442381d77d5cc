"""What others see of a row while a change of it is on its way, held up at the worst moment."""

from __future__ import annotations

import time
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
from table.linear_history import ABSENT, Client, RowHistory, design, require_linearizable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rowkey.cells import Cell, RowCells
    from rowkey.engines import CellSelection

ROWS = range(8)
"""Rows of which some have another place among eight buckets than among four."""
READ_A_ROW = "rowkey.engines.rocksdb.store.read_row_cells"
HELD_UP_S = 0.3
"""Seconds that a change waits for others that may have to wait for it."""


def put(client: Client, row: int, **values: Any) -> None:
    """Put a row and note it."""
    client._note(row, "put", values, lambda: client.table.put({"id": row, **values}))


def delete(client: Client, row: int) -> None:
    """Delete a row and note it."""
    client.do_delete(row, [row])


def replace_with_nothing(client: Client, row: int) -> None:
    """Take all columns of a row away and note it."""
    client._note(row, "replace", {}, lambda: client.table.replace({"id": row}))


def put_null(client: Client, row: int) -> None:
    """Take one column of a row away and note it."""
    put(client, row, a=None)


def check_and_put_null(client: Client, row: int) -> None:
    """Take one column of a row away if another holds what it does, and note it."""
    given = (("b", 1), {"a": None})
    change = {"id": row, "a": None}
    client._note(row, "check_and_put", given, lambda: client.table.check_and_put(change, b=1))


CHANGES = (delete, replace_with_nothing, put_null, check_and_put_null)


def judge(client: Client) -> None:
    """Fail unless some order explains all that a client has noted of each row."""
    noted: dict[int, RowHistory] = {}
    for row, one in client.noted:
        noted.setdefault(row, RowHistory(row, ABSENT, [])).operations.append(one)
    require_linearizable(noted.values())


@contextmanager
def table_of_two_places(engine: str) -> Iterator[Client]:
    """Open a table whose rows were put under four buckets, and then in part under eight."""
    with (
        TemporaryDirectory(dir=RAM_FOLDER) as place,
        rowkey.open(design(), f"{engine}:{place}", max_stale=0.1) as table,
    ):
        client = Client(table, 0, 0, count(1))
        for row in ROWS:
            put(client, row, a=1, b=1)
        table.set_buckets(8)
        for row in ROWS:
            put(client, row, a=2)
        yield client


def test_a_later_put_is_not_seen_before_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A put on its way to a server is not overtaken by one with a later timestamp."""
    with rowkey.open(design(), "memory:") as table:
        clock = ClusterClock(lambda: time.time_ns() // 1_000_000)
        monkeypatch.setattr(table.writer, "clock", clock)
        client = Client(table, 0, 0, count(1))
        put(client, 1, a=0, s="old")
        send, is_stamped, may_send = table.store.mutate, Event(), Event()

        def send_late(mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
            if current_thread() is late:
                is_stamped.set()
                may_send.wait(HELD_UP_S)
            send(mutations, sync=sync)

        late = Thread(target=lambda: put(client, 1, a=1, s="new"))
        monkeypatch.setattr(table.store, "mutate", send_late)
        late.start()
        is_stamped.wait()
        time.sleep(0.005)  # so that the next put has a later timestamp
        put(client, 1, a=2)
        client.do_get(1, [1])
        may_send.set()
        late.join()
        client.do_get(1, [1])
    judge(client)


@pytest.mark.parametrize("order", [1, -1], ids=["as sent", "backwards"])
@pytest.mark.parametrize("change", CHANGES)
def test_replaced_values_stay_hidden_between_regions(
    change: Callable[[Client, int], None], order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of two places, whose regions answer in any order, shows no older value meanwhile."""
    with table_of_two_places("memory") as client:
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
    judge(client)


@pytest.mark.parametrize("n_gets", [1, 2, 3])
@pytest.mark.parametrize("change", CHANGES)
def test_a_read_of_two_places_shows_one_time(
    change: Callable[[Client, int], None], n_gets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that changes after some of the gets of a read is read as it was or as it is."""
    with table_of_two_places("memory") as client:
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
    judge(client)


@pytest.mark.parametrize("change", CHANGES)
def test_a_read_of_two_files_shows_one_time(
    change: Callable[[Client, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No change comes between what an embedded engine reads in one place and in another."""
    with table_of_two_places("rocks") as client:
        changer, changes = Client(client.table, 1, 0, count(1)), list[Thread]()

        def read_late(*given: Any) -> list[Cell]:
            found: list[Cell] = read_row_cells(*given)
            if not changes:
                changes.append(Thread(target=change, args=(changer, row)))
                changes[0].start()
                changes[0].join(HELD_UP_S / 3)  # it may have to wait for the read
            return found

        for row in ROWS:
            changes = []
            monkeypatch.setattr(READ_A_ROW, read_late)
            client.do_get(row, [row])
            monkeypatch.setattr(READ_A_ROW, read_row_cells)
            changes[0].join()
            client.do_get(row, [row])
        client.noted += changer.noted
    judge(client)


@pytest.mark.parametrize("engine", ["memory", "rocks"])
@pytest.mark.parametrize("change", CHANGES)
def test_replaced_values_stay_hidden_between_calls(
    engine: str, change: Callable[[Client, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that calls an embedded engine several times shows no older value in between."""
    send, readers = RowWriter.send_mutations, []

    def send_late(
        writing: RowWriter, mutations: Sequence[RowCells], *, sync: bool | None = None
    ) -> None:
        reader = Thread(target=lambda: client.do_get(row, [row]))
        reader.start()
        reader.join(HELD_UP_S / 3)  # it may have to wait for the change
        readers.append(reader)
        send(writing, mutations, sync=sync)

    with table_of_two_places(engine) as client:
        monkeypatch.setattr(RowWriter, "send_mutations", send_late)
        for row in ROWS:
            change(client, row)
        for reader in readers:
            reader.join()
    judge(client)
