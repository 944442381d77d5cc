"""Write the reference, the page on the books and the command's help from classes and data.

`docs.py` writes, `docs.py --check` compares,
`docs.py --outside` prints a page of the plugins of other installed packages.

No page depends on a date or a machine, so the same code gives the same bytes.
"""

from __future__ import annotations

import difflib
import sys
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDER = DOCS / "reference"
HELP = ROOT / "src" / "rowkey" / "cli" / "pages" / "help.txt"
sys.path.insert(0, str(ROOT))

from tools.reference import (  # noqa: E402
    build_data_pages,
    build_external_plugins_page,
    build_pages,
    format_command_help,
)


def main() -> int:
    """Write or compare the pages; the exit code is 1 if one is stale."""
    parser = ArgumentParser(description="Write the reference from the classes.")
    parser.add_argument("--check", action="store_true", help="only report stale pages")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=FOLDER, help="folder of the reference"
    )
    parser.add_argument(
        "--outside", action="store_true", help="print the plugins of other packages"
    )
    arguments = parser.parse_args()
    if arguments.outside:
        print(build_external_plugins_page(), end="")
        return 0
    if arguments.check:
        stale = "\n".join(
            filter(None, (diff_pages(arguments.folder), diff_data_pages(), check_help()))
        )
        print(stale or "the reference is up to date")
        return 1 if stale else 0
    write_pages(arguments.folder)
    for name, text in build_data_pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    HELP.write_text(format_command_help(), encoding="utf-8")
    return 0


def write_pages(folder: Path) -> None:
    """Write every page, and remove pages that no longer exist."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = build_pages()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()


def diff_pages(folder: Path) -> str:
    """Return a diff between the pages of a folder and the expected ones, empty if equal."""
    pages = build_pages()
    names = sorted({*pages, *(path.name for path in folder.glob("*.md"))})
    lines = [line for name in names for line in _diff_page(folder / name, pages.get(name, ""))]
    return "\n".join([*lines, "Run `make docs`."]) if lines else ""


def diff_data_pages() -> str:
    """Return a diff between the pages that are built from data and the expected ones."""
    lines = [
        line for name, text in build_data_pages().items() for line in _diff_page(DOCS / name, text)
    ]
    return "\n".join([*lines, "Run `make docs`."]) if lines else ""


def check_help() -> str:
    """Return a sentence if the command's help is stale, else an empty string."""
    is_fresh = HELP.read_text(encoding="utf-8") == format_command_help()
    return "" if is_fresh else f"{HELP.name} is stale. Run `make docs`."


def _diff_page(path: Path, expected: str) -> list[str]:
    """Return the diff of a file and its expected text, empty if equal."""
    current = path.read_text(encoding="utf-8") if path.is_file() else ""
    if current == expected:
        return []
    old, new = current.splitlines(), expected.splitlines()
    name = f"docs/reference/{path.name}" if path.parent != DOCS else f"docs/{path.name}"
    return list(difflib.unified_diff(old, new, name, "the classes", lineterm=""))


if __name__ == "__main__":
    sys.exit(main())
