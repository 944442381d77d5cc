"""The transform `desc`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.contract import Context, Part, Row, Transform, Vector, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.decoding import Encoded
    from rowkey.keys.batches.pieces import Ints, Pieces
    from rowkey.keys.traits import Alphabet, Framing, Images, Residue
    from rowkey.schema import Bounds, Value


class Desc(Transform):
    """The other way round: larger values come first, so that a scan begins with the latest.

    Every bit of the encoding is inverted, its end included; a timestamp is 2^63-1 less itself,
    which is Java's `Long.MAX_VALUE - ts`.
    """

    name = "desc"
    vectors: ClassVar = (
        Vector("[desc(n)]", {"n": "i32"}, {"n": 5}, "7ffffffa"),
        Vector("[desc(ts:u32)]", {"ts": "timestamp_s"}, {"ts": 1}, "fffffffe"),
        Vector("[desc(time_bucket(ts, 1h))]", {"ts": "timestamp_s"}, {"ts": 1}, "7fffffffffffffff"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        self.flipped = self.only.descending()
        self.order = self.flipped.order
        self.source = self.flipped.source
        self.alphabet = self.flipped.alphabet
        self.cardinality = self.flipped.cardinality
        self.resolution = self.flipped.resolution
        self.rest = self.flipped.rest

    @property
    def framing(self) -> Framing:
        return self.flipped.framing

    @property
    def opens(self) -> Alphabet:
        return self.flipped.opens

    def encode(self, row: Row) -> bytes:
        return self.flipped.encode(row)

    def writer(self) -> Writer:
        return self.flipped.writer()

    def residue(self, name: str) -> Residue:
        return self.flipped.residue(name)

    def images(self, bounds: Bounds) -> Images:
        return self.flipped.images(bounds)

    def measure(self, data: bytes, at: int) -> int:
        return self.flipped.measure(data, at)

    def measure_batch(self, keys: Encoded, at: Ints) -> Ints:
        return self.flipped.measure_batch(keys, at)

    def read(self, piece: bytes) -> dict[str, Value]:
        return self.flipped.read(piece)

    def check(self, piece: bytes) -> None:
        self.flipped.check(piece)

    def check_batch(self, pieces: Pieces) -> None:
        self.flipped.check_batch(pieces)

    def read_batch(self, pieces: Pieces) -> dict[str, Any]:
        return self.flipped.read_batch(pieces)

    def words(self) -> str:
        return f"descending, {self.only.turned} of: {self.only.words()}"

    def show(self, piece: bytes) -> str:
        return self.flipped.show(piece)

    def batch(self, columns: Columns) -> Pieces:
        return self.flipped.batch(columns)

    def descending(self) -> Part:
        return self.only

    def own(self) -> Part:
        raise Refused(
            "",
            f"desc of {', '.join(self.fields)} would have no effect",
            ", ".join(self.fields),
            "The value's own bytes are taken. Write desc(…) around what takes them.",
        )
