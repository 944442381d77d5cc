"""What a design can and cannot do, computed from its parts: nothing here is declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import ReadError
from rowkey.keys import Order, Part, rows_that_meet
from rowkey.open_file_limit import explains_shortage
from rowkey.plan import (
    EXAMPLES,
    Plan,
    listed_examples,
    orders_behind,
    plan_read,
    spreading,
    stretch_end,
)
from rowkey.schema import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from rowkey.design.design import Design
    from rowkey.plan import Read
    from rowkey.schema import Facts

ROW_KEY_MOST = 32_767
"""Bytes of the longest row key. Source: HConstants.MAX_ROW_LENGTH."""
RANGES = frozenset({"<", "<=", ">", ">=", "between"})
"""Operators of which a read has a first or a last value."""


@dataclass(frozen=True, slots=True)
class PartProperties:
    """What one part of the key is.

    Args:
        notation: as it was declared.
        fields: the fields it is computed from.
        least: fewest bytes.
        most: most bytes, or None without a limit.
        closed: whether its bytes tell where it ends.
        order: how its bytes follow the order of its field: strict, weak, reversed, weak-reversed,
            none.
        loses: by field, what cannot be read back from its bytes.
        words: its bytes in words.
    """

    notation: str
    fields: tuple[str, ...]
    least: int
    most: int | None
    closed: bool
    order: str
    loses: Mapping[str, str]
    words: str


@dataclass(frozen=True, slots=True)
class ReadProperties:
    """How one declared read runs.

    Args:
        name: its name.
        fan_out: ranges read for one answer.
        residual: fields whose conditions are tested after reading.
        is_full_scan: whether nothing in the key narrows it.
        serves_order: whether rows come in the order asked for, forwards or backwards.
        error: why it cannot be planned, or an empty string.
    """

    name: str
    fan_out: int
    residual: tuple[str, ...]
    is_full_scan: bool
    serves_order: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class Properties:
    """What a design can and cannot do.

    Args:
        parts: the parts of the key.
        key_least: fewest bytes of a row key.
        key_most: most bytes of a row key, or None without a limit.
        decodes: whether the fields of a row key can be told apart again.
        ambiguous: why not, as sentences.
        recovered: fields that the key holds whole.
        kept: fields of the key that are stored as columns because it does not.
        unique: whether rows that differ in a field of the key have different keys, or cells.
        lossy: by field, what makes different rows share a key, with the odds.
        order: the order rows come in, behind what spreads them.
        chance: whether the key of a row depends on chance.
        regions: how many regions it is created with; None if that takes a sample.
        reads: how the declared reads run.
        remarks: what else should be known, as sentences.
    """

    parts: tuple[PartProperties, ...]
    key_least: int
    key_most: int | None
    decodes: bool
    ambiguous: tuple[str, ...]
    recovered: tuple[str, ...]
    kept: tuple[str, ...]
    unique: bool
    lossy: Mapping[str, str]
    order: tuple[str, ...]
    chance: bool
    regions: int | None
    reads: tuple[ReadProperties, ...]
    remarks: tuple[str, ...]


@explains_shortage
def properties_of(design: Design, facts: Mapping[str, Facts] | None = None) -> Properties:
    """The properties of a design.

    Args:
        design: the design.
        facts: what is known of its fields, for the odds.
    """
    key, body = design.key, design.key.body
    ambiguous = tuple(_ambiguous(design))
    lossy = {n: said for n, said in _lossy(design, facts or {}) if not _is_told(design, n)}
    recovered = tuple(name for name in key.fields if body.residue(name).nothing)
    return Properties(
        parts=tuple(
            _part(part, str(term)) for part, term in zip(key.parts, key.terms, strict=True)
        ),
        key_least=body.framing.least,
        key_most=body.framing.most,
        decodes=not ambiguous,
        ambiguous=ambiguous,
        recovered=recovered if not ambiguous else (),
        kept=design.layout.kept,
        unique=not ambiguous and not lossy,
        lossy=lossy,
        order=tuple(map(str, orders_behind(key, spreading(key)))),
        chance=key.is_salted,
        regions=_regions(design),
        reads=tuple(_read(design, read, facts or {}) for read in design.reads),
        remarks=tuple(_remarks(design)),
    )


def _is_told(design: Design, name: str) -> bool:
    """Whether the qualifier tells what the key loses of a field, where events share rows."""
    opening = design.layout.opening
    if opening is None:
        return False
    return name not in design.layout.kept or any(name == one.name for one in opening.fields)


def _part(part: Part, notation: str) -> PartProperties:
    framing = part.framing
    loses = {
        name: residue.what or "the value"
        for name in part.fields
        if not (residue := part.residue(name)).nothing
    }
    order = part.order.value if len(part.fields) == 1 else Order.NONE.value
    return PartProperties(
        notation,
        part.fields,
        framing.least,
        framing.most,
        framing.closed,
        order,
        loses,
        part.words(),
    )


def _ambiguous(design: Design) -> Iterator[str]:
    """Parts without an end that are not last: what they hold runs into what follows."""
    parts = design.key.parts
    for index, (part, term) in enumerate(zip(parts[:-1], design.key.terms, strict=False)):
        if not part.framing.closed:
            name = part.fields[0] if part.fields else str(term)
            met = rows_that_meet(design.key, index)
            told = "no key can be taken apart"
            if met is not None:
                (a, b), (c, d) = met
                told = f"{a!r} before {b!r} gives the same bytes as {c!r} before {d!r}"
            yield (
                f"{term} has no end and is not last: where {name} stops cannot be told, and {told}"
            )


def _lossy(design: Design, facts: Mapping[str, Facts]) -> Iterator[tuple[str, str]]:
    """Fields of the key of which different values may share a key, with the odds."""
    key = design.key
    for name in key.fields:
        residue = key.body.residue(name)
        if residue.nothing:
            continue
        holding = [part for part in key.parts if name in part.fields]
        telling = [p for p in holding if p.cardinality is None or p.cardinality > 1 << 16]
        what = residue.what if not residue.everything else "the value"
        known = facts.get(name)
        spaces = [p.cardinality for p in telling if p.cardinality is not None]
        if residue.everything and spaces and known is not None and known.distinct:
            odds = min(known.distinct**2 / (2 * max(spaces)), 1.0)
            yield (
                name,
                f"{what} is lost; two of {known.distinct:,} values meet with odds {odds:.2g}",
            )
        elif residue.everything and spaces:
            bits = (max(spaces) - 1).bit_length()
            yield name, f"{what} is lost; two of n values meet with odds n²/2^{bits + 1}"
        else:
            yield name, f"{what} is lost, so rows that differ in it alone share a key"


def _regions(design: Design) -> int | None:
    if design.cut.needs_sample or design.cut.needs_count:
        return None
    return len(design.cut.boundaries(design.key))


def _remarks(design: Design) -> Iterator[str]:
    most = design.key.body.framing.most
    if most is None:
        names = [
            part.fields[0] for part in design.key.parts if part.framing.most is None and part.fields
        ]
        yield (
            f"nothing limits {', '.join(dict.fromkeys(names))}: a row whose key exceeds "
            f"{ROW_KEY_MOST:,} bytes is refused; declare max_bytes"
        )
    elif most > ROW_KEY_MOST:
        yield f"its longest key has {most:,} bytes, and a row whose key exceeds 32,767 is refused"


def _read(design: Design, read: Read, facts: Mapping[str, Facts]) -> ReadProperties:
    try:
        plan = plan_read(design.key, read.bounds(example_values(read, facts)), read.order)
    except ReadError as problem:
        return ReadProperties(
            read.name, 0, (), is_full_scan=True, serves_order=False, error=str(problem)
        )
    return _planned(read, plan)


def _planned(read: Read, plan: Plan) -> ReadProperties:
    served = plan.serves_order or plan.serves_backwards
    return ReadProperties(read.name, plan.fan_out, plan.residual, plan.is_full_scan, served)


def example_values(read: Read, facts: Mapping[str, Facts]) -> dict[int | str, Any]:
    """Values for the parameters of a read: from what is known of the fields, or the type's own.

    A range over a time covers its declared span, or an hour; those of a list are different.
    """
    values: dict[int | str, Any] = {}
    for condition in read.conditions:
        field = read.fields[condition.field]
        known = facts.get(field.name)
        domain = field.type.domain
        heaviest = [value for value, _ in known.heaviest] if known is not None else []
        if condition.operator == "in":
            values |= listed_examples(field, condition, heaviest)
            continue
        is_range = condition.operator in RANGES and not field.type.counts
        base = heaviest[0] if heaviest and not is_range else domain.nth(0)
        parameters = [o.name for o in condition.operands if isinstance(o, Parameter)]
        for index, name in enumerate(parameters):
            later = condition.operator in ("<", "<=") or (condition.operator == "between" and index)
            values[name] = _later(read, field, base) if later else base
    return values


def _later(read: Read, field: Any, base: Any) -> Any:
    """A value some way above another."""
    kind = field.type
    if not kind.counts:  # what lies behind a value is known of none but the type's own
        return field.normal(kind.domain.nth(min(kind.domain.size, EXAMPLES) - 1))
    if kind.tick is not None:
        return stretch_end(read, field, base)
    return kind.release(min(kind.hold(base) + 1_000, kind.numbers[1]))
