"""A read asked in words: conditions with values, and the order wanted, checked all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, ReadError, shown
from rowkey.plan.asked import bound_of, meeting, never_meets
from rowkey.plan.ordering import once_each
from rowkey.plan.read import Read, check_test, parsed_words
from rowkey.schema import (
    Bounds,
    Condition,
    OneOf,
    Ordering,
    Parameter,
    parse_order,
    parse_where,
)

if TYPE_CHECKING:
    from rowkey.keys import Field
    from rowkey.schema import Bound, Operand, Value

    Given = Mapping[int | str, Any]


EXAMPLES = 3_600
"""Values among which those of an example are taken, where the field is no time."""
HOUR_NS = 3_600_000_000_000
"""How far apart the ends of an example's stretch of time lie, where its read declares no span."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a table, once all values are known.

    Args:
        bounds: what is asked of each field, in normal values.
        order: the order asked for, most significant field first; each field once.
    """

    bounds: Bounds
    order: tuple[Ordering, ...] = ()


def ask(
    where: str | Sequence[Condition],
    order: str | Sequence[Ordering],
    values: Sequence[Any] | Mapping[int | str, Any],
    fields: Mapping[str, Field],
) -> Asked:
    """A read in words, with the values of its parameters.

    Args:
        where: conditions joined by `and`, or the conditions; empty for all rows.
        order: fields, most significant first, each `asc` or `desc`, or the orderings.
        values: for each `?` in turn, or by position from 0 and by name.
        fields: the declared fields, by name.

    Raises:
        ReadError: with every mistake: a text that does not follow the grammar, a field that there
            is not, a value that is missing, too many or none of its field's, and conditions on one
            field that cannot be asked together.

    Cost: a few microseconds a condition.

    >>> from rowkey.keys import bind_key
    >>> fields = bind_key("[host][n]", {"host": "text", "n": "u8"}).fields
    >>> ask("host = ? and n >= ?", "n desc", ["web-1", 5], fields).bounds["n"]
    Range(low=5, high=None, with_low=True, with_high=True)
    >>> ask("host = ? and n >= ?", "", ["web-1", "many", 7], fields)
    Traceback (most recent call last):
    rowkey.errors.ReadError: values[2]: 7 is a value too many; expected 2.
    where[1]: n >= ?: 'many' is not a whole number.
    """
    mistakes = Mistakes()
    tests: Sequence[Condition] | None = _parsed(parse_where, where, "where", mistakes)
    wanted: Sequence[Ordering] | None = _parsed(parse_order, order, "order", mistakes)
    given: Given = (
        {**values} if isinstance(values, Mapping) else dict[int | str, Any](enumerate(values))
    )
    for number, test in enumerate(tests or ()):
        check_test(test, fields, f"where[{number}]", mistakes)
    for number, ordering in enumerate(wanted or ()):
        check_test(ordering, fields, f"order[{number}]", mistakes)
    if tests is not None:
        _check_given(tests, given, mistakes)
    bounds = _bounds(tests or (), given, fields, mistakes)
    if mistakes.found:
        first, *others = mistakes.found
        raise ReadError(first.path, first.what, first.allowed, first.remedy, others)
    return Asked(bounds, once_each(wanted or ()))


def example_of(read: Read) -> Asked:
    """A declared read with values of the fields' types: how it runs, whatever it is asked.

    A list that is given as one has two values, beginnings are a character long. A stretch of time
    is as long as the read declares, or an hour; any other lies between two values of the type.

    Args:
        read: the declared read.

    Raises:
        ReadError: values that are written in the read fit no others.
    """
    values: dict[int | str, Any] = {}
    for test in read.conditions:
        field = read.fields[test.field]
        if test.operator == "in" and len(test.operands) > 1:
            values = {**listed_examples(field, test), **values}
            continue
        for place, operand in enumerate(test.operands):
            if isinstance(operand, Parameter):
                values.setdefault(operand.name, _example(read, test, place))
    return ask(read.conditions, read.order, values, read.fields)


def listed_examples(
    field: Field, test: Condition, likely: Sequence[Any] = ()
) -> dict[int | str, Value]:
    """Values for the parameters of a list, different as far as the field has as many.

    Args:
        field: the field it tests.
        test: the condition; values that are written in it are not given again.
        likely: values to be taken before others of the field's type.

    Raises:
        ReadError: a value is none of the field's.

    >>> from rowkey.keys import bind_key
    >>> n = bind_key("[n]", {"n": "u8"}).fields["n"]
    >>> (test,) = parse_where("n in (?, 1, ?)")
    >>> listed_examples(n, test), listed_examples(n, test, [7])
    ({0: 0, 1: 2}, {0: 7, 1: 0})
    """
    names = [operand.name for operand in test.operands if isinstance(operand, Parameter)]
    names = list(dict.fromkeys(names))
    written = [operand for operand in test.operands if not isinstance(operand, Parameter)]
    there, first = _normals(field, written), _normals(field, likely)
    domain = field.type.domain
    most = min(domain.size, len(test.operands) + len(first))
    own = (field.normal(domain.nth(number)) for number in range(most))
    several = [value for value in dict.fromkeys((*first, *own)) if value not in there]
    return dict(zip(names, cycle(several or [field.normal(domain.nth(0))]), strict=False))


def _normals(field: Field, values: Sequence[Any]) -> tuple[Value, ...]:
    """Different values as a list of a condition holds them."""
    found = bound_of(field, Condition(field.name, "in", tuple(values)), values)
    return found.values if isinstance(found, OneOf) else ()


def _example(read: Read, test: Condition, place: int) -> Any:
    """A value for an operand of a condition, from those of its field's type."""
    field = read.fields[test.field]
    domain = field.type.domain
    last = min(domain.size, EXAMPLES) - 1
    if test.operator == "in":
        return [field.normal(domain.nth(number)) for number in (0, last)]
    is_upper = test.operator in ("<", "<=") or (test.operator == "between" and place == 1)
    if is_upper and field.type.tick is not None:
        return stretch_end(read, field, domain.nth(0))
    value = field.normal(domain.nth(last if is_upper else min(place, last)))
    return value[:1] if test.operator == "starts" else value


def stretch_end(read: Read, field: Field, start: Any) -> Any:
    """The end of a stretch of time that is as long as a read declares, or an hour.

    Args:
        read: the declared read.
        field: a field of time.
        start: one of its values, where the stretch begins.

    Returns:
        At least one unit behind the start, and no more than the greatest value.
    """
    kind = field.type
    assert kind.tick is not None, f"{field.name} is no time"
    span = read.span.nanoseconds if read.span is not None else HOUR_NS
    return kind.release(min(kind.hold(start) + max(span // kind.tick, 1), kind.numbers[1]))


def _parsed(parse: Any, words: object, path: str, mistakes: Mistakes) -> Any:
    """What a text says, None if it cannot be read; what is no text has been read already."""
    if isinstance(words, str):
        return parsed_words(parse, words, path, mistakes)
    kind = Condition if path == "where" else Ordering
    if not isinstance(words, Sequence) or not all(isinstance(one, kind) for one in words):
        mistakes.add(path, f"{shown(words)} is no read", f"text, or {kind.__name__} objects")
        return None
    return tuple(words)


def _check_given(tests: Sequence[Condition], given: Given, mistakes: Mistakes) -> None:
    """Note parameters without a value, and values without a parameter."""
    wanted: dict[int | str, Condition] = {}
    for test in tests:
        for operand in test.operands:
            if isinstance(operand, Parameter):
                wanted.setdefault(operand.name, test)
    for name, test in wanted.items():
        if name not in given:
            mistakes.add(_path(name), f"{test} has no value", "a value for each parameter")
    for name, value in given.items():
        if name not in wanted:
            allowed = str(len(wanted)) if wanted else "none"
            mistakes.add(_path(name), f"{shown(value)} is a value too many", allowed)


def _path(name: int | str) -> str:
    """Where the value of a parameter stands among those given."""
    return f"values.{name}" if isinstance(name, str) else f"values[{name}]"


def _bounds(
    tests: Sequence[Condition], given: Given, fields: Mapping[str, Field], mistakes: Mistakes
) -> Bounds:
    """What is asked of each field, as far as its conditions can be asked at all."""
    found: dict[str, list[Bound]] = {}
    together: dict[str, list[Condition]] = {}
    for number, test in enumerate(tests):
        values = [_value(operand, given) for operand in test.operands]
        if test.field not in fields or any(value is given for value in values):
            continue
        together.setdefault(test.field, []).append(test)
        try:
            found.setdefault(test.field, []).append(_bound(fields[test.field], test, values))
        except ReadError as problem:
            said = problem.mistake
            mistakes.add(f"where[{number}]", f"{test}: {said.what}", said.allowed, said.remedy)
    for conditions in filter(never_meets, together.values()):
        text = " and ".join(map(str, conditions))
        mistakes.add("where", f"{text}: a beginning and a range of one field", "one of them")
    if mistakes.found:
        return {}
    return {name: meeting(fields[name], bounds) for name, bounds in found.items()}


def _value(operand: Operand, given: Given) -> Any:
    """The value of an operand; all that was given stands for one that is missing."""
    return given.get(operand.name, given) if isinstance(operand, Parameter) else operand


def _bound(field: Field, test: Condition, values: list[Any]) -> Bound:
    """What one condition asks; a set of values is listed."""
    listed = [list(v) if isinstance(v, set | frozenset) else v for v in values]
    return bound_of(field, test, listed)
