"""The JSON Schema of design files, for editors."""

from __future__ import annotations

from typing import Any

from rowkey.cells import ATTRIBUTES
from rowkey.keys import TYPES
from rowkey.regions import SPLITS
from rowkey.schema import Declaration
from rowkey.workload import ARRIVALS, DRAWS, FORMATS


def json_schema() -> dict[str, Any]:
    """The schema: every word with its meaning, every kind by its name.

    >>> sorted(json_schema()["required"])
    ['fields', 'key', 'table']
    """
    schema = Declaration.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "rowkey design"
    words, definitions = schema["properties"], schema["$defs"]
    types = {"enum": sorted(TYPES)}
    definitions["FieldWords"]["properties"]["type"] |= types
    definitions["FieldWords"]["properties"]["draw"] = _kinds(DRAWS, "how values are drawn")
    words["fields"]["additionalProperties"] = {
        "anyOf": [types, {"$ref": "#/$defs/FieldWords"}],
    }
    words["families"]["additionalProperties"] = _family()
    words["splits"] = _splits(words["splits"].get("description", ""))
    arrivals = [name for name in ARRIVALS if name != "per"]
    definitions["WriteWords"]["properties"]["arrival"]["examples"] = [*arrivals, "per(host)"]
    definitions["SampleWords"]["properties"]["format"] = _kinds(FORMATS, "how the file is read")
    return schema


def _kinds(kinds: Any, description: str) -> dict[str, Any]:
    """A kind by its name, or with its options."""
    names = sorted(kinds)
    options = {
        option.name: {"description": option.meaning}
        for kind in kinds.values()
        for option in kind.options
    }
    table = {
        "type": "object",
        "properties": {"kind": {"enum": names}, **options},
        "required": ["kind"],
        "additionalProperties": False,
    }
    return {"anyOf": [{"enum": names}, table], "description": description}


def _family() -> dict[str, Any]:
    """The attributes of a family."""
    properties: dict[str, Any] = {}
    for word, attribute in ATTRIBUTES.items():
        properties[word] = {"description": f"{attribute.says}; {attribute.hbase}"}
        if attribute.choices and not any("(" in choice for choice in attribute.choices):
            properties[word]["enum"] = list(attribute.choices)
        if attribute.default is not None:
            properties[word]["default"] = attribute.default
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _splits(description: str) -> dict[str, Any]:
    """An algorithm, with arguments or not, or a list of keys; a name may have - for _."""
    names = sorted({*SPLITS, *(name.replace("_", "-") for name in SPLITS)})
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
