"""Rules on values in row keys and their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from ipaddress import IPv4Address
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar
from unicodedata import normalize

from rowkey.findings import Finding, Severity
from rowkey.hotspots import count_repeated_rows
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import format_number, pluralize
from rowkey.proposals import ANOTHER_KEY, build_ordering_term, format_quantile_splits
from rowkey.schema import FieldRef, Range, Term

if TYPE_CHECKING:
    from rowkey.lint.subject import LintSubject, PlannedRead


class RefusedValues(Rule):
    """The row key refuses values that the sample has.

    What it does: counts the rows of the sample whose values the key cannot store, such as negative
    numbers under an unsigned encoding, or texts above the width of their part.

    Why it hurts: a put of such an event fails, so all of them are missing in the table.

    Use instead: the default encoding, which takes all values of the type; or a type that has room
    for the values. If the values are mistakes, correct them before they are written.

    Source: the sample. In unsigned bytes written by hand, negative numbers sort after positive
    ones: `Bytes.toBytes` in HBase has the sign in the highest bit.
    """

    name = "refused_values"
    code = "RK126"
    looks_at_sample = True
    severity: ClassVar[Severity] = "error"
    bad_design = """\
table  = "deltas"
key    = "[bucket(meter, 16)][meter][delta:u32]"
splits = "per_bucket"

[fields]
meter = "u32"
delta = "i32"
state = "u8"
"""
    good_design = """\
table  = "deltas"
key    = "[bucket(meter, 16)][meter][delta]"
splits = "per_bucket"

[fields]
meter = "u32"
delta = "i32"
state = "u8"
"""
    sample_csv = "meter,delta,state\n" + "".join(
        f"{n * 7919 % 5003},{n % 89 - 2},{n % 5}\n" for n in range(1_800)
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key refuses rows of the sample."""
        problem, sample = subject.sample_problem, subject.sample
        if problem is not None and problem.is_refusal:
            yield self._build_finding(subject, problem.mistake.problem, self.severity)
        if sample is None or not sample.refused_rows.count:
            return
        refused, total = sample.refused_rows, sample.event_count + sample.skipped_rows.count
        share = refused.count / total
        message = (
            f"{refused.count:,} of {total:,} rows of the sample ({share:.1%}) cannot be written: "
            f"{refused.first_problem}"
        )
        yield self._build_finding(
            subject, message, "info" if share < MAX_STRAY_SHARE else self.severity
        )

    def _build_finding(self, subject: LintSubject, message: str, severity: Severity) -> Finding:
        """Return the finding with the part that refuses the first row, in its default encoding."""
        parts = (
            notation
            for notation, part in subject.iter_parts()
            if any(f"field {name}: " in message for name in part.fields)
        )
        notation = next(parts, "")
        default = re.sub(r"(\w):\w+", r"\1", notation)
        remedy = "Use a type and an encoding that take all values of the field."
        if default != notation:
            remedy = f"Write {default} instead of {notation}, an encoding that takes all values."
        return self.build_finding(
            "key", message, remedy, severity=severity, value=notation or str(subject.key)
        )


class ManyCodes(Rule):
    """A dictionary of short numbers holds very many values.

    What it does: takes the number of values of each field under `code`, as declared or sampled.

    Why it hurts: the catalog keeps the values of a table in one list. Each client reads it whole,
    and a put of a value that is new writes it anew, which takes half a second for 100,000 values.
    The numbers end where their bytes do.

    Use instead: the field itself, or a `digest` of it, which is as short and needs no dictionary.

    Source: measured, a put of a new value after 11,000 others takes 0.05 s, after 111,000 0.44 s,
    after 411,000 1.7 s; a node of ZooKeeper holds 1 MB.
    """

    name = "many_codes"
    code = "RK127"
    severity: ClassVar[Severity] = "warning"
    bad_design = """\
table  = "hits"
key    = "[bucket(session, 16)][code(session)][ts]"
splits = "per_bucket"

[fields]
session = { type = "text", max_bytes = 40, distinct = 3000000 }
ts      = "timestamp_ms"
path    = { type = "text", max_bytes = 200 }
"""
    good_design = """\
table  = "hits"
key    = "[bucket(host, 16)][code(host)][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 40, distinct = 3000 }
ts   = "timestamp_ms"
path = { type = "text", max_bytes = 200 }
"""
    MAX_VALUES, MAX_QUICK_VALUES = 10_000, 100_000
    """Values above which it is a remark, and a warning: our choice, by what a new one takes."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each dictionary with many values."""
        for notation, transform in subject.iter_transforms():
            if transform.name != "code":
                continue
            (name,), most = transform.fields, transform.cardinality or 0
            count = subject.count_distinct(name) or 0
            if count <= min(self.MAX_VALUES, most):
                continue
            problem = (
                f"{notation} keeps all {count:,} values of {name} in one list of the catalog, "
                "which each client reads and each new value writes anew"
            )
            if count > most:
                problem += f"; and there are only {most:,} numbers for them"
            yield self.build_finding(
                "key",
                problem,
                f"Write [{name}] instead of {notation}.",
                severity=(
                    "error"
                    if count > most
                    else "warning"
                    if count > self.MAX_QUICK_VALUES
                    else "info"
                ),
                value=notation,
                count=count,
            )


class ReversedUnderRange(Rule):
    """A read asks for a range or an order of a field that the key does not store in order.

    What it does: looks for reads that ask for a range of a field, or for rows in its order, where
    the key has the field whole but reversed, padded or coded, and nowhere in its own order.

    Why it hurts: neighbouring values are far apart if their last digit comes first. One hour of the
    seconds of a day, reversed, is 3,600 runs that span 86,333 of the 86,400 rows: the read scans
    nearly all of them.

    Use instead: `desc(field)` for the latest first, which is 2^63 - 1 minus the time; a bucket
    before it to spread writes.

    Source: claims 54 and 55 reverse the text of a time and promise ranges of time, which is wrong;
    claims 12 and 44 say that order is lost. The figures are computed.
    """

    name = "reversed_under_range"
    code = "RK111"
    measured_by = "reads"
    severity: ClassVar[Severity] = "warning"
    claims = (12, 13, 43, 44, 54, 55, 66)
    bad_design = """\
table  = "orders"
key    = "[reverse(time)][shop]"
splits = { algorithm = "uniform", regions = 16 }

[fields]
time   = "timestamp_ms"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"

[writes]
arrival = "random"

[[reads]]
name  = "orders of an hour"
where = "time >= ? and time < ?"
span  = "1h"
limit = 1000
"""
    good_design = """\
table  = "orders"
key    = "[bucket(shop, 16)][shop][desc(time)]"
splits = "per_bucket"

[fields]
time   = "timestamp_ms"
shop   = { type = "text", max_bytes = 16 }
amount = "u32"

[[reads]]
name  = "orders of an hour"
where = "shop = ? and time >= ? and time < ?"
span  = "1h"
limit = 1000
"""

    TIME_VERDICT = "A reversed time cannot serve a time range: {} separate ranges of keys."
    RUN_EXAMPLES: ClassVar = (
        (86_400_000_000_000, "a month of days is 30"),
        (1_000_000_000, "an hour of seconds is 3,600"),
        (1_000_000, "a second of milliseconds is 1,000"),
        (1_000, "a millisecond of microseconds is 1,000"),
        (1, "a microsecond of nanoseconds is 1,000"),
    )
    """Examples of runs of numbers, by the nanoseconds between two values of a time."""
    OTHER_VERDICT = (
        "Spreading neighbouring values loses their order: a range of values is not a range of keys."
    )

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each range or order over a field that the key does not sort."""
        unordered = subject.unordered_fields
        for one in subject.reads:
            ranged = {name for name in unordered if isinstance(one.bounds.get(name), Range)}
            ordered = {ordering.field for ordering in one.read.order} & set(unordered)
            for name in sorted(ranged | ordered):
                what = "for a range of" if name in ranged else "for the order of"
                tick = subject.design.fields[name].type.unit_ns
                runs = next(
                    (text for unit_ns, text in self.RUN_EXAMPLES if tick and unit_ns <= tick), None
                )
                remedy = self._format_remedy(subject, name, unordered[name], one)
                yield self.build_finding(
                    one.path,
                    f"the read '{one.read.name}' asks {what} {name}, but {unordered[name]} "
                    "does not keep its order, so neighbouring values are far apart in the "
                    "table",
                    remedy,
                    value=unordered[name],
                    verdict=self.OTHER_VERDICT if runs is None else self.TIME_VERDICT.format(runs),
                    field=name,
                    read=one.read.name,
                    needs_key=remedy is ANOTHER_KEY,
                )

    @staticmethod
    def _format_remedy(
        subject: LintSubject, name: str, part_notation: str, planned_read: PlannedRead
    ) -> str:
        """Return the remedy: store the field in order, after a part that spreads the rows."""
        orders = [o for one in (planned_read, *subject.reads) for o in one.read.order]
        directions = [o.descending for o in orders if o.field == name]
        ascending: Term = FieldRef(name)
        descending = build_ordering_term(ascending, descending=True)
        forms = (
            [descending if directions[0] else ascending] if directions else [descending, ascending]
        )
        advice = f"Write [{forms[0]}]"
        if len(forms) > 1:
            advice += f" for the greatest first, or [{ascending}]"
        place = next(
            n for n, (notation, _) in enumerate(subject.iter_parts()) if notation == part_notation
        )
        if subject.key.parts[place] is not subject.leading_part:
            return f"{advice}."
        if subject.design.fields[name].type.unit_ns is None:
            return f"{advice}, and set {format_quantile_splits(subject.design)}."
        return ANOTHER_KEY


MONTHS = 12


class UnpaddedDigits(Rule):
    """The key holds numbers or dates as text that does not sort as they do, and a read needs that.

    What it does: looks at the sample's values of a text field in the key of which a read asks for a
    range or an order. If all are digits of different lengths, dates that begin with the day or the
    month, or times with offsets of several time zones, it names two that sort wrongly, the next
    year's dates included. A range is an error, an order alone a warning.

    Why it hurts: bytes compare from the left, so 10 sorts before 9, and 01/12/2024 before
    02/01/2023. The range is wrong without an error: it misses some rows and includes others.

    Use instead: a number type, which is big-endian and keeps the order; or the type `digits`, text
    padded to one width. A date or timestamp for dates, with their layout in the format of the
    sample.

    Source: claim 9 calls the order ASCII's: it is that of unsigned bytes, in which digits of
    different lengths, signed numbers and mixed case lose the order. Bytes.compareTo.
    """

    name = "unpadded_digits"
    code = "RK112"
    looks_at_sample = True
    severity: ClassVar[Severity] = "error"
    claims = (9, 65)
    bad_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][number]"
splits = "per_bucket"

[fields]
meter  = { type = "u32", distinct = 10000 }
number = { type = "text", max_bytes = 10 }
value  = "float64"

[[reads]]
name  = "readings of a meter"
where = "meter = ? and number >= ?"
limit = 100
"""
    good_design = """\
table  = "readings"
key    = "[bucket(meter, 16)][meter][number]"
splits = "per_bucket"

[fields]
meter  = { type = "u32", distinct = 10000 }
number = "u32"
value  = "float64"

[[reads]]
name  = "readings of a meter"
where = "meter = ? and number >= ?"
limit = 100
"""
    sample_csv = "meter,number,value\n" + "".join(
        f"{n * 7919 % 1009},{n * 613 % 1999},{n % 7}.5\n" for n in range(600)
    )

    DATE_FORM = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
    """Text that begins with a day or a month, and has the year last."""
    DATE_REMEDY = (
        "Declare a date or a timestamp, and the layout of the text in the format of the sample."
    )
    ZONED_FORM = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)")
    """A time with its offset from UTC."""
    NUMBER_FORM = re.compile(r"-?[0-9]+(\.[0-9]+)?")

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each text field of numbers whose order a read needs."""
        for one in subject.reads:
            ranged = [n for n, bound in one.bounds.items() if isinstance(bound, Range)]
            for name in dict.fromkeys([*ranged, *(o.field for o in one.read.order)]):
                field = subject.design.fields[name]
                values = subject.list_values(name) if field.type.is_sequence else []
                texts = [value for value in values if isinstance(value, str)]
                if name not in subject.key.fields or not texts or len(texts) < len(values):
                    continue
                form = self._find_form(texts)
                if form is None:
                    continue
                what, ranks, remedy = form
                pairs = pairwise(sorted(ranks))
                pair = next((pair for pair in pairs if ranks[pair[0]] > ranks[pair[1]]), None)
                if pair is None:
                    continue
                yield self.build_finding(
                    subject.format_path("fields", name),
                    f"{name} holds {what}, and the read '{one.read.name}' needs their order, but "
                    f"{pair[0]} sorts before {pair[1]}",
                    remedy,
                    value=field.type.name,
                    verdict="Keys compare as unsigned bytes, not as ASCII text or numbers.",
                    read=one.read.name,
                    greater=pair[0],
                    lesser=pair[1],
                    severity="error" if name in ranged else "warning",
                )

    def _find_form(self, texts: list[str]) -> tuple[str, dict[str, Any], str] | None:
        """Return what texts are, the ranks by which they should sort, and the remedy.

        None if they are neither numbers nor dates nor times.
        """
        ranks: dict[str, Any]
        if all(map(self.NUMBER_FORM.fullmatch, texts)):
            ranks = {text: Decimal(text) for text in texts}
            return "numbers as text", ranks, self._format_number_remedy(texts)
        if all(map(self.DATE_FORM.match, texts)):
            ranks = self._rank_dates([*texts, *map(self._add_a_year, texts)])
            return "dates as text that begins with the day or the month", ranks, self.DATE_REMEDY
        if all(map(self.ZONED_FORM.fullmatch, texts)):
            with suppress(ValueError):  # some day is not in its month
                return (
                    "times as text with their offsets from UTC",
                    {text: datetime.fromisoformat(text) for text in texts},
                    "Declare a timestamp, which holds them in UTC.",
                )
        return None

    @staticmethod
    def _format_number_remedy(texts: list[str]) -> str:
        """Return the type to declare for numbers that are written as text."""
        digits = max(len(one.partition(".")[2]) for one in texts)
        if digits:
            return f"Declare a decimal of scale {digits}."
        if any(one.startswith("-") for one in texts):
            return "Declare i32 or i64."
        return (
            "Declare a number type, or pad the values and declare digits of the width that the "
            f"largest will have, {max(map(len, texts))} or more."
        )

    @classmethod
    def _add_a_year(cls, text: str) -> str:
        """Return the same day of the following year, which the table will have too."""
        match = cls.DATE_FORM.match(text)
        assert match is not None, "it is a date"
        year, (start, stop) = match[4], match.span(4)
        later = str(int(year) + 1).zfill(len(year))
        return text if len(later) > len(year) else text[:start] + later + text[stop:]

    @classmethod
    def _rank_dates(cls, texts: list[str]) -> dict[str, tuple[Decimal, ...]]:
        """Return the numbers by which dates sort.

        They are those of the year if no value above 12 says which of the others is the day.
        """
        matches = {text: cls.DATE_FORM.match(text) for text in texts}
        dates = {
            text: (Decimal(match[1]), Decimal(match[3]), Decimal(match[4]))
            for text, match in matches.items()
            if match is not None
        }
        begins_with_day = any(first > MONTHS for first, _, _ in dates.values())
        begins_with_month = any(second > MONTHS for _, second, _ in dates.values())
        if begins_with_day == begins_with_month:
            return {text: (year,) for text, (_, _, year) in dates.items()}
        if begins_with_day:
            return {text: (year, second, first) for text, (first, second, year) in dates.items()}
        return {text: (year, first, second) for text, (first, second, year) in dates.items()}


class SpelledOutValue(Rule):
    """The key holds a value as text that a type would store in fewer bytes.

    What it does: looks at the sample's values of each text field of the key: whether all are whole
    numbers, hexadecimal digits of one length, UUIDs or IPv4 addresses; and those of each field of
    digits: whether all are times in milliseconds.

    Why it hurts: 20 digits fit in 8 bytes, 32 hexadecimal digits in 16, and the key is stored in
    every cell. Numbers and addresses as text also lose their order, which makes the finding a
    warning where a read needs it.

    Use instead: the type, which reads and writes the same text.

    Source: claim 83, a long of 8 bytes against about three times as many as text: 20 / 8 = 2.5.
    Claims 53 and 84 keep a digest as text, of 32 characters or, by accident of the charset, 26.
    """

    name = "spelled_out_value"
    code = "RK113"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (83, 84)
    bad_design = """\
table  = "traces"
key    = "[bucket(trace, 16)][trace]"
splits = "per_bucket"

[fields]
trace = { type = "text", max_bytes = 32 }
state = "u8"
"""
    good_design = """\
table  = "traces"
key    = "[bucket(trace, 16)][trace:bytes]"
splits = "per_bucket"

[fields]
trace = { type = "hex", width = 16 }
state = "u8"
"""
    sample_csv = "trace,state\n" + "".join(
        f"{(n + 1) * 0x9E3779B97F4A7C15 % 2**64:016x},{n % 5}\n" for n in range(300)
    )
    MIN_VALUES = 20
    """Different values that are needed: fewer may have a common form by chance."""
    HEX_DECLARATION = 'type = "hex", width = {} and :bytes'
    ADDRESS_DECLARATION = 'type = "ipv4"'
    EVEN_DECLARATIONS = (HEX_DECLARATION, 'type = "uuid"')
    """Types whose bytes are as evenly spread as the digits of the text are."""
    DIGEST_VERDICT = (
        "A digest converted to a Java String is damaged: it has 26 or 34 bytes, by charset."
    )
    TEXT_FORMS: ClassVar = (
        (re.compile(r"1[0-9]{12}"), "times in milliseconds", 'type = "timestamp_ms"', 8),
        (re.compile(r"0|[1-9][0-9]{0,18}"), "whole numbers", 'type = "u64"', 8),
        (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUIDs", 'type = "uuid"', 16),
        (re.compile(r"((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}"), "addresses", ADDRESS_DECLARATION, 4),
        (re.compile(r"([0-9a-f]{2}){4,}"), "hexadecimal digits", HEX_DECLARATION, None),
    )
    """Text forms: the name, the field type to use, and its bytes; for digits half their number."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each text field that another type stores in fewer bytes."""
        for name in subject.key.fields:
            field = subject.design.fields[name]
            is_whole = any(part.residue(name).is_empty for part in subject.key.parts)
            is_text = field.type.is_sequence and not field.type.required_options
            texts = subject.list_values(name) if is_whole else []
            if len(texts) < self.MIN_VALUES or not isinstance(texts[0], str):
                continue
            # Of a type with a length of its own, such as digits, only times are spelled out.
            for form, what, typed, width in self.TEXT_FORMS[: None if is_text else 1]:
                if not all(map(form.fullmatch, texts)):
                    continue
                mean = sum(map(len, texts)) / len(texts)
                n_bytes = width or len(texts[0]) // 2
                fits = width is not None or len({len(text) for text in texts}) == 1
                if fits and n_bytes < mean:
                    pair = self._find_misordered_addresses(subject, name, texts, typed)
                    has_order = pair is not None
                    verdict = self.DIGEST_VERDICT if width is None else ""
                    if pair is not None:
                        verdict = f"A read needs their order, but {pair[0]} sorts before {pair[1]}."
                    yield self.build_finding(
                        subject.format_path("fields", name),
                        f"all {pluralize(len(texts), 'value')} of {name} are {what}, which "
                        f"take {format_number(mean)} bytes of every cell as text and would take "
                        f"{n_bytes} in their own type",
                        f"Declare {typed.format(len(texts[0]))}"
                        f"{self._format_split_advice(subject, name, typed)}.",
                        value=field.type.name,
                        severity="warning" if has_order else None,
                        verdict=verdict,
                        bytes=mean,
                        possible=n_bytes,
                    )
                    break

    def _find_misordered_addresses(
        self, subject: LintSubject, name: str, texts: list[str], typed: str
    ) -> tuple[str, str] | None:
        """Return two addresses that sort wrongly as text, if a read needs their order."""
        is_ordered = any(
            isinstance(one.bounds.get(name), Range) or name in {o.field for o in one.read.order}
            for one in subject.reads
        )
        if not is_ordered or typed != self.ADDRESS_DECLARATION:
            return None
        pairs = pairwise(sorted(texts))
        return next((pair for pair in pairs if IPv4Address(pair[0]) > IPv4Address(pair[1])), None)

    def _format_split_advice(self, subject: LintSubject, name: str, typed: str) -> str:
        """Return a phrase with new splits if text that leads the key becomes bytes."""
        part = subject.leading_part
        if part is None or part.fields != (name,) or not part.residue(name).is_empty:
            return ""
        if typed in self.EVEN_DECLARATIONS:
            return subject.format_split_advice(part)
        splits = subject.design.splits
        has_digits = subject.is_declared("splits") and splits.request.listed is None
        has_digits = has_digits and not splits.needs_sample
        return f", and set {format_quantile_splits(subject.design)}" if has_digits else ""


class MixedCase(Rule):
    """A text field of the key holds one value in several spellings.

    What it does: looks at the sample's values of each text field of the key, and reports fields in
    which all values are hexadecimal digits and both cases occur, and fields in which one value in
    a hundred occurs in another case too, as addresses do that people type. Where one value in ten
    has a capital after a small letter, as random codes do, the case tells values apart. A value
    that occurs in two forms of Unicode, with an accent of its own or after the letter, is reported
    in any case.

    Why it hurts: 0A and 0a are two keys for one value, so a get misses the row that was written
    with the other spelling, and a bucket puts them into two regions. All capitals sort before all
    small letters, and splits made for one case leave regions empty under the other.

    Use instead: for digits the type `hex`, which accepts both and stores one; `:bytes` of it takes
    half the space. For other text one case, which the program writes and asks for, with the
    spelling that is shown in another column. For forms of Unicode `normalize = "nfc"`.

    Source: claim 9, "ASCII order": it is that of unsigned bytes, 41..46 before 61..66. HBase's
    HexStringSplit is in lower case: RegionSplitter.java.
    """

    name = "mixed_case"
    code = "RK114"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    claims = (9, 71)
    bad_design = """\
table  = "traces"
key    = "[bucket(trace, 16)][trace]"
splits = "per_bucket"

[fields]
trace = { type = "text", max_bytes = 9 }
state = "u8"
"""
    good_design = """\
table  = "traces"
key    = "[bucket(trace, 16)][trace]"
splits = "per_bucket"

[fields]
trace = { type = "hex", width = 9 }
state = "u8"
"""
    sample_csv = "trace,state\n" + "".join(
        f"{n * 0x9E3779B97 % 16**9:09{'X' if n % 3 else 'x'}},{n % 5}\n" for n in range(1, 300)
    )
    MIN_VALUES = 20
    """Different values that are needed: fewer may have a common form by chance."""

    MIN_TWINS, MIN_TWIN_SHARE = 10, 0.01
    """Values, and their share of all, that occur in another case, from which it is reported."""
    MAX_INNER_CAPITALS = 0.1
    """Share of values with a capital after a small letter up to which case tells none apart. Of
    random codes of two letters and digits it is 18 %, of longer ones more; of names hardly one."""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each text field in which both cases occur."""
        for name in subject.key.fields:
            field = subject.design.fields[name]
            if not field.type.is_sequence or field.type.required_options:
                continue
            texts = subject.list_values(name)
            if not texts or not isinstance(texts[0], str):
                continue
            together = "".join(texts)
            if not together.isascii():
                yield from self._find_other_forms(subject, name, texts)
            if len(texts) < self.MIN_VALUES:
                continue
            if together in (together.lower(), together.upper()):
                continue
            if not all(re.fullmatch("[0-9A-Fa-f]+", text) for text in texts):
                yield from self._find_other_spellings(subject, name, texts)
                continue
            large = next((text for text in texts if text != text.lower()), None)
            small = next((text for text in texts if text != text.upper()), None)
            if large is not None and small is not None:
                widths = {len(text) for text in texts}
                yield self.build_finding(
                    subject.format_path("fields", name),
                    f"{name} holds hexadecimal digits in both upper and lower case, such as "
                    f"{large} and {small}",
                    f'Declare type = "hex", width = {len(large)}: it stores one case.'
                    if len(widths) == 1
                    else "Write all its values in one case.",
                    value=field.type.name,
                    verdict="Keys compare as unsigned bytes: capitals sort before small letters.",
                    large=large,
                    small=small,
                )

    def _find_other_forms(
        self, subject: LintSubject, name: str, texts: list[str]
    ) -> Iterator[Finding]:
        """Yield a finding if a value of a field occurs in two forms of Unicode."""
        forms: dict[str, str] = {}
        for text in texts:
            if (other := forms.setdefault(normalize("NFC", text), text)) != text:
                yield self.build_finding(
                    subject.format_path("fields", name),
                    f"{name} holds values that look the same and have other bytes, such as "
                    f"{other!a} and {text!a}, and each is a key of its own",
                    'Declare normalize = "nfc", which makes them one.',
                    value=subject.design.fields[name].type.name,
                    large=other,
                    small=text,
                )
                return

    def _find_other_spellings(
        self, subject: LintSubject, name: str, texts: list[str]
    ) -> Iterator[Finding]:
        """Yield a finding if some values of a field differ from others only in their case."""
        spellings: dict[str, list[str]] = {}
        for text in texts:
            spellings.setdefault(text.lower(), []).append(text)
        twins = [found for found in spellings.values() if len(found) > 1]
        count = sum(map(len, twins))
        if count < max(self.MIN_TWINS, self.MIN_TWIN_SHARE * len(texts)):
            return
        codes = sum(re.search("[a-z][A-Z]", text) is not None for text in texts)
        if codes > self.MAX_INNER_CAPITALS * len(texts):
            return
        first, second = sorted(twins[0])[:2]
        yield self.build_finding(
            subject.format_path("fields", name),
            f"{count:,} of {pluralize(len(texts), 'value')} of {name} differ from another only in "
            f"upper and lower case, as {first} and {second}, and each spelling is a key of its own",
            f"Write {name} in one case and ask for it in that case; if people see it, store their "
            "spelling in another column.",
            value=subject.design.fields[name].type.name,
            verdict="Keys compare as unsigned bytes: capitals sort before small letters.",
            large=first,
            small=second,
            twins=count,
        )


class SeparatorInKey(Rule):
    """The key has a separator that is not needed, or that a value may contain.

    What it does: looks for constant bytes after a part of the key. After a part that shows its own
    end they are useless; after one that does not, they mark its end, and any value may contain
    them.

    Why it hurts: a value that contains the separator is read as two. With `~`, 7E, a range from
    `uid~` to `uid~~` misses ids whose next byte is 7E or more. A useless separator is stored in
    every cell.

    Use instead: the default encodings, which end a text with 00, or fixed widths. A prefix range
    ends at the prefix with its last byte raised by one.

    Source: claim 47 scans from "uid1~" to "uid1~~", which misses what begins with 7E; claim 65 puts
    `_`, 5F, after digits that are not padded. ClientUtil: the closest next row key for a prefix.
    """

    name = "separator_in_key"
    code = "RK115"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    claims = (47, 65)
    bad_design = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan:raw]['~'][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[writes]
arrival = "random"
"""
    good_design = """\
table  = "follows"
key    = "[bucket(fan, 16)][fan][star]"
splits = "per_bucket"

[fields]
fan   = { type = "text", max_bytes = 12 }
star  = { type = "text", max_bytes = 12 }
since = "timestamp_ms"

[writes]
arrival = "random"
"""
    other_codes = ("RK109",)

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each separator that is needless or may occur in a value."""
        for (part_text, part), (separator, constant) in pairwise(subject.iter_parts()):
            if constant.fields or constant.cardinality != 1 or not part.fields:
                continue
            [piece] = constant.images({}).points or (b"",)
            if part.framing.is_self_delimiting:
                yield self.build_finding(
                    "key",
                    f"the separator {separator} is not needed, because {part_text} marks its own "
                    f"end; it wastes {len(piece)} byte{'s' * (len(piece) != 1)} of every cell",
                    f"Remove {separator}.",
                    severity="info",
                    value=separator,
                    bytes=len(piece),
                )
                continue
            names = " and ".join(part.fields)
            bad_values = [
                v
                for n in part.fields
                for v in subject.list_values(n)
                if self._has_separator(v, piece)
            ]
            example = f", as {bad_values[0]!r} of the sample does" if bad_values else ""
            yield self.build_finding(
                "key",
                f"the separator {separator} marks the end of {names}, whose values may contain "
                f"it{example}; such a key is decoded wrongly",
                f"Remove {separator}, and write {names} in its default encoding.",
                severity="error" if bad_values else None,
                value=separator,
                verdict="A prefix range ends at the prefix with its last byte raised by one.",
            )

    @staticmethod
    def _has_separator(value: object, piece: bytes) -> bool:
        """Return whether a text value contains the bytes of a separator."""
        return isinstance(value, str) and piece in value.encode()


class MeasuredValueInKey(Rule):
    """The key contains a measured value that no read uses.

    What it does: looks for floating-point numbers and decimals in the key: they usually measure
    something and do not identify it. A read that asks for a range of them, or for their order, as
    for a leaderboard, is a good reason to have them there; where rows of the sample would overwrite
    each other without them, it is a remark.

    Why it hurts: a corrected value becomes a second row next to the wrong one. A row can be read
    only by a client that knows the value already. And the value is stored in every cell of the row.

    Use instead: a column. If the order by value is wanted, keep it in the key and move the row when
    the value changes: a delete and a put.

    Source: claim 57 has md5, time and the sensor's data as key. Claim 23: a row's key is immutable,
    HBase book, "Immutability of Rowkeys".
    """

    name = "measured_value_in_key"
    code = "RK116"
    looks_at_sample = True
    severity: ClassVar[Severity] = "warning"
    claims = (23, 57)
    bad_design = """\
table  = "measurements"
key    = "[bucket(sensor, 16)][sensor][ts][value]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
value  = "float64"
unit   = { type = "text", max_bytes = 4 }
"""
    good_design = """\
table  = "measurements"
key    = "[bucket(sensor, 16)][sensor][ts]"
splits = "per_bucket"

[fields]
sensor = "u32"
ts     = "timestamp_ms"
value  = "float64"
unit   = { type = "text", max_bytes = 4 }
"""

    VERDICT = "With the measured value in the key, only a client that knows it can get the row."

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding for each measured value that is part of the key."""
        read_fields = {name for one in subject.reads for name in one.bounds}
        read_fields |= {o.field for one in subject.reads for o in one.read.order}
        for name, field in subject.key.fields.items():
            if not isinstance(field.type.domain.generate_value(0), float | Decimal):
                continue
            if name in read_fields:
                yield self.build_finding(
                    "key",
                    f"{name} is a measured value, and each time it changes, its row must move "
                    "to another key",
                    "Use `move` to change it: it deletes the old row and puts the new one.",
                    severity="info",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )
            elif self._keeps_rows_apart(subject, name):
                yield self.build_finding(
                    "key",
                    f"the key contains {name}, a measured value without which rows of the sample "
                    "would overwrite each other; a corrected value would become a second row",
                    "If there is a field that identifies the event, such as its number, write it "
                    "instead.",
                    severity="info",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )
            else:
                yield self.build_finding(
                    "key",
                    f"the key contains {name}, a measured value that no read uses; a corrected "
                    "value would become a second row",
                    f"Take {name} out of the key and store it in a column.",
                    value=name,
                    verdict=self.VERDICT,
                    type=field.type.name,
                )

    @staticmethod
    def _keeps_rows_apart(subject: LintSubject, name: str) -> bool:
        """Return whether sampled rows that differ would be one row in a key without a field."""
        if subject.sample is None or subject.key.is_salted:
            return False
        rows = subject.sample.keyed_events.rows
        others = [one for one in subject.key.fields if one != name]
        if not {name, *others} <= set(rows.schema.names):
            return False
        lost = count_repeated_rows(rows, others) - count_repeated_rows(rows, [name, *others])
        return lost > 0 and lost >= MAX_STRAY_SHARE * float(rows.num_rows)
