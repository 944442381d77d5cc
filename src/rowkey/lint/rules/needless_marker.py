"""The rule `needless_marker`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import compute_cell_bytes
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class NeedlessMarker(Rule):
    """Every row gets an empty marker cell, although one column is always present.

    What it does: if all columns are declared `nullable`, an event also writes an empty cell so that
    its row exists. This rule reports a column that is never null in the sample, which makes that
    cell unnecessary.

    Why it hurts: one more cell in every event: 20 bytes, the key and the family.

    Use instead: remove `nullable` from the column that is always present.

    Source: Phoenix writes an empty cell a row for the same reason. KeyValue.java: 20 bytes, key and
    family a cell; claim 5 counts by row what is paid by cell.
    """

    name = "needless_marker"
    code = "RK511"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (5,)
    bad_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
user = "u32"
page = { type = "u32", nullable = true }
ad   = { type = "u32", nullable = true }
"""
    good_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
user = "u32"
page = "u32"
ad   = { type = "u32", nullable = true }
"""
    sample_csv = "ts,user,page,ad\n" + "".join(
        f"{1_760_000_000 + n},{n * 7919 % 4001},{n % 89},{n if n % 3 else ''}\n"
        for n in range(1_200)
    )
    MIN_EVENTS = 1_000
    """Events that are needed: in fewer, a column may always be present by chance."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if rows get marker cells although one column is always present."""
        sample = subject.sample
        marker = next((cell for cell in subject.cells if not cell.fields), None)
        if sample is None or sample.event_count < self.MIN_EVENTS or marker is None:
            return
        for cell in subject.cells:
            present_fields = [
                n for n in cell.fields if n in sample.facts and not sample.facts[n].null_share
            ]
            if not present_fields:
                continue
            spent = compute_cell_bytes(0, len(marker.family.encode()), 0, 0) + subject.key_bytes
            name = present_fields[0]
            yield self.build_finding(
                subject.find_nearest_path("fields", name, "nullable"),
                "every column is nullable, so each event also writes an empty marker cell of "
                f"{spent:,.0f} bytes; but {name} is present in all "
                f"{pluralize(sample.event_count, 'event')}",
                f"Remove nullable from {name}.",
                value=True,
                bytes=spent,
                events=sample.event_count,
            )
            return
