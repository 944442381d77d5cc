"""The format `json_lines`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rowkey.workload.contract import Format
from rowkey.workload.files import lines_of, wanted
from rowkey.workload.records import LeftOut, Misfits, batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from rowkey.workload.files import Meter

DEEPEST = 8
"""Objects within objects that are named in a message."""


class JsonLines(Format):
    """One JSON object a line; a dot in a column's name goes into an object: `request.path`.

    A name that an object lacks is a missing value.
    """

    name = "json_lines"
    suffixes = (".jsonl", ".ndjson", ".json")
    rows_name_values = True

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        kept = self._names(path) if columns is None else list(columns)
        objects = self._objects(path, left_out, self.meter)
        yield from batches_of(([_value(found, name) for name in kept] for found in objects), kept)

    def check_named(self, path: Path, columns: Sequence[str]) -> None:
        if available := self._names(path):
            wanted(available, [name for name in columns if name not in available], path)

    def _names(self, path: Path) -> list[str]:
        """What the first object names, its inner objects by dots."""
        return list(_flat(next(self._objects(path, LeftOut()), {})))

    def _objects(
        self, path: Path, left_out: LeftOut, meter: Meter | None = None
    ) -> Iterator[dict[str, Any]]:
        misfits = Misfits(path, "one JSON object a line", left_out)
        number = 0
        for number, line in enumerate(lines_of(path, meter), 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict):
                yield found
            else:
                misfits.add(number, line)
        misfits.check(number)


def _flat(found: dict[str, Any], before: str = "") -> Iterator[str]:
    """The names of an object's values; those of an inner object behind a dot."""
    for name, value in found.items():
        if isinstance(value, dict) and value and before.count(".") < DEEPEST:
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def _value(found: dict[str, Any], name: str) -> str | None:
    """A value as text, or None where the object has none."""
    value: Any = found.get(name)
    if value is None and "." in name:
        value = found
        for step in name.split("."):
            value = value.get(step) if isinstance(value, dict) else None
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
