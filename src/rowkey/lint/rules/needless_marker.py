"""The rule `needless_marker`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import cell_bytes
from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class NeedlessMarker(Rule):
    """A marker in every row, although a column is always there.

    What it does: where all columns are declared `nullable`, an event also writes an empty cell, so
    that its row exists. If a column of the sample is never null, that cell is not needed.

    Why it hurts: a cell more in every event: 20 bytes, the key and the family, for nothing.

    Use instead: leave out `nullable` of the column that is always there.

    Source: Phoenix writes an empty cell a row for the same reason. KeyValue.java: 20 bytes, key and
    family a cell; claim 5 counts by row what is paid by cell.
    """

    name = "needless_marker"
    code = "RK511"
    severity: ClassVar[Severity] = "info"
    claims = (5,)
    bad = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
user = "u32"
page = { type = "u32", nullable = true }
ad   = { type = "u32", nullable = true }
"""
    good = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
user = "u32"
page = "u32"
ad   = { type = "u32", nullable = true }
"""
    data = "ts,user,page,ad\n" + "".join(
        f"{1_760_000_000 + n},{n * 7919 % 4001},{n % 89},{n if n % 3 else ''}\n"
        for n in range(1_200)
    )
    ENOUGH = 1_000
    """Events below which a column that is always there may be chance."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        seen = subject.seen
        marker = next((cell for cell in subject.cells if not cell.fields), None)
        if seen is None or seen.events < self.ENOUGH or marker is None:
            return
        for cell in subject.cells:
            there = [n for n in cell.fields if n in seen.facts and not seen.facts[n].nulls]
            if not there:
                continue
            spent = cell_bytes(0, len(marker.family.encode()), 0, 0) + subject.key_bytes
            name = there[0]
            yield self.finding(
                subject.nearest("fields", name, "nullable"),
                f"all columns may be absent, so each event writes an empty cell of {spent:,.0f} "
                f"bytes; yet {name} is there in all {counted(seen.events, 'event')}",
                "Leave out its nullable.",
                value=True,
                bytes=spent,
                events=seen.events,
            )
            return
