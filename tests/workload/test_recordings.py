"""Shipped recordings identify nobody: no address can be computed from a token."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from hashlib import md5, sha1, sha256
from importlib import resources
from itertools import product
from pathlib import Path
from zlib import crc32

import mmh3
import pytest

import rowkey

LOG = Path(str(resources.files(rowkey))) / "examples" / "apache_access.log.gz"
CRAWLERS = ("66.249", "157.55", "207.46", "100.43")
"""Networks of search engines, whose clients are in this log as in any other: 262,144 addresses."""
HASHES: tuple[Callable[[bytes], str], ...] = (
    lambda text: md5(text).hexdigest(),
    lambda text: sha1(text).hexdigest(),
    lambda text: sha256(text).hexdigest(),
    lambda text: f"{crc32(text):08x}",
    lambda text: f"{mmh3.hash(text, signed=False):08x}",
)


def list_clients() -> set[str]:
    """Return the clients of the log."""
    lines = gzip.decompress(LOG.read_bytes()).decode("latin-1").splitlines()
    assert 10_000 == len(lines)
    return {line.split(" ", 1)[0] for line in lines}


@pytest.mark.long
def test_no_client_in_the_recordings_is_the_hash_of_an_address() -> None:
    """No client is a common hash of any address, as such hashes can be searched."""
    found = list_clients()
    assert 1_753 == len(found)
    assert all(re.fullmatch("h[0-9a-f]{10}", client) for client in found)
    digits = {client[1:] for client in found}  # ten, so that only ten of a hash can be equal
    for network, low, high in product(CRAWLERS, range(256), range(256)):
        address = f"{network}.{low}.{high}".encode()
        for make in HASHES:
            assert make(address)[:10] not in digits, address


def test_the_gzip_header_of_the_packed_log_has_no_time_and_no_name() -> None:
    """The gzip header has no time and no name, so equal files have equal bytes."""
    flags, time = LOG.read_bytes()[3], LOG.read_bytes()[4:8]
    assert (0, bytes(4)) == (flags, time)
