"""Pydantic's validation errors as mistakes of a design file."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel

from rowkey.design.paths import KeyPath, format_path
from rowkey.errors import Mistakes
from rowkey.messages import suggest_name
from rowkey.schema import DesignDeclaration

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

_TYPE_NAMES = {
    "string_type": "text",
    "string_unicode": "text in Unicode",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
}
_RANGE_ERRORS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
_RANGE_ENDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_SIZE_ERRORS = ("too_long", "too_short", "string_too_long", "string_too_short")
KEY_STEP = "[key]"
"""The library's own step for a table's word, where the word itself is wrong."""
_TABLE_LISTS = {"reads", "bursts"}
_MAX_SHOWN_LENGTH = 40
MAX_LISTED_MISTAKES = 500
"""Mistakes of shape that are listed; more are no slip of a writer's."""


def note_validation_errors(problem: ValidationError, mistakes: Mistakes) -> list[KeyPath]:
    """Note the errors of a validation as mistakes.

    Returns:
        The path of each mistake.
    """
    details = problem.errors(include_url=False)
    listed = details[:MAX_LISTED_MISTAKES]
    some_missing = any(detail["type"] == "missing" for detail in listed)
    meant = {_find_intended_path(detail) for detail in listed} if some_missing else set()
    for detail in listed:
        if detail["type"] != "missing" or detail["loc"] not in meant:
            _note_error(detail["loc"], detail, mistakes)
    if len(details) > MAX_LISTED_MISTAKES:
        mistakes.add(
            "",
            f"{len(details) - MAX_LISTED_MISTAKES:,} more mistakes are not listed",
        )
    return [detail["loc"] for detail in details]


def is_name_error(detail: ErrorDetails) -> bool:
    """Return whether the error is about a table's key, not about its value.

    Where a file calls a word of its own `[key]`, what is wrong is never that it is no text.
    """
    return detail["loc"][-1] == KEY_STEP and detail["type"].startswith("string_")


def find_field_info(path: KeyPath) -> FieldInfo | None:
    """Return what the schema declares for a path; None for a name chosen by the user."""
    model = _find_model(path[:-1])
    fields = model.model_fields.items() if model else ()
    return next((info for name, info in fields if path[-1] == (info.alias or name)), None)


def format_value(value: Any) -> str:
    """Return a value as a design file spells it, shortened.

    >>> format_value(True), format_value("text"), format_value(3), format_value([1])
    ('true', "'text'", '3', 'a list')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value) if len(value) <= _MAX_SHOWN_LENGTH else f"{value[:_MAX_SHOWN_LENGTH]!r}…"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length():,} bits"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return value.isoformat() if hasattr(value, "isoformat") else reprlib.repr(value)


def _find_intended_path(detail: ErrorDetails) -> KeyPath | None:
    """Return the path of the known option that an unknown one is a typo of, or None."""
    if detail["type"] != "extra_forbidden":
        return None
    path = detail["loc"]
    near = suggest_name(str(path[-1]), _list_options(path[:-1]))
    return (*path[:-1], near[len("Did you mean ") : -1]) if near else None


def _note_error(path: KeyPath, detail: ErrorDetails, mistakes: Mistakes) -> None:
    kind, value = detail["type"], detail.get("input")
    context: dict[str, Any] = detail.get("ctx") or {}
    at = format_path(path)
    if is_name_error(detail):
        what = f"the name {format_value(value)} is not valid"
        mistakes.add(format_path(path[:-2]), what, _TYPE_NAMES.get(kind, "text"))
    elif kind == "extra_forbidden":
        mistakes.add(at, *_describe_unknown_option(path))
    elif kind == "missing":
        mistakes.add(at, "the design lacks this option", _find_description(path))
    elif kind == "no_kind":
        mistakes.add(f"{at}.kind", "the design lacks this option", _find_description(path))
    elif kind == "literal_error":
        choices = str(context.get("expected", "")).replace("'", "").replace(" or ", ", ")
        near = suggest_name(str(value), choices.split(", "))
        mistakes.add(at, f"{format_value(value)} is not a valid value", f"one of {choices}", near)
    elif kind in _RANGE_ERRORS:
        mistakes.add(at, f"{format_value(value)} is out of range", _format_range(path))
    elif kind in _SIZE_ERRORS:
        mistakes.add(at, *_describe_size(kind, value, context))
    else:
        mistakes.add(at, f"{format_value(value)} is not valid", *_describe_type(path, kind, value))


def _describe_unknown_option(path: KeyPath) -> tuple[str, str, str]:
    """Return problem, known options and fix for an unknown option."""
    word, options = str(path[-1]), _list_options(path[:-1])
    remedy = suggest_name(word, options)
    if not remedy and word in _list_options(()):
        remedy = "Write it at the top of the file, above the first table."
    return "there is no such option", f"one of {', '.join(options)}" if options else "", remedy


def _describe_size(kind: str, value: Any, context: dict[str, Any]) -> tuple[str, str]:
    """Return problem and limit for a text, list or table of the wrong length."""
    noun = "characters" if isinstance(value, str) else "entries"
    if kind.endswith("too_long"):
        what = f"the value has {len(value):,} {noun}"
        return what, f"at most {context['max_length']:,} {noun}"
    unit = "character" if isinstance(value, str) else "entry"
    return "the value is empty", f"at least one {unit}"


def _describe_type(path: KeyPath, kind: str, value: Any) -> tuple[str, str]:
    """Return the allowed type for a value of the wrong type, and a fix."""
    allowed, described = _TYPE_NAMES.get(kind, "another value"), _find_description(path)
    if path[0] == "fields" and len(path) == 2:
        return 'a type such as "text", or a table with a type', ""
    if described:
        allowed = f"{allowed} ({described})"
    if isinstance(value, str) and kind in ("int_type", "float_type"):
        plain = value.replace(".", "", 1) if kind == "float_type" else value
        meant = plain.isascii() and plain.isdecimal() and len(value) <= _MAX_SHOWN_LENGTH
        return allowed, f"Write {value}, without quotes." if meant else ""
    if kind == "bool_type" and str(value).lower() in ("true", "false"):
        return allowed, f"Write {str(value).lower()}, without quotes."
    if kind == "tuple_type" and isinstance(value, dict) and path[-1] in _TABLE_LISTS:
        return allowed, f"Write [[{format_path(path)}]]."
    return allowed, ""


def _format_range(path: KeyPath) -> str:
    """Return the range of a number, such as `1..38` or `above 0`."""
    info = find_field_info(path)
    ends: dict[str, float] = {}
    for rule in info.metadata if info else ():
        ends |= {end: getattr(rule, end) for end in _RANGE_ENDS if hasattr(rule, end)}
    number = {end: f"{value:,.15g}" for end, value in ends.items()}
    if "ge" in number and "le" in number:
        return f"{number['ge']}..{number['le']}"
    limits = " and ".join(f"{_RANGE_ENDS[end]} {text}" for end, text in number.items())
    return f"a number {limits}"


def _find_model(path: KeyPath) -> type[BaseModel] | None:
    """Return the model of the options below a path; None where the user chooses the names."""
    model: type[BaseModel] | None = DesignDeclaration
    is_named = False
    for step in path:
        if is_named or isinstance(step, int):
            is_named = False
            continue
        fields = model.model_fields.items() if model else ()
        info = next((info for name, info in fields if step == (info.alias or name)), None)
        is_named = info is not None and get_origin(info.annotation) is dict
        model = (
            next(iter(_collect_models((info.annotation, *info.metadata))), None) if info else None
        )
    return None if is_named else model


def _collect_models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a type annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    inner = annotation if isinstance(annotation, tuple) else get_args(annotation)
    return [model for part in inner for model in _collect_models(part)]


def _list_options(path: KeyPath) -> list[str]:
    model = _find_model(path)
    fields = model.model_fields.items() if model else ()
    return [info.alias or name for name, info in fields]


def _find_description(path: KeyPath) -> str:
    info = find_field_info(path)
    return (info.description or "") if info else ""
