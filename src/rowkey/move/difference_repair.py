"""Repair of the rows that a verification found different: the follower becomes equal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from rowkey.cells import Cell, CellType
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value
from rowkey.move.comparison_rules import ComparisonRules, build_comparison_rules
from rowkey.move.row_images import RowImageReader
from rowkey.table import GenerationState, build_row_mutations

if TYPE_CHECKING:
    from rowkey.move.difference_search import RowDifference
    from rowkey.move.row_images import Column, RowImage


MAX_ATTEMPTS = 10
"""Times that a row is written: what is deleted may uncover an older version."""


class RepairOutcome(Enum):
    """What became of a row that differed."""

    REPAIRED = "repaired"
    EQUAL = "was equal already"
    HIDDEN = "hidden by a delete"
    DIFFERENT = "still different"


@dataclass(frozen=True, slots=True)
class RowRepair:
    """What the repair of one row did, confirmed by reading both rows again.

    Args:
        identity: the fields that identify the row.
        outcome: what became of it.
        hidden_by: the timestamp of the delete or newer cell that hides a cell of the primary side
            and cannot be taken back, in milliseconds; None if there is none.
    """

    identity: dict[str, Any]
    outcome: RepairOutcome
    hidden_by: int | None = None

    def __str__(self) -> str:
        """Return the outcome with the timestamp that explains it."""
        if self.hidden_by is None:
            return self.outcome.value
        return f"{self.outcome.value} of {self.hidden_by}"


def repair_differences(
    source: GenerationState,
    target: GenerationState,
    differences: Iterable[RowDifference],
    *,
    primary: str = "source",
) -> Iterator[RowRepair]:
    """Make rows of the secondary table equal to those of the primary one; yield what was done.

    Both rows are read before, and after: only what is then equal is called repaired. A cell that a
    delete of the follower hides is written to both tables again, with the next timestamp, which is
    below that of any change since. That is not possible where a field is the timestamp, nor for
    older versions; the row is then reported as hidden, until a major compaction removes the delete.

    Args:
        primary: the side that is right: `source` or `target`.

    Raises:
        InvalidArgument: it is neither.
        RowError: a row cannot be stored in the secondary table.

    Cost: seven gets and one or two writes a row.
    """
    if primary not in {"source", "target"}:
        what = f"{format_value(primary)} is no side of a move"
        raise InvalidArgument("primary", what, "source or target")
    rules = build_comparison_rules(source, target)
    sides = (source, target) if primary == "source" else (target, source)
    repairer = _RowRepairer(rules, *(RowImageReader(state, rules) for state in sides))
    for difference in differences:
        yield repairer.repair_row(difference.identity)


class _RowRepairer:
    """Repairs rows of one table by those of another.

    Args:
        rules: how they are compared.
        leader: reads the primary table.
        follower: reads the other.
    """

    def __init__(
        self, rules: ComparisonRules, leader: RowImageReader, follower: RowImageReader
    ) -> None:
        self.rules, self.leader, self.follower = rules, leader, follower

    def repair_row(self, identity: Mapping[str, Any]) -> RowRepair:
        """Make one row of the follower equal; return what was done."""
        values = dict(identity)
        writer = self.leader.state.writer
        key = writer.key
        is_known = not key.has_coded_fields or key.has_known_ids(values)
        name = writer.name_row(values, writer.encode_row_keys(values)[0]) if is_known else b""
        # A change of this process may be between its writes of both tables.
        with writer.clock.lock_rows([name]) if is_known else writer.clock.lock_all_rows():
            for attempt in range(MAX_ATTEMPTS + 1):
                # The follower first: what clients have written there is in the leader already.
                (stored,) = self.follower.read_cells([values])
                (wanted,), (found,) = (
                    one.read_images([values]) for one in (self.leader, self.follower)
                )
                if wanted == found:
                    outcome = RepairOutcome.REPAIRED if attempt else RepairOutcome.EQUAL
                    return RowRepair(values, outcome)
                if attempt < MAX_ATTEMPTS:
                    hidden_by = self._write_row(values, wanted, stored)
        if hidden_by >= 0:
            return RowRepair(values, RepairOutcome.HIDDEN, hidden_by)
        return RowRepair(values, RepairOutcome.DIFFERENT)

    def _write_row(
        self, values: Mapping[str, Any], wanted: RowImage | None, stored: Iterable[Cell]
    ) -> int:
        """Write the cells of a row that the follower lacks, and delete those that it has besides.

        Args:
            values: the fields of the row's identity.
            wanted: the image of the row in the leader.
            stored: the cells of the row in the follower, read before that.

        Returns:
            The highest timestamp of a delete that hides a cell; -1 if none does.
        """
        follower = self.follower
        cells = [] if wanted is None else _build_cells(follower, self.leader, values, wanted, {})
        deletes = [c for c in follower.read_raw_cells(values) if c.cell_type is not CellType.PUT]
        hidden = {cell: at for cell in cells if (at := _find_hiding_delete(deletes, cell)) >= 0}
        newest = {(cell.family, cell.qualifier): cell for cell in reversed(cells)}
        later: dict[str | Column, int] = {}
        for cell, hidden_by in hidden.items():
            if newest[cell.family, cell.qualifier] is cell:
                for name in follower.find_names(cell):
                    later[name] = max(later.get(name, 0), hidden_by + 1)
        if wanted is not None and self.rules.timestamp_field is None:
            if later.keys() & wanted.versions.keys():
                # The primary table last: until then its readers see the older timestamps.
                cells = _build_cells(follower, self.leader, values, wanted, later)
                mine = _build_cells(self.leader, self.leader, values, wanted, later)
                cells = _lift_bare_cells(follower, cells, deletes)
                self._send_changes(follower, values, cells, stored)
                (mine_stored,) = self.leader.read_cells([values])
                self._send_changes(self.leader, values, mine, mine_stored, keeps_others=True)
                return max(hidden.values())
            cells = _lift_bare_cells(follower, cells, deletes)
        self._send_changes(follower, values, cells, stored)
        return max(hidden.values(), default=-1)

    def _send_changes(
        self,
        reader: RowImageReader,
        values: Mapping[str, Any],
        cells: Iterable[Cell],
        stored_cells: Iterable[Cell],
        *,
        keeps_others: bool = False,
    ) -> None:
        """Write the cells that a row lacks, and delete the versions that it has besides.

        Args:
            reader: reads the table.
            values: the fields of the row's identity.
            keeps_others: whether of other versions only those are deleted whose value got a later
                timestamp.
        """
        stored = {(cell.family, cell.qualifier, cell.timestamp): cell for cell in stored_cells}
        wanted = {(cell.family, cell.qualifier, cell.timestamp): cell for cell in cells}
        changes = [cell for place, cell in wanted.items() if stored.get(place) != cell]
        unwanted = [
            cell
            for place, cell in stored.items()
            if place not in wanted and reader.is_compared(cell)
        ]
        if keeps_others:
            later = {(one.family, one.qualifier, one.value): one.timestamp for one in changes}
            unwanted = [
                one
                for one in unwanted
                if later.get((one.family, one.qualifier, one.value), -1) > one.timestamp
            ]
            changes += (_build_delete(one, CellType.DELETE) for one in unwanted)
        else:
            changes += _build_deletes(unwanted, wanted)
        if changes:
            mutations = build_row_mutations(reader.state, values, changes)
            reader.state.writer.send_mutations(mutations, sync=True)


def _build_cells(
    reader: RowImageReader,
    leader: RowImageReader,
    values: Mapping[str, Any],
    wanted: RowImage,
    later: Mapping[str | Column, int],
) -> list[Cell]:
    """Return the cells of a row as the design of one table stores them, with undeclared ones.

    Args:
        reader: reads the table.
        leader: decodes the image.
        values: the fields of the row's identity.
        later: fields that get another timestamp.
    """
    cells = []
    for column in wanted.versions:
        if not isinstance(column, str):
            versions = _list_slot_versions(leader, [column], wanted, later)
            for timestamp, found in versions.items():
                cells.append(Cell(*column, timestamp, found[column]))
    for slot in reader.layout.slots if wanted.is_declared else ():
        write = slot.compile_writer()
        compared = reader.rules.fields.keys() & {*slot.field_names}
        versions = _list_slot_versions(leader, compared, wanted, later)
        if not compared:  # a marker, or repeated fields of the key
            versions = {wanted.last_timestamp: {}}
        for timestamp, fields in sorted(versions.items(), reverse=True):
            value = write({**values, **fields})
            if isinstance(value, bytes):
                cells.append(Cell(slot.family, slot.qualifier, timestamp, value))
    return cells


def _list_slot_versions(
    leader: RowImageReader,
    names: Collection[str | Column],
    wanted: RowImage,
    later: Mapping[str | Column, int],
) -> dict[int, dict[Any, Any]]:
    """Return the values of some fields of one cell in each of its versions, by timestamp."""
    versions: dict[int, dict[Any, Any]] = {}
    has_timestamp = True
    for name in names:
        for timestamp, packed in wanted.versions.get(name, ()):
            has_timestamp &= timestamp is not None
            at = wanted.timestamps[str(name)] if timestamp is None else timestamp
            versions.setdefault(at, {})[name] = leader.decode_value(name, packed)
    if not has_timestamp:
        together = {name: one for fields in versions.values() for name, one in fields.items()}
        versions = {max(versions): together}
    moved = max((later[name] for name in names if name in later), default=-1)
    if versions and moved > max(versions):
        versions[moved] = versions.pop(max(versions))
    return versions


def _lift_bare_cells(
    reader: RowImageReader, cells: Iterable[Cell], deletes: Iterable[Cell]
) -> list[Cell]:
    """Return cells of which those without a compared field have timestamps that nothing hides.

    Markers and repeated fields of the key are not compared, so the other table needs no such cell.
    """
    lifted = []
    for cell in cells:
        is_bare = reader.is_bare(cell)
        hidden_by = _find_hiding_delete(deletes, cell) if is_bare else -1
        lifted.append(cell._replace(timestamp=max(cell.timestamp, hidden_by + 1)))
    return lifted


def _build_deletes(
    unwanted: Iterable[Cell], wanted: Iterable[tuple[str, bytes, int]]
) -> Iterator[Cell]:
    """Yield deletes of versions of cells, and of what is stored behind them, but of no wanted one.

    Args:
        unwanted: the versions to delete, the newest of each column first.
        wanted: family, qualifier and timestamp of the versions that stay.
    """
    oldest: dict[tuple[str, bytes], int] = {}
    for family, qualifier, timestamp in wanted:
        at = oldest.get((family, qualifier), timestamp)
        oldest[family, qualifier] = min(at, timestamp)
    for cell in unwanted:
        is_last = cell.timestamp < oldest.get((cell.family, cell.qualifier), cell.timestamp + 1)
        yield _build_delete(cell, CellType.DELETE_COLUMN if is_last else CellType.DELETE)


def _build_delete(cell: Cell, cell_type: CellType) -> Cell:
    """Return the delete of a version of a cell, or of it and all older ones."""
    return cell._replace(value=b"", cell_type=cell_type, ttl_ms=None)


def _find_hiding_delete(deletes: Iterable[Cell], put: Cell) -> int:
    """Return the highest timestamp of a delete that hides a put; -1 if none does."""
    return max(
        (one.timestamp for one in deletes if one.family == put.family and _is_hiding(one, put)),
        default=-1,
    )


def _is_hiding(delete: Cell, put: Cell) -> bool:
    """Return whether a delete of the same family hides a put."""
    match delete.cell_type:
        case CellType.DELETE_FAMILY:
            return delete.timestamp >= put.timestamp
        case CellType.DELETE_FAMILY_VERSION:
            return delete.timestamp == put.timestamp
        case CellType.DELETE_COLUMN:
            return delete.qualifier == put.qualifier and delete.timestamp >= put.timestamp
    return delete.qualifier == put.qualifier and delete.timestamp == put.timestamp
