"""Filters that compare: a row key, a family, a qualifier or a value with something."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.filters.contract import (
    OPERATORS,
    Comparator,
    Filter,
    check_bytes,
    check_compared,
    check_text,
)
from rowkey.hbase.wire import proto


@dataclass(frozen=True, slots=True)
class _CompareFilter(Filter):
    """A filter that compares one thing.

    Args:
        operator: one of = != < <= > >=, read as *what is judged OP comparator*.
        comparator: what it is compared with.
    """

    operator: str
    comparator: Comparator

    def __post_init__(self) -> None:
        check_compared(self.operator, self.comparator)

    def body(self) -> bytes:
        return proto.message(1, _compared(self.operator, self.comparator, 1))


@dataclass(frozen=True, slots=True)
class RowFilter(_CompareFilter):
    """Rows whose key compares so.

    >>> from rowkey.hbase.filters import BinaryComparator
    >>> RowFilter("<", BinaryComparator(b"k")).body()[:4].hex()
    '0a3c0800'
    """


@dataclass(frozen=True, slots=True)
class FamilyFilter(_CompareFilter):
    """Cells whose family compares so."""


@dataclass(frozen=True, slots=True)
class QualifierFilter(_CompareFilter):
    """Cells whose qualifier compares so."""


@dataclass(frozen=True, slots=True)
class ValueFilter(_CompareFilter):
    """Cells whose value compares so."""


@dataclass(frozen=True, slots=True)
class ColumnValueFilter(Filter):
    """Cells of one column whose value compares so; all others are left out.

    Args:
        family: the column's family.
        qualifier: the column.
        operator: one of = != < <= > >=, read as *cell OP comparator*.
        comparator: what it is compared with.
    """

    family: str
    qualifier: bytes
    operator: str
    comparator: Comparator

    def __post_init__(self) -> None:
        _check_column(self.family, self.qualifier)
        check_compared(self.operator, self.comparator)

    def body(self) -> bytes:
        compared = _compared(self.operator, self.comparator, 3)
        return proto.text(1, self.family) + proto.blob(2, self.qualifier) + compared


@dataclass(frozen=True, slots=True)
class SingleColumnValueFilter(Filter):
    """Whole rows, those in which the value of one column compares so.

    The column must be among those that are read.

    Args:
        family: the column's family.
        qualifier: the column.
        operator: one of = != < <= > >=, read as *cell OP comparator*.
        comparator: what it is compared with.
        if_missing: whether rows without the column are left out; HBase gives them.
        latest_only: whether only the newest version of it counts.
    """

    family: str
    qualifier: bytes
    operator: str
    comparator: Comparator
    if_missing: bool = False
    latest_only: bool = True

    def __post_init__(self) -> None:
        _check_column(self.family, self.qualifier)
        check_compared(self.operator, self.comparator)

    @property
    def whole_row(self) -> bool:
        return True

    def body(self) -> bytes:
        return self.fields()

    def fields(self) -> bytes:
        """Its own fields, as filters that build on it hold them."""
        return (
            proto.text(1, self.family)
            + proto.blob(2, self.qualifier)
            + _compared(self.operator, self.comparator, 3)
            + proto.flag(5, self.if_missing)
            + proto.flag(6, self.latest_only)
        )


@dataclass(frozen=True, slots=True)
class SingleColumnValueExcludeFilter(SingleColumnValueFilter):
    """As `SingleColumnValueFilter`, without the column that was judged."""

    def body(self) -> bytes:
        return proto.message(1, self.fields())


@dataclass(frozen=True, slots=True)
class DependentColumnFilter(Filter):
    """Cells that have the timestamp of a cell in one column of their row.

    Args:
        family: the column's family.
        qualifier: the column.
        drop: whether the column's own cells are left out.
        operator: how values of the column must compare, or None for any value.
        comparator: what they are compared with, or None.
    """

    family: str
    qualifier: bytes
    drop: bool = False
    operator: str | None = None
    comparator: Comparator | None = None

    def __post_init__(self) -> None:
        _check_column(self.family, self.qualifier)
        if self.operator is not None or self.comparator is not None:
            check_compared(self.operator, self.comparator)

    @property
    def whole_row(self) -> bool:
        return True

    def body(self) -> bytes:
        compared = proto.uint(1, _NO_OPERATOR)
        if self.operator is not None and self.comparator is not None:
            compared = _compared(self.operator, self.comparator, 1)
        return (
            proto.message(1, compared)
            + proto.text(2, self.family)
            + proto.blob(3, self.qualifier)
            + proto.flag(4, self.drop)
        )


_NO_OPERATOR = 6
"""The operator that compares nothing. Source: CompareType.NO_OP of HBase.proto."""


def _compared(operator: str, comparator: Comparator, number: int) -> bytes:
    """Two neighbouring fields, the operator's first."""
    said = proto.uint(number, OPERATORS[operator])
    return said + proto.message(number + 1, comparator.encode())


def _check_column(family: object, qualifier: object) -> None:
    """Raise unless this can be a column."""
    check_text("family", family)
    check_bytes("qualifier", qualifier)
