"""Key terms that spread rows, such as buckets and salts: building, counting and removing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from rowkey.keys import Field, Key
from rowkey.plan import count_spreading_parts
from rowkey.schema import Constant, FieldRef, FunctionCall, Term

BUCKET_TRANSFORM = "bucket"
SALT_TRANSFORM = "salt"
BUCKETS_PER_SERVER = 2
"""Proposed buckets for each server: a new server can take over a whole bucket, and a slow server
can give one away."""
MIN_VALUES_PER_REGION = 4
"""Values a region below which chance alone leaves regions uneven or empty: at four, a hash puts
nine on the fullest of 16 regions where an even share would be four."""


def build_bucket(names: Iterable[str], buckets: int, *heavy_buckets: int) -> FunctionCall:
    """Return a bucket term over some fields.

    Args:
        buckets: the number of buckets.
        heavy_buckets: the number of buckets over which a heavy value is spread, if any is listed.

    >>> print(build_bucket(["host", "ts"], 16, 4))
    bucket(host, ts, 16, 4)
    """
    return FunctionCall(BUCKET_TRANSFORM, tuple(map(FieldRef, names)), (buckets, *heavy_buckets))


def build_salt(salts: int) -> FunctionCall:
    """Return a salt term, which draws one of `salts` numbers for each row."""
    return FunctionCall(SALT_TRANSFORM, (), (salts,))


def is_spreading_term(term: Term) -> TypeGuard[FunctionCall]:
    """Return whether a term is a bucket or a salt.

    >>> is_spreading_term(build_salt(16)), is_spreading_term(FieldRef("host"))
    (True, False)
    """
    names = (BUCKET_TRANSFORM, SALT_TRANSFORM)
    return isinstance(term, FunctionCall) and term.name in names


def build_ordering_term(term: Term, *, descending: bool) -> Term:
    """Return a field's term, in `desc` if its values are to be sorted from the greatest on."""
    return FunctionCall("desc", (term,)) if descending else term


def is_heavy(share: float, servers: int) -> bool:
    """Return whether one value takes more than half of its server's fair share."""
    return share > 0.5 / servers


def has_only_times(fields: Mapping[str, Field], names: Iterable[str]) -> bool:
    """Return whether all of some fields are times; true for no fields."""
    return all(fields[name].type.unit_ns is not None for name in names)


def strip_spreading_terms(key: Key, first: int = 0) -> Iterator[Term]:
    """Yield the terms of a key without those that only spread rows; constants are kept.

    Args:
        first: the index of the term to begin with.

    >>> from rowkey.keys import bind_key
    >>> key = bind_key("['a'][bucket(host, 16)][host][ts]", {"host": "text", "ts": "date"})
    >>> [str(term) for term in strip_spreading_terms(key)]
    ["'a'", 'host', 'ts']
    """
    count = count_spreading_parts(key)
    for index, term in enumerate(key.terms):
        if index >= first and (index >= count or isinstance(term, Constant)):
            yield term
