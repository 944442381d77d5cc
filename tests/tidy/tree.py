"""The files of the repository as the walls read them: path, text and syntax tree."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGE = "src/rowkey/"
LEFT_OUT = {".git", ".venv", ".hypothesis", ".mypy_cache", ".ruff_cache", "__pycache__", "demo"}


@dataclass(frozen=True)
class Source:
    """One file of the repository.

    Args:
        path: where it stands, from the root of the repository, with slashes.
        text: what it holds; empty for files that are no text.
    """

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @property
    def parts(self) -> tuple[str, ...]:
        """The steps of its path."""
        return PurePosixPath(self.path).parts

    @property
    def name(self) -> str:
        """Its name without the ending."""
        return PurePosixPath(self.path).stem

    @property
    def is_python(self) -> bool:
        """Whether it is a Python file."""
        return self.path.endswith(".py")

    @property
    def is_package(self) -> bool:
        """Whether it is a Python file of the package itself."""
        return self.is_python and self.path.startswith(PACKAGE)

    @property
    def is_test(self) -> bool:
        """Whether pytest takes its tests from it."""
        return self.path.startswith("tests/") and self.name.startswith("test_") and self.is_python

    @property
    def room(self) -> str:
        """The room it stands in; its own name for a file beside the rooms."""
        return PurePosixPath(self.path).relative_to("src/rowkey").parts[0].removesuffix(".py")

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function in it, methods and inner functions too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def at(self, line: int, what: str) -> str:
        """A breach of a wall, as an editor jumps to it."""
        return f"{self.path}:{line}: {what}"


@cache
def sources() -> tuple[Source, ...]:
    """Every file that is, or would be, in the repository; without Git, every file that stands."""
    return tuple(Source(path, _text(ROOT / path)) for path in _paths() if (ROOT / path).is_file())


def _paths() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if told.returncode == 0:
        return sorted(set(told.stdout.splitlines()))
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not LEFT_OUT.intersection(path.parts))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
