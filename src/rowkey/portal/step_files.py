"""The last step of each table as a file, so that its result outlives the portal's process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rowkey.durable_files import make_directory, read_regular_file, replace_file
from rowkey.messages import Message
from rowkey.stored_messages import iter_messages, restore_messages

MAX_NAME_BYTES = 200
"""Bytes of a file's name without its suffix; HBase has no table with so long a name."""
_MESSAGES = "messages"
_MAX_STATE_BYTES = 1 << 28


class StepFiles:
    """The stored steps of one portal: a JSON file for each table, replaced as a whole.

    Args:
        folder: where they are stored; it is created with the first one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: str, state: dict[str, Any]) -> None:
        """Store the state of the last step of a table, which is on disk when the call returns.

        Args:
            table: the name of the table.
            state: the state, as JSON values and messages.

        Raises:
            OSError: it cannot be written.
        """
        path = self._find_path(table)
        if path is None:
            return
        make_directory(self.folder)
        text = json.dumps({**state, _MESSAGES: iter_messages(state)}, ensure_ascii=False)
        content = text.encode("utf-8", "backslashreplace")
        replace_file(path, content, path.with_suffix(".part"))

    def read(self, table: str) -> dict[str, Any] | None:
        """Return the stored state of a table; None if there is none that can be read.

        A step that was running then was interrupted: its portal has ended.
        """
        path = self._find_path(table)
        try:
            state = None if path is None else json.loads(read_regular_file(path, _MAX_STATE_BYTES))
            if not isinstance(state, dict):
                return None
            restore_messages(state, state.pop(_MESSAGES))
        except (OSError, ValueError, LookupError, TypeError):
            return None
        if state.get("finished_ms") is None:
            state["finished_ms"] = state.get("started_ms")
            state["mistakes"] = [describe_interruption(str(state.get("name")))]
        return state

    def _find_path(self, table: str) -> Path | None:
        """Return the file of a table; None for what cannot be the name of one."""
        name = quote(table, safe="")
        return self.folder / f"{name}.json" if 0 < len(name) <= MAX_NAME_BYTES else None


def describe_interruption(step: str) -> dict[str, str]:
    """Return the mistake of a step that ended with the portal's process.

    >>> describe_interruption("load")["message"]
    'the portal was stopped before load was done'
    """
    what = Message("step.interrupted", "the portal was stopped before {step} was done", step=step)
    remedy = Message("step.begin_again", "Begin it again: it goes on where that is possible.")
    return {"path": "", "message": what, "expected": "", "remedy": remedy}
