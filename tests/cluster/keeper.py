"""Ends a cluster whose owner died without ending it: pytest that was killed, a closed terminal.

Started by the owner with its end of a pipe as standard input, which closes when the owner ends.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path

from cluster.processes import State, end


def keep(directory: Path) -> None:
    """Waits for the owner's end, then ends what still runs and removes the directory."""
    sys.stdin.buffer.read()
    with suppress(FileNotFoundError):
        end(State.read(directory).processes.values(), directory, gently=False)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
