"""Wide rows read piece by piece: no more of a row is held, or read, than is asked for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rowkey.cells import Kind
from rowkey.engines.pairs.layout import BEHIND, END, TAIL, escape
from rowkey.engines.pairs.ranges import FIRST, MOST, last_row
from rowkey.engines.pairs.source import FrozenPairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.cells import View
    from rowkey.engines.pairs.ranges import Pairs
    from rowkey.engines.pairs.source import Pair, Source
    from rowkey.engines.requests import Ask, Span

PASSED = 32
"""Unwanted cells that are read before the next wanted one is looked for: a search costs as much."""

_FAMILY_DELETES = (255 - Kind.DELETE_FAMILY, 255 - Kind.DELETE_FAMILY_VERSION)


def pages(ask: Ask) -> bool:
    """Whether rows are read piece by piece.

    Not where whole rows are counted, turned round, or shown with what deletes hide.
    """
    return ask.batch is not None and ask.limit is None and not ask.reverse and not ask.raw


def stretch_pairs(source: Source, span: Span, view: View) -> Iterator[Pair]:
    """The pairs of a range, as they are now, less most of those outside a stretch of qualifiers.

    Args:
        source: a family, as it is or as it was.
        span: the range.
        view: what is wanted of each row; what deletes the family comes as well.
    """
    kept = source if isinstance(source, FrozenPairs) else FrozenPairs(source)
    first, last = escape(view.first), escape(view.last)
    return _passing(kept, (escape(span.start), escape(span.stop)), (first, last))


def _passing(
    kept: FrozenPairs, span: tuple[bytes, bytes], stretch: tuple[bytes, bytes]
) -> Iterator[Pair]:
    (place, stop), (first, last) = span, stretch
    while True:
        passed = 0
        for pair in kept.read(place, stop):
            key = pair[0]
            at = key.index(END) + 1
            rest = key[at:]
            if rest.startswith(END) or (first <= rest and (not last or rest < last)):
                passed = 0
                yield pair
                continue
            passed += 1
            if passed == PASSED:
                place = key[:at] + first if rest < first else key[: at - 1] + BEHIND
                break
        else:
            return


def paged_chunks(pairs: Iterator[Pair]) -> Iterator[Pairs]:
    """Everything stored in a range, ascending, in chunks that end with a column of whatever row.

    What deletes the family in a row stands at its beginning, and again at that of each chunk that
    goes on with the row.
    """
    keys: list[bytes] = []
    values: list[bytes] = []
    begun, wanted = 0, FIRST
    while part := list(islice(pairs, wanted)):
        more_keys, more_values = zip(*part, strict=True)
        keys += more_keys
        values += more_values
        wanted = min(2 * wanted, MOST)
        cut = _last_column(keys)
        if cut > begun:
            yield keys[:cut], values[:cut]
            again = _deletes_of(keys, cut)
            keys = [keys[place] for place in again] + keys[cut:]
            values = [values[place] for place in again] + values[cut:]
            begun = len(again)
    if len(keys) > begun:
        yield keys, values


def _last_column(keys: list[bytes]) -> int:
    """The place at which the last column of some keys begins."""
    column = keys[-1][:-TAIL]
    place = len(keys) - 1
    while place and keys[place - 1].startswith(column):
        place -= 1
    return place


def _deletes_of(keys: list[bytes], cut: int) -> list[int]:
    """The places before a cut at which the family is deleted in the row that goes on behind it."""
    row = keys[cut][: keys[cut].index(END) + 1]
    if not keys[cut - 1].startswith(row):
        return []
    begin = last_row(keys[:cut])
    return [
        place
        for place in range(begin, cut)
        if keys[place].startswith(END, len(row)) and keys[place][-1] in _FAMILY_DELETES
    ]
