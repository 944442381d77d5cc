"""The JSON Schema of design files, for editors."""

from __future__ import annotations

from typing import Any

from rowkey.cells import ATTRIBUTES
from rowkey.keys import TYPES
from rowkey.regions import SPLIT_ALGORITHMS
from rowkey.schema import DesignDeclaration
from rowkey.workload import ARRIVAL_MODES, DISTRIBUTIONS, FORMATS


def build_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of design files.

    >>> sorted(build_json_schema()["required"])
    ['fields', 'key', 'table']
    """
    schema = DesignDeclaration.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "rowkey design"
    words, definitions = schema["properties"], schema["$defs"]
    types = {"enum": sorted(TYPES)}
    definitions["FieldDeclaration"]["properties"]["type"] |= types
    definitions["FieldDeclaration"]["properties"]["draw"] = _describe_plugins(
        DISTRIBUTIONS, "how values are drawn"
    )
    words["fields"]["additionalProperties"] = {
        "anyOf": [types, {"$ref": "#/$defs/FieldDeclaration"}],
    }
    words["families"]["additionalProperties"] = _describe_family()
    words["splits"] = _describe_splits(words["splits"].get("description", ""))
    arrivals = [name for name in ARRIVAL_MODES if name != "per"]
    definitions["WriteDeclaration"]["properties"]["arrival"]["examples"] = [*arrivals, "per(host)"]
    definitions["SampleDeclaration"]["properties"]["format"] = _describe_plugins(
        FORMATS, "how the file is read"
    )
    in_percent = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)? ?%$"}
    definitions["SampleDeclaration"]["properties"]["share"]["anyOf"].append(in_percent)
    return schema


def _describe_plugins(plugins: Any, description: str) -> dict[str, Any]:
    """Return the schema of a plugin: its name, or a table with its options."""
    names = sorted(plugins)
    options = {
        option.name: {"description": option.meaning}
        for kind in plugins.values()
        for option in kind.options
    }
    table = {
        "type": "object",
        "properties": {"kind": {"enum": names}, **options},
        "required": ["kind"],
        "additionalProperties": False,
    }
    return {"anyOf": [{"enum": names}, table], "description": description}


def _describe_family() -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for word, attribute in ATTRIBUTES.items():
        properties[word] = {"description": f"{attribute.description}; {attribute.hbase_name}"}
        if attribute.choices and not any("(" in choice for choice in attribute.choices):
            properties[word]["enum"] = list(attribute.choices)
        if attribute.default is not None:
            properties[word]["default"] = attribute.default
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _describe_splits(description: str) -> dict[str, Any]:
    """Return the schema of `splits`: an algorithm, a table with arguments, or a list of keys."""
    names = sorted({*SPLIT_ALGORITHMS, *(name.replace("_", "-") for name in SPLIT_ALGORITHMS)})
    table = {
        "type": "object",
        "properties": {
            "algorithm": {"enum": names},
            "regions": {"type": "integer", "minimum": 1},
            "first": {"type": "string"},
            "last": {"type": "string"},
            "listed": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["algorithm"],
        "additionalProperties": False,
    }
    keys = {"type": "array", "items": {"type": "string"}}
    return {"anyOf": [{"enum": names}, table, keys], "description": description}
