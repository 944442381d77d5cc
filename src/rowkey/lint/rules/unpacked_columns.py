"""The rule `unpacked_columns`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import compute_cell_bytes
from rowkey.lint.contract import Rule
from rowkey.messages import format_number

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject
    from rowkey.rows import CellEstimate


class UnpackedColumns(Rule):
    """Every event writes many small columns, each in its own cell.

    What it does: counts, in each family with one version, columns that are always present, that no
    read tests and that are smaller than the rest of their cell.

    Why it hurts: a cell repeats the key, the family and a name, and has 20 bytes of its own, so
    eight numbers of 4 bytes take many times their 32. The memstore, the WAL and the cache hold all
    of it; only files are encoded.

    Use instead: `pack = "p"` on those columns: one cell for all. A packed field cannot be written
    alone, filtered by the server, or kept in versions of its own.

    Source: KeyValue.java, 20 bytes and key, family and qualifier a cell; claim 45 agrees. Claim 5
    counts the key once a row, where it stands once a cell.
    """

    name = "unpacked_columns"
    code = "RK502"
    severity: ClassVar[Severity] = "info"
    claims = (5, 45)
    bad_design = """\
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
    good_design = """\
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
    MIN_COLUMNS = 8
    """Columns from which it is reported: our choice, because packing then saves seven of eight
    overheads."""
    PACKED_OVERHEAD_BYTES = 2
    """Bytes that a packed value needs besides its own: a number, a type and a length. Source:
    msgpack."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if events write many small columns that one cell could hold."""
        tested = {name for one in subject.reads if one.plan for name in one.plan.residual_fields}
        key_bytes = subject.mean_key_bytes or subject.key.part_sequence.framing.min_bytes
        for name, family in subject.families.items():
            overhead = compute_cell_bytes(0, len(name.encode()), 0, 0) + key_bytes
            small = [
                cell
                for cell in subject.cells
                if cell.family == name
                and self._is_unpacked_column(subject, cell)
                and cell.fields[0] not in tested
                and cell.mean_value_bytes <= overhead
            ]
            if len(small) < self.MIN_COLUMNS or family.versions > 1:
                continue
            names = sum(len(cell.qualifier) for cell in small)
            saved = (len(small) - 1) * overhead + names - self.PACKED_OVERHEAD_BYTES * len(small)
            values = sum(cell.mean_value_bytes for cell in small)
            yield self.build_finding(
                subject.format_path("fields", small[0].fields[0]),
                f"every event writes {len(small)} columns with {format_number(values)} bytes "
                f"in all; packed into one cell, they would take at least {saved:,.0f} bytes less",
                'Set pack = "p" on the columns that are always written together.',
                value=len(small),
                fields=[cell.fields[0] for cell in small],
                saved=saved,
            )

    @staticmethod
    def _is_unpacked_column(subject: LintSubject, cell: CellEstimate) -> bool:
        """Return whether a cell holds exactly one unpacked field that every event has."""
        if len(cell.fields) != 1 or cell.optional or cell.event_share < 1:
            return False
        return subject.design.fields[cell.fields[0]].declaration.pack is None
