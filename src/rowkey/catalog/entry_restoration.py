"""Find what a catalog has lost of a table, and rebuild the entry from the table's attributes."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from rowkey.catalog.catalog_entry import (
    COUNTS_ATTRIBUTE,
    DECLARATION_HASH_ATTRIBUTE,
    DEFAULT_MAX_STALE_S,
    DESIGN_ATTRIBUTE,
    GENERATION_ATTRIBUTE,
    LIVE_COUNTS_ATTRIBUTE,
    STALENESS_ATTRIBUTE,
    TABLE_ID_ATTRIBUTE,
    CatalogEntry,
    Generation,
    check_max_stale,
    find_part_counts,
    format_counts,
)
from rowkey.design import Design
from rowkey.errors import InvalidArgument, InvalidDesign, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BACKUP_HINT = "Restore the catalog from a backup."


def find_mismatch(table: str, entry: CatalogEntry | None, attributes: Mapping[str, str]) -> str:
    """Return what a catalog has lost of a table, as far as its attributes tell, or "".

    Args:
        table: its name.
        entry: what the catalog remembers.
        attributes: the table's own.

    Returns:
        What is lost; empty if nothing is.

    Raises:
        Unavailable: the attributes are not as they were written.

    >>> find_mismatch("logs", None, {"rowkey.generation": "3", "rowkey.counts": "0=32"})
    'the catalog does not know logs, but the engine has it, with generation 3 and counts 0=32'
    """
    if entry is None:
        generation = (
            f", with generation {attributes[GENERATION_ATTRIBUTE]}"
            if GENERATION_ATTRIBUTE in attributes
            else ""
        )
        counts = (
            f" and counts {attributes[COUNTS_ATTRIBUTE]}"
            if generation and COUNTS_ATTRIBUTE in attributes
            else ""
        )
        return f"the catalog does not know {table}, but the engine has it{generation}{counts}"
    there, known = read_generation_number(attributes), entry.generations[-1].number
    if there > known:
        return f"the catalog has generation {known} of {table}, the table itself {there}"
    known_as = {one.number: format_counts(one) for one in entry.generations}
    if GENERATION_ATTRIBUTE in attributes and known_as.get(there, "") != attributes.get(
        COUNTS_ATTRIBUTE, ""
    ):
        ours, its = known_as.get(there) or "none", attributes.get(COUNTS_ATTRIBUTE) or "none"
        counts = f"the catalog has counts {ours} of {table}, the table itself {its}"
        return f"{counts}: it was created again"
    return ""


def is_first_generation(attributes: Mapping[str, str]) -> bool:
    """Whether a table never had other counts, so that its attributes tell all generations.

    It was made by hand, is a clone of such a table, or its catalog is lost.
    """
    return attributes.get(GENERATION_ATTRIBUTE) == "1" and LIVE_COUNTS_ATTRIBUTE not in attributes


def restore_entry(
    table: str,
    attributes: Mapping[str, str],
    starts: Sequence[bytes],
    old_entry: CatalogEntry | None = None,
) -> CatalogEntry:
    """Return the entry of a table, rebuilt from its attributes.

    It has each generation that the table or the old entry has. The ids of `code` are not among
    it: of a table that has rows they are lost. So are the times of generations that the old entry
    lacks.

    Args:
        table: its name; that of a clone is another than the one it keeps.
        attributes: the table's own.
        starts: the row keys that its regions begin with now, ascending.
        old_entry: an older entry, if the catalog has one.

    Raises:
        Unavailable: the attributes are not enough, are not as they were written, or hold a design
            that this version of rowkey cannot read.

    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> entry = CatalogEntry.from_design(design, (), 0)
    >>> restore_entry("t", entry.table_attributes, ()).generations
    (Generation(number=1, counts={0: 4}, splits=(), opened_ms=None, is_active=True),)
    """
    design = _read_design(table, attributes)
    live = _read_generations(attributes, starts)
    known = {one.number: one for one in old_entry.generations} if old_entry else {}
    for one in live:  # an older copy may have it, as it was announced
        same = one.number in known and known[one.number].counts == one.counts
        known[one.number] = replace(known[one.number], is_active=True) if same else one
    generations = tuple(known[number] for number in sorted(known) if number <= live[-1].number)
    if any(one.counts.keys() != find_part_counts(design).keys() for one in generations):
        places = ", ".join(str(place) for place in sorted(find_part_counts(design)))
        what = (
            "other parts of its key count than those of its design: "
            f"{attributes.get(COUNTS_ATTRIBUTE, 'none')}"
        )
        raise Unavailable(
            "attributes", what, f"counts of the places {places or 'none'}", BACKUP_HINT
        )
    stale_s = _read_stale_s(attributes)
    return CatalogEntry(
        design.dumps(defaults=False),
        generations,
        max_stale_s=stale_s,
        longest_stale_s=stale_s,
        table_id=attributes.get(TABLE_ID_ATTRIBUTE, ""),
    )


def _read_design(table: str, attributes: Mapping[str, str]) -> Design:
    """Return the design that a table's attributes hold, under the table's current name."""
    if (
        not {GENERATION_ATTRIBUTE, DECLARATION_HASH_ATTRIBUTE, DESIGN_ATTRIBUTE}
        <= attributes.keys()
    ):
        what = f"{table} keeps no attributes of its entry"
        raise Unavailable(
            "attributes",
            what,
            f"{GENERATION_ATTRIBUTE}, {DECLARATION_HASH_ATTRIBUTE} and {DESIGN_ATTRIBUTE}",
            BACKUP_HINT,
        )
    text = attributes[DESIGN_ATTRIBUTE]
    if sha256(text.encode()).hexdigest() != attributes[DECLARATION_HASH_ATTRIBUTE]:
        what = f"{DESIGN_ATTRIBUTE} is not what {DECLARATION_HASH_ATTRIBUTE} is the hash of"
        raise Unavailable(
            "attributes", what, remedy=f"Put back the attributes that {table} was created with."
        )
    try:
        design = Design.loads(text)
    except InvalidDesign as problem:
        what = f"{DESIGN_ATTRIBUTE} is no design: {problem.mistakes[0].problem}"
        raise Unavailable("attributes", what, remedy="Use a newer rowkey.") from None
    if design.table == table:
        return design
    declared = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    return Design(**{**declared, "table": table})


def _read_generations(
    attributes: Mapping[str, str], starts: Sequence[bytes]
) -> tuple[Generation, ...]:
    """Return the generations of a table's attributes, oldest first, without their times."""
    last = f"{read_generation_number(attributes)}:{attributes.get(COUNTS_ATTRIBUTE, '')}"
    counts_by_number = dict(
        one.partition(":")[::2]
        for one in (*attributes.get(LIVE_COUNTS_ATTRIBUTE, "").split(), last)
    )
    try:
        found = {int(number): _parse_counts(text) for number, text in counts_by_number.items()}
    except ValueError as problem:
        what = f"they list no generations: {' '.join(map(':'.join, counts_by_number.items()))}"
        raise Unavailable("attributes", what, "such as 1:0=16 2:0=32", BACKUP_HINT) from problem
    return tuple(
        Generation(number, counts, tuple(starts) if number == max(found) else (), None)
        for number, counts in sorted(found.items())
    )


def _parse_counts(text: str) -> dict[int, int]:
    """Return the counts of a text such as `0=16,2=4`, by the index of their part."""
    pairs = (one.split("=") for one in text.split(",") if one)
    found = {int(place): int(count) for place, count in pairs}
    if any(count < 1 for count in found.values()):
        raise ValueError(text)
    return found


def _read_stale_s(attributes: Mapping[str, str]) -> float:
    """Return how long clients may work without the catalog, by the table's attributes."""
    text = attributes.get(STALENESS_ATTRIBUTE, f"{DEFAULT_MAX_STALE_S:g}")
    try:
        seconds = float(text)
        check_max_stale(seconds)
    except (ValueError, InvalidArgument):
        raise Unavailable(
            "attributes", f"{STALENESS_ATTRIBUTE} is {text!r}", "seconds", BACKUP_HINT
        ) from None
    return seconds


def read_generation_number(attributes: Mapping[str, str]) -> int:
    """Return the last generation number in a table's attributes; 1 if they have none.

    Raises:
        Unavailable: the attribute is not as it was written.
    """
    text = attributes.get(GENERATION_ATTRIBUTE, "1")
    if not text.isascii() or not text.isdigit() or not int(text):
        raise Unavailable(
            "attributes", f"{GENERATION_ATTRIBUTE} is {text!r}", "a number from 1 on", BACKUP_HINT
        )
    return int(text)
