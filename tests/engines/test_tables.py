from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engines.store_calls import (
    compact_to_one_file,
    delete,
    put,
    read_columns,
    read_times,
    read_values,
    scan_keys,
    scan_pieces,
)
from rowkey.cells import Cell, CellType, Family
from rowkey.engines import ENGINES, CellCondition, TableSpec, open_engine
from rowkey.errors import Closed, InvalidArgument, NotSupported

if TYPE_CHECKING:
    from engines.benches import Bench
    from rowkey.engines import Store

MIB = 2**20


def test_a_created_table_has_the_families_splits_and_attributes_of_its_spec(bench: Bench) -> None:
    family = Family("d", versions=3, ttl_s=60, min_versions=1, keep_deleted="TTL", bloom="ROWCOL")
    made = bench.create([family, Family("e")], (b"g", b"p"), {"word": "value"})
    spec = bench.reopen(made).spec
    assert (family, Family("e")) == spec.families
    assert (b"g", b"p") == spec.splits
    assert {"word": "value"} == dict(spec.attributes)


def test_a_split_gives_a_region_another_opening_id(bench: Bench) -> None:
    """A region keeps its opening id while it is written, and gets another one by a split."""
    store = bench.create([Family("d")], (b"g",))
    first = store.list_open_regions()
    put(store, b"a")
    then = store.list_open_regions(5.0)
    assert [one.opening_id for one in first] == [one.opening_id for one in then]
    assert [1, 0] == [new.writes - old.writes for old, new in zip(first, then, strict=True)]
    assert [(one.start, one.writes, one.reads) for one in store.list_regions()] == [
        (one.start, one.writes, one.reads) for one in store.list_open_regions()
    ]
    store.split(b"c")
    assert {one.opening_id for one in first[1:]} == {
        one.opening_id
        for one in store.list_open_regions()
        if one.opening_id in {old.opening_id for old in first}
    }


def test_a_dropped_table_is_no_longer_listed(bench: Bench) -> None:
    """Tables are listed in order, and a dropped one is gone with its rows."""
    stores = [bench.create([Family("d")]) for _ in range(2)]
    put(stores[0], b"r")
    names = sorted(store.spec.name for store in stores)
    assert names == bench.engine.list_tables()
    spec = stores[0].spec
    bench.engine.drop_table(spec.name)
    assert [stores[1].spec.name] == bench.engine.list_tables()
    assert [] == scan_keys(bench.engine.create_table(spec))


def test_creating_an_existing_table_and_opening_a_missing_one_are_refused(
    bench: Bench, store: Store
) -> None:
    with pytest.raises(InvalidArgument, match="exists already"):
        bench.engine.create_table(store.spec)
    with pytest.raises(InvalidArgument, match="no table 'none'"):
        bench.engine.open_table("none")
    with pytest.raises(InvalidArgument, match="no table 'none'"):
        bench.engine.drop_table("none")


@pytest.mark.parametrize(
    "spec",
    [
        TableSpec("a b", (Family("d"),)),
        TableSpec("t", ()),
        TableSpec("t", (Family("d"), Family("d"))),
        TableSpec("t", (Family("a:b"),)),
        TableSpec("t", (Family("d", versions=0),)),
        TableSpec("t", (Family("d"),), (b"b", b"a")),
        TableSpec("t", (Family("d"),), (b"k" * 32_767,)),
        TableSpec("t", (Family("d"),), (), {"SPLIT_POLICY": "Mine"}),
        TableSpec("t", (Family("d"),), (), {"MAX_FILESIZE": "1"}),
    ],
)
def test_an_invalid_table_spec_creates_no_table(spec: TableSpec, bench: Bench) -> None:
    """A bad name, family, split or size is refused, and no table is made."""
    before = bench.engine.list_tables()
    with pytest.raises(InvalidArgument):
        bench.engine.create_table(spec)
    assert before == bench.engine.list_tables()


def test_an_attribute_that_an_engine_does_not_support_is_refused(bench: Bench) -> None:
    """An attribute that an engine does not support is refused, with the reason."""
    for word, reason in bench.engine.unsupported_features.items():
        with pytest.raises(NotSupported, match=reason):
            bench.engine.create_table(TableSpec("t", (Family("d", **{word: True}),)))  # type: ignore[arg-type]


def test_rows_regions_and_counters_survive_reopening(bench: Bench) -> None:
    """Rows, regions and counters are there when the engine is opened again."""
    store = bench.create([Family("d", versions=2)], (b"m",))
    put(store, b"a", at=1)
    put(store, b"z", at=1)
    delete(store, b"z", CellType.DELETE, 1, b"q")
    store.increment(b"a", [("d", b"n", 4)])
    store.split(b"t")
    expected = (scan_pieces(store, raw=True, versions=9), store.list_regions())
    again = bench.reopen(store)
    assert expected == (scan_pieces(again, raw=True, versions=9), expected[1])
    starts = [(region.start, region.writes) for region in again.list_regions()]
    assert [(region.start, region.writes) for region in expected[1]] == starts


def test_altered_family_attributes_apply_to_the_next_read(
    bench: Bench, versioned_store: Store
) -> None:
    """Altered attributes apply to the next read, a family can be added, and none is dropped."""
    for at in (1, 2, 3):
        put(versioned_store, b"r", at=at)
    versioned_store.alter_families([Family("d", versions=2), Family("e")])
    assert [3, 2] == read_times(versioned_store, b"r", versions=9)
    put(versioned_store, b"r", at=1, family="e")
    assert [("d", b"q"), ("e", b"q")] == read_columns(versioned_store, b"r")
    again = bench.reopen(versioned_store)
    assert {"d": 2, "e": 1} == {family.name: family.versions for family in again.spec.families}
    assert [("d", b"q"), ("e", b"q")] == read_columns(again, b"r")


def test_an_invalid_alteration_is_refused_and_the_family_unchanged(store: Store) -> None:
    """Attributes that no table takes are refused, and the family stays as it is."""
    with pytest.raises(InvalidArgument):
        store.alter_families([Family("e"), Family("d", versions=0)])
    assert (Family("d"),) == store.spec.families


def test_replacing_table_attributes_removes_the_earlier_ones(bench: Bench, store: Store) -> None:
    store.replace_attributes({"a": "1"})
    store.replace_attributes({"b": "2"})
    assert {"b": "2"} == dict(bench.reopen(store).spec.attributes)


def test_a_region_counts_each_mutation_as_a_write_and_each_row_as_a_read(bench: Bench) -> None:
    """A mutation is one write, and each row read, found or not, is one read."""
    store = bench.create([Family("d")], (b"g", b"p"))
    for row in (b"a", b"g", b"h", b"z"):
        put(store, row)
    store.increment(b"z", [("d", b"n", 1)])
    store.append(b"z", [("d", b"s", b"x")])
    put(store, b"z")
    assert not store.check_and_mutate(
        b"a", CellCondition("d", b"q", "=", b"x"), [Cell("d", b"q", 1)]
    )
    assert [1, 2, 4] == [region.writes for region in store.list_regions()]
    store.get([b"a", b"b", b"g"])
    scan_keys(store, b"g")
    scan_keys(store, limit=1)
    assert [3, 3, 1] == [region.reads for region in store.list_regions()]
    bounds = [(region.start, region.stop) for region in store.list_regions()]
    assert [(b"", b"g"), (b"g", b"p"), (b"p", b"")] == bounds


def test_regions_continue_to_count_after_a_split(bench: Bench) -> None:
    """The regions before and after a split key continue to count."""
    store = bench.create([Family("d")], (b"m",))
    store.split(b"t")
    for row in (b"a", b"s", b"t"):
        put(store, row)
    assert [(b"", 1), (b"m", 1), (b"t", 1)] == [(r.start, r.writes) for r in store.list_regions()]
    assert (b"m", b"t") == store.spec.splits


@pytest.mark.parametrize("at", [b"", b"m", b"k" * 32_767])
def test_a_split_at_the_start_of_a_region_is_refused(at: bytes, bench: Bench) -> None:
    """A split at the start of a region, or at an empty or too long key, is refused."""
    store = bench.create([Family("d")], (b"m",))
    with pytest.raises(InvalidArgument):
        store.split(at)
    assert 2 == len(store.list_regions())


def test_a_region_above_the_table_size_splits_in_the_middle_of_its_bytes(bench: Bench) -> None:
    """A region above the table's size splits at the row in the middle of its bytes."""
    words = {"SPLIT_POLICY": "ConstantSizeRegionSplitPolicy", "MAX_FILESIZE": str(2 * MIB)}
    store = bench.create([Family("d")], (), words)
    rows = [f"r{number:02}".encode() for number in range(24)]
    for row in rows:
        put(store, row, value=bytes(MIB // 8))
    regions = store.list_regions()
    assert 2 <= len(regions) <= 4
    assert 24 == sum(region.writes for region in regions)
    assert rows == scan_keys(store)
    assert all(region.start in {b"", *rows[1:]} for region in regions)


def test_a_region_of_one_row_is_never_split(bench: Bench) -> None:
    """A region that holds one row stays whole, however large the row."""
    words = {"SPLIT_POLICY": "ConstantSizeRegionSplitPolicy", "MAX_FILESIZE": str(2 * MIB)}
    store = bench.create([Family("d")], (), words)
    for number in range(5):
        put(store, b"r", str(number).encode(), value=bytes(MIB))
    assert 1 == len(store.list_regions())


def test_a_flush_and_a_minor_compaction_change_no_read(versioned_store: Store) -> None:
    """Reads, raw ones too, are equal before and after a flush and a minor compaction."""
    for at in (1, 2, 3, 4, 5):
        put(versioned_store, b"r", at=at)
    delete(versioned_store, b"r", CellType.DELETE, 5, b"q")
    expected = (
        read_times(versioned_store, b"r", versions=9),
        read_times(versioned_store, b"r", versions=9, raw=True),
    )
    for call in (versioned_store.flush, lambda: versioned_store.compact(major=False)):
        call()
        assert expected == (
            read_times(versioned_store, b"r", versions=9),
            read_times(versioned_store, b"r", versions=9, raw=True),
        )
    compact_to_one_file(versioned_store)
    assert expected[0] == read_times(versioned_store, b"r", versions=9)


def test_only_persistent_engines_use_bytes_on_disk(bench: Bench, store: Store) -> None:
    """A persistent engine uses bytes on disk, and the others use none."""
    put(store, b"r", value=bytes(MIB))
    store.flush()
    assert bench.engine.is_persistent == (store.measure_size_bytes() > 0)


def test_a_closed_table_or_engine_raises_an_error(bench: Bench, store: Store) -> None:
    """A closed table and a closed engine raise an error, and closing twice is harmless."""
    for closed in (store, bench.engine):
        closed.close()
        closed.close()
    for call in (lambda: store.get([b"r"]), lambda: put(store, b"r"), bench.engine.list_tables):
        with pytest.raises(Closed, match="closed"):
            call()
    bench.engine = bench.open()


def test_a_dropped_table_raises_an_error_in_every_open_store(bench: Bench, store: Store) -> None:
    bench.engine.drop_table(store.spec.name)
    with pytest.raises((Closed, InvalidArgument)):
        store.get([b"r"])


def test_an_engine_is_opened_by_the_scheme_of_its_url() -> None:
    """An engine is opened by the scheme of its URL, and an unknown scheme is refused."""
    with open_engine("memory:") as engine:
        assert "memory" == engine.name
    for url in ("memory", "cassandra:x", ""):
        with pytest.raises(InvalidArgument, match="memory:") as refused:
            open_engine(url)
        assert all(f"{kind.scheme}:" in str(refused.value) for kind in ENGINES.values())


def test_memory_engines_of_the_same_name_share_their_tables() -> None:
    spec = TableSpec("shared", (Family("d"),))
    with open_engine("memory:test-shared") as one, open_engine("memory:test-shared") as other:
        put(one.create_table(spec), b"r", at=1)
        assert [b"v"] == read_values(other.open_table("shared"), b"r")
        with open_engine("memory:") as own:
            assert [] == own.list_tables()
        other.drop_table("shared")
        assert [] == one.list_tables()
