"""The copier copies every row exactly, whatever stops it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from rowkey.cells import Cell, RowCells
from rowkey.errors import Conflict, InvalidArgument
from rowkey.move import CopyProgress, RateLimit, RowCopier, load_progress
from rowkey.progress import Progress
from table.move_pairs import MovePair, WrittenTables, draw_pairs, list_rows

if TYPE_CHECKING:
    from rowkey.move import CopyResult
    from rowkey.table import Table

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
EXAMPLES = 500 if IS_LONG else 15
START_MS = 1_700_000_000_000
FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
KEYS = ("[host][ts]", "[bucket(host, 4)][host][desc(ts)]")
ROWS = 300


class Killed(Exception):
    """Stands for the end of the process."""


def open_pair(source_url: str, target_url: str) -> tuple[Table, Table]:
    """Return a source with rows in four regions, and an empty target."""
    source, target = (
        rowkey.open(rowkey.Design(name, key, fields=FIELDS), url)
        for name, key, url in zip(("source", "target"), KEYS, (source_url, target_url), strict=True)
    )
    with source.batch() as batch:
        for number in range(ROWS):
            row = {"host": f"h{number % 9}", "ts": START_MS + number, "size": number}
            batch.put(row)
    source.delete(host="h0", ts=START_MS)
    for key in (b"h2", b"h4", b"h7"):
        source.store.split(key)
    return source, target


@pytest.fixture(params=["memory", "rocks"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Table, Table]]:
    """Return a filled source and an empty target on each engine."""
    is_memory = request.param == "memory"
    urls = ["memory:"] * 2 if is_memory else [f"rocks:{tmp_path / one}" for one in "ab"]
    source, target = open_pair(*urls)
    with source, target:
        yield source, target


def build_copier(pair: tuple[Table, Table], **options: Any) -> RowCopier:
    """Return a copier of small chunks."""
    source, target = pair
    options = {"chunk_rows": 20, **options}
    return RowCopier(source.get_state(), target.get_state(), source.catalog, **options)


def list_all(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table in an order of their own."""
    return sorted(table.scan(), key=lambda row: (row["host"], row["ts"]))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_copy_has_all_rows_of_the_source(pair: tuple[Table, Table], threads: int) -> None:
    """The target has the source's rows, and the status tells so."""
    seen: list[Progress] = []
    result = build_copier(pair, threads=threads, progress=seen.append).run()
    assert result.is_complete
    assert (ROWS, 0) == (result.row_count, result.left_out_rows)
    assert list_all(pair[0]) == list_all(pair[1])
    assert Progress("copy", ROWS, ROWS, "rows") == seen[-1]
    assert ROWS == build_copier(pair).run().row_count  # nothing is left to copy


def test_chunks_of_few_bytes_copy_the_same_rows(pair: tuple[Table, Table]) -> None:
    assert build_copier(pair, chunk_rows=200, chunk_bytes=100).run().is_complete
    assert list_all(pair[0]) == list_all(pair[1])


def test_a_copy_ends_although_rows_are_appended_meanwhile(pair: tuple[Table, Table]) -> None:
    """Rows behind the last one of the beginning are not waited for, however many there are."""
    source, target = pair
    appended, mutate = 0, target.store.mutate

    def append_rows(mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        nonlocal appended
        mutate(mutations, sync=sync)
        assert appended < 9 * ROWS, "the copy follows its writer"
        for number in range(appended, appended := appended + 40):
            source.put({"host": "z", "ts": START_MS + number, "size": 0})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target.store, "mutate", append_rows)
        assert build_copier(pair).run().is_complete
    before, copied = ([row for row in list_all(one) if row["host"] != "z"] for one in pair)
    assert ROWS - 1 == len(before)
    assert before == copied


def run_and_kill(
    pair: tuple[Table, Table], writes: int, *, is_after: bool
) -> tuple[CopyResult | None, int]:
    """Run a copier that is killed at a write; return its result and how many rows it wrote."""
    store, remaining, written = pair[1].store, writes, 0
    mutate = store.mutate

    def kill_at_last(mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        nonlocal remaining, written
        remaining -= 1
        if remaining < 0 and not is_after:
            raise Killed
        mutate(mutations, sync=sync)
        written += len(mutations)
        if remaining < 0:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "mutate", kill_at_last)
        try:
            return build_copier(pair).run(), written
        except Killed:
            return None, written


@pytest.mark.parametrize("is_after", [False, True])
def test_a_copier_killed_many_times_copies_all_rows(
    pair: tuple[Table, Table], is_after: bool
) -> None:
    """After kills at every third write all rows are there; each kill repeats one chunk at most."""
    kills = total = 0
    result = None
    while result is None:
        result, written = run_and_kill(pair, 3, is_after=is_after)
        total += written
        kills += result is None
        progress = load_progress(pair[0].catalog, "source")
        assert progress is not None
        if kills == 2:  # regions that change meanwhile change nothing
            pair[0].store.split(b"h5")
    assert kills > 3
    assert result.is_complete
    assert ROWS == result.row_count
    assert total <= ROWS + 20 * kills
    assert list_all(pair[0]) == list_all(pair[1])


def test_all_intervals_are_stored_before_the_first_chunk_is_copied(
    pair: tuple[Table, Table],
) -> None:
    """A copier that is killed at its first write has stored all intervals."""
    assert (None, 0) == run_and_kill(pair, 0, is_after=False)
    progress = load_progress(pair[0].catalog, "source")
    assert progress is not None
    assert [b"", b"h2", b"h4", b"h7"] == [one.start for one in progress.intervals]
    assert 0 == progress.row_count


def test_a_stopped_copy_is_incomplete_and_can_be_continued(pair: tuple[Table, Table]) -> None:
    """`stop` ends a run, which goes on later."""
    copier = build_copier(pair)
    copier._report = lambda _: copier.stop()
    result = copier.run()
    assert not result.is_complete
    assert 0 < result.row_count < ROWS
    assert build_copier(pair).run().is_complete
    assert list_all(pair[0]) == list_all(pair[1])


def test_a_paused_copier_writes_nothing_and_can_be_stopped(pair: tuple[Table, Table]) -> None:
    limit = RateLimit()
    limit.pause()
    copier = build_copier(pair, limit=limit)
    found: list[CopyResult] = []
    thread = Thread(target=lambda: found.append(copier.run()))
    thread.start()
    copier.stop()
    thread.join()
    assert not found[0].is_complete
    assert [] == list_all(pair[1])


def test_a_paused_copier_is_resumed_by_another_process(pair: tuple[Table, Table]) -> None:
    """A copier that waits reads its settings again, so that another process can resume it."""
    limit = RateLimit()
    limit.pause()
    assert build_copier(pair, limit=limit, check=limit.resume).run().is_complete
    assert list_all(pair[0]) == list_all(pair[1])


def test_a_catch_up_copies_only_rows_that_changed(pair: tuple[Table, Table]) -> None:
    """A second pass copies only rows with newer cells, deletes among them."""
    source, target = pair
    assert build_copier(pair).run().is_complete
    since = source.store.row_clock.clock() + 1
    while source.store.row_clock.clock() < since:
        time.sleep(0.001)
    source.put({"host": "h1", "ts": START_MS + 1, "size": 77})
    source.delete(host="h2", ts=START_MS + 2)
    result = build_copier(pair, since_ms=since).run()
    assert result.is_complete
    assert 2 == result.row_count
    assert list_all(source) == list_all(target)


def test_a_catch_up_is_refused_while_the_first_copy_is_incomplete(
    pair: tuple[Table, Table],
) -> None:
    """A catch-up while the copy is not complete, or a copy to another table, is refused."""
    run_and_kill(pair, 2, is_after=False)
    with pytest.raises(Conflict, match="an earlier copy of its rows to target is not complete"):
        build_copier(pair, since_ms=5).run()


@pytest.mark.parametrize("name", ["threads", "chunk_rows", "chunk_bytes"])
def test_a_chunk_size_of_zero_is_refused(pair: tuple[Table, Table], name: str) -> None:
    """A chunk of nothing is refused."""
    with pytest.raises(InvalidArgument, match=name):
        build_copier(pair, **{name: 0})


@settings(max_examples=EXAMPLES)
@given(pair=draw_pairs(keeps_history=False), rows=st.integers(1, 5), data=st.data())
def test_rows_are_copied_between_any_two_designs(
    pair: MovePair, rows: int, data: st.DataObject
) -> None:
    """A copy and a catch-up after it show the rows of the source, in any two designs."""
    tables = WrittenTables(pair)
    since = None
    for _ in range(2):
        for _ in range(data.draw(st.integers(1, 8))):
            tables.change(data)
        RowCopier(
            tables.source.get_state(),
            tables.target.get_state(),
            tables.source.catalog,
            chunk_rows=rows,
            since_ms=since,
        ).run()
        assert list_rows(tables.source) == list_rows(tables.target)
        since = tables.now + 1


def test_rows_with_unknown_keys_are_counted_by_all_copiers_together(
    pair: tuple[Table, Table],
) -> None:
    """Rows of unknown keys count, also those of a killed copier; undeclared cells are copied."""
    foreign = [Cell("d", b"foreign", 5, b"x"), Cell("d", b"other", 5, b"y")]
    rows = list_all(pair[0])
    row_keys = [pair[0].design.key.encode(row) for row in rows]
    pair[0].store.mutate([RowCells(one, foreign) for one in (*row_keys, b"no key")])
    result = None
    while result is None:
        result, _ = run_and_kill(pair, 3, is_after=False)
    assert 1 == result.left_out_rows
    for row in pair[1].store.get([pair[1].design.key.encode(row) for row in rows]):
        assert foreign == [cell for cell in row.cells if cell.timestamp == 5]


def test_a_chunk_filled_by_its_first_row_holds_no_other_row(pair: tuple[Table, Table]) -> None:
    """A chunk whose first row has all of its bytes holds no other."""
    copier = build_copier(pair, chunk_rows=200, chunk_bytes=1)
    progress = CopyProgress.start("target", [b""])
    rows, is_last = copier._read_chunk(progress.intervals[0])
    assert (1, False) == (len(rows), is_last)
