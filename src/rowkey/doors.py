"""How a room is entered of which each caller needs a part: its files are loaded when asked for.

Most rooms load all they have, for most of it is needed together. Where a room has something for
every verb, a verb would load what the other verbs show.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rowkey.open_file_limit import explains_shortage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazily(room: str, files: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a room: it loads the file that holds a name when the name is asked for.

    Args:
        room: the room's package, `__name__` in its `__init__`.
        files: the names that each file holds, with blanks between; `held=offered` where the room
            offers something by another name.

    >>> lazily("rowkey.workload", {"draws": "KINDS=DRAWS"})("DRAWS")["zipf"].__name__
    'Zipf'
    """
    places = {}
    for file, names in files.items():
        for name in names.split():
            held, _, offered = name.partition("=")
            places[offered or held] = (f"{room}.{file}", held)

    @explains_shortage
    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        file, held = places[name]
        value = getattr(import_module(file), held)
        setattr(sys.modules[room], name, value)
        return value

    return found
