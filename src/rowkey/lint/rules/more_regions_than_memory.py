"""The rule `more_regions_than_memory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.regions import memstore_regions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class MoreRegionsThanMemory(Rule):
    """More regions than the servers' memory has room for.

    What it does: where the heap is known, compares the regions of each server with heap × 0.4 /
    (128 MB × families).

    Why it hurts: each region has a MemStore for each family. If there are more than fit, they are
    flushed long before they are full, into many small files that must be compacted again and again.

    Use instead: fewer regions, fewer families, or more heap.

    Source: HBase book, "Number of regions per RS, upper bound", with the global MemStore's share of
    0.4 and a flush size of 128 MB: 51 at 16 GB. Claim 74.
    """

    name = "more_regions_than_memory"
    code = "RK206"
    severity: ClassVar[Severity] = "warning"
    claims = (74,)
    bad = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 800 }

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[cluster]
heap = "16GiB"
"""
    good = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 80 }

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[cluster]
heap = "16GiB"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        boundaries, heap = subject.boundaries, subject.cluster.heap
        if boundaries is None or heap is None:
            return
        each = memstore_regions(heap, len(subject.families))
        here = -(-len(boundaries) // subject.cluster.servers)
        if here > each:
            yield self.finding(
                "splits",
                f"{here} regions on a server, and MemStores for {each}: {len(subject.families)} of "
                f"128 MB each in 40 % of {heap / 2**30:,.3g} GiB",
                f"Take {each * subject.cluster.servers:,} regions or fewer.",
                value=len(boundaries),
                here=here,
                most=each,
            )
