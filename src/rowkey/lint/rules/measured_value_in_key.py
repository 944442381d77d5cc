"""The rule `measured_value_in_key`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class MeasuredValueInKey(Rule):
    """A measured value in the key, which no read asks for.

    What it does: looks for floating-point numbers and decimals in the key: what is measured or
    counted up, not what names anything. A read that asks a stretch of them, or their order, as of a
    leaderboard, is what they may be there for.

    Why it hurts: a value that is corrected becomes another row beside the wrong one. To get a row
    one must know what it says. And the value is in every cell of the row.

    Use instead: a column. Where the order by value is wanted, keep it, and move the row when the
    value changes: a delete and a put.

    Source: claim 57 has md5, time and the sensor's data as key. Claim 23: a row's key is immutable,
    HBase book, "Immutability of Rowkeys".
    """

    name = "measured_value_in_key"
    code = "RK116"
    severity: ClassVar[Severity] = "warning"
    claims = (23, 57)
    bad = """\
table  = "measurements"
key    = "[bucket(sensor, 16)][sensor][ts][value]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
value  = "float64"
unit   = { type = "text", max_bytes = 4 }
"""
    good = """\
table  = "measurements"
key    = "[bucket(sensor, 16)][sensor][ts]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
value  = "float64"
unit   = { type = "text", max_bytes = 4 }
"""

    VERDICT = "With the reading in the key no row can be got without knowing what it says."

    def findings(self, subject: Subject) -> Iterator[Finding]:
        wanted = {name for one in subject.reads for name in one.bounds}
        wanted |= {o.field for one in subject.reads for o in one.read.order}
        for name, field in subject.key.fields.items():
            if not isinstance(field.type.domain.nth(0), float | Decimal):
                continue
            if name in wanted:
                yield self.finding(
                    "key",
                    f"{name} is a measured value: each time it changes, its row moves",
                    "Use move, which deletes the old row and puts the new one.",
                    severity="info",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )
            else:
                yield self.finding(
                    "key",
                    f"{name} is a measured value that no read asks for: a correction of it becomes "
                    "a second row",
                    f"Leave {name} to a column.",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )
