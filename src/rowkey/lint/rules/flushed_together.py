"""The rule `flushed_together`."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import compute_cell_bytes
from rowkey.lint.contract import Rule
from rowkey.regions import FLUSH_SIZE

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class FlushedTogether(Rule):
    """The families leave twice as many files as one family would.

    What it does: simulates the flushes of a region under the default policy from the bytes that an
    event adds to each family: at 128 MB in total it flushes the families above 128 MB divided by
    their number and above 16 MB, or all families if none is; after an hour it flushes the families
    of that age. Bytes must follow from types, a sample or `mean_bytes`; with a declared rate, age
    counts too. The memory overhead of cells is not included, so real files are smaller still.
    Families with `mob` do not count: they are to be apart.

    Why it hurts: many small files mean many compactions, which rewrite the data again and again,
    and more files for every read to open.

    Use instead: one family. Or fewer regions, so that each fills its memstore within the hour.

    Source: FlushAllLargeStoresPolicy, today's default; HBASE-10201, since 1.1;
    hbase.hregion.memstore.flush.size, 128 MB;
    hbase.hregion.percolumnfamilyflush.size.lower.bound.min, 16 MB;
    hbase.regionserver.optionalcacheflushinterval, 1 h. Claim 17, all families are flushed with any
    one of them, was the only policy before.
    """

    name = "flushed_together"
    code = "RK304"
    severity: ClassVar[Severity] = "info"
    claims = (17,)
    bad_design = """\
table  = "meters"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_s"
meter = "u64"
power = "float64"
state = { type = "u8", family = "s" }

[families.d]
ttl = "1d"

[families.s]
versions = 3

[writes]
rate = "200/s"
"""
    good_design = """\
table  = "meters"
key    = "[bucket(meter, 16)][meter][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_s"
meter = "u64"
power = "float64"
state = "u8"

[writes]
rate = "200/s"
"""
    MIN_FLUSH_BYTES = 16 * 2**20
    """Bytes below which no family is flushed for its size while another is."""
    MAX_AGE_S = 3_600.0
    """Seconds after which a family is flushed whatever its size."""
    SIMULATED_FLUSHES = 200
    """Flushes that are simulated: by then the mean is stable to a few hundredths."""
    MIN_FILE_RATIO = 1.95
    """Files for each file of a table with one family, from which the finding is reported: twice as
    many, within the accuracy of the estimate."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the families flush many more files than one family would."""
        sizes = {
            name: size
            for name, size in self.compute_family_sizes(subject).items()
            if not subject.families[name].mob
        }
        if len(sizes) < 2:
            return
        total = sum(sizes.values())
        speed = None
        rate, boundaries = subject.design.writes.rate, subject.boundaries
        if rate is not None and boundaries is not None:
            speed = rate * total / len(boundaries)
        files, means = self.estimate_flushes([size / total for size in sizes.values()], speed)
        (one, _) = self.estimate_flushes([1.0], speed)
        if files / one < self.MIN_FILE_RATIO:
            return
        small = min(zip(means, sizes, strict=True))
        yield self.build_finding(
            subject.find_family_path(small[1]),
            f"the families flush about {files / one:.1f} files where one family would flush "
            f"one file; the files of {small[1]} have only {small[0] / 2**20:,.1f} MB",
            "Put all columns into one family.",
            value=small[1],
            verdict="Since HBase 1.1 a flush takes only the large families.",
            files=files / one,
            mean_bytes=dict(zip(sizes, means, strict=True)),
            bytes_per_second=speed,
        )

    @staticmethod
    def compute_family_sizes(subject: LintSubject) -> dict[str, float]:
        """Return the mean bytes that one event adds to each family; empty if they are unknown."""
        key_bytes = subject.mean_key_bytes
        names = {name for cell in subject.cells for name in cell.fields}
        for name in names:
            framing = subject.design.fields[name].type.build_plain_codec().framing
            if (
                framing.min_bytes != framing.max_bytes
                and subject.find_facts(name).mean_bytes is None
            ):
                return {}
        if key_bytes is None:
            return {}
        sizes: dict[str, float] = dict.fromkeys(subject.families, 0.0)
        for cell in subject.cells:
            beside = compute_cell_bytes(0, len(cell.family.encode()), len(cell.qualifier), 0)
            sizes[cell.family] += cell.event_share * (beside + key_bytes + cell.mean_value_bytes)
        return {name: size for name, size in sizes.items() if size}

    def estimate_flushes(
        self, shares: list[float], bytes_per_second: float | None
    ) -> tuple[float, list[float]]:
        """Estimate the files flushed per 128 MB of data, and their mean size by family.

        Args:
            shares: the share of the written bytes, for each family.
            bytes_per_second: bytes written to a region per second; None if unknown, and then no
                family is flushed for its age.
        """
        min_flush_bytes = max(FLUSH_SIZE / len(shares), self.MIN_FLUSH_BYTES)
        oldest = inf if bytes_per_second is None else self.MAX_AGE_S
        bytes_per_second = bytes_per_second or 1.0
        memstore_bytes, ages, files = ([0.0] * len(shares) for _ in range(3))
        total_bytes = 0.0
        for _ in range(self.SIMULATED_FLUSHES):
            wait = min((FLUSH_SIZE - sum(memstore_bytes)) / bytes_per_second, oldest - max(ages))
            total_bytes += wait * bytes_per_second
            memstore_bytes = [
                h + share * wait * bytes_per_second
                for h, share in zip(memstore_bytes, shares, strict=True)
            ]
            ages = [age + wait for age in ages]
            every = range(len(shares))
            due = [
                n for n in every if memstore_bytes[n] > min_flush_bytes or ages[n] >= oldest
            ] or every
            for n in due:
                memstore_bytes[n], ages[n], files[n] = 0.0, 0.0, files[n] + 1
        means = [share * total_bytes / max(n, 1) for share, n in zip(shares, files, strict=True)]
        return sum(files) * FLUSH_SIZE / total_bytes, means
