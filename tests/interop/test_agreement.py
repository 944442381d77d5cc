"""What one client wrote, every other client reads, cell by cell."""

from __future__ import annotations

from contextlib import ExitStack
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest

from cluster.judge import JudgeError
from interop.drawing import (
    FAMILIES,
    differences,
    draw_largest,
    draw_longest,
    draw_rows,
)
from interop.peers import PEERS, VERSIONS, Official
from oracles.build import Absent
from oracles.plugin import give_up
from rowkey.cells import ROW_BYTES_MOST, RowCells
from rowkey.engines import Span
from rowkey.regions import next_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster import Cluster
    from interop.peers import Peer

BESIDE = {"official": 16, "asynchbase": 3}
"""What a client that knows no region adds to a key when it asks hbase:meta for it, beside the name.

Two commas and 14 nines; two commas and a colon. The official client takes 17 s to refuse more.
"""

PREFIXES = [bytes([number]) for number in (0, 255, *range(15, 255, 15))]
"""What the rows of each test begin with: one table, whose making takes seconds, serves all."""


@pytest.fixture(scope="module")
def clients(hbase_cluster: Cluster) -> Iterator[dict[str, Peer]]:
    """Every client, by name; skipped where one cannot be had."""
    with ExitStack() as opened:
        try:
            yield {
                name: opened.enter_context(open_(hbase_cluster)) for name, open_ in PEERS.items()
            }
        except Absent as absent:
            give_up(str(absent))


@pytest.fixture(scope="module")
def table(hbase_cluster: Cluster) -> Iterator[str]:
    """A table that keeps all versions; each part of it lies in two regions."""
    kept = {family: {"VERSIONS": str(VERSIONS)} for family in FAMILIES}
    name = f"interop_{token_hex(4)}"
    hbase_cluster.judge.create(name, kept, sorted(prefix + b"\x80" for prefix in PREFIXES))
    yield name
    hbase_cluster.judge.drop(name)


@pytest.fixture(scope="module")
def prefixes() -> Iterator[bytes]:
    """Those that no test has taken yet."""
    return iter(PREFIXES)


@pytest.fixture
def part(prefixes: Iterator[bytes]) -> Span:
    """The part of the table that is one test's alone."""
    prefix = next(prefixes)
    return Span(prefix, next_prefix(prefix) or b"")


def disagreements(
    clients: dict[str, Peer], table: str, part: Span, rows: list[RowCells], cannot_scan: str = ""
) -> list[tuple[str, str, object]]:
    """What some client finds otherwise in a part, by scanning or by asking for its rows."""
    keys = [row.row for row in rows]
    scanned = [
        (name, "scan", differences(rows, client.scan(table, part)))
        for name, client in clients.items()
        if name != cannot_scan
    ]
    got = [
        (name, "get", differences(rows, client.get(table, keys)))
        for name, client in clients.items()
    ]
    return [one for one in (*scanned, *got) if one[2]]


@pytest.mark.parametrize("writer", PEERS)
def test_random_cells(clients: dict[str, Peer], table: str, part: Span, writer: str) -> None:
    """5,000 cells: 0x00 and 0xFF everywhere, empty qualifiers and values, versions."""
    rows = draw_rows(part.start, 5_000, seed=5)
    clients[writer].write(table, rows)
    assert [] == disagreements(clients, table, part, rows)


@pytest.mark.long
@pytest.mark.parametrize("writer", PEERS)
def test_many_random_cells(clients: dict[str, Peer], table: str, part: Span, writer: str) -> None:
    """The same of 100,000 cells."""
    rows = draw_rows(part.start, 100_000, seed=6)
    clients[writer].write(table, rows)
    assert [] == disagreements(clients, table, part, rows)


@pytest.mark.parametrize("writer", PEERS)
def test_largest_cells(clients: dict[str, Peer], table: str, part: Span, writer: str) -> None:
    """Cells of 10 MiB, the most a server takes."""
    rows = draw_largest(part.start)
    clients[writer].write(table, rows)
    for row in rows:
        for name, client in clients.items():
            assert (name, []) == (name, differences([row], client.get(table, [row.row])))


def test_one_byte_more_is_refused(hbase_cluster: Cluster, table: str, part: Span) -> None:
    """A value one byte longer than the largest is refused: the largest is the largest."""
    for row, cells in draw_largest(part.start):
        longer = [cells[0]._replace(value=cells[0].value + b"\0")]
        with pytest.raises(JudgeError, match=r"size too large|exceeds limit"):
            hbase_cluster.judge.mutate(table, [RowCells(row, longer)])


@pytest.mark.parametrize("writer", PEERS)
def test_longest_keys(clients: dict[str, Peer], table: str, part: Span, writer: str) -> None:
    """Keys of 32,767 bytes, of a table whose regions each client has met before."""
    # The official client gets them, but a scan of it goes on with a key one byte longer.
    rows = draw_longest(part.start)
    for client in clients.values():
        assert [b"", b""] == [
            row.row for row in client.get(table, [part.start + b"\0", part.start + b"\xff"])
        ]
    clients[writer].write(table, rows)
    assert [] == disagreements(clients, table, part, rows, cannot_scan="official")


@pytest.mark.parametrize("name", PEERS)
def test_longest_keys_at_first(hbase_cluster: Cluster, table: str, part: Span, name: str) -> None:
    """The longest key of which a client finds the region by itself: ours is as long as HBase's."""
    beside = len(table) + BESIDE[name] if name in BESIDE else 0
    rows = draw_longest(part.start, ROW_BYTES_MOST - beside)
    with PEERS[name](hbase_cluster) as cold:
        cold.write(table, rows)
        assert [] == differences(rows, cold.scan(table, part))


@pytest.mark.long
@pytest.mark.parametrize("name", BESIDE)
def test_longer_keys_at_first(hbase_cluster: Cluster, table: str, part: Span, name: str) -> None:
    """One byte more, and the other clients cannot ask for the region."""
    rows = draw_longest(part.start, ROW_BYTES_MOST - len(table) - BESIDE[name] + 1)
    with impatient(hbase_cluster, name) as cold, pytest.raises(JudgeError):
        cold.write(table, rows[:1])


def impatient(cluster: Cluster, name: str) -> Peer:
    """A client that is not long about giving up."""
    if name != "official":
        return PEERS[name](cluster)
    retries = {"hbase__client__retries__number": "1"}
    timeouts = ("operation__timeout", "meta__operation__timeout", "scanner__timeout__period")
    given = {f"hbase__client__{word}": "3000" for word in timeouts}
    return Official(cluster.new_judge(**given, **retries))
