"""What is known of the fields and of the cluster, from the declaration or from a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

SURE = 100
"""Values looked at from which shares, order and numbers of values are facts. A share of half, which
is told worst, is known to twice its standard error, 2 · √(¼ / n): from 100 on that is ten points
either way; of ten values it is 32, and one that came twice would be a fifth of all."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of one field; None is what nobody told and no sample showed.

    Args:
        seen: values looked at; 0 if all is declared.
        distinct: number of different values.
        heaviest: the most frequent values with their share of all, heaviest first.
        least: the smallest value.
        greatest: the largest value.
        bytes_mean: mean length of the value's own bytes.
        bytes_most: length of the longest.
        nulls: share of nulls, 0..1.
        rising: share of values not below all before them, in arrival order, 0..1.
        step: the greatest common divisor of all differences, in the type's unit.
        determined_by: fields each of which determines this one in all that was seen.
        exact: whether every value of the sample was looked at.
    """

    seen: int = 0
    distinct: int | None = None
    heaviest: tuple[tuple[Any, float], ...] = ()
    least: Any = None
    greatest: Any = None
    bytes_mean: float | None = None
    bytes_most: int | None = None
    nulls: float = 0.0
    rising: float | None = None
    step: int | None = None
    determined_by: tuple[str, ...] = ()
    exact: bool = True

    @property
    def heaviest_share(self) -> float | None:
        """Share of the most frequent value."""
        return self.heaviest[0][1] if self.heaviest else None

    def sure(self, otherwise: Facts) -> Facts:
        """The facts, as far as enough values were looked at to tell them.

        Args:
            otherwise: what takes the place of shares, order and numbers of values where fewer than
                100 values were seen; lengths and ends are facts of a single one.

        >>> few = Facts(seen=3, distinct=2, rising=1.0, bytes_mean=4.0).sure(Facts(distinct=1_000))
        >>> few.distinct, few.rising, few.bytes_mean
        (1000, None, 4.0)
        """
        if not 0 < self.seen < SURE:
            return self
        return replace(
            otherwise,
            seen=self.seen,
            least=self.least,
            greatest=self.greatest,
            bytes_mean=self.bytes_mean,
            bytes_most=self.bytes_most,
        )


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows the events of a sample were.

    Args:
        events: events seen.
        rows: different rows among them.
        once: rows that one event alone wrote.
    """

    events: int
    rows: int
    once: int

    def among(self, events: float) -> float:
        """How many rows so many events are at most, as far as the sample tells.

        The share of rows seen once is the chance that the next event is a new row, and that chance
        only falls.

        Args:
            events: how many; may be infinite.

        Source: Good, The population frequencies of species, Biometrika 40 (1953).

        >>> counts = RowCounts(events=100, rows=30, once=10)
        >>> counts.among(20), counts.among(100), counts.among(1_100)
        (20, 30, 130.0)
        """
        if events <= self.events:
            return min(self.rows, events)
        new = (events - self.events) * self.once / self.events if self.once else 0
        return self.rows + new


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the table will run on.

    Args:
        servers: region servers.
        capacity: operations a second one server serves, if it was measured.
        heap: bytes of heap of one region server, if known.
    """

    servers: int = 8
    capacity: float | None = None
    heap: int | None = None
