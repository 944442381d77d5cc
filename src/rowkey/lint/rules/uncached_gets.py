"""The rule `uncached_gets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class UncachedGets(Rule):
    """The block cache is off for a family whose single rows are read.

    What it does: looks for `block_cache = false` where a declared read gets single rows.

    Why it hurts: each get reads its block from disk, or from another machine's, even if it was read
    a moment ago. Indexes and Bloom filters are cached anyway.

    Use instead: the default. Switch the cache off only for families that are scanned whole, and
    seldom.

    Source: HBase book, "Block Cache"; claim 32 agrees.
    """

    name = "uncached_gets"
    code = "RK407"
    severity: ClassVar[Severity] = "warning"
    claims = (32,)
    bad_design = """\
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
    good_design = """\
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

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each uncached family whose single rows are read."""
        gets = [one for one in subject.reads if one.plan is not None and one.plan.is_point]
        for name, family in subject.families.items():
            if gets and not family.block_cache:
                yield self.build_finding(
                    subject.format_path("families", name, "block_cache"),
                    f"the read '{gets[0].read.name}' gets single rows, but the block cache of "
                    "this family is off",
                    "Remove block_cache, which turns the cache on.",
                    value=False,
                    family=name,
                    reads=[one.read.name for one in gets],
                )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the removal of block_cache from the family."""
        return {("families", str(finding.evidence["family"]), "block_cache"): None}
