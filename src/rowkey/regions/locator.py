"""Which region holds each of many keys, exactly, for keys and splits of any bytes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument
from rowkey.regions.split_tree import WORD_BYTES, PendingKeys, build_levels, build_search

if TYPE_CHECKING:
    import numpy.typing as npt

    from rowkey.regions.boundaries import Boundaries
    from rowkey.regions.split_tree import ByteArray, RegionArray

BLOCK_KEYS = 1 << 14
"""Keys taken at once: their words and indexes, 8 bytes each, stay in a core's own cache."""


def locate_keys(boundaries: Boundaries, data: ByteArray, offsets: npt.NDArray[Any]) -> RegionArray:
    r"""Return the region of each row key of an Arrow binary buffer with offsets.

    Args:
        boundaries: the splits.
        data: the bytes of all keys, one after the other.
        offsets: `n + 1` positions, ascending: key i is `data[offsets[i]:offsets[i + 1]]`.

    Returns:
        `n` indexes of regions, equal to `boundaries.locate_key` of each key.

    Raises:
        InvalidArgument: the offsets fall, or point outside the data.

    Cost: some 10 ns a key where the splits are at most 8 bytes long, 20..100 ns otherwise.

    >>> import numpy as np
    >>> from rowkey.regions.boundaries import Boundaries
    >>> keys = np.frombuffer(b"agz", np.uint8)
    >>> locate_keys(Boundaries([b"g", b"z\0"]), keys, np.array([0, 1, 2, 3]))
    array([0, 1, 1], dtype=int32)
    """
    return _get_locator(boundaries).locate_keys(data, offsets)


def locate_fixed_keys(boundaries: Boundaries, matrix: ByteArray) -> RegionArray:
    """Return the region of each row key, for keys of one length in the rows of a matrix.

    Raises:
        InvalidArgument: it is not a matrix of bytes.

    Cost: as `locate_keys`.
    """
    if matrix.ndim != 2 or matrix.dtype != np.uint8:
        raise InvalidArgument(
            "matrix",
            f"the matrix has the type {matrix.dtype} and {matrix.ndim} dimensions",
            "uint8 and 2 dimensions",
        )
    count, width = matrix.shape
    located = np.empty(count, np.int32)
    offsets = np.arange(BLOCK_KEYS + 1, dtype=np.intp) * width
    locator = _get_locator(boundaries)
    for start in range(0, count, BLOCK_KEYS):
        block = np.ascontiguousarray(matrix[start : start + BLOCK_KEYS])
        locator.locate_block(
            block.ravel(), offsets[: len(block) + 1], located[start : start + BLOCK_KEYS]
        )
    return located


def locate_key_array(boundaries: Boundaries, keys: Any) -> RegionArray:
    """Return the region of each row key of an Arrow array.

    Args:
        boundaries: the splits.
        keys: a `pyarrow.Array` without nulls; a slice of one as well.

    Raises:
        InvalidArgument: the array holds nulls or is of another type.

    Cost: as `locate_keys`; the bytes are not copied.
    """
    if keys.null_count:
        raise InvalidArgument(
            "keys", f"{keys.null_count:,} of {len(keys):,} keys are null", "bytes"
        )
    start, stop = keys.offset, keys.offset + len(keys)
    if pa.types.is_fixed_size_binary(keys.type):
        width = keys.type.byte_width
        matrix = np.frombuffer(keys.buffers()[1] or b"", np.uint8)[start * width : stop * width]
        return locate_fixed_keys(boundaries, matrix.reshape(len(keys), width))
    wide = pa.types.is_large_binary(keys.type)
    if not wide and not pa.types.is_binary(keys.type):
        raise InvalidArgument(
            "keys", f"the array has the type {keys.type}", "binary, large or fixed-size binary"
        )
    if not len(keys):
        return np.empty(0, np.int32)
    _, places, data = keys.buffers()
    offsets = np.frombuffer(places, np.int64 if wide else np.int32)[start : stop + 1]
    return locate_keys(boundaries, np.frombuffer(data or b"", np.uint8), offsets)


@lru_cache(maxsize=16)
def _get_locator(boundaries: Boundaries) -> _Locator:
    """Return the cached locator of some boundaries."""
    return _Locator(boundaries)


class _Locator:
    """Locates many keys at once in a tree built from the split keys."""

    def __init__(self, boundaries: Boundaries) -> None:
        self.levels = [(level, build_search(level)) for level in build_levels(boundaries.splits)]
        self.regions_by_first_byte = (
            _build_first_byte_table(boundaries) if boundaries.longest_split_bytes == 1 else None
        )

    def locate_keys(self, data: ByteArray, offsets: npt.NDArray[Any]) -> RegionArray:
        _check_layout(data, offsets)
        data = np.ascontiguousarray(data)
        count = len(offsets) - 1
        located = np.empty(count, np.int32)
        for start in range(0, count, BLOCK_KEYS):
            stop = min(start + BLOCK_KEYS, count)
            self.locate_block(data, offsets[start : stop + 1], located[start:stop])
        return located

    def locate_block(
        self, data: ByteArray, offsets: npt.NDArray[Any], located: RegionArray
    ) -> None:
        first = offsets[:-1].astype(np.intp)
        length = offsets[1:] - offsets[:-1]
        shortest = length.min()
        if shortest < 0:
            raise InvalidArgument(
                "offsets", "the offsets decrease", "ascending positions in the data"
            )
        if not self.levels or not len(data):
            located[:] = 0
        elif self.regions_by_first_byte is not None:
            self.regions_by_first_byte.take(data.take(first, mode="clip"), out=located, mode="clip")
            if not shortest:
                located[length == 0] = 0
        else:
            ends = shortest < WORD_BYTES * len(self.levels)
            self._descend_levels(PendingKeys(data, first, length if ends else None), located)

    def _descend_levels(self, pending: PendingKeys, located: RegionArray) -> None:
        """Locate keys word by word; only keys that tie with a split go one level deeper."""
        for depth, (level, search) in enumerate(self.levels):
            words = pending.read_words(depth)
            at = search.find_last_not_above(words, pending.nodes)
            pending.write_regions(level.regions_above.take(at), located)
            if pending.lengths is None and not level.has_children:
                return
            tied = np.flatnonzero(level.words.take(at) == words)
            pending, at = pending.take_keys(tied), at.take(tied)
            nodes = level.child_nodes.take(at)
            going = nodes >= 0
            if pending.lengths is not None:
                remaining_bytes = np.clip(pending.lengths - WORD_BYTES * depth, 0, WORD_BYTES)
                pending.write_regions(
                    level.regions_tied.take(at)
                    + level.ended_split_counts.take(at * (WORD_BYTES + 1) + remaining_bytes),
                    located,
                )
                going &= remaining_bytes == WORD_BYTES
            pending = pending.take_keys(np.flatnonzero(going), nodes[going])
            if not len(pending.starts):
                return


def _build_first_byte_table(boundaries: Boundaries) -> RegionArray:
    """Return the region for each first byte of a key, if all splits have one byte."""
    return np.array([boundaries.locate_key(bytes([byte])) for byte in range(256)], np.int32)


def _check_layout(data: ByteArray, offsets: npt.NDArray[Any]) -> None:
    """Raise an error unless data and offsets have the layout of Arrow binary."""
    if data.ndim != 1 or data.dtype != np.uint8:
        raise InvalidArgument(
            "data",
            f"the array has the type {data.dtype} and {data.ndim} dimensions",
            "uint8 and 1 dimension",
        )
    if offsets.ndim != 1 or not len(offsets) or offsets.dtype.kind != "i":
        what = f"the array has the type {offsets.dtype} and {offsets.ndim} dimensions"
        raise InvalidArgument(
            "offsets",
            "the array is empty" if offsets.shape == (0,) else what,
            "one whole number more than there are keys, in 1 dimension",
        )
    if offsets[0] < 0 or offsets[-1] > len(data):
        what = f"the offsets run from {offsets[0]} to {offsets[-1]}"
        raise InvalidArgument("offsets", what, f"positions within the {len(data):,} bytes of data")
