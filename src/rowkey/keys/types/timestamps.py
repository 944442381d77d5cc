"""Instants since 1970 in UTC, counted in seconds or in parts of one."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused, shown
from rowkey.keys.codecs.calendar import Calendar
from rowkey.keys.codecs.numbers import BigEndian, twos_complement
from rowkey.keys.types.domains import Integers
from rowkey.keys.types.field_type import Encoding, FieldType
from rowkey.keys.types.integers import whole_number
from rowkey.keys.types.values import list_values

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.batches.pieces import Ints
    from rowkey.keys.codecs.codec import Codec
    from rowkey.schema import Value

LAST = (1 << 63) - 1
_FRACTION = re.compile(r"[.,](\d{1,18})")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
GENERATED_FROM_S = 1_704_067_200
"""2024-01-01T00:00:00Z, where generated events begin."""


class Timestamp(FieldType):
    """An instant; `unit` is s, ms, us or ns, and the values are whole numbers of it since 1970."""

    unit: ClassVar[str]
    per_second: ClassVar[int]
    plain = True
    counts = True
    numbers = (0, LAST)
    encodings: ClassVar = {
        "": Encoding("8 bytes big-endian, 0 to 2^63-1"),
        "u32": Encoding("whole seconds in 4 bytes; the fraction is lost"),
        "calendar": Encoding("digits yyyyMMddHHmmss and those of the fraction, UTC, 1970 to 9999"),
    }

    @property
    def domain(self) -> Integers:
        return Integers(0, LAST, GENERATED_FROM_S * self.per_second)

    def hold(self, value: Value) -> int:
        if isinstance(value, datetime):
            value = self._counted(value)
        elif type(value) is not int:
            value = whole_number(value, self.name)
        if not 0 <= value <= LAST:
            raise Refused("", f"{shown(value)} is out of range", "0..2^63-1, from 1970 on")
        return int(value)

    def _counted(self, value: datetime) -> int:
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        microseconds = (aware - EPOCH) // timedelta(microseconds=1)
        count, lost = divmod(microseconds * self.per_second, 1_000_000)
        if lost:
            raise Refused("", f"{value} is finer than {self.unit}", f"whole {self.unit}")
        return count

    def parse(self, text: str) -> int:
        """A count in the type's unit, or an ISO 8601 instant with its dashes.

        Digits alone are always a count, however many: `20240131` may be either, and a column must
        not change its meaning from row to row.
        """
        stripped = text.strip()
        if len(stripped) > 40:
            raise Refused("", f"{text[:60]!r} is not an instant")
        if stripped.isdecimal() and stripped.isascii():
            return self.hold(int(stripped))
        fraction = _FRACTION.search(stripped)
        try:
            instant = datetime.fromisoformat(_FRACTION.sub("", stripped, count=1))
        except ValueError:
            raise Refused(
                "",
                f"{text!r} is not an instant",
                f"{self.unit} since 1970, or 2024-01-31T23:59:59Z",
            ) from None
        return self.hold(self._counted(instant) + self._parts(fraction[1] if fraction else ""))

    def _parts(self, digits: str) -> int:
        """The digits of a fraction of a second in the type's unit."""
        parts, lost = divmod(int(digits.ljust(18, "0")), 10**18 // self.per_second)
        if lost:
            raise Refused("", f"0.{digits} s is finer than {self.unit}", f"whole {self.unit}")
        return parts

    def show(self, value: Value) -> str:
        """The instant as ISO 8601 in UTC where a calendar has it, else the count."""
        seconds, fraction = divmod(self.hold(value), self.per_second)
        if seconds > 253_402_300_799:
            return str(value)
        digits = len(str(self.per_second)) - 1
        shown = (EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{shown}.{fraction:0{digits}d}Z" if digits else f"{shown}Z"

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        if encoding == "u32":
            lost = "the fraction of the second" if self.per_second > 1 else ""
            return BigEndian(4, 0, (1 << 32) - 1, per=self.per_second, lost=lost)
        if encoding == "calendar":
            return Calendar(self.per_second)
        return BigEndian(8, 0, LAST, top=LAST)

    def own(self) -> Codec:
        return twos_complement(8, 0, LAST)

    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.timestamp(self.unit, "UTC")

    def cast(self, array: pa.Array) -> pa.Array | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        first = str(array[0]) if len(array) else ""
        if "-" not in first[:8]:
            return None
        zoned = first.endswith("Z") or first[10:][-6:-5] in ("+", "-")
        try:
            found = array.cast(pa.timestamp(self.unit, "UTC" if zoned else None)).cast(self.arrow())
        except pa.ArrowInvalid:
            return None
        earliest = pc.min(found.cast(pa.int64())).as_py()
        return found if earliest is not None and earliest >= 0 else None

    def physical(self, array: pa.Array) -> Ints:
        import numpy as np
        import pyarrow as pa

        counts = self._counts(array)
        if pa.types.is_uint64(counts.type) or not pa.types.is_integer(counts.type):
            counts = pa.array([self.hold(value) for value in list_values(counts)], pa.int64())
        numbers: Ints = counts.to_numpy().astype(np.int64, copy=False)
        if len(numbers) and int(numbers.min()) < 0:
            raise Refused("", f"{numbers.min()} is out of range", "0..2^63-1, from 1970 on")
        return numbers

    def _counts(self, array: pa.Array) -> pa.Array:
        """The instants as whole numbers of the unit."""
        import pyarrow as pa

        kind = array.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            try:
                return array.cast(pa.timestamp(self.unit, getattr(kind, "tz", None))).cast(
                    pa.int64()
                )
            except pa.ArrowInvalid as problem:
                raise Refused("", f"a column of {kind}: {problem}", f"whole {self.unit}") from None
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return pa.array([self.parse(text) for text in array.to_pylist()], pa.int64())
        return array

    def column(self, physical: Any) -> pa.Array:
        import pyarrow as pa

        return pa.array(physical, pa.int64()).cast(self.arrow())

    def listed(self, physical: Any) -> list[Value]:
        return list(map(int, physical.tolist()))
