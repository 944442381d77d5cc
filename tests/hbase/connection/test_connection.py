import random
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import Queue
from time import monotonic, sleep

import pytest

from hbase.fakes import Asked, FakeServer, Peer, answer_frame, answering, fault_frame, stalled
from rowkey.hbase.connection import Connection
from rowkey.hbase.errors import (
    AskedWrongly,
    AuthenticationNeeded,
    BusyError,
    CallTimedOut,
    ConnectionLost,
    FatalConnection,
    HBaseError,
    HeaderRefused,
    MalformedAnswer,
    NotServingRegion,
    ServerGone,
)
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.frames import FRAME_BYTES_MOST
from rowkey.hbase.wire.proto import varint

GENEROUS_S = 10.0
"""Seconds in which everything here ends that does not hang."""


def soon() -> Deadline:
    """A deadline that no test comes near."""
    return Deadline.after(30)


def opened(server: FakeServer, **settings: object) -> Connection:
    """A connection to a fake server."""
    limits = Settings(**settings)  # type: ignore[arg-type]
    return Connection.open(server.address, "ClientService", limits, soon())


def asked(line: Connection, method: str = "Get", param: bytes = b"") -> bytes:
    """The body of the answer to one request."""
    return line.send(method, param, deadline=soon()).result(soon()).message


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


def test_sixteen_threads_each_get_their_own_answers() -> None:
    """Answers come shuffled, late and in bunches; none is swapped or lost."""
    draw = random.Random(5)

    def script(peer: Peer) -> None:
        waiting: list[Asked] = []
        while True:
            waiting.append(peer.asked())
            if len(waiting) >= draw.randint(1, 12):
                draw.shuffle(waiting)
                peer.write(b"".join(answer_frame(one.call_id, one.param) for one in waiting))
                waiting.clear()
                sleep(draw.random() / 2_000)

    def nudge(stop: threading.Event) -> None:
        while not stop.wait(0.001):  # so that the last bunch is never kept for ever
            line.send("Nudge", b"", deadline=soon()).cancel()

    def run(thread: int) -> list[bytes]:
        return [asked(line, param=b"%d/%d" % (thread, n)) for n in range(500)]

    with FakeServer(script) as server, closing(opened(server)) as line:
        stop = threading.Event()
        with ThreadPoolExecutor(17) as pool:
            nudging = pool.submit(nudge, stop)
            found = list(pool.map(run, range(16)))
            stop.set()
            nudging.result()
    assert [[b"%d/%d" % (thread, n) for n in range(500)] for thread in range(16)] == found


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


def test_waiting_threads_keep_their_own_deadlines() -> None:
    """One reads for all with a far deadline; another, asleep, is not kept beyond its own."""
    over = threading.Event()
    with FakeServer(stalled(over)) as server, ThreadPoolExecutor(1) as pool:
        line = opened(server, call_s=0.2)
        reading = pool.submit(asked, line, "Scan")
        while not line.in_flight:
            sleep(0.001)
        started = monotonic()
        with pytest.raises(CallTimedOut):
            line.send("Get", b"", deadline=soon()).result(Deadline.after(0.2))
        assert monotonic() - started < GENEROUS_S
        with pytest.raises(ConnectionLost):
            reading.result(GENEROUS_S)
        over.set()


def test_a_short_deadline_costs_nobody_else_the_connection() -> None:
    """Who waits less than a call may take gives up alone; the answer is dropped when it comes."""

    def script(peer: Peer) -> None:
        both = [peer.asked(), peer.asked()]
        hurried.wait(GENEROUS_S)
        for one in both:
            peer.answer(one, one.param)

    hurried = threading.Event()
    with FakeServer(script) as server, closing(opened(server)) as line:
        call = line.send("Mutate", b"patient", deadline=soon())
        with pytest.raises(CallTimedOut, match="Get was not answered within"):
            line.send("Get", b"hurried", deadline=soon()).result(Deadline.after(0.05))
        assert (None, 2) == (line.broken, line.in_flight)
        hurried.set()
        assert b"patient" == call.result(soon()).message
        while line.in_flight:
            line.read(1.0)


def test_what_is_sent_at_once_waits_for_nothing() -> None:
    """Without room it is refused; whether it has arrived is looked at without waiting."""
    go = threading.Event()

    def script(peer: Peer) -> None:
        one = peer.asked()
        go.wait(GENEROUS_S)
        peer.answer(one, str(one.timeout_ms).encode())

    with FakeServer(script) as server, closing(opened(server, in_flight=1)) as line:
        call = line.send("Scan", b"", deadline=soon(), at_once=True)
        with pytest.raises(BusyError, match="there is no room for Get"):
            line.send("Get", b"", deadline=soon(), at_once=True)
        assert (False, None) == (call.arrived(), line.broken)
        go.set()
        while not call.arrived():
            sleep(0.001)
        assert 20_000 < int(call.result(Deadline(0.0)).message)


def test_a_server_that_never_reads_costs_a_deadline() -> None:
    """64 MB do not fit any socket: sending ends at the deadline, and half a request breaks it."""
    over = threading.Event()
    with FakeServer(stalled(over)) as server:
        line = opened(server)
        started = monotonic()
        with pytest.raises(ServerGone, match="did not take Multi in time"):
            line.send("Multi", b"", bytes(64 << 20), deadline=Deadline.after(0.3))
        assert monotonic() - started < GENEROUS_S
        assert isinstance(line.broken, CallTimedOut)
        over.set()


def test_a_turn_to_send_is_waited_for_until_the_deadline_only() -> None:
    """Behind a sender that is stuck nothing is sent, and nothing is said of the connection."""
    over = threading.Event()
    with FakeServer(stalled(over)) as server, ThreadPoolExecutor(1) as pool:
        line = opened(server)
        stuck = pool.submit(line.send, "Multi", b"", bytes(64 << 20), deadline=Deadline.after(2))
        while not line._outbox.busy:
            sleep(0.001)
        with pytest.raises(BusyError, match="another request is still being sent"):
            line.send("Get", b"", deadline=Deadline.after(0.1))
        assert 1 == line.in_flight
        with pytest.raises(ServerGone):
            stuck.result(GENEROUS_S)
        over.set()


def test_a_server_that_stops_reading_until_it_is_read_is_read() -> None:
    """It answers each megabyte with a megabyte before it reads on: one thread only sends."""

    def script(peer: Peer) -> None:
        while True:
            one = peer.asked()
            peer.answer(one, b"", one.cells)

    cells = random.Random(1).randbytes(1 << 20)
    with FakeServer(script) as server, closing(opened(server)) as line:
        calls = [line.send("Multi", b"", cells, deadline=soon()) for _ in range(40)]
        found = [call.result(soon()).cells == cells for call in calls]
    assert [True] * 40 == found


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


def test_the_turn_to_read_goes_to_one_who_sleeps() -> None:
    """Who read for both is done and gone; the other's answer comes only then."""
    gone = threading.Event()

    def script(peer: Peer) -> None:
        first, second = sorted((peer.asked(), peer.asked()), key=lambda one: one.param)
        peer.answer(first, b"first")
        gone.wait(30)
        peer.answer(second, b"second")

    with (
        FakeServer(script) as server,
        closing(opened(server)) as line,
        ThreadPoolExecutor(2) as pool,
    ):
        leading = pool.submit(asked, line, param=b"1")
        while not line._turns.reading:
            sleep(0.001)
        sleeping = pool.submit(asked, line, param=b"2")
        assert b"first" == leading.result(GENEROUS_S)
        gone.set()
        assert b"second" == sleeping.result(GENEROUS_S)


def test_room_that_another_reads_free_wakes_who_waits_for_it() -> None:
    """The one who reads waits for an answer that comes only after the next request."""
    go = threading.Event()

    def script(peer: Peer) -> None:
        early, late = peer.asked(), peer.asked()
        go.wait(30)
        peer.answer(early)
        peer.answer(peer.asked(), b"third")
        peer.answer(late, b"late")

    with (
        FakeServer(script) as server,
        closing(opened(server, in_flight=2)) as line,
        ThreadPoolExecutor(2) as pool,
    ):
        line.send("Scan", b"", deadline=soon())
        reading = pool.submit(asked, line)
        while not line._turns.reading:
            sleep(0.001)
        third = pool.submit(asked, line)
        while not line._room:
            sleep(0.001)
        go.set()
        assert b"third" == third.result(GENEROUS_S)
        assert b"late" == reading.result(GENEROUS_S)


def test_a_cancelled_call_leaves_the_connection_alone() -> None:
    """Its answer is dropped, its waiter told, its number not given out again until then."""
    go = threading.Event()

    def script(peer: Peer) -> None:
        first = peer.asked()
        peer.answer(peer.asked(), b"second")
        go.wait(30)
        peer.answer(first, b"first")
        peer.answer(peer.asked(), b"third")

    with FakeServer(script) as server, closing(opened(server)) as line:
        call = line.send("Scan", b"", deadline=soon())
        call.cancel()
        with pytest.raises(AskedWrongly, match="Scan was cancelled"):
            call.result(soon())
        assert b"second" == asked(line)
        assert (True, 1) == (call.done, line.in_flight)
        go.set()
        assert b"third" == asked(line)
        assert 0 == line.in_flight


def test_calls_in_flight_are_bounded() -> None:
    """A third call waits for room; the server never sees more than two."""
    most = Queue[int]()

    def script(peer: Peer) -> None:
        peer.socket.settimeout(0.05)
        waiting: list[Asked] = []
        while True:
            try:
                waiting.append(peer.asked())
            except TimeoutError:
                most.put(len(waiting))
                for one in waiting:
                    peer.answer(one, one.param)
                waiting.clear()

    with FakeServer(script) as server, closing(opened(server, in_flight=2)) as line:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: asked(line, param=varint(n)), range(16)))
        seen = [most.get() for _ in range(most.qsize())]
    assert [varint(n) for n in range(16)] == found
    assert 2 == max(seen)


def test_room_is_made_by_who_waits_for_it() -> None:
    """One thread sends more than may be in flight: nobody else reads the answers that make room."""
    with (
        FakeServer(answering(lambda one: one.param)) as server,
        closing(opened(server, in_flight=3)) as line,
    ):
        calls = [line.send("Get", varint(n), deadline=soon()) for n in range(50)]
        found = [call.result(soon()).message for call in calls]
    assert [varint(n) for n in range(50)] == found


def test_no_room_until_the_deadline_is_told() -> None:
    """Nothing was sent, so the connection stays; after a long silence it is given up."""
    over = threading.Event()
    with FakeServer(stalled(over)) as server:
        line = opened(server, in_flight=1, call_s=0.3)
        line.send("Scan", b"", deadline=soon())
        with pytest.raises(BusyError, match="1 calls are in flight, there is no room for Get"):
            line.send("Get", b"", deadline=Deadline.after(0.05))
        assert line.broken is None
        with pytest.raises(ConnectionLost, match="no answer for"):
            line.send("Get", b"", deadline=Deadline.after(0.6))
        over.set()


def test_who_waits_for_room_is_told_when_the_server_hangs_up() -> None:
    """One reads, another sleeps until there is room: both are told, and nobody holds the lock."""
    over = threading.Event()

    def script(peer: Peer) -> None:
        peer.asked()
        over.wait(GENEROUS_S)
        peer.hang_up()

    with FakeServer(script) as server, ThreadPoolExecutor(2) as pool:
        line = opened(server, in_flight=1)
        reading = pool.submit(line.send("Get", b"", deadline=soon()).result, soon())
        while not line._turns.reading:
            sleep(0.001)
        waiting = pool.submit(line.send, "Get", b"", deadline=soon())
        while not line._room:
            sleep(0.001)
        over.set()
        for one in (reading, waiting):
            assert isinstance(one.exception(GENEROUS_S), HeaderRefused)
        assert (False, {}) == (line._lock.locked(), line._turns._sleepers)


def test_closing_wakes_everybody() -> None:
    """The one who reads and those who sleep get the error; a later send gets it too."""
    over = threading.Event()
    with FakeServer(stalled(over)) as server, ThreadPoolExecutor(4) as pool:
        line = opened(server)
        waiting = [pool.submit(asked, line) for _ in range(4)]
        while line.in_flight < 4:
            sleep(0.001)
        sleep(0.05)
        line.close()
        for one in waiting:
            with pytest.raises(ConnectionLost, match="closed here"):
                one.result(GENEROUS_S)
        with pytest.raises(ConnectionLost, match="closed here"):
            asked(line)
        over.set()


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


def test_an_interrupted_wait_ends_the_connection_and_wakes_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C amid a read leaves nobody behind who waits for bytes that were taken."""
    with FakeServer(answering(lambda _: None)) as server:
        line = opened(server)
        other = line.send("Scan", b"", deadline=soon())

        def interrupt(_: float) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(line, "read", interrupt)
        with pytest.raises(KeyboardInterrupt):
            asked(line)
        with pytest.raises(ConnectionLost, match="interrupted"):
            other.result(soon())


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
