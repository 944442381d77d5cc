"""A declared field with its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys.base_types.field_type import FieldType
from rowkey.schema import FieldDeclaration, Value


@dataclass(frozen=True, slots=True)
class Field:
    """A declared field with its bound type.

    Args:
        declaration: the field's options as declared.
        nullable: whether a row may lack it.
        heavy_values: values that a bounded bucket spreads, as they were declared.
    """

    name: str
    type: FieldType
    declaration: FieldDeclaration
    nullable: bool = False
    heavy_values: tuple[Any, ...] = ()

    def to_internal(self, value: Value) -> Any:
        """Return the internal form of a value.

        Raises:
            RowError: the field has no such value.
        """
        try:
            return self.type.to_internal(value)
        except InvalidArgument as refusal:
            raise self.to_row_error(refusal) from None

    def normalize(self, value: Value) -> Value:
        """Return a value in the form in which it is read back.

        Raises:
            RowError: the field has no such value.
        """
        return self.type.from_internal(self.to_internal(value))

    def parse(self, text: str) -> Value:
        """Return the value of a text.

        Raises:
            RowError: the text is no value of the field.
        """
        try:
            return self.type.parse(text)
        except InvalidArgument as refusal:
            raise self.to_row_error(refusal) from None

    def to_internal_batch(self, array: pa.Array) -> Any:
        """Return the internal forms of an Arrow array without nulls.

        Raises:
            RowError: the field has no such value.
        """
        try:
            return self.type.to_internal_batch(array)
        except InvalidArgument as refusal:
            raise self.to_row_error(refusal) from None

    def to_row_error(self, refusal: InvalidArgument) -> RowError:
        """Return the error of a refused value as a RowError that names the field."""
        mistake = refusal.mistake
        return RowError(f"field {self.name}", mistake.problem, mistake.expected, mistake.remedy)
