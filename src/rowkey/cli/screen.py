"""What the terminal can show: colour where it is wanted, and how far long work is."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from rich.console import Console


def console() -> Console:
    """Where text for people is printed: in colour on a terminal, unless NO_COLOR is set.

    Source: https://no-color.org: any value but an empty one asks for no escape codes.
    """
    from rich.console import Console
    from rich.segment import Segment

    from rowkey.errors import escaped

    class Piped(Console):
        """A console that leaves it to the command to say what a closed pipe means.

        Whatever it is given to print, no text of it moves the cursor: only styles do.
        """

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def render(self, *given: Any, **more: Any) -> Iterator[Segment]:
            for one in super().render(*given, **more):
                if one.control or one.text.isprintable():
                    yield one
                else:
                    text = "\n".join(map(escaped, one.text.split("\n")))
                    yield Segment(text, one.style)

    if os.environ.get("NO_COLOR"):
        return Piped(highlight=False, color_system=None, force_terminal=False)
    return Piped(highlight=False)


class Progress:
    """Shows how much is done, at most ten times a second; as JSON once a second.

    At the end of a `with` block the terminal's line is cleared, and JSON gets its last line.

    Args:
        label: what is being done.
        unit: what is counted.
        as_json: whether lines of JSON are written.
    """

    def __init__(self, label: str, *, unit: str = "events", as_json: bool) -> None:
        self.label = label
        self.unit = unit
        self.as_json = as_json
        self.every_s = 1.0 if as_json else 0.1
        self.started = time.monotonic()
        self.begun = 0
        self.shown_at = 0.0
        self.told = (0, 0)
        self.said: tuple[int, int] | None = None
        self.width = 0

    def begin(self, done: int) -> None:
        """Begin now, behind what was done before: it counts for no rate."""
        self.started, self.begun, self.told = time.monotonic(), done, (done, 0)

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done; a total of 0 is not known, and null in JSON."""
        now = time.monotonic()
        self.told = (done, total)
        if now - self.shown_at < self.every_s and (done < total or not total):
            return
        self.shown_at = now
        self._show(done, total)
        if total and done >= total:
            self._clear()

    def _show(self, done: int, total: int) -> None:
        self.said = (done, total)
        rate = (done - self.begun) / max(time.monotonic() - self.started, 1e-9)
        left = (total - done) / rate if total and rate else None
        if self.as_json:
            told = {
                "what": self.label,
                "done": done,
                "total": total or None,
                "rate": rate,
                "seconds_left": left,
            }
            click.echo(json.dumps(told), err=True)
            return
        text = f"{self.label} {done:,} {self.unit}  {rate:,.0f}/s "
        if total:
            far = f"{done / total:4.0%}  {done:,} of {total:,} {self.unit}"
            text = f"{self.label} {far}  {rate:,.0f}/s  {lasting(left or 0.0)} left "
        click.echo(f"\r{text.ljust(self.width)}", nl=False, err=True)
        self.width = max(self.width, len(text))

    def _clear(self) -> None:
        """Leave no trace on a terminal's line."""
        if self.width:
            click.echo("\r" + " " * self.width + "\r", nl=False, err=True)
            self.width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the line, however the work has ended."""
        self._clear()
        if self.as_json and self.said != self.told:
            self._show(*self.told)


def lasting(seconds: float) -> str:
    """How long something lasts, in two units at most.

    >>> lasting(7.4), lasting(754), lasting(9_000)
    ('7 s', '12 min 34 s', '2 h 30 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600:,} h {whole % 3_600 // 60} min"
