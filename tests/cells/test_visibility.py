"""What reads and compactions keep, compared with the reference book."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.book import FamilyCells
from engines.strategies import SHAPES
from rowkey.cells import (
    LATEST,
    Cell,
    CellType,
    Family,
    FamilyView,
    build_sort_key,
    select_kept_cells,
)
from rowkey.engines import CellSelection

DEPTH = settings().max_examples
NOW = 10_000
TIMES = (0, 5_999, 6_000, 7_999, 8_000, 9_000, 9_999, 10_000, 12_000)
"""Times before and after the ends of the families' times to live."""

qualifiers = st.sampled_from((b"", b"p", b"q"))
times = st.sampled_from(TIMES)
puts = st.builds(
    Cell,
    st.just("d"),
    qualifiers,
    times,
    st.just(b"v"),
    st.just(CellType.PUT),
    st.sampled_from((None, None, 1, 1_000, 1_001)),
)
deletes = st.builds(
    Cell,
    st.just("d"),
    qualifiers,
    times,
    st.just(b""),
    st.sampled_from((CellType.DELETE, CellType.DELETE_COLUMN)),
) | st.builds(
    Cell,
    st.just("d"),
    st.just(b""),
    times,
    st.just(b""),
    st.sampled_from((CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION)),
)
cell_lists = st.lists(st.one_of(puts, puts, deletes), max_size=16, unique_by=build_sort_key).map(
    lambda cells: sorted(cells, key=build_sort_key)
)
family_choices = st.sampled_from([first for first, _ in SHAPES])
ranges = st.sampled_from(((0, LATEST), (0, 8_000), (6_000, 9_000), (8_000, 8_001), (9_000, LATEST)))
versions = st.sampled_from((1, 2, 3, 9))


@settings(max_examples=3 * DEPTH)
@given(
    cells=cell_lists,
    family=family_choices,
    time_range=ranges,
    versions=versions,
    named=st.none() | st.sets(qualifiers, min_size=1),
    between=st.sampled_from(((b"", b""), (b"p", b""), (b"", b"q"), (b"p", b"q"))),
)
def test_a_read_shows_the_puts_that_the_reference_model_shows(
    cells: list[Cell],
    family: Family,
    time_range: tuple[int, int],
    versions: int,
    named: set[bytes] | None,
    between: tuple[bytes, bytes],
) -> None:
    """A view of any stored cells shows the puts that the reference book shows."""
    columns = None if named is None else {"d": tuple(named)}
    ask = CellSelection(
        columns=columns, time_range=time_range, versions=versions, qualifier_range=between
    )
    view = FamilyView(
        family,
        NOW,
        versions=versions,
        time_range=time_range,
        qualifiers=named,
        qualifier_range=between,
    )
    assert FamilyCells(cells, family, NOW).list_visible(ask) == view.select_visible(cells)


@settings(max_examples=2 * DEPTH)
@given(cells=cell_lists, family=family_choices, time_range=ranges, versions=versions)
def test_a_raw_read_shows_deletes_and_hidden_cells(
    cells: list[Cell], family: Family, time_range: tuple[int, int], versions: int
) -> None:
    """A raw view shows deletes and hidden cells, and ignores a family's time to live."""
    ask = CellSelection(time_range=time_range, versions=versions, raw=True)
    view = FamilyView(family, NOW, versions=versions, time_range=time_range, raw=True)
    assert FamilyCells(cells, family, NOW).list_raw(ask) == view.select_visible(cells)


@settings(max_examples=3 * DEPTH)
@given(cells=cell_lists, family=family_choices, delay=st.sampled_from([0, 1, 3, NOW]))
def test_a_major_compaction_keeps_what_the_reference_model_keeps(
    cells: list[Cell], family: Family, delay: int
) -> None:
    """A major compaction keeps what the reference book keeps, and a second one changes nothing."""
    kept = select_kept_cells(cells, family, NOW, delay)
    assert FamilyCells(cells, family, NOW).list_compacted(delay) == kept
    assert kept == select_kept_cells(kept, family, NOW, delay)


@settings(max_examples=2 * DEPTH)
@given(cells=cell_lists, family=family_choices, versions=versions)
def test_a_compaction_that_drops_deletes_changes_no_read(
    cells: list[Cell], family: Family, versions: int
) -> None:
    """A read of all times gives the same before and after a compaction that drops deletes."""
    plain = Family("d", versions=family.versions, ttl_s=family.ttl_s)
    view = FamilyView(plain, NOW, versions=versions)
    assert view.select_visible(cells) == view.select_visible(select_kept_cells(cells, plain, NOW))


def test_a_cell_is_visible_until_the_last_millisecond_of_its_time_to_live() -> None:
    """A cell is visible up to the last millisecond of its own and its family's time to live."""
    of_family, own = Cell("d", b"q", 1_000), Cell("d", b"q", 1_000, ttl_ms=500)
    family = Family("d", ttl_s=2)
    assert [of_family] == FamilyView(family, 3_000).select_visible([of_family])
    assert [] == FamilyView(family, 3_001).select_visible([of_family])
    assert [own] == FamilyView(family, 1_500).select_visible([own])
    assert [] == FamilyView(family, 1_501).select_visible([own])


def test_a_read_of_named_columns_shows_one_more_expired_version_as_in_hbase() -> None:
    """A read of named columns shows one expired version after living ones, as in HBase."""
    family = Family("d", versions=3, min_versions=1, ttl_s=2)
    cells = [Cell("d", b"q", time) for time in (9_000, 7_000, 6_000)]
    assert cells[:1] == FamilyView(family, NOW, versions=3).select_visible(cells)
    assert cells[:2] == FamilyView(family, NOW, versions=3, qualifiers=(b"q",)).select_visible(
        cells
    )
    expired = cells[1:]
    assert expired[:1] == FamilyView(family, NOW, versions=3, qualifiers=(b"q",)).select_visible(
        expired
    )
