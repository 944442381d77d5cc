"""Statistics of a sample's columns, collected batch by batch, and the field types they suggest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rowkey.advise.drafts.name_hints import (
    is_like_calendar,
    is_like_category,
    is_like_date,
    is_like_identity,
    is_like_measure,
    is_like_time,
)
from rowkey.advise.drafts.text_forms import (
    INTEGER_FORMS,
    MAX_SAFE_DIGITS,
    NULL_TEXTS,
    STANDARD_FORMS,
    TEXT_FORMS,
    SeenNumbers,
    count_fraction_digits,
    is_calendar_day,
    is_calendar_second,
    is_exact_float,
    parse_plain_integers,
)
from rowkey.array_libraries import np, pa, pc
from rowkey.schema import MIN_VALUES_FOR_FACTS
from rowkey.workload import (
    DetectedLayout,
    DetectedNumbers,
    LayoutDetector,
    NumberDetector,
    NumberLayout,
    TimeLayout,
    find_count_layout,
)

MAX_CHOICES = 16
"""Different texts of a `choice`; of more, a new one is likely to come."""
MIN_ROWS_PER_CHOICE = 20
"""Rows a text above which all of them have been seen, more or less."""
MAX_CHOICE_LENGTH = 32
BOUNDED_HEADROOM = 4
"""Times the greatest number seen that the type of an hour, a status or their like holds."""
GROWING_HEADROOM = 1_000
"""Times the greatest number seen that the type of any other whole number holds: a sample is a
moment of a table's life, and ids and counts grow with it."""
MIN_GROWING_BITS = 32
"""Bits at least of a whole number that grows."""
MIN_TEXT_BYTES = 64
"""Bytes at least of a text of which fewer than `MIN_VALUES_FOR_FACTS` were seen."""
MIN_DECIMAL_DIGITS = 18
"""Digits at least of a decimal of which fewer than `MIN_VALUES_FOR_FACTS` were seen: as many as 8
bytes hold."""
MAX_PLAIN_TEXTS = 1_000
"""Different texts of a form that needs no layout that are kept, for the case that later batches
have other forms."""
EARLIEST_S, LATEST_S = 631_152_000, 4_102_444_800
"""1990 and 2100 in seconds since 1970: of the four units of time one at most brings a count there,
for they are 1,000 apart."""
TICKS_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MAX_EARLY_SHARE = 0.05
"""Share of times before 1970 that are taken for errors, whose rows are skipped."""
DAY_S = 86_400
_MIDNIGHT = "^[0-9-]{10}[T ]00:00(?::00(?:[.,]0+)?)?Z?$"
"""An instant that is a day, written with a time of day and in no other zone than UTC."""
SERIAL_DAYS = 32_874, 73_051
"""1990 and 2100 as days of a spreadsheet."""
_UNSIGNED_TYPES, _SIGNED_TYPES = ("u8", "u16", "u32", "u64"), ("i8", "i16", "i32", "i64")


@dataclass(slots=True)
class ColumnStats:
    """Statistics of one column, collected batch by batch.

    Args:
        name: its name in the file.
        can_mark_null: whether the file's format takes texts that stand for null.
        time_layout: how its times are written, if that is declared.
        number_layout: how its numbers are written, if that is declared.
    """

    name: str
    can_mark_null: bool = False
    time_layout: TimeLayout | None = None
    number_layout: NumberLayout | None = None
    arrow_type: Any = None
    row_count: int = 0
    null_count: int = 0
    blank_count: int = 0
    possible_forms: set[str] = field(default_factory=lambda: {form.name for form in TEXT_FORMS})
    null_texts: set[str] = field(default_factory=set)
    least: int | None = None
    greatest: int | None = None
    lengths: set[int] = field(default_factory=set)
    max_bytes: int = 0
    scales: set[int] = field(default_factory=set)
    whole_digits: int = 0
    subsecond_digits: int = 0
    distinct_texts: set[str] | None = field(default_factory=set)
    calendar_lengths: set[int] = field(default_factory=lambda: {8, 14})
    has_letters: bool = False
    has_equal_numbers: bool = False
    has_long_numbers: bool = False
    early_count: int = 0
    has_clock: bool = False
    first_value: str = ""
    _seen_numbers: SeenNumbers = field(default_factory=SeenNumbers)
    _plain_texts: pa.Array | None = None
    """The first different texts of batches in which all had a form that needs no layout."""
    _times: LayoutDetector | None = None
    _numbers: NumberDetector | None = None

    def add_values(self, array: pa.Array) -> None:
        """Add a batch of values to the statistics."""
        array = _to_plain_values(array)
        self.row_count += len(array)
        self.null_count += array.null_count
        if pa.types.is_null(array.type):
            return
        self.arrow_type = array.type
        values = array.drop_null()
        if self.time_layout is not None and not self.is_text:
            self._measure_times(values.unique())
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            self._add_texts(values)
        elif pa.types.is_integer(values.type) and len(values):
            self._add_integers(values)
        elif pa.types.is_floating(values.type) and len(values):
            self._add_floats(values)
        elif pa.types.is_timestamp(values.type):
            self._add_instants(values)
        elif pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
            sizes = [len(value) for value in values.to_pylist()]
            self.max_bytes = max([self.max_bytes, *sizes])
        elif pa.types.is_fixed_size_binary(values.type):
            self.max_bytes = values.type.byte_width

    @property
    def value_count(self) -> int:
        """Return how many values are neither null nor blank text."""
        return self.row_count - self.null_count - self.blank_count

    @property
    def is_empty(self) -> bool:
        """Return whether the column has only null or blank values."""
        return self.null_count + self.blank_count == self.row_count

    @property
    def is_text(self) -> bool:
        """Return whether the values are read as text."""
        return bool(
            pa.types.is_string(self.arrow_type) or pa.types.is_large_string(self.arrow_type)
        )

    def _add_integers(self, values: pa.Array) -> None:
        """Add integers to the range of the column."""
        ends = pc.min_max(values).as_py()
        self._widen_range(ends["min"], ends["max"])
        if self.calendar_lengths:
            self._check_calendar(map(str, pc.unique(values).to_pylist()))

    def _add_floats(self, array: pa.Array) -> None:
        """Add floating-point numbers to the range of the column."""
        values = array.to_numpy(zero_copy_only=False)
        self.first_value = self.first_value or str(values[0])
        finite = np.isfinite(values).all()
        self._widen_range(*((int(values.min()), int(values.max())) if finite else (0, 0)))
        if not finite or (np.floor(values) != values).any():
            self.possible_forms.discard("whole")
            self.calendar_lengths.clear()
            self._detect_count(array)
        elif self.calendar_lengths:
            self._check_calendar(str(int(number)) for number in np.unique(values).tolist())

    def _add_instants(self, values: pa.Array) -> None:
        """Count the instants before 1970, and note whether one is not at midnight in UTC."""
        counts = values.cast(pa.int64()).to_numpy()
        self.early_count += int((counts < 0).sum())
        self.has_clock = self.has_clock or (counts % (TICKS_PER_S[values.type.unit] * DAY_S)).any()

    def _add_written_instants(self, texts: pa.Array, distinct: pa.Array) -> None:
        """Count the texts before 1970, and note whether one has a time of day.

        Args:
            texts: all texts, trimmed.
            distinct: the different ones that are instants.
        """
        early = distinct.filter(pc.less(distinct, "1970"))
        if len(early):
            self.early_count += int(pc.sum(pc.is_in(texts, value_set=early)).as_py())
        is_day = pc.match_substring_regex(distinct, _MIDNIGHT)
        self.has_clock = self.has_clock or not pc.all(is_day).as_py()

    @property
    def begins_before_timestamps(self) -> bool:
        """Return whether too many of the times are before 1970 to skip their rows."""
        return self.early_count > MAX_EARLY_SHARE * self.value_count

    def _widen_range(self, low: int, high: int) -> None:
        """Widen the range of the column to include two numbers."""
        self.least = low if self.least is None else min(self.least, low)
        self.greatest = high if self.greatest is None else max(self.greatest, high)

    def _check_calendar(self, texts: Any) -> None:
        """Note which integers may be calendar digits such as 20240131."""
        if not self.calendar_lengths:
            return
        for text in texts:
            if not is_calendar_day(text):
                self.calendar_lengths.discard(8)
            if not is_calendar_second(text):
                self.calendar_lengths.discard(14)
            if not self.calendar_lengths:
                return

    def _add_texts(self, array: pa.Array) -> None:
        """Update which text forms all texts of the column still match."""
        if self._is_integer_column and self._add_plain_integers(array):
            return
        raw = pc.unique(array)
        trimmed = pc.utf8_trim_whitespace(raw)
        blanks = raw.filter(pc.equal(trimmed, ""))
        if len(blanks):
            self.blank_count += int(pc.sum(pc.is_in(array, value_set=blanks)).as_py())
        self._measure_lengths(raw)
        if self.distinct_texts is not None:
            self.distinct_texts.update(raw.slice(0, MAX_CHOICES + 1).to_pylist())
            self.distinct_texts = (
                self.distinct_texts if len(self.distinct_texts) <= MAX_CHOICES else None
            )
        if self.can_mark_null:
            marks = pc.is_in(raw, value_set=pa.array(NULL_TEXTS, raw.type))
            self.null_texts.update(raw.filter(marks).to_pylist())
            trimmed = trimmed.filter(pc.invert(marks))
        distinct = trimmed
        if not trimmed.equals(raw):
            distinct = pc.unique(trimmed)
            distinct = distinct.filter(pc.not_equal(distinct, ""))
        if self.number_layout is not None:
            distinct = pc.unique(self.number_layout.normalize_texts(distinct)).drop_null()
        self._narrow_forms(distinct)
        if "instant" in self.possible_forms and len(distinct):
            self._add_written_instants(pc.utf8_trim_whitespace(array), distinct)
        self._detect_layouts(distinct)

    def _keep_plain_texts(self, texts: pa.Array) -> None:
        """Keep the first different texts, up to a limit."""
        kept = pa.array([], pa.string()) if self._plain_texts is None else self._plain_texts
        if len(kept) < MAX_PLAIN_TEXTS:
            texts = pc.unique(pa.concat_arrays([kept, texts.cast(pa.string())]))
            self._plain_texts = texts.slice(0, MAX_PLAIN_TEXTS)

    @property
    def _is_integer_column(self) -> bool:
        """Return whether all texts were integers, and neither few ones nor calendar digits."""
        has_layout = self.time_layout is not None or self.number_layout is not None
        is_known_well = self.distinct_texts is None and not self.calendar_lengths
        return is_known_well and not has_layout and "integer" in self.possible_forms

    def _add_plain_integers(self, texts: pa.Array) -> bool:
        """Add texts if all are plain integers, at a tenth of the cost of other texts.

        Args:
            texts: all texts of a batch of an integer column.

        Returns:
            Whether they were added.
        """
        numbers = parse_plain_integers(texts) if len(texts) else None
        if numbers is None:
            return False
        ends = pc.min_max(numbers).as_py()
        known_forms = INTEGER_FORMS | ({"digits"} if ends["min"] >= 0 else set())
        self.possible_forms = {
            one.name
            for one in TEXT_FORMS
            if one.name in self.possible_forms
            and (one.name in known_forms or one.matches_all(texts))
        }
        self._widen_range(ends["min"], ends["max"])
        self._measure_lengths(texts)
        self._keep_plain_texts(texts)
        return True

    def _measure_lengths(self, texts: pa.Array) -> None:
        """Note the lengths of texts in bytes."""
        sizes = pc.binary_length(texts)
        self.max_bytes = max(self.max_bytes, int(pc.max(sizes).as_py() or 0))
        if len(self.lengths) <= 1:
            self.lengths.update(pc.unique(sizes).to_pylist()[:2])

    def _detect_layouts(self, texts: pa.Array) -> None:
        """Find the layout of texts that are no times or numbers by themselves."""
        if not len(texts):
            return
        is_standard = bool(STANDARD_FORMS & self.possible_forms) or "number" in self.possible_forms
        if is_standard:
            self._keep_plain_texts(texts)
        elif self._plain_texts is not None and self.time_layout is None:
            # Later texts have another form, so the layout must fit the earlier ones too.
            texts = pc.unique(pa.concat_arrays([self._plain_texts, texts.cast(pa.string())]))
            self._plain_texts = None
        if self.time_layout is not None:
            self._measure_times(texts)
        elif "number" in self.possible_forms:
            if is_like_time(self.name) and "integer" not in self.possible_forms:
                self._detect_count(texts)
        elif not STANDARD_FORMS & self.possible_forms:
            self._measure_times(texts)
            if self.number_layout is None:
                self._numbers = self._numbers or NumberDetector()
                self._numbers.add_texts(texts)

    def _measure_times(self, values: pa.Array) -> None:
        """Add different values to those from which the layout of times is found."""
        if self._times is None:
            self._times = LayoutDetector(is_time=is_like_time(self.name), declared=self.time_layout)
        self._times.add_texts(values)

    def _detect_count(self, values: pa.Array) -> None:
        """Find the unit of numbers with a fraction, where the column is named like a time."""
        if not is_like_time(self.name):
            return
        if self._times is None:
            layout = find_count_layout(values)
            if layout is None or layout.text == "excel":  # seconds of a day look like its days
                self.first_value = self.first_value or str(values[0])
                return
            self._times = LayoutDetector(is_time=True, declared=layout)
        self._times.add_texts(values)

    @property
    def detected_times(self) -> DetectedLayout | None:
        """Return the layout of the column's times, detected or declared; None if there is none."""
        return None if self._times is None else self._times.decide()

    @property
    def has_complete_times(self) -> bool:
        """Return whether the column has times with a date, in any form."""
        if self.is_empty:
            return False
        if pa.types.is_timestamp(self.arrow_type):
            return True
        if (times := self.detected_times) is not None:
            return times.layout.has_clock
        guess = None if self.has_dates or self.has_clock_times else guess_field(self)
        return guess is not None and guess.options["type"].startswith("timestamp")

    @property
    def has_dates(self) -> bool:
        """Return whether the column has dates without a time of day."""
        if self.is_empty:
            return False
        if pa.types.is_date(self.arrow_type):
            return True
        times = self.detected_times
        is_written = times is not None and not times.layout.has_clock
        is_text_day = self.is_text and "day" in self.possible_forms
        has_digits = 8 in self.calendar_lengths and self.least is not None
        return is_written or is_text_day or (has_digits and is_like_time(self.name))

    @property
    def has_clock_times(self) -> bool:
        """Return whether the column has times of day without a date."""
        if self.is_empty:
            return False
        if pa.types.is_time(self.arrow_type):
            return True
        is_written = "clock" in self.possible_forms
        is_digits = "hhmmss" in self.possible_forms and is_like_time(self.name)
        is_digits = is_digits and not is_like_date(self.name)
        return self.is_text and (is_written or is_digits) and self.first_value != ""

    @property
    def has_short_dates(self) -> bool:
        """Return whether the column has days of two digits each, which its name calls dates."""
        if self.is_empty or not self.is_text:
            return False
        return (
            "yymmdd" in self.possible_forms and is_like_date(self.name) and self.first_value != ""
        )

    @property
    def detected_numbers(self) -> DetectedNumbers | None:
        """Return the detected layout of the column's numbers; None if they are plain or none."""
        return None if self._numbers is None else self._numbers.decide()

    def _narrow_forms(self, texts: pa.Array) -> None:
        """Drop the text forms that some values do not have, and measure the rest."""
        if not len(texts):
            return
        self.first_value = self.first_value or texts[0].as_py()
        self.possible_forms = {
            one.name
            for one in TEXT_FORMS
            if one.name in self.possible_forms and one.matches_all(texts)
        }
        if "integer" in self.possible_forms:
            self._widen_range(*_find_integer_range(texts))
        elif "whole" in self.possible_forms:
            numbers = [int(text.partition(".")[0]) for text in texts.to_pylist()]
            self._widen_range(min(numbers), max(numbers))
        if "digits" not in self.possible_forms:
            self.calendar_lengths.clear()
        elif self.calendar_lengths:
            self._check_calendar(text.as_py() for text in texts)
        if "money" in self.possible_forms:
            pieces = [text.lstrip("-").split(".") for text in texts.to_pylist()]
            self.scales.update(len(after) for _, after in pieces)
            self.whole_digits = max([self.whole_digits, *(len(before) for before, _ in pieces)])
        if "instant" in self.possible_forms:
            self.subsecond_digits = max(
                self.subsecond_digits, count_fraction_digits(texts.to_pylist())
            )
        if "number" in self.possible_forms and "integer" not in self.possible_forms:
            self._check_floats(texts)
        if "hex" in self.possible_forms and not self.has_letters:
            self.has_letters = any(not text.isdecimal() for text in texts.to_pylist())

    def _check_floats(self, texts: pa.Array) -> None:
        """Note what numbers would lose as floating-point numbers."""
        self.has_equal_numbers = self.has_equal_numbers or self._seen_numbers.add_texts(texts)
        if not self.has_long_numbers:
            long_texts = texts.filter(pc.greater(pc.binary_length(texts), MAX_SAFE_DIGITS))
            self.has_long_numbers = not all(map(is_exact_float, long_texts.to_pylist()))

    @property
    def float_objection(self) -> str:
        """Return why texts that are numbers should not become floats; empty if they may."""
        if "coded" in self.possible_forms or "unpadded" not in self.possible_forms:
            return "as numbers, they would lose zeros, signs or digits"
        if self.has_long_numbers:
            return "float64 would lose digits"
        if is_like_identity(self.name):
            return "ids are kept as they are written"
        if self.has_equal_numbers and not is_like_measure(self.name):
            return "as float64, different texts would be equal"
        return ""


def _to_plain_values(array: pa.Array) -> pa.Array:
    """Return values without a dictionary, and null for NaN, which no field holds."""
    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    return array


def _find_integer_range(texts: pa.Array) -> tuple[int, int]:
    """Return the smallest and the largest of some whole numbers, given as texts."""
    try:
        ends = pc.min_max(texts.cast(pa.int64())).as_py()
    except pa.ArrowInvalid:  # some have more than 63 bits
        numbers = list(map(int, texts.to_pylist()))
        return min(numbers), max(numbers)
    return ends["min"], ends["max"]


@dataclass(frozen=True, slots=True)
class FieldGuess:
    """The field type that is guessed for a column, with the reason.

    Args:
        options: those that stand in `[fields]`, `type` first.
        reason: what they are read from, if that is not plain.
        null_texts: texts that stand for null, if the type can have none such.
        unparsed_time: one of its values, where they look like times and are not read as such.
        times: the layout of its times, if they are not of the type's own forms.
    """

    options: dict[str, Any]
    reason: str = ""
    null_texts: frozenset[str] = frozenset()
    unparsed_time: str = ""
    times: DetectedLayout | None = None


def guess_field(stats: ColumnStats) -> FieldGuess | None:
    """Guess the field type of a column; None if no type fits.

    Args:
        stats: the statistics of its values; not empty.
    """
    if (times := stats.detected_times) is not None:
        kind = "date" if times.unit == "day" and not times.layout.has_clock else "timestamp_s"
        if times.unit in TICKS_PER_S:
            kind = f"timestamp_{times.unit}"
        reason = f"written as {times.layout.text}"
        return FieldGuess({"type": kind}, reason, frozenset(stats.null_texts), times=times)
    guess = _guess_type(stats)
    return (
        replace(guess, unparsed_time=stats.first_value)
        if guess and _is_unparsed_time(stats)
        else guess
    )


def _is_unparsed_time(stats: ColumnStats) -> bool:
    """Return whether the values look like times in a format that is not supported."""
    if stats.is_text and "stray" in stats.possible_forms:
        return stats.first_value != "" and not {"instant", "day"} & stats.possible_forms
    if not is_like_time(stats.name):
        return False
    if stats.is_text:
        return stats.first_value != "" and "serial" in stats.possible_forms
    is_counted = pa.types.is_floating(stats.arrow_type) and stats.least is not None
    low, high = SERIAL_DAYS
    return is_counted and low <= (stats.least or 0) and (stats.greatest or 0) < high


def _guess_type(stats: ColumnStats) -> FieldGuess | None:
    """Guess the field type from the Arrow type of a column; None if no type fits."""
    arrow_type = stats.arrow_type
    if stats.is_text:
        return _guess_text_type(stats)
    if pa.types.is_boolean(arrow_type):
        return FieldGuess({"type": "bool"})
    if pa.types.is_integer(arrow_type):
        return _guess_integer_type(stats)
    if pa.types.is_timestamp(arrow_type):
        return _guess_instant_type(stats, arrow_type.unit)
    if pa.types.is_date(arrow_type):
        return FieldGuess({"type": "date"})
    if pa.types.is_floating(arrow_type):
        guess = _guess_whole_type(stats, "all values are whole")
        kind = "float64" if pa.types.is_float64(arrow_type) else "float32"
        return (guess if "whole" in stats.possible_forms else None) or FieldGuess({"type": kind})
    if pa.types.is_decimal128(arrow_type) and 0 <= arrow_type.scale <= arrow_type.precision:
        return FieldGuess(
            {"type": "decimal", "precision": arrow_type.precision, "scale": arrow_type.scale}
        )
    if pa.types.is_binary(arrow_type) or pa.types.is_large_binary(arrow_type):
        return FieldGuess({"type": "bytes", "max_bytes": double_length(stats.max_bytes)})
    if pa.types.is_fixed_size_binary(arrow_type):
        return FieldGuess({"type": "bytes", "max_bytes": stats.max_bytes}, "of fixed size")
    return None


def _guess_text_type(stats: ColumnStats) -> FieldGuess:
    """Guess the narrowest type that stores every text of a column."""
    nulls = frozenset(stats.null_texts)
    typed = (
        None
        if stats.row_count == stats.null_count + stats.blank_count
        else _guess_type_by_form(stats)
    )
    if typed is not None and not _has_only_null_texts(stats):
        return FieldGuess(typed.options, typed.reason, nulls)
    if stats.distinct_texts is not None and _is_choice(stats, stats.distinct_texts):
        return FieldGuess({"type": "choice", "of": sorted(stats.distinct_texts)})
    values = (
        stats.value_count
        if stats.distinct_texts is None or len(stats.distinct_texts) > 1
        else min(stats.value_count, 1)
    )
    subject = "1 text does not" if values == 1 else f"{values} texts do not"
    caution = "" if values >= MIN_VALUES_FOR_FACTS else f"{subject} show how long later ones may be"
    max_bytes = max(double_length(stats.max_bytes), MIN_TEXT_BYTES if caution else 0)
    objection = stats.float_objection if "number" in stats.possible_forms else ""
    reason = ", ".join(filter(None, (objection, caution)))
    return FieldGuess({"type": "text", "max_bytes": max_bytes}, reason)


def _has_only_null_texts(stats: ColumnStats) -> bool:
    """Return whether all texts may stand for null, such as `-` or `NA`."""
    return stats.distinct_texts is not None and {
        t.strip() for t in stats.distinct_texts
    } <= stats.null_texts | {""}


def _guess_type_by_form(stats: ColumnStats) -> FieldGuess | None:
    """Guess a type other than text from the form that all values share; None if none."""
    forms = stats.possible_forms
    for form in TEXT_FORMS:
        if form.type_name and form.name in forms:
            return FieldGuess({"type": form.type_name})
    if "instant" in forms:
        unit = ("s", "ms", "us", "ns")[(stats.subsecond_digits + 2) // 3]
        return _guess_instant_type(stats, unit)
    if "integer" in forms and (found := _guess_integer_type(stats)) is not None:
        return found
    if "digits" in forms:
        return _guess_digits_type(stats)
    if "whole" in forms and (guess := _guess_whole_type(stats, "whole numbers with a point")):
        return guess
    if "hex" in forms and stats.has_letters and len(stats.lengths) == 1 and not stats.blank_count:
        return FieldGuess({"type": "hex", "width": stats.max_bytes})
    if "money" in forms and len(stats.scales) == 1:
        [scale] = stats.scales
        least = MIN_DECIMAL_DIGITS if stats.value_count < MIN_VALUES_FOR_FACTS else 0
        digits = min(max(stats.whole_digits + 2 + scale, least), 38)
        return FieldGuess({"type": "decimal", "precision": digits, "scale": scale})
    if "number" in forms and not stats.float_objection:
        return FieldGuess({"type": "float64"})
    return None


def _guess_instant_type(stats: ColumnStats, unit: str) -> FieldGuess:
    """Guess the type of times of a unit: no timestamp if many of them are before 1970."""
    if not stats.begins_before_timestamps:
        return FieldGuess({"type": f"timestamp_{unit}"})
    if not stats.has_clock:
        return FieldGuess({"type": "date"}, "timestamps begin in 1970")
    return FieldGuess({"type": "text", "max_bytes": MIN_TEXT_BYTES}, "timestamps begin in 1970")


def _guess_whole_type(stats: ColumnStats, reason: str) -> FieldGuess | None:
    """Guess an integer type for numbers with a point that are whole; None if later ones may not."""
    if stats.least is None or stats.greatest is None or is_like_measure(stats.name):
        return None
    if not stats.is_text and max(abs(stats.least), abs(stats.greatest)) >= 1 << 53:
        return None
    guess = _guess_integer_type(stats)
    return None if guess is None else replace(guess, reason=guess.reason or reason)


def _guess_digits_type(stats: ColumnStats) -> FieldGuess | None:
    """Guess padded digits for texts with leading zeros; None if their lengths differ."""
    if (
        len(stats.lengths) != 1
        or stats.blank_count
        or stats.null_texts
        or stats.value_count < MIN_VALUES_FOR_FACTS
    ):
        return None
    return FieldGuess({"type": "digits", "width": stats.max_bytes}, "leading zeros are kept")


def _guess_integer_type(stats: ColumnStats) -> FieldGuess | None:
    """Guess a timestamp type if the numbers are times, else the narrowest integer type."""
    assert stats.least is not None
    assert stats.greatest is not None
    low, high = stats.least, stats.greatest
    if (time_guess := _guess_counted_time(stats, low, high)) is not None:
        return time_guess
    kinds = _UNSIGNED_TYPES if low >= 0 else _SIGNED_TYPES
    if (guessed := _guess_widest_integer(stats, kinds)) is not None:
        return guessed
    reach = max(high, -low) * (1 if low >= 0 else 2) + 1
    is_bounded = is_like_calendar(stats.name) or is_like_category(stats.name)
    headroom, min_bits = (
        (BOUNDED_HEADROOM, 0) if is_bounded else (GROWING_HEADROOM, MIN_GROWING_BITS)
    )
    for factor in (headroom, 1):
        for bits, name in zip((8, 16, 32, 64), kinds, strict=True):
            if min_bits <= bits and reach * factor <= 1 << bits:
                return FieldGuess({"type": name})
    return None


def _guess_counted_time(stats: ColumnStats, low: int, high: int) -> FieldGuess | None:
    """Guess a timestamp type for integers by their size and name; None if no times."""
    has_time_name = is_like_time(stats.name)
    has_other_name = not has_time_name and (
        is_like_identity(stats.name) or is_like_measure(stats.name)
    )
    if has_other_name:
        return None
    if 8 in stats.calendar_lengths and (has_time_name or low < high):
        return FieldGuess({"type": "date"}, "written as yyyyMMdd")
    if 14 in stats.calendar_lengths:
        return FieldGuess({"type": "timestamp_s"}, "written as yyyyMMddHHmmss")
    for unit, per_s in TICKS_PER_S.items():
        if (
            EARLIEST_S * per_s <= low
            and high < LATEST_S * per_s
            and (has_time_name or unit == "ms")
        ):
            return FieldGuess({"type": f"timestamp_{unit}"}, f"whole numbers, {unit} since 1970")
    return None


def _guess_widest_integer(stats: ColumnStats, type_names: tuple[str, ...]) -> FieldGuess | None:
    """Guess the widest integer type if there are too few numbers to know their range.

    A key of a narrow type refuses the first larger number, and a wider one is another key.
    """
    bits = stats.arrow_type.bit_width if pa.types.is_integer(stats.arrow_type) else 64
    if stats.value_count >= MIN_VALUES_FOR_FACTS or (stats.greatest or 0) >= 1 << (
        bits if type_names is _UNSIGNED_TYPES else bits - 1
    ):
        return None
    name = type_names[(8, 16, 32, 64).index(bits)]
    values = (
        "1 number does not" if stats.value_count == 1 else f"{stats.value_count} numbers do not"
    )
    return FieldGuess({"type": name}, f"{values} show how large later ones may be")


def _is_choice(stats: ColumnStats, texts: set[str]) -> bool:
    """Return whether a text column has only a few values in many rows."""
    are_valid_choices = all(
        text.strip() == text and text and "\0" not in text and len(text) <= MAX_CHOICE_LENGTH
        for text in texts
    )
    rows = stats.row_count - stats.null_count
    # A column of identifiers is no choice: a new product or host may appear at any time.
    return (
        are_valid_choices
        and not is_like_identity(stats.name)
        and len(texts) >= 2
        and rows >= MIN_ROWS_PER_CHOICE * max(len(texts), 5)
    )


def double_length(size: int) -> int:
    """Return a power of two, at least 8 and at least twice a length.

    >>> double_length(3), double_length(20)
    (8, 64)
    """
    return 1 << max((2 * size - 1).bit_length(), 3)
