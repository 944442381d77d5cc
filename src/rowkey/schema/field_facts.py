"""Statistics of fields and rows, and the cluster's size, as declared or measured on a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

MIN_VALUES_FOR_FACTS = 100
"""Minimum number of values from which shares, order and distinct counts are trusted. The standard
error of a share is largest at one half, √(¼ / n). Twice that is ten percentage points for 100
values, and 32 for ten values."""


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """Statistics of one field's values, declared or measured; None where something is unknown.

    Args:
        value_count: number of sampled values; 0 if all statistics are declared.
        distinct_count: number of distinct values.
        heaviest_values: the most frequent values with their share of all values, largest first.
        minimum: the smallest value.
        maximum: the largest value.
        mean_bytes: mean length of a value in bytes.
        max_bytes: length of the longest value in bytes.
        null_share: share of nulls, 0..1.
        rising_share: share of values that are at least as large as all earlier ones, 0..1.
        step: the greatest common divisor of all differences, in the type's unit.
        determining_fields: fields that each determined this field's value in the whole sample.
        exact: whether every value of the sample was counted.
    """

    value_count: int = 0
    distinct_count: int | None = None
    heaviest_values: tuple[tuple[Any, float], ...] = ()
    minimum: Any = None
    maximum: Any = None
    mean_bytes: float | None = None
    max_bytes: int | None = None
    null_share: float = 0.0
    rising_share: float | None = None
    step: int | None = None
    determining_fields: tuple[str, ...] = ()
    exact: bool = True

    @property
    def heaviest_share(self) -> float | None:
        """The share of the most frequent value; None if it is unknown."""
        return self.heaviest_values[0][1] if self.heaviest_values else None

    def replace_uncertain(self, fallback: FieldFacts) -> FieldFacts:
        """Return the statistics; those that need 100 values or more come from a fallback.

        Args:
            fallback: shares, order and distinct count to use instead; lengths, minimum and maximum
                are always kept.

        >>> few = FieldFacts(value_count=3, distinct_count=2, rising_share=1.0, mean_bytes=4.0)
        >>> few = few.replace_uncertain(FieldFacts(distinct_count=1_000))
        >>> few.distinct_count, few.rising_share, few.mean_bytes
        (1000, None, 4.0)
        """
        if not 0 < self.value_count < MIN_VALUES_FOR_FACTS:
            return self
        return replace(
            fallback,
            value_count=self.value_count,
            minimum=self.minimum,
            maximum=self.maximum,
            mean_bytes=self.mean_bytes,
            max_bytes=self.max_bytes,
        )


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many events and rows a sample has.

    Args:
        event_count: number of events.
        row_count: number of distinct rows.
        single_event_rows: number of rows that exactly one event wrote.
    """

    event_count: int
    row_count: int
    single_event_rows: int

    def estimate_rows(self, events: float) -> float:
        """Return the largest likely number of rows that a number of events writes.

        The share of rows with one event estimates the probability that the next event is a new row,
        and that probability only falls with more events.

        Args:
            events: number of events; may be infinite.

        Source: Good, The population frequencies of species, Biometrika 40 (1953).

        >>> counts = RowCounts(event_count=100, row_count=30, single_event_rows=10)
        >>> counts.estimate_rows(20), counts.estimate_rows(100), counts.estimate_rows(1_100)
        (20, 30, 130.0)
        """
        if events <= self.event_count:
            return min(self.row_count, events)
        new_rows = (
            (events - self.event_count) * self.single_event_rows / self.event_count
            if self.single_event_rows
            else 0
        )
        return self.row_count + new_rows


@dataclass(frozen=True, slots=True)
class Cluster:
    """The HBase cluster that a table is for.

    Args:
        servers: number of region servers.
        capacity_per_s: operations per second that one server can serve, if measured.
        heap_bytes: heap size of one region server, if known.
        price_per_server_hour: price of one server for an hour, in any currency, if known.
        price_per_gib_month: price of a GiB of disk for a month in the same currency, if known.
    """

    servers: int = 8
    capacity_per_s: float | None = None
    heap_bytes: int | None = None
    price_per_server_hour: float | None = None
    price_per_gib_month: float | None = None

    @property
    def has_price(self) -> bool:
        """Return whether the price of servers or of disk is known."""
        return self.price_per_server_hour is not None or self.price_per_gib_month is not None
