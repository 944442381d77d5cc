"""The class of a design's rows has the names and the types of the rows that a table returns."""

from __future__ import annotations

import typing
from typing import Any

import pytest

import rowkey
from rowkey.keys import TYPES
from rowkey.render import format_row_types

OPTIONS: dict[str, dict[str, Any]] = {
    "choice": {"of": ["a", "b"]}, "decimal": {"precision": 5, "scale": 2}, "digits": {"width": 3},
    "hex": {"width": 2},
}  # fmt: skip


def load_hints(design: rowkey.Design) -> dict[str, Any]:
    """Return the hints of the class that is written for a design."""
    names: dict[str, Any] = {}
    exec("\n".join(format_row_types(design)), names)
    hints: dict[str, Any] = names["ManyRowsRow"].__annotations__
    assert frozenset({"id"}) == names["ManyRowsRow"].__required_keys__
    return hints


@pytest.mark.parametrize("name", ["plain", "my =", "class"])
def test_row_types_have_the_python_type_of_each_field(name: str) -> None:
    """Every type of field has the Python type of its values, and None where it is nullable."""
    for kind in TYPES:
        declared = {"type": kind, "nullable": True, **OPTIONS.get(kind, {})}
        fields = {"id": "u32", name: declared}
        design = rowkey.Design("many-rows", "[id]", fields=fields)
        value = design.fields[name].type.domain.generate_value(1)
        with rowkey.open(design, "memory:") as table:
            table.put({"id": 1, name: value})
            found = table.get(id=1)
        assert found is not None
        assert typing.get_args(load_hints(design)[name]) == (type(found[name]), type(None))
