"""The rule `many_versions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ManyVersions(Rule):
    """A family that keeps very many versions of each cell.

    What it does: compares `versions` with 100, from which on it is a warning, and with the time to
    live that would end them.

    Why it hurts: versions are kept in the store files until a major compaction trims them, and a
    read of the newest goes past all others. One row grows without a bound that anybody sees.

    Use instead: the time in the key, `[entity][desc(ts)]`, so that each version is a row that can
    be found, ranged over and split; or fewer versions.

    Source: HBase book, "Number of Versions": do not set it to hundreds; claims 25 and 66 agree.
    """

    name = "many_versions"
    code = "RK401"
    severity: ClassVar[Severity] = "warning"
    claims = (25, 66)
    bad = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
price = "u32"

[families.d]
versions = 1000
"""
    good = """\
table  = "prices"
key    = "[bucket(item, 16)][item][desc(ts)]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = "timestamp_ms"
price = "u32"

[families.d]
versions = 1
"""
    MANY = 100
    """Versions from which it is said. Source: the book's "hundreds or more"."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name, family in subject.families.items():
            if family.versions >= self.MANY:
                yield self.finding(
                    subject.at("families", name, "versions"),
                    f"{family.versions:,} versions of each cell are kept, one behind the other in "
                    "one row",
                    "Put the time into the key, and keep one.",
                    value=family.versions,
                )
