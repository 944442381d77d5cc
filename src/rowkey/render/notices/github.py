"""Findings as commands that GitHub's runners turn into annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import escaped
from rowkey.render.notices.checked import notices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rowkey.render.notices.checked import Checked, Notice

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
"""Severities as GitHub has them."""


def github_lines(checked: Iterable[Checked]) -> Iterator[str]:
    """What was found, as commands, one a line: no name in a file begins another.

    Source: GitHub, Workflow commands; actions/toolkit, command.ts, for what is escaped.

    >>> from rowkey.errors import Mistake
    >>> from rowkey.render import Checked
    >>> list(github_lines([Checked("a,b.toml", (Mistake("key", "it is 100% wrong", line=2),))]))
    ['::error file=a%2Cb.toml,line=2,title=mistake::key: it is 100%25 wrong.']
    """
    for one in checked:
        yield from map(_command, notices_of(one))


def _command(notice: Notice) -> str:
    title = notice.code if notice.code == notice.name else f"{notice.code} {notice.name}"
    line = f",line={notice.line}" if notice.line else ""
    column = f",col={notice.column}" if notice.column else ""
    place = f"file={_property(notice.path)}{line}{column},title={_property(title)}"
    return f"::{_COMMANDS[notice.severity]} {place}::{_data(notice.text)}"


def _data(text: str) -> str:
    known = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped(known)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
