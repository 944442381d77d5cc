"""Steps on a table as plain data, so that they can be taken on any engine.

A step names moments by their distance from a start and never asks a clock, so that a sequence that
was drawn for one engine can be taken on another one, or on a real HBase, and be written down.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engines.store_calls import read_counts
from rowkey.cells import LATEST, Cell, CellType, RowCells
from rowkey.engines import CellCondition, CellSelection, ScanRange
from rowkey.errors import InvalidArgument

if TYPE_CHECKING:
    from rowkey.cells import Family

ALL_TIMES = (None, None)
"""The time range that includes all times."""


@dataclass
class World:
    """A table, its clock, and the start time of all steps.

    Args:
        store: a store, or the book.
        bench: what advances the clock and reopens; None for the book, which needs neither.
        start: ms since 1970.
        kept: a snapshot of the store, if one was taken since it was opened.
    """

    store: Any
    bench: Any
    start: int
    kept: Any = None

    def moment(self, after: int | None) -> int:
        """Return the timestamp this many ms after the start; None is the latest."""
        return LATEST if after is None else self.start + after


class Step(ABC):
    """An operation on a table."""

    @abstractmethod
    def take(self, world: World) -> Any:
        """Do the step and return what must be equal on every engine."""


@dataclass(frozen=True)
class Change:
    """One cell of a mutation; `after` in ms from the start, None for now."""

    family: str
    qualifier: bytes
    after: int | None
    value: bytes = b""
    kind: CellType = CellType.PUT
    ttl_ms: int | None = None

    def cell(self, world: World) -> Cell:
        """Return the cell of the change."""
        moment = world.moment(self.after)
        return Cell(self.family, self.qualifier, moment, self.value, self.kind, self.ttl_ms)


@dataclass(frozen=True)
class Mutate(Step):
    """Put and delete cells of one row together."""

    row: bytes
    changes: tuple[Change, ...]

    def take(self, world: World) -> None:
        """Apply the cells."""
        cells = [change.cell(world) for change in self.changes]
        world.store.mutate([RowCells(self.row, cells)])


@dataclass(frozen=True)
class Increment(Step):
    """Add to counters of one row."""

    row: bytes
    amounts: tuple[tuple[str, bytes, int], ...]

    def take(self, world: World) -> list[int]:
        """Add to the counters and return the sums."""
        return read_counts(world.store.increment(self.row, self.amounts))


@dataclass(frozen=True)
class Append(Step):
    """Append to cells of one row."""

    row: bytes
    pieces: tuple[tuple[str, bytes, bytes], ...]

    def take(self, world: World) -> list[bytes]:
        """Append to the cells and return the values."""
        return [cell.value for cell in world.store.append(self.row, self.pieces)]


@dataclass(frozen=True)
class CheckAndMutate(Step):
    """Change a row if a cell has the expected value."""

    row: bytes
    check: CellCondition
    changes: tuple[Change, ...]

    def take(self, world: World) -> bool:
        """Check and change the row, and return whether the check held."""
        cells = [change.cell(world) for change in self.changes]
        done: bool = world.store.check_and_mutate(self.row, self.check, cells)
        return done


@dataclass(frozen=True)
class Selection:
    """The selection of a read; its times are ms from the start."""

    columns: tuple[tuple[str, tuple[bytes, ...]], ...] | None = None
    times: tuple[int | None, int | None] = ALL_TIMES
    versions: int = 1
    qualifiers: tuple[bytes, bytes] = (b"", b"")
    raw: bool = False
    reverse: bool = False
    limit: int | None = None
    batch: int | None = None

    def ask(self, world: World) -> CellSelection:
        """Return the selection as engines take it."""
        first, second = self.times
        return CellSelection(
            columns=None if self.columns is None else dict(self.columns),
            time_range=(0 if first is None else world.moment(first), world.moment(second)),
            versions=self.versions,
            qualifier_range=self.qualifiers,
            raw=self.raw,
            reverse=self.reverse,
            limit=self.limit,
            batch=self.batch,
        )


EVERYTHING = Selection(versions=100, raw=True)
"""The selection of all stored cells."""


@dataclass(frozen=True)
class Get(Step):
    """Read some rows."""

    rows: tuple[bytes, ...]
    wanted: Selection

    def take(self, world: World) -> list[RowCells]:
        """Return the rows."""
        return list_rows(world.store.get(self.rows, self.wanted.ask(world)))


@dataclass(frozen=True)
class Scan(Step):
    """Read some ranges."""

    spans: tuple[ScanRange, ...]
    wanted: Selection

    def take(self, world: World) -> list[list[RowCells]]:
        """Return the pieces of each range."""
        cursors = world.store.scan(self.spans, self.wanted.ask(world))
        return [list_rows(cursor) for cursor in cursors]


@dataclass(frozen=True)
class Keep(Step):
    """Take a snapshot that replaces the one before."""

    def take(self, world: World) -> None:
        """Take the snapshot."""
        close_snapshot(world)
        world.kept = world.store.snapshot()


@dataclass(frozen=True)
class Recall(Step):
    """Read the snapshot, or the table if there is none."""

    read: Get | Scan

    def take(self, world: World) -> Any:
        """Return the result of the read."""
        return self.read.take(replace(world, store=world.kept or world.store))


@dataclass(frozen=True)
class Settle(Step):
    """Flush, then compact all files to one.

    Never one without the other: HBase drops hidden cells at a flush as far as it has them in
    memory, and a major compaction leaves alone what is in memory.
    """

    def take(self, world: World) -> None:
        """Flush and compact."""
        world.store.flush()
        world.store.compact(major=True)


@dataclass(frozen=True)
class Flush(Step):
    """Write the memory to disk, which changes no read."""

    def take(self, world: World) -> None:
        """Flush."""
        world.store.flush()


@dataclass(frozen=True)
class Merge(Step):
    """Run a minor compaction, which changes no read."""

    def take(self, world: World) -> None:
        """Compact."""
        world.store.compact(major=False)


@dataclass(frozen=True)
class Alter(Step):
    """Change the attributes of a family."""

    family: Family

    def take(self, world: World) -> None:
        """Alter the family."""
        world.store.alter_families([self.family])


@dataclass(frozen=True)
class Divide(Step):
    """Split a region."""

    at: bytes

    def take(self, world: World) -> None:
        """Split the region."""
        world.store.split(self.at)


@dataclass(frozen=True)
class Advance(Step):
    """Advance the clock."""

    ms: int

    def take(self, world: World) -> None:
        """Advance the clock."""
        if world.bench is not None:
            world.bench.advance(self.ms)


@dataclass(frozen=True)
class Reopen(Step):
    """Close the engine and open it again."""

    def take(self, world: World) -> None:
        """Close and open the engine."""
        close_snapshot(world)
        if world.bench is not None:
            world.store = world.bench.reopen(world.store)


def close_snapshot(world: World) -> None:
    """Close the snapshot if there is one."""
    if world.kept is not None:
        world.kept.close()
        world.kept = None


def list_rows(rows: Any) -> list[RowCells]:
    """Return rows in a form that can be compared, whatever sequences the engine returns."""
    return [RowCells(row, [Cell(*cell) for cell in cells]) for row, cells in rows]


def take_step(step: Step, world: World) -> Any:
    """Return the outcome of a step; a refusal is an outcome too."""
    try:
        return step.take(world)
    except InvalidArgument:
        return "refused"


def replay(steps: Sequence[Step], world: World) -> list[Any]:
    """Return the outcomes of some steps taken one after the other."""
    return [take_step(step, world) for step in steps]
