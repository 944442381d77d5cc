"""The page of sources: the origin of every figure and rule of the code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.reference.markdown import build_page, build_table, format_code

from rowkey.cells import ATTRIBUTES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rowkey"
_SOURCE = re.compile(r"\bSource:\s+(.+?)(?:\n\s*\n|\Z)", re.DOTALL)


def build_sources_page() -> str:
    """Every `Source:` of the code, by package.

    Classes and settings are those of HBase 2.6; *the book* is HBase's reference guide. Figures that
    are not listed here are derived in the code.
    """
    blocks = []
    rows: dict[str, list[list[str]]] = {}
    for path, name, text in iter_sources():
        package = path.partition("/")[0]
        link = f"[{path}](../../src/rowkey/{path})"
        rows.setdefault(package, []).append([link, format_code(name), text])
    for package, lines in rows.items():
        blocks += [f"## {package}", build_table(["file", "name", "source"], lines)]
    attributes = ([format_code(word), row.source] for word, row in ATTRIBUTES.items())
    blocks += ["## Attributes of families", build_table(["word", "source"], attributes)]
    return build_page("Sources", build_sources_page, *blocks)


def iter_sources() -> Iterator[tuple[str, str, str]]:
    """Yield path, name and text of every source, in the order of paths and lines."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for name, text in _read_strings(path):
            for match in _SOURCE.finditer(text):
                yield path.relative_to(PACKAGE).as_posix(), name, " ".join(match[1].split())


@cache
def _read_strings(path: Path) -> list[tuple[str, str]]:
    """Return the docstrings of a file, and the strings under its constants, with their names."""
    return list(_iter_strings(ast.parse(path.read_text(encoding="utf-8")), ""))


def _iter_strings(node: ast.AST, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings below a node, and the strings under constants, with their names."""
    body: list[ast.stmt] = getattr(node, "body", [])
    own_name = prefix.removesuffix(".") or "the module"
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if isinstance(statement.value.value, str):
                before = body[index - 1] if index else None
                target = _find_target(before)
                name = f"{prefix}{target}" if target else own_name
                yield name, inspect.cleandoc(statement.value.value)
        elif isinstance(statement, ast.ClassDef | ast.FunctionDef):
            yield from _iter_strings(statement, f"{prefix}{statement.name}.")


def _find_target(statement: ast.stmt | None) -> str:
    """Return the name that a statement assigns, or an empty string."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign):
        first = statement.targets[0]
        names = first.elts if isinstance(first, ast.Tuple) else [first]
        return ", ".join(name.id for name in names if isinstance(name, ast.Name))
    return ""


def iter_documented_constants(package: str) -> Iterator[tuple[str, str]]:
    """Yield the documented constants of a package with the first paragraph of their docs."""
    for path in sorted((PACKAGE / package).rglob("*.py")):
        for name, text in _read_strings(path):
            if "." not in name and name != "the module":
                yield name, " ".join(text.split("\n\n")[0].split())
