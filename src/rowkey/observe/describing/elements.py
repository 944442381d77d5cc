"""What may stand in a row key, each tried on what is left of all sampled keys at once.

A guess is only made where every key fits, and each says what it is taken from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.observe.describing.times import ALIGNED_S, doubt, said, spanned, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Guess = Callable[[Sequence[bytes], "Known"], "Element | None"]

SEPARATORS = b"|_-:#/.,;~ "
LONG_MOST, INT_MOST = 2**63 - 1, 2**32 - 1
SKIPPED = 8
"""Bytes of an unknown beginning before a time is no longer looked for."""
HEX = re.compile(rb"[0-9a-f]+")
DIGITS = re.compile(rb"[0-9]+")


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a key, as it was found.

    Args:
        part: how it is written in the key, with `{}` for the name of its field, if it has one.
        stem: what its field is called, or an empty string where it has none.
        words: the words of its field.
        ends: how many bytes of each key it takes.
        why: what it is taken from, as a phrase.
    """

    part: str
    ends: tuple[int, ...]
    why: str
    stem: str = ""
    words: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the bytes.

    Args:
        is_behind_fixed: whether what stands before always has the same length, so that a separator
            can be told from it.
        now_ms: now, milliseconds since 1970: of numbers far beyond it no time is made.
        keys: the keys, each of which ends with what is left of it.
    """

    is_behind_fixed: bool
    now_ms: int
    keys: Sequence[bytes]

    def doubt(self, rests: Sequence[bytes], held: Sequence[int], unit: str) -> str:
        """Why numbers at the beginning of what is left may be no times, empty if nothing says so.

        Args:
            rests: what is left of each key.
            held: the numbers.
            unit: the unit in which they may be times.
        """
        pairs = zip(self.keys, rests, strict=True)
        before = [key[: len(key) - len(rest)] for key, rest in pairs]
        return doubt(held, unit, before, self.now_ms)


def candidates(rests: Sequence[bytes], known: Known) -> Iterator[Element]:
    """What may stand next, the most telling first.

    Args:
        rests: what is left of each key; none is empty.
        known: what is known beside them.
    """
    for guess in GUESSES:
        found = guess(rests, known)
        if found is not None:
            yield found


def _constant(rests: Sequence[bytes], known: Known) -> Element | None:
    """One separator in all keys, behind something of fixed length."""
    first = rests[0][:1]
    is_one = first in SEPARATORS and all(one[:1] == first for one in rests)
    if not known.is_behind_fixed or not is_one:
        return None
    why = f"{first.decode()!r} stands there in every key"
    return Element(f"'{first.decode()}'", (1,) * len(rests), why)


def _hex(rests: Sequence[bytes], _: Known) -> Element | None:
    """Hexadecimal digits of one number, as many in every key, with a separator or the end behind.

    A single letter among them tells them from decimal digits.
    """
    width = _run(rests, HEX)
    if width is None or width < 2 or not any(re.search(rb"[a-f]", one[:width]) for one in rests):
        return None
    why = f"{width} hexadecimal digits in every key"
    if width == 32:
        why += ", as many as an MD5 has"
    return Element("[{}]", (width,) * len(rests), why, "hash", {"type": "hex", "width": width})


def _digits(rests: Sequence[bytes], known: Known) -> Element | None:
    """Decimal digits of one number, as many in every key."""
    width = _run(rests, DIGITS)
    if width is None:
        return None
    numbers = [int(one[:width]) for one in rests]
    why = f"{width} decimal digits in every key"
    unit = unit_of(numbers, known.now_ms)
    if unit and width >= 10:
        why += f"; they may be times, {unit} since 1970, written as text"
    return Element("[{}]", (width,) * len(rests), why, "number", {"type": "digits", "width": width})


def _run(rests: Sequence[bytes], form: re.Pattern[bytes]) -> int | None:
    """The length of the run that every key begins with, if a separator or the end is behind it."""
    ends = set()
    for one in rests:
        match = form.match(one)
        if match is None:
            return None
        ends.add(match.end())
    if len(ends) != 1:
        return None
    (width,) = ends
    behind = {one[width : width + 1] for one in rests}
    is_ended = behind == {b""} or (len(behind) == 1 and behind.pop() in SEPARATORS)
    return width if is_ended else None


def _time(rests: Sequence[bytes], known: Known) -> Element | None:
    """Eight bytes that are a time since 1970, forwards or from Long.MAX_VALUE down."""
    for form, how, held, unit in _longs(rests, known):
        if not known.doubt(rests, held, unit):
            why = f"8 bytes that {said(held, unit)} {how}{unit} since 1970, {spanned(held, unit)}"
            return Element(form, (8,) * len(rests), why, "time", {"type": f"timestamp_{unit}"})
    return None


def _maybe_time(rests: Sequence[bytes], known: Known) -> Element | None:
    """Eight bytes that may be a time, of which nothing but a number is sure."""
    for _, how, held, unit in _longs(rests, known):
        why = (
            f"8 bytes, as a number without a sign; they may be {how}{unit} since 1970, "
            f"{spanned(held, unit)}, but {known.doubt(rests, held, unit)}"
        )
        return Element("[{}]", (8,) * len(rests), why, "number", {"type": "u64"})
    return None


def _longs(rests: Sequence[bytes], known: Known) -> Iterator[tuple[str, str, list[int], str]]:
    """The ways in which eight bytes may be times, and their unit."""
    heads = [one[:8] for one in rests]
    if any(len(head) < 8 for head in heads) or all(map(_prints, heads)):
        return
    numbers = [int.from_bytes(head, "big") for head in heads]
    downwards = [LONG_MOST - one for one in numbers]
    for form, how, held in (
        ("[{}]", "", numbers), ("[desc({})]", "Long.MAX_VALUE less ", downwards),
    ):  # fmt: skip
        if unit := unit_of(held, known.now_ms):
            yield form, how, held, unit


def _short_time(rests: Sequence[bytes], known: Known) -> Element | None:
    """Four bytes that are a time in seconds: many numbers are, so they must be whole minutes."""
    heads = [one[:4] for one in rests]
    if any(len(head) < 4 for head in heads) or all(map(_prints, heads)):
        return None
    numbers = [int.from_bytes(head, "big") for head in heads]
    for form, held in (("[{}:u32]", numbers), ("[desc({}:u32)]", [INT_MOST - n for n in numbers])):
        is_aligned = not any(one % ALIGNED_S for one in held)
        is_near = is_aligned and unit_of(held, known.now_ms) == "s"
        if is_near and not known.doubt(rests, held, "s"):
            days = f"{spanned(held, 's')}, all of them multiples of {ALIGNED_S}"
            why = f"4 bytes that look like seconds since 1970, {days}"
            return Element(form, (4,) * len(rests), why, "time", {"type": "timestamp_s"})
    return None


def _text(rests: Sequence[bytes], _: Known) -> Element | None:
    """Text that is ended by a zero byte."""
    ends = [one.find(b"\0") for one in rests]
    heads = [one[:end] for one, end in zip(rests, ends, strict=True)]
    if min(ends) < 0 or not all(map(_prints, heads)) or not any(heads):
        return None
    why = f"text that ends with a zero byte, {_lengths(heads)}"
    taken = tuple(end + 1 for end in ends)
    return Element("[{}]", taken, why, "text", {"type": "text", "max_bytes": _room(heads)})


def _skipped(rests: Sequence[bytes], known: Known) -> Element | None:
    """Some bytes that nothing is known of, before a time; eight of them may be a number."""
    if len(set(rests)) < 2:
        return None
    for width in range(1, SKIPPED + 1):
        behind = [one[width:] for one in rests]
        if not all(behind):
            return None
        if _time(behind, known) or _short_time(behind, known):
            many = "1 byte" if width == 1 else f"{width} bytes"
            number = _maybe_time(rests, known) if width == 8 else None
            return number or _plain_bytes(rests, width, f"{many} before a time")
    return None


def _last_text(rests: Sequence[bytes], _: Known) -> Element | None:
    """Text up to the end of the key."""
    if not all(map(_prints, rests)):
        return None
    why = f"text up to the end, {_lengths(rests)}{_pieces(rests)}"
    words = {"type": "text", "max_bytes": _room(rests)}
    return Element("[{}:tail]", tuple(map(len, rests)), why, "text", words)


def _last_number(rests: Sequence[bytes], _: Known) -> Element | None:
    """As many bytes up to the end of every key."""
    (width, *others) = set(map(len, rests))
    if others:
        return None
    if width == 16 and all(one[6] >> 4 in range(1, 9) and one[8] >> 6 == 2 for one in rests):
        why = "16 bytes with the version and the variant of a UUID"
        return Element("[{}]", (16,) * len(rests), why, "id", {"type": "uuid"})
    if width in {1, 2, 4, 8}:
        why = (
            f"{width} bytes up to the end, as a number without a sign; what it counts is not known"
        )
        taken = (width,) * len(rests)
        return Element("[{}]", taken, why, "number", {"type": f"u{8 * width}"})
    return _plain_bytes(rests, width, f"{width} bytes up to the end")


def _plain_bytes(rests: Sequence[bytes], width: int, why: str) -> Element:
    words = {"type": "bytes"}
    return Element(f"[{{}}:fixed({width})]", (width,) * len(rests), why, "bytes", words)


def _last_bytes(rests: Sequence[bytes], _: Known) -> Element | None:
    """Whatever is left."""
    lengths = _lengths(rests)
    words = {"type": "bytes", "max_bytes": _room(rests)}
    why = f"bytes up to the end, {lengths}; nothing is known of them"
    return Element("[{}:tail]", tuple(map(len, rests)), why, "bytes", words)


GUESSES: tuple[Guess, ...] = (
    _constant, _hex, _digits, _time, _text, _short_time, _skipped, _maybe_time, _last_text,
    _last_number, _last_bytes,
)  # fmt: skip
"""In the order in which they are believed."""


def _prints(text: bytes) -> bool:
    """Whether bytes are text that prints."""
    try:
        return text.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _lengths(texts: Sequence[bytes]) -> str:
    least, most = min(map(len, texts)), max(map(len, texts))
    return f"{least} bytes" if least == most else f"{least} to {most} bytes"


def _pieces(texts: Sequence[bytes]) -> str:
    """What separates text into as many pieces in every key, which no key can be taken apart by."""
    for separator in SEPARATORS:
        counts = {text.count(separator) for text in texts}
        if len(counts) == 1 and counts != {0}:
            (many,) = counts
            often = "once" if many == 1 else f"{many} times"
            return f", {chr(separator)!r} {often} in every key"
    return ""


def _room(texts: Sequence[bytes]) -> int:
    """Twice the greatest length and more, as a power of two from 8 on."""
    return int(1 << max((2 * max(map(len, texts)) - 1).bit_length(), 3))
