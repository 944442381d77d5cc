"""Start a real HBase on this machine, and kill, pause, move or split parts of it.

Without a command: ZooKeeper, a master and three region servers run until Ctrl-C, and are then
removed with their tables. The commands act on the running cluster, from another terminal.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from cluster import QUICK, SESSION_S, START_S, Cluster, JudgeError, StartFailed  # noqa: E402 - a package of the tests
from oracles.build import OracleUnavailable  # noqa: E402

DEFAULT_DIRECTORY = Path(sys.prefix) / "hbase"
POLL_INTERVAL_S = 1.0
STOP_TIMEOUT_S = 30.0


def main() -> None:
    """Start an HBase cluster, or run a command on the cluster that is running."""
    arguments = _build_parser().parse_args()
    act: Callable[[Namespace], None] = arguments.act
    try:
        act(arguments)
    except KeyboardInterrupt:
        print("The cluster is stopped and its files are removed.")
    except (OracleUnavailable, StartFailed, JudgeError, ValueError, TimeoutError) as error:
        _exit_with_error(str(error))


def _build_parser() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.set_defaults(act=_start_cluster)
    _add_directory_option(parser, DEFAULT_DIRECTORY)
    parser.add_argument("--servers", type=int, default=3, help="number of region servers")
    for option, default, says in (
        ("--patience", START_S, "in which the cluster must be ready"),
        ("--session", SESSION_S, "after which a silent server is given up, 2 or more"),
    ):
        parser.add_argument(
            option, type=float, default=default, metavar="SECONDS", help=f"seconds {says}"
        )
    parser.add_argument(
        "--optimise",
        action="store_true",
        help="use optimizing JVMs: slow to start, then fast",
    )
    subparsers = parser.add_subparsers(title="commands for the running cluster", metavar="COMMAND")
    for name, says, act in (
        ("status", "processes, servers and tables", _print_status),
        ("stop", "stop the cluster, as Ctrl-C does", _stop_cluster),
    ):
        subparser = subparsers.add_parser(name, help=says)
        subparser.set_defaults(act=act)
        _add_directory_option(subparser)
    for name, says in (
        ("kill", "kill a process, as a crash does (kill -9)"),
        ("pause", "suspend a process"),
        ("resume", "resume a suspended process"),
        ("restart", "stop a process and start it again"),
    ):
        subparser = subparsers.add_parser(name, help=says)
        subparser.add_argument("process", help="the number of a region server, zookeeper or master")
        subparser.set_defaults(act=_control_process, command=name)
        _add_directory_option(subparser)
    move = subparsers.add_parser("move", help="move the region that holds a row to a server")
    split = subparsers.add_parser("split", help="split the region that holds a row at that row")
    for subparser, act in ((move, _move_region), (split, _split_region)):
        subparser.add_argument("table")
        subparser.add_argument("row", type=_parse_row_key, help=r"a row key; \xNN is a byte")
        subparser.set_defaults(act=act)
        _add_directory_option(subparser)
    move.add_argument("process", help="the number of a region server")
    return parser


def _add_directory_option(parser: ArgumentParser, default: Path | str = SUPPRESS) -> None:
    """Add the option --at, the directory of the cluster; a command keeps one given before it."""
    parser.add_argument("--at", type=Path, default=default, help="directory of the cluster")


def _parse_row_key(text: str) -> bytes:
    r"""Return a row key from HBase's notation, in which `\xNN` is a byte."""
    escaped = re.compile(rb"\\x([0-9a-fA-F]{2})")
    return escaped.sub(lambda found: bytes.fromhex(found[1].decode()), os.fsencode(text))


def _find_process_name(process: str) -> str:
    """Return the name of a process; a number stands for a region server."""
    return f"server{process}" if process.isdigit() else process


def _start_cluster(arguments: Namespace) -> None:
    """Start a cluster and keep it running until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if arguments.at.exists():
        _exit_with_error(
            f"{arguments.at} exists: a cluster is running. Stop it, or choose another --at"
        )
    flags = () if arguments.optimise else QUICK
    began = time.monotonic()
    print("starting ZooKeeper, a master and", arguments.servers, "region servers", flush=True)
    with Cluster.start(
        arguments.at,
        servers=arguments.servers,
        session_s=arguments.session,
        flags=flags,
        patience_s=arguments.patience,
    ) as cluster:
        print(f"ready after {time.monotonic() - began:.0f} s")
        print(f"  ZooKeeper  {cluster.url}")
        print(f"  master     hbase+master://{cluster.master}")
        for name, server in sorted(cluster.places().items()):
            print(f"  {name:9}  {server.rpartition(',')[0].replace(',', ':')}")
        print(f"  logs       {cluster.directory}/logs")
        print("Ctrl-C stops it and removes its tables. In another terminal:")
        place = "" if arguments.at == DEFAULT_DIRECTORY else f" --at {arguments.at}"
        print(
            f"  python tools/hbase.py status|kill N|pause N|resume N|restart N{place}", flush=True
        )
        _print_process_changes(cluster)


def _print_process_changes(cluster: Cluster) -> None:
    """Print each process of the cluster that ends or runs again, until interrupted."""
    ended: set[str] = set()
    while True:
        now = {name for name in cluster.names if not cluster.alive(name)}
        for name in sorted(now ^ ended):
            print(f"{name} {'has ended' if name in now else 'is running again'}", flush=True)
        ended = now
        time.sleep(POLL_INTERVAL_S)


def _attach_cluster(arguments: Namespace) -> Cluster:
    """Return the running cluster of a directory; exit with an error if there is none."""
    try:
        return Cluster.attach(arguments.at)
    except FileNotFoundError:
        _exit_with_error(f"{arguments.at}: no cluster is running there. Start one by `make hbase`.")


def _print_status(arguments: Namespace) -> None:
    """Print the processes, servers, tables and regions of the running cluster."""
    cluster = _attach_cluster(arguments)
    for name in cluster.names:
        state = "runs" if cluster.alive(name) else "has ended"
        print(f"{name:9}  {state:9}  pid {cluster.pid(name)}")
    status, places = cluster.judge.status(), cluster.places()
    print(f"master {status.master}, {status.moving} regions in transition")
    for name, server in sorted(places.items()):
        print(f"{name} holds {status.live.get(server, 0)} regions as {server}")
    for table in cluster.judge.tables():
        print(f"table {table}")
        holders = cluster.holders(table)
        for region in cluster.judge.regions(table):
            counts = f"{region.writes} writes, {region.reads} reads"
            print(f"  from {region.start!r} on {holders.get(region.start)}: {counts}")
    cluster.stop()


def _stop_cluster(arguments: Namespace) -> None:
    """Stop the running cluster, and wait until its directory is removed."""
    cluster = _attach_cluster(arguments)
    os.kill(cluster.state.owner, signal.SIGTERM)
    cluster.wait(lambda: not arguments.at.exists(), "the cluster has stopped", STOP_TIMEOUT_S)


def _control_process(arguments: Namespace) -> None:
    """Kill, pause, resume or restart a process of the running cluster."""
    cluster = _attach_cluster(arguments)
    actions = {
        "kill": cluster.kill,
        "pause": cluster.pause,
        "resume": cluster.resume,
        "restart": cluster.restart,
    }
    actions[arguments.command](_find_process_name(arguments.process))
    cluster.stop()


def _move_region(arguments: Namespace) -> None:
    """Move the region that holds a row to another region server."""
    cluster = _attach_cluster(arguments)
    cluster.move(arguments.table, arguments.row, _find_process_name(arguments.process))
    cluster.stop()


def _split_region(arguments: Namespace) -> None:
    """Split the region that holds a row at that row."""
    cluster = _attach_cluster(arguments)
    cluster.split(arguments.table, arguments.row)
    cluster.stop()


def _exit_with_error(why: str) -> NoReturn:
    """Exit with an error message."""
    sys.exit(f"hbase: {why}")


if __name__ == "__main__":
    main()
