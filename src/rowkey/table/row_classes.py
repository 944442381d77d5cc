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
        RowError: it is neither.

    Cost: nothing for a mapping; a copy of the values otherwise.
    """
    if isinstance(row, Mapping):
        return row
    if is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in fields(row)}
    row_class = type(row)
    if hasattr(row_class, "model_fields"):
        return {name: getattr(row, name) for name in row_class.model_fields}
    what = f"{format_value(row)[:80]} is not a row"
    raise RowError("argument row", what, "a mapping, a dataclass or a pydantic model")


def merge_values(row: Any, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a row that is given as one argument, by name, or as both.

    Args:
        row: as for `to_mapping`; None if all fields are given by name.
        fields: values by name, which win over those of the row.
    """
    if type(row) is dict and not fields:
        return row
    return {**(to_mapping(row) if row is not None else {}), **fields}


def build_row_factory(row_class: type[M]) -> Callable[[Mapping[str, Any]], M]:
    """Return a function that builds an instance of a class from the fields of a row.

    Fields that the class does not have are left out.

    Raises:
        RowError: the class is neither a dataclass nor a pydantic model, nor `dict`.
    """
    if not isinstance(row_class, type):
        what = f"{format_value(row_class)} is not a class"
        raise RowError("argument into", what, "a dataclass or a pydantic model")
    if issubclass(row_class, dict):
        return row_class
    validate: Callable[[Mapping[str, Any]], M] | None = getattr(row_class, "model_validate", None)
    if validate is not None:
        return validate
    if not is_dataclass(row_class):
        what = f"{row_class.__name__} is not a class of rows"
        raise RowError("argument into", what, "a dataclass or a pydantic model")
    names = [field.name for field in fields(row_class) if field.init]

    def build_row(row: Mapping[str, Any]) -> M:
        return row_class(**{name: row[name] for name in names if name in row})

    return build_row
