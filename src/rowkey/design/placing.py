"""What only the whole file can tell of places: families that exist, columns that do not collide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, did_you_mean
from rowkey.rows import DEFAULT_FAMILY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.cells import Family
    from rowkey.keys import Field
    from rowkey.schema import Declaration


def families_of(declaration: Declaration) -> dict[str, dict[str, Any]]:
    """The declared families; without any, those that fields name, or one called `d`."""
    if declaration.families:
        return declaration.families
    named = [words.family for words in declaration.fields.values() if words.family]
    return {name: {} for name in dict.fromkeys(named or [DEFAULT_FAMILY])}


def check_places(
    fields: Mapping[str, Field], families: Mapping[str, Family], mistakes: Mistakes
) -> None:
    """Note what is wrong with the places of fields, below `fields`."""
    taken: dict[tuple[str, str], str] = {}
    first = next(iter(families))
    stamps = [name for name, field in fields.items() if field.words.at == "timestamp"]
    for name in stamps[1:]:
        mistakes.add(f"fields.{name}.at", "a cell has one timestamp", f"only {stamps[0]}")
    for name, field in fields.items():
        words, path = field.words, f"fields.{name}"
        if words.family is not None and words.family not in families:
            remedy = did_you_mean(words.family, families)
            known = ", ".join(list(families)[:12])
            mistakes.add(f"{path}.family", f"there is no family {words.family!r}", known, remedy)
        if words.at is not None and words.pack is not None:
            mistakes.add(path, f"it is at the {words.at} and packed as well", "at or pack")
        if words.at == "timestamp" and field.type.tick is None:
            mistakes.add(f"{path}.at", f"a {field.type.name} is no time", "a timestamp or a date")
        if words.at is None and words.pack is None and words.qualifier is not None:
            column = (words.family or first, words.qualifier)
            if column in taken:
                mistakes.add(
                    f"{path}.qualifier",
                    f"{column[0]}:{column[1]} is the column of {taken[column]}",
                    "a column of its own",
                )
            taken[column] = name
