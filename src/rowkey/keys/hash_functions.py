"""The hash functions of `bucket` for one row; `batches.batch_hashes` has them for many rows.

Each turns the bytes of the hashed parts into a number from 0 to n-1.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from hashlib import md5

import mmh3

HASH_NAMES = ("murmur3", "crc32", "md5", "be", "java31")

HASH_DESCRIPTIONS = {
    "murmur3": "murmur3 (x86, 32 bits, seed 0, unsigned)",
    "crc32": "crc32 (zlib's, unsigned)",
    "md5": "the first 4 bytes of md5 as a big-endian number",
    "be": "the bytes as one unsigned big-endian number",
    "java31": "Java's hash of the bytes (31 h + signed byte from h = 1; sign dropped after modulo)",
}


def build_bucket_hash(name: str, n: int) -> Callable[[bytes], int]:
    """Return the function from bytes to a number below n.

    Args:
        name: one of `HASH_NAMES`.
        n: the count of buckets.

    Source: murmur3 is HBase's `util.MurmurHash3` (x86, 32 bits, seed 0), crc32 is zlib's, java31 is
    `Bytes.hashCode` reduced as Phoenix's `SaltingUtil` does: the sign is dropped after dividing.

    >>> [build_bucket_hash(name, 16)(b"web-1") for name in HASH_NAMES]
    [10, 8, 14, 1, 7]
    """
    if name == "murmur3":
        murmur3 = mmh3.hash
        return lambda data: murmur3(data, 0, False) % n
    if name == "crc32":
        return lambda data: zlib.crc32(data) % n
    if name == "md5":
        return lambda data: int.from_bytes(md5(data, usedforsecurity=False).digest()[:4], "big") % n
    if name == "be":
        return lambda data: int.from_bytes(data, "big") % n
    assert name == "java31", name
    return lambda data: abs(hash_java31(data)) % n


def hash_java31(data: bytes) -> int:
    """Return Java's hash of a byte array, a signed number of 32 bits.

    >>> hash_java31(b""), hash_java31(bytes.fromhex("9600f60013fe"))
    (1, -2147483648)
    """
    value = 1
    for byte in data:
        value = (31 * value + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
