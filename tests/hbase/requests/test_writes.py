"""Encoded writes, parsed by Google's protobuf, have what was requested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hbase.requests import protos
from hbase.requests.strategies import (
    AMOUNTS,
    ANY_SORT,
    APPENDS,
    INCREMENTS,
    ONE_SORT,
    PIECES,
    REGION,
    ROWS,
    TIMESTAMPS,
)
from rowkey.cells import LATEST, Cell, CellType
from rowkey.errors import InvalidArgument
from rowkey.hbase.errors import HBaseError, NoSuchColumnFamily, OverwrittenAnswer
from rowkey.hbase.messages.contract import Idempotence
from rowkey.hbase.requests import (
    Append,
    CheckAndMutate,
    DeleteRow,
    Increment,
    Mutate,
    MutateRow,
    build_mutation,
)
from rowkey.hbase.requests.row_writes import NewCells
from rowkey.hbase.wire.cellblocks import decode_cells, encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.proto import WireFormatError

SPECIFIER = {"type": 1, "value": REGION}
NO_FAMILY = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"
FAULT = {"name": NO_FAMILY, "value": f"{NO_FAMILY}: none\n\tat x".encode()}


def _sort(cell: Cell) -> tuple[bool, int | None]:
    return cell.cell_type == CellType.PUT, cell.ttl_ms


def mutation(row: bytes, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the fields of a mutation of cells of one type."""
    is_put, ttl_ms = _sort(cells[0])
    said: dict[str, Any] = {"row": row, "mutate_type": 2 if is_put else 3}
    said["associated_cell_count"] = len(cells)
    if ttl_ms is not None:
        said["attribute"] = [{"name": "_ttl", "value": ttl_ms.to_bytes(8, "big")}]
    return said


def mutations(row: bytes, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the fields of the mutations of cells of any type."""
    return [mutation(row, list(run)) for _, run in groupby(cells, _sort)]


def sent_cells(row: bytes, cells: Sequence[Cell]) -> list[tuple[bytes, Cell]]:
    """Return cells as a cell block holds them, without their time to live."""
    return [(row, cell._replace(ttl_ms=None)) for cell in cells]


@given(ROWS, ONE_SORT)
def test_a_mutation_has_its_cells_in_the_cell_block(row: bytes, cells: list[Cell]) -> None:
    """A mutation has its type and cell count, and its cells are in the block."""
    request = build_mutation(row, cells)
    assert isinstance(request, Mutate)
    param, block = request.encode(REGION)
    wanted = {"region": SPECIFIER, "mutation": mutation(row, cells)}
    assert wanted == protos.list_fields(protos.parse_message("MutateRequest", param))
    assert (sent_cells(row, cells), len(block)) == decode_cells(block)


@given(ROWS, ANY_SORT)
def test_cells_of_different_types_become_mutations_of_one_atomic_action(
    row: bytes, cells: list[Cell]
) -> None:
    """Cells of different types become consecutive mutations of one atomic action, in order."""
    request = MutateRow(row, cells)
    param, block = request.encode(REGION)
    (told,) = protos.list_fields(protos.parse_message("MultiRequest", param))["regionAction"]
    assert (SPECIFIER, True) == (told["region"], told["atomic"])
    assert mutations(row, cells) == [one["mutation"] for one in told["action"]]
    assert list(range(1, len(told["action"]) + 1)) == [one["index"] for one in told["action"]]
    assert (sent_cells(row, cells), len(block)) == decode_cells(block)
    mixed = len({_sort(cell) for cell in cells}) > 1
    assert mixed is isinstance(build_mutation(row, cells), MutateRow)


@given(ROWS, TIMESTAMPS)
def test_a_delete_of_a_row_is_a_mutation_without_cells(row: bytes, timestamp: int) -> None:
    wanted = {
        "row": row,
        "mutate_type": 3,
        "timestamp": timestamp,
        "associated_cell_count": 0,
    }
    param, block = DeleteRow(row, timestamp).encode(REGION)
    asked = {"region": SPECIFIER, "mutation": wanted}
    assert (asked, b"") == (protos.list_fields(protos.parse_message("MutateRequest", param)), block)


def _mutate_answer(row: bytes, cells: list[Cell], inside: bool) -> Response:
    """Return a server's answer to an increment or an append."""
    result = protos.build_message("Result", associated_cell_count=0 if inside else len(cells))
    for cell in cells if inside else ():
        family, qualifier, timestamp, value, _, _ = cell
        result.cell.add(
            row=row,
            family=family.encode(),
            qualifier=qualifier,
            timestamp=timestamp,
            value=value,
        )
    body = protos.build_message("MutateResponse", result=result).SerializeToString()
    return Response(1, None, body, b"" if inside else encode_cells(row, cells))


@given(INCREMENTS, st.randoms(), st.booleans())
def test_increment_amounts_are_sent_as_8_bytes(
    request: Increment, random: Any, inside: bool
) -> None:
    """Amounts are sent as 8 bytes, and new values come in the order of the amounts."""
    param, block = request.encode(REGION)
    told = protos.list_fields(protos.parse_message("MutateRequest", param))
    wanted = {
        "row": request.row,
        "mutate_type": 1,
        "associated_cell_count": len(request.amounts),
    } | ({"nonce": request.nonce} if request.nonce else {})
    assert {"region": SPECIFIER, "mutation": wanted} == told
    cells = [
        Cell(family, qualifier, LATEST, amount.to_bytes(8, "big", signed=True))
        for family, qualifier, amount in request.amounts
    ]
    assert ([(request.row, cell) for cell in cells], len(block)) == decode_cells(block)
    expected = Idempotence.NONCE_PROTECTED if request.nonce else Idempotence.NOT_IDEMPOTENT
    assert expected is request.idempotence
    shuffled = [cell._replace(timestamp=1) for cell in random.sample(cells, len(cells))]
    answer = _mutate_answer(request.row, shuffled, inside)
    assert [amount for _, _, amount in request.amounts] == request.decode(answer)


@given(APPENDS, st.randoms(), st.booleans())
def test_appended_pieces_are_sent_unchanged(request: Append, random: Any, inside: bool) -> None:
    """Pieces are sent unchanged, and new values come in the order of the pieces."""
    param, block = request.encode(REGION)
    told = protos.list_fields(protos.parse_message("MutateRequest", param))["mutation"]
    assert (0, len(request.pieces)) == (told["mutate_type"], told["associated_cell_count"])
    cells = [Cell(family, qualifier, LATEST, piece) for family, qualifier, piece in request.pieces]
    assert ([(request.row, cell) for cell in cells], len(block)) == decode_cells(block)
    expected = Idempotence.NONCE_PROTECTED if request.nonce else Idempotence.NOT_IDEMPOTENT
    assert expected is request.idempotence
    shuffled = [cell._replace(timestamp=1) for cell in random.sample(cells, len(cells))]
    answer = _mutate_answer(request.row, shuffled, inside)
    assert [piece for _, _, piece in request.pieces] == request.decode(answer)


@given(st.one_of(INCREMENTS, APPENDS), ROWS, st.booleans())
def test_an_answer_with_cells_of_another_row_is_refused(
    request: Increment | Append, other_row: bytes, is_sent: bool
) -> None:
    """Cells that still wait for their timestamp, or of another row, are refused."""
    sent = [cell for _, cell in decode_cells(request.encode(REGION)[1])[0]]
    if is_sent:
        answer = _mutate_answer(request.row, sent, inside=False)
    else:
        assume(other_row != request.row)
        stored = [cell._replace(timestamp=1) for cell in sent]
        answer = _mutate_answer(other_row, stored, inside=False)
    for one in (request, NewCells(request)):
        with pytest.raises(OverwrittenAnswer, match="another request"):
            one.decode(answer)


def test_a_nonce_is_sent_with_the_number_of_the_client() -> None:
    """A nonce is sent with the client's number."""
    for request in (
        Increment(b"r", [("d", b"n", 1)], 5, 6),
        Append(b"r", [("d", b"n", b"v")], 5, 6),
    ):
        told = protos.parse_message("MutateRequest", request.encode(REGION)[0])
        assert (5, 6) == (told.mutation.nonce, told.nonce_group)


def test_a_missing_counter_in_an_answer_is_malformed() -> None:
    """A missing counter, or one that is not 8 bytes long, is malformed."""
    request = Increment(b"r", [("d", b"n", 1), ("d", b"m", 1)])
    for cells in (
        [],
        [Cell("d", b"n", 1, bytes(8))],
        [Cell("d", b"n", 1, bytes(8)), Cell("d", b"m", 1, bytes(7))],
    ):
        with pytest.raises(WireFormatError):
            request.decode(_mutate_answer(b"r", cells, inside=False))


_MIRRORS = {"<": 5, "<=": 4, "=": 2, "!=": 3, ">=": 1, ">": 0}


@given(ROWS, ANY_SORT, st.sampled_from(sorted(_MIRRORS)), st.binary(min_size=1, max_size=9))
def test_a_condition_is_sent_with_the_mirrored_operator(
    row: bytes, cells: list[Cell], operator: str, value: bytes
) -> None:
    """The condition has the mirrored operator, and the write is the same as without it."""
    request = CheckAndMutate(row, "d", b"q", operator, value, cells)
    param, block = request.encode(REGION)
    comparator = protos.build_message(
        "BinaryComparator", comparable={"value": value}
    ).SerializeToString()
    condition = {
        "row": row,
        "family": b"d",
        "qualifier": b"q",
        "compare_type": _MIRRORS[operator],
        "comparator": {
            "name": "org.apache.hadoop.hbase.filter.BinaryComparator",
            "serialized_comparator": comparator,
        },
    }
    if len({_sort(cell) for cell in cells}) > 1:
        assert "Multi" == request.method
        (told,) = protos.list_fields(protos.parse_message("MultiRequest", param))["regionAction"]
        assert (condition, True, SPECIFIER) == (
            told["condition"],
            told["atomic"],
            told["region"],
        )
        assert mutations(row, cells) == [one["mutation"] for one in told["action"]]
    else:
        assert "Mutate" == request.method
        told = protos.list_fields(protos.parse_message("MutateRequest", param))
        assert {
            "region": SPECIFIER,
            "mutation": mutation(row, cells),
            "condition": condition,
        } == told
    assert (sent_cells(row, cells), len(block)) == decode_cells(block)


@pytest.mark.parametrize("nothing", [None, b""])
def test_a_missing_value_of_a_condition_is_sent_as_an_empty_one(nothing: bytes | None) -> None:
    request = CheckAndMutate(b"r", "d", b"q", "=", nothing, [Cell("d", b"q", 1)])
    told = protos.parse_message("MutateRequest", request.encode(REGION)[0]).condition
    sent = protos.parse_message("BinaryComparator", told.comparator.serialized_comparator)
    assert {"comparable": {"value": b""}} == protos.list_fields(sent)


MIXED_CELLS = [Cell("d", b"q", 1), Cell("d", b"q", 1, cell_type=CellType.DELETE)]
ATOMIC: list[Callable[[Response], object]] = [
    MutateRow(b"r", MIXED_CELLS).decode,
    CheckAndMutate(b"r", "d", b"q", "=", None, MIXED_CELLS).decode,
]


@pytest.mark.parametrize("decode", ATOMIC)
@pytest.mark.parametrize(
    "answer",
    [{"exception": FAULT}, {"resultOrException": [{"index": 0}, {"index": 1, "exception": FAULT}]}],
)
def test_an_error_at_any_level_of_a_write_answer_is_raised(
    decode: Callable[[Response], object], answer: dict[str, Any]
) -> None:
    body = protos.build_message("MultiResponse", regionActionResult=[answer]).SerializeToString()
    with pytest.raises(NoSuchColumnFamily) as raised:
        decode(Response(1, None, body, b""))
    assert isinstance(raised.value, HBaseError)


@pytest.mark.parametrize("processed", [True, False])
def test_whether_the_condition_held_is_a_field_of_the_answer(processed: bool) -> None:
    """Whether the condition was true is a field of the region's answer."""
    results = [{"index": 0, "result": {}}, {"index": 1, "result": {}}]
    answer = {"processed": processed, "resultOrException": results}
    body = protos.build_message("MultiResponse", regionActionResult=[answer]).SerializeToString()
    assert processed is ATOMIC[1](Response(1, None, body, b""))


def test_an_answer_without_a_region_is_malformed() -> None:
    for decode in ATOMIC:
        with pytest.raises(WireFormatError):
            decode(Response(1, None, b"", b""))


@given(AMOUNTS, PIECES)
def test_a_write_request_must_change_each_of_its_columns_once(
    amounts: list[Any], pieces: list[Any]
) -> None:
    """A request changes at least one column, and each column once."""
    for make, some in ((Increment, amounts), (Append, pieces)):
        for wrong in ([], some + some[:1]):
            with pytest.raises(InvalidArgument, match=r"^argument (amounts|pieces): "):
                make(b"r", wrong)


def test_invalid_numbers_values_and_operators_of_a_write_are_refused() -> None:
    put = [Cell("d", b"q", 1)]
    for make in (
        lambda: Increment(b"r", [("d", b"n", 2**63)]),
        lambda: Increment(b"r", [("d", b"n", 1)], nonce=-1),
        lambda: Append(b"r", [("d", b"n", "text")]),  # type: ignore[list-item]
        lambda: Append(b"r", [("d", b"n", b"")], nonce_group=2**63),
        lambda: CheckAndMutate(b"r", "d", b"q", "~", b"v", put),
        lambda: CheckAndMutate(b"r", "d", b"q", "<", None, put),
        lambda: CheckAndMutate(b"r", "d", b"q", "=", b"v", []),
        lambda: DeleteRow(b"r", -1),
    ):
        with pytest.raises(InvalidArgument):
            make()
