"""A field as a part of a key."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import Domain
from rowkey.keys.batches.byte_columns import ByteColumn, IntArray
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.declared_field import Field
from rowkey.keys.part_interface import Part, Row, RowEncoder
from rowkey.keys.traits import (
    Alphabet,
    Compatibility,
    Framing,
    Images,
    Order,
    Residue,
    find_pinned_values,
)
from rowkey.schema import Bounds, Equal, FieldRef, OneOf, Range, StartsWith, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch
    from rowkey.keys.batches.encoded_keys import EncodedKeys


class FieldPart(Part):
    """The part of a key that stores one field in one encoding."""

    name = "field"

    def __init__(self, field: Field, codec: Codec, reference: FieldRef) -> None:
        self.field = field
        self.codec = codec
        self.reference = reference
        self.fields = (field.name,)
        self.order = codec.order
        self.alphabet = codec.alphabet
        self.cardinality = codec.cardinality
        self.inversion_text = codec.inversion_text
        unit_ns = field.type.unit_ns
        self.resolution_ns = None if unit_ns is None else unit_ns * codec.divisor

    @property
    def title(self) -> str:
        return f"{self.field.name}, which is {self.field.type.name}"

    @property
    def framing(self) -> Framing:
        return self.codec.framing

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return self.codec.first_byte_alphabet

    @property
    def narrower_reference(self) -> FieldRef | None:
        """The field in a shorter encoding with the same order and values; None if there is none."""
        encoding = self.field.type.find_narrower_encoding(self.codec)
        return None if encoding is None else FieldRef(self.field.name, encoding)

    def encode(self, row: Row) -> bytes:
        return self.pack_internal(self.field.to_internal(row[self.field.name]))

    def restrict_domain(self, name: str, domain: Domain) -> Domain:
        return self.codec.restrict_domain(domain) if name == self.field.name else domain

    def pack_internal(self, internal: Any) -> bytes:
        """Return the bytes of an internal form.

        Raises:
            RowError: the encoding cannot hold it.
        """
        try:
            return self.codec.pack(internal)
        except InvalidArgument as refusal:
            raise self.field.to_row_error(refusal) from None

    def pack_internal_batch(self, internal: Any) -> ByteColumn:
        """Return the bytes of many internal forms.

        Raises:
            RowError: the encoding cannot hold one.
        """
        try:
            return self.codec.pack_batch(internal)
        except InvalidArgument as refusal:
            raise self.field.to_row_error(refusal) from None

    def compile_encoder(self) -> RowEncoder:
        field, name = self.field, self.field.name
        pack = self.codec.compile_packer(field.type.to_internal)

        def encode_checked(row: Row) -> bytes:
            """Return the bytes of the field; a missing or wrong value raises an error."""
            try:
                return pack(row[name])
            except InvalidArgument as refusal:
                raise field.to_row_error(refusal) from None

        return (
            self.codec.compile_row_packer(name, encode_checked)
            if field.type.is_plain_integer
            else encode_checked
        )

    def residue(self, name: str) -> Residue:
        return self.codec.residue if name == self.field.name else super().residue(name)

    def images(self, bounds: Bounds) -> Images:
        match bounds.get(self.field.name):
            case None:
                return self._unbounded_images
            case Equal(None):
                return Images.build_empty()
            case Range() as bound:
                return self._find_range_images(bound)
            case StartsWith(prefix):
                return self._find_prefix_images(prefix)
            case _:
                values = find_pinned_values(bounds, self.field.name) or ()
                present_values = tuple(value for value in values if value is not None)
                pinned = self.find_pinned_images({self.field.name: OneOf(present_values)})
                return pinned or Images.build_unbounded(exact=False)

    @cached_property
    def _unbounded_images(self) -> Images:
        """All encodings where the declaration lists the values; else unbounded images."""
        listed = self.field.type.possible_values
        if listed is None:
            return Images.build_unbounded(exact=True)
        return Images.from_points((self.encode({self.field.name: v}) for v in listed), exact=True)

    def _find_range_images(self, bound: Range) -> Images:
        """Return the interval from the encoding of the lower end to that of the upper end.

        An end that cannot be encoded leaves its side open.
        """
        low, high = self._encode_edge(bound.low), self._encode_edge(bound.high)
        is_widened = (low is None) != (bound.low is None) or (high is None) != (bound.high is None)
        is_strict = self.order.is_strict and self.framing.is_self_delimiting
        excludes_low, excludes_high = not bound.includes_low, not bound.includes_high
        if self.order is Order.STRICT and not is_strict:
            return _find_open_images(low, high, bound, is_exact=not is_widened)
        if self.order.is_descending:
            low, high, excludes_low, excludes_high = high, low, excludes_high, excludes_low
        elif not self.order.is_ascending:
            return Images.build_unbounded(exact=False)
        if is_strict and low is not None and excludes_low and not (low := _find_next_prefix(low)):
            return Images.build_empty()
        if (
            is_strict
            and high is not None
            and excludes_high
            and not (high := _find_previous_string(high))
        ):
            return Images.build_empty()
        return Images.from_prefixes(low or b"", high or b"", exact=is_strict and not is_widened)

    def _encode_edge(self, value: Value) -> bytes | None:
        """Return the bytes of one end of a range; None if it is open or cannot be encoded."""
        return None if value is None else self.try_encode({self.field.name: value})

    def _find_prefix_images(self, prefix: Value) -> Images:
        """Return the interval of all encodings of values that start with a prefix."""
        try:
            encoded_prefix = self.codec.pack_prefix(prefix)
        except (AttributeError, TypeError):
            encoded_prefix = None
        if encoded_prefix is None:
            return Images.build_unbounded(exact=False)
        return Images.from_prefixes(encoded_prefix, encoded_prefix, exact=True)

    def find_end(self, data: bytes, at: int) -> int:
        return self.codec.find_end(data, at)

    def decode(self, piece: bytes) -> dict[str, Value]:
        internal = self.codec.unpack(piece)
        if not self.codec.residue.is_empty:
            return {}
        return {self.field.name: self.field.type.from_internal(internal)}

    def check(self, piece: bytes) -> None:
        self.codec.unpack(piece)

    def check_batch(self, pieces: ByteColumn) -> None:
        self.codec.unpack_batch(pieces)

    def describe_encoding(self) -> str:
        encoding = self.field.type.encodings[self.reference.encoding]
        arguments = zip(encoding.arguments, self.reference.arguments, strict=True)
        argument_text = ", ".join(f"{name} = {value}" for name, value in arguments)
        text = f"{self.field.name} as {self.field.type.name}: {encoding.description}"
        return f"{text} ({argument_text})" if argument_text else text

    def format_piece(self, piece: bytes) -> str:
        value = self.field.type.from_internal(self.codec.unpack(piece))
        return self.field.type.format_value(value)

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return self.pack_internal_batch(columns.find_values(self.field.name))

    def find_ends(self, keys: EncodedKeys, at: IntArray) -> IntArray:
        terminator = self.codec.terminator
        return (
            keys.find_after(terminator, at)
            if terminator is not None
            else super().find_ends(keys, at)
        )

    def decode_batch(self, pieces: ByteColumn) -> dict[str, Any]:
        if not self.codec.residue.is_empty:
            return {}
        values = self.codec.unpack_batch(pieces)
        if isinstance(values, list):
            values = [self.field.type.from_internal(internal) for internal in values]
        return {self.field.name: values}

    def check_compatibility(self, new: Part) -> Compatibility:
        """Return what happens to stored rows: new bytes break keys, else the type decides."""
        if not isinstance(new, FieldPart) or self.reference != new.reference:
            return Compatibility.BREAKS
        if self.codec.byte_layout != new.codec.byte_layout:
            return Compatibility.BREAKS
        return self.field.type.check_compatibility(new.field.type)

    def replace_codec(self, codec: Codec) -> FieldPart:
        """Return the same field in another encoding."""
        return type(self)(self.field, codec, self.reference)

    def to_descending(self) -> FieldPart:
        return self.replace_codec(self.codec.to_descending())

    def to_plain(self) -> FieldPart:
        if self.reference.encoding:
            raise InvalidArgument(
                "",
                f"the encoding of {self.reference} has no effect inside a function",
                f"{self.reference.name} without an encoding",
                f"Write {self.reference.name} alone: the function reads the value itself.",
            )
        return self.replace_codec(self.field.type.build_plain_codec())

    def __repr__(self) -> str:
        return f"{self.reference}={self.field.type!r}/{self.codec!r}"


class NumberPart(Part):
    """A part that has a whole number as its value: an integer, a date, or a time in its own unit.

    Transforms over numbers take such parts, and may be such parts themselves, so that they nest.
    """

    low: int
    high: int
    unit_ns: int | None
    """Nanoseconds of one unit, for times."""
    number_resolution_ns: int | None
    """Nanoseconds within which the number does not change, for times."""

    @abstractmethod
    def compute_number(self, row: Row) -> int:
        """Return the number of one row."""

    @abstractmethod
    def compute_numbers(self, columns: ColumnBatch) -> IntArray:
        """Return the part's value as a number for each row."""

    @abstractmethod
    def pack(self, number: int) -> bytes:
        """Return the part's bytes for a number."""

    @abstractmethod
    def pack_batch(self, numbers: IntArray) -> ByteColumn:
        """Return the part's bytes for many numbers."""

    @abstractmethod
    def unpack(self, piece: bytes) -> int:
        """Return the number that the part's bytes stand for."""

    @abstractmethod
    def to_field_value(self, number: int) -> Value:
        """Return the value of the field that a number stands for."""


class NumberFieldPart(FieldPart, NumberPart):
    """A field with whole numbers as internal forms."""

    def __init__(self, field: Field, codec: Codec, reference: FieldRef) -> None:
        super().__init__(field, codec, reference)
        self.low, self.high = field.type.number_range
        self.unit_ns = self.number_resolution_ns = field.type.unit_ns

    def compute_number(self, row: Row) -> int:
        return int(self.field.to_internal(row[self.field.name]))

    def compute_numbers(self, columns: ColumnBatch) -> IntArray:
        numbers: IntArray = columns.find_values(self.field.name)
        return numbers

    def pack(self, number: int) -> bytes:
        return self.pack_internal(number)

    def pack_batch(self, numbers: IntArray) -> ByteColumn:
        return self.pack_internal_batch(numbers)

    def unpack(self, piece: bytes) -> int:
        return int(self.codec.unpack(piece))

    def to_field_value(self, number: int) -> Value:
        return self.field.type.from_internal(number)


def build_field_part(field: Field, codec: Codec, reference: FieldRef) -> FieldPart:
    """Return the part of a field; a NumberFieldPart where the type has whole numbers."""
    part_class = NumberFieldPart if field.type.has_integer_form else FieldPart
    return part_class(field, codec, reference)


def _find_open_images(
    low: bytes | None, high: bytes | None, bound: Range, *, is_exact: bool
) -> Images:
    """Return the interval between two encodings of the last part, which has no terminator.

    All strings below one that does not end in 00 begin with at most the string before it; strings
    above one begin where 00 is added to it.

    Args:
        low: the encoding of the lower end; None leaves the side open.
        high: the encoding of the upper end.
        bound: says whether the ends are included.
        is_exact: whether both ends have an encoding.
    """
    if low is not None and not bound.includes_low:
        low += b"\0"
    if high and not bound.includes_high and high[-1]:
        high = _find_previous_string(high)
    else:
        is_exact &= high is None
    return Images.from_prefixes(low or b"", high or b"", exact=is_exact)


def _find_next_prefix(piece: bytes) -> bytes:
    """Return the smallest prefix above all strings with this one; empty if there is none.

    >>> _find_next_prefix(b"a\\xff"), _find_next_prefix(b"\\xff")
    (b'b', b'')
    """
    stem = piece.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else b""


def _find_previous_string(piece: bytes) -> bytes:
    """Return the greatest string of the same length below this one; empty if there is none.

    >>> _find_previous_string(b"b\\x00"), _find_previous_string(b"\\x00")
    (b'a\\xff', b'')
    """
    stem = piece.rstrip(b"\0")
    zeros = len(piece) - len(stem)
    return stem[:-1] + bytes([stem[-1] - 1]) + b"\xff" * zeros if stem else b""
