"""The hash functions of `bucket`, for many rows at once."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import mmh3

from rowkey.array_libraries import np
from rowkey.keys.batches.byte_columns import (
    ByteColumn,
    FixedByteColumn,
    IntArray,
    SlicedByteColumn,
    view_windows,
)
from rowkey.keys.hash_functions import build_bucket_hash

HashArray = np.ndarray[tuple[int], np.dtype[Any]]

MAX_VECTORIZED_BYTES = 256
"""Longer strings are hashed one by one, since a step over all rows per word costs more."""


def hash_to_numbers(name: str, pieces: ByteColumn, n: int) -> IntArray:
    """Return for each row the number below `n` that `build_bucket_hash` gives for its bytes.

    Cost: murmur3 about 4 ns for each word of 4 bytes; md5 400 ns, since rows are hashed one by one.
    """
    if name == "md5":
        reduce = build_bucket_hash(name, n)
        return np.fromiter(map(reduce, pieces.tolist()), np.int64, len(pieces))
    if isinstance(pieces, FixedByteColumn) and pieces.width <= MAX_VECTORIZED_BYTES:
        return _reduce_hashes(name, _FIXED_HASHES[name](pieces, n), n)
    if name != "murmur3" or isinstance(pieces, FixedByteColumn):
        pieces = pieces.to_sliced()
    return _hash_strings(name, pieces, n)


def _hash_strings(name: str, pieces: ByteColumn, n: int) -> IntArray:
    """Return the buckets of strings; short ones are hashed together, long ones one by one."""
    lengths = pieces.lengths
    assert isinstance(pieces, SlicedByteColumn)
    if not len(pieces) or int(lengths.max()) <= MAX_VECTORIZED_BYTES:
        return _reduce_hashes(name, _STRING_HASHES[name](pieces, n), n)
    out = np.empty(len(pieces), np.int64)
    short, long = (
        np.flatnonzero(lengths <= MAX_VECTORIZED_BYTES),
        np.flatnonzero(lengths > MAX_VECTORIZED_BYTES),
    )
    if len(short):
        out[short] = _hash_strings(name, pieces.take(short), n)
    reduce = build_bucket_hash(name, n)
    out[long] = np.fromiter(map(reduce, pieces.take(long).tolist()), np.int64, len(long))
    return out


def _reduce_hashes(name: str, hashes: HashArray, n: int) -> IntArray:
    """Return hashes modulo n; of java31, the absolute value of the signed hash."""
    if name == "java31":
        signed = hashes.view(np.int32).astype(np.int64)
        return np.abs(signed) % n
    scalar_type = hashes.dtype.type
    reduced: IntArray = hashes & scalar_type(n - 1) if n & (n - 1) == 0 else hashes % scalar_type(n)
    return reduced


def hash_murmur3(pieces: ByteColumn) -> HashArray:
    """Return murmur3 (x86, 32 bits, seed 0) of each row's bytes.

    Source: MurmurHash3_x86_32, as in hbase-common's `util.MurmurHash3`.
    """
    # Reduced by 2^32, a hash of 32 bits is what it is.
    return hash_to_numbers("murmur3", pieces, 1 << 32).astype(np.uint32)


def _hash_murmur3_fixed(pieces: FixedByteColumn, _: int = 0) -> HashArray:
    """Return murmur3 of strings of one width."""
    count, width = len(pieces), pieces.width
    word_count, tail = divmod(width, 4)
    if tail:
        padded = np.zeros((count, 4 * word_count + 4), np.uint8)
        padded[:, :width] = pieces.to_matrix()
        words = padded.view("<u4")
    else:
        words = pieces.to_matrix().view("<u4")
    hashes, spare = np.zeros(count, np.uint32), np.empty(count, np.uint32)
    for index in range(word_count):
        _mix_murmur3(hashes, words[:, index], spare)
    if tail:
        hashes ^= _scramble_murmur3(words[:, word_count], spare)
    return _finish_murmur3(hashes, np.uint32(width), spare)


def _hash_murmur3_strings(pieces: SlicedByteColumn, _: int = 0) -> HashArray:
    """Return murmur3 of strings of different lengths; a terminator of 00 needs no copy.

    Rows are sorted by their number of words, so that each step works on the first rows only; eight
    words of a row are fetched at a time.
    """
    if pieces.terminator.strip(b"\0"):
        pieces = pieces.to_packed()
    lengths = pieces.lengths
    blocks = lengths >> 2
    max_words = int(blocks.max(initial=0))
    order = np.argsort((max_words - blocks).astype(np.uint8), kind="stable")
    starts, inner, blocks = (
        pieces.starts.take(order),
        pieces.inner_lengths.take(order),
        blocks.take(order),
    )
    more_than = len(order) - np.cumsum(np.bincount(blocks, minlength=max_words + 9))
    # The terminator is not in the data; words are fetched beyond the last string.
    padding = np.zeros(_FETCH_BYTES + len(pieces.terminator), np.uint8)
    windows = view_windows(np.concatenate([pieces.data, padding]), _FETCH_BYTES)
    hashes, spare = np.zeros(len(order), np.uint32), np.empty(len(order), np.uint32)
    for first in range(0, max_words + 1, 8):
        count = int(more_than[first - 1]) if first else len(order)
        table = windows[starts[:count] + 4 * first].view("<u4").reshape(count, 8)
        for number in range(first, min(first + 8, max_words)):
            some, fewer = int(more_than[number]), int(more_than[number + 1])
            if pieces.terminator:
                _mask_words(table[fewer:some, number - first], inner[fewer:some] - 4 * number)
            _mix_murmur3(hashes[:some], table[:some, number - first], spare[:some])
        ending_rows = slice(int(more_than[first + 7]), count)
        word_counts = blocks[ending_rows]
        place = np.arange(ending_rows.start, count) * 8 + (word_counts - first)
        tail = table.reshape(-1).take(place)
        _mask_words(tail, inner[ending_rows] - 4 * word_counts)
        hashes[ending_rows] ^= _scramble_murmur3(tail, spare[ending_rows])
    hashes = _finish_murmur3(hashes, lengths.take(order).astype(np.uint32), spare)
    out = np.empty_like(hashes)
    out[order] = hashes
    return out


_FETCH_BYTES = 32
"""Bytes of a string fetched at a time; fetching 4 costs as much."""


def _mask_words(word: HashArray, byte_counts: IntArray) -> None:
    """Clear the last bytes of each word, in place."""
    word &= _WORD_MASKS.take(byte_counts, mode="clip")


_WORD_MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF], np.uint32)


def _scramble_murmur3(word: HashArray, spare: HashArray) -> HashArray:
    """Scramble words in place as murmur3 does before it mixes them in."""
    word = word * np.uint32(0xCC9E2D51)
    _rotate_left(word, 15, spare)
    word *= np.uint32(0x1B873593)
    return word


def _mix_murmur3(hashes: HashArray, word: HashArray, spare: HashArray) -> None:
    """Mix one word of each row into its murmur3 state, in place."""
    hashes ^= _scramble_murmur3(word, spare)
    _rotate_left(hashes, 13, spare)
    hashes *= np.uint32(5)
    hashes += np.uint32(0xE6546B64)


def _finish_murmur3(hashes: HashArray, lengths: Any, spare: HashArray) -> HashArray:
    """Return the murmur3 hashes of states and the lengths of the hashed strings."""
    hashes ^= lengths
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        np.right_shift(hashes, shift, out=spare)
        hashes ^= spare
        hashes *= np.uint32(factor)
    return hashes


def _rotate_left(words: HashArray, bits: int, spare: HashArray) -> None:
    """Rotate 32-bit words to the left by some bits, in place."""
    np.left_shift(words, bits, out=spare)
    np.right_shift(words, 32 - bits, out=words)
    np.bitwise_or(words, spare, out=words)


def _fold_bytes(
    step: Callable[[HashArray, HashArray], None], state: HashArray, pieces: ByteColumn
) -> HashArray:
    """Return a hash computed byte by byte.

    Args:
        step: mixes the next byte of each row into the states of the rows, in place; the bytes are
            numbers of 8 or 64 bits.
        state: the state of each row before its first byte.
        pieces: the bytes.
    """
    if isinstance(pieces, FixedByteColumn):
        matrix = pieces.to_matrix()
        for index in range(pieces.width):
            step(state, matrix[:, index])
        return state
    spans = pieces.to_sliced()
    order, longer_than = _sort_by_length(spans.inner_lengths)
    lowest_bytes = np.empty(len(order), np.uint64)
    for first, words in _read_words(spans, order, longer_than):
        for index in range(first, min(first + 8, len(longer_than) - 1)):
            some = int(longer_than[index])
            np.bitwise_and(words[:some], np.uint64(0xFF), out=lowest_bytes[:some])
            step(state[:some], lowest_bytes[:some])
            np.right_shift(words, np.uint64(8), out=words)
    out = np.empty_like(state)
    out[order] = state
    return out


def _sort_by_length(lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Return the order of strings, longest first, so that each step works on the first rows only.

    Returns:
        The order, and how many strings are longer than 0, 1, … bytes, up to the longest.
    """
    max_length = int(lengths.max(initial=0))
    remaining = max_length - lengths  # NumPy sorts 16 bits fastest
    order = np.argsort(
        remaining.astype(np.uint16) if max_length < 1 << 16 else remaining, kind="stable"
    )
    return order, len(order) - np.cumsum(np.bincount(lengths, minlength=max_length + 1))


def _read_words(
    spans: SlicedByteColumn, order: IntArray, longer_than: IntArray
) -> Iterator[tuple[int, HashArray]]:
    """Yield 8 bytes of each string that has more, as numbers, and the index of the first byte.

    What follows the end of a string is not its own.
    """
    starts = spans.starts.take(order)
    windows = view_windows(np.concatenate([spans.data, np.zeros(8, np.uint8)]), 8)
    for first in range(0, len(longer_than) - 1, 8):
        yield first, windows[starts[: int(longer_than[first])] + first].view("<u8").reshape(-1)


def _hash_crc32(pieces: ByteColumn, _: int = 0) -> HashArray:
    """Return zlib's CRC-32 of each row's bytes."""

    def step(state: HashArray, byte: HashArray) -> None:
        lowest_bytes = ((state ^ byte) & np.uint32(255)).astype(np.intp)
        state[:] = _CRC_TABLE.take(lowest_bytes) ^ (state >> np.uint32(8))

    return ~_fold_bytes(step, np.full(len(pieces), 0xFFFFFFFF, np.uint32), pieces)


def _compute_crc_entry(byte: int) -> int:
    """Return the CRC table's entry of a byte, derived from the checksum of that byte."""
    return zlib.crc32(bytes([byte ^ 0xFF])) ^ 0xFFFFFFFF ^ 0x00FFFFFF


_CRC_TABLE = np.array([_compute_crc_entry(byte) for byte in range(256)], np.uint32)


def _hash_java31(pieces: ByteColumn, _: int = 0) -> HashArray:
    """Return Java's `31 h + byte` hash of each row's bytes."""

    def step(state: HashArray, byte: HashArray) -> None:
        state *= np.uint32(31)
        state += byte.astype(np.int8).astype(np.uint32)

    return _fold_bytes(step, np.ones(len(pieces), np.uint32), pieces)


def _reduce_big_endian(pieces: ByteColumn, n: int) -> HashArray:
    """Return the bytes as a big-endian number, reduced modulo n at every byte."""
    if isinstance(pieces, FixedByteColumn) and pieces.width in (1, 2, 4, 8):
        return pieces.items.view(f">u{pieces.width}").astype(np.uint64)

    def step(state: HashArray, byte: HashArray) -> None:
        state *= np.uint64(256)
        state += byte
        state %= np.uint64(n)

    return _fold_bytes(step, np.zeros(len(pieces), np.uint64), pieces)


_FIXED_HASHES: dict[str, Callable[[FixedByteColumn, int], HashArray]] = {
    "murmur3": _hash_murmur3_fixed,
    "crc32": _hash_crc32,
    "java31": _hash_java31,
    "be": _reduce_big_endian,
}
_STRING_HASHES: dict[str, Callable[[SlicedByteColumn, int], HashArray]] = {
    "murmur3": _hash_murmur3_strings,
    "crc32": _hash_crc32,
    "java31": _hash_java31,
    "be": _reduce_big_endian,
}


def compute_fingerprints(pieces: ByteColumn) -> HashArray:
    """Return a 64-bit fingerprint of each row's bytes, with random-looking bits.

    Cost: 3 ns for pieces of 1, 2, 4 or 8 bytes, 0.5 ns a byte more for others.
    """
    return mix_fingerprints(compute_weak_fingerprints(pieces))


def compute_weak_fingerprints(pieces: ByteColumn) -> HashArray:
    """Return a 64-bit fingerprint of each row's bytes, whose bits are not mixed.

    Cost: next to nothing for pieces of 1, 2, 4 or 8 bytes, 0.5 ns a byte for others. Longer
    ones than `MAX_VECTORIZED_BYTES` are hashed one by one, at 0.5 µs and 0.2 ns a byte.
    """
    if isinstance(pieces, FixedByteColumn) and pieces.width in (1, 2, 4, 8):
        return pieces.items.view(f"u{pieces.width}").astype(np.uint64)
    if int(pieces.lengths.max(initial=0)) > MAX_VECTORIZED_BYTES:
        return _fingerprint_long(pieces.to_sliced())
    return _fold_words(pieces.to_sliced())


def _fold_words(spans: SlicedByteColumn) -> HashArray:
    """Return a hash of each string, computed from 8 bytes at a time and its length."""
    starts, lengths = spans.starts, spans.inner_lengths
    windows = view_windows(np.concatenate([spans.data, np.zeros(8, np.uint8)]), 8)
    longest, shortest = int(lengths.max(initial=0)), int(lengths.min(initial=MAX_VECTORIZED_BYTES))
    out = state = lengths.astype(np.uint64) * _WORD_FACTOR
    rows: IntArray | None = None
    for first in range(0, longest, 8):
        if first >= shortest:  # the rows that go on
            longer = np.flatnonzero(lengths > first)
            starts, lengths = starts[longer], lengths[longer]
            rows = longer if rows is None else rows[longer]
            state = out[rows]
        words = windows[starts + first].view("<u8")
        if first + 8 > shortest:
            words &= _LOWEST_BYTES[np.minimum(lengths - first, 8)]
        state ^= words
        state *= _WORD_FACTOR
        state ^= state >> np.uint64(32)  # a factor moves bits to the left only
        if rows is not None:
            out[rows] = state
    return out


def _fingerprint_long(pieces: SlicedByteColumn) -> HashArray:
    """Return the weak fingerprints of strings of which some are long."""
    is_long = pieces.lengths > MAX_VECTORIZED_BYTES
    out = np.empty(len(pieces), np.uint64)
    out[~is_long] = compute_weak_fingerprints(pieces.take(np.flatnonzero(~is_long)))
    for row in np.flatnonzero(is_long).tolist():
        start = int(pieces.starts[row])
        data = pieces.data[start : start + int(pieces.lengths[row])].tobytes()
        out[row] = mmh3.hash64(data, signed=False)[0]
    return out


_WORD_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that no two states become one."""
_LOWEST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
"""Masks of the first bytes of a word."""


def mix_fingerprints(numbers: HashArray) -> HashArray:
    """Return numbers of 64 bits in which every bit depends on all bits of the input.

    Source: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    """
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(30)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    numbers ^= numbers >> np.uint64(27)
    numbers *= np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    return numbers


def combine_fingerprints(first: HashArray, second: HashArray) -> HashArray:
    """Return one fingerprint for a fingerprint and a weak fingerprint."""
    return mix_fingerprints(first + second)
