"""The filters of HBase's filter language: by name, which arguments each takes, and in what form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rowkey.errors import Refused, did_you_mean, shown
from rowkey.hbase import filters as f

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CASELESS = 2 | 32
"""Flags of `regexstringnocase`: letters capital or small, and a point for every character.

Source: ParseFilter.createComparator; java.util.regex.Pattern.
"""


class Given(NamedTuple):
    """One argument as it was written.

    Args:
        at: where it begins, in bytes from 0.
        raw: what it says, without quotes.
        quoted: whether it stood in quotes.
    """

    at: int
    raw: bytes
    quoted: bool

    def refusal(self, what: str, allowed: str, remedy: str = "") -> Refused:
        """The error about this argument."""
        return Refused(f"filter[{self.at}]", what, allowed, remedy)

    @property
    def text(self) -> str:
        """As a message shows it."""
        return shown(self.raw[:40].decode(errors="replace"))


Reads: TypeAlias = "Callable[[Given], Any]"
"""What an argument says, or Refused."""


def _in_quotes(given: Given) -> bytes:
    if not given.quoted:
        raise given.refusal(f"{given.text} stands without quotes", "a text in quotes, as in 'a'")
    return given.raw


def _plain(given: Given, allowed: str) -> bytes:
    if given.quoted:
        raise given.refusal(f"{given.text} stands in quotes", f"{allowed}, without quotes")
    return given.raw


def _family(given: Given) -> str:
    return _utf8(given, _in_quotes(given))


def _utf8(given: Given, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise given.refusal(f"{given.text} is no text", "UTF-8") from None


def _whole(given: Given) -> int:
    digits = _NUMBER.fullmatch(_plain(given, "a whole number"))
    if digits is None:
        raise given.refusal(f"{given.text} is no number", "a whole number of up to 19 digits")
    return int(digits[0])


_NUMBER = re.compile(rb"-?0*[0-9]{1,19}")
"""No more digits than Java's long has."""


def _truth(given: Given) -> bool:
    word = _plain(given, "true or false").lower()
    if word not in (b"true", b"false"):
        raise given.refusal(f"{given.text} is no truth", "true or false")
    return word == b"true"


def _operator(given: Given) -> str:
    word = _plain(given, "an operator").decode(errors="replace")
    if word not in _OPERATORS:
        raise given.refusal(f"{given.text} is no operator", " ".join(_OPERATORS))
    return word


_OPERATORS = ("<", "<=", "=", "!=", ">=", ">")


def _comparator(given: Given) -> f.Comparator:
    sort, colon, value = _in_quotes(given).partition(b":")
    name = sort.decode(errors="replace")
    if not colon or name not in _COMPARATORS:
        what = f"{given.text} names no comparator"
        allowed = ", ".join(f"'{one}:…'" for one in _COMPARATORS)
        raise given.refusal(what, allowed, did_you_mean(name, _COMPARATORS) if colon else "")
    try:
        return _COMPARATORS[name](given, value)
    except Refused as problem:
        raise _placed(given.at, problem) from None


_COMPARATORS: dict[str, Callable[[Given, bytes], f.Comparator]] = {
    "binary": lambda _, value: f.BinaryComparator(value),
    "binaryprefix": lambda _, value: f.BinaryPrefixComparator(value),
    "regexstring": lambda given, value: f.RegexStringComparator(_utf8(given, value)),
    "regexstringnocase": lambda given, value: f.RegexStringComparator(
        _utf8(given, value), flags=CASELESS
    ),
    "substring": lambda given, value: f.SubstringComparator(_utf8(given, value)),
}
"""Source: ParseConstants of HBase 2.6."""


def _placed(at: int, problem: Refused) -> Refused:
    """What a filter refuses, with its place in the text."""
    told = problem.mistake
    if told.path.startswith("filter["):
        return problem
    what = f"{told.path}: {told.what}" if told.path else told.what
    return Refused(f"filter[{at}]", what, told.allowed, told.remedy)


@dataclass(frozen=True, slots=True)
class Form:
    """A filter of the language.

    Args:
        make: what makes it of its arguments.
        reads: how each argument is read, in their order.
        counts: how many arguments there may be; none if the last one may come any number of times.
    """

    make: Callable[..., f.Filter]
    reads: tuple[Reads, ...] = ()
    counts: tuple[int, ...] = ()

    def filter(self, at: int, given: Sequence[Given]) -> f.Filter:
        """The filter with these arguments.

        Args:
            at: where its name stands.
            given: its arguments.

        Raises:
            Refused: they are too few or too many, or one says nothing that it takes.
        """
        if self.counts and len(given) not in self.counts:
            allowed = " or ".join(map(str, self.counts))
            raise Refused(f"filter[{at}]", f"it has {len(given)} arguments", allowed)
        reads = self.reads if self.counts else self.reads * len(given)
        arguments = [read(one) for read, one in zip(reads, given, strict=False)]
        try:
            return self.make(*arguments)
        except Refused as problem:
            raise _placed(at, problem) from None


def _column_range(start: bytes, first: bool, stop: bytes, last: bool) -> f.Filter:
    return f.ColumnRangeFilter(start, stop, first, last)


_COMPARED = (_operator, _comparator)
_COLUMN = (_family, _in_quotes)
_VALUE = (*_COLUMN, *_COMPARED)

FORMS: dict[str, Form] = {
    "ColumnCountGetFilter": Form(f.ColumnCountGetFilter, (_whole,), (1,)),
    "ColumnPaginationFilter": Form(f.ColumnPaginationFilter, (_whole, _whole), (2,)),
    "ColumnPrefixFilter": Form(f.ColumnPrefixFilter, (_in_quotes,), (1,)),
    "ColumnRangeFilter": Form(_column_range, (_in_quotes, _truth, _in_quotes, _truth), (4,)),
    "ColumnValueFilter": Form(f.ColumnValueFilter, _VALUE, (4,)),
    "DependentColumnFilter": Form(
        f.DependentColumnFilter, (*_COLUMN, _truth, *_COMPARED), (2, 3, 5)
    ),
    "FamilyFilter": Form(f.FamilyFilter, _COMPARED, (2,)),
    "FirstKeyOnlyFilter": Form(f.FirstKeyOnlyFilter, (), (0,)),
    "InclusiveStopFilter": Form(f.InclusiveStopFilter, (_in_quotes,), (1,)),
    "KeyOnlyFilter": Form(f.KeyOnlyFilter, (_truth,), (0, 1)),
    "MultipleColumnPrefixFilter": Form(
        lambda *given: f.MultipleColumnPrefixFilter(given), (_in_quotes,)
    ),
    "PageFilter": Form(f.PageFilter, (_whole,), (1,)),
    "PrefixFilter": Form(f.PrefixFilter, (_in_quotes,), (1,)),
    "QualifierFilter": Form(f.QualifierFilter, _COMPARED, (2,)),
    "RowFilter": Form(f.RowFilter, _COMPARED, (2,)),
    "SingleColumnValueExcludeFilter": Form(
        f.SingleColumnValueExcludeFilter, (*_VALUE, _truth, _truth), (4, 6)
    ),
    "SingleColumnValueFilter": Form(f.SingleColumnValueFilter, (*_VALUE, _truth, _truth), (4, 6)),
    "TimestampsFilter": Form(lambda *given: f.TimestampsFilter(given), (_whole,)),
    "ValueFilter": Form(f.ValueFilter, _COMPARED, (2,)),
}
"""Every filter of the language. Source: ParseFilter, createFilterFromArguments of each filter."""
