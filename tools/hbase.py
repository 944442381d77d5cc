"""A real HBase on this machine for whoever wants to look: starts one, and breaks it on request.

Without a verb: ZooKeeper, a master and three region servers until Ctrl-C, then everything is gone,
tables too. The verbs act on the one that runs, from another terminal.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from cluster import QUICK, Cluster, JudgeError, StartFailed  # noqa: E402 - it stands beside the tests
from oracles.build import Absent  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(sys.prefix) / "hbase"
WATCH_S = 1.0
STOP_S = 30.0


def main() -> None:
    """Start a cluster, or do to the running one what the verb says."""
    given = _parser().parse_args()
    act: Callable[[Namespace], None] = given.act
    try:
        act(given)
    except KeyboardInterrupt:
        print("stopped, nothing is left")
    except (Absent, StartFailed, JudgeError, ValueError, TimeoutError) as error:
        _give_up(str(error))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__)
    parser.set_defaults(act=_start)
    _place(parser)
    parser.add_argument("--servers", type=int, default=3, help="how many region servers")
    parser.add_argument(
        "--optimise",
        action="store_true",
        help="JVMs that compile in full: slow to start, then fast",
    )
    verbs = parser.add_subparsers(title="verbs, for the cluster that runs", metavar="VERB")
    for name, says, act in (
        ("status", "processes, servers and tables", _status),
        ("stop", "end it, as Ctrl-C does", _stop),
    ):
        verb = verbs.add_parser(name, help=says)
        verb.set_defaults(act=act)
        _place(verb)
    for name, says in (
        ("kill", "end a process at once, as a crash does (kill -9)"),
        ("pause", "let a process hang"),
        ("resume", "let it go on"),
        ("restart", "end a process and start it anew"),
    ):
        verb = verbs.add_parser(name, help=says)
        verb.add_argument("process", help="the number of a region server, zookeeper or master")
        verb.set_defaults(act=_to_process, verb=name)
        _place(verb)
    move = verbs.add_parser("move", help="move the region that holds a row to a server")
    split = verbs.add_parser("split", help="divide the region that holds a row before that row")
    for verb, act in ((move, _move), (split, _split)):
        verb.add_argument("table")
        verb.add_argument("row", type=_row, help=r"a row key; \xNN is a byte")
        verb.set_defaults(act=act)
        _place(verb)
    move.add_argument("process", help="the number of a region server")
    return parser


def _place(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--at", type=Path, default=HERE, help="the cluster's directory; one cluster in each"
    )


def _row(text: str) -> bytes:
    r"""A row key as HBase prints it: what stands behind \x is a byte."""
    escaped = re.compile(rb"\\x([0-9a-fA-F]{2})")
    return escaped.sub(lambda found: bytes.fromhex(found[1].decode()), os.fsencode(text))


def _name(process: str) -> str:
    return f"server{process}" if process.isdigit() else process


def _start(given: Namespace) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if given.at.exists():
        _give_up(f"{given.at} exists: a cluster runs there. Stop it, or name another place: --at")
    flags = () if given.optimise else QUICK
    began = time.monotonic()
    print("starting ZooKeeper, a master and", given.servers, "region servers", flush=True)
    with Cluster.start(given.at, servers=given.servers, flags=flags) as cluster:
        print(f"ready after {time.monotonic() - began:.0f} s")
        print(f"  ZooKeeper  {cluster.zookeeper}")
        print(f"  master     {cluster.master}")
        for name, server in sorted(cluster.places().items()):
            print(f"  {name:9}  {server.rpartition(',')[0].replace(',', ':')}")
        print(f"  logs       {cluster.directory}/logs")
        print("Ctrl-C ends it, and its tables with it. In another terminal:")
        place = "" if given.at == HERE else f" --at {given.at}"
        print(
            f"  python tools/hbase.py status|kill N|pause N|resume N|restart N{place}", flush=True
        )
        _watch(cluster)


def _watch(cluster: Cluster) -> None:
    """Tells which process ends and which one is back, until interrupted."""
    ended: set[str] = set()
    while True:
        now = {name for name in cluster.names if not cluster.alive(name)}
        for name in sorted(now ^ ended):
            print(f"{name} {'has ended' if name in now else 'runs again'}", flush=True)
        ended = now
        time.sleep(WATCH_S)


def _running(given: Namespace) -> Cluster:
    try:
        return Cluster.attach(given.at)
    except FileNotFoundError:
        _give_up(f"no cluster runs at {given.at}; `make hbase` starts one")


def _status(given: Namespace) -> None:
    cluster = _running(given)
    for name in cluster.names:
        word = "runs" if cluster.alive(name) else "has ended"
        print(f"{name:9}  {word:9}  pid {cluster.pid(name)}")
    status, places = cluster.judge.status(), cluster.places()
    print(f"master {status.master}, {status.moving} regions on their way")
    for name, server in sorted(places.items()):
        print(f"{name} holds {status.live.get(server, 0)} regions as {server}")
    for table in cluster.judge.tables():
        print(f"table {table}")
        holders = cluster.holders(table)
        for region in cluster.judge.regions(table):
            counts = f"{region.writes} writes, {region.reads} reads"
            print(f"  from {region.start!r} on {holders.get(region.start)}: {counts}")
    cluster.stop()


def _stop(given: Namespace) -> None:
    cluster = _running(given)
    os.kill(cluster.state.owner, signal.SIGTERM)
    cluster.wait(lambda: not given.at.exists(), "everything is ended", STOP_S)


def _to_process(given: Namespace) -> None:
    cluster = _running(given)
    act = {
        "kill": cluster.kill,
        "pause": cluster.pause,
        "resume": cluster.resume,
        "restart": cluster.restart,
    }
    act[given.verb](_name(given.process))
    cluster.stop()


def _move(given: Namespace) -> None:
    cluster = _running(given)
    cluster.move(given.table, given.row, _name(given.process))
    cluster.stop()


def _split(given: Namespace) -> None:
    cluster = _running(given)
    cluster.split(given.table, given.row)
    cluster.stop()


def _give_up(why: str) -> NoReturn:
    sys.exit(f"hbase: {why}")


if __name__ == "__main__":
    main()
