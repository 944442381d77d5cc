"""Strategies of rows, cells, reads and writes for requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.hbase.filters import ColumnRangeFilter, Filter, PrefixFilter
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.requests import Action, Append, DeleteRow, Exists, Get, Increment

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

REGION = b"t,,1.0123456789abcdef0123456789abcdef."
FAMILIES = st.sampled_from(["d", "fam"])
ROWS = st.binary(min_size=1, max_size=8) | st.binary(min_size=90, max_size=140)
WORDS = st.binary(max_size=6)
TIMESTAMPS = st.integers(0, 2**41) | st.just(LATEST)
_TTLS = st.sampled_from([None, 1, 600_000])
_KINDS = st.sampled_from([kind for kind in CellType if kind != CellType.PUT])
PUTS = st.tuples(FAMILIES, WORDS, TIMESTAMPS, WORDS).map(lambda told: Cell(*told))
LIVING = st.tuples(PUTS, _TTLS).map(lambda told: told[0]._replace(ttl_ms=told[1]))
DELETES = st.tuples(PUTS, _KINDS).map(lambda told: told[0]._replace(value=b"", cell_type=told[1]))
ONE_SORT = st.lists(PUTS, min_size=1, max_size=4) | st.lists(DELETES, min_size=1, max_size=4)
ANY_SORT = st.lists(LIVING | DELETES, min_size=1, max_size=5)
FILTERS: SearchStrategy[Filter | None] = st.one_of(
    st.none(), st.builds(PrefixFilter, WORDS), st.just(ColumnRangeFilter(b"a", b"b"))
)
_NUMBERS = st.none() | st.integers(1, 2**31 - 1)
READS = st.builds(
    ReadSpec,
    columns=st.none()
    | st.dictionaries(FAMILIES, st.lists(WORDS, max_size=3).map(tuple), min_size=1),
    time_range=st.lists(st.integers(0, LATEST), min_size=2, max_size=2).map(
        lambda ends: (min(ends), max(ends))
    ),
    versions=st.integers(1, 2**31 - 1),
    filter=FILTERS,
    store_limit=_NUMBERS,
    store_offset=st.integers(0, 2**31 - 1),
    cache_blocks=st.booleans(),
)
PLAIN_READS = st.builds(ReadSpec, filter=FILTERS)
SCANS = st.builds(
    ScanSpec,
    start=WORDS,
    stop=WORDS,
    include_start=st.booleans(),
    include_stop=st.booleans(),
    reverse=st.booleans(),
    read=READS,
    batch=_NUMBERS,
    read_type=st.sampled_from(["default", "stream", "pread"]),
) | st.builds(ScanSpec, read=PLAIN_READS, raw=st.just(True), start=WORDS)
_COLUMNS = st.tuples(FAMILIES, WORDS)
AMOUNTS = st.dictionaries(_COLUMNS, st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4).map(
    lambda found: [(*column, amount) for column, amount in found.items()]
)
PIECES = st.dictionaries(_COLUMNS, WORDS, min_size=1, max_size=4).map(
    lambda found: [(*column, piece) for column, piece in found.items()]
)
NONCES = st.sampled_from([0, 1, 2**63 - 1])
INCREMENTS = st.builds(Increment, ROWS, AMOUNTS, NONCES)
APPENDS = st.builds(Append, ROWS, PIECES, NONCES)
WRITES = st.tuples(ROWS, ONE_SORT).map(lambda told: RowCells(*told))
ACTIONS: SearchStrategy[Action] = st.one_of(
    WRITES,
    st.tuples(ROWS, ANY_SORT).map(lambda told: RowCells(*told)),
    st.builds(Get, ROWS, READS),
    st.builds(Exists, ROWS, st.just(ReadSpec())),
    st.builds(DeleteRow, ROWS, TIMESTAMPS),
    INCREMENTS,
    APPENDS,
)
