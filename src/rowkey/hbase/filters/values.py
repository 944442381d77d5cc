"""Filters that compare a row key, a family, a qualifier or a value."""

from __future__ import annotations

from dataclasses import dataclass

from rowkey.hbase.filters.contract import (
    OPERATORS,
    Comparator,
    Filter,
    check_bytes,
    check_comparator,
    check_text,
)
from rowkey.hbase.wire import proto


@dataclass(frozen=True, slots=True)
class _CompareFilter(Filter):
    """The base of the filters that compare one part of each cell.

    Args:
        operator: one of = != < <= > >=, read as *part OP comparator*.
        comparator: the right-hand side of the comparison.
    """

    operator: str
    comparator: Comparator

    def __post_init__(self) -> None:
        check_comparator(self.operator, self.comparator)

    def encode_body(self) -> bytes:
        """Encode the comparison as the protobuf message of the derived filter."""
        return proto.encode_message(1, _encode_comparison(self.operator, self.comparator, 1))


@dataclass(frozen=True, slots=True)
class RowFilter(_CompareFilter):
    """Return rows by a comparison of their key.

    >>> from rowkey.hbase.filters import BinaryComparator
    >>> RowFilter("<", BinaryComparator(b"k")).encode_body()[:4].hex()
    '0a3c0800'
    """


@dataclass(frozen=True, slots=True)
class FamilyFilter(_CompareFilter):
    """Return cells by a comparison of their family."""


@dataclass(frozen=True, slots=True)
class QualifierFilter(_CompareFilter):
    """Return cells by a comparison of their qualifier."""


@dataclass(frozen=True, slots=True)
class ValueFilter(_CompareFilter):
    """Return cells by a comparison of their value."""


@dataclass(frozen=True, slots=True)
class ColumnValueFilter(Filter):
    """Return the cells of one column by a comparison of their value, and no other cells.

    Args:
        operator: one of = != < <= > >=, read as *cell OP comparator*.
        comparator: the right-hand side of the comparison.
    """

    family: str
    qualifier: bytes
    operator: str
    comparator: Comparator

    def __post_init__(self) -> None:
        _check_column(self.family, self.qualifier)
        check_comparator(self.operator, self.comparator)

    def encode_body(self) -> bytes:
        column = proto.encode_text(1, self.family) + proto.encode_bytes(2, self.qualifier)
        return column + _encode_comparison(self.operator, self.comparator, 3)


@dataclass(frozen=True, slots=True)
class SingleColumnValueFilter(Filter):
    """Return whole rows by a comparison of the value of one column.

    The read must select that column.

    Args:
        operator: one of = != < <= > >=, read as *cell OP comparator*.
        comparator: the right-hand side of the comparison.
        filter_if_missing: whether rows without the column are left out.
        latest_only: whether only the newest version is compared.
    """

    family: str
    qualifier: bytes
    operator: str
    comparator: Comparator
    filter_if_missing: bool = False
    latest_only: bool = True

    def __post_init__(self) -> None:
        _check_column(self.family, self.qualifier)
        check_comparator(self.operator, self.comparator)

    @property
    def needs_whole_row(self) -> bool:
        """Return True: the filter decides on whole rows."""
        return True

    def encode_body(self) -> bytes:
        return self.encode_condition()

    def encode_condition(self) -> bytes:
        """Encode column, comparison and options as the fields of SingleColumnValueFilter."""
        return (
            proto.encode_text(1, self.family)
            + proto.encode_bytes(2, self.qualifier)
            + _encode_comparison(self.operator, self.comparator, 3)
            + proto.encode_bool(5, self.filter_if_missing)
            + proto.encode_bool(6, self.latest_only)
        )


@dataclass(frozen=True, slots=True)
class SingleColumnValueExcludeFilter(SingleColumnValueFilter):
    """Filter rows as `SingleColumnValueFilter` does, and leave out the compared column."""

    def encode_body(self) -> bytes:
        return proto.encode_message(1, self.encode_condition())


@dataclass(frozen=True, slots=True)
class DependentColumnFilter(Filter):
    """Return cells with the timestamp of a cell in one column of their row.

    Args:
        drop_column: whether the cells of that column are left out.
        operator: one of = != < <= > >= for values of the column, or None for any value.
        comparator: the right-hand side of the comparison, or None.
    """

    family: str
    qualifier: bytes
    drop_column: bool = False
    operator: str | None = None
    comparator: Comparator | None = None

    def __post_init__(self) -> None:
        _check_column(self.family, self.qualifier)
        if self.operator is not None or self.comparator is not None:
            check_comparator(self.operator, self.comparator)

    @property
    def needs_whole_row(self) -> bool:
        """Return True: the filter decides on whole rows."""
        return True

    def encode_body(self) -> bytes:
        comparison = proto.encode_uint(1, _NO_OP_NUMBER)
        if self.operator is not None and self.comparator is not None:
            comparison = _encode_comparison(self.operator, self.comparator, 1)
        return (
            proto.encode_message(1, comparison)
            + proto.encode_text(2, self.family)
            + proto.encode_bytes(3, self.qualifier)
            + proto.encode_bool(4, self.drop_column)
        )


_NO_OP_NUMBER = 6
"""The operator for no comparison. Source: CompareType.NO_OP of HBase.proto."""


def _encode_comparison(operator: str, comparator: Comparator, field_number: int) -> bytes:
    """Encode an operator and a comparator as two consecutive protobuf fields."""
    number = proto.encode_uint(field_number, OPERATORS[operator])
    return number + proto.encode_message(field_number + 1, comparator.encode())


def _check_column(family: object, qualifier: object) -> None:
    """Raise unless the family is a text and the qualifier is bytes."""
    check_text("family", family)
    check_bytes("qualifier", qualifier)
