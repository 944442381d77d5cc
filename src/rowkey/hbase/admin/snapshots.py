"""Snapshots of tables, and tables made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import check_table
from rowkey.hbase.admin.declared import Given
from rowkey.hbase.admin.procedures import waiting
from rowkey.hbase.admin.tables import Tables
from rowkey.hbase.errors import TableExists
from rowkey.hbase.requests.delete_snapshot import DeleteSnapshot
from rowkey.hbase.requests.is_snapshot_done import IsSnapshotDone
from rowkey.hbase.requests.list_snapshots import ListSnapshots
from rowkey.hbase.requests.restore_snapshot import RestoreSnapshot
from rowkey.hbase.requests.snapshot import TakeSnapshot
from rowkey.hbase.requests.table_state import TableState
from rowkey.hbase.wire.names import short_table

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline


class Snapshots(Tables):
    """What is done with snapshots; `wait_s` is as of `Tables`."""

    def snapshots(self) -> dict[str, str]:
        """The name of each snapshot and the table it is of, ascending."""
        return self._listed(self._deadline(None))

    def _listed(self, deadline: Deadline) -> dict[str, str]:
        return self._caller.on_master(ListSnapshots(), deadline)

    def snapshot(self, table: str, name: str, *, wait_s: float | None = None) -> None:
        """Takes a snapshot of a table; what is in memory is flushed first.

        Rows of different regions may be of different moments.

        Args:
            table: the table, enabled or not.
            name: the snapshot's name, as a table's without its namespace (Source:
                TableName.isLegalTableQualifierName).
            wait_s: seconds to wait.

        Raises:
            Refused: it cannot be called so; nothing was sent.
            SnapshotProblem: there is such a snapshot, or no such table.
        """
        given = Given().name(table, "table").name(name, what="snapshot")
        for mistake in () if given.has("name") else check_table(f"default:{name}"):
            given.found.refused("name", mistake)
        given.seconds(wait_s).refuse()
        deadline = self._deadline_of(table, wait_s)
        request = TakeSnapshot(name, short_table(table))
        number = self._caller.on_master(request, deadline)
        if not number:
            self._watch(name, table, deadline)
            return

        def taken() -> bool:
            return name in self._listed(deadline)

        self._finish(table, request.method, number, deadline, taken)

    def _watch(self, name: str, table: str, deadline: Deadline) -> None:
        """Wait for a snapshot that has no procedure. Source: HBase 2.5."""
        asked = IsSnapshotDone(name, short_table(table))
        for _ in waiting(table, f"the snapshot {name} is not complete", deadline):
            if self._caller.on_master(asked, deadline):
                return

    def clone(self, snapshot: str, table: str, *, wait_s: float | None = None) -> None:
        """Makes a new table that is what a snapshot was; it shares its files.

        Args:
            snapshot: the snapshot's name.
            table: the new table.
            wait_s: seconds to wait; by default `operation_s` and 0.25 s for each region that the
                table has now of which the snapshot was taken.

        Raises:
            Refused: the table cannot be called so; nothing was sent.
            TableExists: there is such a table. HBase would overwrite a disabled one.
            SnapshotProblem: there is no such snapshot.
        """
        given = Given().name(snapshot, "snapshot", "snapshot").name(table, "table")
        for mistake in () if given.has("table") else check_table(table):
            given.found.refused("table", mistake)
        given.seconds(wait_s).refuse()
        if self.exists(table):
            raise TableExists(table, "is there already")
        first = self.snapshots().get(snapshot) if wait_s is None else None
        deadline = self._deadline_of(first, None) if first else self._deadline(wait_s)

        def made() -> bool:
            return self.exists(table) and self._is(table, TableState.ENABLED, deadline)()

        request = RestoreSnapshot(snapshot, short_table(table))
        self._run(table, request, deadline, made)
        self._caller.locations.forget_table(table)

    def delete_snapshot(self, name: str) -> None:
        """Removes a snapshot; tables made of it stay.

        Raises:
            SnapshotProblem: there is no such snapshot.
        """
        Given().name(name, what="snapshot").refuse()
        self._caller.on_master(DeleteSnapshot(name))
