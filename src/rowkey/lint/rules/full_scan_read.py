"""The rule `full_scan_read`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import PlannedRead, Subject


class FullScanRead(Rule):
    """A read that nothing in the key narrows.

    What it does: plans each declared read with example values, and looks for those that ask for
    certain rows and are served by reading every row of the table. A read of all rows, without any
    condition, is only told.

    Why it hurts: its cost grows with the table and not with the answer. Every region is opened,
    every block is read and leaves the cache to no one else; a filter on the server saves what is
    sent, not what is read.

    Use instead: a key that begins, behind what spreads, with the fields that the read gives; or a
    second table with such a key, written together with this one.

    Source: claim 2, a table is read by get, by range or whole; claims 1 and 52, the key must serve
    the reads. HBase book, "Schema design": rows are found by their keys alone, and by no other
    index.
    """

    name = "full_scan_read"
    code = "RK601"
    severity: ClassVar[Severity] = "error"
    claims = (2, 52)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour"
where = "ts >= ? and ts < ?"
span  = "1h"
"""
    PROPOSED = 20
    """Reads, from the first on, for which a key is looked for: each takes milliseconds."""
    ELSE = "A second table whose key begins, behind what spreads, with what it gives serves it."

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for index, one in enumerate(subject.reads):
            if one.plan is None or not one.plan.is_full_scan:
                continue
            read = one.read
            if one.bounds and not self._is_of_turned(subject, one):
                better = subject.serving_key(one) if index < self.PROPOSED else None
                yield self.finding(
                    subject.at("reads", index, "where"),
                    f"{read.name} gives {' and '.join(one.bounds)}, and nothing in the key narrows "
                    "that: every row of the table is read",
                    f"A table with {better.words} serves it." if better else self.ELSE,
                    value=read.name,
                    given=list(one.bounds),
                    proposal=better.key if better is not None else None,
                )
            elif not one.bounds and read.limit is None:
                yield self.finding(
                    one.path,
                    f"{read.name} asks for every row of the table",
                    "Give it a limit, or read a snapshot of the table's files.",
                    severity="info",
                    value=read.name,
                )

    @staticmethod
    def _is_of_turned(subject: Subject, one: PlannedRead) -> bool:
        """Whether all it asks are stretches of fields kept back to front: another rule tells."""
        for name, bound in one.bounds.items():
            own = [part for part in subject.key.parts if part.fields == (name,)]
            is_kept = any(part.order.ascends or part.order.descends for part in own)
            is_whole = any(part.residue(name).nothing for part in own)
            if is_kept or not is_whole or not isinstance(bound, Range):
                return False
        return True
