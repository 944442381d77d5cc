"""The rule `unpacked_columns`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import cell_bytes
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class UnpackedColumns(Rule):
    """Many small columns that are always written together.

    What it does: counts the cells of an event with values of 16 bytes or less that every row has,
    and computes what one packed cell in their place would save.

    Why it hurts: each cell has 20 bytes of its own, the key, the family and the qualifier beside
    its value. Eight numbers of 4 bytes are 32 bytes of values in several hundred.

    Use instead: `pack = "p"` on fields that are written and read together. A packed field cannot be
    written, filtered or kept in versions by itself.

    Source: KeyValue.java; claim 45 packs fixed columns into one cell of Protocol Buffers: it saves
    20 + key + family + qualifier a column.
    """

    name = "unpacked_columns"
    code = "RK502"
    severity: ClassVar[Severity] = "info"
    claims = (45,)
    bad = """\
table  = "sensors"
key    = "[bucket(sensor, 16)][sensor][ts]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
a      = "u32"
b      = "u32"
c      = "u32"
d      = "u32"
e      = "u32"
f      = "u32"
"""
    good = """\
table  = "sensors"
key    = "[bucket(sensor, 16)][sensor][ts]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
a      = { type = "u32", pack = "p" }
b      = { type = "u32", pack = "p" }
c      = { type = "u32", pack = "p" }
d      = { type = "u32", pack = "p" }
e      = { type = "u32", pack = "p" }
f      = { type = "u32", pack = "p" }
"""
    SMALL, MANY = 16, 6
    """Bytes of a value up to which it is small, and cells from which packing is worth a word."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        small = [
            cell
            for cell in subject.cells
            if len(cell.fields) == 1 and not cell.optional and cell.value_bytes <= self.SMALL
        ]
        if len(small) < self.MANY:
            return
        own = cell_bytes(0, 0, 0, 0) + subject.key_bytes + len(small[0].family)
        saved = (len(small) - 1) * own
        yield self.finding(
            subject.at("fields", small[0].fields[0]),
            f"{len(small)} small columns are {len(small)} cells of every event; packed into one "
            f"they would save about {saved:,.0f} of {subject.event_bytes:,.0f} bytes",
            'Write pack = "p" on those that are written and read together.',
            value=len(small),
            saved=saved,
            fields=[cell.fields[0] for cell in small],
        )
