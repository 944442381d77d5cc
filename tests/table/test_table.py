import datetime as dt
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import rowkey
from rowkey.errors import BatchError, DesignRefused, ReadError, RowError
from rowkey.table import Table

FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "level": {"type": "choice", "of": ["INFO", "ERROR"]},
    "message": {"type": "text", "nullable": True},
    "size": {"type": "u32", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
KEY = "[bucket(host, 16)][host][level][desc(ts)]"
ROW: dict[str, Any] = {"host": "web-1", "ts": 1_609_459_200_000, "level": "ERROR"}
FULL_ROW = {**ROW, "message": "disk full", "size": 7, "hits": None}


def build_design(key: str = KEY, **words: Any) -> rowkey.Design:
    """Build the log's design with a key."""
    return rowkey.Design("logs", key, **({"fields": FIELDS, "splits": "per_bucket"} | words))


ON_BOTH_ENGINES = pytest.mark.parametrize("url", ["memory", "rocks"], indirect=True)
"""Marks tests of what depends on the engine; all others run on disk in long runs only."""


@pytest.fixture(params=["memory", pytest.param("rocks", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL of tables, on each embedded engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


@pytest.fixture
def logs(url: str) -> Iterator[Table]:
    """An empty table of the log."""
    with rowkey.open(build_design(), url) as table:
        yield table


# Writing


@ON_BOTH_ENGINES
def test_a_row_that_was_put_is_returned_by_get_and_scan(logs: Table) -> None:
    """A row is returned in normal values by a get with a mapping, with names, and by a scan."""
    logs.put(FULL_ROW)
    assert FULL_ROW == logs.get(ROW) == logs.get(**ROW) == logs.scan().first()
    assert [FULL_ROW] == list(logs.scan("host = ?", "web-1"))


def test_a_missing_row_is_none_in_get_and_absent_in_scans(logs: Table) -> None:
    """A get of a missing row returns None, and no scan returns the row."""
    assert logs.get(ROW) is None
    assert [] == list(logs.scan())
    assert 0 == logs.count()


def test_a_put_keeps_omitted_fields_and_deletes_fields_given_as_none(logs: Table) -> None:
    """A put keeps omitted fields, deletes fields given as None, and can restore both."""
    logs.put(FULL_ROW)
    logs.put({**ROW, "size": 8})
    assert {**FULL_ROW, "size": 8} == logs.get(ROW)
    logs.put({**ROW, "message": None})
    assert {**FULL_ROW, "size": 8, "message": None} == logs.get(ROW)
    logs.put({**ROW, "message": "again"})
    assert {**FULL_ROW, "size": 8, "message": "again"} == logs.get(ROW)


def test_a_replaced_row_has_only_the_given_fields(logs: Table) -> None:
    logs.put({**FULL_ROW, "hits": 3})
    logs.replace({**ROW, "size": 9})
    assert {**ROW, "message": None, "size": 9, "hits": None} == logs.get(ROW)


def test_a_row_whose_columns_are_all_null_exists(logs: Table) -> None:
    """A row whose columns are all absent is still a row."""
    logs.put(ROW)
    assert {**ROW, "message": None, "size": None, "hits": None} == logs.get(ROW)
    logs.put({**ROW, "size": None})
    assert 1 == logs.count()


@ON_BOTH_ENGINES
@pytest.mark.usefixtures("short_clock_wait")
def test_a_put_in_the_millisecond_of_a_delete_is_visible(url: str) -> None:
    """A put after a delete of the same millisecond is visible, with a stopped clock as well."""
    with rowkey.open(build_design(), url, clock=lambda: 1_700_000_000_000) as logs:
        for _ in range(20):
            logs.put(FULL_ROW)
            logs.delete(ROW)
            assert logs.get(ROW) is None
            logs.put(FULL_ROW)
            assert FULL_ROW == logs.get(ROW)
            logs.replace({**ROW, "size": 1})
            assert {**FULL_ROW, "message": None, "size": 1} == logs.get(ROW)


@pytest.mark.claims(23)
def test_a_row_moved_to_another_key_keeps_its_fields(logs: Table) -> None:
    """A moved row has all its fields under the new key and is gone from the old one."""
    logs.put(FULL_ROW)
    assert logs.move(ROW, host="web-2", size=1)
    assert logs.get(ROW) is None
    moved = {**FULL_ROW, "host": "web-2", "size": 1}
    assert moved == logs.get({**ROW, "host": "web-2"})
    assert logs.move(moved, message="same key")
    assert {**moved, "message": "same key"} == logs.get(moved)
    assert not logs.move(ROW, host="web-3")


def test_a_batch_names_its_wrong_rows_and_writes_the_others(logs: Table) -> None:
    """The errors of a batch name its wrong rows by number, and the others are written."""
    rows = [{**ROW, "ts": n, "size": "many" if n in (2, 7) else n} for n in range(10)]
    with pytest.raises(BatchError) as found, logs.batch(rows=3) as batch:
        deque(map(batch.put, rows), maxlen=0)
    assert [2, 7] == [number for number, _ in found.value.row_errors]
    assert "2 of 10 rows were refused" in str(found.value)
    assert {0, 1, 3, 4, 5, 6, 8, 9} == {row["ts"] for row in logs.scan()}


def test_puts_and_deletes_of_one_row_in_a_batch_take_effect_in_order(logs: Table) -> None:
    with logs.batch() as batch:
        batch.put(FULL_ROW)
        batch.delete(ROW)
        batch.put({**ROW, "size": 1})
    assert {**ROW, "message": None, "size": 1, "hits": None} == logs.get(ROW)


def test_a_batch_takes_the_key_fields_of_a_delete_by_name(logs: Table) -> None:
    """A batch takes the key fields of a row to delete by name, as `Table.delete` does."""
    other = {**ROW, "ts": 7}
    with logs.batch() as batch:
        batch.put(ROW)
        batch.put(other)
        batch.delete(**ROW)
        batch.delete(ROW, ts=7)
    assert [] == list(logs.scan())
    with pytest.raises(BatchError), logs.batch() as batch:
        batch.delete()


@ON_BOTH_ENGINES
def test_an_increment_adds_to_an_absent_or_put_value(logs: Table) -> None:
    """Increments add to an i64 column, from nothing or from a put value."""
    assert {"hits": 5} == logs.increment(ROW, hits=5)
    assert {"hits": 3} == logs.increment(ROW, hits=-2)
    assert 3 == logs.get(ROW)["hits"]
    logs.put({**ROW, "hits": 2**63 - 1})
    assert {"hits": -(2**63)} == logs.increment(ROW, hits=1)
    with pytest.raises(RowError, match="a field of type u32 cannot be incremented"):
        logs.increment(ROW, size=1)
    with pytest.raises(RowError, match="hits: 'x' cannot be added to a counter"):
        logs.increment(ROW, hits="x")  # type: ignore[arg-type]


def test_an_append_extends_a_text(logs: Table) -> None:
    """An append extends a text at its end, and begins with an empty text."""
    logs.append(ROW, message="disk")
    logs.append(ROW, message=" füll")
    assert "disk füll" == logs.get(ROW)["message"]


def test_check_and_put_writes_only_if_the_column_has_the_expected_value(logs: Table) -> None:
    """A row is put only if a column has the expected value, or is absent as expected."""
    assert logs.check_and_put({**ROW, "size": 1}, size=None)
    assert not logs.check_and_put({**ROW, "size": 2}, size=None)
    assert logs.check_and_put({**ROW, "size": 2}, size=1)
    assert 2 == logs.get(ROW)["size"]
    with pytest.raises(RowError, match="one column, because HBase checks one"):
        logs.check_and_put(ROW, size=1, hits=2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"host": "a"}, "level"),
        ({**ROW, "hots": 1}, "hots"),
        ({**ROW, "size": -1}, "size"),
        ({**ROW, "level": "WARN"}, "level"),
        (7, "row: 7 is not a row"),
    ],
)
def test_a_wrong_row_is_refused_with_its_field(logs: Table, row: Any, message: str) -> None:
    """The error of a wrong row names the field, and nothing is written."""
    with pytest.raises(RowError, match=message):
        logs.put(row)
    assert 0 == logs.count()


# Salt


@pytest.fixture
def salted_logs(url: str) -> Iterator[Table]:
    """A table with a random salt."""
    with rowkey.open(build_design("[salt(7)][host][level][desc(ts)]"), url) as table:
        yield table


@ON_BOTH_ENGINES
def test_a_salted_row_put_repeatedly_is_returned_once(salted_logs: Table) -> None:
    """A salted row that is put repeatedly is returned once, with the newest field values."""
    for number in range(30):
        salted_logs.put({**ROW, "size": number})
    salted_logs.put({**ROW, "message": "last"})
    assert (
        {**FULL_ROW, "message": "last", "size": 29}
        == salted_logs.get(ROW)
        == salted_logs.scan().first()
    )
    assert 1 == salted_logs.count() == salted_logs.scan().to_arrow().num_rows
    salted_logs.put({**ROW, "size": None})
    assert salted_logs.get(ROW)["size"] is None
    salted_logs.replace({**ROW, "size": 1})
    assert {**ROW, "message": None, "size": 1, "hits": None} == salted_logs.get(ROW)
    salted_logs.delete(ROW)
    assert salted_logs.get(ROW) is None
    assert 0 == salted_logs.count()


def test_increments_and_checks_of_salted_rows_are_refused(salted_logs: Table) -> None:
    """Increments, appends and checks of salted rows are refused with reason and remedy."""
    calls: list[Callable[[], Any]] = [
        lambda: salted_logs.increment(ROW, hits=1),
        lambda: salted_logs.append(ROW, message="x"),
        lambda: salted_logs.check_and_put(ROW, size=1),
    ]
    for call in calls:
        with pytest.raises(DesignRefused, match=r"random salt.*Use bucket\(field, n\)"):
            call()


# Reading


def test_a_declared_read_has_the_conditions_of_the_design(url: str) -> None:
    """A declared read has the design's conditions, order and limit, and given values."""
    reads = [{"name": "tail", "where": "host = ?", "order": "ts desc", "limit": 2}]
    with rowkey.open(build_design(reads=reads), url) as logs:
        with logs.batch() as batch:
            for ts in range(5):
                batch.put({"host": "web-1", "ts": ts, "level": "INFO" if ts % 2 else "ERROR"})
        assert [4, 3] == [row["ts"] for row in logs.read("tail", "web-1")]
        with pytest.raises(ReadError, match=r"no read 'tale'.*Did you mean tail"):
            logs.read("tale")


def test_rows_are_sorted_in_an_order_that_no_key_gives(logs: Table) -> None:
    """Rows are sorted in any order, with a limit as well."""
    with logs.batch() as batch:
        for number in range(50):
            batch.put({**ROW, "ts": number, "size": number * 7 % 50})
    assert list(range(49, -1, -1)) == [row["size"] for row in logs.scan(order="size desc")]
    assert [0, 1, 2] == [row["size"] for row in logs.scan(order="size", limit=3)]


def test_a_scan_token_of_another_read_is_refused(logs: Table) -> None:
    """A token of other conditions, and a text that is not a token, are refused."""
    logs.put(ROW)
    scan = logs.scan("host = ?", "web-1")
    list(scan)
    with pytest.raises(ReadError, match="scan with other conditions"):
        logs.scan(resume=scan.token)
    for text in ("", "x", "AAAA", "é" * 9):
        with pytest.raises(ReadError, match="not a token of a scan"):
            logs.scan(resume=text)


@pytest.mark.parametrize(
    ("where", "values", "message"),
    [
        ("hots = ?", ["a"], "hots"),
        ("host = ?", [], "has no value"),
        ("host = ?", ["a", "b"], "no parameter"),
        ("host ~ ?", ["a"], "where"),
    ],
)
def test_a_wrong_read_is_refused_when_the_scan_is_created(
    logs: Table, where: str, values: list[Any], message: str
) -> None:
    with pytest.raises(ReadError, match=message):
        logs.scan(where, *values)


@dataclass
class Event:
    """A row as a dataclass."""

    host: str
    ts: int
    level: str
    size: int | None = None


class Model(BaseModel):
    """A row as a pydantic model."""

    host: str
    ts: int
    level: str
    message: str | None = None


def test_dataclasses_and_pydantic_models_can_be_put_and_returned(logs: Table) -> None:
    event = Event(host="web-1", ts=5, level="INFO", size=3)
    logs.put(event)
    assert event == logs.get({"host": "web-1", "ts": 5, "level": "INFO"}, into=Event)
    model = Model(host="web-2", ts=6, level="INFO", message="hi")
    logs.put(model)
    assert [event] == list(logs.scan("host = ?", "web-1", into=Event))
    assert [model] == list(logs.scan("host = ?", "web-2", into=Model))
    with pytest.raises(RowError, match="int is not a class of rows"):
        logs.scan(into=int)


def test_a_snapshot_does_not_show_later_writes(logs: Table) -> None:
    logs.put(FULL_ROW)
    snapshot = logs.snapshot()
    logs.delete(ROW)
    assert [FULL_ROW] == list(logs.scan(reader=snapshot))
    assert [] == list(logs.scan())
    snapshot.close()


@ON_BOTH_ENGINES
def test_loaded_arrow_columns_are_returned_with_the_types_of_their_fields(logs: Table) -> None:
    import pyarrow as pa

    count = 1_000
    batch = pa.record_batch(
        {
            "host": pa.array([f"web-{n % 7}" for n in range(count)]).dictionary_encode(),
            "ts": pa.array(range(count), pa.int64()),
            "level": pa.array([["INFO", "ERROR"][n % 2] for n in range(count)]),
            "size": pa.array([None if n % 3 == 0 else n for n in range(count)], pa.uint32()),
        }
    )
    assert count == logs.load(batch)
    assert count == logs.count() == sum(region.writes for region in logs.regions())
    found = logs.scan("host = ?", "web-3", order="level, ts desc").to_arrow()
    expected = [row for row in batch.to_pylist() if row["host"] == "web-3"]
    expected.sort(key=lambda row: (["INFO", "ERROR"].index(row["level"]), -row["ts"]))
    kept = found.set_column(1, "ts", found.column("ts").cast(pa.int64()))
    assert expected == kept.select(["host", "ts", "level", "size"]).to_pylist()


@pytest.mark.parametrize(
    ("column", "message", "n_rows"),
    [
        ({"size": [1, 2, -1, 3]}, r"^row 2 \(counted from 0\), field size: -1 is out of range", 2),
        ({"size": [[1]] * 4}, r"^field size: an Arrow column of the type list", 0),
        ({"hots": [1] * 4}, r"^batch: the design has no such field: hots", 0),
    ],
)
def test_a_load_stops_at_an_invalid_row_and_keeps_the_rows_before(
    logs: Table, column: dict[str, list[Any]], message: str, n_rows: int
) -> None:
    """A load stops at an invalid row, which its error names; an invalid column writes nothing."""
    import pyarrow as pa

    columns = {"host": ["a"] * 4, "ts": [1, 2, 3, 4], "level": ["INFO"] * 4, **column}
    with pytest.raises(RowError, match=message):
        logs.load(pa.record_batch(columns))
    assert n_rows == logs.count()


# Time


def test_a_row_disappears_after_the_ttl_of_its_family(url: str) -> None:
    now = [1_700_000_000_000]
    kept = build_design(families={"d": {"ttl": "10s"}})
    with rowkey.open(kept, url, clock=lambda: now[0]) as logs:
        logs.put(FULL_ROW)
        now[0] += 10_000
        assert FULL_ROW == logs.get(ROW)
        now[0] += 1
        assert logs.get(ROW) is None
        logs.compact()
        assert 0 == logs.count()


# Placement


def test_events_in_time_slices_are_put_counted_and_deleted(url: str) -> None:
    """Events of time slices are put, counted, limited and deleted, latest first."""
    sliced = build_design("[bucket(host, 4)][host][desc(time_slice(ts, 1h))]", fields=FIELDS)
    start = 1_609_459_200_000
    with rowkey.open(sliced, url) as logs:
        events = [{**FULL_ROW, "ts": start + n * 600_000, "size": n} for n in range(20)]
        with logs.batch() as batch:
            for event in events:
                batch.put(event)
        assert 20 == logs.count()
        latest = list(logs.scan("host = ?", "web-1", order="ts desc", limit=9))
        assert events[::-1][:9] == latest
        assert events == list(logs.scan("host = ?", "web-1", order="ts"))
        assert events[7] == logs.get(host="web-1", ts=events[7]["ts"])
        logs.delete(host="web-1", ts=events[7]["ts"])
        assert 19 == logs.count()
        assert logs.get(host="web-1", ts=events[7]["ts"]) is None
        since = events[10]["ts"]
        assert events[10:15] == list(
            logs.scan(
                "host = ? and ts >= ? and ts < ?", "web-1", since, events[15]["ts"], order="ts"
            )
        )


@ON_BOTH_ENGINES
def test_events_of_a_wide_row_are_distinguished_by_their_qualifier(url: str) -> None:
    """A field in the qualifier distinguishes the events of one row."""
    fields = {"user": "text", "post": {"type": "text", "at": "qualifier"}, "stars": "u8"}
    wide = rowkey.Design("likes", "[user]", fields=fields)
    with rowkey.open(wide, url) as likes:
        rows = [{"user": f"u{n % 3}", "post": f"p{n:02}", "stars": n} for n in range(30)]
        with likes.batch() as batch:
            for row in rows:
                batch.put(row)
        assert 30 == likes.count()
        assert [row for row in rows if row["user"] == "u1"] == list(likes.scan("user = ?", "u1"))
        assert rows[4] == likes.get(user="u1", post="p04")
        likes.delete(rows[4])
        assert likes.get(user="u1", post="p04") is None
        assert 29 == likes.count()
        token, found = None, []
        for _ in range(10):
            scan = likes.scan(limit=4, resume=token)
            found += list(scan)
            token = scan.token
        assert (
            sorted((row for row in rows if row != rows[4]), key=lambda r: (r["user"], r["post"]))
            == found
        )


@ON_BOTH_ENGINES
def test_fields_packed_into_one_cell_are_returned(url: str) -> None:
    """Fields that share a cell are returned, nulls as well."""
    fields = {
        "id": "u64",
        "name": {"type": "text", "pack": "p"},
        "born": {"type": "date", "pack": "p", "nullable": True},
        "price": {"type": "decimal", "precision": 9, "scale": 2, "pack": "p"},
    }
    packed = rowkey.Design("people", "[bucket(id, 8)][id]", fields=fields)
    from decimal import Decimal

    rows = [
        {
            "id": n,
            "name": f"n{n}",
            "born": dt.date(2000, 1, 1 + n) if n % 2 else None,
            "price": Decimal(n) / 4,
        }
        for n in range(20)
    ]
    with rowkey.open(packed, url) as people:
        with people.batch() as batch:
            for row in rows:
                batch.put(row)
        assert rows == list(people.scan())
        assert rows[5] == people.get(id=5)


def test_a_field_stored_as_the_cell_timestamp_is_returned(url: str) -> None:
    """A field that is the cells' timestamp is returned, and the ttl counts from its value."""
    fields = {"host": "text", "at": {"type": "timestamp_ms", "at": "timestamp"}, "load": "u8"}
    stamped = rowkey.Design("t", "[host]", fields=fields, families={"d": {"ttl": "1h"}})
    now = 1_700_000_000_000
    with rowkey.open(stamped, url, clock=lambda: now) as table:
        table.put({"host": "a", "at": now - 60_000, "load": 5})
        assert {"host": "a", "at": now - 60_000, "load": 5} == table.get(host="a")
        table.put({"host": "b", "at": now - 3_700_000, "load": 5})
        assert table.get(host="b") is None


@ON_BOTH_ENGINES
def test_values_coded_by_a_dictionary_are_returned_after_reopening(url: str) -> None:
    """Values coded by a dictionary are returned, also after the table was closed."""
    coded = rowkey.Design("t", "[code(host)][ts]", fields={"host": "text", "ts": "timestamp_ms"})
    place = url if url.startswith("rocks") else "memory:codes"
    rows: list[dict[str, Any]] = [{"host": f"h{n % 5}", "ts": n} for n in range(20)]
    with rowkey.open(coded, place) as table:
        for row in rows[:10]:
            table.put(row)
    with rowkey.open(coded, place) as table:
        for row in rows[10:]:
            table.put(row)
        assert [row for row in rows if row["host"] == "h3"] == list(table.scan("host = ?", "h3"))
        assert sorted(rows, key=lambda row: (int(row["host"][1:]), row["ts"])) == list(table.scan())
