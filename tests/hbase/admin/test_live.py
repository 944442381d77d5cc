"""Administration of a real cluster, compared with the official client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import NEWEST_CELLS
from rowkey.errors import CatalogMismatch, InvalidArgument
from rowkey.hbase.admin import Admin
from rowkey.hbase.admin.procedures import count_regions
from rowkey.hbase.errors import (
    ConstraintViolated,
    DoNotRetryIO,
    InvalidFamilyOperation,
    InvalidRequest,
    NamespaceExist,
    NamespaceNotFound,
    OperationTimedOut,
    SnapshotProblem,
    TableExists,
    TableNotDisabled,
    TableNotEnabled,
    TableNotFound,
    UnknownRegion,
)
from rowkey.hbase.requests.tables import TableState
from rowkey.hbase.settings import Deadline
from rowkey.hbase.table import HBaseTable
from rowkey.hbase.wire.names import ServerName
from rowkey.progress import Progress

if TYPE_CHECKING:
    from cluster import Cluster, Judge

FULL = Family(
    "all", versions=3, min_versions=2, ttl_s=86_400, keep_deleted="TTL", block_size=8_192,
    block_cache=False, bloom="ROWPREFIX_FIXED_LENGTH(3)", compression="GZ",
    compression_compact="GZ", encoding="FAST_DIFF", in_memory=True, in_memory_compaction="EAGER",
    replication_scope=1, mob=True, mob_threshold=1_000, compress_tags=False,
    cache_data_on_write=True, cache_index_on_write=True, cache_blooms_on_write=True,
    evict_on_close=True, prefetch=True, new_version_behavior=True, dfs_replication=2,
)  # fmt: skip
"""A family without any default."""

WORDS = {
    "MAX_FILESIZE": "4194304", "MEMSTORE_FLUSHSIZE": "1048576", "DURABILITY": "ASYNC_WAL",
    "READONLY": "false", "REGION_REPLICATION": "1", "SPLIT_ENABLED": "true",
    "MERGE_ENABLED": "true", "COMPACTION_ENABLED": "true", "NORMALIZATION_ENABLED": "false",
    "NORMALIZER_TARGET_REGION_COUNT": "3", "NORMALIZER_TARGET_REGION_SIZE_MB": "100",
    "REGION_MEMSTORE_REPLICATION": "false", "PRIORITY": "3",
    "SPLIT_POLICY": "DisabledRegionSplitPolicy",
    "FLUSH_POLICY": "org.apache.hadoop.hbase.regionserver.FlushAllLargeStoresPolicy",
    "rowkey.n": "16", "owner": "é",
}  # fmt: skip
SETTINGS = {"hbase.hstore.blockingStoreFiles": "20"}
UNIQUE = f"m{uuid4().hex[:10]}"
NONE = f"{UNIQUE}_none"


@pytest.fixture(scope="module")
def name(admin: Admin) -> Iterator[str]:
    """Return the name of a table of three regions in a namespace of its own."""
    name = f"{UNIQUE}:t"
    told: list[Progress] = []
    made = admin.create_table(
        name, [FULL, Family("d")], [b"g", b"p"], WORDS, configuration=SETTINGS,
        progress=told.append,
    )  # fmt: skip
    assert (FULL, Family("d")) == made.families
    assert Progress("regions", 3, 3, "regions") == told[-1]
    yield name
    admin.delete_table(name, disable=True)
    admin.delete_namespace(UNIQUE)


def test_a_table_with_every_attribute_is_described_as_by_the_official_client(
    admin: Admin, hbase_judge: Judge, name: str
) -> None:
    """A table with every attribute set is described the same by us and the official client."""
    described = admin.describe_table(name)
    policy = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy"
    assert {**WORDS, **SETTINGS, "SPLIT_POLICY": policy} == described.attributes
    assert {} == described.other_attributes
    told = hbase_judge.describe(name)
    expected = {
        "VERSIONS": "3", "MIN_VERSIONS": "2", "TTL": "86400", "KEEP_DELETED_CELLS": "TTL",
        "BLOCKSIZE": "8192", "BLOCKCACHE": "false", "BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH",
        "COMPRESSION": "GZ", "COMPRESSION_COMPACT": "GZ", "DATA_BLOCK_ENCODING": "FAST_DIFF",
        "IN_MEMORY": "true", "IN_MEMORY_COMPACTION": "EAGER", "REPLICATION_SCOPE": "1",
        "IS_MOB": "true", "MOB_THRESHOLD": "1000", "COMPRESS_TAGS": "false",
        "CACHE_DATA_ON_WRITE": "true", "CACHE_INDEX_ON_WRITE": "true",
        "CACHE_BLOOMS_ON_WRITE": "true", "EVICT_BLOCKS_ON_CLOSE": "true",
        "PREFETCH_BLOCKS_ON_OPEN": "true", "NEW_VERSION_BEHAVIOR": "true", "DFS_REPLICATION": "2",
    }  # fmt: skip
    assert expected == {word: told.families["all"].get(word) for word in expected}
    assert {"RowPrefixBloomFilter.prefix_length": "3"} == told.settings["all"]
    assert [b"", b"g", b"p"] == [region.start for region in hbase_judge.regions(name)]


def test_a_table_is_listed_only_in_its_namespace(admin: Admin, name: str) -> None:
    assert [name] == admin.list_tables(UNIQUE)
    assert name in admin.list_tables()
    assert (True, False) == (admin.has_table(name), admin.has_table(NONE))
    assert {UNIQUE, "default", "hbase"} <= set(admin.list_namespaces())
    with pytest.raises(NamespaceNotFound):
        admin.list_tables(NONE)


def test_altering_families_keeps_unknown_attributes(
    admin: Admin, hbase_judge: Judge, name: str
) -> None:
    """Families are changed, added and removed, and unknown attributes are kept."""
    hbase_judge.alter(name, {"d": {"STORAGE_POLICY": "HOT"}})
    changed = Family("d", ttl_s=100, bloom="ROWCOL")
    assert {"d": {"STORAGE_POLICY": "HOT"}} == admin.alter_families(
        name, [changed, Family("e")]
    ).other_attributes
    assert (FULL, changed, Family("e")) == admin.describe_table(name).families
    assert "100" == hbase_judge.describe(name).families["d"]["TTL"]
    admin.remove_families(name, ["e"])
    admin.alter_families(name, [Family("all")])
    assert (Family("all"), changed) == admin.describe_table(name).families


def test_setting_attributes_keeps_those_of_other_clients(
    admin: Admin, hbase_judge: Judge, name: str
) -> None:
    """Attributes are set and removed, and those of other clients stay."""
    hbase_judge.annotate(name, {"somebody.else": "1"})
    told = admin.set_attributes(name, {"rowkey.n": None, "rowkey.m": "3", "SPLIT_POLICY": None})
    expected = {**WORDS, **SETTINGS, "somebody.else": "1", "rowkey.m": "3"}
    del expected["rowkey.n"], expected["SPLIT_POLICY"]
    assert expected == told.attributes
    words = hbase_judge.describe(name).words
    assert expected == {word: words.get(word) for word in expected}


def test_a_change_by_another_client_during_a_create_is_reported(
    admin: Admin, hbase_judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change by another client during a create is reported as a difference."""
    name = f"{UNIQUE}_drift"
    finish = Admin._wait_for_procedure

    def and_then_changed(*given: Any, **more: Any) -> None:
        finish(*given, **more)
        monkeypatch.undo()
        hbase_judge.alter(name, {"d": {"VERSIONS": "7"}})

    monkeypatch.setattr(Admin, "_wait_for_procedure", and_then_changed)
    with pytest.raises(
        CatalogMismatch, match=r"families\.d\.versions: requested 1, but the table has 7"
    ):
        admin.create_table(name, [Family("d")])
    admin.delete_table(name, disable=True)


def test_a_create_that_times_out_names_its_running_procedure(
    admin: Admin, hbase_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A create that times out names its procedure, which continues until it is done."""
    name = f"{UNIQUE}_late"
    finish = Admin._wait_for_procedure

    def without_patience(
        self: Admin, path: str, method: str, number: int, _: Deadline, *more: Any
    ) -> None:
        finish(self, path, method, number, Deadline.from_now(0.01), *more)

    monkeypatch.setattr(Admin, "_wait_for_procedure", without_patience)
    with pytest.raises(
        OperationTimedOut, match=rf"{name}: procedure \d+ \(CreateTable\) is still running"
    ):
        admin.create_table(name, [Family("d")], [bytes([n]) for n in range(1, 4)])
    monkeypatch.undo()

    def is_made() -> bool:
        with suppress(TableNotFound):
            return admin.is_table_enabled(name)
        return False

    hbase_cluster.wait(is_made, f"{name} is made")
    admin.delete_table(name, disable=True)
    assert not admin.has_table(name)


def test_splitting_compacting_and_merging_regions_loses_no_row(
    admin: Admin, hbase_cluster: Cluster, hbase_judge: Judge, name: str
) -> None:
    """Regions with rows are split, compacted and merged without losing a row."""
    rows = [RowCells(bytes([at]), [Cell("d", b"q", 1_000, b"v")]) for at in b"ahlqz"]
    admin.set_attributes(
        name, {"SPLIT_POLICY": None}
    )  # one that never splits does not when asked either
    admin.alter_families(name, [Family("d")])
    hbase_judge.mutate(name, rows)
    admin.flush_table(name)
    assert [1, 1, 1] == [count.load.file_count for count in admin.get_counters(name)]
    for same in (b"", b"b"):
        with pytest.raises(InvalidArgument, match="expected a row key in the next region"):
            admin.merge_regions(name, b"a", same)
    with pytest.raises(InvalidArgument, match="the regions are not neighbors"):
        admin.merge_regions(name, b"z", b"a")
    merged = admin.merge_regions(name, b"h", b"a")
    assert (b"", b"p") == (merged.start, merged.stop)
    admin.compact_table(name, major=True)  # a region that refers to others' files is not divided
    hbase_cluster.wait(lambda: not hbase_cluster.references(name), "nothing refers to others")
    left, right = admin.split_region(name, b"g")
    assert (b"", b"g", b"g", b"p") == (left.start, left.stop, right.start, right.stop)
    with pytest.raises(InvalidArgument, match=r"a region starts at b'g' already"):
        admin.split_region(name, b"g")
    admin.compact_table(name, major=True)
    assert [b"", b"g", b"p"] == [region.start for region in hbase_judge.regions(name)]
    found = hbase_judge.get(name, [row for row, _ in rows], NEWEST_CELLS)
    assert [cells for _, cells in rows] == [cells for _, cells in found]


def test_a_region_moves_only_to_a_live_server(
    admin: Admin, hbase_cluster: Cluster, name: str
) -> None:
    """A region moves to the given server, and a server that is not live is refused."""
    region = admin.list_regions(name)[0]
    target = next(one for one in admin.get_cluster_status().servers if one != region.server)
    moved = admin.move_region(region, ServerName(target.host, target.port))
    assert (region.name, target) == (moved.name, moved.server)
    assert str(target) == hbase_cluster.judge.regions(name)[0].server
    assert moved.server == admin.move_region(moved, target).server
    moved = admin.move_region(region)
    assert (region.name, True) == (moved.name, moved.server != target)
    with pytest.raises(InvalidArgument, match="nowhere,1,0 is not a live region server"):
        admin.move_region(moved, ServerName("nowhere", 1))
    gone = moved.name.replace(moved.name[-34:], b".0123456789abcdef0123456789abcdef.")
    with pytest.raises(UnknownRegion):
        admin.move_region(replace(moved, name=gone))


def test_an_increment_counts_as_a_write_and_as_a_read(
    admin: Admin, hbase_cluster: Cluster, hbase_judge: Judge, name: str
) -> None:
    """Mutations count as writes, rows and misses as reads, and increments as both."""
    admin.alter_families(name, [Family("d")])
    before = {count.counting_key: count for count in admin.get_counters(name)}
    rows = [b"a", *(b"b%d" % n for n in range(7))]
    hbase_judge.mutate(name, [RowCells(row, [Cell("d", b"q", 1, b"v")]) for row in rows])
    hbase_judge.increment(name, b"h", [("d", b"n", 1), ("d", b"m", 2)])
    hbase_judge.get(name, [b"z", b"none"], NEWEST_CELLS)
    assert 8 == len(hbase_judge.scan(name, NEWEST_CELLS, (b"a", True), (b"b9", False)))
    after = admin.get_counters(name)
    assert [(8, 8), (1, 2), (0, 1)] == [
        (one.writes - before[one.counting_key].writes, one.reads - before[one.counting_key].reads)
        for one in after
    ]
    told = [(region.writes, region.reads) for region in hbase_judge.regions(name)]
    assert told == [(count.writes, count.reads) for count in after]
    keys = [
        one.counting_key for one in after
    ]  # a report is half a second old at most, and then some
    hbase_cluster.wait(
        lambda: keys == [one.counting_key for one in admin.get_reported_counters(name)],
        "the master has heard of all regions",
    )


def test_a_cloned_snapshot_has_the_content_of_its_table(
    admin: Admin, hbase_judge: Judge, name: str
) -> None:
    """A cloned snapshot has the content of its table and never overwrites a table."""
    taken, copy = f"{UNIQUE}_s", f"{UNIQUE}:copy"
    admin.take_snapshot(name, taken)
    assert name == admin.list_snapshots()[taken]
    with pytest.raises(SnapshotProblem, match="already"):
        admin.take_snapshot(name, taken)
    with pytest.raises(SnapshotProblem, match="doesn't exist"):
        admin.take_snapshot(NONE, f"{taken}2")
    with pytest.raises(TableExists):
        admin.clone_snapshot(taken, name)
    admin.clone_snapshot(taken, copy)
    assert hbase_judge.scan(name, NEWEST_CELLS) == hbase_judge.scan(copy, NEWEST_CELLS)
    assert admin.describe_table(name).families == admin.describe_table(copy).families
    admin.delete_table(copy, disable=True)
    admin.delete_snapshot(taken)
    assert taken not in admin.list_snapshots()
    with pytest.raises(SnapshotProblem):
        admin.delete_snapshot(taken)
    with pytest.raises(SnapshotProblem):
        admin.clone_snapshot(taken, copy)


def test_invalid_state_changes_of_a_table_are_refused(admin: Admin, name: str) -> None:
    """A table is disabled, enabled and truncated, and invalid state changes are refused."""
    for verb in (admin.delete_table, admin.truncate_table):
        with pytest.raises(TableNotDisabled, match="Disable the table first"):
            verb(name)
    with pytest.raises(TableNotDisabled, match="is enabled already"):
        admin.enable_table(name)
    admin.disable_table(name)
    assert (TableState.DISABLED, False) == (
        admin.get_table_state(name),
        admin.is_table_enabled(name),
    )
    with pytest.raises(TableNotEnabled, match="is disabled already"):
        admin.disable_table(name)
    with pytest.raises(TableNotEnabled):
        admin.flush_table(name)
    admin.truncate_table(name)
    assert ([], 3) == (
        list(HBaseTable(admin._caller, name).scan().iter_row_cells()),
        len(admin.list_regions(name)),
    )
    admin.truncate_table(name, keep_splits=False, disable=True)
    assert 1 == len(admin.list_regions(name))
    admin.disable_table(name)
    admin.enable_table(name)
    assert admin.is_table_enabled(name)


@pytest.mark.parametrize(
    "verb",
    [
        "get_table_state",
        "describe_table",
        "enable_table",
        "disable_table",
        "truncate_table",
        "delete_table",
        "list_regions",
        "flush_table",
        "compact_table",
        "get_counters",
        "count_open_regions",
        "get_reported_counters",
    ],
)
def test_every_operation_on_an_unknown_table_raises_table_not_found(
    admin: Admin, verb: str
) -> None:
    with pytest.raises(TableNotFound, match=f"{NONE}.* Check the name, or create the table"):
        getattr(admin, verb)(NONE)


CALLS: list[tuple[Callable[[Admin, str], object], type[InvalidRequest], str]] = [
    (lambda admin, name: admin.create_table(name, [Family("d")]), TableExists, "delete that table"),
    (
        lambda admin, _: admin.create_table(NONE, [Family("d", compression="LZO")]),
        DoNotRetryIO,
        "LzoC",
    ),
    (lambda admin, _: admin.split_region(NONE, b"k"), TableNotFound, "Check the name"),
    (lambda admin, _: admin.alter_families(NONE, [Family("d")]), TableNotFound, "Check the name"),
    (lambda admin, _: admin.set_attributes(NONE, {"a.b": "1"}), TableNotFound, "Check the name"),
    (lambda admin, _: admin.remove_families(NONE, ["d"]), TableNotFound, "Check the name"),
    (lambda admin, name: admin.remove_families(name, ["no"]), InvalidFamilyOperation, "'no'"),
    (
        lambda admin, name: admin.remove_families(
            name, [f.name for f in admin.describe_table(name).families]
        ),
        InvalidFamilyOperation,
        "are all families of the table",
    ),
    (lambda admin, name: admin.set_attributes(name, {"SPLIT_POLICY": "a.B"}), DoNotRetryIO, "a.B"),
    (lambda admin, _: admin.create_namespace(UNIQUE), NamespaceExist, "already exists"),
    (lambda admin, _: admin.delete_namespace(NONE), NamespaceNotFound, "Create the namespace"),
    (lambda admin, _: admin.delete_namespace(UNIQUE), ConstraintViolated, "Only empty"),
    (lambda admin, _: admin.delete_namespace("hbase"), ConstraintViolated, "Reserved"),
]


@pytest.mark.parametrize(("call", "kind", "message"), CALLS)
def test_each_error_of_the_master_has_a_class_and_a_clear_message(
    admin: Admin,
    name: str,
    call: Callable[[Admin, str], object],
    kind: type[InvalidRequest],
    message: str,
) -> None:
    """Each error of the master has the class that says what to do, and a clear message."""
    with pytest.raises(kind, match=message):
        call(admin, name)


def test_the_cluster_status_agrees_with_the_official_client(
    admin: Admin, hbase_cluster: Cluster
) -> None:
    """The master's status agrees with the official client."""
    status, told = admin.get_cluster_status(), hbase_cluster.judge.status()
    assert told.master == str(status.master)
    assert sorted(told.live) == sorted(str(load.server) for load in status.server_loads)
    assert set(status.servers) == {load.server for load in status.server_loads}
    assert sorted(told.dead) == sorted(map(str, status.dead_servers))
    assert 0 < sum(len(load.regions) for load in status.server_loads)
    assert status.tables["hbase:meta"] == (1, 1)
    assert status.version.startswith("2.")


def test_setting_a_switch_returns_its_previous_state(admin: Admin) -> None:
    """Switches return their previous state and can be restored."""
    balanced = admin.get_cluster_status().is_balancer_on
    assert balanced == admin.set_balancer(balanced)
    was = admin.set_splits_and_merges(True, False)
    assert (True, False) == admin.set_splits_and_merges(*was)
    assert was == admin.set_splits_and_merges(*was)


def test_a_disabled_table_has_the_same_number_of_regions(admin: Admin, name: str) -> None:
    """A disabled table has the same number of regions, and an unknown table has none."""
    caller, count = admin._caller, len(admin.list_regions(name))
    found = [count_regions(caller, name, Deadline.from_now(9))]
    admin.disable_table(name)
    found += [count_regions(caller, one, Deadline.from_now(9)) for one in (name, NONE)]
    admin.enable_table(name)
    assert [count, count, 0] == found


def test_the_state_of_the_table_decides_about_an_unknown_procedure(
    admin: Admin, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the master does not know a procedure, the state of the table decides."""
    finish = Admin._wait_for_procedure

    def of_nobody(
        self: Admin, path: str, method: str, number: int, *more: Any, **others: Any
    ) -> None:
        finish(self, path, method, number, *more, **others)
        finish(self, path, method, 2**62, *more, **others)

    monkeypatch.setattr(Admin, "_wait_for_procedure", of_nobody)
    admin.disable_table(name)
    admin.enable_table(name)
    again = f"{UNIQUE}_again"
    assert again == admin.create_table(again, [Family("d"), Family("e")]).name
    admin.remove_families(again, ["e"])
    admin.set_attributes(again, {"a.b": "1"})
    admin.disable_table(again)  # a delete that broke off after this is called again
    admin.delete_table(again, disable=True)
    assert not admin.has_table(again)
