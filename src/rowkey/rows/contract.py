"""What a place answers: where in a row a field's value lives, and what that costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.keys import Field
    from rowkey.schema import FieldWords


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
