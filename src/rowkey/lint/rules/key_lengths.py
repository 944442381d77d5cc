"""Rules on the length of row keys."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import ClassVar

from rowkey.cells import MAX_ROW_BYTES, compute_cell_bytes
from rowkey.findings import Finding, Severity
from rowkey.keys import Determinant, FieldPart, NullablePart, Order, Part, Transform
from rowkey.lint.contract import Rule
from rowkey.lint.subject import DAYS_OF_A_YEAR, LintSubject
from rowkey.messages import format_days, format_number, pluralize
from rowkey.schema import Equal, OneOf


class UnboundedKey(Rule):
    """A row key may become longer than HBase accepts.

    What it does: adds up the longest bytes of each part, and reports fields without a limit, and
    limits that add up to more than 32,767 bytes.

    Why it hurts: HBase rejects a put with such a key, which happens to a rare row, long after the
    table went live.

    Use instead: `max_bytes` on the field, `digest` or `truncate` of it in the key, or a column.

    Source: HConstants.MAX_ROW_LENGTH, 32,767 bytes. Claim 3 says 64 KB, which is wrong.
    """

    name = "unbounded_key"
    code = "RK106"
    severity: ClassVar[Severity] = "info"
    claims = (3,)
    bad_design = """\
table  = "pages"
key    = "[bucket(url, 16)][url]"
splits = "per_bucket"

[fields]
url  = "text"
body = { type = "text", max_bytes = 100000 }
"""
    good_design = """\
table  = "pages"
key    = "[digest(url, 16)]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
url  = "text"
body = { type = "text", max_bytes = 100000 }
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if row keys may become longer than HBase accepts."""
        max_bytes = subject.key.part_sequence.framing.max_bytes
        if max_bytes is not None and max_bytes > MAX_ROW_BYTES:
            yield self.build_finding(
                "key",
                f"the longest possible row key has {max_bytes:,} bytes, but HBase accepts at most "
                f"{MAX_ROW_BYTES:,}",
                "Lower max_bytes of the key fields, or put a digest of the longest one into "
                "the key.",
                severity="warning",
                value=str(subject.key),
                verdict="The limit is 32,767 bytes, not 64 KB.",
                most=max_bytes,
            )
        if max_bytes is not None:
            return
        for name in subject.key.fields:
            if any(p.framing.max_bytes is None and name in p.fields for p in subject.key.parts):
                yield self.build_finding(
                    subject.format_path("fields", name),
                    f"the key field {name} has no max_bytes, and HBase rejects row keys of "
                    f"more than {MAX_ROW_BYTES:,} bytes",
                    f"Declare max_bytes for {name}.",
                    verdict="The limit is 32,767 bytes, not 64 KB.",
                )


MIN_PADDING = 2
"""Width of an encoding, as a multiple of the longest value, from which it is mostly padding."""


DIGEST_BYTES = 16
"""Bytes of a digest that no two of many values share."""


class LongKey(Rule):
    """The row key takes more space than the data it finds.

    What it does: takes the mean length of a key, if the sample or the file tells it, and the bytes
    that all cells of an event spend on it; up to 100 bytes only where something can be shorter.

    Why it hurts: every cell repeats the key: in the memstore, in the block cache and, before
    encoding, in the file. A cell with a value of 8 bytes and a key of 100 is mostly key.

    Use instead: an encoding with fewer bytes, such as `:bytes` for hexadecimal digits; a `digest`
    of a long text that reads give whole, such as a URL; ids instead of names; `code` for long
    values that repeat; one packed cell instead of many; and the block encoding FAST_DIFF, which
    stores only the difference from the previous key.

    Source: claim 4 asks for 10 to 100 bytes and 16 at best; the book only for short ones. Claim 7,
    multiples of 8, is folklore: cells are packed streams of bytes. KeyValue.java: 20 bytes, key,
    family, qualifier and value a cell.
    """

    name = "long_key"
    code = "RK107"
    severity: ClassVar[Severity] = "info"
    claims = (4, 5, 6, 22)
    bad_design = """\
table  = "visits"
key    = "[bucket(url, 16)][url][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
url    = { type = "text", max_bytes = 2000, mean_bytes = 120 }
clicks = "u32"
seen   = "u32"

[families.d]
encoding = "FAST_DIFF"
"""
    good_design = """\
table  = "visits"
key    = "[bucket(page, 16)][page][ts]"
splits = "per_bucket"

[fields]
ts     = "timestamp_ms"
page   = "u32"
url    = { type = "text", max_bytes = 2000, mean_bytes = 120 }
clicks = "u32"
"""
    WARNING_ABOVE_BYTES = 100
    """Bytes above which it is a warning. Source: verdict on claim 4."""
    MAX_BUCKET_BYTES = 4
    """Bytes of a part with a transform from which fewer are advised: buckets have 1 to 4."""
    MAX_UNREPORTED_BYTES = 16
    """Bytes up to which nothing is reported."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if row keys take much of the stored bytes."""
        mean = subject.mean_key_bytes
        if mean is None or mean <= self.MAX_UNREPORTED_BYTES:
            return
        cells = sum(cell.event_share for cell in subject.cells)
        spent = mean * cells
        share = spent / subject.event_bytes
        if mean <= self.WARNING_ABOVE_BYTES and (cells >= 2 or share < 0.5):
            return  # with several cells, another rule reports the missing encoding
        remedy = self._format_remedy(subject)
        if not remedy and mean <= self.WARNING_ABOVE_BYTES:
            return
        n_cells = "the cell" if cells == 1 else f"{format_number(cells)} cells"
        yield self.build_finding(
            "key",
            f"the row key of {mean:,.0f} bytes is stored with {n_cells} of each event, which "
            f"takes {spent:,.0f} of the event's {subject.event_bytes:,.0f} bytes ({share:.0%})",
            remedy,
            severity="warning" if mean > self.WARNING_ABOVE_BYTES else "info",
            value=round(mean, 1),
            verdict="HBase allows 32,767 bytes; what matters is the bytes in each cell.",
            key_bytes=mean,
            cells=cells,
            share=share,
        )

    @classmethod
    def _format_remedy(cls, subject: LintSubject) -> str:
        """Return the remedy: a shorter form of a key field, or general advice; else nothing."""
        for notation, part in subject.iter_parts():
            if not isinstance(part, FieldPart):
                continue
            name, width = part.field.name, part.framing.width or 0
            longest = subject.find_facts(name).max_bytes or part.field.declaration.max_bytes
            if part.field.type.is_sequence and longest and width >= MIN_PADDING * longest:
                return (
                    f"Write [{name}] instead of {notation}, which pads values of at most "
                    f"{pluralize(longest, 'byte')} to {width}{subject.format_split_advice(part)}."
                )
            narrower = part.narrower_reference
            if narrower is not None:
                return (
                    f"Write [{narrower}] instead of {notation}{subject.format_split_advice(part)}."
                )
        for notation, part in subject.iter_parts():
            if isinstance(part, FieldPart) and _can_be_digested(subject, part):
                name = part.field.name
                splits = subject.format_split_advice(part, keeps_size=False)
                return (
                    f"Write [digest({name}, {DIGEST_BYTES})] instead of {notation}{splits}: all "
                    f"reads give {name} whole, and a column then stores it once."
                )
        advice = [
            f"write {notation} in fewer bytes"
            for notation, part in subject.iter_parts()
            if not isinstance(part, FieldPart)
            and not (part.order.is_ascending or part.order.is_descending)
            and (part.framing.width or 0) > cls.MAX_BUCKET_BYTES
        ]
        if any(field.type.is_sequence for field in subject.key.fields.values()):
            advice.append("use ids instead of names")
        if len(subject.cells) > 1:
            advice.append("pack the columns into one cell")
        if not advice:
            return ""
        text = ", or ".join(advice)
        return (
            f"{text[0].upper()}{text[1:]}; a block encoding shortens keys in files and in the "
            "cache, but not in the memstore."
        )


def _can_be_digested(subject: LintSubject, part: FieldPart) -> bool:
    """Return whether a digest would make events smaller, and each read gives the text whole."""
    if not part.field.type.is_sequence or not _saves_bytes_by_digest(subject, part):
        return False
    name = part.field.name
    bounds = [one.bounds[name] for one in subject.reads if name in one.bounds]
    is_sorted = any(name in {order.field for order in one.read.order} for one in subject.reads)
    is_whole = all(isinstance(one, Equal | OneOf) for one in bounds)
    return bool(bounds) and is_whole and not is_sorted


def _saves_bytes_by_digest(subject: LintSubject, part: FieldPart) -> bool:
    """Return whether a digest halves a text, and all keys by more than the column that it adds."""
    name, key_bytes = part.field.name, subject.mean_key_bytes or 0.0
    mean = subject.find_facts(name).mean_bytes
    if mean is None or mean < 2 * DIGEST_BYTES:
        return False
    saved = mean - DIGEST_BYTES
    family = part.field.declaration.family or subject.design.layout.family
    column = compute_cell_bytes(0, len(family.encode()), len(name.encode()), 0)
    cells = sum(cell.event_share for cell in subject.cells)
    return saved * cells > column + key_bytes - saved + mean


class LongDigest(Rule):
    """A digest is longer than it needs to be, or is written as hexadecimal digits.

    What it does: looks for digests of more than 4 bytes whose fields follow them whole in the key,
    and for digests that replace their fields and are written as hexadecimal digits.

    Why it hurts: before the field itself a digest only spreads rows. 2 bytes have 65,536 values and
    4 have 4 billion, more than any number of regions, and every further byte is stored in every
    cell. Digits take twice the space and need splits for digits. If the field is nowhere in the
    key, it cannot be read back and is also stored in a column.

    Use instead: `digest(field, 4)` before the field, or a bucket, which ordered scans can
    enumerate; where the digest replaces the field, its raw bytes.

    Source: claim 53 puts MD5 as 32 digits in front, against its own 16 bytes of key: 2 to 4 raw
    bytes suffice. Claim 56 splits such digits at 00..90, which leaves 43.75 % to the last region.
    """

    name = "long_digest"
    code = "RK119"
    severity: ClassVar[Severity] = "info"
    claims = (53, 56)
    bad_design = """\
table  = "users"
key    = "[digest(user, 16, as=hex)][user]"
splits = { algorithm = "hex_string", regions = 16 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "users"
key    = "[digest(user, 4)][user]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
user = { type = "text", max_bytes = 20 }
name = { type = "text", max_bytes = 200 }
"""
    SUFFICIENT_BYTES = 4
    """Bytes that are enough to spread rows: 4 billion values, far more than regions."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each digest with more bytes than it needs."""
        parts = list(subject.iter_parts())
        for index, (notation, part) in enumerate(parts):
            width = part.framing.width
            is_digest = bool(part.fields) and all(part.residue(n).is_total for n in part.fields)
            if (
                not is_digest
                or width is None
                or width <= self.SUFFICIENT_BYTES
                or part.order != Order.NONE
            ):
                continue
            later_parts = [one for _, one in parts[index + 1 :]]
            complete_fields = {
                n for one in later_parts for n in one.fields if one.residue(n).is_empty
            }
            names = " and ".join(part.fields)
            is_hex = isinstance(part, Transform) and part.arguments.get("as") == "hex"
            if complete_fields.issuperset(part.fields):
                yield self.build_finding(
                    "key",
                    f"{notation} takes {width} bytes of every cell only to spread rows, because "
                    f"{names} itself follows in the key",
                    f"Write [digest({', '.join(part.fields)}, {self.SUFFICIENT_BYTES})] "
                    f"instead{self._format_split_advice(subject, part)}, or use a bucket.",
                    value=notation,
                    verdict=f"2 to 4 raw bytes spread as well as {width}"
                    f"{' digits' if is_hex else ''}.",
                    bytes=width,
                )
            elif is_hex:
                yield self.build_finding(
                    "key",
                    f"{notation} writes {width // 2} bytes of digest as {width} digits in each "
                    f"cell; {names} cannot be read back from the digest, so a column stores it "
                    "too",
                    f"Remove as=hex, or put [digest({', '.join(part.fields)}, "
                    f"{self.SUFFICIENT_BYTES})] before {names} "
                    f"itself{self._format_split_advice(subject, part)}.",
                    value=notation,
                    verdict=f"{width // 2} raw bytes distinguish as many values as {width} digits.",
                    bytes=width,
                )

    @staticmethod
    def _format_split_advice(subject: LintSubject, part: Part) -> str:
        """Return a phrase with new splits if the present ones were chosen for digits."""
        is_hex = isinstance(part, Transform) and part.arguments.get("as") == "hex"
        advice = subject.format_split_advice(part) if is_hex else ""
        # RK201 names splits for the digits, which bytes would miss again.
        has_missed = bool(advice) and "missed_splits" in subject.causes
        return f"{advice} in place of what RK201 says" if has_missed else advice


class RepeatedField(Rule):
    """The key contains the same field more than once.

    What it does: counts the parts from which a field can be read back completely.

    Why it hurts: the second one adds nothing, and its bytes are stored in every cell of the row.

    Use instead: one of them: the first, if it spreads or narrows; the second, if the first only
    spreads rows, and then with a digest or a bucket of it in front.

    Source: KeyValue.java, every cell repeats the key; claims 6 and 22 agree that it costs MemStore.
    """

    name = "repeated_field"
    code = "RK120"
    severity: ClassVar[Severity] = "info"
    claims = (6, 22)
    bad_design = """\
table  = "orders"
key    = "[reverse(order)][shop][order]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
order  = "u64"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"
"""
    good_design = """\
table  = "orders"
key    = "[reverse(order)][shop]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
order  = "u64"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each field that the key contains more than once."""
        for name in subject.key.fields:
            complete_parts = [
                (notation, part)
                for notation, part in subject.iter_parts()
                if name in part.fields and part.residue(name).is_empty
            ]
            for notation, part in complete_parts[1:]:
                yield self.build_finding(
                    "key",
                    f"{notation} stores {name} again, which {complete_parts[0][0]} already holds",
                    "Remove one of the two parts.",
                    value=notation,
                    field=name,
                    least=part.framing.min_bytes,
                )


class RefusedLength(Rule):
    """A part of the key refuses values that its field may have.

    What it does: compares `max_bytes` of each field with the width of the part that holds it whole,
    and `distinct` with the number of values that this part can take. Under the arrival `sequential`
    a field that is `unique` counts up, and its values have to last for five years at the rate.

    Why it hurts: a longer value, and one beyond the last number, is refused when its row is
    written, and a sample with such values cannot be read. Cutting values off instead, or counting
    from 0 again, would give different rows the same key.

    Use instead: the default encoding, which marks where a value ends; a width for the longest
    value or for all values; or a smaller `max_bytes`, if no longer value occurs.

    Source: the encoding's width; a value never loses bytes silently.
    """

    name = "refused_length"
    code = "RK125"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "events"
key    = "[bucket(service, 16)][service:fixed(12)][ts]"
splits = "per_bucket"

[fields]
service = { type = "text", max_bytes = 32 }
ts      = "timestamp_ms"
event   = "u8"
"""
    good_design = """\
table  = "events"
key    = "[bucket(service, 16)][service][ts]"
splits = "per_bucket"

[fields]
service = { type = "text", max_bytes = 32 }
ts      = "timestamp_ms"
event   = "u8"
"""

    MIN_YEARS = 5
    """Years for which the values of a unique field have to last: our choice."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each part that is narrower than the values of its field."""
        for notation, outer in subject.iter_parts():
            part = outer.inner if isinstance(outer, NullablePart) else outer
            if len(part.fields) != 1 or not part.residue(part.fields[0]).is_empty:
                continue
            name, width = part.fields[0], part.framing.width
            yield from self._find_few_values(subject, notation, part, name)
            if width is None or part.determined_by is not Determinant.FIELDS:
                continue  # an id of a dictionary stands for a value of any length
            max_bytes = subject.design.fields[name].declaration.max_bytes
            if max_bytes is None or max_bytes <= width:
                continue
            widened = f"Write [{name}] instead of {notation}, which marks where a value ends"
            if not isinstance(part, FieldPart):
                widened = f"Give {notation} a width for {max_bytes:,} bytes"
            yield self.build_finding(
                "key",
                f"{notation} holds values of {width:,} bytes at most and refuses longer ones, but "
                f"{name} may have {max_bytes:,}",
                f"{widened}, or declare fewer max_bytes if no value is longer than {width:,}.",
                value=name,
                width=width,
                max_bytes=max_bytes,
            )

    def _find_few_values(
        self, subject: LintSubject, notation: str, part: Part, name: str
    ) -> Iterator[Finding]:
        """Yield a finding if a field has more values than the part that holds it can take."""
        declared, rate = subject.design.fields[name].declaration, subject.design.writes.rate
        values, needed = part.cardinality, declared.distinct
        if values is None:
            return
        message = f"{notation} can take {values:,} values, but {name} has {needed or 0:,}"
        is_counted = declared.unique and subject.design.writes.arrival == "sequential"
        if needed is None and is_counted and rate is not None:
            day_s = 86_400
            needed = ceil(rate * self.MIN_YEARS * DAYS_OF_A_YEAR * day_s)
            message = (
                f"{notation} can take {values:,} values, and {rate:,g} events a second with a new "
                f"{name} each use them up in {format_days(values / rate / day_s)}"
            )
        if needed is None or needed <= values:
            return
        remedy = f"Choose a width for {needed:,} values."
        if isinstance(part, FieldPart):
            remedy = f"Declare a type of {name} with {needed:,} values or more, such as u64"
            remedy += "." if notation == f"[{name}]" else f", and write [{name}]."
        yield self.build_finding("key", message, remedy, value=name, values=values, needed=needed)
