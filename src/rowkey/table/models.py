"""Rows as the classes their users write: dictionaries, dataclasses, pydantic models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from rowkey.errors import RowError, shown

M = TypeVar("M")


def as_mapping(row: Any) -> Mapping[str, Any]:
    """The values of a row by field.

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
    kind = type(row)
    if hasattr(kind, "model_fields"):
        return {name: getattr(row, name) for name in kind.model_fields}
    raise RowError("", f"{shown(row)[:80]} is no row", "a mapping, a dataclass or a pydantic model")


def maker(kind: type[M]) -> Callable[[Mapping[str, Any]], M]:
    """What makes a row of a class from its values; values the class does not name are left out.

    Raises:
        RowError: the class is neither a dataclass nor a pydantic model, nor `dict`.
    """
    if not isinstance(kind, type):
        raise RowError("into", f"{shown(kind)} is no class", "a dataclass or a pydantic model")
    if issubclass(kind, dict):
        return kind
    validate: Callable[[Mapping[str, Any]], M] | None = getattr(kind, "model_validate", None)
    if validate is not None:
        return validate
    if not is_dataclass(kind):
        raise RowError("into", f"{kind.__name__} holds no row", "a dataclass or a pydantic model")
    names = [field.name for field in fields(kind) if field.init]

    def make(row: Mapping[str, Any]) -> M:
        return kind(**{name: row[name] for name in names if name in row})

    return make
