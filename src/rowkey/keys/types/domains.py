"""Which values a type has, described so that tests and generators can make some.

Each domain numbers values of its own: `nth(0)`, `nth(1)` … are different, and ascend. What is drawn
of them is another matter: a UUID or a digest lies anywhere, a number is one of the smallest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rowkey.keys.types.scattering import column_of, hex_digits, scattered_bytes

if TYPE_CHECKING:
    import numpy as np


class Domain(ABC):
    """The values of a type."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values `nth` can give."""

    @abstractmethod
    def nth(self, index: int) -> Any:
        """The value of a number from 0 up to `size`; larger numbers give larger values."""

    def some(self, indexes: np.ndarray[Any, Any]) -> Any:
        """The values of many numbers, as what an Arrow array can be made of."""
        return [self.nth(index) for index in indexes.tolist()]

    def drawn(self, indexes: np.ndarray[Any, Any]) -> Any:
        """The same many values as workloads draw them, in no order where chance makes them."""
        return self.some(indexes)

    def drawn_one(self, index: int) -> Any:
        """One of them."""
        import numpy as np

        found = self.drawn(np.array([index], np.int64))[0]
        return found.as_py() if hasattr(found, "as_py") else found

    def of_length(self, least: int, most: int) -> Domain:
        """The values of at least and at most so many bytes, where the type has several lengths."""
        return self

    def between(self, low: int, high: int) -> Domain:
        """The values from one number to another, both included, of types that count."""
        return self


@dataclass(frozen=True, slots=True)
class Integers(Domain):
    """Whole numbers from `low` to `high`, both included; generated from `start` upwards."""

    low: int
    high: int
    start: int = 0

    @property
    def size(self) -> int:
        return self.high - self.start + 1

    def nth(self, index: int) -> int:
        return self.start + index

    def between(self, low: int, high: int) -> Integers:
        low, high = max(low, self.low), min(high, self.high)
        return Integers(low, high, self.start if low <= self.start <= high else low)


@dataclass(frozen=True, slots=True)
class Floats(Domain):
    """Floating-point numbers of 32 or 64 bits without NaN."""

    bits: int

    @property
    def size(self) -> int:
        return 1 << 24 if self.bits == 32 else 1 << 53

    def nth(self, index: int) -> float:
        return float(index)


@dataclass(frozen=True, slots=True)
class Decimals(Domain):
    """Decimal numbers of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    @property
    def size(self) -> int:
        return int(10**self.precision)

    def nth(self, index: int) -> Decimal:
        return Decimal(index).scaleb(-self.scale)


_PLAIN = 8
"""Digits of a generated text, which are enough for nearly every workload."""
_MARK = ord("9") - _PLAIN
"""So that nine digits begin with a colon, which sorts behind every digit."""


@dataclass(frozen=True, slots=True)
class Texts(Domain):
    """Text of at most `most` bytes in UTF-8, without U+0000.

    `characters` are the only ones allowed, or None; `width` is the one length allowed, or None.
    """

    most: int
    characters: str | None = None
    width: int | None = None

    @property
    def size(self) -> int:
        if self.width is None and self.most > _PLAIN:
            return int(10 ** min(max(self.most - 1, _PLAIN), 18))
        return int(10 ** min(self.width or self.most, 18))

    def nth(self, index: int) -> str:
        """Digits; more than eight have a mark before them that sorts by their number."""
        digits = str(index)
        if self.width is None and len(digits) > _PLAIN:
            return chr(_MARK + len(digits)) + digits
        return digits.rjust(self.width or min(self.most, _PLAIN), "0")

    def some(self, indexes: np.ndarray[Any, Any]) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.width is None and len(indexes) and int(indexes.max()) >= 10**_PLAIN:
            return pa.array([self.nth(index) for index in indexes.tolist()], pa.string())
        width = self.width or min(self.most, _PLAIN)
        return pc.utf8_lpad(pa.array(indexes).cast(pa.string()), width, "0")

    def of_length(self, least: int, most: int) -> Texts:
        return self if self.width else replace(self, most=min(most, self.most))


@dataclass(frozen=True, slots=True)
class HexTexts(Domain):
    """Text of exactly `width` hexadecimal digits in lower case, as digests are written."""

    width: int

    @property
    def size(self) -> int:
        return int(16 ** min(self.width, 14))

    def nth(self, index: int) -> str:
        return f"{index:0{self.width}x}"

    def drawn(self, indexes: np.ndarray[Any, Any]) -> Any:
        import pyarrow as pa

        rows = scattered_bytes(indexes, 4 * self.width)
        return column_of(hex_digits(rows, self.width), pa.string())


@dataclass(frozen=True, slots=True)
class Blobs(Domain):
    """Byte strings of at most `most` bytes; `width` is the one length allowed, or None.

    Those that are drawn begin with `lead`: a number, and of how many bits.
    """

    most: int
    width: int | None = None
    lead: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        return int(256 ** min(self.width or self.most, 7))

    def nth(self, index: int) -> bytes:
        return index.to_bytes(self._length, "big")

    @property
    def _length(self) -> int:
        """How long the values are that are numbered."""
        return self.width or min(self.most, 8)

    def drawn(self, indexes: np.ndarray[Any, Any]) -> Any:
        import pyarrow as pa

        return column_of(scattered_bytes(indexes, 8 * self._length, self.lead), pa.binary())

    def of_length(self, least: int, most: int) -> Blobs:
        most = min(most, self.most) if self.width is None else self.width
        return replace(self, most=most, width=most if least == most else self.width)


@dataclass(frozen=True, slots=True)
class Choices(Domain):
    """One of the listed values."""

    values: tuple[Any, ...]

    @property
    def size(self) -> int:
        return len(self.values)

    def nth(self, index: int) -> Any:
        return self.values[index]


@dataclass(frozen=True, slots=True)
class Through(Domain):
    """Values that stand for numbers or bytes of another domain, in the same order.

    Args:
        base: the domain they stand for.
        release: gives the value that stands for one of it.
    """

    base: Domain
    release: Any

    @property
    def size(self) -> int:
        return self.base.size

    def nth(self, index: int) -> Any:
        return self.release(self.base.nth(index))

    def drawn(self, indexes: np.ndarray[Any, Any]) -> Any:
        held = self.base.drawn(indexes)
        return list(map(self.release, held if isinstance(held, list) else held.to_pylist()))

    def of_length(self, least: int, most: int) -> Through:
        return replace(self, base=self.base.of_length(least, most))

    def between(self, low: int, high: int) -> Through:
        return replace(self, base=self.base.between(low, high))
