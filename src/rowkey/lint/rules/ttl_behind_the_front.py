"""The rule `ttl_behind_the_front`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class TtlBehindTheFront(Rule):
    """A time to live under keys in the order of time, which leaves empty regions behind.

    What it does: looks for a time to live where the key begins with the time.

    Why it hurts: regions are never given back. Once the rows of a region are too old, it stays,
    empty, and the table gains a region at its end for each that dies at its beginning.

    Use instead: an entity or a bucket in front, so that old rows leave room where new ones come; or
    merge the empty regions as a chore, or let the normalizer.

    Source: HBase book, "Region Normalizer": it merges small neighbours; files of expired cells are
    dropped whole by minor compactions, as claim 29 says, but regions are not.
    """

    name = "ttl_behind_the_front"
    code = "RK404"
    severity: ClassVar[Severity] = "info"
    claims = (29,)
    bad = """\
table = "logs"
key   = "[ts][host]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
"""
    also = ("RK101",)

    def findings(self, subject: Subject) -> Iterator[Finding]:
        front = subject.causes.get("moving_front")
        field = front.evidence.get("field") if front is not None else None
        if field is None or subject.design.fields[field].type.tick is None:
            return
        for name, family in subject.families.items():
            if family.ttl_s != FOREVER_S and subject.says("families", name, "ttl"):
                yield self.finding(
                    subject.at("families", name, "ttl"),
                    f"rows die after {family.ttl_s:,} s, and the key begins with {field}: the "
                    "regions they leave stay, empty",
                    "Put an entity or a bucket in front, or merge old regions as a chore.",
                    value=family.ttl_s,
                    field=field,
                )
