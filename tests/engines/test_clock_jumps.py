"""A clock that is set back hides no change, between openings or while a table is open."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import rowkey
from engines.written_rows import CHANGES, DESIGN, START_MS, CheckedWriter, JumpingClock
from reliability.record import record
from rowkey.engines import ScanRange
from rowkey.engines.ordering.row_clock import CLOCK_SETBACK_MS

JUMPS_MS = {
    "1 second": 1_000, "1 minute": 60_000, "1 hour": 3_600_000, "10 years": 315_360_000_000
}  # fmt: skip
FAR_MS = {name: back_ms for name, back_ms in JUMPS_MS.items() if back_ms > CLOCK_SETBACK_MS}
"""Jumps that are too long to wait for."""
CHANGE_COUNT = 2 * len(CHANGES)
"""The number of changes before and after a jump in one run."""


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return an empty place for each embedded engine."""
    return f"{request.param}:{tmp_path / 'data'}"


def jump_between_openings(url: str, back_ms: int, count: int) -> CheckedWriter:
    """Write, set the clock back, open the table again and write, then set the clock right."""
    writer, clock = CheckedWriter(Random(back_ms)), JumpingClock()
    for back in (0, back_ms, back_ms, 0):
        clock.back_ms = back
        with rowkey.open(DESIGN, url, clock=clock) as table:
            writer.check_all(table)
            writer.write(table, count)
            writer.check_all(table)
    return writer


def jump_while_open(url: str, back_ms: int, count: int) -> CheckedWriter:
    """Write, set the clock back while the table is open, write, and set it right again."""
    writer, clock = CheckedWriter(Random(back_ms + 1)), JumpingClock()
    with rowkey.open(DESIGN, url, clock=clock) as table:
        for back in (0, back_ms, 0):
            clock.back_ms = back
            writer.write(table, count)
            writer.check_all(table)
    return writer


WAYS = {"between openings": jump_between_openings, "while open": jump_while_open}


@pytest.mark.parametrize(
    ("way", "back_ms"),
    [
        ("between openings", FAR_MS["10 years"]),
        ("while open", FAR_MS["1 minute"]),
        pytest.param("between openings", FAR_MS["1 minute"], marks=pytest.mark.long),
        pytest.param("while open", FAR_MS["10 years"], marks=pytest.mark.long),
    ],
)
def test_every_change_after_a_clock_jump_takes_effect(
    url: str, way: str, back_ms: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Each change after a clock jump takes effect, and one warning reports the jump."""
    with caplog.at_level(logging.WARNING):
        writer = WAYS[way](url, back_ms, CHANGE_COUNT)
    assert writer.n_written >= 3 * CHANGE_COUNT
    found = [one for one in caplog.messages if "behind the last change" in one]
    # A table in memory has one clock as long as the process lives, one on disk for each opening.
    assert 1 + (way == "between openings" and url.startswith("rocks:")) == len(found)
    assert all(one.startswith("table t: the clock of this machine is ") for one in found)


@pytest.mark.parametrize("way", WAYS)
def test_the_first_change_after_a_jump_of_one_second_waits_for_the_clock(
    tmp_path: Path, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The first change after a jump of one second waits for the clock without a warning."""
    begun = time.monotonic()
    with caplog.at_level(logging.WARNING):
        WAYS[way](f"rocks:{tmp_path / 'data'}", JUMPS_MS["1 second"], CHANGE_COUNT)
    assert time.monotonic() - begun > 0.9
    assert "behind the last change" not in caplog.text


def test_a_jump_of_the_system_clock_is_handled_like_one_of_a_given_clock(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A jump of the machine's own clock is handled like one of the caller's clock."""
    writer, real = CheckedWriter(Random(3)), time.time_ns
    with rowkey.open(DESIGN, url) as table:
        writer.write(table, CHANGE_COUNT)
        monkeypatch.setattr(time, "time_ns", lambda: real() - 3_600 * 10**9)
        with caplog.at_level(logging.WARNING):
            writer.write(table, CHANGE_COUNT)
        assert 1 == sum("behind the last change" in one for one in caplog.messages)
        writer.check_all(table)
    with rowkey.open(DESIGN, url) as table:
        writer.write(table, CHANGE_COUNT)
        writer.check_all(table)


def test_the_highest_timestamp_is_kept_by_a_table_that_was_not_closed(tmp_path: Path) -> None:
    """The highest timestamp is stored with each change, so a copy of an open table has it."""
    source, copy = tmp_path / "data", tmp_path / "copy"
    writer, clock = CheckedWriter(Random(4)), JumpingClock()
    with rowkey.open(DESIGN, f"rocks:{source}", clock=clock) as table:
        writer.write(table, CHANGE_COUNT)
        shutil.copytree(source, copy)
    clock.back_ms = JUMPS_MS["10 years"]
    with rowkey.open(DESIGN, f"rocks:{copy}", clock=clock) as table:
        writer.check_all(table)
        writer.write(table, CHANGE_COUNT)
        writer.check_all(table)


def test_a_salted_row_is_the_last_one_put_after_a_clock_jump(url: str) -> None:
    """A row with a random salt is the last one put, also after a jump."""
    fields = {"id": "u32", "v": "text"}
    design = rowkey.Design("t", "[salt(8)][id]", fields=fields, splits="per_bucket")
    clock = JumpingClock()
    for back in (0, JUMPS_MS["1 hour"]):
        clock.back_ms = back
        with rowkey.open(design, url, clock=clock) as table:
            for number in range(60):
                table.put({"id": 7, "v": f"{back} {number}"})
                assert {"id": 7, "v": f"{back} {number}"} == table.get(id=7)
            table.delete(id=7)
            assert table.get(id=7) is None


@pytest.mark.parametrize("back_ms", [JUMPS_MS["1 hour"], JUMPS_MS["10 years"]])
def test_changes_after_a_long_clock_jump_do_not_wait_for_the_clock(url: str, back_ms: int) -> None:
    """A hundred changes of one row after a jump take far less than the jump."""
    clock = JumpingClock()
    with rowkey.open(DESIGN, url, clock=clock) as table:
        table.put({"id": 1, "v": "before"})
        clock.back_ms = back_ms
        begun = time.monotonic()
        for number in range(100):
            table.delete(id=1)
            table.put({"id": 1, "v": f"{number}"})
        assert {"id": 1, "n": None, "s": None, "v": "99"} == table.get(id=1)
    assert time.monotonic() - begun < 60


def test_timestamps_of_new_cells_never_go_back(tmp_path: Path) -> None:
    """After a jump of ten years back new cells have timestamps no lower than before."""
    url, clock = f"rocks:{tmp_path / 'data'}", JumpingClock()
    with rowkey.open(DESIGN, url, clock=clock) as table:
        table.put({"id": 1, "v": "before"})
    clock.back_ms = JUMPS_MS["10 years"]
    with rowkey.open(DESIGN, url, clock=clock) as table:
        table.put({"id": 2, "v": "after"})
        assert START_MS <= _timestamp(table, 1) < _timestamp(table, 2)


@pytest.mark.long
def test_ten_thousand_changes_after_clock_jumps_all_take_effect(tmp_path: Path) -> None:
    """All of ten thousand acknowledged changes after clock jumps take effect."""
    engines: dict[str, Callable[[int], str]] = {
        "rocks": lambda number: f"rocks:{tmp_path / str(number)}",
        "memory": lambda number: f"memory:{tmp_path / str(number)}",
    }
    figures = []
    for engine, place in engines.items():
        for number, (name, back_ms) in enumerate(JUMPS_MS.items()):
            for way, jump in WAYS.items():
                writer = jump(place(2 * number + (way == "while open")), back_ms, 1_000)
                assert [] == writer.without_effect
                lost = len(writer.without_effect)
                figures.append(
                    {"engine": engine, "jump": name, "when": way, "writes": writer.n_written}
                    | {"without_effect": lost}
                )
    total = sum(int(str(one["writes"])) for one in figures)
    assert total >= 16_000
    record("clocks", {"writes": total, "without_effect": 0, "jumps": figures})


def _timestamp(table: rowkey.Table, row_id: int) -> int:
    (cursor,) = table.store.scan([ScanRange()])
    key = table.design.key.encode({"id": row_id})
    return max(cell.timestamp for row in cursor if row.row == key for cell in row.cells)
