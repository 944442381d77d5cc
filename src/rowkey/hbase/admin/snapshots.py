"""Take, list, clone and delete snapshots of tables."""

from __future__ import annotations

from rowkey.cells import find_table_name_mistakes
from rowkey.hbase.admin.argument_checks import ArgumentChecks
from rowkey.hbase.admin.procedures import poll_with_backoff
from rowkey.hbase.admin.tables import TableAdmin
from rowkey.hbase.errors import TableExists
from rowkey.hbase.requests.snapshots import (
    DeleteSnapshot,
    IsSnapshotDone,
    ListSnapshots,
    RestoreSnapshot,
    TakeSnapshot,
)
from rowkey.hbase.requests.tables import TableState
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.names import shorten_table_name


class SnapshotAdmin(TableAdmin):
    """Take, list, clone and delete snapshots; for `wait_s` see `TableAdmin`."""

    def list_snapshots(self) -> dict[str, str]:
        """Return the table of each snapshot by the snapshot's name, in ascending order."""
        return self._fetch_snapshots(self._build_deadline(None))

    def _fetch_snapshots(self, deadline: Deadline) -> dict[str, str]:
        """Return the table of each snapshot by the snapshot's name."""
        return self._caller.call_master(ListSnapshots(), deadline)

    def take_snapshot(self, table: str, name: str, *, wait_s: float | None = None) -> None:
        """Take a snapshot of a table; its memstores are flushed first.

        Regions are copied at slightly different times.

        Args:
            table: the table, enabled or not.
            name: the snapshot's name, valid like a table name without namespace (Source:
                TableName.isLegalTableQualifierName).
            wait_s: seconds to wait.

        Raises:
            InvalidArgument: the name is not valid; nothing was sent.
            SnapshotProblem: the snapshot exists already, or the table does not exist.
        """
        checks = ArgumentChecks().check_name(table, "table").check_name(name, what="snapshot")
        if not checks.has_mistake("name"):
            for mistake in find_table_name_mistakes(f"default:{name}"):
                checks.mistakes.add_invalid_argument("name", mistake)
        checks.check_seconds(wait_s).raise_mistakes()
        deadline = self._build_table_deadline(table, wait_s)
        request = TakeSnapshot(name, shorten_table_name(table))
        number = self._caller.call_master(request, deadline)
        if not number:
            self._wait_for_snapshot(name, table, deadline)
            return

        def is_taken() -> bool:
            return name in self._fetch_snapshots(deadline)

        self._wait_for_procedure(table, request.method, number, deadline, is_taken)

    def _wait_for_snapshot(self, name: str, table: str, deadline: Deadline) -> None:
        """Wait for a snapshot that is not a procedure, as in HBase 2.5."""
        request = IsSnapshotDone(name, shorten_table_name(table))
        for _ in poll_with_backoff(table, f"the snapshot {name} is not complete yet", deadline):
            if self._caller.call_master(request, deadline):
                return

    def clone_snapshot(self, snapshot: str, table: str, *, wait_s: float | None = None) -> None:
        """Create a table with the content of a snapshot; they share files.

        Args:
            snapshot: the snapshot's name.
            table: the new table.
            wait_s: seconds to wait; by default `operation_timeout_s` plus 0.25 s for each region
                that the original table has now.

        Raises:
            InvalidArgument: the table name is not valid; nothing was sent.
            TableExists: the table exists. HBase would overwrite a disabled one.
            SnapshotProblem: there is no such snapshot.
        """
        checks = ArgumentChecks().check_name(snapshot, "snapshot", "snapshot")
        if not checks.check_name(table, "table").has_mistake("table"):
            for mistake in find_table_name_mistakes(table):
                checks.mistakes.add_invalid_argument("table", mistake)
        checks.check_seconds(wait_s).raise_mistakes()
        if self.has_table(table):
            raise TableExists(table, "the table exists already")
        original = self.list_snapshots().get(snapshot) if wait_s is None else None
        if original:
            deadline = self._build_table_deadline(original, None)
        else:
            deadline = self._build_deadline(wait_s)
        is_enabled = self._build_state_check(table, TableState.ENABLED, deadline)

        def is_created() -> bool:
            return self.has_table(table) and is_enabled()

        request = RestoreSnapshot(snapshot, shorten_table_name(table))
        self._run_procedure(table, request, deadline, is_created)
        self._caller.locator.forget_table(table)

    def delete_snapshot(self, name: str) -> None:
        """Delete a snapshot; tables cloned from it stay.

        Raises:
            SnapshotProblem: there is no such snapshot.
        """
        ArgumentChecks().check_name(name, what="snapshot").raise_mistakes()
        self._caller.call_master(DeleteSnapshot(name))
