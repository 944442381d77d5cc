"""The engine's table of a design: what is asked for, and whether that was made and still stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_WORD, Entry
from rowkey.engines import Ask, Span, TableSpec
from rowkey.errors import DesignRefused, DriftError, Mistake
from rowkey.regions import to_binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.design import Design
    from rowkey.engines import Store


def spec_of(design: Design, splits: Sequence[bytes]) -> TableSpec:
    """The table of a design, as an engine makes it: its families, boundaries and words.

    The word that tells a table from another one of the same name is left out; it is given to each
    table when that is made.

    Args:
        design: the design.
        splits: row keys that regions begin with, ascending.

    >>> from rowkey.design import Design
    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> spec_of(design, ()).attributes["rowkey.counts"]
    '0=4'
    """
    declared = design.declaration.catalog
    words = {} if declared is None else {CATALOG_WORD: declared}
    kept = {**words, **Entry.of(design, splits, 0).words}
    return TableSpec(design.table, tuple(design.families.values()), tuple(splits), kept)


def boundaries_of(design: Design) -> tuple[bytes, ...]:
    """The row keys at which regions begin, by the design alone.

    Raises:
        DesignRefused: they follow from a sample.
    """
    if design.cut.needs_sample or design.cut.needs_count:
        lacks = "a sample" if design.cut.needs_sample else "the number of regions"
        what = f"the boundaries need {lacks}"
        remedy = "Give splits=, or make the table by rowkey create --sample FILE."
        raise DesignRefused("splits", what, remedy=remedy)
    return design.cut.boundaries(design.key).splits


def has_rows(store: Store) -> bool:
    """Whether a table has any row."""
    with store.scan([Span()], Ask(limit=1))[0] as cursor:
        return next(iter(cursor), None) is not None


def compare_families(design: Design, store: Store) -> None:
    """Compare the families of a table with those it was designed with: others may alter it.

    Raises:
        DriftError: one is missing, or is another.
    """
    there = {family.name: family for family in store.described[0]}
    found = [
        Mistake(f"families.{one.name}", f"the table has {there.get(one.name)}", str(one))
        for one in design.families.values()
        if there.get(one.name) != one
    ]
    if found:
        raise DriftError(design.table, found)


def compare_made(asked: TableSpec, store: Store) -> None:
    """Compare a table that was made with what was asked for.

    Raises:
        DriftError: it is another.
    """
    made = store.spec
    found = [
        Mistake(f"families.{one.name}", "the engine made it otherwise", str(one))
        for one in asked.families
        if one not in made.families
    ]
    if tuple(region.start for region in store.regions())[1:] != asked.splits:
        said = ", ".join(to_binary(split) for split in asked.splits[:3])
        found.append(Mistake("splits", "regions begin elsewhere", said))
    if found:
        raise DriftError(asked.name, found)
