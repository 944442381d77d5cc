"""Rules on blocks, Bloom filters and caches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.schema import Equal

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.subject import LintSubject, PlannedRead


class BlocksUnlikeReads(Rule):
    """The block size does not suit the declared reads.

    What it does: compares a declared `block_size` with the declared reads: larger than 64 KiB where
    all of them are gets of single rows, smaller where none is.

    Why it hurts: a get reads and unpacks a whole block for one row. Small blocks under scans need
    an index with many entries, which stays in memory.

    Use instead: 64 KiB, the default; 16 or 32 KiB if there are only gets, 128 KiB or more if there
    are only scans.

    Source: HBase book, "BlockSize"; claim 31 agrees. TableDescriptorChecker allows 1 KiB to 16 MiB.
    """

    name = "blocks_unlike_reads"
    code = "RK406"
    severity: ClassVar[Severity] = "warning"
    claims = (31,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_size = 1048576

[[reads]]
name  = "a user"
where = "user = ?"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_size = 16384

[[reads]]
name  = "a user"
where = "user = ?"
"""
    DEFAULT_BLOCK_BYTES = 65_536
    """Bytes of a block by default. Source: HConstants, BLOCKSIZE of ColumnFamilyDescriptor."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose block size does not suit the reads."""
        plans = [one.plan for one in subject.reads if one.plan is not None]
        for name, family in subject.families.items():
            if not plans or not subject.is_declared("families", name, "block_size"):
                continue
            gets = sum(plan.is_point for plan in plans)
            if family.block_size > self.DEFAULT_BLOCK_BYTES and gets == len(plans):
                what = "every declared read gets a single row, and each get loads a whole block"
            elif family.block_size < self.DEFAULT_BLOCK_BYTES and not gets:
                what = (
                    "no declared read gets a single row, so small blocks only enlarge the "
                    "block index"
                )
            else:
                continue
            yield self.build_finding(
                subject.format_path("families", name, "block_size"),
                f"{what} of {family.block_size:,} bytes"
                if gets
                else f"{what}; blocks have {family.block_size:,} bytes",
                f"Set it to {self.DEFAULT_BLOCK_BYTES:,}, the default block_size of HBase.",
                value=family.block_size,
                family=name,
                gets=gets,
                reads=len(plans),
            )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the default block size for the family of a finding."""
        return {
            ("families", str(finding.evidence["family"]), "block_size"): self.DEFAULT_BLOCK_BYTES
        }


class UncachedGets(Rule):
    """The block cache is off for a family whose single rows are read.

    What it does: looks for `block_cache = false` where a declared read gets single rows.

    Why it hurts: each get reads its block from disk, or from another machine's, even if it was read
    a moment ago. Indexes and Bloom filters are cached anyway.

    Use instead: the default. Switch the cache off only for families that are scanned whole, and
    seldom.

    Source: HBase book, "Block Cache"; claim 32 agrees.
    """

    name = "uncached_gets"
    code = "RK407"
    severity: ClassVar[Severity] = "warning"
    claims = (32,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_cache = false

[[reads]]
name  = "a user"
where = "user = ?"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[[reads]]
name  = "a user"
where = "user = ?"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each uncached family whose single rows are read."""
        gets = [one for one in subject.reads if one.plan is not None and one.plan.is_point]
        for name, family in subject.families.items():
            if gets and not family.block_cache:
                yield self.build_finding(
                    subject.format_path("families", name, "block_cache"),
                    f"the read '{gets[0].read.name}' gets single rows, but the block cache of "
                    "this family is off",
                    "Remove block_cache, which turns the cache on.",
                    value=False,
                    family=name,
                    reads=[one.read.name for one in gets],
                )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the removal of block_cache from the family."""
        return {("families", str(finding.evidence["family"]), "block_cache"): None}


class InMemoryFamily(Rule):
    """The family is declared in_memory, which only gives its blocks priority in the cache.

    What it does: looks for `in_memory = true`, unless the table is known to fit into the quarter of
    the servers' block caches that it reserves; of heaps of 1 GiB, if theirs is not declared.

    Why it hurts: the option loads nothing into memory. It reserves a quarter of the block cache for
    such families; a large family there evicts its own blocks and those of all other in-memory
    families.

    Use instead: nothing; the cache finds out what is read often. For small tables that must be
    fast, such as a dictionary, the option is right: then allow the finding.

    Source: LruBlockCache, in-memory share 0.25; hfile.block.cache.size, 0.4; claim 35 says the
    table is in memory, which is wrong.
    """

    name = "in_memory_family"
    code = "RK408"
    severity: ClassVar[Severity] = "info"
    claims = (35,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
in_memory = true
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""

    RESERVED_HEAP_SHARE = 0.4 * 0.25
    """Share of the heap that all in-memory families have: a quarter of the block cache."""
    MIN_HEAP_BYTES = 1 << 30
    """Heap that every region server is taken to have: our choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that is declared in_memory."""
        cluster, size = subject.cluster, subject.final_bytes
        heap_bytes = cluster.heap_bytes or self.MIN_HEAP_BYTES
        reserved_bytes = self.RESERVED_HEAP_SHARE * heap_bytes * cluster.servers
        if 0 < size <= reserved_bytes:
            return
        for name, family in subject.families.items():
            if family.in_memory:
                yield self.build_finding(
                    subject.format_path("families", name, "in_memory"),
                    "in_memory does not load the family into memory; it only gives its blocks "
                    "priority in a quarter of the block cache",
                    "Remove in_memory, unless the family is small and must stay cached.",
                    value=True,
                    verdict="It is a priority in the cache, not a table in memory.",
                )


class BloomUnlikeReads(Rule):
    """The declared reads cannot use the family's Bloom filter.

    What it does: compares the declared filter with the reads. It reports NONE where single rows are
    read; ROWCOL where reads get many events of a row, or a row of several columns, as the file does
    not say whether a get names one column; ROW where each get reads one column of a row that many
    events share; ROWCOL where all declared reads are scans; and prefixes that are longer than what
    the reads fix.

    Why it hurts: without a filter that applies, a get looks into every file of the region. ROWCOL
    is used only by gets of one column, and has an entry for every cell. A filter of prefixes is
    used only by reads that fix a prefix at least as long.

    Use instead: ROW, the default, for gets; ROWCOL for gets of one column of a row whose columns
    are spread over many files; ROWPREFIX_FIXED_LENGTH(n) for scans that fix n bytes.

    Source: HBase book, "Bloom Filters"; claim 36 agrees: they help gets, not ranges.
    StoreFileReader.passesBloomFilter asks ROWCOL where exactly one column is named. HBASE-20636
    added the fixed prefix.
    """

    name = "bloom_unlike_reads"
    code = "RK411"
    severity: ClassVar[Severity] = "warning"
    claims = (36, 48)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
bloom = "NONE"

[[reads]]
name  = "a user"
where = "user = ?"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
bloom = "ROW"

[[reads]]
name  = "a user"
where = "user = ?"
"""

    MIN_PREFIXES = 1_000
    """Prefixes from which a filter of them is proposed, since most files have each of a few: our
    choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose Bloom filter the declared reads cannot use."""
        planned = [one for one in subject.reads if one.plan is not None]
        gets = [one for one in planned if one.plan and one.plan.is_point]
        pinned = {one.read.name: subject.count_pinned_bytes(one) for one in planned}
        for name, family in subject.families.items():
            if not subject.is_declared("families", name, "bloom"):
                continue
            path = subject.format_path("families", name, "bloom")
            if gets:
                yield from self._check_gets(subject, path, name, gets)
            elif family.bloom == "ROWCOL" and planned:
                yield self.build_finding(
                    path,
                    f"all declared reads are scans, such as '{planned[0].read.name}', which use "
                    "no Bloom filter of columns, and ROWCOL has an entry for every cell",
                    'Set bloom = "ROW".',
                    value=family.bloom,
                    verdict="Bloom filters of whole rows help gets only, not scans.",
                    family=name,
                    better="ROW",
                )
            length = family.prefix_length
            if length is not None and planned and max(pinned.values()) < length:
                longest = max(planned, key=subject.count_pinned_bytes)
                better = "ROW" if gets else self._choose_prefix(subject, longest)
                yield self.build_finding(
                    path,
                    f"the Bloom filter {family.bloom} needs the first {length} bytes of the "
                    f"row key, but no declared read gives that many; the read "
                    f"'{longest.read.name}' gives {pinned[longest.read.name]}",
                    f'Set bloom = "{better}".',
                    value=family.bloom,
                    verdict="Bloom filters of whole rows help gets only, not scans.",
                    family=name,
                    pinned=pinned[longest.read.name],
                    better=better,
                )

    def _choose_prefix(self, subject: LintSubject, planned_read: PlannedRead) -> str:
        """Return the Bloom filter of the longest useful prefix that a scan fixes, else ROW."""
        assert planned_read.plan is not None
        width, cardinality = 0, 1
        for part in subject.key.parts[: planned_read.plan.pinned_count]:
            if part.framing.width is None:
                break
            width += part.framing.width
            cardinality *= part.cardinality or self.MIN_PREFIXES
        return f"ROWPREFIX_FIXED_LENGTH({width})" if cardinality >= self.MIN_PREFIXES else "ROW"

    def _check_gets(
        self, subject: LintSubject, path: str, name: str, gets: list[PlannedRead]
    ) -> Iterator[Finding]:
        """Yield a finding if a family's Bloom filter does not suit the gets of single rows."""
        bloom = subject.families[name].bloom
        row_gets = [one.read.name for one in gets if not self._is_column_get(subject, name, one)]
        better = "ROW" if row_gets else "ROWCOL"
        first = row_gets[0] if row_gets else gets[0].read.name
        is_sure = all(self._is_multi_event_get(subject, one) for one in gets)
        severity: Severity | None = None
        condition = " if your client names the column" if better == "ROWCOL" else ""
        if bloom == "NONE":
            what = (
                f"the read '{first}' gets single rows, and without a Bloom filter each get "
                "opens every file"
            )
        elif bloom == "ROWCOL" and len(row_gets) == len(gets):
            severity = None if is_sure else "info"
            gets_many = "gets whole rows" if is_sure else "gets rows of several columns"
            condition = "" if is_sure else " if your clients name no column, or several"
            what = (
                f"the read '{first}' {gets_many}, but ROWCOL helps only gets of one column, "
                "and its filter needs an entry for every cell"
            )
        elif bloom == "ROW" and not row_gets:
            severity = "info"
            what = (
                f"the read '{first}' gets one column of a row that many events share; ROW "
                "shows which files have the row, but not which have that column"
            )
        else:
            return
        yield self.build_finding(
            path,
            what,
            f'Set bloom = "{better}"{condition}.',
            severity=severity,
            value=bloom,
            verdict="Bloom filters of whole rows help gets only, not scans.",
            family=name,
            better=better,
        )

    @staticmethod
    def _is_column_get(subject: LintSubject, family: str, planned_read: PlannedRead) -> bool:
        """Return whether a get reads exactly one cell of a family.

        False for rows of one event with a single cell: a client may or may not name its column.
        """
        cells = [cell for cell in subject.cells if cell.family == family]
        if len(cells) != 1:
            return False
        if subject.design.layout.qualifier_prefix is None:
            return subject.families[family].bloom == "ROWCOL"
        return not BloomUnlikeReads._is_multi_event_get(subject, planned_read)

    @staticmethod
    def _is_multi_event_get(subject: LintSubject, planned_read: PlannedRead) -> bool:
        """Return whether a get reads several events of one shared row."""
        opening = subject.design.layout.qualifier_prefix
        if opening is None:
            return False
        names = [each.name for each in opening.fields]
        names += [each.remainder.field for each in opening.slices]
        return not all(isinstance(planned_read.bounds.get(name), Equal) for name in names)

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the better filter for the family; nothing where only the client can decide."""
        better = str(finding.evidence["better"])
        if better == "ROWCOL" or finding.severity == "info":
            return {}
        return {("families", str(finding.evidence["family"]), "bloom"): better}


class IndexTooLarge(Rule):
    """The block indexes take much of the heap.

    What it does: where the table's size and the heap are known, estimates the index: one entry for
    each block, of a key and about 12 bytes.

    Why it hurts: the small roots of indexes stay in memory while their files are open, and their
    leaves are read through the block cache when they are needed. Leaves that fill half of the cache
    evict the data they point to, which is a remark; where they are larger than the cache, a read of
    any row reads a leaf from disk as well.

    Use instead: larger blocks, or shorter keys.

    Source: HBase book, "Try to minimize row and column sizes", on storefile indices; claim 81
    agrees. Claim 82 has compression enlarge the index: blocks are closed by their size before it,
    so there are as many entries. HFileWriterImpl.checkBlockBoundary. The figure is a rough one:
    data / block size × (key + 12), without values in MOB files. hfile.block.cache.size is 0.4.
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
block_size  = 4096
compression = "ZSTD"

[cluster]
heap = "1GiB"

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
heap = "1GiB"

[writes]
rate = "2000/s"
"""
    CACHE_SHARE = 0.4
    """Share of the heap that the block cache has, from which it is a warning."""
    MAX_HEAP_SHARE = CACHE_SHARE / 2
    """Share of the heap from which it is reported: our choice."""
    INDEX_ENTRY_BYTES = 12
    """Bytes of an entry without its key: an offset of 8 and a length of 4. Source:
    HFileBlockIndex."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose block indexes take much of the heap."""
        heap, size = subject.cluster.heap_bytes, subject.demand.plain_size
        mean = subject.mean_key_bytes
        if heap is None or not size or not subject.event_bytes or mean is None:
            return
        each, _ = subject.design.estimate_region_bytes(subject.facts)
        events = size / subject.event_bytes
        for name, event_bytes in each.items():
            cells = sum(one.event_share for one in subject.cells if one.family == name)
            blocks = events * min(event_bytes / subject.families[name].block_size, cells)
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
                severity="info" if index < self.CACHE_SHARE * heap else None,
                value=subject.families[name].block_size,
                verdict="Compression adds no entries: block sizes are before compression.",
                index_bytes=round(index),
                blocks=round(blocks),
            )


class IdleCacheWords(Rule):
    """A cache option is set in a family that is not cached.

    What it does: looks for `block_cache = false` together with `cache_data_on_write` or `prefetch`.

    Why it hurts: the options contradict each other. A reader of the file believes that the family
    is cached.

    Use instead: one or the other.

    Source: CacheConfig: data blocks are cached on write, and prefetched, only where they are cached
    when read.
    """

    name = "idle_cache_words"
    code = "RK414"
    severity: ClassVar[Severity] = "warning"
    claims = (32,)
    bad_design = """\
table  = "archive"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_cache = false
prefetch    = true
"""
    good_design = """\
table  = "archive"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_cache = false
"""
    CACHE_OPTIONS = ("cache_data_on_write", "prefetch")

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each cache option of a family that is not cached."""
        for name, family in subject.families.items():
            for word in self.CACHE_OPTIONS:
                if not family.block_cache and getattr(family, word):
                    yield self.build_finding(
                        subject.format_path("families", name, word),
                        f"{word} has no effect, because block_cache = false keeps the family "
                        "out of the block cache",
                        "Remove one of the two.",
                        value=True,
                        word=word,
                        family=name,
                    )

    def build_fix(self, subject: LintSubject, finding: Finding) -> Mapping[KeyPath, Any]:
        """Return the removal of the cache option that has no effect."""
        return {("families", str(finding.evidence["family"]), str(finding.evidence["word"])): None}
