"""Rules on the regions that a table begins with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.design import format_toml_value
from rowkey.findings import Finding, Severity
from rowkey.hotspots import compute_region_shares, find_equal_steps
from rowkey.lint.contract import Rule
from rowkey.messages import pluralize
from rowkey.proposals import format_quantile_splits
from rowkey.regions import MAX_FILE_SIZE, choose_first_regions, to_string_binary
from rowkey.schema import Constant, FunctionCall

if TYPE_CHECKING:
    from rowkey.lint.subject import LintSubject


class MissedSplitsRule(Rule):
    """The splits do not match the keys.

    What it does: asks the leading part which bytes it can have, and assigns them to the declared
    regions.

    Why it hurts: regions without keys stay empty for ever, and the others take their load. Splits
    at 00, 10 … 90 under hexadecimal digits leave 43.75 % of all rows to the last region, and none
    to the first.

    Use instead: `per_bucket` where the first part has a fixed number of values; `hex_string` for
    hexadecimal digits, `decimal_string` for decimal digits, `uniform` for raw bytes, otherwise a
    sample.

    Source: claim 56 splits hexadecimal digits at 00..90; claim 71 chooses the algorithm by the sort
    of prefix, which agrees. The shares are computed. RegionSplitter.java.
    """

    name = "missed_splits"
    code = "RK201"
    looks_at_sample = True
    measured_by = "writes"
    concerns_regions = True
    holds_for_reads = True
    severity: ClassVar[Severity] = "warning"
    claims = (56, 71)
    cause = "missed_splits"
    bad_design = """\
table  = "users"
key    = "[digest(user, 4, as=hex)][user]"
splits = ["00", "10", "20", "30", "40", "50", "60", "70", "80", "90"]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[cluster]
servers = 11
"""
    good_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    other_codes = ("RK119",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the splits do not match the row keys."""
        cause = subject.causes.get(self.cause)
        if cause is not None:
            yield self.build_finding(
                subject.find_nearest_path("splits") if subject.is_declared("splits") else "key",
                cause.message,
                cause.remedy,
                severity="info" if "assumed" in cause.evidence else None,
                value=subject.declared_tree.get("splits"),
                verdict="Choose the split algorithm by the bytes that keys start with.",
                needs_key=cause.needs_key,
                **cause.evidence,
            )


class UnevenRegions(Rule):
    """The regions do not divide evenly among the servers.

    What it does: compares the number of regions that hold keys with the servers.

    Why it hurts: the balancer gives some servers one region more. Ten equal regions on eight
    servers load two of them with 1.6 times the mean, and these limit the table.

    Use instead: a multiple of the servers, at least twice as many, so that one more server changes
    little.

    Source: ceil(k / S) · S / k, the pigeonhole principle. Claims 10 and 14 ask for even regions:
    what must be even is the load of the servers.
    """

    name = "uneven_regions"
    code = "RK202"
    looks_at_sample = True
    measured_by = "writes"
    concerns_regions = True
    severity: ClassVar[Severity] = "info"
    claims = (10, 14)
    cause = "integer_imbalance"
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 10)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    WARNING_SKEW = 1.5
    """Load of the busiest server over the mean, from which it is a warning."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the regions do not divide evenly among the servers."""
        cause = subject.causes.get(self.cause)
        if subject.outgrows_its_splits or "missed_splits" in subject.causes:
            return  # RK802 and RK201 name a number of regions, which the servers divide as well
        if cause is not None and cause.evidence["regions"] > subject.cluster.servers:
            yield self.build_finding(
                subject.find_nearest_path("splits") if subject.is_declared("splits") else "key",
                cause.message,
                cause.remedy,
                severity="warning" if cause.bound >= self.WARNING_SKEW else "info",
                verdict=(
                    "A key prefix for each region is even only if the servers divide the "
                    "number of regions."
                ),
                value=subject.declared_tree.get("splits"),
                needs_key=cause.needs_key,
                **cause.evidence,
            )


class OneRegionAtFirst(Rule):
    """The table starts with one region, although its keys could be spread over many.

    What it does: looks for designs without splits, or with one region, whose keys do not move with
    the clock; not for tables known to need no more than one region and one server.

    Why it hurts: until 256 MB have been written, the one region takes all load. It then splits at
    the middle of the keys it happens to hold, and each half again, under full load.

    Use instead: `splits = "per_bucket"` for a bucketed key, equal steps for one that begins with a
    hash, `"sample"` for any other.

    Source: claim 63, automatic splits skew, pre-split: agrees. SteppingSplitPolicy: twice the flush
    size of 128 MB for a table's only region on its server.
    """

    name = "one_region_at_first"
    code = "RK203"
    measured_by = "writes"
    concerns_regions = True
    holds_for_reads = True
    severity: ClassVar[Severity] = "info"
    claims = (63,)
    bad_design = """\
table = "logs"
key   = "[bucket(host, 16)][host][ts]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    BUSY_BYTES_PER_S = 1_000_000
    """Bytes a second from which the first 256 MB take minutes, not hours, and splits hurt."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table starts with one region but could be split."""
        boundaries, servers = subject.boundaries, subject.cluster.servers
        if boundaries is None or len(boundaries) > 1 or servers == 1:
            return
        is_small = 0 < subject.final_bytes <= MAX_FILE_SIZE and subject.needs_no_spreading
        if "moving_front" in subject.causes or is_small:
            return
        writes = subject.demand.writes or 0
        hurts = (
            writes >= self.BUSY_BYTES_PER_S
            or subject.has_measured("integer_imbalance")
            or not subject.can_read_from_one_server
        )
        yield self.build_finding(
            "splits" if subject.is_declared("splits") else "key",
            f"the table starts with one region, so one of {pluralize(servers, 'server')} takes "
            "all load until this region splits",
            self._format_remedy(subject),
            severity="warning" if hurts else "info",
            value=subject.declared_tree.get("splits"),
            writes=writes or None,
        )

    @staticmethod
    def _format_remedy(subject: LintSubject) -> str:
        """Return the remedy: splits that fit the leading bytes, or a longer sample."""
        if subject.bucket_count is not None:
            return 'Write splits = "per_bucket".'
        if (equal := find_equal_steps(subject.design)) is not None:
            regions = choose_first_regions(subject.demand)
            splits = format_toml_value({"algorithm": equal, "regions": regions})
            return f"Write splits = {splits}, because the leading bytes are spread evenly."
        if subject.design.splits.needs_sample:
            return (
                "Record a sample with more different keys; all quantiles of this sample "
                "are the same key."
            )
        return f"Write {format_quantile_splits(subject.design)}."


class EmptyFirstRegion(Rule):
    """The first split is at the lowest possible key.

    What it does: asks the leading part whether any key sorts before the first split.

    Why it hurts: the region before that split stays empty for ever. It is counted, assigned and
    balanced like any other, so one server has one region less to serve.

    Use instead: remove the first split; n regions have n - 1 splits.

    Source: claim 56 begins its splits with 00, under which no key begins. A table's first region
    has no start: HBase book, "Pre-splitting tables with RegionSplitter".
    """

    name = "empty_first_region"
    code = "RK204"
    severity: ClassVar[Severity] = "info"
    claims = (56,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 8)][user]"
splits = [
  "\\\\x00", "\\\\x01", "\\\\x02", "\\\\x03", "\\\\x04", "\\\\x05", "\\\\x06", "\\\\x07",
]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 8)][user]"
splits = ["\\\\x01", "\\\\x02", "\\\\x03", "\\\\x04", "\\\\x05", "\\\\x06", "\\\\x07"]

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }
"""
    other_codes = ("RK202",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the first split key leaves the first region empty."""
        boundaries = subject.boundaries
        if boundaries is None or len(boundaries) == 1 or "missed_splits" in subject.causes:
            return
        if (
            compute_region_shares(subject.key, boundaries)[0] > 0
            or subject.design.splits.needs_sample
        ):
            return
        yield self.build_finding(
            "splits",
            "no row key sorts before the first split key "
            f"{to_string_binary(boundaries.splits[0])}, so the first of "
            f"{pluralize(len(boundaries), 'region')} stays empty",
            "Remove the first split.",
            value=to_string_binary(boundaries.splits[0]),
            verdict="A first split at 00 leaves the region before it empty, whatever the keys.",
            regions=len(boundaries),
        )


class FewerRegionsThanServers(Rule):
    """The table starts with fewer regions than there are servers.

    What it does: compares the regions that the table is created with and the servers.

    Why it hurts: a region is on one server, so the other servers do nothing until regions split.

    Use instead: as many regions as servers, or a multiple.

    Source: claim 72 gives 5 to 10 regions to a table below 50 GB, whatever the servers: right only
    where there are no more of them. HBase book: start with about 10 a server, all tables together.
    """

    name = "fewer_regions_than_servers"
    code = "RK205"
    measured_by = "writes"
    concerns_regions = True
    holds_for_reads = True
    severity: ClassVar[Severity] = "warning"
    claims = (72, 75)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = { algorithm = "uniform", regions = 4, first = "\\\\x00", last = "\\\\x0F" }

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table is created with fewer regions than servers."""
        boundaries, servers = subject.boundaries, subject.cluster.servers
        if boundaries is None or "moving_front" in subject.causes:
            return
        cause = subject.causes.get("few_entities")
        if cause is not None and cause.evidence["values"] < servers:
            return  # each value lies in one region, so more regions than values stay empty
        if self._has_region_per_bucket(subject) and subject.writes_at_the_end_of_buckets:
            return  # RK124 names the number of buckets
        count = len(boundaries)
        if 1 < count < servers:
            idle = servers - count
            target = subject.sizing.regions
            remedy = f"Use {target} regions."
            if "missed_splits" in subject.causes:
                remedy = "Split the table as RK201 says."
            elif subject.outgrows_its_splits and not self._has_region_per_bucket(subject):
                remedy = "Split the table as RK802 says."
            elif self._has_region_per_bucket(subject):
                least = 2 * servers if subject.outgrows_its_splits else target
                target = -(-least // servers) * servers
                remedy = (
                    f"Use {target} buckets, one region each{subject.format_fan_out_change(target)}."
                )
            yield self.build_finding(
                "splits",
                f"the table starts with {pluralize(count, 'region')} on "
                f"{pluralize(servers, 'server')}, so {pluralize(idle, 'server')} "
                f"{'is' if idle == 1 else 'are'} idle until regions split",
                remedy,
                value=count,
                verdict="5 to 10 regions keep at most as many servers busy.",
                servers=servers,
                proposed=target,
            )

    @staticmethod
    def _has_region_per_bucket(subject: LintSubject) -> bool:
        """Return whether each bucket is one region and the key declares the bucket count."""
        term = next((one for one in subject.key.terms if not isinstance(one, Constant)), None)
        is_counted = isinstance(term, FunctionCall) and term.scalars[:1] == (subject.bucket_count,)
        return is_counted and subject.design.splits.algorithm == "per_bucket"


class SplitsWithoutSample(Rule):
    """The splits come from a sample, but no sample is declared.

    What it does: looks for `splits = "sample"` without a sample in the file or on the command line.
    A declared sample that cannot be read is reported by `check` itself.

    Why it hurts: the region boundaries are unknown, so nothing checks them, and `splits`, `ddl` and
    `create` reject the file until they get a sample. Each sample gives another table.

    Use instead: `[sample] path`, a recording of real events; half an hour of one busy day is better
    than none.

    Source: HBase book, "Relationship Between RowKeys and Region Splits": regions that are cut
    beforehand must be reachable by the keys that come, so these have to be known.
    """

    name = "splits_without_sample"
    code = "RK206"
    severity: ClassVar[Severity] = "info"
    bad_design = """\
table  = "pages"
key    = "[url]"
splits = { algorithm = "sample", regions = 8 }

[fields]
url  = { type = "text", max_bytes = 200 }
text = { type = "text", max_bytes = 2000 }
"""
    good_design = """\
table  = "pages"
key    = "[url]"
splits = ["c", "e", "h", "l", "o", "r", "u"]

[fields]
url  = { type = "text", max_bytes = 200 }
text = { type = "text", max_bytes = 2000 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the splits need a sample and none is declared."""
        design = subject.design
        if not design.splits.needs_sample or subject.sample is not None or design.sample_path:
            return
        yield self.build_finding(
            "splits",
            "the splits are quantiles of a sample, but no sample is declared, so the table "
            "cannot be created from this file alone",
            'Declare [sample] path = "…", a recording of real events, or give --sample FILE.',
            value=subject.declared_tree.get("splits"),
        )
