"""Compare a design with the one that a table was created with, where stored rows depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from rowkey.catalog.catalog_entry import find_part_counts
from rowkey.design import Design
from rowkey.errors import CatalogMismatch, InvalidDesign, Mistake
from rowkey.keys import Compatibility, Field, Key
from rowkey.schema import STORED_OPTIONS, Term, format_key

ABSENT = "not declared"
MAX_VALUE_CHARS = 120
"""Characters of an option's value that a difference shows."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One option of a design that differs.

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
        """The difference between design and table as a mistake of the design, for the error."""
        what = f"{self.declared} in the design, but {self.remembered} in the table"
        return Mistake(self.path, what)


def find_drift(declared: Design, remembered: Design) -> CatalogMismatch | None:
    """Return the error of a design that cannot open a table created with another, or None.

    Compared are the options that stored rows depend on: the table, the key apart from its bucket
    counts, types and placements of fields, families. Counts are the catalog's; stored rows do not
    depend on cluster, reads, writes, sample and splits.

    Args:
        declared: the design that is to open the table.
        remembered: the design that the catalog remembers.

    >>> from rowkey.design import Design
    >>> old = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64", "n": "u8"})
    >>> find_drift(Design("t", "[bucket(id, 8)][id]", fields={"id": "u64", "n": "u8"}), old) is None
    True
    >>> print(find_drift(Design("t", "[bucket(id, 4)][id]", fields={"id": "u64", "n": "u16"}), old))
    table t: the design does not fit the table. It differs in:
      fields.n.type: u16 in the design, but u8 in the table.
    Declare in the design what the table has, or move its rows: rowkey move plan.
    """
    mistakes = [difference.mistake for difference in find_differences(declared, remembered)]
    return CatalogMismatch(declared.table, mistakes) if mistakes else None


def apply_stored_counts(declared: Design, remembered: Design) -> Design:
    """Return a declared design with the bucket counts that its table was created with.

    Args:
        declared: a design that differs in nothing that keeps it from opening the table.
        remembered: the design that the catalog remembers.
    """
    if find_part_counts(declared) == find_part_counts(remembered):
        return declared
    return declared.copy_with_counts(_find_shared_counts(declared, remembered))


def build_counted_terms(declared: Design, remembered: Design) -> tuple[Term, ...]:
    """Return the terms of the declared key with the bucket counts of the remembered one."""
    return declared.replace_term_counts(_find_shared_counts(declared, remembered))


def _find_shared_counts(declared: Design, remembered: Design) -> dict[int, int]:
    """Return the bucket counts of a table, for the parts that have one in the declared design."""
    mine, theirs = find_part_counts(declared), find_part_counts(remembered)
    return {place: theirs[place] for place in mine.keys() & theirs.keys()}


def find_differences(declared: Design, remembered: Design) -> Iterator[Difference]:
    """Yield the options that differ between two designs and that stored rows depend on."""
    if declared.table != remembered.table:
        yield Difference("table", declared.table, remembered.table)
    yield from _find_key_differences(declared, remembered)
    yield from _find_field_differences(declared, remembered)
    yield from _find_family_differences(declared, remembered)
    new, old = (sorted(one.declaration.companions) for one in (declared, remembered))
    if new != old:
        yield Difference("companions", ", ".join(new) or ABSENT, ", ".join(old) or ABSENT)


def _find_key_differences(declared: Design, remembered: Design) -> Iterator[Difference]:
    """Yield the parts of the key that differ, unless an option of a field explains it."""
    terms, stored = build_counted_terms(declared, remembered), remembered.key.terms
    key = _build_counted_key(declared, remembered)
    if key is None or len(terms) != len(stored):
        texts = format_key(declared.key.terms), format_key(stored)
        yield Difference("key", *texts, is_safe=_is_key_extended(declared, remembered))
        return
    for place, (new, old) in enumerate(zip(key.parts, remembered.key.parts, strict=True)):
        change = old.check_compatibility(new)
        if terms[place] != stored[place] and change is not Compatibility.SAME:
            texts = str(declared.key.terms[place]), str(stored[place])
            yield Difference(f"key[{place}]", *texts, is_safe=change is Compatibility.WIDER)


def _is_key_extended(declared: Design, remembered: Design) -> bool:
    """Return whether the declared key is the stored one with nullable fields after it."""
    key = _build_counted_key(declared, remembered)
    return key is not None and remembered.key.check_compatibility(key) is not Compatibility.BREAKS


def _build_counted_key(declared: Design, remembered: Design) -> Key | None:
    """Return the declared key with the remembered bucket counts; None if it rejects them."""
    try:
        return apply_stored_counts(declared, remembered).key
    except InvalidDesign:
        return None


def _find_field_differences(declared: Design, remembered: Design) -> Iterator[Difference]:
    """Yield the fields, and options of fields, that differ between two designs."""
    for name in declared.fields | remembered.fields:
        new, old = declared.fields.get(name), remembered.fields.get(name)
        if new is None or old is None:
            yield Difference(
                f"fields.{name}",
                ABSENT if new is None else _format_value(new.type.name),
                ABSENT if old is None else _format_value(old.type.name),
                is_safe=old is None
                and (
                    describe_placement(declared, name) != KEY_ONLY
                    or _is_key_extended(declared, remembered)
                ),
            )
            continue
        changes = [
            old.type.check_compatibility(new.type),
            *_find_part_changes(declared, remembered, name),
        ]
        yield from _find_option_differences(new, old, Compatibility.find_worst(changes))
        here, there = describe_placement(declared, name), describe_placement(remembered, name)
        if here != there:
            yield Difference(f"fields.{name}", here, there)


def _find_part_changes(declared: Design, remembered: Design, name: str) -> Iterator[Compatibility]:
    """Yield the compatibility of each part of the key that contains a field."""
    key = _build_counted_key(declared, remembered)
    if key is None:
        yield Compatibility.BREAKS
        return
    for new, old in zip(key.parts, remembered.key.parts, strict=False):
        if name in old.fields:
            yield old.check_compatibility(new)


def _find_option_differences(new: Field, old: Field, change: Compatibility) -> Iterator[Difference]:
    """Yield the options of one field that differ and that stored rows depend on."""
    is_safe = change is not Compatibility.BREAKS
    if new.type.name != old.type.name:
        yield Difference(f"fields.{new.name}.type", new.type.name, old.type.name)
        return
    for word in STORED_OPTIONS:
        mine, theirs = getattr(new.declaration, word), getattr(old.declaration, word)
        if mine != theirs:
            yield Difference(
                f"fields.{new.name}.{word}", _format_value(mine), _format_value(theirs), is_safe
            )
    if change is not Compatibility.SAME and set(map(repr, new.heavy_values)) != set(
        map(repr, old.heavy_values)
    ):
        yield Difference(
            f"fields.{new.name}.heavy",
            _format_value(new.heavy_values),
            _format_value(old.heavy_values),
            is_safe,
        )


KEY_ONLY = "in the key alone"


def describe_placement(design: Design, name: str) -> str:
    """Return where a row stores the value of a field, such as `column d:note`.

    >>> from rowkey.design import Design
    >>> design = Design("t", "[id]", fields={"id": "u64", "n": {"type": "u8", "qualifier": "x"}})
    >>> describe_placement(design, "id"), describe_placement(design, "n")
    ('in the key alone', 'column d:x')
    """
    words = design.fields[name].declaration
    for place, names in design.layout.placed_fields.items():
        if name in names:
            family = words.family or design.layout.family
            within = next(w for w in (words.pack, words.qualifier, name) if w is not None)
            return f"{place} {family}:{within}"
    return KEY_ONLY


def _find_family_differences(declared: Design, remembered: Design) -> Iterator[Difference]:
    """Yield the column families, and their options, that differ between two designs."""
    for name in declared.families | remembered.families:
        new, old = declared.families.get(name), remembered.families.get(name)
        if new is None or old is None:
            said = ABSENT, "a family"
            yield Difference(f"families.{name}", *(said if new is None else said[::-1]))
            continue
        for row in fields(new):
            mine, theirs = getattr(new, row.name), getattr(old, row.name)
            if mine != theirs:
                word = (row.metadata.get("row") or ("",))[0] or row.name
                yield Difference(
                    f"families.{name}.{word}", _format_value(mine), _format_value(theirs)
                )


def _format_value(value: Any) -> str:
    """Return an option's value as the message of a difference shows it."""
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        value = f"[{', '.join(map(str, value))}]"
    text = str(value)
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}…"
