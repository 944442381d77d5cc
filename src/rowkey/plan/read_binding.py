"""Binding of reads: conditions, parameter values and order, checked against the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, ReadError
from rowkey.messages import format_value, pluralize
from rowkey.plan.bounds import build_bound, intersect_bounds, is_contradiction
from rowkey.plan.declared_read import DeclaredRead, check_clause, parse_clause
from rowkey.plan.row_order import drop_repeated_orderings
from rowkey.schema import (
    Bound,
    Bounds,
    Condition,
    OneOf,
    Operand,
    Ordering,
    Parameter,
    Value,
    parse_order,
    parse_where,
)

if TYPE_CHECKING:
    from rowkey.keys import Field

    ParameterValues = Mapping[int | str, Any]


MAX_EXAMPLE_VALUES = 3_600
"""Number of values of a field's type from which examples are taken, unless the field is a time."""
DEFAULT_SPAN_NS = 3_600_000_000_000
"""Length of an example's time range, if the read declares no span."""


@dataclass(frozen=True, slots=True)
class BoundRead:
    """The bounds and the order of a read, with the values of its parameters.

    Args:
        bounds: what is asked of each field, in normal values.
        order: the order asked for, most significant field first; each field once.
    """

    bounds: Bounds
    order: tuple[Ordering, ...] = ()


def bind_read(
    where: str | Mapping[str, Any] | Sequence[Condition],
    order: str | Sequence[Ordering],
    values: Sequence[Any] | Mapping[int | str, Any],
    fields: Mapping[str, Field],
) -> BoundRead:
    """Bind a read's conditions, order and parameter values to the fields.

    Args:
        where: conditions joined by `and`, the values that fields must equal, or the conditions;
            empty for all rows.
        order: fields, most significant first, each `asc` or `desc`, or the orderings.
        values: for each `?` in turn, or by position from 0 and by name.
        fields: the declared fields, by name.

    Raises:
        ReadError: with every mistake: a text does not follow the grammar, a field is unknown, a
            value is missing, has no parameter or does not fit its field, or conditions on one field
            cannot be combined.

    Cost: a few microseconds a condition.

    >>> from rowkey.keys import bind_key
    >>> fields = bind_key("[host][n]", {"host": "text", "n": "u8"}).fields
    >>> bind_read("host = ? and n >= ?", "n desc", ["web-1", 5], fields).bounds["n"]
    Range(low=5, high=None, includes_low=True, includes_high=True)
    >>> bind_read("n = ?", "", [""], fields)
    Traceback (most recent call last):
    rowkey.errors.ReadError: where[0]: n = ?: '' is not a whole number; expected digits, such as 42.
    """
    mistakes = Mistakes()
    if isinstance(where, Mapping):
        where = [Condition(str(field), "=", (value,)) for field, value in where.items()]
    tests: Sequence[Condition] | None = _parse_clause(parse_where, where, "where", mistakes)
    orderings: Sequence[Ordering] | None = _parse_clause(parse_order, order, "order", mistakes)
    parameters: ParameterValues = (
        {**values} if isinstance(values, Mapping) else dict[int | str, Any](enumerate(values))
    )
    for number, test in enumerate(tests or ()):
        check_clause(test, fields, f"where[{number}]", mistakes)
    for number, ordering in enumerate(orderings or ()):
        check_clause(ordering, fields, f"order[{number}]", mistakes)
    if tests is not None:
        _check_parameters(tests, parameters, mistakes)
    bounds = _build_bounds(tests or (), parameters, fields, mistakes)
    if mistakes.mistakes:
        first, *others = mistakes.mistakes
        raise ReadError(first.path, first.problem, first.expected, first.remedy, others)
    return BoundRead(bounds, drop_repeated_orderings(orderings or ()))


def bind_example(read: DeclaredRead) -> BoundRead:
    """Bind a declared read with example values for its parameters.

    A list has two values, and a prefix one character. A time range is as long as the read declares,
    or an hour; any other range lies between two values of the type.

    Raises:
        ReadError: no example values fit the values that are written in the read.
    """
    values: dict[int | str, Any] = {}
    for test in read.conditions:
        field = read.fields[test.field]
        if test.operator == "in" and len(test.operands) > 1:
            values = {**choose_list_values(field, test), **values}
            continue
        for place, operand in enumerate(test.operands):
            if isinstance(operand, Parameter):
                values.setdefault(operand.name, _choose_value(read, test, place))
    return bind_read(read.conditions, read.order, values, read.fields)


def choose_list_values(
    field: Field, test: Condition, likely: Sequence[Any] = ()
) -> dict[int | str, Value]:
    """Choose example values for the parameters of an `in` list.

    Args:
        test: the condition; values that are written in it are not chosen again.
        likely: values that are chosen before others of the field's type.

    Raises:
        ReadError: a value does not fit the field.

    >>> from rowkey.keys import bind_key
    >>> n = bind_key("[n]", {"n": "u8"}).fields["n"]
    >>> (test,) = parse_where("n in (?, 1, ?)")
    >>> choose_list_values(n, test), choose_list_values(n, test, [7])
    ({0: 0, 1: 2}, {0: 7, 1: 0})
    """
    names = [operand.name for operand in test.operands if isinstance(operand, Parameter)]
    names = list(dict.fromkeys(names))
    literals = [operand for operand in test.operands if not isinstance(operand, Parameter)]
    literal_values, first = _normalize_list(field, literals), _normalize_list(field, likely)
    domain = field.type.domain
    value_count = min(domain.size, len(test.operands) + len(first))
    type_values = (field.normalize(domain.generate_value(number)) for number in range(value_count))
    new_values = [
        value for value in dict.fromkeys((*first, *type_values)) if value not in literal_values
    ]
    return dict(
        zip(names, cycle(new_values or [field.normalize(domain.generate_value(0))]), strict=False)
    )


def _normalize_list(field: Field, values: Sequence[Any]) -> tuple[Value, ...]:
    """Return the distinct values of an `in` list in normalized form."""
    found = build_bound(field, Condition(field.name, "in", tuple(values)), values)
    return found.values if isinstance(found, OneOf) else ()


def _choose_value(read: DeclaredRead, test: Condition, place: int) -> Any:
    """Choose an example value for an operand of a condition."""
    field = read.fields[test.field]
    domain = field.type.domain
    last = min(domain.size, MAX_EXAMPLE_VALUES) - 1
    if test.operator == "in":
        return [field.normalize(domain.generate_value(number)) for number in (0, last)]
    is_upper = test.operator in ("<", "<=") or (test.operator == "between" and place == 1)
    if is_upper and field.type.unit_ns is not None:
        return compute_span_end(read, field, domain.generate_value(0))
    value = field.normalize(domain.generate_value(last if is_upper else min(place, last)))
    return value[:1] if test.operator == "starts" else value


def compute_span_end(read: DeclaredRead, field: Field, start: Any) -> Any:
    """Return the end of a time range that has the read's declared length, or an hour.

    Args:
        field: a field of time.
        start: one of its values, where the stretch begins.

    Returns:
        At least one unit after the start, and at most the greatest value.
    """
    kind = field.type
    assert kind.unit_ns is not None, f"{field.name} is not a time"
    length = read.get_span(field.name) or max(DEFAULT_SPAN_NS // kind.unit_ns, 1)
    return kind.from_internal(min(kind.to_internal(start) + length, kind.number_range[1]))


def _parse_clause(parse: Any, clause: object, path: str, mistakes: Mistakes) -> Any:
    """Parse or check a clause of a read; None, with the mistake collected, if invalid."""
    if isinstance(clause, str):
        return parse_clause(parse, clause, path, mistakes)
    clause_type = Condition if path == "where" else Ordering
    if not isinstance(clause, Sequence) or not all(isinstance(one, clause_type) for one in clause):
        mistakes.add(
            path,
            f"{format_value(clause)} is neither text nor a sequence of {clause_type.__name__}",
            'text such as "host = ?", or a mapping such as {"host": "web-1"}'
            if path == "where"
            else 'text such as "host, ts desc"',
        )
        return None
    return tuple(clause)


def _check_parameters(
    tests: Sequence[Condition], parameters: ParameterValues, mistakes: Mistakes
) -> None:
    """Collect mistakes of parameters without a value and of values without a parameter."""
    tests_by_parameter: dict[int | str, Condition] = {}
    for test in tests:
        for operand in test.operands:
            if isinstance(operand, Parameter):
                tests_by_parameter.setdefault(operand.name, test)
    for name, test in tests_by_parameter.items():
        if name not in parameters:
            mistakes.add(
                _format_value_path(name),
                f"the parameter of {test} has no value",
                "a value for each parameter",
                "Pass the values of ? in their order, and those of :name as name=value.",
            )
    for name, value in parameters.items():
        if name not in tests_by_parameter:
            allowed = pluralize(len(tests_by_parameter), "value")
            mistakes.add(
                _format_value_path(name),
                f"the read has no parameter for the value {format_value(value)}",
                allowed,
                "Remove the value, or add a condition with a parameter"
                + (f", such as {name} = :{name}." if isinstance(name, str) else "."),
            )


def _format_value_path(name: int | str) -> str:
    """Return the path of a parameter's value, as messages show it."""
    return f"value of :{name}" if isinstance(name, str) else f"value of ? number {name + 1}"


def _build_bounds(
    tests: Sequence[Condition],
    parameters: ParameterValues,
    fields: Mapping[str, Field],
    mistakes: Mistakes,
) -> Bounds:
    """Return the bound of each tested field; collect the mistakes of conditions."""
    bounds_by_field: dict[str, list[Bound]] = {}
    conditions_by_field: dict[str, list[Condition]] = {}
    for number, test in enumerate(tests):
        values = [_find_operand_value(operand, parameters) for operand in test.operands]
        if test.field not in fields or any(value is parameters for value in values):
            continue
        conditions_by_field.setdefault(test.field, []).append(test)
        try:
            bounds_by_field.setdefault(test.field, []).append(
                _build_condition_bound(fields[test.field], test, values)
            )
        except ReadError as problem:
            mistake = problem.mistake
            text = f"{test}: {mistake.problem}"
            mistakes.add(f"where[{number}]", text, mistake.expected, mistake.remedy)
    for conditions in filter(is_contradiction, conditions_by_field.values()):
        text = " and ".join(map(str, conditions))
        mistakes.add(
            "where",
            f"{text}: a prefix and a range of one field cannot be combined",
            "either a prefix or a range",
        )
    if mistakes.mistakes:
        return {}
    return {
        name: intersect_bounds(fields[name], bounds) for name, bounds in bounds_by_field.items()
    }


def _find_operand_value(operand: Operand, parameters: ParameterValues) -> Any:
    """Return the value of an operand; the whole mapping if a parameter's value is missing."""
    return parameters.get(operand.name, parameters) if isinstance(operand, Parameter) else operand


def _build_condition_bound(field: Field, test: Condition, values: list[Any]) -> Bound:
    """Return the bound of one condition; sets of values are accepted as lists."""
    listed = [list(v) if isinstance(v, set | frozenset) else v for v in values]
    return build_bound(field, test, listed)
