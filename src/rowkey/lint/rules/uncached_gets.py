"""The rule `uncached_gets`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UncachedGets(Rule):
    """A family without block cache that is read row by row.

    What it does: looks for `block_cache = false` where a declared read gets single rows, or asks
    for few in order again and again.

    Why it hurts: each read goes to disk, or to another machine's, for a block that was read a
    moment ago. Indexes and filters are cached all the same.

    Use instead: the default. Switch it off for families that are only scanned whole and seldom.

    Source: HBase book, "Block Cache"; claim 32 agrees.
    """

    name = "uncached_gets"
    code = "RK407"
    severity: ClassVar[Severity] = "warning"
    claims = (32,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_cache = false

[[reads]]
name  = "a user"
where = "user = ?"
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[[reads]]
name  = "a user"
where = "user = ?"
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        gets = [one for one in subject.reads if one.plan is not None and one.plan.is_point]
        for name, family in subject.families.items():
            if gets and not family.block_cache:
                yield self.finding(
                    subject.at("families", name, "block_cache"),
                    f"{gets[0].read.name} gets single rows, and no block of them is kept in memory",
                    "Leave block_cache out.",
                    value=False,
                    family=name,
                    reads=[one.read.name for one in gets],
                )

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        return {("families", str(finding.evidence["family"]), "block_cache"): None}
