"""Forms of text, each with a test of all texts of a column at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from rowkey.array_libraries import np, pa, pc

NULL_TEXTS = ("NA", "N/A", "n/a", "NULL", "null", "None", "none", "NaN", "nan", "-", "\\N", "?")
"""Texts that stand for nothing in many files, where all else is of another form."""

FIRST_TESTED_TEXTS = 64
"""Texts that are tested before all others: most forms do not fit them."""
_DAY = r"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_LOOSE_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?: ?[AaPp][Mm])?"
_ZONE = r"(?: ?(?:[A-Z]{1,5}|[+-][0-9]{2}:?[0-9]{2}))?"
_UNPARSED_TIME = "|".join(
    (
        rf"[12][0-9]{{3}}[/.-][0-9]{{1,2}}[/.-][0-9]{{1,2}}(?:[T ]{_LOOSE_CLOCK}{_ZONE})?",
        rf"[0-9]{{1,2}}[/.-][0-9]{{1,2}}[/.-][12][0-9]{{3}}(?:[T ]{_LOOSE_CLOCK}{_ZONE})?",
        rf"\[?[0-9]{{1,2}}[/ -]{_MONTH}[/ -][12][0-9]{{3}}(?:[: ]{_LOOSE_CLOCK}{_ZONE})?\]?",
        rf"(?:[A-Z][a-z]{{2}}, )?[0-9]{{1,2}} {_MONTH} [12][0-9]{{3}} {_LOOSE_CLOCK}{_ZONE}",
        rf"(?:[A-Z][a-z]{{2}} )?{_MONTH} {{1,2}}[0-9]{{1,2}} {_LOOSE_CLOCK}(?: [12][0-9]{{3}})?",
        rf"[12][0-9]{{3}}年[0-9]{{1,2}}月[0-9]{{1,2}}日(?: ?{_LOOSE_CLOCK})?",
    )
)
"""Times as people, mails and web servers write them; none of them is read as a time."""
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_HEX = "[0-9a-f]"


@dataclass(frozen=True, slots=True)
class TextForm:
    """A form that texts of a column may have, such as a date or hexadecimal digits.

    Args:
        name: its name.
        pattern: what each text of the form matches, whole, in RE2.
        type_name: the field type of all texts of the form; empty if their values decide it.
        is_standard: whether a type reads the texts without a declared layout.
    """

    name: str
    pattern: str
    type_name: str = ""
    is_standard: bool = False

    def matches_all(self, texts: pa.Array) -> bool:
        """Return whether all texts have the form; they are trimmed and not blank."""
        pattern = f"^(?:{self.pattern})$"
        return all(
            pc.all(pc.match_substring_regex(some, pattern), min_count=0).as_py()
            for some in (texts.slice(0, FIRST_TESTED_TEXTS), texts.slice(FIRST_TESTED_TEXTS))
        )


TEXT_FORMS = (
    TextForm("bool", "(?i)true|false", "bool", is_standard=True),
    TextForm("integer", "0|-?[1-9][0-9]{0,19}", is_standard=True),
    TextForm("digits", "[0-9]+", is_standard=True),
    TextForm("money", r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{2,4}"),
    TextForm(
        "number", r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?"
    ),
    TextForm("coded", "[+-]?[0-9]+(?:[eE][0-9]+)?"),
    TextForm("unpadded", r"[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"),
    TextForm("instant", f"{_DAY}[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?", is_standard=True),
    TextForm("day", _DAY, "date", is_standard=True),
    TextForm("stray", _UNPARSED_TIME),
    TextForm("clock", _LOOSE_CLOCK),
    TextForm("hhmmss", "(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]"),
    TextForm("yymmdd", "[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"),
    TextForm("whole", r"-?(?:0|[1-9][0-9]{0,18})(?:\.0{1,9})?"),
    TextForm("serial", r"(?:3[3-9]|[4-6][0-9]|7[0-2])[0-9]{3}(?:\.[0-9]{1,15})?"),
    TextForm(
        "uuid", f"(?i){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}", "uuid", is_standard=True
    ),
    TextForm("address", rf"{_OCTET}(?:\.{_OCTET}){{3}}", "ipv4", is_standard=True),
    TextForm("hex", f"(?:{_HEX}{{2}}){{4,64}}"),
)
"""All forms; a column has those that every value of it fits."""
STANDARD_FORMS = frozenset(one.name for one in TEXT_FORMS if one.is_standard)
"""Forms of texts that a type reads by itself."""


INTEGER_FORMS = frozenset({"integer", "number", "coded", "unpadded", "whole"})
"""Forms of every integer that is written as Python writes it."""
MAX_SAFE_DIGITS = 15
"""Digits of a number that survive in 64 bits of floating point, whatever they are."""
MAX_PRINTED_DIGITS, MIN_FRACTION_DIGITS = 16, 10
"""Digits that programs print of a number of 64 bits, and those of its fraction if it was calculated
rather than an amount that was written down."""


def parse_plain_integers(texts: pa.Array) -> pa.Array | None:
    """Return texts as integers; None unless all are integers of 64 bits as Python writes them."""
    for some in (texts.slice(0, FIRST_TESTED_TEXTS), texts):
        try:
            numbers = some.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
        if not numbers.cast(some.type).equals(some):
            return None
    return numbers


def is_exact_float(text: str) -> bool:
    """Return whether a number of 64 bits still shows all digits of a text.

    Of a long fraction the last digits may differ: programs that print 16 of them calculated with
    such numbers.

    >>> is_exact_float("0.30000000000000004"), is_exact_float("9007199254740993.5")
    (True, False)
    >>> is_exact_float("-.7283666850613467")
    True
    """
    number = float(text)
    mantissa = text.lower().partition("e")[0].lstrip("+-")
    digits = mantissa.replace(".", "").lstrip("0")
    if len(digits) <= MAX_SAFE_DIGITS or repr(number) == text:
        return True
    if len(digits) <= MAX_PRINTED_DIGITS and len(mantissa.partition(".")[2]) >= MIN_FRACTION_DIGITS:
        return True
    return Decimal(f"{number:.{len(digits) - 1}e}") == Decimal(text)


MAX_COMPARED_NUMBERS = 1 << 14
"""Different texts of numbers that are compared; of more, a part that depends on the numbers."""


class SeenNumbers:
    """The different texts of a column of numbers, to find two that are one number.

    Of many numbers those are kept whose hash is small, whichever batch they are in, so that the
    answer does not depend on how the file is divided.
    """

    def __init__(self) -> None:
        self._texts: pa.Array | None = None
        self._level = 0

    def add_texts(self, texts: pa.Array) -> bool:
        """Add different texts; return whether two are one number, such as 1.1 and 1.10.

        Zeros do not count.
        """
        texts = texts.cast(pa.string())
        if self._texts is not None:
            texts = pc.unique(pa.concat_arrays([self._texts, texts]))
        try:
            numbers = texts.cast(pa.float64())
        except pa.ArrowInvalid:  # some have a plus sign
            numbers = pa.array(map(float, texts.to_pylist()), pa.float64())
        while True:
            is_kept = self._choose_numbers(numbers)
            texts, numbers = texts.filter(is_kept), numbers.filter(is_kept)
            if len(texts) <= MAX_COMPARED_NUMBERS:
                break
            self._level += 1
        self._texts = texts
        return int(pc.count_distinct(numbers).as_py()) < len(numbers)

    def _choose_numbers(self, numbers: pa.Array) -> pa.Array:
        """Return which numbers are not 0, and have a small hash if they are many."""
        values = numbers.to_numpy()
        hashes = values.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(32)
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        return pa.array((values != 0) & (hashes <= np.uint64((1 << 64 - self._level) - 1)))


def is_calendar_day(text: str) -> bool:
    """Return whether eight digits are a date of the years 1900 to 2099.

    >>> is_calendar_day("20240131"), is_calendar_day("20240132")
    (True, False)
    """
    if len(text) != 8 or not "1900" <= text[:4] <= "2099":
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_calendar_second(text: str) -> bool:
    """Return whether fourteen digits are a date and time of the years 1970 to 2099.

    >>> is_calendar_second("20240131235959"), is_calendar_second("20240131235960")
    (True, False)
    """
    if len(text) != 14 or not "1970" <= text[:4] <= "2099":
        return False
    try:
        datetime.fromisoformat(f"{text[:8]}T{text[8:]}")
    except ValueError:
        return False
    return True


def count_fraction_digits(texts: Sequence[str]) -> int:
    """Return the largest number of fractional second digits among timestamps.

    >>> count_fraction_digits(["2024-01-31 00:00:00", "2024-01-31T00:00:00.250Z"])
    3
    """
    max_digits = 0
    for text in texts:
        clock = text[19:] if len(text) > 19 and text[19] in ".," else ""
        digits = clock[1:].split("Z")[0].split("+")[0].split("-")[0]
        max_digits = max(max_digits, len(digits))
    return max_digits
