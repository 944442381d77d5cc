"""Rules on how long a family keeps cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from typing import ClassVar

from rowkey.cells import FOREVER_S, MAX_JAVA_INT
from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.lint.subject import MANY_VERSIONS, LintSubject
from rowkey.messages import format_number, pluralize
from rowkey.regions import MAX_FILE_SIZE
from rowkey.schema import Range
from rowkey.workload import estimate_table_rows


class ManyVersions(Rule):
    """A family keeps very many versions of each cell.

    What it does: reports `versions` of 100 or more, and says how many a row gets in a day where
    nothing limits them: all are kept, and the family has no ttl.

    Why it hurts: versions stay in the store files until a major compaction removes them, and reads
    skip over all but the newest. One row grows without anybody noticing.

    Use instead: the time in the key, `[entity][desc(ts)]`, so that each version is a row that can
    be found, scanned as a range and split; or fewer versions.

    Source: HBase book, "Number of Versions": do not set it to hundreds; claims 25 and 66 agree.
    """

    name = "many_versions"
    code = "RK401"
    severity: ClassVar[Severity] = "warning"
    claims = (25, 66)
    bad_design = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
price = "u32"

[families.d]
versions = 1000
"""
    good_design = """\
table  = "prices"
key    = "[bucket(item, 16)][item][desc(ts)]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = "timestamp_ms"
price = "u32"

[families.d]
versions = 1
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that keeps very many versions."""
        for name, family in subject.families.items():
            if family.versions >= MANY_VERSIONS:
                is_endless = family.versions == MAX_JAVA_INT and family.ttl_s == FOREVER_S
                yield self.build_finding(
                    subject.format_path("families", name, "versions"),
                    f"the family keeps {family.versions:,} versions of each cell, all in one row"
                    f"{self._describe_growth(subject) if is_endless else ''}",
                    f"Keep one version if only the newest is read"
                    f"{', or declare a ttl' * is_endless}; for a history put the time into the "
                    "key, so that each version is a row.",
                    value=family.versions,
                )

    @staticmethod
    def _describe_growth(subject: LintSubject) -> str:
        """Return the clause that says how fast rows grow whose versions nothing limits."""
        design, clause = subject.design, ", and nothing limits them, because there is no ttl"
        rows = estimate_table_rows(
            design.layout, design.families, design.writes, subject.row_counts
        )
        if design.writes.rate is None or not rows:
            return clause
        a_day = design.writes.rate * 86_400 / rows
        return f"{clause}: each of {rows:,.0f} rows gets {format_number(a_day)} more a day"


class SingleVersionHistory(Rule):
    """Events are stored as versions of one row, but only one version is kept.

    What it does: looks for a field that is the timestamp of the cells, so that events with the same
    key are versions of one row, in families that keep one version: because the file does not
    declare `versions`, and the key holds no other time of the event and nothing unique; or although
    a read asks for a range of that time.

    Why it hurts: only the newest event of every key survives; the next compaction drops the rest
    without an error.

    Use instead: the time in the key, if reads ask for a range of it; else `versions`, with as many
    as are wanted, even 1.

    Source: HBASE-10941: the default is 1 since 0.96. Claim 26 says 3, which is wrong.
    """

    name = "single_version_history"
    code = "RK402"
    severity: ClassVar[Severity] = "warning"
    claims = (26,)
    bad_design = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = { type = "timestamp_ms", at = "timestamp" }
price = "u32"

[families.d]
compression = "ZSTD"
"""
    good_design = """\
table  = "prices"
key    = "[bucket(item, 16)][item]"
splits = "per_bucket"

[fields]
item  = "u32"
ts    = { type = "timestamp_ms", at = "timestamp" }
price = "u32"

[families.d]
versions = 10
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that keeps one version of a row's events."""
        placed = subject.design.layout.placed_fields.get("timestamp", ())
        layout = subject.design.layout
        if not placed or layout.has_shared_rows or placed[0] in layout.identity_fields:
            return
        time, fields = placed[0], subject.design.fields
        is_event_known = any(
            fields[name].type.unit_ns or fields[name].declaration.unique
            for name in layout.identity_fields
        )
        read = next(
            (one.read for one in subject.reads if isinstance(one.bounds.get(time), Range)), None
        )
        for name in {cell.family: None for cell in subject.cells}:
            if subject.families[name].versions > 1:
                continue
            if read is not None:
                yield self.build_finding(
                    subject.format_path("fields", time),
                    f"the read '{read.name}' asks for a range of {time}, but {time} is the cell "
                    f"timestamp, and family {name} keeps 1 version: each event replaces the "
                    "one before it",
                    f"Put {time} into the key, so that each event is a row.",
                    value=1,
                    family=name,
                    read=read.name,
                )
                return
            if is_event_known or subject.is_declared("families", name, "versions"):
                continue
            yield self.build_finding(
                subject.format_path("families", name)
                if subject.is_declared("families", name)
                else subject.format_path("fields", time),
                f"{time} is the cell timestamp, so events with the same key are versions "
                f"of one row, but family {name} keeps only 1 version",
                "Declare how many versions to keep, or put the time into the key.",
                value=1,
                verdict="The default is 1 version since HBase 0.96, not 3.",
                family=name,
            )


class TtlInMilliseconds(Rule):
    """The time to live looks like milliseconds, but HBase reads seconds.

    What it does: looks for a ttl that is a bare number, or a number of seconds, and a usual
    duration in milliseconds (five, ten or thirty minutes, some hours, whole days), but no whole
    number of weeks, months or years in seconds; and, from ten years on, for any multiple of a
    thousand.

    Why it hurts: a family's ttl is in seconds. 86400000 is not a day but 1,000 days; 604800000 is
    not 7 days but 19 years, and the table grows for ever. 2592000000, 30 days in milliseconds, is
    more than HBase can store and is rejected.

    Use instead: a number with its unit, `ttl = "30d"`.

    Source: HBase book, "Time To Live": seconds of a family, milliseconds of a cell; claims 28 and
    30 agree. 2147483647 is for ever.
    """

    name = "ttl_in_milliseconds"
    code = "RK403"
    severity: ClassVar[Severity] = "warning"
    claims = (28, 30)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = 2000000000
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
ttl = "30d"
"""
    MAX_TTL_S = 10 * 365 * 86_400
    """Seconds from which a bare number is taken for milliseconds: ten years."""
    MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
    """Milliseconds of a minute, an hour and a day."""
    USUAL_MINUTES = (5, 10, 30)
    """Usual TTLs in minutes."""
    USUAL_HOURS = (1, 2, 3, 4, 6, 8, 12, 36)
    """Usual TTLs in hours, besides whole days."""
    USUAL_SPANS_S = tuple(days * 86_400 for days in (7, 30, 365))
    """Multiples of these numbers are usual TTLs in seconds."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each ttl that looks like milliseconds."""
        for name, family in subject.families.items():
            declared = subject.design.declaration.families.get(name, {}).get("ttl")
            is_in_seconds = isinstance(declared, int) or re.fullmatch(r"\d+ ?s", str(declared))
            if not is_in_seconds or family.ttl_s == FOREVER_S:
                continue
            ttl = family.ttl_s
            if self._is_long(ttl) or self._is_usual_in_ms(ttl):
                yield self.build_finding(
                    subject.format_path("families", name, "ttl"),
                    f"{ttl} seconds are {self._format_seconds(ttl)}; {ttl} milliseconds "
                    "would be "
                    f"{self._format_milliseconds(ttl)}",
                    'Write the ttl with its unit, such as "30d".',
                    value=ttl,
                    verdict="The ttl of a family is in seconds, that of a cell in milliseconds.",
                )

    @classmethod
    def _is_long(cls, ttl: int) -> bool:
        """Return whether a ttl is so long that milliseconds were probably meant."""
        return ttl >= cls.MAX_TTL_S and ttl % 1_000 == 0

    @classmethod
    def _is_usual_in_ms(cls, ttl: int) -> bool:
        """Return whether a number is a usual time span in milliseconds and not in seconds."""
        if not ttl or any(ttl % span == 0 for span in cls.USUAL_SPANS_S):
            return False
        hours, remainder = divmod(ttl, cls.HOUR_MS)
        is_day = ttl % cls.DAY_MS == 0
        is_short = ttl in [cls.MINUTE_MS * minutes for minutes in cls.USUAL_MINUTES]
        return is_day or is_short or (not remainder and hours in cls.USUAL_HOURS)

    @staticmethod
    def _format_seconds(ttl: int) -> str:
        """Return a number of seconds as years, or as days below ten years."""
        years, days = ttl / 31_536_000, ttl / 86_400
        return (
            f"{years:,.0f} years"
            if years >= TtlInMilliseconds.MAX_TTL_S / 31_536_000
            else f"{format_number(days)} days"
        )

    @classmethod
    def _format_milliseconds(cls, ttl: int) -> str:
        """Return a number of milliseconds as days, hours or minutes."""
        for unit, name in ((cls.DAY_MS, "day"), (cls.HOUR_MS, "hour"), (cls.MINUTE_MS, "minute")):
            if ttl >= unit:
                many = ttl / unit
                return f"{format_number(many)} {name}{'s' * (many != 1)}"
        return f"{ttl} ms"


class TtlBehindTheFront(Rule):
    """Expired rows leave empty regions, because the key starts with the time.

    What it does: looks for a time to live where the key starts with the time, unless the
    table begins with one region that is known to hold all its rows.

    Why it hurts: regions are never removed. When all rows of a region have expired, it stays,
    empty, and the table gains a region at its end for each that empties at its beginning.

    Use instead: an entity or a bucket before the time, so that new rows take the space of old ones;
    or merge the empty regions regularly, or switch the normalizer on.

    Source: HBase book, "Region Normalizer": it merges small neighbours; files of expired cells are
    dropped whole by minor compactions, as claim 29 says, but regions are not.
    """

    name = "ttl_behind_the_front"
    code = "RK404"
    severity: ClassVar[Severity] = "info"
    claims = (29,)
    bad_design = """\
table = "logs"
key   = "[ts][host]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl = "30d"
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
ttl = "30d"
"""
    other_codes = ("RK101",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if expired rows leave empty regions before the newest ones."""
        front = subject.causes.get("moving_front")
        field = front.evidence.get("field") if front is not None else None
        if field is None or subject.design.fields[field].type.unit_ns is None:
            return
        is_split = subject.boundaries is None or len(subject.boundaries) > 1
        bytes_per_s = inf if is_split else subject.event_bytes * (subject.write_rate or inf)
        for name, family in subject.families.items():
            if bytes_per_s * family.ttl_s <= MAX_FILE_SIZE:
                continue
            if family.ttl_s != FOREVER_S and subject.is_declared("families", name, "ttl"):
                yield self.build_finding(
                    subject.format_path("families", name, "ttl"),
                    f"rows expire after {family.ttl_s:,} s and the key starts with {field}, so "
                    "the regions of expired rows stay behind empty",
                    f"Put an entity or a bucket before {field}, or merge old regions regularly.",
                    value=family.ttl_s,
                    field=field,
                )


class MinVersionsKeepFiles(Rule):
    """min_versions prevents HBase from dropping expired files whole.

    What it does: looks for `min_versions` together with a time to live.

    Why it hurts: a file in which every cell has expired is otherwise deleted without being read.
    With min_versions, HBase must read it and keep the last versions of every row, so a table of
    events keeps every event.

    Use instead: a time to live alone. If the last state of each row must survive, keep min_versions
    and allow the finding.

    Source: HBase book, "Time To Live": files are kept where MIN_VERSIONS is not 0 or
    hbase.store.delete.expired.storefile is false; claims 27 and 29 agree.
    """

    name = "min_versions_keep_files"
    code = "RK405"
    severity: ClassVar[Severity] = "info"
    claims = (27, 29)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
line = { type = "text", max_bytes = 500 }

[families.d]
ttl          = "30d"
min_versions = 1
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
ttl = "30d"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family whose min_versions keeps expired files."""
        time = subject.design.writes.time
        is_history = time is not None and time.name in subject.key.fields
        for name, family in subject.families.items():
            if family.min_versions:
                never = "; each event is a row of its own, so no event is ever deleted"
                yield self.build_finding(
                    subject.format_path("families", name, "min_versions"),
                    f"min_versions keeps {pluralize(family.min_versions, 'version')} of each "
                    "cell beyond the ttl, so HBase cannot drop expired files "
                    f"whole{never if is_history else ''}",
                    "Remove min_versions, unless the last state of each row must be kept for ever.",
                    severity="warning" if is_history else "info",
                    value=family.min_versions,
                )


class DeletedCellsKept(Rule):
    """Deleted cells are kept without a limit.

    What it does: looks for `keep_deleted = "TRUE"` without a time to live.

    Why it hurts: deleted cells stay in the files, and each read skips over them. Only newer
    versions remove them, and a deleted row gets none.

    Use instead: `keep_deleted = "TTL"` with a time to live, if the past must stay readable for that
    long; otherwise leave the option out.

    Source: HBase book, "Keeping Deleted Cells"; KeepDeletedCells.
    """

    name = "deleted_cells_kept"
    code = "RK413"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
keep_deleted = "TRUE"
"""
    good_design = """\
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
keep_deleted = "TTL"
ttl          = "90d"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each family that keeps deleted cells for ever."""
        for name, family in subject.families.items():
            if family.keep_deleted == "TRUE" and family.ttl_s == FOREVER_S:
                yield self.build_finding(
                    subject.format_path("families", name, "keep_deleted"),
                    "the family keeps deleted cells for ever, because it has no ttl",
                    'Set a ttl and keep_deleted = "TTL", or remove keep_deleted.',
                    value=family.keep_deleted,
                )
