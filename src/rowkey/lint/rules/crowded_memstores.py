"""The rule `crowded_memstores`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.regions import MAX_FILE_SIZE, memstore_regions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class CrowdedMemstores(Rule):
    """More regions and families on a server than its heap has MemStores for.

    What it does: where the heap is told, compares the regions of this table on a server with
    heap · 0.4 / (128 MB · families), and what the table's size asks for with the same of all.

    Why it hurts: all MemStores of a server share 0.4 of its heap. When they reach it before any of
    them is full, the server flushes early: small files, more compactions, and writes that wait.

    Use instead: fewer regions, one family, a larger heap or more servers.

    Source: claim 74, the book's formula, 51 regions at 16 GB and one family; claim 17, each family
    has a MemStore, and today's FlushAllLargeStoresPolicy flushes the large ones alone: the memory
    is divided all the same. hbase.regionserver.global.memstore.size.
    """

    name = "crowded_memstores"
    code = "RK804"
    severity: ClassVar[Severity] = "warning"
    claims = (6, 17, 74)
    bad = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 400 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
heap    = "4GiB"
"""
    good = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 400 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
heap    = "16GiB"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        cluster, families = subject.cluster, len(subject.families)
        if cluster.heap is None:
            return
        each = memstore_regions(cluster.heap, families)
        most = each * cluster.servers
        regions = len(subject.boundaries) if subject.boundaries is not None else 0
        needed = -(-subject.demand.size // MAX_FILE_SIZE)
        if max(regions, needed) <= most:
            return
        many = f"{families} families" if families > 1 else "one family"
        if regions > most:
            said = (
                f"{counted(regions, 'region')} of {many} are {regions / cluster.servers:,.0f} a "
                "server"
            )
        else:
            said = f"its size asks for {counted(needed, 'region')} of {many}"
        yield self.finding(
            "cluster.heap",
            f"{said}, and {cluster.heap / 2**30:,.3g} GiB of heap have MemStores for {each} a "
            f"server, {most:,} in all",
            "Take fewer or larger regions, fewer families, more heap or more servers.",
            value=cluster.heap,
            verdict="The memory is divided among all families, whichever of them is flushed.",
            regions=regions or None,
            needed=needed or None,
            memstores=each,
            families=families,
        )
