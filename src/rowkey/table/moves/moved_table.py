"""Find the table under which the rows of a moved table are used."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from rowkey.catalog import (
    MOVE_ATTRIBUTES,
    Catalog,
    CatalogEntry,
    MovePhase,
    TableMove,
    evolve_entry,
)
from rowkey.cells import find_table_name_mistakes
from rowkey.design import Design
from rowkey.engines import Engine
from rowkey.errors import CatalogMismatch, Conflict


def find_moved_table(
    design: Design | str, attributes: Mapping[str, str] | None, catalog: Catalog
) -> Design | str:
    """Return what to open in place of a table that takes part in a move; itself if in none.

    While rows are moved, both tables are used through the source, by the design of either. Once the
    move is finished, the source's name stands for the target, which has the target's design.

    Args:
        design: the design or the name that it is opened by.
        attributes: those of the engine's table; None if there is none.
        catalog: the catalog of the table.

    Raises:
        CatalogMismatch: the design is that of neither table; or the move is finished, and the
            design is that of the source.

    Cost: nothing for a table that exists and takes part in no move.
    """
    name = design if isinstance(design, str) else design.table
    if attributes is not None and not MOVE_ATTRIBUTES & attributes.keys():
        return design
    if any(find_table_name_mistakes(name)):
        return design
    entry = catalog.read(name)
    if entry is None:
        return design
    used_name = find_used_table(catalog, name, entry)
    used = entry if used_name == name else catalog.read(used_name)
    if used is None or (used_name == name and used.move is None):
        return design
    if isinstance(design, str):
        return used_name
    if used.move is not None and used.move.phase is not MovePhase.FINISHED:
        return _find_moving_design(catalog, design, used_name, used, used.move)
    renamed = rename_design(design, used_name)
    try:
        evolve_entry(used, renamed)
    except CatalogMismatch as problem:
        remedy = (
            f"The rows of {name} were moved to {used_name}, which has another design: "
            f"open it by its name, or with that design."
        )
        raise CatalogMismatch(design.table, problem.differences, remedy) from None
    return renamed


def _find_moving_design(
    catalog: Catalog, design: Design, source_name: str, source: CatalogEntry, move: TableMove
) -> Design | str:
    """Return what to open by a design while rows are moved: the source, by its design or its name.

    Raises:
        CatalogMismatch: the design is that of neither table; the fewest differences are named.
    """
    problems = []
    for name, entry in ((source_name, source), (move.target, catalog.read(move.target))):
        renamed = rename_design(design, name)
        try:
            if entry is not None:
                evolve_entry(entry, renamed)
                return renamed if name == source_name else source_name
        except CatalogMismatch as problem:
            problems.append(problem)
    raise min(problems, key=lambda one: len(one.differences))


def find_used_table(catalog: Catalog, name: str, entry: CatalogEntry) -> str:
    """Return the name of the table through which the rows of a table are read and written."""
    if entry.moved_from:
        source = catalog.read(entry.moved_from)
        if source is None or source.move is None or source.move.target != name:
            return name
        return name if _has_replaced(source.move) else entry.moved_from
    while (move := entry.move) is not None and _has_replaced(move):
        target = catalog.read(move.target)
        if target is None:
            break
        name, entry = move.target, target
    return name


def find_replacement(engine: Engine, catalog: Catalog, name: str) -> str:
    """Return the name of the table that a finished move has put in place of a dropped one.

    Args:
        name: the name of the dropped table; that of a table that exists is returned as it is.

    Raises:
        Unavailable: the catalog does not answer.
    """
    if engine.has_table(name) or any(find_table_name_mistakes(name)):
        return name
    entry = catalog.read(name)
    return name if entry is None else find_used_table(catalog, name, entry)


def find_moving_table(catalog: Catalog, name: str) -> str | None:
    """Return the name of the table whose catalog entry has the record of a table's move.

    Args:
        name: its name, or that of the table that its rows are moved to.

    Returns:
        The source of a move that is not finished yet, the table that is used if there is no such
        move; None if the catalog has no entry.
    """
    entry = catalog.read(name)
    if entry is None:
        return None
    used = find_used_table(catalog, name, entry)
    used_entry = entry if used == name else catalog.read(used)
    if used_entry is None or not used_entry.moved_from:
        return used
    source = catalog.read(used_entry.moved_from)
    is_moving = source is not None and source.move is not None and source.move.target == used
    return used_entry.moved_from if is_moving else used


def remove_names_of(catalog: Catalog, name: str) -> None:
    """Remove the catalog entries of tables whose rows were moved to a table that was dropped."""
    for earlier in catalog.list_tables():
        entry = catalog.read(earlier)
        if entry is None or entry.move is None or not _has_replaced(entry.move):
            continue
        if entry.move.target == name:
            with suppress(Conflict):
                catalog.remove(earlier, entry.version)
            remove_names_of(catalog, earlier)


def _has_replaced(move: TableMove) -> bool:
    """Return whether the target of a move has taken the place of the source."""
    return move.phase is MovePhase.FINISHED and move.is_target_primary


def rename_design(design: Design, name: str) -> Design:
    """Return a design for a table of another name; the same design if it has that name."""
    if design.table == name:
        return design
    renamed = design.copy_with_options(table=name)
    renamed.companions = design.companions
    return renamed
