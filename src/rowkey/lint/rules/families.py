"""Rules on column families: how many, and which columns share one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import compute_cell_bytes
from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.messages import format_number, join_names, pluralize
from rowkey.regions import FLUSH_SIZE

if TYPE_CHECKING:
    from rowkey.cells import Family
    from rowkey.lint.subject import LintSubject


class ManyFamilies(Rule):
    """The table has more than two column families.

    What it does: counts the families.

    Why it hurts: each family of a region has its own memstore and files, so memory is divided by
    the number of families, and files, compactions and open readers are multiplied by it. A read of
    a whole row opens all of them, and all of them split where the largest does.

    Use instead: one family; a second one for columns that are read without the others, or kept for
    a different time.

    Source: HBase book, "On the number of column families" and "Table Schema Rules of Thumb": one to
    three, ten at the outside; claim 16 says the same. Since HBASE-10201 a flush need not take all
    families; what a family costs besides has stayed.
    """

    name = "many_families"
    code = "RK301"
    severity: ClassVar[Severity] = "warning"
    claims = (16,)
    bad_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
name  = { type = "text", max_bytes = 40, family = "a" }
token = { type = "u64", family = "b" }
phone = { type = "text", max_bytes = 16, family = "c" }

[families.a]

[families.b]
ttl = "30d"

[families.c]
versions = 3
"""
    good_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
name  = { type = "text", max_bytes = 40 }
token = "u64"
phone = { type = "text", max_bytes = 16 }
"""
    WARNING_ABOVE_COUNT = 2
    """Families up to which nothing is reported. Source: verdict on claim 16."""
    ERROR_ABOVE_COUNT = 10
    """Families above which it is an error. Source: the same verdict, from the book's "ten"."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the table has more than two column families."""
        names = list(subject.families)
        count = len(names)
        if count <= self.WARNING_ABOVE_COUNT:
            return
        yield self.build_finding(
            subject.find_family_path(names[self.WARNING_ABOVE_COUNT]),
            f"the table has {count} families, so each region has {count} memstores and at "
            f"least {count} files, and a read of a whole row opens all of them",
            "Put columns that are read together and have the same ttl into one family.",
            severity="error" if count > self.ERROR_ABOVE_COUNT else "warning",
            value=count,
            families=names,
        )


class LongFamilyName(Rule):
    """A family's name is longer than one letter.

    What it does: looks at the bytes of each family's name.

    Why it hurts: every cell contains the name of its family: in requests, in the memstore and,
    without a block encoding, in the files. The name cannot be changed later.

    Use instead: one letter: `d` for data, `m` for metadata.

    Source: HBase book, "Try to minimize row and column sizes"; claim 20 agrees. A name has 127
    bytes at most: KeyValue.java keeps its length in one signed byte.
    """

    name = "long_family_name"
    code = "RK302"
    severity: ClassVar[Severity] = "info"
    claims = (20, 22)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.information]
"""
    good_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
"""
    WARNING_ABOVE_BYTES = 8
    """Bytes above which it is a warning. Source: verdict on claim 20."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose name has more than one letter."""
        for name in subject.families:
            length = len(name.encode())
            if length <= 1:
                continue
            cells = sum(cell.event_share for cell in subject.cells if cell.family == name)
            yield self.build_finding(
                subject.find_family_path(name),
                f"the family name {name[:40]} has {length} bytes and is stored in every cell; "
                f"a name of one letter would save {format_number((length - 1) * cells)} bytes "
                "for each event",
                "Rename the family to one letter before the table is created.",
                severity="warning" if length > self.WARNING_ABOVE_BYTES else "info",
                value=name,
                bytes=length,
                cells=cells,
                family=name,
            )

    def join_findings(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """Return what to do about the names of all families."""
        names = [str(one.value)[:40] for one in findings]
        saved = sum((one.evidence["bytes"] - 1) * one.evidence["cells"] for one in findings)
        message = (
            f"the family names {join_names(names)} are stored in every cell; names of one letter "
            f"would save {format_number(saved)} bytes for each event"
        )
        return message, "Rename these families to one letter each before the table is created."


class UnequalFamilies(Rule):
    """One family is used by few rows and another by most.

    What it does: counts in a sample how many events write a cell of each family, and compares each
    family with the one that most events write.

    Why it hurts: a region splits by its largest store, so the rows of the small family are
    scattered over as many regions as the large one needs. A scan of the small family alone opens
    all of them, for a few rows each.

    Use instead: a separate table for the columns that few rows have, or the family that every row
    has: an absent cell takes no space.

    Source: HBase book, "Cardinality of ColumnFamilies"; claim 19 gives a million rows against a
    billion, and its verdict warns from 10 to 100 times on.
    """

    name = "unequal_families"
    code = "RK303"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (19,)
    bad_design = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order    = "u64"
total    = "u32"
returned = { type = "u32", nullable = true, family = "r" }

[families.d]

[families.r]
versions = 3
"""
    good_design = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order    = "u64"
total    = "u32"
returned = { type = "u32", nullable = true }
"""
    sample_csv = "order,total,returned\n" + "".join(
        f"{(n + 1) * 0x9E3779B97F4A7C15 % 2**63},{n % 97},{n if n % 40 == 0 else ''}\n"
        for n in range(1_200)
    )
    INFO_RATIO = 10
    """Ratio of rows from which it is reported. Source: verdict on claim 19."""
    WARNING_RATIO = 100
    """Ratio of rows from which it is a warning. Source: the same."""
    MIN_EVENTS = 1_000
    """Events that are needed to measure a share of one in a hundred."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that far fewer rows use than another."""
        if (
            subject.sample is None
            or subject.sample.event_count < self.MIN_EVENTS
            or len(subject.families) < 2
        ):
            return
        shares: dict[str, list[float]] = {name: [] for name in subject.families}
        for cell in subject.cells:
            if not subject.sample.facts.keys() >= set(cell.fields):
                return
            shares[cell.family].append(cell.event_share)
        # At least the share of its most frequent cell, at most the sum over its cells.
        fullest = max(shares, key=lambda name: max(shares[name], default=0.0))
        largest = max(shares[fullest])
        for name in subject.families:
            share = max(min(sum(shares[name]), 1.0), 1 / subject.sample.event_count)
            if largest / share < self.INFO_RATIO:
                continue
            yield self.build_finding(
                subject.find_family_path(name),
                f"of {pluralize(subject.sample.event_count, 'event')}, {largest:.2%} write family "
                f"{fullest} and {share:.2%} write {name}, {largest / share:,.0f} times fewer rows "
                "in the same regions",
                f"Give {name} a table of its own, or put its columns into {fullest}.",
                severity="warning" if largest / share > self.WARNING_RATIO else "info",
                value=name,
                ratio=largest / share,
                fullest=fullest,
            )


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


class EqualFamilies(Rule):
    """Several families have the same attributes.

    What it does: compares the attributes of families, and the bytes that an event adds to each. A
    family ten times larger than another is not reported: separating it keeps the other fast to
    read.

    Why it hurts: each family has its own memstore and files in every region, and a read of a whole
    row opens both. That pays off only for reads of one family's columns alone.

    Use instead: one family. If one of them is read without the other, allow the finding and name
    that read.

    Source: HBase book, "On the number of column families": a second one only where access is
    column scoped; claims 18 and 42 agree.
    """

    name = "equal_families"
    code = "RK305"
    severity: ClassVar[Severity] = "info"
    claims = (18, 42)
    bad_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
name = { type = "text", max_bytes = 40, family = "n" }
town = { type = "text", max_bytes = 40, family = "t" }

[families.n]
[families.t]
"""
    good_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
name = { type = "text", max_bytes = 40 }
town = { type = "text", max_bytes = 40 }
"""
    MAX_NAMES_SHOWN = 8
    """Names in the message at most."""
    MIN_SIZE_RATIO = 10
    """Ratio of sizes from which two families are worth separating: our choice, because a scan of
    the smaller one then reads a tenth."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for families with the same attributes and similar sizes."""
        sizes: dict[str, float] = dict.fromkeys(subject.families, 0.0)
        for cell in subject.cells:
            sizes[cell.family] += cell.event_share * (subject.key_bytes + cell.mean_value_bytes)
        names_by_attributes: dict[Family, list[str]] = {}
        for name, family in subject.families.items():
            names_by_attributes.setdefault(replace(family, name=""), []).append(name)
        for names in names_by_attributes.values():
            group_sizes = [sizes[name] for name in names]
            if len(names) < 2 or max(group_sizes) >= self.MIN_SIZE_RATIO * min(group_sizes):
                continue
            yield self.build_finding(
                subject.find_family_path(names[1]),
                f"families {', '.join(names[: self.MAX_NAMES_SHOWN])} have the same "
                "attributes; separate families help only reads that use the columns of one "
                "family",
                "Put their columns into one family, or allow this finding and give such a "
                "read as the reason.",
                value=names[1],
                families=names,
            )


class ReadAcrossFamilies(Rule):
    """A read tests columns of several families.

    What it does: looks at the conditions of each declared read that the key does not decide, and at
    the families their fields are stored in.

    Why it hurts: each row of the range is looked up in two stores before the filter can decide.
    Columns that are read together but stored apart have the cost of a second family and none of its
    benefit.

    Use instead: the tested fields in one family, or in the key.

    Source: claim 42, columns read together in one family, agrees with the HBase book, "On the
    number of column families".
    """

    name = "read_across_families"
    code = "RK306"
    severity: ClassVar[Severity] = "info"
    claims = (42,)
    bad_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
age  = "u8"
town = { type = "u32", family = "t" }

[families.d]

[families.t]
versions = 3

[[reads]]
name  = "one of a town, if grown up"
where = "id = ? and age >= 18 and town = ?"
"""
    good_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id   = "u64"
age  = "u8"
town = "u32"

[[reads]]
name  = "one of a town, if grown up"
where = "id = ? and age >= 18 and town = ?"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that tests columns of several families."""
        family = {name: cell.family for cell in subject.cells for name in cell.fields}
        for one in subject.reads:
            if one.plan is None:
                continue
            tested = [name for name in one.plan.residual_fields if name in family]
            families = list(dict.fromkeys(family[name] for name in tested))
            if len(families) < 2:
                continue
            yield self.build_finding(
                f"{one.path}.where",
                f"the read '{one.read.name}' tests {', '.join(tested)}, which are in the "
                f"families {', '.join(families)}, so each row is looked up in {len(families)} "
                "stores",
                "Put the fields that are tested together into one family.",
                value=one.read.name,
                fields=tested,
                families=families,
            )


class UnusedFamily(Rule):
    """A declared family stores nothing.

    What it does: looks for families in which no event writes a cell.

    Why it hurts: every region has a memstore and a folder for it, and it takes its share of the
    memory.

    Use instead: nothing; a family can be added when it is needed.

    Source: HBase book, "Number of column families"; claim 18.
    """

    name = "unused_family"
    code = "RK307"
    severity: ClassVar[Severity] = "warning"
    claims = (18,)
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20 }

[families.d]
[families.x]
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user  = "u64"
name  = { type = "text", max_bytes = 20 }

[families.d]
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each declared family that stores no field."""
        used = {cell.family for cell in subject.cells}
        for name in subject.families:
            if name not in used:
                yield self.build_finding(
                    subject.format_path("families", name),
                    f"family {name} is declared, but no field is stored in it",
                    "Remove the family from the design; it can be added later.",
                    value=name,
                )
