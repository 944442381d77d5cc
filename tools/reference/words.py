"""The pages of what is declared: the design file word by word, the notation, the errors."""

from __future__ import annotations

import inspect
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from tools.reference.markdown import code, docstring, first_line, page, table

from rowkey import Design, RowkeyError, errors
from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.schema import (
    Declaration,
    parse,
    parse_where,
    read_duration,
    read_rate,
    read_size,
)

SECTIONS = {
    "fields": ("[fields]", 'A type by itself, `ts = "timestamp_ms"`, or a table of words.'),
    "cluster": ("[cluster]", ""),
    "writes": ("[writes]", ""),
    "reads": ("[[reads]]", "Conditions: see [the notation](notation.md#reads)."),
    "sample": ("[sample]", "Formats and their options: see [formats](formats.md)."),
}
"""Which words of a file open a table, by name; their classes are found in the model."""


def design_file() -> str:
    """Every word of a design file with its meaning, type and default.

    One TOML file declares one table. Unknown words are mistakes, nothing is converted silently, and
    all mistakes are reported at once, each with its line. `rowkey schema` prints the same as a JSON
    Schema for editors.
    """
    blocks = [_words(Declaration)]
    for name, (title, says) in SECTIONS.items():
        model = _models(Declaration.model_fields[name].annotation)[0]
        blocks += [
            f"## {name}",
            f"{code(title)}: {first_line(model)} {says}".strip(),
            _words(model),
        ]
        for inner in (m for info in model.model_fields.values() for m in _models(info.annotation)):
            blocks += [f"### {_heading(model, inner)}", first_line(inner), _words(inner)]
    blocks += ["## families", _FAMILIES, _attributes(), "## Quantities", _quantities()]
    return page("The design file", design_file, *blocks)


_FAMILIES = (
    "`[families.NAME]`: the attributes of a column family, as HBase has them. What is not declared "
    "keeps HBase's default. Without families, or a field that names one, there is one, `d`."
)


def _heading(model: type[BaseModel], inner: type[BaseModel]) -> str:
    """The word whose value a class describes."""
    for name, info in model.model_fields.items():
        if inner in _models(info.annotation):
            return info.alias or name
    return inner.__name__


def _words(model: type[BaseModel]) -> str:
    rows = []
    for name, info in model.model_fields.items():
        default = info.get_default(call_default_factory=True) if not info.is_required() else None
        shown = "" if info.is_required() else _shown(default)
        needed = "must be given" if info.is_required() else shown
        meaning = info.description or _inner_description(info)
        rows.append(
            [code(info.alias or name), _type(info.annotation), needed, meaning, _range(info)]
        )
    return table(["word", "type", "default", "meaning", "range"], rows)


def _inner_description(info: Any) -> str:
    return next((m.description for m in info.metadata if getattr(m, "description", None)), "")


def _shown(default: Any) -> str:
    if default is PydanticUndefined or default is None or default in ((), {}, ""):
        return "none"
    if isinstance(default, BaseModel):
        return "its defaults"
    return code(str(default).lower() if isinstance(default, bool) else default)


def _range(info: Any) -> str:
    told = []
    for bound in info.metadata:
        for word, form in _BOUNDS.items():
            value = getattr(bound, word, None)
            if isinstance(value, int | float):
                told.append(form.format(f"{value:,}"))
    return ", ".join(told)


_BOUNDS = {
    "ge": "from {}",
    "gt": "above {}",
    "le": "to {}",
    "lt": "below {}",
    "min_length": "{} or more",
    "max_length": "at most {}",
}


def _type(annotation: Any) -> str:
    """A type as a reader of TOML would name it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "a table"
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(one) for one in inner if one is not type(None)))
    if origin is tuple:
        return f"a list of {_PLURAL.get(_type(inner[0]), 'values')}"
    if origin is dict:
        return "a table"
    if hasattr(annotation, "__metadata__"):
        is_short = get_origin(inner[0]) is dict
        return "a name, or a table with its options" if is_short else _type(inner[0])
    return " or ".join(code(f'"{word}"') for word in inner)


_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "value"}
_PLURAL = {"text": "texts", "a table": "tables"}


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models(inner)]


def _attributes() -> str:
    rows = []
    for word, row in ATTRIBUTES.items():
        default = "forever" if row.default == FOREVER_S and row.seconds else _shown(row.default)
        allowed = 'a length of time such as `"30d"`' if row.seconds else row.allowed
        rows.append([code(word), code(row.hbase), default, row.says, allowed, row.source])
    header = ["word", "HBase's name", "default", "what it does", "allowed", "source"]
    return table(header, rows)


def _quantities() -> str:
    rows = [
        [first_line(kind), code(example), code(value)]
        for kind, example, value in (
            (read_duration, "30d", f"{read_duration('30d').nanoseconds:,} ns"),
            (read_rate, "90/m", f"{read_rate('90/m')} a second"),
            (read_size, "10GiB", f"{read_size('10GiB'):,} bytes"),
        )
    ]
    return table(["what", "written", "means"], rows)


WRONG_KEYS = (
    "[ts % 16]",
    "[MAX - ts]",
    "[hash(host) % n]",
    "[log-event]",
    "[bucket(host 16)]",
    "[bucket(16, host)]",
    "[host:fixed(1.5)]",
    "[host][",
    "['']",
    "[hots]",
    "[buckt(host, 16)]",
    "[bucket(host, 0)]",
    "[host:fixd(4)]",
    "[time_bucket(ts, 16)]",
    "[host:tail][ts]",
)
"""What people write first: each is answered with what to write instead."""


def notation() -> str:
    """The grammar of keys and of reads, and what their errors say.

    White space between tokens is free. Terms come first, then numbers, then named options. A bare
    name is always a field, and stands in double quotes if it is not letters, digits and `_`. A
    number has at most 18 digits; a duration is a number and one of `ns us ms s m h d`. A constant
    stands in single quotes: any characters but `'`, backslash and controls, which are written as
    `\\xHH`, `\\'` and two backslashes. In TOML a key with escapes or quoted names is written
    between three single quotes.
    """
    module, reads = inspect.getmodule(parse), inspect.getmodule(parse_where)
    rows = ([code(text), _refusal(text)] for text in WRONG_KEYS)
    return page(
        "The notation",
        notation,
        "## Keys",
        docstring(module),
        docstring(parse),
        "## What is told of a wrong key",
        "With the fields `host` (text) and `ts` (timestamp_ms):",
        table(["written", "told"], rows),
        "## Reads",
        docstring(reads),
    )


def _refusal(text: str) -> str:
    try:
        Design("t", text, fields={"host": "text", "ts": "timestamp_ms"})
    except RowkeyError as problem:
        return str(problem)
    return "nothing"


def error_tree() -> str:
    """What can go wrong, sorted by what the reader must do about it."""
    blocks = [
        docstring(errors).partition("\n\n")[2],
        "## The form of a message",
        docstring(errors.Mistake),
    ]
    for kind in _tree(RowkeyError):
        bases = ", ".join(code(base.__name__) for base in kind.__bases__)
        blocks += [f"## {kind.__name__}", f"A kind of {bases}.", docstring(kind)]
    return page("Errors", error_tree, *blocks)


def _tree(kind: type) -> list[type]:
    """A class and all that derive from it in the package, parents first."""
    found = [kind]
    children: list[type] = kind.__subclasses__()
    for child in sorted(children, key=lambda one: one.__name__):
        found += _tree(child) if child.__module__ == errors.__name__ else []
    return found
