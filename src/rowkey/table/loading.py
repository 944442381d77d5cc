"""Many rows at once: Arrow columns to blocks of cells, with no object a row; files, resumably."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.table.writing import as_row_error
from rowkey.workload import LeftOut, format_for, open_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.engines import Store
    from rowkey.keys import Field
    from rowkey.table.stamps import Stamps
    from rowkey.table.table import Table
    from rowkey.workload import Sample

AT_ONCE = 16_384
"""Rows that are encoded together: their columns stay in the processor's cache."""
SHUFFLED = 1_000_000
"""Rows that are shuffled together; a file sorted by key is spread over as many."""
REMEMBERED_S = 2.0
"""Seconds after which it is written down how far a load has come."""
_WORD = "rowkey.load."


def load_blocks(
    design: Design, store: Store, rows: pa.RecordBatch | pa.Table, stamps: Stamps
) -> int:
    """Put many rows, all of them after whatever was done to the table before; gives how many.

    Raises:
        RowError: a value is none of its field; the blocks of 16,384 rows before it are written, and
            it is numbered within its own.
    """
    import pyarrow as pa

    at = stamps.above_all(alone=design.key.is_salted)
    batches = [rows] if isinstance(rows, pa.RecordBatch) else rows.to_batches()
    for batch in batches:
        for start in range(0, batch.num_rows, AT_ONCE):
            try:
                some = batch.slice(start, AT_ONCE)
                salts = _salts(design, some) if design.key.is_salted else None
                store.load(design.layout.blocks(some, timestamp=at, salts=salts))
            except Refused as refusal:
                raise as_row_error(refusal) from None
    return int(rows.num_rows)


def _salts(design: Design, rows: pa.RecordBatch) -> Any:
    """Salts that rows of one key share: of one load they have one timestamp, and the last counts.

    Python hashes bytes by a number drawn for each process, so they are as good as drawn.
    """
    import numpy as np

    keys = design.key.encode_batch(rows, salts=np.zeros(rows.num_rows, np.int64))
    hashed = np.fromiter(map(hash, keys.to_pylist()), np.int64, rows.num_rows)
    return hashed % design.key.salt_count


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did.

    Args:
        rows: rows written now.
        before: rows that an interrupted load had written.
        left_out: rows of the file that could be no rows of the table, of those read now.
    """

    rows: int
    before: int
    left_out: LeftOut


def load_file(
    table: Table,
    path: str | Path,
    *,
    format_words: Mapping[str, Any] | None = None,
    shuffle: bool = False,
    restart: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Loaded:
    """Put all rows of a file; interrupted, the same call goes on where it stopped.

    How far it has come is kept with the table. Rows that were written just before an interruption
    are written again, which changes nothing.

    Args:
        table: the table.
        path: CSV, JSON lines, Parquet or Arrow, gzip of each, a log.
        format_words: how the file is read, as `[sample] format`; told by its name if None.
        shuffle: whether rows are mixed, a million at a time, so that a sorted file does not write
            to one region after another. Of rows with one key any may then be the last.
        restart: whether an interrupted load is forgotten.
        progress: told how many rows are done, and of how many; 0 if that is not known.

    Raises:
        SampleError: the file cannot be read, or most of its rows are none.

    Cost: 1 to 3 µs a row on an embedded engine.
    """
    design = table.design
    words = format_words or format_for(Path(path), design.sample_format, design.sample_path)
    sample = _as_named(open_sample(path, design.fields, None, words))
    record = _Record(table.store, Path(path), (str(design.key), repr(words), shuffle))
    before = 0 if restart else record.done()
    done = before
    batches: Iterable[pa.RecordBatch] = (events.rows for events in sample.events())
    if shuffle:
        batches = _shuffled(batches)
    try:
        for batch in _behind(batches, before):
            load_blocks(design, table.store, batch, table.writing.stamps)
            done += batch.num_rows
            record.keep(done)
            if progress is not None:
                progress(done, 0)
    except BaseException:
        record.keep(done, now=True)
        raise
    record.forget()
    return Loaded(done - before, before, sample.left_out)


def _as_named(sample: Sample) -> Sample:
    """A sample that is read by the names of the fields where it has no column that is declared.

    So a file that was written from a table can be loaded again, whatever `from` says.
    """
    if not any(field.words.source for field in sample.fields.values()):
        return sample
    first = next(iter(sample.format.batches(sample.path, None, LeftOut())), None)
    there = set() if first is None else set(first.schema.names)
    return replace(sample, fields={n: _found(f, there) for n, f in sample.fields.items()})


def _found(field: Field, there: set[str]) -> Field:
    """A field as one of the columns that are there holds it."""
    if field.words.source in there or field.name not in there:
        return field
    return replace(field, words=field.words.model_copy(update={"source": None}))


class _Record:
    """How far the load of one file has come, among the words kept with the table."""

    def __init__(self, store: Store, path: Path, read: object) -> None:
        self.store = store
        told = path.stat() if path.exists() else None
        of = (str(path.resolve()), told and told.st_size, told and told.st_mtime_ns, read)
        self.word = _WORD + sha256(repr(of).encode()).hexdigest()[:16]
        self.kept = time.monotonic()

    def done(self) -> int:
        """Rows that an interrupted load of this very file has written."""
        return int(self.store.spec.attributes.get(self.word, 0))

    def keep(self, done: int, *, now: bool = False) -> None:
        """Write down how many rows are written, if that was not done just now."""
        at = time.monotonic()
        if now or at - self.kept > REMEMBERED_S:
            self.kept = at
            self.store.annotate({**self.store.spec.attributes, self.word: str(done)})

    def forget(self) -> None:
        """The load is complete: there is nothing to go on with."""
        left = {k: v for k, v in self.store.spec.attributes.items() if k != self.word}
        if len(left) < len(self.store.spec.attributes):
            self.store.annotate(left)


def _behind(batches: Iterable[pa.RecordBatch], count: int) -> Iterator[pa.RecordBatch]:
    """The batches without their first rows."""
    for batch in batches:
        if count >= batch.num_rows:
            count -= batch.num_rows
            continue
        yield batch.slice(count)
        count = 0


def _shuffled(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows mixed, `SHUFFLED` at a time, the same way each time."""
    import numpy as np
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    chance = np.random.default_rng(0)
    for batch in _ended(batches):
        if batch is not None:
            held.append(batch)
        if held and (batch is None or sum(one.num_rows for one in held) >= SHUFFLED):
            whole = pa.Table.from_batches(held).combine_chunks()
            mixed = whole.take(pa.array(chance.permutation(whole.num_rows)))
            yield from mixed.combine_chunks().to_batches(max_chunksize=AT_ONCE)
            held = []


def _ended(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch | None]:
    """The batches, and None behind the last one."""
    yield from batches
    yield None
