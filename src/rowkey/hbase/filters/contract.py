"""What every filter is, and lists of filters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from rowkey.errors import InvalidArgument
from rowkey.hbase.wire import proto
from rowkey.messages import format_value

JAVA_PACKAGE = "org.apache.hadoop.hbase.filter."
"""The Java package of HBase's own filters and comparators."""

MAX_INT32 = 2**31 - 1
"""The greatest number a filter accepts. Source: Integer.MAX_VALUE."""

OPERATORS = {"<": 0, "<=": 1, "=": 2, "!=": 3, ">=": 4, ">": 5}
"""The number of each operator. Source: CompareType of HBase.proto."""


class Comparator(ABC):
    """The right-hand side of a filter's comparison."""

    __slots__ = ()

    @abstractmethod
    def encode_body(self) -> bytes:
        """Encode the arguments as the protobuf message of the Java class."""

    @property
    def is_ordered(self) -> bool:
        """Return whether the comparator supports < and >, not only = and !=."""
        return True

    def encode(self) -> bytes:
        """Encode the comparator as protobuf: the name of the Java class and its arguments."""
        return proto.encode_text(1, JAVA_PACKAGE + type(self).__name__) + proto.encode_bytes(
            2, self.encode_body()
        )


class Filter(ABC):
    """A condition on cells or rows that the server evaluates.

    A filter of your own derives from this class and returns its Java class, which the server must
    have.
    """

    __slots__ = ()

    @abstractmethod
    def encode_body(self) -> bytes:
        """Encode the arguments as the protobuf message of the Java class."""

    @property
    def java_class(self) -> str:
        """Return the full name of the filter's Java class."""
        return JAVA_PACKAGE + type(self).__name__

    @property
    def needs_whole_row(self) -> bool:
        """Return whether the filter needs whole rows, so that rows cannot be returned in pieces.

        Source: Filter.hasFilterRow.
        """
        return False

    def encode(self) -> bytes:
        """Encode the filter as protobuf: the name of the Java class and its arguments.

        Source: Filter.proto of HBase 2.6.

        >>> from rowkey.hbase.filters import PageFilter
        >>> PageFilter(1).encode()[-4:].hex()
        '12020801'
        """
        return proto.encode_text(1, self.java_class) + proto.encode_bytes(2, self.encode_body())

    def __and__(self, other: Filter) -> FilterList:
        return FilterList.from_filters("all", self, other)

    def __or__(self, other: Filter) -> FilterList:
        return FilterList.from_filters("one", self, other)


def check_bytes(name: str, value: object) -> None:
    """Raise unless the value is bytes."""
    if not isinstance(value, bytes):
        what = f"{format_value(value)} has the type {type(value).__name__}"
        raise InvalidArgument(name, what, "bytes")


def check_text(name: str, value: object) -> None:
    """Raise unless the value is a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise InvalidArgument(
            name, f"{format_value(value)} is not valid", "a text that is not empty"
        )


def check_number(name: str, value: object, minimum: int = 1, maximum: int = MAX_INT32) -> None:
    """Raise unless the value is an integer from `minimum` to `maximum`."""
    if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
        allowed = f"a whole number from {minimum} to {maximum}"
        raise InvalidArgument(name, f"{format_value(value)} is not valid", allowed)


def check_comparator(operator: object, comparator: object) -> None:
    """Raise unless the operator and the comparator are valid together."""
    if operator not in OPERATORS:
        raise InvalidArgument(
            "operator", f"{format_value(operator)} is unknown", f"one of {', '.join(OPERATORS)}"
        )
    if not isinstance(comparator, Comparator):
        what = f"{format_value(comparator)} has the type {type(comparator).__name__}"
        raise InvalidArgument("comparator", what, "a Comparator, such as BinaryComparator")
    if not comparator.is_ordered and operator not in {"=", "!="}:
        what = f"{type(comparator).__name__} does not support {operator}"
        raise InvalidArgument("operator", what, "= or !=")


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
        return proto.encode_message(1, self.filter.encode())


def _check_filter(name: str, value: object) -> None:
    if not isinstance(value, Filter):
        raise InvalidArgument(
            name, f"{format_value(value)} has the type {type(value).__name__}", "a Filter"
        )
