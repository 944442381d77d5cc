import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

import pytest

from hbase.fakes import FakeServer, Peer, answering, free_port
from rowkey.hbase.connection import Connection, Servers
from rowkey.hbase.errors import (
    AskedWrongly,
    CallTimedOut,
    ConnectionLost,
    HBaseError,
    RegionServerStopped,
    UnknownHost,
)
from rowkey.hbase.settings import Deadline, Settings

echo = answering(lambda one: one.param)


def soon() -> Deadline:
    """A deadline that no test comes near."""
    return Deadline.after(30)


@contextmanager
def client(**settings: object) -> Iterator[Servers]:
    """The connections of a client that is closed at the end."""
    with closing(Servers(Settings(**settings))) as servers:  # type: ignore[arg-type]
        yield servers


def asked(servers: Servers, address: tuple[str, int], param: bytes = b"") -> bytes:
    """The body of the answer to one request."""
    line = servers.connection(address, "ClientService", soon())
    return line.send("Get", param, deadline=soon()).result(soon()).message


def open_files() -> int:
    """How many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_one_connection_for_each_server_and_service() -> None:
    """Asked for again it is the same; another service has its own."""
    with FakeServer(echo) as server, client() as servers:
        first = servers.connection(server.address, "ClientService", soon())
        assert first is servers.connection(server.address, "ClientService", soon())
        assert first is not servers.connection(server.address, "AdminService", soon())


def test_a_connection_is_opened_once_however_many_want_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sixteen threads at once: one opens, the others wait for it."""
    started = threading.Barrier(16)
    real = Connection.open

    def slowly(*arguments: object) -> Connection:
        sleep(0.1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Connection, "open", slowly)
    with FakeServer(echo) as server, client() as servers:

        def run(thread: int) -> bytes:
            started.wait()
            return asked(servers, server.address, b"%d" % thread)

        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(run, range(16)))
        assert [b"%d" % thread for thread in range(16)] == found
        assert 1 == len(server.peers)


def test_who_waits_for_an_opening_keeps_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one who opens may have more time than the one who waits for it."""
    go, began = threading.Event(), threading.Event()
    real = Connection.open

    def held(*arguments: object) -> Connection:
        began.set()
        go.wait(30)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Connection, "open", held)
    with (
        FakeServer(echo) as server,
        client() as servers,
        ThreadPoolExecutor(1) as pool,
    ):
        opening = pool.submit(asked, servers, server.address, b"x")
        began.wait(30)
        with pytest.raises(ConnectionLost, match="is still being connected to"):
            servers.connection(server.address, "ClientService", Deadline.after(0.05))
        assert [f"127.0.0.1:{server.address[1]} ClientService"] == servers.dump()["opening"]
        go.set()
        assert b"x" == opening.result(30)


def test_a_broken_connection_is_opened_anew() -> None:
    """The call in flight is lost, the next one is answered."""

    def script(peer: Peer) -> None:
        peer.answer(peer.asked(), b"once")
        peer.asked()

    with FakeServer(script) as server, client() as servers:
        assert b"once" == asked(servers, server.address)
        with pytest.raises(ConnectionLost):
            asked(servers, server.address)
        assert b"once" == asked(servers, server.address)
        assert 1 == len(servers.dump()["connections"])


def test_a_connection_closed_in_a_silence_is_noticed_before_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No call is lost when a server closes what nobody used for long."""
    monkeypatch.setattr("rowkey.hbase.connection.connection._IDLE_S", 0.0)

    def script(peer: Peer) -> None:
        peer.answer(peer.asked(), b"once")

    with FakeServer(script) as server, client() as servers:
        for _ in range(3):
            assert b"once" == asked(servers, server.address)
            ended = server.peers[-1].socket
            while ended.fileno() != -1:
                sleep(0.001)
        assert 3 == len(server.peers)


def test_a_dead_server_is_tried_by_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others get its error at once, until the pause is over; the pause grows."""
    tried: list[float] = []
    real = Connection.open

    def counted(*arguments: object) -> Connection:
        tried.append(monotonic())
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Connection, "open", counted)
    address = ("127.0.0.1", free_port())
    lasting = Deadline.after(1.0)

    def hammer(servers: Servers) -> int:
        count = 0
        while not lasting.expired:
            with pytest.raises(ConnectionLost, match="Connection refused"):
                asked(servers, address)
            count += 1
            sleep(0.001)
        return count

    with client(pause_s=0.05, pause_most_s=0.4) as servers:
        with ThreadPoolExecutor(8) as pool:
            counts = list(pool.map(hammer, [servers] * 8))
        dead = servers.dump()["dead"]
    gaps = [after - before for before, after in pairwise(tried)]
    assert all(gap >= least for gap, least in zip(gaps, [0.05, 0.1, 0.2, 0.4, 0.4], strict=False))
    assert len(tried) <= 6 < sum(counts)
    assert [f"127.0.0.1:{address[1]}"] == list(dead)


def test_who_comes_while_a_dead_server_is_tried_does_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second try, for another service, would cost the time to connect once more."""
    go, began = threading.Event(), threading.Event()
    real = Connection.open

    def held(*arguments: object) -> Connection:
        began.set()
        go.wait(30)
        return real(*arguments)  # type: ignore[arg-type]

    address = ("127.0.0.1", free_port())
    with client(pause_s=0.001) as servers, ThreadPoolExecutor(1) as pool:
        with pytest.raises(ConnectionLost, match="Connection refused"):
            asked(servers, address)
        sleep(0.01)
        monkeypatch.setattr(Connection, "open", held)
        trying = pool.submit(asked, servers, address)
        began.wait(30)
        monkeypatch.setattr(Connection, "open", None)
        for service in ("ClientService", "AdminService"):
            with pytest.raises(ConnectionLost, match="Connection refused"):
                servers.connection(address, service, soon())
        go.set()
        with pytest.raises(ConnectionLost, match="Connection refused"):
            trying.result(30)


def test_a_server_that_comes_back_is_used_again() -> None:
    """After the pause; then it is not dead any more."""
    port = free_port()
    with client(pause_s=0.01, pause_most_s=0.01) as servers:
        with pytest.raises(ConnectionLost, match="Connection refused"):
            asked(servers, ("127.0.0.1", port))
        with FakeServer(echo, port=port) as server:
            sleep(0.02)
            assert b"back" == asked(servers, server.address, b"back")
            assert {} == servers.dump()["dead"]


def test_dropping_closes_what_was_opened_before_the_error_was_made() -> None:
    """A late word of a lost connection does not close the one that took its place."""
    with FakeServer(echo) as server, FakeServer(echo) as other, client() as servers:
        asked(servers, server.address)
        kept = servers.connection(other.address, "ClientService", soon())
        old = servers.connection(server.address, "ClientService", soon())
        error = RegionServerStopped("rs", "stopped")
        servers.drop(server.address, error)
        assert "dropped, because stopped" in str(old.broken)
        new = servers.connection(server.address, "ClientService", soon())
        servers.drop(server.address, error)
        assert new is servers.connection(server.address, "ClientService", soon())
        servers.drop(server.address)
        assert new.broken is not None
        assert kept.broken is None


def test_a_hurried_call_that_timed_out_closes_nothing() -> None:
    """Only one that was waited for as long as a call may take has cut its own connection."""
    with FakeServer(echo) as server, client() as servers:
        line = servers.connection(server.address, "ClientService", soon())
        servers.drop(server.address, CallTimedOut(line.place, "Get was not answered"))
        assert line is servers.ready(server.address, "ClientService")
        other = servers.connection(server.address, "AdminService", soon())
        line.close(CallTimedOut(line.place, "Get was not answered"))
        servers.drop(server.address, CallTimedOut(line.place, "Get was not answered"))
        assert other.broken is not None
        with pytest.raises(ConnectionLost, match="there is no connection to it"):
            servers.ready(server.address, "AdminService")


def test_an_interrupted_opening_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keyboard ends it before the socket is tried: the next one opens it."""
    real, first = Servers._establish, [KeyboardInterrupt()]

    def establish(*arguments: object) -> Connection:
        if first:
            raise first.pop()
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Servers, "_establish", establish)
    with FakeServer(echo) as server, client(pause_s=0.0) as servers:
        with pytest.raises(KeyboardInterrupt):
            servers.connection(server.address, "ClientService", soon())
        assert [] == servers.dump()["opening"]
        assert b"on" == asked(servers, server.address, b"on")


def test_closed_is_closed() -> None:
    """No connection is opened any more, and those that were are closed."""
    with FakeServer(echo) as server:
        servers = Servers(Settings())
        line = servers.connection(server.address, "ClientService", soon())
        servers.close()
        servers.close()
        assert line.broken is not None
        with pytest.raises(AskedWrongly, match="closed"):
            servers.connection(server.address, "ClientService", soon())


def test_a_name_without_an_address_is_told() -> None:
    """RFC 6761 keeps `.invalid` for that."""
    with client() as servers, pytest.raises(UnknownHost, match="name cannot be resolved"):
        servers.connection(("rs1.invalid", 16020), "ClientService", soon())


def test_a_name_server_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Resolving has no deadline of its own; the connection has."""
    go = threading.Event()
    real = socket.getaddrinfo

    def hangs(host: str, port: int, **about: int) -> object:
        if not about["flags"]:
            go.wait(30)
        return real(host, port, **about)

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    with client(connect_s=0.1) as servers:
        with pytest.raises(UnknownHost, match="no answer in time"):
            servers.connection(("localhost", 16020), "ClientService", soon())
        go.set()


def test_a_server_that_does_not_accept_costs_the_time_to_connect() -> None:
    """A full backlog: the kernel neither accepts nor refuses."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as listening:
        address = listening.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for one in fillers:
            one.setblocking(False)
            one.connect_ex(address)
        with (
            client(connect_s=0.2) as servers,
            pytest.raises(ConnectionLost, match=r"does not accept connections within 0\.2 s"),
        ):
            servers.connection(address, "ClientService", soon())
        for one in fillers:
            one.close()


def test_threads_and_sockets_do_not_grow() -> None:
    """A thousand calls, errors and reconnections later all is as before."""

    def script(peer: Peer) -> None:
        for _ in range(20):
            peer.answer(peer.asked())

    def run(servers: Servers, address: tuple[str, int]) -> int:
        lost = 0
        for _ in range(100):
            try:
                asked(servers, address)
            except ConnectionLost:
                lost += 1
            except HBaseError as error:
                pytest.fail(f"{error!r}")
        return lost

    before = threading.active_count(), open_files()
    with FakeServer(script) as server, client() as servers:
        with ThreadPoolExecutor(8) as pool:
            lost = list(pool.map(lambda _: run(servers, server.address), range(8)))
        assert sum(lost) > 0
        assert 1 >= sum(one["broken"] is None for one in servers.dump()["connections"])
    assert before == (threading.active_count(), open_files())


def test_the_dump_is_json() -> None:
    """With every connection, and the servers that are dead."""
    with FakeServer(echo) as server, client() as servers:
        asked(servers, server.address)
        with pytest.raises(ConnectionLost):
            asked(servers, ("127.0.0.1", free_port()))
        told = json.loads(json.dumps(servers.dump()))
    assert ["connections", "opening", "dead"] == list(told)
    assert [1] == [one["answers"] for one in told["connections"]]
    assert ["error", "tried_again_in_s", "probed"] == list(next(iter(told["dead"].values())))
