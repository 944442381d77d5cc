"""The command that starts a cluster for a person, and breaks it on request."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.archives import WRITERS, Archives
from rowkey.cells import Cell, RowCells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster import Cluster

TOOL = str(Path(__file__).parents[2] / "tools" / "hbase.py")


def tool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """What the command says."""
    command = [sys.executable, TOOL, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def table(hbase_cluster: Cluster) -> Iterator[str]:
    """A table with a row."""
    hbase_cluster.judge.create("tool", {"d": {}}, [b"m\xff"])
    hbase_cluster.judge.mutate("tool", [RowCells(b"a", [Cell("d", b"q", 1, b"v")])])
    yield "tool"
    hbase_cluster.judge.drop("tool")


def test_status(hbase_cluster: Cluster, table: str) -> None:
    """The status names every process, and every table with its regions."""
    done = tool("status", "--at", hbase_cluster.directory)
    assert "" == done.stderr
    for name in hbase_cluster.names:
        assert f"{name:9}  runs       pid {hbase_cluster.pid(name)}" in done.stdout
    assert f"table {table}" in done.stdout
    assert "from b'm\\xff' on server" in done.stdout


def test_verbs(hbase_cluster: Cluster, table: str) -> None:
    """A region is divided at the bytes given, and moved to the server given."""
    at = ("--at", hbase_cluster.directory)
    assert 0 == tool("split", table, r"m\xff\x00", *at).returncode
    starts = [region.start for region in hbase_cluster.judge.regions(table)]
    assert [b"", b"m\xff", b"m\xff\x00"] == starts
    assert 0 == tool("move", table, "a", "3", *at).returncode
    assert "server3" == hbase_cluster.holders(table)[b""]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("kill", "7"), "no process is called server7"),
        (("split", "none", "a"), "TableNotFoundException: none"),
        ((), "exists: a cluster runs there"),
    ],
    ids=["kill", "split", "start"],
)
def test_told_why(hbase_cluster: Cluster, words: tuple[str, ...], says: str) -> None:
    """What cannot be done is said in one line."""
    done = tool(*words, "--at", hbase_cluster.directory)
    assert 1 == done.returncode
    assert 1 == done.stderr.count("\n")
    assert says in done.stderr


def test_nothing_runs(tmp_path: Path) -> None:
    """Without a cluster the verbs say how one is started."""
    done = tool("status", "--at", tmp_path / "none")
    assert 1 == done.returncode
    assert "`make hbase` starts one" in done.stderr


@pytest.mark.long
@pytest.mark.usefixtures("hbase_cluster")
@pytest.mark.parametrize("how", ["interrupt", "stop"])
def test_whole_life(tmp_path: Path, how: str) -> None:
    """A cluster is started, a server killed and started again, and everything ended."""
    directory = tmp_path / "hbase"
    command = [sys.executable, TOOL, "--at", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        told = next(line for line in owner.stdout if "tools/hbase.py" in line)
        assert f"--at {directory}" in told
        assert 0 == tool("kill", "2", "--at", directory).returncode
        assert "server2 has ended\n" == owner.stdout.readline()
        assert 0 == tool("restart", "2", "--at", directory).returncode
        if how == "stop":
            assert 0 == tool("stop", "--at", directory).returncode
        else:
            os.kill(owner.pid, signal.SIGINT)
        rest = owner.stdout.read()
    assert rest.endswith("stopped, nothing is left\n")
    assert 0 == owner.returncode
    assert not directory.exists()


def test_archives(tmp_path: Path) -> None:
    """The second start writes archives of classes, the third uses them; a killed JVM's is none."""
    archives = Archives(sys.executable, tmp_path / "digest")
    assert not archives.due()
    assert archives.due()
    archives.keep("master")
    assert archives.due()
    assert [] == archives.flags("master")
    for name in WRITERS:
        archives.fresh(name).write_bytes(b"classes")
        archives.keep(name)
    assert not archives.due()
    assert [f"-XX:SharedArchiveFile={archives.path('server1')}"] == archives.flags("server3")
