"""Writes the reference, the page on the books and the command's help from classes and data.

`docs.py` writes, `docs.py --check` compares,
`docs.py --outside` prints a page of the kinds that other installed packages offer.

No page holds a date or the state of a machine, so the same code gives the same bytes.
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

from tools.reference import beside, command_help, outside, written  # noqa: E402


def main() -> int:
    """Write or compare the pages; the exit code is 1 where one is stale."""
    parser = ArgumentParser(description="Write the reference from the classes.")
    parser.add_argument("--check", action="store_true", help="only tell what is stale")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where it stands")
    parser.add_argument("--outside", action="store_true", help="print kinds of other packages")
    given = parser.parse_args()
    if given.outside:
        print(outside(), end="")
        return 0
    if given.check:
        stale = "\n".join(filter(None, (differences(given.folder), stale_beside(), stale_help())))
        print(stale or "the reference is what the classes say")
        return 1 if stale else 0
    write(given.folder)
    for name, text in beside().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    HELP.write_text(command_help(), encoding="utf-8")
    return 0


def write(folder: Path) -> None:
    """Write every page, and remove those that are none any more."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = written()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()


def differences(folder: Path) -> str:
    """What stands in a folder against what should, as a diff; empty if nothing is stale."""
    pages = written()
    names = sorted({*pages, *(path.name for path in folder.glob("*.md"))})
    lines = [line for name in names for line in _diff(folder / name, pages.get(name, ""))]
    return "\n".join([*lines, "Run `make docs`."]) if lines else ""


def stale_beside() -> str:
    """The same of the pages that stand beside the reference."""
    lines = [line for name, text in beside().items() for line in _diff(DOCS / name, text)]
    return "\n".join([*lines, "Run `make docs`."]) if lines else ""


def stale_help() -> str:
    """What is to be said of the command's help, if it is stale."""
    is_fresh = HELP.read_text(encoding="utf-8") == command_help()
    return "" if is_fresh else f"{HELP.name} is not what the command says. Run `make docs`."


def _diff(path: Path, made: str) -> list[str]:
    """What stands in a file against what should; no line if they are the same."""
    stands = path.read_text(encoding="utf-8") if path.is_file() else ""
    if stands == made:
        return []
    old, new = stands.splitlines(), made.splitlines()
    name = f"docs/reference/{path.name}" if path.parent != DOCS else f"docs/{path.name}"
    return list(difflib.unified_diff(old, new, name, "the classes", lineterm=""))


if __name__ == "__main__":
    sys.exit(main())
