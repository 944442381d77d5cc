"""The format `json_lines`."""

from __future__ import annotations

import json
import re
from math import isinf
from typing import TYPE_CHECKING, Any

from rowkey.errors import SampleError
from rowkey.workload.contract import Format
from rowkey.workload.files import MARKED, lines_of, opened, wanted
from rowkey.workload.records import LeftOut, Misfits, batches_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from rowkey.workload.files import Meter

MOST_NAMES = 1 << 16
"""Names that the objects of a file may have together; of more they are no names but values."""
DEEPEST = 8
"""Objects within objects that are named in a message."""
LONGEST = 64 << 20
"""Bytes of the longest line: a row of many long values, as `dump` writes it."""
HEAD = 4_096
"""Bytes that tell an array of objects."""
_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:[{\]]|\Z)")
_SURROGATES = (r"\ud", r"\uD")
"""How half of a pair is escaped, which alone is no character."""


class JsonLines(Format):
    """One JSON object a line; a dot in a column's name goes into an object: `request.path`.

    A name that an object lacks is a missing value, and a name counts in whichever object it comes
    first. A line may have 64 MiB.
    """

    name = "json_lines"
    suffixes = (".jsonl", ".ndjson", ".json")
    rows_name_values = True

    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        kept = self._all_names(path) if columns is None else list(columns)
        objects = self._objects(path, left_out, self.meter)
        records = ([_value(found, name) for name in kept] for _, found in objects)
        yield from batches_of(records, kept)

    def check_named(self, path: Path, columns: Sequence[str]) -> None:
        if available := self._all_names(path):
            wanted(available, [name for name in columns if name not in available], path)

    def column_names(self, path: Path, sought: Collection[str] = ()) -> list[str] | None:
        found: list[str] = []
        lacking = set(sought)
        for number, (_, one) in enumerate(self._objects(path, LeftOut())):
            names = [*_flat(one)] if number == 0 else [name for name in lacking if _has(one, name)]
            found += names
            lacking -= set(names)
            if not lacking:
                return found
        return found or None

    def _all_names(self, path: Path) -> list[str]:
        """What any object names, in the order in which names come; its inner objects by dots.

        An object that is null or empty in some rows only has the names it has in others.

        Raises:
            SampleError: there are too many.
        """
        names: dict[str, bool] = {}
        for number, found in self._objects(path, LeftOut()):
            for name, value in _flat_items(found):
                names[name] = names.get(name, False) or value not in (None, {})
            if len(names) > MOST_NAMES:
                what = f"with this line there are more than {MOST_NAMES:,} names"
                raise SampleError(f"{path}:{number}", what, "names that come again in other rows")
        parents = {name[:at] for name in names for at, letter in enumerate(name) if letter == "."}
        return [name for name, is_held in names.items() if is_held or name not in parents]

    def _objects(
        self, path: Path, left_out: LeftOut, meter: Meter | None = None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects with the numbers of their lines."""
        _require_lines(path)
        misfits = Misfits(path, "one JSON object a line", left_out)
        lines = lines_of(path, meter, strange=MARKED, longest=LONGEST)
        number = 0
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            found = _object(line)
            if found is None:
                misfits.add(number, line)
            else:
                yield number, found
        misfits.check(number)


def _require_lines(path: Path) -> None:
    """Go no further with one array of objects, which has to be cut into lines first.

    Raises:
        SampleError: the file is such.
    """
    with opened(path) as stream:
        head = stream.read(HEAD)
    if _ARRAY.match(head):
        raise SampleError(
            str(path),
            "it is a JSON array; write JSON lines (.jsonl)",
            "one JSON object a line",
            "Convert it: jq -c '.[]' FILE.",
        )


def _object(line: str) -> dict[str, Any] | None:
    """The object of a line; None if it is none, or holds what no value is."""
    try:
        found = _DECODER.decode(line)
        if "\\u" in line and any(half in line for half in _SURROGATES):
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _finite(text: str) -> float:
    """A number as it is written.

    Raises:
        ValueError: it is larger than any that is held, and would become infinite.
    """
    number = float(text)
    if isinf(number):
        raise ValueError(text)
    return number


_DECODER = json.JSONDecoder(parse_float=_finite)
"""Made once: json.loads would make one for each line."""


def _flat(found: dict[str, Any]) -> Iterator[str]:
    """The names of an object's values; those of an inner object behind a dot."""
    return (name for name, _ in _flat_items(found))


def _flat_items(found: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The values of an object by their names; those of an inner object behind a dot."""
    for name, value in found.items():
        if isinstance(value, dict) and value and before.count(".") < DEEPEST:
            yield from _flat_items(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _has(found: dict[str, Any], name: str) -> bool:
    """Whether an object names a value, which may be null."""
    return name in found or ("." in name and any(name == one for one in _flat(found)))


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
