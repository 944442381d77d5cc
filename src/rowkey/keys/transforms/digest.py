"""The transform `digest`."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any, ClassVar

import mmh3

from rowkey.errors import Refused
from rowkey.keys.contract import MANY, Context, Count, Part, Pick, Row, Transform, Vector, Writer
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.parts.nullable import Nullable
from rowkey.keys.traits import ALL_BYTES, EVERYTHING, HEX_DIGITS, Alphabet, Framing, Residue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Cluster, Facts

_WIDTHS = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}


class Digest(Transform):
    """The first n bytes of a hash: fixed width, and spread evenly over all byte values.

    The value cannot be read back, so a field that only a digest keeps is stored as a column too.
    One field is hashed by its value's own bytes, several by their encodings one after the other.
    """

    name = "digest"
    terms = (1, MANY)
    scalars = (Count("n", 1, 32, "bytes of the digest that are kept"),)
    options = (
        Pick("hash", tuple(_WIDTHS), "the hash: at most 16, 20, 32, 4 and 4 bytes"),
        Pick("as", ("bytes", "hex"), "bytes, or twice as many digits in lower case"),
    )
    vectors: ClassVar = (
        Vector("[digest(host, 4)]", {"host": "text"}, {"host": "web-1"}, "a2e3a94e"),
        Vector("[digest(host, 2, as=hex)]", {"host": "text"}, {"host": "web-1"}, "61326533"),
        Vector("[digest(n, 4, hash=crc32)]", {"n": "i32"}, {"n": -1}, "ffffffff"),
        Vector("[digest(n, m, 4)]", {"n": "u8", "m": "u8"}, {"n": 1, "m": 2}, "0cb988d0"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        for part in inputs:
            field = part.inner if isinstance(part, Nullable) else part
            if isinstance(field, FieldPart):
                field.own()  # refuses an encoding: several are hashed in their default one
        taken = (inputs[0].own(),) if len(inputs) == 1 else inputs
        super().__init__(taken, arguments, context)
        self.n: int = arguments["n"]
        if self.n > _WIDTHS[arguments["hash"]]:
            raise Refused(
                "n",
                f"{arguments['hash']} has {_WIDTHS[arguments['hash']]} bytes, {self.n} are asked",
                f"1..{_WIDTHS[arguments['hash']]}",
            )
        self.is_hex = arguments["as"] == "hex"
        self.hash = _hasher(arguments["hash"])
        self.cardinality = 256**self.n
        self.alphabet = Alphabet((HEX_DIGITS if self.is_hex else ALL_BYTES).values, even=True)

    @property
    def framing(self) -> Framing:
        return Framing.fixed(2 * self.n if self.is_hex else self.n)

    def residue(self, name: str) -> Residue:
        return EVERYTHING

    def _cut(self, data: bytes) -> bytes:
        kept = self.hash(data)[: self.n]
        return kept.hex().encode() if self.is_hex else kept

    def show(self, piece: bytes) -> str:
        """Its digits, behind its own name: they are nobody's value."""
        digits = piece.decode("ascii", "replace") if self.is_hex else piece.hex()
        return f"{self.title} {digits}"

    def encode(self, row: Row) -> bytes:
        return self._cut(b"".join([part.encode(row) for part in self.inputs]))

    def writer(self) -> Writer:
        writers, cut = [part.writer() for part in self.inputs], self._cut
        if len(writers) == 1:
            write = writers[0]
            return lambda row: cut(write(row))
        return lambda row: cut(b"".join([write(row) for write in writers]))

    def words(self) -> str:
        name = self.arguments["hash"]
        if len(self.inputs) == 1:
            inner = ", ".join(self.fields) or "a salt"
            hashed = f"the value of {inner} by itself: text as UTF-8, numbers big-endian"
        else:
            hashed = " followed by ".join(f"({part.words()})" for part in self.inputs)
        cut = f"the first {self.n} bytes of {name} of {hashed}"
        return f"{cut}, in lower-case hexadecimal" if self.is_hex else cut

    def batch(self, columns: Columns) -> Pieces:
        import numpy as np

        from rowkey.keys.batches.hashing import murmur3
        from rowkey.keys.batches.pieces import Fixed, joined

        pieces = joined([part.pieces(columns) for part in self.inputs])
        if self.arguments["hash"] == "murmur3" and not self.is_hex:
            whole = murmur3(pieces).astype(">u4").view(np.uint8).reshape(-1, 4)
            kept = np.ascontiguousarray(whole[:, : self.n])
            return Fixed(kept.view(f"V{self.n}").reshape(len(kept)))
        width = self.framing.least
        cut = b"".join(map(self._cut, pieces.tolist()))
        return Fixed(np.frombuffer(cut, f"V{width}"))

    @classmethod
    def tries(cls, facts: Mapping[str, Facts], cluster: Cluster) -> Iterator[Mapping[str, int]]:
        """Four bytes spread enough; eight and sixteen also tell entities apart."""
        yield from ({"n": n} for n in (4, 8, 16))


def _hasher(name: str) -> Callable[[bytes], bytes]:
    """The function from bytes to all bytes of the hash, most significant first."""
    if name == "murmur3":
        return lambda data: mmh3.hash(data, 0, False).to_bytes(4, "big")
    if name == "crc32":
        return lambda data: zlib.crc32(data).to_bytes(4, "big")
    make = getattr(hashlib, name)
    return lambda data: bytes(make(data, usedforsecurity=False).digest())
