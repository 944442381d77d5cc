"""Strategies of steps and tables with few rows, columns and times, so that they collide."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from engines import steps
from rowkey.cells import CellType, Family
from rowkey.engines import CellCondition, ScanRange

ROWS = (b"a", b"a\x00", b"a\xff", b"b", b"\x00", b"\xff\xff")
QUALIFIERS = (b"", b"p", b"p\x00", b"q")
MOMENTS = (-4_000, -1_000, 0, 1_000, 2_500)
"""Timestamps in ms from the start: only five, so that they collide."""
COUNTER = (7).to_bytes(8, "big")
VALUES = (b"", b"x", b"y\x00", COUNTER)
TTLS_S = (None, 2, 4)
"""Times to live of families, short enough to pass in a test."""


def _list_families(name: str) -> list[Family]:
    """Return families of few versions, with and without a time to live."""
    found = []
    for versions, keep, ttl in product((1, 2, 3), ("FALSE", "TRUE", "TTL"), TTLS_S):
        if ttl is None:
            found.append(Family(name, versions=versions, keep_deleted=keep))
            continue
        found += [
            Family(name, versions=versions, keep_deleted=keep, ttl_s=ttl, min_versions=least)
            for least in range(versions + 1)
        ]
    return found


SHAPES = tuple(
    (first, second)
    for first, second in zip(_list_families("d"), reversed(_list_families("e")), strict=True)
)
"""Tables of two families, where every family occurs in both places."""

rows = st.sampled_from(ROWS)
families = st.sampled_from(("d", "e"))
qualifiers = st.sampled_from(QUALIFIERS)
values = st.sampled_from(VALUES)
moments = st.sampled_from((*MOMENTS, None))
own_ttls = st.sampled_from((None, None, None, 1, 500, 1_000, 3_000))
puts = st.builds(
    steps.Change, families, qualifiers, moments, values, st.just(CellType.PUT), own_ttls
)
column_deletes = st.builds(
    steps.Change,
    families,
    qualifiers,
    moments,
    st.just(b""),
    st.sampled_from((CellType.DELETE, CellType.DELETE_COLUMN)),
)
family_deletes = st.builds(
    steps.Change,
    families,
    st.just(b""),
    moments,
    st.just(b""),
    st.sampled_from((CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION)),
)
deletes = st.one_of(column_deletes, family_deletes)


def _column(change: steps.Change) -> tuple[str, bytes]:
    return change.family, change.qualifier


def some_changes(
    changes: st.SearchStrategy[steps.Change],
) -> st.SearchStrategy[tuple[steps.Change, ...]]:
    """Return a strategy of one to three changes of a row."""
    return st.lists(changes, min_size=1, max_size=3).map(tuple)


mutations = st.builds(steps.Mutate, rows, some_changes(puts))
removals = st.builds(steps.Mutate, rows, some_changes(deletes))
mixtures = st.builds(steps.Mutate, rows, some_changes(st.one_of(puts, deletes)))
counts = st.builds(
    steps.Increment,
    rows,
    st.lists(
        st.tuples(families, qualifiers, st.sampled_from((1, -3, 2**63 - 1, -(2**63)))),
        min_size=1,
        max_size=2,
        unique_by=lambda one: one[:2],
    ).map(tuple),
)
appends = st.builds(
    steps.Append,
    rows,
    st.lists(
        st.tuples(families, qualifiers, values),
        min_size=1,
        max_size=2,
        unique_by=lambda one: one[:2],
    ).map(tuple),
)
checks = st.builds(
    CellCondition,
    families,
    qualifiers,
    st.sampled_from(("=", "!=", "<", "<=", ">", ">=")),
    st.sampled_from((b"x", b"y", COUNTER)),
) | st.builds(
    CellCondition, families, qualifiers, st.sampled_from(("=", "!=")), st.sampled_from((None, b""))
)
conditionals = st.builds(steps.CheckAndMutate, rows, checks, some_changes(st.one_of(puts, deletes)))
computations = st.one_of(counts, appends, conditionals)

times = st.one_of(
    st.just(steps.ALL_TIMES),
    st.tuples(st.sampled_from((-4_000, -1_000, 0)), st.sampled_from((1, 1_000, 2_501, None))),
    st.tuples(st.none(), st.sampled_from((-4_000, -1_000, 0, 1_000))),
)
named_columns = st.lists(
    st.tuples(families, st.lists(qualifiers, max_size=2, unique=True).map(tuple)),
    min_size=1,
    max_size=2,
    unique_by=lambda one: one[0],
).map(tuple)
bounds = st.sampled_from(
    ((b"", b""), (b"", b"p"), (b"p", b""), (b"p", b"q"), (b"p\x00", b"q\x00"), (b"q", b"q"))
)
versions = st.sampled_from((1, 2, 3, 9))
gets_wanted = st.builds(
    steps.Selection, st.none() | named_columns, times, versions, st.just((b"", b"")) | bounds
)
batches = st.sampled_from((None, None, 1, 2))
limits = st.sampled_from((None, None, 1, 2))
scans_wanted = st.builds(
    steps.Selection,
    st.none() | named_columns,
    times,
    versions,
    st.just((b"", b"")) | bounds,
    st.just(False),
    st.booleans(),
    limits,
    batches,
)
raw_wanted = st.builds(
    steps.Selection,
    st.none() | families.map(lambda name: ((name, ()),)),
    times,
    versions,
    st.just((b"", b"")),
    st.just(True),
    st.booleans(),
    limits,
    batches,
)
ends = st.one_of(rows, st.sampled_from((b"", b"", b"a\x00\x00", b"c", b"\xff")))
spans = st.builds(ScanRange, ends, ends).filter(
    lambda span: not span.stop or span.start < span.stop
)
gets = st.builds(
    steps.Get, st.lists(rows, min_size=1, max_size=2).map(tuple), st.one_of(gets_wanted, raw_wanted)
)
scans = st.builds(
    steps.Scan,
    st.lists(spans, min_size=1, max_size=2).map(tuple),
    st.one_of(scans_wanted, scans_wanted, raw_wanted),
)
divisions = st.builds(steps.Divide, st.one_of(rows, st.sampled_from((b"a\x00\x00", b"m"))))
pauses = st.builds(steps.Advance, st.sampled_from((1, 499, 500, 1_000, 1_001, 3_000)))
_ALTERED_FAMILIES = (*_list_families("d"), *_list_families("e"))


def _get_alteration(number: int) -> steps.Alter:
    """Return an alteration by its number, which Hypothesis prints shorter."""
    return steps.Alter(_ALTERED_FAMILIES[number])


alterations = st.integers(0, len(_ALTERED_FAMILIES) - 1).map(_get_alteration)
upkeep = st.one_of(
    *3 * [pauses],
    *2 * [st.just(steps.Settle())],
    st.sampled_from((steps.Flush(), steps.Merge())),
    alterations,
    st.just(steps.Keep()),
    st.builds(steps.Recall, gets | scans),
    divisions,
    st.just(steps.Reopen()),
)
shapes = st.sampled_from(SHAPES)
LAYOUTS = ((), (b"b",), (b"a\x00", b"a\xff"))
"""The first split keys of tables."""
splits = st.sampled_from(LAYOUTS)
