"""Hashes and bucket numbers in plain Python arithmetic: part of `reference_encoder`."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

from reference_values import InvalidByReference, require

DIGEST_BYTES = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}
ALPHABETS = {
    "decimal": "0123456789",
    "hex": "0123456789abcdef",
    "letters": "abcdefghijklmnopqrstuvwxyz",
}


def encode_number(number: int, n: int, options: dict[str, Any]) -> bytes:
    """Encode a number below n in one byte or two, or in digits.

    >>> encode_number(9, 16, {}), encode_number(9, 16, {"as": "decimal"})
    (b'\\t', b'09')
    """
    require(1 <= n <= 65_536, f"{n} is not within 1..65536")
    if "as" not in options:
        min_width = 1 if n <= 256 else 2
        width = options.get("width", min_width)
        require(width in range(min_width, 3), f"width={width} for {n}")
        return number.to_bytes(width)
    require("width" not in options, "as= and width= together")
    require(options["as"] in ALPHABETS, f"as={options['as']}")
    alphabet = ALPHABETS[options["as"]]
    digits, maximum = "", n - 1
    while maximum or not digits:
        digits = alphabet[number % len(alphabet)] + digits
        number, maximum = number // len(alphabet), maximum // len(alphabet)
    return digits.encode()


def compute_hash_bucket(hash_name: str, data: bytes, n: int) -> int:
    """Return the number below n that a hash gives for some bytes.

    >>> compute_hash_bucket("java31", b"a", 100), compute_hash_bucket("be", b"\\1\\0", 100)
    (28, 56)
    """
    require(1 <= n <= 65_536, f"{n} is not within 1..65536")
    if hash_name == "be":
        return int.from_bytes(data) % n
    if hash_name == "java31":
        # Java's % keeps the sign of the left side, so the order of abs and % does not matter.
        return abs(compute_java31(data)) % n
    require(hash_name in {"murmur3", "crc32", "md5"}, f"hash={hash_name}")
    return int.from_bytes(compute_digest(hash_name, data)[:4]) % n


def compute_digest(hash_name: str, data: bytes) -> bytes:
    """Return the whole digest of some bytes; that of a 32-bit hash is its number, big-endian."""
    if hash_name == "murmur3":
        return compute_murmur3(data).to_bytes(4)
    if hash_name == "crc32":
        return zlib.crc32(data).to_bytes(4)
    if hash_name not in DIGEST_BYTES:
        raise InvalidByReference(f"hash={hash_name}")
    return hashlib.new(hash_name, data).digest()


def compute_java31(data: bytes) -> int:
    """Return Java's hash of bytes: h = 1, then 31 h + signed byte, in 32 bits, signed.

    >>> compute_java31(b"\\xff")
    30
    """
    h = 1
    for byte in data:
        signed = byte - 256 if byte >= 128 else byte
        h = (31 * h + signed) % 2**32
    return h - 2**32 if h >= 2**31 else h


def compute_murmur3(data: bytes) -> int:
    """Return the MurmurHash3 x86 32-bit hash with seed 0, unsigned.

    Source: Austin Appleby's public-domain algorithm: blocks of four bytes, little-endian.

    >>> hex(compute_murmur3(b"")), hex(compute_murmur3(b"test"))
    ('0x0', '0xba6bd213')
    """
    h = 0
    blocks_end = len(data) - len(data) % 4
    for start in range(0, blocks_end, 4):
        h ^= _scramble_block(int.from_bytes(data[start : start + 4], "little"))
        h = (_rotate_left(h, 13) * 5 + 0xE6546B64) % 2**32
    h ^= _scramble_block(int.from_bytes(data[blocks_end:], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    return h ^ h >> 16


def _scramble_block(block: int) -> int:
    """Multiply and rotate one block as murmur3 does."""
    return _rotate_left(block * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32


def _rotate_left(number: int, bits: int) -> int:
    """Rotate a 32-bit number to the left."""
    return (number << bits | number >> 32 - bits) % 2**32
