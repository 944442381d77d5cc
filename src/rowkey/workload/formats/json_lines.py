"""The format `json_lines`."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import pa, pc
from rowkey.errors import SampleError
from rowkey.json_objects import RepeatedName
from rowkey.messages import shorten_text
from rowkey.workload.batch_store import BatchStore
from rowkey.workload.columnar.json_arrays import HEAD_BYTES, is_array_of_objects
from rowkey.workload.columnar.json_blocks import (
    DECODER,
    LineBlock,
    ObjectParser,
    ParsedLines,
    parse_fraction,
    read_line_blocks,
)
from rowkey.workload.columnar.quoted_json import format_json_value
from rowkey.workload.contract import SampleFormat
from rowkey.workload.records import MalformedLines, SkippedRows, build_text_batch
from rowkey.workload.sample_streams import (
    MARK_INVALID_BYTES,
    OTHER_FORMAT_REMEDY,
    ReadProgress,
    open_uncompressed,
    resolve_columns,
)

if TYPE_CHECKING:
    ParsedObjects = list[tuple[int, dict[str, Any]]]
    from rowkey.workload.columnar.json_blocks import ValuePath

MAX_NAMES = 1 << 16
"""Most names in the objects of a file; with more, the names are really values."""
MAX_NAMED_DEPTH = 8
"""Nested objects whose names a message shows."""
MAX_MIXED_STEPS = 3
"""Pieces between dots of a name of which some may be joined by dots in the file, and others be
steps; each more doubles the places where a value is looked for."""
MAX_LINE_BYTES = 64 << 20
"""Bytes of the longest line: a row of many long values, as `dump` writes it."""
MIN_HALVED_LINES = 64
"""Lines that are parsed one by one where Arrow refuses some of them."""
EXPECTED_LINES = "one JSON object on each line"
EXPECTED_ITEMS = "a JSON array of objects"
_NESTED_ARRAY_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\[")
_OBJECT_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
OBJECTS_REMEDY = "Write each object on one line of its own: jq -c . FILE."
_SURROGATE_ESCAPES = (r"\ud", r"\uD")
"""How one half of a surrogate pair is escaped, which alone is not a character."""


class JsonLinesFormat(SampleFormat):
    """One JSON object a line, or an array of them; `request.path` is `path` in `request`.

    A name that an object lacks is null. The columns are the names of all objects, in the order of
    their first appearance. An object may have 64 MiB.
    """

    name = "json_lines"
    suffixes = (".jsonl", ".ndjson", ".json")
    has_named_values = True
    _unreadable_names: Collection[str] | None = None
    """Names whose values are not found; None before all names are collected."""

    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        if columns is None:
            yield from self._read_all_columns(path, skipped_rows)
        else:
            yield from self._read_columns(path, list(columns), skipped_rows)

    def _read_all_columns(self, path: Path, skipped_rows: SkippedRows) -> Iterator[pa.RecordBatch]:
        """Yield the rows with the columns of all objects, which are known at the end of the file.

        Until then the values are kept in memory or a temporary file. They are read again if some
        objects have a value where others have an object, which is then a value too.
        """
        kept, noted = KeptBlocks(), SkippedRows()
        parser = ObjectParser(None)
        blocks = self._read_blocks(path, noted, parser, self.progress)
        names = self._collect_names(path, kept.keep(blocks))
        if _find_parents(names) & set(names):
            yield from self._read_columns(path, names, skipped_rows)
            return
        skipped_rows.extend(noted)
        yield from kept.read(names, self.progress)

    def _read_columns(
        self, path: Path, column_names: list[str], skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        paths = {name: _list_paths(name) for name in column_names}
        parser = ObjectParser(path for found in paths.values() for path in found)
        has_batch = False
        for parts in self._read_blocks(path, skipped_rows, parser, self.progress):
            batches = [_build_parsed_batch(part, paths) for part in parts]
            if any(map(len, batches)):
                yield _combine_batches(batches)
                has_batch = True
        if not has_batch:
            yield build_text_batch([], column_names)

    def find_lines(self, path: Path, rows: Collection[int]) -> dict[int, int]:
        """Return the line on which each of the given rows begins; none for an array."""
        if _open_misfits(path, SkippedRows()).line_name != "line":
            return {}
        objects = self._read_objects(path, SkippedRows())
        last = max(rows, default=0)
        return {row: line for row, (line, _) in enumerate(islice(objects, last), 1) if row in rows}

    def find_unreadable_columns(self, path: Path) -> Mapping[str, str]:
        """Return the names of JSON lines whose values are not found, as dots mean too much."""
        if self._unreadable_names is None:
            self._collect_names(path)
        reason = "has dots both within names and between nested ones, and more than can be tried"
        return dict.fromkeys(self._unreadable_names or (), reason)

    def check_columns_exist(self, path: Path, columns: Sequence[str]) -> None:
        """Raise SampleError if no object of a JSON lines file has one of some names."""
        if available := self._collect_names(path):
            resolve_columns(available, [name for name in columns if name not in available], path)

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        column_names: list[str] = []
        lacking = set(wanted_names)
        for number, (_, one) in enumerate(self._read_objects(path, SkippedRows())):
            names = (
                [*_list_names(one)]
                if number == 0
                else [name for name in lacking if _has_name(one, name)]
            )
            column_names += names
            lacking -= set(names)
            if not lacking:
                return column_names
        return column_names or None

    def _collect_names(
        self, path: Path, blocks: Iterable[list[ParsedLines]] | None = None
    ) -> list[str]:
        """Return the names in all objects, in order of appearance; nested ones with dots.

        An object that is null or empty in some rows has the names that it has in other rows.

        Args:
            blocks: all of its objects; read from it if None.

        Raises:
            SampleError: there are too many.
        """
        seen: dict[ValuePath, bool] = {}
        if blocks is None:
            blocks = self._read_blocks(path, SkippedRows(), ObjectParser(None))
        for part in chain.from_iterable(blocks):
            for steps, values in part.values.items():
                is_held = values.null_count < part.line_count and steps not in part.empty_paths
                seen[steps] = seen.get(steps, False) or is_held
            if len(seen) > MAX_NAMES:
                what = f"the objects have more than {MAX_NAMES:,} different field names"
                raise SampleError(str(path), what, "the same field names in many rows")
        names: dict[str, bool] = {}
        unreadable: dict[str, bool] = {}
        for steps, is_held in seen.items():
            name = ".".join(steps)
            found_names = names if _is_readable(steps) else unreadable
            found_names[name] = found_names.get(name, False) or is_held
        self._unreadable_names = unreadable.keys()
        parents = _find_parents(names)
        return [name for name, is_held in names.items() if is_held or name not in parents]

    def _read_objects(
        self, path: Path, skipped_rows: SkippedRows
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return the objects with the numbers of their lines."""
        misfits = _open_misfits(path, skipped_rows)
        last_line = 0
        for block in read_line_blocks(path, None, MAX_LINE_BYTES):
            yield from _parse_lines(block, misfits)
            last_line = block.first_line + block.line_count - 1
        misfits.check_count(last_line)

    def _read_blocks(
        self,
        path: Path,
        skipped_rows: SkippedRows,
        parser: ObjectParser,
        progress: ReadProgress | None = None,
    ) -> Iterator[list[ParsedLines]]:
        """Return the objects of a file in order, each block of lines as a list of parts.

        A part that the parser refuses is halved, until few lines are parsed one by one.
        """
        misfits = _open_misfits(path, skipped_rows)
        last_line = 0
        for block in read_line_blocks(path, progress, MAX_LINE_BYTES):
            parts: list[ParsedLines] = []
            pending = [block]
            while pending:
                part = pending.pop()
                count = part.line_count
                if count > MIN_HALVED_LINES and not parser.has_noted_values:
                    first = next(part.split(MIN_HALVED_LINES))
                    rest = part.data[len(first.data) :]
                    pending += LineBlock(part.first_line + MIN_HALVED_LINES, rest), first
                    continue
                values = parser.parse(part.data) if parser.has_noted_values else None
                if values is not None:
                    _refuse_double_values(misfits, part, values)
                    parts.append(values)
                elif count > MIN_HALVED_LINES and parser.can_parse:
                    pending += reversed([*part.split(-(-count // 2))])
                else:
                    objects = _parse_and_learn(part, misfits, parser)
                    _refuse_double_names(misfits, objects, parser)
                    parts.append(_build_parsed_lines(misfits, objects, parser))
            yield parts
            last_line = block.first_line + block.line_count - 1
        misfits.check_count(last_line)


class KeptBlocks:
    """The values of a file's objects as text, kept until the names of all columns are known."""

    def __init__(self) -> None:
        self._store = BatchStore()
        self._part_counts: list[int] = []

    def keep(self, blocks: Iterable[list[ParsedLines]]) -> Iterator[list[ParsedLines]]:
        """Store blocks of objects for a later `read`, and yield them unchanged."""
        for parts in blocks:
            batches = [_build_named_batch(part) for part in parts]
            filled_batches = [batch for batch in batches if batch.num_rows]
            for batch in filled_batches:
                self._store.append(batch)
            self._part_counts.append(len(filled_batches))
            yield parts

    def read(self, column_names: Sequence[str], progress: ReadProgress) -> Iterator[pa.RecordBatch]:
        """Yield a batch with the given columns for each block, and at least one.

        Args:
            column_names: the names of all columns.
            progress: told how much is delivered of what was read.
        """
        if not column_names or not self._store.row_count:
            yield build_text_batch([], column_names)
            return
        total_bytes, row_count = progress.prefetched_bytes, 0
        batches = iter(self._store)
        for part_count in filter(None, self._part_counts):
            parts = [_fill_columns(one, column_names) for one in islice(batches, part_count)]
            block = _combine_batches(parts)
            row_count += block.num_rows
            progress.delivered_bytes = total_bytes * row_count // self._store.row_count
            yield block


def _build_parsed_lines(
    misfits: MalformedLines, objects: ParsedObjects, parser: ObjectParser
) -> ParsedLines:
    """Return objects that were parsed one by one as those that Arrow has parsed.

    Raises:
        SampleError: their names are too many.
    """
    if not parser.finds_paths:
        texts = {
            path: [format_json_value(_find_value(one, path)) for _, one in objects]
            for path in parser.paths
        }
        arrays = {path: pa.array(found, pa.string()) for path, found in texts.items()}
        return ParsedLines(arrays, len(objects))
    columns: dict[ValuePath, list[str | None]] = {}
    held_paths: set[ValuePath] = set()
    for row, (number, one) in enumerate(objects):
        for path, value in _flatten_items(one):
            column = columns.get(path)
            if column is None:
                column = columns[path] = [None] * len(objects)
            if value is not None:
                column[row] = format_json_value(value)
                if value != {}:
                    held_paths.add(path)
        if len(columns) > MAX_NAMES:
            what = f"the objects have more than {MAX_NAMES:,} different field names"
            place = misfits.format_place(number)
            raise SampleError(place, what, "the same field names in many rows")
    arrays = {path: pa.array(found, pa.string()) for path, found in columns.items()}
    return ParsedLines(arrays, len(objects), frozenset(columns.keys() - held_paths))


def _build_named_batch(part: ParsedLines) -> pa.RecordBatch:
    """Return objects as columns of text, one for each name that they have.

    A last column, without values, counts the rows where objects are empty.
    """
    paths: dict[str, list[ValuePath]] = {}
    for steps in filter(_is_readable, part.values):
        paths.setdefault(".".join(steps), []).append(steps)
    batch = _build_parsed_batch(part, paths)
    columns, names = [*batch.columns, pa.nulls(part.line_count)], [*batch.schema.names, ""]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _fill_columns(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Return a batch of named columns with the given ones; those that it lacks are null."""
    places = {name: place for place, name in enumerate(batch.schema.names[:-1])}
    missing = pa.nulls(batch.num_rows, pa.string())
    columns = [batch.column(places[name]) if name in places else missing for name in names]
    return pa.RecordBatch.from_arrays(columns, names=list(names))


def _find_parents(names: Iterable[str]) -> set[str]:
    """Return the names of the objects that hold nested values with the given names."""
    return {name[:at] for name in names for at, letter in enumerate(name) if letter == "."}


def _open_misfits(path: Path, skipped_rows: SkippedRows) -> MalformedLines:
    """Return the counter of the lines of a file that are no objects.

    Raises:
        SampleError: the file is one array, or in UTF-16; it must be converted first.
    """
    with open_uncompressed(path) as stream:
        head = stream.read(HEAD_BYTES)
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        remedy = "Convert it: iconv -f UTF-16 -t UTF-8 FILE."
        raise SampleError(str(path), "the file is in UTF-16", "a text file in UTF-8", remedy)
    if _NESTED_ARRAY_START.match(head):
        what = "the file is a JSON array of arrays, not JSON lines"
        remedy = "Convert it to CSV: jq -r '.[] | @csv' FILE."
        raise SampleError(str(path), what, EXPECTED_LINES, remedy)
    if is_array_of_objects(head):
        return MalformedLines(path, EXPECTED_ITEMS, skipped_rows, line_name="item")
    remedy = OBJECTS_REMEDY if _OBJECT_START.match(head) else OTHER_FORMAT_REMEDY
    return MalformedLines(path, EXPECTED_LINES, skipped_rows, remedy)


def _parse_lines(
    block: LineBlock, misfits: MalformedLines, paths: Collection[ValuePath] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return the objects of some lines with the numbers of the lines; note the other lines.

    Args:
        misfits: told of lines that are no objects.
        paths: where values are read; None for all.

    Raises:
        SampleError: an object has a name twice whose value is read.
    """
    for number, data in enumerate(BytesIO(block.data), block.first_line):
        line = data.decode("utf-8", MARK_INVALID_BYTES).rstrip("\r\n")
        if not line.strip():
            continue
        try:
            json_object = _parse_object(line, DECODER)
        except RepeatedName as repeated:
            json_object = _parse_object(line, _MARKING_DECODER)
            is_read = paths is None or any(_is_repeated(json_object or {}, one) for one in paths)
            if json_object is not None and is_read:
                raise SampleError(
                    misfits.format_place(number),
                    f"the object has the name {shorten_text(repeated.args[0])!r} twice",
                    "one value of each name",
                    "Remove one of them; jq -c . FILE keeps the last.",
                ) from None
        if json_object is None:
            misfits.add(number, line)
        else:
            yield number, json_object


def _parse_and_learn(
    block: LineBlock, misfits: MalformedLines, parser: ObjectParser
) -> ParsedObjects:
    """Return the objects of some lines, and let a parser learn the types of the first."""
    paths = None if parser.finds_paths else parser.paths
    objects = list(_parse_lines(block, misfits, paths))
    for _, one in objects[:MIN_HALVED_LINES]:
        parser.note_values(
            _flatten_items(one)
            if parser.finds_paths
            else ((path, _find_value(one, path)) for path in parser.paths)
        )
    parser.choose_types()
    return objects


def _refuse_double_values(misfits: MalformedLines, block: LineBlock, parsed: ParsedLines) -> None:
    """Raise if an object of parsed lines has two values of one name.

    Raises:
        SampleError: it has, such as `a.b` and `b` in the object `a`.
    """
    arrays: dict[str, pa.Array] = {}
    for steps, array in parsed.values.items():
        name = ".".join(steps)
        other = arrays.setdefault(name, array)
        if other is array:
            continue
        row = pc.index(pc.and_(other.is_valid(), array.is_valid()), True).as_py()
        if row >= 0:
            blank_count = len(block.data) - len(block.data.lstrip(b" \t\r\n"))
            skipped = block.data.count(b"\n", 0, blank_count)
            raise _build_double_error(misfits, block.first_line + skipped + row, name)


def _refuse_double_names(
    misfits: MalformedLines, objects: ParsedObjects, parser: ObjectParser
) -> None:
    """Raise if one of some objects has two values of one name that is read.

    Raises:
        SampleError: it has, such as `a.b` and `b` in the object `a`.
    """
    for number, one in objects:
        if not any("." in name for name in one):
            continue
        steps = (
            [steps for steps, value in _flatten_items(one) if value not in (None, {})]
            if parser.finds_paths
            else [steps for steps in parser.paths if _find_value(one, steps) is not None]
        )
        counts = Counter(map(".".join, steps))
        if name := next((name for name, count in counts.items() if count > 1), ""):
            raise _build_double_error(misfits, number, name)


def _build_double_error(misfits: MalformedLines, line: int, name: str) -> SampleError:
    """Return the error for an object with two values of one name."""
    shown = shorten_text(name)
    return SampleError(
        misfits.format_place(line),
        f"the object has two values of {shown!r}: one of this name, and one in nested objects",
        "one value of each name",
        "Rename or remove one of them.",
    )


def _build_parsed_batch(part: ParsedLines, paths: Mapping[str, Sequence[ValuePath]]) -> Any:
    """Return parsed lines as columns of text.

    Args:
        paths: where the value of each column is looked for.
    """
    arrays = [pc.coalesce(*map(part.values.__getitem__, found)) for found in paths.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(paths))


def _combine_batches(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return some batches, of which one has rows, as one."""
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _parse_object(line: str, decoder: json.JSONDecoder) -> dict[str, Any] | None:
    """Return the object of a line; None if it is not an object or holds an invalid value.

    Raises:
        RepeatedName: an object has a name twice, and the decoder refuses that.
    """
    try:
        value = decoder.decode(line)
        if "\\u" in line and any(half in line for half in _SURROGATE_ESCAPES):
            json.dumps(value, ensure_ascii=False).encode()
    except RepeatedName:
        raise
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_REPEATED: list[object] = []
"""Stands for the value of a name that an object has twice."""


def _mark_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of names and values, with `_REPEATED` for the names that it has twice."""
    counts = Counter(name for name, _ in pairs)
    return {name: value if counts[name] == 1 else _REPEATED for name, value in pairs}


def _is_repeated(record: dict[str, Any], path: ValuePath) -> bool:
    """Return whether a name is there twice, of the steps to a value or within the value."""
    prefixes = (path[:depth] for depth in range(1, len(path)))
    if any(_find_value(record, one) is _REPEATED for one in prefixes):
        return True
    pending = [_find_value(record, path)]
    while pending:
        value = pending.pop()
        if value is _REPEATED:
            return True
        if isinstance(value, dict | list):
            pending += value.values() if isinstance(value, dict) else value
    return False


_MARKING_DECODER = json.JSONDecoder(parse_float=parse_fraction, object_pairs_hook=_mark_repeated)


def _flatten_items(
    record: dict[str, Any], parents: ValuePath = (), depth: int = 0
) -> list[tuple[ValuePath, Any]]:
    """Return the values of an object with the steps to them; those of nested objects have more."""
    items: list[tuple[ValuePath, Any]] = []
    for name, value in record.items():
        steps = (*parents, name)
        if type(value) is dict and value and depth < MAX_NAMED_DEPTH:
            items += _flatten_items(value, steps, depth + 1 + name.count("."))
        else:
            items.append((steps, value))
    return items


def _list_names(record: dict[str, Any]) -> Iterator[str]:
    """Return the names of an object's values; those of nested objects follow a dot."""
    return (".".join(steps) for steps, _ in _flatten_items(record) if _is_readable(steps))


@lru_cache(MAX_NAMES)
def _list_paths(name: str) -> tuple[ValuePath, ...]:
    """Return where the value of a name is looked for, first to last.

    Names in the file may have dots themselves, so each dot may be part of a name or a step.

    >>> _list_paths("a.b.c")
    (('a.b.c',), ('a', 'b', 'c'), ('a.b', 'c'), ('a', 'b.c'))
    """
    pieces = name.split(".")
    paths: list[ValuePath] = [(name,)]
    if len(pieces) > 1:
        paths.append(tuple(pieces))
    if 2 < len(pieces) <= MAX_MIXED_STEPS:
        for number in range(1, (1 << len(pieces) - 1) - 1):
            steps = [pieces[0]]
            for at, piece in enumerate(pieces[1:]):
                if number >> at & 1:
                    steps[-1] += f".{piece}"
                else:
                    steps.append(piece)
            paths.append(tuple(steps))
    return tuple(paths)


def _find_value(record: dict[str, Any], path: ValuePath) -> Any:
    """Return the value at the end of some steps; None if the object has none."""
    value: Any = record
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _is_readable(path: ValuePath) -> bool:
    """Return whether the value at the end of some steps is found by its name."""
    return path in _list_paths(".".join(path))


def _has_name(record: dict[str, Any], name: str) -> bool:
    """Return whether an object has a name, whose value may be null."""
    return name in record or ("." in name and any(name == one for one in _list_names(record)))
