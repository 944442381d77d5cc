"""The values of a field type, in a form from which tests and workloads can generate values.

Each domain numbers its values: `generate_value(0)`, `generate_value(1)` … are different and ascend.
`draw_value` gives the values that a workload would have: a UUID or a digest from the whole range, a
number from the smallest ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from rowkey.array_libraries import np, pa, pc
from rowkey.keys.base_types.generated_bytes import (
    build_arrow_column,
    format_hex_digits,
    generate_bytes,
)


class Domain(ABC):
    """The values that a field type can have, by index."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of values that `generate_value` can return."""

    @abstractmethod
    def generate_value(self, index: int) -> Any:
        """Return the value at an index from 0 to `size` - 1; larger indexes have larger values."""

    def generate_values(self, indexes: np.ndarray[Any, Any]) -> Any:
        """Return the values at many indexes, in a form from which Arrow builds an array."""
        return [self.generate_value(index) for index in indexes.tolist()]

    def draw_values(self, indexes: np.ndarray[Any, Any]) -> Any:
        """Return a value for each index, as a generated workload draws them."""
        return self.generate_values(indexes)

    def draw_value(self, index: int) -> Any:
        """Return the value that `draw_values` gives for one index."""
        value = self.draw_values(np.array([index], np.int64))[0]
        return value.as_py() if hasattr(value, "as_py") else value

    def limit_length(self, min_bytes: int, max_bytes: int) -> Domain:
        """Return the domain of the values whose length in bytes lies between two limits."""
        return self

    def limit_range(self, low: int, high: int) -> Domain:
        """Return the domain of the numbers between two limits, both included."""
        return self


@dataclass(frozen=True, slots=True)
class IntegerDomain(Domain):
    """Whole numbers from `low` to `high`, both included; generated from `start` upwards."""

    low: int
    high: int
    start: int = 0

    @property
    def size(self) -> int:
        return self.high - self.start + 1

    def generate_value(self, index: int) -> int:
        return self.start + index

    def limit_range(self, low: int, high: int) -> IntegerDomain:
        low, high = max(low, self.low), min(high, self.high)
        return IntegerDomain(low, high, self.start if low <= self.start <= high else low)


@dataclass(frozen=True, slots=True)
class FloatDomain(Domain):
    """Floating-point numbers of 32 or 64 bits without NaN."""

    bits: int

    @property
    def size(self) -> int:
        return 1 << 24 if self.bits == 32 else 1 << 53

    def generate_value(self, index: int) -> float:
        return float(index)


@dataclass(frozen=True, slots=True)
class DecimalDomain(Domain):
    """Decimal numbers of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    @property
    def size(self) -> int:
        return int(10**self.precision)

    def generate_value(self, index: int) -> Decimal:
        return Decimal(index).scaleb(-self.scale)


_DEFAULT_DIGITS = 8
"""Digits of a generated text, enough for nearly every workload."""
_LENGTH_MARK = ord("9") - _DEFAULT_DIGITS
"""Added to a count of digits, gives its mark: nine digits begin with a colon, after all digits."""


@dataclass(frozen=True, slots=True)
class TextDomain(Domain):
    """Text of at most `max_bytes` bytes in UTF-8, without U+0000.

    `characters` are the allowed characters, and `width` the only allowed length, if not None.
    """

    max_bytes: int
    characters: str | None = None
    width: int | None = None

    @property
    def size(self) -> int:
        if self.width is None and self.max_bytes > _DEFAULT_DIGITS:
            return int(10 ** min(max(self.max_bytes - 1, _DEFAULT_DIGITS), 18))
        return int(10 ** min(self.width or self.max_bytes, 18))

    def generate_value(self, index: int) -> str:
        """Return digits; more than eight begin with a mark that sorts by their count."""
        digits = str(index)
        if self.width is None and len(digits) > _DEFAULT_DIGITS:
            return chr(_LENGTH_MARK + len(digits)) + digits
        return digits.rjust(self.width or min(self.max_bytes, _DEFAULT_DIGITS), "0")

    def generate_values(self, indexes: np.ndarray[Any, Any]) -> Any:
        if self.width is None and len(indexes) and int(indexes.max()) >= 10**_DEFAULT_DIGITS:
            return pa.array([self.generate_value(index) for index in indexes.tolist()], pa.string())
        width = self.width or min(self.max_bytes, _DEFAULT_DIGITS)
        return pc.utf8_lpad(pa.array(indexes).cast(pa.string()), width, "0")

    def limit_length(self, min_bytes: int, max_bytes: int) -> TextDomain:
        return self if self.width else replace(self, max_bytes=min(max_bytes, self.max_bytes))


@dataclass(frozen=True, slots=True)
class HexDomain(Domain):
    """Text of exactly `width` hexadecimal digits in lower case, as digests are written."""

    width: int

    @property
    def size(self) -> int:
        return int(16 ** min(self.width, 14))

    def generate_value(self, index: int) -> str:
        return f"{index:0{self.width}x}"

    def draw_values(self, indexes: np.ndarray[Any, Any]) -> Any:
        rows = generate_bytes(indexes, 4 * self.width)
        return build_arrow_column(format_hex_digits(rows, self.width), pa.string())


@dataclass(frozen=True, slots=True)
class BytesDomain(Domain):
    """Byte strings of at most `max_bytes` bytes; `width` is the only allowed length, or None.

    Drawn values begin with `leading_bits`: a number, and its count of bits.
    """

    max_bytes: int
    width: int | None = None
    leading_bits: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        return int(256 ** min(self.width or self.max_bytes, 7))

    def generate_value(self, index: int) -> bytes:
        return index.to_bytes(self._value_length, "big")

    @property
    def _value_length(self) -> int:
        """The bytes of each generated value."""
        return self.width or min(self.max_bytes, 8)

    def draw_values(self, indexes: np.ndarray[Any, Any]) -> Any:
        return build_arrow_column(
            generate_bytes(indexes, 8 * self._value_length, self.leading_bits), pa.binary()
        )

    def limit_length(self, min_bytes: int, max_bytes: int) -> BytesDomain:
        max_bytes = min(max_bytes, self.max_bytes) if self.width is None else self.width
        return replace(
            self, max_bytes=max_bytes, width=max_bytes if min_bytes == max_bytes else self.width
        )


@dataclass(frozen=True, slots=True)
class ChoiceDomain(Domain):
    """One of the listed values."""

    values: tuple[Any, ...]

    @property
    def size(self) -> int:
        return len(self.values)

    def generate_value(self, index: int) -> Any:
        return self.values[index]


@dataclass(frozen=True, slots=True)
class MappedDomain(Domain):
    """The values of another domain, converted by a function that keeps their order.

    Args:
        base: the other domain.
        from_internal: converts a value of it.
        from_internal_column: converts an Arrow column of such values; each for itself if None.
    """

    base: Domain
    from_internal: Any
    from_internal_column: Callable[[pa.Array], pa.Array] | None = None

    @property
    def size(self) -> int:
        return self.base.size

    def generate_value(self, index: int) -> Any:
        return self.from_internal(self.base.generate_value(index))

    def draw_values(self, indexes: np.ndarray[Any, Any]) -> Any:
        base_values = self.base.draw_values(indexes)
        if self.from_internal_column is not None:
            return self.from_internal_column(base_values)
        return list(
            map(
                self.from_internal,
                base_values if isinstance(base_values, list) else base_values.to_pylist(),
            )
        )

    def limit_length(self, min_bytes: int, max_bytes: int) -> MappedDomain:
        return replace(self, base=self.base.limit_length(min_bytes, max_bytes))

    def limit_range(self, low: int, high: int) -> MappedDomain:
        return replace(self, base=self.base.limit_range(low, high))
