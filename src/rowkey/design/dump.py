"""A declaration as the text of a design file."""

from __future__ import annotations

import re
from math import isinf
from typing import TYPE_CHECKING, Any

from rowkey.design.paths import basic_string

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.schema import Declaration

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_TOP = ("table", "key", "splits", "catalog")
_WIDTH = 96


def dumped(declaration: Declaration, *, defaults: bool) -> str:
    """The file's text.

    Args:
        declaration: the design.
        defaults: whether words that were declared are kept where they say the default; else all
            such words are left out, so that designs that mean the same have one text.
    """
    words = said(declaration) if defaults else declaration.model_dump(**_LEAST)
    top = {word: words[word] for word in _TOP if words.get(word) is not None}
    if "reads" in words and not words["reads"]:
        top["reads"] = []
    width = max(map(len, top))
    lines = [f"{word:{width}} = {toml_value(value, word)}" for word, value in top.items()]
    lines += ["", "[fields]", *_pairs(words["fields"], _field)]
    if "families" in words and not words["families"]:
        lines += ["", "[families]"]
    for name, attributes in words.get("families", {}).items():
        lines += ["", f"[families.{toml_name(name)}]", *_pairs(attributes, toml_value)]
    for word in ("cluster", "writes", "sample"):
        if word in words:
            lines += ["", f"[{word}]", *_pairs(words[word], toml_value)]
    for read in words.get("reads", ()):
        lines += ["", "[[reads]]", *_pairs(read, toml_value)]
    return "\n".join(lines) + "\n"


_LEAST: dict[str, Any] = {"by_alias": True, "exclude_defaults": True}


def said(declaration: Declaration) -> dict[str, Any]:
    """The words that a design declares itself, as a tree; what is None says nothing."""
    words = _without_none(declaration.model_dump(by_alias=True, exclude_unset=True))
    for word in ("cluster", "writes", "sample"):
        if word in words:
            words[word] = _without_none(words[word])
    words["fields"] = {name: _without_none(field) for name, field in words["fields"].items()}
    if "reads" in words:
        words["reads"] = tuple(map(_without_none, words["reads"]))
    return words


def _without_none(words: Mapping[str, Any]) -> dict[str, Any]:
    return {word: value for word, value in words.items() if value is not None}


def spelled(value: Any) -> str:
    """A value of a design as Python writes it.

    >>> spelled({"heavy": (1.5, float("-inf"))})
    "{'heavy': (1.5, float('-inf'))}"
    """
    if isinstance(value, dict):
        return f"{{{', '.join(f'{word!r}: {spelled(inner)}' for word, inner in value.items())}}}"
    if isinstance(value, tuple | list):
        inner = ", ".join(map(spelled, value)) + ("," if len(value) == 1 else "")
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    return f"float('{value}')" if isinstance(value, float) and isinf(value) else repr(value)


def _pairs(words: Mapping[str, Any], write: Any) -> Iterator[str]:
    names = {word: toml_name(word) for word in words}
    width = min(max(map(len, names.values()), default=0), 20)
    for word, value in words.items():
        if value is not None:
            yield f"{names[word]:{width}} = {write(value)}"


def _field(words: Mapping[str, Any]) -> str:
    """A field by its type alone, and a draw by its kind alone, if that is all there is."""
    if set(words) == {"type"}:
        return toml_value(words["type"])
    draw = words.get("draw")
    short = {"draw": draw["kind"]} if draw and set(draw) == {"kind"} else {}
    return toml_value({**words, **short})


def toml_name(word: str) -> str:
    """A word as the name of a TOML pair or table, in quotes where it needs them."""
    return word if _BARE.fullmatch(word) else _quoted(word)


def toml_value(value: Any, word: str = "") -> str:
    """A value in TOML; the key's backslashes and quotes are kept readable."""
    if isinstance(value, str):
        return f"'''{value}'''" if word == "key" and _reads_better_raw(value) else _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inner = ", ".join(
            f"{toml_name(k)} = {toml_value(v)}" for k, v in value.items() if v is not None
        )
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return _listed([toml_value(entry) for entry in value])
    return repr(value) if not hasattr(value, "isoformat") else value.isoformat()


def _reads_better_raw(key: str) -> bool:
    """Whether a key would need escapes between plain quotes, and needs none between three."""
    return ("\\" in key or '"' in key) and key.isprintable() and "'''" not in f"{key}'"


def _listed(entries: list[str]) -> str:
    line = f"[{', '.join(entries)}]"
    if len(line) <= _WIDTH or any(entry.lstrip("[").startswith("{") for entry in entries):
        return line  # tables are read beside each other
    return "[\n" + "".join(f"  {entry},\n" for entry in entries) + "]"


def _quoted(text: str) -> str:
    """A TOML basic string, in which what does not print is escaped."""
    return basic_string(text)
