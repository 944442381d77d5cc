"""The traits that describe a part of a key; property tests check each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from rowkey.errors import InvalidArgument
from rowkey.messages import Message, pluralize
from rowkey.schema import Bounds, Equal, OneOf, Value

MAX_LISTED_IMAGES = 65_536
"""The most byte strings that are listed; with more, images are intervals."""


@dataclass(frozen=True, slots=True)
class Framing:
    """How the end of a part's bytes is found.

    Args:
        min_bytes: fewest bytes.
        max_bytes: most bytes, or None if the declaration sets no limit.
        is_self_delimiting: whether the bytes alone show where the part ends: no encoding begins
            with another one.
    """

    min_bytes: int
    max_bytes: int | None
    is_self_delimiting: bool

    @classmethod
    def from_width(cls, width: int) -> Framing:
        """Return the framing of bytes with a fixed width."""
        return cls(width, width, is_self_delimiting=True)

    @classmethod
    def build_delimited(cls, min_bytes: int, max_bytes: int | None) -> Framing:
        """Return the framing of bytes that contain their own end."""
        return cls(min_bytes, max_bytes, is_self_delimiting=True)

    @classmethod
    def build_open(cls, min_bytes: int, max_bytes: int | None) -> Framing:
        """Return the framing of bytes without an end of their own."""
        return cls(min_bytes, max_bytes, is_self_delimiting=False)

    @property
    def width(self) -> int | None:
        """The number of bytes if it is fixed, else None."""
        return (
            self.min_bytes if self.is_self_delimiting and self.min_bytes == self.max_bytes else None
        )

    def build_shortage_error(self, byte_count: int) -> InvalidArgument:
        """Return the error for a key that ends after some bytes of a part of fixed width."""
        what = f"the key ends after {pluralize(byte_count, 'byte')} of this part"
        return InvalidArgument("", what, str(self))

    def __str__(self) -> str:
        if self.width is not None:
            return f"{self.width} byte{'s' * (self.width != 1)}"
        most = f"{self.max_bytes}" if self.max_bytes is not None else "…"
        return (
            f"{self.min_bytes}–{most} bytes, "
            f"{'delimited' if self.is_self_delimiting else 'without an end'}"
        )


class Order(Enum):
    """How the order of the bytes follows the order of a field's values.

    Weak: values are never in the wrong order, but different values can have equal bytes.
    """

    STRICT = "strict"
    WEAK = "weak"
    REVERSED = "reversed"
    WEAK_REVERSED = "weak-reversed"
    NONE = "none"

    def reverse(self) -> Order:
        """Return the order of the complemented bytes."""
        return _REVERSED_ORDERS.get(self, self)

    def weaken(self) -> Order:
        """Return the same order, where different values can have equal bytes."""
        return _WEAKENED_ORDERS.get(self, self)

    @property
    def is_ascending(self) -> bool:
        """Whether larger values never sort before smaller ones."""
        return self in (Order.STRICT, Order.WEAK)

    @property
    def is_descending(self) -> bool:
        """Whether larger values never sort after smaller ones."""
        return self in (Order.REVERSED, Order.WEAK_REVERSED)

    @property
    def is_strict(self) -> bool:
        """Whether different values give different bytes, in ascending or descending order."""
        return self in (Order.STRICT, Order.REVERSED)


_REVERSED_ORDERS = {
    Order.STRICT: Order.REVERSED,
    Order.REVERSED: Order.STRICT,
    Order.WEAK: Order.WEAK_REVERSED,
    Order.WEAK_REVERSED: Order.WEAK,
}
_WEAKENED_ORDERS = {Order.STRICT: Order.WEAK, Order.REVERSED: Order.WEAK_REVERSED}


class Determinant(Enum):
    """What decides a part's bytes."""

    FIELDS = "fields"
    CHANCE = "chance"
    DICTIONARY = "a dictionary"


@dataclass(frozen=True, slots=True)
class Residue:
    """What a part's bytes lose of a field's value.

    Args:
        description: what is lost of the value, as a noun; empty if nothing is.
        is_total: whether nothing of the value can be read back from the bytes.
    """

    description: str = ""
    is_total: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the value can be read back whole."""
        return not self.description and not self.is_total


NO_RESIDUE = Residue()
TOTAL_RESIDUE = Residue(Message("residue.value", "the value"), is_total=True)


@dataclass(frozen=True, slots=True)
class PrefixInterval:
    """Byte strings between two prefixes, including all strings that begin with either.

    An empty prefix leaves its side open. Such an interval can be complemented, which a half-open
    range cannot: strings that begin with `high` are above it before and below it afterwards.

    >>> PrefixInterval(b"a", b"b").complement()
    PrefixInterval(low=b'\\x9d', high=b'\\x9e')
    """

    low: bytes = b""
    high: bytes = b""

    def complement(self) -> PrefixInterval:
        """Return the interval of the complemented byte strings."""
        return PrefixInterval(complement_bytes(self.high), complement_bytes(self.low))

    def add_prefix(self, prefix: bytes) -> PrefixInterval:
        """Return the interval of the same byte strings after a prefix."""
        return PrefixInterval(prefix + self.low, prefix + self.high)

    def contains(self, piece: bytes) -> bool:
        """Return whether a byte string lies in the interval."""
        return piece >= self.low and piece[: len(self.high)] <= self.high


@dataclass(frozen=True, slots=True)
class Images:
    """The byte strings that a part can have in the rows of a read.

    Args:
        points: all possible encodings, ascending and distinct; None if they are not listed.
        intervals: the intervals that contain the encodings, if they are not listed.
        exact: whether all rows with these bytes satisfy the bounds; if not, rows are filtered.
    """

    points: tuple[bytes, ...] | None
    intervals: tuple[PrefixInterval, ...] = ()
    exact: bool = False

    @classmethod
    def from_points(cls, points: Iterable[bytes], *, exact: bool) -> Images:
        """Return images that are listed."""
        return cls(tuple(sorted(set(points))), exact=exact)

    @classmethod
    def from_prefixes(cls, low: bytes, high: bytes, *, exact: bool) -> Images:
        """Return the images between two prefixes, both included."""
        return cls(None, (PrefixInterval(low, high),), exact)

    @classmethod
    def build_unbounded(cls, *, exact: bool) -> Images:
        """Return images without any limit."""
        return cls(None, (PrefixInterval(),), exact)

    @classmethod
    def build_empty(cls) -> Images:
        """Return no images, for bounds that no row satisfies."""
        return cls((), exact=True)

    @property
    def is_bounded(self) -> bool:
        """Whether some byte string is excluded."""
        return self.points is not None or self.intervals != (PrefixInterval(),)

    def to_inexact(self) -> Images:
        """Return the same images, for rows that must be filtered."""
        return Images(self.points, self.intervals, exact=False)

    def complement(self) -> Images:
        """Return the images of the complemented part."""
        if self.points is not None:
            return Images.from_points(map(complement_bytes, self.points), exact=self.exact)
        flipped = tuple(interval.complement() for interval in reversed(self.intervals))
        return Images(None, flipped, self.exact)

    def add_prefix(self, prefix: bytes) -> Images:
        """Return the same images after a prefix."""
        if self.points is not None:
            return Images(tuple(prefix + point for point in self.points), exact=self.exact)
        return Images(None, tuple(i.add_prefix(prefix) for i in self.intervals), self.exact)

    def contains(self, piece: bytes) -> bool:
        """Return whether an encoding is among the images."""
        if self.points is not None:
            return piece in self.points
        return any(interval.contains(piece) for interval in self.intervals)


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The byte values of a part, ascending, and whether they are about equally frequent.

    Split keys must lie between `low` and `high`: splits for hexadecimal digits leave regions empty
    if the key has decimal digits.
    """

    values: bytes
    is_uniform: bool = False

    @property
    def low(self) -> int:
        """The smallest byte value."""
        return self.values[0]

    @property
    def high(self) -> int:
        """The largest byte value."""
        return self.values[-1]

    def complement(self) -> Alphabet:
        """Return the alphabet of the complemented bytes."""
        return Alphabet(bytes(sorted(complement_bytes(self.values))), self.is_uniform)

    def union(self, other: Alphabet) -> Alphabet:
        """Return the byte values of both alphabets."""
        return Alphabet(
            bytes(sorted({*self.values, *other.values})), self.is_uniform and other.is_uniform
        )


ALL_BYTES = Alphabet(bytes(range(256)))
DIGITS = Alphabet(b"0123456789")
HEX_DIGITS = Alphabet(b"0123456789abcdef")

_COMPLEMENT_TABLE = bytes(255 - byte for byte in range(256))


def complement_bytes(piece: bytes) -> bytes:
    """Return the bytes with every bit inverted.

    >>> complement_bytes(b"\\x00\\x0f").hex()
    'fff0'
    """
    return piece.translate(_COMPLEMENT_TABLE)


class Compatibility(Enum):
    """What happens to stored rows when the declaration of a part changes."""

    SAME = "same"
    WIDER = "wider"
    BREAKS = "breaks"

    @classmethod
    def find_worst(cls, changes: Iterable[Compatibility]) -> Compatibility:
        """Return what happens to rows when several parts change at once.

        >>> Compatibility.find_worst([Compatibility.SAME, Compatibility.WIDER])
        <Compatibility.WIDER: 'wider'>
        """
        return max(changes, key=list(cls).index, default=cls.SAME)


def find_pinned_values(bounds: Bounds, name: str) -> tuple[Value, ...] | None:
    """Return the values that the bounds list for a field; None if they list none."""
    match bounds.get(name):
        case Equal(value):
            return (value,)
        case OneOf(values):
            return values
    return None
