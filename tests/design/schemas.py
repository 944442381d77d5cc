"""A small validator of JSON Schemas, for the schema of design files.

It knows the keywords that this schema uses and raises on any other one, so that none is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
LIMITS: dict[str, Callable[[Any, Any], bool]] = {
    "const": lambda value, one: bool(value == one),
    "enum": lambda value, listed: value in listed,
    "minimum": lambda value, least: not TYPES["number"](value) or value >= least,
    "maximum": lambda value, most: not TYPES["number"](value) or value <= most,
    "exclusiveMaximum": lambda value, above: not TYPES["number"](value) or value < above,
    "exclusiveMinimum": lambda value, below: not TYPES["number"](value) or value > below,
    "minLength": lambda value, least: not isinstance(value, str) or len(value) >= least,
    "maxLength": lambda value, most: not isinstance(value, str) or len(value) <= most,
    "pattern": lambda value, like: not isinstance(value, str) or bool(re.search(like, value)),
    "maxItems": lambda value, most: not isinstance(value, list) or len(value) <= most,
    "minProperties": lambda value, least: not isinstance(value, dict) or len(value) >= least,
    "maxProperties": lambda value, most: not isinstance(value, dict) or len(value) <= most,
    "required": lambda value, names: not isinstance(value, dict) or set(names) <= value.keys(),
    "type": lambda value, name: TYPES[name](value),
}
SILENT = {"$schema", "$defs", "title", "description", "default", "examples"}
"""Keywords that restrict no value."""


class Schema:
    """A JSON Schema.

    Args:
        root: the schema as parsed JSON.
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root

    def list_breaches(self, value: Any) -> list[str]:
        """Return the paths at which a document breaks the schema, each once."""
        return list(dict.fromkeys(self._breaches(value, self.root, ())))

    def _breaches(self, value: Any, asked: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
        for word, said in asked.items():
            if word == "$ref":
                definition = self.root["$defs"][said.removeprefix("#/$defs/")]
                yield from self._breaches(value, definition, path)
            elif word == "anyOf":
                if all(any(self._breaches(value, one, path)) for one in said):
                    yield ".".join(path)
            elif word == "items":
                for index, one in enumerate(value if isinstance(value, list) else ()):
                    yield from self._breaches(one, said, (*path, str(index)))
            elif word in {"properties", "additionalProperties", "propertyNames"}:
                if isinstance(value, dict):
                    yield from self._check_members(word, value, asked, path)
            elif word not in SILENT and not LIMITS[word](value, said):
                yield ".".join(path)

    def _check_members(
        self, word: str, value: dict[str, Any], asked: dict[str, Any], path: tuple[str, ...]
    ) -> Iterator[str]:
        """Yield the breaches of one keyword about the members of an object."""
        said, known = asked[word], asked.get("properties", {})
        for name, one in value.items():
            below = (*path, name)
            if word == "properties" and name in known:
                yield from self._breaches(one, known[name], below)
            elif word == "propertyNames":
                yield from self._breaches(name, said, below)
            elif word == "additionalProperties" and name not in known:
                if said is False:
                    yield ".".join(below)
                elif said is not True:
                    yield from self._breaches(one, said, below)
