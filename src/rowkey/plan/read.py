"""A declared read, bound to the fields of its design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, ReadError, Refused, did_you_mean
from rowkey.plan.asked import bound_of, is_empty, meeting, never_meets
from rowkey.schema import (
    Bound,
    Bounds,
    Condition,
    Duration,
    Operand,
    Ordering,
    Parameter,
    ReadWords,
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
            ReadError: a value is missing, none of its field's, or null where it is compared with.
        """
        asked: dict[str, list[Bound]] = {}
        for condition in self.conditions:
            field = self.fields[condition.field]
            given = [self._value(operand, values) for operand in condition.operands]
            asked.setdefault(field.name, []).append(bound_of(field, condition, given))
        return {name: meeting(self.fields[name], bounds) for name, bounds in asked.items()}

    def _value(self, operand: Operand, values: Mapping[int | str, Value]) -> Any:
        if not isinstance(operand, Parameter):
            return operand
        if operand.name not in values:
            raise ReadError(f"read {self.name}", f"{operand} has no value", "a value for each")
        return values[operand.name]


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
        "where": parsed_words(parse_where, words.where, f"{path}.where", mistakes),
        "order": parsed_words(parse_order, words.order, f"{path}.order", mistakes),
        "rate": parsed_words(read_rate, words.rate, f"{path}.rate", mistakes),
        "span": parsed_words(read_duration, words.span, f"{path}.span", mistakes),
    }
    for word in ("where", "order"):
        for one in parsed[word] or ():
            check_test(one, fields, f"{path}.{word}", mistakes)
    _check_values(parsed["where"] or (), fields, f"{path}.where", mistakes)
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


def parsed_words(parse: Any, text: str | None, path: str, mistakes: Mistakes) -> Any:
    """What a parser makes of a text; its refusal is noted."""
    if text is None:
        return None
    try:
        return parse(text)
    except Refused as refusal:
        mistakes.refused(path, refusal)
        return None


def check_test(
    one: Condition | Ordering, fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> None:
    """Note a condition or an ordering of a field that there is not, or of a type that lacks it."""
    field = fields.get(one.field)
    if field is None:
        known = ", ".join(list(fields)[:12])
        remedy = did_you_mean(one.field, fields)
        mistakes.add(path, f"there is no field {one.field!r}", known, remedy)
        return
    if isinstance(one, Condition) and not _is_of(field, one):
        mistakes.add(path, f"{field.type.name} has no beginning: {one}", "text or bytes")


def _is_of(field: Field, one: Condition) -> bool:
    """Whether the field's type has what a condition tests."""
    return one.operator != "starts" or field.type.is_sequence


def _check_values(
    conditions: Sequence[Condition], fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> None:
    """Note values that are none of their field's, and conditions on one field that never meet."""
    found: dict[str, list[Condition]] = {}
    for one in conditions:
        if one.field in fields and _is_of(fields[one.field], one):
            found.setdefault(one.field, []).append(one)
    for name, together in found.items():
        _check_field(fields[name], together, path, mistakes)


def _check_field(
    field: Field, together: Sequence[Condition], path: str, mistakes: Mistakes
) -> None:
    bounds: list[Bound] = []
    before = len(mistakes.found)
    for one in together:
        if any(isinstance(operand, Parameter) for operand in one.operands):
            _check_operands(field, one, path, mistakes)
            continue
        try:
            bounds.append(bound_of(field, one, one.operands))
        except ReadError as problem:
            mistakes.add(path, f"{one}: {problem.mistake.what}", problem.mistake.allowed)
    said = " and ".join(map(str, together))
    if len(mistakes.found) > before:
        return
    if never_meets(together):
        mistakes.add(path, f"{said}: a beginning and a range of one field", "one of them")
    elif bounds and is_empty(field, meeting(field, bounds)):
        mistakes.add(path, f"{said}: no value satisfies this", "conditions that a row can meet")


def _check_operands(field: Field, one: Condition, path: str, mistakes: Mistakes) -> None:
    """Check those values of a condition that are written in it, each by itself."""
    for operand in one.operands:
        if isinstance(operand, Parameter):
            continue
        try:
            bound_of(field, Condition(one.field, "=", (operand,)), (operand,))
        except ReadError as problem:
            mistakes.add(path, f"{one}: {problem.mistake.what}", problem.mistake.allowed)
