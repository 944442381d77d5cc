"""Undeclared cells are returned, counted and told apart from rows of the design."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.cells import LATEST, Cell, RowCells
from rowkey.errors import DesignRefused, RowError
from rowkey.regions import to_string_binary
from rowkey.table import read_cell_blocks, verify_tables
from table import companion_tables
from table.clients import ManualClock, open_client, set_buckets
from table.test_scan_order import DEEP, ON_DISK
from table.worlds import Row, World, draw_reads, draw_worlds, to_plain_row

if TYPE_CHECKING:
    from rowkey.table import Table

NOW_MS = 1_700_000_000_000
ForeignCells = dict[str, bytes]


def put_foreign(table: Table, row: Row, cells: ForeignCells, *, salt: int, timestamp: int) -> None:
    """Put cells in undeclared columns of a row, as another program does."""
    key = table.design.key.encode(row, salt=salt)
    puts = [
        Cell("d", column.removeprefix("d:").encode(), timestamp, value)
        for column, value in sorted(cells.items())
    ]
    table.store.mutate([RowCells(key, puts)])


def fill_table(world: World, table: Table, data: st.DataObject) -> list[Row]:
    """Store rows with declared cells, undeclared ones or both; return them with both."""
    stored = []
    key = table.design.key
    salts = st.integers(0, key.salt_count - 1 if key.is_salted else 0)
    for number, row in enumerate(world.rows):
        kind = data.draw(st.sampled_from(["ours", "both", "theirs"]))
        foreign: ForeignCells = {}
        if kind != "theirs":
            table.put(row)
        if kind != "ours":
            for timestamp in range(data.draw(st.integers(1, 2))):
                cells = {f"d:x{n}": b"%d" % timestamp for n in range(data.draw(st.integers(1, 2)))}
                put_foreign(table, row, cells, salt=data.draw(salts), timestamp=timestamp + number)
                foreign |= cells
        absent = dict.fromkeys(world.design.fields) | {name: row[name] for name in world.names}
        stored.append((absent if kind == "theirs" else row) | {"undeclared": foreign})
    return stored


def is_declared(row: Row) -> bool:
    """Return whether a stored row has cells of the design."""
    return row["size"] is not None


def without_undeclared(row: Row) -> Row:
    """Return the fields of a row."""
    return {name: value for name, value in row.items() if name != "undeclared"}


def check_summary(scan: rowkey.table.Scan, expected: list[Row]) -> None:
    """Check what a scan has counted against the rows that it should have seen."""
    found, foreign = scan.undeclared_cells, [row for row in expected if row["undeclared"]]
    columns: dict[str, int] = {}
    for row in foreign:
        for column in row["undeclared"]:
            columns[column] = columns.get(column, 0) + 1
    assert dict(sorted(columns.items())) == found.column_counts
    assert len(foreign) == found.row_count
    assert sum(not is_declared(row) for row in foreign) == found.undeclared_row_count
    assert min(5, found.cell_count) == len(found.samples)


def check_world(world: World, url: str, data: st.DataObject) -> None:
    """Check reads of a table that another program writes too."""
    with rowkey.open(world.design, url, clock=count(NOW_MS).__next__) as table:
        stored = fill_table(world, table, data)
        asked = data.draw(draw_reads(world))
        read = (asked.where, *asked.values)
        expected = world.sort_rows([row for row in stored if asked.matches(row)])
        turned = World(world.design, world.names, tuple(not one for one in world.falls), ())
        ours = [without_undeclared(row) for row in expected if is_declared(row)]
        for order, rows in (
            ("", expected),
            (format_reverse_order(world), turned.sort_rows(expected)),
        ):
            scan = table.scan(*read, order=order, undeclared=True)
            assert rows == list(scan)
            check_summary(scan, rows)
            limit = data.draw(st.integers(0, len(rows)))
            assert rows[:limit] == list(
                table.scan(*read, order=order, limit=limit, undeclared=True)
            )
        scan = table.scan(*read, undeclared=True)
        columns = scan.to_arrow().to_pylist()
        if (token := scan.token) is not None:
            assert [] == list(table.scan(*read, undeclared=True, resume=token))
        assert expected == [
            to_plain_row(row) | {"undeclared": dict(row["undeclared"])} for row in columns
        ]
        check_pieces(table, read, expected, data.draw(st.integers(1, 7)))
        assert ours == list(table.scan(*read))
        for collect in (list, rowkey.table.Scan.count, rowkey.table.Scan.to_arrow):
            scan = table.scan(*read, count_undeclared=True, threads=2)
            result = collect(scan)
            assert len(ours) == (result if isinstance(result, int) else len(result))
            check_summary(scan, expected)
        assert stored == table.get_many(world.rows, undeclared=True)
        known = [without_undeclared(row) if is_declared(row) else None for row in stored]
        assert known == table.get_many(world.rows)


def format_reverse_order(world: World) -> str:
    """Return the order that reads the key backwards."""
    return ", ".join(
        name if falls else f"{name} desc"
        for name, falls in zip(world.names, world.falls, strict=True)
    )


def check_pieces(table: Table, read: tuple[Any, ...], expected: list[Row], size: int) -> None:
    """Check that the token after each row and after each batch gives the rest."""
    found: list[Row] = []
    token = None
    while len(found) < len(expected):
        scan = table.scan(*read, resume=token, undeclared=True)
        found += islice(scan, size)
        token = scan.token
        if token is None:
            return  # the rows are sorted in memory
        scan = table.scan(*read, resume=token, undeclared=True)
        found += [
            to_plain_row(row) | {"undeclared": dict(row["undeclared"])}
            for batch in islice(scan.batches(size), 1)
            for row in batch.to_pylist()
        ]
        token = scan.token
    assert expected == found


@settings(max_examples=DEEP)
@given(world=draw_worlds(), data=st.data())
def test_undeclared_cells_are_reported_as_by_a_dictionary(
    world: World, data: st.DataObject
) -> None:
    """Scans, counts and gets agree with a dictionary of what two programs have put."""
    check_world(world, "memory:", data)


@settings(max_examples=ON_DISK)
@given(world=draw_worlds(), data=st.data())
def test_undeclared_cells_on_disk_are_reported_as_by_a_dictionary(
    world: World, data: st.DataObject
) -> None:
    """The same holds on the embedded engine."""
    with TemporaryDirectory(dir=RAM_FOLDER) as place:
        check_world(world, f"rocks:{place}", data)


@dataclass(frozen=True)
class SharedWorld:
    """A design of rows that several events share, and what may be stored in its table.

    Args:
        design: the design.
        item: the field in the qualifier.
        items: values of the field in the qualifier, in their order.
        strays: qualifiers that name no event.
    """

    design: rowkey.Design
    item: str
    items: tuple[Any, ...]
    strays: tuple[bytes, ...]

    def list_identities(self) -> list[list[Row]]:
        """Return the events that each row may hold, rows and events in their order."""
        if self.item == "ts":
            starts = [(host, start) for host in HOSTS for start in (60, 120)]
            return [[{"host": h, "ts": start + n} for n in self.items] for h, start in starts]
        return [[{"host": h, self.item: one} for one in self.items] for h in HOSTS]


HOSTS = ("a", "ab", "b")
NOTE = {"type": "text", "nullable": True}
ONE_FAMILY: dict[str, Any] = {"d": {}}
TWO_FAMILIES: dict[str, Any] = {"d": {}, "e": {}}
SHARED_WORLDS = [
    SharedWorld(
        rowkey.Design("t", key, fields={"host": "text", item: word, "size": "u8", "note": note},
                      families=families),
        item, items, strays,
    )
    for note, families in (
        (NOTE, ONE_FAMILY),
        (NOTE, TWO_FAMILIES),
        ({**NOTE, "family": "e"}, TWO_FAMILIES),
    )
    for key, item, word, items, strays in (
        ("[host]", "n", {"type": "u8", "at": "qualifier"}, (0, 7, 255), (b"",)),
        ("[bucket(host, 3)][host]", "n", {"type": "text", "at": "qualifier"}, ("", "a", "c"),
         (b"", b"\xff", b"bz")),
        ("[salt(3)][host]", "n", {"type": "u8", "at": "qualifier"}, (0, 7, 255), (b"",)),
        ("[host][time_slice(ts, 1m)]", "ts", "timestamp_s", (0, 1, 59),
         (b"", b"\x3c", b"\x3csize")),
    )
]  # fmt: skip


def fill_shared_table(world: SharedWorld, table: Table, data: st.DataObject) -> list[Row]:
    """Store events, their undeclared cells and cells of no event; return them in their order."""
    stored: list[Row] = []
    layout, blank = table.design.layout, dict.fromkeys(world.design.fields)
    salts = st.integers(0, 2 if table.design.key.is_salted else 0)
    assert layout.qualifier_prefix is not None
    for identities in world.list_identities():
        drawn = data.draw(st.sets(st.sampled_from(world.strays), max_size=2))
        for stray in drawn:
            for salt in data.draw(st.sets(salts, min_size=1)):
                put_columns(table, identities[0], {stray: b"s"}, salt)
        if drawn:
            cells = {f"d:{to_string_binary(one)}": b"s" for one in sorted(drawn)}
            stored.append(blank | {"host": identities[0]["host"], "undeclared": cells})
        for identity in identities:
            kind = data.draw(st.sampled_from(["none", "ours", "both", "theirs"]))
            row = identity | {"size": 3, "note": None}
            if kind in ("ours", "both"):
                table.put(row)
            if kind in ("theirs", "both"):
                prefix = layout.qualifier_prefix.encode(identity)
                put_columns(table, identity, {prefix + b"x": b"f"}, data.draw(salts))
            if kind != "none":
                values = blank | (identity if kind == "theirs" else row)
                foreign = {} if kind == "ours" else {"d:x": b"f"}
                stored.append(values | {"undeclared": foreign})
    return stored


def put_columns(
    table: Table, row: Row, columns: dict[bytes, bytes], salt: int, timestamp: int = 1
) -> None:
    """Put cells under whole qualifiers in a row, as another program does."""
    puts = [Cell("d", qualifier, timestamp, value) for qualifier, value in sorted(columns.items())]
    table.store.mutate([RowCells(table.design.key.encode(row, salt=salt), puts)])


def check_shared_world(world: SharedWorld, url: str, data: st.DataObject) -> None:
    """Check reads of a table of shared rows that another program writes too."""
    with rowkey.open(world.design, url, clock=count(NOW_MS).__next__) as table:
        stored = fill_shared_table(world, table, data)
        reverse = f"host desc, {world.item} desc"
        for order, rows in (("", stored), (reverse, stored[::-1])):
            scan = table.scan(order=order, undeclared=True)
            if table.explain(order=order).order_method == "sorted":
                # By the other field, which cells of no event do not have.
                expected = list(scan)
                assert sorted(map(repr, rows)) == sorted(map(repr, expected))
            else:
                expected = rows
            assert expected == list(scan)
            check_summary(scan, rows)
            ours = [without_undeclared(row) for row in expected if is_declared(row)]
            assert ours == list(table.scan(order=order))
            scan = table.scan(order=order, count_undeclared=True)
            for result in (len(list(scan)), scan.count(), len(scan.to_arrow())):
                assert len(ours) == result
                check_summary(scan, rows)
            scan = table.scan(order=order, limit=len(ours) + 1, count_undeclared=True)
            assert ours == list(scan)
            check_summary(scan, rows)
        item = data.draw(st.sampled_from([row[world.item] for row in stored] or [None]))
        if item is not None:
            expected = [row for row in stored if row[world.item] == item]
            scan = table.scan(f"{world.item} = ?", item, undeclared=True)
            assert expected == list(scan)
            check_summary(scan, expected)
        limit = data.draw(st.integers(0, len(stored)))
        assert stored[:limit] == list(table.scan(limit=limit, undeclared=True))
        if world.item != "ts":  # Arrow's times are other objects
            check_pieces(table, (), stored, data.draw(st.integers(1, 5)))
        identities = [one for some in world.list_identities() for one in some]
        by_identity = {(row["host"], row[world.item]): row for row in stored}
        expected_gets = [by_identity.get((one["host"], one[world.item])) for one in identities]
        assert expected_gets == table.get_many(identities, undeclared=True)


@settings(max_examples=DEEP)
@given(world=st.sampled_from(SHARED_WORLDS), data=st.data())
def test_undeclared_cells_of_shared_rows_belong_to_their_event_or_row(
    world: SharedWorld, data: st.DataObject
) -> None:
    """Undeclared cells belong to the event that their qualifier names, or to the row."""
    with (
        patch("rowkey.table.scans.blocks.BLOCK_ROWS", 1),
        patch("rowkey.table.scans.scan_ranges.PAGE_CELLS", 2),
    ):
        check_shared_world(world, "memory:", data)


@settings(max_examples=ON_DISK)
@given(world=st.sampled_from(SHARED_WORLDS), data=st.data())
def test_undeclared_cells_of_shared_rows_on_disk_belong_to_their_event_or_row(
    world: SharedWorld, data: st.DataObject
) -> None:
    """The same holds on the embedded engine."""
    with TemporaryDirectory(dir=RAM_FOLDER) as place:
        check_shared_world(world, f"rocks:{place}", data)


def test_a_shared_row_with_cells_of_no_event_is_counted_once_across_blocks() -> None:
    """A shared row whose cells of no event lie in several blocks is counted once."""
    fields: dict[str, Any] = {"host": "text", "n": {"type": "text", "at": "qualifier"}, "v": "u8"}
    design = rowkey.Design("t", "[host]", fields=fields, families=ONE_FAMILY)
    with patch("rowkey.table.scans.blocks.BLOCK_ROWS", 1), rowkey.open(design, "memory:") as table:
        for n in range(200):
            table.put({"host": "a", "n": f"{n:03}", "v": 3})
        put_columns(table, {"host": "a"}, {b"": b"s", b"1z": b"s", b"\xff": b"s"}, 0)
        scan = table.scan(count_undeclared=True)
        assert (True, 200) == (scan.is_paged, scan.count())
        found = scan.undeclared_cells
        assert (3, 1, 1) == (found.cell_count, found.row_count, found.undeclared_row_count)


@pytest.mark.parametrize("key", ["[bucket(host, 4)][host]", "[salt(3)][host]"])
def test_a_scan_that_counts_undeclared_cells_holds_one_page_of_a_shared_row(key: str) -> None:
    """Of a row that many events share, a scan that counts undeclared cells holds one page."""
    fields: dict[str, Any] = {"host": "text", "n": {"type": "u16", "at": "qualifier"}, "v": "u8"}
    design = rowkey.Design("t", key, fields=fields, families=ONE_FAMILY)
    with rowkey.open(design, "memory:") as table:
        for n in range(500):
            table.put({"host": "a", "n": n, "v": 3})
        put_columns(table, {"host": "a"}, {b"": b"s", b"\0\3x": b"1", b"\xff": b"s"}, 0)
        scan = table.scan(limit=10)
        scan.count_undeclared()
        assert (True, 10) == (scan.is_paged, len(list(scan)))
        assert {"d:": 1, "d:x": 1} == scan.undeclared_cells.column_counts
        assert 500 == sum(1 for _ in table.scan(limit=501, count_undeclared=True))


LOGS: dict[str, Any] = {"host": "text", "n": "u16", "v": "u8"}


def open_logs(
    key: str = "[bucket(host, 4)][host][n]", reads_per_ms: int = 1, **fields: Any
) -> Table:
    """Open a table in memory, by a clock that advances with its readings."""
    design = rowkey.Design("t", key, fields={**LOGS, **fields})
    readings = count(NOW_MS * reads_per_ms)
    return rowkey.open(design, "memory:", clock=lambda: next(readings) // reads_per_ms)


@pytest.mark.usefixtures("short_clock_wait")
def test_undeclared_cells_under_two_bucket_counts_are_merged_into_one_row() -> None:
    """A row whose cells lie under two bucket counts is one row, with the newest cell of each."""
    with open_client(build_design(), "memory:", ManualClock()) as table:
        row = {"host": "b", "n": 1}
        others = [{"host": f"h{n}", "n": n, "v": 0} for n in range(20)]
        put_columns(table, row, {b"x": b"old", b"y": b"old"}, 0)
        set_buckets(table, 8)
        new = rowkey.Design("t", "[bucket(host, 8)][host][n]", fields=LOGS)
        assert new.key.encode(row) != build_design().key.encode(row)
        table.store.mutate([RowCells(new.key.encode(row), [Cell("d", b"x", 2, b"new")])])
        for one in others:
            table.put(one)
        expected = row | {"v": None, "undeclared": {"d:x": b"new", "d:y": b"old"}}
        assert expected == table.get(row, undeclared=True)
        assert [expected] == [one for one in table.scan(undeclared=True) if one["undeclared"]]
        scan = table.scan(count_undeclared=True)
        assert 20 == scan.count()
        found = scan.undeclared_cells
        assert (2, 1, 1) == (found.cell_count, found.row_count, found.undeclared_row_count)


def build_design() -> rowkey.Design:
    """Build a design with four buckets."""
    return rowkey.Design("t", "[bucket(host, 4)][host][n]", fields=LOGS)


def test_fields_that_a_key_holds_in_part_are_unknown_in_a_row_of_undeclared_cells() -> None:
    """Of a row with undeclared cells alone, fields that the key has in part are not known."""
    with open_logs("[digest(host, 4)][n]") as table:
        put_columns(table, {"host": "a", "n": 1}, {b"\x80x": b"1"}, 0)
        expected = {"host": None, "n": 1, "v": None, "undeclared": {"d:\\x80x": b"1"}}
        assert expected == table.get(host="a", n=1, undeclared=True)
        assert [expected] == list(table.scan(undeclared=True))
        assert [] == list(table.scan("host = ?", "a", undeclared=True))
        table.put({"host": "a", "n": 1, "v": 2})
        put_columns(table, {"host": "a", "n": 1}, {b"\x80x": b"1"}, 0)
        assert {"d:\\x80x": b"1"} == table.get(host="a", n=1, undeclared=True)["undeclared"]
        assert table.get(host="b", n=1, undeclared=True) is None


@pytest.mark.parametrize(
    ("key", "n"),
    [
        ("[bucket(host, 4)][host][n]", "u16"),
        ("[salt(3)][host][n]", "u16"),
        ("[host]", {"type": "u8", "at": "qualifier"}),
    ],
)
def test_a_row_moved_to_another_key_keeps_its_undeclared_cells(key: str, n: Any) -> None:
    """A row whose key changes, and changes back, takes the cells of another program along."""
    with open_logs(key, 500, n=n) as table:  # many changes in each millisecond
        table.put({"host": "a", "n": 1, "v": 2})
        prefix = table.design.layout.qualifier_prefix
        start = b"" if prefix is None else prefix.encode({"host": "a", "n": 1})
        put_columns(table, {"host": "a", "n": 1}, {start + b"x": b"1"}, 0, LATEST)
        places = [{"host": "a", "n": 1}, {"host": "b", "n": 2}]
        for _ in range(3):
            old, new = places
            assert table.move(old, **new)
            assert {**new, "v": 2, "undeclared": {"d:x": b"1"}} == table.get(new, undeclared=True)
            assert table.get(old, undeclared=True) is None
            places.reverse()


@pytest.mark.parametrize("key", ["[salt(3)][host][n]", "[bucket(host, 4)][host][n]"])
def test_cells_of_a_family_that_the_design_lacks_are_read_as_undeclared(key: str) -> None:
    """Cells of a family that another program has added are read, also of merged copies."""
    with open_logs(key) as table:
        (family,) = table.store.families_and_attributes[0]
        table.store.alter_families([family, replace(family, name="f")])
        row = {"host": "a", "n": 1, "v": 2}
        table.put(row)
        for salt in range(3 if table.design.key.is_salted else 1):
            place = table.design.key.encode(row, salt=salt)
            table.store.mutate([RowCells(place, [Cell("f", b"x", salt, b"%d" % salt)])])
        newest = b"%d" % salt
        assert [row | {"undeclared": {"f:x": newest}}] == list(table.scan(undeclared=True))
        (block,) = read_cell_blocks(table.get_state())
        columns = zip(*(block[name].to_pylist() for name in ("family", "value")), strict=True)
        assert ("f", newest) in columns


@pytest.mark.parametrize("families", [ONE_FAMILY, TWO_FAMILIES], ids=["one", "two"])
@pytest.mark.parametrize(
    ("key", "n"),
    [
        ("[bucket(host, 4)][host][n]", "u16"),
        ("[salt(3)][host][n]", "u16"),
        ("[code(host)][n]", "u16"),
        ("[host]", {"type": "u16", "at": "qualifier"}),
        ("[salt(3)][host]", {"type": "u16", "at": "qualifier"}),
    ],
)
def test_verify_counts_the_same_undeclared_cells_as_a_scan(
    tmp_path: Path, key: str, n: Any, families: dict[str, Any]
) -> None:
    """A table that is verified tells the same cells as a scan, and its files stay as they are."""
    url = f"rocks:{tmp_path}"
    fields: dict[str, Any] = {"host": "text", "n": n, "v": "u8"}
    with rowkey.open(rowkey.Design("t", key, fields=fields, families=families), url) as table:
        prefix = table.design.layout.qualifier_prefix
        for number in range(300):
            table.put({"host": "a", "n": number, "v": 1})
        for number in (0, 150, 299, 400):
            row = {"host": "a", "n": number}
            start = b"" if prefix is None else prefix.encode(row)
            put_columns(table, row, {start + b"x": b"1"}, 0, LATEST)
        if prefix is not None:
            put_columns(table, {"host": "a"}, {b"": b"1", b"\xff": b"1"}, 0, LATEST)
        scan = table.scan(count_undeclared=True)
        assert 300 == scan.count()
        table.flush()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    (found,) = verify_tables(url)
    assert found.is_sound
    assert found.undeclared is not None
    expected = scan.undeclared_cells
    if "salt" in key:  # the declared cells of a row may be stored under another salt
        expected.undeclared_row_count = found.undeclared.undeclared_row_count
    assert (expected, 0) == (found.undeclared, found.undecodable_rows.row_count)
    assert (
        before.items()
        >= {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}.items()
    )


@pytest.mark.parametrize(
    ("key", "at", "undeclared"),
    [("[bucket(n, 4)][n]", "key", 1), ("[n]", "key", 1), ("[time_slice(n, 1m)]", "qualifier", 0)],
)
def test_verify_names_rows_that_the_design_cannot_decode(
    tmp_path: Path, key: str, at: str, undeclared: int
) -> None:
    """A foreign row of declared and other columns is no damage; its key and the reason are told."""
    fields: dict[str, Any] = {"n": {"type": "timestamp_s", "at": at}, "v": "u8", "w": "u64"}
    if at == "key":
        del fields["n"]["at"]
    with rowkey.open(rowkey.Design("t", key, fields=fields), f"rocks:{tmp_path}") as table:
        table.put({"n": 7, "v": 1})
        row_key = table.design.key.encode({"n": 8})
        bad = [b"?", b"short", *([row_key] if at == "key" else [])]
        table.store.mutate([RowCells(one, [Cell("d", b"w", LATEST, b"1")]) for one in bad])
        table.store.mutate([RowCells(b"?", [Cell("d", b"x", LATEST, b"1")])])
    (found,) = verify_tables(f"rocks:{tmp_path}")
    assert found.is_sound
    assert found.undeclared is not None
    assert undeclared == found.undeclared.cell_count
    assert len(bad) == found.undecodable_rows.row_count
    assert {*bad} == {one.row_key for one in found.undecodable_rows.samples}
    assert "ends after" in {one.row_key: one.reason for one in found.undecodable_rows.samples}[b"?"]


def test_verify_decodes_ids_by_the_catalog(tmp_path: Path) -> None:
    """Rows whose key holds an id are decoded while the catalog has its value."""
    fields: dict[str, Any] = {"host": "text", "n": "u8", "v": "u8"}
    with rowkey.open(
        rowkey.Design("t", "[code(host)][n]", fields=fields), f"rocks:{tmp_path}"
    ) as t:
        t.put({"host": "a", "n": 1, "v": 1})
        t.store.mutate([RowCells(b"?", [Cell("d", b"v", LATEST, b"1")])])
    (found,) = verify_tables(f"rocks:{tmp_path}")
    assert [b"?"] == [one.row_key for one in found.undecodable_rows.samples]
    (tmp_path / ".catalog" / "t.json").unlink()
    (found,) = verify_tables(f"rocks:{tmp_path}")
    assert (False, 0) == (found.is_sound, found.undecodable_rows.row_count)


def test_a_snapshot_has_no_undeclared_cells_that_came_later() -> None:
    """A scan of a snapshot neither returns nor counts cells that came later."""
    with open_logs() as table:
        put_columns(table, {"host": "a", "n": 1}, {b"x": b"1"}, 0)
        with closing(table.snapshot()) as snapshot:
            put_columns(table, {"host": "a", "n": 2}, {b"x": b"1"}, 0)
            assert [1] == [row["n"] for row in table.scan(reader=snapshot, undeclared=True)]
            scan = table.scan(reader=snapshot, count_undeclared=True)
            assert 0 == scan.count()
            assert {"d:x": 1} == scan.undeclared_cells.column_counts


def test_a_read_of_undeclared_cells_is_served_by_the_main_table(tmp_path: Path) -> None:
    """A read that a companion would serve is of the main table if undeclared cells are wanted."""
    with rowkey.open(companion_tables.write_designs(tmp_path), "memory:") as table:
        row = {"user": "a", "at": 7, "number": 1, "note": None, "amount": 5}
        table.put(row)
        put_columns(table, row, {b"x": b"1"}, 0, LATEST)
        assert "orders_by_number" == table.explain("number = ?", 1).table
        scan = table.scan("number = ?", 1, undeclared=True)
        assert [row | {"undeclared": {"d:x": b"1"}}] == list(scan)
        scan = table.scan("number = ?", 1, count_undeclared=True)
        assert (1, 1) == (scan.count(), scan.undeclared_cells.cell_count)


def test_a_field_named_undeclared_prevents_reading_undeclared_cells() -> None:
    """A design with a field `undeclared` reads its rows, but not with their undeclared cells."""
    with open_logs(undeclared={"type": "text", "nullable": True}) as table:
        table.put({"host": "a", "n": 1, "v": 2, "undeclared": "mine"})
        assert ["mine"] == [row["undeclared"] for row in table.scan()]
        for read in (
            lambda: table.get(host="a", n=1, undeclared=True),
            lambda: table.scan(undeclared=True),
        ):
            with pytest.raises(DesignRefused, match=r"fields\.undeclared: .* Rename the field"):
                read()


@pytest.mark.parametrize(
    "key", ["[bucket(host, 4)][host][n]", "[salt(4)][host][n]", "[host][salt(4)][n]"]
)
def test_rows_that_cannot_be_decoded_are_left_out_on_request(key: str) -> None:
    """A foreign key and a foreign value are counted and named; without the option, errors."""
    with open_logs(key) as table:
        rows = [{"host": f"h{n:02}", "n": n, "v": 1} for n in range(40)]
        for row in rows:
            table.put(row)
        foreign = table.design.key.encode({"host": "h40", "n": 1}, salt=0)
        table.store.mutate(
            [
                RowCells(b"\x01zz", [Cell("d", b"v", 1, b"\1")]),
                RowCells(foreign, [Cell("d", b"v", 1, b"12345")]),
            ]
        )
        for read in (list, rowkey.table.Scan.count, rowkey.table.Scan.to_arrow):
            with pytest.raises(RowError, match=r"skip_undecodable=True \(--skip-undecodable\)"):
                read(table.scan())
            for options in ({}, {"count_undeclared": True}, {"undeclared": True}, {"limit": 99}):
                scan = table.scan(skip_undecodable=True, threads=2, **options)
                found = read(scan)
                assert 40 == (found if isinstance(found, int) else len(found))
                skipped = scan.undecodable_rows
                assert 2 == skipped.row_count
                assert {b"\x01zz", foreign} == {one.row_key for one in skipped.samples}
        assert 40 == table.count(skip_undecodable=True)


@pytest.mark.parametrize("key", ["[bucket(host, 4)][host][n]", "[salt(4)][host][n]"])
@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_rows_outside_of_all_keys_of_the_design_are_counted(
    key: str, engine: str, tmp_path: Path
) -> None:
    """A scan of all rows, or the first ones, names rows under keys between and after its ranges."""
    fields = {"host": "text", "n": "u32", "v": "u8"}
    design = rowkey.Design("logs", key, fields=fields)
    with rowkey.open(design, "memory:" if engine == "memory" else f"rocks:{tmp_path}") as table:
        table.put({"host": "a", "n": 1, "v": 1})
        foreign = [b"\4", b"\4\1", b"user-17", b"\xff\xff"]
        wide = [Cell("d", b"%d" % n, 1, b"") for n in range(200)]
        for row_key in foreign:
            table.store.mutate([RowCells(row_key, [Cell("d", b"v", 1, b"\1"), *wide])])
        for read in (list, rowkey.table.Scan.count, rowkey.table.Scan.to_arrow):
            for options in (
                {"count_undeclared": True},
                {"undeclared": True},
                {"skip_undecodable": True, "order": "n"},
            ):
                scan = table.scan(**options)
                found = read(scan)
                assert 1 == (found if isinstance(found, int) else len(found))
                assert foreign == [one.row_key for one in scan.undecodable_rows.samples]
                assert 4 == scan.undecodable_rows.row_count
        scan = table.scan("host = ?", "a", count_undeclared=True)
        assert (1, 0) == (scan.count(), scan.undecodable_rows.row_count)
        for limit in (1, 2, 9, 1 << 40):  # as many of each range outside
            scan = table.scan(limit=limit, count_undeclared=True)
            assert 1 == len(list(scan))
            found = scan.undecodable_rows.row_count
            assert min(limit, 4) <= found <= 4
            assert found == 4 or limit < 4


def test_reading_the_first_row_does_not_change_the_counts_of_a_scan() -> None:
    """`first` of a scan that is being read changes neither its rows nor what it has counted."""
    design = rowkey.Design("logs", "[host]", fields={"host": "text", "v": "u8"})
    with rowkey.open(design, "memory:") as table:
        for number in range(5):
            row = {"host": f"h{number}", "v": number}
            table.put(row)
            table.store.mutate([RowCells(design.key.encode(row), [Cell("d", b"x", 1, b"")])])
        scan = table.scan(count_undeclared=True)
        rows = []
        for row in scan:
            rows.append(row)
            assert row["host"] >= scan.first()["host"] == "h0"
        assert (5, 5) == (len(rows), scan.undeclared_cells.cell_count)
