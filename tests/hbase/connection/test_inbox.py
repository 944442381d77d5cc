import socket
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbase.fakes import framed
from rowkey.hbase.connection.inbox import LONGEST_FRAME, Inbox
from rowkey.hbase.wire.proto import Malformed


class Taps:
    """A socket that gives its bytes in pieces of given sizes, one a read."""

    def __init__(self, stream: bytes, sizes: list[int]) -> None:
        self.stream, self.sizes, self.at = stream, sizes, 0

    def recv_into(self, free: memoryview) -> int:
        """As of a socket."""
        size = min(self.sizes[self.at % len(self.sizes)], len(free), len(self.stream))
        self.at += 1
        free[:size] = self.stream[:size]
        self.stream = self.stream[size:]
        return size


def drained(stream: bytes, sizes: list[int]) -> list[bytes]:
    """The frames of a stream that comes in pieces."""
    inbox, tap, found = Inbox(), Taps(stream, sizes), []
    while inbox.fill(tap):  # type: ignore[arg-type]
        while frames := inbox.frames():
            found.extend(frames)
    return found


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=30),
    st.lists(st.integers(1, 60), min_size=1, max_size=10),
)
def test_frames_are_the_same_however_the_stream_is_cut(
    bodies: list[bytes], sizes: list[int]
) -> None:
    """A frame may come in pieces, and a piece may hold many frames."""
    assert bodies == drained(b"".join(map(framed, bodies)), sizes)


@given(
    st.lists(st.integers(1, 200_000), min_size=1, max_size=5),
    st.lists(st.integers(1_000, 90_000), min_size=1, max_size=5),
)
def test_frames_longer_than_the_buffer_are_whole(lengths: list[int], sizes: list[int]) -> None:
    """Long and short ones in any order, each byte in its place."""
    bodies = [(b"%d;" % length) * (length // 7 + 1) for length in lengths]
    assert bodies == drained(b"".join(map(framed, bodies)), sizes)


@pytest.mark.parametrize("size", [64 << 10, (64 << 10) - 4, (64 << 10) - 5, (4 << 20) + 1, 9 << 20])
def test_frames_about_the_sizes_of_buffers_are_whole(size: int) -> None:
    """One that just fits, one that just does not, one for which its buffer grows."""
    body = bytes(range(251)) * (size // 251 + 1)
    found = drained(framed(body[:size]) + framed(b"next"), [1 << 20, 70_000])
    assert [body[:size], b"next"] == found


@pytest.mark.parametrize("length", [0, LONGEST_FRAME + 1, 2**32 - 1])
def test_a_length_that_is_none_is_named_and_frames_before_it_are_had(length: int) -> None:
    """What came whole before a lie is still an answer."""
    inbox = Inbox()
    inbox.fill(Taps(framed(b"fine") + length.to_bytes(4, "big") + b"rest", [100]))  # type: ignore[arg-type]
    assert [b"fine"] == inbox.frames()
    with pytest.raises(Malformed, match=f"a frame of {length:,} bytes, beginning with"):
        inbox.frames()


def test_a_length_that_lies_costs_no_memory() -> None:
    """A gigabyte is announced, nothing of it comes: four megabytes are kept for it."""
    inbox = Inbox()
    inbox.fill(Taps(LONGEST_FRAME.to_bytes(4, "big") + b"rest", [100]))  # type: ignore[arg-type]
    assert [] == inbox.frames()
    assert inbox._long is not None
    assert (4 << 20, LONGEST_FRAME) == (len(inbox._long), inbox._long_size)
    assert LONGEST_FRAME.to_bytes(4, "big") + b"rest" == inbox.head()


def test_a_real_socket_without_bytes_is_not_waited_for() -> None:
    """BlockingIOError, and nothing is lost."""
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        ours.setblocking(False)
        inbox = Inbox()
        with pytest.raises(BlockingIOError):
            inbox.fill(ours)
        theirs.sendall(framed(b"now"))
        assert 7 == inbox.fill(ours)
        assert ([b"now"], 7) == (inbox.frames(), inbox.received)
