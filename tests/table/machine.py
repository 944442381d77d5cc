"""A table and a dictionary that take the same steps, to be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey.errors import BatchError, DesignRefused, RowError
from rowkey.table import drop_table

if TYPE_CHECKING:
    from table.worlds import Row

START = 1_700_000_000_000
HOSTS = ("a", "a!", "ÿ")
LEVELS = ("low", "high")
TIMES = (START, START + 1, START + 9, START + 10, START + 25)
IDENTITY = ("host", "level", "ts")
COLUMNS = ("note", "size", "hits")
FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "level": {"type": "choice", "of": list(LEVELS)},
    "note": {"type": "text", "nullable": True},
    "size": {"type": "u32", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
PACKED = {"note": FIELDS["note"] | {"pack": "p"}, "size": FIELDS["size"] | {"pack": "p"}}
WIDE = {"ts": {"type": "timestamp_ms", "at": "qualifier"}}
DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("[host][level][ts]", {}),
    "bucketed": ("[bucket(host, 7)][host][level][desc(ts)]", {}),
    "salted": ("[salt(5)][host][level][ts]", {}),
    "sliced": ("[bucket(host, 3)][host][level][desc(time_slice(ts, 10ms))]", {}),
    "wide": ("[host][level]", WIDE),
    "packed": ("[bucket(host, 2)][host][level][ts]", PACKED),
    "salted slices": ("[salt(2)][host][level][time_slice(ts, 10ms)]", {}),
    "salted packs": ("[salt(2)][host][level][ts]", PACKED),
    "kept": ("[digest(host, 6)][level][ts:u32][ts]", {}),
    "coded": ("[code(host)][level][ts]", {"size": FIELDS["size"] | {"family": "e"}}),
}


@cache
def build_design(name: str) -> rowkey.Design:
    """Build one of the designs."""
    key, words = DESIGNS[name]
    return rowkey.Design("t", key, fields=FIELDS | words, families={"d": {}, "e": {}})


@dataclass
class Clock:
    """Milliseconds since 1970 that are constant, or increase with each call.

    Args:
        moves: whether the clock advances with each call.
    """

    moves: bool
    now: int = START + 1_000_000
    asked: int = field(default=0, init=False)

    def __call__(self) -> int:
        self.asked += 1
        self.now += self.moves and self.asked % 3 == 0
        return self.now


@dataclass
class TableAndModel:
    """A table, and a dictionary of the rows that the table must hold.

    Args:
        name: of the design.
        url: where the table lives.
        clock: its clock.
    """

    name: str
    url: str
    clock: Clock

    def __post_init__(self) -> None:
        self.rows: dict[tuple[Any, ...], Row] = {}
        self.is_salted = "salted" in self.name
        self.is_packed = "pack" in self.name
        self.table = self._open()

    def _open(self) -> rowkey.Table:
        return rowkey.open(build_design(self.name), self.url, clock=self.clock)

    def reopen(self) -> None:
        """Close the table, which waits until its timestamps are in the past, and open it again."""
        self.pass_time()
        self.table.close()
        self.table = self._open()

    def pass_time(self) -> None:
        """Advance the clock beyond every assigned timestamp."""
        self.clock.now = max(self.clock.now, self.table.store.row_clock.highest_timestamp) + 1

    def _row(self, given: Row) -> Row:
        """Return the current or empty row of an identity."""
        where = tuple(given[name] for name in IDENTITY)
        blank = dict.fromkeys(FIELDS) | {name: given[name] for name in IDENTITY}
        return self.rows.setdefault(where, blank)

    def _merge(self, given: Row) -> None:
        """Return the row after a put; a packed cell is replaced completely."""
        row = self._row(given)
        if self.is_packed and given.keys() & PACKED.keys():
            row |= dict.fromkeys(PACKED)
        row |= given

    def put(self, given: Row) -> None:
        """Put some fields, None among them."""
        self.table.put(given)
        self._merge(given)

    def replace(self, given: Row) -> None:
        """Replace a row by some fields."""
        self.table.replace(given)
        self._row(given).update(dict.fromkeys(COLUMNS) | given)

    def delete(self, where: Row) -> None:
        """Delete a row, stored or not."""
        self.table.delete(where)
        self._drop(where)

    def _drop(self, where: Row) -> None:
        self.rows.pop(tuple(where[name] for name in IDENTITY), None)

    def move(self, where: Row, changes: Row) -> None:
        """Move a row to another key or to its own, and replace a row that is there."""
        found = self.rows.get(tuple(where[name] for name in IDENTITY))
        assert (found is not None) == self.table.move(where, **changes)
        if found is not None:
            moved = found | changes
            self._drop(where)
            self._row(moved).update(moved)

    def increment(self, where: Row, amount: int) -> None:
        """Increment a counter; refused where the salt of the row is unknown."""
        if self.is_salted:
            with pytest.raises(DesignRefused):
                self.table.increment(where, hits=amount)
            return
        self.pass_time()
        found = self.table.increment(where, hits=amount)
        row = self._row(where)
        row["hits"] = (row["hits"] or 0) + amount
        assert {"hits": row["hits"]} == found

    def append(self, where: Row, piece: str) -> None:
        """Append a text; refused where the field shares a packed cell."""
        if self.is_salted or self.is_packed:
            with pytest.raises((DesignRefused, RowError)):
                self.table.append(where, note=piece)
            return
        self.pass_time()
        self.table.append(where, note=piece)
        row = self._row(where)
        row["note"] = (row["note"] or "") + piece

    def check_and_put(self, given: Row, expected: int | None) -> None:
        """Put a row if a counter has the expected value."""
        if self.is_salted:
            with pytest.raises(DesignRefused):
                self.table.check_and_put(given, hits=expected)
            return
        held = self.rows.get(tuple(given[name] for name in IDENTITY), {}).get("hits")
        assert (held == expected) == self.table.check_and_put(given, hits=expected)
        if held == expected:
            self._merge(given)

    def batch(self, changes: list[tuple[str, Row]], size: int) -> None:
        """Make several changes; a wrong one is skipped."""
        wrong = [number for number, (kind, _) in enumerate(changes) if kind == "wrong"]
        try:
            with self.table.batch(size) as batch:
                for kind, given in changes:
                    if kind == "wrong":
                        batch.put(given | {"size": -1})
                    else:
                        getattr(batch, kind)(given)
            refused: list[int] = []
        except BatchError as problem:
            refused = [number for number, _ in problem.row_errors]
        assert wrong == refused
        for kind, given in changes:
            if kind == "put":
                self._merge(given)
            elif kind == "replace":
                self._row(given).update(dict.fromkeys(COLUMNS) | given)
            elif kind == "delete":
                self._drop(given)

    def load(self, rows: list[Row]) -> None:
        """Load rows as columns, in which nulls change nothing."""
        fields = self.table.design.fields
        schema = pa.schema([(name, one.type.build_arrow_type()) for name, one in fields.items()])
        whole = [dict.fromkeys(FIELDS) | row for row in rows]
        assert len(rows) == self.table.load(pa.RecordBatch.from_pylist(whole, schema))
        for row in rows:
            given = {name: value for name, value in row.items() if value is not None}
            self._merge(given)

    def fail(self, given: Row) -> None:
        """Check that wrong changes change nothing."""
        lacking = {name: value for name, value in given.items() if name != "host"}
        for wrong in (given | {"size": -1}, given | {"sise": 1}, lacking):
            with pytest.raises(RowError):
                self.table.put(wrong)
            with pytest.raises(RowError):
                self.table.replace(wrong)
        with pytest.raises((RowError, DesignRefused)):
            self.table.increment(given, note=1)
        with pytest.raises((RowError, DesignRefused)):
            self.table.append(given, size=1)

    def get(self, wheres: list[Row]) -> None:
        """Get rows one by one and together, and compare them."""
        expected = [self.rows.get(tuple(one[name] for name in IDENTITY)) for one in wheres]
        assert expected == self.table.get_many(wheres)
        assert expected[0] == self.table.get(wheres[0])

    def scan(self, host: str, limit: int, *, falls: bool) -> None:
        """Scan one host in an order of time, completely and for the first row."""
        rows = [row for row in self.rows.values() if row["host"] == host]
        rows.sort(key=lambda row: (row["ts"], LEVELS.index(row["level"])), reverse=falls)
        order = f"ts{' desc' * falls}, level{' desc' * falls}"
        assert rows == list(self.table.scan("host = ?", host, order=order))
        assert rows[:limit] == list(self.table.scan("host = ?", host, order=order, limit=limit))
        assert len(rows) == self.table.count("host = ?", host)

    def compare(self) -> None:
        """Compare all rows of the table and the dictionary."""
        found = {tuple(row[name] for name in IDENTITY): row for row in self.table.scan()}
        assert self.rows == found
        assert len(found) == self.table.count() == self.table.scan().to_arrow().num_rows

    def close(self) -> None:
        """Close and drop the table, so that its name is free again."""
        self.table.close()
        drop_table("t", self.url)
