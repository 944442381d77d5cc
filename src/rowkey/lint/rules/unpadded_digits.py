"""The rule `unpadded_digits`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.lint.contract import Rule
from rowkey.schema import Range

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject

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
