"""The real HBase as an engine, so that the suite of all engines runs against it.

What HBase cannot promise is not made up here: a batch that names an unknown family is refused row
by row, scans of several ranges see no common moment, and a region's counters begin anew when it is
opened elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from cluster.judge import Judge, JudgeError
from cluster.servers import Cluster
from rowkey.cells import ATTRIBUTES, Cell, CellBlock, Family, RowCells
from rowkey.engines import (
    NEWEST_CELLS,
    CellCondition,
    CellSelection,
    Cursor,
    Engine,
    Reader,
    RegionRequestCounts,
    ScanRange,
    SendCheck,
    Store,
    TableSpec,
    get_time_ms,
)
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.progress import ReportProgress

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.engines.ordering.row_clock import RowClock

REFUSALS = {
    "DoNotRetryIOException",
    "IllegalArgumentException",
    "InvalidFamilyOperationException",
    "NamespaceNotFoundException",
    "NoSuchColumnFamilyException",
    "TableExistsException",
    "TableNotFoundException",
    "UnsupportedOperationException",
}
"""Java classes of errors that mean an invalid request."""

# CheckAndMutate reads *value OPERATOR cell*, the contract *cell OPERATOR value*.
# Source: HRegion.matches compares the given value with the cell, in this order.
OPERATORS = {
    "=": "EQUAL",
    "!=": "NOT_EQUAL",
    "<": "GREATER",
    "<=": "GREATER_OR_EQUAL",
    ">": "LESS",
    ">=": "LESS_OR_EQUAL",
}
HBASE_WORDS = {"IS_META", "hbase.store.file-tracker.impl"}
"""Attributes that HBase 2.6 adds to every table."""

PREFIX_BLOOM, PREFIX_LENGTH = "ROWPREFIX_FIXED_LENGTH", "RowPrefixBloomFilter.prefix_length"
LOAD_ROWS = 2_000  # rows of one question
_BY_HBASE = {row.hbase_name: row for row in ATTRIBUTES.values()}
_COPIES = count()


def to_hbase_attributes(
    family: Family, known: Family | None = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return a family's non-default attributes and its configuration with HBase's names.

    Args:
        family: the family.
        known: the current family, so that attributes reset to defaults are sent too.

    >>> to_hbase_attributes(Family("d", versions=3, bloom="ROWPREFIX_FIXED_LENGTH(8)"))[0]
    {'VERSIONS': '3', 'BLOOMFILTER': 'ROWPREFIX_FIXED_LENGTH'}
    """
    plain = Family(family.name)
    told = {}
    for row in ATTRIBUTES.values():
        name = _field_of(row.key)
        value = getattr(family, name)
        if value != getattr(plain, name) or (known and value != getattr(known, name)):
            told[row.hbase_name] = str(value).lower() if isinstance(value, bool) else str(value)
    if family.prefix_length is None:
        return told, {}
    told["BLOOMFILTER"] = PREFIX_BLOOM
    return told, {PREFIX_LENGTH: str(family.prefix_length)}


def from_hbase_attributes(
    name: str, told: Mapping[str, str], settings: Mapping[str, str]
) -> Family:
    """Return a family from HBase's attributes, without those that rowkey does not know.

    >>> from_hbase_attributes("d", {"VERSIONS": "3", "IN_MEMORY": "true"}, {}).versions
    3
    """
    known: dict[str, Any] = {}
    for hbase, value in told.items():
        row = _BY_HBASE.get(hbase)
        if row is not None:
            known[_field_of(row.key)] = _parse_value(row.default, value, row.choices)
    if known.get("bloom") == PREFIX_BLOOM:
        known["bloom"] = f"{PREFIX_BLOOM}({settings[PREFIX_LENGTH]})"
    return Family(name, **known)


def _field_of(word: str) -> str:
    return "ttl_s" if word == "ttl" else word


def _parse_value(default: object, value: str, choices: tuple[str, ...]) -> object:
    if isinstance(default, bool):
        return value.lower() == "true"
    return value.upper() if choices else int(value)


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert errors of HBase to the errors of engines."""
    try:
        yield
    except JudgeError as error:
        if error.kind in REFUSALS:
            raise InvalidArgument("", f"HBase says {error}") from error
        raise


class JudgedCursor(Cursor):
    """A cursor on the rows of one range, all read when it is opened."""

    def __init__(self, pieces: Sequence[RowCells]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[RowCells]:
        return iter(self._pieces)

    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self._pieces), rows):
            yield _batch(self._pieces[start : start + rows])

    def close(self) -> None:
        self._pieces = ()


def _batch(rows: Sequence[RowCells]) -> pa.RecordBatch:
    import pyarrow as pa

    cells = [(row, cell) for row, cells in rows for cell in cells]
    families = pa.array([cell.family for _, cell in cells], pa.string()).dictionary_encode()
    columns = {
        "row": pa.array([row for row, _ in cells], pa.binary()),
        "family": families,
        "qualifier": pa.array([cell.qualifier for _, cell in cells], pa.binary()),
        "timestamp": pa.array([cell.timestamp for _, cell in cells], pa.int64()),
        "value": pa.array([cell.value for _, cell in cells], pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


class JudgedReader(Reader):
    """Reads one table of the cluster through the official client.

    Args:
        judge: who is asked.
        name: the table.
    """

    def __init__(self, judge: Judge, name: str) -> None:
        self.judge = judge
        self.name = name

    def get(self, rows: Sequence[bytes], selection: CellSelection = NEWEST_CELLS) -> list[RowCells]:
        _check(selection)
        with convert_errors():
            if selection.raw:  # only scans can be raw
                return [RowCells(row, self._row(row, selection)) for row in rows]
            found = self.judge.get(self.name, rows, selection) if rows else []
        return [RowCells(row, cells) for row, (_, cells) in zip(rows, found, strict=True)]

    def _row(self, row: bytes, ask: CellSelection) -> list[Cell]:
        pieces = self.judge.scan(self.name, ask, (row, True), (row, True))
        return [cell for _, cells in pieces for cell in cells]

    def scan(
        self, ranges: Sequence[ScanRange], selection: CellSelection = NEWEST_CELLS
    ) -> list[Cursor]:
        _check(selection)
        with convert_errors():
            return [JudgedCursor(self._span(span, selection)) for span in ranges]

    def _span(self, span: ScanRange, ask: CellSelection) -> list[RowCells]:
        if ask.limit == 0:  # to HBase that is no limit
            return []
        start, stop = (span.start, True), (span.stop, False)
        if ask.reverse:
            start, stop = (span.stop, not span.stop), (span.start, True)
        return self.judge.scan(self.name, ask, start, stop)

    def close(self) -> None:
        """Do nothing, since no resource is open."""


def _check(ask: CellSelection) -> None:
    """Raise for numbers that HBase's client reads as "no limit" or rejects."""
    for word, value, least in (
        ("versions", ask.versions, 1),
        ("limit", ask.limit, 0),
        ("batch", ask.batch, 1),
    ):
        if value is not None and value < least:
            raise InvalidArgument(word, f"{value} is out of range", f"{least} or more")


class JudgedStore(JudgedReader, Store):
    """One table of a real HBase.

    Args:
        cluster: where it is.
        judge: who is asked.
        name: the table.
    """

    def __init__(self, cluster: Cluster, judge: Judge, name: str) -> None:
        super().__init__(judge, name)
        self.cluster = cluster

    @property
    def spec(self) -> TableSpec:
        """Return the table as HBase describes it now."""
        with convert_errors():
            told = self.judge.describe(self.name)
            starts = [region.start for region in self.judge.regions(self.name)]
        families = (
            from_hbase_attributes(name, words, told.settings[name])
            for name, words in told.families.items()
        )
        words = {word: value for word, value in told.words.items() if word not in HBASE_WORDS}
        return TableSpec(self.name, tuple(families), tuple(starts[1:]), words)

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        with convert_errors():
            if mutations:
                self.judge.mutate(self.name, mutations)

    def load_blocks(self, blocks: Sequence[CellBlock]) -> None:
        columns = [_cells(block) for block in blocks]
        rows = blocks[0].rows.to_pylist() if blocks else []
        mutations = []
        for index, row in enumerate(rows):
            cells = [column[index] for column in columns]
            mutations.append(RowCells(row, [cell for cell in cells if cell is not None]))
        for start in range(0, len(mutations), LOAD_ROWS):
            self.mutate(mutations[start : start + LOAD_ROWS])

    @property
    def row_clock(self) -> RowClock:
        raise NotImplementedError

    def increment(
        self,
        row: bytes,
        amounts: Sequence[tuple[str, bytes, int]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        """Add to counters; the official client does not return the timestamps of the new cells."""
        with convert_errors():
            sums = self.judge.increment(self.name, row, amounts)
        return [
            Cell(family, qualifier, 0, total.to_bytes(8, "big", signed=True))
            for (family, qualifier, _), total in zip(amounts, sums, strict=True)
        ]

    def append(
        self,
        row: bytes,
        pieces: Sequence[tuple[str, bytes, bytes]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        """Append to cells; the official client does not return the timestamps of the new cells."""
        with convert_errors():
            values = self.judge.append(self.name, row, pieces)
        return [
            Cell(family, qualifier, 0, value)
            for (family, qualifier, _), value in zip(pieces, values, strict=True)
        ]

    def check_and_mutate(
        self,
        row: bytes,
        condition: CellCondition,
        cells: Sequence[Cell],
        *,
        check_send: SendCheck | None = None,
    ) -> bool:
        if condition.operator not in OPERATORS:
            raise InvalidArgument(
                "operator", f"{condition.operator!r} is none", " ".join(OPERATORS)
            )
        column, operator = (condition.family, condition.qualifier), OPERATORS[condition.operator]
        with convert_errors():
            return self.judge.check_and_mutate(
                self.name, row, column, operator, condition.value, cells
            )

    def list_regions(self) -> list[RegionRequestCounts]:
        with convert_errors():
            found = self.judge.regions(self.name)
        return [RegionRequestCounts(one.start, one.stop, one.writes, one.reads) for one in found]

    def split(self, split_key: bytes) -> None:
        if any(region.start == split_key for region in self.list_regions()):
            # HBase says so as well, by an exception that also means its own trouble.
            raise InvalidArgument("at", f"a region begins at {split_key!r} already")
        with convert_errors():
            self.cluster.split(self.name, split_key)

    def alter_families(self, families: Sequence[Family]) -> None:
        known = {family.name: family for family in self.spec.families}
        told = {
            family.name: to_hbase_attributes(family, known.get(family.name)) for family in families
        }
        with convert_errors():
            self.judge.alter(self.name, *_halves(told))

    def replace_attributes(self, attributes: Mapping[str, str]) -> None:
        gone = dict.fromkeys(word for word in self.spec.attributes if word not in attributes)
        with convert_errors():
            self.judge.annotate(self.name, {**gone, **attributes})

    def flush(self) -> None:
        with convert_errors():
            self.judge.flush(self.name)

    def compact(self, *, major: bool = True) -> None:
        with convert_errors():
            self.judge.compact(self.name, major=major)

    def measure_size_bytes(self) -> int:
        with convert_errors():
            return sum(region.size for region in self.judge.regions(self.name))

    def snapshot(self) -> Reader:
        copy = f"{self.name}.at{next(_COPIES)}.{self.judge.now()}"
        with convert_errors():
            self.judge.snapshot(self.name, copy)
        return JudgedSnapshot(self.judge, copy)


class JudgedSnapshot(JudgedReader):
    """A snapshot of a table: a copy that shares its files and is dropped when closed."""

    _is_open = True

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self.judge.drop(self.name)


def _halves(
    told: Mapping[str, tuple[dict[str, str], dict[str, str]]],
) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """Return the attributes by family, and the configuration by family."""
    return {name: a for name, (a, _) in told.items()}, {name: b for name, (_, b) in told.items()}


def _cells(block: CellBlock) -> list[Cell | None]:
    """Return a block's cell of each row, or None."""
    many = len(block.rows)
    names, times = block.qualifiers, block.timestamps
    qualifiers = [names] * many if isinstance(names, bytes) else names.to_pylist()
    stamps = [times] * many if isinstance(times, int) else [int(each) for each in times]
    values = zip(qualifiers, stamps, block.values.to_pylist(), strict=True)
    return [None if v is None else Cell(block.family, q, t, v) for q, t, v in values]


class JudgedEngine(Engine):
    """A real cluster as an engine; its URL is the directory of a running cluster.

    Args:
        cluster: where tables live.
    """

    name = "judged"
    is_persistent = True
    is_shared = True
    unsupported_features: ClassVar[Mapping[str, str]] = {}

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @property
    def judge(self) -> Judge:
        """Return the official Java client."""
        return self.cluster.judge

    @classmethod
    def open(
        cls,
        location: str,
        *,
        sync: bool = False,
        clock: Callable[[], int] = get_time_ms,
        timeout_s: float | None = None,
    ) -> Self:
        del timeout_s
        if clock is not get_time_ms:
            raise Unavailable("clock", "the servers have their own", remedy="Remove the clock.")
        return cls(Cluster.attach(Path(location)))

    @property
    def catalog_url(self) -> str:
        return f"file:{self.cluster.directory / 'catalog'}"

    def list_tables(self) -> list[str]:
        return self.judge.tables()

    def create_table(self, spec: TableSpec, progress: ReportProgress | None = None) -> JudgedStore:
        families, settings = _halves({one.name: to_hbase_attributes(one) for one in spec.families})
        with convert_errors():
            self.judge.create(spec.name, families, spec.splits, spec.attributes, settings)
        return JudgedStore(self.cluster, self.judge, spec.name)

    def open_table(self, name: str) -> JudgedStore:
        with convert_errors():
            self.judge.describe(name)
        return JudgedStore(self.cluster, self.judge, name)

    def drop_table(self, name: str) -> None:
        with convert_errors():
            self.judge.drop(name)

    def close(self) -> None:
        """Do nothing: the cluster is stopped by the fixture that started it."""
