"""Random changes of a table by a seed, each compared at once with a model."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pyarrow as pa

import rowkey

ROWS = 6
"""The changed row keys: few, so that each changes many times in one millisecond."""
START_MS = 1_800_000_000_000
CHANGES = (
    "put", "replace", "delete", "increment", "append", "check_and_put", "batch", "load", "move"
)  # fmt: skip
_NULLABLE = {"n": "i64", "s": "text", "v": "text"}
DESIGN = rowkey.Design(
    "t",
    "[bucket(id, 4)][id]",
    fields={
        "id": "u32",
        **{name: {"type": kind, "nullable": True} for name, kind in _NULLABLE.items()},
    },
    splits="per_bucket",
)


class JumpingClock:
    """A clock that advances like this machine's, and can be set back."""

    def __init__(self) -> None:
        self.back_ms = 0
        self._start = time.monotonic_ns()

    def __call__(self) -> int:
        passed_ms = (time.monotonic_ns() - self._start) // 1_000_000
        return START_MS + passed_ms - self.back_ms


class CheckedWriter:
    """Changes a table and a model of it, and counts the changes that had no effect.

    Args:
        random: decides what is changed.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self.rows: dict[int, dict[str, Any]] = {}
        self.n_written = 0
        self.without_effect: list[str] = []

    def write(self, table: rowkey.Table, count: int) -> None:
        """Make this many changes, each type in turn."""
        for number in range(count):
            kind = CHANGES[number % len(CHANGES)]
            row_id, value = self._random.randrange(ROWS), f"{kind} {self.n_written}"
            touched = getattr(self, f"_{kind}")(table, row_id, value)
            self.n_written += 1
            for one in touched:
                if self._read(table, one) != self.rows.get(one):
                    self.without_effect.append(f"{value} of {one}")

    def check_all(self, table: rowkey.Table) -> None:
        """Compare all rows with the model."""
        found = {row["id"]: row for row in table.scan()}
        assert [] == self.without_effect
        assert self.rows == {one: _without_nulls(row) for one, row in found.items()}

    def _read(self, table: rowkey.Table, row_id: int) -> dict[str, Any] | None:
        found = table.get(id=row_id)
        return None if found is None else _without_nulls(found)

    def _put(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        table.put({"id": row_id, "v": value})
        return self._merge(row_id, v=value)

    def _replace(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        table.replace({"id": row_id, "s": value})
        self.rows[row_id] = {"id": row_id, "s": value}
        return [row_id]

    def _delete(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        del value
        table.delete(id=row_id)
        self.rows.pop(row_id, None)
        return [row_id]

    def _increment(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        expected = self.rows.get(row_id, {}).get("n", 0) + 3
        if table.increment({"id": row_id}, n=3) != {"n": expected}:
            self.without_effect.append(value)
        return self._merge(row_id, n=expected)

    def _append(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        table.append({"id": row_id}, s=value)
        return self._merge(row_id, s=self.rows.get(row_id, {}).get("s", "") + value)

    def _check_and_put(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        held = self.rows.get(row_id, {}).get("v")
        assert not table.check_and_put({"id": row_id, "v": "never"}, v="none has this")
        if not table.check_and_put({"id": row_id, "v": value}, v=held):
            self.without_effect.append(value)
        return self._merge(row_id, v=value)

    def _batch(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        other = (row_id + 1) % ROWS
        with table.batch() as batch:
            batch.delete({"id": other})
            batch.put({"id": row_id, "v": value})
        self.rows.pop(other, None)
        return [*self._merge(row_id, v=value), other]

    def _load(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        rows = [{"id": (row_id + step) % ROWS, "v": value} for step in range(3)]
        schema = pa.schema([("id", pa.uint32()), ("v", pa.string())])
        assert len(rows) == table.load(pa.Table.from_pylist(rows, schema))
        return [self._merge(int(str(row["id"])), v=value)[0] for row in rows]

    def _move(self, table: rowkey.Table, row_id: int, value: str) -> list[int]:
        del value
        other = (row_id + 1) % ROWS
        moved = table.move({"id": row_id}, id=other)
        assert moved == (row_id in self.rows)
        if moved:
            self.rows[other] = {**self.rows.pop(row_id), "id": other}
        return [row_id, other]

    def _merge(self, row_id: int, **fields: Any) -> list[int]:
        self.rows[row_id] = {**self.rows.get(row_id, {}), "id": row_id, **fields}
        return [row_id]


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
