"""Many rows at once: Arrow columns to blocks of cells, with no object a row; files, resumably."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.catalog import BORN
from rowkey.errors import Refused, RowError, SampleError, shown
from rowkey.keys import validate_batch
from rowkey.open_file_limit import explains_shortage
from rowkey.table.changes import as_row_error
from rowkey.table.generations.ruling import settle_told
from rowkey.workload import LeftOut, format_for, open_sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.table.generations.live import Live
    from rowkey.table.table import Table
    from rowkey.workload import Sample

AT_ONCE = 16_384
"""Rows that are encoded together: their columns stay in the processor's cache."""
SHUFFLED = 1_000_000
"""Rows that are shuffled together; a file sorted by key is spread over as many."""
REMEMBERED_S = 2.0
"""Seconds after which it is written down how far a load has come."""
_WORD = "rowkey.load."


@explains_shortage
def load_blocks(now: Callable[[], Live], rows: pa.RecordBatch | pa.Table) -> int:
    """Put many rows, each after whatever was done to it before; gives how many.

    Args:
        now: says what the table is; asked for each block.
        rows: columns named as the fields.

    Raises:
        RowError: a value is none of its field; it names the row by its number, from 0. Rows before
            it may be written.
    """
    import pyarrow as pa

    if not isinstance(rows, pa.RecordBatch | pa.Table):
        raise RowError("rows", f"{shown(rows)} holds no columns", "a pyarrow RecordBatch or Table")
    validate_batch(rows)
    first = 0
    for some in _blocks(rows):
        for index, problem in _write_block(now(), some):
            raise _numbered(first + index, problem)
        first += some.num_rows
    return first


def _write_block(live: Live, rows: pa.RecordBatch) -> list[tuple[int, RowError]]:
    """Put rows, with no change that depends on one of them in between.

    Returns:
        The index of each row that cannot be put, and why.
    """
    clock = live.writing.clock
    with clock.ordered_all():
        at = clock.stamp_all(alone=live.ruling.key.is_salted)
        refused = list(_refused(live, rows, at))
    clock.hold_back(at)
    return refused


def _blocks(rows: pa.RecordBatch | pa.Table) -> Iterator[pa.RecordBatch]:
    """The rows, at most `AT_ONCE` at a time."""
    import pyarrow as pa

    for batch in [rows] if isinstance(rows, pa.RecordBatch) else rows.to_batches():
        for start in range(0, batch.num_rows, AT_ONCE):
            yield batch.slice(start, AT_ONCE)


def _refused(live: Live, rows: pa.RecordBatch, at: int) -> Iterator[tuple[int, RowError]]:
    """Put rows, and give the index of each that cannot be put, and why.

    When all is taken, the others are written.

    Cost: twice the logarithm of their number for each such row, in smaller puts.
    """
    design = live.ruling
    try:
        salts = load_salts(design, rows) if design.key.is_salted else None
        live.writing.store.load(design.layout.blocks(rows, timestamp=at, salts=salts))
    except (Refused, RowError) as refusal:
        if rows.num_rows == 1:
            yield 0, as_row_error(refusal) if isinstance(refusal, Refused) else refusal
            return
    else:
        return
    half = rows.num_rows // 2
    for start, some in ((0, rows.slice(0, half)), (half, rows.slice(half))):
        for index, problem in _refused(live, some, at):
            yield start + index, problem


def _numbered(number: int, problem: RowError) -> RowError:
    """What is wrong with one row, with the row's number."""
    one = problem.mistake
    path = ": ".join(filter(None, (f"row {number}", one.path)))
    return RowError(path, _ALONE.sub("", one.what), one.allowed, one.remedy)


_ALONE = re.compile(r"^row 0 | of row 0\b")
"""How what is wrong with a row names it that stands alone in its batch."""


def load_salts(design: Design, rows: pa.RecordBatch) -> Any:
    """Salts that rows of one key share: of one load they have one timestamp, and the last counts.

    Python hashes bytes by a number drawn for each process, so they are as good as drawn, and the
    same whenever this process asks for those of a row.

    Args:
        design: one with a random salt.
        rows: columns named as its fields.
    """
    import numpy as np

    keys = design.key.encode_valid_batch(rows, salts=np.zeros(rows.num_rows, np.int64))
    hashed = np.fromiter(map(hash, keys.to_pylist()), np.int64, rows.num_rows)
    return hashed % design.key.salt_count


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did.

    Args:
        rows: rows written now.
        before: rows that an interrupted load had dealt with.
        left_out: rows of the file that could be no rows of the table, of those read now.
        absent: nullable fields that the file has no column for.
        assumed: what the file leaves open and was guessed, as sentences.
    """

    rows: int
    before: int
    left_out: LeftOut
    absent: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


@explains_shortage
def load_file(
    table: Table,
    path: str | Path,
    *,
    format_words: Mapping[str, Any] | None = None,
    shuffle: bool = False,
    restart: bool = False,
    progress: Callable[[int, int], None] | None = None,
    resumed: Callable[[int], None] | None = None,
) -> Loaded:
    """Put all rows of a file; interrupted, the same call goes on where it stopped.

    How far it has come is kept with the table. Rows that were written just before an interruption
    are written again, which changes nothing. A row with a value that its field cannot hold is left
    out; a nullable field whose column is missing stays null.

    Args:
        table: the table.
        path: CSV, JSON lines, Parquet or Arrow, gzip of each, a log.
        format_words: how the file is read, as `[sample] format`; told by its name if None.
        shuffle: whether rows are mixed, a million at a time, so that a sorted file does not write
            to one region after another. Of rows with one key any may then be the last.
        restart: whether an interrupted load is forgotten.
        progress: told how many rows of the file are done, and of how many; that is estimated from
            the bytes read where the file does not say it, and 0 if it is not known.
        resumed: told once, before the first row is written, how many rows are passed over because
            an interrupted load has dealt with them.

    Raises:
        SampleError: the file cannot be read, or most of its rows are none.

    Cost: 1 to 3 µs a row on an embedded engine.
    """
    design = table.design
    words = format_words or format_for(Path(path), design.sample_format, design.sample_path)
    sample = open_sample(path, design.fields, None, words).fitted()
    sample.may_be_empty = True
    of = (str(design.key), _declared(design), repr(words), shuffle)
    record = _Record(table, Path(path), of)
    before = 0 if restart else record.done()
    if before and resumed is not None:
        resumed(before)
    done, refused = before, LeftOut()
    rows: Iterable[_Numbered] = ((one.rows, one.numbers) for one in sample.events())
    if shuffle:
        rows = _shuffled(rows)
    try:
        for batch, numbers in _behind(rows, before):
            for number, problem in _put(table, batch, numbers):
                refused.note(1, str(_numbered(number, problem)))
                _require_few(sample, refused, done - before + batch.num_rows)
            done += batch.num_rows
            record.keep(done)
            if progress is not None:
                at, total = done + sample.left_out.count, sample.total()
                progress(at, max(total, at) if total else 0)
    except BaseException:
        record.keep(done, now=True)
        raise
    record.forget()
    count = sample.left_out.count + refused.count
    left_out = LeftOut(count, sample.left_out.first or refused.first)
    absent = tuple(name for name in design.fields if name not in sample.fields)
    return Loaded(done - before - refused.count, before, left_out, absent, tuple(sample.assumed))


def _declared(design: Design) -> dict[str, tuple[str, dict[str, Any]]]:
    """All that decides which values the rows of a file have: once it changes, rows begin anew."""
    return {name: (f.type.name, f.words.model_dump()) for name, f in design.fields.items()}


_Numbered = tuple["pa.RecordBatch", Any]
"""Rows, and the number of each in the file."""


def _put(table: Table, batch: pa.RecordBatch, numbers: Any) -> Iterator[tuple[int, RowError]]:
    """Put rows, and give the number in the file of each that is refused, and why."""
    first = 0
    for some in _blocks(batch):
        for index, problem in _write_block(table.now(), some):
            yield int(numbers[first + index]), problem
        first += some.num_rows


MOST_REFUSED = 1_000
"""Rows that are refused one by one before it is asked whether the file is the right one."""


def _require_few(sample: Sample, refused: LeftOut, read: int) -> None:
    """Go no further where most rows of a file are refused.

    Raises:
        SampleError: so they are.
    """
    if refused.count >= MOST_REFUSED and 2 * refused.count > read:
        told = f"{refused.count:,} of {read:,} rows are refused; {refused.first}"
        remedy = "The load has stopped. Rows that were not refused may be in the table."
        raise SampleError(str(sample.path), told, remedy=remedy)


class _Record:
    """How far the load of one file has come.

    It stands among the words kept with the table; where others share that, so that changing a word
    closes all regions for a moment, among the notes of its catalog.
    """

    def __init__(self, table: Table, path: Path, read: object) -> None:
        self.store, self.catalog, self.name = table.store, table.catalog, table.design.table
        self.shared = table.engine.shared
        self.born = table.store.described[1].get(BORN, "") if self.shared else ""
        told = path.stat() if path.exists() else None
        of = (str(path.resolve()), told and told.st_size, told and told.st_mtime_ns, read)
        self.word = _WORD + sha256(repr(of).encode()).hexdigest()[:16]
        self.kept = time.monotonic()

    def done(self) -> int:
        """Rows that an interrupted load of this very file has written."""
        if self.shared:
            born, _, done = self.catalog.notes(self.name).get(self.word, "").rpartition(" ")
            return int(done) if done and born == self.born else 0
        return int(self.store.spec.attributes.get(self.word, 0))

    def keep(self, done: int, *, now: bool = False) -> None:
        """Write down how many rows are written, if that was not done just now."""
        at = time.monotonic()
        if now or at - self.kept > REMEMBERED_S:
            self.kept = at
            if self.shared:
                self.catalog.note(self.name, self.word, f"{self.born} {done}")
            else:
                self._annotate({**self.store.spec.attributes, self.word: str(done)})

    def forget(self) -> None:
        """The load is complete: there is nothing to go on with."""
        if self.shared:
            self.catalog.note(self.name, self.word, None)
            return
        left = {k: v for k, v in self.store.spec.attributes.items() if k != self.word}
        if len(left) < len(self.store.spec.attributes):
            self._annotate(left)

    def _annotate(self, words: Mapping[str, str]) -> None:
        """Write all words of the table, of which others may have written some since they were read.

        What repeats the catalog is made to do so again: a change of buckets may have come between.
        """
        self.store.annotate(words)
        settle_told(self.catalog, self.name, self.store)


def _behind(rows: Iterable[_Numbered], count: int) -> Iterator[_Numbered]:
    """The rows without the first of them."""
    for batch, numbers in rows:
        if count >= batch.num_rows:
            count -= batch.num_rows
            continue
        yield batch.slice(count), numbers[count:]
        count = 0


def _shuffled(rows: Iterable[_Numbered]) -> Iterator[_Numbered]:
    """The rows mixed, `SHUFFLED` at a time, the same way each time."""
    import numpy as np
    import pyarrow as pa

    held: list[_Numbered] = []
    chance = np.random.default_rng(0)
    for one in chain(rows, [None]):
        # A batch with a value that is left out may have other types than those that are sound.
        is_other = bool(held) and one is not None and one[0].schema != held[0][0].schema
        if held and (one is None or is_other or sum(len(some) for _, some in held) >= SHUFFLED):
            whole = pa.Table.from_batches([batch for batch, _ in held]).combine_chunks()
            order = chance.permutation(whole.num_rows)
            numbers = np.concatenate([some for _, some in held])[order]
            mixed, first = whole.take(pa.array(order)).combine_chunks(), 0
            for batch in mixed.to_batches(max_chunksize=AT_ONCE):
                yield batch, numbers[first : first + batch.num_rows]
                first += batch.num_rows
            held = []
        if one is not None:
            held.append(one)
