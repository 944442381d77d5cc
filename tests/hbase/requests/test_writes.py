"""Writes as they are sent: Google's protobuf reads back what was asked, and answers them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbase.requests import protos
from hbase.requests.drawn import (
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
from rowkey.cells import LATEST, Cell, Kind
from rowkey.errors import Refused
from rowkey.hbase.errors import HBaseError, NoSuchColumnFamily
from rowkey.hbase.messages.contract import Repeating
from rowkey.hbase.requests import (
    Append,
    CheckAndMutate,
    DeleteRow,
    Increment,
    Mutate,
    MutateRow,
    writing,
)
from rowkey.hbase.wire.cellblocks import decode_cells, encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.proto import Malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SPECIFIER = {"type": 1, "value": REGION}
NO_FAMILY = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"
FAULT = {"name": NO_FAMILY, "value": f"{NO_FAMILY}: none\n\tat x".encode()}


def _sort(cell: Cell) -> tuple[bool, int | None]:
    return cell.kind == Kind.PUT, cell.ttl_ms


def mutation(row: bytes, cells: Sequence[Cell]) -> dict[str, Any]:
    """What a mutation of cells of one sort says."""
    is_put, ttl_ms = _sort(cells[0])
    said: dict[str, Any] = {"row": row, "mutate_type": 2 if is_put else 3}
    said["associated_cell_count"] = len(cells)
    if ttl_ms is not None:
        said["attribute"] = [{"name": "_ttl", "value": ttl_ms.to_bytes(8, "big")}]
    return said


def mutations(row: bytes, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """What the mutations of cells of any sort say."""
    return [mutation(row, list(run)) for _, run in groupby(cells, _sort)]


def sent_cells(row: bytes, cells: Sequence[Cell]) -> list[tuple[bytes, Cell]]:
    """Cells as a block holds them; their time to live is not in it."""
    return [(row, cell._replace(ttl_ms=None)) for cell in cells]


@given(ROWS, ONE_SORT)
def test_mutate(row: bytes, cells: list[Cell]) -> None:
    """A mutation says its sort and how many cells it has; they are in the block."""
    request = writing(row, cells)
    assert isinstance(request, Mutate)
    param, block = request.encode(REGION)
    wanted = {"region": SPECIFIER, "mutation": mutation(row, cells)}
    assert wanted == protos.said(protos.read("MutateRequest", param))
    assert (sent_cells(row, cells), len(block)) == decode_cells(block)


@given(ROWS, ANY_SORT)
def test_mutate_row(row: bytes, cells: list[Cell]) -> None:
    """Cells of any sort are runs of mutations in one atomic action, in their order."""
    request = MutateRow(row, cells)
    param, block = request.encode(REGION)
    (told,) = protos.said(protos.read("MultiRequest", param))["regionAction"]
    assert (SPECIFIER, True) == (told["region"], told["atomic"])
    assert mutations(row, cells) == [one["mutation"] for one in told["action"]]
    assert list(range(1, len(told["action"]) + 1)) == [one["index"] for one in told["action"]]
    assert (sent_cells(row, cells), len(block)) == decode_cells(block)
    mixed = len({_sort(cell) for cell in cells}) > 1
    assert mixed is isinstance(writing(row, cells), MutateRow)


@given(ROWS, TIMESTAMPS)
def test_delete_row(row: bytes, timestamp: int) -> None:
    """A delete of a row is a mutation without cells."""
    wanted = {
        "row": row,
        "mutate_type": 3,
        "timestamp": timestamp,
        "associated_cell_count": 0,
    }
    param, block = DeleteRow(row, timestamp).encode(REGION)
    asked = {"region": SPECIFIER, "mutation": wanted}
    assert (asked, b"") == (protos.said(protos.read("MutateRequest", param)), block)


def _mutate_answer(row: bytes, cells: list[Cell], inside: bool) -> Response:
    """What a server answers to an increment or an append."""
    result = protos.made("Result", associated_cell_count=0 if inside else len(cells))
    for cell in cells if inside else ():
        result.cell.add(
            row=row, family=cell.family.encode(), qualifier=cell.qualifier, value=cell.value
        )
    body = protos.made("MutateResponse", result=result).SerializeToString()
    return Response(1, None, body, b"" if inside else encode_cells(row, cells))


@given(INCREMENTS, st.randoms(), st.booleans())
def test_increment(request: Increment, random: Any, inside: bool) -> None:
    """Amounts are sent as 8 bytes, and counters are told in the order of the amounts."""
    param, block = request.encode(REGION)
    told = protos.said(protos.read("MutateRequest", param))
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
    expected = Repeating.GUARDED if request.nonce else Repeating.COUNTS
    assert expected is request.repeating
    shuffled = random.sample(cells, len(cells))
    answer = _mutate_answer(request.row, shuffled, inside)
    assert [amount for _, _, amount in request.amounts] == request.decode(answer)


@given(APPENDS, st.randoms(), st.booleans())
def test_append(request: Append, random: Any, inside: bool) -> None:
    """Pieces are sent as they are, and values are told in the order of the pieces."""
    param, block = request.encode(REGION)
    told = protos.said(protos.read("MutateRequest", param))["mutation"]
    assert (0, len(request.pieces)) == (told["mutate_type"], told["associated_cell_count"])
    cells = [Cell(family, qualifier, LATEST, piece) for family, qualifier, piece in request.pieces]
    assert ([(request.row, cell) for cell in cells], len(block)) == decode_cells(block)
    expected = Repeating.GUARDED if request.nonce else Repeating.COUNTS
    assert expected is request.repeating
    shuffled = random.sample(cells, len(cells))
    answer = _mutate_answer(request.row, shuffled, inside)
    assert [piece for _, _, piece in request.pieces] == request.decode(answer)


def test_nonce_group() -> None:
    """A nonce is sent with the client's number."""
    for request in (
        Increment(b"r", [("d", b"n", 1)], 5, 6),
        Append(b"r", [("d", b"n", b"v")], 5, 6),
    ):
        told = protos.read("MutateRequest", request.encode(REGION)[0])
        assert (5, 6) == (told.mutation.nonce, told.nonce_group)


def test_answers_that_lack_something() -> None:
    """A counter that is missing, or is none, is no answer."""
    request = Increment(b"r", [("d", b"n", 1), ("d", b"m", 1)])
    for cells in (
        [],
        [Cell("d", b"n", 1, bytes(8))],
        [Cell("d", b"n", 1, bytes(8)), Cell("d", b"m", 1, bytes(7))],
    ):
        with pytest.raises(Malformed):
            request.decode(_mutate_answer(b"r", cells, inside=False))


_MIRRORS = {"<": 5, "<=": 4, "=": 2, "!=": 3, ">=": 1, ">": 0}


@given(ROWS, ANY_SORT, st.sampled_from(sorted(_MIRRORS)), st.binary(min_size=1, max_size=9))
def test_check_and_mutate(row: bytes, cells: list[Cell], operator: str, value: bytes) -> None:
    """The condition has the mirror of the operator; what is written is as without it."""
    request = CheckAndMutate(row, "d", b"q", operator, value, cells)
    param, block = request.encode(REGION)
    comparator = protos.made("BinaryComparator", comparable={"value": value}).SerializeToString()
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
        (told,) = protos.said(protos.read("MultiRequest", param))["regionAction"]
        assert (condition, True, SPECIFIER) == (
            told["condition"],
            told["atomic"],
            told["region"],
        )
        assert mutations(row, cells) == [one["mutation"] for one in told["action"]]
    else:
        assert "Mutate" == request.method
        told = protos.said(protos.read("MutateRequest", param))
        assert {
            "region": SPECIFIER,
            "mutation": mutation(row, cells),
            "condition": condition,
        } == told
    assert (sent_cells(row, cells), len(block)) == decode_cells(block)


@pytest.mark.parametrize("nothing", [None, b""])
def test_check_for_nothing(nothing: bytes | None) -> None:
    """No value is sent as an empty one."""
    request = CheckAndMutate(b"r", "d", b"q", "=", nothing, [Cell("d", b"q", 1)])
    told = protos.read("MutateRequest", request.encode(REGION)[0]).condition
    sent = protos.read("BinaryComparator", told.comparator.serialized_comparator)
    assert {"comparable": {"value": b""}} == protos.said(sent)


MIXED = [Cell("d", b"q", 1), Cell("d", b"q", 1, kind=Kind.DELETE)]
ATOMIC: list[Callable[[Response], object]] = [
    MutateRow(b"r", MIXED).decode,
    CheckAndMutate(b"r", "d", b"q", "=", None, MIXED).decode,
]


@pytest.mark.parametrize("decode", ATOMIC)
@pytest.mark.parametrize(
    "answer",
    [{"exception": FAULT}, {"resultOrException": [{"index": 0}, {"index": 1, "exception": FAULT}]}],
)
def test_failed_whole(decode: Callable[[Response], object], answer: dict[str, Any]) -> None:
    """What failed is raised, on whichever level it is told."""
    body = protos.made("MultiResponse", regionActionResult=[answer]).SerializeToString()
    with pytest.raises(NoSuchColumnFamily) as raised:
        decode(Response(1, None, body, b""))
    assert isinstance(raised.value, HBaseError)


@pytest.mark.parametrize("processed", [True, False])
def test_processed(processed: bool) -> None:
    """Whether the condition was true is told for the region."""
    results = [{"index": 0, "result": {}}, {"index": 1, "result": {}}]
    answer = {"processed": processed, "resultOrException": results}
    body = protos.made("MultiResponse", regionActionResult=[answer]).SerializeToString()
    assert processed is ATOMIC[1](Response(1, None, body, b""))


def test_answer_about_no_region() -> None:
    """An answer about no region is none."""
    for decode in ATOMIC:
        with pytest.raises(Malformed):
            decode(Response(1, None, b"", b""))


@pytest.mark.parametrize(
    ("given_cells", "path"),
    [([], "cells"), (MIXED, "cells"), ([Cell("d", b"", 1, ttl_ms=1), Cell("d", b"", 1)], "cells")],
)
def test_refused_cells(given_cells: list[Cell], path: str) -> None:
    """One mutation takes cells of one sort only."""
    with pytest.raises(Refused, match=f"^{path}: "):
        Mutate(b"r", given_cells)


@given(AMOUNTS, PIECES)
def test_refused_columns(amounts: list[Any], pieces: list[Any]) -> None:
    """A column can be changed once in one request, and there must be one."""
    for make, some in ((Increment, amounts), (Append, pieces)):
        for wrong in ([], some + some[:1]):
            with pytest.raises(Refused, match=r"^columns: "):
                make(b"r", wrong)


def test_refused_words() -> None:
    """Numbers that do not fit, values that are none and unknown operators are refused."""
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
        lambda: MutateRow(b"", put),
    ):
        with pytest.raises(Refused):
            make()
