"""The rule `families_flushed_together`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import cell_bytes
from rowkey.lint.contract import Rule
from rowkey.regions import FLUSH_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class FamiliesFlushedTogether(Rule):
    """Families that share the memory of a region, and are flushed unlike.

    What it does: with several families, estimates from the bytes of an event how large the files
    are that each flush writes of each family.

    Why it hurts: a region is flushed when all its families together hold 128 MB. Families that hold
    more than 128 MB / families, and 16 MB at least, are then written; the small ones wait in
    memory, and hold back the log, until they are written in small files.

    Use instead: one family, unless reads want one of them alone.

    Source: claim 17, a flush of one family flushes all, is outdated: FlushAllLargeStoresPolicy is
    the default since 1.2 and 2.0. Claims 18 and 42 agree: by what is read together.
    """

    name = "families_flushed_together"
    code = "RK304"
    severity: ClassVar[Severity] = "info"
    claims = (17, 18, 42)
    bad = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20, mean_bytes = 10, family = "d" }
photo = { type = "bytes", max_bytes = 50000, mean_bytes = 20000, family = "p" }

[families.d]
[families.p]
"""
    good = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20, mean_bytes = 10 }
photo = { type = "bytes", max_bytes = 50000, mean_bytes = 20000 }
"""
    LEAST = 16 * 2**20
    """Bytes of a store below which it is not flushed by itself.

    Source: hbase.hregion.percolumnfamilyflush.size.lower.bound.min, 16 MB.
    """

    def findings(self, subject: Subject) -> Iterator[Finding]:
        shares = self._shares(subject)
        if len(shares) < 2:
            return
        bound = max(FLUSH_SIZE // len(shares), self.LEAST)
        for name, share in shares.items():
            held = FLUSH_SIZE * share
            if held < bound:
                yield self.finding(
                    subject.nearest("families", name),
                    f"when a region is flushed, family {name} holds about {held / 2**20:.1f} of "
                    f"128 MiB: less than the {bound / 2**20:.0f} from which it is written, so it "
                    "waits, or is written in small files",
                    "Put it into the other family, unless reads want it alone.",
                    value=name,
                    verdict="A flush writes the large families only, since 1.2 and 2.0.",
                    held=round(held),
                    bound=bound,
                )

    @staticmethod
    def _shares(subject: Subject) -> dict[str, float]:
        """The share of an event's bytes in each family; none where widths are not known."""
        bytes_of = dict.fromkeys(subject.families, 0.0)
        for cell in subject.cells:
            if cell.fields and any(subject.fact(n).bytes_mean is None for n in cell.fields):
                return {}
            each = cell_bytes(0, 0, 0, 0) + subject.key_bytes + len(cell.qualifier)
            bytes_of[cell.family] += (each + cell.value_bytes) * cell.share
        total = sum(bytes_of.values())
        return {name: each / total for name, each in bytes_of.items()} if total else {}
