"""Scripts that create a design's table by hand: one dialect per file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rowkey.render.ddl import hbase_shell, java
from rowkey.render.ddl.create_statement import CreateStatement, build_create_statement

DIALECTS: Mapping[str, Callable[[CreateStatement], Iterator[str]]] = {
    "hbase_shell": hbase_shell.format_script,
    "java": java.format_program,
}
"""By the name of a dialect, what gives the lines of a text in it."""

__all__ = ["DIALECTS", "CreateStatement", "build_create_statement"]
