"""The transform `digest`."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import mmh3

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn, concatenate_columns
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import (
    MAX_TERMS,
    BindingContext,
    EnumOption,
    NumberArgument,
    Part,
    Row,
    RowEncoder,
    Transform,
)
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.parts.nullable import NullablePart
from rowkey.keys.traits import ALL_BYTES, HEX_DIGITS, TOTAL_RESIDUE, Alphabet, Framing, Residue
from rowkey.schema import Cluster, FieldFacts

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch

_HASH_WIDTHS = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}


class DigestTransform(Transform):
    """The first n bytes of a hash: fixed width, and spread evenly over all byte values.

    The value cannot be read back from the key, so a field that stands only in a digest is stored
    as a column too. A single field is hashed by its value's own bytes, several fields by their
    encodings one after the other.
    """

    name = "digest"
    term_limits = (1, MAX_TERMS)
    scalars = (NumberArgument("n", 1, 32, "bytes of the digest that are kept"),)
    options = (
        EnumOption("hash", tuple(_HASH_WIDTHS), "the hash: at most 16, 20, 32, 4 and 4 bytes"),
        EnumOption("as", ("bytes", "hex"), "bytes, or twice as many digits in lower case"),
    )
    vectors: ClassVar = (
        GoldenVector("[digest(host, 4)]", {"host": "text"}, {"host": "web-1"}, "a2e3a94e"),
        GoldenVector("[digest(host, 2, as=hex)]", {"host": "text"}, {"host": "web-1"}, "61326533"),
        GoldenVector("[digest(n, 4, hash=crc32)]", {"n": "i32"}, {"n": -1}, "ffffffff"),
        GoldenVector("[digest(n, m, 4)]", {"n": "u8", "m": "u8"}, {"n": 1, "m": 2}, "0cb988d0"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        for part in inputs:
            field = part.inner if isinstance(part, NullablePart) else part
            if isinstance(field, FieldPart) and field.reference.encoding and len(inputs) > 1:
                name = field.reference.name
                raise InvalidArgument(
                    "",
                    f"the encoding of {field.reference} has no effect in this digest",
                    "a field without an encoding",
                    f"Write {name} alone: digest of several fields uses their default encodings.",
                )
        hash_inputs = (inputs[0].to_plain(),) if len(inputs) == 1 else inputs
        super().__init__(hash_inputs, arguments, context)
        self.n: int = arguments["n"]
        width = _HASH_WIDTHS[arguments["hash"]]
        if self.n > width:
            what = f"{arguments['hash']} has only {width} bytes, not {self.n}"
            raise InvalidArgument("n", what, f"1..{width}")
        self.is_hex = arguments["as"] == "hex"
        self.hash_bytes = _find_hash_function(arguments["hash"])
        self.cardinality = 256**self.n
        self.alphabet = Alphabet((HEX_DIGITS if self.is_hex else ALL_BYTES).values, is_uniform=True)

    @property
    def framing(self) -> Framing:
        return Framing.from_width(2 * self.n if self.is_hex else self.n)

    def residue(self, name: str) -> Residue:
        return TOTAL_RESIDUE

    def _truncate_hash(self, data: bytes) -> bytes:
        """Return the first n bytes of the hash of some bytes, as bytes or as hexadecimal digits."""
        digest = self.hash_bytes(data)[: self.n]
        return digest.hex().encode() if self.is_hex else digest

    def format_piece(self, piece: bytes) -> str:
        """Return the name of the digest and its digits."""
        digits = piece.decode("ascii", "replace") if self.is_hex else piece.hex()
        return f"{self.title} {digits}"

    def encode(self, row: Row) -> bytes:
        return self._truncate_hash(b"".join([part.encode(row) for part in self.inputs]))

    def compile_encoder(self) -> RowEncoder:
        writers, truncate_hash = (
            [part.compile_encoder() for part in self.inputs],
            self._truncate_hash,
        )
        if len(writers) == 1:
            write = writers[0]
            return lambda row: truncate_hash(write(row))
        return lambda row: truncate_hash(b"".join([write(row) for write in writers]))

    def describe_encoding(self) -> str:
        name = self.arguments["hash"]
        if len(self.inputs) == 1:
            inner = ", ".join(self.fields) or "a salt"
            source = f"the value of {inner} by itself: text as UTF-8, numbers big-endian"
        else:
            source = " followed by ".join(f"({part.describe_encoding()})" for part in self.inputs)
        text = f"the first {self.n} bytes of {name} of {source}"
        return f"{text}, in lower-case hexadecimal" if self.is_hex else text

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        from rowkey.keys.batches.batch_hashes import hash_murmur3

        pieces = concatenate_columns([part.encode_distinct(columns) for part in self.inputs])
        if self.arguments["hash"] == "murmur3" and not self.is_hex:
            hashes = hash_murmur3(pieces).astype(">u4").view(np.uint8).reshape(-1, 4)
            matrix = np.ascontiguousarray(hashes[:, : self.n])
            return FixedByteColumn(matrix.view(f"V{self.n}").reshape(len(matrix)))
        hash_bytes, n = self.hash_bytes, self.n
        digests = b"".join([hash_bytes(piece)[:n] for piece in pieces.tolist()])
        if self.is_hex:
            digests = digests.hex().encode()
        return FixedByteColumn(np.frombuffer(digests, f"V{self.framing.min_bytes}"))

    @classmethod
    def suggest_arguments(
        cls, facts: Mapping[str, FieldFacts], cluster: Cluster
    ) -> Iterator[Mapping[str, int]]:
        """Yield 4 bytes, which spread rows; 8 and 16 also distinguish entities."""
        yield from ({"n": n} for n in (4, 8, 16))


def _find_hash_function(name: str) -> Callable[[bytes], bytes]:
    """Return the function from bytes to all bytes of a hash, most significant first."""
    if name == "murmur3":
        return lambda data: mmh3.hash(data, 0, False).to_bytes(4, "big")
    if name == "crc32":
        return lambda data: zlib.crc32(data).to_bytes(4, "big")
    make = getattr(hashlib, name)
    return lambda data: bytes(make(data, usedforsecurity=False).digest())
