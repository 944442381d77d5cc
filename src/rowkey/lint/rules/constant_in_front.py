"""The rule `constant_in_front`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class ConstantInFront(Rule):
    """The key starts with bytes that are the same in every key.

    What it does: looks for a leading part with only one value: a constant, a choice of one, or a
    field with one value in the sample.

    Why it hurts: it distinguishes nothing and is stored in every cell. The splits must begin with
    it, or all rows are in one region.

    Use instead: nothing. A prefix for a later version of the key, or for other tenants, is worth
    its byte: then allow the finding and give that reason.

    Source: KeyValue.java; claim 59 keeps spare fields in the key: a version of one byte does that,
    or fields at the end that may be null.
    """

    name = "constant_in_front"
    code = "RK121"
    severity: ClassVar[Severity] = "info"
    claims = (51, 59)
    bad_design = """\
table  = "logs"
key    = "['log-'][bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for a constant at the front of the key."""
        for notation, part in subject.iter_parts():
            if part is subject.leading_part or part.framing.max_bytes == 0:
                return
            yield self.build_finding(
                "key",
                f"the key starts with {notation}, which is the same in every row and takes at "
                f"least {pluralize(part.framing.min_bytes, 'byte')} of every cell",
                "Remove the constant, unless it marks a version of the key format or "
                "separates tenants.",
                value=notation,
                verdict=(
                    "No bytes need to be reserved for later: a nullable field can be "
                    "added at the key's end."
                ),
                fields=part.fields,
            )
