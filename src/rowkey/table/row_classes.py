"""Rows as dictionaries, dataclasses or pydantic models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from rowkey.errors import RowError
from rowkey.messages import format_value

M = TypeVar("M")


def to_mapping(row: Any) -> Mapping[str, Any]:
    """Return the values of a row by field.

    Args:
        row: a mapping, an instance of a dataclass, or a pydantic model.

    Raises:
        RowError: it is none of these.

    Cost: nothing for a mapping; a copy of the values otherwise.
    """
    if isinstance(row, Mapping):
        return row
    if is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in fields(row)}
    row_class = type(row)
    if hasattr(row_class, "model_fields"):
        return {name: getattr(row, name) for name in row_class.model_fields}
    raise RowError(
        "", f"{format_value(row)[:80]} is no row", "a mapping, a dataclass or a pydantic model"
    )


def build_row_factory(row_class: type[M]) -> Callable[[Mapping[str, Any]], M]:
    """Return a function that builds a row of a class from values; others are left out.

    Raises:
        RowError: the class is neither a dataclass nor a pydantic model, nor `dict`.
    """
    if not isinstance(row_class, type):
        raise RowError(
            "into", f"{format_value(row_class)} is no class", "a dataclass or a pydantic model"
        )
    if issubclass(row_class, dict):
        return row_class
    validate: Callable[[Mapping[str, Any]], M] | None = getattr(row_class, "model_validate", None)
    if validate is not None:
        return validate
    if not is_dataclass(row_class):
        raise RowError(
            "into", f"{row_class.__name__} holds no row", "a dataclass or a pydantic model"
        )
    names = [field.name for field in fields(row_class) if field.init]

    def make(row: Mapping[str, Any]) -> M:
        return row_class(**{name: row[name] for name in names if name in row})

    return make
