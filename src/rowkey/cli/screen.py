"""A console for coloured output, and a line that shows the progress of long work."""

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


def build_console() -> Console:
    """Return a rich console that prints in colour on a terminal, unless NO_COLOR is set.

    Source: https://no-color.org: any value but an empty one asks for no escape codes.
    """
    from rich.console import Console
    from rich.segment import Segment

    from rowkey.messages import escape_text

    class Piped(Console):
        """A console that raises when its pipe is closed, and escapes control characters."""

        def on_broken_pipe(self) -> None:
            """Raise in place of rich, which would end the process."""
            raise BrokenPipeError

        def render(self, *args: Any, **options: Any) -> Iterator[Segment]:
            """Yield the segments of a renderable, with control characters escaped."""
            for segment in super().render(*args, **options):
                if segment.control or segment.text.isprintable():
                    yield segment
                else:
                    text = "\n".join(map(escape_text, segment.text.split("\n")))
                    yield Segment(text, segment.style)

    if os.environ.get("NO_COLOR"):
        return Piped(highlight=False, color_system=None, force_terminal=False)
    return Piped(highlight=False)


class Progress:
    """Shows progress at most ten times a second; as JSON once a second.

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
        self.interval_s = 1.0 if as_json else 0.1
        self.started_s = time.monotonic()
        self.done_before = 0
        self.shown_at_s = 0.0
        self.last_report = (0, 0)
        self.last_printed: tuple[int, int] | None = None
        self.line_width = 0

    def start_from(self, done: int) -> None:
        """Restart the clock after `done` units of earlier work, which the rate leaves out."""
        self.started_s, self.done_before, self.last_report = time.monotonic(), done, (done, 0)

    def __call__(self, count: int, total: int) -> None:
        """Show that `count` of `total` units are done; a total of 0 means that it is unknown."""
        now = time.monotonic()
        self.last_report = (count, total)
        if now - self.shown_at_s < self.interval_s and (count < total or not total):
            return
        self.shown_at_s = now
        self._print_progress(count, total)
        if total and count >= total:
            self._clear_line()

    def _print_progress(self, count: int, total: int) -> None:
        """Print one line of progress, as text or JSON, with the rate and the time left."""
        self.last_printed = (count, total)
        rate = (count - self.done_before) / max(time.monotonic() - self.started_s, 1e-9)
        remaining_s = (total - count) / rate if total and rate else None
        if self.as_json:
            document = {
                "what": self.label,
                "done": count,
                "total": total or None,
                "rate": rate,
                "seconds_left": remaining_s,
            }
            click.echo(json.dumps(document), err=True)
            return
        text = f"{self.label} {count:,} {self.unit}  {rate:,.0f}/s "
        if total:
            far = f"{count / total:4.0%}  {count:,} of {total:,} {self.unit}"
            text = f"{self.label} {far}  {rate:,.0f}/s  {format_duration(remaining_s or 0.0)} left "
        click.echo(f"\r{text.ljust(self.line_width)}", nl=False, err=True)
        self.line_width = max(self.line_width, len(text))

    def _clear_line(self) -> None:
        """Erase the progress line of the terminal."""
        if self.line_width:
            click.echo("\r" + " " * self.line_width + "\r", nl=False, err=True)
            self.line_width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the progress line; as JSON, print the last report if it is not printed yet."""
        self._clear_line()
        if self.as_json and self.last_printed != self.last_report:
            self._print_progress(*self.last_report)


def format_duration(seconds: float) -> str:
    """Return a number of seconds as text in at most two units.

    >>> format_duration(7.4), format_duration(754), format_duration(9_000)
    ('7 s', '12 min 34 s', '2 h 30 min')
    """
    total_s = round(seconds)
    if total_s < 60:
        return f"{total_s} s"
    if total_s < 3_600:
        return f"{total_s // 60} min {total_s % 60} s"
    return f"{total_s // 3_600:,} h {total_s % 3_600 // 60} min"
