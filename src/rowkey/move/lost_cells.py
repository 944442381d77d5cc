"""Cells that would be lost if the table of a move that is not read were dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rowkey.cells import Cell
from rowkey.engines import RAW_CELLS
from rowkey.errors import Conflict
from rowkey.messages import pluralize
from rowkey.move.comparison_rules import build_comparison_rules
from rowkey.move.row_images import RowImageReader
from rowkey.move.staying_cells import (
    StayingCells,
    format_uncompared_consent,
    list_staying_cells,
)
from rowkey.move.verification import VerificationResult
from rowkey.rows import UndeclaredCell, UndeclaredCells
from rowkey.table import GenerationState, RowTranslator, StayReason

if TYPE_CHECKING:
    from rowkey.move.row_images import Column, Event, RowImage


UNSETTLED_READS = 3
"""Times that a row which clients change is read: a cell is lost that is missing each time."""


def find_lost_cells(
    states: tuple[GenerationState, GenerationState],
    result: VerificationResult,
    *,
    drops_source: bool,
) -> list[StayingCells]:
    """Return the cells that only one of two tables has, by column and reason.

    Args:
        states: the states of the source and the target.
        result: a comparison of them, with all rows that differ.
        drops_source: whether the source is the one whose cells are counted; else the target.

    Raises:
        Conflict: so many rows differ that not all were examined.

    Cost: one get in each table for each row that differs.
    """
    if result.unexamined_count:
        source, target = (state.active_design.table for state in states)
        consent = format_uncompared_consent(source if drops_source else target)
        what = (
            f"{pluralize(result.unexamined_count, 'row')} or more of both tables were not compared"
        )
        remedy = (
            "Make both tables equal first: rowkey move verify --repair. Or consent to lose what "
            f"only one of them has: --consent {consent!r}."
        )
        raise Conflict(f"table {source}", what, remedy=remedy)
    counts = result.source if drops_source else result.target
    alone = count_lone_cells(states, result, in_source=drops_source)
    return list_staying_cells({**counts.staying, StayReason.ALONE: alone})


def copy_rows_again(
    source: GenerationState, target: GenerationState, identities: Iterable[Event]
) -> None:
    """Copy rows to the target, which then has no cell that the source has deleted or overwritten.

    Args:
        source: the state of the table that is read.
        target: the state of the other one.
        identities: the fields that identify each row.
    """
    translator, key = RowTranslator(source, target), source.writer.key
    for identity in identities:
        if not key.has_coded_fields or key.has_known_ids(identity):
            rows = source.writer.store.get(source.writer.encode_row_keys(identity), RAW_CELLS)
            target.writer.send_mutations(translator.translate(rows))


def count_lone_cells(
    states: tuple[GenerationState, GenerationState],
    result: VerificationResult,
    *,
    in_source: bool,
) -> UndeclaredCells:
    """Return a summary of the cells in rows that differ which only one of two tables has.

    Args:
        states: the states of the source and the target.
        result: a comparison of them.
        in_source: whether the cells of the source are counted; else those of the target.

    Cost: as for `find_lost_cells`.
    """
    rules = build_comparison_rules(*states)
    readers = [RowImageReader(state, rules) for state in states]
    if not in_source:
        readers.reverse()
    rows = [(one.identity, 1) for one in result.differences]
    rows += [(identity, UNSETTLED_READS) for identity in result.unsettled]
    alone = UndeclaredCells()
    for identity, read_count in rows:
        lost: Counter[Cell] = Counter()
        for _ in range(read_count):
            (mine,), (other,) = (one.read_images([identity]) for one in readers)
            lost.update(_list_lost_cells(readers[0], mine, other))
        if cells := [cell for cell, count in lost.items() if count == read_count]:
            row_key = readers[0].state.writer.encode_row_keys(identity)[0]
            alone.add_row(row_key, [UndeclaredCell(b"", cell) for cell in cells], ())
    return alone


def _list_lost_cells(
    reader: RowImageReader, mine: RowImage | None, other: RowImage | None
) -> Iterator[Cell]:
    """Yield the newest cell of each column of which a row has a version that the other lacks."""
    if mine is None:
        return
    kept = {} if other is None else other.versions
    columns: dict[Column, tuple[int | None, bytes]] = {}
    for name, versions in mine.versions.items():
        lost = [one for one in versions if one not in kept.get(name, ())]
        if lost and (column := reader.find_column(name)) is not None:
            columns.setdefault(column, lost[0])
    if not columns and mine.is_declared and (other is None or not other.is_declared):
        slot = reader.layout.slots[0]
        columns[slot.family, slot.qualifier] = (mine.last_timestamp, b"")
    for column, (timestamp, value) in columns.items():
        yield Cell(*column, mine.last_timestamp if timestamp is None else timestamp, value)
