"""The filters of HBase's filter language and the arguments of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from rowkey.errors import InvalidArgument
from rowkey.hbase import filters as f
from rowkey.messages import format_value, pluralize, suggest_name

CASE_INSENSITIVE = 2 | 32
"""Flags of `regexstringnocase`: ignore case, and a dot matches every character.

Source: ParseFilter.createComparator; java.util.regex.Pattern.
"""

_OPERATORS = ("<", "<=", "=", "!=", ">=", ">")


def format_filter_path(offset: int) -> str:
    """Return the path of an error at a byte offset of the filter text."""
    return f"filter, byte {offset}"


class FilterArgument(NamedTuple):
    """An argument of a filter as it is written in the filter text.

    Args:
        offset: its byte offset in the text.
        raw: its bytes without quotes.
        is_quoted: whether it was quoted.
    """

    offset: int
    raw: bytes
    is_quoted: bool

    def build_error(self, what: str, allowed: str, remedy: str = "") -> InvalidArgument:
        """Return an error with the byte offset of this argument."""
        return InvalidArgument(format_filter_path(self.offset), what, allowed, remedy)

    @property
    def excerpt(self) -> str:
        """Return the first bytes of the argument as text for a message."""
        return format_value(self.raw[:40].decode(errors="replace"))


ArgumentReader: TypeAlias = "Callable[[FilterArgument], Any]"
"""Converts an argument to a Python value; raises InvalidArgument if it is not valid."""


def _parse_quoted(argument: FilterArgument) -> bytes:
    """Return the bytes of an argument that must be in quotes."""
    if not argument.is_quoted:
        raise argument.build_error(
            f"{argument.excerpt} is not quoted", "a text in quotes, as in 'a'"
        )
    return argument.raw


def _parse_unquoted(argument: FilterArgument, allowed: str) -> bytes:
    """Return the bytes of an argument that must not be in quotes."""
    if argument.is_quoted:
        raise argument.build_error(f"{argument.excerpt} is in quotes", f"{allowed} without quotes")
    return argument.raw


def _parse_family(argument: FilterArgument) -> str:
    """Return the family name in a quoted argument."""
    return _decode_utf8(argument, _parse_quoted(argument))


def _decode_utf8(argument: FilterArgument, raw: bytes) -> str:
    """Decode bytes of an argument as UTF-8, or raise an error with its offset."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise argument.build_error(f"{argument.excerpt} is not UTF-8", "UTF-8 text") from None


def _parse_integer(argument: FilterArgument) -> int:
    """Return the number in an argument without quotes."""
    digits = _INTEGER.fullmatch(_parse_unquoted(argument, "an integer"))
    if digits is None:
        raise argument.build_error(
            f"{argument.excerpt} is not an integer", "an integer of up to 19 digits"
        )
    return int(digits[0])


_INTEGER = re.compile(rb"-?0*[0-9]{1,19}")
"""At most as many digits as a Java long has."""


def _parse_bool(argument: FilterArgument) -> bool:
    """Return the boolean in an argument without quotes."""
    word = _parse_unquoted(argument, "true or false").lower()
    if word not in (b"true", b"false"):
        raise argument.build_error(f"{argument.excerpt} is not a boolean", "true or false")
    return word == b"true"


def _parse_operator(argument: FilterArgument) -> str:
    """Return the comparison operator in an argument without quotes."""
    word = _parse_unquoted(argument, "an operator").decode(errors="replace")
    if word not in _OPERATORS:
        raise argument.build_error(
            f"{argument.excerpt} is not an operator", f"one of {' '.join(_OPERATORS)}"
        )
    return word


def _parse_comparator(argument: FilterArgument) -> f.Comparator:
    """Return the comparator in a quoted argument, such as 'binary:abc'."""
    raw_name, colon, value = _parse_quoted(argument).partition(b":")
    name = raw_name.decode(errors="replace")
    if not colon or name not in _COMPARATORS:
        what = f"{argument.excerpt} is not a comparator"
        allowed = "one of " + ", ".join(f"'{prefix}:…'" for prefix in _COMPARATORS)
        raise argument.build_error(what, allowed, suggest_name(name, _COMPARATORS) if colon else "")
    try:
        return _COMPARATORS[name](argument, value)
    except InvalidArgument as problem:
        raise _add_offset(argument.offset, problem) from None


_COMPARATORS: dict[str, Callable[[FilterArgument, bytes], f.Comparator]] = {
    "binary": lambda _, value: f.BinaryComparator(value),
    "binaryprefix": lambda _, value: f.BinaryPrefixComparator(value),
    "regexstring": lambda argument, value: f.RegexStringComparator(_decode_utf8(argument, value)),
    "regexstringnocase": lambda argument, value: f.RegexStringComparator(
        _decode_utf8(argument, value), flags=CASE_INSENSITIVE
    ),
    "substring": lambda argument, value: f.SubstringComparator(_decode_utf8(argument, value)),
}
"""Source: ParseConstants of HBase 2.6."""


def _add_offset(offset: int, problem: InvalidArgument) -> InvalidArgument:
    """Return an error of a filter class with the byte offset in the filter text added."""
    mistake = problem.mistake
    if mistake.path.startswith("filter, byte"):
        return problem
    what = f"{mistake.path}: {mistake.problem}" if mistake.path else mistake.problem
    return InvalidArgument(format_filter_path(offset), what, mistake.expected, mistake.remedy)


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """The arguments that a filter of the filter language takes.

    Args:
        factory: builds the filter from its converted arguments.
        readers: the converter of each argument, in order.
        argument_counts: the valid numbers of arguments; empty if the last one may be repeated.
    """

    factory: Callable[..., f.Filter]
    readers: tuple[ArgumentReader, ...] = ()
    argument_counts: tuple[int, ...] = ()

    def build_filter(
        self, name: str, offset: int, raw_arguments: Sequence[FilterArgument]
    ) -> f.Filter:
        """Convert the arguments of a filter, and return the filter.

        Args:
            offset: byte offset of the name in the text.
            raw_arguments: the arguments, not yet converted.

        Raises:
            InvalidArgument: there are too few or too many arguments, or one is not valid.
        """
        if self.argument_counts and len(raw_arguments) not in self.argument_counts:
            allowed = " or ".join(map(str, self.argument_counts))
            what = f"{name} has {pluralize(len(raw_arguments), 'argument')}"
            raise InvalidArgument(format_filter_path(offset), what, allowed)
        reads = self.readers if self.argument_counts else self.readers * len(raw_arguments)
        arguments = [read(raw) for read, raw in zip(reads, raw_arguments, strict=False)]
        try:
            return self.factory(*arguments)
        except InvalidArgument as problem:
            raise _add_offset(offset, problem) from None


def _build_column_range(
    start: bytes, include_start: bool, stop: bytes, include_stop: bool
) -> f.Filter:
    """Return a ColumnRangeFilter from arguments in the order of the filter language."""
    return f.ColumnRangeFilter(start, stop, include_start, include_stop)


_COMPARISON_READERS = (_parse_operator, _parse_comparator)
_COLUMN_READERS = (_parse_family, _parse_quoted)
_VALUE_READERS = (*_COLUMN_READERS, *_COMPARISON_READERS)

FILTER_SPECS: dict[str, FilterSpec] = {
    "ColumnCountGetFilter": FilterSpec(f.ColumnCountGetFilter, (_parse_integer,), (1,)),
    "ColumnPaginationFilter": FilterSpec(
        f.ColumnPaginationFilter, (_parse_integer, _parse_integer), (2,)
    ),
    "ColumnPrefixFilter": FilterSpec(f.ColumnPrefixFilter, (_parse_quoted,), (1,)),
    "ColumnRangeFilter": FilterSpec(
        _build_column_range, (_parse_quoted, _parse_bool, _parse_quoted, _parse_bool), (4,)
    ),
    "ColumnValueFilter": FilterSpec(f.ColumnValueFilter, _VALUE_READERS, (4,)),
    "DependentColumnFilter": FilterSpec(
        f.DependentColumnFilter, (*_COLUMN_READERS, _parse_bool, *_COMPARISON_READERS), (2, 3, 5)
    ),
    "FamilyFilter": FilterSpec(f.FamilyFilter, _COMPARISON_READERS, (2,)),
    "FirstKeyOnlyFilter": FilterSpec(f.FirstKeyOnlyFilter, (), (0,)),
    "InclusiveStopFilter": FilterSpec(f.InclusiveStopFilter, (_parse_quoted,), (1,)),
    "KeyOnlyFilter": FilterSpec(f.KeyOnlyFilter, (_parse_bool,), (0, 1)),
    "MultipleColumnPrefixFilter": FilterSpec(
        lambda *prefixes: f.MultipleColumnPrefixFilter(prefixes), (_parse_quoted,)
    ),
    "PageFilter": FilterSpec(f.PageFilter, (_parse_integer,), (1,)),
    "PrefixFilter": FilterSpec(f.PrefixFilter, (_parse_quoted,), (1,)),
    "QualifierFilter": FilterSpec(f.QualifierFilter, _COMPARISON_READERS, (2,)),
    "RowFilter": FilterSpec(f.RowFilter, _COMPARISON_READERS, (2,)),
    "SingleColumnValueExcludeFilter": FilterSpec(
        f.SingleColumnValueExcludeFilter, (*_VALUE_READERS, _parse_bool, _parse_bool), (4, 6)
    ),
    "SingleColumnValueFilter": FilterSpec(
        f.SingleColumnValueFilter, (*_VALUE_READERS, _parse_bool, _parse_bool), (4, 6)
    ),
    "TimestampsFilter": FilterSpec(lambda *times: f.TimestampsFilter(times), (_parse_integer,)),
    "ValueFilter": FilterSpec(f.ValueFilter, _COMPARISON_READERS, (2,)),
}
"""Every filter of the language. Source: ParseFilter, createFilterFromArguments of each filter."""
