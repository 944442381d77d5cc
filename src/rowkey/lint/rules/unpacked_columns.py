"""The rule `unpacked_columns`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import cell_bytes
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject
    from rowkey.rows import CellShape


class UnpackedColumns(Rule):
    """Many small columns that every event writes, each in a cell of its own.

    What it does: counts, in each family of one version, columns that no event lacks, that no read
    tests and that are smaller than what their cell has beside them.

    Why it hurts: a cell repeats the key, the family and a name, and has 20 bytes besides, so eight
    numbers of 4 bytes take many times their 32. The MemStore, the log of writes and the cache hold
    all of it; only files can be encoded.

    Use instead: `pack = "p"` on those columns: one cell for all. What is lost is that a single one
    of them can be written, filtered by the server, or kept in versions.

    Source: KeyValue.java, 20 bytes and key, family and qualifier a cell; claim 45 agrees. Claim 5
    counts the key once a row, where it stands once a cell.
    """

    name = "unpacked_columns"
    code = "RK502"
    severity: ClassVar[Severity] = "info"
    claims = (5, 45)
    bad = """\
table  = "cars"
key    = "[bucket(car, 16)][car][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
car   = "u32"
speed = "u8"
rpm   = "u16"
fuel  = "u8"
oil   = "u8"
gear  = "u8"
brake = "u8"
lat   = "float64"
lon   = "float64"
"""
    good = """\
table  = "cars"
key    = "[bucket(car, 16)][car][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
car   = "u32"
speed = { type = "u8", pack = "p" }
rpm   = { type = "u16", pack = "p" }
fuel  = { type = "u8", pack = "p" }
oil   = { type = "u8", pack = "p" }
gear  = { type = "u8", pack = "p" }
brake = { type = "u8", pack = "p" }
lat   = { type = "float64", pack = "p" }
lon   = { type = "float64", pack = "p" }
"""
    MANY = 8
    """Columns from which it is told: a choice of ours; seven of eight overheads go."""
    LABEL = 2
    """Bytes a packed value has beside it: its number, and its type and length. Source: msgpack."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        tested = {name for one in subject.reads if one.plan for name in one.plan.residual}
        key_bytes = subject.known_key_bytes or subject.key.body.framing.least
        for name, family in subject.families.items():
            overhead = cell_bytes(0, len(name.encode()), 0, 0) + key_bytes
            small = [
                cell
                for cell in subject.cells
                if cell.family == name
                and self._is_lone(subject, cell)
                and cell.fields[0] not in tested
                and cell.value_bytes <= overhead
            ]
            if len(small) < self.MANY or family.versions > 1:
                continue
            names = sum(len(cell.qualifier) for cell in small)
            saved = (len(small) - 1) * overhead + names - self.LABEL * len(small)
            values = sum(cell.value_bytes for cell in small)
            yield self.finding(
                subject.at("fields", small[0].fields[0]),
                f"{len(small)} columns of {values:,.3g} bytes in all that every event writes: as "
                f"one cell they would take at least {saved:,.0f} bytes less an event",
                'Set pack = "p" on those that are always written together.',
                value=len(small),
                fields=[cell.fields[0] for cell in small],
                saved=saved,
            )

    @staticmethod
    def _is_lone(subject: Subject, cell: CellShape) -> bool:
        """Whether a cell has one field, not packed, that no event lacks."""
        if len(cell.fields) != 1 or cell.optional or cell.share < 1:
            return False
        return subject.design.fields[cell.fields[0]].words.pack is None
