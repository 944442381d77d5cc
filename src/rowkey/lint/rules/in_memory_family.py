"""The rule `in_memory_family`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class InMemoryFamily(Rule):
    """The family is declared in_memory, which only gives its blocks priority in the cache.

    What it does: looks for `in_memory = true`, unless the table is known to fit into the quarter of
    the servers' block caches that it reserves; of heaps of 1 GiB, if theirs is not declared.

    Why it hurts: the option loads nothing into memory. It reserves a quarter of the block cache for
    such families; a large family there evicts its own blocks and those of all other in-memory
    families.

    Use instead: nothing; the cache finds out what is read often. For small tables that must be
    fast, such as a dictionary, the option is right: then allow the finding.

    Source: LruBlockCache, in-memory share 0.25; hfile.block.cache.size, 0.4; claim 35 says the
    table is in memory, which is wrong.
    """

    name = "in_memory_family"
    code = "RK408"
    severity: ClassVar[Severity] = "info"
    claims = (35,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
in_memory = true
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""

    RESERVED_HEAP_SHARE = 0.4 * 0.25
    """Share of the heap that all in-memory families have: a quarter of the block cache."""
    MIN_HEAP_BYTES = 1 << 30
    """Heap that every region server is taken to have: our choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that is declared in_memory."""
        cluster, size = subject.cluster, subject.final_bytes
        heap_bytes = cluster.heap_bytes or self.MIN_HEAP_BYTES
        reserved_bytes = self.RESERVED_HEAP_SHARE * heap_bytes * cluster.servers
        if 0 < size <= reserved_bytes:
            return
        for name, family in subject.families.items():
            if family.in_memory:
                yield self.build_finding(
                    subject.format_path("families", name, "in_memory"),
                    "in_memory does not load the family into memory; it only gives its blocks "
                    "priority in a quarter of the block cache",
                    "Remove in_memory, unless the family is small and must stay cached.",
                    value=True,
                    verdict="It is a priority in the cache, not a table in memory.",
                )
