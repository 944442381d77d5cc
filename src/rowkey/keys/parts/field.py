"""A declared field, and a field as a part of a key."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, RowError
from rowkey.keys.contract import Part, Row, Writer
from rowkey.keys.traits import Alphabet, Change, Framing, Images, Residue, pinned_values
from rowkey.schema import Bounds, Equal, FieldRef, FieldWords, OneOf, Range, StartsWith, Value

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.decoding import Encoded
    from rowkey.keys.batches.pieces import Ints, Pieces
    from rowkey.keys.codecs.codec import Codec
    from rowkey.keys.types.domains import Domain
    from rowkey.keys.types.field_type import FieldType


@dataclass(frozen=True, slots=True)
class Field:
    """A declared field, its type bound.

    Args:
        name: its name.
        type: its type.
        words: what was declared of it.
        nullable: whether a row may lack it.
        heavy: values that a bounded bucket spreads, as they were declared.
    """

    name: str
    type: FieldType
    words: FieldWords
    nullable: bool = False
    heavy: tuple[Any, ...] = ()

    def hold(self, value: Value) -> Any:
        """The held form of a value.

        Raises:
            RowError: the field has no such value.
        """
        try:
            return self.type.hold(value)
        except Refused as refusal:
            raise self.refused(refusal) from None

    def normal(self, value: Value) -> Value:
        """The value as reading it back gives it.

        Raises:
            RowError: the field has no such value.
        """
        return self.type.release(self.hold(value))

    def parse(self, text: str) -> Value:
        """The value written as text.

        Raises:
            RowError: the text is no value of the field.
        """
        try:
            return self.type.parse(text)
        except Refused as refusal:
            raise self.refused(refusal) from None

    def physical(self, array: pa.Array) -> Any:
        """The held forms of an Arrow array without nulls.

        Raises:
            RowError: a value is not one of the field's.
        """
        try:
            return self.type.physical(array)
        except Refused as refusal:
            raise self.refused(refusal) from None

    def refused(self, refusal: Refused) -> RowError:
        """The refusal as an error that names the field."""
        mistake = refusal.mistake
        return RowError(self.name, mistake.what, mistake.allowed, mistake.remedy)


class FieldPart(Part):
    """One field in one encoding."""

    name = "field"

    def __init__(self, field: Field, codec: Codec, encoding: FieldRef) -> None:
        self.field = field
        self.codec = codec
        self.reference = encoding
        self.fields = (field.name,)
        self.order = codec.order
        self.alphabet = codec.alphabet
        self.cardinality = codec.cardinality
        self.turned = codec.turned
        tick = field.type.tick
        self.resolution = None if tick is None else tick * codec.per

    @property
    def title(self) -> str:
        return f"{self.field.name}, which is {self.field.type.name}"

    @property
    def framing(self) -> Framing:
        return self.codec.framing

    @property
    def opens(self) -> Alphabet:
        return self.codec.opens

    @property
    def narrower(self) -> FieldRef | None:
        """The field in fewer bytes, where its values and their order stay; None if in no fewer."""
        word = self.field.type.narrower(self.codec)
        return None if word is None else FieldRef(self.field.name, word)

    def encode(self, row: Row) -> bytes:
        return self.packed(self.field.hold(row[self.field.name]))

    def room(self, name: str, domain: Domain) -> Domain:
        return self.codec.room(domain) if name == self.field.name else domain

    def packed(self, held: Any) -> bytes:
        """The bytes of a held value.

        Raises:
            RowError: the encoding has no room for it.
        """
        try:
            return self.codec.pack(held)
        except Refused as refusal:
            raise self.field.refused(refusal) from None

    def packed_batch(self, held: Any) -> Pieces:
        """The bytes of many held values.

        Raises:
            RowError: the encoding has no room for one.
        """
        try:
            return self.codec.pack_batch(held)
        except Refused as refusal:
            raise self.field.refused(refusal) from None

    def writer(self) -> Writer:
        field, name = self.field, self.field.name
        pack = self.codec.packer(field.type.hold)

        def checked(row: Row) -> bytes:
            try:
                return pack(row[name])
            except Refused as refusal:
                raise field.refused(refusal) from None

        return self.codec.row_packer(name, checked) if field.type.plain else checked

    def residue(self, name: str) -> Residue:
        return self.codec.residue if name == self.field.name else super().residue(name)

    def images(self, bounds: Bounds) -> Images:
        match bounds.get(self.field.name):
            case None:
                return self._every
            case Equal(None):
                return Images.nowhere()
            case Range() as asked:
                return self._between(asked)
            case StartsWith(prefix):
                return self._starting(prefix)
            case _:
                values = pinned_values(bounds, self.field.name) or ()
                kept = tuple(value for value in values if value is not None)
                pinned = self.pinned({self.field.name: OneOf(kept)})
                return pinned or Images.anything(exact=False)

    @cached_property
    def _every(self) -> Images:
        """All values, where the declaration lists them."""
        listed = self.field.type.listed_values
        if listed is None:
            return Images.anything(exact=True)
        return Images.listed((self.encode({self.field.name: v}) for v in listed), exact=True)

    def _between(self, asked: Range) -> Images:
        """The interval from the lowest to the highest encoding.

        An end that no stored row can have leaves its side open.
        """
        low, high = self._edge(asked.low), self._edge(asked.high)
        lost = (low is None) != (asked.low is None) or (high is None) != (asked.high is None)
        strict = self.order.is_strict and self.framing.closed
        without_low, without_high = not asked.with_low, not asked.with_high
        if self.order.descends:
            low, high, without_low, without_high = high, low, without_high, without_low
        elif not self.order.ascends:
            return Images.anything(exact=False)
        if strict and low is not None and without_low and not (low := _after(low)):
            return Images.nowhere()
        if strict and high is not None and without_high and not (high := _before(high)):
            return Images.nowhere()
        return Images.between(low or b"", high or b"", exact=strict and not lost)

    def _edge(self, value: Value) -> bytes | None:
        return None if value is None else self.image({self.field.name: value})

    def _starting(self, prefix: Value) -> Images:
        try:
            beginning = self.codec.beginning(prefix)
        except (AttributeError, TypeError):
            beginning = None
        if beginning is None:
            return Images.anything(exact=False)
        return Images.between(beginning, beginning, exact=True)

    def measure(self, data: bytes, at: int) -> int:
        return self.codec.measure(data, at)

    def read(self, piece: bytes) -> dict[str, Value]:
        held = self.codec.unpack(piece)
        if not self.codec.residue.nothing:
            return {}
        return {self.field.name: self.field.type.release(held)}

    def check(self, piece: bytes) -> None:
        self.codec.unpack(piece)

    def check_batch(self, pieces: Pieces) -> None:
        self.codec.unpack_batch(pieces)

    def words(self) -> str:
        encoding = self.field.type.encodings[self.reference.encoding]
        given = zip(encoding.arguments, self.reference.arguments, strict=True)
        shown = ", ".join(f"{name} = {value}" for name, value in given)
        text = f"{self.field.name} as {self.field.type.name}: {encoding.meaning}"
        return f"{text} ({shown})" if shown else text

    def show(self, piece: bytes) -> str:
        value = self.field.type.release(self.codec.unpack(piece))
        return self.field.type.show(value)

    def batch(self, columns: Columns) -> Pieces:
        return self.packed_batch(columns.values(self.field.name))

    def measure_batch(self, keys: Encoded, at: Ints) -> Ints:
        mark = self.codec.mark
        return keys.behind(mark, at) if mark is not None else super().measure_batch(keys, at)

    def read_batch(self, pieces: Pieces) -> dict[str, Any]:
        if not self.codec.residue.nothing:
            return {}
        held = self.codec.unpack_batch(pieces)
        if isinstance(held, list):
            held = [self.field.type.release(one) for one in held]
        return {self.field.name: held}

    def evolves(self, new: Part) -> Change:
        """The type tells whether its values remain, the encoding whether their bytes do."""
        if not isinstance(new, FieldPart) or self.reference != new.reference:
            return Change.BREAKS
        if self.codec.layout != new.codec.layout:
            return Change.BREAKS
        return self.field.type.evolves(new.field.type)

    def with_codec(self, codec: Codec) -> FieldPart:
        """The same field in another encoding."""
        return type(self)(self.field, codec, self.reference)

    def descending(self) -> FieldPart:
        return self.with_codec(self.codec.descending())

    def own(self) -> FieldPart:
        if self.reference.encoding:
            raise Refused(
                "",
                f"the encoding of {self.reference} would have no effect",
                self.reference.name,
                "The value's own bytes are taken, whatever its encoding.",
            )
        return self.with_codec(self.field.type.own())

    def __repr__(self) -> str:
        return f"{self.reference}={self.field.type!r}/{self.codec!r}"


class NumberPart(Part):
    """A part whose value is a whole number: an integer, a date, or a time in its own unit.

    Transforms over numbers take such parts and may be such parts, so that they nest.
    """

    low: int
    high: int
    tick: int | None
    """Nanoseconds of one unit, for times."""
    stands_still: int | None
    """Nanoseconds within which the number does not change, for times."""

    @abstractmethod
    def number(self, row: Row) -> int:
        """The number of one row."""

    @abstractmethod
    def numbers(self, columns: Columns) -> Ints:
        """The numbers of many rows."""

    @abstractmethod
    def pack(self, number: int) -> bytes:
        """The part's bytes for a number."""

    @abstractmethod
    def pack_batch(self, numbers: Ints) -> Pieces:
        """The part's bytes for many numbers."""

    @abstractmethod
    def unpack(self, piece: bytes) -> int:
        """The number of the bytes."""

    @abstractmethod
    def value(self, number: int) -> Value:
        """The value of the field that a number stands for."""


class NumberFieldPart(FieldPart, NumberPart):
    """A field whose values are held as whole numbers."""

    def __init__(self, field: Field, codec: Codec, encoding: FieldRef) -> None:
        super().__init__(field, codec, encoding)
        self.low, self.high = field.type.numbers
        self.tick = self.stands_still = field.type.tick

    def number(self, row: Row) -> int:
        return int(self.field.hold(row[self.field.name]))

    def numbers(self, columns: Columns) -> Ints:
        numbers: Ints = columns.values(self.field.name)
        return numbers

    def pack(self, number: int) -> bytes:
        return self.packed(number)

    def pack_batch(self, numbers: Ints) -> Pieces:
        return self.packed_batch(numbers)

    def unpack(self, piece: bytes) -> int:
        return int(self.codec.unpack(piece))

    def value(self, number: int) -> Value:
        return self.field.type.release(number)


def field_part(field: Field, codec: Codec, encoding: FieldRef) -> FieldPart:
    """The part of a field, one with numbers where its type has them."""
    kind = NumberFieldPart if field.type.counts else FieldPart
    return kind(field, codec, encoding)


def _after(piece: bytes) -> bytes:
    """The least prefix above all that begin with this one; empty if there is none.

    >>> _after(b"a\\xff"), _after(b"\\xff")
    (b'b', b'')
    """
    kept = piece.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""


def _before(piece: bytes) -> bytes:
    """The greatest string of the same length below this one; empty if there is none.

    >>> _before(b"b\\x00"), _before(b"\\x00")
    (b'a\\xff', b'')
    """
    kept = piece.rstrip(b"\0")
    zeros = len(piece) - len(kept)
    return kept[:-1] + bytes([kept[-1] - 1]) + b"\xff" * zeros if kept else b""
