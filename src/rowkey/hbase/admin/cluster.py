"""Administer the cluster as a whole: namespaces, switches and status."""

from __future__ import annotations

from rowkey.cells import find_table_name_mistakes
from rowkey.hbase.admin.argument_checks import ArgumentChecks
from rowkey.hbase.admin.procedures import ProcedureRunner
from rowkey.hbase.requests.cluster import (
    ClusterStatus,
    GetClusterStatus,
    IsBalancerEnabled,
    IsSplitOrMergeEnabled,
    MasterSwitch,
    SetBalancerRunning,
    SetSplitOrMerge,
)
from rowkey.hbase.requests.tables import CreateNamespace, DeleteNamespace, ListNamespaces
from rowkey.hbase.settings import Deadline


class ClusterAdmin(ProcedureRunner):
    """List and change namespaces, switch the balancer, splits and merges, and read the status."""

    def list_namespaces(self) -> list[str]:
        """Return the names of all namespaces, ascending, including `default` and `hbase`."""
        return self._caller.call_master(ListNamespaces())

    def create_namespace(self, name: str, *, wait_s: float | None = None) -> None:
        """Create a namespace.

        Raises:
            InvalidArgument: the name is not valid; nothing was sent.
            NamespaceExist: the namespace exists already.
        """
        checks = ArgumentChecks().check_name(name, what="namespace")
        for mistake in () if checks.has_mistake("name") else find_table_name_mistakes(f"{name}:t"):
            checks.mistakes.add_invalid_argument("name", mistake)
        checks.check_seconds(wait_s).raise_mistakes()
        self._run_create_namespace(name, self._build_deadline(wait_s))

    def _run_create_namespace(self, name: str, deadline: Deadline) -> None:
        """Create a namespace, and wait until that is done."""

        def is_created() -> bool:
            return name in self._caller.call_master(ListNamespaces(), deadline)

        self._run_procedure(name, CreateNamespace(name), deadline, is_created)

    def delete_namespace(self, name: str, *, wait_s: float | None = None) -> None:
        """Delete an empty namespace.

        Raises:
            NamespaceNotFound: there is no such namespace.
            ConstraintViolated: it has tables, or is one of HBase's own.
        """
        ArgumentChecks().check_name(name, what="namespace").check_seconds(wait_s).raise_mistakes()
        deadline = self._build_deadline(wait_s)

        def is_deleted() -> bool:
            return name not in self._caller.call_master(ListNamespaces(), deadline)

        self._run_procedure(name, DeleteNamespace(name), deadline, is_deleted)

    def set_balancer(self, enabled: bool) -> bool:
        """Switch the balancer of the cluster on or off and return whether it was on.

        Switching it off waits for the moves in progress. The previous state is read first, so that
        a repeated request does not return its own effect; a change by another client between the
        two requests is not noticed.

        Raises:
            InvalidArgument: `enabled` is not a bool; nothing was sent.
        """
        ArgumentChecks().check_bool("enabled", enabled).raise_mistakes()
        was_on = self._caller.call_master(IsBalancerEnabled())
        self._caller.call_master(SetBalancerRunning(enabled))
        return was_on

    def set_splits_and_merges(self, splits: bool, merges: bool | None = None) -> tuple[bool, bool]:
        """Allow or forbid splits and merges in the cluster and return the previous states.

        Args:
            splits: whether regions may be split, by the server or on request.
            merges: whether regions may be merged; None for the same as `splits`.

        Returns:
            Whether splits and merges were allowed before: `set_splits_and_merges(*previous)`
            restores it. A change by another client in between is not noticed.

        Raises:
            InvalidArgument: an argument is not a bool; nothing was sent.
        """
        allow_merges = splits if merges is None else merges
        ArgumentChecks().check_bool("splits", splits).check_bool(
            "merges", merges is None or merges
        ).raise_mistakes()
        splits_were = self._caller.call_master(IsSplitOrMergeEnabled(MasterSwitch.SPLIT))
        merges_were = self._caller.call_master(IsSplitOrMergeEnabled(MasterSwitch.MERGE))
        self._caller.call_master(SetSplitOrMerge(MasterSwitch.SPLIT, splits))
        self._caller.call_master(SetSplitOrMerge(MasterSwitch.MERGE, allow_merges))
        return splits_were, merges_were

    def get_cluster_status(self, *, wait_s: float | None = None) -> ClusterStatus:
        """Return the cluster's status: live servers with region loads, dead servers, transitions.

        Loads are from the last report of each server, by default at most 3 s old. For some seconds
        after its start a master knows no server and reports none.

        Args:
            wait_s: seconds to wait for the master.

        Source: HBase 2.6.4, a master reports 0 servers for 4 s after its start.
        """
        ArgumentChecks().check_seconds(wait_s).raise_mistakes()
        return self._caller.call_master(GetClusterStatus(), self._build_deadline(wait_s))
