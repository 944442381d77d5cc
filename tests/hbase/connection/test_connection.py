import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import Queue
from time import monotonic, sleep

import pytest

from hbase.connection.lines import GENEROUS_S, build_deadline, fetch_body, open_connection
from hbase.fakes import (
    AcceptedConnection,
    FakeServer,
    ReceivedRequest,
    answer_each,
    answer_frame,
    fault_frame,
    stall,
)
from rowkey.hbase.errors import (
    AuthenticationNeeded,
    CallTimedOut,
    ConnectionLost,
    FatalConnection,
    HBaseError,
    HeaderRefused,
    InvalidRequest,
    MalformedAnswer,
    NotServingRegion,
)
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.frames import MAX_FRAME_BYTES
from rowkey.hbase.wire.proto import encode_varint


def test_a_server_receives_header_request_cells_and_timeout() -> None:
    """A server reads user, service, codec, method, param, cells and remaining time."""
    heard: Queue[ReceivedRequest] = Queue()

    def script(peer: AcceptedConnection) -> None:
        one = peer.read_request()
        heard.put(one)
        peer.answer(one, b"done", b"cells")

    with FakeServer(script) as server, closing(open_connection(server, user="ada")) as line:
        call = line.send("Multi", b"param", b"block", deadline=Deadline.from_now(30))
        answer = call.result(build_deadline())
        one, words, header = heard.get(), server.peers[0].words, server.peers[0].header
    user = header.get_message(1)
    assert b"HBas\x00P" == words
    assert ("ada", "ClientService") == (user.get_text(1) if user else None, header.get_text(2))
    assert ("Multi", b"param", b"block") == (one.method, one.param, one.cells)
    assert 29_000 < one.timeout_ms <= 30_000
    assert (b"done", b"cells") == (answer.message, bytes(answer.cells))


def test_answers_in_any_order_reach_their_calls() -> None:
    """A hundred requests are sent at once and answered in reverse."""

    def script(peer: AcceptedConnection) -> None:
        for one in [peer.read_request() for _ in range(100)][::-1]:
            peer.answer(one, one.param)

    with FakeServer(script) as server, closing(open_connection(server)) as line:
        calls = [line.send("Get", encode_varint(n), deadline=build_deadline()) for n in range(100)]
        found = [call.result(build_deadline()).message for call in calls]
    assert [encode_varint(n) for n in range(100)] == found


def test_a_remote_error_leaves_the_connection_open() -> None:
    """An error of one call has its own class, and the next call is answered."""

    def script(peer: AcceptedConnection) -> None:
        peer.fail(
            peer.read_request(),
            "org.apache.hadoop.hbase.NotServingRegionException",
            "t,,1. is gone",
        )
        peer.answer(peer.read_request(), b"fine")

    with FakeServer(script) as server, closing(open_connection(server)) as line:
        with pytest.raises(NotServingRegion, match=r"t,,1. is gone") as caught:
            fetch_body(line)
        assert line.host_port == caught.value.server
        assert b"fine" == fetch_body(line)


def test_a_call_that_times_out_closes_the_connection() -> None:
    """A timeout raises CallTimedOut for its call and ConnectionLost for the others."""
    over = threading.Event()
    with FakeServer(stall(over)) as server:
        line = open_connection(server, call_timeout_s=0.2)
        other = line.send("Scan", b"", deadline=build_deadline())
        started = monotonic()
        with pytest.raises(CallTimedOut, match="Get was not answered within"):
            line.send("Get", b"", deadline=build_deadline()).result(Deadline.from_now(0.2))
        assert monotonic() - started < GENEROUS_S
        with pytest.raises(ConnectionLost, match="closed, because Get was not answered"):
            other.result(build_deadline())
        with pytest.raises(ConnectionLost, match="closed, because Get was not answered"):
            line.send("Get", b"", deadline=build_deadline())
        assert isinstance(line.failure, CallTimedOut)
        over.set()


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        (b"", HeaderRefused, "before its first answer; it may not offer ClientService"),
        (b"\0\0\0\0", MalformedAnswer, "a frame .* has 0 bytes"),
        (b"\xff\xff\xff\xff", MalformedAnswer, "a frame .* has 4,294,967,295 bytes"),
        (b"\x40\0\0\1", MalformedAnswer, "a frame .* has 1,073,741,825 bytes"),
        (b"\0\0\0\x02\x05\x08", MalformedAnswer, "a message is 5 bytes long"),
        (b"\0\0\0\x03\xff\xff\xff", MalformedAnswer, "the bytes end within a varint"),
        (b"HTTP/1.1 400 Bad Request\r\n", MalformedAnswer, "answers with HTTP"),
        (b"\x15\x03\x03\0\x02\x02\x46", AuthenticationNeeded, "answers with TLS"),
        (b"\0\0\0\x10\x01", HeaderRefused, "closed the connection before its first answer"),
    ],
)
def test_bytes_that_are_no_answer_end_all_calls(
    raw: bytes, kind: type[HBaseError], message: str
) -> None:
    """Bytes that are not an answer end all calls at once, and the error shows them."""

    def script(peer: AcceptedConnection) -> None:
        peer.read_request()
        peer.write(raw)

    with FakeServer(script) as server:
        line = open_connection(server)
        with pytest.raises(kind, match=message):
            fetch_body(line)
        with pytest.raises(kind, match=message):
            fetch_body(line)


def test_a_stream_that_ends_within_a_frame_raises_connection_lost() -> None:
    """A stream that ends within a frame raises ConnectionLost, also in a long frame."""

    def script(peer: AcceptedConnection) -> None:
        peer.answer(peer.read_request())
        peer.read_request()
        peer.write((5 << 20).to_bytes(4, "big") + bytes(1 << 20))

    with FakeServer(script) as server:
        line = open_connection(server)
        fetch_body(line)
        with pytest.raises(ConnectionLost, match="closed the connection"):
            fetch_body(line)


def test_a_reset_connection_raises_connection_lost() -> None:
    def script(peer: AcceptedConnection) -> None:
        peer.answer(peer.read_request())
        peer.read_request()
        peer.reset()

    with FakeServer(script) as server:
        line = open_connection(server)
        fetch_body(line)
        with pytest.raises(ConnectionLost, match=r"reset by peer|closed the connection"):
            fetch_body(line)


def test_an_answer_with_an_unknown_call_id_is_dropped() -> None:
    """An answer with an unknown call id is dropped, and the next one is delivered."""

    def script(peer: AcceptedConnection) -> None:
        one = peer.read_request()
        peer.write(answer_frame(one.call_id + 77, b"not yours"))
        peer.answer(one, b"yours")

    with FakeServer(script) as server, closing(open_connection(server)) as line:
        assert b"yours" == fetch_body(line)


@pytest.mark.parametrize(
    ("java", "message", "kind"),
    [
        ("org.apache.hadoop.hbase.ipc.FatalConnectionException", "no", FatalConnection),
        ("org.apache.hadoop.hbase.ipc.WrongVersionException", "no", FatalConnection),
        ("org.apache.hadoop.hbase.ipc.BadAuthException", "no", AuthenticationNeeded),
        (
            "org.apache.hadoop.hbase.security.AccessDeniedException",
            "Authentication is required",
            AuthenticationNeeded,
        ),
    ],
)
def test_an_answer_with_call_id_minus_1_ends_all_calls(
    java: str, message: str, kind: type[HBaseError]
) -> None:
    """An answer with call id -1 breaks the connection, and all calls get its error."""

    def script(peer: AcceptedConnection) -> None:
        peer.read_request()
        peer.read_request()
        peer.write(fault_frame(-1, java, message, do_not_retry=True))

    with FakeServer(script) as server:
        line = open_connection(server)
        calls = [line.send("Get", b"", deadline=build_deadline()) for _ in range(2)]
        for call in calls:
            with pytest.raises(kind, match=message):
                call.result(build_deadline())
        assert isinstance(line.failure, kind)


def test_the_last_answer_of_a_server_that_hung_up_is_the_error_of_the_call() -> None:
    java = "org.apache.hadoop.hbase.security.AccessDeniedException"

    def script(peer: AcceptedConnection) -> None:
        peer.write(fault_frame(-1, java, "Authentication is required", do_not_retry=True))

    with FakeServer(script) as server:
        line = open_connection(server)
        with pytest.raises(AuthenticationNeeded, match="Authentication is required"):
            line.send("Get", b"", bytes(8 << 20), deadline=build_deadline()).result(
                build_deadline()
            )


def test_a_failed_send_raises_the_last_answer_of_the_server() -> None:
    """If sending fails, the error is the server's last answer and not a broken pipe."""
    java = "org.apache.hadoop.hbase.security.AccessDeniedException"

    def script(peer: AcceptedConnection) -> None:
        peer.write(fault_frame(-1, java, "Authentication is required", do_not_retry=True))

    with FakeServer(script) as server:
        line = open_connection(server)
        while not server.peers or server.peers[0].socket.fileno() != -1:
            sleep(0.001)
        line.send("Get", b"", deadline=build_deadline())
        sleep(0.05)  # until the answer to that is here: the port is closed
        with pytest.raises(AuthenticationNeeded, match="Authentication is required"):
            line.send("Get", b"", deadline=build_deadline())


def test_a_request_above_the_size_limit_is_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A request above the size limit of servers raises InvalidRequest."""
    monkeypatch.setattr("rowkey.hbase.wire.frames.MAX_FRAME_BYTES", 1000)
    with (
        FakeServer(answer_each(lambda _: b"fine")) as server,
        closing(open_connection(server)) as line,
    ):
        with pytest.raises(
            InvalidRequest,
            match=r"Multi was not sent: the request has 1,\d\d\d bytes; expected at most 1,000",
        ):
            line.send("Multi", b"", bytes(1000), deadline=build_deadline())
        assert (b"fine", 0) == (fetch_body(line), line.in_flight_count)
    assert 256 << 20 == MAX_FRAME_BYTES


def test_cell_blocks_are_compressed_in_both_directions() -> None:
    """With `compress` both sides send zlib, and callers see plain cells."""
    heard: Queue[bytes] = Queue()

    def script(peer: AcceptedConnection) -> None:
        for _ in range(2):
            one = peer.read_request()
            heard.put(one.cells)
            peer.answer(one, b"", one.cells)
        peer.answer(peer.read_request(), b"", b"not zlib")

    with FakeServer(script) as server, closing(open_connection(server, compress=True)) as line:
        found = (
            line.send("Multi", b"", b"cells" * 100, deadline=build_deadline())
            .result(build_deadline())
            .cells
        )
        empty = line.send("Multi", b"", deadline=build_deadline()).result(build_deadline()).cells
        codec = server.peers[0].header.get_text(4)
        with pytest.raises(MalformedAnswer, match="not a zlib stream"):
            fetch_body(line)
    packed, nothing = heard.get(), heard.get()
    assert (b"cells" * 100, b"", b"") == (found, empty, nothing)
    assert (b"\x78", True) == (packed[:1], len(packed) < 60)
    assert "org.apache.hadoop.io.compress.DefaultCodec" == codec


def test_call_ids_wrap_around_and_skip_calls_in_flight() -> None:
    """Call ids restart at 0 after 2^31 - 1, and are unique among open calls."""

    def script(peer: AcceptedConnection) -> None:
        kept = peer.read_request()
        for _ in range(3):
            peer.answer(one := peer.read_request(), encode_varint(one.call_id))
        peer.answer(kept, encode_varint(kept.call_id))

    with FakeServer(script) as server, closing(open_connection(server)) as line:
        line._next_call_id = 1
        kept = line.send("Scan", b"", deadline=build_deadline())
        line._next_call_id = 2**31 - 1
        found = [fetch_body(line) for _ in range(3)]
        assert [encode_varint(2**31 - 1), encode_varint(0), encode_varint(2)] == found
        assert encode_varint(1) == kept.result(build_deadline()).message


def test_a_connection_closed_during_a_read_keeps_its_descriptor_until_the_read_ends() -> None:
    """A connection closed during a read keeps its file descriptor until the read ends."""
    over = threading.Event()
    with FakeServer(stall(over)) as server, ThreadPoolExecutor(1) as pool:
        line = open_connection(server)
        waiting = pool.submit(fetch_body, line)
        while not line._readers.has_leader:
            sleep(0.001)
        line.close()
        with pytest.raises(ConnectionLost):
            waiting.result(GENEROUS_S)
        assert -1 == line._socket.fileno()
        over.set()


def test_a_connection_disables_nagle_and_enables_keepalive() -> None:
    """A connection has Nagle's algorithm off and keepalive on."""
    with FakeServer(answer_each(lambda _: b"")) as server, closing(open_connection(server)) as line:
        nodelay = line._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        keepalive = line._socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    assert (1, 1) == (nodelay, keepalive)


def test_the_dump_of_a_connection_shows_calls_in_flight() -> None:
    """The dump of a connection has calls by method, the oldest one's age, and byte counts."""
    import json

    over = threading.Event()
    with FakeServer(stall(over)) as server:
        line = open_connection(server)
        for method in ("Get", "Get", "Scan"):
            line.send(method, b"", deadline=build_deadline())
        told = line.dump_state()
        line.close()
        broken = line.dump_state()["broken"]
        over.set()
    assert {"Get": 2, "Scan": 1} == json.loads(json.dumps(told))["in_flight"]
    assert (line.host_port, "ClientService", 0, None) == (
        told["server"],
        told["service"],
        told["answers"],
        told["broken"],
    )
    assert told["bytes_sent"] > 0
    assert "the client closed the connection" in broken
