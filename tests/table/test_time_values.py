"""The forms in which calls of a table take times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.errors import ReadError, RowkeyError

if TYPE_CHECKING:
    from rowkey.table import Table

DESIGN = """
table = "logs"
key   = "[bucket(host, 4)][host][desc(ts)]"

[fields]
host = "text"
ts   = "KIND"
seen = { type = "KIND", nullable = true }

[writes]
time = "ts"

[[reads]]
name  = "since"
where = "host = ? and ts >= :since"
"""
CALLS: dict[str, Callable[[Table, Any], Any]] = {
    "put": lambda table, time: table.put({"host": "b", "ts": time, "seen": time}),
    "replace": lambda table, time: table.replace({"host": "b", "ts": time}),
    "delete": lambda table, time: table.delete({"host": "b", "ts": time}),
    "get": lambda table, time: table.get(host="a", ts=time) or 1 / 0,
    "get_many": lambda table, time: table.get_many([{"host": "a", "ts": time}])[0] or 1 / 0,
    "scan": lambda table, time: 1 / table.scan("host = ? and ts = ?", "a", time).count(),
    "mapping": lambda table, time: 1 / table.scan({"host": "a", "ts": time}).count(),
    "count": lambda table, time: 1 / table.count("ts >= :time", time=time),
    "read": lambda table, time: 1 / table.read("since", "a", since=time).count(),
}
INSTANTS: tuple[Any, ...] = (
    1609459200, "1609459200", "2021-01-01", "2021-01-01T00:00:00Z", "2021-01-01T01:00:00+01:00",
    datetime(2021, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
)  # fmt: skip
DAYS: tuple[Any, ...] = (date(2021, 1, 1), "2021-01-01", "20210101")


def open_table(kind: str, time: Any) -> Table:
    """Return a table in memory with one row."""
    table = rowkey.open(rowkey.Design.loads(DESIGN.replace("KIND", kind)), "memory:")
    table.put({"host": "a", "ts": time})
    return table


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("kind", "forms"), [("timestamp_s", INSTANTS), ("date", DAYS)])
def test_every_call_accepts_a_time_as_count_iso_text_or_datetime(
    call: str, kind: str, forms: tuple[Any, ...]
) -> None:
    """Counts, ISO 8601 and datetimes with a zone are accepted alike, for dates ISO 8601."""
    with open_table(kind, forms[0]) as table:
        answers = [[CALLS[call](table, form)] for form in forms]  # a call that finds no row raises
        assert len(forms) == len(answers)


@pytest.mark.parametrize("call", CALLS)
def test_a_datetime_without_a_time_zone_is_refused(call: str) -> None:
    """A datetime without a time zone is refused with the expressions that give it one."""
    with open_table("timestamp_s", 1) as table, pytest.raises(RowkeyError) as refusal:
        CALLS[call](table, datetime(2021, 1, 1))  # noqa: DTZ001 - it is what is refused
    message = str(refusal.value)
    assert "2021-01-01 00:00:00 has no time zone; expected a datetime with a time zone." in message
    assert "datetime.now(timezone.utc) for now" in message


def test_a_scan_takes_a_mapping_of_equal_values() -> None:
    """A scan takes the values that fields must equal, and names an unknown field."""
    with open_table("timestamp_s", 1) as table:
        assert [1] == [row["ts"] for row in table.scan({"host": "a"})]
        assert [1] == [row["ts"] for row in table.scan({"host": "a", "seen": None})]
        assert 0 == table.count({"host": "b"})
        assert "host = 'a'" in str(table.explain({"host": "a"}))
        with pytest.raises(ReadError, match="hots"):
            table.scan({"hots": "a"})


COUNTS = {"timestamp_s": 1, "timestamp_ms": 10**3, "timestamp_us": 10**6, "timestamp_ns": 10**9}


def write_batch(table: Table, time: Any) -> None:
    """Put a row in a batch."""
    with table.batch() as batch:
        batch.put({"host": "b", "ts": time})


WRITES: dict[str, Callable[[Table, Any], Any]] = {
    "put": CALLS["put"],
    "replace": CALLS["replace"],
    "batch": write_batch,
    "load": lambda table, time: table.load(pa.table({"host": ["b"], "ts": [time]})),
    "check_and_put": lambda table, time: table.check_and_put({"host": "b", "ts": time}, seen=None),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", COUNTS)
def test_a_time_given_in_another_unit_is_refused_with_the_right_count(
    kind: str, write: str
) -> None:
    """Whoever writes a count of today in another unit is told the unit and the right count."""
    table = open_table(kind, 1609459200 * COUNTS[kind])
    for other, per_second in COUNTS.items():
        if other == kind:
            WRITES[write](table, 1609459200 * per_second)
            continue
        with pytest.raises(RowkeyError) as told:
            WRITES[write](table, 1609459200 * per_second)
        said = str(told.value)
        assert f"{1609459200 * per_second} looks like a {other}, but ts is a {kind}" in said
        assert f"Write {1609459200 * COUNTS[kind]}; or the text '" in said
    assert 2 == table.count()


def test_a_count_that_is_a_current_time_in_no_unit_is_written() -> None:
    """A count that is a time of our days in no unit is written, and any time with a date."""
    table = open_table("timestamp_ms", 1500)
    written = ["1970-01-19T15:04:19.200Z", datetime(1970, 1, 20, tzinfo=UTC), 0, 2**62]
    for time in written:
        table.put({"host": "b", "ts": time})
    assert 1 + len(written) == table.count()
