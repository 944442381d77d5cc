"""JSON objects of users, in which each name stands once."""

from __future__ import annotations

from typing import Any


class RepeatedName(ValueError):
    """An object has a name twice, its argument: which of the values is meant is not known."""


def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of names and values, as `object_pairs_hook` of a JSON decoder.

    Raises:
        RepeatedName: a name is there twice, of which JSON libraries keep one in silence.

    >>> build_object([("host", "web-1"), ("ts", 1)])
    {'host': 'web-1', 'ts': 1}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise RepeatedName(next(name for name in names if names.count(name) > 1))
    return found
