"""Checks of families and of where fields are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowkey.cells import FOREVER_S, Family, bind_family, find_family_mistakes
from rowkey.design.paths import format_path
from rowkey.errors import InvalidArgument, Mistakes
from rowkey.keys import Field
from rowkey.messages import suggest_name
from rowkey.rows import (
    DEFAULT_FAMILY,
    Layout,
    parse_pack_label,
    parse_qualifier,
)
from rowkey.schema import NANOSECONDS, DesignDeclaration, FieldDeclaration, parse_duration


def check_column_collisions(layout: Layout, mistakes: Mistakes) -> None:
    """Note fields that would be stored in the cell of another field.

    Args:
        mistakes: mistakes are added here; a field that already has one gets no other.
    """
    owners: dict[tuple[str, bytes], str] = {}
    try:
        cells = layout.estimate_cells()
    except InvalidArgument:
        return  # `check_placements` notes a qualifier that cannot be read
    for cell in cells:
        name = cell.fields[0] if cell.fields else ""
        owner_name = owners.setdefault((cell.family, cell.qualifier), name)
        path = format_path(("fields", name or owner_name))
        if owner_name == name or any(
            f"{one.path}.".startswith(f"{path}.") for one in mistakes.mistakes
        ):
            continue
        owner = f"the cell of {owner_name}" if name else "the marker cell of rows without columns"
        what = f"the column {cell.title} is already {owner}"
        mistakes.add(path, what, "another column", "Declare another qualifier.")


def list_declared_families(declaration: DesignDeclaration) -> dict[str, dict[str, Any]]:
    """Return the declared families, or those that fields name, or one called `d`."""
    if declaration.families:
        return declaration.families
    named = [words.family for words in declaration.fields.values() if words.family]
    return {name: {} for name in dict.fromkeys(named or [DEFAULT_FAMILY])}


def bind_families(declaration: DesignDeclaration, mistakes: Mistakes) -> dict[str, Family]:
    """Return the valid families by name, and note the mistakes of the others."""
    families = {}
    for name, words in list_declared_families(declaration).items():
        family_mistakes = Mistakes()
        attributes = _convert_ttl(words, family_mistakes)
        family_mistakes.mistakes += [
            refusal.mistake for refusal in find_family_mistakes(name, attributes)
        ]
        if not family_mistakes.mistakes:
            families[name] = bind_family(name, attributes)
        for one in family_mistakes.mistakes:
            path = format_path(("families", name[:80], *([one.path] if one.path else [])))
            mistakes.add(path, one.problem, one.expected, one.remedy)
    return families or {DEFAULT_FAMILY: Family(DEFAULT_FAMILY)}


def _convert_ttl(options: Mapping[str, Any], mistakes: Mistakes) -> dict[str, Any]:
    """Return a family's attributes with a `ttl` such as `30d` converted to seconds."""
    ttl = options.get("ttl")
    if not isinstance(ttl, str):
        return dict(options)
    attributes = {word: value for word, value in options.items() if word != "ttl"}
    if ttl.upper() == "FOREVER":
        return {**attributes, "ttl": FOREVER_S}
    try:
        seconds, remainder_ns = divmod(parse_duration(ttl).nanoseconds, NANOSECONDS["s"])
    except InvalidArgument as refusal:
        what, allowed = refusal.mistake.problem, refusal.mistake.expected
        mistakes.add("ttl", what, f"{allowed}, or FOREVER")
        return attributes
    if remainder_ns or not 0 < seconds <= FOREVER_S:
        allowed = f"whole seconds from 1s to {FOREVER_S:,}s, or FOREVER"
        mistakes.add("ttl", f"{ttl} is out of range", allowed)
        return attributes
    return {**attributes, "ttl": seconds}


def check_placements(
    fields: Mapping[str, Field],
    families: Mapping[str, Family],
    declared: frozenset[str],
    mistakes: Mistakes,
) -> None:
    """Note mistakes in `family`, `qualifier`, `at` and `pack` of fields.

    Args:
        fields: the bound fields, by name.
        families: the bound families, by name.
        declared: the names of all families, valid or not.
        mistakes: mistakes are added here.
    """
    column_owners: dict[tuple[str, bytes], str] = {}
    first = next(iter(families))
    stamps = [name for name, field in fields.items() if field.declaration.at == "timestamp"]
    for name in stamps[1:]:
        path = format_path(("fields", name, "at"))
        what = f"{stamps[0]} is already stored in the timestamp of the cells"
        mistakes.add(path, what, 'one field with at = "timestamp"')
    for name, field in fields.items():
        words, path = field.declaration, format_path(("fields", name))
        if words.family is not None and words.family not in declared | families.keys():
            remedy = suggest_name(words.family, families)
            allowed = f"one of {', '.join(list(families)[:12])}"
            mistakes.add(
                f"{path}.family", f"there is no column family {words.family!r}", allowed, remedy
            )
        if words.at is not None and words.pack is not None:
            what = f'the field has both at = "{words.at}" and pack'
            mistakes.add(path, what, "at or pack", "Remove one of them.")
        if words.at == "timestamp" and field.type.unit_ns is None:
            what = f"a value of type {field.type.name} cannot be the timestamp of a cell"
            mistakes.add(f"{path}.at", what, "a field of a timestamp or date type")
        if words.at == "timestamp" and field.nullable:
            what = "the timestamp of a cell cannot be null"
            mistakes.add(f"{path}.nullable", what, remedy="Remove nullable.")
        qualifier = _parse_qualifiers(words, path, mistakes)
        if words.at is None and words.pack is None and qualifier is not None:
            column = (words.family or first, qualifier)
            if column in column_owners:
                owner = column_owners[column]
                what = f"{column[0]}:{words.qualifier} is already the column of {owner}"
                mistakes.add(f"{path}.qualifier", what, "another qualifier")
            column_owners[column] = name


def _parse_qualifiers(words: FieldDeclaration, path: str, mistakes: Mistakes) -> bytes | None:
    """Return the declared qualifier of a field, and note if it or that of its pack is no name."""
    qualifier = None
    try:
        if words.pack is not None:
            parse_pack_label(words.pack)
    except InvalidArgument as refusal:
        mistakes.add_invalid_argument(f"{path}.pack", refusal)
    try:
        if words.qualifier is not None:
            qualifier = parse_qualifier(words.qualifier)
    except InvalidArgument as refusal:
        mistakes.add_invalid_argument(f"{path}.qualifier", refusal)
    return qualifier
