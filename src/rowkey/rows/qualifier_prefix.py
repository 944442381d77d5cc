"""The prefix of each qualifier: fields that distinguish the events of one row.

It has the remainders of time slices, then the fields placed in the qualifier, each encoded as in a
key; the column's own qualifier follows. It is bound as a key of its own, whose last part is the
column's name, so that the encoders and decoders of keys work for it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument, Mistakes, RowError
from rowkey.keys import (
    Field,
    Images,
    Key,
    NullablePart,
    NumberPart,
    Part,
    Row,
    TimeRemainder,
    bind_fields,
    build_key,
    complement_bytes,
)
from rowkey.messages import pluralize
from rowkey.rows.batches.arrays import find_column
from rowkey.rows.placement_interface import ValueSize
from rowkey.schema import (
    Bound,
    Bounds,
    Equal,
    FieldDeclaration,
    FieldRef,
    FunctionCall,
    OneOf,
    Range,
    Term,
    Value,
)

COLUMN_NAME_FIELD = "\0name"
"""The column's own qualifier, as a field; no declared field can have this name."""

NULL_MARKER = b"\0"
"""The marker of a null in a key, which is also left out at its end."""


@dataclass(frozen=True)
class KeyTimeSlice:
    """A part of the row key with the start of a time slice; the remainder is in the qualifier.

    Args:
        part_index: its index among the parts of the key.
        part: the slice itself.
        remainder: the remainder of the time, which is in the qualifier.
    """

    part_index: int
    part: NumberPart
    remainder: TimeRemainder
    field: Field
    nullable: bool

    @property
    def remainder_name(self) -> str:
        """The name of the field that has the remainder in the qualifier's own key."""
        return f"\0{self.part_index}"

    @property
    def source_part(self) -> NumberPart:
        """The part whose number is sliced."""
        (source,) = self.part.children
        assert isinstance(source, NumberPart)
        return source

    @property
    def is_lossless(self) -> bool:
        """Whether slice and remainder together give the exact time.

        They do not if the time was truncated before it was sliced, or if the encoding loses a part
        of the start of a slice.
        """
        source = self.source_part
        lost = (source.resolution_ns or 1) // (source.unit_ns or 1)
        return not source.children and self.remainder.length_units % max(lost, 1) == 0

    def compute_remainder(self, row: Row) -> int:
        """Return the remainder of a row's time within its slice; 0 for null."""
        if self.nullable and row.get(self.remainder.field) is None:
            return 0
        return self.source_part.compute_number(row) % self.remainder.length_units

    def compute_remainders(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the remainders of many rows' times within their slices; 0 for null."""
        from rowkey.keys import ColumnBatch

        columns = ColumnBatch.from_batch(batch, [self.field])
        is_null = columns.find_nulls(self.field.name) if self.nullable else None
        if is_null is None:
            is_null = np.zeros(len(columns), np.bool_)
        remainders = np.zeros(len(columns), np.int64)
        present = np.flatnonzero(~is_null)
        if len(present):
            numbers = self.source_part.compute_numbers(columns.take(present))
            remainders[present] = numbers % numbers.dtype.type(self.remainder.length_units)
        return pa.array(remainders)

    def compile_encoder(self) -> Callable[[Row], bytes]:
        """Return a function that encodes the remainder of a row's time."""
        compute, width = self.compute_remainder, self.remainder.width
        if self.remainder.descending:
            return lambda row: complement_bytes(compute(row).to_bytes(width, "big"))
        return lambda row: compute(row).to_bytes(width, "big")

    def decode_start(self, pieces: Sequence[bytes]) -> int | None:
        """Return the start of the slice from the parts of a row key; None for null.

        Raises:
            InvalidArgument: the bytes are not a slice.
        """
        piece = pieces[self.part_index]
        if self.nullable:
            if piece in (b"", NULL_MARKER):
                return None
            piece = piece[1:]
        return self.part.unpack(piece)

    def compute_time(self, start: int | None, remainder: int) -> Value:
        """Return the time of an event from its slice and its remainder.

        Raises:
            InvalidArgument: the remainder lies outside the slice.
        """
        if not 0 <= remainder < self.remainder.length_units or (start is None and remainder):
            what = f"{remainder} is not a position of {self.field.name} in the key's time slice"
            raise InvalidArgument("", what, f"0 to {self.remainder.length_units - 1}")
        if start is None:
            return None
        if not self.source_part.low <= start + remainder <= self.source_part.high:
            what = (
                f"{start + remainder} is not a valid {self.field.type.name} for {self.field.name}"
            )
            raise InvalidArgument("", what)
        return self.source_part.to_field_value(start + remainder)

    def convert_bound(self, bound: Bound) -> Bound | None:
        """Convert a bound of the time to one of the remainder; None if it spans several slices."""
        match bound:
            case Equal(value):
                remainder = self._find_remainder(value)
                return None if remainder is None else Equal(remainder)
            case OneOf(values):
                remainders = [self._find_remainder(value) for value in values]
                distinct_remainders = tuple(
                    dict.fromkeys(remainder for remainder in remainders if remainder is not None)
                )
                return (
                    OneOf(distinct_remainders)
                    if distinct_remainders and None not in remainders
                    else None
                )
            case Range(low, high):
                return self._convert_range(low, high)
        return None

    def _find_remainder(self, value: Value) -> int | None:
        """Return the remainder of a time; None if the time cannot be encoded."""
        try:
            return self.compute_remainder({self.remainder.field: value})
        except RowError:
            return None

    def _convert_range(self, low: Value, high: Value) -> Bound | None:
        """Return the range of remainders, ends included, of a time range within one slice."""
        if low is None or high is None:
            return None
        try:
            first, last = (
                self.source_part.compute_number({self.remainder.field: end}) for end in (low, high)
            )
        except RowError:
            return None
        units = self.remainder.length_units
        return Range(first % units, last % units) if first // units == last // units else None


class QualifierPrefix:
    """Encodes and decodes the fields at the start of an event's qualifiers.

    Args:
        fields: the fields placed in the qualifier, in their order.
    """

    def __init__(self, slices: Sequence[KeyTimeSlice], fields: Sequence[Field]) -> None:
        self.slices = tuple(slices)
        self.fields = tuple(fields)
        self.key = self._build_key()
        self.parts = self.key.parts[:-1]
        self._encoders = [slice_.compile_encoder() for slice_ in self.slices]
        self._encoders += [part.compile_encoder() for part in self.parts[len(self.slices) :]]
        widths = [part.framing.width for part in self.parts]
        self.width_bytes = None if None in widths else sum(width or 0 for width in widths)
        """The length of the prefix in bytes, if all rows have the same; else None."""

    @property
    def field_names(self) -> tuple[str, ...]:
        """The fields that it encodes: the times of slices, then those placed in the qualifier."""
        return tuple(field.name for field in (*(one.field for one in self.slices), *self.fields))

    def _build_key(self) -> Key:
        """Return a key whose parts are those of the prefix, followed by the column's name."""
        words = {
            one.remainder_name: FieldDeclaration(type=f"u{8 * one.remainder.width}")
            for one in self.slices
        }
        mistakes = Mistakes()
        declared = bind_fields(
            {**words, COLUMN_NAME_FIELD: FieldDeclaration(type="bytes")}, mistakes
        )
        terms: list[Term] = []
        for one in self.slices:
            rest = FieldRef(one.remainder_name)
            terms.append(FunctionCall("desc", (rest,)) if one.remainder.descending else rest)
        terms += [FieldRef(field.name) for field in self.fields]
        terms.append(FieldRef(COLUMN_NAME_FIELD, "tail"))
        declared |= {field.name: field for field in self.fields}
        key = build_key(tuple(terms), declared, mistakes)
        assert key is not None, mistakes.mistakes
        return key

    def estimate_mean_bytes(self, value_sizes: Mapping[str, ValueSize]) -> float:
        """Return the mean bytes of the prefix, without the remainders of time slices.

        Args:
            value_sizes: the mean size of each field's values, and how many events have one.
        """
        parts = zip(self.fields, self.parts[len(self.slices) :], strict=True)
        return sum(
            _estimate_mean_bytes(field, part, value_sizes[field.name]) for field, part in parts
        )

    def encode(self, row: Row) -> bytes:
        """Return the prefix of the qualifiers of a row's cells.

        Raises:
            RowError: a field is missing, or its type does not allow the value.
        """
        try:
            return b"".join([write(row) for write in self._encoders])
        except KeyError as problem:
            name = str(problem.args[0])
            what = "the row has no value for this field, which is part of the qualifier"
            raise RowError(f"field {name}", what, remedy=f"Give {name}.") from None

    def find_end(self, qualifier: bytes) -> int:
        """Return the position in a qualifier at which the column's name begins.

        Raises:
            InvalidArgument: the qualifier is too short.
        """
        if self.width_bytes is not None:
            if len(qualifier) < self.width_bytes:
                what = f"the qualifier 0x{qualifier.hex()} is too short"
                raise InvalidArgument("", what, f"at least {pluralize(self.width_bytes, 'byte')}")
            return self.width_bytes
        at = 0
        for part in self.parts:
            at = part.find_end(qualifier, at)
        return at

    def decode(self, prefix: bytes, starts: Sequence[int | None]) -> dict[str, Value]:
        """Return the fields in the prefix of a qualifier, including the times of slices.

        Args:
            prefix: the bytes before the column's name.
            starts: the starts of the time slices, from the row key.

        Raises:
            RowError: the bytes are not a prefix.
            InvalidArgument: a remainder lies outside its slice.
        """
        values = self.key.decode(prefix)
        del values[COLUMN_NAME_FIELD]
        for one, start in zip(self.slices, starts, strict=True):
            time = one.compute_time(start, values.pop(one.remainder_name))
            if one.is_lossless:
                values[one.remainder.field] = time
        return values

    def find_slice_starts(self, row_key: Key, data: bytes) -> list[int | None]:
        """Return the starts of the time slices in a row key.

        Raises:
            InvalidArgument: the bytes are not a row key.
        """
        if not self.slices:
            return []
        pieces = row_key.split_pieces(data)
        return [one.decode_start(pieces) for one in self.slices]

    def encode_batch(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the qualifier prefixes of many events as Arrow bytes.

        Raises:
            RowError: as `encode`, for the first row with a mistake.
        """
        from rowkey.keys import build_missing_column_error

        no_name = pa.repeat(pa.scalar(b"", pa.binary()), batch.num_rows)
        columns: dict[str, Any] = {COLUMN_NAME_FIELD: no_name}
        for field in (*(one.field for one in self.slices), *self.fields):
            columns[field.name] = array = find_column(batch, field.name)
            if array is None:
                raise build_missing_column_error(field.name, batch)
        given = pa.RecordBatch.from_pydict(columns)
        for one in self.slices:
            columns[one.remainder_name] = one.compute_remainders(given)
        return self.key.encode_valid_batch(pa.RecordBatch.from_pydict(columns))

    def decode_batch(self, qualifiers: pa.Array) -> pa.RecordBatch:
        """Return the fields of many qualifiers, remainders and `COLUMN_NAME_FIELD` as columns.

        Raises:
            RowError: a qualifier cannot be decoded.
        """
        return self.key.decode_batch(qualifiers)

    def find_range(self, bounds: Bounds) -> tuple[bytes, bytes]:
        """Return the range of qualifiers of all events whose fields are within some bounds.

        Returns:
            Start, inclusive, and stop, exclusive; b"" for an open end.
        """
        prefix_bounds: dict[str, Bound] = {}
        for one in self.slices:
            bound = bounds.get(one.remainder.field)
            rest = None if bound is None else one.convert_bound(bound)
            if rest is not None:
                prefix_bounds[one.remainder_name] = rest
        prefix_bounds |= {f.name: bounds[f.name] for f in self.fields if f.name in bounds}
        start = b""
        for part in self.parts:
            images = _find_images(part, prefix_bounds)
            if not images.is_bounded or images.points == ():
                break
            if images.points is not None and len(images.points) == 1:
                start += images.points[0]
                continue
            if images.points is not None:
                return start + images.points[0], find_next_prefix(start + images.points[-1])
            low = min(interval.low for interval in images.intervals)
            highs = [interval.high for interval in images.intervals]
            high = max(highs) if all(highs) else b""
            return start + low, find_next_prefix(start + high)
        return start, find_next_prefix(start)


def find_time_slices(key: Key) -> list[KeyTimeSlice]:
    """Return the time slices among the parts of a row key."""
    slices = []
    for at, part in enumerate(key.parts):
        if part.time_remainder is None:
            continue
        inner = part.inner if isinstance(part, NullablePart) else part
        # A slice may lie within a desc.
        number = inner if isinstance(inner, NumberPart) else inner.children[0].to_descending()
        assert isinstance(number, NumberPart)
        field = key.fields[part.time_remainder.field]
        slices.append(
            KeyTimeSlice(at, number, part.time_remainder, field, isinstance(part, NullablePart))
        )
    return slices


def _find_images(part: Part, bounds: Bounds) -> Images:
    """Return the encodings of a part within bounds; a null is written, also at the end."""
    if isinstance(part, NullablePart) and bounds.get(part.field_name) in (
        Equal(None),
        OneOf((None,)),
    ):
        return Images.from_points([NULL_MARKER], exact=True)
    return part.images(bounds)


def _estimate_mean_bytes(field: Field, part: Part, value_size: ValueSize) -> float:
    """Return the mean bytes of a field's encoding, with its null marker and terminator."""
    inner = part.inner if isinstance(part, NullablePart) else part
    fixed = inner.framing.width
    longer = inner.framing.min_bytes - field.type.build_plain_codec().framing.min_bytes
    each = value_size.mean_bytes + longer if fixed is None else fixed
    return isinstance(part, NullablePart) + each * value_size.present_share


def find_next_prefix(prefix: bytes) -> bytes:
    """Return the first byte string after all that start with a prefix; b"" if there is none.

    >>> find_next_prefix(b"a"), find_next_prefix(b"a\\xff"), find_next_prefix(b"\\xff")
    (b'b', b'b', b'')
    """
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""
