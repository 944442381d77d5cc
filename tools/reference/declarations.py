"""The pages of the design file, the notation of keys and reads, and the errors."""

from __future__ import annotations

import inspect
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from tools.reference.markdown import (
    build_page,
    build_table,
    format_code,
    format_docstring,
    read_first_line,
)

from rowkey import Design, RowkeyError, errors
from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.schema import (
    DesignDeclaration,
    parse_duration,
    parse_key,
    parse_rate,
    parse_size,
    parse_where,
)

SECTIONS = {
    "fields": ("[fields]", 'A type, `ts = "timestamp_ms"`, or a table of options.'),
    "cluster": ("[cluster]", ""),
    "writes": ("[writes]", ""),
    "reads": ("[[reads]]", "Conditions: see [the notation](notation.md#reads)."),
    "sample": ("[sample]", "Formats and their options: see [formats](formats.md)."),
}
"""The tables of a design file by name; the model has their classes."""


def build_design_file_page() -> str:
    """Every option of a design file with its meaning, type and default.

    One TOML file declares one table. Unknown options are errors, nothing is converted silently, and
    all errors are reported at once, each with its line. `rowkey schema` prints the same as a JSON
    Schema for editors.
    """
    blocks = [_format_options(DesignDeclaration)]
    for name, (title, remark) in SECTIONS.items():
        model = _find_models(DesignDeclaration.model_fields[name].annotation)[0]
        blocks += [
            f"## {name}",
            f"{format_code(title)}: {read_first_line(model)} {remark}".strip(),
            _format_options(model),
        ]
        for inner in (
            m for info in model.model_fields.values() for m in _find_models(info.annotation)
        ):
            blocks += [
                f"### {_find_heading(model, inner)}",
                read_first_line(inner),
                _format_options(inner),
            ]
    blocks += [
        "## families",
        _FAMILIES,
        _format_attributes(),
        "## Quantities",
        _format_quantities(),
    ]
    return build_page("The design file", build_design_file_page, *blocks)


_FAMILIES = (
    "`[families.NAME]`: the attributes of a column family in HBase. Attributes that are not "
    "declared keep HBase's default. Without families, or a field that names one, there is one, `d`."
)


def _find_heading(model: type[BaseModel], inner: type[BaseModel]) -> str:
    """Return the name of the option whose value a class describes."""
    for name, info in model.model_fields.items():
        if inner in _find_models(info.annotation):
            return info.alias or name
    return inner.__name__


def _format_options(model: type[BaseModel]) -> str:
    """Return the table of the options of a declaration class."""
    rows = []
    for name, info in model.model_fields.items():
        default = info.get_default(call_default_factory=True) if not info.is_required() else None
        shown = "" if info.is_required() else _format_default(default)
        needed = "must be given" if info.is_required() else shown
        meaning = info.description or _find_inner_description(info)
        rows.append(
            [
                format_code(info.alias or name),
                _format_type(info.annotation),
                needed,
                meaning,
                _format_range(info),
            ]
        )
    return build_table(["option", "type", "default", "meaning", "range"], rows)


def _find_inner_description(info: Any) -> str:
    """Return the description in the metadata of a field; empty without one."""
    return next((m.description for m in info.metadata if getattr(m, "description", None)), "")


def _format_default(default: Any) -> str:
    """Return the default of an option as text."""
    if default is PydanticUndefined or default is None or default in ((), {}, ""):
        return "none"
    if isinstance(default, BaseModel):
        return "its defaults"
    return format_code(str(default).lower() if isinstance(default, bool) else default)


def _format_range(info: Any) -> str:
    """Return the allowed range of an option as text."""
    bounds = []
    for bound in info.metadata:
        for word, form in _BOUNDS.items():
            value = getattr(bound, word, None)
            if isinstance(value, int | float):
                bounds.append(form.format(f"{value:,}"))
    return ", ".join(bounds)


_BOUNDS = {
    "ge": "from {}",
    "gt": "above {}",
    "le": "to {}",
    "lt": "below {}",
    "min_length": "{} or more",
    "max_length": "at most {}",
}


def _format_type(annotation: Any) -> str:
    """Return the name of a type in terms of TOML."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "a table"
    if origin in (Union, UnionType):
        return " or ".join(
            dict.fromkeys(_format_type(one) for one in inner if one is not type(None))
        )
    if origin is tuple:
        return f"a list of {_PLURAL.get(_format_type(inner[0]), 'values')}"
    if origin is dict:
        return "a table"
    if hasattr(annotation, "__metadata__"):
        is_short = get_origin(inner[0]) is dict
        return "a name, or a table with its options" if is_short else _format_type(inner[0])
    return " or ".join(format_code(f'"{word}"') for word in inner)


_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "value"}
_PLURAL = {"text": "texts", "a table": "tables"}


def _find_models(annotation: Any) -> list[type[BaseModel]]:
    """Return the declaration classes in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _find_models(inner)]


def _format_attributes() -> str:
    """Return the table of column family attributes."""
    rows = []
    for word, row in ATTRIBUTES.items():
        default = (
            "forever"
            if row.default == FOREVER_S and row.is_duration
            else _format_default(row.default)
        )
        allowed = 'a length of time such as `"30d"`' if row.is_duration else row.allowed_values
        rows.append(
            [
                format_code(word),
                format_code(row.hbase_name),
                default,
                row.description,
                allowed,
                row.source,
            ]
        )
    header = ["option", "HBase's name", "default", "meaning", "allowed", "source"]
    return build_table(header, rows)


def _format_quantities() -> str:
    """Return the table of quantities with examples."""
    rows = [
        [read_first_line(cls), format_code(example), format_code(value)]
        for cls, example, value in (
            (parse_duration, "30d", f"{parse_duration('30d').nanoseconds:,} ns"),
            (parse_rate, "90/m", f"{parse_rate('90/m')} a second"),
            (parse_size, "10GiB", f"{parse_size('10GiB'):,} bytes"),
        )
    ]
    return build_table(["quantity", "example", "value"], rows)


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
"""Common mistakes; the error message of each says what to write instead."""


def build_notation_page() -> str:
    """The grammar of keys and of reads, and their error messages.

    White space between tokens is ignored. Terms come first, then numbers, then named options. A
    bare name is always a field; a name with other characters than letters, digits and `_` is
    written in double quotes. A number has at most 18 digits; a duration is a number and one of
    `ns us ms s m h d`. A constant is written in single quotes: any characters except `'`, backslash
    and controls, which are written as `\\xHH`, `\\'` and two backslashes. In TOML, write a key
    with escapes or quoted names between three single quotes.
    """
    module, reads = inspect.getmodule(parse_key), inspect.getmodule(parse_where)
    rows = ([format_code(text), _format_refusal(text)] for text in WRONG_KEYS)
    return build_page(
        "The notation",
        build_notation_page,
        "## Keys",
        format_docstring(module),
        format_docstring(parse_key),
        "## Errors of keys",
        "With the fields `host` (text) and `ts` (timestamp_ms):",
        build_table(["key", "error"], rows),
        "## Reads",
        format_docstring(reads),
    )


def _format_refusal(text: str) -> str:
    """Return the error message for a wrong key."""
    try:
        Design("t", text, fields={"host": "text", "ts": "timestamp_ms"})
    except RowkeyError as problem:
        return str(problem)
    return "nothing"


def build_errors_page() -> str:
    """The errors, sorted by what the caller can do."""
    blocks = [
        format_docstring(errors).partition("\n\n")[2],
        "## The form of a message",
        format_docstring(errors.Mistake),
    ]
    for cls in _list_subclasses(RowkeyError):
        bases = ", ".join(format_code(base.__name__) for base in cls.__bases__)
        blocks += [f"## {cls.__name__}", f"A subclass of {bases}.", format_docstring(cls)]
    return build_page("Errors", build_errors_page, *blocks)


def _list_subclasses(cls: type) -> list[type]:
    """Return a class and all its subclasses in the package, parents first."""
    classes = [cls]
    children: list[type] = cls.__subclasses__()
    for child in sorted(children, key=lambda one: one.__name__):
        classes += _list_subclasses(child) if child.__module__ == errors.__name__ else []
    return classes
