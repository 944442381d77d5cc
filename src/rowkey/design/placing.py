"""What only the whole file can tell of places: families that exist, columns that do not collide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, FOREVER_S, Family, bind_family, check_family
from rowkey.design.paths import path_text
from rowkey.design.sentences import shown
from rowkey.errors import Mistakes, Refused, did_you_mean
from rowkey.rows import DEFAULT_FAMILY, FORMATS
from rowkey.schema import NANOSECONDS, read_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.errors import Mistake
    from rowkey.keys import Field
    from rowkey.rows import Layout
    from rowkey.schema import Declaration


def check_columns(layout: Layout, mistakes: Mistakes) -> None:
    """Note the fields whose cells would be those of another, below `fields`.

    Args:
        layout: where the fields live.
        mistakes: where what is wrong is noted; what is noted there already is not said again.
    """
    taken: dict[tuple[str, bytes], str] = {}
    for cell in layout.cells():
        name = cell.fields[0] if cell.fields else ""
        other = taken.setdefault((cell.family, cell.qualifier), name)
        path = path_text(("fields", name or other))
        if other == name or any(f"{one.path}.".startswith(f"{path}.") for one in mistakes.found):
            continue
        column = f"{cell.family}:{cell.qualifier.decode()}"
        whose = f"the cell of {other}" if name else "the cell that marks a row without columns"
        mistakes.add(path, f"{column} is {whose}", "a cell of its own", "Name another qualifier.")


def families_of(declaration: Declaration) -> dict[str, dict[str, Any]]:
    """The declared families; without any, those that fields name, or one called `d`."""
    if declaration.families:
        return declaration.families
    named = [words.family for words in declaration.fields.values() if words.family]
    return {name: {} for name in dict.fromkeys(named or [DEFAULT_FAMILY])}


def bind_families(declaration: Declaration, mistakes: Mistakes) -> dict[str, Family]:
    """The families, with what is wrong noted below `families`; those with mistakes are left out."""
    bound = {}
    for name, words in families_of(declaration).items():
        found = Mistakes()
        attributes = _in_seconds(words, found)
        found.found += [refusal.mistake for refusal in check_family(name, attributes)]
        if not found.found:
            bound[name] = bind_family(name, attributes)
        for one in found.found:
            path = path_text(("families", name[:80], *([one.path] if one.path else [])))
            mistakes.add(path, *_of_family(one, words), one.remedy)
    return bound or {DEFAULT_FAMILY: Family(DEFAULT_FAMILY)}


def _of_family(mistake: Mistake, words: Mapping[str, Any]) -> tuple[str, str]:
    """What is wrong with a family, with the word's value and what is known where it is unknown."""
    given = [value for word, value in words.items() if word[:80] == mistake.path]
    if mistake.path in ATTRIBUTES or not given:
        return mistake.what, mistake.allowed
    what = f"{shown(given[0])} is given, but a family has no such attribute"
    return what, ", ".join(ATTRIBUTES)


def _in_seconds(words: Mapping[str, Any], mistakes: Mistakes) -> dict[str, Any]:
    """The attributes of a family, a `ttl` such as `30d` in seconds; a wrong one is left out."""
    ttl = words.get("ttl")
    if not isinstance(ttl, str):
        return dict(words)
    found = {word: value for word, value in words.items() if word != "ttl"}
    if ttl.upper() == "FOREVER":
        return {**found, "ttl": FOREVER_S}
    try:
        seconds, rest = divmod(read_duration(ttl).nanoseconds, NANOSECONDS["s"])
    except Refused as refusal:
        what, allowed = refusal.mistake.what, refusal.mistake.allowed
        mistakes.add("ttl", what, f"{allowed}, or FOREVER")
        return found
    if rest or not 0 < seconds <= FOREVER_S:
        allowed = f"whole seconds from 1s to {FOREVER_S:,}s, or FOREVER"
        mistakes.add("ttl", f"HBase cannot keep cells for {ttl}", allowed)
        return found
    return {**found, "ttl": seconds}


def check_places(
    fields: Mapping[str, Field],
    families: Mapping[str, Family],
    declared: frozenset[str],
    mistakes: Mistakes,
) -> None:
    """Note what is wrong with the places of fields, below `fields`.

    Args:
        fields: the bound fields, by name.
        families: the bound families, by name.
        declared: the names of all families, sound or not.
        mistakes: where what is wrong is noted.
    """
    taken: dict[tuple[str, str], str] = {}
    first = next(iter(families))
    stamps = [name for name, field in fields.items() if field.words.at == "timestamp"]
    for name in stamps[1:]:
        path = path_text(("fields", name, "at"))
        mistakes.add(path, "a cell has one timestamp", f"only {stamps[0]}")
    for name, field in fields.items():
        words, path = field.words, path_text(("fields", name))
        if words.family is not None and words.family not in declared | families.keys():
            remedy = did_you_mean(words.family, families)
            known = ", ".join(list(families)[:12])
            mistakes.add(f"{path}.family", f"there is no family {words.family!r}", known, remedy)
        if words.at is not None and words.pack is not None:
            mistakes.add(path, f"it is at the {words.at} and packed as well", "at or pack")
        if words.at == "timestamp" and field.type.tick is None:
            mistakes.add(f"{path}.at", f"a {field.type.name} is no time", "a timestamp or a date")
        if words.at == "timestamp" and field.nullable:
            mistakes.add(f"{path}.nullable", "every cell has a timestamp", "false")
        if words.pack is not None and (form := words.pack.partition(":")[2]) not in FORMATS:
            known = ", ".join(filter(None, FORMATS))
            remedy = did_you_mean(form, FORMATS)
            mistakes.add(f"{path}.pack", f"{form!r} is no format of packed cells", known, remedy)
        if words.at is None and words.pack is None and words.qualifier is not None:
            column = (words.family or first, words.qualifier)
            if column in taken:
                mistakes.add(
                    f"{path}.qualifier",
                    f"{column[0]}:{column[1]} is the column of {taken[column]}",
                    "a column of its own",
                )
            taken[column] = name
