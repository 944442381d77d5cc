"""Infers fields from the columns of a sample, with facts about each."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rowkey.advise.drafts.cautions import MAX_LISTED_COLUMNS
from rowkey.advise.drafts.column_options import find_column_options
from rowkey.advise.drafts.column_stats import ColumnStats, FieldGuess, guess_field
from rowkey.advise.drafts.name_hints import is_like_event
from rowkey.array_libraries import pa
from rowkey.errors import Mistakes, SampleError
from rowkey.keys import Field, bind_fields, build_key
from rowkey.messages import shorten_text
from rowkey.progress import Progress, ReportProgress
from rowkey.schema import FieldDeclaration, FieldFacts, FieldRef, find_name_mistake
from rowkey.workload import (
    RecordedSample,
    SampleInput,
    SampleSummary,
    SkippedRows,
    check_values,
    describe_layout,
    open_sample,
    record_sample,
    refuse_uncertain_layout,
)

MAX_COLUMNS = 1_000
"""Fields that a design may have."""


@dataclass(frozen=True, slots=True)
class InferredColumn:
    """A column of the sample with the field inferred from it.

    Args:
        field: the field, bound.
        options: its words in a design file.
        facts: what the sample shows of it.
        type_reason: what its type was read from, if that is not plain.
        unparsed_time: one of its values, where they look like times and are not read as such.
    """

    field: Field
    options: Mapping[str, Any]
    facts: FieldFacts
    type_reason: str
    unparsed_time: str = ""

    @property
    def name(self) -> str:
        """Return the name of the inferred field."""
        return self.field.name


@dataclass(frozen=True, slots=True)
class InferredSchema:
    """The fields inferred from the columns of a sample.

    Args:
        recording: the file, and how it is read.
        columns: its columns that became fields, in order.
        skipped_columns: columns that did not, with the reason.
        event_count: how many rows it has that are events.
        copy_count: how many of them stand there already, equal in every field.
        rows: a uniform sample of them.
        left_out_rows: rows that are no events.
        assumptions: what was guessed while reading, as sentences.
    """

    recording: RecordedSample
    columns: tuple[InferredColumn, ...]
    skipped_columns: Mapping[str, str]
    event_count: int
    copy_count: int
    rows: pa.RecordBatch
    left_out_rows: SkippedRows
    assumptions: tuple[str, ...] = field(default=())

    @property
    def path(self) -> Path:
        """Return the path of the sample file."""
        return self.recording.path

    @property
    def format_options(self) -> Mapping[str, Any] | None:
        """Return the options of the sample's format; None if the file name implies it."""
        return self.recording.format_options

    @property
    def unparsed_time_columns(self) -> tuple[InferredColumn, ...]:
        """Return the columns that look like times in an unsupported format."""
        found = (one for one in self.columns if one.unparsed_time)
        return tuple(sorted(found, key=lambda one: not is_like_event(one.name)))


def infer_schema(
    sample: SampleInput,
    format_options: Mapping[str, Any] | None,
    seed: int = 0,
    progress: ReportProgress | None = None,
) -> InferredSchema:
    """Read a sample and infer a field from each column.

    Args:
        sample: a file, its recording, or a table in memory.
        format_options: how a file is read; told by its name if None.
        seed: where the profile's randomness begins.
        progress: called with `reading`, how many rows are read, and of how many.

    Raises:
        SampleError: it cannot be read, or no design can be made from it; with all that is wrong.

    Cost: one pass over the file; a second one where texts stand for null or columns are joined.
    """
    recording = record_sample(sample, format_options)
    recording.format.detect_options(recording.path)
    recording.format.check_header(recording.path)
    misfits = SkippedRows()
    column_stats = _scan_columns(recording, misfits, progress)
    found_options = find_column_options(recording, column_stats) if recording.is_file else {}
    if found_options:
        scanned = recording
        recording = record_sample(recording.path, found_options)
        recording.take_rows(scanned)
        recording.format.assumptions += scanned.format.assumptions
        misfits = SkippedRows()
        column_stats = _scan_columns(recording, misfits, progress)
    marked = [stats for stats in column_stats if stats.null_texts]
    try:
        schema = _infer_columns(recording, column_stats, seed)
    except SampleError:
        if not marked:
            raise
        schema = None
    if schema is not None and (schema.left_out_rows.count == misfits.count or not marked):
        return schema
    # Texts that stand for null are none where they are quoted: their columns are text then.
    for stats in marked:
        stats.possible_forms.clear()
    return _infer_columns(recording, column_stats, seed)


def _infer_columns(
    sample: RecordedSample,
    column_stats: list[ColumnStats],
    seed: int,
) -> InferredSchema:
    """Return the schema inferred from the statistics of the columns.

    Raises:
        SampleError: no column can become a field.
    """
    path = sample.path
    filled_columns = {
        name: stats for name, stats in _name_fields(column_stats).items() if not stats.is_empty
    }
    unread = {stats.name: "holds no value" for stats in column_stats if stats.is_empty}
    unread.update(sample.find_unreadable_columns())
    guesses = {}
    for name, stats in filled_columns.items():
        guess = None if not stats.name.strip() else guess_field(stats)
        if not stats.name.strip():
            unread[stats.name] = "has no name, as the row numbers that data frames write"
        elif guess is None:
            unread[stats.name] = f"has the type {stats.arrow_type}, which no field type can store"
        else:
            guesses[name] = guess
    if not guesses:
        what = "; ".join(
            f"{shorten_text(name)!r} {why}"
            for name, why in list(unread.items())[:MAX_LISTED_COLUMNS]
        )
        raise SampleError(
            str(path),
            f"no column can become a field: {what}",
            "at least one column with values of a supported type",
        )
    format_options = _complete_format_options(sample, filled_columns, guesses)
    words = _build_field_options(filled_columns, guesses, format_options)
    if format_options != sample.format_options:
        scanned = sample
        sample = record_sample(path, format_options)
        sample.take_rows(scanned)
        sample.format.assumptions = scanned.format.assumptions
    return _profile_fields(sample, words, guesses, unread, seed)


def _scan_columns(
    sample: RecordedSample, misfits: SkippedRows, progress: ReportProgress | None
) -> list[ColumnStats]:
    """Read a sample and return the statistics of each column.

    Raises:
        SampleError: the sample has no events.
    """
    column_stats: list[ColumnStats] = []
    says_null = any(option.name == "nulls" for option in sample.format.options)
    path = sample.path
    known_count = None if progress is None else sample.format.count_rows(path)
    for batch in sample.read_batches(None, misfits):
        if not column_stats:
            layouts, numbers = sample.format.time_layouts, sample.format.number_layouts
            column_stats = [
                ColumnStats(name, says_null, layouts.get(name), numbers.get(name))
                for name in batch.schema.names
            ]
            _check_names([stats.name for stats in column_stats], batch.num_rows, sample)
        for stats, array in zip(column_stats, batch.columns, strict=True):
            stats.add_values(array)
        if progress is not None:
            row_count = column_stats[0].row_count
            share = sample.format.progress.share
            total = known_count or (round(row_count / share) if share else 0)
            progress(Progress("reading", row_count, max(total, row_count)))
    if not column_stats or not column_stats[0].row_count:
        raise SampleError(
            str(path),
            "the sample has no events",
            "one event or more",
            "Record a sample with events.",
        )
    repeated = [s.name for s in column_stats if s.name and s.name in (s.distinct_texts or ())]
    check_values(path, [stats.name for stats in column_stats], repeated, sample.format)
    return column_stats


def _check_names(names: list[str], rows: int, sample: RecordedSample) -> None:
    """Raise an error with everything wrong with the column names of a sample."""
    has_header = any(option.name == "names" for option in sample.format.options)
    wrong = []
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        duplicates = ", ".join(repr(shorten_text(name)) for name in twice[:MAX_LISTED_COLUMNS])
        wrong.append(f"several columns have the same name: {duplicates}")
    if len(names) > MAX_COLUMNS:
        wrong.append(
            f"the sample has {len(names):,} columns, but a design has at most "
            f"{MAX_COLUMNS:,} fields"
        )
    if not rows:
        place = " after the line of column names" if has_header else ""
        wrong.append(f"the sample has no rows{place}")
    if wrong:
        expected = "columns with distinct names, and at least one row"
        if has_header:
            expected = "a first line of column names, all of them distinct, and then rows"
        raise SampleError(str(sample.path), "; ".join(wrong), expected)


def _name_fields(column_stats: list[ColumnStats]) -> dict[str, ColumnStats]:
    """Return the columns by valid and unique field names."""
    columns: dict[str, ColumnStats] = {}
    for number, stats in enumerate(column_stats, 1):
        field_name = unicodedata.normalize("NFC", stats.name.strip())
        if find_name_mistake(field_name) or "." in field_name:
            letters = (c if c.isalnum() or c == "_" else "_" for c in field_name[:60])
            field_name = "".join(letters).strip("_") or f"column_{number}"
        while field_name in columns:
            field_name = f"{field_name}_{number}"
        if find_name_mistake(field_name):
            field_name = f"column_{number}"
        columns[field_name] = stats
    return columns


def _complete_format_options(
    sample: RecordedSample,
    stats_by_name: Mapping[str, ColumnStats],
    guesses: Mapping[str, FieldGuess],
) -> Mapping[str, Any] | None:
    """Return the sample's format options with all that was detected, and note what it was.

    Raises:
        SampleError: the times of a column can be read in several ways.
    """
    nulls = sorted({text for guess in guesses.values() for text in guess.null_texts})
    format_type = sample.format
    found_options = dict(format_type.detected_options)
    if nulls and any(option.name == "nulls" for option in format_type.options):
        found_options["nulls"] = [*(format_type.option_values["nulls"] or ()), *nulls]
    times = {}
    for name, guess in guesses.items():
        column = stats_by_name[name].name
        if guess.times is not None and column not in format_type.time_layouts:
            refuse_uncertain_layout(sample.path, column, guess.times, format_type)
            times[column] = guess.times.layout.text
            format_type.assumptions.append(describe_layout(column, guess.times))
    if times:
        found_options["times"] = {**(format_type.option_values["times"] or {}), **times}
    if not found_options:
        return sample.format_options
    return {"kind": format_type.name, **(sample.format_options or {}), **found_options}


def _build_field_options(
    stats_by_name: Mapping[str, ColumnStats],
    guesses: Mapping[str, FieldGuess],
    format_options: Mapping[str, Any] | None,
) -> dict[str, dict[str, Any]]:
    """Return the options of each inferred field in a design file."""
    nulls = set((format_options or {}).get("nulls", ()))
    options_by_name = {}
    for name, guess in guesses.items():
        stats = stats_by_name[name]
        is_plain = stats.is_text and guess.options["type"] in ("text", "choice")
        lacks = bool(
            stats.null_count or (stats.blank_count and not is_plain) or stats.null_texts & nulls
        )
        options_by_name[name] = {
            **guess.options,
            **({"nullable": True} if lacks else {}),
            **({"from": stats.name} if stats.name.strip() != name else {}),
        }
    return options_by_name


def _profile_fields(
    recording: RecordedSample,
    field_options: Mapping[str, dict[str, Any]],
    guesses: Mapping[str, FieldGuess],
    skipped_columns: Mapping[str, str],
    seed: int,
) -> InferredSchema:
    """Return the inferred schema with facts and duplicate rows, from a second pass."""
    mistakes = Mistakes()
    declared = {name: FieldDeclaration.model_validate(one) for name, one in field_options.items()}
    fields = bind_fields(declared, mistakes)
    mistakes.raise_any()
    key = build_key(tuple(FieldRef(name) for name in fields), fields, mistakes)
    mistakes.raise_any()
    assert key is not None, "every field can be part of a key"
    summary = SampleSummary(fields, key, seed=seed)
    summary.add_sample(open_sample(recording, fields, None))
    recording.field_profile = summary.profile
    facts = summary.measured_facts
    return InferredSchema(
        recording,
        tuple(
            InferredColumn(
                f, field_options[n], facts[n], guesses[n].reason, guesses[n].unparsed_time
            )
            for n, f in fields.items()
        ),
        skipped_columns,
        summary.event_count,
        summary.repeat_count or 0,
        summary.rows,
        summary.skipped_rows,
        tuple(summary.assumptions),
    )
