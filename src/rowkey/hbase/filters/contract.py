"""The base classes of filters and comparators: the name of a Java class and its encoded fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from rowkey.errors import InvalidArgument
from rowkey.hbase.wire import proto
from rowkey.messages import format_value

if TYPE_CHECKING:
    from rowkey.hbase.filters.lists import FilterList

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
        from rowkey.hbase.filters.lists import FilterList

        return FilterList.from_filters("all", self, other)

    def __or__(self, other: Filter) -> FilterList:
        from rowkey.hbase.filters.lists import FilterList

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
