"""Remedies for common mistakes in keys: arithmetic operators and names without quotes."""

from __future__ import annotations

import re
from functools import cache

from rowkey.errors import InvalidArgument

_NAME_PATTERN = r"(?P<field>[^\W\d]\w*)"
_MAX_LONG_PATTERN = (
    r"(?:(?:Long|Integer|Int64)\s*\.\s*)?(?:MAX(?:_VALUE|_LONG|_TS)?|LONG_MAX|9223372036854775807)"
)
_ARITHMETIC_REMEDIES = (
    (rf"{_NAME_PATTERN}\s*%\s*(?P<count>[1-9]\d{{0,5}})\s*\]", "Write [mod({field}, {count})]."),
    (rf"{_NAME_PATTERN}\s*%\s*(?P<count>[^\W\d]\w*)\s*\]", "Write [mod({field}, 16)]."),
    (rf"{_MAX_LONG_PATTERN}\s*[-–−]\s*{_NAME_PATTERN}\s*\]", "Write [desc({field})]."),
    (rf"[-–−~]\s*{_NAME_PATTERN}\s*\]", "Write [desc({field})]."),
    (
        rf"(?P<hash>md5|crc32|murmur3)\s*\(\s*{_NAME_PATTERN}\s*\)\s*%\s*(?P<count>[1-9]\d{{0,5}})\s*\]",
        "Write [bucket({field}, {count}, hash={hash})].",
    ),
    (
        rf"\w*hash\w*\s*\(\s*{_NAME_PATTERN}\s*\)\s*%\s*(?P<count>[1-9]\d{{0,5}})\s*\]",
        "Write [bucket({field}, {count})].",
    ),
    (
        rf"\w*hash\w*\s*\(\s*{_NAME_PATTERN}\s*\)\s*%\s*\w*\s*\]?",
        "Write [bucket({field}, 16)].",
    ),
    (rf"{_NAME_PATTERN}\s*//?\s*\d+\s*\]", "Write [time_bucket({field}, 1h)]."),
    (
        rf"{_NAME_PATTERN}\s*(?:\+|\|\|)",
        "Write [{field}] and a pair of brackets for each other part.",
    ),
)
_UNQUOTED_PATTERN = re.compile(r"[^\W\d]\w*(?:[-./@#$]\w+)+")
_OPERATORS = frozenset("%+-–−*/~^&|<>!")
_MAX_PART_CHARACTERS = 200
_TERM_EXAMPLES = "a field, a call such as bucket(host, 16), or 'bytes'"


def find_arithmetic_mistake(text: str, start: int, at: int) -> InvalidArgument | None:
    """Return the error of a part that uses an operator or an unquoted name; None for other parts.

    Args:
        text: the key.
        start: position of the part's opening bracket.
        at: position at which parsing failed.

    Cost: bounded: every pattern looks at 200 characters at most.

    >>> print(find_arithmetic_mistake("[ts % 16]", 0, 4))
    '[ts % 16]' contains arithmetic (character 5); expected a function call. Write [mod(ts, 16)].
    """
    location = f"(character {at + 1})"
    for pattern, remedy in _compile_arithmetic_patterns():
        match = pattern.match(text, start, start + _MAX_PART_CHARACTERS)
        if match is not None and at <= match.end():
            problem = f"{match[0][:60]!r} contains arithmetic {location}"
            return InvalidArgument(
                "", problem, "a function call", remedy.format(**match.groupdict())
            )
    if name := _find_unquoted_name(text, at):
        problem = f"{name[:60]!r} is not a plain name {location}"
        return InvalidArgument(
            "", problem, "letters, digits and _, or a name in quotes", f'Write "{name}".'
        )
    if text[at : at + 1] in _OPERATORS and text[at : at + 1]:
        problem = f"a key cannot contain the operator {text[at]!r} {location}"
        remedy = "Call a function instead: mod, bucket, desc or time_bucket."
        return InvalidArgument("", problem, _TERM_EXAMPLES, remedy)
    return None


@cache
def _compile_arithmetic_patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return patterns of parts with arithmetic, each with its remedy; compiled at first use."""
    return tuple(
        (re.compile(rf"\[\s*{pattern}", re.IGNORECASE), remedy)
        for pattern, remedy in _ARITHMETIC_REMEDIES
    )


def _find_unquoted_name(text: str, at: int) -> str:
    """Return the unquoted name with a character such as `-` in it; empty if there is none."""
    start = at
    while (
        start
        and at - start < _MAX_PART_CHARACTERS
        and (text[start - 1] == "_" or text[start - 1].isalnum())
    ):
        start -= 1
    match = _UNQUOTED_PATTERN.match(text, start, at + _MAX_PART_CHARACTERS)
    return match[0] if match and start < at < match.end() else ""
