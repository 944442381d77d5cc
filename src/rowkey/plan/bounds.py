"""Conversion of conditions to bounds of a field, and intersection of several bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import pa
from rowkey.errors import InvalidArgument, ReadError, RowError
from rowkey.messages import format_value
from rowkey.schema import Bound, Condition, Equal, OneOf, Range, StartsWith, Value, is_within_bound

if TYPE_CHECKING:
    from rowkey.keys import Field

_RANGE_OPERATORS = frozenset({"<", "<=", ">", ">=", "between"})
_VALUE_OPERATORS = frozenset({"=", "in"})
MIN_BATCH_VALUES = 512
"""Listed values from which on they are read all at once, which costs a millisecond to begin."""


def build_bound(field: Field, condition: Condition, operands: Sequence[Any]) -> Bound:
    """Return the bound that one condition puts on the values of its field.

    Args:
        operands: a value for each of its operands; for `in`, also one list.

    Raises:
        ReadError: a value does not fit the field, or is null in a comparison.
    """
    operator = condition.operator
    if operator == "in":
        listed = (
            operands[0]
            if len(operands) == 1 and isinstance(operands[0], list | tuple)
            else operands
        )
        return OneOf(tuple(dict.fromkeys(_normalize_values(field, listed))))
    if operator == "=":
        return Equal(_normalize_value(field, operands[0]))
    if any(value is None for value in operands):
        raise ReadError(
            field.name,
            f"{condition} compares the field with null",
            "a value that is not null",
            "Use = to find nulls.",
        )
    if operator == "starts":
        return StartsWith(_normalize_prefix(field, operands[0]))
    values = [_normalize_value(field, value) for value in operands]
    if operator == "between":
        return Range(values[0], values[1])
    if operator in ("<", "<="):
        return Range(high=values[0], includes_high=operator == "<=")
    return Range(low=values[0], includes_low=operator == ">=")


def _normalize_value(field: Field, value: Any) -> Value:
    """Return a condition's value in the normalized form of the field, parsed if it is text.

    Raises:
        ReadError: the field does not allow the value.
    """
    if value is None:
        return None
    try:
        try:
            return field.normalize(value)
        except RowError:
            if isinstance(value, str):
                return field.parse(value)
            if isinstance(value, int | Decimal) and not isinstance(value, bool):
                return field.parse(str(value))
            raise
    except RowError as problem:
        raise _build_read_error(field, problem) from None


def _normalize_values(field: Field, values: Sequence[Any]) -> Iterable[Value]:
    """Return many values of a condition in the normalized form of the field.

    Cost: 0.2 µs a value, 1 µs one that is written as text, 10 to 20 µs where one is wrong.
    """
    hold, release = field.type.to_internal, field.type.from_internal
    try:
        if len(values) >= MIN_BATCH_VALUES and set(map(type, values)) == {str}:
            return _parse_texts(field, values)
        return [release(hold(value)) for value in values]
    except InvalidArgument:  # one by one they tell which it is, or are taken otherwise
        return [_normalize_value(field, value) for value in values]


def _parse_texts(field: Field, values: Sequence[str]) -> Iterable[Value]:
    """Parse many texts to values of a field, in one batch.

    Raises:
        InvalidArgument: some are not values of the field.
    """
    hold, release = field.type.to_internal, field.type.from_internal
    if isinstance(release(hold(field.type.domain.generate_value(0))), str):
        return [release(hold(value)) for value in values]
    try:
        return field.type.from_internal_batch(field.type.to_internal_batch(pa.array(values)))
    except (ValueError, pa.ArrowException) as problem:
        raise InvalidArgument("", str(problem)) from None


def _normalize_prefix(field: Field, value: Any) -> Value:
    """Return the prefix of a condition in the form in which the field stores it.

    A type of fixed length refuses so short a value: an example value completes it, and the result
    is cut again.

    Raises:
        ReadError: no value of the field can begin so.
    """
    example = field.type.domain.generate_value(0)
    if not isinstance(value, type(example)):
        if isinstance(example, str) or isinstance(value, int):
            kind = "str" if isinstance(example, str) else "bytes"
            what = f"the prefix {format_value(value)} is of the type {type(value).__name__}"
            raise ReadError(field.name, what, f"{kind}, as the values of the field are")
        return _normalize_value(field, value)
    try:
        return field.normalize(value)
    except RowError as problem:
        refused = _build_read_error(field, problem)
    try:
        return field.normalize(value + example[len(value) :])[: len(value)]
    except RowError:
        raise refused from None


def _build_read_error(field: Field, problem: RowError) -> ReadError:
    """Return a read error for a value that its field refuses."""
    mistake = problem.mistake
    return ReadError(field.name, mistake.problem, mistake.expected, mistake.remedy)


def intersect_bounds(field: Field, bounds: Iterable[Bound]) -> Bound:
    """Return one bound that is equivalent to all bounds of one field.

    Args:
        bounds: what each asks, in normal values; one or more.

    Raises:
        ReadError: a prefix is combined with a range, which is not supported.

    >>> from rowkey.keys import bind_key
    >>> n = bind_key("[n]", {"n": "u8"}).fields["n"]
    >>> intersect_bounds(n, [Range(1, 5), Range(low=3, includes_low=False), OneOf((2, 3, 4))])
    Equal(value=4)
    """
    first, *others = sorted(bounds, key=lambda bound: not isinstance(bound, Equal | OneOf))
    for other in others:
        first = _intersect_two(field, first, other)
    return first


def _intersect_two(field: Field, first: Bound, second: Bound) -> Bound:
    """Return one bound that is equivalent to two bounds of one field.

    Raises:
        ReadError: a prefix is combined with a range.
    """
    if isinstance(first, Equal | OneOf):
        values = (first.value,) if isinstance(first, Equal) else first.values
        kept = tuple(filter(_build_membership_test(field, second), values))
        return Equal(kept[0]) if len(kept) == 1 else OneOf(kept)
    if isinstance(first, Range) and isinstance(second, Range):
        return _intersect_ranges(field, first, second)
    if isinstance(first, StartsWith) and isinstance(second, StartsWith):
        short, long = sorted((first.prefix, second.prefix), key=len)
        return StartsWith(long) if long[: len(short)] == short else OneOf(())
    raise ReadError(
        field.name,
        "a prefix and a range of one field cannot be combined",
        "either a prefix or a range",
        "Remove one of the two conditions.",
    )


def _build_membership_test(field: Field, bound: Bound) -> Callable[[Value], bool]:
    """Return a function that tests whether a normalized value lies within a bound."""
    if isinstance(bound, OneOf):
        return frozenset(bound.values).__contains__
    if not isinstance(bound, Range):
        return lambda value: is_within_bound(value, bound)
    to_internal = field.to_internal
    low, high = (None if end is None else to_internal(end) for end in (bound.low, bound.high))
    internal_range = Range(low, high, bound.includes_low, bound.includes_high)
    return lambda value: value is not None and is_within_bound(to_internal(value), internal_range)


def _intersect_ranges(field: Field, first: Range, second: Range) -> Range:
    low, with_low = first.low, first.includes_low
    high, with_high = first.high, first.includes_high
    if second.low is not None:
        if low is None or field.to_internal(second.low) > field.to_internal(low):
            low, with_low = second.low, second.includes_low
        elif second.low == low:
            with_low = with_low and second.includes_low
    if second.high is not None:
        if high is None or field.to_internal(second.high) < field.to_internal(high):
            high, with_high = second.high, second.includes_high
        elif second.high == high:
            with_high = with_high and second.includes_high
    return Range(low, high, with_low, with_high)


def include_range_ends(field: Field, bound: Bound) -> Bound:
    """Return a range of integers with both ends included; other bounds unchanged.

    A bucket of time then ends before the one that begins at an excluded end.

    >>> from rowkey.keys import bind_key
    >>> n = bind_key("[n]", {"n": "u8"}).fields["n"]
    >>> include_range_ends(n, Range(5, 9, includes_low=False, includes_high=False))
    Range(low=6, high=8, includes_low=True, includes_high=True)
    """
    if not isinstance(bound, Range) or not field.type.has_integer_form:
        return bound
    min_number, max_number = field.type.number_range
    low, high = bound.low, bound.high
    includes_low, includes_high = bound.includes_low, bound.includes_high
    if low is not None and not includes_low and (number := field.to_internal(low)) < max_number:
        low, includes_low = field.type.from_internal(number + 1), True
    if high is not None and not includes_high and (number := field.to_internal(high)) > min_number:
        high, includes_high = field.type.from_internal(number - 1), True
    return Range(low, high, includes_low, includes_high)


def is_empty_bound(field: Field, bound: Bound) -> bool:
    """Return whether no value of a field lies within a bound.

    >>> from rowkey.keys import bind_key
    >>> n = bind_key("[n]", {"n": "u8"}).fields["n"]
    >>> is_empty_bound(n, Range(5, 4)), is_empty_bound(n, Range(5, 5))
    (True, False)
    """
    if isinstance(bound, OneOf):
        return not bound.values
    if not isinstance(bound, Range) or bound.low is None or bound.high is None:
        return False
    low, high = field.to_internal(bound.low), field.to_internal(bound.high)
    return bool(low > high or (low == high and not (bound.includes_low and bound.includes_high)))


def is_contradiction(conditions: Iterable[Condition]) -> bool:
    """Return whether conditions on one field mix a prefix with a range, which is unsupported.

    Values that are listed are tested one by one, so that they meet anything.
    """
    operators = {condition.operator for condition in conditions}
    return (
        "starts" in operators
        and bool(operators & _RANGE_OPERATORS)
        and not operators & _VALUE_OPERATORS
    )
