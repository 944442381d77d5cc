"""A design's table as text for those who create tables by hand: one dialect a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.render.ddl import hbase_shell, java
from rowkey.render.ddl.creation import Creation, creation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

DIALECTS: Mapping[str, Callable[[Creation], Iterator[str]]] = {
    "hbase_shell": hbase_shell.script,
    "java": java.program,
}
"""By the name of a dialect, what gives the lines of a text in it."""

__all__ = ["DIALECTS", "Creation", "creation_of"]
