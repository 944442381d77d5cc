"""Numbers that are grouped, or whose fraction follows a comma: `1.234,56`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rowkey.array_libraries import pa, pc
from rowkey.errors import InvalidArgument
from rowkey.messages import suggest_name

_SEPARATORS = {
    "1.234,56": (".", ","),
    "1,234.56": (",", "."),
    "1 234,56": (" \u00a0\u202f", ","),
    "1'234.56": ("'\u2019", "."),
}
"""By an example of each layout, its separators of groups and its mark of decimals."""
NUMBER_LAYOUTS = tuple(_SEPARATORS)
PLAIN_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""Numbers that the types read themselves, in RE2."""
MIN_MATCHING_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class NumberLayout:
    """How the numbers of a column are written.

    Args:
        text: the layout, as an example.
    """

    text: str

    def normalize_texts(self, texts: pa.Array) -> pa.Array:
        """Return texts as plain numbers, such as 1234.56; null where they do not follow.

        >>> import pyarrow as pa
        >>> NumberLayout("1.234,56").normalize_texts(pa.array(["-1.234,5", "7", "1.5"])).to_pylist()
        ['-1234.5', '7', None]
        """
        groups, mark = _SEPARATORS[self.text]
        trimmed = pc.utf8_trim_whitespace(texts)
        group = f"[{re.escape(groups)}]"
        whole = f"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+|[0-9]+"
        pattern = f"^[+-]?(?:{whole})(?:{re.escape(mark)}[0-9]+)?$"
        is_number = pc.match_substring_regex(trimmed, pattern)
        plain = pc.replace_substring_regex(trimmed, group, "")
        plain = pc.replace_substring(plain, mark, ".")
        return pc.if_else(is_number, plain, pa.scalar(None, texts.type))


def parse_number_layout(text: str) -> NumberLayout:
    """Return a declared layout.

    Raises:
        InvalidArgument: there is no such layout.
    """
    if text not in _SEPARATORS:
        allowed = f"one of {', '.join(NUMBER_LAYOUTS)}"
        what = f"{text!r} is not a layout of numbers"
        raise InvalidArgument("", what, allowed, suggest_name(text, NUMBER_LAYOUTS))
    return NumberLayout(text)


@dataclass(frozen=True, slots=True)
class DetectedNumbers:
    """The layout of a column of numbers, or those between which nothing decides.

    Args:
        rivals: layouts that read the same texts as other numbers; empty if it is certain.
        example: a text that is no plain number.
    """

    layout: NumberLayout
    rivals: tuple[NumberLayout, ...]
    example: str


class NumberDetector:
    """Finds the layout of a column of numbers from all its texts, batch by batch."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(NUMBER_LAYOUTS, 0)
        self._differing: set[tuple[str, str]] = set()
        self._text_count = 0
        self._example = ""
        self._is_given_up = False

    def add_texts(self, texts: pa.Array) -> None:
        """Add different texts, trimmed and not empty."""
        self._text_count += len(texts)
        if self._is_given_up:
            return
        normalized = {name: NumberLayout(name).normalize_texts(texts) for name in NUMBER_LAYOUTS}
        for name, numbers in normalized.items():
            self._counts[name] += len(numbers) - numbers.null_count
            for other, rival in normalized.items():
                is_other = pc.not_equal(numbers, rival).fill_null(False)
                if pc.any(is_other).as_py():
                    self._differing.add((name, other))
        if not self._example:
            is_plain = pc.match_substring_regex(texts, PLAIN_NUMBER)
            for numbers in normalized.values():
                strange = texts.filter(pc.and_(numbers.is_valid(), pc.invert(is_plain)))
                self._example = self._example or (strange[0].as_py() if len(strange) else "")
        self._is_given_up = 2 * max(self._counts.values()) < self._text_count

    def decide(self) -> DetectedNumbers | None:
        """Return the layout; None if the numbers are plain, or no layout reads nearly all."""
        least = max(MIN_MATCHING_SHARE * self._text_count, 1)
        fitting = [name for name, count in self._counts.items() if count >= least]
        if not fitting or not self._example:
            return None
        best = max(fitting, key=lambda name: self._counts[name])
        rivals = tuple(
            NumberLayout(name)
            for name in fitting
            if self._counts[name] == self._counts[best] and (best, name) in self._differing
        )
        return DetectedNumbers(NumberLayout(best), rivals, self._example)
