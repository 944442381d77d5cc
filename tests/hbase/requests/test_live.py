"""Every request against a real cluster, checked by the official client."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count
from secrets import randbits
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.cells import LATEST, Cell, CellType, RowCells, is_comparison_true
from rowkey.engines import CellSelection
from rowkey.hbase.errors import DoNotRetryIO, NoSuchColumnFamily, NotServingRegion
from rowkey.hbase.messages.mutations import encode_actions
from rowkey.hbase.read_spec import ReadSpec
from rowkey.hbase.requests import (
    Append,
    CheckAndMutate,
    DeleteRow,
    Exists,
    Get,
    Increment,
    Multi,
    Mutate,
    MutateRow,
    RawMulti,
    build_mutation,
)

if TYPE_CHECKING:
    from cluster import Cluster
    from hbase.requests.speaker import RequestSender
    from rowkey.hbase.requests import Action

_rows = count(1)


def nonce() -> int:
    """Return a nonce that no server has seen, since servers remember those of earlier runs."""
    return randbits(62) + 1


def _row() -> bytes:
    """Return a row key that no other test uses."""
    return b"row%06d" % next(_rows)


def _put(qualifier: bytes, value: bytes = b"v", at: int = LATEST, family: str = "d") -> Cell:
    return Cell(family, qualifier, at, value)


def _values(row: RowCells) -> dict[bytes, bytes]:
    return {cell.qualifier: cell.value for cell in row.cells}


def test_a_get_returns_the_cells_that_were_put(request_sender: RequestSender, table: str) -> None:
    """A get returns the selected cells that were put."""
    row = _row()
    cells = [_put(b"a", b"1", 5), _put(b"b", b"2", 6), _put(b"x", b"", 7, "e")]
    assert request_sender.send_to_row(table, Mutate(row, cells)) is None
    assert RowCells(row, cells) == request_sender.send_to_row(table, Get(row))
    assert RowCells(row, cells[1:2]) == request_sender.send_to_row(
        table, Get(row, ReadSpec({"d": (b"b", b"c")}))
    )
    assert RowCells(row, cells[2:]) == request_sender.send_to_row(
        table, Get(row, ReadSpec({"e": ()}))
    )
    assert RowCells(row, cells[1:2]) == request_sender.send_to_row(
        table, Get(row, ReadSpec(time_range=(6, 7)))
    )
    assert RowCells(row, []) == request_sender.send_to_row(
        table, Get(row, ReadSpec(time_range=(6, 6)))
    )
    assert RowCells(row, cells[1:2]) == request_sender.send_to_row(
        table, Get(row, ReadSpec({"d": ()}, store_limit=1, store_offset=1))
    )


def test_a_get_returns_the_requested_versions_newest_first(
    request_sender: RequestSender, table: str
) -> None:
    """A get returns as many versions as requested, newest first."""
    row = _row()
    request_sender.send_to_row(
        table, Mutate(row, [_put(b"a", b"%d" % at, at) for at in range(1, 6)])
    )
    told = request_sender.send_to_row(table, Get(row, ReadSpec(versions=3)))
    assert [5, 4, 3] == [cell.timestamp for cell in told.cells]


def test_a_row_exists_if_a_read_would_return_a_cell(
    request_sender: RequestSender, table: str
) -> None:
    """A row exists as soon as a read of it would return a cell."""
    row = _row()
    assert not request_sender.send_to_row(table, Exists(row))
    request_sender.send_to_row(table, Mutate(row, [_put(b"a")]))
    assert request_sender.send_to_row(table, Exists(row))
    assert not request_sender.send_to_row(table, Exists(row, ReadSpec({"d": (b"b",)})))


def test_deletes_of_all_four_types_are_stored_as_sent(
    request_sender: RequestSender, table: str, hbase_cluster: Cluster
) -> None:
    row = _row()
    deletes = [
        Cell("d", b"", 9, cell_type=CellType.DELETE_FAMILY),
        Cell("d", b"", 7, cell_type=CellType.DELETE_FAMILY_VERSION),
        Cell("d", b"a", 8, cell_type=CellType.DELETE_COLUMN),
        Cell("d", b"b", 6, cell_type=CellType.DELETE),
    ]
    request_sender.send_to_row(table, Mutate(row, deletes))
    ask = CellSelection(raw=True, versions=10)
    told = hbase_cluster.judge.scan(table, ask, (row, True), (row, True))
    assert [RowCells(row, deletes)] == told


@pytest.mark.parametrize("kinds", [(CellType.DELETE_COLUMN, CellType.DELETE_FAMILY)])
def test_a_family_delete_keeps_the_deletes_before_it_in_its_mutation(
    request_sender: RequestSender,
    table: str,
    hbase_cluster: Cluster,
    kinds: tuple[CellType, CellType],
) -> None:
    """A delete of a family keeps the deletes before it in the same mutation."""
    row = _row()
    column, family = kinds
    deletes = [Cell("d", b"a", 8, cell_type=column), Cell("d", b"", 5, cell_type=family)]
    request_sender.send_to_row(table, Mutate(row, deletes))
    ask = CellSelection(raw=True, versions=10)
    told = hbase_cluster.judge.scan(table, ask, (row, True), (row, True))
    assert [set(deletes)] == [set(one.cells) for one in told]


def test_a_delete_without_timestamp_uncovers_the_previous_version(
    request_sender: RequestSender, table: str
) -> None:
    row = _row()
    request_sender.send_to_row(table, Mutate(row, [_put(b"a", b"old", 1), _put(b"a", b"new", 2)]))
    request_sender.send_to_row(
        table, Mutate(row, [Cell("d", b"a", LATEST, cell_type=CellType.DELETE)])
    )
    assert {b"a": b"old"} == _values(request_sender.send_to_row(table, Get(row)))


def test_a_row_is_deleted_in_all_families_up_to_a_timestamp(
    request_sender: RequestSender, table: str
) -> None:
    row = _row()
    request_sender.send_to_row(table, Mutate(row, [_put(b"a", at=1), _put(b"x", at=3, family="e")]))
    request_sender.send_to_row(table, DeleteRow(row, 2))
    assert {b"x": b"v"} == _values(request_sender.send_to_row(table, Get(row)))
    request_sender.send_to_row(table, DeleteRow(row))
    assert not request_sender.send_to_row(table, Exists(row))


def test_a_cell_with_a_time_to_live_expires(request_sender: RequestSender, table: str) -> None:
    row = _row()
    request_sender.send_to_row(table, Mutate(row, [Cell("d", b"a", LATEST, b"v", ttl_ms=700)]))
    assert request_sender.send_to_row(table, Exists(row))
    time.sleep(0.8)
    assert not request_sender.send_to_row(table, Exists(row))


def test_puts_and_deletes_of_one_mutation_are_applied_together(
    request_sender: RequestSender, table: str
) -> None:
    """Puts, deletes and times to live of one row are applied together."""
    row = _row()
    request_sender.send_to_row(table, Mutate(row, [_put(b"a", at=1), _put(b"b", at=1)]))
    cells = [
        Cell("d", b"a", 1, cell_type=CellType.DELETE),
        _put(b"c", at=2),
        Cell("d", b"t", LATEST, b"v", ttl_ms=700),
        Cell("d", b"b", 5, cell_type=CellType.DELETE_COLUMN),
    ]
    request = build_mutation(row, cells)
    assert isinstance(request, MutateRow)
    request_sender.send_to_row(table, request)
    assert {b"c", b"t"} == set(_values(request_sender.send_to_row(table, Get(row))))
    time.sleep(0.8)
    assert {b"c"} == set(_values(request_sender.send_to_row(table, Get(row))))


def test_a_mixed_mutation_that_fails_changes_nothing(
    request_sender: RequestSender, table: str
) -> None:
    row = _row()
    request_sender.send_to_row(table, Mutate(row, [_put(b"a", at=1)]))
    cells = [
        Cell("d", b"a", 1, cell_type=CellType.DELETE),
        _put(b"b"),
        Cell("none", b"a", 1, cell_type=CellType.DELETE),
    ]
    with pytest.raises(NoSuchColumnFamily):
        request_sender.send_to_row(table, MutateRow(row, cells))
    assert {b"a": b"v"} == _values(request_sender.send_to_row(table, Get(row)))
    (told,) = request_sender.send_to_row(
        table, Multi([(request_sender.find_region(table)[0], [RowCells(row, cells)])])
    )
    assert isinstance(told, NoSuchColumnFamily)
    assert {b"a": b"v"} == _values(request_sender.send_to_row(table, Get(row)))


def test_counters_are_returned_in_order_and_a_nonce_counts_once(
    request_sender: RequestSender, table: str
) -> None:
    """Counters are returned in the order of the amounts and wrap, and a nonce counts once."""
    row = _row()
    amounts = [("e", b"n", 5), ("d", b"z", -3), ("d", b"a", 2**63 - 1)]
    assert [5, -3, 2**63 - 1] == request_sender.send_to_row(table, Increment(row, amounts))
    assert [10, -6, -2] == request_sender.send_to_row(table, Increment(row, amounts))
    once = Increment(row, [("d", b"n", 1)], nonce=nonce(), nonce_group=9)
    assert [1] == request_sender.send_to_row(table, once)
    assert [1] == request_sender.send_to_row(table, once)
    assert [2] == request_sender.send_to_row(table, Increment(row, [("d", b"n", 1)]))
    request_sender.send_to_row(table, Mutate(row, [_put(b"t", b"text")]))
    with pytest.raises(DoNotRetryIO):
        request_sender.send_to_row(table, Increment(row, [("d", b"t", 1)]))


def test_appended_values_are_returned_whole_in_order(
    request_sender: RequestSender, table: str
) -> None:
    """New values are returned whole in the order of the pieces, and a nonce counts once."""
    row = _row()
    pieces = [("e", b"q", b"x"), ("d", b"q", b"")]
    assert [b"x", b""] == request_sender.send_to_row(table, Append(row, pieces))
    once = Append(row, pieces, nonce=nonce())
    assert [b"xx", b""] == request_sender.send_to_row(table, once)
    assert [b"xx", b""] == request_sender.send_to_row(table, once)
    assert [b"xxx", b""] == request_sender.send_to_row(table, Append(row, pieces))


_STORED_VALUES = {"absent": None, "empty": b"", "less": b"l", "same": b"m", "greater": b"n"}


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("found", _STORED_VALUES)
@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_a_conditional_write_writes_exactly_if_the_condition_holds(
    request_sender: RequestSender, table: str, operator: str, found: str, mixed: bool
) -> None:
    """A check is true exactly when `holds` says so, and only then writes."""
    row, value = _row(), _STORED_VALUES[found]
    cell = None if value is None else _put(b"a", value)
    if cell is not None:
        request_sender.send_to_row(table, Mutate(row, [cell]))
    cells = [_put(b"done", b"1")]
    if mixed:
        cells.append(Cell("d", b"z", LATEST, cell_type=CellType.DELETE_COLUMN))
    wanted = is_comparison_true(operator, b"m", cell)
    request = CheckAndMutate(row, "d", b"a", operator, b"m", cells)
    assert wanted is request_sender.send_to_row(table, request)
    assert wanted is request_sender.send_to_row(table, Exists(row, ReadSpec({"d": (b"done",)})))


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("nothing", [None, b""])
@pytest.mark.parametrize("found", _STORED_VALUES)
@pytest.mark.parametrize("operator", ["=", "!="])
def test_a_check_without_a_value_tests_for_an_absent_or_empty_cell(
    request_sender: RequestSender,
    table: str,
    operator: str,
    found: str,
    nothing: bytes | None,
    mixed: bool,
) -> None:
    """Without a value a check tests whether the cell is absent or empty."""
    row, value = _row(), _STORED_VALUES[found]
    if value is not None:
        request_sender.send_to_row(table, Mutate(row, [_put(b"a", value)]))
    cells = [_put(b"done", b"1")]
    if mixed:
        cells.append(Cell("d", b"z", LATEST, cell_type=CellType.DELETE_COLUMN))
    wanted = (not value) == (operator == "=")
    request = CheckAndMutate(row, "d", b"a", operator, nothing, cells)
    assert wanted is request_sender.send_to_row(table, request)
    assert wanted is request_sender.send_to_row(table, Exists(row, ReadSpec({"d": (b"done",)})))


def test_a_conditional_write_that_fails_is_an_error_and_not_a_false_check(
    request_sender: RequestSender, table: str
) -> None:
    row = _row()
    cells = [_put(b"a", family="none"), Cell("d", b"z", LATEST, cell_type=CellType.DELETE_COLUMN)]
    for some in (cells[:1], cells):
        with pytest.raises(NoSuchColumnFamily):
            request_sender.send_to_row(table, CheckAndMutate(row, "d", b"a", "=", None, some))


def _batch(speaker: RequestSender, table: str, actions: Sequence[Action]) -> list[Any]:
    return speaker.send_to_row(table, Multi([(speaker.find_region(table)[0], actions)]))


def test_a_batch_returns_the_outcome_of_each_action_in_order(
    request_sender: RequestSender, table: str
) -> None:
    first, second, third = sorted((_row() for _ in range(3)), reverse=True)
    assert [None] * 3 == _batch(
        request_sender,
        table,
        [RowCells(row, [_put(b"a", row, 1)]) for row in (second, first, third)],
    )
    mixed = [_put(b"c", at=9), Cell("d", b"a", 1, cell_type=CellType.DELETE)]
    told = _batch(
        request_sender,
        table,
        [
            Get(third),
            RowCells(first, [_put(b"b", at=1)]),
            Increment(second, [("d", b"n", 4), ("d", b"m", 5)]),
            RowCells(third, mixed),
            Exists(b"nobody"),
            DeleteRow(second),
            RowCells(first, [_put(b"b", at=1, family="none")]),
            Append(first, [("d", b"z", b"za"), ("d", b"y", b"ya")]),
            Get(third),
            Get(b"nobody"),
            Exists(first),
        ],
    )
    failed = told.pop(6)
    assert isinstance(failed, NoSuchColumnFamily)
    assert [
        RowCells(third, [_put(b"a", third, 1)]),
        None,
        [4, 5],
        None,
        False,
        None,
        [b"za", b"ya"],
        RowCells(third, [_put(b"c", at=9)]),
        RowCells(b"nobody", []),
        True,
    ] == told


def test_thousands_of_puts_in_one_call_are_all_stored(
    request_sender: RequestSender, table: str
) -> None:
    rows = [b"many%05d" % (number * 7919 % 4_000) for number in range(4_000)]
    puts = [RowCells(row, [_put(b"a", row, 1)]) for row in rows]
    assert [None] * 4_000 == _batch(request_sender, table, puts)
    assert puts == _batch(request_sender, table, [Get(row) for row in rows])


def test_in_a_batch_only_the_actions_of_a_missing_region_fail(
    request_sender: RequestSender, table: str
) -> None:
    region, row = request_sender.find_region(table)[0], _row()
    gone = f"{table},,1.{'0' * 32}.".encode()
    put = RowCells(row, [_put(b"a")])
    told = request_sender.send_to_row(
        table, Multi([(gone, [put, put]), (region, [put]), (gone, [Get(row)])])
    )
    assert [True, True, False, True] == [isinstance(one, NotServingRegion) for one in told]
    assert request_sender.send_to_row(table, Exists(row))


def test_an_encoded_batch_returns_only_failures(request_sender: RequestSender, table: str) -> None:
    region = request_sender.find_region(table)[0]
    gone = f"{table},,1.{'0' * 32}.".encode()
    rows = [_row() for _ in range(3)]
    puts = [RowCells(row, [_put(b"a", at=1)]) for row in rows]
    puts[1] = RowCells(rows[1], [_put(b"a", at=1, family="none")])
    actions, cells = encode_actions(puts)
    regions = [(gone, actions, 3), (region, actions, 3)]
    told = request_sender.send_to_row(table, RawMulti(regions, cells + cells))
    assert [(0, 0), (0, 1), (0, 2), (1, 1)] == [one[:2] for one in told]
    assert [NotServingRegion] * 3 + [NoSuchColumnFamily] == [type(one.error) for one in told]
    assert [True, False, True] == [request_sender.send_to_row(table, Exists(row)) for row in rows]


def test_a_cell_above_10_mib_fails_every_put_of_its_region(
    request_sender: RequestSender, table: str
) -> None:
    """A cell above 10 MiB fails every put of its region, each with the error."""
    row = _row()
    large = RowCells(row, [_put(b"a", bytes(10_485_760))])
    told = _batch(request_sender, table, [large, RowCells(row, [_put(b"b")])])
    assert [DoNotRetryIO] * 2 == [type(one) for one in told]
    assert not request_sender.send_to_row(table, Exists(row))
