"""Blocks of JSON lines parsed by Arrow, with the same values as parsing them line by line.

Arrow parses ten times as fast as Python, but it is laxer where lines end, and knows one type for
each column. So a block is parsed only if every line is surely one object, with the types that
earlier lines had; what Arrow refuses is parsed line by line by others.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import isinf
from pathlib import Path
from sys import float_info
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import SampleError
from rowkey.json_objects import build_object
from rowkey.workload.columnar.json_arrays import HEAD_BYTES, ArrayLines, is_array_of_objects
from rowkey.workload.columnar.quoted_json import format_quoted, quote_values
from rowkey.workload.sample_streams import ReadProgress, open_uncompressed

if TYPE_CHECKING:
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
_LONG_RUN = re.compile(rb"9" * (MAX_EXACT_CHARACTERS + 1) + rb"9*")
"""A number with more digits, each of which is written as 9, with its point."""
_EXPONENT = re.compile(rb"[eE][-+]?[0-9]+")
_TINY_EXPONENT = re.compile(rb"[0-9][eE]-[0-9]{3}")
_POINTS_AND_NINES = bytes.maketrans(b"012345678.", b"9999999999")
_ALL_NINES = bytes.maketrans(b"012345678", b"999999999")
_NON_FINITE = re.compile(rb"[:,\[\s]-?(?:NaN|Inf(?:inity)?)\s*[,}\]]")
"""Words for numbers, of which Arrow and Python know different ones."""
_INT64_RANGE = range(-(1 << 63), 1 << 63)


MAX_QUOTED_RATIO = 3
"""Bytes of a line with quoted values for each of its own: at most a byte is escaped, or five are
put around a value, which has five itself with its name."""


def parse_fraction(text: str) -> float | str:
    """Return a number with a point or an exponent; its text if no float prints the same number.

    Raises:
        ValueError: it is larger than any float, and would become infinite.

    >>> parse_fraction("1.10"), parse_fraction("9007199254740993.5"), parse_fraction("1e-400")
    (1.1, '9007199254740993.5', '1e-400')
    """
    number = float(text)
    if isinf(number):
        raise ValueError(text)
    is_surely_exact = len(text) <= MAX_EXACT_CHARACTERS and abs(number) >= float_info.min
    if is_surely_exact or repr(number) == text or Decimal(text) == Decimal(repr(number)):
        return number
    return text


DECODER = json.JSONDecoder(parse_float=parse_fraction, object_pairs_hook=build_object)
"""Made once: json.loads would make one for each line."""


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
        characters = np.frombuffer(self.data, np.uint8)
        end_count = int(np.count_nonzero(characters == ord("\n")))
        return end_count + (not self.data.endswith(b"\n"))

    def split(self, max_lines: int) -> Iterator[LineBlock]:
        """Return the lines as blocks of at most `max_lines`."""
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
        self.has_noted_values = False
        self.can_parse = False
        """Whether Arrow can parse objects of the types learned so far."""
        self.choose_types()

    @property
    def paths(self) -> Collection[ValuePath]:
        """Return the paths to the values, as far as they are known."""
        return self._type_counts

    def note_values(self, values: Iterable[tuple[ValuePath, Any]]) -> None:
        """Note the types of the values of an object that was parsed by others."""
        self.has_noted_values = True
        for path, value in values:
            counts = self._type_counts.setdefault(path, Counter())
            if value is not None and value != {}:
                counts[_find_type(value)] += 1

    def choose_types(self) -> None:
        """Expect the types of the values noted so far in the blocks to come."""
        self.can_parse = False
        if len(self._type_counts) > MAX_PARSED_PATHS:
            return
        parents = {path[:depth] for path in self._type_counts for depth in range(1, len(path))}
        self._full_objects = parents - self._type_counts.keys()
        self._types = {
            path: _choose_type(counts)
            for path, counts in self._type_counts.items()
            if not (self.finds_paths and path in parents and not counts)
        }
        self.can_parse = "dict" not in self._types.values() and parents.isdisjoint(self._types)

    def parse(self, data: bytes) -> ParsedLines | None:
        """Return the values of some lines as text; None if Python may find others.

        Numbers are written as Python writes them.
        """
        text = data.strip(b" \t\r\n")
        lengths = _measure_regular_lines(text) if self.can_parse else None
        if lengths is None:
            return None
        quoted_paths = {path for path, name in self._types.items() if name not in _ARROW_TYPES}
        if _has_inexact_fraction(text):
            quoted_paths |= {path for path, name in self._types.items() if name == "float"}
        plain_types = {p: name for p, name in self._types.items() if p not in quoted_paths}
        # What is not read is valid JSON all the same.
        is_strict = self.finds_paths and not quoted_paths
        max_line_bytes = int(lengths.max())
        table = _read_lines(text, plain_types, max_line_bytes, is_strict=is_strict)
        if table is None or table.num_rows != len(lengths):
            return None
        texts: dict[ValuePath, pa.Array] = {}
        for path, type_name in plain_types.items():
            values = _get_values(table, path)
            formatted = _format_floats(values) if type_name == "float" else values.cast(pa.string())
            if formatted is None:
                quoted_paths.add(path)
            else:
                texts[path] = formatted
        if quoted_paths:
            table = self._read_quoted(text, quoted_paths, max_line_bytes)
            if table is None:
                return None
            texts |= {p: format_quoted(_get_values(table, p), DECODER) for p in quoted_paths}
            if None in texts.values():
                return None
        # An empty object is a value of its own path, which is listed where it first appears.
        if self.finds_paths and any(_has_empty_object(table, one) for one in self._full_objects):
            return None
        return ParsedLines({path: texts[path] for path in self._types}, len(lengths))

    def _read_quoted(
        self, text: bytes, quoted_paths: Collection[ValuePath], max_line_bytes: int
    ) -> pa.Table | None:
        """Return lines with the values at some paths as marked texts; None if Arrow refuses one.

        If all paths are found, the other values are read too, so that others are refused.
        """
        has_scalars = any(self._types[path] != "list" for path in quoted_paths)
        quoted_text = quote_values(text, has_scalars=has_scalars)
        if quoted_text is None:
            return None
        read_types = dict.fromkeys(quoted_paths, "str")
        if self.finds_paths:
            read_types = {
                path: "str" if has_scalars or path in quoted_paths else type_name
                for path, type_name in self._types.items()
            }
        max_quoted_bytes = MAX_QUOTED_RATIO * max_line_bytes
        return _read_lines(quoted_text, read_types, max_quoted_bytes, is_strict=self.finds_paths)


_ARROW_TYPES = {"str": "string", "bool": "bool", "int": "int64", "float": "float64"}
"""The Arrow type of each Python type that has one."""


def _find_type(value: Any) -> str:
    """Return the name of a value's type; large integers count as `float`, as Arrow parses them."""
    if type(value) is int and value not in _INT64_RANGE:
        return "float"
    return type(value).__name__


def _choose_type(counts: Counter[str]) -> str:
    """Return the type of some values: numbers are floats if one is, and `mixed` is any scalar."""
    if not +counts:
        return "str"
    names = set(+counts) - {"dict"}
    if not names or 2 * counts["dict"] > counts.total():
        return "dict"
    if names == {"int", "float"}:
        return "float"
    return "mixed" if len(names) > 1 else names.pop()


def _read_lines(
    text: bytes, types: Mapping[ValuePath, str], max_line_bytes: int, *, is_strict: bool
) -> pa.Table | None:
    """Return the values at some paths of JSON lines as columns; None if Arrow refuses a value.

    Args:
        types: the name of the type of the values at each path.
        max_line_bytes: bytes of the longest line, or more.
        is_strict: whether values at other paths are refused.
    """
    from pyarrow import json as arrow_json

    tree: dict[str, Any] = {}
    for path, type_name in types.items():
        node = tree
        for step in path[:-1]:
            node = node.setdefault(step, {})
        node[path[-1]] = _ARROW_TYPES[type_name]
    parse_options = arrow_json.ParseOptions(
        explicit_schema=pa.schema(_build_arrow_fields(tree)),
        newlines_in_values=False,
        unexpected_field_behavior="error" if is_strict else "ignore",
    )
    # Arrow parses its blocks on all cores; a line must fit into one.
    block_size = max(ARROW_BLOCK_BYTES, max_line_bytes + 1)
    read_options = arrow_json.ReadOptions(use_threads=True, block_size=block_size)
    try:
        return arrow_json.read_json(
            pa.BufferReader(text), read_options=read_options, parse_options=parse_options
        )
    except pa.ArrowInvalid:
        return None


def _build_arrow_fields(tree: dict[str, Any]) -> list[pa.Field]:
    return [
        pa.field(name, pa.struct(_build_arrow_fields(node)))
        if isinstance(node, dict)
        else pa.field(name, pa.type_for_alias(node))
        for name, node in tree.items()
    ]


def _measure_regular_lines(text: bytes) -> np.ndarray[Any, Any] | None:
    """Return the length of each line with its end.

    None unless Arrow surely finds one object a line and knows all of its values as Python does.
    """
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
    try:
        return lengths if text.isascii() or text.decode() else None
    except UnicodeDecodeError:
        return None


def _has_inexact_fraction(text: bytes) -> bool:
    """Return whether a number in some lines has more digits than a float holds, or is too small."""
    characters = np.frombuffer(text, np.uint8)
    # A number that floats hold badly or not at all, as 1e-320, has an exponent of three digits.
    if _has_pair(characters, b"e-") or _has_pair(characters, b"E-"):
        dashes = np.flatnonzero(characters[2:-3] == ord("-")) + 2
        dashes = dashes[(characters[dashes - 1] | 32) == ord("e")]
        if _TINY_EXPONENT.search(b" ".join(text[at - 2 : at + 4] for at in dashes.tolist())):
            return True
    # Of a long number each second byte is a digit or point, eight and more in a row.
    is_digit = characters[::2] - ord(".") < ord(":") - ord(".")
    for step in (1, 2, 4):
        is_digit = is_digit[:-step] & is_digit[step:]
    if not is_digit.any():
        return False
    for found in _LONG_RUN.finditer(text.translate(_POINTS_AND_NINES)):
        digits = text[found.start() : found.end()]
        if exponent := _EXPONENT.match(text, found.end()):
            digits += exponent[0]
        with suppress(ValueError, ArithmeticError):  # what is in a string may be no number
            if not digits.isdigit() and isinstance(parse_fraction(digits.decode()), str):
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
    values = table.column(path[0]).combine_chunks()
    for step in path[1:]:
        values = pc.struct_field(values, step)
    return values


def _has_empty_object(table: pa.Table, path: Sequence[str]) -> bool:
    """Return whether an object at a path has no value."""
    objects = _get_values(table, path)
    is_held = objects.is_valid().to_numpy(zero_copy_only=False)
    has_value = np.zeros(len(objects), np.bool_)
    for place in range(objects.type.num_fields):
        has_value |= objects.field(place).is_valid().to_numpy(zero_copy_only=False)
    return bool((is_held & ~has_value).any())


def _format_floats(values: pa.Array) -> pa.Array | None:
    """Return floats as Python writes them; None if one may be an integer, as Arrow reads 5 as 5.0.

    It may be a large integer too, or one that is larger than any float.
    """
    numbers = values.drop_null().to_numpy(zero_copy_only=False)
    if (np.isinf(numbers) | (numbers == np.trunc(numbers))).any():
        return None
    formatted = pa.array(map(repr, numbers.tolist()), pa.string())
    if not values.null_count:
        return formatted
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    places = pa.array(np.cumsum(valid) - 1, mask=~valid)
    return formatted.take(places)
