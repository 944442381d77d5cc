"""What the terminal can show: colour where it is wanted, plain text everywhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Where text for people is printed: in colour on a terminal, unless NO_COLOR is set.

    Source: https://no-color.org: any value but an empty one asks for no escape codes.
    """
    from rich.console import Console

    class Piped(Console):
        """A console that leaves it to the command to say what a closed pipe means."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    if os.environ.get("NO_COLOR"):
        return Piped(highlight=False, color_system=None, force_terminal=False)
    return Piped(highlight=False)
