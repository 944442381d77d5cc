"""A forked child: what its parent's threads hold or were doing keeps it from nothing."""

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
from rowkey.hbase.connection import Servers
from rowkey.hbase.errors import ConnectionLost
from rowkey.hbase.locations import Locations
from rowkey.hbase.locations.flights import Flights
from rowkey.hbase.reading import Scan
from rowkey.hbase.registry import parse_url
from rowkey.hbase.scanning import Keeper, Scanner
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.names import Server

settings = Settings()
servers = Servers(settings)
masters = parse_url("hbase+master://127.0.0.1:1").open(servers, settings)
locations = Locations(masters, servers, settings)
flights = Flights("what is asked")
world = World({row: [Cell("d", b"", 1)] for row in (b"a", b"b", b"c")}, size=1)
keeper = Keeper.of(world.caller)
scanner = Scanner(world.caller, "t", Scan(), world.settings)
read = [scanner.next_answer().first_row]

asking, never = threading.Event(), threading.Event()
def ask():
    asking.set()
    never.wait()
threading.Thread(
    target=flights.share, args=("k", ask, Deadline.after(60)), daemon=True
).start()
asking.wait()
opening = servers._openings[(("127.0.0.1", 1), "ClientService")] = object()
locations._meta._flights._running["hbase:meta"] = object()
held = [servers._lock, masters._lock, masters._nodes._lock, locations._lock, flights._lock,
        locations._meta._flights._lock, keeper._changed, scanner._lock]
for one in held:
    one.acquire()
if os.fork() == 0:
    signal.alarm(20)  # ends it if it hangs
    told = {"flight": flights.share("k", lambda: 2, Deadline.after(5))}
    try:
        servers.connection(("127.0.0.1", 1), "ClientService", Deadline.after(5))
    except ConnectionLost as error:
        told["server"] = error.mistake.what
    masters.learn([Server("127.0.0.1", 2, 1)])
    try:
        masters.meta(Deadline.after(5))
    except Exception as error:
        told["registry"] = type(error).__name__
    locations.forget_table("t")
    try:
        locations.locate("t", b"x", Deadline.after(0.3))
    except Exception as error:
        told["locations"] = type(error).__name__
    told["kept"] = keeper.dump()["kept"]
    told["rows"] = [row.row.decode() for row in scanner.rows()]
    told["opened"] = world.asked.count("open")
    print(json.dumps(told), flush=True)
    os._exit(0)
os.wait()
os._exit(0)
"""

SOCKETS = """
import json, os, signal
from hbase.fakes import FakeServer, answering
from rowkey.hbase.connection import Servers
from rowkey.hbase.errors import ConnectionLost
from rowkey.hbase.settings import Deadline, Settings

def asked(param):
    line = servers.connection(server.address, "ClientService", Deadline.after(20))
    answer = line.send("Get", param, deadline=Deadline.after(20)).result(Deadline.after(20))
    return line, answer.message.decode()

server, servers = FakeServer(answering(lambda one: one.param)), Servers(Settings())
line, _ = asked(b"before")
if os.fork() == 0:
    signal.alarm(20)  # ends it if it hangs
    try:
        line.send("Get", b"", deadline=Deadline.after(5))
    except ConnectionLost as error:
        print(json.dumps(error.mistake.what), flush=True)
    line.close()
    print(json.dumps(asked(b"child")[1]), flush=True)
    servers.close()
    os._exit(0)
os.wait()
same, answer = asked(b"parent")
print(json.dumps([answer, same is line, len(server.peers)]), flush=True)
os._exit(0)
"""


def run(script: str) -> list[object]:
    """What a script says, line by line; it runs in a process of its own, as it forks."""
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


def test_a_child_opens_its_own_and_leaves_the_parents() -> None:
    """The child's first call works on a new socket; the parent's connection stays whole."""
    refused, answer, after = run(SOCKETS)
    assert re.fullmatch(r"the connection belongs to process \d+, which was forked", str(refused))
    assert ("child", ["parent", True, 2]) == (answer, after)


def test_a_child_starts_anew() -> None:
    """With every lock held and lookups under way at the fork; its scan opens its own scanner."""
    expected = {
        "flight": 2,
        "server": "does not accept connections: Connection refused",
        "registry": "NobodyThere",
        "locations": "OutOfTime",
        "kept": 0,
        "rows": ["b", "c"],
        "opened": 2,
    }
    assert [expected] == run(SCRIPT)
