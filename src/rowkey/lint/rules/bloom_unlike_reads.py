"""The rule `bloom_unlike_reads`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Equal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import PlannedRead, Subject


class BloomUnlikeReads(Rule):
    """A Bloom filter that the declared reads cannot use.

    What it does: compares the declared filter with the reads: none where single rows are got, one
    of rows and columns where many events of a row are, or a row of several columns, of which a file
    does not say whether a read names one; one of rows where each get is of one column of a row that
    many events share, one of prefixes that are longer than what the reads pin.

    Why it hurts: a get looks into every file of a region, however many there are. A filter of rows
    and columns is asked by gets of one column alone, and has an entry for every cell. Filters of a
    longer prefix than a read gives are never asked.

    Use instead: ROW, the default, for gets; ROWCOL for gets of one column of a row whose columns
    lie in many files; ROWPREFIX_FIXED_LENGTH(n) for scans that pin n bytes.

    Source: HBase book, "Bloom Filters"; claim 36 agrees: they help gets, not ranges.
    StoreFileReader.passesBloomFilter asks ROWCOL where exactly one column is named. HBASE-20636
    added the fixed prefix.
    """

    name = "bloom_unlike_reads"
    code = "RK411"
    severity: ClassVar[Severity] = "warning"
    claims = (36, 48)
    bad = """\
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
    good = """\
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

    def findings(self, subject: Subject) -> Iterator[Finding]:
        planned = [one for one in subject.reads if one.plan is not None]
        gets = [one for one in planned if one.plan and one.plan.is_point]
        pinned = {one.read.name: subject.pinned_bytes(one) for one in planned}
        for name, family in subject.families.items():
            if not subject.says("families", name, "bloom"):
                continue
            path = subject.at("families", name, "bloom")
            if gets:
                yield from self._of_gets(subject, path, name, gets)
            length = family.prefix_length
            if length is not None and planned and max(pinned.values()) < length:
                longest = max(pinned, key=lambda read: pinned[read])
                yield self.finding(
                    path,
                    f"the filter holds prefixes of {length} bytes, and no read pins as many: "
                    f"{longest} pins {pinned[longest]}",
                    "Take the bytes that the reads pin, or ROW.",
                    value=family.bloom,
                    verdict="A scan is dearer than a get: filters by row spare gets alone.",
                    family=name,
                    pinned=pinned[longest],
                )

    def _of_gets(
        self, subject: Subject, path: str, name: str, gets: list[PlannedRead]
    ) -> Iterator[Finding]:
        """What a filter of rows, of rows and columns, or none does to gets of single rows."""
        bloom, spared = subject.families[name].bloom, "filters by row spare gets alone."
        whole = [one.read.name for one in gets if not self._is_of_column(subject, name, one)]
        better = "ROW" if whole else "ROWCOL"
        first = whole[0] if whole else gets[0].read.name
        is_sure = all(self._is_of_many(subject, one) for one in gets)
        severity: Severity | None = None
        named = " if your client names the column" if better == "ROWCOL" else ""
        if bloom == "NONE":
            what = f"{first} gets single rows, and without a filter it looks into every file"
        elif bloom == "ROWCOL" and len(whole) == len(gets):
            severity = None if is_sure else "info"
            gets_many = "gets whole rows" if is_sure else "gets rows of several columns"
            named = "" if is_sure else " if your clients name no column, or several"
            what = (
                f"{first} {gets_many}, and a filter of rows and columns is asked only where "
                "one column is named: it has an entry for every cell and else spares no file"
            )
        elif bloom == "ROW" and not whole:
            severity = "info"
            what = (
                f"{first} gets one column of a row that many events share: a filter of rows tells "
                "that the row is in a file, and not whether that column is"
            )
        else:
            return
        yield self.finding(
            path,
            what,
            f'Set bloom = "{better}"{named}.',
            severity=severity,
            value=bloom,
            verdict=f"A scan is dearer than a get: {spared}",
            family=name,
            better=better,
        )

    @staticmethod
    def _is_of_column(subject: Subject, family: str, one: PlannedRead) -> bool:
        """Whether a get is of the one cell that an event has in a family of a shared row.

        Of rows of one event with a single cell nothing is told: a client may name it or not.
        """
        cells = [cell for cell in subject.cells if cell.family == family]
        if len(cells) != 1:
            return False
        if subject.design.layout.opening is None:
            return subject.families[family].bloom == "ROWCOL"
        return not BloomUnlikeReads._is_of_many(subject, one)

    @staticmethod
    def _is_of_many(subject: Subject, one: PlannedRead) -> bool:
        """Whether a get is of many events of a shared row, so that it names no single column."""
        opening = subject.design.layout.opening
        if opening is None:
            return False
        names = [each.name for each in opening.fields]
        names += [each.rest.field for each in opening.slices]
        return not all(isinstance(one.bounds.get(name), Equal) for name in names)

    def fixed(self, subject: Subject, finding: Finding) -> Mapping[tuple[str | int, ...], Any]:
        better = finding.evidence.get("better", "ROW")
        if better != "ROW" or finding.severity == "info":
            return {}
        return {("families", str(finding.evidence["family"]), "bloom"): better}
