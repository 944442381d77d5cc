"""Filters that combine other filters."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.errors import InvalidArgument
from rowkey.hbase.filters.contract import Filter
from rowkey.hbase.wire import proto
from rowkey.messages import format_value

JOINS = {"all": 1, "one": 2}
"""The number of each way to combine filters. Source: FilterList.Operator of Filter.proto."""


@dataclass(frozen=True, slots=True)
class FilterList(Filter):
    """Return cells and rows that pass all, or one, of several filters: `a & b` or `a | b`.

    Args:
        join: "all" or "one".
        filters: one or more filters.

    >>> from rowkey.hbase.filters import KeyOnlyFilter, PrefixFilter
    >>> (PrefixFilter(b"a") & KeyOnlyFilter()).join
    'all'
    """

    join: str
    filters: tuple[Filter, ...]

    def __post_init__(self) -> None:
        if self.join not in JOINS:
            what, allowed = f"{format_value(self.join)} is unknown", f"one of {', '.join(JOINS)}"
            raise InvalidArgument("join", what, allowed)
        if not self.filters:
            raise InvalidArgument("filters", "the tuple is empty", "one filter or more")
        for one in self.filters:
            _check_filter("filters", one)

    @classmethod
    def from_filters(cls, join: str, *filters: Filter) -> FilterList:
        """Combine filters; a `FilterList` with the same `join` is flattened into its parts."""
        flat: list[Filter] = []
        for one in filters:
            if isinstance(one, FilterList) and one.join == join:
                flat += one.filters
            else:
                flat.append(one)
        return cls(join, tuple(flat))

    @property
    def needs_whole_row(self) -> bool:
        """Return whether one of the filters needs whole rows."""
        return any(one.needs_whole_row for one in self.filters)

    def encode_body(self) -> bytes:
        """Encode the arguments as the protobuf message FilterList."""
        inner = (proto.encode_message(2, one.encode()) for one in self.filters)
        return proto.encode_uint(1, JOINS[self.join]) + b"".join(inner)


@dataclass(frozen=True, slots=True)
class SkipFilter(Filter):
    """Return rows of which every cell passes a filter."""

    filter: Filter

    def __post_init__(self) -> None:
        _check_filter("filter", self.filter)

    @property
    def needs_whole_row(self) -> bool:
        """Return True: the filter decides on whole rows."""
        return True

    def encode_body(self) -> bytes:
        """Encode the arguments as the protobuf message SkipFilter."""
        return proto.encode_message(1, self.filter.encode())


@dataclass(frozen=True, slots=True)
class WhileMatchFilter(Filter):
    """Return cells until one fails a filter; that ends the scan of the region."""

    filter: Filter

    def __post_init__(self) -> None:
        _check_filter("filter", self.filter)

    @property
    def needs_whole_row(self) -> bool:
        """Return True: the filter decides on whole rows."""
        return True

    def encode_body(self) -> bytes:
        """Encode the arguments as the protobuf message WhileMatchFilter."""
        return proto.encode_message(1, self.filter.encode())


def _check_filter(name: str, value: object) -> None:
    """Raise unless the value is a filter."""
    if not isinstance(value, Filter):
        raise InvalidArgument(
            name, f"{format_value(value)} has the type {type(value).__name__}", "a Filter"
        )
