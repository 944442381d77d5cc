"""Filters made of filters."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.errors import Refused, shown
from rowkey.hbase.filters.contract import Filter
from rowkey.hbase.wire import proto

JOINS = {"all": 1, "one": 2}
"""Each way of joining filters and its number. Source: FilterList.Operator of Filter.proto."""


@dataclass(frozen=True, slots=True)
class FilterList(Filter):
    """Cells and rows that pass all, or one, of some filters; `a & b` and `a | b` make one.

    Args:
        join: all or one.
        filters: at least one.

    >>> from rowkey.hbase.filters import KeyOnlyFilter, PrefixFilter
    >>> (PrefixFilter(b"a") & KeyOnlyFilter()).join
    'all'
    """

    join: str
    filters: tuple[Filter, ...]

    def __post_init__(self) -> None:
        if self.join not in JOINS:
            raise Refused("join", f"{shown(self.join)} is unknown", ", ".join(JOINS))
        if not self.filters:
            raise Refused("filters", "there is none", "1 or more")
        for one in self.filters:
            _check_filter("filters", one)

    @classmethod
    def of(cls, join: str, *filters: Filter) -> FilterList:
        """The filters joined; those that are lists of the same sort are not nested."""
        flat: list[Filter] = []
        for one in filters:
            same = isinstance(one, FilterList) and one.join == join
            flat += one.filters if same and isinstance(one, FilterList) else (one,)
        return cls(join, tuple(flat))

    @property
    def whole_row(self) -> bool:
        return any(one.whole_row for one in self.filters)

    def body(self) -> bytes:
        inner = (proto.message(2, one.encode()) for one in self.filters)
        return proto.uint(1, JOINS[self.join]) + b"".join(inner)


@dataclass(frozen=True, slots=True)
class SkipFilter(Filter):
    """Whole rows, those of which every cell passes a filter."""

    filter: Filter

    def __post_init__(self) -> None:
        _check_filter("filter", self.filter)

    @property
    def whole_row(self) -> bool:
        return True

    def body(self) -> bytes:
        return proto.message(1, self.filter.encode())


@dataclass(frozen=True, slots=True)
class WhileMatchFilter(Filter):
    """All up to the first that does not pass a filter; there the region is done."""

    filter: Filter

    def __post_init__(self) -> None:
        _check_filter("filter", self.filter)

    @property
    def whole_row(self) -> bool:
        return True

    def body(self) -> bytes:
        return proto.message(1, self.filter.encode())


def _check_filter(word: str, given: object) -> None:
    """Raise unless this is a filter."""
    if not isinstance(given, Filter):
        raise Refused(word, f"{shown(given)} is a {type(given).__name__}", "a Filter")
