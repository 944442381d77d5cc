"""Which region holds each of many keys, exactly, for keys and splits of any bytes."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.regions.words import WORD, Front, build_levels, search_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from rowkey.regions.boundaries import Boundaries
    from rowkey.regions.words import Bytes, Regions

BLOCK = 1 << 14
"""Keys taken at once: their words and indexes, 8 bytes each, stay in a core's own cache."""


def locate(boundaries: Boundaries, data: Bytes, offsets: npt.NDArray[Any]) -> Regions:
    r"""The region of each key, for keys of any lengths laid out as Arrow does.

    Args:
        boundaries: the splits.
        data: the bytes of all keys, one after the other.
        offsets: `n + 1` positions, ascending: key i is `data[offsets[i]:offsets[i + 1]]`.

    Returns:
        `n` indexes of regions, equal to `boundaries.locate_one` of each key.

    Raises:
        Refused: the offsets fall, or point outside the data.

    Cost: some 10 ns a key where the splits are at most 8 bytes long, 20..100 ns otherwise.

    >>> import numpy as np
    >>> from rowkey.regions.boundaries import Boundaries
    >>> keys = np.frombuffer(b"agz", np.uint8)
    >>> locate(Boundaries([b"g", b"z\0"]), keys, np.array([0, 1, 2, 3]))
    array([0, 1, 1], dtype=int32)
    """
    return _compiled(boundaries).locate(data, offsets)


def locate_fixed(boundaries: Boundaries, matrix: Bytes) -> Regions:
    """The region of each key, for `n` keys of `w` bytes in a matrix of `n` rows.

    Raises:
        Refused: it is not a matrix of bytes.

    Cost: as `locate`.
    """
    import numpy as np

    if matrix.ndim != 2 or matrix.dtype != np.uint8:
        raise Refused(
            "matrix", f"{matrix.dtype} of {matrix.ndim} dimensions", "uint8 of 2 dimensions"
        )
    count, width = matrix.shape
    located = np.empty(count, np.int32)
    offsets = np.arange(BLOCK + 1, dtype=np.intp) * width
    locator = _compiled(boundaries)
    for start in range(0, count, BLOCK):
        block = np.ascontiguousarray(matrix[start : start + BLOCK])
        locator.fill(block.ravel(), offsets[: len(block) + 1], located[start : start + BLOCK])
    return located


def locate_array(boundaries: Boundaries, keys: Any) -> Regions:
    """The region of each key of an Arrow array of binary, large binary or fixed-size binary.

    Args:
        boundaries: the splits.
        keys: a `pyarrow.Array` without nulls; a slice of one as well.

    Raises:
        Refused: the array holds nulls or is of another type.

    Cost: as `locate`; the bytes are not copied.
    """
    import numpy as np
    import pyarrow as pa

    if keys.null_count:
        raise Refused("keys", f"{keys.null_count:,} of {len(keys):,} are null", "bytes")
    start, stop = keys.offset, keys.offset + len(keys)
    if pa.types.is_fixed_size_binary(keys.type):
        width = keys.type.byte_width
        matrix = np.frombuffer(keys.buffers()[1] or b"", np.uint8)[start * width : stop * width]
        return locate_fixed(boundaries, matrix.reshape(len(keys), width))
    wide = pa.types.is_large_binary(keys.type)
    if not wide and not pa.types.is_binary(keys.type):
        raise Refused("keys", f"an array of {keys.type}", "binary, large or fixed-size binary")
    if not len(keys):
        return np.empty(0, np.int32)
    _, places, data = keys.buffers()
    offsets = np.frombuffer(places, np.int64 if wide else np.int32)[start : stop + 1]
    return locate(boundaries, np.frombuffer(data or b"", np.uint8), offsets)


@lru_cache(maxsize=16)
def _compiled(boundaries: Boundaries) -> _Locator:
    """The locator of these boundaries, kept while a simulation asks again and again."""
    return _Locator(boundaries)


class _Locator:
    """Boundaries, compiled to the words their splits are made of."""

    def __init__(self, boundaries: Boundaries) -> None:
        self.levels = [(level, search_of(level)) for level in build_levels(boundaries.splits)]
        self.by_byte = _first_byte_table(boundaries) if boundaries.depth == 1 else None

    def locate(self, data: Bytes, offsets: npt.NDArray[Any]) -> Regions:
        """The region of each key."""
        import numpy as np

        _check(data, offsets)
        data = np.ascontiguousarray(data)
        count = len(offsets) - 1
        located = np.empty(count, np.int32)
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            self.fill(data, offsets[start : stop + 1], located[start:stop])
        return located

    def fill(self, data: Bytes, offsets: npt.NDArray[Any], located: Regions) -> None:
        """Write the regions of one block of keys."""
        import numpy as np

        first = offsets[:-1].astype(np.intp)
        length = offsets[1:] - offsets[:-1]
        shortest = length.min()
        if shortest < 0:
            raise Refused("offsets", "they fall", "ascending positions in the data")
        if not self.levels or not len(data):
            located[:] = 0
        elif self.by_byte is not None:
            self.by_byte.take(data.take(first, mode="clip"), out=located, mode="clip")
            if not shortest:
                located[length == 0] = 0
        else:
            ends = shortest < WORD * len(self.levels)
            self._descend(Front(data, first, length if ends else None), located)

    def _descend(self, front: Front, located: Regions) -> None:
        """Settle the keys level by level: those a level leaves tied are all that the next sees."""
        import numpy as np

        for depth, (level, search) in enumerate(self.levels):
            words = front.words(depth)
            at = search.last_not_above(words, front.nodes)
            front.put(level.above.take(at), located)
            if front.length is None and not level.goes_on:
                return
            tied = np.flatnonzero(level.words.take(at) == words)
            front, at = front.take(tied), at.take(tied)
            nodes = level.child.take(at)
            going = nodes >= 0
            if front.length is not None:
                left = np.clip(front.length - WORD * depth, 0, WORD)
                front.put(level.tied.take(at) + level.ended.take(at * (WORD + 1) + left), located)
                going &= left == WORD
            front = front.take(np.flatnonzero(going), nodes[going])
            if not len(front.first):
                return


def _first_byte_table(boundaries: Boundaries) -> Regions:
    """The region of each first byte, for splits of one byte."""
    import numpy as np

    return np.array([boundaries.locate_one(bytes([byte])) for byte in range(256)], np.int32)


def _check(data: Bytes, offsets: npt.NDArray[Any]) -> None:
    """Raise unless these are bytes and positions in them."""
    import numpy as np

    if data.ndim != 1 or data.dtype != np.uint8:
        raise Refused("data", f"{data.dtype} of {data.ndim} dimensions", "uint8 of 1 dimension")
    if offsets.ndim != 1 or not len(offsets) or offsets.dtype.kind != "i":
        raise Refused("offsets", f"{offsets.dtype} of shape {offsets.shape}", "n + 1 whole numbers")
    if offsets[0] < 0 or offsets[-1] > len(data):
        what = f"they run from {offsets[0]} to {offsets[-1]}"
        raise Refused("offsets", what, f"positions in {len(data):,} bytes of data")
