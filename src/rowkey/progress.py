"""How far long work is: what commands show as a line, and pages as a bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one phase of long work is.

    Who does the work reports the first four; who shows it adds the others by `follow`.

    Args:
        phase: what is being done, such as `reading`; empty before the first report.
        done: how many units of it are done.
        total: of how many; 0 while that is unknown.
        unit: what is counted.
        done_at_start: how many were done when the phase began, by work that was interrupted.
        started_s: when the phase began, by the clock of who shows it.
        reported_s: when this was reported, by the same clock.

    >>> begin = Progress("loading", 0, 60, "rows").follow(Progress(), 100.0)
    >>> now = Progress("loading", 20, 60, "rows").follow(begin, 110.0)
    >>> now.rate, now.estimate_remaining_s()
    (2.0, 20.0)
    """

    phase: str = ""
    done: int = 0
    total: int = 0
    unit: str = "events"
    done_at_start: int = 0
    started_s: float = 0.0
    reported_s: float = 0.0

    def follow(self, last: Progress, now_s: float) -> Progress:
        """Return this report with its time; a phase begins with its first report.

        Args:
            last: the report before, with its time.
            now_s: the time, in seconds by any clock that never goes back.
        """
        if self.phase != last.phase:
            return replace(self, done_at_start=self.done, started_s=now_s, reported_s=now_s)
        return replace(
            self, done_at_start=last.done_at_start, started_s=last.started_s, reported_s=now_s
        )

    @property
    def rate(self) -> float:
        """The units a second since the phase began."""
        return (self.done - self.done_at_start) / max(self.reported_s - self.started_s, 1e-9)

    @property
    def share(self) -> float | None:
        """The share that is done, 0..1; None while it is unknown."""
        return self.done / self.total if self.done <= self.total != 0 else None

    def estimate_remaining_s(self, later_units: float = 0.0) -> float | None:
        """Return the seconds that the rest takes at the speed so far; None while unknown.

        Args:
            later_units: units of later phases, which take as long as those of this one.
        """
        if self.share is None or self.rate <= 0:
            return None
        return (self.total - self.done + later_units) / self.rate


ReportProgress = Callable[[Progress], None]
"""Takes how far work is; what it raises ends the work."""


def ignore_progress(progress: Progress) -> None:
    """Do nothing: for work whose progress nobody wants to know."""
