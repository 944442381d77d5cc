"""Rules on columns and packed cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rowkey.cells import compute_cell_bytes
from rowkey.findings import Finding, Severity
from rowkey.lint.contract import Rule
from rowkey.messages import format_number, pluralize
from rowkey.rows import CellEstimate, format_qualifier

if TYPE_CHECKING:
    from rowkey.lint.subject import LintSubject


class LongQualifier(Rule):
    """Long column names take much of the space of short values.

    What it does: takes the mean length of the qualifiers that an event writes, and their share of
    its bytes; a field's name is its qualifier unless `qualifier` sets another.

    Why it hurts: every cell contains its qualifier: in requests, in the memstore and in the files.
    Block encodings save what a cell shares with the previous one, which is the row and not the name
    of the next column.

    Use instead: a short `qualifier`; the field keeps its name in the design, in reads and in
    programs. Or `pack`, which uses numbers instead of names.

    Source: HBase book, "Try to minimize row and column sizes"; claim 22 agrees. From 8 bytes on, as
    the verdict on claim 20 has it for families.
    """

    name = "long_qualifier"
    code = "RK501"
    severity: ClassVar[Severity] = "info"
    claims = (22,)
    bad_design = """\
table  = "rooms"
key    = "[bucket(room, 16)][room][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
room = "u32"
temperature_celsius = "float32"
relative_humidity   = "float32"
"""
    good_design = """\
table  = "rooms"
key    = "[bucket(room, 16)][room][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
room = "u32"
temperature_celsius = { type = "float32", qualifier = "t" }
relative_humidity   = { type = "float32", qualifier = "h" }
"""
    MAX_MEAN_BYTES = 8
    """Mean bytes up to which nothing is reported. Source: verdict on claim 20, on family names."""
    MAX_SHARE = 0.1
    """Share of an event's bytes up to which nothing is reported: our choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if column names take much of the stored bytes."""
        data_cells = [cell for cell in subject.cells if cell.fields and cell.event_share]
        count = sum(cell.event_share for cell in data_cells)
        spent = sum(len(cell.qualifier) * cell.event_share for cell in data_cells)
        if not count or spent / count <= self.MAX_MEAN_BYTES:
            return
        share = spent / subject.event_bytes
        if share <= self.MAX_SHARE:
            return
        longest = max(data_cells, key=lambda cell: len(cell.qualifier))
        name = format_qualifier(longest.qualifier)
        yield self.build_finding(
            subject.format_path("fields", longest.fields[0]),
            f"column names take {format_number(spent)} bytes of each event ({share:.0%}), "
            f"{format_number(spent / count)} in each cell; the longest, {name[:60]}, has "
            f"{len(longest.qualifier)} bytes",
            'Set a short column name, such as qualifier = "t"; the field keeps its name.',
            value=name[:200],
            mean=spent / count,
            spent=spent,
            share=share,
        )


class UnpackedColumns(Rule):
    """Every event writes many small columns, each in its own cell.

    What it does: counts, in each family with one version, columns that are always present, that no
    read tests and that are smaller than the rest of their cell.

    Why it hurts: a cell repeats the key, the family and a name, and has 20 bytes of its own, so
    eight numbers of 4 bytes take many times their 32. The memstore, the WAL and the cache hold all
    of it; only files are encoded.

    Use instead: `pack = "p"` on those columns: one cell for all. A packed field cannot be written
    alone, filtered by the server, or kept in versions of its own.

    Source: KeyValue.java, 20 bytes and key, family and qualifier a cell; claim 45 agrees. Claim 5
    counts the key once a row, where it stands once a cell.
    """

    name = "unpacked_columns"
    code = "RK502"
    severity: ClassVar[Severity] = "info"
    claims = (5, 45)
    bad_design = """\
table  = "cars"
key    = "[bucket(car, 16)][car][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
car   = "u32"
speed = "u8"
rpm   = "u16"
fuel  = "u8"
oil   = "u8"
gear  = "u8"
brake = "u8"
lat   = "float64"
lon   = "float64"
"""
    good_design = """\
table  = "cars"
key    = "[bucket(car, 16)][car][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
car   = "u32"
speed = { type = "u8", pack = "p" }
rpm   = { type = "u16", pack = "p" }
fuel  = { type = "u8", pack = "p" }
oil   = { type = "u8", pack = "p" }
gear  = { type = "u8", pack = "p" }
brake = { type = "u8", pack = "p" }
lat   = { type = "float64", pack = "p" }
lon   = { type = "float64", pack = "p" }
"""
    MIN_COLUMNS = 8
    """Columns from which it is reported: our choice, because packing then saves seven of eight
    overheads."""
    PACKED_OVERHEAD_BYTES = 2
    """Bytes that a packed value needs besides its own: a number, a type and a length. Source:
    msgpack."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if events write many small columns that one cell could hold."""
        tested = {name for one in subject.reads if one.plan for name in one.plan.residual_fields}
        key_bytes = subject.mean_key_bytes or subject.key.part_sequence.framing.min_bytes
        for name, family in subject.families.items():
            overhead = compute_cell_bytes(0, len(name.encode()), 0, 0) + key_bytes
            small = [
                cell
                for cell in subject.cells
                if cell.family == name
                and self._is_unpacked_column(subject, cell)
                and cell.fields[0] not in tested
                and cell.mean_value_bytes <= overhead
            ]
            if len(small) < self.MIN_COLUMNS or family.versions > 1:
                continue
            names = sum(len(cell.qualifier) for cell in small)
            saved = (len(small) - 1) * overhead + names - self.PACKED_OVERHEAD_BYTES * len(small)
            values = sum(cell.mean_value_bytes for cell in small)
            yield self.build_finding(
                subject.format_path("fields", small[0].fields[0]),
                f"every event writes {len(small)} columns with {format_number(values)} bytes "
                f"in all; packed into one cell, they would take at least {saved:,.0f} bytes less",
                'Set pack = "p" on the columns that are always written together.',
                value=len(small),
                fields=[cell.fields[0] for cell in small],
                saved=saved,
            )

    @staticmethod
    def _is_unpacked_column(subject: LintSubject, cell: CellEstimate) -> bool:
        """Return whether a cell holds exactly one unpacked field that every event has."""
        if len(cell.fields) != 1 or cell.optional or cell.event_share < 1:
            return False
        return subject.design.fields[cell.fields[0]].declaration.pack is None


class PackedUnderFilter(Rule):
    """A read tests a field inside a packed cell.

    What it does: looks at the conditions of each declared read that the key does not decide, and
    whether their fields share a cell.

    Why it hurts: an HBase filter compares the bytes of a whole cell and cannot look inside. So
    every row of the range is sent to the client, which unpacks and tests it.

    Use instead: the tested field in a cell of its own, or in the key; the others stay packed.

    Source: claim 45 packs fixed columns into one cell; its verdict names what that loses.
    SingleColumnValueFilter compares whole values.
    """

    name = "packed_under_filter"
    code = "RK503"
    severity: ClassVar[Severity] = "info"
    claims = (45,)
    bad_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
user  = "u64"
state = { type = "u8", pack = "p" }
total = { type = "u32", pack = "p" }
items = { type = "u16", pack = "p" }

[[reads]]
name  = "open orders of a user"
where = "user = ? and state = 1"
limit = 20
"""
    good_design = """\
table  = "orders"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts    = "timestamp_ms"
user  = "u64"
state = "u8"
total = { type = "u32", pack = "p" }
items = { type = "u16", pack = "p" }

[[reads]]
name  = "open orders of a user"
where = "user = ? and state = 1"
limit = 20
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each read that tests a field inside a packed cell."""
        shared = {
            name: cell for cell in subject.cells if len(cell.fields) > 1 for name in cell.fields
        }
        for one in subject.reads:
            if one.plan is None or one.plan.is_point:
                continue
            tested = [name for name in one.plan.residual_fields if name in shared]
            if tested:
                cell = shared[tested[0]]
                yield self.build_finding(
                    f"{one.path}.where",
                    f"the read '{one.read.name}' tests {', '.join(tested)}, which is packed "
                    f"with {len(cell.fields) - 1} other fields into "
                    f"{cell.title}, and HBase filters cannot look "
                    "into a packed cell",
                    "Give the tested field a cell of its own.",
                    value=one.read.name,
                    fields=tested,
                )


class PackedHistory(Rule):
    """Several versions are kept of a cell that holds many fields.

    What it does: looks for packed cells in families that keep more than one version.

    Why it hurts: each version of the cell is a copy of all its fields. A change of one field takes
    as much space as a change of all, and only a comparison shows which one changed.

    Use instead: one version; or a separate cell for the field whose history is wanted.

    Source: claim 45 packs fixed columns; its verdict names versions among what is lost. HBase book,
    "Versions": kept by cell.
    """

    name = "packed_history"
    code = "RK504"
    severity: ClassVar[Severity] = "info"
    claims = (45,)
    bad_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
phone = { type = "text", max_bytes = 16, pack = "p" }
town  = { type = "text", max_bytes = 40, pack = "p" }

[families.d]
versions = 10
"""
    good_design = """\
table  = "people"
key    = "[bucket(id, 16)][id]"
splits = "per_bucket"

[fields]
id    = "u64"
phone = { type = "text", max_bytes = 16 }
town  = { type = "text", max_bytes = 40 }

[families.d]
versions = 10
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each packed cell of which several versions are kept."""
        for cell in subject.cells:
            versions = subject.families[cell.family].versions
            if versions == 1 or len(cell.fields) < 2:
                continue
            yield self.build_finding(
                subject.find_nearest_path("families", cell.family, "versions"),
                f"each of the {versions} versions of {cell.title} "
                f"repeats all {len(cell.fields)} packed fields, even if only one of them "
                "changed",
                "Keep one version, or give the field whose history matters its own cell.",
                value=versions,
                fields=list(cell.fields),
            )


class NeedlessMarker(Rule):
    """Every row gets an empty marker cell, although one column is always present.

    What it does: if all columns are declared `nullable`, an event also writes an empty cell so that
    its row exists. This rule reports a column that is never null in the sample, which makes that
    cell unnecessary.

    Why it hurts: one more cell in every event: 20 bytes, the key and the family.

    Use instead: remove `nullable` from the column that is always present.

    Source: Phoenix writes an empty cell a row for the same reason. KeyValue.java: 20 bytes, key and
    family a cell; claim 5 counts by row what is paid by cell.
    """

    name = "needless_marker"
    code = "RK511"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (5,)
    bad_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
user = "u32"
page = { type = "u32", nullable = true }
ad   = { type = "u32", nullable = true }
"""
    good_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_s"
user = "u32"
page = "u32"
ad   = { type = "u32", nullable = true }
"""
    sample_csv = "ts,user,page,ad\n" + "".join(
        f"{1_760_000_000 + n},{n * 7919 % 4001},{n % 89},{n if n % 3 else ''}\n"
        for n in range(1_200)
    )
    MIN_EVENTS = 1_000
    """Events that are needed: in fewer, a column may always be present by chance."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if rows get marker cells although one column is always present."""
        sample = subject.sample
        marker = next((cell for cell in subject.cells if not cell.fields), None)
        if sample is None or sample.event_count < self.MIN_EVENTS or marker is None:
            return
        for cell in subject.cells:
            present_fields = [
                n for n in cell.fields if n in sample.facts and not sample.facts[n].null_share
            ]
            if not present_fields:
                continue
            spent = compute_cell_bytes(0, len(marker.family.encode()), 0, 0) + subject.key_bytes
            name = present_fields[0]
            yield self.build_finding(
                subject.find_nearest_path("fields", name, "nullable"),
                "every column is nullable, so each event also writes an empty marker cell of "
                f"{spent:,.0f} bytes; but {name} is present in all "
                f"{pluralize(sample.event_count, 'event')}",
                f"Remove nullable from {name}.",
                value=True,
                bytes=spent,
                events=sample.event_count,
            )
            return


class FieldStoredTwice(Rule):
    """A field is stored in the key and in a column as well.

    What it does: looks for fields that can be read back from the key and that `family`, `qualifier`
    or `pack` put into a cell as well.

    Why it hurts: the cell adds nothing, repeats the whole key, and may come to differ from it.

    Use instead: remove those options. A field that the key holds only as a digest or in part is
    stored in a column automatically.

    Source: KeyValue.java, 20 bytes and the key, family and qualifier a cell; claim 5 counts the key
    by row, where cells count.
    """

    name = "field_stored_twice"
    code = "RK512"
    severity: ClassVar[Severity] = "info"
    claims = (5,)
    bad_design = """\
table  = "logs"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16, qualifier = "h" }
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
        """Yield a finding for each field that is stored both in the key and in a column."""
        if subject.ambiguities:
            return
        key = subject.key
        recovered = {name for name in key.fields if key.part_sequence.residue(name).is_empty}
        for cell in subject.cells:
            for name in cell.fields:
                field = subject.design.fields[name]
                if name not in recovered:
                    continue
                words = ("pack", "qualifier", "family")
                word = next(one for one in words if getattr(field.declaration, one) is not None)
                yield self.build_finding(
                    subject.format_path("fields", name, word),
                    f"the key holds all of {name}, which is stored again in the cell "
                    f"{cell.title} of every event",
                    f"Remove {word} from the field, so that the key alone stores it.",
                    value=getattr(field.declaration, word),
                )


class ConstantColumn(Rule):
    """A column has the same value in every event.

    What it does: counts the values of each column in a sample of a thousand events or more.

    Why it hurts: a value that never changes tells nothing, and costs a cell in every row: the key,
    the family, the qualifier and 20 bytes.

    Use instead: remove the field, and record its value in the table's documentation. Or make it
    `nullable` and write it only where it differs.

    Source: KeyValue.java, 20 bytes and key, family and qualifier a cell; claim 22 asks for small
    cells.
    """

    name = "constant_column"
    code = "RK513"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (22,)
    bad_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts      = "timestamp_s"
user    = "u32"
page    = "u32"
version = "u8"
"""
    good_design = """\
table  = "visits"
key    = "[bucket(user, 16)][user][ts]"
splits = "per_bucket"

[fields]
ts      = "timestamp_s"
user    = "u32"
page    = "u32"
"""
    sample_csv = "ts,user,page,version\n" + "".join(
        f"{1_760_000_000 + n},{n * 7919 % 4001},{n % 89},1\n" for n in range(1_200)
    )
    MIN_EVENTS = 1_000
    """Events that are needed: fewer may all have one value by chance."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each column that has one value in all sampled events."""
        if subject.sample is None or subject.sample.event_count < self.MIN_EVENTS:
            return
        for cell in subject.cells:
            name = cell.fields[0] if len(cell.fields) == 1 else ""
            facts = subject.find_facts(name)
            if facts.distinct_count != 1 or facts.null_share or facts.value_count < self.MIN_EVENTS:
                continue
            spent = compute_cell_bytes(0, len(cell.family.encode()), len(cell.qualifier), 0)
            yield self.build_finding(
                subject.format_path("fields", name),
                f"the column {name} has the same value in all "
                f"{pluralize(facts.value_count, 'event')}, and costs at least "
                f"{spent + subject.key.part_sequence.framing.min_bytes:,} bytes in each event",
                f"Remove {name}, or declare it nullable and write it only where it differs.",
                value=name,
                events=facts.value_count,
            )
