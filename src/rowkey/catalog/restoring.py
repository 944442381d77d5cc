"""What a catalog has lost of a table, and how much of it the table's own words give back."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from rowkey.catalog.entry import COUNTS, DECLARATION, GENERATION, Entry, Generation, counts_of
from rowkey.design import Design
from rowkey.errors import DeclarationError, Unsupported
from rowkey.schema import Call, print_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LIVE = "rowkey.live"
"""The word that lists the counts of all generations, where rows may stand under several."""
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
    there, known = _number(words), entry.generations[-1].number
    if there > known:
        return f"the catalog has generation {known} of {table}, the table itself {there}"
    return ""


def restored(
    design: Design,
    words: Mapping[str, str],
    starts: Sequence[bytes],
    opened_ms: int,
    found: Entry | None = None,
) -> Entry:
    """The entry of a table as its own words tell it, with the design that it was declared by.

    Rows are then looked for under every generation that the table or the old entry has, and
    written under the last one.

    Args:
        design: the design; its counts may be those of any generation.
        words: the table's own.
        starts: the row keys that its regions begin with now, ascending.
        opened_ms: now, milliseconds since 1970; noted of the generations whose time is lost.
        found: an older entry, if the catalog has one.

    Raises:
        Unsupported: the words are not enough, or another design was declared.
    """
    if GENERATION not in words or DECLARATION not in words:
        what = f"{design.table} keeps no words of its entry"
        raise Unsupported("words", what, f"{GENERATION} and {DECLARATION}", BACKUP)
    if design.key.is_coded:
        what = f"{design.table} does not keep the ids that its key has in place of values"
        raise Unsupported("words", what, "a key without code", BACKUP)
    live = _live(words, starts, opened_ms)
    known = {one.number: one for one in (*(found.generations if found else ()), *live)}
    generations = tuple(known[number] for number in sorted(known) if number <= live[-1].number)
    if any(one.counts.keys() != counts_of(design).keys() for one in generations):
        places = ", ".join(str(place) for place in sorted(counts_of(design)))
        what = f"other parts of its key count than those of the design: {words.get(COUNTS, 'none')}"
        raise Unsupported("words", what, f"counts of the places {places or 'none'}")
    declaration = _declared(design, words[DECLARATION], generations)
    return Entry(declaration, generations)


def _declared(design: Design, told: str, generations: Sequence[Generation]) -> str:
    """The declaration with a hash, as a design has it under the counts of one of generations."""
    for text in _spellings(design, generations):
        if sha256(text.encode()).hexdigest() == told:
            return text
    what = f"another design was declared, whose hash begins with {told[:12]}"
    remedy = f"Give the design file that {design.table} was last opened with. {BACKUP}"
    raise Unsupported("design", what, "that design", remedy)


def _spellings(design: Design, generations: Sequence[Generation]) -> Iterator[str]:
    """The text of a design, as it is and with other counts."""
    yield design.dumps()
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    for one in generations:
        terms = list(design.key.terms)
        for place, count in one.counts.items():
            term = terms[place]
            assert isinstance(term, Call), "what counts is a transform"
            terms[place] = replace(term, scalars=(count, *term.scalars[1:]))
        try:
            yield Design(**(words | {"key": print_key(tuple(terms))})).dumps()
        except DeclarationError:
            continue  # a count that its key has no room for is no count of this design


def _live(
    words: Mapping[str, str], starts: Sequence[bytes], opened_ms: int
) -> tuple[Generation, ...]:
    """The generations that a table tells of, oldest first."""
    last = f"{_number(words)}:{words.get(COUNTS, '')}"
    told = dict(one.partition(":")[::2] for one in (*words.get(LIVE, "").split(), last))
    try:
        found = {int(number): _counts(text) for number, text in told.items()}
    except ValueError as problem:
        what = f"they tell of no generations: {' '.join(map(':'.join, told.items()))}"
        raise Unsupported("words", what, "such as 1:0=16 2:0=32", BACKUP) from problem
    return tuple(
        Generation(number, counts, tuple(starts) if number == max(found) else (), opened_ms)
        for number, counts in sorted(found.items())
    )


def _counts(text: str) -> dict[int, int]:
    """Counts by the places of their parts, as `0=16,2=4` tells them."""
    pairs = (one.split("=") for one in text.split(",") if one)
    found = {int(place): int(count) for place, count in pairs}
    if any(count < 1 for count in found.values()):
        raise ValueError(text)
    return found


def _number(words: Mapping[str, str]) -> int:
    """The number of the last generation that a table tells of; 1 if it tells of none."""
    told = words.get(GENERATION, "1")
    if not told.isascii() or not told.isdigit() or not int(told):
        raise Unsupported("words", f"{GENERATION} is {told!r}", "a number from 1 on", BACKUP)
    return int(told)
