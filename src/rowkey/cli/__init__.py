"""The command `rowkey`: one subcommand per file of the folder `commands`.

Its help is a page that `make docs` writes, so that it is printed about as fast as Python starts.
"""

import os
import sys
from typing import Any

_PACKAGE_FOLDER = os.path.dirname(__file__)  # noqa: PTH120 - pathlib is slow
HELP_PAGE = os.path.join(_PACKAGE_FOLDER, "pages", "help.txt")  # noqa: PTH118 - as above

__all__ = ["get_command", "main"]


def main() -> None:
    """Run the command `rowkey`, and exit with its exit code."""
    if sys.argv[1:] in (["--help"], ["-h"]) and sys.stdout is not None and _print_help():
        return
    from rowkey.cli.group import main as run

    run()


def get_command() -> Any:
    """Return the click group of `rowkey`, for tools that inspect its commands."""
    from rowkey.cli.group import program

    return program


def _print_help() -> bool:
    """Print the stored help page; return False if that fails, so that click reports the error."""
    try:
        with open(HELP_PAGE, encoding="utf-8") as page:  # noqa: PTH123 - as above
            sys.stdout.write(page.read())
        sys.stdout.flush()
    except OSError:
        return False
    return True
