"""A cluster starts, and kill, pause, move and split do what their names say."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster import Cluster, StartFailed
from cluster.processes import State, is_running
from cluster.site import Ports
from rowkey.cells import Cell, RowCells
from rowkey.engines import CellSelection

if TYPE_CHECKING:
    from cluster import Judge

ROWS = [b"%03d" % n for n in range(600)]
SPLITS = [b"100", b"200", b"300", b"400", b"500"]
TESTS = str(Path(__file__).parents[1])


@pytest.fixture(scope="module")
def table(hbase_judge: Judge) -> Iterator[str]:
    """Return a table of six regions with a hundred acknowledged rows each in memory."""
    hbase_judge.create("faults", {"d": {}}, SPLITS)
    hbase_judge.mutate("faults", [RowCells(row, [Cell("d", b"q", 1, row)]) for row in ROWS])
    yield "faults"
    hbase_judge.drop("faults")


def scan_row_keys(judge: Judge, table: str) -> list[bytes]:
    """Return the row keys of a scan of the whole table."""
    return [row for row, _ in judge.scan(table, CellSelection())]


def is_listening(address: str, port: int) -> bool:
    """Return whether a server accepts connections at an address."""
    with socket.socket() as caller:
        caller.settimeout(5)
        return caller.connect_ex((address, port)) == 0


def test_the_master_knows_exactly_the_three_started_servers(hbase_cluster: Cluster) -> None:
    expected = {"server1", "server2", "server3"}
    assert expected == set(hbase_cluster.places())
    assert expected == set(hbase_cluster.server_names)


@pytest.mark.skipif(sys.platform != "linux", reason="only there 127.0.0.2 is this machine, too")
def test_every_server_of_the_test_cluster_listens_only_at_loopback(hbase_cluster: Cluster) -> None:
    """Every server listens at 127.0.0.1 and at no other address of the machine."""
    ports = hbase_cluster.state.ports
    every = (ports.zookeeper, ports.master, *ports.servers)
    expected = [(True, False)] * 5
    assert expected == [
        (is_listening("127.0.0.1", port), is_listening("127.0.0.2", port)) for port in every
    ]


def test_a_presplit_table_has_its_regions_spread_over_all_servers(
    hbase_cluster: Cluster, table: str
) -> None:
    """A table has the regions it was created with, and every server holds some."""
    expected = [b"", *SPLITS]
    assert expected == [region.start for region in hbase_cluster.judge.regions(table)]
    assert set(hbase_cluster.server_names) == set(hbase_cluster.holders(table).values())


def test_each_region_counts_its_mutations(hbase_judge: Judge, table: str) -> None:
    expected = [100] * 6
    assert expected == [region.writes for region in hbase_judge.regions(table)]


def test_a_moved_region_is_on_the_target_server_with_all_rows(
    hbase_cluster: Cluster, table: str
) -> None:
    first = hbase_cluster.holders(table)[b""]
    target = next(name for name in hbase_cluster.server_names if name != first)
    hbase_cluster.move(table, b"", target)
    assert target == hbase_cluster.holders(table)[b""]
    assert ROWS == scan_row_keys(hbase_cluster.judge, table)


def test_a_split_region_becomes_two_with_all_rows(hbase_cluster: Cluster, table: str) -> None:
    """A split region becomes two with all rows, and can be split again at once."""
    hbase_cluster.split(table, b"050")
    hbase_cluster.split(table, b"025")
    expected = [b"", b"025", b"050", *SPLITS]
    assert expected == [region.start for region in hbase_cluster.judge.regions(table)]
    assert ROWS == scan_row_keys(hbase_cluster.judge, table)


def test_a_paused_server_does_not_answer_until_it_is_resumed(
    hbase_cluster: Cluster, table: str
) -> None:
    name = hbase_cluster.holders(table)[b"300"]
    assert name is not None
    with ThreadPoolExecutor(1) as pool:
        hbase_cluster.pause(name)
        try:
            asked = pool.submit(hbase_cluster.judge.get, table, [b"300"], CellSelection())
            done, _ = wait([asked], timeout=1.0)
        finally:
            hbase_cluster.resume(name)
        assert set() == done
        [found] = asked.result(timeout=60)
    assert b"300" == found.cells[0].value


@pytest.mark.long
def test_regions_of_a_killed_server_are_served_by_others_with_all_rows(
    hbase_cluster: Cluster, table: str
) -> None:
    """The regions of a killed server are served by others with every acknowledged row."""
    killed = hbase_cluster.holders(table)[b"300"]
    assert killed is not None
    hbase_cluster.kill(killed)
    assert not hbase_cluster.alive(killed)
    assert ROWS == scan_row_keys(hbase_cluster.judge, table)
    assert killed not in hbase_cluster.holders(table).values()
    hbase_cluster.restart(killed)
    assert set(hbase_cluster.server_names) == set(hbase_cluster.places())


def test_killing_an_unknown_process_lists_the_known_processes(hbase_cluster: Cluster) -> None:
    """Killing an unknown process raises an error that names the known ones."""
    with pytest.raises(ValueError, match=r"server4; there are zookeeper, master, server1"):
        hbase_cluster.kill("server4")


@pytest.mark.long
@pytest.mark.usefixtures("hbase_cluster")
def test_a_cluster_that_cannot_start_raises_the_reason_and_leaves_no_files(tmp_path: Path) -> None:
    """A cluster that cannot start raises the reason with the log and leaves no files."""
    elsewhere = {"hbase.zookeeper.property.clientPortAddress": "192.0.2.1"}
    with pytest.raises(StartFailed, match=r"(?s)^zookeeper died\..*BindException"):
        Cluster.start(tmp_path / "cluster", settings=elsewhere)
    assert [] == list(tmp_path.iterdir())


def test_processes_of_the_cluster_end_with_their_owner(tmp_path: Path) -> None:
    """When the owner ends, its processes end, and a process that reuses an old id does not."""
    directory = tmp_path / "cluster"
    directory.mkdir()
    sleep = ["sh", "-c", "sleep 600; :"]
    ours = subprocess.Popen([*sleep, str(directory)], start_new_session=True)
    stranger = subprocess.Popen(sleep, start_new_session=True)
    told = State("java", "", Ports(1, 2, (3,)), (), {"master": ours.pid, "server1": stranger.pid})
    told.write(directory)
    try:
        subprocess.run(
            [sys.executable, "-m", "cluster.keeper", str(directory)],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": TESTS},
            check=True,
            timeout=60,
        )
        expected = -signal.SIGKILL
        assert expected == ours.wait(60)
        assert stranger.poll() is None
        assert not directory.exists()
    finally:
        for process in (ours, stranger):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


STARTS_AND_DIES = """
import os, signal, sys
from pathlib import Path
from cluster import Cluster
cluster = Cluster.start(Path(sys.argv[1]))
print(*cluster.state.processes.values(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
def test_a_cluster_ends_soon_after_its_owner_was_killed(
    hbase_cluster: Cluster, tmp_path: Path
) -> None:
    """A cluster ends soon after its owner was killed, and its directory is removed."""
    directory = tmp_path / "cluster"
    done = subprocess.run(
        [sys.executable, "-c", STARTS_AND_DIES, str(directory)],
        env={**os.environ, "PYTHONPATH": TESTS},
        stdout=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    expected = -signal.SIGKILL
    assert expected == done.returncode
    pids = [int(pid) for pid in done.stdout.split()]
    hbase_cluster.wait(lambda: not directory.exists(), "the directory is gone", 30)
    assert [] == [pid for pid in pids if is_running(pid, directory)]


@pytest.mark.long
def test_two_clusters_on_a_machine_have_ports_and_tables_of_their_own(
    hbase_cluster: Cluster, table: str
) -> None:
    """A second cluster on the machine has ports and tables of its own."""
    with Cluster.start() as second:
        ours, theirs = hbase_cluster.state.ports, second.state.ports
        all_ports = [*ours.servers, *theirs.servers]
        all_ports += [ours.zookeeper, theirs.zookeeper, ours.master, theirs.master]
        assert 10 == len(set(all_ports))
        assert [] == second.judge.tables()
        gone = second.directory
    assert not gone.exists()
    assert ROWS == scan_row_keys(hbase_cluster.judge, table)


@pytest.mark.long
@pytest.mark.parametrize("name", ["zookeeper", "master", "server1", "server2", "server3"])
def test_no_row_is_lost_after_any_process_is_killed_and_restarted(
    hbase_cluster: Cluster, table: str, name: str
) -> None:
    """After any process is killed and restarted, every row is there."""
    hbase_cluster.kill(name)
    hbase_cluster.restart(name)
    assert ROWS == scan_row_keys(hbase_cluster.judge, table)
    assert set(hbase_cluster.server_names) == set(hbase_cluster.places())
