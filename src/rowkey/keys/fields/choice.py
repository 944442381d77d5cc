"""The type `choice`."""

from __future__ import annotations

from typing import Any, ClassVar

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.domains import ChoiceDomain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import format_short_value
from rowkey.keys.batches.byte_columns import ByteColumn, SlicedByteColumn
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.codecs.numbers import BigEndianCodec
from rowkey.keys.codecs.strings import RawFormat, TerminatedCodec, UnterminatedCodec
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.traits import Compatibility, Framing, Order
from rowkey.messages import suggest_name
from rowkey.schema import FieldDeclaration, Value


class ChoiceField(FieldType):
    """One text of a declared list; values sort in the order of the list, which only grows."""

    name = "choice"
    options = frozenset({"of"})
    required_options = frozenset({"of"})
    encodings: ClassVar = {
        "": Encoding("its place in the list, one byte; two bytes for a list above 256"),
        "u16": Encoding("its place in the list, two bytes"),
        "text": Encoding("its text in UTF-8, ended by 00"),
    }
    vectors: ClassVar = (
        GoldenVector("[c]", {"c": {"type": "choice", "of": ["INFO", "WARN"]}}, {"c": "WARN"}, "01"),
        GoldenVector(
            "[c:u16]", {"c": {"type": "choice", "of": ["INFO", "WARN"]}}, {"c": "WARN"}, "0001"
        ),
        GoldenVector("[c:text]", {"c": {"type": "choice", "of": ["b", "a"]}}, {"c": "b"}, "6200"),
    )

    def __init__(self, declaration: FieldDeclaration) -> None:
        super().__init__(declaration)
        self.choices = declaration.of or ()
        self.indexes = {text: index for index, text in enumerate(self.choices)}
        if not self.choices:
            raise InvalidArgument("of", "the list of choices is empty", "at least one text")
        if len(self.indexes) < len(self.choices):
            duplicate = next(text for n, text in enumerate(self.choices) if self.indexes[text] != n)
            raise InvalidArgument("of", f"{duplicate!r} is listed twice", "each text once")
        if any("\0" in text for text in self.choices):
            raise InvalidArgument("of", "a choice contains U+0000", "text without U+0000")
        self.possible_values = self.choices

    @property
    def domain(self) -> ChoiceDomain:
        return ChoiceDomain(self.choices)

    def to_internal(self, value: Value) -> int:
        """Return the internal form of a choice: its index in the declared list."""
        index = self.indexes.get(value) if isinstance(value, str) else None
        if index is None:
            allowed = ", ".join(self.choices[:12]) + (" …" if len(self.choices) > 12 else "")
            remedy = suggest_name(value, self.choices) if isinstance(value, str) else ""
            raise InvalidArgument(
                "",
                f"{format_short_value(value)} is not a declared choice",
                f"one of {allowed}",
                remedy,
            )
        return index

    def from_internal(self, internal: Any) -> str:
        return self.choices[int(internal)]

    def parse(self, text: str) -> str:
        return self.choices[self.to_internal(text)]

    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        if encoding == "text":
            return ChoiceTextCodec(self.choices, TerminatedCodec(self._build_raw_format()))
        width = 2 if encoding == "u16" or len(self.choices) > 256 else 1
        return BigEndianCodec(width, 0, len(self.choices) - 1)

    def build_plain_codec(self) -> Codec:
        """Return the codec whose bytes `digest` and `truncate` use for a choice: its text."""
        return ChoiceTextCodec(self.choices, UnterminatedCodec(self._build_raw_format()))

    def _build_raw_format(self) -> RawFormat:
        """Return the format that turns the text of a choice into UTF-8."""
        lengths = [len(text.encode()) for text in self.choices]
        return RawFormat(min(lengths), max(lengths), is_text=True)

    def to_internal_batch(self, array: pa.Array) -> Any:
        return np.array([self.to_internal(value) for value in list_values(array)], np.int64)

    def check_compatibility(self, new: FieldType) -> Compatibility:
        """Return what happens to stored values: the list may only grow at its end."""
        if not isinstance(new, ChoiceField) or new.choices[: len(self.choices)] != self.choices:
            return Compatibility.BREAKS
        return Compatibility.SAME if new.choices == self.choices else Compatibility.WIDER


class ChoiceTextCodec(Codec):
    """Encodes the index of a choice as the bytes of its text."""

    order = Order.NONE

    def __init__(self, choices: tuple[str, ...], base: Codec) -> None:
        self.choices = choices
        self.base = base
        # A list may grow by longer texts, so texts of equal length have no fixed width.
        min_bytes, max_bytes = base.framing.min_bytes, base.framing.max_bytes
        self.framing = Framing(
            min_bytes,
            (max_bytes or 0) + (min_bytes == max_bytes),
            base.framing.is_self_delimiting,
        )
        self.alphabet = base.alphabet
        self.cardinality = len(choices)

    @property
    def byte_layout(self) -> object:
        return (type(self), self.base.byte_layout)

    def pack(self, internal: int) -> bytes:
        """Return the index of a choice as the text of the choice."""
        return self.base.pack(self.choices[internal])

    def unpack(self, piece: bytes) -> int:
        """Return the index of a choice from the text of the choice.

        Raises:
            InvalidArgument: it is not a declared choice.
        """
        text = self.base.unpack(piece)
        if text not in self.choices:
            raise InvalidArgument(
                "", f"{text!r} is not a declared choice", f"one of {', '.join(self.choices[:12])}"
            )
        return self.choices.index(text)

    def find_end(self, data: bytes, at: int) -> int:
        return self.base.find_end(data, at)

    def pack_batch(self, internal: Any) -> ByteColumn:
        """Return indexes of choices as the text of the choice."""
        return SlicedByteColumn.from_list([self.base.pack(text) for text in self.choices]).take(
            internal
        )
