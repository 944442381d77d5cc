from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given

from portal.load_columns import DAY_MS, START_MS, build_interval, draw_intervals
from rowkey.portal.live.database import LiveDatabase
from rowkey.portal.live.history import LAYERS, LiveHistory
from rowkey.portal.live.load_column import (
    LoadColumn,
    build_minute_columns,
    choose_groups,
    limit_ranges,
)
from rowkey.render import MAX_MAP_ROWS

if TYPE_CHECKING:
    from rowkey.observe import LoadInterval

WRITER = """
import sys
from pathlib import Path
from portal.load_columns import START_MS, build_interval
from rowkey.portal.live.database import LiveDatabase
from rowkey.portal.live.history import LiveHistory
from rowkey.portal.live.load_column import build_minute_columns

history = LiveHistory(LiveDatabase(Path(sys.argv[1])))
for number in range(1_000_000):
    end_ms = START_MS + 2_000 * (number + 1)
    history.add("t", build_minute_columns(build_interval([9], number, 2.0), end_ms), end_ms)
    print(number, flush=True)
"""
"""Adds intervals to a history, and prints the number of each that is stored."""


def open_history(folder: Path, max_bytes: int = 1 << 30) -> LiveHistory:
    """Return the history of a folder."""
    return LiveHistory(LiveDatabase(folder / "live.sqlite"), max_bytes)


def sum_columns(columns: list[LoadColumn]) -> tuple[int, ...]:
    """Return the writes, reads and milliseconds, and the writes and reads of servers."""
    servers: Counter[str] = Counter()
    for column in columns:
        for writes, reads in column.servers.values():
            servers += Counter(writes=writes, reads=reads)
    writes, reads = (sum(int(one.counts[row].sum()) for one in columns) for row in range(2))
    length_ms = sum(one.length_ms for one in columns)
    return writes, reads, length_ms, servers["writes"], servers["reads"]


def sum_intervals(intervals: list[tuple[int, LoadInterval]]) -> tuple[int, ...]:
    """Return the same of intervals."""
    writes, reads = (
        sum(one.sum_operations(counter) for _, one in intervals) for counter in ("writes", "reads")
    )
    length_ms = sum(round(one.length_s * 1_000) for _, one in intervals)
    return writes, reads, length_ms, writes, reads


@given(draw_intervals())
def test_the_layers_of_the_load_history_keep_all_sums_and_stay_short(
    intervals: list[tuple[int, LoadInterval]],
) -> None:
    """The sums over all layers are those of the intervals, and no layer is too long."""
    with tempfile.TemporaryDirectory(dir=_find_memory()) as folder:
        history = open_history(Path(folder))
        for end_ms, interval in intervals:
            history.add("t", build_minute_columns(interval, end_ms), end_ms)
        last_ms = intervals[-1][0]
        oldest_ms = last_ms - sum(layer.span_ms for layer in LAYERS[:-1])
        if intervals[0][0] > oldest_ms:  # all of it is within four weeks in any case
            assert sum_intervals(intervals) == sum_columns(history.read_columns("t", 0))
        with history.database.read() as connection:
            assert connection is not None
            places = connection.execute("SELECT layer, start_ms FROM load_columns").fetchall()
            unused = (
                "SELECT count(*) FROM layouts WHERE id NOT IN (SELECT layout FROM load_columns)"
            )
            assert (0,) == connection.execute(unused).fetchone()
        history.database.close()
    for number, layer in enumerate(LAYERS):
        starts = [start_ms for one, start_ms in places if one == number]
        assert len(starts) <= layer.count
        assert {0} >= {start_ms % layer.width_ms for start_ms in starts}
        assert all(start_ms > last_ms - layer.span_ms for start_ms in starts)


def test_columns_of_the_load_history_do_not_overlap(tmp_path: Path) -> None:
    """After a day of minutes, each moment lies in one column; the oldest ones are the longest."""
    history = open_history(tmp_path)
    for number in range(DAY_MS // 60_000):
        end_ms = START_MS // 14_400_000 * 14_400_000 + 60_000 * (number + 1)
        interval = build_interval([7], number)
        history.add("t", build_minute_columns(interval, end_ms), end_ms)
    columns = history.read_columns("t", 0)
    assert all(one.start_ms + one.length_ms == two.start_ms for one, two in pairwise(columns))
    counts = Counter(one.length_ms for one in columns)
    assert [60, 180, 90] == [counts[layer.width_ms] for layer in LAYERS[:3]]
    assert columns == sorted(columns, key=lambda one: -one.length_ms)


def test_load_older_than_the_last_layer_of_the_history_is_dropped(tmp_path: Path) -> None:
    """A table that comes back after years has nothing of before."""
    history = open_history(tmp_path)
    for end_ms in (START_MS, START_MS + 1_000 * DAY_MS):
        history.add("t", build_minute_columns(build_interval([7], 1, 2.0), end_ms), end_ms)
    assert 1 == len({one.start_ms // DAY_MS for one in history.read_columns("t", 0)})


def test_the_oldest_columns_are_dropped_when_the_history_file_reaches_its_limit(
    tmp_path: Path,
) -> None:
    """Above the limit the oldest columns of all tables are dropped, and pages are given back."""
    history = open_history(tmp_path, 200_000)
    edges = list(range(1, 256))
    for number in range(400):
        end_ms = START_MS + 60_000 * (number + 1)
        columns = build_minute_columns(build_interval(edges, number), end_ms)
        history.add(f"t{number % 2}", columns, end_ms)
    history.database.close()
    assert 60_000 < history.database.measure_bytes() < 300_000
    newest = history.read_columns("t1", 0)[-1]
    assert START_MS + 400 * 60_000 - newest.start_ms < 120_000


def test_stored_load_intervals_survive_a_killed_process(tmp_path: Path) -> None:
    """All intervals that a process has stored are there after kill -9."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "live.sqlite")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(40):
            stored = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        stored = max([stored, *(int(line) for line in process.stdout if line.endswith("\n"))])
    columns = open_history(tmp_path).read_columns("t", 0)
    intervals = [(0, build_interval([9], number, 2.0)) for number in range(stored + 2)]
    assert sum_columns(columns) in (sum_intervals(intervals[:-1]), sum_intervals(intervals))


def test_a_history_file_of_a_later_version_is_refused_and_unchanged(tmp_path: Path) -> None:
    """A file that a later version wrote is refused, and stays as it is."""
    history = open_history(tmp_path)
    with history.database.change() as connection:
        connection.execute("PRAGMA user_version = 99")
    history.database.close()
    before = (tmp_path / "live.sqlite").read_bytes()
    with pytest.raises(Exception, match="version 99"):
        history.read_columns("t", 0)
    assert before == (tmp_path / "live.sqlite").read_bytes()
    assert 0o600 == (tmp_path / "live.sqlite").stat().st_mode & 0o777


@pytest.mark.parametrize("column", ["servers", "counts"])
def test_an_undecodable_history_column_is_reported_as_a_damaged_file(
    tmp_path: Path, column: str
) -> None:
    """Load that cannot be decoded is reported as damage of the file, as the pages expect it."""
    history = open_history(tmp_path)
    history.add("t", build_minute_columns(build_interval([7], 1), START_MS), START_MS)
    with history.database.change() as connection:
        connection.execute(f"UPDATE load_columns SET {column} = '{{'")
    with pytest.raises(sqlite3.DatabaseError, match="a column of load is damaged"):
        history.read_columns("t", 0)


def test_hot_ranges_are_kept_apart_when_a_column_is_reduced() -> None:
    """Of 5,000 ranges, at most 1,536 are kept with equal sums, and the hot ones are unchanged."""
    count = 5_000
    keys = [b"", *(number.to_bytes(2, "big") for number in range(1, count)), b""]
    counts = np.zeros((3, count), np.int64)
    counts[0] = 1
    hot = [17, 18, 2_500, count - 1]
    counts[0, hot] = 1_000_000
    ranges = tuple(pairwise(keys))
    column = LoadColumn(0, 60_000, ranges, counts, {"s": (1, 2)})
    limited = limit_ranges(column)
    assert len(limited.ranges) <= MAX_MAP_ROWS
    assert counts[0].sum() == limited.counts[0].sum()
    kept = dict(zip(limited.ranges, limited.counts[0].tolist(), strict=True))
    assert [1_000_000] * 4 == [kept[ranges[place]] for place in hot]
    assert all(one[1] == two[0] for one, two in pairwise(limited.ranges))
    widths = [len(group) for group in np.split(counts[0], choose_groups(counts[0], 100)[1:])]
    assert max(widths) < 2.5 * count / 100


def _find_memory() -> str | None:
    """Return a folder in memory, where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
