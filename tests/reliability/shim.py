"""A C library whose calls fail, kill or are noted on demand, for files below one directory."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

from oracles.plugin import give_up

MODES = {
    "read error": (1, errno.EIO),
    "disk full": (2, errno.ENOSPC),
    "sync error": (3, errno.EIO),
    "read-only": (4, errno.EROFS),
}
"""By what happens, the mode of the shim and the error."""
_NOTE, _KILL = 5, 6


def build_shim(folder: Path) -> Path:
    """Compile the shim into a folder; the test is skipped loudly without a compiler."""
    compiler = which("cc") or which("gcc") or which("clang")
    if compiler is None or sys.platform != "linux":
        give_up("the C library was not made to fail: that takes Linux and a C compiler")
    path = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(path), str(source), "-ldl"]
    subprocess.run(words, check=True, capture_output=True, text=True)
    return path


def run_with_shim(shim: Path, module: Path, *words: str) -> list[str]:
    """Run a program of these tests with the shim; return the lines that it prints."""
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, str(module), *words],
        env={**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr[-4_000:]
    return done.stdout.splitlines()


class Shim:
    """The shim that this process was started with, for one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.library = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self.library.shim_noted.restype = ctypes.c_char_p

    def fail(self, what: str, nth: int, *, sticky: bool) -> None:
        """Let the n-th call fail; all of them if n is 0.

        Args:
            what: one of `MODES`.
            nth: the number of the call.
            sticky: whether later calls fail too.
        """
        mode, number = MODES[what]
        self._arm(mode, number, nth, sticky=sticky)

    def kill(self, nth: int) -> None:
        """Kill this process at the n-th change of the disk: before it, or in the middle of it."""
        self._arm(_KILL, 0, nth, sticky=False)

    def note(self) -> None:
        """Note from now on which files are created, renamed and synced."""
        self._arm(_NOTE, 0, 0, sticky=False)

    def _arm(self, mode: int, number: int, nth: int, *, sticky: bool) -> None:
        where = os.fsencode(self.directory)
        self.library.shim_arm(where, mode, number, ctypes.c_long(nth), int(sticky))

    def disarm(self) -> int:
        """Let all calls succeed again; return how many calls there were."""
        calls: int = self.library.shim_disarm()
        return calls

    def read_notes(self) -> list[tuple[str, Path]]:
        """Return what was noted: `create`, `rename` or `sync`, and the path below the directory."""
        self.disarm()
        lines = self.library.shim_noted().decode().splitlines()
        pairs = (line.split(" ", 1) for line in lines)
        return [(what, Path(path).relative_to(self.directory)) for what, path in pairs]
