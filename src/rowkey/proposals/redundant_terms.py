"""Terms of a key without which it has the same rows in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rowkey.errors import Mistakes
from rowkey.keys import Determinant, Order, Part, build_key
from rowkey.schema import Term

if TYPE_CHECKING:
    from rowkey.design import Design


def remove_redundant_terms(design: Design, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the terms of a key without those that change neither its rows nor their order.

    A step of a time says nothing behind that time, nor directly before it in the same direction.
    """
    key = build_key(terms, design.fields, Mistakes())
    if key is None:
        return terms
    return tuple(
        term
        for place, term in enumerate(terms)
        if not _follows_from(key.parts[place], key.parts[:place])
        and not any(_is_ordered_by(key.parts[place], one) for one in key.parts[place + 1 :][:1])
    )


def _follows_from(part: Part, earlier: Sequence[Part]) -> bool:
    """Return whether equal bytes of earlier parts make the bytes of a part equal."""
    if part.determined_by is not Determinant.FIELDS or not part.fields:
        return False
    known = {name for one in earlier for name in one.fields if one.residue(name).is_empty}
    return known.issuperset(part.fields) or any(_is_finer(one, part) for one in earlier)


def _is_finer(part: Part, coarse: Part) -> bool:
    """Return whether each step of a time lies within one step of another part of that time."""
    if part.fields != coarse.fields or part.order is Order.NONE:
        return False
    if not part.resolution_ns or not coarse.resolution_ns:
        return False
    return coarse.resolution_ns % part.resolution_ns == 0


def _is_ordered_by(coarse: Part, part: Part) -> bool:
    """Return whether a part sorts rows as they are sorted with a coarser one before it."""
    if part.fields != coarse.fields or not all(part.residue(one).is_empty for one in part.fields):
        return False
    is_weak = coarse.order in {Order.WEAK, Order.WEAK_REVERSED}
    return is_weak and part.order.weaken() is coarse.order
