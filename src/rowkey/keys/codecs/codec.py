"""What every encoding of a field answers.

A codec knows no field and no row: it turns one *held* value (see `FieldType.hold`) into bytes and
back, alone or in an array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.keys.traits import ALL_BYTES, NOTHING, Alphabet, Framing, Order, Residue, complement

if TYPE_CHECKING:
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.keys.types.domains import Domain

Packer = Callable[[Any], bytes]
Writer = Callable[[Mapping[str, Any]], bytes]


class Codec(ABC):
    """One encoding; `order` compares bytes with held values."""

    framing: Framing
    order: Order = Order.STRICT
    alphabet: Alphabet = ALL_BYTES
    residue: Residue = NOTHING
    cardinality: int | None = None
    mark: bytes | None = None
    """What ends the encoding, where that is always the same bytes."""
    turned: str = "every bit inverted, the end included,"
    """What descending does to the bytes, in words."""
    per: int = 1
    """Neighbouring numbers that share their bytes."""

    @property
    def opens(self) -> Alphabet:
        """The byte values that the encoding can begin with."""
        return self.alphabet

    @abstractmethod
    def pack(self, held: Any) -> bytes:
        """The bytes of a held value.

        Raises:
            Refused: the encoding has no room for it.
        """

    @abstractmethod
    def unpack(self, piece: bytes) -> Any:
        """The held value of the bytes.

        Raises:
            Refused: no value has these bytes.
        """

    def packer(self, hold: Callable[[Any], Any]) -> Packer:
        """`pack(hold(value))`, compiled for many values."""
        pack = self.pack
        return lambda value: pack(hold(value))

    def row_packer(self, name: str, checked: Writer) -> Writer:
        """The bytes of a row's value, compiled for a type that holds whole numbers as they are.

        Args:
            name: the field.
            checked: the bytes of any row, however its value must be checked.
        """
        return checked

    def measure(self, data: bytes, at: int) -> int:
        """Where the encoding that begins at `at` ends.

        Raises:
            Refused: the bytes end before it does.
        """
        width = self.framing.width
        end = len(data) if width is None else at + width
        if end > len(data):
            raise Refused("", f"ends after {len(data) - at} bytes", str(self.framing))
        return end

    def room(self, domain: Domain) -> Domain:
        """The values of a domain that the encoding has room for."""
        return domain

    def beginning(self, prefix: Any) -> bytes | None:
        """What the bytes of every value that starts with a held prefix begin with, if anything."""
        return None

    def pack_batch(self, held: Any) -> Pieces:
        """The bytes of an array of held values."""
        from rowkey.keys.batches.pieces import Spans

        return Spans.of([self.pack(value) for value in held])

    def unpack_batch(self, pieces: Pieces) -> Any:
        """The held values of many pieces."""
        return [self.unpack(piece) for piece in pieces.tolist()]

    def descending(self) -> Codec:
        """The encoding whose bytes sort the other way round."""
        return Complemented(self)

    @property
    def layout(self) -> object:
        """What decides the bytes of a value, whichever other values there are."""
        return repr(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in sorted(vars(self).items()))
        return f"{type(self).__name__}({shown})"


class Complemented(Codec):
    """Every bit of another encoding inverted, its end included."""

    def __init__(self, base: Codec) -> None:
        self.base = base
        self.framing = base.framing
        self.order = base.order.reversed() if base.framing.closed else Order.NONE
        self.alphabet = base.alphabet.complement()
        self.residue = base.residue
        self.cardinality = base.cardinality
        self.per = base.per
        self.mark = None if base.mark is None else complement(base.mark)

    @property
    def opens(self) -> Alphabet:
        return self.base.opens.complement()

    def pack(self, held: Any) -> bytes:
        return complement(self.base.pack(held))

    def unpack(self, piece: bytes) -> Any:
        return self.base.unpack(complement(piece))

    def packer(self, hold: Callable[[Any], Any]) -> Packer:
        packed = self.base.packer(hold)
        return lambda value: complement(packed(value))

    def room(self, domain: Domain) -> Domain:
        return self.base.room(domain)

    def measure(self, data: bytes, at: int) -> int:
        if self.framing.width is not None or not self.framing.closed:
            return super().measure(data, at)
        return at + self.base.measure(complement(data[at:]), 0)

    def beginning(self, prefix: Any) -> bytes | None:
        base = self.base.beginning(prefix)
        return None if base is None else complement(base)

    def pack_batch(self, held: Any) -> Pieces:
        return self.base.pack_batch(held).complement()

    def unpack_batch(self, pieces: Pieces) -> Any:
        return self.base.unpack_batch(pieces.complement())

    @property
    def layout(self) -> object:
        return (type(self), self.base.layout)

    def descending(self) -> Codec:
        return self.base
