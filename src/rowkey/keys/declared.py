"""Fields as Python declares them, checked against the words that a design file may hold.

A whole file is checked by the room `design`, which knows the line of each word; these are the
fields of `bind_key` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rowkey.errors import Mistakes, did_you_mean, shown
from rowkey.schema import FieldWords

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

_WORDS = {info.alias or name: info for name, info in FieldWords.model_fields.items()}


def field_words(fields: Mapping[str, Any], mistakes: Mistakes) -> dict[str, FieldWords]:
    """The words of each field; those with mistakes are left out.

    Args:
        fields: for each field its type, or a mapping of its words.
        mistakes: where what is wrong is noted, below `fields`.
    """
    if not isinstance(fields, Mapping):
        mistakes.add("fields", f"{shown(fields)} does not fit", "a table")
        return {}
    words = {}
    for name, given in fields.items():
        if not isinstance(name, str):
            mistakes.add("fields", f"the name {shown(name)} does not fit", "text")
            continue
        told = {"type": given} if isinstance(given, str) else given
        try:
            words[name] = FieldWords.model_validate(told)
        except ValidationError as problem:
            for detail in problem.errors(include_url=False):
                _note(f"fields.{name}", detail, mistakes)
    return words


def _ends(word: FieldInfo) -> str:
    """The range of a number, `1..38`; empty for other words."""
    ends: dict[str, int] = {}
    for rule in word.metadata:
        ends |= {end: getattr(rule, end) for end in ("ge", "le") if hasattr(rule, end)}
    return f"{ends['ge']:,}..{ends['le']:,}" if len(ends) == 2 else ""


def _note(path: str, detail: ErrorDetails, mistakes: Mistakes) -> None:
    """Note one thing that the schema found wrong with a field."""
    if not detail["loc"]:
        mistakes.add(path, f"{shown(detail['input'])} does not fit", "a type, or a table with one")
        return
    word = str(detail["loc"][0])
    at = ".".join([path, *map(str, detail["loc"])])
    if detail["type"] == "extra_forbidden":
        mistakes.add(at, "there is no such word", ", ".join(_WORDS), did_you_mean(word, _WORDS))
        return
    described = _WORDS[word].description or ""
    if ends := _ends(_WORDS[word]):
        described = f"{ends} ({described})"
    missing = detail["type"] == "missing"
    what = "it is missing" if missing else f"{shown(detail['input'])} does not fit"
    mistakes.add(at, what, described)
