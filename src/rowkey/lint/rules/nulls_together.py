"""The rule `nulls_together`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class NullsTogether(Rule):
    """The key starts with a field that is null in many rows.

    What it does: takes the share of nulls in the field of the leading part, from the sample.

    Why it hurts: all rows without a value start with the same byte 00, so they are in one region,
    and its server takes their whole share.

    Use instead: a leading field that every row has, or a bucket over more fields.

    Source: a null in the key is the byte 00 before where the value would stand, in this package's
    byte format.
    """

    name = "nulls_together"
    code = "RK122"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "clicks"
key    = "[bucket(user, 16)][user][page]"
splits = "per_bucket"

[fields]
user  = { type = "u32", nullable = true }
page  = "u64"
state = "u8"
"""
    good_design = """\
table  = "clicks"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
user  = { type = "u32", nullable = true }
page  = "u64"
state = "u8"
"""
    sample_csv = "user,page,state\n" + "".join(
        f"{n * 7919 % 5003 if n % 3 else ''},{n * 104729 % 99991},{n % 5}\n" for n in range(900)
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key starts with a field that many rows lack."""
        part = subject.leading_part
        if part is None or len(part.fields) != 1:
            return
        [name] = part.fields
        share, servers = subject.find_facts(name).null_share, subject.cluster.servers
        if share * servers > 1:
            yield self.build_finding(
                subject.format_path("fields", name),
                f"the key starts with {name}, which is null in {share:.0%} of the rows; all of "
                f"these go to one region, {share * servers:.1f} times one server's fair share",
                "Start the key with a field that every row has, or with a bucket over more fields.",
                value=name,
                nulls=share,
            )
