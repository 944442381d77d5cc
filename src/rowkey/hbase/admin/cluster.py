"""The cluster as a whole: its namespaces, its switches, and what its master says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import check_table
from rowkey.errors import Refused, shown
from rowkey.hbase.admin.procedures import Procedures
from rowkey.hbase.admin.words import is_text
from rowkey.hbase.requests.balancer import SetBalancerRunning
from rowkey.hbase.requests.cluster_status import GetClusterStatus
from rowkey.hbase.requests.create_namespace import CreateNamespace
from rowkey.hbase.requests.delete_namespace import DeleteNamespace
from rowkey.hbase.requests.list_namespaces import ListNamespaces
from rowkey.hbase.requests.split_switch import SetSplitOrMerge, Switch

if TYPE_CHECKING:
    from rowkey.hbase.requests.cluster_status import ClusterStatus


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
        if not is_text(name):
            raise Refused("name", f"{shown(name)} is no namespace", "a text that is not empty")
        for mistake in check_table(f"{name}:t"):
            raise mistake
        self._run(name, CreateNamespace(name), self._deadline(wait_s))

    def delete_namespace(self, name: str, *, wait_s: float | None = None) -> None:
        """Removes an empty namespace.

        Raises:
            NamespaceNotFound: there is no such namespace.
            ConstraintViolated: it has tables, or is HBase's own.
        """
        self._run(name, DeleteNamespace(name), self._deadline(wait_s))

    def balancer(self, on: bool) -> bool:
        """Switches the balancer, for all of the cluster; gives whether it was on.

        Switched off, it returns when the moves that go on are over.
        """
        return self._caller.on_master(SetBalancerRunning(on))

    def splits_and_merges(self, on: bool, merges: bool | None = None) -> tuple[bool, bool]:
        """Switches splits and merges, for all of the cluster; gives whether each was on.

        Args:
            on: whether regions may be divided, by themselves or when asked.
            merges: whether they may be merged; None for as `on` says.

        Returns:
            Splits, merges: `splits_and_merges(*was)` sets them back.
        """
        merged = on if merges is None else merges
        splits_were = self._caller.on_master(SetSplitOrMerge(Switch.SPLIT, on))
        return splits_were, self._caller.on_master(SetSplitOrMerge(Switch.MERGE, merged))

    def status(self) -> ClusterStatus:
        """What the master says: servers with the loads of their regions, dead ones, moving regions.

        Loads are as of the last report of a server, 3 s old at most by default. A master that has
        just started knows of no server for some seconds, and does not say so.

        Source: HBase 2.6.4, a master answers with 0 servers for 4 s after it was started.
        """
        return self._caller.on_master(GetClusterStatus())
