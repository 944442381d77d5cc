"""Several ordered runs of rows as one: what makes a salted table read in order again."""

from __future__ import annotations

import heapq
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from rowkey.keys import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rowkey.cells import Cell
    from rowkey.keys import Key


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


def merged(runs: Sequence[Iterable[Piece]], *, reverse: bool, copies: bool) -> Iterator[Piece]:
    """The pieces of several runs in one order.

    Args:
        runs: each in order: ascending by place, or descending; opened or `late`.
        reverse: whether they descend.
        copies: whether a row may stand in several runs, as a row with a random salt does: its
            copies are joined, the newest version of each cell.

    Cost: about 0.5 µs a piece, O(log runs); one piece of each run is held.

    >>> def run(prefix, *keys):
    ...     return [Piece(key, b"", prefix, b"", prefix + key, ()) for key in keys]
    >>> runs = [run(b"0", b"a", b"d"), run(b"1", b"b", b"c")]
    >>> [piece.row for piece in merged(runs, reverse=False, copies=False)]
    [b'0a', b'1b', b'1c', b'0d']
    """
    pieces = iter(runs[0]) if len(runs) == 1 else heapq.merge(*runs, reverse=reverse)
    rows = filter(itemgetter(4), pieces)  # a mark has none
    return _joined(rows) if copies else rows


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Copies of one row, which stand side by side, as one piece."""
    for _, same in groupby(pieces, key=itemgetter(0, 1, 2)):
        first, *others = same
        yield first._replace(cells=newest([first.cells, *(one.cells for one in others)]))


def gathered(pieces: Iterable[Piece], identity: Callable[[bytes], bytes]) -> Iterator[Piece]:
    """Copies of one row, wherever they stand, as one piece where the first of them stood.

    Args:
        pieces: in any order; all are held.
        identity: what copies of a row have in common, from its row key.
    """
    found: dict[tuple[bytes, bytes], list[Piece]] = {}
    for piece in pieces:
        found.setdefault((identity(piece.row), piece.opening), []).append(piece)
    for first, *others in found.values():
        yield first._replace(cells=newest([first.cells, *(one.cells for one in others)]))


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

    Args:
        key: the row key.
        pinned: how many leading parts the prefixes of the ranges hold.
    """

    def __init__(self, key: Key, pinned: int) -> None:
        self.key = key
        # A salt of one number has put a row in one place, and ranges need not list it.
        chance = [
            number
            for number, part in enumerate(key.parts)
            if part.source is Source.CHANCE and part.cardinality != 1
        ]
        self.pinned = bool(chance) and chance[-1] < pinned
        """Whether chance lies in the prefixes alone: then copies meet where ranges are merged."""
        self.scattered = bool(chance) and not self.pinned
        """Whether it does not: then copies are found among all rows of the answer."""
        self._parts = key.parts[:pinned]

    def told(self, prefix: bytes) -> tuple[bytes, bytes]:
        r"""A prefix as what copies have in common, and what chance has put there.

        >>> from rowkey.keys import bind_key
        >>> key = bind_key("[salt(4)][kind][n]", {"kind": "u8", "n": "u8"})
        >>> Copies(key, 2).told(bytes([3, 7]))
        (b'\x07', b'\x03')
        """
        if not self.pinned:
            return prefix, b""
        common: list[bytes] = []
        copy: list[bytes] = []
        at = 0
        for part in self._parts:
            if at == len(prefix):
                break  # what is left is null and was left out
            end = part.measure(prefix, at)
            (copy if part.source is Source.CHANCE else common).append(prefix[at:end])
            at = end
        return b"".join(common), b"".join(copy)

    def identity(self, row: bytes) -> bytes:
        """What copies of a row have in common, of a whole row key."""
        pieces = zip(self.key.parts, self.key.cut(row), strict=True)
        return b"".join(piece for part, piece in pieces if part.source is not Source.CHANCE)
