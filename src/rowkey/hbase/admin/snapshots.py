"""Snapshots of tables, and tables made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import check_table
from rowkey.errors import Refused, shown
from rowkey.hbase.admin.procedures import waiting
from rowkey.hbase.admin.tables import Tables
from rowkey.hbase.admin.words import is_text
from rowkey.hbase.errors import TableExists
from rowkey.hbase.requests.delete_snapshot import DeleteSnapshot
from rowkey.hbase.requests.is_snapshot_done import IsSnapshotDone
from rowkey.hbase.requests.list_snapshots import ListSnapshots
from rowkey.hbase.requests.restore_snapshot import RestoreSnapshot
from rowkey.hbase.requests.snapshot import TakeSnapshot
from rowkey.hbase.wire.names import short_table

if TYPE_CHECKING:
    from rowkey.hbase.settings import Deadline


class Snapshots(Tables):
    """What is done with snapshots; `wait_s` is seconds to wait for the master."""

    def snapshots(self) -> dict[str, str]:
        """The name of each snapshot and the table it is of, ascending."""
        return self._caller.on_master(ListSnapshots())

    def snapshot(self, table: str, name: str, *, wait_s: float | None = None) -> None:
        """Takes a snapshot of a table; what is in memory is flushed first.

        Rows of different regions may be of different moments.

        Args:
            table: the table, enabled or not.
            name: the snapshot's name, as a table's without its namespace.
            wait_s: seconds to wait.

        Raises:
            Refused: it cannot be called so; nothing was sent.
            SnapshotProblem: there is such a snapshot, or no such table.
        """
        _check_name(name)
        deadline = self._deadline(wait_s)
        request = TakeSnapshot(name, short_table(table))
        number = self._caller.on_master(request, deadline)
        if number:
            self._finish(table, request.method, number, deadline)
        else:
            self._watch(name, table, deadline)

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
            wait_s: seconds to wait.

        Raises:
            Refused: the table cannot be called so; nothing was sent.
            TableExists: there is such a table. HBase would overwrite a disabled one.
            SnapshotProblem: there is no such snapshot.
        """
        for mistake in check_table(table):
            raise mistake
        deadline = self._deadline(wait_s)
        if self.exists(table):
            raise TableExists(table, "is there already")
        self._run(table, RestoreSnapshot(snapshot, short_table(table)), deadline)
        self._caller.locations.forget_table(table)

    def delete_snapshot(self, name: str) -> None:
        """Removes a snapshot; tables made of it stay.

        Raises:
            SnapshotProblem: there is no such snapshot.
        """
        self._caller.on_master(DeleteSnapshot(name))


def _check_name(name: str) -> None:
    """Raise unless a snapshot can be called so. Source: TableName.isLegalTableQualifierName."""
    if not is_text(name):
        raise Refused("name", f"{shown(name)} is no name of a snapshot", "a text")
    for mistake in check_table(f"default:{name}"):
        raise mistake
