"""What the schema library found wrong, in the house's form of a mistake."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from rowkey.errors import Mistakes, did_you_mean
from rowkey.schema import Declaration

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list",
    "mapping_type": "a table",
}
_RANGES = {
    "greater_than_equal": ("ge", "at least {}"),
    "greater_than": ("gt", "above {}"),
    "less_than_equal": ("le", "at most {}"),
    "less_than": ("lt", "below {}"),
    "too_long": ("max_length", "at most {} entries"),
    "too_short": ("min_length", "at least {}"),
    "string_too_short": ("min_length", "at least {} characters"),
    "string_too_long": ("max_length", "at most {} characters"),
}


def note_all(problem: ValidationError, mistakes: Mistakes) -> None:
    """Note everything a validation found, each with its path."""
    for detail in problem.errors(include_url=False, include_context=True):
        _note(detail, mistakes)


def path_text(path: tuple[str | int, ...]) -> str:
    """A path as it is printed: `fields.host.max_bytes`, `reads[0].name`.

    >>> path_text(("reads", 0, "name"))
    'reads[0].name'
    """
    text = ""
    for step in path:
        shown = str(step)[:80]
        text += f"[{step}]" if isinstance(step, int) else f".{shown}" if text else shown
    return text


def _note(detail: ErrorDetails, mistakes: Mistakes) -> None:
    path = tuple(step for step in detail["loc"] if not str(step).startswith("function-"))
    kind, given = detail["type"], detail.get("input")
    shown = reprlib.repr(given)
    context: dict[str, Any] = detail.get("ctx") or {}
    if kind == "extra_forbidden":
        known = _words_at(path[:-1])
        remedy = did_you_mean(str(path[-1]), known)
        mistakes.add(path_text(path), "there is no such word", ", ".join(known), remedy)
    elif kind == "missing":
        mistakes.add(path_text(path), "is missing", _described(path))
    elif kind in _TYPES:
        mistakes.add(path_text(path), f"{shown} does not fit", _TYPES[kind])
    elif kind == "literal_error":
        mistakes.add(path_text(path), f"{shown} is not known", str(context.get("expected")))
    elif kind in _RANGES:
        word, form = _RANGES[kind]
        what = f"{len(given):,} entries" if isinstance(given, list | dict | tuple) else shown
        mistakes.add(path_text(path), f"{what} is out of range", form.format(context.get(word)))
    else:
        mistakes.add(path_text(path), f"{shown}: {detail['msg']}")


def _model_at(path: tuple[str | int, ...]) -> type[BaseModel] | None:
    """The class whose words stand below a path."""
    model: type[BaseModel] | None = Declaration
    for step in path:
        if isinstance(step, int) or model is None:
            continue
        found = _word(model, step)
        if found is None:
            continue
        model = next(iter(_models_in(found)), None)
    return model


def _word(model: type[BaseModel], step: str) -> Any:
    """The annotation of a word, by its name in the file."""
    for name, info in model.model_fields.items():
        if step in (name, info.alias):
            return (info.annotation, *info.metadata)
    return None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """The classes that an annotation mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    inner = annotation if isinstance(annotation, tuple) else get_args(annotation)
    return [model for part in inner for model in _models_in(part)]


def _words_at(path: tuple[str | int, ...]) -> list[str]:
    model = _model_at(path)
    if model is None:
        return []
    return [info.alias or name for name, info in model.model_fields.items()]


def _described(path: tuple[str | int, ...]) -> str:
    model = _model_at(path[:-1])
    if model is None:
        return ""
    for name, info in model.model_fields.items():
        if path[-1] in (name, info.alias):
            return info.description or ""
    return ""
