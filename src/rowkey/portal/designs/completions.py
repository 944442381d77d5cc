"""The options of design files and their values, from the JSON Schema, for the editor of designs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from rowkey.design import build_json_schema
from rowkey.keys import TRANSFORMS

if TYPE_CHECKING:
    Schema = Mapping[str, Any]


ANY_NAME = "*"
"""Stands for a name that the design chooses, such as that of a field."""


@cache
def build_completions() -> dict[str, Any]:
    """Return what can be written where in a design file.

    Returns:
        `tables`: the options of each table by their names, each with its `values`, as TOML, and
        a `hint`, in English. The name of a table is dotted, such as `fields.*`. `lists`: the tables
        that are written as `[[name]]`. `transforms`: the functions of keys.
    """
    schema = build_json_schema()
    tables: dict[str, dict[str, Any]] = {}
    lists = [
        name
        for name, one in schema["properties"].items()
        if any(
            part.get("properties") and part.get("additionalProperties") is False
            for item in _resolve(one, schema)
            if isinstance(item.get("items"), dict)
            for part in _resolve(item["items"], schema)
        )
    ]
    _add_tables(tables, "", schema, schema)
    return {"tables": tables, "lists": lists, "transforms": sorted(TRANSFORMS)}


def _add_tables(tables: dict[str, dict[str, Any]], path: str, schema: Schema, root: Schema) -> None:
    """Add the options of a table, and those of the tables in it."""
    for part in _resolve(schema, root):
        others = part.get("additionalProperties")
        named = dict(part.get("properties", {}))
        if isinstance(others, dict):
            named[ANY_NAME] = others
        for name, one in named.items():
            option = tables.setdefault(path, {}).setdefault(name, {"values": [], "hint": ""})
            option["hint"] = option["hint"] or one.get("description", "")
            option["values"] += [
                value for value in _list_values(one, root) if value not in option["values"]
            ]
            _add_tables(tables, f"{path}.{name}" if path else name, one, root)


def _resolve(schema: Schema, root: Schema) -> Iterator[Schema]:
    """Yield the alternatives of a schema, and those of the items of a list, without references."""
    if "$ref" in schema:
        yield from _resolve(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
        return
    alternatives = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for one in alternatives:
        yield from _resolve(one, root)
    if not alternatives:
        yield schema
    if isinstance(schema.get("items"), dict):
        yield from _resolve(schema["items"], root)


def _list_values(schema: Schema, root: Schema) -> Iterator[str]:
    """Yield the values that a schema lists, as TOML.

    A name in both spellings, with `-` and with `_`, is listed with `_`, as in the reference.
    """
    for part in _resolve(schema, root):
        if part.get("type") == "boolean" or isinstance(part.get("default"), bool):
            yield from ("true", "false")
        listed = part.get("enum", [part["const"]] if "const" in part else [])
        for value in listed:
            if isinstance(value, bool):
                yield str(value).lower()
            elif isinstance(value, str) and not _is_other_spelling(value, listed):
                yield f'"{value}"'


def _is_other_spelling(value: str, listed: list[Any]) -> bool:
    """Return whether a list has a value with `_` in place of each `-` as well."""
    return "-" in value and value.replace("-", "_") in listed
