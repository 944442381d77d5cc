"""Checks of families and of where fields are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import FOREVER_S, Family, bind_family, find_family_mistakes
from rowkey.design.paths import format_path
from rowkey.errors import InvalidArgument, Mistakes
from rowkey.messages import suggest_name
from rowkey.rows import DEFAULT_FAMILY, PACK_FORMATS
from rowkey.schema import NANOSECONDS, parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys import Field
    from rowkey.rows import Layout
    from rowkey.schema import DesignDeclaration


def check_column_collisions(layout: Layout, mistakes: Mistakes) -> None:
    """Note fields that would be stored in the cell of another field.

    Args:
        layout: where the fields live.
        mistakes: where what is wrong is noted; what is noted there already is not said again.
    """
    taken: dict[tuple[str, bytes], str] = {}
    for cell in layout.estimate_cells():
        name = cell.fields[0] if cell.fields else ""
        other = taken.setdefault((cell.family, cell.qualifier), name)
        path = format_path(("fields", name or other))
        if other == name or any(f"{one.path}.".startswith(f"{path}.") for one in mistakes.mistakes):
            continue
        column = f"{cell.family}:{cell.qualifier.decode()}"
        owner = f"the cell of {other}" if name else "the marker cell of rows without columns"
        what = f"the column {column} is already {owner}"
        mistakes.add(path, what, "another column", "Declare another qualifier.")


def list_declared_families(declaration: DesignDeclaration) -> dict[str, dict[str, Any]]:
    """Return the declared families, or those that fields name, or one called `d`."""
    if declaration.families:
        return declaration.families
    named = [words.family for words in declaration.fields.values() if words.family]
    return {name: {} for name in dict.fromkeys(named or [DEFAULT_FAMILY])}


def bind_families(declaration: DesignDeclaration, mistakes: Mistakes) -> dict[str, Family]:
    """Return the valid families by name, and note the mistakes of the others."""
    bound = {}
    for name, words in list_declared_families(declaration).items():
        found = Mistakes()
        attributes = _convert_ttl(words, found)
        found.mistakes += [refusal.mistake for refusal in find_family_mistakes(name, attributes)]
        if not found.mistakes:
            bound[name] = bind_family(name, attributes)
        for one in found.mistakes:
            path = format_path(("families", name[:80], *([one.path] if one.path else [])))
            mistakes.add(path, one.problem, one.expected, one.remedy)
    return bound or {DEFAULT_FAMILY: Family(DEFAULT_FAMILY)}


def _convert_ttl(options: Mapping[str, Any], mistakes: Mistakes) -> dict[str, Any]:
    """Return a family's attributes with a `ttl` such as `30d` converted to seconds."""
    ttl = options.get("ttl")
    if not isinstance(ttl, str):
        return dict(options)
    found = {word: value for word, value in options.items() if word != "ttl"}
    if ttl.upper() == "FOREVER":
        return {**found, "ttl": FOREVER_S}
    try:
        seconds, rest = divmod(parse_duration(ttl).nanoseconds, NANOSECONDS["s"])
    except InvalidArgument as refusal:
        what, allowed = refusal.mistake.problem, refusal.mistake.expected
        mistakes.add("ttl", what, f"{allowed}, or FOREVER")
        return found
    if rest or not 0 < seconds <= FOREVER_S:
        allowed = f"whole seconds from 1s to {FOREVER_S:,}s, or FOREVER"
        mistakes.add("ttl", f"{ttl} is out of range", allowed)
        return found
    return {**found, "ttl": seconds}


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
        declared: the names of all families, sound or not.
        mistakes: where what is wrong is noted.
    """
    taken: dict[tuple[str, str], str] = {}
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
            known = f"one of {', '.join(list(families)[:12])}"
            mistakes.add(
                f"{path}.family", f"there is no column family {words.family!r}", known, remedy
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
        if words.pack is not None and (form := words.pack.partition(":")[2]) not in PACK_FORMATS:
            known = f"one of {', '.join(filter(None, PACK_FORMATS))}"
            remedy = suggest_name(form, PACK_FORMATS)
            mistakes.add(f"{path}.pack", f"{form!r} is not a format of packed cells", known, remedy)
        if words.at is None and words.pack is None and words.qualifier is not None:
            column = (words.family or first, words.qualifier)
            if column in taken:
                mistakes.add(
                    f"{path}.qualifier",
                    f"{column[0]}:{column[1]} is already the column of {taken[column]}",
                    "another qualifier",
                )
            taken[column] = name
