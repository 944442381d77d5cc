"""The command that starts a cluster for manual use and breaks it on request."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from tools.hbase import main

from cluster.archives import WRITERS, Archives
from cluster.processes import State
from cluster.servers import Cluster
from cluster.site import Ports
from rowkey.cells import Cell, RowCells
from rowkey.hbase import connect

TOOL = str(Path(__file__).parents[2] / "tools" / "hbase.py")


def run_tool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    command = [sys.executable, TOOL, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def table(hbase_cluster: Cluster) -> Iterator[str]:
    """Return a table with a row."""
    hbase_cluster.judge.create("tool", {"d": {}}, [b"m\xff"])
    hbase_cluster.judge.mutate("tool", [RowCells(b"a", [Cell("d", b"q", 1, b"v")])])
    yield "tool"
    hbase_cluster.judge.drop("tool")


@pytest.fixture
def run_in_process(hbase_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run the command in this process with the session's Java client; starting one takes 3 s."""
    attached = Cluster.attach(hbase_cluster.directory)
    monkeypatch.setattr(attached, "_judge", hbase_cluster.judge)
    monkeypatch.setattr(attached, "stop", lambda: None)
    monkeypatch.setattr(Cluster, "attach", lambda _: attached)

    def run(*words: str) -> None:
        command = ["hbase.py", *words, "--at", str(hbase_cluster.directory)]
        monkeypatch.setattr(sys, "argv", command)
        main()

    return run


def test_status_names_every_process_and_every_table_with_its_regions(
    hbase_cluster: Cluster,
    table: str,
    run_in_process: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_in_process("status")
    output = capsys.readouterr()
    assert "" == output.err
    for name in hbase_cluster.names:
        assert f"{name:9}  runs       pid {hbase_cluster.pid(name)}" in output.out
    assert f"table {table}" in output.out
    assert "from b'm\\xff' on server" in output.out


@pytest.mark.long
def test_the_tool_splits_a_region_of_a_running_cluster(hbase_cluster: Cluster, table: str) -> None:
    """Another process splits a region of a running cluster and leaves the cluster running."""
    done = run_tool("split", table, r"m\xff\x00", "--at", hbase_cluster.directory)
    assert (0, "") == (done.returncode, done.stderr)
    starts = [region.start for region in hbase_cluster.judge.regions(table)]
    assert [b"", b"m\xff", b"m\xff\x00"] == starts
    assert all(map(hbase_cluster.alive, hbase_cluster.names))


def test_the_tool_moves_a_region_to_the_given_server(
    hbase_cluster: Cluster, table: str, run_in_process: Callable[..., None]
) -> None:
    run_in_process("move", table, "a", "3")
    assert "server3" == hbase_cluster.holders(table)[b""]


def test_splitting_an_unknown_table_ends_the_tool_with_one_line(
    run_in_process: Callable[..., None],
) -> None:
    """An error of HBase ends the command with one line."""
    with pytest.raises(SystemExit, match=r"^hbase: TableNotFoundException: none[^\n]*$"):
        run_in_process("split", "none", "a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("kill", "7"), "no process is called server7"), ((), "exists: a cluster is running")],
    ids=["kill", "start"],
)
def test_an_error_of_the_tool_is_one_line(
    hbase_cluster: Cluster, arguments: tuple[str, ...], message: str
) -> None:
    """A command that cannot be carried out says why in one line."""
    done = run_tool(*arguments, "--at", hbase_cluster.directory)
    assert 1 == done.returncode
    assert 1 == done.stderr.count("\n")
    assert message in done.stderr


def test_without_a_cluster_the_tool_says_how_to_start_one(tmp_path: Path) -> None:
    """Without a cluster the commands say how to start one."""
    done = run_tool("status", "--at", tmp_path / "none")
    assert 1 == done.returncode
    assert "Start one by `make hbase`." in done.stderr


@pytest.mark.parametrize("arguments", [["--at", "DIR", "status"], ["status", "--at", "DIR"]])
def test_the_at_option_may_stand_before_or_after_the_command(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--at is obeyed before and after the command."""
    directory = str(tmp_path / "none")
    arguments = [word.replace("DIR", directory) for word in arguments]
    monkeypatch.setattr(sys, "argv", ["hbase.py", *arguments])
    with pytest.raises(SystemExit, match=f"{directory}: no cluster is running there"):
        main()


def test_stop_ends_only_the_cluster_of_the_given_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`stop --at DIR` ends the owner of that cluster and leaves that of another directory."""
    script = 'trap "rm -r $0; exit" TERM; echo ready; while :; do sleep 0.02; done'
    directories = [tmp_path / "first", tmp_path / "second"]
    owners = []
    for directory in directories:
        directory.mkdir()
        owner = subprocess.Popen(["sh", "-c", script, str(directory)], stdout=subprocess.PIPE)
        owners.append(owner)
        assert owner.stdout is not None
        assert b"ready\n" == owner.stdout.readline()
        State("java", "", Ports(1, 2, ()), owner=owner.pid).write(directory)
    try:
        monkeypatch.setattr(sys, "argv", ["hbase.py", "--at", str(directories[1]), "stop"])
        main()
        assert 0 == owners[1].wait(20)
        assert [True, False] == [directory.exists() for directory in directories]
        assert owners[0].poll() is None
    finally:
        for owner in owners:
            with owner:
                owner.kill()


def test_start_applies_its_options_and_prints_urls_of_rowkey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """--patience and --session reach the cluster, and the printed addresses are URLs of rowkey."""
    started: dict[str, object] = {}

    class StartedCluster(Cluster):
        """A cluster of which only the directory exists."""

        @classmethod
        def start(cls, directory: Path | None = None, **options: Any) -> Self:
            assert directory is not None
            started.update(options)
            directory.mkdir()
            State("java", "", Ports(2181, 16000, ())).write(directory)
            return cls(directory)

        def places(self) -> dict[str, str]:
            return {}

        def alive(self, name: str) -> bool:
            raise KeyboardInterrupt

    monkeypatch.setattr("tools.hbase.Cluster", StartedCluster)
    options = ["--patience", "5", "--session", "40", "--at", str(tmp_path / "made")]
    monkeypatch.setattr(sys, "argv", ["hbase.py", *options])
    main()
    assert (5, 40) == (started["patience_s"], started["session_s"])
    urls = [word for word in capsys.readouterr().out.split() if "://" in word]
    assert ["hbase://127.0.0.1:2181/hbase", "hbase+master://127.0.0.1:16000"] == urls
    for url in urls:
        connect(url).close()


@pytest.mark.long
@pytest.mark.usefixtures("hbase_cluster")
@pytest.mark.parametrize("how", ["interrupt", "stop"])
def test_a_cluster_is_started_restarted_and_ended_by_the_tool(tmp_path: Path, how: str) -> None:
    """A cluster is started, a server killed and restarted, and everything ended."""
    directory = tmp_path / "hbase"
    command = [sys.executable, TOOL, "--at", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        told = next(line for line in owner.stdout if "tools/hbase.py" in line)
        assert f"--at {directory}" in told
        assert 0 == run_tool("kill", "2", "--at", directory).returncode
        assert "server2 has ended\n" == owner.stdout.readline()
        assert 0 == run_tool("restart", "2", "--at", directory).returncode
        if how == "stop":
            assert 0 == run_tool("stop", "--at", directory).returncode
        else:
            os.kill(owner.pid, signal.SIGINT)
        rest = owner.stdout.read()
    assert rest.endswith("The cluster is stopped and its files are removed.\n")
    assert 0 == owner.returncode
    assert not directory.exists()


def test_class_archives_are_written_by_the_second_start_and_used_by_the_third(
    tmp_path: Path,
) -> None:
    """The second start writes class archives, the third uses them; all are kept or none."""
    archives = Archives(sys.executable, tmp_path / "digest")
    assert not archives.is_due()
    assert archives.is_due()
    archives.build_new_path("server1").write_bytes(b"classes")
    archives.keep()
    assert archives.is_due()
    assert [] == archives.flags("server1")
    for name in WRITERS:
        archives.build_new_path(name).write_bytes(b"classes")
    archives.keep()
    assert not archives.is_due()
    assert [f"-XX:SharedArchiveFile={archives.path('server1')}"] == archives.flags("server3")
