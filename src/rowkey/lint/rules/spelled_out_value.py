"""The rule `spelled_out_value`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import counted
from rowkey.lint.contract import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import Subject


class SpelledOutValue(Rule):
    """Text in the key that a type would keep in fewer bytes.

    What it does: looks at the sample's values of each text field of the key: whether all are whole
    numbers, hexadecimal digits of one length, UUIDs or IPv4 addresses.

    Why it hurts: 20 digits are 8 bytes, 32 hexadecimal digits are 16, and the key stands in every
    cell. The order of numbers is lost besides.

    Use instead: the type, which reads and writes the same text.

    Source: claim 83, a long of 8 bytes against about three times as many as text: 20 / 8 = 2.5.
    Claims 53 and 84 keep a digest as text, of 32 characters or, by accident of the charset, 26.
    """

    name = "spelled_out_value"
    code = "RK113"
    severity: ClassVar[Severity] = "info"
    claims = (83, 84)
    bad = """\
table  = "traces"
key    = "[bucket(trace, 16)][trace]"
splits = "per_bucket"

[fields]
trace = { type = "text", max_bytes = 32 }
state = "u8"
"""
    good = """\
table  = "traces"
key    = "[bucket(trace, 16)][trace:bytes]"
splits = "per_bucket"

[fields]
trace = { type = "hex", width = 16 }
state = "u8"
"""
    data = "trace,state\n" + "".join(
        f"{(n + 1) * 0x9E3779B97F4A7C15 % 2**64:016x},{n % 5}\n" for n in range(300)
    )
    ENOUGH = 20
    """Different values below which what all of them look like tells little."""
    HEX = 'type = "hex", width = {} and :bytes'
    OF_DIGESTS = "Made a string, a digest has 26 or 34 bytes by the charset, and is lost."
    FORMS: ClassVar = (
        (re.compile(r"0|[1-9][0-9]{0,18}"), "whole numbers", 'type = "u64"', 8),
        (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUIDs", 'type = "uuid"', 16),
        (re.compile(r"((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}"), "addresses", 'type = "ipv4"', 4),
        (re.compile(r"([0-9a-f]{2}){4,}"), "hexadecimal digits", HEX, None),
    )
    """Forms with their names, the type, and its bytes; of digits, half as many as there are."""

    def findings(self, subject: Subject) -> Iterator[Finding]:
        for name in subject.key.fields:
            field = subject.design.fields[name]
            texts = [one for one in subject.values(name) if isinstance(one, str)]
            is_whole = any(part.residue(name).nothing for part in subject.key.parts)
            is_text = field.type.is_sequence and not field.type.required
            if not is_text or not is_whole or len(texts) < self.ENOUGH:
                continue
            for form, what, typed, width in self.FORMS:
                mean = sum(map(len, texts)) / len(texts)
                room = width or len(texts[0]) // 2
                fits = width is not None or len({len(text) for text in texts}) == 1
                if fits and room < mean and all(map(form.fullmatch, texts)):
                    yield self.finding(
                        subject.at("fields", name),
                        f"all {counted(len(texts), 'value')} of {name} are {what}: {mean:,.3g} "
                        "bytes of "
                        f"text where {room} do, in every cell",
                        f"Declare {typed.format(len(texts[0]))}"
                        f"{self._splits(subject, name, typed)}.",
                        value=field.type.name,
                        verdict=self.OF_DIGESTS if width is None else "",
                        bytes=mean,
                        possible=room,
                    )
                    break

    def _splits(self, subject: Subject, name: str, typed: str) -> str:
        """What is said of the splits where digests lead the key and become bytes."""
        part = subject.leading
        if part is None or part.fields != (name,) or not part.residue(name).nothing:
            return ""
        return subject.cut_for_bytes(part) if typed == self.HEX else ""
