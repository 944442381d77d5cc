"""The rule `mixed_case`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar
from unicodedata import normalize

from rowkey.lint.contract import Rule
from rowkey.messages import pluralize

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


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
            yield from self._find_other_forms(subject, name, texts)
            if len(texts) < self.MIN_VALUES:
                continue
            together = "".join(texts)
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
