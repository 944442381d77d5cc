"""Answers that are kept, so that design files which have not changed are not judged twice.

Loading what judges takes a quarter of a second, which a hook or an editor pays for each file it
asks about. What comes from files alone is the same as long as they are: the design files by their
bytes, every module that was loaded by its size, place and times, and the folders in which a module
that was not there could appear. Whatever was told aside, read of a sample or mended is never kept,
and nothing is where another package offers kinds, which may look at what nobody here knows of. An
answer is written as Python writes compiled modules, by `marshal`: JSON would take as long to load
as all the rest.

An answer lies in `ROWKEY_CACHE_DIR`, or else in `rowkey` under `XDG_CACHE_HOME` or `~/.cache`; an
empty `ROWKEY_CACHE_DIR` keeps nothing. Where it cannot be written, the command works as without.
"""

from __future__ import annotations

import marshal
import os
import sys
from binascii import crc32
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FORM = 1
"""Goes up when what an answer says of itself changes."""
MOST = 200
"""Answers that are kept, of about 50 kB each; of more, the half that was written first goes."""
ENDING = ".answer"
"""Of the files that are ours: the folder may hold others."""
LARGEST_BYTES = 1 << 20
"""Design files longer than this are judged each time."""
_SETTLED_S = 2.0
"""Age from which a file's time tells whether it changed: file systems tell times this coarsely."""
_SAMPLES = "rowkey.workload.sample"
"""Loaded where a sample was read: what comes of one is not kept."""


def again(words: Sequence[str]) -> int | None:
    """Print what was answered to the same words, where all that it came from is as it was.

    Args:
        words: those of the command line behind `check`.

    Returns:
        The exit code; None if there is no such answer: nothing, or not all, was printed then.

    Cost: reads the design files, and asks the system for the time of each module's file.
    """
    path = None if "--no-cache" in words else _path_of(words)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is slow
            answer = marshal.load(file)  # noqa: S302 - as trusted as a compiled module
        is_same = answer["asked"] == _asked(words)
        is_same = is_same and answer["designs"] == _bytes_of(answer["designs"])
        if not (is_same and answer["code"] == _times_of(answer["code"])):
            return None
        out, left = str(answer["out"]), int(answer["left"])
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        sys.stdout.write(out)
        sys.stdout.flush()
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return left


def keeping(verb: Callable[..., int]) -> Callable[..., int]:
    """A verb whose answers are kept, unless it is told not to, or answers from more than files."""
    from rowkey.kinds import any_from_outside

    @wraps(verb)
    def run(designs: tuple[str, ...], *given: Any, no_cache: bool, **words: Any) -> int:
        if no_cache or words["fix"]:
            return verb(designs, *given, **words)
        before, heard, aside = _bytes_of(designs), _Heard(sys.stdout), _Heard(sys.stderr)
        sys.stdout, sys.stderr = heard, aside
        try:
            left = verb(designs, *given, **words)
        finally:
            sys.stdout, sys.stderr = heard.stream, aside.stream
        is_whole = not (aside.parts or _SAMPLES in sys.modules or any_from_outside())
        if before is not None and before == _bytes_of(designs) and is_whole:
            _keep({"designs": before, "out": "".join(heard.parts), "left": left})
        return left

    return run


class _Heard:
    """A stream that remembers what is written to it.

    Args:
        stream: where it goes.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        """Write, and remember; gives how many characters."""
        self.parts.append(text)
        written: int = self.stream.write(text)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _keep(answer: dict[str, Any]) -> None:
    """Write an answer beside the times of all code that made it; one that cannot be is dropped."""
    import tempfile
    from contextlib import suppress

    words = sys.argv[2:]
    path = _path_of(words) if sys.argv[1:2] == ["check"] else None
    code = _times_of(_code())
    if path is None or code is None or not _is_settled(code):
        return
    with suppress(OSError, ValueError):
        folder = os.path.dirname(path)  # noqa: PTH120 - as above
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
        _prune(folder)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=ENDING, delete=False) as part:
            marshal.dump({**answer, "asked": _asked(words), "code": code}, part)
        os.replace(part.name, path)  # noqa: PTH105 - as above


def _path_of(words: Sequence[str]) -> str | None:
    """Where the answer to these words would lie, asked here and now; None if none is kept."""
    folder = os.environ.get("ROWKEY_CACHE_DIR")
    if folder is None:
        home = os.environ.get("XDG_CACHE_HOME", "")
        # A relative one is to be ignored, says its specification; who has no home has no cache.
        if not os.path.isabs(home):  # noqa: PTH117 - pathlib is slow
            home = os.path.expanduser("~/.cache")  # noqa: PTH111 - as above
        folder = os.path.join(home, "rowkey") if os.path.isabs(home) else ""  # noqa: PTH117, PTH118
    if not folder or sys.stdout is None:
        return None
    try:
        named = crc32(repr(_asked(words)).encode(errors="backslashreplace"))
    except (OSError, ValueError):
        return None
    return os.path.join(folder, f"{named:08x}{ENDING}")  # noqa: PTH118 - as above


def _asked(words: Sequence[str]) -> list[object]:
    """What an answer is to: two that fall on one name are told apart by it."""
    running = [sys.version, *sys.path, __file__, sys.stdout.encoding]
    return [FORM, os.getcwd(), [*words], running]  # noqa: PTH109 - pathlib is slow


def _bytes_of(designs: Iterable[str]) -> dict[str, bytes] | None:
    """What each design file holds; None if one cannot be read, is too long, or no plain file."""
    found = {}
    try:
        for path in designs:
            if not os.path.isfile(path):  # noqa: PTH113 - pathlib is slow
                return None
            with open(path, "rb") as file:  # noqa: PTH123 - as above
                held = file.read(LARGEST_BYTES + 1)
            if len(held) > LARGEST_BYTES:
                return None
            found[path] = held
    except (OSError, ValueError):
        return None
    return found


def _code() -> list[str]:
    """The files of all modules, their folders, and the folders where more would be looked for."""
    files = {getattr(module, "__file__", None) for module in [*sys.modules.values()]}
    named = {path for path in files if path}
    folders = {os.path.dirname(path) for path in named}  # noqa: PTH120 - as above
    return sorted({*named, *folders, *(path for path in sys.path if os.path.isdir(path))})  # noqa: PTH112


def _times_of(paths: Iterable[str]) -> dict[str, list[int]] | None:
    """What tells each file or folder from another in its place; None if one is gone."""
    try:
        told = [(path, os.stat(path)) for path in paths]  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return None
    return {path: [one.st_mtime_ns, one.st_ctime_ns, one.st_ino, one.st_size] for path, one in told}


def _is_settled(times: dict[str, list[int]]) -> bool:
    """Whether no code is so new that a change behind this moment could bear the same time."""
    import time

    newest = max((changed for changed, *_ in times.values()), default=0)
    return time.time() - newest / 1e9 > _SETTLED_S


def _prune(folder: str) -> None:
    """Drop the older half of the answers, once there are too many; what else is there stays."""
    with os.scandir(folder) as entries:
        ours = [entry for entry in entries if entry.name.endswith(ENDING) and entry.is_file()]
    if len(ours) <= MOST:
        return
    for entry in sorted(ours, key=lambda entry: entry.stat().st_mtime_ns)[: len(ours) // 2]:
        os.unlink(entry.path)  # noqa: PTH108 - as above
