"""What a place answers: where in a row a field's value lives, what that costs, how it is stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.keys import Row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from rowkey.keys import Field
    from rowkey.rows.stamp import Stamp
    from rowkey.schema import FieldWords


class Left(Enum):
    """What a write does to a cell of which the row says nothing."""

    ALONE = "left alone"


Written = bytes | None | Left
"""A cell's value; None where the cell is deleted."""

SlotWriter = Callable[[Row], Written]
SlotReader = Callable[[bytes, dict[str, Any]], None]
"""Adds the values of a cell's bytes to an event."""


@dataclass(frozen=True, slots=True)
class CellShape:
    """One cell that every event writes.

    Args:
        family: its column family.
        qualifier: the constant part of its qualifier.
        fields: the fields whose values it holds.
        value_bytes: mean bytes of its value, where it is written.
        optional: whether an event may lack it.
        share: share of the events that write it, 0..1.
    """

    family: str
    qualifier: bytes
    fields: tuple[str, ...]
    value_bytes: float
    optional: bool
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Width:
    """How wide a field's values are.

    Args:
        mean: mean bytes of a value that is there.
        share: share of the events that have one, 0..1.
    """

    mean: float
    share: float = 1.0


class Slot(ABC):
    """One cell that an event may have: it writes the values of its fields as bytes, and reads them.

    Args:
        family: its column family.
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
        """What a message calls the cell: `d:note`."""
        return f"{self.family}:{self.qualifier.decode(errors='backslashreplace')}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its fields."""
        return tuple(field.name for field in self.fields)

    @property
    def kind(self) -> str:
        """What decides its bytes beside the types of its fields; two that differ share no bytes."""
        return type(self).__name__

    @abstractmethod
    def writer(self) -> SlotWriter:
        """A row's value of the cell, compiled.

        It raises `RowError` where the row has no value that can be stored.
        """

    @abstractmethod
    def reader(self) -> SlotReader:
        """What adds the values of the cell's bytes to an event, compiled.

        It raises `Refused` where the bytes are no value.
        """

    @abstractmethod
    def write_batch(self, batch: pa.RecordBatch) -> pa.Array | None:
        """The cell's values of many rows: Arrow bytes, null where a row has no such cell.

        Returns:
            None where the batch says nothing of the cell.

        Raises:
            RowError: a row has no value that can be stored.
        """

    @abstractmethod
    def read_batch(self, values: pa.Array, wanted: Collection[str]) -> dict[str, pa.Array]:
        """The wanted fields of many cells, as Arrow columns in the types of the fields.

        Args:
            values: the cells' bytes, none of them null.
            wanted: names of fields.

        Raises:
            Refused: the bytes of some are no value.
        """


class Format(ABC):
    """One way to write the values of several fields as bytes.

    Args:
        fields: the fields, in the order of their numbers.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = tuple(fields)

    @classmethod
    @abstractmethod
    def label_bytes(cls, number: int, field: Field) -> int:
        """What a short packed value adds to its own bytes: which field's it is, its type or length.

        Args:
            number: the place of the field among those of the cell, from 0 on.
            field: the field.
        """

    @classmethod
    def head_bytes(cls, values: float) -> int:
        """Bytes in front of so many values of a cell."""
        return 0

    @abstractmethod
    def pack(self, held: Mapping[int, Any]) -> bytes:
        """The bytes of held values, by the number of their field."""

    @abstractmethod
    def unpack(self, data: bytes) -> dict[int, Any]:
        """The values that bytes hold, by number; `value_of` makes the field's of each.

        Raises:
            Refused: the bytes are none of this format.
        """


class Place(ABC):
    """One way for values to live in a row."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def claims(cls, words: FieldWords) -> bool:
        """Whether a field declared so lives in a place of this kind."""

    @classmethod
    @abstractmethod
    def cells(
        cls, fields: Sequence[Field], family: str, widths: Mapping[str, Width]
    ) -> Iterator[CellShape]:
        """The cells that these fields make together.

        Args:
            fields: the fields that live in a place of this kind.
            family: the family of fields that name none.
            widths: how wide each field's value is, and how often there is one.
        """

    @classmethod
    def qualifier_bytes(cls, fields: Sequence[Field], widths: Mapping[str, Width]) -> float:
        """Mean bytes that these fields put before the qualifier of every cell."""
        return 0.0

    @classmethod
    def slots(cls, fields: Sequence[Field], family: str) -> Iterator[Slot]:
        """The same cells as `cells` tells of, able to write and read their values."""
        return iter(())

    @classmethod
    def opening(cls, fields: Sequence[Field]) -> tuple[Field, ...]:
        """The fields whose encodings stand before the qualifier of every cell, in their order."""
        return ()

    @classmethod
    def stamps(cls, fields: Sequence[Field]) -> Iterator[Stamp]:
        """What the timestamps of the cells are taken from."""
        return iter(())
