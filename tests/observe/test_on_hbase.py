"""On a real cluster proofs are exact, live load is measured, and tables are created again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

import pytest

import rowkey
from cluster.files import measure_files
from observe.test_description import FAMILIES, encode_keys, have_same_spec, make_rows
from observe.test_prover import READS, build_design
from rowkey import lint
from rowkey.cells import Cell, RowCells
from rowkey.observe import describe_table, prove_design, watch_table
from rowkey.regions import to_string_binary
from rowkey.table import create_table, drop_table
from table.recordings import RECORDINGS

if TYPE_CHECKING:
    from cluster import Cluster, Judge
    from rowkey import Design
    from rowkey.engines.backends.hbase import HBaseEngine
    from rowkey.observe import LiveLoad, Proof

SIXTEEN_REGIONS = {"algorithm": "sample", "regions": 16}
HASHED_DESIGN = {"key": "[bucket(sensor, 16)][sensor][timestamp]", "splits": "per_bucket"}
BY_TIME = {"key": "[timestamp][sensor]", "splits": SIXTEEN_REGIONS}
LARGE_BYTES = 400_000
"""A file from which what it has beside its cells is less than 3 % of it."""
ALLOWED_BYTES = 8_192
"""What a smaller one may have beside that: index, Bloom filter and trailer. Not predicted."""
FIELDS: dict[str, Any] = {"host": {"type": "text", "max_bytes": 16}, "ts": "timestamp_ms"}
PAGE = Path(__file__).parents[2] / "examples" / "proof"
"""The designs of the page of proofs."""
START_MS = 1_700_000_000_000
WATCH_S = 180.0
"""Longest time to watch a table for what it is to show; a busy machine needs more than 10 s."""


@pytest.fixture
def no_region_changes(hbase_engine: HBaseEngine) -> Iterator[None]:
    """Neither balancer, splits nor merges during a proof."""
    admin = hbase_engine.client.admin
    was_balanced, were = admin.set_balancer(False), admin.set_splits_and_merges(False)
    yield
    admin.set_balancer(was_balanced)
    admin.set_splits_and_merges(*were)


@pytest.fixture
def no_balancer(hbase_engine: HBaseEngine) -> Iterator[None]:
    """No balancer that moves regions."""
    admin = hbase_engine.client.admin
    was = admin.set_balancer(False)
    yield
    admin.set_balancer(was)


def check_proof(found: Proof, cluster: Cluster, slack: float) -> None:
    """Check that counts equal predictions and that bytes are near.

    Bytes of large files may differ by a share of the prediction; those of small files also by a
    fixed allowance for index, Bloom filter and trailer.
    """
    assert ([], 0, 0) == (list(found.remarks), found.difference, found.unknown_count)
    assert found.is_exact
    assert (
        found.source.replayed_count
        == found.operation_count
        == sum(r.counted_writes or 0 for r in found.sum_by_region())
    )
    for phase in found.phases:
        assert {0} == {
            predicted - counted for predicted, counted in phase.writes_by_server.values()
        }
        assert 3 >= len(phase.writes_by_server)
    for read in found.reads:
        assert (10, "", 0) == (read.trial_count, read.reason, read.wrong_regions)
        assert read.predicted_rows <= read.counted_reads <= read.max_reads
        assert read.predicted_regions == read.counted_regions
    assert found.size is not None
    assert (
        found.size.counted_bytes <= found.size.predicted_bytes * 1.1 + found.size.resolution_bytes
    )
    files = measure_files(cluster, found.table)
    allowed = 0 if sum(files) > LARGE_BYTES * len(files) else ALLOWED_BYTES * len(files)
    more = sum(files) - found.size.predicted_bytes
    assert (
        -slack * found.size.predicted_bytes <= more <= slack * found.size.predicted_bytes + allowed
    )


@pytest.mark.usefixtures("no_region_changes")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(HASHED_DESIGN, id="hashed", marks=pytest.mark.long),
        pytest.param(BY_TIME, id="time first"),
    ],
)
def test_predicted_counts_of_the_nab_streams_are_counted_on_hbase(
    options: dict[str, Any], hbase_cluster: Cluster, hbase_url: str, tmp_path: Path
) -> None:
    """The NAB streams in three phases have the predicted counts of regions, servers and reads."""
    sample = RECORDINGS["nab"].sample(4_000, tmp_path)
    found = prove_design(
        build_design("nab", **options), hbase_url, sample, phases=3, keep_table=True
    )
    try:
        check_proof(found, hbase_cluster, 0.10)
    finally:
        drop_table(found.table, hbase_url)


@pytest.mark.long
@pytest.mark.usefixtures("no_region_changes")
@pytest.mark.parametrize("name", sorted(READS))
@pytest.mark.parametrize("is_hashed", [True, False], ids=["hashed", "time first"])
def test_predicted_counts_of_whole_recordings_are_counted_on_hbase(
    name: str,
    is_hashed: bool,
    hbase_cluster: Cluster,
    hbase_url: str,
    tmp_path: Path,
) -> None:
    """Whole recordings in 20 phases have the predicted counts, and bytes within 3 %."""
    words: dict[str, Any] = {}
    if not is_hashed:
        time_field = {"nab": "timestamp", "cdnow": "date"}.get(name, "time")
        rest = [f"[{one}]" for one in build_design(name).key.fields if one != time_field]
        words = {"key": f"[{time_field}]{''.join(rest)}", "splits": SIXTEEN_REGIONS}
    found = prove_design(
        build_design(name, **words),
        hbase_url,
        RECORDINGS[name].sample(None, tmp_path),
        keep_table=True,
    )
    try:
        assert 20 == len(found.phases)
        check_proof(found, hbase_cluster, 0.03)
    finally:
        drop_table(found.table, hbase_url)


@pytest.mark.long
@pytest.mark.usefixtures("no_region_changes")
@pytest.mark.parametrize("kind", ["advised", "hashed"])
@pytest.mark.parametrize("name", ["apache", "flights", "nab", "orders"])
def test_predicted_counts_for_keys_of_guides_are_counted_on_hbase(
    name: str, kind: str, hbase_cluster: Cluster, hbase_url: str
) -> None:
    """Keys that guides advise, and a hashed bucket, have the predicted counts."""
    found = prove_design(
        rowkey.Design.read(PAGE / name / f"{kind}.toml"), hbase_url, keep_table=True
    )
    try:
        assert 20 == len(found.phases)
        check_proof(found, hbase_cluster, 0.03)
    finally:
        drop_table(found.table, hbase_url)


@pytest.mark.long
@pytest.mark.usefixtures("no_region_changes")
def test_predicted_counts_of_a_year_of_flights_are_counted_on_hbase(
    hbase_cluster: Cluster, hbase_url: str, tmp_path: Path
) -> None:
    """A year of flights with 19 columns has the predicted counts, and bytes within 3 %."""
    reads = [{"name": "a flight", "where": "carrier = ? and flight = ?", "order": "time"}]
    design = rowkey.Design("flights", **RECORDINGS["flights"].words, reads=reads)
    sample = RECORDINGS["flights"].sample(None, tmp_path)
    found = prove_design(design, hbase_url, sample, keep_table=True)
    try:
        check_proof(found, hbase_cluster, 0.03)
    finally:
        drop_table(found.table, hbase_url)


class Writer:
    """Writes some hundred rows a second until the block ends.

    Args:
        design: the design of the table.
        url: the engine of the table.
    """

    def __init__(self, design: Design, url: str) -> None:
        self.table, self.url = create_table(design, url), url
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self.problem: Exception | None = None
        self.written = 0
        """Rows that were written so far."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(150)
        self.table.close()
        drop_table(self.table.design.table, self.url)
        assert not self._thread.is_alive(), "the writer does not end"

    def _run(self) -> None:
        number = 0
        try:
            while not self._over.wait(0.05):
                with self.table.batch() as batch:
                    for _ in range(100):
                        host = f"web-{number * 617 % 500}"
                        batch.put({"host": host, "ts": START_MS + number})
                        number += 1
                self.written = number
        except rowkey.RowkeyError as problem:
            self.problem = problem

    def watch(
        self,
        is_done: Callable[[list[LiveLoad]], bool],
        events: Mapping[int, Callable[[], object]] | None = None,
    ) -> list[LiveLoad]:
        """Return the snapshots of the table, one a second, until they show what is waited for.

        Args:
            is_done: whether the snapshots so far are enough.
            events: what happens after some of the snapshots, by their numbers.
        """
        found = []
        name = self.table.design.table
        for number, one in enumerate(watch_table(name, self.url, every_s=1.0, for_s=WATCH_S)):
            found.append(one)
            (events or {}).get(number, lambda: None)()
            if is_done(found):
                break
        assert self.problem is None
        return found


def build_live_design(key: str, **words: Any) -> Design:
    """Build the design of a new table for three servers."""
    name = f"live.{token_hex(4)}"
    return rowkey.Design(name, key, fields=FIELDS, cluster={"servers": 3}, **words)


def list_causes(load: LiveLoad) -> list[str]:
    """Return the codes of the causes of a snapshot, the strongest first."""
    return [cause.code for cause in load.causes]


def list_reasons(seen: list[LiveLoad]) -> set[str]:
    """Return why the counters of regions are unknown in any interval."""
    return {region.reason for i in seen[-1].intervals for region in i.regions} - {""}


def list_rates(seen: list[LiveLoad]) -> list[int | None]:
    """Return the rates of all regions in all snapshots."""
    return [
        rate
        for region in (r for i in seen[-1].intervals for r in i.regions)
        for rate in (region.writes, region.reads)
    ]


def test_watching_a_time_first_key_on_hbase_names_the_front(hbase_url: str) -> None:
    """Keys that begin with time load one server at a time, and the cause is named."""
    splits = [to_string_binary((START_MS + 2_000 * n).to_bytes(8, "big")) for n in range(1, 12)]
    with Writer(build_live_design("[ts][host]", splits=splits), hbase_url) as writer:
        seen = writer.watch(lambda seen: "moving_front" in list_causes(seen[-1])[:1])
    assert "hot" == seen[-1].writes.level
    assert "moving_front" == seen[-1].causes[0].code
    assert 3 == seen[-1].writes.servers


@pytest.mark.usefixtures("no_balancer")
def test_a_moved_or_split_region_causes_no_false_alarm_on_hbase(
    hbase_engine: HBaseEngine, hbase_url: str
) -> None:
    """A moved and a split region cause no false alarm and no negative rate."""
    admin = hbase_engine.client.admin
    even = build_live_design("[bucket(host, ts, 12)][host][ts]", splits="per_bucket")
    name = even.table
    events = {
        3: lambda: admin.move_region(admin.list_regions(name)[0]),
        6: lambda: admin.split_region(name, b"\x05m"),
    }
    with Writer(even, hbase_url) as writer:
        seen = writer.watch(
            lambda seen: (
                len(seen) >= 9
                and "even" == seen[-1].writes.level
                and seen[-1].intervals[-1].is_known("writes")
                and len(list_reasons(seen)) >= 2
            ),
            events,
        )
    assert set() == {one.writes.level for one in seen[1:]} - {"even", "warm", "unknown", "thin"}
    assert "even" in {one.writes.level for one in seen}
    assert min(rate for rate in list_rates(seen) if rate is not None) >= 0
    whys = list_reasons(seen)
    assert {"created by a split"} == {why for why in whys if not why.startswith("moved here from ")}
    assert any(why.startswith("moved here from ") for why in whys)
    unknown = [i.is_known("writes") for i in seen[-1].intervals]
    assert unknown.count(False) >= 2
    assert unknown[-1]


@pytest.mark.long
@pytest.mark.usefixtures("no_balancer")
def test_a_restarted_server_causes_no_false_alarm_on_hbase(
    hbase_cluster: Cluster, hbase_url: str
) -> None:
    """A server that is killed and restarted causes failed or unknown snapshots, and no alarm."""
    even = build_live_design("[bucket(host, ts, 12)][host][ts]", splits="per_bucket")
    server = hbase_cluster.server_names[0]
    gone = hbase_cluster.places()[server]
    events = {
        5: lambda: hbase_cluster.kill(server),
        15: lambda: hbase_cluster.restart(server),
    }
    with Writer(even, hbase_url) as writer:
        seen = writer.watch(lambda seen: len(seen) >= 60, events)
    assert {one.writes.level for one in seen[1:]} <= {"even", "warm", "unknown", "thin"}
    intervals = seen[-1].intervals
    assert min(rate for rate in list_rates(seen) if rate is not None) >= 0
    # Before the server goes, what is seen of an even table is a verdict, and it is even.
    assert "even" in {one.writes.level for one in seen[:6]}
    # What stood on it is opened elsewhere: not known, with the reason, and never as no writes.
    lost = [region for i in intervals for region in i.regions if region.writes is None]
    assert lost
    assert {"moved here", "reopened"} >= {one.reason.partition(" from ")[0] for one in lost}
    assert any(one.reason == f"moved here from {gone}" for one in lost)
    # Once all stand again every rate is known; together they are what the writer wrote.
    settled = intervals[-5:]
    assert [] == [i for i in settled if not i.is_known("writes")]
    loads = [[region.writes or 0 for region in one.regions] for one in settled]
    sums = [sum(each) for each in zip(*loads, strict=True)]
    assert 0 < max(sums) < 2 * sum(sums) / 12
    counted = sum(i.sum_operations("writes") for i in intervals)
    assert 0.5 * writer.written <= counted <= 1.1 * writer.written  # some were written twice
    assert seen[-1].writes.level in {"even", "warm"}


def recreate_table(engine: HBaseEngine, table: str, url: str) -> str:
    """Create a table from a description, compare both, and return the text."""
    found = describe_table(table, url)
    assert () == lint.check_design(found.design).filter_by_severity("error")
    copy = f"copy.{token_hex(4)}"
    text = found.text.replace(f'"{table}"', f'"{copy}"', 1)
    with create_table(rowkey.Design.loads(text), url) as made:
        assert have_same_spec(engine.open_table(table), made.store)
        again = describe_table(copy, url)
        one, other = (engine.client.admin.describe_table(name) for name in (table, copy))
        assert one.families == other.families
        assert one.other_attributes == other.other_attributes
        words = [
            {word: value for word, value in d.attributes.items() if not word.startswith("rowkey.")}
            for d in (one, other)
        ]
        assert words[0] == words[1]
    drop_table(copy, url)
    assert again.is_own_table
    assert again.design.families == found.design.families
    return found.text


@pytest.mark.parametrize(
    ("key", "is_known"),
    [
        ("[bucket(host, 8)][host][desc(ts)]", False),
        ("[salt(4)][host][ts]", True),
        pytest.param("[bucket(host, 8)][host][desc(ts)]", True, marks=pytest.mark.long),
        pytest.param("[salt(4)][host][ts]", False, marks=pytest.mark.long),
    ],
)
def test_a_description_on_hbase_creates_the_same_table(
    key: str, is_known: bool, hbase_engine: HBaseEngine, hbase_url: str
) -> None:
    """The description creates the same salted or bucketed table, with or without attributes."""
    name = f"ours.{token_hex(4)}"
    words: dict[str, Any] = {"fields": FIELDS, "splits": "per_bucket"}
    families = {"d": {**FAMILIES["d"], "compression": "GZ"}, "e": FAMILIES["e"]}
    with create_table(rowkey.Design(name, key, families=families, **words), hbase_url) as table:
        with table.batch() as batch:
            for row in make_rows(300):
                batch.put({"host": row["host"], "ts": row["ts"]})
        if not is_known:
            table.store.replace_attributes({})
            entry = table.catalog.read(name)
            assert entry is not None
            table.catalog.remove(name, entry.version)
        text = recreate_table(hbase_engine, name, hbase_url)
    if is_known:
        drop_table(name, hbase_url)
    else:
        hbase_engine.drop_table(name)
    found = str(rowkey.Design.loads(text).key)
    inferred = {"b": "[bucket(text, 8)][text][desc(time)]", "s": "[bucket][text][time]"}
    assert (key if is_known else inferred[key[1]]) == found


def test_keys_of_another_program_on_hbase_are_inferred_with_their_bucket(
    hbase_engine: HBaseEngine, hbase_judge: Judge, hbase_url: str
) -> None:
    """Keys of another program in rowkey's format are inferred from its rows, with the bucket."""
    name = f"theirs.keys.{token_hex(4)}"
    hbase_judge.create(name, {"d": {}}, [bytes([n]) for n in range(1, 16)])
    cells = [Cell("d", b"m", 1, b"hi"), Cell("d", b"\xff\x00", 1, b"?")]
    keys = sorted(set(encode_keys("[bucket(host, 16)][host][ts]")))
    hbase_judge.mutate(name, [RowCells(key, cells) for key in keys])
    text = recreate_table(hbase_engine, name, hbase_url)
    assert "[bucket(text, 16)][text][time]" == str(rowkey.Design.loads(text).key)
    assert r'qualifier = "\\xFF\\x00"' in text
    hbase_judge.drop(name)
