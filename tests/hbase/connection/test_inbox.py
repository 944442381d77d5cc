import socket
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbase.fakes import frame
from rowkey.hbase.connection.frame_reader import MAX_FRAME_BYTES, FrameReader
from rowkey.hbase.wire.proto import WireFormatError


class ChunkedSocket:
    """A socket that returns its bytes in pieces of given sizes, one per read."""

    def __init__(self, stream: bytes, sizes: list[int]) -> None:
        self.stream, self.sizes, self.at = stream, sizes, 0

    def recv_into(self, free: memoryview) -> int:
        """Read the next piece."""
        size = min(self.sizes[self.at % len(self.sizes)], len(free), len(self.stream))
        self.at += 1
        free[:size] = self.stream[:size]
        self.stream = self.stream[size:]
        return size


def read_frames(stream: bytes, sizes: list[int]) -> list[bytes]:
    """Return the frames of a stream that comes in pieces."""
    inbox, tap, found = FrameReader(), ChunkedSocket(stream, sizes), []
    while inbox.fill_buffer(tap):  # type: ignore[arg-type]
        while frames := inbox.take_frames():
            found.extend(frames)
    return found


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=30),
    st.lists(st.integers(1, 60), min_size=1, max_size=10),
)
def test_frames_are_complete_whatever_the_chunks(bodies: list[bytes], sizes: list[int]) -> None:
    """A frame may come in pieces, and a chunk may hold many frames."""
    assert bodies == read_frames(b"".join(map(frame, bodies)), sizes)


@given(
    st.lists(st.integers(1, 200_000), min_size=1, max_size=5),
    st.lists(st.integers(1_000, 90_000), min_size=1, max_size=5),
)
def test_frames_longer_than_the_buffer_are_complete(lengths: list[int], sizes: list[int]) -> None:
    """Long and short frames in any order keep all their bytes."""
    bodies = [(b"%d;" % length) * (length // 7 + 1) for length in lengths]
    assert bodies == read_frames(b"".join(map(frame, bodies)), sizes)


@pytest.mark.parametrize("size", [64 << 10, (64 << 10) - 4, (64 << 10) - 5, (4 << 20) + 1, 9 << 20])
def test_frames_of_about_the_buffer_size_are_complete(size: int) -> None:
    """Frames around each size of the buffer keep all their bytes."""
    body = bytes(range(251)) * (size // 251 + 1)
    found = read_frames(frame(body[:size]) + frame(b"next"), [1 << 20, 70_000])
    assert [body[:size], b"next"] == found


@pytest.mark.parametrize("length", [0, MAX_FRAME_BYTES + 1, 2**32 - 1])
def test_frames_before_a_bad_length_are_returned(length: int) -> None:
    """Complete frames before a bad length are returned, and the next call raises."""
    inbox = FrameReader()
    inbox.fill_buffer(ChunkedSocket(frame(b"fine") + length.to_bytes(4, "big") + b"rest", [100]))  # type: ignore[arg-type]
    assert [b"fine"] == inbox.take_frames()
    with pytest.raises(WireFormatError, match=f"a frame that begins with .* has {length:,} bytes"):
        inbox.take_frames()


def test_an_announced_gigabyte_that_never_comes_allocates_little_memory() -> None:
    """An announced gigabyte that never comes allocates no more than four megabytes."""
    inbox = FrameReader()
    inbox.fill_buffer(ChunkedSocket(MAX_FRAME_BYTES.to_bytes(4, "big") + b"rest", [100]))  # type: ignore[arg-type]
    assert [] == inbox.take_frames()
    assert inbox._long_buffer is not None
    assert (4 << 20, MAX_FRAME_BYTES) == (len(inbox._long_buffer), inbox._long_size)
    assert MAX_FRAME_BYTES.to_bytes(4, "big") + b"rest" == inbox.peek_head()


def test_a_read_without_bytes_raises_blocking_io_error() -> None:
    """A read without bytes raises BlockingIOError and loses nothing."""
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        ours.setblocking(False)
        inbox = FrameReader()
        with pytest.raises(BlockingIOError):
            inbox.fill_buffer(ours)
        theirs.sendall(frame(b"now"))
        assert 7 == inbox.fill_buffer(ours)
        assert ([b"now"], 7) == (inbox.take_frames(), inbox.received_bytes)
