"""A console for coloured output, and a line that shows the progress of long work."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import click

from rowkey.progress import Progress

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


class ProgressBar:
    """Shows progress at most ten times a second; as JSON once a second.

    At the end of a phase, and of a `with` block, the terminal's line is cleared, and JSON gets the
    last report of the phase.

    Args:
        labels: what the line says of phases, where that is not the name of the phase.
        weights: phases in their order, each with the cost of one of its units in relation to those
            of the others, so that the time left is that of all. A phase that is not begun is taken
            to have as many units as the running one. In a phase without a weight the time left is
            unknown. If None, the time left is that of each phase.
        as_json: whether lines of JSON are written.
        clock: gives seconds.
    """

    def __init__(
        self,
        labels: Mapping[str, str] | None = None,
        weights: Mapping[str, float] | None = None,
        *,
        as_json: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.labels, self.weights = labels or {}, weights
        self.as_json, self.clock = as_json, clock
        self.interval_s = 1.0 if as_json else 0.1
        self.progress = Progress()
        self.printed: Progress | None = None
        self.line_width = 0

    def __call__(self, report: Progress) -> None:
        """Show how far the work is."""
        if report.phase != self.progress.phase:
            self.end_phase()
            self.printed = None
        self.progress = now = report.follow(self.progress, self.clock())
        is_done = 0 < now.total <= now.done
        if (
            self.printed is None
            or is_done
            or now.reported_s - self.printed.reported_s >= self.interval_s
        ):
            self._print_progress()
        if is_done:
            self._clear_line()

    @property
    def remaining_s(self) -> float | None:
        """The seconds that this phase and all later ones need; None while unknown."""
        now = self.progress
        if self.weights is None:
            return now.estimate_remaining_s()
        weight, names = self.weights.get(now.phase), list(self.weights)
        if not weight:
            return None
        later_weight = sum(self.weights[name] for name in names[names.index(now.phase) + 1 :])
        return now.estimate_remaining_s(now.total * later_weight / weight)

    def _print_progress(self) -> None:
        """Print one line of progress, as text or JSON, with the rate and the time left."""
        self.printed = now = self.progress
        label, rate, remaining_s = self.labels.get(now.phase, now.phase), now.rate, self.remaining_s
        if self.as_json:
            document = {
                "what": label,
                "done": now.done,
                "total": now.total or None,
                "rate": rate,
                "seconds_left": remaining_s,
            }
            click.echo(json.dumps(document), err=True)
            return
        text = f"{label} {now.done:,} {now.unit}  {rate:,.0f}/s " if now.done else f"{label} "
        if now.total:
            share = now.done / now.total
            text = f"{label} {share:4.0%}  {now.done:,} of {now.total:,} {now.unit} "
            text += f" {rate:,.0f}/s " if rate else ""
            text += "" if remaining_s is None else f" {format_duration(remaining_s)} left "
        click.echo(f"\r{text.ljust(self.line_width)}", nl=False, err=True)
        self.line_width = max(self.line_width, len(text))

    def _clear_line(self) -> None:
        if self.line_width:
            click.echo("\r" + " " * self.line_width + "\r", nl=False, err=True)
            self.line_width = 0

    def end_phase(self) -> None:
        """Clear the progress line; as JSON, print the last report if it is not printed yet."""
        self._clear_line()
        if self.as_json and self.printed not in (None, self.progress):
            self._print_progress()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_phase()


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
