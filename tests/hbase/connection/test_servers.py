import gc
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

from hbase.fakes import AcceptedConnection, FakeServer, answer_each, free_port
from rowkey.hbase.connection import ServerConnection, ServerConnections
from rowkey.hbase.errors import (
    AuthenticationFailed,
    CallTimedOut,
    ClientClosed,
    ConnectionLost,
    HBaseError,
    RegionServerStopped,
    UnknownHost,
)
from rowkey.hbase.settings import Deadline, Settings

echo = answer_each(lambda one: one.param)


def build_deadline() -> Deadline:
    """Return a deadline that no working test reaches."""
    return Deadline.from_now(30)


@contextmanager
def open_client(**settings: object) -> Iterator[ServerConnections]:
    """Yield the connections of a client, closed at the end."""
    with closing(ServerConnections(Settings(**settings))) as servers:  # type: ignore[arg-type]
        yield servers


def fetch_body(servers: ServerConnections, address: tuple[str, int], param: bytes = b"") -> bytes:
    """Return the body of the answer to one request."""
    line = servers.get_connection(address, "ClientService", build_deadline())
    return line.send("Get", param, deadline=build_deadline()).result(build_deadline()).message


def count_open_files() -> int:
    """Return how many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_calls_of_the_same_server_and_service_share_a_connection() -> None:
    """The same server and service share a connection, and another service has its own."""
    with FakeServer(echo) as server, open_client() as servers:
        first = servers.get_connection(server.address, "ClientService", build_deadline())
        assert first is servers.get_connection(server.address, "ClientService", build_deadline())
        assert first is not servers.get_connection(server.address, "AdminService", build_deadline())


def test_a_known_server_that_hangs_up_raises_connection_lost() -> None:
    """A server that has answered, and closes new connections, is not taken for another kind."""
    peers: list[AcceptedConnection] = []

    def script(peer: AcceptedConnection) -> None:
        peers.append(peer)
        request = peer.read_request()
        if len(peers) == 1:
            peer.answer(request, b"fine")

    with FakeServer(script) as server, open_client() as servers:
        assert b"fine" == fetch_body(servers, server.address)
        for _ in range(3):
            with pytest.raises(ConnectionLost):
                fetch_body(servers, server.address)


def test_one_of_sixteen_threads_opens_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of sixteen threads one opens the connection, and the others wait for it."""
    started = threading.Barrier(16)
    real = ServerConnection.open

    def slowly(*arguments: object) -> ServerConnection:
        sleep(0.1)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ServerConnection, "open", slowly)
    with FakeServer(echo) as server, open_client() as servers:

        def run(thread: int) -> bytes:
            started.wait()
            return fetch_body(servers, server.address, b"%d" % thread)

        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(run, range(16)))
        assert [b"%d" % thread for thread in range(16)] == found
        assert 1 == len(server.peers)


def test_a_thread_waiting_for_an_opening_keeps_its_own_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread that waits for another one's connection attempt keeps its own deadline."""
    go, began = threading.Event(), threading.Event()
    real = ServerConnection.open

    def held(*arguments: object) -> ServerConnection:
        began.set()
        go.wait(30)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ServerConnection, "open", held)
    with (
        FakeServer(echo) as server,
        open_client() as servers,
        ThreadPoolExecutor(1) as pool,
    ):
        opening = pool.submit(fetch_body, servers, server.address, b"x")
        began.wait(30)
        with pytest.raises(
            ConnectionLost, match="another thread is still connecting to the server"
        ):
            servers.get_connection(server.address, "ClientService", Deadline.from_now(0.05))
        assert [f"127.0.0.1:{server.address[1]} ClientService"] == servers.dump_state()["opening"]
        go.set()
        assert b"x" == opening.result(30)


def test_a_broken_connection_is_replaced_by_the_next_call() -> None:
    """The call in flight fails, and the next one is answered."""

    def script(peer: AcceptedConnection) -> None:
        peer.answer(peer.read_request(), b"once")
        peer.read_request()

    with FakeServer(script) as server, open_client() as servers:
        assert b"once" == fetch_body(servers, server.address)
        with pytest.raises(ConnectionLost):
            fetch_body(servers, server.address)
        assert b"once" == fetch_body(servers, server.address)
        assert 1 == len(servers.dump_state()["connections"])


def test_an_idle_connection_is_checked_before_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No call is lost when a server closes an idle connection."""
    monkeypatch.setattr("rowkey.hbase.connection.server_connection._IDLE_CHECK_S", 0.0)

    def script(peer: AcceptedConnection) -> None:
        peer.answer(peer.read_request(), b"once")

    with FakeServer(script) as server, open_client() as servers:
        for _ in range(3):
            assert b"once" == fetch_body(servers, server.address)
            ended = server.peers[-1].socket
            while ended.fileno() != -1:
                sleep(0.001)
        assert 3 == len(server.peers)


def test_one_thread_at_a_time_tries_to_connect_to_a_dead_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While a thread tries a dead server, others fail at once, with a growing pause."""
    tried: list[float] = []
    real = ServerConnection.open

    def counted(*arguments: object) -> ServerConnection:
        tried.append(monotonic())
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ServerConnection, "open", counted)
    address = ("127.0.0.1", free_port())
    lasting = Deadline.from_now(1.0)

    def hammer(servers: ServerConnections) -> int:
        count = 0
        while not lasting.is_expired:
            with pytest.raises(ConnectionLost, match="Connection refused"):
                fetch_body(servers, address)
            count += 1
            sleep(0.005)
        return count

    with open_client(retry_pause_s=0.05, max_retry_pause_s=0.4) as servers:
        with ThreadPoolExecutor(8) as pool:
            counts = list(pool.map(hammer, [servers] * 8))
        dead = servers.dump_state()["dead"]
    gaps = [after - before for before, after in pairwise(tried)]
    assert all(gap >= least for gap, least in zip(gaps, [0.05, 0.1, 0.2, 0.4, 0.4], strict=False))
    assert len(tried) <= 6 < sum(counts)
    assert [f"127.0.0.1:{address[1]}"] == list(dead)


def test_other_services_of_a_dead_server_fail_without_another_connect_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another service of a dead server fails at once, without a second connect timeout."""
    go, began = threading.Event(), threading.Event()
    real = ServerConnection.open

    def held(*arguments: object) -> ServerConnection:
        began.set()
        go.wait(30)
        return real(*arguments)  # type: ignore[arg-type]

    address = ("127.0.0.1", free_port())
    with open_client(retry_pause_s=0.001) as servers, ThreadPoolExecutor(1) as pool:
        with pytest.raises(ConnectionLost, match="Connection refused"):
            fetch_body(servers, address)
        sleep(0.01)
        monkeypatch.setattr(ServerConnection, "open", held)
        trying = pool.submit(fetch_body, servers, address)
        began.wait(30)
        monkeypatch.setattr(ServerConnection, "open", None)
        for service in ("ClientService", "AdminService"):
            with pytest.raises(ConnectionLost, match="Connection refused"):
                servers.get_connection(address, service, build_deadline())
        go.set()
        with pytest.raises(ConnectionLost, match="Connection refused"):
            trying.result(30)


def test_a_dead_server_that_comes_back_is_used_again() -> None:
    """After the pause a dead server is tried again and no longer dead if it answers."""
    port = free_port()
    with open_client(retry_pause_s=0.01, max_retry_pause_s=0.01) as servers:
        with pytest.raises(ConnectionLost, match="Connection refused"):
            fetch_body(servers, ("127.0.0.1", port))
        with FakeServer(echo, port=port) as server:
            sleep(0.02)
            assert b"back" == fetch_body(servers, server.address, b"back")
            assert {} == servers.dump_state()["dead"]


def test_a_late_error_of_a_lost_connection_does_not_close_its_replacement() -> None:
    with FakeServer(echo) as server, FakeServer(echo) as other, open_client() as servers:
        fetch_body(servers, server.address)
        kept = servers.get_connection(other.address, "ClientService", build_deadline())
        old = servers.get_connection(server.address, "ClientService", build_deadline())
        error = RegionServerStopped("rs", "stopped")
        servers.drop_connections(server.address, error)
        assert "dropped, because stopped" in str(old.failure)
        new = servers.get_connection(server.address, "ClientService", build_deadline())
        servers.drop_connections(server.address, error)
        assert new is servers.get_connection(server.address, "ClientService", build_deadline())
        servers.drop_connections(server.address)
        assert new.failure is not None
        assert kept.failure is None


def test_a_call_with_a_short_deadline_closes_no_connection() -> None:
    """A connection is closed only after a call waited for the full call timeout."""
    with FakeServer(echo) as server, open_client() as servers:
        line = servers.get_connection(server.address, "ClientService", build_deadline())
        servers.drop_connections(
            server.address, CallTimedOut(line.host_port, "Get was not answered")
        )
        assert line is servers.get_open_connection(server.address, "ClientService")
        other = servers.get_connection(server.address, "AdminService", build_deadline())
        line.close(CallTimedOut(line.host_port, "Get was not answered"))
        servers.drop_connections(
            server.address, CallTimedOut(line.host_port, "Get was not answered")
        )
        assert other.failure is not None
        with pytest.raises(ConnectionLost, match="there is no open connection to the server"):
            servers.get_open_connection(server.address, "AdminService")


def test_an_interrupted_opening_does_not_block_the_next_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After KeyboardInterrupt the next thread opens the connection."""
    real, first = ServerConnections._open_connection, [KeyboardInterrupt()]

    def establish(*arguments: object) -> ServerConnection:
        if first:
            raise first.pop()
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ServerConnections, "_open_connection", establish)
    with FakeServer(echo) as server, open_client(retry_pause_s=0.0) as servers:
        with pytest.raises(KeyboardInterrupt):
            servers.get_connection(server.address, "ClientService", build_deadline())
        assert [] == servers.dump_state()["opening"]
        assert b"on" == fetch_body(servers, server.address, b"on")


def test_a_failed_authentication_is_told_to_all_threads_until_it_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next call names the ticket that has expired too, and one after the pause connects."""
    real = ServerConnections._open_connection
    failed = AuthenticationFailed("rs", "the Kerberos ticket has expired")
    first: list[Exception] = [failed]

    def establish(*arguments: object) -> ServerConnection:
        if first:
            raise first.pop()
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ServerConnections, "_open_connection", establish)
    with FakeServer(echo) as server, open_client(retry_pause_s=0.5, max_retry_pause_s=0.5) as one:
        for _ in range(2):
            with pytest.raises(AuthenticationFailed, match="has expired"):
                one.get_connection(server.address, "ClientService", build_deadline())
        assert [] == first
        sleep(0.8)
        assert b"on" == fetch_body(one, server.address, b"on")


def test_a_closed_client_opens_no_connection() -> None:
    """A closed client closes all connections and raises ClientClosed on opening one."""
    with FakeServer(echo) as server:
        servers = ServerConnections(Settings())
        line = servers.get_connection(server.address, "ClientService", build_deadline())
        servers.close()
        servers.close()
        assert line.failure is not None
        with pytest.raises(ClientClosed, match="closed"):
            servers.get_connection(server.address, "ClientService", build_deadline())


def test_a_name_without_address_raises_unknown_host() -> None:
    """A host without an address, such as `.invalid` names, raises UnknownHost."""
    with open_client() as servers, pytest.raises(UnknownHost, match="name cannot be resolved"):
        servers.get_connection(("rs1.invalid", 16020), "ClientService", build_deadline())


def test_resolving_a_name_ends_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Resolving a name ends at the deadline of the connection."""
    go = threading.Event()
    real = socket.getaddrinfo

    def hangs(host: str, port: int, **about: int) -> object:
        if not about["flags"]:
            go.wait(30)
        return real(host, port, **about)

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    with open_client(connect_timeout_s=0.1) as servers:
        with pytest.raises(UnknownHost, match="no answer in time"):
            servers.get_connection(("localhost", 16020), "ClientService", build_deadline())
        go.set()


def test_a_server_with_a_full_backlog_costs_the_connect_timeout() -> None:
    with closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as listening:
        address = listening.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for one in fillers:
            one.setblocking(False)
            one.connect_ex(address)
        with (
            open_client(connect_timeout_s=0.2) as servers,
            pytest.raises(ConnectionLost, match=r"does not accept connections within 0\.\d+ s"),
        ):
            servers.get_connection(address, "ClientService", build_deadline())
        for one in fillers:
            one.close()


def test_threads_and_sockets_do_not_grow_over_a_thousand_calls() -> None:
    """Threads and sockets do not grow over a thousand calls, errors and reconnections."""

    def script(peer: AcceptedConnection) -> None:
        for _ in range(20):
            peer.answer(peer.read_request())

    def run(servers: ServerConnections, address: tuple[str, int]) -> int:
        lost = 0
        for _ in range(100):
            try:
                fetch_body(servers, address)
            except ConnectionLost:
                lost += 1
            except HBaseError as error:
                pytest.fail(f"{error!r}")
        return lost

    gc.collect()  # what earlier tests have left may close its files at any time
    before = threading.active_count(), count_open_files()
    with FakeServer(script) as server, open_client() as servers:
        with ThreadPoolExecutor(8) as pool:
            lost = list(pool.map(lambda _: run(servers, server.address), range(8)))
        assert sum(lost) > 0
        assert 1 >= sum(one["broken"] is None for one in servers.dump_state()["connections"])
    assert before[0] >= threading.active_count()
    assert before[1] >= count_open_files()


def test_the_dump_of_all_connections_is_json() -> None:
    """The JSON dump has every connection and the dead servers."""
    with FakeServer(echo) as server, open_client() as servers:
        fetch_body(servers, server.address)
        with pytest.raises(ConnectionLost):
            fetch_body(servers, ("127.0.0.1", free_port()))
        told = json.loads(json.dumps(servers.dump_state()))
    assert ["connections", "opening", "dead"] == list(told)
    assert [1] == [one["answers"] for one in told["connections"]]
    assert ["error", "tried_again_in_s", "probed"] == list(next(iter(told["dead"].values())))
