"""The format `json_lines`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rowkey.workload.contract import Format
from rowkey.workload.files import lines_of, wanted
from rowkey.workload.records import Misfits, batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa


class JsonLines(Format):
    """One JSON object a line; a dot in a column's name goes into an object: `request.path`."""

    name = "json_lines"
    suffixes = (".jsonl", ".ndjson", ".json")

    def batches(self, path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        if columns is None:
            columns = list(next(self._objects(path), {}))
        kept = list(columns)
        seen: set[str] = set()

        def records() -> Iterator[list[str | None]]:
            for found in self._objects(path):
                values = [_value(found, name) for name in kept]
                seen.update(n for n, v in zip(kept, values, strict=True) if v is not None)
                yield values

        yield from batches_of(records(), kept)
        missing = [name for name in kept if name not in seen]
        first = next(self._objects(path), None)
        if missing and first is not None:
            wanted(list(first), missing, path)

    def _objects(self, path: Path) -> Iterator[dict[str, Any]]:
        misfits = Misfits(path, "one JSON object a line")
        number = 0
        for number, line in enumerate(lines_of(path), 1):
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
