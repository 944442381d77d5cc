"""The base class of field types: the values of a type, their order, and their encodings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument
from rowkey.keys.base_types.arrow_values import list_values
from rowkey.keys.base_types.domains import Domain
from rowkey.keys.batches.byte_columns import IntArray
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.traits import Compatibility
from rowkey.schema import FieldDeclaration, Value


@dataclass(frozen=True, slots=True)
class Encoding:
    """One encoding of a type, as a design names it after a colon.

    Args:
        description: its bytes in words, for the reference.
        arguments: names of the whole numbers in parentheses.
    """

    description: str
    arguments: tuple[str, ...] = ()


class FieldType(ABC):
    """A field type: its values, their order, and their encodings.

    The *internal form* of a value compares in the order of the type, and codecs turn it into bytes:
    the number of a timestamp, the index of a choice, the text of a text. Equal values have equal
    internal forms.
    """

    name: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()
    """The options of a declared field that the type accepts."""
    required_options: ClassVar[frozenset[str]] = frozenset()
    """The options that the type requires."""
    encodings: ClassVar[dict[str, Encoding]]
    """The encodings by name; the name of the default is empty."""
    vectors: ClassVar[tuple[GoldenVector, ...]]
    is_plain_integer: ClassVar[bool] = False
    """Whether the internal form of a whole number is the number itself."""
    is_sequence: ClassVar[bool] = False
    """Whether internal forms can be cut and reversed: text and bytes."""
    unit_ns: ClassVar[int | None] = None
    """Nanoseconds of one unit, for times."""
    has_integer_form: ClassVar[bool] = False
    """Whether internal forms are whole numbers, as `mod` and `time_bucket` need."""
    number_range: tuple[int, int] = (0, 0)
    """The smallest and the largest internal form, where these are whole numbers."""
    possible_values: tuple[Value, ...] | None = None
    """All values, where the declaration lists them."""

    def __init__(self, declaration: FieldDeclaration) -> None:
        self.declaration = declaration

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The values that examples and generated rows take; of 64 bytes at most without a limit."""

    @abstractmethod
    def to_internal(self, value: Value) -> Any:
        """Return the internal form of a value.

        Raises:
            InvalidArgument: the type has no such value.
        """

    def from_internal(self, internal: Any) -> Value:
        """Return the normal value of an internal form."""
        return internal

    @abstractmethod
    def parse(self, text: str) -> Value:
        """Return the value of a text in a CSV file, a log or a condition.

        Raises:
            InvalidArgument: the text is no value of the type.
        """

    def parse_declared_value(self, value: Any) -> Value:
        """Return the value that a design file declares; it is text where TOML has no such type.

        A floating-point number stands for the number with its shortest digits.

        Raises:
            InvalidArgument: the type has no such value.
        """
        if isinstance(value, str):
            return self.parse(value)
        try:
            self.to_internal(value)
        except InvalidArgument:
            if not isinstance(value, float):
                raise
            return self.parse(repr(value))
        return value

    def format_value(self, value: Value) -> str:
        """Return the text of a value; `parse` returns the value."""
        return str(value)

    @abstractmethod
    def build_codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """Return the codec of an encoding by its name and its whole-number arguments."""

    def find_narrower_encoding(self, codec: Codec) -> str | None:
        """Return the encoding of fixed width with the fewest bytes that can replace a codec.

        Args:
            codec: the codec; an encoding can replace it if it takes all values, loses none of them
                and keeps their order.

        Returns:
            The name of the encoding; None if no other has fewer bytes.
        """
        min_bytes, narrowest = codec.framing.min_bytes, None
        for name in (name for name, encoding in self.encodings.items() if not encoding.arguments):
            try:
                candidate = self.build_codec(name, ())
            except InvalidArgument:
                continue
            width = candidate.framing.width
            can_replace = (
                candidate.residue.is_empty
                and candidate.restrict_domain(self.domain).size == self.domain.size
            )
            if (
                width is not None
                and width < min_bytes
                and can_replace
                and candidate.order == codec.order
            ):
                min_bytes, narrowest = width, name
        return narrowest

    @abstractmethod
    def build_plain_codec(self) -> Codec:
        """Return the codec without terminator or bias, which `digest` and `truncate` use."""

    def build_arrow_type(self) -> pa.DataType:
        """Return the Arrow type of columns of this type."""
        return pa.string()

    def cast_text_column(self, array: pa.Array) -> pa.Array | None:
        """Return a text column as a typed column, where Arrow parses texts as `parse` does.

        Args:
            array: Arrow strings; nulls stay null.

        Returns:
            The column; None where each different text must be parsed with `parse`.
        """
        return None

    def to_internal_batch(self, array: pa.Array) -> Any:
        """Return the internal forms of an Arrow array without nulls, as the codecs take them."""
        return [self.to_internal(value) for value in list_values(array)]

    def build_number_column(self, numbers: IntArray) -> pa.Array:
        """Return a column of the values of whole numbers, for types with whole numbers."""
        return pa.array(numbers).cast(self.build_arrow_type())

    def from_internal_batch(self, internal: Any) -> list[Value]:
        """Return the normal values of many internal forms."""
        return [self.from_internal(value) for value in internal]

    def build_column(self, internal: Any) -> pa.Array:
        """Return an Arrow column of internal forms, of the type from `build_arrow_type`."""
        return pa.array(self.from_internal_batch(internal), self.build_arrow_type())

    def take_rows(self, internal: Any, rows: IntArray) -> Any:
        """Return the internal forms of some rows, in the given order."""
        if isinstance(internal, list):
            return [internal[row] for row in rows.tolist()]
        return internal.take(rows)

    def check_compatibility(self, new: FieldType) -> Compatibility:
        """Return what happens to stored values if the field is declared as `new` instead.

        `Codec.byte_layout` decides whether their bytes change.
        """
        if repr(self) != repr(new):
            return Compatibility.BREAKS
        return _compare_limits(self.max_value_bytes, new.max_value_bytes)

    @property
    def max_value_bytes(self) -> int | None:
        """The declared maximum length of a value in bytes; None if there is no limit."""
        return self.declaration.max_bytes if "max_bytes" in self.options else None

    def __repr__(self) -> str:
        """Return the type with the options that decide its bytes."""
        options = (
            (name, getattr(self.declaration, name)) for name in sorted(self.options - {"max_bytes"})
        )
        text = ", ".join(f"{name}={value!r}" for name, value in options if value is not None)
        return f"{self.name}({text})"


def _compare_limits(old: int | None, new: int | None) -> Compatibility:
    """Return what happens to stored values when their limit changes; None is no limit."""
    if old == new:
        return Compatibility.SAME
    return (
        Compatibility.WIDER
        if new is None or (old is not None and old < new)
        else Compatibility.BREAKS
    )
