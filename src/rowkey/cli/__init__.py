"""The command `rowkey`: one verb a file, found by folder.

Its own help is a page that `make docs` makes: it is printed about as fast as Python starts.
"""

import os
import sys
from typing import Any

_HERE = os.path.dirname(__file__)  # noqa: PTH120 - pathlib is slow
HELP = os.path.join(_HERE, "pages", "help.txt")  # noqa: PTH118 - as above

__all__ = ["command", "main"]


def main() -> None:
    """Run the command and leave with its exit code."""
    if sys.argv[1:] in (["--help"], ["-h"]) and sys.stdout is not None and _printed():
        return
    from rowkey.cli.group import main as run

    run()


def command() -> Any:
    """The command as click has it, for those who ask it about itself."""
    from rowkey.cli.group import program

    return program


def _printed() -> bool:
    """Print the help; false where that fails, which the command itself knows how to tell."""
    try:
        with open(HELP, encoding="utf-8") as page:  # noqa: PTH123 - as above
            sys.stdout.write(page.read())
        sys.stdout.flush()
    except OSError:
        return False
    return True
