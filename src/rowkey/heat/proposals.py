"""What would spread the load: parts and whole keys, proposed and never applied."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rowkey.errors import DeclarationError
from rowkey.schema import Call, Constant, FieldRef, print_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.design import Design
    from rowkey.schema import Term

SPREAD = "bucket"
"""The transform that spreads the values listed as heavy."""


def wider_bucket(design: Design, more: Sequence[str] = ()) -> str:
    """What would spread the rows of every moment and of every value, in the notation.

    Two buckets a server, over all fields of the key; a salt where it has times alone, for events of
    one moment would meet in one bucket.

    Args:
        design: the design.
        more: fields that the key should have besides.
    """
    names = (*design.key.fields, *more)
    buckets = 2 * design.cluster.servers
    if all(design.fields[name].type.tick is not None for name in names):
        return front_salt(design)
    return f"[{Call('bucket', tuple(map(FieldRef, names)), (buckets,))}]"


def front_salt(design: Design) -> str:
    """A salt of two numbers a server, in the notation: it spreads the rows of any one value."""
    return f"[{Call('salt', (), (2 * design.cluster.servers,))}]"


def proposed_spread(
    design: Design, names: Sequence[str], heavy: Sequence[tuple[Any, float]]
) -> dict[str, Any] | None:
    """The same design with the heavy values over several buckets; None if no such design binds.

    It is proposed, never applied: the list of heavy values is part of the bytes of a table.

    Returns:
        The words that change: `key`, `splits`, and the values of `heavy` by field.
    """
    name = names[0]
    values = [value for value, _ in heavy if isinstance(value, str | int | float)]
    others = tuple(FieldRef(other) for other in design.key.fields if other != name)
    if len(names) > 1 or not values or len(values) < len(heavy) or not others:
        return None
    listed = [*dict.fromkeys([*design.fields[name].heavy, *values])]
    servers, share = design.cluster.servers, max(share for _, share in heavy)
    terms = design.key.terms
    place, is_bucket = _bucket_of(terms, name)
    old = terms[place]
    buckets, options = 2 * servers, {}
    declared: list[int] = []
    first: Term = FieldRef(name)
    if is_bucket and isinstance(old, Call) and isinstance(old.scalars[0], int):
        first, buckets, options = old.terms[0], old.scalars[0], old.options
        declared = [scalar for scalar in old.scalars[1:] if isinstance(scalar, int)]
    # Half a server's fair share a bucket, so that the others' load finds room beside it.
    spread = min(max([1 << max(math.ceil(math.log2(2 * servers * share)), 1), *declared]), buckets)
    new = Call(SPREAD, (first, *others), (buckets, spread), options)
    key = (*terms[:place], new, *terms[place + is_bucket :])
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    words |= {"key": print_key(key), "splits": "per_bucket"}
    words["fields"][name] |= {"heavy": listed}
    try:
        type(design)(**words)
    except DeclarationError:
        return None
    return {"key": words["key"], "splits": words["splits"], "heavy": {name: listed}}


def _bucket_of(terms: Sequence[Term], name: str) -> tuple[int, bool]:
    """Where the bucket of a field stands, or where one would: behind leading constants."""
    place = next(n for n, term in enumerate(terms) if not isinstance(term, Constant))
    term = terms[place]
    if not isinstance(term, Call) or term.kind != SPREAD or not term.terms:
        return place, False
    first = term.terms[0]
    is_whole = isinstance(first, FieldRef) and first.name == name
    return place, is_whole and (len(term.terms) == 1 or len(term.scalars) > 1)
