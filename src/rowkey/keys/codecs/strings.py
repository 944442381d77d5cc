"""Text and bytes as parts of a key: with an end, padded, exact, or as they are.

A held text and a held byte string differ only in how they become raw bytes; each codec here is
given that as its `raw`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.keys.codecs.codec import Codec, Complemented, Packer
from rowkey.keys.traits import ALL_BYTES, Alphabet, Framing

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.keys.batches.pieces import Pieces, Spans
    from rowkey.keys.types.domains import Domain


_ENDS = Alphabet(b"\0")
_UTF8_OPENS = Alphabet(bytes([*range(0x01, 0x80), *range(0xC2, 0xF5)]))
"""What a character of UTF-8 but U+0000 begins with. Source: RFC 3629, section 4."""


@dataclass(frozen=True, slots=True)
class Raw:
    """How a held value becomes raw bytes, and back.

    Args:
        least: fewest raw bytes.
        most: most raw bytes, or None.
        text: whether the held value is text, in UTF-8, rather than bytes.
        alphabet: the byte values that occur.
    """

    least: int
    most: int | None
    text: bool
    alphabet: Alphabet = ALL_BYTES

    @property
    def opens(self) -> Alphabet:
        """The byte values that can stand first."""
        is_plain = self.text and self.alphabet == ALL_BYTES
        return _UTF8_OPENS if is_plain else self.alphabet

    def pack(self, held: Any) -> bytes:
        """The raw bytes of a held value."""
        return bytes(held.encode()) if self.text else bytes(held)

    def unpack(self, piece: bytes) -> Any:
        """The held value of raw bytes.

        Raises:
            Refused: they are not UTF-8.
        """
        if not self.text:
            return piece
        try:
            return piece.decode()
        except UnicodeDecodeError as problem:
            raise Refused("", f"{piece.hex()} is not UTF-8") from problem


class _Strings(Codec):
    """What all encodings of raw bytes share."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.alphabet = raw.alphabet

    @property
    def layout(self) -> object:
        return (type(self), self.raw.text, self.framing.width)

    def pack(self, held: Any) -> bytes:
        return self.raw.pack(held)

    def unpack(self, piece: bytes) -> Any:
        return self.raw.unpack(piece)

    def beginning(self, prefix: Any) -> bytes | None:
        return self.raw.pack(prefix)

    def pack_batch(self, held: Spans) -> Pieces:
        return held


class Terminated(_Strings):
    """Raw bytes without 00, ended by 00.

    Source: what Phoenix VARCHAR and Kiji STRING write; `OrderedBytes` text less its header byte.
    """

    mark = b"\0"

    def __init__(self, raw: Raw) -> None:
        super().__init__(raw)
        self.alphabet = raw.alphabet.union(_ENDS)
        self.framing = Framing.delimited(raw.least + 1, None if raw.most is None else raw.most + 1)

    @property
    def opens(self) -> Alphabet:
        return self.raw.opens.union(_ENDS)

    def pack(self, held: Any) -> bytes:
        return self.raw.pack(held) + b"\0"

    def packer(self, hold: Callable[[Any], Any]) -> Packer:
        if not self.raw.text:
            return super().packer(hold)
        return lambda value: hold(value).encode() + b"\0"

    def unpack(self, piece: bytes) -> Any:
        return self.raw.unpack(piece[:-1])

    def unpack_batch(self, pieces: Pieces) -> Any:
        from rowkey.keys.batches.pieces import Spans

        spans = pieces.spans()
        return Spans(spans.data, spans.starts, spans.inner - 1)

    def measure(self, data: bytes, at: int) -> int:
        end = data.find(b"\0", at)
        if end < 0:
            raise Refused("", f"{data[at:].hex()} has no end", "text ended by 00")
        return end + 1

    def pack_batch(self, held: Spans) -> Pieces:
        from rowkey.keys.batches.pieces import Spans

        return Spans(held.data, held.starts, held.inner, b"\0")

    def descending(self) -> Codec:
        return Complemented(self)


class Escaped(_Strings):
    """Raw bytes in which 00 is written 00 ff, ended by 00 01.

    Source: the escaping of Google's orderedcode, which Bigtable's row-key schemas use.
    """

    mark = b"\0\1"

    def __init__(self, raw: Raw) -> None:
        super().__init__(raw)
        self.framing = Framing.delimited(
            raw.least + 2, None if raw.most is None else 2 * raw.most + 2
        )

    def pack(self, held: Any) -> bytes:
        return self.raw.pack(held).replace(b"\0", b"\0\xff") + b"\0\1"

    def unpack(self, piece: bytes) -> Any:
        escaped = piece[:-2]
        if escaped.count(b"\0") != escaped.count(b"\0\xff"):
            raise Refused("", f"{piece.hex()} holds 00 without ff behind it")
        return self.raw.unpack(escaped.replace(b"\0\xff", b"\0"))

    def measure(self, data: bytes, at: int) -> int:
        end = data.find(b"\0\1", at)
        if end < 0:
            raise Refused("", f"{data[at:].hex()} has no end", "bytes ended by 00 01")
        return end + 2

    def beginning(self, prefix: Any) -> bytes | None:
        return self.raw.pack(prefix).replace(b"\0", b"\0\xff")

    def pack_batch(self, held: Spans) -> Pieces:
        from rowkey.keys.batches.pieces import Spans

        if bool((held.data == 0).any()):
            return Spans.of([self.pack(value) for value in held.tolist()])
        return Spans(held.data, held.starts, held.inner, b"\0\1")


class Unended(_Strings):
    """Raw bytes as they are: only the end of the key ends them.

    Args:
        raw: how values become raw bytes.
        ended: the encoding that takes its place under `desc`, where order would break without an
            end; None where none was asked for.
    """

    def __init__(self, raw: Raw, ended: Codec | None = None) -> None:
        super().__init__(raw)
        self.ended = ended
        self.framing = Framing.open(raw.least, raw.most)

    @property
    def opens(self) -> Alphabet:
        # Behind an empty value that another part follows stand that part's bytes.
        return self.raw.opens if self.ended is not None else self.alphabet

    def unpack_batch(self, pieces: Pieces) -> Any:
        return pieces.spans()

    def descending(self) -> Codec:
        return Complemented(self.ended or self)


class Padded(_Strings):
    """Text padded with 00 to a fixed width; longer text is refused.

    Args:
        raw: how values become raw bytes.
        width: bytes.
    """

    def __init__(self, raw: Raw, width: int) -> None:
        super().__init__(raw)
        self.width = width
        self.alphabet = raw.alphabet.union(_ENDS)
        self.framing = Framing.fixed(width)

    @property
    def opens(self) -> Alphabet:
        return self.raw.opens.union(_ENDS)

    def pack(self, held: Any) -> bytes:
        piece = self.raw.pack(held)
        if len(piece) > self.width:
            raise Refused("", f"{held!r} is {len(piece)} bytes", f"at most {self.width}")
        return piece.ljust(self.width, b"\0")

    def room(self, domain: Domain) -> Domain:
        return domain.of_length(0, self.width)

    def unpack(self, piece: bytes) -> Any:
        return self.raw.unpack(piece.rstrip(b"\0"))

    def pack_batch(self, held: Spans) -> Pieces:
        import numpy as np

        from rowkey.keys.batches.pieces import Fixed, copy_spans

        if len(held) and int(held.inner.max()) > self.width:
            row = int(held.inner.argmax())
            raise Refused("", f"a value is {int(held.inner[row])} bytes", f"at most {self.width}")
        out = np.zeros(len(held) * self.width, np.uint8)
        copy_spans(out, np.arange(len(held)) * self.width, held.data, held.starts, held.inner)
        return Fixed(out.view(f"V{self.width}"))


class Exact(_Strings):
    """Raw bytes of one length; any other is refused.

    Args:
        raw: how values become raw bytes.
        width: bytes.
        cardinality: how many values there are, where the type sets a bound.
    """

    def __init__(self, raw: Raw, width: int, cardinality: int | None = None) -> None:
        super().__init__(raw)
        self.width = width
        self.framing = Framing.fixed(width)
        self.cardinality = cardinality

    def pack(self, held: Any) -> bytes:
        piece = self.raw.pack(held)
        if len(piece) != self.width:
            raise Refused("", f"{held!r} is {len(piece)} bytes", f"exactly {self.width}")
        return piece

    def room(self, domain: Domain) -> Domain:
        return domain.of_length(self.width, self.width)

    def unpack_batch(self, pieces: Pieces) -> Any:
        return pieces.spans()

    def pack_batch(self, held: Spans) -> Pieces:
        if bool((held.inner != self.width).any()):
            row = int((held.inner != self.width).argmax())
            raise Refused("", f"a value is {int(held.inner[row])} bytes", f"exactly {self.width}")
        return held.gathered(self.width)


class HexBytes(_Strings):
    """Hexadecimal digits as raw bytes, two digits a byte.

    Args:
        width: bytes, half the digits.
    """

    def __init__(self, width: int) -> None:
        super().__init__(Raw(2 * width, 2 * width, text=True))
        self.width = width
        self.alphabet = ALL_BYTES
        self.framing = Framing.fixed(width)
        self.cardinality = 256**width

    @property
    def opens(self) -> Alphabet:
        return self.alphabet

    def pack(self, held: str) -> bytes:
        return bytes.fromhex(held)

    def unpack(self, piece: bytes) -> str:
        return piece.hex()

    def beginning(self, prefix: Any) -> bytes | None:
        return None

    def pack_batch(self, held: Spans) -> Pieces:
        from rowkey.keys.batches.pieces import Fixed

        digits = held.gathered(2 * self.width).matrix()
        letters = (digits > 57).astype(digits.dtype)
        nibbles = digits - 48 - 39 * letters
        whole = nibbles[:, ::2] << 4 | nibbles[:, 1::2]
        return Fixed(whole.view(f"V{self.width}").reshape(len(held)))
