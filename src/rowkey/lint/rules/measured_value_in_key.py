"""The rule `measured_value_in_key`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from rowkey.hotspots import count_repeated_rows
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class MeasuredValueInKey(Rule):
    """The key contains a measured value that no read uses.

    What it does: looks for floating-point numbers and decimals in the key: they usually measure
    something and do not identify it. A read that asks for a range of them, or for their order, as
    for a leaderboard, is a good reason to have them there; where rows of the sample would overwrite
    each other without them, it is a remark.

    Why it hurts: a corrected value becomes a second row next to the wrong one. A row can be read
    only by a client that knows the value already. And the value is stored in every cell of the row.

    Use instead: a column. If the order by value is wanted, keep it in the key and move the row when
    the value changes: a delete and a put.

    Source: claim 57 has md5, time and the sensor's data as key. Claim 23: a row's key is immutable,
    HBase book, "Immutability of Rowkeys".
    """

    name = "measured_value_in_key"
    code = "RK116"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    claims = (23, 57)
    bad_design = """\
table  = "measurements"
key    = "[bucket(sensor, 16)][sensor][ts][value]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
value  = "float64"
unit   = { type = "text", max_bytes = 4 }
"""
    good_design = """\
table  = "measurements"
key    = "[bucket(sensor, 16)][sensor][ts]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
value  = "float64"
unit   = { type = "text", max_bytes = 4 }
"""

    VERDICT = "With the measured value in the key, only a client that knows it can get the row."

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each measured value that is part of the key."""
        read_fields = {name for one in subject.reads for name in one.bounds}
        read_fields |= {o.field for one in subject.reads for o in one.read.order}
        for name, field in subject.key.fields.items():
            if not isinstance(field.type.domain.generate_value(0), float | Decimal):
                continue
            if name in read_fields:
                yield self.build_finding(
                    "key",
                    f"{name} is a measured value, and each time it changes, its row must move "
                    "to another key",
                    "Use `move` to change it: it deletes the old row and puts the new one.",
                    severity="info",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )
            elif self._keeps_rows_apart(subject, name):
                yield self.build_finding(
                    "key",
                    f"the key contains {name}, a measured value without which rows of the sample "
                    "would overwrite each other; a corrected value would become a second row",
                    "If there is a field that identifies the event, such as its number, write it "
                    "instead.",
                    severity="info",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )
            else:
                yield self.build_finding(
                    "key",
                    f"the key contains {name}, a measured value that no read uses; a corrected "
                    "value would become a second row",
                    f"Take {name} out of the key and store it in a column.",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )

    @staticmethod
    def _keeps_rows_apart(subject: LintSubject, name: str) -> bool:
        """Return whether sampled rows that differ would be one row in a key without a field."""
        if subject.sample is None or subject.key.is_salted:
            return False
        rows = subject.sample.keyed_events.rows
        others = [one for one in subject.key.fields if one != name]
        if not {name, *others} <= set(rows.schema.names):
            return False
        lost = count_repeated_rows(rows, others) - count_repeated_rows(rows, [name, *others])
        return lost > 0 and lost >= MAX_STRAY_SHARE * float(rows.num_rows)
