"""The answers a part of a key gives about itself; the laws in the tests hold it to each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from rowkey.schema import Equal, OneOf

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rowkey.schema import Bounds, Value

MOST_IMAGES = 65_536
"""More byte strings than any prefix of ours can take are not listed but left open."""


@dataclass(frozen=True, slots=True)
class Framing:
    """How the end of a part's bytes is found.

    Args:
        least: fewest bytes.
        most: most bytes, or None if the declaration sets no limit.
        closed: whether the bytes alone tell where the part ends. Closed encodings are free of
            prefixes: none begins with another.
    """

    least: int
    most: int | None
    closed: bool

    @classmethod
    def fixed(cls, width: int) -> Framing:
        """Always `width` bytes."""
        return cls(width, width, closed=True)

    @classmethod
    def delimited(cls, least: int, most: int | None) -> Framing:
        """Bytes that carry their own end."""
        return cls(least, most, closed=True)

    @classmethod
    def open(cls, least: int, most: int | None) -> Framing:
        """Bytes whose end only the end of the key tells."""
        return cls(least, most, closed=False)

    @property
    def width(self) -> int | None:
        """The number of bytes where it is always the same."""
        return self.least if self.closed and self.least == self.most else None

    def __str__(self) -> str:
        if self.width is not None:
            return f"{self.width} byte{'s' * (self.width != 1)}"
        most = f"{self.most}" if self.most is not None else "…"
        return f"{self.least}–{most} bytes, {'delimited' if self.closed else 'without an end'}"


class Order(Enum):
    """How the order of the bytes follows the order of a field's values.

    Weak: values never come in the wrong order, but different values may give equal bytes.
    """

    STRICT = "strict"
    WEAK = "weak"
    REVERSED = "reversed"
    WEAK_REVERSED = "weak-reversed"
    NONE = "none"

    def reversed(self) -> Order:
        """The order of the complemented bytes."""
        return _REVERSED.get(self, self)

    def weakened(self) -> Order:
        """The order once different values may give equal bytes."""
        return _WEAKENED.get(self, self)

    @property
    def ascends(self) -> bool:
        """Whether larger values never sort before smaller ones."""
        return self in (Order.STRICT, Order.WEAK)

    @property
    def descends(self) -> bool:
        """Whether larger values never sort after smaller ones."""
        return self in (Order.REVERSED, Order.WEAK_REVERSED)

    @property
    def is_strict(self) -> bool:
        """Whether different values give different bytes, in order."""
        return self in (Order.STRICT, Order.REVERSED)


_REVERSED = {
    Order.STRICT: Order.REVERSED,
    Order.REVERSED: Order.STRICT,
    Order.WEAK: Order.WEAK_REVERSED,
    Order.WEAK_REVERSED: Order.WEAK,
}
_WEAKENED = {Order.STRICT: Order.WEAK, Order.REVERSED: Order.WEAK_REVERSED}


class Source(Enum):
    """What decides a part's bytes."""

    FIELDS = "fields"
    CHANCE = "chance"
    DICTIONARY = "a dictionary"


@dataclass(frozen=True, slots=True)
class Residue:
    """What a part's bytes lose of a field.

    Args:
        what: the part of the value that is lost, as a noun; empty if nothing is.
        everything: whether no value can be told from the bytes alone.
    """

    what: str = ""
    everything: bool = False

    @property
    def nothing(self) -> bool:
        """Whether the value can be read back whole."""
        return not self.what and not self.everything


NOTHING = Residue()
EVERYTHING = Residue("the value", everything=True)


@dataclass(frozen=True, slots=True)
class Interval:
    """Byte strings between two prefixes, both included with all that begins with them.

    An empty prefix leaves its side open. This form survives complementing, where half-open ranges
    do not: what begins with `high` is below it afterwards.

    >>> Interval(b"a", b"b").complement()
    Interval(low=b'\\x9d', high=b'\\x9e')
    """

    low: bytes = b""
    high: bytes = b""

    def complement(self) -> Interval:
        """The interval of the complemented byte strings."""
        return Interval(complement(self.high), complement(self.low))

    def within(self, prefix: bytes) -> Interval:
        """The same interval behind a constant prefix."""
        return Interval(prefix + self.low, prefix + self.high)

    def holds(self, piece: bytes) -> bool:
        """Whether a byte string lies in the interval."""
        return piece >= self.low and piece[: len(self.high)] <= self.high


@dataclass(frozen=True, slots=True)
class Images:
    """The byte strings a part can take under what a read asks of its fields.

    Args:
        points: every possible encoding, ascending and distinct; None if there are too many.
        intervals: where the encodings lie, if they are not listed.
        exact: whether bytes found there also satisfy what was asked; if not, rows are filtered.
    """

    points: tuple[bytes, ...] | None
    intervals: tuple[Interval, ...] = ()
    exact: bool = False

    @classmethod
    def listed(cls, points: Iterable[bytes], *, exact: bool) -> Images:
        """The images of a part of which each is known."""
        return cls(tuple(sorted(set(points))), exact=exact)

    @classmethod
    def between(cls, low: bytes, high: bytes, *, exact: bool) -> Images:
        """The images between two prefixes, both included."""
        return cls(None, (Interval(low, high),), exact)

    @classmethod
    def anything(cls, *, exact: bool) -> Images:
        """No bound at all."""
        return cls(None, (Interval(),), exact)

    @classmethod
    def nowhere(cls) -> Images:
        """Nothing satisfies what was asked."""
        return cls((), exact=True)

    @property
    def bounded(self) -> bool:
        """Whether anything is excluded."""
        return self.points is not None or self.intervals != (Interval(),)

    def inexact(self) -> Images:
        """The same places, where rows must still be filtered."""
        return Images(self.points, self.intervals, exact=False)

    def complement(self) -> Images:
        """The images of the complemented part."""
        if self.points is not None:
            return Images.listed(map(complement, self.points), exact=self.exact)
        flipped = tuple(interval.complement() for interval in reversed(self.intervals))
        return Images(None, flipped, self.exact)

    def within(self, prefix: bytes) -> Images:
        """The same images behind a constant prefix."""
        if self.points is not None:
            return Images(tuple(prefix + point for point in self.points), exact=self.exact)
        return Images(None, tuple(i.within(prefix) for i in self.intervals), self.exact)

    def holds(self, piece: bytes) -> bool:
        """Whether an encoding is among the images."""
        if self.points is not None:
            return piece in self.points
        return any(interval.holds(piece) for interval in self.intervals)


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The byte values that occur in a part, ascending, and whether they come about equally often.

    `low` and `high` are what split algorithms must meet: hex digits under splits made for decimal
    digits leave regions empty.
    """

    values: bytes
    even: bool = False

    @property
    def low(self) -> int:
        """The smallest byte value."""
        return self.values[0]

    @property
    def high(self) -> int:
        """The largest byte value."""
        return self.values[-1]

    def complement(self) -> Alphabet:
        """The alphabet of the complemented bytes."""
        return Alphabet(bytes(sorted(complement(self.values))), self.even)

    def union(self, other: Alphabet) -> Alphabet:
        """The byte values of either."""
        return Alphabet(bytes(sorted({*self.values, *other.values})), self.even and other.even)


ALL_BYTES = Alphabet(bytes(range(256)))
DIGITS = Alphabet(b"0123456789")
HEX_DIGITS = Alphabet(b"0123456789abcdef")

_COMPLEMENT = bytes(255 - byte for byte in range(256))


def complement(piece: bytes) -> bytes:
    """Every bit inverted.

    >>> complement(b"\\x00\\x0f").hex()
    'fff0'
    """
    return piece.translate(_COMPLEMENT)


class Change(Enum):
    """What becomes of stored rows when a part is declared anew."""

    SAME = "same"
    WIDER = "wider"
    BREAKS = "breaks"

    @classmethod
    def worst(cls, changes: Iterable[Change]) -> Change:
        """What becomes of rows when several things change at once.

        >>> Change.worst([Change.SAME, Change.WIDER])
        <Change.WIDER: 'wider'>
        """
        return max(changes, key=list(cls).index, default=cls.SAME)


def pinned_values(bounds: Bounds, name: str) -> tuple[Value, ...] | None:
    """The values a bound leaves to a field, if it lists them."""
    match bounds.get(name):
        case Equal(value):
            return (value,)
        case OneOf(values):
            return values
    return None
