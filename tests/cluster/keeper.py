"""End a cluster whose owner died without ending it: a killed pytest or a closed terminal.

Started by the owner with its end of a pipe as standard input, which closes when the owner ends.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path

from cluster.processes import State, end


def end_orphans(directory: Path) -> None:
    """Wait until the owner ends, then end the remaining processes and remove the directory."""
    sys.stdin.buffer.read()
    with suppress(FileNotFoundError):
        end(State.read(directory).processes.values(), directory, gently=False)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    end_orphans(Path(sys.argv[1]))
