"""Writing a declaration as a design file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isinf
from typing import Any

from rowkey.design.paths import format_basic_string, format_toml_name
from rowkey.schema import DesignDeclaration

_TOP_OPTIONS = ("table", "key", "splits", "companions", "catalog")
_MAX_LINE_WIDTH = 96


def dump_declaration(declaration: DesignDeclaration, *, defaults: bool) -> str:
    """Return a declaration as the text of a design file.

    Args:
        defaults: whether words that were declared are kept where they say the default; else all
            such words are left out, so that designs that mean the same have one text.
    """
    words = (
        build_declared_tree(declaration) if defaults else declaration.model_dump(**_MINIMAL_DUMP)
    )
    top = {word: words[word] for word in _TOP_OPTIONS if words.get(word) is not None}
    if "reads" in words and not words["reads"]:
        top["reads"] = []
    width = max(map(len, top))
    lines = [f"{word:{width}} = {format_toml_value(value, word)}" for word, value in top.items()]
    lines += ["", "[fields]", *_format_pairs(words["fields"], _format_field)]
    if "families" in words and not words["families"]:
        lines += ["", "[families]"]
    for name, attributes in words.get("families", {}).items():
        lines += [
            "",
            f"[families.{format_toml_name(name)}]",
            *_format_pairs(attributes, format_toml_value),
        ]
    for word in ("cluster", "writes", "sample"):
        if word in words:
            lines += ["", f"[{word}]", *_format_pairs(words[word], format_toml_value)]
    for read in words.get("reads", ()):
        lines += ["", "[[reads]]", *_format_pairs(read, format_toml_value)]
    return "\n".join(lines) + "\n"


_MINIMAL_DUMP: dict[str, Any] = {"by_alias": True, "exclude_defaults": True}


def build_declared_tree(declaration: DesignDeclaration) -> dict[str, Any]:
    """Return the options that a design declares itself as a tree, without None."""
    words = _drop_none(declaration.model_dump(by_alias=True, exclude_unset=True))
    for word in ("cluster", "writes", "sample"):
        if word in words:
            words[word] = _drop_none(words[word])
    words["fields"] = {name: _drop_none(field) for name, field in words["fields"].items()}
    if "reads" in words:
        words["reads"] = tuple(map(_drop_none, words["reads"]))
    return words


def _drop_none(options: Mapping[str, Any]) -> dict[str, Any]:
    return {word: value for word, value in options.items() if value is not None}


def format_python_value(value: Any) -> str:
    """Return a value of a design as a Python literal.

    >>> format_python_value({"heavy": (1.5, float("-inf"))})
    "{'heavy': (1.5, float('-inf'))}"
    """
    if isinstance(value, dict):
        items = (f"{word!r}: {format_python_value(inner)}" for word, inner in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, tuple | list):
        inner = ", ".join(map(format_python_value, value)) + ("," if len(value) == 1 else "")
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    return f"float('{value}')" if isinstance(value, float) and isinf(value) else repr(value)


def _format_pairs(options: Mapping[str, Any], format_value: Any) -> Iterator[str]:
    """Yield the options of a table as aligned lines."""
    names = {word: format_toml_name(word) for word in options}
    width = min(max(map(len, names.values()), default=0), 20)
    for word, value in options.items():
        if value is not None:
            yield f"{names[word]:{width}} = {format_value(value)}"


def _format_field(options: Mapping[str, Any]) -> str:
    """Return a field as TOML, in the short form if it has only a type."""
    if set(options) == {"type"}:
        return format_toml_value(options["type"])
    draw = options.get("draw")
    short = {"draw": draw["kind"]} if draw and set(draw) == {"kind"} else {}
    return format_toml_value({**options, **short})


def format_toml_value(value: Any, option: str = "") -> str:
    """Return a value as TOML; a key with backslashes or quotes stays readable."""
    if isinstance(value, str):
        return (
            f"'''{value}'''"
            if option == "key" and _is_better_raw(value)
            else format_basic_string(value)
        )
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        inner = ", ".join(
            f"{format_toml_name(k)} = {format_toml_value(v)}"
            for k, v in value.items()
            if v is not None
        )
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return _format_list([format_toml_value(entry) for entry in value])
    return repr(value) if not hasattr(value, "isoformat") else value.isoformat()


def _is_better_raw(key: str) -> bool:
    """Return whether a key is readable between ''' and needs escapes between quotes."""
    return ("\\" in key or '"' in key) and key.isprintable() and "'''" not in f"{key}'"


def _format_list(entries: list[str]) -> str:
    """Return a list on one line, or on several if it is long."""
    line = f"[{', '.join(entries)}]"
    if len(line) <= _MAX_LINE_WIDTH or any(entry.lstrip("[").startswith("{") for entry in entries):
        return line  # a list of tables is easier to read on one line
    return "[\n" + "".join(f"  {entry},\n" for entry in entries) + "]"
