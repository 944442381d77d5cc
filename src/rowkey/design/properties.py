"""The properties of a design that follow from its key: decodability, uniqueness, order, fan-out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.cells import MAX_ROW_BYTES
from rowkey.errors import ReadError
from rowkey.keys import Field, Order, Part, find_colliding_rows
from rowkey.open_file_limit import explain_shortage
from rowkey.plan import (
    MAX_EXAMPLE_VALUES,
    DeclaredRead,
    Plan,
    choose_list_values,
    compute_merged_order,
    compute_span_end,
    count_spreading_parts,
    plan_read,
)
from rowkey.schema import FieldFacts, Parameter

if TYPE_CHECKING:
    from rowkey.design.design import Design

RANGE_OPERATORS = frozenset({"<", "<=", ">", ">=", "between"})
"""Operators of which a read has a first or a last value."""


@dataclass(frozen=True, slots=True)
class PartProperties:
    """The properties of one part of the key.

    Args:
        notation: as it was declared.
        fields: the fields it is computed from.
        min_bytes: fewest bytes.
        max_bytes: most bytes, or None without a limit.
        is_closed: whether its bytes tell where it ends.
        order: how its bytes follow the order of its field: strict, weak, reversed, weak-reversed,
            none.
        losses: by field, what cannot be read back from its bytes.
        description: its bytes in words.
    """

    notation: str
    fields: tuple[str, ...]
    min_bytes: int
    max_bytes: int | None
    is_closed: bool
    order: str
    losses: Mapping[str, str]
    description: str


@dataclass(frozen=True, slots=True)
class ReadProperties:
    """The properties of one declared read.

    Args:
        fan_out: ranges read for one answer.
        residual_fields: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        serves_order: whether rows come in the order asked for, forwards or backwards.
        error: why it cannot be planned, or an empty string.
    """

    name: str
    fan_out: int
    residual_fields: tuple[str, ...]
    is_full_scan: bool
    serves_order: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class DesignProperties:
    """The properties of a design.

    Args:
        parts: the parts of the key.
        min_key_bytes: fewest bytes of a row key.
        max_key_bytes: most bytes of a row key, or None without a limit.
        can_decode: whether the fields of a row key can be told apart again.
        ambiguities: why not, as sentences.
        recovered_fields: fields that the key holds whole.
        stored_fields: fields of the key that are stored as columns because it does not.
        is_unique: whether rows that differ in a field of the key have different keys, or cells.
        losses: by field, what makes different rows share a key, with the odds.
        row_order: the order of the rows after the part that spreads them.
        is_salted: whether the key of a row depends on chance.
        region_count: how many regions it is created with; None if that takes a sample.
        reads: how the declared reads run.
        remarks: what else should be known, as sentences.
    """

    parts: tuple[PartProperties, ...]
    min_key_bytes: int
    max_key_bytes: int | None
    can_decode: bool
    ambiguities: tuple[str, ...]
    recovered_fields: tuple[str, ...]
    stored_fields: tuple[str, ...]
    is_unique: bool
    losses: Mapping[str, str]
    row_order: tuple[str, ...]
    is_salted: bool
    region_count: int | None
    reads: tuple[ReadProperties, ...]
    remarks: tuple[str, ...]


@explain_shortage
def derive_properties(
    design: Design, facts: Mapping[str, FieldFacts] | None = None
) -> DesignProperties:
    """Return the properties of a design.

    Args:
        design: the design.
        facts: what is known of its fields, for the odds.
    """
    key, body = design.key, design.key.part_sequence
    ambiguous = find_ambiguities(design)
    lossy = find_losses(design, facts or {})
    recovered = tuple(name for name in key.fields if body.residue(name).is_empty)
    return DesignProperties(
        parts=tuple(
            _describe_part(part, str(term)) for part, term in zip(key.parts, key.terms, strict=True)
        ),
        min_key_bytes=body.framing.min_bytes,
        max_key_bytes=body.framing.max_bytes,
        can_decode=not ambiguous,
        ambiguities=ambiguous,
        recovered_fields=recovered if not ambiguous else (),
        stored_fields=design.layout.key_fields_in_columns,
        is_unique=not ambiguous and not lossy,
        losses=lossy,
        row_order=tuple(map(str, compute_merged_order(key, count_spreading_parts(key)))),
        is_salted=key.is_salted,
        region_count=_count_regions(design),
        reads=tuple(_describe_read(design, read, facts or {}) for read in design.reads),
        remarks=tuple(_build_remarks(design)),
    )


def _is_in_qualifier(design: Design, name: str) -> bool:
    """Return whether the qualifier holds what the key loses of a field."""
    opening = design.layout.qualifier_prefix
    if opening is None:
        return False
    return name not in design.layout.lossy_key_fields or any(
        name == one.name for one in opening.fields
    )


def _describe_part(part: Part, notation: str) -> PartProperties:
    framing = part.framing
    loses = {
        name: residue.description or "the value"
        for name in part.fields
        if not (residue := part.residue(name)).is_empty
    }
    order = part.order.value if len(part.fields) == 1 else Order.NONE.value
    return PartProperties(
        notation,
        part.fields,
        framing.min_bytes,
        framing.max_bytes,
        framing.is_self_delimiting,
        order,
        loses,
        part.describe_encoding(),
    )


def find_ambiguities(design: Design) -> tuple[str, ...]:
    """Describe the parts, other than the last, whose end cannot be found."""
    return tuple(_iterate_ambiguities(design))


def _iterate_ambiguities(design: Design) -> Iterator[str]:
    parts = design.key.parts
    for index, (part, term) in enumerate(zip(parts[:-1], design.key.terms, strict=False)):
        if not part.framing.is_self_delimiting:
            name = part.fields[0] if part.fields else str(term)
            met = find_colliding_rows(design.key, index)
            effect = "no key can be decoded"
            if met is not None:
                (a, b), (c, d) = met
                effect = f"{a!r} before {b!r} gives the same bytes as {c!r} before {d!r}"
            yield (
                f"{term} has no end and is not last: a reader cannot find where {name} ends, so "
                f"{effect}"
            )


def find_losses(design: Design, facts: Mapping[str, FieldFacts]) -> dict[str, str]:
    """Return the fields whose different values may share a row, with the odds as a sentence."""
    losses = _iterate_losses(design, facts)
    return {name: said for name, said in losses if not _is_in_qualifier(design, name)}


def _iterate_losses(design: Design, facts: Mapping[str, FieldFacts]) -> Iterator[tuple[str, str]]:
    """Yield fields whose different values may share a key, with the odds as a sentence."""
    key = design.key
    for name in key.fields:
        residue = key.part_sequence.residue(name)
        if residue.is_empty:
            continue
        field_parts = [part for part in key.parts if name in part.fields]
        distinguishing = [
            p for p in field_parts if p.cardinality is None or p.cardinality > 1 << 16
        ]
        what = residue.description if not residue.is_total else "the value"
        field_facts = facts.get(name)
        spaces = [p.cardinality for p in distinguishing if p.cardinality is not None]
        if residue.is_total and spaces and field_facts is not None and field_facts.distinct_count:
            odds = min(field_facts.distinct_count**2 / (2 * max(spaces)), 1.0)
            how_many = f"{field_facts.distinct_count:,} values"
            yield (
                name,
                f"{what} is lost; two of {how_many} collide with a probability of {odds:.2g}",
            )
        elif residue.is_total and spaces:
            bits = (max(spaces) - 1).bit_length()
            yield (
                name,
                f"{what} is lost; two of n values collide with a probability of n²/2^{bits + 1}",
            )
        else:
            yield name, f"{what} is lost, so rows that differ only in it share a key"


def _count_regions(design: Design) -> int | None:
    """Return the number of regions, or None if it depends on a sample."""
    if design.splits.needs_sample or design.splits.needs_count:
        return None
    return len(design.splits.compute_boundaries(design.key))


def _build_remarks(design: Design) -> Iterator[str]:
    """Yield a warning where keys may be longer than HBase accepts."""
    max_bytes = design.key.part_sequence.framing.max_bytes
    if max_bytes is None:
        names = [
            part.fields[0]
            for part in design.key.parts
            if part.framing.max_bytes is None and part.fields
        ]
        yield (
            f"{', '.join(dict.fromkeys(names))} has no maximum length, and HBase rejects a "
            f"row key of more than {MAX_ROW_BYTES:,} bytes; declare max_bytes"
        )
    elif max_bytes > MAX_ROW_BYTES:
        yield f"the longest row key has {max_bytes:,} bytes, but HBase accepts {MAX_ROW_BYTES:,}"


def _describe_read(
    design: Design, read: DeclaredRead, facts: Mapping[str, FieldFacts]
) -> ReadProperties:
    """Return the properties of a read by example values; of one that fails, with the error."""
    try:
        plan = plan_read(
            design.build_example_key(),
            read.build_bounds(choose_example_values(read, facts)),
            read.order,
        )
    except ReadError as problem:
        return ReadProperties(
            read.name, 0, (), is_full_scan=True, serves_order=False, error=str(problem)
        )
    return _describe_plan(read, plan)


def _describe_plan(read: DeclaredRead, plan: Plan) -> ReadProperties:
    served = plan.serves_order or plan.serves_backwards
    return ReadProperties(read.name, plan.fan_out, plan.residual_fields, plan.is_full_scan, served)


def choose_example_values(
    read: DeclaredRead, facts: Mapping[str, FieldFacts]
) -> dict[int | str, Any]:
    """Return example values for the parameters of a read.

    A range over a time covers its declared span, or an hour; those of a list are different.
    """
    values: dict[int | str, Any] = {}
    for condition in read.conditions:
        field = read.fields[condition.field]
        known = facts.get(field.name)
        domain = field.type.domain
        heaviest = [value for value, _ in known.heaviest_values] if known is not None else []
        if condition.operator == "in":
            values |= choose_list_values(field, condition, heaviest)
            continue
        is_range = condition.operator in RANGE_OPERATORS and not field.type.has_integer_form
        base = heaviest[0] if heaviest and not is_range else domain.generate_value(0)
        parameters = [o.name for o in condition.operands if isinstance(o, Parameter)]
        for index, name in enumerate(parameters):
            later = condition.operator in ("<", "<=") or (condition.operator == "between" and index)
            values[name] = _choose_later_value(read, field, base) if later else base
    return values


def _choose_later_value(read: DeclaredRead, field: Any, base: Any) -> Any:
    """Return a value of a field above another one, as the end of an example range."""
    kind = field.type
    if not kind.has_integer_form:  # only the type itself knows which value comes next
        return field.normalize(
            kind.domain.generate_value(min(kind.domain.size, MAX_EXAMPLE_VALUES) - 1)
        )
    if kind.unit_ns is not None:
        return compute_span_end(read, field, base)
    return kind.from_internal(min(kind.to_internal(base) + 1_000, kind.number_range[1]))


def count_combined_values(
    fields: Mapping[str, Field], facts: Mapping[str, FieldFacts], names: Iterable[str]
) -> int | None:
    """Return how many combinations of values some fields have; None if unknown.

    Args:
        fields: the fields of the design.
        facts: what is known of them.
    """
    total = 1
    for name in names:
        listed = fields[name].type.possible_values
        count = facts[name].distinct_count if name in facts else None
        if count is None and listed is not None:
            count = len(listed)
        if count is None:
            return None
        total *= count + (name in facts and facts[name].null_share > 0)
    return total
