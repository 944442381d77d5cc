"""The records of work on a table: a move of its rows, and a retirement of bucket counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class MovePhase(Enum):
    """What clients do with the two tables of a move.

    A client knows a phase at the latest when its lease on the catalog entry is over, so clients of
    two successive phases work at the same time. `SWITCHING` keeps those that read one table apart
    from those that read the other.
    """

    BOTH = "both"
    """Clients read the primary table, and write it and then the other one."""
    SWITCHING = "switching"
    """Clients wait: the other table is about to rule."""
    FINISHED = "finished"
    """Clients read and write the primary table only; the other one is to be dropped."""


@dataclass(frozen=True, slots=True)
class TableMove:
    """The state of a move, in the catalog entry of the table that is moved.

    Args:
        target: the name of the table that the rows are moved to.
        phase: what clients do now.
        is_target_primary: whether the target is read, and counts where the tables differ.
        started_ms: when the move was announced, milliseconds since 1970.
        usual_stale_s: the table's `max_stale_s` outside of a switch, which is made with a shorter
            one.
        mover: identifies the process that works on the move; empty if none does.
        step: how often this record was written: a waiting client sees by it that the mover lives.
        shadow_share: the share of their reads that clients repeat on the table that is not read,
            0 to 1.
        switch_count: how often the other table became the one that is read.

    >>> move = TableMove("logs_2", MovePhase.BOTH, False, 0, 60.0)
    >>> move.advance(phase=MovePhase.SWITCHING).step
    1
    """

    target: str
    phase: MovePhase
    is_target_primary: bool
    started_ms: int
    usual_stale_s: float
    mover: str = ""
    step: int = 0
    shadow_share: float = 0.0
    switch_count: int = 0

    @property
    def period(self) -> str:
        """A text that identifies the time since the table that is read became so, of this move."""
        return f"{self.started_ms}.{self.switch_count}"

    def advance(
        self,
        *,
        phase: MovePhase | None = None,
        is_target_primary: bool | None = None,
        mover: str | None = None,
    ) -> TableMove:
        """Return the record of the next step; what is None stays."""
        is_switch = is_target_primary not in (None, self.is_target_primary)
        return replace(
            self,
            phase=self.phase if phase is None else phase,
            is_target_primary=self.is_target_primary != is_switch,
            mover=self.mover if mover is None else mover,
            step=self.step + 1,
            switch_count=self.switch_count + is_switch,
        )

    def is_same(self, other: TableMove) -> bool:
        """Return whether both are records of one move; a later one may have the same target."""
        return (self.target, self.started_ms) == (other.target, other.started_ms)

    def has_same_roles(self, other: TableMove | None) -> bool:
        """Return whether clients do the same under both records."""
        return other is not None and (self.target, self.phase, self.is_target_primary) == (
            other.target,
            other.phase,
            other.is_target_primary,
        )


@dataclass(frozen=True, slots=True)
class TableRetirement:
    """Which process retires earlier bucket counts of a table, in the table's catalog entry.

    Args:
        mover: identifies the process; empty if none does.
        step: how often this record was written: another process sees by it that the mover lives.

    >>> TableRetirement().advance(mover="a")
    TableRetirement(mover='a', step=1)
    """

    mover: str = ""
    step: int = 0

    def advance(self, *, mover: str | None = None) -> TableRetirement:
        """Return the record of the next step; a mover that is None stays."""
        return TableRetirement(self.mover if mover is None else mover, self.step + 1)
