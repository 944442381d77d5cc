"""A C library whose calls fail, kill or are noted on demand, for files below one directory."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

from oracles.plugin import give_up

MODES = {"reads": 1, "writes": 2, "syncs": 3, "renames": 4, "changes": 5, "kills": 7}
"""The calls that fail, and the mode of the shim. Changes are writes, syncs, renames and removals;
`kills` ends the process at one of them, before it or in the middle of a write."""
_NOTE = 6


def compile_shim(folder: Path) -> Path | None:
    """Compile the shim into a folder; return None without Linux or a C compiler."""
    compiler = which("cc") or which("gcc") or which("clang")
    if compiler is None or sys.platform != "linux":
        return None
    path = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(path), str(source), "-ldl"]
    subprocess.run(words, check=True, capture_output=True, text=True)
    return path


def build_shim(folder: Path) -> Path:
    """Compile the shim into a folder; the test is skipped loudly where that is not possible."""
    shim = compile_shim(folder)
    if shim is None:
        give_up("the C library was not made to fail: that takes Linux and a C compiler")
    return shim


def build_environment(shim: Path | None) -> dict[str, str]:
    """Return the environment of a program of these tests, with the shim if there is one."""
    paths = os.pathsep.join(filter(None, sys.path))
    preload = {} if shim is None else {"LD_PRELOAD": str(shim)}
    return {**os.environ, **preload, "PYTHONPATH": paths}


def run_with_shim(shim: Path, module: Path, *words: str) -> list[str]:
    """Run a program of these tests with the shim; return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, str(module), *words],
        env=build_environment(shim),
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
        self.library.shim_disarm.restype = ctypes.c_long

    @staticmethod
    def is_loaded() -> bool:
        """Return whether this process was started with the shim."""
        return "shim" in os.environ.get("LD_PRELOAD", "")

    def fail(
        self, calls: str, error: int, nth: int, *, is_sticky: bool, files: tuple[str, ...] = ()
    ) -> None:
        """Let the n-th call fail.

        Args:
            calls: which calls are counted: one of `MODES`.
            error: the error of the call; 0 where the process is killed.
            nth: the number of the call, from 1.
            is_sticky: whether later calls fail too.
            files: patterns of the paths below the directory that are concerned; none: all.
        """
        self._arm(MODES[calls], error, nth, is_sticky=is_sticky, files=files)

    def kill(self, nth: int) -> None:
        """Kill this process at the n-th change of the disk: before it, or in the middle of it."""
        self.fail("kills", 0, nth, is_sticky=False)

    def note(self) -> None:
        """Note from now on which files are created, renamed and synced."""
        self._arm(_NOTE, 0, 0, is_sticky=False)

    def _arm(
        self, mode: int, error: int, nth: int, *, is_sticky: bool, files: tuple[str, ...] = ()
    ) -> None:
        patterns = "".join(f"{pattern}\n" for pattern in files).encode()
        where = os.fsencode(self.directory)
        self.library.shim_arm(where, patterns, mode, error, ctypes.c_long(nth), int(is_sticky))

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
