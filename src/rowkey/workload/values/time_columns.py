"""Columns of a sample that are read as times: by a declared layout, or by a detected one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import SampleError
from rowkey.messages import Message, shorten_text
from rowkey.workload.contract import SampleFormat
from rowkey.workload.values.calendar_digits import has_calendar_digits, parse_calendar_digits
from rowkey.workload.values.rejection import CALENDAR_FORMAT
from rowkey.workload.values.time_detection import DetectedLayout, LayoutDetector
from rowkey.workload.values.time_layouts import (
    COUNT_DIGITS,
    COUNT_LAYOUTS,
    DAY_S,
    LEAP_YEAR,
    SECOND_NS,
    CountLayout,
    ParsedTimes,
    TimeLayout,
    count_days,
)
from rowkey.workload.values.time_range import EARLIEST_NS, LATEST_NS
from rowkey.workload.values.typed_columns import (
    convert_column,
    format_first_value,
    is_text_column,
)

if TYPE_CHECKING:
    from rowkey.keys import Field

_MAX_STEP_BACK_S = 183 * 86_400
"""Seconds that a time may lie before the one in front of it, in a file that is not in order."""
_MAX_STEP_FORWARD_S = 330 * 86_400
"""Seconds to the next time; a December after a January is a late line of the year before."""
_STANDARD_TIME = (
    "^(?:[+-]?[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    "(?:Z|[+-][0-9]{2}:?[0-9]{2}(?::[0-9]{2})?)?)?)$"
)
"""Counts and ISO 8601, which the types read themselves."""
_ZONELESS_TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?$"
"""A time of day without the zone that it is of."""
_DAY_WITH_CLOCK = "^[0-9]{4}-?[0-9]{2}-?[0-9]{2}[T ]"
"""A day with something after it, which a date does not hold."""
_MIDNIGHT = "^[0-9-]{8,10}[T ]00:?00(?::?00(?:[.,]0+)?)?(?:Z|[+-]00:?00)?$"
"""A day with a time of day that says nothing more than the day."""
_TICKS_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DECIMAL = rf"^{COUNT_DIGITS}(?:\.[0-9]*|(?:\.[0-9]*)?[eE]\+?[0-9]{{1,2}})$"
"""Numbers with a point or an exponent, which no type reads as a time."""


class TimeColumn:
    """Reads a column of a sample as times; its first values decide how if nothing is declared.

    Args:
        field: the field, of a type with a unit of time.
        column: the column's name in the file.
    """

    def __init__(self, field: Field, column: str, path: Path, sample_format: SampleFormat) -> None:
        self.field = field
        self._decisions: list[Message] = []
        self._column = column
        self._path = path
        self._format = sample_format
        self._layout: TimeLayout | None = sample_format.time_layouts.get(column)
        self._is_calendar = False
        self._is_date = field.type.unit_ns == DAY_S * SECOND_NS
        self._is_decided = self._layout is not None
        self._clock_count, self._clock_example = 0, ""
        self._years = YearCounter(sample_format.year) if sample_format.year is not None else None

    @property
    def assumptions(self) -> list[Message]:
        """Return what was decided while values were read."""
        years = self._years.describe(self._column) if self._years else []
        return [*self._decisions, *years, *self._describe_clocks()]

    @property
    def expected_form(self) -> str:
        """Return what a value of the column should look like; empty for the type's own forms."""
        if self._layout is not None:
            return f"a time written as {self._layout.text}"
        return CALENDAR_FORMAT if self._is_calendar else ""

    def convert(self, array: pa.Array) -> pa.Array:
        """Return the next values as those of the field; null where they are no times of it.

        Raises:
            SampleError: the first values can be read as different times.
        """
        array = _to_plain_array(array)
        if not self._is_decided and array.null_count < len(array):
            self._decide(array)
        if self._is_calendar:
            return parse_calendar_digits(self.field, array)
        if self._layout is None:
            self._count_clocks(array)
            return convert_column(self.field, array)
        if not _can_have_layout(array):
            raise SampleError(
                f"{self._path}: column {self._column!r}",
                f"the column has the type {array.type}, which needs no layout of times",
                remedy=f"Remove {self._column} from times in the format of the sample.",
            )
        times = self._layout.parse_column(array)
        if not self._layout.has_year:
            assert self._years is not None, "a layout without a year needs one"
            times = self._years.add_years(times)
        return build_time_column(self.field, times)

    def _count_clocks(self, array: pa.Array) -> None:
        """Count the values of a field of dates that have a time of day, which it does not hold."""
        if not self._is_date:
            return
        if pa.types.is_timestamp(array.type):
            day = pa.scalar(DAY_S * _TICKS_PER_S[array.type.unit])
            counts = array.cast(pa.int64())
            rest = pc.subtract(counts, pc.multiply(pc.divide(counts, day), day))
            dropped = array.filter(pc.not_equal(rest, 0))
        elif is_text_column(array):
            texts = pc.utf8_trim_whitespace(array)
            texts = texts.filter(pc.match_substring_regex(texts, _DAY_WITH_CLOCK))
            dropped = texts.filter(pc.invert(pc.match_substring_regex(texts, _MIDNIGHT)))
        else:
            return
        self._clock_count += len(dropped)
        if len(dropped) and not self._clock_example:
            self._clock_example = format_first_value(dropped) or ""

    def _describe_clocks(self) -> list[Message]:
        """Return a remark on the times of day that a date drops; none if it drops none."""
        if not self._clock_count:
            return []
        return [
            Message(
                "sample.dropped_clocks",
                "values of {column} with a time of day, which is dropped: {count:,}, such as "
                "{example}. {field} is a date; declare it as a timestamp to keep the time of day",
                count=self._clock_count,
                column=self._column,
                example=shorten_text(self._clock_example),
                field=self.field.name,
            )
        ]

    def _decide(self, array: pa.Array) -> None:
        """Decide how the column is read, from its first values."""
        is_calendar = has_calendar_digits(self.field, array)
        self._is_decided = True
        if is_calendar:
            self._is_calendar = True
            self._decisions.append(
                Message(
                    "sample.calendar_digits",
                    "{field} is read as calendar digits, yyyyMMdd[HHmmss]",
                    field=self.field.name,
                )
            )
            return
        if is_text_column(array):
            self._decide_for_texts(array)
        elif pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
            self._decide_for_numbers(array)

    def _decide_for_texts(self, array: pa.Array) -> None:
        texts = pc.unique(pc.utf8_trim_whitespace(array.drop_null()))
        texts = texts.filter(pc.not_equal(texts, ""))
        is_standard = pc.match_substring_regex(texts, _STANDARD_TIME)
        if not len(texts):
            self._is_decided = False
        elif 2 * (pc.sum(is_standard).as_py() or 0) >= len(texts):
            self._check_unit(texts)
            is_zoneless = pc.match_substring_regex(texts, _ZONELESS_TIME)
            if not self._is_date and pc.any(is_zoneless).as_py():
                self._decisions.append(
                    Message(
                        "sample.no_zone",
                        "times of {column} without a zone are read as UTC",
                        column=self._column,
                    )
                )
        elif pc.all(pc.match_substring_regex(texts, _DECIMAL)).as_py():
            self._decide_for_counts(texts)
        else:
            self._decide_for_layouts(texts)

    def _decide_for_layouts(self, texts: pa.Array) -> None:
        """Decide by which layout texts are read, if one fits."""
        detector = LayoutDetector(is_time=True)
        detector.add_texts(texts)
        detected = detector.decide()
        if detected is None:
            return
        refuse_uncertain_layout(self._path, self._column, detected, self._format)
        self._layout = detected.layout
        self._decisions.append(describe_layout(self._column, detected))

    def _decide_for_numbers(self, array: pa.Array) -> None:
        values = array.drop_null()
        numbers = values.cast(pa.float64(), safe=False).to_numpy()
        if pa.types.is_floating(array.type) and (np.floor(numbers) != numbers).any():
            self._decide_for_counts(values)
        else:
            self._check_unit(values)

    def _decide_for_counts(self, values: pa.Array) -> None:
        """Decide the unit of numbers with a fraction, if one unit puts them between 1990 and 2100.

        Raises:
            SampleError: they may be days of a spreadsheet.
        """
        layout = find_count_layout(values)
        if layout is None:
            return
        if layout.text == "excel":
            self._refuse_unit(values, "excel")
        self._layout = layout
        self._decisions.append(describe_count_layout(self._column, layout, values[0].as_py()))

    def _check_unit(self, values: pa.Array) -> None:
        """Raise if whole numbers are times of 1990 to 2100 in another unit than the field's.

        Raises:
            SampleError: they are; reading them as they stand would put them into January 1970.
        """
        if is_text_column(values):
            values = values.filter(pc.match_substring_regex(values, f"^{COUNT_DIGITS}$"))
        if not len(values):
            return
        own_unit = find_unit_name(self.field.type.unit_ns or 0)
        if own_unit and _is_of_our_time(CountLayout(own_unit).parse_column(values)):
            return
        layout = find_count_layout(values)
        if layout is not None and (own_unit or layout.text == "excel"):
            self._refuse_unit(values, layout.text, are_whole=True)

    def _refuse_unit(self, values: pa.Array, unit: str, *, are_whole: bool = False) -> None:
        """Raise an error that offers another unit for the numbers of the column.

        Args:
            unit: the unit in which they are times of our days.
            are_whole: whether they are whole numbers, so that the field's own unit reads them too.

        Raises:
            SampleError: always.
        """
        own_unit = find_unit_name(self.field.type.unit_ns or 0)
        names = {"excel": "days of a spreadsheet", "epoch_s": "seconds since 1970"}
        meaning = names.get(unit, f"{unit.removeprefix('epoch_')} since 1970")
        declared = self._format.suggest_options(times={self._column: unit})
        remedy = f"If they are, declare it: {declared}."
        if (
            own_unit
            and build_time_column(self.field, CountLayout(unit).parse_column(values)).null_count
        ):
            finer_type = unit.replace("epoch", "timestamp")
            remedy = f"If they are, declare {self.field.name} as {finer_type}."
        if own_unit and (are_whole or unit != "excel"):
            kept = self._format.suggest_options(times={self._column: own_unit})
            remedy += f" If they are {own_unit.removeprefix('epoch_')}: {kept}."
        raise SampleError(
            f"{self._path}: column {self._column!r}",
            f"numbers such as {values[0].as_py()} look like {meaning}, but {self.field.name} is a "
            f"{self.field.type.name}",
            "a declared unit",
            remedy,
        )


class YearCounter:
    """Gives years to times without one, in the order of the rows.

    A time that is more than half a year before the one in front of it begins a new year.

    Args:
        first_year: the year of the first row.
    """

    def __init__(self, first_year: int) -> None:
        self._year = self._first = self._last = first_year
        self._last_s: int | None = None

    def describe(self, column: str) -> list[Message]:
        """Return which years the times of a column were given, if they are several."""
        if self._first == self._last:
            return []
        return [
            Message(
                "sample.counted_years",
                "the times of {column} have no year: by their order they are of {first} to {last}",
                column=column,
                first=self._first,
                last=self._last,
            )
        ]

    def add_years(self, times: ParsedTimes) -> ParsedTimes:
        """Return times that were parsed in a stand-in leap year, in the years of their rows."""
        rows = np.flatnonzero(times.is_valid)
        if not len(rows):
            return times
        seconds = times.seconds[rows]
        last_s = seconds[0] if self._last_s is None else self._last_s
        steps = np.diff(seconds, prepend=last_s)
        years = self._year + np.cumsum(
            (steps < -_MAX_STEP_BACK_S).astype(np.int64) - (steps > _MAX_STEP_FORWARD_S)
        )
        self._year, self._last_s = int(years[-1]), int(seconds[-1])
        days, rest = np.divmod(seconds, 86_400)
        dates = days.astype("M8[D]")
        months = dates.astype("M8[M]").astype(np.int64) % 12 + 1
        day = (dates - dates.astype("M8[M]").astype("M8[D]")).astype(np.int64) + 1
        # A zone may have moved a time of the stand-in year over its end.
        years = years + dates.astype("M8[Y]").astype(np.int64) + 1970 - LEAP_YEAR
        true_days, is_date = count_days(years, months, day)
        if is_date.any():
            self._first = min(self._first, int(years[is_date].min()))
            self._last = max(self._last, int(years[is_date].max()))
        all_seconds, is_valid = times.seconds.copy(), times.is_valid.copy()
        all_seconds[rows] = true_days * 86_400 + rest
        is_valid[rows] = is_date
        return type(times)(all_seconds, times.nanoseconds, is_valid)


def build_time_column(field: Field, times: ParsedTimes) -> pa.Array:
    """Return instants as values of a field; null where it cannot hold them."""
    tick = field.type.unit_ns or 1
    low, high = field.type.number_range
    if tick >= SECOND_NS:
        counts, rest = np.divmod(times.seconds, tick // SECOND_NS)
        is_exact = (rest == 0) & (times.nanoseconds == 0)
    else:
        per_second = SECOND_NS // tick
        is_exact = (times.nanoseconds % tick == 0) & (np.abs(times.seconds) < 2**62 // per_second)
        counts = np.where(is_exact, times.seconds, 0) * per_second + times.nanoseconds // tick
    is_valid = times.is_valid & is_exact & (counts >= low) & (counts <= high)
    found = field.type.build_number_column(np.where(is_valid, counts, 0))
    return pc.if_else(pa.array(is_valid), found, pa.scalar(None, found.type))


def find_unit_name(unit_ns: int) -> str:
    """Return the layout of counts of a unit; empty if there is none."""
    units = {10**9: "epoch_s", 10**6: "epoch_ms", 10**3: "epoch_us", 1: "epoch_ns"}
    return units.get(unit_ns, "")


def find_count_layout(values: pa.Array) -> CountLayout | None:
    """Return the unit in which numbers are times between 1990 and 2100; None if there is none."""
    for name in COUNT_LAYOUTS:
        layout = CountLayout(name)
        if _is_of_our_time(layout.parse_column(values)):
            return layout
    return None


def _is_of_our_time(times: ParsedTimes) -> bool:
    """Return whether nearly all times lie between 1990 and 2100."""
    low, high = EARLIEST_NS // SECOND_NS, LATEST_NS // SECOND_NS
    is_ours = times.is_valid & (times.seconds >= low) & (times.seconds < high)
    return bool(is_ours.mean() >= 0.95) if len(is_ours) else False


def refuse_uncertain_layout(
    path: Path, column: str, detected: DetectedLayout, sample_format: SampleFormat
) -> None:
    """Raise if the texts of a column can be different times, or have no year.

    Raises:
        SampleError: they can; it names the options that decide.
    """
    layout, where = detected.layout, f"{path}: column {column!r}"
    if detected.rivals:
        ways = (layout.text, *(rival.text for rival in detected.rivals))
        options = [sample_format.suggest_options(times={column: way}) for way in ways]
        raise SampleError(
            where,
            f"the order of day and month is not certain: {shorten_text(detected.example)!r} may "
            f"be {' or '.join(ways)}",
            "a declared layout",
            f"Declare it: {', or '.join(options)}.",
        )
    if not layout.has_year and sample_format.year is None:
        raise SampleError(
            where,
            f"times such as {shorten_text(detected.example)!r} have no year",
            "the year of the first row",
            _suggest_year(path, sample_format),
        )


def _suggest_year(path: Path, sample_format: SampleFormat) -> str:
    """Return how to declare the year of the first row; a table in memory has no last change."""
    if not path.is_file():
        return f"Declare it, such as {sample_format.suggest_options(year=2024)}."
    year = datetime.fromtimestamp(path.stat().st_mtime, UTC).year
    return (
        f"The file was last changed in {year}; if it begins in that year, declare "
        f"{sample_format.suggest_options(year=year)}."
    )


def describe_layout(column: str, detected: DetectedLayout) -> Message:
    """Return what was decided on a column of times, and why."""
    example = shorten_text(detected.example)
    layout = detected.layout
    is_zoneless = layout.has_clock and "%" in layout.text and "%z" not in layout.text
    zone = Message("sample.utc", " in UTC") if is_zoneless else ""
    rule = Message("sample.short_years", " with years from 1969 to 2068")
    years = rule if "%y" in layout.text else ""
    if detected.has_proof:
        return Message(
            "sample.proven_layout",
            "the times of {column} are read as {layout}{zone}{years}: {example} fits no other "
            "order",
            column=column,
            layout=layout.text,
            zone=zone,
            years=years,
            example=example,
        )
    return Message(
        "sample.time_layout",
        "the times of {column} are read as {layout}{zone}{years}, such as {example}",
        column=column,
        layout=layout.text,
        zone=zone,
        years=years,
        example=example,
    )


def describe_count_layout(column: str, layout: CountLayout, example: Any) -> Message:
    """Return what was decided on a column of counted times, and why."""
    return Message(
        "sample.count_layout",
        "the numbers of {column} are read as {layout}: {example} is then between 1990 and 2100",
        column=column,
        layout=layout.text,
        example=str(example),
    )


def _to_plain_array(array: pa.Array) -> pa.Array:
    """Return a column without a dictionary, and texts as `string`."""
    if isinstance(array.type, pa.DictionaryType):
        array = array.cast(array.type.value_type)
    return array.cast(pa.string()) if pa.types.is_large_string(array.type) else array


def _can_have_layout(array: pa.Array) -> bool:
    """Return whether a plain column holds texts or numbers."""
    checks = (pa.types.is_string, pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    return any(check(array.type) for check in checks)
