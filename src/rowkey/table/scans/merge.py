"""Several ordered runs of rows as one: what makes a salted table read in order again."""

from __future__ import annotations

import heapq
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.keys import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from rowkey.cells import Cell
    from rowkey.keys import Key, Part

    Rank = Callable[["Piece"], int]


class Piece(NamedTuple):
    """The cells of one row, or of one event in a row, and where it stands in the merged order.

    Pieces compare by where they stand; no two stand in the same place.

    Args:
        behind: the row key less the prefix of its range.
        opening: what opens the qualifiers of the event, where several events share a row.
        prefix: the prefix of its range, less what chance has put there; decides between rows that
            are otherwise alike.
        copy: what chance has put there: copies of one row differ in nothing else.
        row: the row key.
        cells: the cells, in their order.
    """

    behind: bytes
    opening: bytes
    prefix: bytes
    copy: bytes
    row: bytes
    cells: Sequence[Cell]


piece_of = partial(tuple.__new__, Piece)
"""A piece from its six values; half the time of calling the class."""


def late(
    behind: bytes | None, run: Callable[..., Iterable[Piece]], *of: Any, reverse: bool
) -> Iterator[Piece]:
    """A run that `merged` opens when its turn comes: of hundreds, a small limit needs a few.

    Args:
        behind: what none of its pieces stands before; None if that is not known.
        run: opens it.
        of: what it is given for that.
        reverse: whether it descends.

    Returns:
        Its pieces. A mark comes first, which holds no row and is never given.

    >>> list(merged([late(b"b", list, reverse=False)] * 2, reverse=False, copies=False))
    []
    """
    if behind is not None:
        # The mark must stand before every piece that has the same `behind`.
        yield piece_of((behind + b"\0" if reverse else behind, b"", b"", b"", b"", ()))
    yield from run(*of)


def merged(
    runs: Sequence[Iterable[Piece]], *, reverse: bool, copies: bool, rank: Rank | None = None
) -> Iterator[Piece]:
    """The pieces of several runs in one order.

    Args:
        runs: each in order: ascending by place, or descending; opened or `late`.
        reverse: whether they descend.
        copies: whether a row may stand in several runs, as a row with a random salt does: its
            copies are joined, the newest version of each cell.
        rank: which of several copies counts where cells are of one time, the least first; the
            first that comes if None.

    Cost: about 0.5 µs a piece, O(log runs); one piece of each run is held.

    >>> def run(prefix, *keys):
    ...     return [Piece(key, b"", prefix, b"", prefix + key, ()) for key in keys]
    >>> runs = [run(b"0", b"a", b"d"), run(b"1", b"b", b"c")]
    >>> [piece.row for piece in merged(runs, reverse=False, copies=False)]
    [b'0a', b'1b', b'1c', b'0d']
    """
    pieces = iter(runs[0]) if len(runs) == 1 else heapq.merge(*runs, reverse=reverse)
    rows = filter(itemgetter(4), pieces)  # a mark has none
    return _joined(rows, rank) if copies else rows


def _joined(pieces: Iterable[Piece], rank: Rank | None) -> Iterator[Piece]:
    """Copies of one row, which stand side by side, as one piece."""
    for _, same in groupby(pieces, key=itemgetter(0, 1, 2)):
        yield _as_one(list(same), rank)


def _as_one(copies: list[Piece], rank: Rank | None) -> Piece:
    """Copies of one row as one piece, where the first of them stood."""
    first = copies[0]
    if len(copies) == 1:
        return first
    if rank is not None and _differ_at_one_time(copies):
        copies.sort(key=rank)
    return first._replace(cells=newest([one.cells for one in copies]))


def _differ_at_one_time(copies: Sequence[Piece]) -> bool:
    """Whether a column has two cells of one time that are not the same."""
    seen: dict[tuple[str, bytes, int], bytes] = {}
    for piece in copies:
        for family, qualifier, timestamp, value, _, _ in piece.cells:
            if seen.setdefault((family, qualifier, timestamp), value) != value:
                return True
    return False


def gathered(pieces: Iterable[Piece], copies: Copies, rank: Rank | None = None) -> Iterator[Piece]:
    """Copies of one row, wherever they stand, as one piece where the first of them stood.

    Args:
        pieces: in their order; those that are alike in what stands before the copied parts of the
            key are held.
        copies: tells which are copies of one row.
        rank: as `merged` takes it.
    """
    for _, near in groupby(pieces, key=copies.front):
        found: dict[tuple[bytes, bytes], list[Piece]] = {}
        for piece in near:
            found.setdefault((copies.identity(piece.row), piece.opening), []).append(piece)
        for same in found.values():
            yield _as_one(same, rank)


def newest(copies: Sequence[Sequence[Cell]]) -> Sequence[Cell]:
    """The cells of several copies of a row as one row: of each column the newest version.

    >>> from rowkey.cells import Cell
    >>> copies = [[Cell("d", b"q", 1, b"old")], [Cell("d", b"q", 2, b"new")]]
    >>> [cell.value for cell in newest(copies)]
    [b'new']
    """
    if len(copies) == 1:
        return copies[0]
    found: dict[tuple[str, bytes], Cell] = {}
    for cell in (cell for cells in copies for cell in cells):
        column = cell.family, cell.qualifier
        if column not in found or found[column].timestamp < cell.timestamp:
            found[column] = cell
    return [found[column] for column in sorted(found)]


class Copies:
    """How the copies of a row are told to be one, in the ranges of one read.

    A row has copies where chance or another count has put it elsewhere. The parts of the key that
    do so are the only ones in which copies differ.

    Args:
        key: the row key.
        pinned: how many leading parts the prefixes of the ranges hold.
        counting: the places of parts that follow from the others, and may get another count: they
            tell no rows apart, so that nothing depends on what their count was.
    """

    def __init__(self, key: Key, pinned: int, counting: Collection[int] = ()) -> None:
        self.key = key
        several = [number for number, part in enumerate(key.parts) if _has_copies(part)]
        self.pinned = bool(several) and several[-1] < pinned
        """Whether copies differ in the prefixes alone: then they meet where ranges are merged."""
        self.scattered = bool(several) and not self.pinned
        """Whether they do not: then copies are found among all rows of the answer."""
        self._copied = frozenset(several)
        self._apart = frozenset() if self.scattered else self._copied | {*counting}
        self._parts = key.parts[:pinned]
        self._before = key.parts[: next((n for n in several if n >= pinned), 0)]

    def told(self, prefix: bytes) -> tuple[bytes, bytes]:
        r"""A prefix as what copies have in common, and where they differ.

        >>> from rowkey.keys import bind_key
        >>> key = bind_key("[salt(4)][kind][n]", {"kind": "u8", "n": "u8"})
        >>> Copies(key, 2).told(bytes([3, 7]))
        (b'\x07', b'\x03')
        """
        if self._apart.isdisjoint(range(len(self._parts))):
            return prefix, b""
        common: list[bytes] = []
        copy: list[bytes] = []
        at = 0
        for number, part in enumerate(self._parts):
            if at == len(prefix):
                break  # what is left is null and was left out
            end = part.measure(prefix, at)
            (copy if number in self._apart else common).append(prefix[at:end])
            at = end
        return b"".join(common), b"".join(copy)

    def front(self, piece: Piece) -> bytes:
        """What stands behind the prefix and before the first part in which copies differ."""
        row, at = piece.row, 0
        for part in self._before:
            if at == len(row):
                break
            at = part.measure(row, at)
        return row[len(row) - len(piece.behind) : at]

    def identity(self, row: bytes) -> bytes:
        """What copies of a row have in common, of a whole row key."""
        pieces = enumerate(self.key.cut(row))
        return b"".join(piece for number, piece in pieces if number not in self._copied)


def _has_copies(part: Part) -> bool:
    """Whether rows that are otherwise alike may have different bytes here.

    A salt of one number has put a row in one place, and ranges need not list it.
    """
    is_chance = part.source is Source.CHANCE and part.cardinality != 1
    return is_chance or len(part.forms) > 1
