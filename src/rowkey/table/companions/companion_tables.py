"""Tables with companions, and the companions, which are not written by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from rowkey.catalog import Catalog
from rowkey.design import is_index
from rowkey.engines import Engine, Reader
from rowkey.errors import DesignRefused, ReadError
from rowkey.explanations import Explanation, explain_read, explain_table_choice
from rowkey.plan import BoundRead, DeclaredRead, Plan, choose_plan
from rowkey.table.generations.generation_tracker import GenerationState
from rowkey.table.moves.move_follower import MoveFollower
from rowkey.table.scans import RowLookup, Scan
from rowkey.table.scans.scan_token import find_token_table
from rowkey.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rowkey.table.read_modify_write import ReadModifyWrite

    T = TypeVar("T")


class TableWithCompanions(Table):
    """A table whose companions are written with it, and read where they read less.

    Args:
        main: the main table; this one takes its place.
        companions: the open companions by name; each is closed with this table.
    """

    def __init__(self, main: Table, companions: Mapping[str, Table]) -> None:
        super().__init__(main.follower, main.engine, main.catalog)
        self.companions = companions
        for name, table in self._tables.items():
            table.token_table = name
            # After a crash a companion may have a newer change than the main table.
            self.store.row_clock.advance_to(table.store.row_clock.highest_timestamp)
        self.follower.companions = tuple(one.tracker for one in companions.values())

    def get_states(self) -> tuple[GenerationState, ...]:
        """Return the state of the table, then those of its companions."""
        companions = (one.tracker.get_state() for one in self.companions.values())
        return (self.get_state(), *companions)

    @property
    def _tables(self) -> dict[str, Table]:
        """The table and its companions by name; a move gives it another name."""
        return {self.design.table: self, **self.companions}

    def _run_pinned(self, change: Callable[[ReadModifyWrite], T]) -> T:
        """Raise `DesignRefused`: no condition can be checked in all tables at once."""
        what = (
            f"{self.design.table} has companions, and an increment, an append or a check-and-put "
            "cannot be made in several tables at once"
        )
        remedy = "Read the row and put it, or keep this column in a table without companions."
        raise DesignRefused("companions", what, remedy=remedy)

    def _list_readable(self) -> dict[str, Table]:
        """Return the tables that have all rows, by name; the others are written only."""
        return {
            name: table
            for name, table in self._tables.items()
            if table is self or not table.lease.get_entry().is_filling
        }

    @property
    def declared_reads(self) -> Mapping[str, DeclaredRead]:
        """The declared reads of all tables by name; of one name, that of the first table."""
        reads: dict[str, DeclaredRead] = {}
        for table in reversed(self._tables.values()):
            reads |= table.tracker.last_state.declared_reads
        return reads

    def _build_scan(
        self, bound_read: BoundRead, reader: Reader | None = None, **options: Any
    ) -> Scan:
        """Return a scan of the table that reads the least, or of the one that a token names.

        A snapshot is of the main table. Rows that an index leads to are looked up in this table,
        and are as they are then. Undeclared cells are those of the main table: the program that
        wrote them has not written a companion.
        """
        token, tables = options.get("resume"), self._list_readable()
        name = find_token_table(token)
        table: Table
        if options.get("undeclared") or options.get("count_undeclared"):
            table = self
        elif token is not None and name in tables:
            table = tables[name]
        elif reader is not None:
            table = self
        else:
            if options.get("skip_undecodable"):  # an index does not tell of the main table's rows
                tables = {one: table for one, table in tables.items() if not self._is_index(table)}
            table = list(tables.values())[self._choose_plan(tables, bound_read)[1]]
        if table is self:
            return super()._build_scan(bound_read, reader, **options)
        if reader is not None:
            what = f"the token comes from a scan of {name}, and the snapshot is of the main table"
            raise ReadError("argument resume", what, "a token of a scan of the same snapshot")
        if self._is_index(table):
            options["lookup"] = RowLookup(self.design.fields, self._get_rows)
        return table._build_scan(bound_read, **options)  # noqa: SLF001 - a table of this class

    def _explain_bound_read(self, bound_read: BoundRead, limit: int | None) -> Explanation:
        """Return how a read is executed, by which table, and why by that one."""
        tables = self._list_readable()
        plans, chosen = self._choose_plan(tables, bound_read)
        table = list(tables.values())[chosen]
        state = table.get_state()
        explanation = explain_table_choice(
            explain_read(
                state.combined_design.key, bound_read, limit=limit, fields=self.design.fields
            ),
            list(tables),
            plans,
            chosen,
            is_index=self._is_index(table),
        )
        notes = [
            f"{one} is not read, because rowkey repair has not filled it yet"
            for one in self._tables.keys() - tables.keys()
        ]
        explanation = state.add_generation_note(explanation)
        return replace(explanation, warnings=(*explanation.warnings, *sorted(notes)))

    def _is_index(self, table: Table) -> bool:
        """Return whether the rows of a table only lead to those of this one."""
        return is_index(self.design, table.design)

    def _choose_plan(
        self, tables: Mapping[str, Table], bound_read: BoundRead
    ) -> tuple[list[Plan], int]:
        """Return the plan of a read in each table, and the number of the one that reads least."""
        plans = [
            table.get_state().planner.plan(bound_read.bounds, bound_read.order)
            for table in tables.values()
        ]
        return plans, choose_plan(plans, [self._is_index(one) for one in tables.values()])

    def flush(self) -> None:
        super().flush()
        for table in self.companions.values():
            table.flush()

    def compact(self) -> None:
        super().compact()
        for table in self.companions.values():
            table.compact()

    def _close_parts(self, stack: ExitStack) -> None:
        """Let a stack close all tables, but not the engine, when it is closed."""
        super()._close_parts(stack)
        for table in self.companions.values():
            table._close_parts(stack)  # noqa: SLF001 - a table of this class


class ReadOnlyCompanion(Table):
    """A companion: it is read by itself, and written through its main table only.

    Args:
        follower: as for `Table`.
        engine: as for `Table`.
        catalog: as for `Table`.
        main_table: the name of the main table.
    """

    def __init__(
        self, follower: MoveFollower, engine: Engine, catalog: Catalog, *, main_table: str
    ) -> None:
        super().__init__(follower, engine, catalog)
        self.main_table = main_table
        self.token_table = self.design.table

    def get_write_state(self) -> NoReturn:
        self._refuse_write()

    def _run_pinned(self, change: Callable[[ReadModifyWrite], T]) -> T:
        self._refuse_write()

    def _refuse_write(self) -> NoReturn:
        """Raise `DesignRefused`: a row that is only here would not be in the main table."""
        what = (
            f"{self.design.table} is a companion of {self.main_table}, so its rows are written "
            f"with those of {self.main_table}"
        )
        remedy = f"Open {self.main_table} by its design or its name, and write the row there."
        raise DesignRefused("table", what, remedy=remedy)
