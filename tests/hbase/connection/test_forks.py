"""Forked children use their own connections, whatever the parent's threads do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, os, signal, sys, threading
from hbase.scanning.world import World
from rowkey.cells import Cell
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.errors import ConnectionLost
from rowkey.hbase.locations import RegionLocator
from rowkey.hbase.locations.single_flight import SingleFlight
from rowkey.hbase.read_spec import ScanSpec
from rowkey.hbase.registry import parse_url
from rowkey.hbase.scanning import LeaseRenewer, Scanner
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import ServerName

settings = Settings()
servers = ServerConnections(settings)
masters = parse_url("hbase+master://127.0.0.1:1").open_registry(servers, settings)
locations = RegionLocator(masters, servers, settings)
flights = SingleFlight("what is asked")
world = World({row: [Cell("d", b"", 1)] for row in (b"a", b"b", b"c")}, size=1)
keeper = LeaseRenewer.get_for_caller(world.caller)
scanner = Scanner(world.caller, "t", ScanSpec(), world.settings)
read = [scanner.read_block().first_row_key]

asking, never = threading.Event(), threading.Event()
def ask():
    asking.set()
    never.wait()
threading.Thread(
    target=flights.run_once, args=("k", ask, Deadline.from_now(60)), daemon=True
).start()
asking.wait()
opening = servers._openings[(("127.0.0.1", 1), "ClientService")] = object()
locations._meta_table._lookups._flights["hbase:meta"] = object()
held = [servers._lock, masters._lock, masters._nodes._lock, locations._lock, flights._lock,
        locations._meta_table._lookups._lock, keeper._condition, scanner._lock]
for one in held:
    one.acquire()
if os.fork() == 0:
    signal.alarm(20)  # ends it if it hangs
    told = {"flight": flights.run_once("k", lambda: 2, Deadline.from_now(5))}
    try:
        servers.get_connection(("127.0.0.1", 1), "ClientService", Deadline.from_now(5))
    except ConnectionLost as error:
        told["server"] = error.mistake.problem
    masters.learn_servers([ServerName("127.0.0.1", 2, 1)])
    try:
        masters.get_meta_server(Deadline.from_now(5))
    except Exception as error:
        told["registry"] = type(error).__name__
    locations.forget_table("t")
    try:
        locations.locate_region("t", b"x", Deadline.from_now(0.3))
    except Exception as error:
        told["locations"] = type(error).__name__
    told["kept"] = keeper.dump_state()["scanners"]
    told["rows"] = [row.row.decode() for row in scanner.iter_row_cells()]
    told["opened"] = world.asked.count("open")
    print(json.dumps(told), flush=True)
    os._exit(0)
os.wait()
os._exit(0)
"""

SOCKETS = """
import json, os, signal
from hbase.fakes import FakeServer, answer_each
from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.errors import ConnectionLost
from rowkey.hbase.settings import Deadline, Settings

def asked(param):
    line = servers.get_connection(server.address, "ClientService", Deadline.from_now(20))
    answer = line.send("Get", param, deadline=Deadline.from_now(20)).result(Deadline.from_now(20))
    return line, answer.message.decode()

server, servers = FakeServer(answer_each(lambda one: one.param)), ServerConnections(Settings())
line, _ = asked(b"before")
if os.fork() == 0:
    signal.alarm(20)  # ends it if it hangs
    try:
        line.send("Get", b"", deadline=Deadline.from_now(5))
    except ConnectionLost as error:
        print(json.dumps(error.mistake.problem), flush=True)
    line.close()
    print(json.dumps(asked(b"child")[1]), flush=True)
    servers.close()
    os._exit(0)
os.wait()
same, answer = asked(b"parent")
print(json.dumps([answer, same is line, len(server.peers)]), flush=True)
os._exit(0)
"""


def run_script(script: str) -> list[object]:
    """Run a script that forks in a process of its own, and return its output lines."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "" == ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_a_forked_child_opens_its_own_connection() -> None:
    """The child's first call uses a new socket, and the parent's connection stays usable."""
    refused, answer, after = run_script(SOCKETS)
    assert re.fullmatch(r"the connection was opened by process \d+, before the fork", str(refused))
    assert ("child", ["parent", True, 2]) == (answer, after)


def test_a_forked_child_is_not_blocked_by_locks_of_its_parent() -> None:
    """Locks held and lookups running at the fork do not block the child, nor its scan."""
    expected = {
        "flight": 2,
        "server": "the server does not accept connections: Connection refused",
        "registry": "RegistryUnreachable",
        "locations": "OperationTimedOut",
        "kept": 0,
        "rows": ["b", "c"],
        "opened": 2,
    }
    assert [expected] == run_script(SCRIPT)
