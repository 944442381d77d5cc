"""The rule `bloom_unlike_reads`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Equal

if TYPE_CHECKING:
    from rowkey.design import KeyPath
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject, PlannedRead


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
                longest = max(pinned, key=lambda read: pinned[read])
                yield self.build_finding(
                    path,
                    f"the Bloom filter {family.bloom} needs the first {length} bytes of the "
                    f"row key, but no declared read gives that many; the read '{longest}' gives "
                    f"{pinned[longest]}",
                    "Shorten the prefix to the bytes that the reads give, or set bloom to ROW.",
                    value=family.bloom,
                    verdict="Bloom filters of whole rows help gets only, not scans.",
                    family=name,
                    pinned=pinned[longest],
                )

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
        """Return the ROW filter for the family; nothing where only the client can decide."""
        better = finding.evidence.get("better", "ROW")
        if better != "ROW" or finding.severity == "info":
            return {}
        return {("families", str(finding.evidence["family"]), "bloom"): better}
