"""What a column of a sample is: looked at batch by batch, then said in the words of a field."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafting.forms import (
    FORMS,
    NULL_TEXTS,
    fraction_digits,
    is_calendar_day,
    is_calendar_second,
)
from rowkey.advise.drafting.hints import (
    is_like_calendar,
    is_like_category,
    is_like_identity,
    is_like_measure,
    is_like_time,
)
from rowkey.schema import SURE

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CHOICES = 16
"""Different texts of a `choice`; of more, a new one is likely to come."""
EACH_CHOICE = 20
"""Rows a text above which all of them have been seen, more or less."""
LONGEST_CHOICE = 32
HEADROOM = 4
"""Times the greatest number seen that the type of an hour, a status or their like holds."""
GROWTH = 1_000
"""Times the greatest number seen that the type of any other whole number holds: a sample is a
moment of a table's life, and ids and counts grow with it."""
ROOM_BITS = 32
"""Bits at least of a whole number that grows."""
ROOM_BYTES = 64
"""Bytes at least of a text of which fewer than `SURE` were seen."""
ROOM_DIGITS = 18
"""Digits at least of a decimal of which fewer than `SURE` were seen: as many as 8 bytes hold."""
EARLIEST_S, LATEST_S = 631_152_000, 4_102_444_800
"""1990 and 2100 in seconds since 1970: of the four units of time one at most brings a count there,
for they are 1,000 apart."""
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_PLAIN = {"bool": "bool", "day": "date", "uuid": "uuid", "address": "ipv4"}
"""Forms of which there is one type without words."""
_UNSIGNED, _SIGNED = ("u8", "u16", "u32", "u64"), ("i8", "i16", "i32", "i64")


@dataclass(slots=True)
class Look:
    """What was seen of one column.

    Args:
        name: its name in the file.
        may_say_null: whether the file's format takes texts that stand for null.
    """

    name: str
    may_say_null: bool = False
    kind: Any = None
    rows: int = 0
    nulls: int = 0
    blanks: int = 0
    forms: set[str] = field(default_factory=lambda: {form.name for form in FORMS})
    null_texts: set[str] = field(default_factory=set)
    least: int | None = None
    greatest: int | None = None
    lengths: set[int] = field(default_factory=set)
    longest: int = 0
    scales: set[int] = field(default_factory=set)
    whole: int = 0
    fraction: int = 0
    texts: set[str] | None = field(default_factory=set)
    calendar: set[int] = field(default_factory=lambda: {8, 14})
    has_letters: bool = False
    first: str = ""

    def add(self, array: pa.Array) -> None:
        """Look at the next values."""
        import pyarrow as pa

        if isinstance(array.type, pa.DictionaryType):
            array = array.cast(array.type.value_type)
        self.rows += len(array)
        self.nulls += array.null_count
        if pa.types.is_null(array.type):
            return
        self.kind = array.type
        held = array.drop_null()
        if pa.types.is_string(held.type) or pa.types.is_large_string(held.type):
            self._add_texts(held)
        elif pa.types.is_integer(held.type) and len(held):
            self._range(held)
        elif pa.types.is_floating(held.type) and len(held):
            self._range_of_floats(held)
        elif pa.types.is_binary(held.type) or pa.types.is_large_binary(held.type):
            sizes = [len(value) for value in held.to_pylist()]
            self.longest = max([self.longest, *sizes])

    @property
    def seen(self) -> int:
        """How many values it has that are neither null nor blank."""
        return self.rows - self.nulls - self.blanks

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing at all."""
        return self.nulls + self.blanks == self.rows

    @property
    def is_text(self) -> bool:
        """Whether its values come as text."""
        import pyarrow as pa

        return bool(pa.types.is_string(self.kind) or pa.types.is_large_string(self.kind))

    def _range(self, held: pa.Array) -> None:
        import pyarrow.compute as pc

        ends = pc.min_max(held).as_py()
        self._widen(ends["min"], ends["max"])
        distinct = pc.unique(held)
        self._calendar(map(str, distinct.to_pylist()))

    def _range_of_floats(self, held: pa.Array) -> None:
        import numpy as np

        values = held.to_numpy(zero_copy_only=False)
        self.first = self.first or str(values[0])
        finite = np.isfinite(values).all()
        self._widen(*((int(values.min()), int(values.max())) if finite else (0, 0)))

    def _widen(self, low: int, high: int) -> None:
        self.least = low if self.least is None else min(self.least, low)
        self.greatest = high if self.greatest is None else max(self.greatest, high)

    def _calendar(self, texts: Any) -> None:
        """Note whether all numbers may be digits of the calendar."""
        if not self.calendar:
            return
        for text in texts:
            if not is_calendar_day(text):
                self.calendar.discard(8)
            if not is_calendar_second(text):
                self.calendar.discard(14)
            if not self.calendar:
                return

    def _add_texts(self, held: pa.Array) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        trimmed = pc.utf8_trim_whitespace(held)
        self.blanks += int(pc.sum(pc.equal(trimmed, "")).as_py() or 0)
        raw = pc.unique(held)
        sizes = pc.binary_length(raw)
        self.longest = max(self.longest, int(pc.max(sizes).as_py() or 0))
        if len(self.lengths) <= 1:
            self.lengths.update(pc.unique(sizes).to_pylist()[:2])
        if self.texts is not None:
            self.texts.update(raw.slice(0, MOST_CHOICES + 1).to_pylist())
            self.texts = self.texts if len(self.texts) <= MOST_CHOICES else None
        if self.may_say_null:
            marks = pc.is_in(raw, value_set=pa.array(NULL_TEXTS, raw.type))
            self.null_texts.update(raw.filter(marks).to_pylist())
            raw = raw.filter(pc.invert(marks))
        distinct = pc.unique(pc.utf8_trim_whitespace(raw))
        self._narrow(distinct.filter(pc.not_equal(distinct, "")))

    def _narrow(self, texts: pa.Array) -> None:
        """Leave out the forms that these do not have, and measure what the others need."""
        if not len(texts):
            return
        self.first = self.first or texts[0].as_py()
        self.forms = {one.name for one in FORMS if one.name in self.forms and one.fits(texts)}
        if "integer" in self.forms:
            numbers = list(map(int, texts.to_pylist()))
            self._widen(min(numbers), max(numbers))
        if "digits" in self.forms:
            self._calendar(texts.to_pylist())
        else:
            self.calendar.clear()
        if "money" in self.forms:
            pieces = [text.lstrip("-").split(".") for text in texts.to_pylist()]
            self.scales.update(len(after) for _, after in pieces)
            self.whole = max([self.whole, *(len(before) for before, _ in pieces)])
        if "instant" in self.forms:
            self.fraction = max(self.fraction, fraction_digits(texts.to_pylist()))
        if "hex" in self.forms and not self.has_letters:
            self.has_letters = any(not text.isdecimal() for text in texts.to_pylist())


@dataclass(frozen=True, slots=True)
class Guess:
    """A column in the words of a field.

    Args:
        words: those that stand in `[fields]`, `type` first.
        why: what they are read from, if that is not plain.
        null_texts: texts that stand for null, if the type can have none such.
        stray: one of its values, where they look like times and are not read as such.
    """

    words: dict[str, Any]
    why: str = ""
    null_texts: frozenset[str] = frozenset()
    stray: str = ""


def guess(look: Look) -> Guess | None:
    """What a column is; None if it is of a type that no field has.

    Args:
        look: what was seen of it; not empty.
    """
    found = _guessed(look)
    return replace(found, stray=look.first) if found and _is_stray_time(look) else found


def _is_stray_time(look: Look) -> bool:
    """Whether the values look like times in a form that no type is read from."""
    import pyarrow as pa

    if look.is_text and "stray" in look.forms:
        return look.first != "" and not {"instant", "day"} & look.forms
    if not is_like_time(look.name):
        return False
    if look.is_text:
        return look.first != "" and "seconds" in look.forms
    is_counted = pa.types.is_floating(look.kind) and look.least is not None
    return is_counted and any(
        EARLIEST_S * per_s <= (look.least or 0) and (look.greatest or 0) < LATEST_S * per_s
        for per_s in UNITS.values()
    )


def _guessed(look: Look) -> Guess | None:
    import pyarrow as pa

    kind = look.kind
    if look.is_text:
        return _of_text(look)
    if pa.types.is_boolean(kind):
        return Guess({"type": "bool"})
    if pa.types.is_integer(kind):
        return _of_integers(look)
    if pa.types.is_timestamp(kind):
        return Guess({"type": f"timestamp_{kind.unit}"})
    if pa.types.is_date(kind):
        return Guess({"type": "date"})
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return Guess({"type": "float32" if pa.types.is_float32(kind) else "float64"})
    if pa.types.is_decimal128(kind) and 0 <= kind.scale <= kind.precision:
        return Guess({"type": "decimal", "precision": kind.precision, "scale": kind.scale})
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return Guess({"type": "bytes", "max_bytes": roomy(look.longest)})
    return None


def _of_text(look: Look) -> Guess:
    """The narrowest type that holds every text."""
    nulls = frozenset(look.null_texts)
    typed = None if look.rows == look.nulls + look.blanks else _typed(look)
    if typed is not None and not _only_nulls(look):
        return Guess(typed.words, typed.why, nulls)
    if look.texts is not None and _is_choice(look, look.texts):
        return Guess({"type": "choice", "of": sorted(look.texts)})
    values = look.seen if look.texts is None or len(look.texts) > 1 else min(look.seen, 1)
    told = "1 text does not" if values == 1 else f"{values} texts do not"
    few = "" if values >= SURE else f"{told} tell how long they get"
    most = max(roomy(look.longest), ROOM_BYTES if few else 0)
    return Guess({"type": "text", "max_bytes": most}, few)


def _only_nulls(look: Look) -> bool:
    """Whether nothing was seen but texts that may stand for null."""
    return look.texts is not None and {t.strip() for t in look.texts} <= look.null_texts | {""}


def _typed(look: Look) -> Guess | None:
    """A type other than text whose form all values have."""
    forms = look.forms
    for form, name in _PLAIN.items():
        if form in forms:
            return Guess({"type": name})
    if "instant" in forms:
        places = {0: "s", 1: "ms", 2: "us", 3: "ns"}[(look.fraction + 2) // 3]
        return Guess({"type": f"timestamp_{places}"})
    if "integer" in forms and (found := _of_integers(look)) is not None:
        return found
    if "digits" in forms:
        return _of_digits(look)
    if "hex" in forms and look.has_letters and len(look.lengths) == 1 and not look.blanks:
        return Guess({"type": "hex", "width": look.longest})
    if "money" in forms and len(look.scales) == 1:
        [scale] = look.scales
        least = ROOM_DIGITS if look.seen < SURE else 0
        digits = min(max(look.whole + 2 + scale, least), 38)
        return Guess({"type": "decimal", "precision": digits, "scale": scale})
    if "number" in forms:
        return Guess({"type": "float64"})
    return None


def _of_digits(look: Look) -> Guess | None:
    """Digits of one length, with zeros in front; of several lengths, or of too few, text."""
    if len(look.lengths) != 1 or look.blanks or look.null_texts or look.seen < SURE:
        return None
    return Guess({"type": "digits", "width": look.longest}, "zeros in front are kept")


def _of_integers(look: Look) -> Guess | None:
    """A time, where the numbers are times; else the least width with room to grow."""
    assert look.least is not None
    assert look.greatest is not None
    low, high = look.least, look.greatest
    if (found := _of_counted_time(look, low, high)) is not None:
        return found
    kinds = _UNSIGNED if low >= 0 else _SIGNED
    if (guessed := _of_few(look, kinds)) is not None:
        return guessed
    reach = max(high, -low) * (1 if low >= 0 else 2) + 1
    is_bounded = is_like_calendar(look.name) or is_like_category(look.name)
    room, least = (HEADROOM, 0) if is_bounded else (GROWTH, ROOM_BITS)
    for times in (room, 1):
        for bits, name in zip((8, 16, 32, 64), kinds, strict=True):
            if least <= bits and reach * times <= 1 << bits:
                return Guess({"type": name})
    return None


def _of_counted_time(look: Look, low: int, high: int) -> Guess | None:
    """A time, where whole numbers are one: by their size, unless the name says something else."""
    named = is_like_time(look.name)
    is_other = not named and (is_like_identity(look.name) or is_like_measure(look.name))
    if is_other:
        return None
    if 8 in look.calendar and (named or low < high):
        return Guess({"type": "date"}, "written as yyyyMMdd")
    if 14 in look.calendar:
        return Guess({"type": "timestamp_s"}, "written as yyyyMMddHHmmss")
    for unit, per_s in UNITS.items():
        if EARLIEST_S * per_s <= low and high < LATEST_S * per_s and (named or unit == "ms"):
            return Guess({"type": f"timestamp_{unit}"}, f"whole numbers, {unit} since 1970")
    return None


def _of_few(look: Look, kinds: tuple[str, ...]) -> Guess | None:
    """The widest type the column can have, where too few numbers came to tell how large they get.

    A key of a narrow type refuses the first larger number, and a wider one is another key.
    """
    import pyarrow as pa

    bits = look.kind.bit_width if pa.types.is_integer(look.kind) else 64
    if look.seen >= SURE or (look.greatest or 0) >= 1 << (bits if kinds is _UNSIGNED else bits - 1):
        return None
    name = kinds[(8, 16, 32, 64).index(bits)]
    values = "1 number does not" if look.seen == 1 else f"{look.seen} numbers do not"
    return Guess({"type": name}, f"{values} tell how large they get")


def _is_choice(look: Look, texts: set[str]) -> bool:
    """Whether a few texts are all there are, as far as many rows tell."""
    fits = all(
        text.strip() == text and text and "\0" not in text and len(text) <= LONGEST_CHOICE
        for text in texts
    )
    rows = look.rows - look.nulls
    # Names of things have no last one: a product or a host comes that nobody has seen.
    return (
        fits
        and not is_like_identity(look.name)
        and len(texts) >= 2
        and rows >= EACH_CHOICE * max(len(texts), 5)
    )


def roomy(size: int) -> int:
    """Twice a length and more, as a power of two from 8 on.

    >>> roomy(3), roomy(20)
    (8, 64)
    """
    return 1 << max((2 * size - 1).bit_length(), 3)
