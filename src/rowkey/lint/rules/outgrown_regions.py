"""The rule `outgrown_regions`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import FOREVER_S
from rowkey.hotspots import (
    count_unwritten_regions,
    find_bucket_clock_field,
    find_clock_field,
    has_many_empty,
)
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.proposals import ANOTHER_KEY, format_more_regions
from rowkey.regions import (
    ARTICLE_NAME,
    MAX_FILE_SIZE,
    choose_region_count,
)

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class OutgrownRegions(Rule):
    """The table will outgrow its regions.

    What it does: computes how large the table becomes from the rate and the ttl, from the number of
    possible rows and the versions kept, and compares that with its regions at 10 GiB each; with
    one, where keys follow the clock. Rows that are written again do not count twice. The size is
    that after encoding and compression, measured on a sample; without one it is that before them.

    Why it hurts: a region above hbase.hregion.max.filesize splits by itself, under load, and all of
    them at about the same time; one region for each bucket becomes two, with a boundary that nobody
    chose.

    Use instead: as many regions as the size needs, from the start, on enough servers; or a larger
    MAX_FILESIZE. Regions that take a week or more to fill split one by one, and the finding is a
    remark; where only a sample could tell how far bytes are compressed, they count as a tenth.
    Where keys rise within each bucket, further regions would get no write, so the regions are left
    to split, and the finding is a remark. Values in MOB files do not count.

    Source: claim 70, 6 to 8 GB a region: the default limit is 10 GiB, the book has 10 to 50, and
    at most 200 regions a server. Claim 73, size / 10 GB with a cap of 120, contradicts itself:
    10 TB in 120 regions are 85.3 GB each, which split anyway; it says nothing between 50 and 500
    GB. Claim 72, 5 to 10 regions below 50 GB, holds if every server has one.
    """

    name = "outgrown_regions"
    code = "RK802"
    looks_at_sample = True
    concerns_regions = True
    severity: ClassVar[Severity] = "warning"
    claims = (63, 70, 72, 73)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = { algorithm = "per_bucket", regions = 16 }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
ttl         = "90d"

[writes]
rate = "5000/s"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = { algorithm = "per_bucket", regions = 16 }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
ttl         = "1d"

[writes]
rate = "5000/s"
"""
    GIB = 1 << 30
    MAX_GROWTH = 2
    """Multiple of 10 GiB from which a size after compression is a warning, because regions then
    split more than once: our choice."""
    MAX_COMPRESSION_RATIO = 10
    """Multiple of 10 GiB from which a size before compression is a warning, because encoding and
    compression do not reduce it to a tenth: of five tables with `FAST_DIFF` and `ZSTD` that an
    engineer wrote without knowing of this, 12 to 20 % was left."""
    CHANGING_CODES = ("RK123", "RK124", "RK706")
    """Rules whose remedies name a number of buckets or servers, by which regions are counted."""
    MIN_DAYS_TO_FULL = 7
    """Days after which regions are full, from which it is a remark: our choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table will outgrow its regions."""
        size, each = subject.demand.size, subject.final_region_bytes
        if subject.boundaries is None or not subject.outgrows_its_splits:
            return
        regions, proposed_regions = len(subject.boundaries), subject.sizing.regions
        front = find_clock_field(subject.design, subject.facts)
        where = f"{each / self.GIB:,.1f} GiB in each of {pluralize(regions, 'region')}"
        ratio = self.MAX_GROWTH if subject.demand.is_compressed else self.MAX_COMPRESSION_RATIO
        least = each / ratio if self._is_compressed_later(subject) else each
        is_slow = self._count_days_to_full(subject, least) >= self.MIN_DAYS_TO_FULL
        severity: Severity = "info" if is_slow or each <= ratio * MAX_FILE_SIZE else "warning"
        remedy = self._format_remedy(subject, proposed_regions, regions)
        if front is None and (reason := self._explain_idle_regions(subject, proposed_regions)):
            min_servers = subject.count_needed_servers()
            written = self._find_written_count(subject, proposed_regions // 2, regions)
            if min_servers <= subject.cluster.servers and written is None:
                severity = "info"
            remedy = self._format_waiting_remedy(subject, written, min_servers, reason)
        if front is not None:
            where = (
                f"all of it written to one region at a time, because the key begins with {front}"
            )
            remedy = ANOTHER_KEY
        elif self._has_mostly_large_values(subject):
            names = " and ".join(subject.large_fields)
            remedy = (
                f"Put {names} into a family with mob = true first, as RK510 says: values in MOB "
                "files make no region larger; how many regions the rest needs is told then."
            )
        elif "missed_splits" in subject.causes:
            where = f"more than {each / self.GIB:,.1f} GiB in each region that gets rows"
        elif regions == 1 and subject.cluster.servers > 1:
            where = "all of it in one region at first"
        if front is None and (code := self._find_earlier_change(subject)):
            remedy = (
                f"Do what {code} says first; how many regions the table then needs is told once "
                "that is done."
            )
        yield self.build_finding(
            "splits",
            f"the table grows to {subject.demand.size_phrase}, {where}, and HBase splits a region "
            "above 10 GiB",
            remedy,
            severity=severity,
            value=regions,
            verdict=self._format_verdict(size),
            needs_key=front is not None,
            size=size,
            regions=regions,
            region_bytes=each,
            wanted=proposed_regions,
            opinions=[f"{o.source}: {o.reason}" for o in subject.sizing.opinions],
        )

    @classmethod
    def _find_earlier_change(cls, subject: LintSubject) -> str:
        """Return the code of a finding whose remedy gives other servers, buckets or splits."""
        return next(
            (
                one.code
                for one in subject.earlier_findings
                if one.code in cls.CHANGING_CODES or "splits = " in one.remedy
            ),
            "",
        )

    @staticmethod
    def _has_mostly_large_values(subject: LintSubject) -> bool:
        """Return whether values that belong into MOB files are most of what regions hold."""
        return 2 * sum(subject.large_fields.values()) > subject.event_bytes

    @staticmethod
    def _is_compressed_later(subject: LintSubject) -> bool:
        """Return whether compression makes less of the bytes than was measured."""
        return not subject.demand.is_compressed and all(
            {family.compression, family.compression_compact} - {"NONE", None}
            for family in subject.families.values()
        )

    @staticmethod
    def _count_days_to_full(subject: LintSubject, region_bytes: float) -> float:
        """Return after how many days a region is full that comes to have so many bytes.

        The number is 0 if the cells of a family are kept for ever, as the rate at which they come
        is then unknown.
        """
        ttl_s = max(family.ttl_s for family in subject.families.values())
        return 0.0 if ttl_s == FOREVER_S else ttl_s / 86_400 * MAX_FILE_SIZE / region_bytes

    @staticmethod
    def _explain_idle_regions(subject: LintSubject, regions: int) -> str:
        """Return why many of so many regions would get no write; empty if they would.

        Whether they would is counted with the sample, whose first half tells where to split.
        """
        sample, counts = subject.sample, None
        if sample is not None and not sample.is_thin:
            counts = count_unwritten_regions(sample.keys_with_salts, regions)
        if counts is not None:
            empty, tried = counts
            reason = (
                f"of {tried:,} regions split at keys of the first half of the sample, {empty:,} "
                "got no write of the second half"
            )
            return reason if has_many_empty(empty, tried) else ""
        name = find_bucket_clock_field(subject.design, subject.facts)
        return f"the keys of each bucket begin with {name}, which rises with time" if name else ""

    @classmethod
    def _find_written_count(cls, subject: LintSubject, most: int, regions: int) -> int | None:
        """Return a larger number of regions that get writes; None if there is none.

        Args:
            subject: the design.
            most: how many are wanted at most; half as many are tried next, and so on.
            regions: how many there are now.
        """
        servers = subject.cluster.servers
        while (count := most // servers * servers) > regions:
            if not cls._explain_idle_regions(subject, count):
                return count
            most //= 2
        return None

    @staticmethod
    def _format_waiting_remedy(
        subject: LintSubject, written_count: int | None, min_servers: int, reason: str
    ) -> str:
        """Return the remedy where many further regions would get no write: to let them split."""
        use = "Keep these splits"
        if written_count is not None:
            use = f"Write {format_more_regions(subject.design, written_count)} and no more"
        servers = ""
        if min_servers > subject.cluster.servers:
            servers = f" Use {min_servers:,} servers or more for all its regions."
        return (
            f"{use}: {reason}. HBase splits a region when it is full; for fewer splits raise "
            f"MAX_FILESIZE of the table in HBase.{servers}"
        )

    @staticmethod
    def _format_remedy(subject: LintSubject, proposed_regions: int, regions: int) -> str:
        """Return the remedy: more regions, more servers for them, or a larger MAX_FILESIZE."""
        min_servers = subject.count_needed_servers()
        raising = "raise MAX_FILESIZE of the table in HBase"
        if min_servers > subject.cluster.servers:
            demand = replace(subject.demand, servers=min_servers)
            needed_regions = choose_region_count(demand).regions
            options = format_more_regions(subject.design, needed_regions)
            return f"Use {min_servers:,} servers or more and write {options}, or {raising}."
        if proposed_regions > regions:
            return f"Write {format_more_regions(subject.design, proposed_regions)}, or {raising}."
        return f"R{raising[1:]}, or use more servers."

    @classmethod
    def _format_verdict(cls, size: int) -> str:
        """Return where the article's table of region counts fails for this size."""
        size_gb = size / cls.GIB
        if 50 <= size_gb < 500:
            return f"The table of the {ARTICLE_NAME} says nothing between 50 and 500 GB."
        if 1_200 < size_gb <= 10_240:
            return (
                f"The cap of 120 regions in the {ARTICLE_NAME} would make {size_gb / 120:,.1f} GB "
                "each, which split anyway."
            )
        return ""
