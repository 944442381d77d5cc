import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import Queue
from time import monotonic, sleep

import pytest

from hbase.connection.lines import GENEROUS_S, asked, opened, soon
from hbase.fakes import Asked, FakeServer, Peer, answer_frame, answering, fault_frame, stalled
from rowkey.hbase.errors import (
    AskedWrongly,
    AuthenticationNeeded,
    CallTimedOut,
    ConnectionLost,
    FatalConnection,
    HBaseError,
    HeaderRefused,
    MalformedAnswer,
    NotServingRegion,
)
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.frames import FRAME_BYTES_MOST
from rowkey.hbase.wire.proto import varint


def test_first_words_and_a_request_are_as_the_server_reads_them() -> None:
    """Preamble, user, service, codec; then method, param, cells and the milliseconds left."""
    heard: Queue[Asked] = Queue()

    def script(peer: Peer) -> None:
        one = peer.asked()
        heard.put(one)
        peer.answer(one, b"done", b"cells")

    with FakeServer(script) as server, closing(opened(server, user="ada")) as line:
        call = line.send("Multi", b"param", b"block", deadline=Deadline.after(30))
        answer = call.result(soon())
        one, words, header = heard.get(), server.peers[0].words, server.peers[0].header
    user = header.message(1)
    assert b"HBas\x00P" == words
    assert ("ada", "ClientService") == (user.text(1) if user else None, header.text(2))
    assert ("Multi", b"param", b"block") == (one.method, one.param, one.cells)
    assert 29_000 < one.timeout_ms <= 30_000
    assert (b"done", b"cells") == (answer.message, bytes(answer.cells))


def test_answers_in_any_order_find_their_calls() -> None:
    """A hundred requests are sent at once and answered backwards."""

    def script(peer: Peer) -> None:
        for one in [peer.asked() for _ in range(100)][::-1]:
            peer.answer(one, one.param)

    with FakeServer(script) as server, closing(opened(server)) as line:
        calls = [line.send("Get", varint(n), deadline=soon()) for n in range(100)]
        found = [call.result(soon()).message for call in calls]
    assert [varint(n) for n in range(100)] == found


def test_an_exception_is_raised_by_its_class_and_the_connection_stays() -> None:
    """An error of one call is no business of the next."""

    def script(peer: Peer) -> None:
        peer.fail(
            peer.asked(), "org.apache.hadoop.hbase.NotServingRegionException", "t,,1. is gone"
        )
        peer.answer(peer.asked(), b"fine")

    with FakeServer(script) as server, closing(opened(server)) as line:
        with pytest.raises(NotServingRegion, match=r"t,,1. is gone") as caught:
            asked(line)
        assert line.place == caught.value.server
        assert b"fine" == asked(line)


def test_a_silent_server_costs_its_deadline_and_the_connection() -> None:
    """The call that waited is told so, the others that the connection was closed for it."""
    over = threading.Event()
    with FakeServer(stalled(over)) as server:
        line = opened(server, call_s=0.2)
        other = line.send("Scan", b"", deadline=soon())
        started = monotonic()
        with pytest.raises(CallTimedOut, match="Get was not answered within"):
            line.send("Get", b"", deadline=soon()).result(Deadline.after(0.2))
        assert monotonic() - started < GENEROUS_S
        with pytest.raises(ConnectionLost, match="closed, because Get was not answered"):
            other.result(soon())
        with pytest.raises(ConnectionLost, match="closed, because Get was not answered"):
            line.send("Get", b"", deadline=soon())
        assert isinstance(line.broken, CallTimedOut)
        over.set()


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        (b"", HeaderRefused, "hung up before its first answer; it may not offer ClientService"),
        (b"\0\0\0\0", MalformedAnswer, "a frame of 0 bytes"),
        (b"\xff\xff\xff\xff", MalformedAnswer, "a frame of 4,294,967,295 bytes"),
        (b"\x40\0\0\1", MalformedAnswer, "a frame of 1,073,741,825 bytes"),
        (b"\0\0\0\x02\x05\x08", MalformedAnswer, "a message of 5 bytes"),
        (b"\0\0\0\x03\xff\xff\xff", MalformedAnswer, "end within a number"),
        (b"HTTP/1.1 400 Bad Request\r\n", MalformedAnswer, "speaks HTTP"),
        (b"\x15\x03\x03\0\x02\x02\x46", AuthenticationNeeded, "answers with TLS"),
        (b"\0\0\0\x10\x01", HeaderRefused, "hung up before its first answer"),
    ],
)
def test_garbage_breaks_the_connection_and_is_named(
    raw: bytes, kind: type[HBaseError], words: str
) -> None:
    """What is no answer of HBase ends every wait at once, with what was read."""

    def script(peer: Peer) -> None:
        peer.asked()
        peer.write(raw)

    with FakeServer(script) as server:
        line = opened(server)
        with pytest.raises(kind, match=words):
            asked(line)
        with pytest.raises(kind, match=words):
            asked(line)


def test_a_cut_amid_a_frame_is_a_lost_connection() -> None:
    """Behind a first answer EOF is no refusal any more; also amid a frame that is long."""

    def script(peer: Peer) -> None:
        peer.answer(peer.asked())
        peer.asked()
        peer.write((5 << 20).to_bytes(4, "big") + bytes(1 << 20))

    with FakeServer(script) as server:
        line = opened(server)
        asked(line)
        with pytest.raises(ConnectionLost, match="closed the connection"):
            asked(line)


def test_a_reset_is_a_lost_connection() -> None:
    """So is ECONNRESET."""

    def script(peer: Peer) -> None:
        peer.answer(peer.asked())
        peer.asked()
        peer.reset()

    with FakeServer(script) as server:
        line = opened(server)
        asked(line)
        with pytest.raises(ConnectionLost, match=r"reset by peer|closed the connection"):
            asked(line)


def test_answers_to_nobody_are_dropped() -> None:
    """A number that no call has is none of ours; the next frame is."""

    def script(peer: Peer) -> None:
        one = peer.asked()
        peer.write(answer_frame(one.call_id + 77, b"not yours"))
        peer.answer(one, b"yours")

    with FakeServer(script) as server, closing(opened(server)) as line:
        assert b"yours" == asked(line)


@pytest.mark.parametrize(
    ("java", "says", "kind"),
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
def test_an_answer_to_no_call_ends_all_calls(java: str, says: str, kind: type[HBaseError]) -> None:
    """Call -1 is the connection itself: everybody gets what the server says of it."""

    def script(peer: Peer) -> None:
        peer.asked()
        peer.asked()
        peer.write(fault_frame(-1, java, says, do_not_retry=True))

    with FakeServer(script) as server:
        line = opened(server)
        calls = [line.send("Get", b"", deadline=soon()) for _ in range(2)]
        for call in calls:
            with pytest.raises(kind, match=says):
                call.result(soon())
        assert isinstance(line.broken, kind)


def test_a_server_that_refuses_without_reading_may_say_why() -> None:
    """Sending fails as the server has hung up; what it said before is read all the same."""
    java = "org.apache.hadoop.hbase.security.AccessDeniedException"

    def script(peer: Peer) -> None:
        peer.write(fault_frame(-1, java, "Authentication is required", do_not_retry=True))

    with FakeServer(script) as server:
        line = opened(server)
        with pytest.raises(AuthenticationNeeded, match="Authentication is required"):
            line.send("Get", b"", bytes(8 << 20), deadline=soon()).result(soon())


def test_last_words_are_read_when_sending_fails() -> None:
    """The server said why and was gone before anybody read it: that is told, not a broken pipe."""
    java = "org.apache.hadoop.hbase.security.AccessDeniedException"

    def script(peer: Peer) -> None:
        peer.write(fault_frame(-1, java, "Authentication is required", do_not_retry=True))

    with FakeServer(script) as server:
        line = opened(server)
        while not server.peers or server.peers[0].socket.fileno() != -1:
            sleep(0.001)
        line.send("Get", b"", deadline=soon())
        sleep(0.05)  # until the answer to that is here: the port is closed
        with pytest.raises(AuthenticationNeeded, match="Authentication is required"):
            line.send("Get", b"", deadline=soon())


def test_a_request_too_long_is_refused_and_nothing_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server cuts the connection at such a request, and all other calls with it."""
    monkeypatch.setattr("rowkey.hbase.wire.frames.FRAME_BYTES_MOST", 1000)
    with FakeServer(answering(lambda _: b"fine")) as server, closing(opened(server)) as line:
        with pytest.raises(
            AskedWrongly, match=r"Multi is a request of 1,\d\d\d bytes; expected up to 1,000"
        ):
            line.send("Multi", b"", bytes(1000), deadline=soon())
        assert (b"fine", 0) == (asked(line), line.in_flight)
    assert 256 << 20 == FRAME_BYTES_MOST


def test_cell_blocks_are_packed_both_ways() -> None:
    """With `compress` the server reads zlib and answers with it; the caller sees neither."""
    heard: Queue[bytes] = Queue()

    def script(peer: Peer) -> None:
        for _ in range(2):
            one = peer.asked()
            heard.put(one.cells)
            peer.answer(one, b"", one.cells)
        peer.answer(peer.asked(), b"", b"not zlib")

    with FakeServer(script) as server, closing(opened(server, compress=True)) as line:
        found = line.send("Multi", b"", b"cells" * 100, deadline=soon()).result(soon()).cells
        empty = line.send("Multi", b"", deadline=soon()).result(soon()).cells
        codec = server.peers[0].header.text(4)
        with pytest.raises(MalformedAnswer, match="not zlib"):
            asked(line)
    packed, nothing = heard.get(), heard.get()
    assert (b"cells" * 100, b"", b"") == (found, empty, nothing)
    assert (b"\x78", True) == (packed[:1], len(packed) < 60)
    assert "org.apache.hadoop.io.compress.DefaultCodec" == codec


def test_numbers_go_round_and_skip_those_in_flight() -> None:
    """After 2^31 - 1 comes 0, and no number is given to two calls."""

    def script(peer: Peer) -> None:
        kept = peer.asked()
        for _ in range(3):
            peer.answer(one := peer.asked(), varint(one.call_id))
        peer.answer(kept, varint(kept.call_id))

    with FakeServer(script) as server, closing(opened(server)) as line:
        line._next = 1
        kept = line.send("Scan", b"", deadline=soon())
        line._next = 2**31 - 1
        found = [asked(line) for _ in range(3)]
        assert [varint(2**31 - 1), varint(0), varint(2)] == found
        assert varint(1) == kept.result(soon()).message


def test_the_socket_is_closed_when_nobody_uses_it_any_more() -> None:
    """Ended while one reads: the last one out closes it, so that its number is not taken before."""
    over = threading.Event()
    with FakeServer(stalled(over)) as server, ThreadPoolExecutor(1) as pool:
        line = opened(server)
        waiting = pool.submit(asked, line)
        while not line._turns.reading:
            sleep(0.001)
        line.close()
        with pytest.raises(ConnectionLost):
            waiting.result(GENEROUS_S)
        assert -1 == line._socket.fileno()
        over.set()


def test_small_requests_are_not_held_back() -> None:
    """Nagle's algorithm is off, and a dead peer is noticed some day."""
    with FakeServer(answering(lambda _: b"")) as server, closing(opened(server)) as line:
        nodelay = line._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        keepalive = line._socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    assert (1, 1) == (nodelay, keepalive)


def test_the_dump_tells_what_is_in_flight() -> None:
    """By method, with the age of the oldest call and the bytes of both ways."""
    import json

    over = threading.Event()
    with FakeServer(stalled(over)) as server:
        line = opened(server)
        for method in ("Get", "Get", "Scan"):
            line.send(method, b"", deadline=soon())
        told = line.dump()
        line.close()
        broken = line.dump()["broken"]
        over.set()
    assert {"Get": 2, "Scan": 1} == json.loads(json.dumps(told))["in_flight"]
    assert (line.place, "ClientService", 0, None) == (
        told["server"],
        told["service"],
        told["answers"],
        told["broken"],
    )
    assert told["bytes_sent"] > 0
    assert "closed here" in broken
