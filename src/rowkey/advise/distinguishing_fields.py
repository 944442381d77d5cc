"""The fields that keep the rows of events apart, at the end of a key that would not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING

from rowkey.design import Design
from rowkey.hotspots import count_repeated_rows
from rowkey.lint import MAX_STRAY_SHARE
from rowkey.proposals import is_measured, is_unique

if TYPE_CHECKING:
    from rowkey.workload import SampleSummary

MAX_DISTINGUISHING_FIELDS = 2
"""Fields that are added only to keep rows apart; a key that needs more is of other events."""


class DistinguishingFields:
    """Finds what keeps the events of a sample apart that a key would make one row.

    Measured values are never taken: a corrected one would be a second row. Events that are equal
    in every field are one row under any key.

    Args:
        design: the design.
        summary: what the sample shows.
    """

    def __init__(self, design: Design, summary: SampleSummary) -> None:
        self._design = design
        self._rows = summary.rows
        self._facts = summary.facts
        # Of a share of the events only that share of the repeats shows.
        self._events_for_each: float = summary.event_count / max(self._rows.num_rows, 1) ** 2
        self.find = cache(self._find)

    def _find(self, names: frozenset[str]) -> tuple[str, ...]:
        """Return the fewest fields with which hardly a key repeats.

        For a few events that repeat a key only a unique field is worth its bytes.

        Args:
            names: the fields of the key without them.

        Returns:
            No field if hardly a key repeats without, or if none takes away half of the repeats.
        """
        found: tuple[str, ...] = ()
        share = self.measure_lost_share(names)
        while share and len(found) < MAX_DISTINGUISHING_FIELDS:
            shares = {
                name: 0.0 if is_sure else self.measure_lost_share(names.union(found, {name}))
                for name, is_sure in self._candidates.items()
                if name not in names and name not in found and (is_sure or share > MAX_STRAY_SHARE)
            }
            best = min(shares, key=lambda name: max(shares[name], MAX_STRAY_SHARE), default=None)
            if best is None or 2 * shares[best] > share:
                break
            found, share = (*found, best), shares[best]
        return found

    def measure_lost_share(self, names: frozenset[str]) -> float:
        """Return the share of the events that overwrite another one under a key.

        Args:
            names: the fields of the key.
        """
        repeats = count_repeated_rows(self._rows, sorted(names)) - self._copy_count
        return repeats * self._events_for_each

    @cached_property
    def _copy_count(self) -> int:
        """Return how many sampled events are equal to an earlier one in every field."""
        return count_repeated_rows(self._rows, self._rows.schema.names)

    @cached_property
    def _candidates(self) -> Mapping[str, bool]:
        """Return the fields that can keep rows apart, each with whether it does so alone.

        The time is the first, then unique fields, then others by their bytes.
        """
        time = self._design.writes.time
        unique = {
            name: is_unique(field, self._facts.get(name))
            for name, field in self._design.fields.items()
            if self._has_all_values(name) and self._can_identify(name)
        }

        def place(name: str) -> tuple[bool, bool, float]:
            is_time = time is not None and name == time.name
            return not is_time, not unique[name], self._facts[name].mean_bytes or 0.0

        return {name: unique[name] for name in sorted(unique, key=place)}

    def _can_identify(self, name: str) -> bool:
        """Return whether a field is declared unique, or measures nothing by its type and name."""
        from rowkey.advise.drafts.name_hints import is_like_measure  # drafts import the search

        field = self._design.fields[name]
        is_counted = bool(field.type.has_integer_form) and is_like_measure(name)
        return field.declaration.unique or not (is_measured(field) or is_counted)

    def _has_all_values(self, name: str) -> bool:
        """Return whether the sample has a field, which is never null."""
        return name in self._rows.schema.names and not self._facts[name].null_share
