"""The hashes and the numbers of a bucket, in plain arithmetic: the second half of `book`."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

from book_values import Refused, check

DIGEST_BYTES = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}
ALPHABETS = {
    "decimal": "0123456789",
    "hex": "0123456789abcdef",
    "letters": "abcdefghijklmnopqrstuvwxyz",
}


def number_bytes(number: int, n: int, options: dict[str, Any]) -> bytes:
    """A number below n in one byte or two, or in digits.

    >>> number_bytes(9, 16, {}), number_bytes(9, 16, {"as": "decimal"})
    (b'\\t', b'09')
    """
    check(1 <= n <= 65_536, f"{n} is not within 1..65536")
    if "as" not in options:
        least = 1 if n <= 256 else 2
        width = options.get("width", least)
        check(width in range(least, 3), f"width={width} for {n}")
        return number.to_bytes(width)
    check("width" not in options, "as= and width= together")
    check(options["as"] in ALPHABETS, f"as={options['as']}")
    alphabet = ALPHABETS[options["as"]]
    digits, most = "", n - 1
    while most or not digits:
        digits = alphabet[number % len(alphabet)] + digits
        number, most = number // len(alphabet), most // len(alphabet)
    return digits.encode()


def hashed(kind: str, told: bytes, n: int) -> int:
    """The number below n that a hash gives.

    >>> hashed("java31", b"a", 100), hashed("be", b"\\1\\0", 100)
    (28, 56)
    """
    check(1 <= n <= 65_536, f"{n} is not within 1..65536")
    if kind == "be":
        return int.from_bytes(told) % n
    if kind == "java31":
        # Java's % keeps the sign of the left side, so the order of abs and % does not matter.
        return abs(java31(told)) % n
    check(kind in {"murmur3", "crc32", "md5"}, f"hash={kind}")
    return int.from_bytes(digested(kind, told)[:4]) % n


def digested(kind: str, told: bytes) -> bytes:
    """The whole digest; that of a 32-bit hash is its number, big-endian."""
    if kind == "murmur3":
        return murmur3(told).to_bytes(4)
    if kind == "crc32":
        return zlib.crc32(told).to_bytes(4)
    if kind not in DIGEST_BYTES:
        raise Refused(f"hash={kind}")
    return hashlib.new(kind, told).digest()


def java31(told: bytes) -> int:
    """Java's hash of bytes: h = 1, then 31 h + signed byte, in 32 bits, signed.

    >>> java31(b"\\xff")
    30
    """
    h = 1
    for byte in told:
        signed = byte - 256 if byte >= 128 else byte
        h = (31 * h + signed) % 2**32
    return h - 2**32 if h >= 2**31 else h


def murmur3(told: bytes) -> int:
    """MurmurHash3 x86 32-bit, seed 0, unsigned.

    Source: Austin Appleby's public-domain algorithm: blocks of four bytes, little-endian.

    >>> hex(murmur3(b"")), hex(murmur3(b"test"))
    ('0x0', '0xba6bd213')
    """
    h = 0
    whole = len(told) - len(told) % 4
    for start in range(0, whole, 4):
        h ^= _scrambled(int.from_bytes(told[start : start + 4], "little"))
        h = (_rotated(h, 13) * 5 + 0xE6546B64) % 2**32
    h ^= _scrambled(int.from_bytes(told[whole:], "little"))
    h ^= len(told)
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    return h ^ h >> 16


def _scrambled(block: int) -> int:
    return _rotated(block * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) % 2**32
