"""Every client reads the cells that every other client wrote, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest

from cluster.judge import JudgeError
from interop.peers import PEERS, VERSIONS, Official
from interop.random_cells import (
    FAMILIES,
    draw_largest,
    draw_longest,
    draw_rows,
    list_differences,
)
from oracles.build import OracleUnavailable
from oracles.plugin import give_up
from rowkey.cells import MAX_ROW_BYTES, RowCells
from rowkey.engines import ScanRange
from rowkey.regions import compute_prefix_stop

if TYPE_CHECKING:
    from cluster import Cluster
    from interop.peers import Peer

LOCATION_BYTES = {"official": 16, "asynchbase": 3}
"""What a client that knows no region adds to a key when it asks hbase:meta for it, beside the name.

Two commas and 14 nines; two commas and a colon. The official client takes 17 s to refuse more.
"""

PREFIXES = [bytes([number]) for number in (0, 255, *range(15, 255, 15))]
"""What the rows of each test begin with: one table, whose making takes seconds, serves all."""


@pytest.fixture(scope="module")
def clients(hbase_cluster: Cluster) -> Iterator[dict[str, Peer]]:
    """Every client by name; skipped where one cannot be had."""
    with ExitStack() as opened:
        try:
            yield {
                "ours": opened.enter_context(PEERS["ours"](hbase_cluster)),
                "official": Official(hbase_cluster.judge),
                "asynchbase": opened.enter_context(PEERS["asynchbase"](hbase_cluster)),
            }
        except OracleUnavailable as absent:
            give_up(str(absent))


@pytest.fixture(scope="module")
def table(hbase_cluster: Cluster) -> Iterator[str]:
    """A table that keeps all versions; each test's range spans two regions."""
    kept = {family: {"VERSIONS": str(VERSIONS)} for family in FAMILIES}
    name = f"interop_{token_hex(4)}"
    hbase_cluster.judge.create(name, kept, sorted(prefix + b"\x80" for prefix in PREFIXES))
    yield name
    hbase_cluster.judge.drop(name)


@pytest.fixture(scope="module")
def prefixes() -> Iterator[bytes]:
    """Row key prefixes that no test has used yet."""
    return iter(PREFIXES)


@pytest.fixture
def key_range(prefixes: Iterator[bytes]) -> ScanRange:
    """A range of the table that only one test uses."""
    prefix = next(prefixes)
    return ScanRange(prefix, compute_prefix_stop(prefix) or b"")


def list_disagreements(
    clients: dict[str, Peer],
    table: str,
    part: ScanRange,
    rows: list[RowCells],
    cannot_scan: str = "",
) -> list[tuple[str, str, object]]:
    """Return the clients whose scan or get of a range differs from the rows."""
    keys = [row.row for row in rows]
    scanned = [
        (name, "scan", list_differences(rows, client.scan(table, part)))
        for name, client in clients.items()
        if name != cannot_scan
    ]
    got = [
        (name, "get", list_differences(rows, client.get(table, keys)))
        for name, client in clients.items()
    ]
    return [one for one in (*scanned, *got) if one[2]]


@pytest.mark.parametrize("writer", PEERS)
def test_all_clients_read_the_same_500_random_cells(
    clients: dict[str, Peer], table: str, key_range: ScanRange, writer: str
) -> None:
    """All clients read the same 500 cells: bytes 00 and FF, empty qualifiers, versions."""
    rows = draw_rows(key_range.start, 500, seed=5)
    clients[writer].write(table, rows)
    assert [] == list_disagreements(clients, table, key_range, rows)


@pytest.mark.long
@pytest.mark.parametrize("writer", PEERS)
def test_all_clients_read_the_same_100000_random_cells(
    clients: dict[str, Peer], table: str, key_range: ScanRange, writer: str
) -> None:
    """All clients read the same 100,000 cells."""
    rows = draw_rows(key_range.start, 100_000, seed=6)
    clients[writer].write(table, rows)
    assert [] == list_disagreements(clients, table, key_range, rows)


@pytest.mark.parametrize(
    "writer", ["ours", *(pytest.param(name, marks=pytest.mark.long) for name in LOCATION_BYTES)]
)
def test_all_clients_read_cells_of_10_mib(
    clients: dict[str, Peer], table: str, key_range: ScanRange, writer: str
) -> None:
    """All clients read cells of 10 MiB, the most a server takes."""
    rows = draw_largest(key_range.start)
    clients[writer].write(table, rows)
    for row in rows:
        for name, client in clients.items():
            assert (name, []) == (name, list_differences([row], client.get(table, [row.row])))


def test_a_value_one_byte_longer_than_the_largest_is_refused(
    hbase_cluster: Cluster, table: str, key_range: ScanRange
) -> None:
    for row, cells in draw_largest(key_range.start):
        longer = [cells[0]._replace(value=cells[0].value + b"\0")]
        with pytest.raises(JudgeError, match=r"size too large|exceeds limit"):
            hbase_cluster.judge.mutate(table, [RowCells(row, longer)])


@pytest.mark.parametrize("writer", PEERS)
def test_every_client_reads_and_writes_keys_of_32767_bytes(
    clients: dict[str, Peer], table: str, key_range: ScanRange, writer: str
) -> None:
    """Every client reads and writes keys of 32,767 bytes in regions it knows."""
    # The official client gets them, but a scan of it goes on with a key one byte longer.
    rows = draw_longest(key_range.start)
    for client in clients.values():
        assert [b"", b""] == [
            row.row
            for row in client.get(table, [key_range.start + b"\0", key_range.start + b"\xff"])
        ]
    clients[writer].write(table, rows)
    assert [] == list_disagreements(clients, table, key_range, rows, cannot_scan="official")


@pytest.mark.parametrize(
    "name", ["ours", *(pytest.param(name, marks=pytest.mark.long) for name in LOCATION_BYTES)]
)
def test_a_client_without_cached_regions_reads_and_writes_the_longest_keys(
    hbase_cluster: Cluster, table: str, key_range: ScanRange, name: str
) -> None:
    """A client without cached regions writes and reads the longest keys it can look up."""
    beside = len(table) + LOCATION_BYTES[name] if name in LOCATION_BYTES else 0
    rows = draw_longest(key_range.start, MAX_ROW_BYTES - beside)
    with PEERS[name](hbase_cluster) as cold:
        cold.write(table, rows)
        assert [] == list_differences(rows, cold.scan(table, key_range))


@pytest.mark.long
@pytest.mark.parametrize("name", LOCATION_BYTES)
def test_other_clients_cannot_look_up_the_region_of_the_longest_keys(
    hbase_cluster: Cluster, table: str, key_range: ScanRange, name: str
) -> None:
    """With keys one byte longer the other clients cannot look up the region."""
    rows = draw_longest(key_range.start, MAX_ROW_BYTES - len(table) - LOCATION_BYTES[name] + 1)
    with open_impatient_client(hbase_cluster, name) as cold, pytest.raises(JudgeError):
        cold.write(table, rows[:1])


def open_impatient_client(cluster: Cluster, name: str) -> Peer:
    """Return a client that gives up soon."""
    if name != "official":
        return PEERS[name](cluster)
    retries = {"hbase__client__retries__number": "1"}
    timeouts = ("operation__timeout", "meta__operation__timeout", "scanner__timeout__period")
    given = {f"hbase__client__{word}": "3000" for word in timeouts}
    return Official(cluster.new_judge(**given, **retries))
