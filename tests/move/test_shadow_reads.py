"""Reads that clients repeat on the table of a move that is not read, and what they count."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from cli.command import run
from rowkey.errors import Conflict, InvalidArgument
from rowkey.move import Move
from rowkey.table import ShadowCounts, drop_table, sum_shadow_counts
from rowkey.table.moves import shadow_reads
from rowkey.table.moves.shadow_reads import describe_difference

if TYPE_CHECKING:
    from rowkey.table import Table

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "n": {"type": "u32"}}
OLD = rowkey.Design("logs", "[bucket(host, 4)][host][ts]", fields=FIELDS)
NEW = rowkey.Design("logs", "[ts][host]", fields=FIELDS)
ROWS = [{"host": f"h{n % 5}", "ts": n, "n": n} for n in range(60)]


@pytest.fixture
def moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Table, Move]]:
    """A table whose rows are copied to another one, and its move."""
    monkeypatch.setattr(shadow_reads, "PAUSES_S", (0.01, 0.02))
    url = f"memory:{tmp_path}"
    with ExitStack() as held:
        table = held.enter_context(rowkey.open(OLD, url, max_stale=0.05))
        with table.batch() as batch:
            for row in ROWS:
                batch.put(row)
        move = held.enter_context(Move("logs", url))
        assert move.run(NEW).has_passed
        yield table, move


def read_some(table: Table) -> None:
    """Read rows in each way."""
    table.get(ROWS[3])
    table.get_many([*ROWS[:3], {"host": "none", "ts": 0}])
    list(table.scan("host = ?", "h1"))
    list(table.scan("host = ?", "h1", order="ts desc", limit=3))
    list(table.scan(limit=7))


def end_shadow(table: Table) -> ShadowCounts:
    """Wait until all that was chosen is compared; return what this client counted."""
    shadow = table.follower.shadow
    assert shadow is not None
    shadow._waiting.join()
    shadow.close()
    return shadow.counts


def follow(table: Table) -> None:
    """Let a client read the record of the move."""
    time.sleep(0.06)
    table.lease.renew_entry()
    table.get_state()


def test_equal_tables_answer_repeated_reads_alike(moved: tuple[Table, Move]) -> None:
    """Gets and scans, ordered, limited or not, of rows that are there and that are not."""
    table, move = moved
    read_some(table)
    assert table.follower.shadow is None
    move.repeat_reads(1.0)
    follow(table)
    read_some(table)
    assert ShadowCounts(equal=5) == end_shadow(table)
    status = move.status
    assert (1.0, ShadowCounts(equal=5)) == (status.shadow_share, status.shadow_counts)


def test_each_difference_of_the_tables_is_counted_and_explained(
    moved: tuple[Table, Move],
) -> None:
    """A row that is lost, one too many, and one with another value are told by their fields."""
    table, move = moved
    move.repeat_reads(1.0)
    follow(table)
    target = move.target.last_state
    target.writer.apply_changes([target.writer.build_delete(ROWS[3])])
    target.writer.apply_changes([target.writer.build_put({**ROWS[6], "n": 99})])
    target.writer.apply_changes([target.writer.build_put({"host": "h1", "ts": 1_000, "n": 1})])
    table.get(ROWS[3])
    table.get(ROWS[6])
    list(table.scan("host = ?", "h1", order="ts desc", limit=3))
    counts = end_shadow(table)
    assert (0, 3) == (counts.equal, counts.unequal)
    assert [
        "the row host 'h3', ts 3, n 3 is missing",
        "the row host 'h1', ts 6, n 6 differs in n",
        "the row host 'h1', ts 1000, n 1 is there only",
    ] == counts.examples


def test_a_write_that_reaches_the_other_table_later_is_late_and_not_lost(
    moved: tuple[Table, Move], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that is equal at a later attempt counts as equal and as late."""
    table, move = moved
    move.repeat_reads(1.0)
    follow(table)
    target = move.target.last_state
    target.writer.apply_changes([target.writer.build_delete(ROWS[3])])

    def write_then_wait(seconds: float) -> None:
        del seconds
        target.writer.apply_changes([target.writer.build_put(ROWS[3])])

    monkeypatch.setattr("rowkey.table.moves.shadow_reads.time.sleep", write_then_wait)
    table.get(ROWS[3])
    counts = end_shadow(table)
    assert (1, 1, 0) == (counts.equal, counts.late, counts.unequal)


def test_a_switch_begins_to_count_anew_and_the_end_of_a_move_stops(
    moved: tuple[Table, Move],
) -> None:
    """What was counted while another table was read is not added, and goes with the move."""
    table, move = moved
    move.repeat_reads(1.0)
    follow(table)
    table.get(ROWS[0])
    move.cut_over()
    follow(table)
    table.get(ROWS[0])
    table.get(ROWS[1])
    assert 2 == end_shadow(table).equal
    assert 2 == move.status.shadow_counts.equal
    move.roll_back()
    assert ShadowCounts() == move.status.shadow_counts
    follow(table)
    table.get(ROWS[0])
    assert 1 == end_shadow(table).equal
    assert 1 == move.status.shadow_counts.equal
    move.finish()
    table.get(ROWS[0])
    assert table.follower.shadow is None
    notes = move.record.catalog.read_notes("logs")
    assert [] == [name for name in notes if name.startswith("move.shadow")]


def test_a_client_repeats_about_the_given_share_and_no_more_than_can_wait(
    moved: tuple[Table, Move],
) -> None:
    """A tenth of many reads is repeated or skipped, and the reads do not wait for it."""
    table, move = moved
    move.repeat_reads(0.1)
    follow(table)
    for _ in range(2_000):
        table.get(ROWS[0])
    counts = end_shadow(table)
    assert 100 < counts.repeated_count + counts.skipped < 320


def test_shadow_reads_are_refused_before_the_copy_and_with_a_wrong_share(tmp_path: Path) -> None:
    """Before the copy answers would lack rows; a share is between 0 and 1."""
    url = f"memory:{tmp_path}"
    with rowkey.open(OLD, url, max_stale=0.05), Move("logs", url) as move:
        move.start(NEW)
        with pytest.raises(Conflict, match="its rows are not copied yet"):
            move.repeat_reads(0.5)
        with pytest.raises(InvalidArgument, match="2 is no share of the reads"):
            move.repeat_reads(2)


def test_the_command_sets_the_share_and_shows_the_figures(tmp_path: Path) -> None:
    """`move shadow` sets the share, and `status` and `cutover` print what clients counted."""
    url = f"rocks:{tmp_path / 'data'}"
    place = ("--on", url)
    with rowkey.open(OLD, url) as table:
        table.put(ROWS[0])
    with Move("logs", url) as move:
        move.run(NEW)
    done = run("move", "shadow", "logs", "--share", "10%", *place)
    assert "logs: 10% of the reads are repeated on logs_2: 0 answers equal" in done.out
    counts = {"equal": 5, "late": 1, "unequal": 1, "failed": 0, "skipped": 2, "examples": ["why"]}
    with Move("logs", url) as move:
        record = move.record.read()
        assert record is not None
        move.record.write_note("move.shadow.a", {"period": record.period, **counts})
    said = "10% of the reads are repeated on logs_2: 5 answers equal, 1 of them late; 1 not; why"
    assert f"shadow    {said}\n" in run("move", "status", "logs", *place).out
    document = json.loads(run("move", "status", "logs", *place, "-f", "json").out)
    assert {"share": 0.1, **counts} == document["shadow"]
    for words, message in (
        ((), "the share of the reads is missing"),
        (("--share", "120%"), "'120%' is not a share; expected a percentage from 0% up to 100%"),
    ):
        assert message in run("move", "shadow", "logs", *words, *place).err
    assert said in run("move", "cutover", "logs", *place).out
    assert 0 == run("move", "shadow", "logs", "--share", "0", *place).code


def test_reads_on_a_cluster_are_repeated_while_a_client_writes(hbase_url: str) -> None:
    """While rows are changed, no answer of a table whose move is complete stays unequal."""
    name = f"shadow.{token_hex(4)}"
    old, new = (one.copy_with_options(table=name) for one in (OLD, NEW))
    with ExitStack() as held:
        table = held.enter_context(rowkey.open(old, hbase_url, max_stale=1.0))
        held.callback(drop_table, name, hbase_url)
        with table.batch() as batch:
            for row in ROWS:
                batch.put(row)
        move = held.enter_context(Move(name, hbase_url))
        assert move.run(new).has_passed
        move.repeat_reads(1.0)
        reader = held.enter_context(rowkey.open(name, hbase_url))
        assert reader.follower.shadow is not None
        for number in range(20):
            table.put({**ROWS[number % 3], "n": 100 + number})
            reader.get(ROWS[number % 3])
            list(reader.scan("host = ?", "h1", order="ts desc", limit=3))
        counts = end_shadow(reader)
        assert (40, 0, 0) == (counts.equal + counts.skipped, counts.unequal, counts.failed)
        assert counts == move.status.shadow_counts
        move.finish()


def test_notes_of_several_clients_are_added_and_damaged_ones_left_out() -> None:
    """Only what was counted since the last switch is added; at most five examples stay."""
    note = {"period": "9.2", "equal": 2, "late": 1, "unequal": 3, "examples": ["a", "b", "c"]}
    notes = {
        "move.shadow.a": json.dumps(note), "move.shadow.b": json.dumps(note | {"equal": "x"}),
        "move.shadow.c": "{", "move.shadow.d": json.dumps(note | {"period": "9.0"}),
        "move.shadow.e": "[]", "move.progress": json.dumps(note),
    }  # fmt: skip
    total = ShadowCounts(equal=2, late=2, unequal=6, examples=["a", "b", "c", "a", "b"])
    assert total == sum_shadow_counts(notes, "9.2")


def test_another_order_of_equal_rows_is_told() -> None:
    """Rows that are all there in an order that was not asked for are no equal answer."""
    rows = [{"id": 1}, {"id": 2}]
    said = describe_difference((rows, [[1], [2]]), (rows, [[2], [1]]))
    assert "the rows are in another order, from id 1 on" == said
