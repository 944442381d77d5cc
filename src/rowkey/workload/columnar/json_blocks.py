"""Blocks of JSON lines parsed by Arrow, with the same values as parsing them line by line.

Arrow parses ten times as fast as Python, but it is laxer where lines end, and knows one type for
each column. So a block is parsed only if every line is surely one object, with the types that
earlier lines had; what Arrow refuses is parsed line by line by others.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import isinf
from typing import TYPE_CHECKING, Any

from rowkey.errors import SampleError
from rowkey.workload.columnar.json_arrays import HEAD_BYTES, ArrayLines, is_array_of_objects
from rowkey.workload.sample_streams import open_uncompressed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

    from rowkey.workload.sample_streams import ReadProgress

    ValuePath = tuple[str, ...]

BLOCK_BYTES = 1 << 23
"""Bytes that are read at a time, and the rest of their last line."""
MAX_BLOCK_LINES = 16_384
"""Lines of a block, which bounds the memory of sparse columns."""
ARROW_BLOCK_BYTES = 1 << 18
"""Bytes that a thread of Arrow parses at a time."""
MAX_PARSED_PATHS = 1_000
"""Paths that Arrow is told; of more names, which are rather values, the schema would be rebuilt
for each few lines."""
MAX_OPENERS = 150
"""Brackets that a line may open here: of deeper ones Python's parser refuses some."""
MAX_DIGITS = 300
"""Digits of a number here: with more it may be no float, and of 4,300 Python makes no integer."""
_MIN_UNUSUAL_BYTES = 2 * MAX_OPENERS
"""Bytes of the shortest line that can have so many brackets or digits."""
MAX_EXACT_CHARACTERS = 16
"""Characters of a fraction that a float surely holds: it holds any 15 digits, besides a point."""
_LONG_FRACTION = re.compile(rb"-?[0-9][0-9.]{16,}(?:[eE][-+]?[0-9]+)?")
_POINTS_AND_NINES = bytes.maketrans(b"012345678.", b"9999999999")
_ALL_NINES = bytes.maketrans(b"012345678", b"999999999")
_NON_FINITE = re.compile(rb"[:,\[\s]-?(?:NaN|Inf(?:inity)?)\s*[,}\]]")
"""Words for numbers, of which Arrow and Python know different ones."""
_INT64_RANGE = range(-(1 << 63), 1 << 63)


def parse_fraction(text: str) -> float | str:
    """Return a number with a point or an exponent; its text if no float prints the same number.

    Raises:
        ValueError: it is larger than any float, and would become infinite.

    >>> parse_fraction("1.10"), parse_fraction("9007199254740993.5")
    (1.1, '9007199254740993.5')
    """
    number = float(text)
    if isinf(number):
        raise ValueError(text)
    if len(text) > MAX_EXACT_CHARACTERS and Decimal(text) != Decimal(repr(number)):
        return text
    return number


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Consecutive lines of a file.

    Args:
        first_line: the number of the first, from 1.
        data: their bytes, with line ends.
    """

    first_line: int
    data: bytes

    @property
    def line_count(self) -> int:
        """Return how many lines there are."""
        import numpy as np

        characters = np.frombuffer(self.data, np.uint8)
        end_count = int(np.count_nonzero(characters == ord("\n")))
        return end_count + (not self.data.endswith(b"\n"))

    def split(self, max_lines: int) -> Iterator[LineBlock]:
        """Return the lines as blocks of at most `max_lines`."""
        import numpy as np

        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n")) + 1
        cuts = [0, *ends[max_lines - 1 :: max_lines].tolist(), len(self.data)]
        for number, (start, stop) in enumerate(pairwise(cuts)):
            if start < stop:
                yield LineBlock(self.first_line + number * max_lines, self.data[start:stop])


def read_line_blocks(
    path: Path, progress: ReadProgress | None, max_line_bytes: int
) -> Iterator[LineBlock]:
    """Return the lines of a text file in blocks of bounded size, without a byte order mark.

    If the file is a JSON array of objects, each item is a line.

    Args:
        path: the file.
        progress: told what is read.
        max_line_bytes: bytes of the longest line, a whole number of MiB.

    Raises:
        SampleError: the file cannot be read, or a line is longer.
    """
    with open_uncompressed(path) as stream:
        is_array = is_array_of_objects(stream.read(HEAD_BYTES))
    with open_uncompressed(path, progress) as stored:
        stream = io.BufferedReader(ArrayLines(stored, path)) if is_array else stored
        first_line = 1
        while data := stream.read(BLOCK_BYTES):
            if not data.endswith(b"\n"):
                data += stream.readline(max_line_bytes + 1)
            last_line = data.rfind(b"\n", 0, -1) + 1
            if len(data) - last_line > max_line_bytes:
                number = first_line + data.count(b"\n", 0, last_line)
                unit, colon = ("item", ": item ") if is_array else ("line", ":")
                what = f"the {unit} is longer than {max_line_bytes >> 20} MiB"
                raise SampleError(f"{path}{colon}{number}", what, f"one record on each {unit}")
            block = LineBlock(first_line, data)
            first_line += block.line_count
            if block.first_line == 1:
                block = LineBlock(1, data.removeprefix(b"\xef\xbb\xbf"))
            if progress is not None:
                progress.prefetched_bytes += len(block.data)
            for part in block.split(MAX_BLOCK_LINES):
                if progress is not None:
                    progress.delivered_bytes += len(part.data)
                yield part


@dataclass(frozen=True, slots=True)
class ParsedLines:
    """The objects of some lines, as columns of text.

    Args:
        values: the values at each path, one an object; null where an object has none.
        line_count: how many objects.
        empty_paths: those at which all values are null or empty objects.
    """

    values: Mapping[ValuePath, pa.Array]
    line_count: int
    empty_paths: frozenset[ValuePath] = frozenset()


class ObjectParser:
    """Parses blocks of JSON lines into the values at some paths, by types that it has learned.

    Args:
        paths: the steps to each value: `("request", "path")` in the object `request`; None to find
            all paths: then objects with other values than those learned are refused.
    """

    def __init__(self, paths: Iterable[ValuePath] | None) -> None:
        self.finds_paths = paths is None
        self._type_counts: dict[ValuePath, Counter[str]] = {path: Counter() for path in paths or ()}
        self._types: dict[ValuePath, str] = {}
        self._full_objects: set[ValuePath] = set()
        self._has_unclear_numbers = False
        self._schema: pa.Schema | None = None
        self.choose_types()

    @property
    def can_parse(self) -> bool:
        """Return whether Arrow can parse objects of the types learned so far."""
        return self._schema is not None

    @property
    def paths(self) -> Collection[ValuePath]:
        """Return the paths to the values, as far as they are known."""
        return self._type_counts

    def note_values(self, values: Iterable[tuple[ValuePath, Any]]) -> None:
        """Note the types of the values of an object that was parsed by others."""
        for path, value in values:
            counts = self._type_counts.setdefault(path, Counter())
            if value is not None and value != {}:
                counts[_find_type(value)] += 1

    def choose_types(self) -> None:
        """Expect the most frequent type of each path in the blocks to come."""
        import pyarrow as pa

        self._schema = None
        if self._has_unclear_numbers or len(self._type_counts) > MAX_PARSED_PATHS:
            return
        parents = {path[:depth] for path in self._type_counts for depth in range(1, len(path))}
        self._full_objects = parents - self._type_counts.keys()
        self._types = {
            path: _choose_type(counts)
            for path, counts in self._type_counts.items()
            if not (self.finds_paths and path in parents and not counts)
        }
        tree: dict[str, Any] = {}
        for path, type_name in self._types.items():
            node = tree
            for step in path[:-1]:
                node = node.setdefault(step, {})
                if not isinstance(node, dict):
                    return
            if path[-1] in node or type_name not in _ARROW_TYPES:
                return
            node[path[-1]] = type_name
        self._schema = pa.schema(_build_arrow_fields(tree))

    def parse(self, data: bytes) -> ParsedLines | None:
        """Return the values of some lines as text; None if Python may find others.

        Numbers are written as Python writes them.
        """
        import pyarrow as pa
        from pyarrow import json

        text = data.strip(b" \t\r\n")
        lengths = None if self._schema is None else _measure_regular_lines(text)
        if lengths is None:
            return None
        parse_options = json.ParseOptions(
            explicit_schema=self._schema,
            newlines_in_values=False,
            unexpected_field_behavior="error" if self.finds_paths else "ignore",
        )
        # Arrow parses its blocks on all cores; a line must fit into one.
        block_size = max(ARROW_BLOCK_BYTES, int(lengths.max()) + 1)
        read_options = json.ReadOptions(use_threads=True, block_size=block_size)
        try:
            table = json.read_json(
                pa.BufferReader(text), read_options=read_options, parse_options=parse_options
            )
        except pa.ArrowInvalid:
            return None
        if table.num_rows != len(lengths):
            return None
        # An empty object is a value of its own path, which is listed where it first appears.
        if self.finds_paths and any(_has_empty_object(table, one) for one in self._full_objects):
            return None
        found = {path: _get_values(table, path) for path in self._types}
        texts = {}
        for path, values in found.items():
            is_float = self._types[path] == "float"
            texts[path] = (
                _format_numbers(values, path[-1], text) if is_float else values.cast(pa.string())
            )
            if texts[path] is None:
                self._has_unclear_numbers, self._schema = True, None
                return None
        return ParsedLines(texts, len(lengths))


_ARROW_TYPES = {"str": "string", "bool": "bool", "int": "int64", "float": "float64"}
"""The Arrow type of each Python type that has one."""


def _find_type(value: Any) -> str:
    """Return the name of a value's type; large integers count as `float`, as Arrow parses them."""
    if type(value) is int and value not in _INT64_RANGE:
        return "float"
    return type(value).__name__


def _choose_type(counts: Counter[str]) -> str:
    """Return the most frequent type, where one float makes all numbers floats."""
    if counts["float"]:
        counts = Counter(counts)
        counts["float"] += counts.pop("int", 0)
    return max(counts, key=lambda name: counts[name], default="str") if +counts else "str"


def _build_arrow_fields(tree: dict[str, Any]) -> list[pa.Field]:
    """Return the Arrow fields of a tree of type names."""
    import pyarrow as pa

    return [
        pa.field(name, pa.struct(_build_arrow_fields(node)))
        if isinstance(node, dict)
        else pa.field(name, pa.type_for_alias(_ARROW_TYPES[node]))
        for name, node in tree.items()
    ]


def _measure_regular_lines(text: bytes) -> np.ndarray[Any, Any] | None:
    """Return the length of each line with its end.

    None unless Arrow surely finds one object a line and knows all of its values as Python does.
    """
    import numpy as np

    if not text.startswith(b"{") or not text.endswith(b"}"):
        return None
    characters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    last = characters[ends - 1]
    is_return = last == ord("\r")
    last[is_return] = characters[ends[is_return] - 2]
    # A line that begins with { and ends with } is not part of an object on several lines.
    if (last != ord("}")).any() or (characters[ends + 1] != ord("{")).any():
        return None
    stops = np.append(ends, len(text))
    lengths = np.diff(stops, prepend=-1)
    long = lengths > _MIN_UNUSUAL_BYTES
    if any(
        _is_unusual(text[stop - length + 1 : stop])
        for stop, length in zip(stops[long].tolist(), lengths[long].tolist(), strict=True)
    ):
        return None
    may_be_non_finite = _has_pair(characters, b"Na") or _has_pair(characters, b"In")
    if may_be_non_finite and _NON_FINITE.search(text):
        return None
    if _has_inexact_fraction(text):
        return None
    try:
        return lengths if text.isascii() or text.decode() else None
    except UnicodeDecodeError:
        return None


def _has_inexact_fraction(text: bytes) -> bool:
    """Return whether a number in some lines has more digits than a float holds."""
    if b"9" * (MAX_EXACT_CHARACTERS + 1) not in text.translate(_POINTS_AND_NINES):
        return False
    for found in _LONG_FRACTION.finditer(text):
        digits = found[0].decode()
        with suppress(ValueError, ArithmeticError):  # what is in a string may be no number
            if not digits.lstrip("-").isdigit() and isinstance(parse_fraction(digits), str):
                return True
    return False


def _has_pair(characters: np.ndarray[Any, Any], pair: bytes) -> bool:
    """Return whether two bytes follow each other, five times as fast as searching a word."""
    first, second = pair
    return bool(((characters[:-1] == first) & (characters[1:] == second)).any())


def _is_unusual(line: bytes) -> bool:
    """Return whether Python may refuse a line for its depth, or for the digits of a number."""
    has_depth = line.count(b"{") + line.count(b"[") > MAX_OPENERS
    return has_depth or b"9" * MAX_DIGITS in line.translate(_ALL_NINES)


def _get_values(table: pa.Table, path: Sequence[str]) -> pa.Array:
    """Return the values at a path."""
    import pyarrow.compute as pc

    values = table.column(path[0]).combine_chunks()
    for step in path[1:]:
        values = pc.struct_field(values, step)
    return values


def _has_empty_object(table: pa.Table, path: Sequence[str]) -> bool:
    """Return whether an object at a path has no value."""
    import numpy as np

    objects = _get_values(table, path)
    is_held = objects.is_valid().to_numpy(zero_copy_only=False)
    has_value = np.zeros(len(objects), np.bool_)
    for place in range(objects.type.num_fields):
        has_value |= objects.field(place).is_valid().to_numpy(zero_copy_only=False)
    return bool((is_held & ~has_value).any())


def _format_numbers(values: pa.Array, name: str, text: bytes) -> pa.Array | None:
    """Return numbers as Python writes them; None if the file's text is needed and not found.

    Arrow reads 5 and 5.0 as the same number, so their text tells whether it is an integer.
    """
    import numpy as np
    import pyarrow as pa

    numbers: list[float] = values.drop_null().to_pylist()
    if any(number.is_integer() or isinf(number) for number in numbers):
        # Quotes inside of strings are escaped, so that a name in quotes and a colon is a name.
        pattern = b'"' + re.escape(name.encode()) + rb'"\s*:\s*(-?[0-9][0-9.eE+-]*)'
        spellings = re.findall(pattern, text)
        if len(spellings) != len(numbers):
            return None
        parsed = [int(one) if one.lstrip(b"-").isdigit() else float(one) for one in spellings]
        numbers = parsed
    formatted = pa.array(map(repr, numbers), pa.string())
    if not values.null_count:
        return formatted
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    places = pa.array(np.cumsum(valid) - 1, mask=~valid)
    return formatted.take(places)
