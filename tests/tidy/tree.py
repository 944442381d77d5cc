"""The files of the repository as conventions read them: path, text and syntax tree."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
PACKAGE = "src/rowkey/"
IGNORED_FOLDERS = {
    ".git",
    ".venv",
    ".hypothesis",
    ".mypy_cache",
    ".ruff_cache",
    "__pycache__",
    "demo",
}


@dataclass(frozen=True)
class Source:
    """One file of the repository.

    Args:
        path: its path from the root of the repository, with slashes.
        text: its content; empty for binary files.
    """

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the file."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the syntax tree, as `walk` yields them."""
        return tuple(walk(self.tree))

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the path."""
        return PurePosixPath(self.path).parts

    @property
    def name(self) -> str:
        """The file name without the suffix."""
        return PurePosixPath(self.path).stem

    @property
    def module(self) -> str:
        """The dotted name under which a file of the package is imported."""
        return ".".join(self.parts[1:]).removesuffix(".py").removesuffix(".__init__")

    @property
    def is_python(self) -> bool:
        """Whether the file is a Python file."""
        return self.path.endswith(".py")

    @property
    def is_package_file(self) -> bool:
        """Whether the file is a Python file of rowkey itself."""
        return self.is_python and self.path.startswith(PACKAGE)

    @property
    def is_test(self) -> bool:
        """Whether pytest collects tests from the file."""
        return self.path.startswith("tests/") and self.name.startswith("test_") and self.is_python

    @property
    def package(self) -> str:
        """The subpackage of rowkey that holds it, or its own name for a top-level module."""
        return PurePosixPath(self.path).relative_to("src/rowkey").parts[0].removesuffix(".py")

    @cached_property
    def functions(self) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
        """Every function in it, methods and inner functions too."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        return tuple(node for node in self.nodes if isinstance(node, kinds))

    def format_breach(self, line: int, what: str) -> str:
        """Return a breach as `path:line: what`, which editors follow."""
        return f"{self.path}:{line}: {what}"


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it that hold something, so neither `Load` nor `Add`.

    `ast.walk` yields them too, and takes twice as long.
    """
    nodes = [root]
    for node in nodes:
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                if value._fields:
                    nodes.append(value)
            elif isinstance(value, list):
                nodes += [one for one in value if isinstance(one, ast.AST)]


@cache
def read_sources() -> tuple[Source, ...]:
    """Return every file of the repository, also those not added yet; without Git, every file."""
    return tuple(
        Source(path, _read_text(ROOT / path)) for path in _list_paths() if (ROOT / path).is_file()
    )


def _list_paths() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        return sorted(set(listing.stdout.splitlines()))
    paths = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in paths if not IGNORED_FOLDERS.intersection(path.parts))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
