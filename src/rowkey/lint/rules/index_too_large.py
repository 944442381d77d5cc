"""The rule `index_too_large`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class IndexTooLarge(Rule):
    """Block indexes that take much of the heap.

    What it does: where the size of the table and the heap are known, estimates the index: an entry
    for each block, of a key and about 12 bytes.

    Why it hurts: the roots of indexes stay in memory while their files are open, and their leaves
    are cached as blocks are. With long keys and small blocks they drive out the data they point to.

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
    bad = """\
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
    good = """\
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
    SHARE = 0.05
    """Share of the heap from which it is said: an eighth of the block cache's own 40 %."""
    ENTRY = 12
    """Bytes of an entry beside its key: an offset of 8 and a length of 4. HFileBlockIndex."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        heap, size = subject.cluster.heap, subject.demand.size
        mean = subject.known_key_bytes
        if heap is None or not size or mean is None:
            return
        share_of = {cell.family: 0.0 for cell in subject.cells}
        for cell in subject.cells:
            share_of[cell.family] += cell.share / sum(one.share for one in subject.cells)
        for name, share in share_of.items():
            blocks = size * share / subject.families[name].block_size
            index = blocks * (mean + self.ENTRY) / subject.cluster.servers
            if index < self.SHARE * heap:
                continue
            yield self.finding(
                subject.nearest("families", name, "block_size")
                if subject.says("families", name)
                else "key",
                f"indexes of family {name} come to about {index / 2**20:,.0f} MiB of each server's "
                f"{heap / 2**20:,.0f}: {blocks:,.0f} blocks with keys of {mean:.0f} bytes",
                "Take larger blocks, or shorter keys.",
                value=subject.families[name].block_size,
                verdict="Compression adds no entry: a block is closed by its size before it.",
                index_bytes=round(index),
                blocks=round(blocks),
            )
