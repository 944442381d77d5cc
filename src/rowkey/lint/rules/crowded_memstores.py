"""The rule `crowded_memstores`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import format_number, pluralize
from rowkey.regions import MAX_FILE_SIZE, compute_memstore_regions

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class CrowdedMemstores(Rule):
    """A server holds more regions and families than its heap has memstores for.

    What it does: where the heap is declared, compares the regions of this table on one server with
    heap · 0.4 / (128 MB · families), and the regions that the table's size needs with the sum over
    all servers.

    Why it hurts: all memstores of a server share 0.4 of its heap. If they fill that before any of
    them is full, the server flushes early: small files, more compactions, and blocked writes.

    Use instead: fewer regions, one family, a larger heap or more servers.

    Source: claim 74, the book's formula, 51 regions at 16 GB and one family; claim 17, each family
    has a MemStore, and today's FlushAllLargeStoresPolicy flushes the large ones alone: the memory
    is divided all the same. hbase.regionserver.global.memstore.size.
    """

    name = "crowded_memstores"
    code = "RK804"
    severity: ClassVar[Severity] = "warning"
    claims = (6, 17, 74)
    bad_design = """\
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
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the servers' heap has too few memstores for the regions."""
        cluster, families = subject.cluster, len(subject.families)
        if cluster.heap_bytes is None:
            return
        regions_per_server = compute_memstore_regions(cluster.heap_bytes, families)
        max_regions = regions_per_server * cluster.servers
        regions = len(subject.boundaries) if subject.boundaries is not None else 0
        needed_regions = -(-subject.demand.size // MAX_FILE_SIZE)
        if max(regions, needed_regions) <= max_regions:
            return
        family_phrase = f"{families} families" if families > 1 else "one family"
        if regions > max_regions:
            problem = (
                f"{pluralize(regions, 'region')} with {family_phrase} make "
                f"{regions / cluster.servers:,.0f} regions on each server"
            )
        else:
            problem = (
                f"the table will grow to {pluralize(needed_regions, 'region')} with {family_phrase}"
            )
        yield self.build_finding(
            "cluster.heap",
            f"{problem}, but a heap of {format_number(cluster.heap_bytes / 2**30)} GiB has "
            f"memstores for {regions_per_server} on each server, {max_regions:,} in all",
            "Use fewer or larger regions, fewer families, more heap or more servers.",
            value=cluster.heap_bytes,
            verdict=(
                "All families of a server share this memory, even if a flush writes only "
                "one of them."
            ),
            regions=regions or None,
            needed=needed_regions or None,
            memstores=regions_per_server,
            families=families,
        )
