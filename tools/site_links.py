"""A hook of MkDocs that adapts the pages of docs/, which are read in the repository as well.

Links to files outside of docs/ become addresses of the repository, and code blocks lose the
marks after their language, which only the tests read.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^(\s*```\w+) .*$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?:\.\./)+[^)\s]+(?=\))")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001 - MkDocs names them
    """Return the text of a page as the site shows it.

    Raises:
        FileNotFoundError: a link leads to no file of the repository.
    """
    folder = PurePosixPath(page.file.src_uri).parent

    def replace(match: re.Match[str]) -> str:
        """Return the address of a link's target in the repository."""
        target, _, anchor = match[0].partition("#")
        path = (ROOT / "docs" / folder / target).resolve()
        if path.is_relative_to(ROOT / "docs"):
            return match[0]
        if not path.exists():
            raise FileNotFoundError(f"{page.file.src_uri}: {match[0]} leads to no file")
        kind = "tree" if path.is_dir() else "blob"
        address = f"{config.repo_url}/{kind}/main/{path.relative_to(ROOT).as_posix()}"
        return f"{address}#{anchor}" if anchor else address

    return _FENCE.sub(r"\1", _LINK.sub(replace, markdown))
