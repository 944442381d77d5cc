"""The audit log: who changed what and when, one JSON object a line, only ever appended to."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from rowkey.durable_files import make_directory
from rowkey.messages import shorten_texts

if TYPE_CHECKING:
    from pathlib import Path

MAX_TAIL_BYTES = 1 << 20
"""Bytes at the end of the log that are searched for the newest entries."""


class AuditLog:
    """The audit log of a portal.

    Several processes may append to one file: each entry is one write.

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
            OSError: the file cannot be written.
        """
        entry = {"time_ms": time.time_ns() // 1_000_000, "user": user, "action": action}
        entry |= {"target": target, **details}
        line = json.dumps(shorten_texts(entry), separators=(",", ":")) + "\n"
        make_directory(self.path.parent)
        number = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(number, line.encode())
            os.fsync(number)
        finally:
            os.close(number)

    def read_newest(self, count: int) -> list[dict[str, Any]]:
        """Return the newest entries, newest first; a line that a crash has cut is left out.

        Args:
            count: how many at most.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(max(file.seek(0, os.SEEK_END) - MAX_TAIL_BYTES, 0))
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        entries = []
        for line in reversed(lines):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                entries.append(entry)
            if len(entries) == count:
                break
        return entries
