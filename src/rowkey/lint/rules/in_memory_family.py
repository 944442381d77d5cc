"""The rule `in_memory_family`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class InMemoryFamily(Rule):
    """A family declared in memory, which only ranks its blocks in the cache.

    What it does: looks for `in_memory = true`.

    Why it hurts: it holds nothing in memory that was not read. Its blocks leave the cache last, in
    a share of a quarter; a large family in it drives out its own blocks, and every other's.

    Use instead: nothing; the cache finds out itself what is read often. For small tables that must
    be quick, such as a dictionary, it is right: then allow it.

    Source: LruBlockCache, in-memory share 0.25; claim 35 says the table is in memory, which is
    wrong.
    """

    name = "in_memory_family"
    code = "RK408"
    severity: ClassVar[Severity] = "info"
    claims = (35,)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
in_memory = true
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            if family.in_memory:
                yield self.finding(
                    subject.at("families", name, "in_memory"),
                    "in_memory loads nothing: it is a rank in the block cache, of which a quarter "
                    "is for such families",
                    "Leave it out, unless the family is small and must stay cached.",
                    value=True,
                    verdict="It is a priority in the cache, not a table in memory.",
                )
