"""The rule `endless_growth`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.lint.subject import DAYS_OF_A_YEAR
from rowkey.messages import format_days, format_number, pluralize
from rowkey.regions import MAX_FILE_SIZE

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class EndlessGrowth(Rule):
    """The table receives rows at a known rate and never deletes any.

    What it does: applies where each event is a row with its own time, and the file declares a rate
    and families without a ttl. It computes how many bytes each day adds, without values in MOB
    files, as a sample shows them after encoding and compression or else before them, counting a row
    that is written again once for each version kept, and in how many days the regions are full.

    Why it hurts: the region count is right only until then. Afterwards every region splits, again
    and again, as long as the table lives, until the disks are full.

    Use instead: a ttl, if rows are read only for some time; otherwise enough regions for the years
    to come, and a larger MAX_FILESIZE. Regions that take a week or more to fill split one by one,
    and the finding is a remark.

    Source: claim 28, the time to live is FOREVER by default, 2,147,483,647 s; claim 70, a region
    splits by itself above 10 GiB. Days are regions · 10 GiB / (bytes that stay of a day).
    """

    name = "endless_growth"
    code = "RK803"
    severity: ClassVar[Severity] = "info"
    claims = (28, 70)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"

[writes]
rate = "100/s"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"
ttl         = "30d"

[writes]
rate = "100/s"
"""
    MIN_DAYS_TO_FULL = 7
    """Days after which regions are full, from which it is a remark: our choice, as of RK802."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table receives rows at a known rate and deletes none."""
        a_day = subject.endless_bytes_a_year / DAYS_OF_A_YEAR
        if not a_day or subject.boundaries is None or not subject.is_declared("families"):
            return
        regions = len(subject.boundaries)
        days = regions * MAX_FILE_SIZE / a_day
        if days > DAYS_OF_A_YEAR:
            return
        name = next(iter(subject.families))
        yield self.build_finding(
            subject.find_nearest_path("families", name),
            f"{format_number(a_day / 2**30)} GiB, {subject.demand.compression_phrase}, are written "
            f"each day and never deleted; {pluralize(regions, 'region')} of 10 GiB are full after "
            f"{format_days(days)}",
            "Declare a ttl for the families, or create enough regions for the expected size.",
            severity="warning" if days < self.MIN_DAYS_TO_FULL else None,
            value="FOREVER",
            verdict="A region splits by itself above 10 GiB, not at 6 to 8.",
            bytes_a_day=a_day,
            days=days,
            regions=regions,
        )
