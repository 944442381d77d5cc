"""Writes the reference and the command's help from the classes.

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
FOLDER = ROOT / "docs" / "reference"
HELP = ROOT / "src" / "rowkey" / "cli" / "help.txt"
sys.path.insert(0, str(ROOT))

from tools.reference import command_help, outside, written  # noqa: E402


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
        stale = differences(given.folder)
        if HELP.read_text(encoding="utf-8") != command_help():
            stale += f"\n{HELP.name} is not what the command says. Run `make docs`."
        print(stale or "the reference is what the classes say")
        return 1 if stale else 0
    write(given.folder)
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
    lines: list[str] = []
    for name in names:
        path = folder / name
        stands = path.read_text(encoding="utf-8") if path.is_file() else ""
        if stands != pages.get(name, ""):
            made = pages.get(name, "").splitlines()
            lines += difflib.unified_diff(
                stands.splitlines(), made, f"docs/reference/{name}", "the classes", lineterm=""
            )
    return "\n".join([*lines, "Run `make docs`."]) if lines else ""


if __name__ == "__main__":
    sys.exit(main())
