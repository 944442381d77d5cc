"""What the terminal can show: colour where it is wanted, plain text everywhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console


def console() -> Console:
    """Where text for people is printed: in colour on a terminal, unless NO_COLOR is set.

    Source: https://no-color.org: any value but an empty one asks for no escape codes.
    """
    from rich.console import Console
    from rich.segment import Segment

    from rowkey.errors import escaped

    class Piped(Console):
        """A console that leaves it to the command to say what a closed pipe means.

        Whatever it is given to print, no text of it moves the cursor: only styles do.
        """

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def render(self, *given: Any, **more: Any) -> Iterator[Segment]:
            for one in super().render(*given, **more):
                if one.control or one.text.isprintable():
                    yield one
                else:
                    text = "\n".join(map(escaped, one.text.split("\n")))
                    yield Segment(text, one.style)

    if os.environ.get("NO_COLOR"):
        return Piped(highlight=False, color_system=None, force_terminal=False)
    return Piped(highlight=False)
