"""A recorded sample: a file read as batches of a design's fields."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument, Mistake, SampleError
from rowkey.messages import Message, shorten_text, suggest_name
from rowkey.workload.arrow_source import ArrowSource, SampleInput
from rowkey.workload.columnar.batches import read_batches
from rowkey.workload.compression import find_compression
from rowkey.workload.contract import SampleFormat
from rowkey.workload.event_batch import EventBatch
from rowkey.workload.formats import FORMATS
from rowkey.workload.joined_columns import expand_names
from rowkey.workload.logs.known_logs import KNOWN_LOGS
from rowkey.workload.recorded_sample import RecordedSample
from rowkey.workload.records import MAX_SKIPPED_ROWS_NAMED, SkippedRows
from rowkey.workload.sample_streams import CONVERT_REMEDY, find_format_suffix
from rowkey.workload.values.number_columns import NumberColumn, is_number_field
from rowkey.workload.values.rejection import MISSING_VALUE_REMEDY, explain_rejection
from rowkey.workload.values.time_columns import TimeColumn
from rowkey.workload.values.time_range import TimeRangeCheck
from rowkey.workload.values.typed_columns import convert_column, mark_blanks

if TYPE_CHECKING:
    from rowkey.keys import Field


REFUSED_VALUE_REMEDY = "Use an encoding that takes all values of the field, or correct the file."
MIN_SKIPPED_ROWS = 20
"""Skipped rows below which a file is read all the same, unless they are most of its rows."""
MAX_ALLOWED_SHARE = 0.9
"""Share of skipped rows above which a file is read wrong, and allowing them is no remedy."""


@dataclass(slots=True)
class SampleFile:
    """A file of recorded events.

    Args:
        fields: the fields wanted of each event, by name.
        time: the field that holds an event's time, or None.
        read_count: rows of the file that are read so far.
        can_be_empty: whether a file without rows is one; it says nothing of a design.
        recording: keeps the file's rows for other looks at them; None if nothing else needs them.
        skipped_rows: rows that could be no events, counted while reading.
        refused_rows: those of them whose values the row key refused.
        assumptions: what the file leaves open and was guessed, as sentences.
    """

    path: Path
    format: SampleFormat
    fields: Mapping[str, Field]
    time: Field | None
    read_count: int = 0
    can_be_empty: bool = False
    recording: RecordedSample | None = None
    skipped_rows: SkippedRows = field(default_factory=SkippedRows)
    assumptions: list[str] = field(default_factory=list)
    _written_columns: dict[str, TimeColumn | NumberColumn] = field(default_factory=dict)
    refused_rows: SkippedRows = field(default_factory=SkippedRows)
    _first_remedy: str = MISSING_VALUE_REMEDY
    _row_count: int | None = None

    def read_events(self) -> Iterator[EventBatch]:
        """Return the events in file order, a bounded number at a time.

        Raises:
            SampleError: the file cannot be read, or has no events where it must have some.
        """
        sources = {name: _find_column(f) for name, f in self.fields.items()}
        columns = list(dict.fromkeys(sources.values()))
        self.skipped_rows, self._first_remedy = SkippedRows(), MISSING_VALUE_REMEDY
        self.read_count, self.refused_rows, kept_count = 0, SkippedRows(), 0
        self.format.detect_options(self.path)
        self._note_missing_columns()
        self._written_columns = {
            name: (TimeColumn if f.type.unit_ns is not None else NumberColumn)(
                f, sources[name], self.path, self.format
            )
            for name, f in self.fields.items()
            if f.type.unit_ns is not None or is_number_field(f)
        }
        eras = [TimeRangeCheck(f) for f in self.fields.values() if f.type.unit_ns is not None]
        empty = {sources[name] for name, f in self.fields.items() if not f.nullable}
        for raw in self._read_raw(columns):
            empty -= {name for name in empty if raw.column(name).null_count < raw.num_rows}
            values = [self._get_values(name, raw.column(sources[name])) for name in self.fields]
            arrays = list(map(self._convert_column, self.fields.values(), values))
            batch, kept_rows = self._drop_incomplete_rows(arrays, values)
            numbers = kept_rows + (self.read_count + 1)
            self.read_count += raw.num_rows
            kept_count += batch.num_rows
            for era in eras:
                era.add(era.field.to_internal_batch(batch.column(era.field.name).drop_null()))
            if batch.num_rows:
                yield EventBatch(batch, self._compute_clock(batch), numbers)
        if empty:
            missing = expand_names(self.format.joins, [name for name in columns if name in empty])
            self.format.check_columns_exist(self.path, missing)
        self.locate_rows(self.skipped_rows)
        self.locate_rows(self.refused_rows)
        self._check_kept_share(kept_count)
        decisions = (said for one in self._written_columns.values() for said in one.assumptions)
        warnings = (era.warning for era in eras)
        self._note_assumptions([*self.format.assumptions, *decisions, *warnings])

    def _read_raw(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        if self.recording is not None:
            return self.recording.read_batches(columns, self.skipped_rows)
        return read_batches(self.format, self.path, columns, self.skipped_rows)

    def _read_column_names(self, wanted_names: Collection[str] = ()) -> list[str] | None:
        """Return the names of the file's columns; None where it has no rows and no names."""
        if self.recording is not None:
            return self.recording.read_column_names(wanted_names)
        return self.format.list_columns(self.path, wanted_names)

    def match_columns(self) -> SampleFile:
        """Return the sample with only the fields that its file has.

        Fields are read by their own names where the file was written from a table: it then has the
        columns of all fields, in their order, or no column that is declared by `from`. A nullable
        field whose column is missing is left out.
        """
        names = self._read_column_names()
        if names is None:
            return self
        is_dump = names == list(self.fields)
        if self.format.has_named_values and not is_dump:
            sought = {
                f.declaration.source
                for f in self.fields.values()
                if f.declaration.source is not None
            }
            names = self._read_column_names(sought) or names
        file_columns = {*names, *map(str.strip, names)}
        fields = {n: _match_field(f, file_columns, is_dump=is_dump) for n, f in self.fields.items()}
        if not self.format.has_named_values:
            fields = {
                n: f for n, f in fields.items() if _find_column(f) in file_columns or not f.nullable
            }
        return replace(self, fields=fields)

    def estimate_total(self) -> int | None:
        """Return an estimate of the file's rows, made while its events are read.

        Returns:
            What it says itself; else an estimate from the share of its bytes that is read; None
            where neither is known.
        """
        if self.recording is not None and self.recording.row_count is not None:
            return self.recording.row_count
        if self._row_count is None:
            self._row_count = self.format.count_rows(self.path) or 0
        share = self.format.progress.share
        if self._row_count or not share:
            return self._row_count or None
        return round(self.read_count / share)

    def _note_missing_columns(self) -> None:
        """Note which columns the options of the format name and the file does not show.

        That is no mistake: a nullable field may lack its column, and a dump has other names.
        """
        options = self.format.option_values
        if not (self.format.joins or options["times"] or options["numbers"]):
            return
        missing = self.format.find_missing_columns(self._read_column_names() or ())
        sources = {_find_column(one) for one in self.fields.values()}
        lacking = [
            name for name in missing if not (self.format.has_named_values and name in sources)
        ]
        if lacking:
            self._note_assumptions(
                [
                    Message(
                        "sample.missing_columns",
                        "the sample has no column {columns}, which its declared format names",
                        columns=", ".join(map(shorten_text, lacking)),
                    )
                ]
            )

    def _note_assumptions(self, sentences: Iterable[str]) -> None:
        """Note assumptions, each once however often the file is read."""
        self.assumptions += [said for said in sentences if said and said not in self.assumptions]

    def _get_values(self, name: str, array: pa.Array) -> pa.Array:
        """Return the values that the file has for a field; null where it has none, such as NaN."""
        column = self._written_columns.get(name)
        return column.replace_nans(array) if isinstance(column, NumberColumn) else array

    def _convert_column(self, declared: Field, array: pa.Array) -> pa.Array:
        if declared.type.is_sequence and not declared.nullable and self.format.has_empty_nulls:
            array = array.fill_null("")
        column = self._written_columns.get(declared.name)
        return convert_column(declared, array) if column is None else column.convert(array)

    def _drop_incomplete_rows(
        self, arrays: list[Any], raw: list[Any]
    ) -> tuple[pa.RecordBatch, np.ndarray[Any, Any]]:
        """Return the rows with a value for every required field, and their indexes."""
        batch = pa.RecordBatch.from_arrays(arrays, names=list(self.fields))
        is_complete = np.ones(batch.num_rows, np.bool_)
        lacking: list[tuple[int, np.ndarray[Any, Any]]] = []
        for number, declared in enumerate(self.fields.values()):
            column = batch.column(number)
            if not column.null_count:
                continue
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            if declared.nullable and not self._is_time_field(declared):
                valid |= mark_blanks(raw[number])
            if not valid.all():
                is_complete &= valid
                lacking.append((number, valid))
        if not lacking:
            return batch, np.arange(batch.num_rows)
        dropped = np.flatnonzero(~is_complete)
        self.skipped_rows.count += len(dropped)
        for row in dropped[:MAX_SKIPPED_ROWS_NAMED].tolist():
            values = {n: raw[n].slice(row, 1) for n, valid in lacking if not valid[row]}
            self._note_skipped(self.read_count + row + 1, values)
        return batch.filter(pa.array(is_complete)), np.flatnonzero(is_complete)

    def _is_time_field(self, declared: Field) -> bool:
        """Return whether a field holds the times of events, which cannot be null."""
        return self.time is not None and self.time.name == declared.name

    def _note_skipped(self, row: int, values: Mapping[int, pa.Array]) -> None:
        """Note a skipped row, with the values that their fields cannot hold.

        Args:
            row: the row's number in the file, from 1.
            values: each value as the file had it, by the number of its field.
        """
        if not self.skipped_rows.can_keep_more:
            return
        fields = list(self.fields.values())
        reasons = []
        for number, value in values.items():
            column = self._written_columns.get(fields[number].name)
            form = column.expected_form if column else ""
            reasons.append(explain_rejection(fields[number], value, expected_form=form))
        if not self.skipped_rows.problems:
            self._first_remedy = reasons[0].remedy
        first, *others = (why.problem for why in reasons)
        self.skipped_rows.add_problem(
            ", and ".join([first, *(one.removeprefix(":").strip() for one in others)]), row
        )

    def note_refused_row(self, mistake: Mistake, row: int) -> None:
        """Count a row that was read, and whose values the row key refuses.

        Args:
            mistake: why it has no row key.
            row: its number in the file from 1.
        """
        if not self.skipped_rows.problems:
            self._first_remedy = mistake.remedy or REFUSED_VALUE_REMEDY
        expected = f"; expected {mistake.expected}" if mistake.expected else ""
        reason = f"{mistake.path}: {mistake.problem}{expected}"
        for rows in (self.skipped_rows, self.refused_rows):
            rows.note(1, f" has no valid row key: {reason}", row)

    def locate_rows(self, skipped_rows: SkippedRows) -> None:
        """Find the lines of the skipped rows whose problems are kept, if the file has lines.

        Cost: the file is read again up to the last of the rows whose lines are not known yet.
        """
        rows = {row for row, _ in skipped_rows.problems if row is not None}
        known = self.format.known_lines
        if rows - known.keys() and self.path.is_file():
            known |= self.format.find_lines(self.path, rows)
        skipped_rows.lines = {row: known[row] for row in rows if row in known}

    def _compute_clock(self, batch: pa.RecordBatch) -> np.ndarray[Any, Any] | None:
        """Return the times of the events in milliseconds since 1970; None without a time field."""
        return None if self.time is None else to_clock_ms(self.time, batch.column(self.time.name))

    def _check_kept_share(self, kept_count: int) -> None:
        """Raise if more of the rows are skipped than the format allows.

        Few rows may be skipped as long as they are not most; and a load says itself what it skips.
        """
        skipped_count = self.skipped_rows.count
        kept_count -= self.refused_rows.count
        row_count = kept_count + skipped_count
        if not row_count and self.can_be_empty:
            return
        if not row_count:
            raise SampleError(str(self.path), "the file has no rows", "at least one row")
        allowed_share = self.format.max_skipped
        if skipped_count < MIN_SKIPPED_ROWS or self.can_be_empty:
            allowed_share = max(allowed_share, 0.5)
        if skipped_count <= allowed_share * row_count and kept_count:
            return
        share = math.ceil(100 * skipped_count / row_count) / 100
        remedy = self._first_remedy
        if remedy == CONVERT_REMEDY and "encoding" in self.format.option_values:
            option = self.format.suggest_options(encoding="latin-1")
            remedy += f" Or declare its encoding, such as by {option}."
        if skipped_count <= MAX_ALLOWED_SHARE * row_count:
            remedy += (
                f" Or allow {share:.0%} of the rows to be skipped by max_skipped = {share:g} in "
                "the format of the sample."
            )
        problem = SampleError(
            str(self.path),
            f"{skipped_count:,} of {row_count:,} rows cannot be read as events: "
            f"{self.skipped_rows.first_problem}",
            "a value for every field of the key"
            if self._first_remedy == MISSING_VALUE_REMEDY
            else "",
            remedy,
        )
        problem.is_refusal = 2 * self.refused_rows.count > skipped_count
        raise problem


def _find_column(field: Field) -> str:
    """Return the name of the sample's column for a field: the declared source, or its own name."""
    return field.declaration.source or field.name


def _match_field(field: Field, column_names: set[str], *, is_dump: bool) -> Field:
    if not is_dump and (field.declaration.source in column_names or field.name not in column_names):
        return field
    return replace(field, declaration=field.declaration.model_copy(update={"source": None}))


def to_clock_ms(field: Field, array: pa.Array) -> np.ndarray[Any, Any]:
    """Return the times of a column in milliseconds since 1970.

    Args:
        field: a field with a unit of time.
        array: its values, without nulls.
    """
    values = field.to_internal_batch(array)
    tick = field.type.unit_ns or 1
    milli = 1_000_000
    if tick >= milli:
        factor = tick // milli
        return np.asarray(np.clip(values, -(2**62) // factor, 2**62 // factor) * factor)
    return np.asarray(values // (milli // tick))


def open_sample(
    sample: SampleInput,
    fields: Mapping[str, Field],
    time: Field | None,
    format_options: Mapping[str, Any] | None = None,
) -> SampleFile:
    """Return a sample of a file, or of one that is kept, as events with some fields.

    Args:
        sample: the file, its recording, or a table in memory.
        fields: the fields wanted, by name.
        time: the field that holds an event's time, or None.
        format_options: the format's `kind` and options; told by the file's name if None. A
            recording has its own.

    Raises:
        SampleError: the format is unknown, or its options are wrong.
    """
    if isinstance(sample, (str, Path)):
        path = sample if isinstance(sample, Path) else Path(sample)
        return SampleFile(path, build_format(path, format_options), fields, time)
    recording = record_sample(sample, format_options)
    return SampleFile(recording.path, recording.format, fields, time, recording=recording)


def record_sample(
    sample: SampleInput, format_options: Mapping[str, Any] | None = None
) -> RecordedSample:
    """Return a sample that is read once, however often its rows are looked at.

    Args:
        sample: the file, or a table in memory: a pandas or polars DataFrame, a pyarrow Table or
            reader, a DuckDB relation. A recording is returned as it is.
        format_options: the format's `kind` and options; told by the file's name if None.

    Raises:
        SampleError: the format is unknown, or its options are wrong; or it is nothing that can be
            a sample.
    """
    if isinstance(sample, RecordedSample):
        return sample
    if isinstance(sample, (str, Path)):
        path = sample if isinstance(sample, Path) else Path(sample)
        return RecordedSample(path, build_format(path, format_options), format_options)
    return ArrowSource(sample, format_options)


def build_format(path: Path, format_options: Mapping[str, Any] | None) -> SampleFormat:
    """Return the format of a file.

    Raises:
        SampleError: the format is unknown, or its options are wrong.
    """
    options = dict(format_options or {"kind": guess_format(path)})
    name = str(options.get("kind")).replace("-", "_")
    plugin = FORMATS.get(name)
    if plugin is None:
        raise SampleError(
            "sample.format",
            f"{name!r} is not a sample format",
            f"one of {', '.join(FORMATS)}",
            _suggest_format(name),
        )
    try:
        sample_format = plugin(options)
    except InvalidArgument as refusal:
        mistake = refusal.mistake
        where = ".".join(filter(None, ("sample.format", mistake.path)))
        raise SampleError(where, mistake.problem, mistake.expected, mistake.remedy) from None
    compression = find_compression(path)
    if compression and compression != path.suffix.lower() and not plugin.is_archive:
        sample_format.assumptions.append(
            Message(
                "sample.compression",
                "{file} is compressed as a {suffix} file, as its first bytes show",
                file=shorten_text(path.name),
                suffix=compression,
            )
        )
    return sample_format


def _suggest_format(name: str) -> str:
    """Return the format that an unknown name may mean: a known log, a suffix, or a similar name."""
    if name in KNOWN_LOGS:
        return f'Logs have one format: {{ kind = "log", pattern = "{name}" }}.'
    suffixes = {end[1:]: kind for kind, plugin in FORMATS.items() for end in plugin.suffixes}
    return suggest_name(name, FORMATS, suffixes)


def choose_format(
    path: Path, declared_format: Mapping[str, Any] | None, declared_path: Path | None
) -> Mapping[str, Any] | None:
    """Return how a sample file is read: as the declared sample, unless its suffix differs.

    The declared format is used if it is not bound to file suffixes, as a log with a pattern of its
    own. Otherwise it is used if the file has the suffix of the declared sample, a suffix of the
    declared kind, or one that no other kind has.

    Args:
        declared_format: the declared format, or None.

    Returns:
        The declared format; None to choose it by the file's name.
    """
    if declared_format is None:
        return None
    kind = FORMATS[str(declared_format.get("kind")).replace("-", "_")]
    suffix = find_format_suffix(path)
    claimed = {end for other in FORMATS.values() if other is not kind for end in other.suffixes}
    is_match = (
        not kind.is_bound_to_suffixes(declared_format)
        or suffix in kind.suffixes
        or suffix not in claimed
    )
    return (
        declared_format
        if is_match or (declared_path is not None and suffix == find_format_suffix(declared_path))
        else None
    )


def guess_format(path: Path) -> str:
    """Return the format that a file's name implies.

    Raises:
        SampleError: it tells none.
    """
    suffix = find_format_suffix(path)
    for name, kind in FORMATS.items():
        if suffix in kind.suffixes:
            return name
    known = f"one of {', '.join(end for kind in FORMATS.values() for end in kind.suffixes)}"
    raise SampleError(
        str(path), f"the format of a file with the suffix {suffix!r} is unknown", known,
        'Declare [sample] format = "csv", or give --sample-format csv.',
    )  # fmt: skip
