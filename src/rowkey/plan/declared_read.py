"""Declared reads of a design, bound to its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument, Mistakes, ReadError
from rowkey.messages import suggest_name
from rowkey.plan.bounds import build_bound, intersect_bounds, is_contradiction, is_empty_bound
from rowkey.schema import (
    Bound,
    Bounds,
    Condition,
    Duration,
    KeyPopularity,
    Operand,
    Ordering,
    Parameter,
    ReadDeclaration,
    RowAge,
    Value,
    parse_duration,
    parse_key_popularity,
    parse_order,
    parse_rate,
    parse_row_age,
    parse_where,
)

if TYPE_CHECKING:
    from rowkey.keys import Field


@dataclass(frozen=True, slots=True)
class DeclaredRead:
    """A declared read of a design, with its conditions bound to the fields.

    Args:
        conditions: its tests.
        order: the order asked for, most significant first.
        limit: rows wanted, or None for all.
        rate: reads a second, or None.
        span: length of time that a range over a time field covers when values are drawn.
        keys: how often each value that it gives is asked for.
        age: how old the rows of its time ranges are; None if not declared.
        fields: the declared fields, by name.
    """

    name: str
    conditions: tuple[Condition, ...]
    order: tuple[Ordering, ...]
    limit: int | None
    rate: float | None
    span: Duration | None
    keys: KeyPopularity
    age: RowAge | None
    fields: Mapping[str, Field]

    @property
    def tested_fields(self) -> tuple[str, ...]:
        """Return the fields that the read's conditions test."""
        return tuple(dict.fromkeys(condition.field for condition in self.conditions))

    @property
    def equality_fields(self) -> tuple[str, ...]:
        """Return the fields that have one of the given values in each row that is found."""
        return tuple(
            dict.fromkeys(one.field for one in self.conditions if one.operator in ("=", "in"))
        )

    @property
    def parameter_fields(self) -> tuple[str, ...]:
        """Return the fields with = or `in` and a parameter; times only if there are no others."""
        names = _list_parameter_fields(self.conditions, is_equality=True)
        others = tuple(name for name in names if self.fields[name].type.unit_ns is None)
        return others or names

    @property
    def time_ranges(self) -> tuple[str, ...]:
        """Return the time fields with a range of which an end is a parameter."""
        return _list_time_ranges(self.conditions, self.fields)

    def get_span(self, name: str) -> int | None:
        """Return the declared length of a range over a field, in its units; None without one."""
        unit_ns = self.fields[name].type.unit_ns
        if self.span is None or unit_ns is None:
            return None
        return max(self.span.nanoseconds // unit_ns, 1)

    def build_bounds(self, values: Mapping[int | str, Value]) -> Bounds:
        """Return the bound of each tested field, given the values of the parameters.

        Args:
            values: by position from 0, or by name.

        Raises:
            ReadError: a value is missing, does not fit its field, or is null in a comparison.
        """
        bounds_by_field: dict[str, list[Bound]] = {}
        for condition in self.conditions:
            field = self.fields[condition.field]
            operands = [self._find_operand_value(operand, values) for operand in condition.operands]
            bounds_by_field.setdefault(field.name, []).append(
                build_bound(field, condition, operands)
            )
        return {
            name: intersect_bounds(self.fields[name], bounds)
            for name, bounds in bounds_by_field.items()
        }

    def _find_operand_value(self, operand: Operand, values: Mapping[int | str, Value]) -> Any:
        """Return the value of an operand: a literal, or the value of a parameter.

        Raises:
            ReadError: the parameter has no value.
        """
        if not isinstance(operand, Parameter):
            return operand
        if operand.name not in values:
            raise ReadError(
                f"read {self.name}",
                f"the parameter {operand} has no value",
                "a value for each parameter",
                f"Pass a value for {operand}.",
            )
        return values[operand.name]


def bind_declared_reads(
    declared: Sequence[ReadDeclaration], fields: Mapping[str, Field], mistakes: Mistakes
) -> tuple[DeclaredRead, ...]:
    """Bind the declared reads to the fields; reads with mistakes are left out.

    Args:
        fields: the bound fields, by name.
        mistakes: the list to which mistakes are added, below `reads`.
    """
    reads: list[DeclaredRead] = []
    names: set[str] = set()
    for index, declaration in enumerate(declared):
        path = f"reads[{index}]"
        if declaration.name in names:
            mistakes.add(
                f"{path}.name",
                f"the name {declaration.name!r} is used by an earlier read",
                "a different name for each read",
                "Rename one of the two.",
            )
        names.add(declaration.name)
        if read := _bind_declared_read(declaration, fields, path, mistakes):
            reads.append(read)
    return tuple(reads)


def _bind_declared_read(
    declared: ReadDeclaration, fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> DeclaredRead | None:
    """Bind one declared read to the fields; None if it has mistakes."""
    mistake_count = len(mistakes.mistakes)
    parsed = {
        "where": parse_clause(parse_where, declared.where, f"{path}.where", mistakes),
        "order": parse_clause(parse_order, declared.order, f"{path}.order", mistakes),
        "rate": parse_clause(parse_rate, declared.rate, f"{path}.rate", mistakes),
        "span": parse_clause(parse_duration, declared.span, f"{path}.span", mistakes),
        "keys": parse_clause(parse_key_popularity, declared.keys, f"{path}.keys", mistakes),
        "age": parse_clause(parse_row_age, declared.age, f"{path}.age", mistakes),
    }
    for word in ("where", "order"):
        for one in parsed[word] or ():
            check_clause(one, fields, f"{path}.{word}", mistakes)
    _check_conditions(parsed["where"] or (), fields, f"{path}.where", mistakes)
    if parsed["where"] is not None:
        if parsed["keys"] is not None:
            _check_popularity(parsed["keys"], parsed["where"], f"{path}.keys", mistakes)
        if parsed["span"] is not None:
            _check_span(parsed["span"], parsed["where"], fields, f"{path}.span", mistakes)
        if parsed["age"] is not None:
            _check_age(parsed["age"], parsed["where"], fields, f"{path}.age", mistakes)
    if len(mistakes.mistakes) > mistake_count:
        return None
    return DeclaredRead(
        declared.name,
        parsed["where"],
        parsed["order"],
        declared.limit,
        parsed["rate"],
        parsed["span"],
        parsed["keys"] or KeyPopularity(),
        parsed["age"],
        fields,
    )


def _list_parameter_fields(
    conditions: Sequence[Condition], *, is_equality: bool
) -> tuple[str, ...]:
    """Return the fields with a parameter in an equality or `in`, or else in another condition."""
    return tuple(
        dict.fromkeys(
            one.field
            for one in conditions
            if (one.operator in ("=", "in")) == is_equality
            and any(isinstance(operand, Parameter) for operand in one.operands)
        )
    )


def _list_time_ranges(
    conditions: Sequence[Condition], fields: Mapping[str, Field]
) -> tuple[str, ...]:
    """Return the time fields with a range of which an end is a parameter."""
    names = _list_parameter_fields(conditions, is_equality=False)
    return tuple(name for name in names if name in fields and fields[name].type.unit_ns is not None)


def _check_popularity(
    keys: KeyPopularity, conditions: Sequence[Condition], path: str, mistakes: Mistakes
) -> None:
    """Collect a mistake if no condition gives a value that `keys` could be about."""
    if not _list_parameter_fields(conditions, is_equality=True):
        mistakes.add(
            path,
            f"{str(keys)!r} has no effect: no condition with = or in has a parameter",
            "a condition such as host = ?",
            "Remove keys, or add the condition to where.",
        )


def _check_span(
    span: Duration,
    conditions: Sequence[Condition],
    fields: Mapping[str, Field],
    path: str,
    mistakes: Mistakes,
) -> None:
    """Collect a mistake if no condition has a range of times that `span` could be the length of."""
    is_known = all(one.field in fields for one in conditions)  # else that mistake is reported
    if is_known and not _list_time_ranges(conditions, fields):
        mistakes.add(
            path,
            f"{str(span)!r} has no effect: no range over a time has a parameter",
            "a condition on a time field, such as ts >= ? and ts < ?",
            "Remove span, or add the condition to where.",
        )


def _check_age(
    age: RowAge,
    conditions: Sequence[Condition],
    fields: Mapping[str, Field],
    path: str,
    mistakes: Mistakes,
) -> None:
    """Collect a mistake if no condition has a range of times that `age` could be about."""
    if not _list_time_ranges(conditions, fields):
        mistakes.add(
            path,
            f"{str(age)!r} has no effect: no range over a time has a parameter",
            "a condition on a time field, such as ts >= ?",
            "Remove age, or add the condition to where. A read in descending order of time with a "
            "limit asks for the latest rows without it.",
        )


def parse_clause(parse: Any, text: str | None, path: str, mistakes: Mistakes) -> Any:
    """Parse a clause of a read; None, with the mistake collected, if it is invalid."""
    if text is None:
        return None
    try:
        return parse(text)
    except InvalidArgument as refusal:
        mistakes.add_invalid_argument(path, refusal)
        return None


def check_clause(
    clause: Condition | Ordering, fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> None:
    """Collect a mistake if a clause names an unknown field or does not fit its type."""
    field = fields.get(clause.field)
    if field is None:
        known = f"one of {', '.join(list(fields)[:12])}" if fields else ""
        remedy = suggest_name(clause.field, fields)
        mistakes.add(path, f"there is no field {clause.field!r}", known, remedy)
        return
    if isinstance(clause, Condition) and not _can_test(field, clause):
        mistakes.add(
            path,
            f"{clause}: values of the type {field.type.name} have no prefix",
            "a field of text or bytes",
        )


def _can_test(field: Field, condition: Condition) -> bool:
    """Return whether a condition can be applied to the field's type."""
    return condition.operator != "starts" or field.type.is_sequence


def _check_conditions(
    conditions: Sequence[Condition], fields: Mapping[str, Field], path: str, mistakes: Mistakes
) -> None:
    """Collect mistakes of conditions whose values do not fit or that no row can meet."""
    conditions_by_field: dict[str, list[Condition]] = {}
    for one in conditions:
        if one.field in fields and _can_test(fields[one.field], one):
            conditions_by_field.setdefault(one.field, []).append(one)
    for name, field_conditions in conditions_by_field.items():
        _check_field_conditions(fields[name], field_conditions, path, mistakes)


def _check_field_conditions(
    field: Field, conditions: Sequence[Condition], path: str, mistakes: Mistakes
) -> None:
    bounds: list[Bound] = []
    mistake_count = len(mistakes.mistakes)
    for one in conditions:
        if any(isinstance(operand, Parameter) for operand in one.operands):
            _check_operands(field, one, path, mistakes)
            continue
        try:
            bounds.append(build_bound(field, one, one.operands))
        except ReadError as problem:
            mistakes.add(path, f"{one}: {problem.mistake.problem}", problem.mistake.expected)
    text = " and ".join(map(str, conditions))
    if len(mistakes.mistakes) > mistake_count:
        return
    if is_contradiction(conditions):
        mistakes.add(
            path,
            f"{text}: a prefix and a range of one field cannot be combined",
            "either a prefix or a range",
        )
    elif bounds and is_empty_bound(field, intersect_bounds(field, bounds)):
        mistakes.add(path, f"{text}: no value satisfies this", "conditions that a row can meet")


def _check_operands(field: Field, condition: Condition, path: str, mistakes: Mistakes) -> None:
    """Collect mistakes of the literal values in a condition."""
    for operand in condition.operands:
        if isinstance(operand, Parameter):
            continue
        try:
            build_bound(field, Condition(condition.field, "=", (operand,)), (operand,))
        except ReadError as problem:
            mistakes.add(path, f"{condition}: {problem.mistake.problem}", problem.mistake.expected)
