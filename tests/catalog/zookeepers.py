"""A ZooKeeper of one server that tests kill, pause and disconnect; no HBase uses it."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from cluster import StartFailed, find_programs
from cluster.ports import Claims
from cluster.processes import POLL_S, State, end, is_running, send
from cluster.servers import start_keeper
from cluster.site import HOST, LOGGING, Ports
from ramdisk import RAM_FOLDER

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xmx128m",
    "-Xshare:auto",
    "-Djava.net.preferIPv4Stack=true",
    "-Dzookeeper.admin.enableServer=false",
    "-Dzookeeper.forceSync=no",  # what is killed is the process, not the machine
    "-Dreadonlymode.enabled=true",
)
TICK_MS = 1_000
START_S = 60.0
NAME = "zookeeper"


class ZooKeeper:
    """A ZooKeeper server, which ends with the `with` block or with this process.

    Args:
        lost: how many servers it believes to be its peers, which are not there: it has no quorum
            then, and serves those only who ask for no writes.
    """

    def __init__(self, lost: int = 0) -> None:
        built = find_programs()
        self.directory = Path(tempfile.mkdtemp(prefix="rowkey-zookeeper-", dir=RAM_FOLDER))
        self._claims = Claims()
        self.port = self._claims.port()
        ports = Ports(self.port, 0, ())
        self._state = State(built.java, built.class_path, ports, FLAGS)
        self._state.write(self.directory)
        self._keeper = start_keeper(self.directory)
        self._configure(lost)
        try:
            self.restart("read-only" if lost else "standalone")
        except BaseException:
            self.stop()
            raise

    def _configure(self, lost: int) -> None:
        words = {
            "dataDir": self.directory / "data",
            "clientPort": self.port,
            "clientPortAddress": HOST,
            "tickTime": TICK_MS,
            "initLimit": 5,
            "syncLimit": 2,
            "maxClientCnxns": 0,
            "4lw.commands.whitelist": "srvr",
        }
        for number in range(1, lost + 2) if lost else ():
            words[f"server.{number}"] = f"{HOST}:{self._claims.port()}:{self._claims.port()}"
        self._create_folder()
        lines = (f"{word}={value}\n" for word, value in words.items())
        (self.directory / "zoo.cfg").write_text("".join(lines))
        (self.directory / "log4j2.properties").write_text(LOGGING)

    @property
    def hosts(self) -> str:
        """Return the server's address as host:port."""
        return f"{HOST}:{self.port}"

    def url(self, root: str = "/rowkey", timeout: str = "20s") -> str:
        """Return the URL of a catalog on this server, by default with a long timeout."""
        return f"zookeeper://{self.hosts}{root}?timeout={timeout}"

    @property
    def pid(self) -> int:
        """Return the process id of the server."""
        return self._state.processes[NAME]

    def restart(self, mode: str = "standalone") -> None:
        """Start the server with its stored data, and wait until it answers."""
        path = self._state.servers_path(self.directory)
        order = [
            self._state.java,
            *FLAGS,
            *self._state.archives.flags(NAME),
            f"-Dlog4j2.configurationFile={self.directory}/log4j2.properties",
            "-cp",
            path,
            MAIN,
            str(self.directory / "zoo.cfg"),
        ]
        with (self.directory / "log").open("ab") as log:
            process = subprocess.Popen(
                order, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._state.processes[NAME] = process.pid
        process.returncode = 0  # it is known by its id alone from here on
        self._state.write(self.directory)
        until = time.monotonic() + START_S
        while f"Mode: {mode}" not in self._query_status():
            if time.monotonic() > until or not is_running(self.pid, self.directory):
                words = (self.directory / "log").read_text(errors="replace").splitlines()
                raise StartFailed("ZooKeeper does not start.\n" + "\n".join(words[-15:]))
            time.sleep(POLL_S)

    def _query_status(self) -> str:
        """Return the server's answer to the command `srvr`."""
        try:
            with socket.create_connection((HOST, self.port), timeout=1.0) as caller:
                caller.sendall(b"srvr")
                told = b""
                while piece := caller.recv(1 << 16):
                    told += piece
                return told.decode()
        except OSError:
            return ""

    def kill(self) -> None:
        """Kill the server and return when it is gone."""
        end([self.pid], self.directory, gently=False)

    def wipe(self) -> None:
        """Delete the server's data while it does not run."""
        shutil.rmtree(self.directory / "data")
        self._create_folder()

    def _create_folder(self) -> None:
        (self.directory / "data").mkdir()
        (self.directory / "data" / "myid").write_text("1")

    def pause(self) -> None:
        """Suspend the server: its connections stay open and nothing answers."""
        send(self.pid, signal.SIGSTOP)
        while not self._is_stopped():
            time.sleep(POLL_S)

    def _is_stopped(self) -> bool:
        """Return whether the signal has stopped all threads of the server."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/stat")
        return all(task.read_text().rpartition(")")[2].split()[0] in "Tt" for task in tasks)

    def resume(self) -> None:
        """Let the server continue."""
        send(self.pid, signal.SIGCONT)

    @contextmanager
    def kill_temporarily(self) -> Iterator[None]:
        """Kill the server for the time of the block, then restart it."""
        self.kill()
        try:
            yield
        finally:
            self.restart()

    @contextmanager
    def pause_temporarily(self) -> Iterator[None]:
        """Pause the server for the time of the block, then resume it."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def stop(self) -> None:
        """End the server and delete its files."""
        if NAME in self._state.processes:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
        self._claims.release()
        if self._keeper.stdin is not None:
            self._keeper.stdin.close()
        self._keeper.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def count_threads_and_files() -> tuple[int, int]:
    """Return how many threads and open files this process has."""
    tasks, files = (len(list(Path("/proc/self", name).iterdir())) for name in ("task", "fd"))
    return tasks, files
