"""Find what a catalog has lost of a table, and rebuild the entry from the table's attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from rowkey.catalog.catalog_entry import (
    COMPANION_ATTRIBUTE,
    COUNTS_ATTRIBUTE,
    DECLARATION_HASH_ATTRIBUTE,
    DEFAULT_MAX_STALE_S,
    DESIGN_ATTRIBUTE,
    FILLING_ATTRIBUTE,
    GENERATION_ATTRIBUTE,
    LIVE_COUNTS_ATTRIBUTE,
    MAX_STALE_LIMIT_S,
    MOVE_ATTRIBUTE,
    MOVED_FROM_ATTRIBUTE,
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
from rowkey.messages import pluralize

BACKUP_HINT = "Restore the catalog from a backup."


def find_mismatch(table: str, entry: CatalogEntry | None, attributes: Mapping[str, str]) -> str:
    """Return how a catalog entry contradicts its table's attributes, as a sentence; "" if not.

    Args:
        table: its name.
        attributes: the attributes of the engine's table.

    Raises:
        Unavailable: the attributes are not as they were written.

    >>> find_mismatch("logs", None, {"rowkey.generation": "3", "rowkey.counts": "0=32"})
    "the catalog has no entry for logs, but the engine has it, with rowkey.generation '3' and..."
    """
    if entry is None:
        listing = " and ".join(
            f"{name} {attributes[name]!r}"
            for name in (GENERATION_ATTRIBUTE, COUNTS_ATTRIBUTE)
            if name in attributes
        )
        details = f", with {listing}" if listing else ""
        return f"the catalog has no entry for {table}, but the engine has it{details}"
    table_number = read_generation_number(table, attributes)
    entry_number = entry.generations[-1].number
    if table_number > entry_number:
        changes = pluralize(table_number - entry_number, "change")
        return (
            f"the catalog lacks {changes} of the number of buckets of {table}: it ends "
            f"with generation {entry_number}, but {GENERATION_ATTRIBUTE} of the table is "
            f"{table_number}"
        )
    counts_by_number = {one.number: format_counts(one) for one in entry.generations}
    entry_counts = counts_by_number.get(table_number, "")
    table_counts = attributes.get(COUNTS_ATTRIBUTE, "")
    if GENERATION_ATTRIBUTE in attributes and entry_counts != table_counts:
        ours, its = entry_counts or "none", table_counts or "none"
        counts = f"the catalog lists the bucket counts {ours} for {table}, but its attributes {its}"
        return f"{counts}: the table was created again"
    return ""


def is_first_generation(attributes: Mapping[str, str]) -> bool:
    """Return whether a table never had other bucket counts, so that its attributes suffice.

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

    It has each generation that the table or the old entry has, without the times of those that the
    old entry lacks. Ids of `code` are not in the attributes, so the entry has none.

    Args:
        table: its name; the attributes of a clone have the name of the original.
        attributes: the attributes of the engine's table.
        starts: the row keys that its regions begin with now, ascending.
        old_entry: an older entry, if the catalog has one.

    Raises:
        Unavailable: the attributes are not enough, are not as they were written, or hold a design
            that this version of rowkey cannot read; or rows of the table were being moved.

    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> entry = CatalogEntry.from_design(design, (), 0)
    >>> restore_entry("t", entry.table_attributes, ()).generations
    (Generation(number=1, counts={0: 4}, splits=(), opened_ms=None, phase=<...LIVE: 1>),)
    """
    for name in (MOVE_ATTRIBUTE, MOVED_FROM_ATTRIBUTE):
        if name in attributes:
            what = (
                f"its rows were being moved ({name} is {attributes[name]}), and only the catalog "
                "says which of the two tables has all changes"
            )
            raise Unavailable(f"table {table}, attributes", what, remedy=BACKUP_HINT)
    design = _read_design(table, attributes)
    live = _read_generations(table, attributes, starts)
    by_number = {one.number: one for one in old_entry.generations} if old_entry else {}
    for one in live:  # the old entry may have it as announced, not yet as active
        known = by_number.get(one.number)
        if known is not None and known.counts == one.counts:
            one = replace(known, phase=max(known.phase, one.phase))  # noqa: PLW2901
        by_number[one.number] = one
    generations = tuple(
        by_number[number] for number in sorted(by_number) if number <= live[-1].number
    )
    if any(one.counts.keys() != find_part_counts(design).keys() for one in generations):
        places = ", ".join(str(place) for place in sorted(find_part_counts(design)))
        what = (
            f"{COUNTS_ATTRIBUTE} = {attributes.get(COUNTS_ATTRIBUTE, '')!r} lists bucket counts "
            "for other parts of the key than those with buckets"
        )
        raise Unavailable(
            f"table {table}, attributes",
            what,
            f"a count for each of the key parts {places}" if places else "no counts",
            BACKUP_HINT,
        )
    stale_s = _read_stale_s(table, attributes)
    return CatalogEntry(
        design.dumps(defaults=False),
        generations,
        max_stale_s=stale_s,
        longest_stale_s=stale_s,
        table_id=attributes.get(TABLE_ID_ATTRIBUTE, ""),
        companion_of=attributes.get(COMPANION_ATTRIBUTE, ""),
        is_filling=FILLING_ATTRIBUTE in attributes,
    )


def _read_design(table: str, attributes: Mapping[str, str]) -> Design:
    """Return the design that a table's attributes hold, with the table's current name.

    Raises:
        Unavailable: attributes are missing, changed, or of a later version.
    """
    if (
        not {GENERATION_ATTRIBUTE, DECLARATION_HASH_ATTRIBUTE, DESIGN_ATTRIBUTE}
        <= attributes.keys()
    ):
        raise Unavailable(
            f"table {table}, attributes",
            "the catalog has no entry of the table, and none can be built: the table lacks "
            "attributes in which rowkey stores a copy of its design",
            f"{GENERATION_ATTRIBUTE}, {DECLARATION_HASH_ATTRIBUTE} and {DESIGN_ATTRIBUTE}",
            BACKUP_HINT,
        )
    text = attributes[DESIGN_ATTRIBUTE]
    if sha256(text.encode()).hexdigest() != attributes[DECLARATION_HASH_ATTRIBUTE]:
        what = f"{DESIGN_ATTRIBUTE} was changed: {DECLARATION_HASH_ATTRIBUTE} is not its hash"
        remedy = f"Set {DESIGN_ATTRIBUTE} to the text that {table} was created with."
        raise Unavailable(f"table {table}, attributes", what, remedy=remedy)
    try:
        design = Design.loads(text)
    except InvalidDesign as problem:
        what = f"{DESIGN_ATTRIBUTE} is not a design that this version of rowkey can read"
        what += f": {problem.mistakes[0].problem}"
        remedy = "Upgrade rowkey to the version that created the table."
        raise Unavailable(f"table {table}, attributes", what, remedy=remedy) from None
    if design.table == table:
        return design
    declared = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    declared.pop("companions", None)  # those of the original table
    return Design(**{**declared, "table": table})


def _read_generations(
    table: str, attributes: Mapping[str, str], starts: Sequence[bytes]
) -> tuple[Generation, ...]:
    """Return the generations of a table's attributes, oldest first, without their times."""
    last = f"{read_generation_number(table, attributes)}:{attributes.get(COUNTS_ATTRIBUTE, '')}"
    texts_by_number = dict(
        one.partition(":")[::2]
        for one in (*attributes.get(LIVE_COUNTS_ATTRIBUTE, "").split(), last)
    )
    try:
        counts_by_number = {
            int(number): _parse_counts(text) for number, text in texts_by_number.items()
        }
    except ValueError as problem:
        listed = " ".join(map(":".join, texts_by_number.items()))
        what = f"{LIVE_COUNTS_ATTRIBUTE} or {COUNTS_ATTRIBUTE} is damaged: {listed}"
        path = f"table {table}, attributes"
        raise Unavailable(
            path, what, "a list of bucket counts such as 1:0=16 2:0=32", BACKUP_HINT
        ) from problem
    return tuple(
        Generation(number, counts, tuple(starts) if number == max(counts_by_number) else (), None)
        for number, counts in sorted(counts_by_number.items())
    )


def _parse_counts(text: str) -> dict[int, int]:
    """Return the counts of a text such as `0=16,2=4`, by the index of their part."""
    pairs = (one.split("=") for one in text.split(",") if one)
    counts = {int(place): int(count) for place, count in pairs}
    if any(count < 1 for count in counts.values()):
        raise ValueError(text)
    return counts


def _read_stale_s(table: str, attributes: Mapping[str, str]) -> float:
    """Return how long clients may work without the catalog, by the table's attributes."""
    text = attributes.get(STALENESS_ATTRIBUTE, f"{DEFAULT_MAX_STALE_S:g}")
    try:
        seconds = float(text)
        check_max_stale(seconds)
    except (ValueError, InvalidArgument):
        raise Unavailable(
            f"table {table}, attributes",
            f"{STALENESS_ATTRIBUTE} = {text!r} is not a valid time",
            f"seconds, more than 0 and at most {MAX_STALE_LIMIT_S:,.0f}",
            BACKUP_HINT,
        ) from None
    return seconds


def read_generation_number(table: str, attributes: Mapping[str, str]) -> int:
    """Return the last generation number in a table's attributes; 1 if they have none.

    Raises:
        Unavailable: the attribute is not as it was written.
    """
    text = attributes.get(GENERATION_ATTRIBUTE, "1")
    if not text.isascii() or not text.isdigit() or not int(text):
        raise Unavailable(
            f"table {table}, attributes",
            f"{GENERATION_ATTRIBUTE} = {text!r} is not a valid number",
            "a whole number from 1 on",
            BACKUP_HINT,
        )
    return int(text)
