"""Finds options of a sample's format that change its columns: joined ones, and written numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowkey.advise.drafts.column_stats import ColumnStats
from rowkey.errors import SampleError
from rowkey.messages import Message, join_names
from rowkey.workload import RecordedSample, describe_numbers, refuse_uncertain_numbers

JOINED_NAME = "timestamp"


def find_column_options(
    sample: RecordedSample, column_stats: Sequence[ColumnStats]
) -> Mapping[str, Any]:
    """Return the options of the format with joins and number layouts; empty if it needs none.

    What was found is noted with the assumptions of the sample's format.

    Raises:
        SampleError: the file leaves open what belongs together, or how numbers are written.
    """
    found: dict[str, Any] = {}
    sample_format = sample.format
    for stats in column_stats:
        detected = stats.detected_numbers
        if detected is None or stats.detected_times is not None:
            continue
        refuse_uncertain_numbers(sample.path, stats.name, detected, sample_format)
        found.setdefault("numbers", {})[stats.name] = detected.layout.text
        sample_format.assumptions.append(describe_numbers(stats.name, detected))
    if parts := _find_parts_of_time(sample, column_stats):
        names = {stats.name for stats in column_stats}
        joined = next(n for n in (JOINED_NAME, "date_time", "event_time", "t") if n not in names)
        found["join"] = {joined: parts}
        shown = join_names(parts)
        sample_format.assumptions.append(
            Message(
                "sample.join",
                "{parts} are joined into {column}: the first is a date, the second a time of day",
                parts=shown,
                column=joined,
            )
        )
    if not found:
        return {}
    declared = dict(sample.format_options or {})
    merged = {"kind": sample_format.name, **declared, **sample_format.detected_options}
    for name, value in found.items():
        merged[name] = {**(declared.get(name) or {}), **value}
    return merged


def _find_parts_of_time(sample: RecordedSample, column_stats: Sequence[ColumnStats]) -> list[str]:
    """Return the columns of the date and the time of day, if the file has one of each.

    Raises:
        SampleError: it has several.
    """
    if sample.format.joins or any(stats.has_complete_times for stats in column_stats):
        return []
    dates = [stats.name for stats in column_stats if stats.has_dates]
    dates = dates or [stats.name for stats in column_stats if stats.has_short_dates]
    clocks = [stats.name for stats in column_stats if stats.has_clock_times]
    if not dates or not clocks:
        return []
    parts = [dates[0], clocks[0]]
    if len(dates) == len(clocks) == 1:
        return parts
    raise SampleError(
        str(sample.path),
        f"the dates of {join_names(dates)} and the times of day of {join_names(clocks)} belong "
        "together, and the file does not tell how",
        "a declaration of the columns that are one time",
        f"Join two of them: {sample.format.suggest_options(join={JOINED_NAME: parts})}.",
    )
