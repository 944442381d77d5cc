"""Findings as commands that GitHub's runners turn into annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rowkey.messages import escape_text
from rowkey.render.notices.notice import list_notices

if TYPE_CHECKING:
    from rowkey.render.notices.notice import CheckedFile, Notice

_COMMAND_NAMES = {"error": "error", "warning": "warning", "info": "notice"}
"""Severities as GitHub has them."""


def format_github_commands(checked_files: Iterable[CheckedFile]) -> Iterator[str]:
    """Yield the findings as GitHub workflow commands, one per line.

    Source: GitHub, Workflow commands; actions/toolkit, command.ts, for what is escaped.

    >>> from rowkey.errors import Mistake
    >>> from rowkey.render import CheckedFile
    >>> mistake = Mistake("key", "it is 100% wrong", line=2)
    >>> list(format_github_commands([CheckedFile("a,b.toml", (mistake,))]))
    ['::error file=a%2Cb.toml,line=2,title=mistake::key: it is 100%25 wrong.']
    """
    for one in checked_files:
        yield from map(_format_command, list_notices(one))


def _format_command(notice: Notice) -> str:
    """Return the GitHub workflow command that annotates a line with a notice."""
    title = notice.code if notice.code == notice.name else f"{notice.code} {notice.name}"
    line = f",line={notice.line}" if notice.line else ""
    column = f",col={notice.column}" if notice.column else ""
    place = f"file={_escape_property(notice.path)}{line}{column},title={_escape_property(title)}"
    return f"::{_COMMAND_NAMES[notice.severity]} {place}::{_escape_data(notice.text)}"


def _escape_data(text: str) -> str:
    """Return a text escaped for the message of a GitHub command."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escape_text(escaped)


def _escape_property(text: str) -> str:
    """Return a text escaped for a property of a GitHub command."""
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
