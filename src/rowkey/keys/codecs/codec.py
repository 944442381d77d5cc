"""The base class of all encodings of a field.

A codec knows no field and no row: it turns internal forms (see `FieldType.to_internal`) into bytes
and back, one at a time or in an array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from rowkey.keys.base_types.domains import Domain
from rowkey.keys.batches.byte_columns import ByteColumn, SlicedByteColumn
from rowkey.keys.traits import (
    ALL_BYTES,
    NO_RESIDUE,
    Alphabet,
    Framing,
    Order,
    Residue,
    complement_bytes,
)

Packer = Callable[[Any], bytes]
RowEncoder = Callable[[Mapping[str, Any]], bytes]


class Codec(ABC):
    """Converts internal forms of values to bytes and back, in one encoding of a type."""

    framing: Framing
    order: Order = Order.STRICT
    alphabet: Alphabet = ALL_BYTES
    residue: Residue = NO_RESIDUE
    cardinality: int | None = None
    terminator: bytes | None = None
    """The bytes that end every encoded value, if they are always the same."""
    inversion_text: str = "every bit inverted, the end included,"
    """How `desc` changes the bytes, in words."""
    divisor: int = 1
    """The count of consecutive numbers that share their bytes."""

    @property
    def first_byte_alphabet(self) -> Alphabet:
        """The byte values that the encoding can begin with."""
        return self.alphabet

    @abstractmethod
    def pack(self, internal: Any) -> bytes:
        """Return the bytes of an internal form.

        Raises:
            InvalidArgument: the encoding cannot hold it.
        """

    @abstractmethod
    def unpack(self, piece: bytes) -> Any:
        """Return the internal form that the bytes stand for.

        Raises:
            InvalidArgument: no value has these bytes.
        """

    def compile_packer(self, to_internal: Callable[[Any], Any]) -> Packer:
        """Return a function that computes `pack(to_internal(value))`, compiled for speed."""
        pack = self.pack
        return lambda value: pack(to_internal(value))

    def compile_row_packer(self, name: str, fallback: RowEncoder) -> RowEncoder:
        """Return a function from a row to the bytes of a field, compiled for plain integers.

        Args:
            fallback: the function for any value, with all checks.
        """
        return fallback

    def find_end(self, data: bytes, at: int) -> int:
        """Return the end of the encoded value that begins at `at`.

        Raises:
            InvalidArgument: the bytes end before it does.
        """
        width = self.framing.width
        end = len(data) if width is None else at + width
        if end > len(data):
            raise self.framing.build_shortage_error(len(data) - at)
        return end

    def restrict_domain(self, domain: Domain) -> Domain:
        """Return the values of a domain that the encoding can hold."""
        return domain

    def pack_prefix(self, prefix: Any) -> bytes | None:
        """Return the common prefix of the bytes of all values with a prefix; None if unknown.

        The default knows none.
        """
        return None

    def pack_batch(self, internal: Any) -> ByteColumn:
        """Return the bytes of an array of internal forms."""
        return SlicedByteColumn.from_list([self.pack(value) for value in internal])

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        """Return the internal forms of many byte strings."""
        return [self.unpack(piece) for piece in pieces.tolist()]

    def to_descending(self) -> Codec:
        """Return the encoding that sorts in descending order."""
        return ComplementedCodec(self)

    @property
    def byte_layout(self) -> object:
        """A value that is equal for two codecs if they give the same bytes to the same value."""
        return repr(self)

    def __repr__(self) -> str:
        attributes = ", ".join(f"{name}={value!r}" for name, value in sorted(vars(self).items()))
        return f"{type(self).__name__}({attributes})"


class ComplementedCodec(Codec):
    """Every bit of another encoding inverted, including its terminator."""

    def __init__(self, base: Codec) -> None:
        self.base = base
        self.framing = base.framing
        self.order = base.order.reverse() if base.framing.is_self_delimiting else Order.NONE
        self.alphabet = base.alphabet.complement()
        self.residue = base.residue
        self.cardinality = base.cardinality
        self.divisor = base.divisor
        self.terminator = None if base.terminator is None else complement_bytes(base.terminator)

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return self.base.first_byte_alphabet.complement()

    def pack(self, internal: Any) -> bytes:
        return complement_bytes(self.base.pack(internal))

    def unpack(self, piece: bytes) -> Any:
        return self.base.unpack(complement_bytes(piece))

    def compile_packer(self, to_internal: Callable[[Any], Any]) -> Packer:
        pack = self.base.compile_packer(to_internal)
        return lambda value: complement_bytes(pack(value))

    def restrict_domain(self, domain: Domain) -> Domain:
        return self.base.restrict_domain(domain)

    def find_end(self, data: bytes, at: int) -> int:
        if self.framing.width is not None or not self.framing.is_self_delimiting:
            return super().find_end(data, at)
        return at + self.base.find_end(complement_bytes(data[at:]), 0)

    def pack_prefix(self, prefix: Any) -> bytes | None:
        base = self.base.pack_prefix(prefix)
        return None if base is None else complement_bytes(base)

    def pack_batch(self, internal: Any) -> ByteColumn:
        return self.base.pack_batch(internal).complement()

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        return self.base.unpack_batch(pieces.complement())

    @property
    def byte_layout(self) -> object:
        return (type(self), self.base.byte_layout)

    def to_descending(self) -> Codec:
        return self.base
