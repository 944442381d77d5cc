"""The type `choice`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused, did_you_mean
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.numbers import BigEndian
from rowkey.keys.codecs.strings import Raw, Terminated, Unended
from rowkey.keys.contract import Vector
from rowkey.keys.traits import Change, Framing, Order
from rowkey.keys.types.domains import Choices
from rowkey.keys.types.field_type import Encoding, FieldType
from rowkey.keys.types.strings import shortened
from rowkey.keys.types.values import list_values

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import FieldWords, Value


class Choice(FieldType):
    """One of a declared list of texts; they sort in the order of the list, which only grows."""

    name = "choice"
    options = frozenset({"of"})
    required = frozenset({"of"})
    encodings: ClassVar = {
        "": Encoding("its place in the list, one byte; two bytes for a list above 256"),
        "u16": Encoding("its place in the list, two bytes"),
        "text": Encoding("its text in UTF-8, ended by 00"),
    }
    vectors: ClassVar = (
        Vector("[c]", {"c": {"type": "choice", "of": ["INFO", "WARN"]}}, {"c": "WARN"}, "01"),
        Vector("[c:u16]", {"c": {"type": "choice", "of": ["INFO", "WARN"]}}, {"c": "WARN"}, "0001"),
        Vector("[c:text]", {"c": {"type": "choice", "of": ["b", "a"]}}, {"c": "b"}, "6200"),
    )

    def __init__(self, words: FieldWords) -> None:
        super().__init__(words)
        self.of = words.of or ()
        self.indexes = {text: index for index, text in enumerate(self.of)}
        if not self.of:
            raise Refused("of", "the list is empty", "one text or more")
        if len(self.indexes) < len(self.of):
            twice = next(text for n, text in enumerate(self.of) if self.indexes[text] != n)
            raise Refused("of", f"{twice!r} stands twice", "each text once")
        if any("\0" in text for text in self.of):
            raise Refused("of", "a text holds U+0000", "text without it")
        self.listed_values = self.of

    @property
    def domain(self) -> Choices:
        return Choices(self.of)

    def hold(self, value: Value) -> int:
        index = self.indexes.get(value) if isinstance(value, str) else None
        if index is None:
            listed = ", ".join(self.of[:12]) + (" …" if len(self.of) > 12 else "")
            near = did_you_mean(value, self.of) if isinstance(value, str) else ""
            raise Refused("", f"{shortened(value)} is not listed", listed, near)
        return index

    def release(self, held: Any) -> str:
        return self.of[int(held)]

    def parse(self, text: str) -> str:
        return self.of[self.hold(text)]

    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        if encoding == "text":
            return Listed(self.of, Terminated(self._raw()))
        width = 2 if encoding == "u16" or len(self.of) > 256 else 1
        return BigEndian(width, 0, len(self.of) - 1)

    def own(self) -> Codec:
        return Listed(self.of, Unended(self._raw()))

    def _raw(self) -> Raw:
        lengths = [len(text.encode()) for text in self.of]
        return Raw(min(lengths), max(lengths), text=True)

    def physical(self, array: pa.Array) -> Any:
        import numpy as np

        return np.array([self.hold(value) for value in list_values(array)], np.int64)

    def evolves(self, new: FieldType) -> Change:
        """A list may grow at its end."""
        if not isinstance(new, Choice) or new.of[: len(self.of)] != self.of:
            return Change.BREAKS
        return Change.SAME if new.of == self.of else Change.WIDER


class Listed(Codec):
    """The text of an index, in an encoding of texts.

    Args:
        of: the texts by index.
        base: their encoding.
    """

    order = Order.NONE

    def __init__(self, of: tuple[str, ...], base: Codec) -> None:
        self.of = of
        self.base = base
        # A list may grow by longer texts: one length today is no fixed width.
        least, most = base.framing.least, base.framing.most
        self.framing = Framing(least, (most or 0) + (least == most), base.framing.closed)
        self.alphabet = base.alphabet
        self.cardinality = len(of)

    @property
    def layout(self) -> object:
        return (type(self), self.base.layout)

    def pack(self, held: int) -> bytes:
        return self.base.pack(self.of[held])

    def unpack(self, piece: bytes) -> int:
        text = self.base.unpack(piece)
        if text not in self.of:
            raise Refused("", f"{text!r} is not listed", ", ".join(self.of[:12]))
        return self.of.index(text)

    def measure(self, data: bytes, at: int) -> int:
        return self.base.measure(data, at)

    def pack_batch(self, held: Any) -> Pieces:
        from rowkey.keys.batches.pieces import Spans

        return Spans.of([self.base.pack(text) for text in self.of]).take(held)
