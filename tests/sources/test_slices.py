"""Time slices: a row for each measurement, for each day, for each hour."""

from __future__ import annotations

import struct

import pytest

import rowkey
from rowkey.lint import check_design
from sources.judged import changed, found, read, rules, simulated

HOUR = 1_609_459_200
ROW = {"host": 7, "counter": "cpu", "value": 0.5}


@pytest.mark.claims(41)
@pytest.mark.parametrize(
    ("name", "expected"), [("slices/rows", 3_600), ("slices/better", 1), ("slices/day", 1)]
)
def test_an_hour_of_seconds_is_one_row_in_a_slice(name: str, expected: int) -> None:
    """Without slices it is 3,600; the next hour is the next row, the next day the next."""
    key = read(name).key
    keys = {key.encode({**ROW, "ts": HOUR + second}) for second in range(3_600)}
    assert expected == len(keys)
    length = {"slices/rows": 1, "slices/better": 3_600, "slices/day": 86_400}[name]
    assert key.encode({**ROW, "ts": HOUR + length - 1}) in keys or expected > 1
    assert key.encode({**ROW, "ts": HOUR + 86_400}) not in keys


@pytest.mark.claims(41, 46)
def test_a_slice_holds_as_many_cells_as_seconds() -> None:
    """A day is found out, 86,400 cells and their bytes; an hour, 3,600, is not."""
    evidence = found("slices/day", "slice-length").evidence
    cell = 20 + len(b"\x00" + struct.pack(">I", 7) + b"\x00" + bytes(8)) + 1 + 4 + 5 + 8
    assert (86_400, 86_400) == (evidence["events"], evidence["cells"])
    assert 86_400 * cell == evidence["row_bytes"]
    assert [] == rules("slices/better")


@pytest.mark.claims(41, 46)
@pytest.mark.parametrize(
    ("period", "slice_length", "expected"),
    [("1s", "1h", []), ("500ms", "1h", ["info"]), ("1s", "12d", ["warning"])],
)
def test_a_slice_is_judged_by_its_cells(
    period: str, slice_length: str, expected: list[str]
) -> None:
    """Above 3,600 it is worth knowing, above a million it is a warning."""
    design = changed(
        "slices/better",
        key=f"[bucket(host, 16)][host][counter][time_slice(ts, {slice_length})]",
        fields={"ts": "timestamp_ms"},
        writes={"arrival": "per(host)", "period": period, "for": "20s"},
    )
    told = check_design(design, select=["slice-length"]).findings
    assert expected == [one.severity for one in told]


@pytest.mark.claims(5, 41)
def test_a_slice_saves_rows_and_no_bytes() -> None:
    """Every cell holds the key as before, and two bytes of the time in its name besides."""
    plain, sliced = simulated("slices/rows"), simulated("slices/better")
    cell = 20 + 14 + len("d") + len("value") + 8
    assert (cell, cell + 2) == (plain.event_bytes, sliced.event_bytes)
    assert plain.key_bytes == sliced.key_bytes == 14


@pytest.mark.claims(41)
def test_what_is_left_of_the_time_opens_the_name_of_the_cell() -> None:
    """Second 1,234 of an hour is 04 d2; a day takes four bytes; and both read back whole."""
    for name, rest in (("slices/better", struct.pack(">H", 1_234)),
                       ("slices/day", struct.pack(">I", 1_234))):  # fmt: skip
        event = {**ROW, "ts": HOUR + 1_234}
        _, cells = read(name).layout.encode_event(event)
        assert [rest + b"value"] == [cell.qualifier for cell in cells]
        with rowkey.open(read(name), "memory:") as table:
            table.put(event)
            [back] = table.scan("host = ? and counter = ?", 7, "cpu")
            assert HOUR + 1_234 == back["ts"]
