"""The rule `splits_without_sample`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class SplitsWithoutSample(Rule):
    """The splits come from a sample, but no sample is declared.

    What it does: looks for `splits = "sample"` without a sample in the file or on the command line.
    A declared sample that cannot be read is reported by `check` itself.

    Why it hurts: the region boundaries are unknown, so nothing checks them, and `splits`, `ddl` and
    `create` reject the file until they get a sample. Each sample gives another table.

    Use instead: `[sample] path`, a recording of real events; half an hour of one busy day is better
    than none.

    Source: HBase book, "Relationship Between RowKeys and Region Splits": regions that are cut
    beforehand must be reachable by the keys that come, so these have to be known.
    """

    name = "splits_without_sample"
    code = "RK206"
    severity: ClassVar[Severity] = "info"
    bad_design = """\
table  = "pages"
key    = "[url]"
splits = { algorithm = "sample", regions = 8 }

[fields]
url  = { type = "text", max_bytes = 200 }
text = { type = "text", max_bytes = 2000 }
"""
    good_design = """\
table  = "pages"
key    = "[url]"
splits = ["c", "e", "h", "l", "o", "r", "u"]

[fields]
url  = { type = "text", max_bytes = 200 }
text = { type = "text", max_bytes = 2000 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the splits need a sample and none is declared."""
        design = subject.design
        if not design.splits.needs_sample or subject.sample is not None or design.sample_path:
            return
        yield self.build_finding(
            "splits",
            "the splits are quantiles of a sample, but no sample is declared, so the table "
            "cannot be created from this file alone",
            'Declare [sample] path = "…", a recording of real events, or give --sample FILE.',
            value=subject.declared_tree.get("splits"),
        )
