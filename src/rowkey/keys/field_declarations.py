"""Field declarations from Python mappings, checked against the options of a design file.

These are the fields of `bind_key`. The package `design` checks whole files, where it knows the line
of each option.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rowkey.errors import Mistakes
from rowkey.messages import format_value, suggest_name
from rowkey.schema import FieldDeclaration

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

_FIELD_KEYS = {info.alias or name: info for name, info in FieldDeclaration.model_fields.items()}


def parse_field_declarations(
    fields: Mapping[str, Any], mistakes: Mistakes
) -> dict[str, FieldDeclaration]:
    """Return the declaration of each field; fields with mistakes are left out.

    Args:
        fields: for each field its type, or a mapping of its options.
        mistakes: mistakes are added here, with paths below `fields`.
    """
    if not isinstance(fields, Mapping):
        mistakes.add(
            "fields", f"{format_value(fields)} is not a mapping", "field names with their types"
        )
        return {}
    declarations = {}
    for name, option in fields.items():
        if not isinstance(name, str):
            mistakes.add("fields", f"the field name {format_value(name)} is not text", "text")
            continue
        options = {"type": option} if isinstance(option, str) else option
        try:
            declarations[name] = FieldDeclaration.model_validate(options)
        except ValidationError as problem:
            for detail in problem.errors(include_url=False):
                _note_schema_error(f"fields.{name}", detail, mistakes)
    return declarations


def _format_range(info: FieldInfo) -> str:
    """Return the range of a number, such as `1..38`; empty for other options."""
    limits: dict[str, int] = {}
    for constraint in info.metadata:
        limits |= {
            limit: getattr(constraint, limit)
            for limit in ("ge", "le")
            if hasattr(constraint, limit)
        }
    return f"{limits['ge']:,}..{limits['le']:,}" if len(limits) == 2 else ""


def _note_schema_error(path: str, detail: ErrorDetails, mistakes: Mistakes) -> None:
    """Add one mistake that the schema found in a field."""
    if not detail["loc"]:
        mistakes.add(
            path,
            f"{format_value(detail['input'])} does not declare a field",
            "a type such as 'text', or a mapping with a type",
        )
        return
    option = str(detail["loc"][0])
    option_path = ".".join([path, *map(str, detail["loc"])])
    if detail["type"] == "extra_forbidden":
        mistakes.add(
            option_path,
            f"a field has no option {option!r}",
            f"one of {', '.join(_FIELD_KEYS)}",
            suggest_name(option, _FIELD_KEYS),
        )
        return
    expected = _FIELD_KEYS[option].description or ""
    if number_range := _format_range(_FIELD_KEYS[option]):
        expected = f"{number_range} ({expected})"
    what = f"{format_value(detail['input'])} is not valid"
    if detail["type"] == "missing":
        what = "the design lacks this option"
    mistakes.add(option_path, what, expected)
