"""The interface of placements, which say where a row stores a field, as which bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from rowkey.array_libraries import pa
from rowkey.keys import Field, Row
from rowkey.rows.cell_timestamp import CellTimestamp
from rowkey.rows.qualifier_notation import format_qualifier
from rowkey.schema import FieldDeclaration


class CellAction(Enum):
    """What a write does to a cell if the row gives none of the cell's fields."""

    KEEP = "left alone"


CellValue = bytes | None | CellAction
"""A cell's value; None where the cell is deleted."""

SlotWriter = Callable[[Row], CellValue]
SlotReader = Callable[[bytes, dict[str, Any]], None]
"""Adds the values of a cell's bytes to an event."""


@dataclass(frozen=True, slots=True)
class CellEstimate:
    """One expected cell of an event.

    Args:
        family: its column family.
        qualifier: the constant part of its qualifier.
        fields: the fields whose values it holds.
        mean_value_bytes: mean bytes of its value, where it is written.
        optional: whether an event may lack it.
        event_share: share of the events that write it, 0..1.
    """

    family: str
    qualifier: bytes
    fields: tuple[str, ...]
    mean_value_bytes: float
    optional: bool
    event_share: float = 1.0

    @property
    def title(self) -> str:
        """The name of the cell in a message, such as `d:note`."""
        return f"{self.family}:{format_qualifier(self.qualifier)}"


@dataclass(frozen=True, slots=True)
class ValueSize:
    """The mean size of a field's values, and how many events have one.

    Args:
        mean_bytes: mean bytes of a value that is there.
        present_share: share of the events that have one, 0..1.
    """

    mean_bytes: float
    present_share: float = 1.0


class CellSlot(ABC):
    """A column of the layout: one cell that an event may have, with the codec of its fields.

    Args:
        qualifier: the constant part of its qualifier.
        fields: the fields whose values it holds.
        optional: whether an event may lack it.
    """

    def __init__(
        self, family: str, qualifier: bytes, fields: tuple[Field, ...], *, optional: bool
    ) -> None:
        self.family = family
        self.qualifier = qualifier
        self.fields = fields
        self.optional = optional

    @property
    def title(self) -> str:
        """The name of the cell in a message, such as `d:note`."""
        return f"{self.family}:{format_qualifier(self.qualifier)}"

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of the cell's fields."""
        return tuple(field.name for field in self.fields)

    @property
    def encoding_name(self) -> str:
        """The name of the encoding, apart from the field types; it differs if the bytes differ."""
        return type(self).__name__

    def has_same_bytes(self, other: CellSlot) -> bool:
        """Return whether both cells store the same fields as the same bytes."""
        return (
            self.field_names == other.field_names
            and self.encoding_name == other.encoding_name
            and [_name_bytes(field) for field in self.fields]
            == [_name_bytes(field) for field in other.fields]
        )

    @abstractmethod
    def encode_values(self, values: Row) -> bytes:
        """Return the cell's value for those of its fields that have one, whatever is missing.

        Raises:
            RowError: a field cannot be stored.
        """

    @property
    def is_plain(self) -> bool:
        """Whether the cell holds the value of its only field, as `ColumnCodec` packs it."""
        return False

    @abstractmethod
    def compile_writer(self) -> SlotWriter:
        """Return a function that encodes the fields of a row as the cell's value.

        It raises `RowError` if a field is missing or cannot be stored.
        """

    @abstractmethod
    def compile_reader(self) -> SlotReader:
        """Return a function that decodes the cell's value and adds its fields to an event.

        It raises `InvalidArgument` if the bytes are not a value.
        """

    @abstractmethod
    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        """Return the cell's values for many rows as Arrow bytes; null if a row does not write it.

        Returns:
            None if the batch has no field of the cell.

        Raises:
            RowError: a field of a row is missing or cannot be stored.
        """

    @abstractmethod
    def read_batch(self, values: pa.Array, field_names: Collection[str]) -> dict[str, pa.Array]:
        """Return some fields in the values of many cells as Arrow columns.

        Args:
            values: the cells' bytes, none of them null.

        Raises:
            InvalidArgument: the bytes of a cell are not a value.
        """


def _name_bytes(field: Field) -> tuple[str, object]:
    """Return what decides the bytes of a field's values in a cell."""
    return repr(field.type), field.type.build_plain_codec().byte_layout


class PackFormat(ABC):
    """A format that stores the values of several fields in one cell.

    Args:
        fields: the fields, in the order of their numbers.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = tuple(fields)

    @classmethod
    @abstractmethod
    def estimate_label_bytes(cls, index: int, field: Field) -> int:
        """Return the bytes that the format adds to a short value: its number, type and length.

        Args:
            index: the place of the field among those of the cell, from 0 on.
        """

    @classmethod
    def estimate_header_bytes(cls, values: float) -> int:
        """Return the bytes that the format adds to a cell with this many values."""
        return 0

    @abstractmethod
    def pack(self, internal_values: Mapping[int, Any]) -> bytes:
        """Encode internal values, by field number, as the bytes of one cell."""

    @abstractmethod
    def unpack(self, data: bytes) -> dict[int, Any]:
        """Decode the bytes of one cell to stored values by field number.

        Raises:
            InvalidArgument: the bytes are not of this format.
        """


class Placement(ABC):
    """One way to store fields in a row, such as in columns or in the qualifier."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def can_hold(cls, declaration: FieldDeclaration) -> bool:
        """Return whether a field with this declaration is stored by this placement."""

    @classmethod
    @abstractmethod
    def estimate_cells(
        cls, fields: Sequence[Field], family: str, value_sizes: Mapping[str, ValueSize]
    ) -> Iterator[CellEstimate]:
        """Yield the expected cells of an event for the fields of this placement.

        Args:
            fields: the fields that are stored by this placement.
            family: the family of fields that name none.
            value_sizes: the mean size of each field's values, and how many events have one.
        """

    @classmethod
    def estimate_qualifier_bytes(
        cls, fields: Sequence[Field], value_sizes: Mapping[str, ValueSize]
    ) -> float:
        """Return the mean bytes that these fields add to the start of each qualifier."""
        return 0.0

    @classmethod
    def build_slots(cls, fields: Sequence[Field], family: str) -> Iterator[CellSlot]:
        """Return the columns that the fields of this placement are stored in, with codecs."""
        return iter(())

    @classmethod
    def select_qualifier_fields(cls, fields: Sequence[Field]) -> tuple[Field, ...]:
        """Return the fields that are encoded at the start of each qualifier, in order."""
        return ()

    @classmethod
    def build_timestamps(cls, fields: Sequence[Field]) -> Iterator[CellTimestamp]:
        """Yield the codec of the field that is stored in the timestamps of cells, if any."""
        return iter(())
