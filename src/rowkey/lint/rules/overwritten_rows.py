"""The rule `overwritten_rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class OverwrittenRows(Rule):
    """Events of the sample that write a row which stands already.

    What it does: counts keys of the sample that came before. Under a salt such a row is not
    overwritten but stands twice, of which random-salt tells.

    Why it hurts: a put of the same row, family and qualifier is another version, and one version is
    kept by default. The earlier event is gone, and nothing says so.

    Use instead: what tells the events apart in the key, or the event's time as the cells' timestamp
    with as many versions as are wanted. Where rows are meant to be updated, allow it.

    Source: HBase book, "Versions"; claim 8 agrees, and asks to look for duplicates.
    """

    name = "overwritten_rows"
    code = "RK108"
    severity: ClassVar[Severity] = "warning"
    claims = (8, 64)
    bad = """\
table  = "orders"
key    = "[bucket(customer, 16)][customer][day]"
splits = "per_bucket"

[fields]
customer = "u32"
day      = "date"
order    = "u64"
"""
    good = """\
table  = "orders"
key    = "[bucket(customer, 16)][customer][day][order]"
splits = "per_bucket"

[fields]
customer = "u32"
day      = "date"
order    = "u64"
"""
    data = "customer,day,order\n" + "".join(
        f"{n * 7919 % 301},2026-01-{1 + n // 450:02d},{n * 6007 % 9001}\n" for n in range(1_800)
    )

    def findings(self, subject: Subject) -> Iterator[Finding]:
        seen = subject.seen
        if seen is None or not seen.repeats or subject.key.is_salted:
            return
        share, one = seen.repeats / seen.events, "s" * (seen.repeats == 1)
        yield self.finding(
            "key",
            f"{seen.repeats:,} of {counted(seen.events, 'event')} ({share:.1%}) write{one} a row "
            f"that stands already, and hide{one} what was there",
            "Add what tells them apart to the key.",
            value=str(subject.key),
            repeats=seen.repeats,
            events=seen.events,
        )
