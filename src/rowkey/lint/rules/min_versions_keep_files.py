"""The rule `min_versions_keep_files`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class MinVersionsKeepFiles(Rule):
    """min_versions prevents HBase from dropping expired files whole.

    What it does: looks for `min_versions` together with a time to live.

    Why it hurts: a file in which every cell has expired is otherwise deleted without being read.
    With min_versions, HBase must read it and keep the last versions of every row, so a table of
    events keeps every event.

    Use instead: a time to live alone. If the last state of each row must survive, keep min_versions
    and allow the finding.

    Source: HBase book, "Time To Live": files are kept where MIN_VERSIONS is not 0 or
    hbase.store.delete.expired.storefile is false; claims 27 and 29 agree.
    """

    name = "min_versions_keep_files"
    code = "RK405"
    severity: ClassVar[Severity] = "info"
    claims = (27, 29)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl          = "30d"
min_versions = 1
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose min_versions keeps expired files."""
        time = subject.design.writes.time
        is_history = time is not None and time.name in subject.key.fields
        for name, family in subject.families.items():
            if family.min_versions:
                never = "; each event is a row of its own, so no event is ever deleted"
                yield self.build_finding(
                    subject.format_path("families", name, "min_versions"),
                    f"min_versions keeps {pluralize(family.min_versions, 'version')} of each "
                    "cell beyond the ttl, so HBase cannot drop expired files "
                    f"whole{never if is_history else ''}",
                    "Remove min_versions, unless the last state of each row must be kept for ever.",
                    severity="warning" if is_history else "info",
                    value=family.min_versions,
                )
