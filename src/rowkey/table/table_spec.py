"""The specification of a design's table for an engine, and checks of the created table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from rowkey.catalog import CATALOG_ATTRIBUTE, CatalogEntry
from rowkey.cells import Family
from rowkey.design import Design
from rowkey.engines import CellSelection, ScanRange, Store, TableSpec
from rowkey.errors import CatalogMismatch, DesignRefused, Mistake
from rowkey.regions import to_string_binary


def build_table_spec(design: Design, splits: Sequence[bytes], companion_of: str = "") -> TableSpec:
    """Return the specification of a design's table: families, region boundaries, attributes.

    The attribute that distinguishes a table from another one of the same name is left out; each
    table gets its own when it is created.

    Args:
        splits: row keys that regions begin with, ascending.
        companion_of: the main table that it is a companion of; empty if it is none.

    >>> from rowkey.design import Design
    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> build_table_spec(design, ()).attributes["rowkey.counts"]
    '0=4'
    """
    declared = design.declaration.catalog
    attributes = {} if declared is None else {CATALOG_ATTRIBUTE: declared}
    entry = CatalogEntry.from_design(design, splits, 0, companion_of=companion_of)
    attributes |= entry.table_attributes
    return TableSpec(design.table, tuple(design.families.values()), tuple(splits), attributes)


def compute_split_keys(design: Design) -> tuple[bytes, ...]:
    """Return the row keys at which regions begin, by the design alone.

    Raises:
        DesignRefused: they depend on a sample or on the number of regions.
    """
    if design.splits.needs_sample or design.splits.needs_count:
        lacks = "a sample" if design.splits.needs_sample else "the number of regions"
        what = f"the boundaries of the regions depend on {lacks}, which is not given"
        remedy = "Give splits=, or create the table by rowkey create --sample FILE."
        raise DesignRefused("splits", what, remedy=remedy)
    return design.splits.compute_boundaries(design.key).splits


def has_rows(store: Store) -> bool:
    """Return whether a table has any row."""
    with store.scan([ScanRange()], CellSelection(limit=1))[0] as cursor:
        return next(iter(cursor), None) is not None


def check_families(design: Design, store: Store) -> None:
    """Raise unless a table has the families of its design; another client may have altered it.

    Raises:
        CatalogMismatch: a family is missing, or has other options.
    """
    stored = {family.name: family for family in store.families_and_attributes[0]}
    mistakes = list(_find_family_differences(design.families.values(), stored))
    if mistakes:
        remedy = "Alter the families of the table, or declare what they have."
        raise CatalogMismatch(design.table, mistakes, remedy)


def _find_family_differences(
    declared: Iterable[Family], stored: Mapping[str, Family]
) -> Iterator[Mistake]:
    """Yield each attribute of the declared families that the table's families do not have."""
    for family in declared:
        path = f"families.{family.name}"
        stored_family = stored.get(family.name)
        if stored_family is None:
            yield Mistake(path, "the family is in the design, but the table does not have it")
            continue
        for attribute in fields(family):
            here, actual = getattr(family, attribute.name), getattr(stored_family, attribute.name)
            if here != actual:
                what = f"{here} in the design, but {actual} in the table"
                yield Mistake(f"{path}.{attribute.name.removesuffix('_s')}", what)


def check_created_table(requested: TableSpec, store: Store) -> None:
    """Raise unless a table was created as its specification says.

    Raises:
        CatalogMismatch: it was created otherwise.
    """
    created = store.spec
    families = {family.name: family for family in created.families}
    mistakes = list(_find_family_differences(requested.families, families))
    if tuple(region.start for region in store.list_regions())[1:] != requested.splits:
        shown = [to_string_binary(split) for split in requested.splits[:3]]
        splits = ", ".join([*shown, "…"] if len(requested.splits) > len(shown) else shown)
        mistakes.append(Mistake("splits", "the table has regions at other row keys", splits))
    if mistakes:
        remedy = (
            "Another client has altered the table meanwhile: compare rowkey describe "
            f"{requested.name} with the design before you use it."
        )
        raise CatalogMismatch(requested.name, mistakes, remedy)
