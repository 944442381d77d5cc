"""Small files: read with a bound, and only if they are regular."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from rowkey.durable_files import read_regular_file


def test_a_file_of_exactly_the_allowed_size_is_read(tmp_path: Path) -> None:
    """A file with exactly the allowed number of bytes is returned; also through a link."""
    (tmp_path / "file").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("file")

    assert read_regular_file(tmp_path / "file", 10) == b"0123456789"
    assert read_regular_file(str(tmp_path / "link"), 10) == b"0123456789"


def test_a_file_above_the_allowed_size_is_refused_with_both_sizes(tmp_path: Path) -> None:
    """The error of a file with one byte too many names both sizes."""
    (tmp_path / "file").write_bytes(b"0123456789")

    with pytest.raises(OSError, match="it has 10 bytes, more than 9"):
        read_regular_file(tmp_path / "file", 9)


def test_a_pipe_in_place_of_a_file_is_refused_at_once(tmp_path: Path) -> None:
    """A pipe that nobody writes to is an error, and lets nobody wait."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match="it is no regular file"):
        read_regular_file(tmp_path / "pipe", 10)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_link_to_a_device_is_refused_as_a_file(tmp_path: Path, device: str) -> None:
    """A link to a device that never ends, or is empty, is an error."""
    (tmp_path / "link").symlink_to(device)

    with pytest.raises(OSError, match="it is no regular file"):
        read_regular_file(tmp_path / "link", 10)


def test_directories_and_sockets_are_refused_as_files(tmp_path: Path) -> None:
    """A directory or a socket in place of the file is an error."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (tmp_path, tmp_path / "socket"):
            with pytest.raises(OSError, match=r"directory|regular file|[Nn]o such device"):
                read_regular_file(path, 10)
