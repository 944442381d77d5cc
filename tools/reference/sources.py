"""The page of sources: every figure and rule of the code with where it is from."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tools.reference.markdown import code, page, table

from rowkey.cells import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rowkey"
_SOURCE = re.compile(r"\bSource:\s+(.+?)(?:\n\s*\n|\Z)", re.DOTALL)


def sources() -> str:
    """Every `Source:` of the code with its place, by room.

    Classes and settings are those of HBase 2.6; *the book* is HBase's reference guide. A figure
    that is not listed here is derived where it stands.
    """
    blocks = []
    rows: dict[str, list[list[str]]] = {}
    for path, name, text in found():
        room = path.partition("/")[0]
        link = f"[{path}](../../src/rowkey/{path})"
        rows.setdefault(room, []).append([link, code(name), text])
    for room, lines in rows.items():
        blocks += [f"## {room}", table(["file", "name", "source"], lines)]
    attributes = ([code(word), row.source] for word, row in ATTRIBUTES.items())
    blocks += ["## Attributes of families", table(["word", "source"], attributes)]
    return page("Sources", sources, *blocks)


def found() -> Iterator[tuple[str, str, str]]:
    """Path, name and text of every source, in the order of paths and lines."""
    for path in sorted(PACKAGE.rglob("*.py")):
        short = path.relative_to(PACKAGE).as_posix()
        for name, text in _strings(ast.parse(path.read_text(encoding="utf-8")), ""):
            for match in _SOURCE.finditer(text):
                yield short, name, " ".join(match[1].split())


def _strings(node: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    """Every docstring below a node, and every string under a constant, with its name."""
    body: list[ast.stmt] = getattr(node, "body", [])
    own = prefix.removesuffix(".") or "the module"
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if isinstance(statement.value.value, str):
                before = body[index - 1] if index else None
                target = _target(before)
                name = f"{prefix}{target}" if target else own
                yield name, inspect.cleandoc(statement.value.value)
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef):
            yield from _strings(statement, f"{prefix}{statement.name}.")


def _target(statement: ast.stmt | None) -> str:
    """The name that a statement assigns."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign):
        first = statement.targets[0]
        names = first.elts if isinstance(first, ast.Tuple) else [first]
        return ", ".join(name.id for name in names if isinstance(name, ast.Name))
    return ""


def documented_names(room: str) -> Iterator[tuple[str, str]]:
    """The constants of a room that have a string under them, with its first sentence."""
    for path in sorted((PACKAGE / room).rglob("*.py")):
        for name, text in _strings(ast.parse(path.read_text(encoding="utf-8")), ""):
            if "." not in name and name != "the module":
                yield name, " ".join(text.split("\n\n")[0].split())
