"""What a read sees and what a compaction keeps, held against the definitions of the book."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.book import Shelf
from engines.drawing import SHAPES
from rowkey.cells import LATEST, Cell, Family, Kind, View, in_order, survivors
from rowkey.engines import Ask

DEPTH = settings().max_examples
NOW = 10_000
TIMES = (0, 5_999, 6_000, 7_999, 8_000, 9_000, 9_999, 10_000, 12_000)
"""Some on each side of where the times to live of the drawn families end."""

qualifiers = st.sampled_from((b"", b"p", b"q"))
times = st.sampled_from(TIMES)
puts = st.builds(
    Cell,
    st.just("d"),
    qualifiers,
    times,
    st.just(b"v"),
    st.just(Kind.PUT),
    st.sampled_from((None, None, 1, 1_000, 1_001)),
)
deletes = st.builds(
    Cell,
    st.just("d"),
    qualifiers,
    times,
    st.just(b""),
    st.sampled_from((Kind.DELETE, Kind.DELETE_COLUMN)),
) | st.builds(
    Cell,
    st.just("d"),
    st.just(b""),
    times,
    st.just(b""),
    st.sampled_from((Kind.DELETE_FAMILY, Kind.DELETE_FAMILY_VERSION)),
)
stored = st.lists(st.one_of(puts, puts, deletes), max_size=16, unique_by=in_order).map(
    lambda cells: sorted(cells, key=in_order)
)
described = st.sampled_from([first for first, _ in SHAPES])
ranges = st.sampled_from(((0, LATEST), (0, 8_000), (6_000, 9_000), (8_000, 8_001), (9_000, LATEST)))
versions = st.sampled_from((1, 2, 3, 9))


@settings(max_examples=10 * DEPTH)
@given(
    cells=stored,
    family=described,
    time_range=ranges,
    versions=versions,
    named=st.none() | st.sets(qualifiers, min_size=1),
    between=st.sampled_from(((b"", b""), (b"p", b""), (b"", b"q"), (b"p", b"q"))),
)
def test_a_read_sees_what_the_book_says(
    cells: list[Cell],
    family: Family,
    time_range: tuple[int, int],
    versions: int,
    named: set[bytes] | None,
    between: tuple[bytes, bytes],
) -> None:
    """A view gives the puts that the book's definitions leave, whatever is stored and asked."""
    columns = None if named is None else {"d": tuple(named)}
    ask = Ask(columns=columns, time_range=time_range, versions=versions, qualifiers=between)
    view = View(
        family, NOW, versions=versions, time_range=time_range, qualifiers=named, between=between
    )
    assert Shelf(cells, family, NOW).visible(ask) == view.sees(cells)


@settings(max_examples=5 * DEPTH)
@given(cells=stored, family=described, time_range=ranges, versions=versions)
def test_a_raw_read_sees_what_the_book_says(
    cells: list[Cell], family: Family, time_range: tuple[int, int], versions: int
) -> None:
    """A raw view gives deletes and what they hide, and no end of a family's time to live."""
    ask = Ask(time_range=time_range, versions=versions, raw=True)
    view = View(family, NOW, versions=versions, time_range=time_range, raw=True)
    assert Shelf(cells, family, NOW).raw(ask) == view.sees(cells)


@settings(max_examples=10 * DEPTH)
@given(cells=stored, family=described)
def test_a_compaction_keeps_what_the_book_says(cells: list[Cell], family: Family) -> None:
    """A major compaction leaves what the book's definitions leave, and once is enough."""
    kept = survivors(cells, family, NOW)
    assert Shelf(cells, family, NOW).compacted() == kept
    assert kept == survivors(kept, family, NOW)


@settings(max_examples=5 * DEPTH)
@given(cells=stored, family=described, versions=versions)
def test_a_compaction_changes_no_read(cells: list[Cell], family: Family, versions: int) -> None:
    """A read of all times gives the same before and after a compaction that drops deletes."""
    plain = Family("d", versions=family.versions, ttl_s=family.ttl_s)
    view = View(plain, NOW, versions=versions)
    assert view.sees(cells) == view.sees(survivors(cells, plain, NOW))


def test_the_end_of_a_time_to_live_is_exact() -> None:
    """A cell is seen to the last millisecond of its family's time to live, and of its own."""
    of_family, own = Cell("d", b"q", 1_000), Cell("d", b"q", 1_000, ttl_ms=500)
    family = Family("d", ttl_s=2)
    assert [of_family] == View(family, 3_000).sees([of_family])
    assert [] == View(family, 3_001).sees([of_family])
    assert [own] == View(family, 1_500).sees([own])
    assert [] == View(family, 1_501).sees([own])


def test_named_columns_give_one_expired_version_more() -> None:
    """HBase's tracker of named columns takes the first expired version behind living ones."""
    family = Family("d", versions=3, min_versions=1, ttl_s=2)
    cells = [Cell("d", b"q", time) for time in (9_000, 7_000, 6_000)]
    assert cells[:1] == View(family, NOW, versions=3).sees(cells)
    assert cells[:2] == View(family, NOW, versions=3, qualifiers=(b"q",)).sees(cells)
    expired = cells[1:]
    assert expired[:1] == View(family, NOW, versions=3, qualifiers=(b"q",)).sees(expired)
