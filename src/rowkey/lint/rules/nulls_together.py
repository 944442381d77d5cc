"""The rule `nulls_together`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class NullsTogether(Rule):
    """A nullable field in front, of which many rows are null.

    What it does: takes the share of nulls of the fields of the leading part, from the sample.

    Why it hurts: all rows without a value begin with the same byte 00, so they lie in one region,
    and the server that has it takes their share.

    Use instead: a field in front that every row has, or a bucket over more fields.

    Source: a null in the key is the byte 00 before where the value would stand, in this package's
    byte format.
    """

    name = "nulls_together"
    code = "RK122"
    severity: ClassVar[Severity] = "warning"
    bad = """\
table  = "clicks"
key    = "[bucket(user, 16)][user][page]"
splits = "per_bucket"

[fields]
user  = { type = "u32", nullable = true }
page  = "u64"
state = "u8"
"""
    good = """\
table  = "clicks"
key    = "[bucket(page, 16)][page]"
splits = "per_bucket"

[fields]
user  = { type = "u32", nullable = true }
page  = "u64"
state = "u8"
"""
    data = "user,page,state\n" + "".join(
        f"{n * 7919 % 5003 if n % 3 else ''},{n * 104729 % 99991},{n % 5}\n" for n in range(900)
    )

    def findings(self, subject: Subject) -> Iterator[Finding]:
        part = subject.leading
        if part is None or len(part.fields) != 1:
            return
        [name] = part.fields
        share, servers = subject.fact(name).nulls, subject.cluster.servers
        if share * servers > 1:
            yield self.finding(
                subject.at("fields", name),
                f"{share:.0%} of the rows have no {name}, which the key begins with: all of them "
                f"lie in one region, {share * servers:.1f} times one server's share",
                "Put a field in front that every row has, or a bucket over more fields.",
                value=name,
                nulls=share,
            )
