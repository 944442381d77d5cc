"""What the schema library found wrong, in the house's form of a mistake."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel

from rowkey.design.paths import path_text
from rowkey.errors import Mistakes, did_you_mean
from rowkey.schema import Declaration

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

Path = tuple[str | int, ...]

_TYPES = {
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
_RANGES = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
_SIZES = ("too_long", "too_short", "string_too_long", "string_too_short")
KEY = "[key]"
"""The library's own step for a table's word, where the word itself is wrong."""
_LISTED = {"reads", "bursts"}
_SHOWN = 40
MOST_LISTED = 500
"""Mistakes of shape that are listed; more are no slip of a writer's."""


def note_all(problem: ValidationError, mistakes: Mistakes) -> list[Path]:
    """Note everything a validation found.

    Returns:
        The path of each mistake.
    """
    details = problem.errors(include_url=False)
    listed = details[:MOST_LISTED]
    some_missing = any(detail["type"] == "missing" for detail in listed)
    meant = {_meant(detail) for detail in listed} if some_missing else set()
    for detail in listed:
        if detail["type"] != "missing" or detail["loc"] not in meant:
            _note(detail["loc"], detail, mistakes)
    if len(details) > MOST_LISTED:
        mistakes.add("", f"{len(details) - MOST_LISTED:,} more mistakes are not listed")
    return [detail["loc"] for detail in details]


def is_of_a_name(detail: ErrorDetails) -> bool:
    """Whether a table's word is wrong itself: then the library's own step stands behind it.

    Where a file calls a word of its own `[key]`, what is wrong is never that it is no text.
    """
    return detail["loc"][-1] == KEY and detail["type"].startswith("string_")


def field_info(path: Path) -> FieldInfo | None:
    """What is declared of the word at a path; None for a name that the file chose itself."""
    model = _model_at(path[:-1])
    fields = model.model_fields.items() if model else ()
    return next((info for name, info in fields if path[-1] == (info.alias or name)), None)


def shown(value: Any) -> str:
    """A value as it stands in a design file, short whatever it is.

    >>> shown(True), shown("text"), shown(3), shown([1])
    ('true', "'text'", '3', 'a list')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}…"
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length():,} bits"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return value.isoformat() if hasattr(value, "isoformat") else reprlib.repr(value)


def _meant(detail: ErrorDetails) -> Path | None:
    """The path of the word that an unknown one was meant to be, if one is near."""
    if detail["type"] != "extra_forbidden":
        return None
    path = detail["loc"]
    near = did_you_mean(str(path[-1]), _words_at(path[:-1]))
    return (*path[:-1], near[len("Did you mean ") : -1]) if near else None


def _note(path: Path, detail: ErrorDetails, mistakes: Mistakes) -> None:
    kind, given = detail["type"], detail.get("input")
    context: dict[str, Any] = detail.get("ctx") or {}
    at = path_text(path)
    if is_of_a_name(detail):
        what = f"the name {shown(given)} does not fit"
        mistakes.add(path_text(path[:-2]), what, _TYPES.get(kind, "text"))
    elif kind == "extra_forbidden":
        mistakes.add(at, *_unknown(path))
    elif kind == "missing":
        mistakes.add(at, "it is missing", _described(path))
    elif kind == "no_kind":
        mistakes.add(f"{at}.kind", "it is missing", _described(path))
    elif kind == "literal_error":
        known = str(context.get("expected", "")).replace("'", "").replace(" or ", ", ")
        near = did_you_mean(str(given), known.split(", "))
        mistakes.add(at, f"{shown(given)} is not known", known, near)
    elif kind in _RANGES:
        mistakes.add(at, f"{shown(given)} is out of range", _range(path))
    elif kind in _SIZES:
        mistakes.add(at, *_size(kind, given, context))
    else:
        mistakes.add(at, f"{shown(given)} does not fit", *_fitting(path, kind, given))


def _unknown(path: Path) -> tuple[str, str, str]:
    """What is said of a word that does not exist."""
    word, known = str(path[-1]), _words_at(path[:-1])
    remedy = did_you_mean(word, known)
    if not remedy and word in _words_at(()):
        remedy = "Write it at the top of the file, above the first table."
    return "there is no such word", ", ".join(known), remedy


def _size(kind: str, given: Any, context: dict[str, Any]) -> tuple[str, str]:
    """What is said of a text, list or table that is too long or too short."""
    noun = "characters" if isinstance(given, str) else "entries"
    if kind.endswith("too_long"):
        return f"{len(given):,} {noun} are too many", f"at most {context['max_length']:,}"
    return "it is empty", "one character or more" if isinstance(given, str) else "one or more"


def _fitting(path: Path, kind: str, given: Any) -> tuple[str, str]:
    """What fits in place of a value of another sort, and what may have been meant."""
    allowed, described = _TYPES.get(kind, "another value"), _described(path)
    if path[0] == "fields" and len(path) == 2:
        return 'a type such as "text", or a table with one', ""
    if described:
        allowed = f"{allowed} ({described})"
    if isinstance(given, str) and kind in ("int_type", "float_type"):
        plain = given.replace(".", "", 1) if kind == "float_type" else given
        meant = plain.isascii() and plain.isdecimal() and len(given) <= _SHOWN
        return allowed, f"Write {given}, without quotes." if meant else ""
    if kind == "bool_type" and str(given).lower() in ("true", "false"):
        return allowed, f"Write {str(given).lower()}, without quotes."
    if kind == "tuple_type" and isinstance(given, dict) and path[-1] in _LISTED:
        return allowed, f"Write [[{path_text(path)}]]."
    return allowed, ""


def _range(path: Path) -> str:
    """The range of a number: `1..38`, or in words where an end does not belong to it."""
    info = field_info(path)
    ends: dict[str, float] = {}
    for rule in info.metadata if info else ():
        ends |= {end: getattr(rule, end) for end in ("ge", "gt", "le") if hasattr(rule, end)}
    number = {end: f"{value:,.15g}" for end, value in ends.items()}
    if "ge" in number and "le" in number:
        return f"{number['ge']}..{number['le']}"
    words = {"ge": "at least", "gt": "above", "le": "at most"}
    return ", ".join(f"{words[end]} {text}" for end, text in number.items())


def _model_at(path: Path) -> type[BaseModel] | None:
    """The class whose words stand below a path; None where names are the user's own."""
    model: type[BaseModel] | None = Declaration
    is_named = False
    for step in path:
        if is_named or isinstance(step, int):
            is_named = False
            continue
        fields = model.model_fields.items() if model else ()
        info = next((info for name, info in fields if step == (info.alias or name)), None)
        is_named = info is not None and get_origin(info.annotation) is dict
        model = next(iter(_models_in((info.annotation, *info.metadata))), None) if info else None
    return None if is_named else model


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The classes that an annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    inner = annotation if isinstance(annotation, tuple) else get_args(annotation)
    return [model for part in inner for model in _models_in(part)]


def _words_at(path: Path) -> list[str]:
    model = _model_at(path)
    fields = model.model_fields.items() if model else ()
    return [info.alias or name for name, info in fields]


def _described(path: Path) -> str:
    info = field_info(path)
    return (info.description or "") if info else ""
