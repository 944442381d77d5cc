"""A declared read, bound to the fields of its design."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, ReadError, Refused, RowError, did_you_mean
from rowkey.schema import (
    Bound,
    Bounds,
    Condition,
    Duration,
    Equal,
    OneOf,
    Operand,
    Ordering,
    Parameter,
    Range,
    ReadWords,
    StartsWith,
    Value,
    parse_order,
    parse_where,
    read_duration,
    read_rate,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.keys import Field


@dataclass(frozen=True, slots=True)
class Read:
    """A read the table must serve.

    Args:
        name: its name.
        conditions: its tests.
        order: the order asked for, most significant first.
        limit: rows wanted, or None for all.
        rate: reads a second, or None.
        span: length of time that a range over a time field covers when values are drawn.
        fields: the declared fields, by name.
    """

    name: str
    conditions: tuple[Condition, ...]
    order: tuple[Ordering, ...]
    limit: int | None
    rate: float | None
    span: Duration | None
    fields: Mapping[str, Field]

    @property
    def asked(self) -> tuple[str, ...]:
        """The fields that its conditions test."""
        return tuple(dict.fromkeys(condition.field for condition in self.conditions))

    @property
    def parameters(self) -> tuple[int | str, ...]:
        """What must be given to ask it: positions from 0, and names."""
        operands = [o for condition in self.conditions for o in condition.operands]
        return tuple(dict.fromkeys(o.name for o in operands if isinstance(o, Parameter)))

    def bounds(self, values: Mapping[int | str, Value]) -> Bounds:
        """What is asked of each field once the parameters have values.

        Args:
            values: by position from 0, or by name.

        Raises:
            ReadError: a value is missing or none of its field's, or nothing can satisfy the tests
                together.
        """
        bounds: dict[str, Bound] = {}
        for condition in self.conditions:
            field = self.fields[condition.field]
            given = [self._value(operand, values) for operand in condition.operands]
            bound = _bound(field, condition, given)
            earlier = bounds.get(field.name)
            bounds[field.name] = bound if earlier is None else _both(field, earlier, bound)
        return bounds

    def _value(self, operand: Operand, values: Mapping[int | str, Value]) -> Any:
        if not isinstance(operand, Parameter):
            return operand
        if operand.name not in values:
            raise ReadError(f"read {self.name}", f"{operand} has no value", "a value for each")
        return values[operand.name]


def _bound(field: Field, condition: Condition, given: Sequence[Any]) -> Bound:
    """One condition over normal values."""
    operator = condition.operator
    if operator == "in":
        listed = given[0] if len(given) == 1 and isinstance(given[0], list | tuple) else given
        return OneOf(tuple(dict.fromkeys(_normal(field, value) for value in listed)))
    values = [given[0]] if operator == "starts" else [_normal(field, value) for value in given]
    match operator:
        case "=":
            return Equal(values[0])
        case "starts":
            return StartsWith(values[0])
        case "between":
            return Range(values[0], values[1])
        case "<" | "<=":
            return Range(high=values[0], with_high=operator == "<=")
    return Range(low=values[0], with_low=operator == ">=")


def _normal(field: Field, value: Any) -> Value:
    """A given value as the field holds it; text and numbers of a condition are read as it would."""
    if value is None:
        return None
    try:
        try:
            return field.normal(value)
        except RowError:
            if isinstance(value, str):
                return field.parse(value)
            if isinstance(value, int | Decimal) and not isinstance(value, bool):
                return field.parse(str(value))
            raise
    except RowError as problem:
        raise ReadError(field.name, problem.mistake.what, problem.mistake.allowed) from None


def _both(field: Field, first: Bound, second: Bound) -> Bound:
    """Two conditions on one field as one: the two ends of a range."""
    if not isinstance(first, Range) or not isinstance(second, Range):
        raise ReadError(
            field.name, "two conditions on one field", "one condition, or the two ends of a range"
        )
    low, with_low = first.low, first.with_low
    high, with_high = first.high, first.with_high
    if second.low is not None:
        if low is not None:
            raise ReadError(field.name, "two lower ends of one range", "one of them")
        low, with_low = second.low, second.with_low
    if second.high is not None:
        if high is not None:
            raise ReadError(field.name, "two upper ends of one range", "one of them")
        high, with_high = second.high, second.with_high
    return Range(low, high, with_low, with_high)


def bind_reads(
    declared: Sequence[ReadWords], fields: Mapping[str, Field], mistakes: Mistakes
) -> tuple[Read, ...]:
    """The declared reads, bound; those with mistakes are left out.

    Args:
        declared: the words of each read.
        fields: the bound fields, by name.
        mistakes: where what is wrong is noted, below `reads`.
    """
    bound: list[Read] = []
    names: set[str] = set()
    for index, words in enumerate(declared):
        path = f"reads[{index}]"
        if words.name in names:
            mistakes.add(f"{path}.name", f"the name {words.name!r} is taken", "a name of its own")
        names.add(words.name)
        if read := _bind_read(words, fields, path, mistakes):
            bound.append(read)
    return tuple(bound)


def _bind_read(
    words: ReadWords, fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> Read | None:
    before = len(mistakes.found)
    parsed = {
        "where": _parsed(parse_where, words.where, f"{path}.where", mistakes),
        "order": _parsed(parse_order, words.order, f"{path}.order", mistakes),
        "rate": _parsed(read_rate, words.rate, f"{path}.rate", mistakes),
        "span": _parsed(read_duration, words.span, f"{path}.span", mistakes),
    }
    for word in ("where", "order"):
        for one in parsed[word] or ():
            _check_test(one, fields, f"{path}.{word}", mistakes)
    if len(mistakes.found) > before:
        return None
    return Read(
        words.name,
        parsed["where"],
        parsed["order"],
        words.limit,
        parsed["rate"],
        parsed["span"],
        fields,
    )


def _parsed(parse: Any, text: str | None, path: str, mistakes: Mistakes) -> Any:
    """What a parser makes of a text; its refusal is noted."""
    if text is None:
        return None
    try:
        return parse(text)
    except Refused as refusal:
        mistakes.refused(path, refusal)
        return None


def _check_test(
    one: Condition | Ordering, fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> None:
    field = fields.get(one.field)
    if field is None:
        known = ", ".join(list(fields)[:12])
        remedy = did_you_mean(one.field, fields)
        mistakes.add(path, f"there is no field {one.field!r}", known, remedy)
        return
    if not isinstance(one, Condition):
        return
    if one.operator == "starts" and not field.type.is_sequence:
        mistakes.add(path, f"{field.type.name} has no beginning: {one}", "text or bytes")
        return
    for operand in one.operands:
        if not isinstance(operand, Parameter) and one.operator != "starts":
            try:
                _normal(field, operand)
            except ReadError as problem:
                mistakes.add(path, f"{one}: {problem.mistake.what}", problem.mistake.allowed)
