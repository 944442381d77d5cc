"""A recording of what came in: a file read as batches of the design's fields."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, SampleError, did_you_mean
from rowkey.workload.columnar.batches import read_batches
from rowkey.workload.files import kind_suffix
from rowkey.workload.formats import KINDS
from rowkey.workload.records import LeftOut
from rowkey.workload.values.digits import from_calendar, is_of_calendar
from rowkey.workload.values.eras import Era
from rowkey.workload.values.rejected import LACKS, why_rejected
from rowkey.workload.values.typed import as_declared, is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Field
    from rowkey.workload.contract import Format


@dataclass(slots=True)
class Events:
    """Some events in arrival order.

    Args:
        rows: a column for each field that was asked for.
        clock_ms: when each happened or arrived, in milliseconds since 1970; None if nothing tells.
        numbers: the number of each among the rows of its file, from 1; None where it has no file.
    """

    rows: pa.RecordBatch
    clock_ms: np.ndarray[Any, Any] | None
    numbers: np.ndarray[Any, Any] | None = None

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def slice(self, start: int, stop: int) -> Events:
        """Return the events from one place up to another."""
        rows = self.rows.slice(start, stop - start)
        clock = None if self.clock_ms is None else self.clock_ms[start:stop]
        numbers = None if self.numbers is None else self.numbers[start:stop]
        return Events(rows, clock, numbers)


MOST_EVENT_BYTES = 1 << 25
"""Bytes of the events, with their row keys, that are handed on at once."""


def split_events(events: Events, event_bytes: int) -> Iterator[Events]:
    """Hand on some events so that no step after this one holds too many bytes.

    Args:
        events: the events.
        event_bytes: bytes that each of them takes, with its row key.
    """
    most = max(MOST_EVENT_BYTES // max(event_bytes, 1), 1)
    if len(events) <= most:
        yield events
        return
    for start in range(0, len(events), most):
        yield events.slice(start, min(start + most, len(events)))


@dataclass(slots=True)
class Sample:
    """A file of recorded events.

    Args:
        path: the file.
        format: how it is read.
        fields: the fields wanted of each event, by name.
        time: the field that holds an event's time, or None.
        read: rows of the file that are read so far.
        may_be_empty: whether a file without rows is one; it says nothing of a design.
        left_out: rows that could be no events, counted while reading.
        assumed: what the file leaves open and was guessed, as sentences.
    """

    path: Path
    format: Format
    fields: Mapping[str, Field]
    time: Field | None
    read: int = 0
    may_be_empty: bool = False
    left_out: LeftOut = field(default_factory=LeftOut)
    assumed: list[str] = field(default_factory=list)
    _of_calendar: dict[str, bool] = field(default_factory=dict)
    _remedy: str = LACKS
    _count: int | None = None

    def events(self) -> Iterator[Events]:
        """The events in the order of the file, a bounded number at a time.

        Raises:
            SampleError: the file cannot be read, or has no events where it must have some.
        """
        sources = {name: _source(f) for name, f in self.fields.items()}
        columns = list(dict.fromkeys(sources.values()))
        self.left_out, self._remedy = LeftOut(), LACKS
        self.read, kept = 0, 0
        eras = [Era(f) for f in self.fields.values() if f.type.tick is not None]
        empty = {sources[name] for name, f in self.fields.items() if not f.nullable}
        for raw in read_batches(self.format, self.path, columns, self.left_out):
            empty -= {name for name in empty if raw.column(name).null_count < raw.num_rows}
            arrays = [self._column(f, raw.column(sources[name])) for name, f in self.fields.items()]
            batch, kept_rows = self._whole(
                arrays, [raw.column(sources[name]) for name in self.fields]
            )
            numbers = kept_rows + (self.read + 1)
            self.read += raw.num_rows
            kept += batch.num_rows
            for era in eras:
                era.add(era.field.physical(batch.column(era.field.name).drop_null()))
            if batch.num_rows:
                yield Events(batch, self._clock(batch), numbers)
        if empty:
            self.format.check_named(self.path, [name for name in columns if name in empty])
        self._check(kept)
        self._assume(era.said for era in eras)

    def fitted(self) -> Sample:
        """The same sample of what its file has.

        Fields are read by their own names where the file was written from a table: it then has the
        columns of all fields, in their order, or no column that is declared by `from`. A nullable
        field whose column is missing is left out.
        """
        names = self.format.column_names(self.path)
        if names is None:
            return self
        is_dump = names == list(self.fields)
        if self.format.rows_name_values and not is_dump:
            sought = {f.words.source for f in self.fields.values() if f.words.source is not None}
            names = self.format.column_names(self.path, sought) or names
        there = {*names, *map(str.strip, names)}
        fields = {n: _found(f, there, is_dump=is_dump) for n, f in self.fields.items()}
        if not self.format.rows_name_values:
            fields = {n: f for n, f in fields.items() if _source(f) in there or not f.nullable}
        return replace(self, fields=fields)

    def total(self) -> int | None:
        """How many rows the file has, while its events are read.

        Returns:
            What it says itself; else an estimate from the share of its bytes that is read; None
            where neither is known.
        """
        if self._count is None:
            self._count = self.format.count(self.path) or 0
        share = self.format.meter.share
        if self._count or not share:
            return self._count or None
        return round(self.read / share)

    def _assume(self, sentences: Iterable[str]) -> None:
        """Note what was guessed, once however often the file is read."""
        self.assumed += [said for said in sentences if said and said not in self.assumed]

    def _column(self, declared: Field, array: pa.Array) -> pa.Array:
        """A column as its field has it; what its digits mean, the first that come decide."""
        name = declared.name
        if declared.type.is_sequence and not declared.nullable and self.format.nulls_may_be_empty:
            array = array.fill_null("")
        if name not in self._of_calendar:
            told = is_of_calendar(declared, array)
            if told is not None:
                self._of_calendar[name] = told
            if told:
                self._assume([f"{name} is written in digits of the calendar, yyyyMMdd[HHmmss]"])
        if self._of_calendar.get(name):
            return from_calendar(declared, array)
        return as_declared(declared, array)

    def _whole(
        self, arrays: list[Any], raw: list[Any]
    ) -> tuple[pa.RecordBatch, np.ndarray[Any, Any]]:
        """The rows that have a value for every field that must have one, and their indexes."""
        import numpy as np
        import pyarrow as pa

        batch = pa.RecordBatch.from_arrays(arrays, names=list(self.fields))
        whole = np.ones(batch.num_rows, np.bool_)
        lacks: list[tuple[int, int]] = []
        for number, declared in enumerate(self.fields.values()):
            column = batch.column(number)
            if not column.null_count:
                continue
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            if declared.nullable and not self._tells_when(declared):
                valid |= is_blank(raw[number])
            if not valid.all():
                whole &= valid
                lacks.append((int(np.argmin(valid)), number))
        if not lacks:
            return batch, np.arange(batch.num_rows)
        row, number = min(lacks)
        self._note(int((~whole).sum()), self.read + row + 1, number, raw[number].slice(row, 1))
        return batch.filter(pa.array(whole)), np.flatnonzero(whole)

    def _tells_when(self, declared: Field) -> bool:
        """It holds the times of events, and an event without one cannot be placed among them."""
        return self.time is not None and self.time.name == declared.name

    def _note(self, count: int, row: int, number: int, found: pa.Array) -> None:
        """Note rows that are no events, the first of them with the value that it holds."""
        declared = list(self.fields.values())[number]
        why = why_rejected(declared, found, is_calendar=self._of_calendar.get(declared.name, False))
        if not self.left_out.first:
            self._remedy = why.remedy
        self.left_out.note(count, f"row {row}{why.what}")

    def _clock(self, batch: pa.RecordBatch) -> np.ndarray[Any, Any] | None:
        return None if self.time is None else clock_ms(self.time, batch.column(self.time.name))

    def _check(self, kept: int) -> None:
        seen = kept + self.left_out.count
        if not seen and self.may_be_empty:
            return
        if not seen:
            raise SampleError(str(self.path), "holds no events", "one event or more")
        if kept * 2 < seen:
            raise SampleError(
                str(self.path),
                f"{self.left_out.count:,} of {seen:,} rows are no events; {self.left_out.first}",
                "a value for every field of the key" if self._remedy == LACKS else "",
                self._remedy,
            )


def _source(field: Field) -> str:
    """The column of a field."""
    return field.words.source or field.name


def _found(field: Field, there: set[str], *, is_dump: bool) -> Field:
    """A field as one of the columns that are there holds it."""
    if not is_dump and (field.words.source in there or field.name not in there):
        return field
    return replace(field, words=field.words.model_copy(update={"source": None}))


def clock_ms(field: Field, array: pa.Array) -> np.ndarray[Any, Any]:
    """The times of a column in milliseconds since 1970.

    Args:
        field: a field with a unit of time.
        array: its values, without nulls.
    """
    import numpy as np

    held = field.physical(array)
    tick = field.type.tick or 1
    milli = 1_000_000
    if tick >= milli:
        factor = tick // milli
        return np.asarray(np.clip(held, -(2**62) // factor, 2**62 // factor) * factor)
    return np.asarray(held // (milli // tick))


def open_sample(
    path: str | Path,
    fields: Mapping[str, Field],
    time: Field | None,
    format_words: Mapping[str, Any] | None = None,
) -> Sample:
    """A sample of a file.

    Args:
        path: the file.
        fields: the fields wanted, by name.
        time: the field that holds an event's time, or None.
        format_words: the format's `kind` and options; told by the file's name if None.

    Raises:
        SampleError: the format is unknown, or its options are wrong.
    """
    path = Path(path)
    words = dict(format_words or {"kind": guess_format(path)})
    name = str(words.get("kind")).replace("-", "_")
    kind = KINDS.get(name)
    if kind is None:
        raise SampleError(
            "sample.format", f"{name!r} is no format", ", ".join(KINDS), did_you_mean(name, KINDS)
        )
    try:
        return Sample(path, kind(words), fields, time)
    except Refused as refusal:
        mistake = refusal.mistake
        where = ".".join(filter(None, ("sample.format", mistake.path)))
        raise SampleError(where, mistake.what, mistake.allowed, mistake.remedy) from None


def format_for(
    path: Path, declared: Mapping[str, Any] | None, of: Path | None
) -> Mapping[str, Any] | None:
    """How a file is read that stands for a declared sample: as that one, unless its name differs.

    The declared format holds where its kind claims no ending, as `tokens` does, where the file's
    name ends as the declared one's, tells that kind, or tells none.

    Args:
        path: the file.
        declared: the declared format, or None.
        of: the declared sample.

    Returns:
        The declared format; None if the file's own name is to tell.
    """
    if declared is None:
        return None
    kind = KINDS[str(declared.get("kind")).replace("-", "_")]
    suffix = kind_suffix(path)
    claimed = {end for other in KINDS.values() if other is not kind for end in other.suffixes}
    fits = not kind.suffixes or suffix in kind.suffixes or suffix not in claimed
    return declared if fits or (of is not None and suffix == kind_suffix(of)) else None


def guess_format(path: Path) -> str:
    """The name of the format that a file's name tells.

    Raises:
        SampleError: it tells none.
    """
    suffix = kind_suffix(path)
    for name, kind in KINDS.items():
        if suffix in kind.suffixes:
            return name
    known = ", ".join(suffix for kind in KINDS.values() for suffix in kind.suffixes)
    raise SampleError(
        str(path), f"the name does not tell its format, {suffix or 'no ending'}", known,
        'Declare it: [sample] format = "csv".',
    )  # fmt: skip
