"""Layouts of written times, such as `%d.%m.%Y %H:%M:%S`, compiled to matchers of linear time.

A layout is fixed text with directives, those of Python's `strptime` that mean the same on every
machine. It becomes a regular expression of RE2, which never backtracks, so no text is slow.
Counts have names instead: `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`, and `excel` for the days
of a spreadsheet.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import InvalidArgument
from rowkey.messages import suggest_name

if TYPE_CHECKING:
    IntArray = np.ndarray[Any, np.dtype[np.int64]]
    BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

SECOND_NS = 1_000_000_000
DAY_S = 86_400
LEAP_YEAR = 2000
"""Stands for the year of a layout without one until the rows tell it."""
MAX_LAYOUT_CHARACTERS = 100
EXCEL_EPOCH_S = -25_569 * DAY_S
"""1899-12-30, the day 0 of spreadsheets."""
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
LONG_MONTHS = [
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
]  # fmt: skip
ZONE_HOURS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "SAST": 2, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
    "EST": -5, "EDT": -4, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8,
}  # fmt: skip
"""Hours east of UTC of the zones that are read by their names.

Source: RFC 2822, section 4.3, and the IANA time zone database for the others.
"""
UNCERTAIN_ZONES = ("CST", "CDT", "IST", "BST", "AST", "ADT", "SST", "WIB", "HST", "BRT", "ART")
"""Names of zones that are not read, most of which stand for several: CST is -6 hours in Chicago
and +8 hours in Shanghai."""
ZONE = rf"(?:{'|'.join(ZONE_HOURS)}|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
"""A zone as `%z` reads it."""
_DIRECTIVES = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "d": "[0-9]{1,2}",
    "j": "[0-9]{3}",
    "b": "(?i:" + "|".join(MONTHS) + ")",
    "B": "(?i:" + "|".join(LONG_MONTHS) + ")",
    "a": "(?i:mon|tue|wed|thu|fri|sat|sun)",
    "A": "(?i:monday|tuesday|wednesday|thursday|friday|saturday|sunday)",
    "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}",
    "p": "(?i:am|pm)",
    "M": "[0-9]{2}",
    "S": "[0-9]{2}",
    "f": "[0-9]{1,9}",
    "z": ZONE,
}
DIRECTIVES = " ".join(f"%{letter}" for letter in _DIRECTIVES)
_VARIABLE_WIDTHS = "mdHI"
"""Directives of one or two digits, and of two where no text separates them from the next."""
_COUNT_UNITS = {"epoch_s": 10**9, "epoch_ms": 10**6, "epoch_us": 10**3, "epoch_ns": 1}
"""Nanoseconds of one unit of each count since 1970."""
MAX_FLOAT_COUNT = 9.2e18
"""Doubles from which on a count does not fit 64 bits with a sign."""
COUNT_LAYOUTS = (*_COUNT_UNITS, "excel")


@dataclass(slots=True)
class ParsedTimes:
    """Instants of a column, in its order.

    Args:
        seconds: seconds since 1970 in UTC.
        nanoseconds: the fraction of each second.
        is_valid: which values are times.
    """

    seconds: IntArray
    nanoseconds: IntArray
    is_valid: BoolArray


class TimeLayout(ABC):
    """How the times of a column are written.

    Args:
        text: the layout, as declared.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    has_year: bool = True
    has_clock: bool = True

    @abstractmethod
    def parse_column(self, array: pa.Array) -> ParsedTimes:
        """Return the instants of a column of texts or numbers; a year that lacks is `LEAP_YEAR`."""


def parse_layout(text: str) -> TimeLayout:
    """Return a declared layout.

    Raises:
        InvalidArgument: it is no layout.
    """
    if text in COUNT_LAYOUTS:
        return CountLayout(text)
    if "%" not in text:
        what = f"{text!r} is not a layout of times"
        allowed = f"one of {', '.join(COUNT_LAYOUTS)}, or directives such as %d.%m.%Y %H:%M:%S"
        raise InvalidArgument("", what, allowed, suggest_name(text, COUNT_LAYOUTS))
    return DirectiveLayout(text)


class DirectiveLayout(TimeLayout):
    """Times of digits and names in a fixed order.

    Args:
        text: fixed text and directives. A space stands for one or more spaces. A fraction of a
            second, %f, may be absent together with the mark before it, a point or a comma.

    Raises:
        InvalidArgument: a directive is unknown or repeated, or parts of a date are missing.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.directives = find_directives(text)
        given = set(self.directives)
        self.has_year = bool(given & {"Y", "y"})
        self.has_clock = bool(given & {"H", "I"})
        self._check_completeness(given)
        self.pattern = build_pattern(text)

    def _check_completeness(self, given: set[str]) -> None:
        """Raise if parts of the date are missing or declared twice."""
        has_month = bool(given & {"m", "b", "B"})
        has_day = bool(given & {"d", "j"})
        if not has_day or ("d" in given and not has_month):
            missing = "month" if has_day else "day"
            what = f"the layout {self.text!r} has no {missing}"
            raise InvalidArgument("", what, "a date, such as %Y-%m-%d")
        for group, meaning in (("Yy", "the year"), ("mbBj", "the month"), ("HI", "the hour")):
            if len(given & set(group)) > 1:
                raise InvalidArgument("", f"the layout {self.text!r} has {meaning} twice", "once")
        if ("I" in given) != ("p" in given):
            raise InvalidArgument(
                "", f"the layout {self.text!r} has %I or %p alone", "%H, or %I with %p"
            )

    def parse_column(self, array: pa.Array) -> ParsedTimes:
        """Return the instants of a column; each different text is parsed once."""
        if not pa.types.is_string(array.type):
            array = array.cast(pa.string())
        coded = array.dictionary_encode()
        parsed = self._parse_texts(coded.dictionary)
        rows = coded.indices.fill_null(0).to_numpy().astype(np.int64)
        if not len(coded.dictionary):
            nothing = np.zeros(len(array), np.int64)
            return ParsedTimes(nothing, nothing, np.zeros(len(array), np.bool_))
        is_present = array.is_valid().to_numpy(zero_copy_only=False)
        return ParsedTimes(
            parsed.seconds[rows], parsed.nanoseconds[rows], parsed.is_valid[rows] & is_present
        )

    def _parse_texts(self, texts: pa.Array) -> ParsedTimes:
        """Return the instants of texts without nulls."""
        pieces = pc.extract_regex(pc.utf8_trim_whitespace(texts), f"^{self.pattern}$")
        is_valid = np.array(pieces.is_valid().to_numpy(zero_copy_only=False), np.bool_)

        def read_number(letter: str, default: int = 0) -> IntArray:
            return _read_numbers(pieces, letter) if letter in self.directives else np.full(
                len(texts), default, np.int64
            )  # fmt: skip

        year = read_number("Y", LEAP_YEAR)
        if "y" in self.directives:
            short = read_number("y")
            year = short + np.where(short < 69, 2000, 1900)
        hour, minute, second = read_number("H"), read_number("M"), read_number("S")
        if "I" in self.directives:
            hour = read_number("I")
            is_valid &= (hour >= 1) & (hour <= 12)
            hour = hour % 12 + 12 * _find_names(pieces, "p", ["am", "pm"])
        is_valid &= (hour < 24) & (minute < 60) & (second < 60)
        days, is_date = self._count_days(year, pieces, read_number)
        seconds = days * DAY_S + hour * 3_600 + minute * 60 + second
        if "z" in self.directives:
            seconds -= _read_offsets(pieces)
        fraction = _read_fractions(pieces) if "f" in self.directives else np.zeros_like(seconds)
        return ParsedTimes(seconds, fraction, is_valid & is_date)

    def _count_days(
        self, year: IntArray, pieces: pa.Array, read_number: Any
    ) -> tuple[IntArray, BoolArray]:
        """Return the days since 1970, and which of them the calendar has."""
        if "j" in self.directives:
            first, _ = count_days(year, year * 0 + 1, year * 0 + 1)
            following, _ = count_days(year + 1, year * 0 + 1, year * 0 + 1)
            day = read_number("j")
            return first + day - 1, (day >= 1) & (first + day - 1 < following)
        if "b" in self.directives:
            month = _find_names(pieces, "b", MONTHS) + 1
        elif "B" in self.directives:
            month = _find_names(pieces, "B", LONG_MONTHS) + 1
        else:
            month = read_number("m")
        return count_days(year, month, read_number("d"))


class CountLayout(TimeLayout):
    """Times that are counted: units since 1970, or days of a spreadsheet."""

    def parse_column(self, array: pa.Array) -> ParsedTimes:
        """Return the instants of a column of numbers or of texts with numbers."""
        is_valid = np.array(array.is_valid().to_numpy(zero_copy_only=False), np.bool_)
        if pa.types.is_string(array.type):
            texts = pc.utf8_trim_whitespace(array)
            is_number = pc.match_substring_regex(texts, _NUMBER).fill_null(False)
            is_valid &= is_number.to_numpy(zero_copy_only=False)
            texts = pc.if_else(is_number, texts, "0")
            if self.text != "excel":
                whole, billionths, is_in_range = _split_decimals(texts)
                return self._scale_counts(whole, billionths, is_valid & is_in_range)
            array = texts.cast(pa.float64())
        if pa.types.is_integer(array.type):
            if pa.types.is_uint64(array.type):
                is_small = pc.less(array, pa.scalar(2**63, pa.uint64())).fill_null(False)
                is_valid &= is_small.to_numpy(zero_copy_only=False)
            counts = array.fill_null(0).cast(pa.int64(), safe=False).to_numpy()
            if self.text != "excel":
                return self._scale_counts(counts, np.zeros_like(counts), is_valid)
            array = pa.array(counts, pa.int64())
        numbers = array.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy()
        is_valid &= np.isfinite(numbers) & (np.abs(numbers) < MAX_FLOAT_COUNT)
        numbers = np.where(is_valid, numbers, 0.0)
        if self.text == "excel":
            is_valid &= np.abs(numbers) < 3e6
            milliseconds = np.rint(np.where(is_valid, numbers, 0.0) * DAY_S * 1_000)
            seconds, rest = np.divmod(milliseconds.astype(np.int64), 1_000)
            return ParsedTimes(seconds + EXCEL_EPOCH_S, rest * 1_000_000, is_valid)
        return self._scale_counts(*_split_floats(numbers), is_valid)

    def _scale_counts(
        self, counts: IntArray, billionths: IntArray, is_valid: BoolArray
    ) -> ParsedTimes:
        """Return instants from whole units and billionths of a unit."""
        unit_ns = _COUNT_UNITS[self.text]
        per_second = SECOND_NS // unit_ns
        seconds, rest = np.divmod(counts, per_second)
        nanoseconds = rest * unit_ns + billionths * unit_ns // SECOND_NS
        return ParsedTimes(seconds + nanoseconds // SECOND_NS, nanoseconds % SECOND_NS, is_valid)


COUNT_DIGITS = "(?:[0-9]{1,18}|[1-8][0-9]{18})"
"""Digits of a count that fits 64 bits with its sign; nanoseconds since 1970 have 19."""
_NUMBER = rf"^[+-]?{COUNT_DIGITS}(?:\.[0-9]*)?(?:[eE][+]?[0-9]{{1,2}})?$"


def _split_decimals(texts: pa.Array) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the whole parts and billionths of decimals, and which of them 64 bits hold.

    One with an exponent is a double.
    """
    pieces = pc.extract_regex(texts, r"^(?P<sign>[+-]?)(?P<whole>[0-9]+)(?:\.(?P<rest>[0-9]*))?$")
    has_exponent = pieces.is_null().to_numpy(zero_copy_only=False)
    is_in_range = np.ones(len(texts), np.bool_)
    rest = pc.utf8_slice_codeunits(pc.utf8_rpad(pc.struct_field(pieces, "rest"), 9, "0"), 0, 9)
    whole = pc.struct_field(pieces, "whole").fill_null("0").cast(pa.int64()).to_numpy()
    billionths = rest.fill_null("0").cast(pa.int64()).to_numpy().astype(np.int64)
    is_negative = pc.equal(pc.struct_field(pieces, "sign"), "-").fill_null(False)
    if pc.any(is_negative).as_py():
        below = is_negative.to_numpy(zero_copy_only=False)
        has_rest = billionths > 0
        whole = np.where(below, -whole - has_rest, whole)
        billionths = np.where(below & has_rest, SECOND_NS - billionths, billionths)
    if has_exponent.any():
        whole, billionths = whole.copy(), billionths.copy()
        numbers = texts.filter(pa.array(has_exponent)).cast(pa.float64()).to_numpy()
        fits = np.abs(numbers) < MAX_FLOAT_COUNT
        is_in_range[has_exponent] = fits
        split = _split_floats(np.where(fits, numbers, 0.0))
        whole[has_exponent], billionths[has_exponent] = split
    return whole, billionths, is_in_range


def _split_floats(numbers: np.ndarray[Any, Any]) -> tuple[IntArray, IntArray]:
    """Return the whole parts and billionths of doubles.

    A double holds the microseconds of a count of seconds, and no more.
    """
    whole = np.floor(numbers)
    millionths = np.rint((numbers - whole) * 1e6).astype(np.int64)
    return whole.astype(np.int64), millionths * 1_000


def find_directives(text: str) -> list[str]:
    """Return the letters of the directives of a layout.

    Raises:
        InvalidArgument: one is unknown or repeated, or the layout is too long.
    """
    letters = [piece[:1] for piece in text.replace("%%", "").split("%")[1:]]
    if len(text) > MAX_LAYOUT_CHARACTERS:
        what = f"the layout has {len(text):,} characters"
        raise InvalidArgument("", what, f"at most {MAX_LAYOUT_CHARACTERS}")
    for letter in letters:
        if letter not in _DIRECTIVES:
            what = f"%{letter} in {text!r} is not a supported time directive"
            raise InvalidArgument("", what, f"one of {DIRECTIVES}")
        if letters.count(letter) > 1:
            raise InvalidArgument("", f"%{letter} occurs twice in {text!r}", "each directive once")
    return letters


def build_pattern(text: str) -> str:
    """Return the regular expression of a layout, a group for each directive.

    >>> build_pattern("%y%m%d %H:%M")  # doctest: +ELLIPSIS
    '(?P<y>[0-9]{2})(?P<m>[0-9]{2})(?P<d>[0-9]{2}) +(?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})'
    """
    pieces = re.findall(r"%.|[^%]+", text.replace("%%", "\0"), re.DOTALL)
    pattern = ""
    for number, piece in enumerate(pieces):
        if not piece.startswith("%"):
            literal = re.sub(" +", " ", piece)
            is_optional = pieces[number + 1 : number + 2] == ["%f"] and literal in (".", ",")
            if not is_optional:
                pattern += re.escape(literal).replace(r"\ ", " +").replace("\0", "%")
            continue
        letter = piece[1]
        following = pieces[number + 1][:1] if number + 1 < len(pieces) else ""
        before = pieces[number - 1][:1] if number else ""
        is_packed = letter in _VARIABLE_WIDTHS and "%" in (following, before)
        group = f"(?P<{letter}>{'[0-9]{2}' if is_packed else _DIRECTIVES[letter]})"
        if letter == "f" and before in (".", ",") and len(pieces[number - 1]) == 1:
            group = f"(?:[.,]{group})?"
        pattern += group
    return pattern


def _read_numbers(pieces: pa.Array, letter: str) -> IntArray:
    """Return a group of digits as numbers; 0 where nothing matched."""
    texts = pc.struct_field(pieces, letter).fill_null("0")
    numbers: IntArray = texts.cast(pa.int64()).to_numpy()
    return numbers


def _find_names(pieces: pa.Array, letter: str, names: list[str]) -> IntArray:
    """Return the place of each name in a list; 0 where nothing matched."""
    texts = pc.utf8_lower(pc.struct_field(pieces, letter))
    places = pc.index_in(texts, value_set=pa.array(names)).fill_null(0)
    numbers: IntArray = places.to_numpy().astype(np.int64)
    return numbers


def _read_fractions(pieces: pa.Array) -> IntArray:
    """Return fractions of a second in nanoseconds."""
    texts = pc.utf8_rpad(pc.struct_field(pieces, "f").fill_null(""), 9, "0")
    numbers: IntArray = texts.cast(pa.int64()).to_numpy()
    return numbers


def _read_offsets(pieces: pa.Array) -> IntArray:
    """Return offsets of time zones in seconds."""
    coded = pc.struct_field(pieces, "z").fill_null("Z").dictionary_encode()
    offsets = []
    for text in coded.dictionary.to_pylist():
        if text in ZONE_HOURS:
            offsets.append(ZONE_HOURS[text] * 3_600)
            continue
        digits = text[1:].replace(":", "").ljust(4, "0")
        sign = -1 if text.startswith("-") else 1
        offsets.append(sign * (int(digits[:2]) * 3_600 + int(digits[2:4]) * 60))
    numbers: IntArray = np.array(offsets, np.int64)[coded.indices.to_numpy()]
    return numbers


def count_days(year: IntArray, month: IntArray, day: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the days since 1970 of dates, and which dates the calendar has."""
    is_month = (month >= 1) & (month <= 12)
    first = ((year - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("M8[M]")
    start = first.astype("M8[D]").astype(np.int64)
    length = (first + 1).astype("M8[D]").astype(np.int64) - start
    is_date = is_month & (day >= 1) & (day <= length) & (year >= 1) & (year <= 9_999)
    return start + day - 1, is_date
