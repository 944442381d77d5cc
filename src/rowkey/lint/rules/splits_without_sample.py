"""The rule `splits_without_sample`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SplitsWithoutSample(Rule):
    """Splits at quantiles of keys that came, and no recording of any.

    What it does: asks whether `splits = "sample"` has a sample, in the file or beside it. Of one
    that is declared and cannot be read `check` tells by itself.

    Why it hurts: nobody knows where the regions begin, so nothing judges them, and `splits`, `ddl`
    and `create` refuse the file until they are given one. Whoever gives another gets another table.

    Use instead: declare `[sample] path`, a recording of what comes; half an hour of one busy day
    is better than none.

    Source: HBase book, "Relationship Between RowKeys and Region Splits": regions that are cut
    beforehand must be reachable by the keys that come, so these have to be known.
    """

    name = "splits_without_sample"
    code = "RK206"
    severity: ClassVar[Severity] = "info"
    bad = """\
table  = "pages"
key    = "[url]"
splits = { algorithm = "sample", regions = 8 }

[fields]
url  = { type = "text", max_bytes = 200 }
text = { type = "text", max_bytes = 2000 }
"""
    good = """\
table  = "pages"
key    = "[url]"
splits = ["c", "e", "h", "l", "o", "r", "u"]

[fields]
url  = { type = "text", max_bytes = 200 }
text = { type = "text", max_bytes = 2000 }
"""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        design = subject.design
        if not design.cut.needs_sample or subject.seen is not None or design.sample_path:
            return
        yield self.finding(
            "splits",
            "the boundaries are quantiles of keys that came, and no recording of any is declared: "
            "they are not judged, and the table cannot be made from this file alone",
            'Declare [sample] path = "…", a recording of what comes, or give --sample FILE.',
            value=subject.words.get("splits"),
        )
