"""Batches encode every action and decode answers in any order."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbase.requests import protos
from hbase.requests.strategies import ACTIONS, APPENDS, INCREMENTS, REGION, ROWS, WRITES
from hbase.requests.test_writes import FAULT, NO_FAMILY, SPECIFIER, mutations, sent_cells
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.errors import InvalidArgument
from rowkey.hbase.errors import HBaseError, MalformedAnswer, NoSuchColumnFamily
from rowkey.hbase.messages.contract import Idempotence
from rowkey.hbase.messages.multi_response import is_all_done
from rowkey.hbase.messages.mutations import encode_actions
from rowkey.hbase.requests import (
    Append,
    DeleteRow,
    Exists,
    Get,
    Increment,
    Multi,
    RawMulti,
)
from rowkey.hbase.wire.cellblocks import decode_cells, encode_cells
from rowkey.hbase.wire.frames import Response
from rowkey.hbase.wire.proto import WireFormatError

if TYPE_CHECKING:
    from rowkey.hbase.requests import Action

OTHER_REGION = b"t,m,2.00000000000000000000000000000000."


def _is_mixed(action: Action) -> bool:
    return isinstance(action, RowCells) and len(mutations(*action)) > 1


def _cells(action: Action) -> list[tuple[bytes, Cell]]:
    """Return the cells that an action sends."""
    if isinstance(action, RowCells):
        return sent_cells(*action)
    if isinstance(action, (Increment, Append)):
        return decode_cells(action.encode(REGION)[1])[0]
    return []


def _encode_expected(action: Action) -> list[dict[str, Any]]:
    """Return the protobuf actions of an action, without their indexes."""
    if isinstance(action, RowCells):
        return [{"mutation": one} for one in mutations(*action)]
    param = action.encode(REGION)[0]
    if isinstance(action, (Get, Exists)):
        return [{"get": protos.list_fields(protos.parse_message("GetRequest", param))["get"]}]
    return [
        {"mutation": protos.list_fields(protos.parse_message("MutateRequest", param))["mutation"]}
    ]


@given(st.lists(ACTIONS, max_size=6), st.lists(ACTIONS, max_size=6), st.sampled_from([0, 7]))
def test_batch_actions_are_encoded_in_order(
    first: list[Action], second: list[Action], group: int
) -> None:
    """Every action is sent in order, and mixed rows are sent alone and atomically."""
    param, block = Multi([(REGION, first), (OTHER_REGION, second)], group).encode(b"")
    told = protos.list_fields(protos.parse_message("MultiRequest", param))
    assert group == told.get("nonceGroup", 0)
    sent = told.get("regionAction", [])
    for region, actions in ((REGION, first), (OTHER_REGION, second)):
        mine = [one for one in sent if one["region"] == SPECIFIER | {"value": region}]
        flat = [(one.get("atomic", False), each) for one in mine for each in one["action"]]
        wanted = [
            (_is_mixed(action), each) for action in actions for each in _encode_expected(action)
        ]
        without = [
            (atomic, {name: value for name, value in each.items() if name != "index"})
            for atomic, each in flat
        ]
        assert wanted == without
        alone = [one for one in mine if one.get("atomic")]
        assert len(alone) == sum(map(_is_mixed, actions))
    for one in sent:
        indexes = [each["index"] for each in one["action"]]
        assert list(range(1, len(indexes) + 1)) == indexes
    cells = [cell for action in first + second for cell in _cells(action)]
    assert (cells, len(block)) == decode_cells(block)


@given(st.lists(WRITES, min_size=1, max_size=4), st.integers(120, 260))
def test_action_indexes_of_one_and_two_bytes_are_encoded(
    writes: list[RowCells], count: int
) -> None:
    """Indexes of one and of two bytes are encoded correctly."""
    actions = (writes * count)[:count]
    param, _ = Multi([(REGION, actions)]).encode(b"")
    (told,) = protos.list_fields(protos.parse_message("MultiRequest", param))["regionAction"]
    assert list(range(1, count + 1)) == [one["index"] for one in told["action"]]
    assert [_encode_expected(action)[0]["mutation"] for action in actions] == [
        one["mutation"] for one in told["action"]
    ]


_FATES = st.sampled_from(["done", "done", "done", "failed", "unnamed"])


def _draw_result(action: Action, random: Random) -> tuple[dict[str, Any], bytes, Any]:
    """Draw a server's result of an action, its cells, and the expected outcome."""
    if isinstance(action, Get):
        cells = [Cell("d", b"%d" % place, 1, b"v") for place in range(random.randrange(3))]
        told = {"associated_cell_count": len(cells), "stale": False}
        return told, encode_cells(action.row, cells), RowCells(action.row, cells)
    if isinstance(action, Exists):
        found = random.random() < 0.5
        return {"exists": found, "associated_cell_count": 0}, b"", found
    if isinstance(action, (Increment, Append)):
        sent = [cell._replace(timestamp=1) for _, cell in _cells(action)]
        block = encode_cells(action.row, random.sample(sent, len(sent)))
        values: list[Any] = [cell.value for cell in sent]
        if isinstance(action, Increment):
            values = [int.from_bytes(value, "big", signed=True) for value in values]
        return {"associated_cell_count": len(sent)}, block, values
    return {}, b"", None


def _draw_region_answer(
    actions: list[Action], fates: list[str], random: Random
) -> tuple[dict[str, Any], bytes, list[Any]]:
    """Return the answer about one region, its cells and the expected outcomes."""
    places = list(range(len(actions)))
    random.shuffle(places)
    wanted: list[Any] = [MalformedAnswer] * len(actions)
    results, blocks = [], []
    for place in places:
        if fates[place] == "failed":
            results.append({"index": place + 1, "exception": FAULT})
            wanted[place] = NoSuchColumnFamily
        elif fates[place] == "done":
            told, block, wanted[place] = _draw_result(actions[place], random)
            results.append({"index": place + 1, "result": told})
            blocks.append(block)
    return {"resultOrException": results}, b"".join(blocks), wanted


def _list_kinds(outcomes: list[Any]) -> list[Any]:
    """Return outcomes that can be compared: errors by their class."""
    return [type(one) if isinstance(one, HBaseError) else one for one in outcomes]


_UNMIXED_ACTIONS = ACTIONS.filter(lambda action: not _is_mixed(action))


@given(st.data(), st.randoms())
def test_each_action_of_a_batch_has_its_own_outcome(data: st.DataObject, random: Random) -> None:
    """Each action has its own outcome in any order and at any level of the answer."""
    regions, answers, blocks, wanted = [], [], [], []
    for number in range(data.draw(st.integers(1, 4))):
        actions = data.draw(st.lists(_UNMIXED_ACTIONS, min_size=1, max_size=6))
        if data.draw(st.integers(0, 3)) == 0:
            answer: dict[str, Any] = {"exception": FAULT}
            block, fare = b"", [NoSuchColumnFamily] * len(actions)
        else:
            count = len(actions)
            fates = data.draw(st.lists(_FATES, min_size=count, max_size=count))
            answer, block, fare = _draw_region_answer(actions, fates, random)
        regions.append((b"region %d" % number, actions))
        answers.append(answer)
        blocks.append(block)
        wanted += fare
    body = protos.build_message("MultiResponse", regionActionResult=answers, regionStatistics={})
    response = Response(1, None, body.SerializeToString(), b"".join(blocks))
    assert wanted == _list_kinds(Multi(regions).decode(response))


@given(WRITES, ROWS, st.sampled_from(["done", "region", "action"]))
def test_a_mixed_row_has_one_outcome(before: RowCells, row: bytes, fate: str) -> None:
    """A mixed row has one outcome, whatever the indexes of its results."""
    mixed = RowCells(row, [Cell("d", b"", 1), Cell("d", b"", 1, cell_type=CellType.DELETE)])
    results: list[dict[str, Any]] = [{"index": 0, "result": {}}, {"index": 1, "result": {}}]
    answer: dict[str, Any] = {"resultOrException": results, "processed": True}
    if fate == "region":
        answer = {"exception": FAULT}
    elif fate == "action":
        results[1] = {"index": 1, "exception": FAULT}
    get = [{"index": 1, "result": {"associated_cell_count": 1}}]
    answers = [{"resultOrException": [{"index": 1, "result": {}}]}, answer]
    answers.append({"resultOrException": get})
    body = protos.build_message("MultiResponse", regionActionResult=answers).SerializeToString()
    cell = Cell("d", b"q", 1, b"v")
    response = Response(1, None, body, encode_cells(row, [cell]))
    told = Multi([(REGION, [before, mixed, Get(row)])]).decode(response)
    fared = None if fate == "done" else NoSuchColumnFamily
    assert [None, fared, RowCells(row, [cell])] == _list_kinds(told)


def _build_done(indexes: list[int]) -> dict[str, Any]:
    return {"resultOrException": [{"index": index, "result": {}} for index in indexes]}


@given(st.integers(0, 300), st.randoms())
def test_an_answer_of_successes_only_is_recognized(count: int, random: Random) -> None:
    """An answer of successes only is recognized in every order, and nothing else is."""
    indexes = random.sample(range(1, count + 1), count)
    body = protos.build_message("RegionActionResult", **_build_done(indexes)).SerializeToString()
    assert is_all_done(body, count)
    assert not is_all_done(body, count + 1)
    if count > 1:
        twice = [indexes[1], *indexes[1:]]
        body = protos.build_message("RegionActionResult", **_build_done(twice)).SerializeToString()
        assert not is_all_done(body, count)
        assert is_all_done(body, count - 1) is False


@pytest.mark.parametrize("count", [1, 127, 128, 300])
def test_one_failure_among_many_puts_is_found(count: int) -> None:
    """One failure among many puts is found, and nothing else fails."""
    puts = [RowCells(b"r%d" % number, [Cell("d", b"q", LATEST)]) for number in range(count)]
    answer = _build_done(list(range(1, count + 1)))
    answer["resultOrException"][count // 2] = {"index": count // 2 + 1, "exception": FAULT}
    body = protos.build_message("MultiResponse", regionActionResult=[answer]).SerializeToString()
    told = Multi([(REGION, puts)]).decode(Response(1, None, body, b""))
    assert [count // 2] == [place for place, one in enumerate(told) if one is not None]


@given(st.lists(st.lists(_FATES, min_size=1, max_size=4), min_size=1, max_size=3), st.randoms())
def test_an_encoded_batch_returns_only_its_failures_with_their_positions(
    regions: list[list[str]], random: Random
) -> None:
    put = RowCells(b"r", [Cell("d", b"q", 1)])
    answers, wanted, sent = [], [], []
    for number, fates in enumerate(regions):
        actions: list[Action] = [put] * len(fates)
        answer, _, fare = _draw_region_answer(actions, fates, random)
        answers.append(answer)
        wanted += [(number, place, one) for place, one in enumerate(fare) if one is not None]
        sent.append((REGION, encode_actions(actions)[0], len(fates)))
    answers.append({"exception": FAULT})
    wanted += [(len(regions), place, NoSuchColumnFamily) for place in range(2)]
    sent.append((OTHER_REGION, encode_actions([put, put])[0], 2))
    cells = encode_actions([put] * sum(count for _, _, count in sent))[1]
    request = RawMulti(sent, cells)
    same = Multi([(name, [put] * count) for name, _, count in sent])
    assert same.encode(b"") == request.encode(b"")
    body = protos.build_message("MultiResponse", regionActionResult=answers).SerializeToString()
    told = request.decode(Response(1, None, body, b""))
    assert wanted == [(one.region, one.action, type(one.error)) for one in told]


def test_an_answer_about_fewer_regions_than_requested_is_malformed() -> None:
    put = RowCells(b"r", [Cell("d", b"q", 1)])
    for request in (Multi([(REGION, [put])]), RawMulti([(REGION, b"", 0)], b"")):
        with pytest.raises(WireFormatError):
            request.decode(Response(1, None, b"", b""))


def test_an_index_that_was_not_sent_makes_an_answer_malformed() -> None:
    """An index that was not sent or comes again, or an empty result, makes an answer malformed."""
    put = RowCells(b"r", [Cell("d", b"q", 1)])
    done = {"index": 1, "result": {}}
    others: tuple[dict[str, Any], ...] = (
        {"index": 2, "result": {}},
        {"index": 0, "exception": FAULT},
        done,
        {"index": 1},
        {},
    )
    for results in ([done, other] for other in others):
        answer = {"resultOrException": results}
        body = protos.build_message("MultiResponse", regionActionResult=[answer])
        for request in (Multi([(REGION, [put])]), RawMulti([(REGION, b"", 1)], b"")):
            with pytest.raises(WireFormatError):
                request.decode(Response(1, None, body.SerializeToString(), b""))


def test_the_error_of_an_action_has_its_java_class_and_first_line() -> None:
    answer = {"resultOrException": [{"index": 1, "exception": FAULT}]}
    body = protos.build_message("MultiResponse", regionActionResult=[answer]).SerializeToString()
    put = RowCells(b"r", [Cell("d", b"q", 1)])
    (told,) = Multi([(REGION, [put])]).decode(Response(1, None, body, b""))
    assert isinstance(told, HBaseError)
    assert (NO_FAMILY, "none") == (told.java_class, told.remote_message)


@given(st.lists(INCREMENTS | APPENDS | WRITES, max_size=5))
def test_a_batch_with_an_increment_or_append_is_not_sent_twice(actions: list[Any]) -> None:
    """A batch with an increment, an append or a delete of the newest version is not sent twice."""
    newest = {(CellType.DELETE, LATEST)}
    counts = any(
        isinstance(action, Increment | Append)
        or (
            isinstance(action, RowCells)
            and not newest.isdisjoint((cell.cell_type, cell.timestamp) for cell in action.cells)
        )
        for action in actions
    )
    expected = Idempotence.NOT_IDEMPOTENT if counts else Idempotence.IDEMPOTENT
    assert expected is Multi([(REGION, actions)]).idempotence


def test_a_row_without_cells_is_refused_with_its_index() -> None:
    """A row without cells is refused with its index in the batch."""
    put = RowCells(b"r", [Cell("d", b"q", 1)])
    with pytest.raises(InvalidArgument, match=r"^argument actions\[2\]\.cells: "):
        Multi([(REGION, [put]), (OTHER_REGION, [DeleteRow(b"r"), RowCells(b"r", [])])])
