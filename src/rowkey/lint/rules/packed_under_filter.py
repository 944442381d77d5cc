"""The rule `packed_under_filter`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class PackedUnderFilter(Rule):
    """A read tests a field inside a packed cell.

    What it does: looks at the conditions of each declared read that the key does not decide, and
    whether their fields share a cell.

    Why it hurts: an HBase filter compares the bytes of a whole cell and cannot look inside. So
    every row of the range is sent to the client, which unpacks and tests it.

    Use instead: the tested field in a cell of its own, or in the key; the others stay packed.

    Source: claim 45 packs fixed columns into one cell; its verdict names what that loses.
    SingleColumnValueFilter compares whole values.
    """

    name = "packed_under_filter"
    code = "RK503"
    severity: ClassVar[Severity] = "info"
    claims = (45,)
    bad_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
user  = "u64"
state = { type = "u8", pack = "p" }
total = { type = "u32", pack = "p" }
items = { type = "u16", pack = "p" }

[[reads]]
name  = "open orders of a user"
where = "user = ? and state = 1"
limit = 20
"""
    good_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
user  = "u64"
state = "u8"
total = { type = "u32", pack = "p" }
items = { type = "u16", pack = "p" }

[[reads]]
name  = "open orders of a user"
where = "user = ? and state = 1"
limit = 20
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that tests a field inside a packed cell."""
        shared = {
            name: cell for cell in subject.cells if len(cell.fields) > 1 for name in cell.fields
        }
        for one in subject.reads:
            if one.plan is None or one.plan.is_point:
                continue
            tested = [name for name in one.plan.residual_fields if name in shared]
            if tested:
                cell = shared[tested[0]]
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{one.read.name}' tests {', '.join(tested)}, which is packed "
                    f"with {len(cell.fields) - 1} other fields into "
                    f"{cell.title}, and HBase filters cannot look "
                    "into a packed cell",
                    "Give the tested field a cell of its own.",
                    value=one.read.name,
                    fields=tested,
                )
