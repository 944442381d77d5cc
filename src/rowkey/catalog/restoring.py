"""What a catalog has lost of a table, and how much of it the table's own words give back."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from rowkey.catalog.entry import (
    BORN,
    COUNTS,
    DECLARATION,
    DESIGN,
    GENERATION,
    LIVE,
    MAX_STALE_S,
    STALE,
    Entry,
    Generation,
    check_stale,
    counts_of,
    counts_said,
)
from rowkey.design import Design
from rowkey.errors import DeclarationError, Refused, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BACKUP = "Restore the catalog from a backup."


def lapse(table: str, entry: Entry | None, words: Mapping[str, str]) -> str:
    """What a catalog has lost of a table that its engine has, as far as the table can tell.

    Args:
        table: its name.
        entry: what the catalog remembers.
        words: the table's own.

    Returns:
        What is lost; empty if nothing is.

    Raises:
        Unsupported: the words are not as they were written.

    >>> lapse("logs", None, {"rowkey.generation": "3", "rowkey.counts": "0=32"})
    'the catalog does not know logs, but the engine has it, with generation 3 and counts 0=32'
    """
    if entry is None:
        told = f", with generation {words[GENERATION]}" if GENERATION in words else ""
        counts = f" and counts {words[COUNTS]}" if told and COUNTS in words else ""
        return f"the catalog does not know {table}, but the engine has it{told}{counts}"
    there, known = last_told(words), entry.generations[-1].number
    if there > known:
        return f"the catalog has generation {known} of {table}, the table itself {there}"
    known_as = {one.number: counts_said(one) for one in entry.generations}
    if GENERATION in words and known_as.get(there, "") != words.get(COUNTS, ""):
        ours, its = known_as.get(there) or "none", words.get(COUNTS) or "none"
        return f"the catalog has counts {ours} of {table}, the table itself {its}: it was made anew"
    return ""


def is_first(words: Mapping[str, str]) -> bool:
    """Whether a table has never had other counts: nobody knows of another generation than it tells.

    It was made by hand, is a clone of such a table, or its catalog is lost.
    """
    return words.get(GENERATION) == "1" and LIVE not in words


def restored(
    table: str,
    words: Mapping[str, str],
    starts: Sequence[bytes],
    found: Entry | None = None,
) -> Entry:
    """What a catalog should remember of a table, from what the table keeps itself.

    It has each generation that the table or the old entry has. The ids of `code` are not among
    it: of a table that has rows they are lost. So are the times of generations that the old entry
    lacks.

    Args:
        table: its name; that of a clone is another than the one it keeps.
        words: the table's own.
        starts: the row keys that its regions begin with now, ascending.
        found: an older entry, if the catalog has one.

    Raises:
        Unsupported: the words are not enough, not as they were written, or are no design to this
            version of rowkey.

    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> entry = Entry.of(design, (), 0)
    >>> restored("t", entry.words, ()).generations
    (Generation(number=1, counts={0: 4}, splits=(), opened_ms=None, rules=True),)
    """
    design = _declared(table, words)
    live = _live(words, starts)
    known = {one.number: one for one in found.generations} if found else {}
    for one in live:  # an older copy may have it, as it was announced
        same = one.number in known and known[one.number].counts == one.counts
        known[one.number] = replace(known[one.number], rules=True) if same else one
    generations = tuple(known[number] for number in sorted(known) if number <= live[-1].number)
    if any(one.counts.keys() != counts_of(design).keys() for one in generations):
        places = ", ".join(str(place) for place in sorted(counts_of(design)))
        what = f"other parts of its key count than those of its design: {words.get(COUNTS, 'none')}"
        raise Unsupported("words", what, f"counts of the places {places or 'none'}", BACKUP)
    stale_s = _seconds(words)
    return Entry(
        design.dumps(defaults=False),
        generations,
        max_stale_s=stale_s,
        longest_s=stale_s,
        born=words.get(BORN, ""),
    )


def _declared(table: str, words: Mapping[str, str]) -> Design:
    """The design that a table keeps, under the name that it has now."""
    if not {GENERATION, DECLARATION, DESIGN} <= words.keys():
        what = f"{table} keeps no words of its entry"
        raise Unsupported("words", what, f"{GENERATION}, {DECLARATION} and {DESIGN}", BACKUP)
    text = words[DESIGN]
    if sha256(text.encode()).hexdigest() != words[DECLARATION]:
        what = f"{DESIGN} is not what {DECLARATION} is the hash of"
        raise Unsupported("words", what, remedy=f"Put back the words {table} was made with.")
    try:
        design = Design.loads(text)
    except DeclarationError as problem:
        what = f"{DESIGN} is no design: {problem.mistakes[0].what}"
        raise Unsupported("words", what, remedy="Take a newer rowkey.") from None
    if design.table == table:
        return design
    declared = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    return Design(**{**declared, "table": table})


def _live(words: Mapping[str, str], starts: Sequence[bytes]) -> tuple[Generation, ...]:
    """The generations that a table tells of, oldest first; when they were opened it does not."""
    last = f"{last_told(words)}:{words.get(COUNTS, '')}"
    told = dict(one.partition(":")[::2] for one in (*words.get(LIVE, "").split(), last))
    try:
        found = {int(number): _counts(text) for number, text in told.items()}
    except ValueError as problem:
        what = f"they tell of no generations: {' '.join(map(':'.join, told.items()))}"
        raise Unsupported("words", what, "such as 1:0=16 2:0=32", BACKUP) from problem
    return tuple(
        Generation(number, counts, tuple(starts) if number == max(found) else (), None)
        for number, counts in sorted(found.items())
    )


def _counts(text: str) -> dict[int, int]:
    """Counts by the places of their parts, as `0=16,2=4` tells them."""
    pairs = (one.split("=") for one in text.split(",") if one)
    found = {int(place): int(count) for place, count in pairs}
    if any(count < 1 for count in found.values()):
        raise ValueError(text)
    return found


def _seconds(words: Mapping[str, str]) -> float:
    """For how long some client may go on without its catalog, as a table tells it."""
    told = words.get(STALE, f"{MAX_STALE_S:g}")
    try:
        seconds = float(told)
        check_stale(seconds)
    except (ValueError, Refused):
        raise Unsupported("words", f"{STALE} is {told!r}", "seconds", BACKUP) from None
    return seconds


def last_told(words: Mapping[str, str]) -> int:
    """The number of the last generation that a table tells of; 1 if it tells of none.

    Raises:
        Unsupported: the word is not as it was written.
    """
    told = words.get(GENERATION, "1")
    if not told.isascii() or not told.isdigit() or not int(told):
        raise Unsupported("words", f"{GENERATION} is {told!r}", "a number from 1 on", BACKUP)
    return int(told)
