"""Ranges of keys cut into equal steps: keys as bytes, and keys as numbers in text."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from rowkey.errors import InvalidArgument
from rowkey.regions.split_algorithm import SplitAlgorithm, SplitRequest

MAX_ROW_LENGTH = 64
"""Longest first or last row, in bytes or digits: a digest of 32 bytes, the longest kept, in hex."""

_DIGITS = {10: re.compile(r"[0-9]+"), 16: re.compile(r"[0-9a-fA-F]+")}
_FORMAT = {10: "d", 16: "x"}


def split_byte_range(start: bytes, stop: bytes, *, inclusive: bool, count: int) -> list[bytes]:
    """Return keys at equal steps in a range of byte strings, as HBase computes them.

    The shorter end is padded with 00. Where the range holds too few numbers, both ends get one more
    00 until it holds enough; the ends are then returned with all that was appended.

    Args:
        start: the first end.
        stop: the other end; it must sort after start, padding disregarded.
        inclusive: whether stop itself counts as a number of the range.
        count: how many keys to put between the ends.

    Returns:
        `count + 2` keys, ascending; with `inclusive`, the last two may be equal.

    Raises:
        InvalidArgument: the ends are in the wrong order, or no key is asked for.

    Source: Bytes.split, run on 2.6.4.

    >>> [key.hex() for key in split_byte_range(b"a", b"b", inclusive=False, count=3)]
    ['6100', '6140', '6180', '61c0', '6200']
    """
    width = max(len(start), len(stop))
    low, high = _parse_number(start, width), _parse_number(stop, width)
    if low >= high:
        raise InvalidArgument(
            "start",
            f"{start!r} does not sort before {stop!r} once the shorter is padded with zero bytes",
            "a start before the stop",
        )
    if count < 1:
        raise InvalidArgument("count", f"{count} split keys cannot be computed", "1 or more")
    ends = start, stop
    while high - low + inclusive < count + 1:
        low, high, width = low << 8, high << 8, width + 1
        ends = low.to_bytes(width, "big"), high.to_bytes(width, "big")
    step = (high - low + inclusive) // (count + 1)
    between = [(low + step * i).to_bytes(width, "big") for i in range(1, count + 1)]
    return [ends[0], *between, ends[1]]


def _parse_number(key: bytes, width: int) -> int:
    """Return a key as a big-endian number, padded with zero bytes."""
    return int.from_bytes(key.ljust(width, b"\0"), "big")


def split_prefix(prefix: bytes, count: int) -> list[bytes]:
    """Return split keys that divide the keys with one prefix into equal ranges.

    Returns:
        `count - 1` keys, each the prefix and as many bytes as the count needs.

    >>> [key.hex() for key in split_prefix(b"a", 4)]
    ['6140', '6180', '61c0']
    """
    width = max(1, ((count - 1).bit_length() + 7) // 8)
    return [prefix + (i * 256**width // count).to_bytes(width, "big") for i in range(1, count)]


class NumberStringSplit(SplitAlgorithm):
    """Equal ranges between two rows that are numbers written in base 10 or 16.

    The last range gets what the division leaves over. Digits above 9 come out in lower case.
    """

    base: ClassVar[Literal[10, 16]]
    first: ClassVar[str]
    last: ClassVar[str]
    required_fields = frozenset({"regions"})
    optional_fields = frozenset({"first", "last"})

    def compute_splits(self, request: SplitRequest) -> list[bytes]:
        """Return the split keys between the first and the last row."""
        first = self._choose_row_text("first", request.first, self.first)
        last = self._choose_row_text("last", request.last, self.last)
        assert request.regions is not None
        return self._compute_steps(
            self._parse_number(first, "first"),
            self._parse_number(last, "last"),
            request.regions,
            len(last),
        )

    def split_range(
        self, start: bytes, stop: bytes, regions: int, *, inclusive: bool = False, width: int = 8
    ) -> list[bytes]:
        """Return the split keys that divide the rows from start to stop into equal ranges.

        Args:
            start: the first row; an empty one is 0.
            stop: the last row.
            regions: how many ranges.
            inclusive: whether both ends are returned too.
            width: digits of each key: those of the algorithm's last row.

        Raises:
            InvalidArgument: a row is no number, the rows are in the wrong order, or too near.

        Source: RegionSplitter.NumberStringSplit.split(start, end, numSplits, inclusive).
        """
        low, high = (
            self._parse_number(row.decode("latin-1") or "0", argument)
            for argument, row in (("start", start), ("stop", stop))
        )
        keys = self._compute_steps(low, high, regions, width)
        if not inclusive:
            return keys
        return [self._format_number(low, width), *keys, self._format_number(high, width)]

    def find_middle(self, start: bytes, stop: bytes, *, width: int = 8) -> bytes:
        """Return the row halfway between two rows; an empty row is 0.

        Raises:
            InvalidArgument: a row is no number, or the second is 0.

        Source: RegionSplitter.NumberStringSplit.split(start, end).
        """
        low, high = (
            self._parse_number(row.decode("latin-1") or "0", argument)
            for argument, row in (("start", start), ("stop", stop))
        )
        if not high:
            raise InvalidArgument(
                "stop", "the stop row is empty or 0, so no row lies before it", "a row above 0"
            )
        return self._format_number((low + high) // 2, width)

    def _choose_row_text(self, argument: str, row: str | bytes | None, default: str) -> str:
        """Return a row as text, or the default; raise if it is not a number."""
        text = row.decode("latin-1") if isinstance(row, bytes) else row
        if text is None:
            return default
        self._parse_number(text, argument)
        return text

    def _parse_number(self, text: str, argument: str) -> int:
        """Parse a row as a number of this base; raise if it is not one."""
        if len(text) > MAX_ROW_LENGTH or not _DIGITS[self.base].fullmatch(text):
            what = f"{text[:40]!r} is not a number of base {self.base}"
            raise InvalidArgument(
                argument, what, f"1 to {MAX_ROW_LENGTH} digits of base {self.base}"
            )
        return int(text, self.base)

    def _compute_steps(self, low: int, high: int, regions: int, width: int) -> list[bytes]:
        """Return the split keys at equal steps between two numbers.

        Raises:
            InvalidArgument: the last is not above the first, or there are fewer numbers than
                regions.
        """
        span = high - low + 1
        if high <= low:
            raise InvalidArgument(
                "last", "the last row is not above the first row", "a row above the first"
            )
        if not 1 <= regions <= span:
            what = f"{regions:,} regions are more than the {span:,} rows from first to last"
            raise InvalidArgument("regions", what, f"1..{span:,}")
        return [self._format_number(low + span // regions * i, width) for i in range(1, regions)]

    def _format_number(self, number: int, width: int) -> bytes:
        """Return a number as a row of this base, padded with zeros."""
        return format(number, _FORMAT[self.base]).rjust(width, "0").encode()
