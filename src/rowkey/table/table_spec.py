"""The engine's table of a design: its specification, and checks of what was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.catalog import CATALOG_ATTRIBUTE, CatalogEntry
from rowkey.engines import CellSelection, ScanRange, TableSpec
from rowkey.errors import CatalogMismatch, DesignRefused, Mistake
from rowkey.regions import to_string_binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.design import Design
    from rowkey.engines import Store


def build_table_spec(design: Design, splits: Sequence[bytes]) -> TableSpec:
    """Return the table of a design as an engine makes it: families, boundaries, attributes.

    The attribute that distinguishes a table from another one of the same name is left out; each
    table gets its own when it is created.

    Args:
        design: the design.
        splits: row keys that regions begin with, ascending.

    >>> from rowkey.design import Design
    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> build_table_spec(design, ()).attributes["rowkey.counts"]
    '0=4'
    """
    declared = design.declaration.catalog
    attributes = {} if declared is None else {CATALOG_ATTRIBUTE: declared}
    attributes |= CatalogEntry.from_design(design, splits, 0).table_attributes
    return TableSpec(design.table, tuple(design.families.values()), tuple(splits), attributes)


def compute_split_keys(design: Design) -> tuple[bytes, ...]:
    """Return the row keys at which regions begin, by the design alone.

    Raises:
        DesignRefused: they follow from a sample.
    """
    if design.splits.needs_sample or design.splits.needs_count:
        lacks = "a sample" if design.splits.needs_sample else "the number of regions"
        what = f"the boundaries need {lacks}"
        remedy = "Give splits=, or make the table by rowkey create --sample FILE."
        raise DesignRefused("splits", what, remedy=remedy)
    return design.splits.compute_boundaries(design.key).splits


def has_rows(store: Store) -> bool:
    """Whether a table has any row."""
    with store.scan([ScanRange()], CellSelection(limit=1))[0] as cursor:
        return next(iter(cursor), None) is not None


def check_families(design: Design, store: Store) -> None:
    """Compare the families of a table with those of its design: others may have altered it.

    Raises:
        CatalogMismatch: one is missing, or is another.
    """
    there = {family.name: family for family in store.families_and_attributes[0]}
    found = [
        Mistake(f"families.{one.name}", f"the table has {there.get(one.name)}", str(one))
        for one in design.families.values()
        if there.get(one.name) != one
    ]
    if found:
        raise CatalogMismatch(design.table, found)


def check_created_table(requested: TableSpec, store: Store) -> None:
    """Compare a table that was created with its specification.

    Raises:
        CatalogMismatch: it is another.
    """
    made = store.spec
    found = [
        Mistake(f"families.{one.name}", "the engine made it otherwise", str(one))
        for one in requested.families
        if one not in made.families
    ]
    if tuple(region.start for region in store.list_regions())[1:] != requested.splits:
        said = ", ".join(to_string_binary(split) for split in requested.splits[:3])
        found.append(Mistake("splits", "regions begin elsewhere", said))
    if found:
        raise CatalogMismatch(requested.name, found)
