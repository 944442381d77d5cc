"""A cluster: ZooKeeper, a master and region servers, each a process that can be killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from cluster.archives import WRITERS
from cluster.judge import Judge, JudgeError
from cluster.ports import Claims
from cluster.processes import (
    POLL_S,
    State,
    end,
    get_log_path,
    is_running,
    read_log_end,
    send,
    spawn,
)
from cluster.site import HOST, Ports, build_client_settings, build_site, write_site
from oracles.build import OracleBuild, Source, build_oracle

VERSION = os.environ.get("ROWKEY_HBASE_VERSION")
"""The version of HBase if not that of the pom; `make test-hbase` sets it."""
SOURCE = Source(Path(__file__).parent, "Judge", (f"hbase.version={VERSION}",) if VERSION else ())
_REFERENCE = re.compile("[0-9a-f]{32}[.][0-9a-f]{32}")
START_S = 180.0  # 12 s to 25 s on two idle cores; five JVMs may have to share them with others
RECOVER_S = 120.0
SPLIT_S = 30.0
ARCHIVE_S = 60.0  # 5 s each
MAX_POLL_S = 0.4
# Half of what a start costs is compiling well what runs briefly.
# So is the check of classes of released jars.
QUICK = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)
JUDGE_FLAGS = (*QUICK, "-XX:+UseSerialGC", "-Xmx512m", "-Djava.net.preferIPv4Stack=true")
SESSION_S = 6.0


class StartFailed(Exception):
    """A cluster did not start; the message has the end of the failed process's log."""


def find_programs(
    kept: Path | None = None, environment: Mapping[str, str] | None = None
) -> OracleBuild:
    """Return HBase's jars and the Java client, from Maven first and then from a cache.

    Raises:
        Absent: Java, its compiler or Maven is missing, or the jars cannot be had.

    Cost: 120 MB of download at first.
    """
    return build_oracle(SOURCE, kept, environment)


class Cluster:
    """A running cluster, by its directory.

    `Cluster.start` makes one, which ends with the `with` block or with this process;
    `Cluster.attach` acts on one that somebody else started.

    Args:
        directory: where everything of the cluster lies.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._claims = Claims()
        self._keeper: subprocess.Popen[bytes] | None = None
        self._judge: Judge | None = None
        self._owned = False
        self._writing = False

    @classmethod
    def start(
        cls,
        directory: Path | None = None,
        *,
        servers: int = 3,
        session_s: float = SESSION_S,
        settings: Mapping[str, str] | None = None,
        flags: Sequence[str] = QUICK,
        patience_s: float = START_S,
    ) -> Self:
        """Start a cluster and wait until it is ready.

        Args:
            directory: an empty or absent directory, removed at the end; a temporary one by default.
            servers: how many region servers.
            session_s: seconds after which a silent server is given up, 2 or more.
            settings: of hbase-site.xml, over those of `cluster.site`.
            flags: of the servers' JVMs; none for clusters whose speed is measured.
            patience_s: seconds to wait.

        Raises:
            Absent: Java or Maven is missing.
            StartFailed: a process died, or the cluster was not ready in time.

        Cost: 12 s to 25 s on two idle cores; 1.5 GB of memory.
        """
        built = find_programs()
        made = Path(directory or tempfile.mkdtemp(prefix="rowkey-hbase-")).absolute()
        made.mkdir(parents=True, exist_ok=True)
        self = cls(made)
        self._owned = True
        try:
            claimed = [self._claims.port() for _ in range(servers + 2)]
            ports = Ports(claimed[0], claimed[1], tuple(claimed[2:]))
            told = {**build_site(made, ports, int(session_s * 1000)), **(settings or {})}
            state = State(built.java, built.class_path, ports, tuple(flags))
            due = state.archives.is_due()
            self._begin(state, told, due=due)
            self._wait_ready(servers, patience_s)
            self.judge.ask("settle")
            self._writing = due
        except BaseException:
            self.stop()
            raise
        return self

    @classmethod
    def attach(cls, directory: Path) -> Self:
        """Return a cluster that another process started.

        Raises:
            FileNotFoundError: there is none in this directory.
        """
        State.read(directory)
        return cls(directory.absolute())

    def _begin(self, state: State, settings: Mapping[str, str], *, due: bool) -> None:
        write_site(self.directory, settings)
        get_log_path(self.directory, "any").parent.mkdir()
        state.write(self.directory)
        self._keeper = start_keeper(self.directory)
        # Else all regions may go to the first server that is up; not so at a later start,
        # when a server may be missing for good.
        servers = len(state.ports.servers)
        least = f"-Dhbase.master.wait.on.regionservers.mintostart={servers}"
        for name in self.names:
            path = state.archives.build_new_path(name)
            # Which classes an archive leaves out would fill the log of a process that has died.
            archive = (f"-XX:ArchiveClassesAtExit={path}", "-Xlog:cds*=off")
            write = archive if due and name in WRITERS else None
            self._spawn(name, (least,) if name == "master" else (), write)

    def _spawn(
        self, name: str, extra: Sequence[str] = (), flags: Sequence[str] | None = None
    ) -> None:
        state = self.state
        state.processes[name] = spawn(self.directory, state, name, extra, flags)
        state.write(self.directory)

    def _wait_ready(self, servers: int, patience_s: float) -> None:
        until = time.monotonic() + patience_s
        answer = ""
        while time.monotonic() < until:
            for name in self.names:
                if not self.alive(name):
                    raise StartFailed(f"{name} died.\n{read_log_end(self.directory, name)}")
            answer = self._answer()
            if answer.isdigit() and int(answer) >= servers:
                return
            time.sleep(POLL_S)
        logs = "\n".join(f"{n}:\n{read_log_end(self.directory, n)}" for n in self.names)
        raise StartFailed(f"not ready within {patience_s:g} s, it says {answer!r}.\n{logs}")

    def _answer(self) -> str:
        """Return how many live servers an initialized master knows, or why there is no answer."""
        ports = self.state.ports
        for name, port in (("ZooKeeper", ports.zookeeper), ("the master", ports.master)):
            with socket.socket() as caller:  # sooner than a client finds out
                if caller.connect_ex((HOST, port)):
                    return f"{name} does not listen"
        try:
            return self.judge.ask("ready").text
        except JudgeError as error:
            return str(error)

    @property
    def state(self) -> State:
        """Return the recorded state of the cluster."""
        return State.read(self.directory)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its processes in the order of their start."""
        return ("zookeeper", "master", *self.server_names)

    @property
    def server_names(self) -> tuple[str, ...]:
        """Return the names of its region servers: `server1`, `server2`, …."""
        return tuple(f"server{n + 1}" for n in range(len(self.state.ports.servers)))

    @property
    def zookeeper(self) -> str:
        """Return ZooKeeper's address as host:port."""
        return f"{HOST}:{self.state.ports.zookeeper}"

    @property
    def master(self) -> str:
        """Return the master's address as host:port."""
        return f"{HOST}:{self.state.ports.master}"

    @property
    def url(self) -> str:
        """Return the URL for rowkey, by ZooKeeper."""
        return f"hbase://{self.zookeeper}/hbase"

    @property
    def judge(self) -> Judge:
        """Return the official Java client of this cluster, started by its first question."""
        if self._judge is None:
            self._judge = self.new_judge()
        return self._judge

    def new_judge(self, **settings: str) -> Judge:
        """Return another official Java client; the caller stops it.

        Args:
            settings: of the client, dots written as two underscores, over those of `cluster.site`.
        """
        state = self.state
        given = {name.replace("__", "."): value for name, value in settings.items()}
        words = [
            f"{name}={value}"
            for name, value in {**build_client_settings(state.ports), **given}.items()
        ]
        return Judge([state.java, *JUDGE_FLAGS, "-cp", state.class_path, SOURCE.main, *words])

    def pid(self, name: str) -> int:
        """Return the process id of one process.

        Raises:
            ValueError: there is no process of that name.
        """
        if name not in self.names:
            raise ValueError(f"no process is called {name}; there are {', '.join(self.names)}")
        return self.state.processes[name]

    def alive(self, name: str) -> bool:
        """Return whether a process runs; a paused one does."""
        return is_running(self.pid(name), self.directory)

    def kill(self, name: str) -> None:
        """Kill a process at once (kill -9); return when it is gone."""
        end([self.pid(name)], self.directory, gently=False)

    def pause(self, name: str) -> None:
        """Stop a process without ending it: its connections stay open and nothing answers."""
        send(self._running(name), signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Continue a paused process."""
        send(self._running(name), signal.SIGCONT)

    def _running(self, name: str) -> int:
        if not self.alive(name):
            raise ValueError(f"{name} does not run")
        return self.pid(name)

    def restart(self, name: str) -> None:
        """End a process if it runs, start it again, and wait until the cluster knows it."""
        end([self.pid(name)], self.directory)
        self._spawn(name)
        if name in self.server_names:
            self.wait(lambda: name in self.places(), f"{name} is back")
        else:
            self.wait(lambda: self._answer().isdigit(), f"{name} is back")

    def move(self, table: str, row: bytes, name: str) -> None:
        """Move the region that holds a row key to a region server such as `server2`."""
        self.judge.move(table, row, self.places()[name])

    def split(self, table: str, at: bytes) -> None:
        """Split the region that holds a row key, and wait until it can be split again.

        A half refers to the files of the whole until it is compacted, which HBase does at once. All
        files are merged then, so deletes in files are dropped, as in a major compaction.

        Raises:
            JudgeError: HBase refuses, for instance because a region begins there.
        """
        self.wait(lambda: not self.references(table), f"the halves of {table} stand alone", SPLIT_S)
        self.judge.split(table, at)
        self.wait(lambda: not self.references(table), f"the halves of {table} stand alone", SPLIT_S)

    def references(self, table: str) -> list[str]:
        """Return files of a table that refer to files of a split parent."""
        namespace, _, name = table.rpartition(":")
        data = self.directory / "data" / "data" / (namespace or "default") / name
        files = (path.name for path in data.glob("*/*/*.*"))
        return [file for file in files if _REFERENCE.fullmatch(file)]

    def holders(self, table: str) -> dict[bytes, str | None]:
        """Return the name of each region's server, such as `server1`, by the region's start key."""
        names = {server: name for name, server in self.places().items()}
        regions = self.judge.regions(table)
        return {one.start: names.get(one.server or "") for one in regions}

    def wait(self, holds: Callable[[], bool], what: str, patience_s: float = RECOVER_S) -> None:
        """Wait until a condition holds.

        Raises:
            TimeoutError: it did not, in time.
        """
        until, pause_s = time.monotonic() + patience_s, POLL_S
        while not holds():
            if time.monotonic() > until:
                raise TimeoutError(f"{what}: not within {patience_s:g} s")
            time.sleep(pause_s)
            # The master counts all regions for each look at it.
            pause_s = min(2 * pause_s, MAX_POLL_S)

    def places(self) -> dict[str, str]:
        """Return HBase's name of each live region server by its name in this cluster."""
        live = self.judge.status().live
        by_port = {int(server.split(",")[1]): server for server in live}
        found = zip(self.server_names, self.state.ports.servers, strict=True)
        return {name: by_port[port] for name, port in found if port in by_port}

    def stop(self) -> None:
        """End everything that was started and remove the directory; a second call does nothing.

        One that is only attached to lets go of it and leaves it running.
        """
        if self._judge is not None:
            self._judge.stop()
        if not self._owned:
            return
        self._owned = False
        with suppress(FileNotFoundError):
            self._keep_archives()
            # Nobody is asked to flush what is thrown away.
            end(reversed(self.state.processes.values()), self.directory, gently=False)
        shutil.rmtree(self.directory, ignore_errors=True)
        self._claims.release()
        if self._keeper is not None and self._keeper.stdin is not None:
            self._keeper.stdin.close()
            self._keeper.wait()

    def _keep_archives(self) -> None:
        """Let processes that write an archive end normally."""
        archives = self.state.archives
        if self._writing:
            for name in WRITERS:
                end([self.pid(name)], self.directory, term_s=ARCHIVE_S)
            archives.keep()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_keeper(directory: Path) -> subprocess.Popen[bytes]:
    """Start a process that ends the cluster when this process ends."""
    tests = str(Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "cluster.keeper", str(directory)],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": tests},
        start_new_session=True,
    )
