"""The rule `ttl_behind_the_front`."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule
from rowkey.regions import MAX_FILE_SIZE

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class TtlBehindTheFront(Rule):
    """Expired rows leave empty regions, because the key starts with the time.

    What it does: looks for a time to live where the key starts with the time, unless the
    table begins with one region that is known to hold all its rows.

    Why it hurts: regions are never removed. When all rows of a region have expired, it stays,
    empty, and the table gains a region at its end for each that empties at its beginning.

    Use instead: an entity or a bucket before the time, so that new rows take the space of old ones;
    or merge the empty regions regularly, or switch the normalizer on.

    Source: HBase book, "Region Normalizer": it merges small neighbours; files of expired cells are
    dropped whole by minor compactions, as claim 29 says, but regions are not.
    """

    name = "ttl_behind_the_front"
    code = "RK404"
    severity: ClassVar[Severity] = "info"
    claims = (29,)
    bad_design = """\
table = "logs"
key   = "[ts][host]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
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
    other_codes = ("RK101",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if expired rows leave empty regions before the newest ones."""
        front = subject.causes.get("moving_front")
        field = front.evidence.get("field") if front is not None else None
        if field is None or subject.design.fields[field].type.unit_ns is None:
            return
        is_split = subject.boundaries is None or len(subject.boundaries) > 1
        bytes_per_s = inf if is_split else subject.event_bytes * (subject.write_rate or inf)
        for name, family in subject.families.items():
            if bytes_per_s * family.ttl_s <= MAX_FILE_SIZE:
                continue
            if family.ttl_s != FOREVER_S and subject.is_declared("families", name, "ttl"):
                yield self.build_finding(
                    subject.format_path("families", name, "ttl"),
                    f"rows expire after {family.ttl_s:,} s and the key starts with {field}, so "
                    "the regions of expired rows stay behind empty",
                    f"Put an entity or a bucket before {field}, or merge old regions regularly.",
                    value=family.ttl_s,
                    field=field,
                )
