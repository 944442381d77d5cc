"""What people write in brackets before they know the notation, and what to write instead."""

from __future__ import annotations

import re
from functools import cache

from rowkey.errors import Refused

_NAME = r"(?P<field>[^\W\d]\w*)"
_MOST = (
    r"(?:(?:Long|Integer|Int64)\s*\.\s*)?(?:MAX(?:_VALUE|_LONG|_TS)?|LONG_MAX|9223372036854775807)"
)
_FORMS = (
    (rf"{_NAME}\s*%\s*(?P<count>[1-9]\d{{0,5}})\s*\]", "Write [mod({field}, {count})]."),
    (rf"{_NAME}\s*%\s*(?P<count>[^\W\d]\w*)\s*\]", "Write [mod({field}, 16)], say."),
    (rf"{_MOST}\s*[-–−]\s*{_NAME}\s*\]", "Write [desc({field})]."),
    (rf"[-–−~]\s*{_NAME}\s*\]", "Write [desc({field})]."),
    (
        rf"(?P<hash>md5|crc32|murmur3)\s*\(\s*{_NAME}\s*\)\s*%\s*(?P<count>[1-9]\d{{0,5}})\s*\]",
        "Write [bucket({field}, {count}, hash={hash})].",
    ),
    (
        rf"\w*hash\w*\s*\(\s*{_NAME}\s*\)\s*%\s*(?P<count>[1-9]\d{{0,5}})\s*\]",
        "Write [bucket({field}, {count})].",
    ),
    (rf"\w*hash\w*\s*\(\s*{_NAME}\s*\)\s*%\s*\w*\s*\]?", "Write [bucket({field}, 16)], say."),
    (rf"{_NAME}\s*//?\s*\d+\s*\]", "Write [time_bucket({field}, 1h)], say."),
    (rf"{_NAME}\s*(?:\+|\|\|)", "Write [{field}] and a pair of brackets for each other part."),
)
_UNQUOTED = re.compile(r"[^\W\d]\w*(?:[-./@#$]\w+)+")
_OPERATORS = frozenset("%+-–−*/~^&|<>!")
_LONGEST = 200
_CALL = "a field, a call such as bucket(host, 16), or 'bytes'"


def arithmetic(text: str, start: int, at: int) -> Refused | None:
    """The refusal of a part that computes with operators, or spells a name without quotes.

    Args:
        text: the key.
        start: where the part's opening bracket stands.
        at: where reading it failed.

    Returns:
        None if the part is neither.

    Cost: bounded: no form looks further than 200 characters.

    >>> print(arithmetic("[ts % 16]", 0, 4))
    '[ts % 16]' is arithmetic (character 5); expected a call. Write [mod(ts, 16)].
    """
    place = f"(character {at + 1})"
    for form, cure in _arithmetic_forms():
        match = form.match(text, start, start + _LONGEST)
        if match is not None and at <= match.end():
            what = f"{match[0][:60]!r} is arithmetic {place}"
            return Refused("", what, "a call", cure.format(**match.groupdict()))
    if name := _unquoted(text, at):
        what = f"{name[:60]!r} is not a plain name {place}"
        return Refused("", what, "letters, digits and _, or a name in quotes", f'Write "{name}".')
    if text[at : at + 1] in _OPERATORS and text[at : at + 1]:
        what = f"the operator {text[at]!r} stands in a key {place}"
        remedy = "Say what is computed by its name: mod, bucket, desc, time_bucket."
        return Refused("", what, _CALL, remedy)
    return None


@cache
def _arithmetic_forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    """What a part that computes looks like, with its remedy; made when a key is first wrong."""
    return tuple((re.compile(rf"\[\s*{form}", re.IGNORECASE), cure) for form, cure in _FORMS)


def _unquoted(text: str, at: int) -> str:
    """The name that goes on at a character no plain name has; empty if there is none."""
    start = at
    while start and at - start < _LONGEST and (text[start - 1] == "_" or text[start - 1].isalnum()):
        start -= 1
    match = _UNQUOTED.match(text, start, at + _LONGEST)
    return match[0] if match and start < at < match.end() else ""
