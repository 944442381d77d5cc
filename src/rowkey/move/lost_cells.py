"""Cells that a move would lose, and cells that stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from rowkey.cells import Cell
from rowkey.engines import RAW_CELLS
from rowkey.errors import Conflict
from rowkey.messages import pluralize
from rowkey.move.comparison_rules import build_comparison_rules
from rowkey.move.row_images import RowImageReader
from rowkey.rows import UndeclaredCell, UndeclaredCells, format_column
from rowkey.table import GenerationState, RowTranslator, StayReason

if TYPE_CHECKING:
    from rowkey.move.row_images import Column, Event, RowImage
    from rowkey.move.verification import VerificationResult


MAX_COLUMN_CHARACTERS = 200
"""Characters of the name of a column in a note: ZooKeeper stores at most 1 MB."""


@dataclass(frozen=True, slots=True)
class StayingCells:
    """Cells of one column that a move leaves behind for one reason.

    Args:
        column: the column in HBase's notation, such as `d:x`; empty for those that are too many to
            be listed.
        cell_count: how many cells, not counting older versions.
        reason: why they stay.
        row_key: the key of a row that has one, in hexadecimal; empty if none was kept.
    """

    column: str
    cell_count: int
    reason: str
    row_key: str = ""

    def __str__(self) -> str:
        """Return the cells and the reason as a clause."""
        example = f", such as in row key {self.row_key}" if self.row_key else ""
        cells = f"{pluralize(self.cell_count, 'cell')} of {_format_column(self.column)}"
        return f"{cells}{example}: {self.reason}"

    def to_document(self) -> dict[str, Any]:
        """Return it as it is noted and printed as JSON; a long name of a column is cut."""
        return asdict(self) | {"column": self.column[:MAX_COLUMN_CHARACTERS]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Return what was noted."""
        return cls(**document)


def list_staying_cells(staying: Mapping[StayReason, UndeclaredCells]) -> list[StayingCells]:
    """Return the cells of summaries by reason as one item for each column and reason."""
    found = []
    for reason, summary in staying.items():
        row_keys = {
            format_column(*one.cell[:2]): one.row_key.hex() for one in reversed(summary.samples)
        }
        for column, count in summary.column_counts.items():
            found.append(StayingCells(column, count, reason.value, row_keys.get(column, "")))
        if summary.unlisted_cell_count:
            found.append(StayingCells("", summary.unlisted_cell_count, reason.value))
    return sorted(found, key=lambda one: (one.column, one.reason))


def list_consents(staying: Iterable[StayingCells]) -> dict[str, list[StayingCells]]:
    """Return what must be typed before cells are dropped, with the cells that each is about."""
    columns: dict[str, list[StayingCells]] = {}
    for one in staying:
        columns.setdefault(one.column, []).append(one)
    consents = {}
    for column, some in columns.items():
        count = sum(one.cell_count for one in some)
        cells = "1 cell" if count == 1 else f"{count} cells"
        consents[f"drop {cells} of {_format_column(column)}"] = some
    return consents


def format_uncompared_consent(table: str) -> str:
    """Return what must be typed before a table is dropped that was not compared."""
    return f"drop {table} without a comparison"


def _format_column(column: str) -> str:
    return f"column {column}" if column else "other columns"


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
