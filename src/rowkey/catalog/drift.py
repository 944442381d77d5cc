"""How a design differs from the one a table was created with, as far as stored rows can tell."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from rowkey.catalog.entry import counts_of
from rowkey.errors import DeclarationError, DriftError, Mistake
from rowkey.keys import Change
from rowkey.schema import print_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.design import Design
    from rowkey.keys import Field, Key
    from rowkey.schema import Term

STORED = ("nullable", "of", "precision", "scale", "width", "max_bytes", "normalize")
"""Words of a field, besides its type, that bear on the bytes or on which values there may be."""
NOTHING = "nothing"
LONGEST = 120
"""Characters of a word that a difference shows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One word that differs.

    Args:
        path: where it stands in a design file.
        declared: what is declared now.
        remembered: what the table was created with.
        is_safe: whether rows that are stored are read and written as before.
    """

    path: str
    declared: str
    remembered: str
    is_safe: bool = False

    @property
    def mistake(self) -> Mistake:
        """The difference as a sentence."""
        return Mistake(self.path, f"declared {self.declared}, remembered {self.remembered}")


def compare(declared: Design, remembered: Design) -> DriftError | None:
    """What keeps a design from opening a table that was created with another; None if nothing.

    Counted are the words that stored rows depend on: the table, the key apart from its counts,
    types and places of fields, families. Counts are the catalog's; cluster, reads, writes, sample
    and splits are of no row.

    Args:
        declared: the design that is to open the table.
        remembered: the design that the catalog remembers.

    >>> from rowkey.design import Design
    >>> old = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64", "n": "u8"})
    >>> compare(Design("t", "[bucket(id, 8)][id]", fields={"id": "u64", "n": "u8"}), old) is None
    True
    >>> print(compare(Design("t", "[bucket(id, 4)][id]", fields={"id": "u64", "n": "u16"}), old))
    t was made otherwise than declared:
      fields.n.type: declared u16, remembered u8.
    """
    found = list(differences(declared, remembered))
    return DriftError(declared.table, [one.mistake for one in found]) if found else None


def standing(declared: Design, remembered: Design) -> Design:
    """A declared design with the counts that its table was created with.

    Args:
        declared: a design that differs in nothing that keeps it from opening the table.
        remembered: the design that the catalog remembers.
    """
    if counts_of(declared) == counts_of(remembered):
        return declared
    return declared.counting(_shared(declared, remembered))


def counted(declared: Design, remembered: Design) -> tuple[Term, ...]:
    """The terms of a key with the counts of another, where both count at the same place."""
    return declared.counted(_shared(declared, remembered))


def _shared(declared: Design, remembered: Design) -> dict[int, int]:
    """The counts of a table, where a declared design counts as well."""
    mine, theirs = counts_of(declared), counts_of(remembered)
    return {place: theirs[place] for place in mine.keys() & theirs.keys()}


def differences(declared: Design, remembered: Design) -> Iterator[Difference]:
    """Every word that differs and that stored rows depend on, in the order of a design file."""
    if declared.table != remembered.table:
        yield Difference("table", declared.table, remembered.table)
    yield from _of_keys(declared, remembered)
    yield from _of_fields(declared, remembered)
    yield from _of_families(declared, remembered)


def _of_keys(declared: Design, remembered: Design) -> Iterator[Difference]:
    """The parts that differ; what the words of their fields explain is told there."""
    terms, stored = counted(declared, remembered), remembered.key.terms
    key = _counted_key(declared, remembered)
    if key is None or len(terms) != len(stored):
        said = print_key(declared.key.terms), print_key(stored)
        yield Difference("key", *said, is_safe=_is_longer(declared, remembered))
        return
    for place, (new, old) in enumerate(zip(key.parts, remembered.key.parts, strict=True)):
        change = old.evolves(new)
        if terms[place] != stored[place] and change is not Change.SAME:
            said = str(declared.key.terms[place]), str(stored[place])
            yield Difference(f"key[{place}]", *said, is_safe=change is Change.WIDER)


def _is_longer(declared: Design, remembered: Design) -> bool:
    """Whether the declared key is the other with nullable fields behind it, which rows may lack."""
    key = _counted_key(declared, remembered)
    return key is not None and remembered.key.evolves(key) is not Change.BREAKS


def _counted_key(declared: Design, remembered: Design) -> Key | None:
    """The declared key with the counts of the table; None if it cannot have them."""
    try:
        return standing(declared, remembered).key
    except DeclarationError:
        return None


def _of_fields(declared: Design, remembered: Design) -> Iterator[Difference]:
    for name in declared.fields | remembered.fields:
        new, old = declared.fields.get(name), remembered.fields.get(name)
        if new is None or old is None:
            yield Difference(
                f"fields.{name}",
                NOTHING if new is None else _shown(new.type.name),
                NOTHING if old is None else _shown(old.type.name),
                is_safe=old is None
                and (place_of(declared, name) != KEY or _is_longer(declared, remembered)),
            )
            continue
        changes = [old.type.evolves(new.type), *_changes_of_parts(declared, remembered, name)]
        yield from _of_words(new, old, Change.worst(changes))
        here, there = place_of(declared, name), place_of(remembered, name)
        if here != there:
            yield Difference(f"fields.{name}", here, there)


def _changes_of_parts(declared: Design, remembered: Design, name: str) -> Iterator[Change]:
    """What becomes of each part of the key that a field is in."""
    key = _counted_key(declared, remembered)
    if key is None:
        yield Change.BREAKS
        return
    for new, old in zip(key.parts, remembered.key.parts, strict=False):
        if name in old.fields:
            yield old.evolves(new)


def _of_words(new: Field, old: Field, change: Change) -> Iterator[Difference]:
    """The words of one field that differ; of those that say nothing to stored rows, none."""
    is_safe = change is not Change.BREAKS
    if new.type.name != old.type.name:
        yield Difference(f"fields.{new.name}.type", new.type.name, old.type.name)
        return
    for word in STORED:
        mine, theirs = getattr(new.words, word), getattr(old.words, word)
        if mine != theirs:
            yield Difference(f"fields.{new.name}.{word}", _shown(mine), _shown(theirs), is_safe)
    if change is not Change.SAME and set(map(repr, new.heavy)) != set(map(repr, old.heavy)):
        yield Difference(f"fields.{new.name}.heavy", _shown(new.heavy), _shown(old.heavy), is_safe)


KEY = "in the key alone"


def place_of(design: Design, name: str) -> str:
    """Where a row keeps the value of a field, in words.

    >>> from rowkey.design import Design
    >>> design = Design("t", "[id]", fields={"id": "u64", "n": {"type": "u8", "qualifier": "x"}})
    >>> place_of(design, "id"), place_of(design, "n")
    ('in the key alone', 'column d:x')
    """
    words = design.fields[name].words
    for place, names in design.layout.stored.items():
        if name in names:
            family = words.family or design.layout.family
            within = next(w for w in (words.pack, words.qualifier, name) if w is not None)
            return f"{place} {family}:{within}"
    return KEY


def _of_families(declared: Design, remembered: Design) -> Iterator[Difference]:
    for name in declared.families | remembered.families:
        new, old = declared.families.get(name), remembered.families.get(name)
        if new is None or old is None:
            said = NOTHING, "a family"
            yield Difference(f"families.{name}", *(said if new is None else said[::-1]))
            continue
        for row in fields(new):
            mine, theirs = getattr(new, row.name), getattr(old, row.name)
            if mine != theirs:
                word = (row.metadata.get("row") or ("",))[0] or row.name
                yield Difference(f"families.{name}.{word}", _shown(mine), _shown(theirs))


def _shown(value: Any) -> str:
    """A word as a difference shows it."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        value = f"[{', '.join(map(str, value))}]"
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
