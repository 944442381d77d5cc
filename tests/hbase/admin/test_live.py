"""Administration of a real cluster: one table of a few regions, judged by the official client."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import ALL
from rowkey.errors import DriftError, Refused
from rowkey.hbase.admin import Admin
from rowkey.hbase.admin.procedures import count_regions
from rowkey.hbase.errors import (
    AskedWrongly,
    ConstraintViolated,
    DoNotRetryIO,
    InvalidFamilyOperation,
    NamespaceExist,
    NamespaceNotFound,
    OutOfTime,
    SnapshotProblem,
    TableExists,
    TableNotDisabled,
    TableNotEnabled,
    TableNotFound,
    UnknownRegion,
)
from rowkey.hbase.requests.table_state import TableState
from rowkey.hbase.settings import Deadline
from rowkey.hbase.table import Table
from rowkey.hbase.wire.names import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cluster import Cluster, Judge

FULL = Family(
    "all", versions=3, min_versions=2, ttl_s=86_400, keep_deleted="TTL", block_size=8_192,
    block_cache=False, bloom="ROWPREFIX_FIXED_LENGTH(3)", compression="GZ",
    compression_compact="GZ", encoding="FAST_DIFF", in_memory=True, in_memory_compaction="EAGER",
    replication_scope=1, mob=True, mob_threshold=1_000, compress_tags=False,
    cache_data_on_write=True, cache_index_on_write=True, cache_blooms_on_write=True,
    evict_on_close=True, prefetch=True, new_version_behavior=True, dfs_replication=2,
)  # fmt: skip
"""Nothing of it is the default."""

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
    """One table of three regions for the tests of this file, in a namespace of its own."""
    name = f"{UNIQUE}:t"
    told: list[tuple[int, int]] = []
    made = admin.create(
        name, [FULL, Family("d")], [b"g", b"p"], WORDS, configuration=SETTINGS,
        progress=lambda *now: told.append(now),
    )  # fmt: skip
    assert (FULL, Family("d")) == made.families
    assert (3, 3) == told[-1]
    yield name
    admin.delete(name, disable=True)
    admin.delete_namespace(UNIQUE)


def test_all_attributes(admin: Admin, hbase_judge: Judge, name: str) -> None:
    """A table with every attribute set is what was asked for, to us and to the official client."""
    described = admin.describe(name)
    policy = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy"
    assert {**WORDS, **SETTINGS, "SPLIT_POLICY": policy} == described.attributes
    assert {} == described.others
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


def test_listing(admin: Admin, name: str) -> None:
    """A table is found in its namespace, and nowhere else."""
    assert [name] == admin.tables(UNIQUE)
    assert name in admin.tables()
    assert (True, False) == (admin.exists(name), admin.exists(NONE))
    assert {UNIQUE, "default", "hbase"} <= set(admin.namespaces())
    with pytest.raises(NamespaceNotFound):
        admin.tables(NONE)


def test_alter(admin: Admin, hbase_judge: Judge, name: str) -> None:
    """Families are changed, added and removed; words of them that we do not know are kept."""
    hbase_judge.alter(name, {"d": {"STORAGE_POLICY": "HOT"}})
    changed = Family("d", ttl_s=100, bloom="ROWCOL")
    assert {"d": {"STORAGE_POLICY": "HOT"}} == admin.alter(name, [changed, Family("e")]).others
    assert (FULL, changed, Family("e")) == admin.describe(name).families
    assert "100" == hbase_judge.describe(name).families["d"]["TTL"]
    admin.remove_families(name, ["e"])
    admin.alter(name, [Family("all")])
    assert (Family("all"), changed) == admin.describe(name).families


def test_annotate(admin: Admin, hbase_judge: Judge, name: str) -> None:
    """Words are set and removed; those that are not named stay, also what another client wrote."""
    hbase_judge.annotate(name, {"somebody.else": "1"})
    told = admin.annotate(name, {"rowkey.n": None, "rowkey.m": "3", "SPLIT_POLICY": None})
    expected = {**WORDS, **SETTINGS, "somebody.else": "1", "rowkey.m": "3"}
    del expected["rowkey.n"], expected["SPLIT_POLICY"]
    assert expected == told.attributes
    words = hbase_judge.describe(name).words
    assert expected == {word: words.get(word) for word in expected}


def test_drift(admin: Admin, hbase_judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another client changes a table while it is made, the difference is told."""
    name = f"{UNIQUE}_drift"
    finish = Admin._finish

    def and_then_changed(*given: Any, **more: Any) -> None:
        finish(*given, **more)
        monkeypatch.undo()
        hbase_judge.alter(name, {"d": {"VERSIONS": "7"}})

    monkeypatch.setattr(Admin, "_finish", and_then_changed)
    with pytest.raises(DriftError, match=r"families\.d\.versions: declared 1, remembered 7"):
        admin.create(name, [Family("d")])
    admin.delete(name, disable=True)


def test_deadline(admin: Admin, hbase_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A create that is not done in time names its procedure, which goes on until it is done."""
    name = f"{UNIQUE}_late"
    finish = Admin._finish

    def without_patience(
        self: Admin, path: str, method: str, number: int, _: Deadline, *more: Any
    ) -> None:
        finish(self, path, method, number, Deadline.after(0.01), *more)

    monkeypatch.setattr(Admin, "_finish", without_patience)
    with pytest.raises(OutOfTime, match=rf"{name}: CreateTable is procedure \d+, which goes on"):
        admin.create(name, [Family("d")], [bytes([n]) for n in range(1, 4)])
    monkeypatch.undo()

    def is_made() -> bool:
        with suppress(TableNotFound):
            return admin.is_enabled(name)
        return False

    hbase_cluster.wait(is_made, f"{name} is made")
    admin.delete(name, disable=True)
    assert not admin.exists(name)


def test_split_merge_flush_compact(
    admin: Admin, hbase_cluster: Cluster, hbase_judge: Judge, name: str
) -> None:
    """Regions with rows in them are divided, compacted and joined again, and nothing is lost."""
    rows = [RowCells(bytes([at]), [Cell("d", b"q", 1_000, b"v")]) for at in b"ahlqz"]
    admin.annotate(name, {"SPLIT_POLICY": None})  # one that never splits does not when asked either
    admin.alter(name, [Family("d")])
    hbase_judge.mutate(name, rows)
    admin.flush(name)
    assert [1, 1, 1] == [count.load.files for count in admin.counters(name)]
    for same in (b"", b"b"):
        with pytest.raises(Refused, match="expected the next region"):
            admin.merge(name, b"a", same)
    with pytest.raises(Refused, match="a region lies between"):
        admin.merge(name, b"z", b"a")
    merged = admin.merge(name, b"h", b"a")
    assert (b"", b"p") == (merged.start, merged.stop)
    admin.compact(name, major=True)  # a region that refers to others' files is not divided
    hbase_cluster.wait(lambda: not hbase_cluster.references(name), "nothing refers to others")
    left, right = admin.split(name, b"g")
    assert (b"", b"g", b"g", b"p") == (left.start, left.stop, right.start, right.stop)
    with pytest.raises(Refused, match=r"a region begins at b'g' already"):
        admin.split(name, b"g")
    admin.compact(name, major=True)
    assert [b"", b"g", b"p"] == [region.start for region in hbase_judge.regions(name)]
    found = hbase_judge.get(name, [row for row, _ in rows], ALL)
    assert [cells for _, cells in rows] == [cells for _, cells in found]


def test_move(admin: Admin, hbase_cluster: Cluster, name: str) -> None:
    """A region goes where it is sent; a server that is not live is refused, not guessed at."""
    region = admin.regions(name)[0]
    target = next(one for one in admin.status().servers if one != region.server)
    moved = admin.move(region, Server(target.host, target.port))
    assert (region.name, target) == (moved.name, moved.server)
    assert str(target) == hbase_cluster.judge.regions(name)[0].server
    assert moved.server == admin.move(moved, target).server
    moved = admin.move(region)
    assert (region.name, True) == (moved.name, moved.server != target)
    with pytest.raises(Refused, match="nowhere,1,0 is not live"):
        admin.move(moved, Server("nowhere", 1))
    gone = moved.name.replace(moved.name[-34:], b".0123456789abcdef0123456789abcdef.")
    with pytest.raises(UnknownRegion):
        admin.move(replace(moved, name=gone))


def test_counters(admin: Admin, hbase_cluster: Cluster, hbase_judge: Judge, name: str) -> None:
    """A mutation is a write, a row or a miss a read, an increment both; all are told at once."""
    admin.alter(name, [Family("d")])
    before = {count.key: count for count in admin.counters(name)}
    rows = [b"a", *(b"b%d" % n for n in range(7))]
    hbase_judge.mutate(name, [RowCells(row, [Cell("d", b"q", 1, b"v")]) for row in rows])
    hbase_judge.increment(name, b"h", [("d", b"n", 1), ("d", b"m", 2)])
    hbase_judge.get(name, [b"z", b"none"], ALL)
    assert 8 == len(hbase_judge.scan(name, ALL, (b"a", True), (b"b9", False)))
    after = admin.counters(name)
    assert [(8, 8), (1, 2), (0, 1)] == [
        (one.writes - before[one.key].writes, one.reads - before[one.key].reads) for one in after
    ]
    told = [(region.writes, region.reads) for region in hbase_judge.regions(name)]
    assert told == [(count.writes, count.reads) for count in after]
    keys = [one.key for one in after]  # a report is half a second old at most, and then some
    hbase_cluster.wait(
        lambda: keys == [one.key for one in admin.reported_counters(name)],
        "the master has heard of all regions",
    )


def test_snapshots(admin: Admin, hbase_judge: Judge, name: str) -> None:
    """A table made of a snapshot holds what the first one held, and never overwrites another."""
    taken, copy = f"{UNIQUE}_s", f"{UNIQUE}:copy"
    admin.snapshot(name, taken)
    assert name == admin.snapshots()[taken]
    with pytest.raises(SnapshotProblem, match="already"):
        admin.snapshot(name, taken)
    with pytest.raises(SnapshotProblem, match="doesn't exist"):
        admin.snapshot(NONE, f"{taken}2")
    with pytest.raises(TableExists):
        admin.clone(taken, name)
    admin.clone(taken, copy)
    assert hbase_judge.scan(name, ALL) == hbase_judge.scan(copy, ALL)
    assert admin.describe(name).families == admin.describe(copy).families
    admin.delete(copy, disable=True)
    admin.delete_snapshot(taken)
    assert taken not in admin.snapshots()
    with pytest.raises(SnapshotProblem):
        admin.delete_snapshot(taken)
    with pytest.raises(SnapshotProblem):
        admin.clone(taken, copy)


def test_states(admin: Admin, name: str) -> None:
    """A table is disabled, enabled, emptied; what is not possible in a state is said as such."""
    for verb in (admin.delete, admin.truncate):
        with pytest.raises(TableNotDisabled, match="Disable the table first"):
            verb(name)
    with pytest.raises(TableNotDisabled, match="is enabled already"):
        admin.enable(name)
    admin.disable(name)
    assert (TableState.DISABLED, False) == (admin.state(name), admin.is_enabled(name))
    with pytest.raises(TableNotEnabled, match="is disabled already"):
        admin.disable(name)
    with pytest.raises(TableNotEnabled):
        admin.flush(name)
    admin.truncate(name)
    assert ([], 3) == (list(Table(admin._caller, name).scan().rows()), len(admin.regions(name)))
    admin.truncate(name, keep_splits=False, disable=True)
    assert 1 == len(admin.regions(name))
    admin.disable(name)
    admin.enable(name)
    assert admin.is_enabled(name)


@pytest.mark.parametrize(
    "verb",
    [
        *("state", "describe", "enable", "disable", "truncate", "delete", "regions", "flush"),
        *("compact", "counters", "reported_counters"),
    ],
)
def test_unknown_table(admin: Admin, verb: str) -> None:
    """Whatever is asked of a table that is not there, the error says that it is not."""
    with pytest.raises(TableNotFound, match=f"{NONE}.* Check its name, or create it"):
        getattr(admin, verb)(NONE)


CALLS: list[tuple[Callable[[Admin, str], object], type[AskedWrongly], str]] = [
    (lambda admin, name: admin.create(name, [Family("d")]), TableExists, "delete that table"),
    (lambda admin, _: admin.create(NONE, [Family("d", compression="LZO")]), DoNotRetryIO, "LzoC"),
    (lambda admin, _: admin.split(NONE, b"k"), TableNotFound, "Check its name"),
    (lambda admin, _: admin.alter(NONE, [Family("d")]), TableNotFound, "Check its name"),
    (lambda admin, _: admin.annotate(NONE, {"a.b": "1"}), TableNotFound, "Check its name"),
    (lambda admin, _: admin.remove_families(NONE, ["d"]), TableNotFound, "Check its name"),
    (lambda admin, name: admin.remove_families(name, ["no"]), InvalidFamilyOperation, "'no'"),
    (
        lambda admin, name: admin.remove_families(
            name, [f.name for f in admin.describe(name).families]
        ),
        InvalidFamilyOperation,
        "without families",
    ),
    (lambda admin, name: admin.annotate(name, {"SPLIT_POLICY": "a.B"}), DoNotRetryIO, "a.B"),
    (lambda admin, _: admin.create_namespace(UNIQUE), NamespaceExist, "already exists"),
    (lambda admin, _: admin.delete_namespace(NONE), NamespaceNotFound, "Create the namespace"),
    (lambda admin, _: admin.delete_namespace(UNIQUE), ConstraintViolated, "Only empty"),
    (lambda admin, _: admin.delete_namespace("hbase"), ConstraintViolated, "Reserved"),
]


@pytest.mark.parametrize(("call", "kind", "said"), CALLS)
def test_errors(
    admin: Admin,
    name: str,
    call: Callable[[Admin, str], object],
    kind: type[AskedWrongly],
    said: str,
) -> None:
    """Each error of the master comes back by the class that says what to do, in clear words."""
    with pytest.raises(kind, match=said):
        call(admin, name)


def test_status(admin: Admin, hbase_cluster: Cluster) -> None:
    """The master's status is what the official client is told."""
    status, told = admin.status(), hbase_cluster.judge.status()
    assert told.master == str(status.master)
    assert sorted(told.live) == sorted(str(load.server) for load in status.live)
    assert set(status.servers) == {load.server for load in status.live}
    assert sorted(told.dead) == sorted(map(str, status.dead))
    assert 0 < sum(len(load.regions) for load in status.live)
    assert status.tables["hbase:meta"] == (1, 1)
    assert status.version.startswith("2.")


def test_switches(admin: Admin) -> None:
    """Switches tell how they were; set to that, nothing changes."""
    balanced = admin.status().balancer_on
    assert balanced == admin.balancer(balanced)
    was = admin.splits_and_merges(True, False)
    assert (True, False) == admin.splits_and_merges(*was)
    assert was == admin.splits_and_merges(*was)


def test_regions_are_counted(admin: Admin, name: str) -> None:
    """The regions of a table are as many while it is disabled, and none of a table that is not."""
    caller, count = admin._caller, len(admin.regions(name))
    found = [count_regions(caller, name, Deadline.after(9))]
    admin.disable(name)
    found += [count_regions(caller, one, Deadline.after(9)) for one in (name, NONE)]
    admin.enable(name)
    assert [count, count, 0] == found


def test_what_the_master_has_forgotten(
    admin: Admin, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the master does not tell how a procedure ended, what is there decides."""
    finish = Admin._finish

    def of_nobody(
        self: Admin, path: str, method: str, number: int, *more: Any, **others: Any
    ) -> None:
        finish(self, path, method, number, *more, **others)
        finish(self, path, method, 2**62, *more, **others)

    monkeypatch.setattr(Admin, "_finish", of_nobody)
    admin.disable(name)
    admin.enable(name)
    again = f"{UNIQUE}_again"
    assert again == admin.create(again, [Family("d"), Family("e")]).name
    admin.remove_families(again, ["e"])
    admin.annotate(again, {"a.b": "1"})
    admin.delete(again, disable=True)
    assert not admin.exists(again)


def test_a_delete_that_broke_off(admin: Admin) -> None:
    """A table that is disabled already is deleted by the same call."""
    broken = f"{UNIQUE}_broken"
    admin.create(broken, [Family("d")])
    admin.disable(broken)
    admin.delete(broken, disable=True)
    assert not admin.exists(broken)
