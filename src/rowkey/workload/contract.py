"""The interfaces of the plugins for samples and workloads: sample formats and distributions."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument
from rowkey.messages import suggest_name
from rowkey.workload.joined_columns import expand_names, replace_joined_names
from rowkey.workload.records import SkippedRows
from rowkey.workload.sample_streams import ReadProgress
from rowkey.workload.values.number_layouts import NUMBER_LAYOUTS, parse_number_layout
from rowkey.workload.values.time_layouts import TimeLayout, parse_layout

if TYPE_CHECKING:
    from rowkey.keys import Domain


Layout = TypeVar("Layout")


@dataclass(frozen=True, slots=True)
class PluginOption:
    """An option that a plugin accepts next to its name in a design file.

    Args:
        types: the Python types its value may have.
        meaning: what it declares, for the reference.
        default: its value if it is absent; None if it is required.
        allowed: what is allowed, as printed in an error.
    """

    name: str
    types: tuple[type, ...]
    meaning: str
    default: Any = None
    allowed: str = ""
    required: bool = False


NULLS_OPTION = PluginOption(
    "nulls",
    (list, tuple),
    'texts that stand for null when they are not quoted, such as ["NA"]',
    (),
    "a list of texts",
)
"""The option of text formats that declares null texts; an empty value is always null."""


ENCODINGS = (
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "iso-8859-2", "iso-8859-15", "cp1250",
    "cp1251", "cp1252", "koi8-r", "gb18030", "gbk", "big5", "shift_jis", "euc-jp", "euc-kr",
)  # fmt: skip
ENCODING_OPTION = PluginOption(
    "encoding",
    (str,),
    f"the encoding of the text, one of {', '.join(ENCODINGS)}",
    "utf-8",
    f"one of {', '.join(ENCODINGS)}",
)
"""The option of text formats that declares their encoding."""

SKIP_LINES_OPTION = PluginOption(
    "skip_lines",
    (int,),
    "lines in front of the header or the first row that are not read",
    0,
    "a number of lines, 0..10000",
)
"""The option of text formats that skips the first lines, such as a title or wrong names."""

MAX_SKIPPED_OPTION = PluginOption(
    "max_skipped",
    (int, float),
    "share of the rows, from 0 to 1, that may be skipped because they cannot be read as events",
    0.05,
    "a number from 0 to 1",
)
"""The option of every format that allows more unreadable rows."""


TIMES_OPTION = PluginOption(
    "times",
    (dict,),
    'layouts of columns of times, such as { when = "%d.%m.%Y %H:%M:%S" }: directives of strptime, '
    "or epoch_s, epoch_ms, epoch_us, epoch_ns, excel",
    None,
    "a table of columns with their layouts",
)
"""The option of every format that declares how times are written."""

YEAR_OPTION = PluginOption(
    "year",
    (int,),
    "the year of the first row, for times without a year; it goes on where December ends",
    None,
    "1..9999",
)
"""The option of every format that gives the first year of times without one."""

NUMBERS_OPTION = PluginOption(
    "numbers",
    (dict,),
    'layouts of columns of grouped numbers or decimal commas, such as { price = "1.234,56" }',
    None,
    f"a table of columns with one of {', '.join(NUMBER_LAYOUTS)}",
)
"""The option of every format that declares how numbers are written."""

JOIN_OPTION = PluginOption(
    "join",
    (dict,),
    'columns that are joined to one with a space between them, such as { ts = ["date", "time"] }',
    None,
    "a table of new columns with the columns that they replace",
)
"""The option of every format that joins columns, such as a date and a time of day."""

_COMMON_OPTIONS = (TIMES_OPTION, YEAR_OPTION, NUMBERS_OPTION, JOIN_OPTION, MAX_SKIPPED_OPTION)
_LAYOUT_OPTIONS = (TIMES_OPTION.name, NUMBERS_OPTION.name)
_VALUE_OPTIONS = (*_LAYOUT_OPTIONS, YEAR_OPTION.name, MAX_SKIPPED_OPTION.name)


def _read_joins(option_values: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the columns that are joined, by the name of the column that they become.

    Raises:
        InvalidArgument: they are not two or more names.
    """
    joins = {}
    declared = option_values[JOIN_OPTION.name] or {}
    for name, parts in declared.items():
        is_list = isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts)
        if not is_list or len(set(parts)) < 2:
            path, what = f"{JOIN_OPTION.name}.{name}", f"{parts!r} does not name two columns"
            raise InvalidArgument(path, what, 'two or more columns, such as ["date", "time"]')
        chained = next((part for part in parts if part != name and part in declared), None)
        if chained is not None:
            path, what = f"{JOIN_OPTION.name}.{name}", f"{chained!r} is joined itself"
            remedy = f"Name the columns that {chained} is joined from."
            raise InvalidArgument(path, what, "columns of the file", remedy)
        joins[name] = tuple(parts)
    return joins


def read_time_layouts(option_values: Mapping[str, Any]) -> dict[str, TimeLayout]:
    """Return the declared layouts of times, by column.

    Raises:
        InvalidArgument: one is no layout, or lacks a year that is not declared.
    """
    layouts = _read_layouts(option_values, TIMES_OPTION, parse_layout)
    for column, layout in layouts.items():
        if not layout.has_year and option_values[YEAR_OPTION.name] is None:
            what = f"the layout {layout.text!r} has no year"
            remedy = "Add the year of the first row to the format, such as year = 2024."
            raise InvalidArgument(f"{TIMES_OPTION.name}.{column}", what, "%Y", remedy)
    return layouts


def _read_layouts(
    option_values: Mapping[str, Any], option: PluginOption, parse: Callable[[str], Layout]
) -> dict[str, Layout]:
    """Return the declared layouts of an option, by column.

    Raises:
        InvalidArgument: one is no layout.
    """
    layouts = {}
    for column, text in (option_values[option.name] or {}).items():
        path = f"{option.name}.{column}"
        if not isinstance(text, str):
            raise InvalidArgument(path, f"{text!r} is not text", option.allowed)
        try:
            layouts[column] = parse(text)
        except InvalidArgument as refusal:
            mistake = refusal.mistake
            raise InvalidArgument(path, mistake.problem, mistake.expected, mistake.remedy) from None
    return layouts


def read_null_texts(option_values: Mapping[str, Any]) -> list[str]:
    """Return the texts that stand for null.

    Raises:
        InvalidArgument: one is no text.
    """
    for one in option_values[NULLS_OPTION.name]:
        if not isinstance(one, str) or not one:
            raise InvalidArgument(NULLS_OPTION.name, f"{one!r} is not text", NULLS_OPTION.allowed)
    return list(option_values[NULLS_OPTION.name])


def format_inline_table(options: Mapping[str, Any]) -> str:
    """Return options as an inline table of TOML.

    >>> format_inline_table({"kind": "csv", "times": {"a b": "%Y"}, "nulls": ["-"]})
    '{ kind = "csv", times = { "a b" = "%Y" }, nulls = ["-"] }'
    """
    items = (
        f"{name if _BARE_KEY.fullmatch(name) else _format_toml(name)} = {_format_toml(value)}"
        for name, value in options.items()
    )
    return f"{{ {', '.join(items)} }}"


def _format_toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return format_inline_table(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_format_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_options(plugin: Any, raw_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a plugin, each checked, with defaults filled in.

    Raises:
        InvalidArgument: one is unknown, missing or of another type.
    """
    options = {option.name: option for option in plugin.options}
    for name in raw_options:
        if name != "kind" and name not in options:
            allowed = f"one of {', '.join(options)}" if options else "no options"
            raise InvalidArgument(
                name, f"{plugin.name} has no option {name!r}", allowed, suggest_name(name, options)
            )
    chosen = {}
    for name, option in options.items():
        value = raw_options.get(name, option.default)
        if value is None and option.required:
            raise InvalidArgument(
                name, f"{plugin.name} needs the option {name}", option.meaning, f"Declare {name}."
            )
        if value is not None and (
            not isinstance(value, option.types) or isinstance(value, bool) != (bool in option.types)
        ):
            what = f"{value!r} has the type {type(value).__name__}"
            raise InvalidArgument(name, what, option.allowed or option.meaning)
        chosen[name] = value
    return chosen


class SampleFormat(ABC):
    """A file format of samples, read as batches of columns.

    A format only reads and knows no design. Values have Arrow types or are text.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Endings of file names, before that of a compression, that mean this format."""
    options: ClassVar[tuple[PluginOption, ...]] = ()
    first_bytes: ClassVar[bytes] = b""
    """What each of its files begins with; standard input that begins so is read as this format."""
    is_archive: ClassVar[bool] = False
    """Whether its files are zip archives themselves, and not compressed by it."""
    is_columnar: ClassVar[bool] = False
    """Whether its files hold columns of values, which are read as fast as parsed rows."""
    has_empty_nulls: bool = False
    """Whether a null is an empty text in a text field that cannot be null."""
    has_named_values: ClassVar[bool] = False
    """Whether each row names its values, so that rows may lack some."""

    def __init_subclass__(cls) -> None:
        """Add the options that every format has."""
        cls.options = (*cls.options, *(one for one in _COMMON_OPTIONS if one not in cls.options))

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        self.raw_options = dict(raw_options)
        self.option_values = read_options(type(self), raw_options)
        self.year: int | None = self.option_values[YEAR_OPTION.name]
        """The year of the first row, for times without one."""
        if self.year is not None and not 1 <= self.year <= 9_999:
            what = f"{self.year} is out of range"
            raise InvalidArgument(YEAR_OPTION.name, what, YEAR_OPTION.allowed)
        encoding = self.option_values.get(ENCODING_OPTION.name, "utf-8")
        if encoding not in ENCODINGS:
            near = suggest_name(encoding, ENCODINGS)
            what = f"{encoding!r} is not an encoding that is read"
            raise InvalidArgument(ENCODING_OPTION.name, what, ENCODING_OPTION.allowed, near)
        skip_lines = self.option_values.get(SKIP_LINES_OPTION.name, 0)
        if not 0 <= skip_lines <= 10_000:
            what = f"{skip_lines} is out of range"
            raise InvalidArgument(SKIP_LINES_OPTION.name, what, SKIP_LINES_OPTION.allowed)
        self.time_layouts = read_time_layouts(self.option_values)
        """Declared layouts of times, by column."""
        self.number_layouts = _read_layouts(self.option_values, NUMBERS_OPTION, parse_number_layout)
        """Declared layouts of numbers, by column."""
        self.joins = _read_joins(self.option_values)
        """The columns that are joined, by the name of the column that they become."""
        self.max_skipped: float = self.option_values[MAX_SKIPPED_OPTION.name]
        """Share of the rows that may be skipped."""
        if not 0 <= self.max_skipped <= 1:
            what = f"{self.max_skipped} is not a share"
            raise InvalidArgument(MAX_SKIPPED_OPTION.name, what, MAX_SKIPPED_OPTION.allowed)
        self.progress = ReadProgress()
        """How far the file is read that was opened last, where a format lets it watch."""
        self.known_lines: dict[int, int] = {}
        """The lines of rows that were looked for in the file that was opened last."""
        self.detected_options: dict[str, Any] = {}
        """Options that were not declared and were detected in the file that was opened last."""
        self.assumptions: list[str] = []
        """What was detected, as sentences."""
        self.option_assumptions: list[str] = []
        """Those of them that tell detected options."""

    def note_assumption(self, sentence: str) -> None:
        """Note what was detected, once however often the file is read."""
        if sentence not in self.assumptions:
            self.assumptions.append(sentence)

    def note_option(self, name: str, value: Any, sentence: str) -> None:
        """Note an option that was detected, with the sentence that tells it."""
        self.detected_options[name] = value
        self.option_assumptions.append(sentence)
        self.note_assumption(sentence)

    @property
    def reading_options(self) -> dict[str, Any]:
        """Return the options that decide which rows are read, not what their values mean."""
        options = {**self.option_values, **self.detected_options}
        return {name: value for name, value in options.items() if name not in _VALUE_OPTIONS}

    def suggest_options(self, **options: Any) -> str:
        """Return the text of --sample-format with further options.

        Args:
            options: options to add to those that were declared and detected.
        """
        declared = {name: value for name, value in self.raw_options.items() if name != "kind"}
        merged = {"kind": self.name, **declared, **self.detected_options}
        for name, value in options.items():
            is_table = isinstance(value, dict) and isinstance(merged.get(name), dict)
            merged[name] = {**merged[name], **value} if is_table else value
        text = format_inline_table(merged).replace("'", "'\\''")
        return f"--sample-format '{text}'"

    @abstractmethod
    def read_batches(
        self, path: Path, columns: Sequence[str] | None, skipped_rows: SkippedRows
    ) -> Iterator[pa.RecordBatch]:
        """Return the rows of a file in order, a bounded number at a time.

        Args:
            columns: the columns wanted, in any order; None for all.
            skipped_rows: where lines that are no rows are noted.

        Raises:
            SampleError: the file cannot be read, or has no such column.
        """

    def read_column_names(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        """Return the column names of a file in order; None if it has no header and no rows.

        The default takes them from the first batch of rows.

        Args:
            wanted_names: only for formats with `has_named_values`, which return the names of the
                first row and those of these names that a later row has; others ignore them.

        Raises:
            SampleError: the file cannot be read.
        """
        first = next(iter(self.read_batches(path, None, SkippedRows())), None)
        return None if first is None else list(first.schema.names)

    def list_columns(self, path: Path, wanted_names: Collection[str] = ()) -> list[str] | None:
        """Return what `read_column_names` returns, with each joined column in place of its parts.

        Args:
            wanted_names: as `read_column_names` takes them, after joining.

        Raises:
            SampleError: the file cannot be read.
        """
        names = self.read_column_names(path, expand_names(self.joins, wanted_names))
        return None if names is None else replace_joined_names(self.joins, names)

    def find_missing_columns(self, column_names: Collection[str]) -> list[str]:
        """Return the columns that declared options are about and that a file does not show.

        Args:
            column_names: the columns that it shows, after joining.
        """
        shown = {*column_names, *(name.strip() for name in column_names)}
        shown |= {part for name in shown & self.joins.keys() for part in self.joins[name]}
        named = [
            column for option in _LAYOUT_OPTIONS for column in self.option_values[option] or ()
        ]
        parts = [part for parts in self.joins.values() for part in parts]
        missing = [name for name in named if name not in self.joins] + parts
        return [name for name in dict.fromkeys(missing) if name not in shown]

    @classmethod
    def is_bound_to_suffixes(cls, raw_options: Mapping[str, Any]) -> bool:
        """Return whether the format is only for files with its suffixes.

        Args:
            raw_options: its options as declared.
        """
        return bool(cls.suffixes)

    def detect_options(self, path: Path) -> None:  # noqa: B027 - a default
        """Detect options that decide about the columns of a file, before they are read.

        Raises:
            SampleError: the file cannot be read, or shows too little.
        """

    def check_header(self, path: Path) -> None:  # noqa: B027 - a default
        """Raise if the column names of a file do not look like names, before a design is drafted.

        Raises:
            SampleError: they look like values, or like one name that contains several.
        """

    def find_unreadable_columns(self, path: Path) -> Mapping[str, str]:
        """Return the columns that `read_batches` leaves out if all are wanted, with the reason.

        Raises:
            SampleError: the file cannot be read.
        """
        return {}

    def count_rows(self, path: Path) -> int | None:
        """Return how many rows a file declares; None if only reading it can tell."""
        return None

    def find_lines(self, path: Path, rows: Collection[int]) -> dict[int, int]:
        """Return the line of the file on which each row begins, where the file has lines.

        Args:
            rows: numbers of rows as `read_batches` gives them, from 1.

        Cost: the file is read again up to the last of the rows.
        """
        del path, rows
        return {}

    def check_columns_exist(self, path: Path, columns: Sequence[str]) -> None:  # noqa: B027 - a default
        """Raise if no row of a file with named values has one of some names.

        It is called when no row had a value for required columns. Formats with a header refuse
        missing columns earlier.

        Args:
            columns: the columns without any value.

        Raises:
            SampleError: the rows have other names.
        """


class Distribution(ABC):
    """How often each value of a field occurs, and in what order."""

    name: ClassVar[str]
    options: ClassVar[tuple[PluginOption, ...]] = ()
    is_ascending: ClassVar[bool] = False
    """Whether values never decrease, except when they start again from the first."""
    default_arrivals: ClassVar[frozenset[str]] = frozenset()
    """The arrival modes in which this is the default distribution; each mode has one default."""

    def __init__(self, raw_options: Mapping[str, Any]) -> None:
        self.option_values = read_options(type(self), raw_options)

    @property
    def is_ordered(self) -> bool:
        """Return whether values first occur in order, so that the newest are neighbours."""
        return self.compute_newest_share(2, 2) is not None

    def find_heaviest_value(self, domain: Domain) -> Any:
        """Return the most frequent value of a field.

        Args:
            domain: the values that the field may have.
        """
        return domain.generate_value(0) if self.is_ordered else domain.draw_value(0)

    @abstractmethod
    def draw_indexes(
        self, rng: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Return the index of the value that each of the next events has.

        Args:
            rng: where randomness comes from.
            first: the number of the first event, from 0.
            count: how many events.
            distinct: how many values there are.

        Returns:
            `count` numbers of 0 .. distinct-1.
        """

    def compute_heaviest_share(self, distinct: int, events: int | None = None) -> float:
        """Return the expected share of the most frequent value.

        The default is that of equal shares; `events` counts only where shares change.

        Args:
            distinct: how many values there are.
            events: how many events there are, from 1; without end if None.
        """
        return 1 / distinct

    def compute_newest_share(self, distinct: int, part_count: int) -> float | None:
        """Return the share of the events that fall into the newest of equal parts of the values.

        It is None if values do not first occur in order.

        Args:
            distinct: how many values there are.
            part_count: how many equal parts the values are divided into, from 1 on.
        """
        return 1.0 if self.is_ascending else None


def build_rng(purpose: str, seed: int) -> np.random.Generator:
    """Return random numbers for one purpose, independent of those for any other.

    Drawing values and sampling events must not share numbers, or the sample would be biased.

    Args:
        purpose: tells one use from another.
        seed: where randomness begins: a whole number from 0.
    """
    return np.random.Generator(build_bit_generator(purpose, seed))


def build_bit_generator(purpose: str, seed: int, first_event: int = 0) -> np.random.PCG64:
    """Return a generator of random bits for one purpose, 64 an event, that begins at an event.

    Args:
        purpose: tells one use from another.
        seed: where randomness begins: a whole number from 0.
        first_event: the index of the event whose bits come first.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=tuple(purpose.encode()))
    return np.random.PCG64(sequence).advance(first_event)


SCATTER_FACTOR = 0x9E3779B97F4A7C15
"""An odd number near 2^64 / golden ratio: its multiples are spread evenly modulo anything."""


def scatter_ranks(ranks: np.ndarray[Any, Any], distinct: int) -> np.ndarray[Any, Any]:
    """Return ranks permuted so that neighbours in rank are not neighbours in value.

    Real identifiers are not sorted by load; busy ones lie anywhere in the key space.
    """
    from math import gcd

    factor = SCATTER_FACTOR % distinct or 1
    while gcd(factor, distinct) != 1:
        factor += 1
    if distinct > 1 << 31:
        return ranks
    return ranks * factor % distinct
