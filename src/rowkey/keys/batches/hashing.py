"""The hashes a bucket may use, for many rows at once."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from rowkey.keys.batches.pieces import Fixed, Ints, Pieces, Spans, windows
from rowkey.keys.hashing import reducer

if TYPE_CHECKING:
    from collections.abc import Callable

Words = np.ndarray[tuple[int], np.dtype[Any]]

LONGEST = 256
"""Longer strings are hashed one by one: a step per word over all rows would cost more."""


def numbers(name: str, pieces: Pieces, n: int) -> Ints:
    """For each row the number below `n` that `hashing.reducer` gives for its bytes.

    Cost: murmur3 about 4 ns for each word of 4 bytes; md5 400 ns, it has no other way.
    """
    if name == "md5":
        reduce = reducer(name, n)
        return np.fromiter(map(reduce, pieces.tolist()), np.int64, len(pieces))
    if isinstance(pieces, Fixed):
        return _reduced(name, _FIXED[name](pieces, n), n)
    return _of_strings(name, pieces.spans() if name != "murmur3" else pieces, n)


def _of_strings(name: str, pieces: Pieces, n: int) -> Ints:
    """Short strings together, long ones one by one."""
    lengths = pieces.lengths
    assert isinstance(pieces, Spans)
    if not len(pieces) or int(lengths.max()) <= LONGEST:
        return _reduced(name, _STRINGS[name](pieces, n), n)
    out = np.empty(len(pieces), np.int64)
    short, long = np.flatnonzero(lengths <= LONGEST), np.flatnonzero(lengths > LONGEST)
    if len(short):
        out[short] = _of_strings(name, pieces.take(short), n)
    reduce = reducer(name, n)
    out[long] = np.fromiter(map(reduce, pieces.take(long).tolist()), np.int64, len(long))
    return out


def _reduced(name: str, hashes: Words, n: int) -> Ints:
    if name == "java31":
        signed = hashes.view(np.int32).astype(np.int64)
        return np.abs(signed) % n
    kind = hashes.dtype.type
    reduced: Ints = hashes & kind(n - 1) if n & (n - 1) == 0 else hashes % kind(n)
    return reduced


def murmur3(pieces: Pieces) -> Words:
    """murmur3 x86 of 32 bits, seed 0, of each row's bytes.

    Source: MurmurHash3_x86_32, as in hbase-common's `util.MurmurHash3`.
    """
    return _murmur3_fixed(pieces) if isinstance(pieces, Fixed) else _murmur3_strings(pieces.spans())


def _murmur3_fixed(pieces: Fixed, _: int = 0) -> Words:
    count, width = len(pieces), pieces.width
    whole, tail = divmod(width, 4)
    if tail:
        padded = np.zeros((count, 4 * whole + 4), np.uint8)
        padded[:, :width] = pieces.matrix()
        words = padded.view("<u4")
    else:
        words = pieces.matrix().view("<u4")
    hashes, spare = np.zeros(count, np.uint32), np.empty(count, np.uint32)
    for index in range(whole):
        _murmur3_mix(hashes, words[:, index], spare)
    if tail:
        hashes ^= _murmur3_scramble(words[:, whole], spare)
    return _murmur3_finish(hashes, np.uint32(width), spare)


def _murmur3_strings(pieces: Spans, _: int = 0) -> Words:
    """The same over strings of different lengths; an end of 00 needs no copy.

    Rows are put in order of their number of words, so that each step works on a run from the start;
    eight words of a row are fetched at a time.
    """
    if pieces.end.strip(b"\0"):
        pieces = pieces.packed()
    lengths = pieces.lengths
    blocks = lengths >> 2
    most = int(blocks.max(initial=0))
    order = np.argsort((most - blocks).astype(np.uint8), kind="stable")
    starts, inner, blocks = pieces.starts.take(order), pieces.inner.take(order), blocks.take(order)
    more_than = len(order) - np.cumsum(np.bincount(blocks, minlength=most + 9))
    # The end is not copied, and words are fetched up to it.
    beyond = np.zeros(_FETCH + len(pieces.end), np.uint8)
    fetched = windows(np.concatenate([pieces.data, beyond]), _FETCH)
    hashes, spare = np.zeros(len(order), np.uint32), np.empty(len(order), np.uint32)
    for first in range(0, most + 1, 8):
        count = int(more_than[first - 1]) if first else len(order)
        table = fetched[starts[:count] + 4 * first].view("<u4").reshape(count, 8)
        for number in range(first, min(first + 8, most)):
            some, fewer = int(more_than[number]), int(more_than[number + 1])
            if pieces.end:
                _cut(table[fewer:some, number - first], inner[fewer:some] - 4 * number)
            _murmur3_mix(hashes[:some], table[:some, number - first], spare[:some])
        done = slice(int(more_than[first + 7]), count)
        whole = blocks[done]
        place = np.arange(done.start, count) * 8 + (whole - first)
        tail = table.reshape(-1).take(place)
        _cut(tail, inner[done] - 4 * whole)
        hashes[done] ^= _murmur3_scramble(tail, spare[done])
    hashes = _murmur3_finish(hashes, lengths.take(order).astype(np.uint32), spare)
    out = np.empty_like(hashes)
    out[order] = hashes
    return out


_FETCH = 32
"""Bytes of a string fetched at a time; fetching 4 costs as much."""


def _cut(word: Words, kept: Ints) -> None:
    """Keep the first bytes of each word, as many as are left of its string, and clear the rest."""
    word &= _MASKS.take(kept, mode="clip")


_MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF], np.uint32)


def _murmur3_scramble(word: Words, spare: Words) -> Words:
    word = word * np.uint32(0xCC9E2D51)
    _rotate(word, 15, spare)
    word *= np.uint32(0x1B873593)
    return word


def _murmur3_mix(hashes: Words, word: Words, spare: Words) -> None:
    hashes ^= _murmur3_scramble(word, spare)
    _rotate(hashes, 13, spare)
    hashes *= np.uint32(5)
    hashes += np.uint32(0xE6546B64)


def _murmur3_finish(hashes: Words, lengths: Any, spare: Words) -> Words:
    hashes ^= lengths
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        np.right_shift(hashes, shift, out=spare)
        hashes ^= spare
        hashes *= np.uint32(factor)
    return hashes


def _rotate(words: Words, bits: int, spare: Words) -> None:
    np.left_shift(words, bits, out=spare)
    np.right_shift(words, 32 - bits, out=words)
    np.bitwise_or(words, spare, out=words)


def _folded(step: Callable[[Words, Words], Words], start: Words, pieces: Pieces) -> Words:
    """A hash that goes byte by byte: `step(state, byte)` for every byte of each row."""
    state = start
    if isinstance(pieces, Fixed):
        matrix = pieces.matrix()
        for index in range(pieces.width):
            state = step(state, matrix[:, index])
        return state
    spans = pieces.spans()
    if not len(spans.data):
        return state
    for index in range(int(spans.inner.max(initial=0))):
        byte = spans.data.take(np.minimum(spans.starts + index, len(spans.data) - 1))
        state = np.where(spans.inner > index, step(state, byte), state)
    return state


def _crc32(pieces: Pieces, _: int = 0) -> Words:
    def step(state: Words, byte: Words) -> Words:
        return _CRC_TABLE.take((state ^ byte) & np.uint32(255)) ^ (state >> np.uint32(8))

    return ~_folded(step, np.full(len(pieces), 0xFFFFFFFF, np.uint32), pieces)


def _crc_entry(byte: int) -> int:
    """The table's entry follows from the checksum of that single byte."""
    return zlib.crc32(bytes([byte ^ 0xFF])) ^ 0xFFFFFFFF ^ 0x00FFFFFF


_CRC_TABLE = np.array([_crc_entry(byte) for byte in range(256)], np.uint32)


def _java31(pieces: Pieces, _: int = 0) -> Words:
    def step(state: Words, byte: Words) -> Words:
        return state * np.uint32(31) + byte.astype(np.int8).astype(np.uint32)

    return _folded(step, np.ones(len(pieces), np.uint32), pieces)


def _big_endian(pieces: Pieces, n: int) -> Words:
    """The bytes as one number, reduced at every byte so that it fits."""
    if isinstance(pieces, Fixed) and pieces.width in (1, 2, 4, 8):
        return pieces.items.view(f">u{pieces.width}").astype(np.uint64)

    def step(state: Words, byte: Words) -> Words:
        return (state * np.uint64(256) + byte) % np.uint64(n)

    return _folded(step, np.zeros(len(pieces), np.uint64), pieces)


_FIXED: dict[str, Callable[[Fixed, int], Words]] = {
    "murmur3": _murmur3_fixed,
    "crc32": _crc32,
    "java31": _java31,
    "be": _big_endian,
}
_STRINGS: dict[str, Callable[[Spans, int], Words]] = {
    "murmur3": _murmur3_strings,
    "crc32": _crc32,
    "java31": _java31,
    "be": _big_endian,
}


def fingerprints(pieces: Pieces) -> Words:
    """64 bits for each row that differ where its bytes differ, but for chance, and look random.

    Cost: 3 ns for pieces of up to 8 bytes, 2 ns a byte above.
    """
    return mixed(imprints(pieces))


def imprints(pieces: Pieces) -> Words:
    """64 bits for each row that differ where its bytes differ, but for chance.

    Cost: next to nothing for pieces of up to 8 bytes, 2 ns a byte above.
    """
    if isinstance(pieces, Fixed) and pieces.width in (1, 2, 4, 8):
        return pieces.items.view(f"u{pieces.width}").astype(np.uint64)
    return _folded(_fnv_step, np.full(len(pieces), _FNV_START, np.uint64), pieces)


_FNV_START, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


def _fnv_step(state: Words, byte: Words) -> Words:
    """One byte of FNV-1a. Source: the FNV page of its authors, 64-bit parameters."""
    return (state ^ byte) * _FNV_PRIME


def mixed(numbers: Words) -> Words:
    """Numbers of 64 bits, each bit of the result depending on all of them.

    Source: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    """
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(30)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    numbers ^= numbers >> np.uint64(27)
    numbers *= np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    return numbers


def combined(first: Words, second: Words) -> Words:
    """A fingerprint and an imprint as one fingerprint."""
    return mixed(first + second)
