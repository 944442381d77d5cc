"""Guess the elements of a row key, one after the other from its start.

A guess must fit the remaining bytes of all sampled keys, and names its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.observe.description.time_detection import (
    ALIGNMENT_S,
    find_time_doubt,
    find_time_unit,
    format_certainty,
    format_span,
)

if TYPE_CHECKING:
    ElementGuess = Callable[[Sequence[bytes], "KeyContext"], "KeyElement | None"]

SEPARATORS = b"|_-:#/.,;~ "
LONG_MAX, INT_MAX = 2**63 - 1, 2**32 - 1
MAX_UNKNOWN_PREFIX_BYTES = 8
"""Bytes of unknown meaning, at most, that may precede a time."""
HEX_DIGITS = re.compile(rb"[0-9a-f]+")
DECIMAL_DIGITS = re.compile(rb"[0-9]+")


@dataclass(frozen=True, slots=True)
class KeyElement:
    """A guessed element of a row key.

    Args:
        notation: the element in bracket notation, with `{}` for the name of its field, if any.
        name_stem: the base of its field's name; empty if it has no field.
        lengths: its number of bytes in each key.
        reason: the evidence for it, as a phrase.
    """

    notation: str
    lengths: tuple[int, ...]
    reason: str
    name_stem: str = ""
    field_options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyContext:
    """Facts about the sampled keys that guesses need besides the remaining bytes.

    Args:
        has_fixed_prefix: whether the bytes before always have the same length, so that a separator
            can be recognised.
        now_ms: now, milliseconds since 1970; numbers far beyond it are not taken for times.
        keys: the whole keys, each of which ends with its remaining bytes.
    """

    has_fixed_prefix: bool
    now_ms: int
    keys: Sequence[bytes]

    def find_time_doubt(self, rests: Sequence[bytes], numbers: Sequence[int], unit: str) -> str:
        """Return why the leading numbers of the keys may not be times; "" if they are.

        Args:
            rests: the remaining bytes of each key.
        """
        pairs = zip(self.keys, rests, strict=True)
        before = [key[: len(key) - len(rest)] for key, rest in pairs]
        return find_time_doubt(numbers, unit, before, self.now_ms)


def guess_elements(rests: Sequence[bytes], context: KeyContext) -> Iterator[KeyElement]:
    """Yield guesses of the next key element, the most specific first.

    Args:
        rests: the remaining bytes of each key; none is empty.
        context: further facts about the keys.
    """
    for guess in GUESSES:
        found = guess(rests, context)
        if found is not None:
            yield found


def _guess_separator(rests: Sequence[bytes], context: KeyContext) -> KeyElement | None:
    """Return a separator that follows an element of fixed length in all keys."""
    first = rests[0][:1]
    is_one = first in SEPARATORS and all(one[:1] == first for one in rests)
    if not context.has_fixed_prefix or not is_one:
        return None
    why = f"every key has {first.decode()!r} here"
    return KeyElement(f"'{first.decode()}'", (1,) * len(rests), why)


def _guess_hex(rests: Sequence[bytes], _: KeyContext) -> KeyElement | None:
    """Return an element of hexadecimal digits that has the same length in all keys.

    One letter among all of them is enough to rule out decimal digits.
    """
    width = _measure_run(rests, HEX_DIGITS)
    if width is None or width < 2 or not any(re.search(rb"[a-f]", one[:width]) for one in rests):
        return None
    why = f"{width} hexadecimal digits in every key"
    if width == 32:
        why += ", the length of an MD5"
    return KeyElement("[{}]", (width,) * len(rests), why, "hash", {"type": "hex", "width": width})


def _guess_digits(rests: Sequence[bytes], context: KeyContext) -> KeyElement | None:
    """Return an element of decimal digits that has the same length in all keys."""
    width = _measure_run(rests, DECIMAL_DIGITS)
    if width is None:
        return None
    numbers = [int(one[:width]) for one in rests]
    why = f"{width} decimal digits in every key"
    unit = find_time_unit(numbers, context.now_ms)
    if unit and width >= 10:
        why += f"; they may be times, {unit} since 1970, written as text"
    return KeyElement(
        "[{}]", (width,) * len(rests), why, "number", {"type": "digits", "width": width}
    )


def _measure_run(rests: Sequence[bytes], pattern: re.Pattern[bytes]) -> int | None:
    """Return the length of the leading digits if it is the same in all keys."""
    ends = set()
    for one in rests:
        match = pattern.match(one)
        if match is None:
            return None
        ends.add(match.end())
    if len(ends) != 1:
        return None
    (width,) = ends
    next_bytes = {one[width : width + 1] for one in rests}
    is_ended = next_bytes == {b""} or (len(next_bytes) == 1 and next_bytes.pop() in SEPARATORS)
    return width if is_ended else None


def _guess_time(rests: Sequence[bytes], context: KeyContext) -> KeyElement | None:
    """Return the next eight bytes as a time, ascending or descending; None if they are none."""
    for form, how, times, unit in _read_longs(rests, context):
        if not context.find_time_doubt(rests, times, unit):
            why = (
                f"8 bytes that {format_certainty(times, unit)} {how}{unit} since 1970, "
                f"{format_span(times, unit)}"
            )
            return KeyElement(form, (8,) * len(rests), why, "time", {"type": f"timestamp_{unit}"})
    return None


def _guess_uncertain_time(rests: Sequence[bytes], context: KeyContext) -> KeyElement | None:
    """Return an element of eight bytes that is a number and may be a time."""
    for _, how, times, unit in _read_longs(rests, context):
        why = (
            f"8 bytes, read as an unsigned number; they may be {how}{unit} since 1970, "
            f"{format_span(times, unit)}, but {context.find_time_doubt(rests, times, unit)}"
        )
        return KeyElement("[{}]", (8,) * len(rests), why, "number", {"type": "u64"})
    return None


def _read_longs(
    rests: Sequence[bytes], context: KeyContext
) -> Iterator[tuple[str, str, list[int], str]]:
    """Yield each way to read the leading eight bytes as times, with the unit."""
    heads = [one[:8] for one in rests]
    if any(len(head) < 8 for head in heads) or all(map(_is_printable, heads)):
        return
    numbers = [int.from_bytes(head, "big") for head in heads]
    downwards = [LONG_MAX - one for one in numbers]
    for form, how, times in (
        ("[{}]", "", numbers), ("[desc({})]", "Long.MAX_VALUE minus ", downwards),
    ):  # fmt: skip
        if unit := find_time_unit(times, context.now_ms):
            yield form, how, times, unit


def _guess_short_time(rests: Sequence[bytes], context: KeyContext) -> KeyElement | None:
    """Return an element of four bytes that counts seconds; all times must be whole minutes."""
    heads = [one[:4] for one in rests]
    if any(len(head) < 4 for head in heads) or all(map(_is_printable, heads)):
        return None
    numbers = [int.from_bytes(head, "big") for head in heads]
    for form, times in (("[{}:u32]", numbers), ("[desc({}:u32)]", [INT_MAX - n for n in numbers])):
        is_aligned = not any(one % ALIGNMENT_S for one in times)
        is_near = is_aligned and find_time_unit(times, context.now_ms) == "s"
        if is_near and not context.find_time_doubt(rests, times, "s"):
            days = f"{format_span(times, 's')}, all of them multiples of {ALIGNMENT_S}"
            why = f"4 bytes that look like seconds since 1970, {days}"
            return KeyElement(form, (4,) * len(rests), why, "time", {"type": "timestamp_s"})
    return None


def _guess_text(rests: Sequence[bytes], _: KeyContext) -> KeyElement | None:
    """Return an element of text that ends with a zero byte."""
    ends = [one.find(b"\0") for one in rests]
    heads = [one[:end] for one, end in zip(rests, ends, strict=True)]
    if min(ends) < 0 or not all(map(_is_printable, heads)) or not any(heads):
        return None
    why = f"text that ends with a zero byte, {_format_lengths(heads)}"
    taken = tuple(end + 1 for end in ends)
    return KeyElement(
        "[{}]", taken, why, "text", {"type": "text", "max_bytes": _choose_max_bytes(heads)}
    )


def _guess_unknown_prefix(rests: Sequence[bytes], context: KeyContext) -> KeyElement | None:
    """Return an element of bytes of unknown meaning that precedes a time."""
    if len(set(rests)) < 2:
        return None
    for width in range(1, MAX_UNKNOWN_PREFIX_BYTES + 1):
        remainders = [one[width:] for one in rests]
        if not all(remainders):
            return None
        if _guess_time(remainders, context) or _guess_short_time(remainders, context):
            size = "1 byte" if width == 1 else f"{width} bytes"
            number = _guess_uncertain_time(rests, context) if width == 8 else None
            return number or _build_bytes_element(rests, width, f"{size} before a time")
    return None


def _guess_last_text(rests: Sequence[bytes], _: KeyContext) -> KeyElement | None:
    """Return an element of text that extends to the end of the key."""
    if not all(map(_is_printable, rests)):
        return None
    why = f"text up to the end, {_format_lengths(rests)}{_format_separators(rests)}"
    words = {"type": "text", "max_bytes": _choose_max_bytes(rests)}
    return KeyElement("[{}:tail]", tuple(map(len, rests)), why, "text", words)


def _guess_last_number(rests: Sequence[bytes], _: KeyContext) -> KeyElement | None:
    """Return an element of fixed width that extends to the end of the key."""
    (width, *others) = set(map(len, rests))
    if others:
        return None
    if width == 16 and all(one[6] >> 4 in range(1, 9) and one[8] >> 6 == 2 for one in rests):
        why = "16 bytes with the version and the variant of a UUID"
        return KeyElement("[{}]", (16,) * len(rests), why, "id", {"type": "uuid"})
    if width in {1, 2, 4, 8}:
        why = f"{width} bytes up to the end, read as an unsigned number; its meaning is unknown"
        taken = (width,) * len(rests)
        return KeyElement("[{}]", taken, why, "number", {"type": f"u{8 * width}"})
    return _build_bytes_element(rests, width, f"{width} bytes up to the end")


def _build_bytes_element(rests: Sequence[bytes], width: int, reason: str) -> KeyElement:
    """Return an element of a fixed number of bytes of unknown meaning."""
    words = {"type": "bytes"}
    return KeyElement(f"[{{}}:fixed({width})]", (width,) * len(rests), reason, "bytes", words)


def _guess_last_bytes(rests: Sequence[bytes], _: KeyContext) -> KeyElement | None:
    """Return an element of bytes of unknown meaning up to the end of the key."""
    lengths = _format_lengths(rests)
    words = {"type": "bytes", "max_bytes": _choose_max_bytes(rests)}
    why = f"bytes up to the end, {lengths}; their meaning is unknown"
    return KeyElement("[{}:tail]", tuple(map(len, rests)), why, "bytes", words)


GUESSES: tuple[ElementGuess, ...] = (
    _guess_separator, _guess_hex, _guess_digits, _guess_time, _guess_text, _guess_short_time,
    _guess_unknown_prefix, _guess_uncertain_time, _guess_last_text, _guess_last_number,
    _guess_last_bytes,
)  # fmt: skip
"""The guesses to try, the most reliable first."""


def _is_printable(text: bytes) -> bool:
    """Return whether bytes are printable UTF-8 text."""
    try:
        return text.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _format_lengths(texts: Sequence[bytes]) -> str:
    """Return the length of texts, or the range of their lengths, in bytes."""
    least, most = min(map(len, texts)), max(map(len, texts))
    return f"{least} bytes" if least == most else f"{least} to {most} bytes"


def _format_separators(texts: Sequence[bytes]) -> str:
    """Return a note on a separator that occurs equally often in every key; else ""."""
    for separator in SEPARATORS:
        counts = {text.count(separator) for text in texts}
        if len(counts) == 1 and counts != {0}:
            (many,) = counts
            often = "once" if many == 1 else f"{many} times"
            return f", {chr(separator)!r} {often} in every key"
    return ""


def _choose_max_bytes(texts: Sequence[bytes]) -> int:
    """Return a limit of at least twice the greatest length, a power of two from 8 on."""
    return int(1 << max((2 * max(map(len, texts)) - 1).bit_length(), 3))
