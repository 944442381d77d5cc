"""A console for coloured output, and a line that shows the progress of long work."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
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
        clock: gives seconds.
    """

    def __init__(
        self,
        label: str,
        *,
        unit: str = "events",
        as_json: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.label = label
        self.unit = unit
        self.as_json = as_json
        self.clock = clock
        self.interval_s = 1.0 if as_json else 0.1
        self.started_s = clock()
        self.done_before = 0
        self.shown_at_s = float("-inf")
        self.last_report: tuple[int, int, float | None] = (0, 0, None)
        self.last_printed: tuple[int, int, float | None] | None = None
        self.line_width = 0

    def start_from(self, done: int) -> None:
        """Restart the clock after `done` units of earlier work, which the rate leaves out."""
        self.started_s, self.done_before = self.clock(), done
        self.last_report = (done, 0, None)

    def __call__(self, count: int, total: int) -> None:
        """Show that `count` of `total` units are done; a total of 0 means that it is unknown."""
        rate = self.measure_rate(count)
        self.show(count, total, (total - count) / rate if total and rate else None)

    def measure_rate(self, count: int) -> float:
        """Return the units a second since the start."""
        return (count - self.done_before) / max(self.clock() - self.started_s, 1e-9)

    def show(self, count: int, total: int, remaining_s: float | None) -> None:
        """Show that `count` of `total` units are done, and how many seconds are left."""
        now = self.clock()
        self.last_report = (count, total, remaining_s)
        if now - self.shown_at_s < self.interval_s and (count < total or not total):
            return
        self.shown_at_s = now
        self._print_progress(count, total, remaining_s)
        if total and count >= total:
            self._clear_line()

    def _print_progress(self, count: int, total: int, remaining_s: float | None) -> None:
        """Print one line of progress, as text or JSON, with the rate and the time left."""
        self.last_printed = (count, total, remaining_s)
        rate = self.measure_rate(count)
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
        text = f"{self.label} {count:,} {self.unit}  {rate:,.0f}/s " if count else f"{self.label} "
        if total:
            text = f"{self.label} {count / total:4.0%}  {count:,} of {total:,} {self.unit} "
            text += f" {rate:,.0f}/s " if rate else ""
            text += "" if remaining_s is None else f" {format_duration(remaining_s)} left "
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


class PhasedProgress:
    """Shows work of several phases in one line, with the time that is left for all of them.

    Args:
        weights: the phases in their order, each with the cost of one of its units in relation to
            those of the others. A phase that is not begun is taken to have as many units as the
            running one. The time left is unknown in a phase without a weight.
        unit: what is counted.
        as_json: whether lines of JSON are written.
        clock: gives seconds.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        *,
        unit: str = "events",
        as_json: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.weights = weights
        self.line = Progress("", unit=unit, as_json=as_json, clock=clock)

    def __call__(self, phase: str, count: int, total: int) -> None:
        """Show that `count` of `total` units of a phase are done.

        The clock of a phase starts with its first report, so that what comes before the first unit
        does not count as the cost of units.
        """
        line = self.line
        if phase != line.label:
            line.label, line.shown_at_s = phase, float("-inf")
            line.start_from(count)
        line.show(count, total, self._estimate_remaining_s(phase, count, total))

    def _estimate_remaining_s(self, phase: str, count: int, total: int) -> float | None:
        """Return the seconds that this phase and all later ones need; None if unknown."""
        rate = self.line.measure_rate(count)
        if not (rate and total and self.weights.get(phase)):
            return None
        names = list(self.weights)
        later_weight = sum(self.weights[name] for name in names[names.index(phase) + 1 :])
        later_units = total * later_weight / self.weights[phase]
        return (total - count + later_units) / rate

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the progress line; as JSON, print the last report if it is not printed yet."""
        self.line.__exit__(error_type, error, trace)


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
