"""Time slices: a row for each measurement, for each day, for each hour."""

from __future__ import annotations

import struct

import pytest

import rowkey
from rowkey.lint import check_design
from sources.evaluations import (
    change_design,
    get_finding,
    list_rules,
    read_design,
    simulate_example,
)

HOUR = 1_609_459_200
ROW = {"host": 7, "counter": "cpu", "value": 0.5}


@pytest.mark.claims(41)
@pytest.mark.parametrize(
    ("name", "expected"), [("slices/rows", 3_600), ("slices/better", 1), ("slices/day", 1)]
)
def test_an_hour_of_seconds_is_one_row_in_a_time_slice(name: str, expected: int) -> None:
    """An hour of seconds is one sliced row instead of 3,600 rows."""
    key = read_design(name).key
    keys = {key.encode({**ROW, "ts": HOUR + second}) for second in range(3_600)}
    assert expected == len(keys)
    length = {"slices/rows": 1, "slices/better": 3_600, "slices/day": 86_400}[name]
    assert key.encode({**ROW, "ts": HOUR + length - 1}) in keys or expected > 1
    assert key.encode({**ROW, "ts": HOUR + 86_400}) not in keys


@pytest.mark.claims(41, 46)
def test_a_time_slice_of_a_day_is_reported_and_one_of_an_hour_is_not() -> None:
    """A day of 86,400 cells is reported with its bytes, and an hour of 3,600 is not."""
    evidence = get_finding("slices/day", "slice-length").evidence
    cell = 20 + len(b"\x00" + struct.pack(">I", 7) + b"\x00" + bytes(8)) + 1 + 4 + 5 + 8
    assert (86_400, 86_400) == (evidence["events"], evidence["cells"])
    assert 86_400 * cell == evidence["row_bytes"]
    assert [] == list_rules("slices/better")


@pytest.mark.claims(41, 46)
@pytest.mark.parametrize(
    ("period", "slice_length", "expected"),
    [("1s", "1h", []), ("500ms", "1h", ["info"]), ("1s", "12d", ["warning"])],
)
def test_a_time_slice_above_a_million_cells_is_a_warning(
    period: str, slice_length: str, expected: list[str]
) -> None:
    """More than 3,600 cells are information, more than a million a warning."""
    design = change_design(
        "slices/better",
        key=f"[bucket(host, 16)][host][counter][time_slice(ts, {slice_length})]",
        fields={"ts": "timestamp_ms"},
        writes={"arrival": "per(host)", "period": period, "for": "20s"},
    )
    told = check_design(design, select=["slice-length"]).findings
    assert expected == [one.severity for one in told]


@pytest.mark.claims(5, 41)
def test_a_time_slice_saves_rows_and_no_bytes() -> None:
    """Every cell repeats the key as before, plus two bytes of time in its qualifier."""
    plain, sliced = simulate_example("slices/rows"), simulate_example("slices/better")
    cell = 20 + 14 + len("d") + len("value") + 8
    assert (cell, cell + 2) == (plain.event_bytes, sliced.event_bytes)
    assert plain.key_bytes == sliced.key_bytes == 14


@pytest.mark.claims(41)
def test_the_second_within_a_time_slice_begins_the_qualifier() -> None:
    """Second 1,234 of an hour is 04 d2 in the qualifier, and a day needs four bytes."""
    for name, rest in (("slices/better", struct.pack(">H", 1_234)),
                       ("slices/day", struct.pack(">I", 1_234))):  # fmt: skip
        event = {**ROW, "ts": HOUR + 1_234}
        _, cells = read_design(name).layout.encode_event(event)
        assert [rest + b"value"] == [cell.qualifier for cell in cells]
        with rowkey.open(read_design(name), "memory:") as table:
            table.put(event)
            [back] = table.scan("host = ? and counter = ?", 7, "cpu")
            assert HOUR + 1_234 == back["ts"]
