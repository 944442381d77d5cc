"""Rows read in pieces of any size equal whole rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.benches import START_MS, Bench
from ramdisk import RAM_FOLDER
from rowkey.cells import Cell, CellType, Family, RowCells
from rowkey.engines import CellSelection, ScanRange
from rowkey.engines.pairs.layout import build_key
from rowkey.engines.pairs.pair_source import FrozenPairs
from rowkey.engines.pairs.row_pages import read_pages

if TYPE_CHECKING:
    from rowkey.engines import Store

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
ROWS = [b"a", b"a\0", b"b", b"\xff"]
NAMES = [b"", *(bytes([n // 16, n % 16]) for n in range(256))]
DELETES = [CellType.DELETE_FAMILY, CellType.DELETE_FAMILY_VERSION]
BATCHES = st.sampled_from([1, 2, 3, 64, 500, 2**31 - 1])


@st.composite
def wide_rows(draw: st.DrawFn) -> list[RowCells]:
    """Return rows of up to 256 columns in some versions, with all types of deletes."""
    mutations = []
    for row in draw(st.lists(st.sampled_from(ROWS), min_size=1, max_size=4, unique=True)):
        first = draw(st.integers(0, 200))
        names = NAMES[first : first + draw(st.integers(1, 256))]
        for at in draw(st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True)):
            cells = [Cell("d", name, at, b"%d" % at) for name in names]
            mutations.append(RowCells(row, cells))
        kinds = draw(st.lists(st.sampled_from(DELETES), max_size=2))
        gone = [Cell("d", b"", draw(st.integers(1, 5)), cell_type=kind) for kind in kinds]
        some = draw(st.lists(st.sampled_from(names), max_size=5))
        gone += [
            Cell("d", n, draw(st.integers(1, 5)), cell_type=CellType.DELETE_COLUMN) for n in some
        ]
        if gone:
            mutations.append(RowCells(row, gone))
    return mutations


def join_pieces(pieces: list[RowCells], most: int) -> list[RowCells]:
    """Return pieces joined to rows, after checking that only a last piece is shorter."""
    rows = []
    for row, same in groupby(pieces, key=attrgetter("row")):
        cells = [list(piece.cells) for piece in same]
        assert [most] * (len(cells) - 1) == [len(some) for some in cells[:-1]]
        assert 1 <= len(cells[-1]) <= most
        rows.append(RowCells(row, list(chain.from_iterable(cells))))
    return rows


def scan_all(store: Store, **asked: Any) -> list[RowCells]:
    """Return the rows of a scan of the whole table."""
    (cursor,) = store.scan([ScanRange()], CellSelection(**asked))
    with cursor:
        return [RowCells(row, list(cells)) for row, cells in cursor]


def scan_block_cells(store: Store, **asked: Any) -> list[tuple[Any, ...]]:
    """Return the cells of a scan of the whole table as blocks."""
    (cursor,) = store.scan([ScanRange()], CellSelection(**asked))
    with cursor:
        return [tuple(one.values()) for block in cursor.read_blocks() for one in block.to_pylist()]


@pytest.mark.parametrize("scheme", ["memory", "rocks"])
@given(
    mutations=wide_rows(),
    versions=st.integers(1, 3),
    batch=BATCHES,
    bounds=st.lists(st.sampled_from(NAMES), min_size=2, max_size=2),
    reverse=st.booleans(),
)
@settings(max_examples=50 if IS_LONG else 6)
def test_partial_rows_join_to_whole_rows(
    scheme: str,
    mutations: list[RowCells],
    versions: int,
    batch: int,
    bounds: list[bytes],
    reverse: bool,
) -> None:
    """Pieces of rows join to whole rows, as rows and as blocks, and each row counts once."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        bench = Bench(scheme, "" if scheme == "memory" else str(Path(folder) / "place"))
        store = bench.create([Family("d", versions=3)])
        store.mutate(mutations)
        asked: dict[str, Any] = {"versions": versions, "reverse": reverse}
        for qualifiers in ((b"", b""), tuple(sorted(bounds)), (min(bounds), b"")):
            asked["qualifier_range"] = qualifiers
            rows = scan_all(store, **asked)
            before = sum(region.reads for region in store.list_regions())
            assert rows == join_pieces(scan_all(store, batch=batch, **asked), batch)
            assert len(rows) == sum(region.reads for region in store.list_regions()) - before
            cells = scan_block_cells(store, **asked)
            before = sum(region.reads for region in store.list_regions())
            assert cells == scan_block_cells(store, batch=batch, **asked)
            assert len(rows) == sum(region.reads for region in store.list_regions()) - before
        bench.close()


def test_a_scan_of_a_qualifier_range_shows_no_later_writes(tmp_path: Path) -> None:
    """A scan of a qualifier range shows nothing that is written after it was opened."""
    bench = Bench("rocks", str(tmp_path / "place"))
    store = bench.create([Family("d")])
    store.mutate([RowCells(b"r", [Cell("d", name, START_MS, b"old") for name in NAMES])])
    (cursor,) = store.scan(
        [ScanRange()], CellSelection(qualifier_range=(NAMES[40], NAMES[200]), batch=7)
    )
    found = iter(cursor)
    first = next(found)
    store.mutate([RowCells(b"r", [Cell("d", name, START_MS + 1, b"new") for name in NAMES])])
    cells = [*first.cells, *chain.from_iterable(piece.cells for piece in found)]
    assert NAMES[40:200] == [cell.qualifier for cell in cells]
    assert {b"old"} == {cell.value for cell in cells}
    bench.close()


def count_pairs(pairs: Iterator[Any], taken: list[int]) -> Iterator[Any]:
    """Yield the same pairs, counting them in the first item of a list."""
    for pair in pairs:
        taken[0] += 1
        yield pair


def test_the_first_pages_of_a_huge_row_read_few_cells() -> None:
    """The first pages of a row of a million cells read a few hundred cells."""
    taken = [0]
    pairs = ((build_key(b"r", b"%07d" % n, 7, CellType.PUT), b"v") for n in range(1_000_000))
    pages = read_pages(count_pairs(pairs, taken))
    sizes = [len(keys) for keys, _ in islice(pages, 3)]
    assert sum(sizes) + 1 == taken[0]
    assert taken[0] < 1_000
    assert max(len(keys) for keys, _ in islice(pages, 20)) <= 8_192


def test_columns_at_the_end_of_wide_rows_are_found_without_reading_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten columns at the end of three wide rows are found without reading the rows."""
    bench = Bench("rocks", str(tmp_path / "place"))
    store = bench.create([Family("d")])
    names = [b"%05d" % n for n in range(20_000)]
    for row in (b"a", b"b", b"c"):
        store.mutate([RowCells(row, [Cell("d", name, START_MS, b"v") for name in names])])
    taken = []
    read = FrozenPairs._read_batch

    def watched(self: FrozenPairs, *asked: Any, **how: Any) -> Any:
        found = read(self, *asked, **how)
        taken.append(len(found))
        return found

    monkeypatch.setattr(FrozenPairs, "_read_batch", watched)
    rows = scan_all(store, qualifier_range=(names[19_000], names[19_010]))
    assert [names[19_000:19_010]] * 3 == [[cell.qualifier for cell in r.cells] for r in rows]
    assert sum(taken) < 2_000
    bench.close()
