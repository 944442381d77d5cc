"""One connection shared by many threads, each with its own deadline."""

import os
import random
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
    stall,
)
from rowkey.hbase.errors import (
    BusyError,
    CallTimedOut,
    ConnectionLost,
    HeaderRefused,
    InvalidRequest,
    ServerGone,
)
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.proto import encode_varint

CALLS = 120 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 60
"""Calls of each of many threads."""


def test_each_of_sixteen_threads_gets_its_own_answers() -> None:
    """Answers that come shuffled, late and in bunches reach the right calls."""
    draw = random.Random(5)

    def script(peer: AcceptedConnection) -> None:
        waiting: list[ReceivedRequest] = []
        while True:
            waiting.append(peer.read_request())
            if len(waiting) >= draw.randint(1, 12):
                draw.shuffle(waiting)
                peer.write(b"".join(answer_frame(one.call_id, one.param) for one in waiting))
                waiting.clear()
                sleep(draw.random() / 2_000)

    def nudge(stop: threading.Event) -> None:
        while not stop.wait(0.001):  # so that the last bunch is never kept for ever
            line.send("Nudge", b"", deadline=build_deadline()).cancel()

    def run(thread: int) -> list[bytes]:
        return [fetch_body(line, param=b"%d/%d" % (thread, n)) for n in range(CALLS)]

    with FakeServer(script) as server, closing(open_connection(server)) as line:
        stop = threading.Event()
        with ThreadPoolExecutor(17) as pool:
            nudging = pool.submit(nudge, stop)
            found = list(pool.map(run, range(16)))
            stop.set()
            nudging.result()
    assert [[b"%d/%d" % (thread, n) for n in range(CALLS)] for thread in range(16)] == found


def test_a_follower_times_out_at_its_own_deadline() -> None:
    """A follower times out at its own deadline while the leader reads on."""
    over = threading.Event()
    with FakeServer(stall(over)) as server, ThreadPoolExecutor(1) as pool:
        line = open_connection(server, call_timeout_s=0.2)
        reading = pool.submit(fetch_body, line, "Scan")
        while not line.in_flight_count:
            sleep(0.001)
        started = monotonic()
        with pytest.raises(CallTimedOut):
            line.send("Get", b"", deadline=build_deadline()).result(Deadline.from_now(0.2))
        assert monotonic() - started < GENEROUS_S
        with pytest.raises(ConnectionLost):
            reading.result(GENEROUS_S)
        over.set()


def test_a_call_with_a_short_deadline_fails_alone() -> None:
    """A call with a short deadline fails alone, and its late answer is dropped."""

    def script(peer: AcceptedConnection) -> None:
        both = [peer.read_request(), peer.read_request()]
        hurried.wait(GENEROUS_S)
        for one in both:
            peer.answer(one, one.param)

    hurried = threading.Event()
    with FakeServer(script) as server, closing(open_connection(server)) as line:
        call = line.send("Mutate", b"patient", deadline=build_deadline())
        with pytest.raises(CallTimedOut, match="Get was not answered within"):
            line.send("Get", b"hurried", deadline=build_deadline()).result(Deadline.from_now(0.05))
        assert (None, 2) == (line.failure, line.in_flight_count)
        hurried.set()
        assert b"patient" == call.result(build_deadline()).message
        while line.in_flight_count:
            line.read(1.0)


def test_sending_without_waiting_raises_busy_error_at_the_limit() -> None:
    """Sending without waiting raises BusyError at the limit, and `has_arrived` returns."""
    go = threading.Event()

    def script(peer: AcceptedConnection) -> None:
        one = peer.read_request()
        go.wait(GENEROUS_S)
        peer.answer(one, str(one.timeout_ms).encode())

    with FakeServer(script) as server, closing(open_connection(server, max_in_flight=1)) as line:
        call = line.send("Scan", b"", deadline=build_deadline(), no_wait=True)
        with pytest.raises(
            BusyError, match="Get was not sent: the connection has 1 call in flight"
        ):
            line.send("Get", b"", deadline=build_deadline(), no_wait=True)
        assert (False, None) == (call.has_arrived(), line.failure)
        go.set()
        while not call.has_arrived():
            sleep(0.001)
        assert 20_000 < int(call.result(Deadline(0.0)).message)


def test_a_request_half_sent_at_its_deadline_breaks_the_connection() -> None:
    over = threading.Event()
    with FakeServer(stall(over)) as server, closing(open_connection(server)) as line:

        class HalfSent(Deadline):
            """A deadline that is over once some bytes are sent, however slow the machine is."""

            @property
            def is_expired(self) -> bool:
                return line._frame_writer.sent_bytes > 0

        with pytest.raises(ServerGone, match="Multi was not sent in time"):
            line.send("Multi", b"", bytes(64 << 20), deadline=HalfSent.from_now(30))
        assert isinstance(line.failure, CallTimedOut)
        over.set()


def test_a_call_waiting_to_send_fails_at_its_deadline() -> None:
    """If another thread is stuck sending, the call fails and the connection stays."""
    over = threading.Event()
    with FakeServer(stall(over)) as server, ThreadPoolExecutor(1) as pool:
        line = open_connection(server)
        stuck = pool.submit(line.send, "Multi", b"", bytes(64 << 20), deadline=Deadline.from_now(1))
        while not line._frame_writer.is_sending:
            sleep(0.001)
        with pytest.raises(BusyError, match="another request was being sent"):
            line.send("Get", b"", deadline=Deadline.from_now(0.1))
        assert 1 == line.in_flight_count
        with pytest.raises(ServerGone):
            stuck.result(GENEROUS_S)
        over.set()


def test_a_sender_reads_answers_when_the_server_stops_reading() -> None:
    """A sender reads answers while a server stops reading until answers are taken."""

    def script(peer: AcceptedConnection) -> None:
        while True:
            one = peer.read_request()
            peer.answer(one, b"", one.cells)

    cells = random.Random(1).randbytes(1 << 20)
    with FakeServer(script) as server, closing(open_connection(server)) as line:
        calls = [line.send("Multi", b"", cells, deadline=build_deadline()) for _ in range(40)]
        found = [call.result(build_deadline()).cells == cells for call in calls]
    assert [True] * 40 == found


def test_a_follower_becomes_the_leader_when_the_leader_has_its_answer() -> None:
    """When the leader has its answer, a follower reads its own."""
    gone = threading.Event()

    def script(peer: AcceptedConnection) -> None:
        first, second = sorted(
            (peer.read_request(), peer.read_request()), key=lambda one: one.param
        )
        peer.answer(first, b"first")
        gone.wait(30)
        peer.answer(second, b"second")

    with (
        FakeServer(script) as server,
        closing(open_connection(server)) as line,
        ThreadPoolExecutor(2) as pool,
    ):
        leading = pool.submit(fetch_body, line, param=b"1")
        while not line._readers.has_leader:
            sleep(0.001)
        sleeping = pool.submit(fetch_body, line, param=b"2")
        assert b"first" == leading.result(GENEROUS_S)
        gone.set()
        assert b"second" == sleeping.result(GENEROUS_S)


def test_an_answer_wakes_a_thread_that_waits_to_send() -> None:
    """A thread that waits to send is woken by an answer that the leader reads."""
    go = threading.Event()

    def script(peer: AcceptedConnection) -> None:
        early, late = peer.read_request(), peer.read_request()
        go.wait(30)
        peer.answer(early)
        peer.answer(peer.read_request(), b"third")
        peer.answer(late, b"late")

    with (
        FakeServer(script) as server,
        closing(open_connection(server, max_in_flight=2)) as line,
        ThreadPoolExecutor(2) as pool,
    ):
        line.send("Scan", b"", deadline=build_deadline())
        reading = pool.submit(fetch_body, line)
        while not line._readers.has_leader:
            sleep(0.001)
        third = pool.submit(fetch_body, line)
        while not line._slot_waiters:
            sleep(0.001)
        go.set()
        assert b"third" == third.result(GENEROUS_S)
        assert b"late" == reading.result(GENEROUS_S)


def test_a_cancelled_call_leaves_the_connection_open() -> None:
    """A cancelled call raises, its answer is dropped, and its id is reused only after that."""
    go = threading.Event()

    def script(peer: AcceptedConnection) -> None:
        first = peer.read_request()
        peer.answer(peer.read_request(), b"second")
        go.wait(30)
        peer.answer(first, b"first")
        peer.answer(peer.read_request(), b"third")

    with FakeServer(script) as server, closing(open_connection(server)) as line:
        call = line.send("Scan", b"", deadline=build_deadline())
        call.cancel()
        with pytest.raises(InvalidRequest, match="Scan was cancelled"):
            call.result(build_deadline())
        assert b"second" == fetch_body(line)
        assert (True, 1) == (call.has_outcome, line.in_flight_count)
        go.set()
        assert b"third" == fetch_body(line)
        assert 0 == line.in_flight_count


def test_a_third_call_waits_at_a_limit_of_two() -> None:
    most = Queue[int]()

    def script(peer: AcceptedConnection) -> None:
        peer.socket.settimeout(0.05)
        waiting: list[ReceivedRequest] = []
        while True:
            try:
                waiting.append(peer.read_request())
            except TimeoutError:
                most.put(len(waiting))
                for one in waiting:
                    peer.answer(one, one.param)
                waiting.clear()

    with FakeServer(script) as server, closing(open_connection(server, max_in_flight=2)) as line:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: fetch_body(line, param=encode_varint(n)), range(16)))
        seen = [most.get() for _ in range(most.qsize())]
    assert [encode_varint(n) for n in range(16)] == found
    assert 2 == max(seen)


def test_a_single_sender_at_the_limit_reads_answers_itself() -> None:
    """A thread that reaches the limit reads the answers itself."""
    with (
        FakeServer(answer_each(lambda one: one.param)) as server,
        closing(open_connection(server, max_in_flight=3)) as line,
    ):
        calls = [line.send("Get", encode_varint(n), deadline=build_deadline()) for n in range(50)]
        found = [call.result(build_deadline()).message for call in calls]
    assert [encode_varint(n) for n in range(50)] == found


def test_a_call_above_the_limit_raises_busy_error() -> None:
    """A call above the limit raises BusyError and is not sent."""
    over = threading.Event()
    with FakeServer(stall(over)) as server:
        line = open_connection(server, max_in_flight=1, call_timeout_s=0.3)
        line.send("Scan", b"", deadline=build_deadline())
        with pytest.raises(
            BusyError, match="Get was not sent: the connection has 1 call in flight"
        ):
            line.send("Get", b"", deadline=Deadline.from_now(0.05))
        assert line.failure is None
        with pytest.raises(ConnectionLost, match="no answer came for"):
            line.send("Get", b"", deadline=Deadline.from_now(0.6))
        over.set()


def test_a_hang_up_raises_in_threads_that_wait_to_send() -> None:
    """A hang-up raises in the leader and in waiting senders, and leaves no lock held."""
    over = threading.Event()

    def script(peer: AcceptedConnection) -> None:
        peer.read_request()
        over.wait(GENEROUS_S)
        peer.hang_up()

    with FakeServer(script) as server, ThreadPoolExecutor(2) as pool:
        line = open_connection(server, max_in_flight=1)
        reading = pool.submit(
            line.send("Get", b"", deadline=build_deadline()).result, build_deadline()
        )
        while not line._readers.has_leader:
            sleep(0.001)
        waiting = pool.submit(line.send, "Get", b"", deadline=build_deadline())
        while not line._slot_waiters:
            sleep(0.001)
        over.set()
        for one in (reading, waiting):
            assert isinstance(one.exception(GENEROUS_S), HeaderRefused)
        assert (False, {}) == (line._lock.locked(), line._readers._followers)


def test_closing_a_connection_wakes_all_threads() -> None:
    """Closing a connection raises in the leader, the followers and later calls."""
    over = threading.Event()
    with FakeServer(stall(over)) as server, ThreadPoolExecutor(4) as pool:
        line = open_connection(server)
        waiting = [pool.submit(fetch_body, line) for _ in range(4)]
        while line.in_flight_count < 4:
            sleep(0.001)
        sleep(0.05)
        line.close()
        for one in waiting:
            with pytest.raises(ConnectionLost, match="the client closed the connection"):
                one.result(GENEROUS_S)
        with pytest.raises(ConnectionLost, match="the client closed the connection"):
            fetch_body(line)
        over.set()


def test_an_interrupted_read_wakes_all_other_threads_with_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C during a read wakes all other threads with an error."""
    with FakeServer(answer_each(lambda _: None)) as server:
        line = open_connection(server)
        other = line.send("Scan", b"", deadline=build_deadline())

        def interrupt(_: float) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(line, "read", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch_body(line)
        with pytest.raises(ConnectionLost, match="interrupted"):
            other.result(build_deadline())


def test_a_request_whose_deadline_is_over_is_not_sent() -> None:
    """A process may be suspended while it waits to send, and go on when it is too late."""
    with (
        FakeServer(answer_each(lambda one: one.param)) as server,
        closing(open_connection(server)) as line,
    ):
        with pytest.raises(BusyError, match="was not sent, because its time was over"):
            line.send("Late", b"", deadline=Deadline.from_now(0.0))
        assert b"x" == fetch_body(line, param=b"x")
