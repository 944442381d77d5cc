"""What a filter and a comparator are: a Java class by its name, and its fields as bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from rowkey.errors import Refused, shown
from rowkey.hbase.wire import proto

if TYPE_CHECKING:
    from rowkey.hbase.filters.lists import FilterList

PACKAGE = "org.apache.hadoop.hbase.filter."
"""Where HBase's own filters and comparators live."""

NUMBER_MOST = 2**31 - 1
"""Greatest number a filter takes. Source: Integer.MAX_VALUE."""

OPERATORS = {"<": 0, "<=": 1, "=": 2, "!=": 3, ">=": 4, ">": 5}
"""Each operator and its number. Source: CompareType of HBase.proto."""


class Comparator(ABC):
    """What a filter compares rows, columns or values with."""

    __slots__ = ()

    @abstractmethod
    def body(self) -> bytes:
        """Its fields as HBase's protocol writes them."""

    @property
    def orders(self) -> bool:
        """Whether it knows less and greater, not only equal."""
        return True

    def encode(self) -> bytes:
        """The message `Comparator`: the class, and its fields."""
        return proto.text(1, PACKAGE + type(self).__name__) + proto.blob(2, self.body())


class Filter(ABC):
    """What a cell or a row must be like to be given; judged on the server.

    A filter from elsewhere derives from this one and says its Java class; the server must have it.
    """

    __slots__ = ()

    @abstractmethod
    def body(self) -> bytes:
        """Its fields as HBase's protocol writes them."""

    @property
    def java(self) -> str:
        """The full name of its Java class."""
        return PACKAGE + type(self).__name__

    @property
    def whole_row(self) -> bool:
        """Whether it must see a row whole, so that the row cannot be given in pieces.

        Source: Filter.hasFilterRow.
        """
        return False

    def encode(self) -> bytes:
        """The message `Filter`: the class, and its fields.

        Source: Filter.proto of HBase 2.6.

        >>> from rowkey.hbase.filters import PageFilter
        >>> PageFilter(1).encode()[-4:].hex()
        '12020801'
        """
        return proto.text(1, self.java) + proto.blob(2, self.body())

    def __and__(self, other: Filter) -> FilterList:
        from rowkey.hbase.filters.lists import FilterList

        return FilterList.of("all", self, other)

    def __or__(self, other: Filter) -> FilterList:
        from rowkey.hbase.filters.lists import FilterList

        return FilterList.of("one", self, other)


def check_bytes(word: str, given: object) -> None:
    """Raise unless this is bytes."""
    if not isinstance(given, bytes):
        raise Refused(word, f"{shown(given)} is a {type(given).__name__}", "bytes")


def check_text(word: str, given: object) -> None:
    """Raise unless this is text that is not empty."""
    if not isinstance(given, str) or not given:
        raise Refused(word, f"{shown(given)} cannot be taken", "text, one character or more")


def check_number(word: str, given: object, least: int = 1, most: int = NUMBER_MOST) -> None:
    """Raise unless this is a whole number within its bounds."""
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        raise Refused(word, f"{shown(given)} is out of range", f"{least}..{most}")


def check_compared(operator: object, comparator: object) -> None:
    """Raise unless something can be compared like this."""
    if operator not in OPERATORS:
        raise Refused("operator", f"{shown(operator)} is unknown", " ".join(OPERATORS))
    if not isinstance(comparator, Comparator):
        what = f"{shown(comparator)} is a {type(comparator).__name__}"
        raise Refused("comparator", what, "a Comparator, such as BinaryComparator")
    if not comparator.orders and operator not in {"=", "!="}:
        what = f"{operator} has no meaning with {type(comparator).__name__}"
        raise Refused("operator", what, "= or !=")
