"""The rule `constant_column`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import compute_cell_bytes
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ConstantColumn(Rule):
    """A column has the same value in every event.

    What it does: counts the values of each column in a sample of a thousand events or more.

    Why it hurts: a value that never changes tells nothing, and costs a cell in every row: the key,
    the family, the qualifier and 20 bytes.

    Use instead: remove the field, and record its value in the table's documentation. Or make it
    `nullable` and write it only where it differs.

    Source: KeyValue.java, 20 bytes and key, family and qualifier a cell; claim 22 asks for small
    cells.
    """

    name = "constant_column"
    code = "RK513"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (22,)
    bad_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts      = "timestamp_s"
user    = "u32"
page    = "u32"
version = "u8"
"""
    good_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts      = "timestamp_s"
user    = "u32"
page    = "u32"
"""
    sample_csv = "ts,user,page,version\n" + "".join(
        f"{1_760_000_000 + n},{n * 7919 % 4001},{n % 89},1\n" for n in range(1_200)
    )
    MIN_EVENTS = 1_000
    """Events that are needed: fewer may all have one value by chance."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each column that has one value in all sampled events."""
        if subject.sample is None or subject.sample.event_count < self.MIN_EVENTS:
            return
        for cell in subject.cells:
            name = cell.fields[0] if len(cell.fields) == 1 else ""
            facts = subject.find_facts(name)
            if facts.distinct_count != 1 or facts.null_share or facts.value_count < self.MIN_EVENTS:
                continue
            spent = compute_cell_bytes(0, len(cell.family.encode()), len(cell.qualifier), 0)
            yield self.build_finding(
                subject.format_path("fields", name),
                f"the column {name} has the same value in all "
                f"{pluralize(facts.value_count, 'event')}, and costs at least "
                f"{spent + subject.key.part_sequence.framing.min_bytes:,} bytes in each event",
                f"Remove {name}, or declare it nullable and write it only where it differs.",
                value=name,
                events=facts.value_count,
            )
