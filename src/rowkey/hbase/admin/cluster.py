"""The cluster as a whole: its namespaces, its switches, and what its master says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import check_table
from rowkey.hbase.admin.declared import Given
from rowkey.hbase.admin.procedures import Procedures
from rowkey.hbase.requests.balancer import SetBalancerRunning
from rowkey.hbase.requests.balancer_enabled import IsBalancerEnabled
from rowkey.hbase.requests.cluster_status import GetClusterStatus
from rowkey.hbase.requests.create_namespace import CreateNamespace
from rowkey.hbase.requests.delete_namespace import DeleteNamespace
from rowkey.hbase.requests.list_namespaces import ListNamespaces
from rowkey.hbase.requests.split_enabled import IsSplitOrMergeEnabled
from rowkey.hbase.requests.split_switch import SetSplitOrMerge, Switch

if TYPE_CHECKING:
    from rowkey.hbase.requests.cluster_status import ClusterStatus
    from rowkey.hbase.settings import Deadline


class WholeCluster(Procedures):
    """What is asked of the cluster, and done to all of it."""

    def namespaces(self) -> list[str]:
        """The names of all namespaces, ascending; `default` and `hbase` are among them."""
        return self._caller.on_master(ListNamespaces())

    def create_namespace(self, name: str, *, wait_s: float | None = None) -> None:
        """Makes a namespace.

        Raises:
            Refused: it cannot be called so; nothing was sent.
            NamespaceExist: it is there already.
        """
        given = Given().name(name, what="namespace")
        for mistake in () if given.has("name") else check_table(f"{name}:t"):
            given.found.refused("name", mistake)
        given.seconds(wait_s).refuse()
        self._make_namespace(name, self._deadline(wait_s))

    def _make_namespace(self, name: str, deadline: Deadline) -> None:
        def made() -> bool:
            return name in self._caller.on_master(ListNamespaces(), deadline)

        self._run(name, CreateNamespace(name), deadline, made)

    def delete_namespace(self, name: str, *, wait_s: float | None = None) -> None:
        """Removes an empty namespace.

        Raises:
            NamespaceNotFound: there is no such namespace.
            ConstraintViolated: it has tables, or is HBase's own.
        """
        Given().name(name, what="namespace").seconds(wait_s).refuse()
        deadline = self._deadline(wait_s)

        def gone() -> bool:
            return name not in self._caller.on_master(ListNamespaces(), deadline)

        self._run(name, DeleteNamespace(name), deadline, gone)

    def balancer(self, on: bool) -> bool:
        """Switches the balancer, for all of the cluster; gives whether it was on.

        Switched off, it returns when the moves that go on are over. How it was is asked before it
        is switched, so that a repetition does not tell what it did itself; what another client
        does between the two is not seen.

        Raises:
            Refused: `on` is not a truth; nothing was sent.
        """
        Given().truth("on", on).refuse()
        was_on = self._caller.on_master(IsBalancerEnabled())
        self._caller.on_master(SetBalancerRunning(on))
        return was_on

    def splits_and_merges(self, on: bool, merges: bool | None = None) -> tuple[bool, bool]:
        """Switches splits and merges, for all of the cluster; gives whether each was on.

        Args:
            on: whether regions may be divided, by themselves or when asked.
            merges: whether they may be merged; None for as `on` says.

        Returns:
            Splits, merges, asked before they are switched: `splits_and_merges(*was)` sets them
            back. What another client does in between is not seen.

        Raises:
            Refused: an argument is not a truth; nothing was sent.
        """
        merged = on if merges is None else merges
        Given().truth("on", on).truth("merges", merges is None or merges).refuse()
        splits_were = self._caller.on_master(IsSplitOrMergeEnabled(Switch.SPLIT))
        merges_were = self._caller.on_master(IsSplitOrMergeEnabled(Switch.MERGE))
        self._caller.on_master(SetSplitOrMerge(Switch.SPLIT, on))
        self._caller.on_master(SetSplitOrMerge(Switch.MERGE, merged))
        return splits_were, merges_were

    def status(self, *, wait_s: float | None = None) -> ClusterStatus:
        """What the master says: servers with the loads of their regions, dead ones, moving regions.

        Loads are as of the last report of a server, 3 s old at most by default. A master that has
        just started knows of no server for some seconds, and does not say so.

        Args:
            wait_s: seconds to wait for the master.

        Source: HBase 2.6.4, a master answers with 0 servers for 4 s after it was started.
        """
        Given().seconds(wait_s).refuse()
        return self._caller.on_master(GetClusterStatus(), self._deadline(wait_s))
