"""Changes of a design with stored rows: safe ones still read them, others are refused."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rowkey
from rowkey.errors import CatalogMismatch

LEVELS = {"type": "choice", "of": ["low", "high"]}
FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 6},
    "n": "u8",
    "level": LEVELS,
    "price": {"type": "decimal", "precision": 6, "scale": 2},
    "note": {"type": "text", "qualifier": "t"},
    "a": {"type": "text", "max_bytes": 4, "pack": "p"},
    "b": {"type": "u8", "pack": "p"},
}
KEY = "[bucket(host, 4)][host][n]"
KEYS = (
    KEY, "[level][host][n]", "[code(level)][n][host]", "[salt(3)][host][desc(n)]",
    "[bucket(4, over=rest)][n][host]", "[price][desc(n)][host]",
)  # fmt: skip
NULL = {"nullable": True}
ROWS: list[dict[str, Any]] = [
    {"host": f"web-{n % 3}", "n": n, "level": LEVELS["of"][n % 2], "price": Decimal(n) / 4,
     "note": "x" * (n % 4), "a": f"a{n}", "b": n % 5}
    for n in range(20)
]  # fmt: skip


@cache
def build_original(key: str = KEY) -> rowkey.Design:
    """Build the design before any change."""
    return build_design(key)


def build_design(key: str = KEY, **words: Any) -> rowkey.Design:
    """Build the design with other top-level options."""
    return rowkey.Design("logs", key, **({"fields": FIELDS} | words))


def change_fields(key: str = KEY, **fields: Any) -> rowkey.Design:
    """Build the design with fields changed or added, or removed where they are None."""
    declared = {name: words for name, words in (FIELDS | fields).items() if words is not None}
    return build_design(key, fields=declared)


SAFE: dict[str, dict[str, Any]] = {
    "a new nullable column": {"more": {"type": "u8", **NULL}},
    "two new nullable columns": {"more": {"type": "u8", **NULL}, "yet": {"type": "uuid", **NULL}},
    "a column made nullable": {"note": {**FIELDS["note"], **NULL}},
    "a new field in a packed cell": {"c": {"type": "i64", "pack": "p", **NULL}},
    "a new packed cell": {"c": {"type": "i64", "pack": "q:protobuf", **NULL}},
    "longer values in a key": {"host": {"type": "text", "max_bytes": 60}},
    "values of any length": {"host": "text"},
    "longer values in a packed cell": {"a": {"type": "text", "pack": "p"}},
    "one more choice": {"level": {"type": "choice", "of": ["low", "high", "highest"]}},
    "more digits": {"price": {"type": "decimal", "precision": 7, "scale": 2}},
}
GROWN_KEYS = {"host": "web-1", "level": "low", "price": Decimal("99.25"), "note": "new", "a": "z"}


def get_number(row: dict[str, Any]) -> int:
    """Return the number of a row, by which tests sort rows."""
    return int(row["n"])


def check_rows(table: Any, expected: list[dict[str, Any]]) -> None:
    """Check that the rows are found one by one and in a scan."""
    assert expected == sorted(table.scan(), key=get_number)
    assert expected == table.get_many(expected)


def check_column_reads(table: Any, expected: list[dict[str, Any]]) -> None:
    """Check that the rows are found as columns and by each of their values."""
    check_rows(table, expected)
    assert expected == sorted(table.scan().to_arrow().to_pylist(), key=get_number)
    for name in table.design.fields:
        value = expected[7][name]
        wanted = [row for row in expected if row[name] == value]
        assert wanted == sorted(table.scan(f"{name} = ?", value), key=get_number)


def list_safe_cases() -> list[Any]:
    """Return each change with each key; in `make test` with one, and one that has its fields."""
    cases = []
    for number, (name, changes) in enumerate(SAFE.items()):
        used = [at for at, key in enumerate(KEYS) if changes.keys() & set(re.findall(r"\w+", key))]
        if "host" in changes:
            used = [number for number in used if "rest" in KEYS[number]]
        for at, key in enumerate(KEYS):
            is_short = at in (number % len(KEYS), *used[:1])
            marks = [] if is_short else [pytest.mark.long]
            cases.append(pytest.param(key, changes, marks=marks, id=f"{name}-{key}"))
    return cases


@pytest.mark.parametrize(("key", "changes"), list_safe_cases())
def test_a_design_after_a_safe_change_still_reads_and_writes_old_rows(
    key: str, changes: dict[str, Any], url: str
) -> None:
    """The changed design reads, replaces and deletes old rows, and writes new rows."""
    with rowkey.open(build_original(key), url) as table, table.batch() as batch:
        for row in ROWS:
            batch.put(row)
    changed = change_fields(key, **changes)
    lacking = dict.fromkeys(changed.fields)
    with rowkey.open(changed, url) as table:
        rows = [{**lacking, **row} for row in ROWS]
        check_rows(table, rows)
        more = {**GROWN_KEYS, "n": 100, "b": 0} | {
            name: None for name in lacking if name not in FIELDS
        }
        table.put(more)
        table.replace({**rows[3], "note": "replaced"})
        table.delete(rows[4])
        rows = [*rows[:3], {**rows[3], "note": "replaced"}, *rows[5:], more]
        check_column_reads(table, rows)
    with pytest.raises(CatalogMismatch):
        rowkey.open(build_original(key), url)
    with rowkey.open("logs", url) as table:
        check_rows(table, rows)


def list_grown_keys() -> list[Any]:
    """Return each key with each end; in `make test` each with one, and two with `over=rest`."""
    ends = ["[more]", "[desc(more)]", "[more][yet]"]
    short = [*((at, at % 3) for at in range(len(KEYS))), (4, 2)]
    return [
        pytest.param(key, end, marks=() if (at, n) in short else pytest.mark.long)
        for at, key in enumerate(KEYS)
        for n, end in enumerate(ends)
    ]


@pytest.mark.parametrize(("key", "behind"), list_grown_keys())
@pytest.mark.claims(59)
def test_a_field_added_at_the_end_of_the_key_is_null_in_old_rows(
    key: str, behind: str, url: str
) -> None:
    """Rows written before the key got a new last field are read with the field as null."""
    with rowkey.open(build_original(key), url) as table, table.batch() as batch:
        for row in ROWS:
            batch.put(row)
    more = {"more": {"type": "u8", **NULL}}
    if "yet" in behind:
        more["yet"] = {"type": "text", **NULL}
    lacking = dict.fromkeys(more)
    with rowkey.open(change_fields(key + behind, **more), url) as table:
        rows = [{**row, **lacking} for row in ROWS]
        check_column_reads(table, rows)
        table.put({**rows[5], "more": 1, "b": 9})
        assert 9 == table.get({**rows[5], "more": 1})["b"]
        assert rows[5] == table.get(rows[5])
        assert [{**rows[5], "more": 1, "b": 9}] == list(table.scan("more = ?", 1))
        assert len(ROWS) == table.count("more = ?", None)
        table.delete({**rows[5], "more": 1})
        check_rows(table, rows)


UNSAFE: dict[str, tuple[rowkey.Design, list[str]]] = {
    "a new required column": (
        change_fields(must="u8"), ["fields.must: stored rows have no value"],
    ),
    "a wider number": (change_fields(b={"type": "u16", "pack": "p"}),
                       ["fields.b.type: u16 in the design, but u8 in the table."]),
    "a wider number in the key": (change_fields(n="u16"),
                                  ["fields.n.type: u16 in the design, but u8 in the table."]),
    "more digits in a wider number": (
        change_fields(price={"type": "decimal", "precision": 18, "scale": 2}), ["fields.price: "]),
    "another scale of a decimal": (
        change_fields(price={"type": "decimal", "precision": 6, "scale": 3}),
        ["fields.price.scale: 3 in the design, but 2 in the table."]),
    "choices in another order": (
        change_fields(level={"type": "choice", "of": ["high", "low"]}),
        ["fields.level.of: [high, low] in the design, but [low, high] in the table."]),
    "one choice less": (change_fields(level={"type": "choice", "of": ["low"]}),
                        [("fields.level.of: [low] in the design, "
                         "but [low, high] in the table.")]),
    "shorter values": (change_fields(host={"type": "text", "max_bytes": 5}),
                       ["fields.host.max_bytes: 5 in the design, but 6 in the table."]),
    "a key field made nullable": (
        change_fields(n={"type": "u8", **NULL}),
        ["fields.n.nullable: true in the design, but false in the table."]),
    "another name for the same bytes": (
        change_fields(note=None, text={"type": "text", "qualifier": "t", **NULL}),
        ["fields.note: not declared in the design, but text in the table."]),
    "a renamed key field": (
        change_fields("[bucket(host, 4)][host][m]", n=None, m="u8"),
        ["key[2]: m in the design, but n in the table.", ("fields.m: u8 in the design, "
                                                     "but not declared in the table."),
         "fields.n: not declared in the design, but u8 in the table."]),
    "a column dropped": (change_fields(note=None),
                         ["fields.note: not declared in the design, but"]),
    "another column": (change_fields(note="text"),
                       ["fields.note: column d:note in the design, but column d:t in the table."]),
    "another pack format": (
        change_fields(a={**FIELDS["a"], "pack": "p:protobuf"},
                      b={"type": "u8", "pack": "p:protobuf"}),
        ["fields.a: packed d:p:protobuf in the design, but packed d:p in the table.",
         "fields.b: packed d:p:protobuf in the design, but packed d:p in the table."]),
    "a field taken out of a packed cell": (
        change_fields(b="u8"),
        ["fields.b: column d:b in the design, but packed d:p in the table."]),
    "packed fields in another order": (
        build_design(fields={name: FIELDS[name] for name in ("b", *FIELDS)}),
        ["fields.a: the position or format of the field within d:p differs",
         "fields.b: the position or format"]),
    "key fields in another order": (build_design("[bucket(host, 4)][n][host]"),
                                    ["key[1]: n in the design, but host in the table.",
                                     "key[2]: host in the design, but n in the table."]),
    "a descending key field": (build_design("[bucket(host, 4)][host][desc(n)]"),
                               ["key[2]: desc(n) in the design, but n in the table."]),
    "a column moved into the key": (
        build_design("[bucket(host, 4)][host][n][b]"),
        [("key: [bucket(host, 4)][host][n][b] in the design, "
         "but [bucket(host, 4)][host][n] in the table.")]),
    "a new required key field": (
        change_fields("[bucket(host, 4)][host][n][must]", must="u8"),
        ["key: [bucket(host, 4)][host][n][must] in the design, but",
         "fields.must: u8 in the design, but not declared in the table."]),
    "a key without its bucket": (build_design("[host][n]"),
                                 ["key: [host][n] in the design, but [bucket(host, 4)]"]),
    "a time to live": (build_design(families={"d": {"ttl": "1h"}}),
                       ["families.d.ttl: 3600 in the design, but 2147483647 in the table."]),
    "versions": (build_design(families={"d": {"versions": 3}}),
                 ["families.d.versions: 3 in the design, but 1 in the table."]),
    "compression": (build_design(families={"d": {"compression": "ZSTD"}}),
                    ["families.d.compression: ZSTD in the design, but NONE in the table."]),
    "another family": (build_design(families={"d": {}, "e": {}}),
                       ["families.e: a family in the design, but not declared in the table."]),
}  # fmt: skip


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the URL of an empty place for tables."""
    return f"memory:{tmp_path}"


@pytest.mark.parametrize(("changed", "message"), UNSAFE.values(), ids=UNSAFE)
@pytest.mark.claims(61)
def test_an_unsafe_change_is_refused_with_each_difference(
    changed: rowkey.Design, message: list[str], url: str
) -> None:
    """An unsafe change is refused with each difference, and the old design still reads the rows."""
    with rowkey.open(build_original(), url) as table, table.batch() as batch:
        for row in ROWS:
            batch.put(row)
    with pytest.raises(CatalogMismatch) as refused:
        rowkey.open(changed, url)
    told = [str(one) for one in refused.value.differences]
    assert [] == [
        one for one, start in zip(told, message, strict=True) if not one.startswith(start)
    ]
    with rowkey.open(build_original(), url) as table:
        check_rows(table, ROWS)
