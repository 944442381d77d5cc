"""The rule `index_too_large`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class IndexTooLarge(Rule):
    """The block indexes take much of the heap.

    What it does: where the table's size and the heap are known, estimates the index: one entry for
    each block, of a key and about 12 bytes.

    Why it hurts: the roots of indexes stay in memory while their files are open, and their leaves
    are cached like blocks. With long keys and small blocks they evict the data they point to.

    Use instead: larger blocks, or shorter keys.

    Source: HBase book, "Try to minimize row and column sizes", on storefile indices; claim 81
    agrees. Claim 82 has compression enlarge the index: blocks are closed by their size before it,
    so there are as many entries. HFileWriterImpl.checkBlockBoundary. The figure is a rough one:
    data / block size × (key + 12).
    """

    name = "index_too_large"
    code = "RK412"
    severity: ClassVar[Severity] = "warning"
    claims = (81, 82)
    bad_design = """\
table  = "pages"
key    = "[bucket(url, 16)][url]"
splits = "per_bucket"

[fields]
url   = { type = "text", max_bytes = 2000, mean_bytes = 90, distinct = 700_000_000 }
state = { type = "text", max_bytes = 200, mean_bytes = 100 }

[families.d]
ttl         = "4d"
block_size  = 8192
compression = "ZSTD"

[cluster]
heap = "4GiB"

[writes]
rate = "2000/s"
"""
    good_design = """\
table  = "pages"
key    = "[bucket(url, 16)][url]"
splits = "per_bucket"

[fields]
url   = { type = "text", max_bytes = 2000, mean_bytes = 90, distinct = 700_000_000 }
state = { type = "text", max_bytes = 200, mean_bytes = 100 }

[families.d]
ttl         = "3d"
compression = "ZSTD"

[cluster]
heap = "4GiB"

[writes]
rate = "2000/s"
"""
    MAX_HEAP_SHARE = 0.05
    """Share of the heap from which it is reported: an eighth of the block cache's 40 %."""
    INDEX_ENTRY_BYTES = 12
    """Bytes of an entry without its key: an offset of 8 and a length of 4. Source:
    HFileBlockIndex."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose block indexes take much of the heap."""
        heap, size = subject.cluster.heap_bytes, subject.demand.plain_size
        mean = subject.mean_key_bytes
        if heap is None or not size or mean is None:
            return
        share_of = {cell.family: 0.0 for cell in subject.cells}
        for cell in subject.cells:
            share_of[cell.family] += cell.event_share / sum(
                one.event_share for one in subject.cells
            )
        for name, share in share_of.items():
            blocks = size * share / subject.families[name].block_size
            index = blocks * (mean + self.INDEX_ENTRY_BYTES) / subject.cluster.servers
            if index < self.MAX_HEAP_SHARE * heap:
                continue
            yield self.build_finding(
                subject.find_nearest_path("families", name, "block_size")
                if subject.is_declared("families", name)
                else "key",
                f"the block indexes of family {name} take about {index / 2**20:,.0f} of the "
                f"{heap / 2**20:,.0f} MiB heap of each server, for {blocks:,.0f} blocks with "
                f"keys of {mean:.0f} bytes",
                "Use larger blocks, or shorter keys.",
                value=subject.families[name].block_size,
                verdict="Compression adds no entries: block sizes are before compression.",
                index_bytes=round(index),
                blocks=round(blocks),
            )
