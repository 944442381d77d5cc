"""Code shared by the engines that keep tables in this process: opening and changing tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Final, TypeVar

from rowkey import fork_safety
from rowkey.cells import (
    LATEST,
    Cell,
    CellType,
    Family,
    FamilyView,
    RowCells,
    append_to_cell,
    assign_timestamps,
    check_amount,
    check_comparison,
    check_families,
    check_mutation,
    increment_cell,
    is_comparison_true,
)
from rowkey.engines.contract import Reader, SendCheck, Store
from rowkey.engines.ordering.row_clock import RowClock, TableClock
from rowkey.engines.region_tracker import RegionRequestCounts, RegionTracker
from rowkey.engines.requests import (
    CellCondition,
    CellSelection,
    TableSpec,
    build_views,
    check_columns,
    check_selection,
    check_splits,
    check_table_attributes,
)
from rowkey.errors import Closed, InvalidArgument
from rowkey.messages import format_value

C = TypeVar("C")

STATE_OPEN: Final = "open"
STATE_CLOSED: Final = "closed"
STATE_DROPPED: Final = "dropped"
"""States of a table, besides `fork_safety.STATE_INHERITED`."""


def build_closed_error(subject: str, name: str, state: str = STATE_CLOSED) -> Closed:
    """Return the error for using a table or an engine after it was closed or dropped."""
    if state == STATE_DROPPED:
        return Closed(
            f"{subject} {name}", f"the {subject} was dropped", remedy=f"Create the {subject} again."
        )
    return Closed(
        f"{subject} {name}", f"the {subject} is closed", remedy=f"Open the {subject} again."
    )


def build_table_exists_error(name: str) -> InvalidArgument:
    """Return the error for creating a table under a name that is taken."""
    remedy = "Choose another name, open the existing table, or drop it first."
    return InvalidArgument("table", f"a table {format_value(name)} exists already", remedy=remedy)


def build_missing_table_error(name: str, table_names: Sequence[str]) -> InvalidArgument:
    """Return the error for opening or dropping a table that does not exist."""
    expected = f"one of {', '.join(table_names)}" if table_names else ""
    remedy = "" if table_names else "Create the table first."
    return InvalidArgument("table", f"there is no table {format_value(name)}", expected, remedy)


class EmbeddedTable(ABC):
    """A table stored by this process, shared by all stores that have it open.

    Args:
        spec: the table's name, families and attributes.
        clock: milliseconds since 1970.
        last_timestamp: the highest timestamp of an earlier change.
    """

    def __init__(
        self,
        spec: TableSpec,
        region_tracker: RegionTracker,
        clock: Callable[[], int],
        last_timestamp: int = -1,
    ) -> None:
        self.name, self.clock = spec.name, clock
        self.families = {family.name: family for family in spec.families}
        self.attributes = dict(spec.attributes)
        self.region_tracker = region_tracker
        self.lock = RLock()
        self.row_clock = TableClock(clock, self.lock, last_timestamp, spec.name)
        self.state: str = STATE_OPEN
        fork_safety.register_resource(self)

    @property
    def spec(self) -> TableSpec:
        """Return the table's current name, families, split keys and attributes."""
        families = tuple(self.families.values())
        return TableSpec(self.name, families, self.region_tracker.splits, dict(self.attributes))

    def check_open(self) -> None:
        """Raise Closed unless the table is open in this process.

        Raises:
            Closed: it was closed or dropped, or opened before this process was forked.
        """
        if self.state == STATE_OPEN:
            return
        if self.state == fork_safety.STATE_INHERITED:
            raise fork_safety.build_inherited_error(self.name)
        raise build_closed_error("table", self.name, self.state)

    @abstractmethod
    def reset_in_child(self) -> None:
        """Make every use raise Closed in a forked child: the table belongs to the parent."""

    @abstractmethod
    def read_cells(self, row: bytes, family: str, view: FamilyView) -> Sequence[Cell]:
        """Return the visible cells of a row in one family; the caller holds the lock."""

    @abstractmethod
    def write_rows(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Write mutations that have timestamps, and count them; the caller holds the lock.

        Regions that have grown too large are split.
        """

    @abstractmethod
    def store_description(self) -> None:
        """Store the current families, attributes and regions; the caller holds the lock."""


class EmbeddedReader(Reader):
    """Reads a table of this process, as it is now or as of a snapshot."""

    def __init__(self, table: EmbeddedTable) -> None:
        self._table, self._closed = table, False

    def _check_open(self) -> None:
        """Raise Closed if this reader or its table was closed."""
        if self._closed or self._table.state != STATE_OPEN:
            self._table.check_open()
            raise build_closed_error("table", self._table.name)

    def _get_families(self) -> Mapping[str, Family]:
        """Return the column families whose attributes decide which cells are visible."""
        return self._table.families

    def _build_views(self, selection: CellSelection) -> dict[str, FamilyView]:
        """Check a selection, and return the view of each family that it reads."""
        self._check_open()
        families = self._get_families()
        check_selection(selection, families)
        return build_views(selection, families, self._table.clock())

    def close(self) -> None:
        """Close this reader; the table stays open for others."""
        if self._table.state == fork_safety.STATE_INHERITED:
            self._table.check_open()
        self._closed = True


class EmbeddedStore(EmbeddedReader, Store):
    """An open table of this process: changes are checked, stamped and written under its lock."""

    @property
    def row_clock(self) -> RowClock:
        return self._table.row_clock

    @property
    def spec(self) -> TableSpec:
        return self._table.spec

    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Check puts and deletes, and write them under the table's lock."""
        self._check_open()
        table, has_latest = self._table, False
        for mutation in mutations:
            has_latest |= check_mutation(mutation, table.families)
        with table.lock:
            if has_latest:
                self._stamp_and_write(mutations, sync=sync)
            elif mutations:
                table.write_rows(mutations, sync=sync)

    def _stamp_and_write(self, mutations: Sequence[RowCells], *, sync: bool | None) -> None:
        """Write mutations after replacing the timestamp `LATEST` by the current time.

        A delete of the newest version depends on the mutations before it: they are written first.
        """
        now = self._table.row_clock.read_time_ms()
        stamped: list[RowCells] = []
        for row, cells in mutations:
            if stamped and _has_latest_deletes(cells):
                self._table.write_rows(stamped, sync=sync)
                stamped = []
            stamped.append(self._stamp_row(row, cells, now))
        self._table.write_rows(stamped, sync=sync)

    def _stamp_row(
        self, row: bytes, cells: Sequence[Cell], now_ms: int, *, put_timestamp_ms: int | None = None
    ) -> RowCells:
        """Return the cells of a row with `LATEST` replaced by actual timestamps."""

        def find_versions(family: str, qualifier: bytes, count: int) -> list[int]:
            return [cell.timestamp for cell in self._read_versions(row, family, qualifier, count)]

        stamped = assign_timestamps(cells, now_ms, find_versions, put_timestamp_ms=put_timestamp_ms)
        return RowCells(row, stamped)

    def _read_versions(
        self, row: bytes, family: str, qualifier: bytes, count: int = 1
    ) -> Sequence[Cell]:
        """Return up to `count` visible versions of a column, newest first."""
        attributes, now = self._table.families[family], self._table.clock()
        view = FamilyView(attributes, now, versions=count, qualifiers=(qualifier,))
        return self._table.read_cells(row, family, view)

    def _find_newest(self, row: bytes, family: str, qualifier: bytes) -> Cell | None:
        """Return the newest visible cell of a column; None if there is none."""
        return next(iter(self._read_versions(row, family, qualifier)), None)

    def increment(
        self,
        row: bytes,
        amounts: Sequence[tuple[str, bytes, int]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        for _, _, amount in amounts:
            check_amount(amount)
        return self._change_cells(row, amounts, increment_cell, after_ms, check_send)

    def append(
        self,
        row: bytes,
        pieces: Sequence[tuple[str, bytes, bytes]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        return self._change_cells(row, pieces, append_to_cell, after_ms, check_send)

    def _change_cells(
        self,
        row: bytes,
        changes: Sequence[tuple[str, bytes, C]],
        build_cell: Callable[[str, bytes, C, Cell | None, int], Cell],
        after_ms: int,
        check_send: SendCheck | None,
    ) -> list[Cell]:
        """Replace the newest cell of each named column by the cell that `build_cell` returns."""
        self._check_open()
        table = self._table
        check_columns(
            row, [(family, qualifier) for family, qualifier, _ in changes], table.families
        )
        with table.lock:
            if check_send is not None:
                check_send()
            now = max(table.row_clock.read_time_ms(), after_ms + 1)
            cells = [
                build_cell(
                    family, qualifier, change, self._find_newest(row, family, qualifier), now
                )
                for family, qualifier, change in changes
            ]
            mutation = RowCells(row, cells)
            check_mutation(mutation, table.families)
            table.write_rows([mutation])
        return cells

    def check_and_mutate(
        self,
        row: bytes,
        condition: CellCondition,
        cells: Sequence[Cell],
        *,
        check_send: SendCheck | None = None,
    ) -> bool:
        self._check_open()
        table = self._table
        check_mutation(RowCells(row, cells), table.families)
        check_families([condition.family], table.families)
        check_comparison(condition.operator, condition.value)
        with table.lock:
            if check_send is not None:
                check_send()
            newest = self._find_newest(row, condition.family, condition.qualifier)
            if not is_comparison_true(condition.operator, condition.value, newest):
                return False
            now = table.row_clock.read_time_ms()
            put_ms = now if newest is None else max(now, newest.timestamp)
            table.write_rows([self._stamp_row(row, cells, now, put_timestamp_ms=put_ms)])
            return True

    def list_regions(self) -> list[RegionRequestCounts]:
        self._check_open()
        return self._table.region_tracker.list_regions()

    def split(self, split_key: bytes) -> None:
        """Split the region that holds a row key, and store the new regions."""
        self._check_open()
        with self._table.lock:
            check_splits(self._table.name, (split_key,))
            self._table.region_tracker.split_region(split_key)
            self._table.store_description()

    def replace_attributes(self, attributes: Mapping[str, str]) -> None:
        """Replace and store all table attributes, after validating those that control splits."""
        self._check_open()
        check_table_attributes(attributes)
        with self._table.lock:
            self._table.attributes = dict(attributes)
            self._table.store_description()


def _has_latest_deletes(cells: Sequence[Cell]) -> bool:
    """Return whether a cell deletes the newest version of its column."""
    return any(cell.cell_type == CellType.DELETE and cell.timestamp == LATEST for cell in cells)
