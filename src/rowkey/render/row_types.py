"""The rows of a design as a class for type checkers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rowkey.design import Design


def format_row_types(design: Design) -> Iterator[str]:
    """Yield the lines of a Python module with a `TypedDict` of the design's rows.

    The fields that a row is found by are required, as `put` requires them. The class is made by a
    call, in which a field may have any name and hides no type.
    """
    types = {
        name: type(field.type.domain.generate_value(0)) for name, field in design.fields.items()
    }
    hints = {}
    for name, field in design.fields.items():
        hint = types[name].__name__ + (" | None" if field.nullable else "")
        hints[name] = f"Required[{hint}]" if name in design.layout.identity_fields else hint
    words = re.findall(r"[A-Za-z0-9]+", design.table)
    class_name = "".join(word[0].upper() + word[1:] for word in words) + "Row"
    if class_name[0].isdigit():
        class_name = f"Table{class_name}"
    yield f'"""The rows of the table {design.table}."""'
    yield ""
    imports = {(one.__module__, one.__name__) for one in types.values()}
    for module, type_name in sorted(imports):
        if module != "builtins":
            yield f"from {module} import {type_name}"
    yield "from typing import Required, TypedDict"
    yield ""
    yield ""
    yield f"{class_name} = TypedDict("
    yield f'    "{class_name}",'
    yield "    {"
    for name, hint in hints.items():
        yield f"        {name!r}: {hint},"
    yield "    },"
    yield "    total=False,"
    yield ")"
