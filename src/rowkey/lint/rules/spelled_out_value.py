"""The rule `spelled_out_value`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rowkey.lint.contract import Rule
from rowkey.messages import format_number, pluralize
from rowkey.proposals import format_quantile_splits
from rowkey.schema import Range

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


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
