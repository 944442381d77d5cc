"""The rule `value_behind_range`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule
from rowkey.schema import Equal, OneOf, Range, StartsWith

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class ValueBehindRange(Rule):
    """A read gives a value of a field that stands behind the one of which it asks a stretch.

    What it does: looks for reads that the key narrows to a stretch of one field, while a field
    behind it, of which the read gives one value or a few, is tested row by row.

    Why it hurts: the rows of one value are scattered over the stretch, between those of all other
    values. With a thousand hosts behind the time, the lines of one host in an hour cost the lines
    of all hosts in that hour.

    Use instead: fields with one value before the field with a stretch. Where another read asks for
    the stretch alone, the two want two tables.

    Source: claim 52, fields are ordered by their use: equality before the range. It follows from
    the order of the keys: a range is one prefix and one stretch behind it.
    """

    name = "value_behind_range"
    code = "RK605"
    severity: ClassVar[Severity] = "warning"
    claims = (52, 88)
    bad = """\
table  = "logs"
key    = "[bucket(host, 16)][ts][host]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, distinct = 1000 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    good = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, distinct = 1000 }
line = { type = "text", max_bytes = 500 }

[[reads]]
name  = "an hour of a host"
where = "host = ? and ts >= ? and ts < ?"
span  = "1h"
"""
    FEW = 10
    """Values of the field below which it is only told: a row in ten is read for something."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for index, one in enumerate(subject.reads):
            plan = one.plan
            if plan is None or plan.is_full_scan or plan.pinned >= len(subject.key.parts):
                continue
            ranged = [
                name
                for name in subject.key.parts[plan.pinned].fields
                if isinstance(one.bounds.get(name), Range | StartsWith)
            ]
            behind = {n for part in subject.key.parts[plan.pinned + 1 :] for n in part.fields}
            for name in [n for n in plan.residual if ranged and n in behind]:
                if not isinstance(one.bounds[name], Equal | OneOf):
                    continue
                distinct = subject.distinct(name)
                is_few = distinct is not None and distinct < self.FEW
                many = (
                    "those of all others"
                    if distinct is None
                    else f"all {counted(distinct, 'value')}"
                )
                yield self.finding(
                    subject.at("reads", index, "where"),
                    f"{one.read.name} gives {name}, which stands behind {ranged[0]}: in that "
                    f"stretch the rows of {many} of it are read",
                    f"Put {name} before {ranged[0]}, here or in a second table.",
                    severity="info" if is_few else None,
                    value=one.read.name,
                    field=name,
                    behind=ranged[0],
                    distinct=distinct,
                )
