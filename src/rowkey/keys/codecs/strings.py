"""Encodings of text and bytes: terminated, padded, of fixed length, or as they are.

Text and bytes differ only in how they become raw bytes; the `RawFormat` of each codec says how.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.domains import Domain
from rowkey.keys.batches.byte_columns import (
    ByteColumn,
    FixedByteColumn,
    SlicedByteColumn,
    copy_slices,
)
from rowkey.keys.codecs.codec import Codec, ComplementedCodec, Packer
from rowkey.keys.traits import ALL_BYTES, Alphabet, Framing
from rowkey.messages import pluralize

_NUL_ALPHABET = Alphabet(b"\0")
_UTF8_FIRST_BYTES = Alphabet(bytes([*range(0x01, 0x80), *range(0xC2, 0xF5)]))
"""The first bytes of all characters in UTF-8 except U+0000. Source: RFC 3629, section 4."""


@dataclass(frozen=True, slots=True)
class RawFormat:
    """How an internal form becomes raw bytes, and back.

    Args:
        min_bytes: fewest raw bytes.
        max_bytes: most raw bytes, or None.
        is_text: whether the internal form is text, stored in UTF-8, rather than bytes.
        alphabet: the byte values that occur.
    """

    min_bytes: int
    max_bytes: int | None
    is_text: bool
    alphabet: Alphabet = ALL_BYTES

    @property
    def first_byte_alphabet(self) -> Alphabet:
        """The byte values that can come first."""
        is_plain = self.is_text and self.alphabet == ALL_BYTES
        return _UTF8_FIRST_BYTES if is_plain else self.alphabet

    def pack(self, internal: Any) -> bytes:
        """Return the raw bytes of an internal form."""
        return bytes(internal.encode()) if self.is_text else bytes(internal)

    def unpack(self, piece: bytes) -> Any:
        """Return the internal form of raw bytes.

        Raises:
            InvalidArgument: they are not UTF-8.
        """
        if not self.is_text:
            return piece
        try:
            return piece.decode()
        except UnicodeDecodeError as problem:
            raise InvalidArgument("", f"the bytes {piece.hex()} are not UTF-8") from problem


class _StringCodec(Codec):
    """The base class of the encodings of text and byte strings."""

    def __init__(self, raw: RawFormat) -> None:
        self.raw = raw
        self.alphabet = raw.alphabet

    @property
    def byte_layout(self) -> object:
        return (type(self), self.raw.is_text, self.framing.width)

    def pack(self, internal: Any) -> bytes:
        """Return the raw bytes of a string, without terminator or padding."""
        return self.raw.pack(internal)

    def unpack(self, piece: bytes) -> Any:
        """Return the string with these raw bytes."""
        return self.raw.unpack(piece)

    def pack_prefix(self, prefix: Any) -> bytes | None:
        return self.raw.pack(prefix)

    def pack_batch(self, internal: SlicedByteColumn) -> ByteColumn:
        return internal


class TerminatedCodec(_StringCodec):
    """Raw bytes without 00, ended by 00.

    Source: Phoenix VARCHAR and Kiji STRING; `OrderedBytes` text without its header byte.
    """

    terminator = b"\0"

    def __init__(self, raw: RawFormat) -> None:
        super().__init__(raw)
        self.alphabet = raw.alphabet.union(_NUL_ALPHABET)
        self.framing = Framing.build_delimited(
            raw.min_bytes + 1, None if raw.max_bytes is None else raw.max_bytes + 1
        )

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return self.raw.first_byte_alphabet.union(_NUL_ALPHABET)

    def pack(self, internal: Any) -> bytes:
        return self.raw.pack(internal) + b"\0"

    def compile_packer(self, to_internal: Callable[[Any], Any]) -> Packer:
        if not self.raw.is_text:
            return super().compile_packer(to_internal)
        return lambda value: to_internal(value).encode() + b"\0"

    def unpack(self, piece: bytes) -> Any:
        return self.raw.unpack(piece[:-1])

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        spans = pieces.to_sliced()
        return SlicedByteColumn(spans.data, spans.starts, spans.inner_lengths - 1)

    def find_end(self, data: bytes, at: int) -> int:
        end = data.find(b"\0", at)
        if end < 0:
            raise InvalidArgument(
                "", f"the text with the bytes {data[at:].hex()} has no end", "a byte 00 after it"
            )
        return end + 1

    def pack_batch(self, internal: SlicedByteColumn) -> ByteColumn:
        return SlicedByteColumn(internal.data, internal.starts, internal.inner_lengths, b"\0")

    def to_descending(self) -> Codec:
        return ComplementedCodec(self)


class EscapedCodec(_StringCodec):
    """Raw bytes in which 00 is written 00 ff, ended by 00 01.

    Source: the escaping of Google's orderedcode, which Bigtable's row-key schemas use.
    """

    terminator = b"\0\1"

    def __init__(self, raw: RawFormat) -> None:
        super().__init__(raw)
        self.framing = Framing.build_delimited(
            raw.min_bytes + 2, None if raw.max_bytes is None else 2 * raw.max_bytes + 2
        )

    def pack(self, internal: Any) -> bytes:
        return self.raw.pack(internal).replace(b"\0", b"\0\xff") + b"\0\1"

    def unpack(self, piece: bytes) -> Any:
        escaped = piece[:-2]
        if escaped.count(b"\0") != escaped.count(b"\0\xff"):
            raise InvalidArgument("", f"the bytes {piece.hex()} have a 00 without a following ff")
        return self.raw.unpack(escaped.replace(b"\0\xff", b"\0"))

    def find_end(self, data: bytes, at: int) -> int:
        end = data.find(b"\0\1", at)
        if end < 0:
            raise InvalidArgument(
                "",
                f"the value with the bytes {data[at:].hex()} has no end",
                "the bytes 00 01 after it",
            )
        return end + 2

    def pack_prefix(self, prefix: Any) -> bytes | None:
        return self.raw.pack(prefix).replace(b"\0", b"\0\xff")

    def pack_batch(self, internal: SlicedByteColumn) -> ByteColumn:
        if bool((internal.data == 0).any()):
            return SlicedByteColumn.from_list([self.pack(value) for value in internal.tolist()])
        return SlicedByteColumn(internal.data, internal.starts, internal.inner_lengths, b"\0\1")


class UnterminatedCodec(_StringCodec):
    """Raw bytes as they are: only the end of the key ends them.

    Args:
        raw: how values become raw bytes.
        terminated_codec: the encoding used under `desc`, which needs an end to keep the order; None
            for the encoding `raw`.
    """

    def __init__(self, raw: RawFormat, terminated_codec: Codec | None = None) -> None:
        super().__init__(raw)
        self.terminated_codec = terminated_codec
        self.framing = Framing.build_open(raw.min_bytes, raw.max_bytes)

    @property
    def first_byte_alphabet(self) -> Alphabet:
        # After an empty value, the bytes of the next part come first.
        return self.raw.first_byte_alphabet if self.terminated_codec is not None else self.alphabet

    def compile_packer(self, to_internal: Callable[[Any], Any]) -> Packer:
        if not self.raw.is_text:
            return super().compile_packer(to_internal)
        return lambda value: to_internal(value).encode()

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        return pieces.to_sliced()

    def to_descending(self) -> Codec:
        return ComplementedCodec(self.terminated_codec or self)


class PaddedCodec(_StringCodec):
    """Text padded with 00 to a fixed width; longer text is refused.

    Args:
        raw: how values become raw bytes.
        width: bytes.
    """

    def __init__(self, raw: RawFormat, width: int) -> None:
        super().__init__(raw)
        self.width = width
        self.alphabet = raw.alphabet.union(_NUL_ALPHABET)
        self.framing = Framing.from_width(width)

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return self.raw.first_byte_alphabet.union(_NUL_ALPHABET)

    def pack(self, internal: Any) -> bytes:
        piece = self.raw.pack(internal)
        if len(piece) > self.width:
            raise self._build_length_error(internal, piece)
        return piece.ljust(self.width, b"\0")

    def _build_length_error(self, internal: Any, piece: bytes) -> InvalidArgument:
        """Return the error of a text that is longer than the encoding."""
        what = f"{internal!r} has {pluralize(len(piece), 'byte')}"
        return InvalidArgument("", what, f"at most {pluralize(self.width, 'byte')}")

    def restrict_domain(self, domain: Domain) -> Domain:
        return domain.limit_length(0, self.width)

    def unpack(self, piece: bytes) -> Any:
        return self.raw.unpack(piece.rstrip(b"\0"))

    def pack_batch(self, internal: SlicedByteColumn) -> ByteColumn:
        if len(internal) and int(internal.inner_lengths.max()) > self.width:
            row = int(internal.inner_lengths.argmax())
            piece = internal[row : row + 1].data.tobytes()
            raise self._build_length_error(self.raw.unpack(piece), piece)
        out = np.zeros(len(internal) * self.width, np.uint8)
        copy_slices(
            out,
            np.arange(len(internal)) * self.width,
            internal.data,
            internal.starts,
            internal.inner_lengths,
        )
        return FixedByteColumn(out.view(f"V{self.width}"))


class FixedLengthCodec(_StringCodec):
    """Raw bytes of one length; any other is refused.

    Args:
        raw: how values become raw bytes.
        width: bytes.
        cardinality: how many values there are, where the type sets a bound.
    """

    def __init__(self, raw: RawFormat, width: int, cardinality: int | None = None) -> None:
        super().__init__(raw)
        self.width = width
        self.framing = Framing.from_width(width)
        self.cardinality = cardinality

    def pack(self, internal: Any) -> bytes:
        piece = self.raw.pack(internal)
        if len(piece) != self.width:
            raise self._build_length_error(internal, piece)
        return piece

    def _build_length_error(self, internal: Any, piece: bytes) -> InvalidArgument:
        """Return the error of a value that has another number of bytes."""
        what = f"{internal!r} has {pluralize(len(piece), 'byte')}"
        return InvalidArgument("", what, f"exactly {pluralize(self.width, 'byte')}")

    def restrict_domain(self, domain: Domain) -> Domain:
        return domain.limit_length(self.width, self.width)

    def unpack_batch(self, pieces: ByteColumn) -> Any:
        return pieces.to_sliced()

    def pack_batch(self, internal: SlicedByteColumn) -> ByteColumn:
        if bool((internal.inner_lengths != self.width).any()):
            row = int((internal.inner_lengths != self.width).argmax())
            piece = internal[row : row + 1].data.tobytes()
            raise self._build_length_error(self.raw.unpack(piece), piece)
        return internal.to_fixed(self.width)


class HexCodec(_StringCodec):
    """Hexadecimal digits as raw bytes, two digits a byte.

    Args:
        width: bytes, half the digits.
    """

    def __init__(self, width: int) -> None:
        super().__init__(RawFormat(2 * width, 2 * width, is_text=True))
        self.width = width
        self.alphabet = ALL_BYTES
        self.framing = Framing.from_width(width)
        self.cardinality = 256**width

    @property
    def first_byte_alphabet(self) -> Alphabet:
        return self.alphabet

    def pack(self, internal: str) -> bytes:
        return bytes.fromhex(internal)

    def unpack(self, piece: bytes) -> str:
        return piece.hex()

    def pack_prefix(self, prefix: Any) -> bytes | None:
        return None

    def pack_batch(self, internal: SlicedByteColumn) -> ByteColumn:
        digits = internal.to_fixed(2 * self.width).to_matrix()
        letters = (digits > 57).astype(digits.dtype)
        nibbles = digits - 48 - 39 * letters
        whole = nibbles[:, ::2] << 4 | nibbles[:, 1::2]
        return FixedByteColumn(whole.view(f"V{self.width}").reshape(len(internal)))
