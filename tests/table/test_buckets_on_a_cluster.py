"""Bucket changes on a cluster while processes write and one of them sleeps."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.boottime import read_boottime_s
from rowkey.engines import ScanRange
from rowkey.move import BucketRetirement
from rowkey.table import drop_table
from table.clients import list_misplaced_rows
from table.test_live_change import RepeatingThread, make_read_step
from table.test_scan_order import STANDING_ROWS
from table.writer_process import COUNTERS, make_counter_key, make_row

if TYPE_CHECKING:
    from cluster import Cluster
    from rowkey.table import Table

FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "size": {"type": "u32", "nullable": True},
    "hits": {"type": "i64", "nullable": True},
}
SCRIPT = Path(__file__).parent / "writer_process.py"
STALE_S = 2.0
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
WRITERS, READERS = (4, 2) if IS_LONG else (2, 1)
ROUNDS = 4


class Writer:
    """A process of `writer_process.py`, and the rounds that it acknowledged."""

    def __init__(self, url: str, name: str, number: int, catalog: str | None) -> None:
        self.number = number
        self.rounds = 0
        self.refused: list[str] = []
        command = [sys.executable, str(SCRIPT), url, name, str(number), catalog or ""]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.listening = threading.Thread(target=self._listen)
        self.listening.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("refused"):
                self.refused.append(line)
            else:
                self.rounds = int(line) + 1

    def goes_on(self, rounds: int) -> None:
        """Wait until the writer has done some more rounds."""
        goal = self.rounds + rounds
        while self.rounds < goal and self.process.poll() is None:
            time.sleep(0.02)
        assert self.rounds >= goal

    def sleep(self) -> int:
        """Stop the process at any point; return the number of rounds that it may have done."""
        self.process.send_signal(signal.SIGSTOP)
        before = -1
        while before < self.rounds:  # what it printed before is still being read
            before = self.rounds
            time.sleep(0.2)
        return self.rounds + 1

    def wake(self) -> None:
        """Let the process continue."""
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End the process, and read its output."""
        self.wake()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.listening.join()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def create_table(url: str, count: int, catalog: str | None = None) -> Table:
    """Create a table with a number of buckets and the standing rows."""
    design = rowkey.Design(
        f"live.{token_hex(4)}",
        f"[bucket(host, ts, {count})][host][ts]",
        fields=FIELDS,
        splits="per_bucket",
        catalog=catalog,
    )
    table = rowkey.open(design, url, max_stale=STALE_S)
    with table.batch() as batch:
        for row in STANDING_ROWS:
            batch.put(row)
    return table


def build_catalog_url(cluster: Cluster) -> str:
    """Return the URL of a catalog in the cluster's own ZooKeeper."""
    return f"zookeeper://{cluster.zookeeper}/rowkey-{token_hex(4)}?timeout=1500ms"


CHANGES = [
    (3, 6, True),
    *(pytest.param(16, 32, is_in, marks=pytest.mark.long) for is_in in 3 * (False, True)),
]


@pytest.mark.parametrize(("before", "after", "is_in_zookeeper"), CHANGES)
def test_a_bucket_change_on_a_cluster_loses_and_doubles_no_row(
    before: int, after: int, is_in_zookeeper: bool, hbase_url: str, hbase_cluster: Cluster
) -> None:
    """All rows that processes wrote, one of which slept, are there once, also once they moved."""
    with ExitStack() as held:
        catalog = build_catalog_url(hbase_cluster) if is_in_zookeeper else None
        table = held.enter_context(create_table(hbase_url, before, catalog))
        name = table.design.table
        held.callback(drop_table, name, hbase_url, catalog=catalog)
        held.callback(table.close)
        readers = [
            held.enter_context(rowkey.open(name, hbase_url, catalog=catalog))
            for _ in range(READERS)
        ]
        writers = [Writer(hbase_url, name, number, catalog) for number in range(WRITERS)]
        for writer in writers:
            held.callback(writer.end)
        for writer in writers:
            writer.goes_on(ROUNDS)
        reading = [RepeatingThread(make_read_step(one)) for one in readers]
        with ExitStack() as running:
            for thread in reading:
                running.enter_context(thread)
            done_asleep = writers[0].sleep()
            assert after == table.set_buckets(after).count_after
            writers[0].wake()
            for writer in writers:
                writer.goes_on(ROUNDS)
            BucketRetirement(table).run()
            for writer in writers:
                writer.goes_on(ROUNDS)
        assert [None] * READERS == [thread.failed for thread in reading]
        for writer in writers:
            writer.end()
        check_all(table, writers, done_asleep)
        assert 1 == table.buckets.keys_per_get
        assert {b"", *(bytes([n]) for n in range(1, after))} == {
            region.start for region in table.regions()
        }


def check_all(table: Table, writers: list[Writer], done_asleep: int) -> None:
    """Check rows, counters and places after all writers have ended."""
    for writer in writers:
        rows = [make_row(writer.number, n) for n in range(writer.rounds)]
        expected = [{**row, "hits": None} for row in rows]
        assert expected == table.get_many(rows)
    counters = table.get_many([make_counter_key(n) for n in range(COUNTERS)])
    # A round whose answer was on its way when its process ended may be counted.
    surplus = sum(row["hits"] for row in counters) - sum(writer.rounds for writer in writers)
    assert 0 <= surplus <= sum(len(writer.refused) for writer in writers)
    places = [(row["host"], row["ts"]) for row in table.scan()]
    assert sorted(set(places)) == places
    assert len(places) == table.count() == table.scan().to_arrow().num_rows
    assert [] == list_misplaced_rows(table)
    slept = writers[0]
    primary = table.get_state().active_design.key
    keys = [primary.encode(make_row(0, n)) for n in range(done_asleep, slept.rounds)]
    assert keys
    assert set(keys) <= set(list_row_keys(table))


def list_row_keys(table: Table) -> Iterator[bytes]:
    """Yield the stored row keys."""
    with table.store.scan([ScanRange()])[0] as cursor:
        yield from (row.row for row in cursor)


def test_a_suspended_client_reads_the_new_bucket_count_before_it_writes(hbase_url: str) -> None:
    """A client that slept reads of the new count before it writes."""
    table = create_table(hbase_url, 2)
    name = table.design.table
    try:
        with table, rowkey.open(name, hbase_url) as other:
            other.put({"host": "a", "ts": 1})
            assert 3 == table.set_buckets(3).count_after
            other.lease.clock = lambda: read_boottime_s() + 90.0
            other.put({"host": "a", "ts": 2})
            assert 3 == other.buckets.parts[0].count
            assert [1, 2] == [row["ts"] for row in other.scan("host = ?", "a")]
            assert ("2", "0=3", "1:0=2 2:0=3") == tuple(
                other.store.families_and_attributes[1][f"rowkey.{word}"]
                for word in ("generation", "counts", "live")
            )
    finally:
        drop_table(name, hbase_url)
