"""The rule `read_across_families`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ReadAcrossFamilies(Rule):
    """A read tests columns of several families.

    What it does: looks at the conditions of each declared read that the key does not decide, and at
    the families their fields are stored in.

    Why it hurts: each row of the range is looked up in two stores before the filter can decide.
    Columns that are read together but stored apart have the cost of a second family and none of its
    benefit.

    Use instead: the tested fields in one family, or in the key.

    Source: claim 42, columns read together in one family, agrees with the HBase book, "On the
    number of column families".
    """

    name = "read_across_families"
    code = "RK306"
    severity: ClassVar[Severity] = "info"
    claims = (42,)
    bad_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
age  = "u8"
town = { type = "u32", family = "t" }

[families.d]

[families.t]
versions = 3

[[reads]]
name  = "one of a town, if grown up"
where = "id = ? and age >= 18 and town = ?"
"""
    good_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
age  = "u8"
town = "u32"

[[reads]]
name  = "one of a town, if grown up"
where = "id = ? and age >= 18 and town = ?"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that tests columns of several families."""
        family = {name: cell.family for cell in subject.cells for name in cell.fields}
        for one in subject.reads:
            if one.plan is None:
                continue
            tested = [name for name in one.plan.residual_fields if name in family]
            families = list(dict.fromkeys(family[name] for name in tested))
            if len(families) < 2:
                continue
            yield self.build_finding(
                f"{one.path}.where",
                f"the read '{one.read.name}' tests {', '.join(tested)}, which are in the "
                f"families {', '.join(families)}, so each row is looked up in {len(families)} "
                "stores",
                "Put the fields that are tested together into one family.",
                value=one.read.name,
                fields=tested,
                families=families,
            )
