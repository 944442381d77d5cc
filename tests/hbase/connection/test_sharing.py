"""One connection, many threads: turns, room and deadlines, each for itself."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from queue import Queue
from time import monotonic, sleep

import pytest

from hbase.connection.lines import GENEROUS_S, asked, opened, soon
from hbase.fakes import Asked, FakeServer, Peer, answer_frame, answering, stalled
from rowkey.hbase.errors import (
    AskedWrongly,
    BusyError,
    CallTimedOut,
    ConnectionLost,
    HeaderRefused,
    ServerGone,
)
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.proto import varint


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
