"""The audit log: who changed what and when, one JSON object a line, only ever appended to."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

from rowkey.durable_files import make_directory
from rowkey.errors import Unavailable
from rowkey.messages import shorten_texts

MAX_READ_BYTES = 1 << 20
"""Bytes of the log that are read for a page of entries."""


class AuditLog:
    """The audit log of a portal.

    Several processes may append to one file: each entry is one write. The line of one that was cut,
    by a kill or a full disk, ends before the next.

    Args:
        path: the file; it and its folder are created with the first entry.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, user: str, action: str, target: str, **details: Any) -> None:
        """Write an entry, which is on disk when the call returns.

        Args:
            user: who did it.
            action: what was done, such as `save design`.
            target: the file or table that it was done to.
            details: figures by name, as JSON values.

        Raises:
            Unavailable: the file cannot be written, or not the whole entry; nothing may be done
                then that the entry is about.
        """
        entry = {"time_ms": time.time_ns() // 1_000_000, "user": user, "action": action}
        entry |= {"target": target, **details}
        line = json.dumps(shorten_texts(entry), separators=(",", ":")).encode() + b"\n"
        try:
            self._write_line(line)
        except OSError as problem:
            raise self._build_error("written", problem) from problem

    def _write_line(self, line: bytes) -> None:
        """Append a line; it is on disk when the call returns.

        Raises:
            OSError: the file cannot be written, or not the whole line.
        """
        make_directory(self.path.parent)
        number = self._open(os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(number).st_size
            if size and os.pread(number, 1, size - 1) != b"\n":
                line = b"\n" + line
            if os.write(number, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            os.fsync(number)
        finally:
            os.close(number)

    def read_page(
        self, count: int, end: int | None = None, target: str = ""
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Return entries, newest first, and where the page of older ones ends; None at the oldest.

        A line that a crash has cut, or that is damaged, is left out.

        Args:
            count: how many at most.
            end: where the page ends, as the page of newer ones returned it; None for the newest.
            target: the file or table whose entries are wanted; empty for all.

        Raises:
            Unavailable: the file cannot be read, or is no regular file.

        Cost: reads at most `MAX_READ_BYTES`; a page may have fewer entries, and older ones follow.
        """
        entries: list[dict[str, Any]] = []
        try:
            number = self._open(os.O_RDONLY)
        except FileNotFoundError:
            return [], None
        except OSError as problem:
            raise self._build_error("read", problem) from problem
        try:
            size = os.fstat(number).st_size
            end = size if end is None else min(end, size)
            start = max(end - MAX_READ_BYTES, 0)
            data = os.pread(number, end - start, start)
        except OSError as problem:
            raise self._build_error("read", problem) from problem
        finally:
            os.close(number)
        if start:  # the first line is cut
            cut = data.find(b"\n") + 1
            start, data = start + cut, data[cut:]
        at = start + len(data)
        for line in reversed(data.splitlines(keepends=True)):
            at -= len(line)
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if _is_entry(entry) and target in ("", entry["target"]):
                entries.append(entry)
            if len(entries) == count:
                break
        return entries, at or None

    def _open(self, flags: int) -> int:
        """Open the file, and return its number.

        Raises:
            OSError: it cannot be opened, or is no regular file: a pipe would let the portal wait.
        """
        number = os.open(self.path, flags | os.O_NONBLOCK, 0o600)
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise OSError(errno.EINVAL, "it is no regular file", str(self.path))
        return number

    def _build_error(self, action: str, problem: OSError) -> Unavailable:
        """Return the error of a file that cannot be read or written."""
        what = f"the audit log cannot be {action}: {problem.strerror or problem}"
        remedy = "Check the file, its permissions and the disk, then try again."
        return Unavailable(str(self.path), what, remedy=remedy)


def _is_entry(entry: Any) -> bool:
    """Return whether a line of the log has what each entry has."""
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(name), str) for name in ("user", "action", "target"))
        and isinstance(entry.get("time_ms"), int)
    )
