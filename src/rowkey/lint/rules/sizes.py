"""Rules on how large a table becomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from rowkey.cells import FOREVER_S
from rowkey.findings import Finding, Severity
from rowkey.hotspots import (
    count_unwritten_regions,
    find_bucket_clock_field,
    find_clock_field,
    has_many_empty,
)
from rowkey.lint.contract import Rule
from rowkey.lint.subject import DAYS_OF_A_YEAR, MAX_COMPRESSION_RATIO, LintSubject
from rowkey.messages import format_days, format_number, pluralize
from rowkey.proposals import ANOTHER_KEY, format_more_regions
from rowkey.regions import (
    ARTICLE_NAME,
    MAX_FILE_SIZE,
    choose_region_count,
    compute_memstore_regions,
)


class ManyRegions(Rule):
    """There are more regions than the servers should hold or the data fills.

    What it does: compares the regions that the table is created with with what the HBase book
    allows for each server, and, where rate and ttl tell how large the table becomes, with what its
    data fills.

    Why it hurts: each region has a memstore and files for every family. Small regions are flushed
    and compacted for little, a restart opens all of them, and a full scan asks each.

    Use instead: about ten for each server to start with, as a multiple of the servers, and fewer
    for a small table; a region splits by itself when it has grown.

    Source: claim 74, the book's figures: 20 to 200 regions a server for all tables, about 10 to
    start with, 50 to 100 a table of one or two families. Claim 75, scans ask for fewer regions.
    """

    name = "many_regions"
    code = "RK801"
    announced_codes = ("RK802",)
    concerns_regions = True
    severity: ClassVar[Severity] = "warning"
    claims = (74, 75)
    bad_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 2000 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
"""
    good_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 80 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
"""
    MAX_REGIONS_PER_SERVER = 200
    """Regions of one server, all tables together: HBase book."""
    START_REGIONS_PER_SERVER = 10
    """Regions of one server to start with: HBase book."""
    SMALL_REGION_BYTES = 1 << 30
    """Bytes below which a region is small: its whole data fits into eight memstore flushes."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if there are more regions than servers or data justify."""
        if subject.boundaries is None or not subject.is_declared("splits"):
            return
        regions, servers = len(subject.boundaries), subject.cluster.servers
        size, proposed_regions = subject.demand.size, subject.sizing.regions
        each = regions / servers
        if each > self.MAX_REGIONS_PER_SERVER:
            problem = (
                f"the HBase book allows {self.MAX_REGIONS_PER_SERVER} on a server for all "
                "tables together"
            )
        elif (
            size
            and each > self.START_REGIONS_PER_SERVER
            and size / regions < self.SMALL_REGION_BYTES
            and regions > proposed_regions
        ):
            problem = (
                f"each region holds only {size / regions / 2**20:,.0f} MiB "
                f"{subject.demand.compression_phrase} once the table has its full size"
            )
        else:
            return
        is_small = each <= self.MAX_REGIONS_PER_SERVER
        start = proposed_regions
        if not is_small:
            start = min(
                max(start, self.START_REGIONS_PER_SERVER * servers),
                self.MAX_REGIONS_PER_SERVER * servers,
            )
        min_servers = subject.count_needed_servers()
        needs_servers = min_servers > servers
        advice = ""
        if needs_servers or size / start > MAX_FILE_SIZE:
            advice = ", and raise MAX_FILESIZE"
        if needs_servers:
            advice += f"; or use {min_servers:,} servers or more"
        yield self.build_finding(
            "splits",
            f"{pluralize(regions, 'region')} on {pluralize(servers, 'server')} make "
            f"{each:,.0f} on each server, and {problem}",
            f"Use {start:,} regions or fewer, as a multiple of {servers:,}{advice}.",
            severity="info" if is_small else "warning",
            value=regions,
            verdict="The HBase book: 20 to 200 regions for each server, about 10 to start with.",
            regions=regions,
            per_server=each,
            size=size or None,
            wanted=proposed_regions,
        )


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
    CHANGING_CODES = ("RK123", "RK124", "RK403", "RK706")
    """Rules whose remedies name a number of buckets or servers, or a time to live, by which regions
    are counted."""
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
        ratio = self.MAX_GROWTH if subject.demand.is_compressed else MAX_COMPRESSION_RATIO
        least = each / subject.compressible_ratio
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
                f"Store {names} in MOB files first, as RK510 says: they make no region larger; how "
                "many regions the rest needs is counted then."
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
    def format_general_advice(cls, finding: Finding) -> str:
        """Return how large regions may become, and with how many of them."""
        regions, wanted = finding.evidence["regions"], finding.evidence["wanted"]
        count = max(regions, wanted)
        gib = -(-int(finding.evidence["size"]) // (count << 30))
        limit = f"MAX_FILESIZE of the table in HBase to {gib:,} GiB"
        start = f"create the table with {count:,} regions, and " if count > regions else ""
        return f"{start}raise {limit}"

    @classmethod
    def _find_earlier_change(cls, subject: LintSubject) -> str:
        """Return the code of a finding whose remedy changes servers, buckets, splits or the ttl."""
        changing = (
            one
            for one in subject.earlier_findings
            if one.code in cls.CHANGING_CODES
            or "splits = " in one.remedy
            or (one.code == "RK205" and "buckets" in one.remedy)
            or (one.code == "RK409" and subject.family_sizes)  # measured as it is
        )
        first = max(changing, key=lambda one: one.rank, default=None)
        return "" if first is None else first.code

    @staticmethod
    def _has_mostly_large_values(subject: LintSubject) -> bool:
        """Return whether values that belong into MOB files are most of what regions hold."""
        return 2 * sum(subject.large_fields.values()) > subject.event_bytes

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


class EndlessGrowth(Rule):
    """The table receives rows at a known rate and never deletes any.

    What it does: applies where each event is a row with its own time, and the file declares a rate
    and families without a ttl. It computes how many bytes each day adds, without values in MOB
    files, as a sample shows them after encoding and compression or else before them, counting a row
    that is written again once for each version kept, and in how many days the regions are full.

    Why it hurts: the region count is right only until then. Afterwards every region splits, again
    and again, as long as the table lives, until the disks are full.

    Use instead: a ttl, if rows are read only for some time; otherwise enough regions for the years
    to come, and a larger MAX_FILESIZE. Regions that take a week or more to fill split one by one,
    and the finding is a remark.

    Source: claim 28, the time to live is FOREVER by default, 2,147,483,647 s; claim 70, a region
    splits by itself above 10 GiB. Days are regions · 10 GiB / (bytes that stay of a day).
    """

    name = "endless_growth"
    code = "RK803"
    severity: ClassVar[Severity] = "info"
    claims = (28, 70)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"

[writes]
rate = "100/s"
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"
ttl         = "30d"

[writes]
rate = "100/s"
"""
    MIN_DAYS_TO_FULL = 7
    """Days after which regions are full, from which it is a remark: our choice, as of RK802."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table receives rows at a known rate and deletes none."""
        a_day = subject.endless_bytes_a_year / DAYS_OF_A_YEAR
        if not a_day or subject.boundaries is None or not subject.is_declared("families"):
            return
        regions = len(subject.boundaries)
        days = regions * MAX_FILE_SIZE / a_day
        if days > DAYS_OF_A_YEAR:
            return
        name = next(iter(subject.families))
        yield self.build_finding(
            subject.find_nearest_path("families", name),
            f"{format_number(a_day / 2**30)} GiB, {subject.demand.compression_phrase}, are written "
            f"each day and never deleted; {pluralize(regions, 'region')} of 10 GiB are full after "
            f"{format_days(days)}",
            "Declare a ttl for the families, or create enough regions for the expected size.",
            severity="warning" if days < self.MIN_DAYS_TO_FULL else None,
            value="FOREVER",
            verdict="A region splits by itself above 10 GiB, not at 6 to 8.",
            bytes_a_day=a_day,
            days=days,
            regions=regions,
        )


class CrowdedMemstores(Rule):
    """A server holds more regions and families than its heap has memstores for.

    What it does: where the heap is declared, compares the regions of this table on one server with
    heap · 0.4 / (128 MB · families), and the regions that the table's size needs with the sum over
    all servers: a remark, because regions that time has filled get no writes any more. Where only a
    sample could tell how far bytes are compressed, they count as a tenth.

    Why it hurts: all memstores of a server share 0.4 of its heap. If they fill that before any of
    them is full, the server flushes early: small files, more compactions, and blocked writes.

    Use instead: fewer regions, one family, a larger heap or more servers.

    Source: claim 74, the book's formula, 51 regions at 16 GB and one family; claim 17, each family
    has a MemStore, and today's FlushAllLargeStoresPolicy flushes the large ones alone: the memory
    is divided all the same. hbase.regionserver.global.memstore.size.
    """

    name = "crowded_memstores"
    code = "RK804"
    severity: ClassVar[Severity] = "warning"
    claims = (6, 17, 74)
    bad_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 400 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
heap    = "4GiB"
"""
    good_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 400 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 8
heap    = "16GiB"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the servers' heap has too few memstores for the regions."""
        cluster, families = subject.cluster, len(subject.families)
        if cluster.heap_bytes is None:
            return
        regions_per_server = compute_memstore_regions(cluster.heap_bytes, families)
        max_regions = regions_per_server * cluster.servers
        regions = len(subject.boundaries) if subject.boundaries is not None else 0
        ratio = subject.compressible_ratio
        needed_regions = -(-subject.demand.size // (MAX_FILE_SIZE * ratio))
        if max(regions, needed_regions) <= max_regions:
            return
        family_phrase = f"{families} families" if families > 1 else "one family"
        has_too_many = regions > max_regions
        if has_too_many:
            problem = (
                f"{pluralize(regions, 'region')} with {family_phrase} make "
                f"{regions / cluster.servers:,.0f} regions on each server"
            )
        else:
            problem = (
                f"the table will grow to {pluralize(needed_regions, 'region')} with {family_phrase}"
            )
            if ratio > 1:
                problem += f", even if compression leaves 1 of {ratio} bytes"
            elif subject.demand.is_compressed:
                problem += " after compression"
        yield self.build_finding(
            "cluster.heap",
            f"{problem}, but a heap of {format_number(cluster.heap_bytes / 2**30)} GiB has "
            f"memstores for {regions_per_server} on each server, {max_regions:,} in all",
            "Use fewer or larger regions, fewer families, more heap or more servers.",
            severity=self.severity if has_too_many else "info",
            value=cluster.heap_bytes,
            verdict=(
                "All families of a server share this memory, even if a flush writes only "
                "one of them."
            ),
            regions=regions or None,
            needed=needed_regions or None,
            memstores=regions_per_server,
            families=families,
        )


MAX_COUNT_ERROR = 1.1
"""Times the declared values from which on an estimated count of them is surely above it."""


class ExceededDistinct(Rule):
    """A sample has more values of a field than the design file declares for the whole table.

    What it does: compares `distinct` of each field with the values that the sample has.

    Why it hurts: `distinct` is the number of values of the table: it decides how many rows each
    value has, how many buckets are worth their ranges, and how the table grows. Each of these
    figures is then wrong.

    Use instead: the number of values that the table will have, or no `distinct` at all.

    Source: the sample; an estimated number of values counts from a tenth above the declared one on.
    """

    name = "exceeded_distinct"
    code = "RK805"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = { type = "u32", distinct = 100 }
ts    = "timestamp_s"
"""
    good_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
meter = { type = "u32", distinct = 5000 }
ts    = "timestamp_s"
"""
    sample_csv = "meter,ts\n" + "".join(
        f"{n * 7919 % 301},{1_700_000_000 + n}\n" for n in range(1_800)
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each field with more sampled than declared values."""
        if subject.sample is None:
            return
        for name, field in subject.design.fields.items():
            declared, facts = field.declaration.distinct, subject.sample.facts.get(name)
            found = None if facts is None else facts.distinct_count
            if declared is None or facts is None or found is None:
                continue
            if found <= declared * (1 if facts.exact else MAX_COUNT_ERROR):
                continue
            yield self.build_finding(
                subject.format_path("fields", name, "distinct"),
                f"{name} is declared to have {declared:,} values, but the sample has {found:,}",
                f"Declare as many values as the whole table will have, {found:,} or more; or leave "
                "distinct out.",
                value=declared,
                field=name,
                values=found,
            )
