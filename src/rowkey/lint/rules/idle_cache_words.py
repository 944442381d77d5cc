"""The rule `idle_cache_words`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class IdleCacheWords(Rule):
    """A cache option is set in a family that is not cached.

    What it does: looks for `block_cache = false` together with `cache_data_on_write` or `prefetch`.

    Why it hurts: the options contradict each other. A reader of the file believes that the family
    is cached.

    Use instead: one or the other.

    Source: CacheConfig: data blocks are cached on write, and prefetched, only where they are cached
    when read.
    """

    name = "idle_cache_words"
    code = "RK414"
    severity: ClassVar[Severity] = "warning"
    claims = (32,)
    bad_design = """\
table  = "archive"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_cache = false
prefetch    = true
"""
    good_design = """\
table  = "archive"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_cache = false
"""
    CACHE_OPTIONS = ("cache_data_on_write", "prefetch")

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each cache option of a family that is not cached."""
        for name, family in subject.families.items():
            for word in self.CACHE_OPTIONS:
                if not family.block_cache and getattr(family, word):
                    yield self.build_finding(
                        subject.format_path("families", name, word),
                        f"{word} has no effect, because block_cache = false keeps the family "
                        "out of the block cache",
                        "Remove one of the two.",
                        value=True,
                        word=word,
                        family=name,
                    )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the removal of the cache option that has no effect."""
        return {("families", str(finding.evidence["family"]), str(finding.evidence["word"])): None}
