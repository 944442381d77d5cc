"""Processes identified by their ids, so that any program can act on a running cluster.

What runs is written down in `state.json` in the cluster's directory: `tools/hbase.py` in another
terminal and the keeper read it there.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cluster.archives import Archives
from cluster.site import Ports, build_jvm_flags, build_program

TERM_S = 10.0  # a region server flushes its regions when it is asked to end
KILL_S = 10.0
POLL_S = 0.05


@dataclass
class State:
    """The recorded state of a running cluster.

    Args:
        java: the JVM.
        class_path: the programs of this folder, then HBase's jars.
        ports: its ports.
        flags: of the servers' JVMs.
        processes: process ids by name.
        owner: the process that ends them all when it ends.
    """

    java: str
    class_path: str
    ports: Ports
    flags: tuple[str, ...] = ()
    processes: dict[str, int] = field(default_factory=dict)
    owner: int = field(default_factory=os.getpid)

    @property
    def archives(self) -> Archives:
        """Return the class data archives of the JVMs."""
        return Archives(self.java, Path(self.class_path.partition(os.pathsep)[0]).parent)

    def servers_path(self, conf: Path) -> str:
        """Return the servers' class path: jars first, since a JVM uses no archive after a folder.

        Args:
            conf: the folder of the configuration.
        """
        ours, _, jars = self.class_path.partition(os.pathsep)
        return os.pathsep.join((jars, ours, str(conf)))

    @classmethod
    def read(cls, directory: Path) -> State:
        """Return the state of the cluster in a directory.

        Raises:
            FileNotFoundError: there is none.
        """
        told = json.loads((directory / "state.json").read_text())
        ports = Ports(**{**told["ports"], "servers": tuple(told["ports"]["servers"])})
        return cls(**{**told, "ports": ports, "flags": tuple(told["flags"])})

    def write(self, directory: Path) -> None:
        """Write the state to its file atomically."""
        fresh = directory / f"state.{os.getpid()}"
        fresh.write_text(json.dumps(asdict(self), indent=1))
        fresh.replace(directory / "state.json")


def spawn(
    directory: Path,
    state: State,
    name: str,
    extra: Sequence[str] = (),
    flags: Sequence[str] | None = None,
) -> int:
    """Start one process of a cluster in a process group of its own.

    Args:
        directory: the cluster's.
        state: what runs; not changed.
        name: the process.
        extra: settings of this start only, `-Dname=value`.
        flags: of this JVM; by default the one that makes it use its archive.

    Returns:
        Its process id.
    """
    heap, (main, *arguments) = build_program(name, state.ports)
    if flags is None:
        flags = state.archives.flags(name)
    logs = f"-Dhbase.log.dir={directory}/logs"
    order = [
        state.java,
        *build_jvm_flags(heap, directory),
        *state.flags,
        *flags,
        logs,
        main,
        *extra,
        *arguments,
    ]
    environment = {
        **os.environ,
        "CLASSPATH": state.servers_path(directory / "conf"),
    }
    log = os.open(get_log_path(directory, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        return os.posix_spawn(
            state.java,
            order,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setpgroup=0,  # what a terminal sends to pytest does not reach it
            setsigmask=(),
            setsigdef=(signal.SIGPIPE,),  # which Python ignores
        )
    finally:
        os.close(log)


def get_log_path(directory: Path, name: str) -> Path:
    """Return where a process writes its log."""
    return directory / "logs" / f"{name}.log"


def read_log_end(directory: Path, name: str, lines: int = 15) -> str:
    """Return the end of a process's log."""
    path = get_log_path(directory, name)
    text = path.read_text(errors="replace") if path.exists() else ""
    return "\n".join(text.splitlines()[-lines:]) or "(its log is empty)"


def is_running(pid: int, directory: Path) -> bool:
    """Return whether a process of this cluster runs, and reap it if it has ended."""
    with suppress(ChildProcessError):
        ended, _ = os.waitpid(pid, os.WNOHANG)
        return not ended
    # Somebody else's child: the id may belong to a stranger by now.
    try:
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (ProcessLookupError, PermissionError):
        return False
    except OSError:
        return not Path("/proc/self").exists()
    return os.fsencode(directory) in command


def send(pid: int, what: signal.Signals) -> None:
    """Send a signal to a process and its children."""
    with suppress(ProcessLookupError):
        os.killpg(pid, what)


def end(
    pids: Iterable[int], directory: Path, *, gently: bool = True, term_s: float = TERM_S
) -> None:
    """Terminate processes, then kill those that remain; return when none runs.

    Args:
        pids: their ids.
        directory: the cluster's, so that no stranger is ended.
        gently: whether they are asked first.
        term_s: seconds they have got then.
    """
    left = [pid for pid in pids if is_running(pid, directory)]
    steps = [(signal.SIGTERM, term_s)] * gently + [(signal.SIGKILL, KILL_S)]
    for what, patience_s in steps:
        for pid in left:
            send(pid, signal.SIGCONT)  # one that is paused would not hear
            send(pid, what)
        until = time.monotonic() + patience_s
        while (
            left := [pid for pid in left if is_running(pid, directory)]
        ) and time.monotonic() < until:
            time.sleep(POLL_S)
    if left:
        raise RuntimeError(f"processes {left} do not end")
