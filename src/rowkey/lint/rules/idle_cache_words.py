"""The rule `idle_cache_words`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class IdleCacheWords(Rule):
    """Words about what is cached early, in a family that is not cached.

    What it does: looks for `block_cache = false` beside words that fill the cache: data blocks
    cached when they are written, or files when they are opened.

    Why it hurts: one of the two is not meant. Whoever reads the file believes the family is warm.

    Use instead: one or the other.

    Source: CacheConfig: data blocks are cached on write, and prefetched, only where they are cached
    when read.
    """

    name = "idle_cache_words"
    code = "RK414"
    severity: ClassVar[Severity] = "warning"
    claims = (32,)
    bad = """\
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
    good = """\
table  = "archive"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_cache = false
"""
    WORDS = ("cache_data_on_write", "prefetch")

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            for word in self.WORDS:
                if not family.block_cache and getattr(family, word):
                    yield self.finding(
                        subject.at("families", name, word),
                        f"{word} fills a cache that block_cache = false keeps the family out of",
                        "Leave one of the two out.",
                        value=True,
                        word=word,
                        family=name,
                    )

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        return {("families", str(finding.evidence["family"]), str(finding.evidence["word"])): None}
