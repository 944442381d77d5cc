"""A table of orders with two companions: its design files, a model, and random changes of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from rowkey import Design
from rowkey.design import is_index
from rowkey.table import TableWithCompanions

if TYPE_CHECKING:
    from rowkey.table import Table

Row = dict[str, Any]
Identity = tuple[Any, ...]

NAMES = ("user", "at", "number")
"""The fields that identify an order."""
COLUMNS = ("note", "amount")
KEYS = {
    "orders": "[bucket(user, 4)][user][desc(at)][number]",
    "orders_by_number": "[bucket(number, 2)][number][desc(at)][user]",
    "orders_by_time": "[at][number][user]",
}
SHARED_ROWS = {
    "orders": "[user][number]",
    "orders_by_number": "[number][bucket(at, 3)][at][user]",
    "orders_by_day": "[time_slice(at, 2s)][user][number]",
}
"""Keys of tables of which two have rows with several events, told apart by their qualifiers."""
NULLABLE = {
    "orders": "[user][desc(at)][number]",
    "orders_by_number": "[bucket(number, 2)][number][user][at]",
    "orders_by_user": "[bucket(user, 3)][at][user][number]",
}
"""Keys of tables whose number may be null; see `write_designs`."""
CODED = {
    "orders": "[code(user)][at][number]",
    "orders_by_number": "[number][code(user)][desc(at)]",
    "orders_by_time": "[at][number][user]",
}
"""Keys of tables of which two have ids in place of the users."""
INDEXED = {
    "orders": KEYS["orders"],
    "orders_by_number": KEYS["orders_by_number"],
    "index_by_time": KEYS["orders_by_time"],
}
"""Keys of a table with a whole companion, and with an index, whose rows have no columns."""
INDEXES_OF_SHARED_ROWS = {
    "orders": "[user][number]",
    "index_by_number": "[number][bucket(at, 3)][at][user]",
    "index_by_day": "[time_slice(at, 2s)][user][number]",
}
"""Keys of a table with two indexes, of which one has rows with several events as the table has."""
_FIELDS = """
[fields]
user   = { type = "text", max_bytes = 8 }
at     = "timestamp_s"
number = "u64"
note   = { type = "text", nullable = true }
amount = { type = "i64", nullable = true }

[families.d]
ttl = "3650d"
"""


def write_designs(
    folder: Path,
    prefix: str = "",
    keys: dict[str, str] = KEYS,
    declared: Iterable[str] | None = None,
) -> Design:
    """Write the design files of a main table and its companions to a folder; return the main one.

    Args:
        folder: where the files are written.
        prefix: goes before the name of each table.
        keys: the key of each table by its name, the main table first.
        declared: the companions that the main design declares, without the prefix; all if None.
    """
    main, *companions = keys
    companions = companions if declared is None else [*declared]
    listed = ", ".join(f'"{prefix}{name}" = "{name}.toml"' for name in companions)
    for name, key in keys.items():
        text = f'table = "{prefix}{name}"\nkey = "{key}"\n'
        text += 'splits = "per_bucket"\n' if key.startswith("[bucket") else ""
        text += f"companions = {{ {listed} }}\n" if name == main else ""
        fields = _FIELDS
        if "at" not in key:
            fields = fields.replace('"timestamp_s"', '{ type = "timestamp_s", at = "qualifier" }')
        if name.startswith("index_"):
            fields = re.sub("(note|amount) .*\n", "", fields)
        if keys is NULLABLE:
            fields = fields.replace('"u64"', '{ type = "u64", nullable = true }')
        (folder / f"{name}.toml").write_text(f"{text}{fields}", encoding="utf-8")
    return Design.read(folder / f"{main}.toml")


def get_identity(row: Row) -> Identity:
    """Return the values that identify a row."""
    return tuple(row[name] for name in NAMES)


def collect_rows(rows: Iterable[Row]) -> dict[Identity, Row]:
    """Return the rows of a read by their identity; no row may come twice."""
    found: dict[Identity, Row] = {}
    for row in rows:
        assert get_identity(row) not in found, row
        found[get_identity(row)] = row
    return found


def read_all_tables(table: Table) -> dict[str, dict[Identity, Row]]:
    """Return all rows of a table and of each of its companions, by the table's name.

    Rows of an index get the columns of those that they lead to.
    """
    assert isinstance(table, TableWithCompanions)
    main_rows = collect_rows(table.scan())
    rows = {table.design.table: main_rows}
    for name, one in table.companions.items():
        rows[name] = collect_rows(one.scan())
        if is_index(table.design, one.design):
            rows[name] = {place: main_rows.get(place, row) for place, row in rows[name].items()}
    return rows


def read_all_cells(table: Table) -> list[dict[Identity, Any]]:
    """Return the cells of each row in each table, with their timestamps, without qualifiers.

    A row of an index has one cell: it gets those of the row that it leads to.
    """
    assert isinstance(table, TableWithCompanions)
    found: list[dict[Identity, Any]] = []
    for one in (table, *table.companions.values()):
        rows = list(one.scan())
        cells = one.get_state().getter.get_cells(rows)
        copies = dict(zip(map(get_identity, rows), map(sorted, cells), strict=True))
        if is_index(table.design, one.design):
            assert all(1 == len(some) for some in copies.values())
            copies = {place: found[0].get(place, some) for place, some in copies.items()}
        found.append(copies)
    return found


def change_model(model: dict[Identity, Row], change: tuple[str, Row]) -> None:
    """Make a change in a model: a put, a replace or a delete."""
    kind, row = change
    place = get_identity(row)
    if kind == "delete":
        model.pop(place, None)
        return
    old = model.get(place) if kind == "put" else None
    model[place] = {**dict.fromkeys((*NAMES, *COLUMNS)), **(old or {}), **row}


def apply_change(target: Any, change: tuple[str, Row]) -> None:
    """Make a change in a table, or add it to a batch."""
    kind, row = change
    getattr(target, kind)(row)


def draw_change(random: Random, user: str, count: int = 20) -> tuple[str, Row]:
    """Return a random change of one of some rows of a user."""
    number = random.randrange(count)
    place = {"user": user, "at": 1_600_000_000 + number % 3, "number": number}
    kind = random.choice(("put", "put", "put", "replace", "delete"))
    if kind == "delete":
        return kind, place
    values: Row = {"note": random.choice((None, "a", "b" * 50)), "amount": random.randrange(99)}
    if random.random() < 0.3:
        del values[random.choice(COLUMNS)]
    return kind, place | values


def format_changes(changes: list[tuple[str, Row]]) -> str:
    """Return changes as a line of text."""
    return json.dumps(changes)
