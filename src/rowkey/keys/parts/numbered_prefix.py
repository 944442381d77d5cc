"""A prefix that is one of n numbers: the base of buckets, salts and remainders."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import cache, cached_property
from itertools import islice, product
from typing import Any, ClassVar

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, FixedByteColumn, IntArray
from rowkey.keys.part_interface import BindingContext, EnumOption, NumberArgument, Part, Transform
from rowkey.keys.traits import ALL_BYTES, DIGITS, HEX_DIGITS, Alphabet, Framing, Images

MAX_NUMBERS = 65_536
FORM_BASES = {"bytes": 256, "decimal": 10, "hex": 16, "letters": 26}
_FORM_DIGITS = {
    "bytes": bytes(range(256)),
    "decimal": b"0123456789",
    "hex": b"0123456789abcdef",
    "letters": bytes(range(97, 123)),
}

COUNT_ARGUMENT = NumberArgument("n", 1, MAX_NUMBERS, "how many buckets, salts or remainders")
FORM_OPTION = EnumOption(
    "as", tuple(FORM_BASES), "bytes, or text of as many digits as n - 1 needs; letters: a is 0"
)
WIDTH_OPTION = NumberArgument(
    "width", 1, 2, "bytes of the number; 2 leaves room for more than 256", optional=True
)


class NumberedPrefix(Transform):
    """A part that is a number from 0 to n-1, in bytes or in text."""

    options: ClassVar[tuple[EnumOption | NumberArgument, ...]] = (FORM_OPTION, WIDTH_OPTION)
    is_remainder: ClassVar[bool] = False
    """Whether the number is a remainder by `n` of a number that does not depend on `n`."""

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        self.n: int = arguments["n"]
        self.form: str = arguments["as"]
        self.width = _choose_width(self.n, self.form, arguments["width"])
        self.cardinality = self.n
        self.number_table = _build_table(self.form, self.width, _round_up_to_power(self.n))
        self.alphabet = _choose_alphabet(self.n, self.form, self.width)

    @property
    def framing(self) -> Framing:
        return Framing.from_width(self.width)

    def build_all_images(self, *, exact: bool) -> Images:
        """Return the images of all n numbers."""
        return Images(self.number_table[: self.n], exact=exact)

    def find_number(self, piece: bytes) -> int:
        """Return the number that the bytes stand for.

        Raises:
            InvalidArgument: no number has these bytes.
        """
        number = bisect_left(self.number_table, piece, hi=self.n)
        if number == self.n or self.number_table[number] != piece:
            raise InvalidArgument(
                "",
                f"the bytes {piece.hex()} are not a valid {self.name}",
                f"a number below {self.n}",
            )
        return number

    def check(self, piece: bytes) -> None:
        self.find_number(piece)

    def check_batch(self, pieces: ByteColumn) -> None:
        if self.form != "bytes":
            super().check_batch(pieces)
            return
        stored = pieces.to_sliced().to_fixed(self.width).items.view(f">u{self.width}")
        if len(stored) and int(stored.max()) >= self.n:
            self.check(int(stored.max()).to_bytes(self.width, "big"))

    def normalize_arguments(self) -> Mapping[str, Any]:
        return {**self.arguments, "width": self.width}

    def describe_form(self) -> str:
        """Return in words how the number is written."""
        if self.form == "bytes":
            return "1 byte" if self.width == 1 else "2 bytes, big-endian"
        digits = {"decimal": "decimal", "hex": "lower-case hexadecimal", "letters": "base-26"}
        return f"{self.width} {digits[self.form]} digits in ASCII"

    def format_piece(self, piece: bytes) -> str:
        return f"{self.name} {self.find_number(piece)}"

    def encode_numbers(self, numbers: IntArray) -> ByteColumn:
        """Return the bytes of many numbers."""
        if self.form == "bytes":
            return FixedByteColumn(numbers.astype(f">u{self.width}"))
        return FixedByteColumn(self._table_array.take(numbers.astype(np.int64)))

    @cached_property
    def _table_array(self) -> np.ndarray[tuple[int], np.dtype[Any]]:
        """`number_table` as a NumPy array."""
        return np.frombuffer(b"".join(self.number_table), f"V{self.width}")


@cache
def _build_table(form: str, width: int, count: int) -> tuple[bytes, ...]:
    """Return the first numbers in a form, ascending; parts of the same form share a table.

    Cost: 50 bytes a number; there are 17 counts for each of a dozen forms and widths.
    """
    characters = _FORM_DIGITS[form]
    return tuple(map(bytes, islice(product(characters, repeat=width), count)))


def _round_up_to_power(n: int) -> int:
    """Return the next power of two, so that few tables serve every n."""
    return 1 << (n - 1).bit_length()


def _choose_width(n: int, form: str, declared_width: int | None) -> int:
    """Return the bytes of the number: the declared width, or what n - 1 needs.

    Raises:
        InvalidArgument: the declared width is too small, or `as` sets the width.
    """
    if form != "bytes":
        if declared_width is not None:
            raise InvalidArgument(
                "width",
                f"width={declared_width} has no effect with as={form}, which sets the width itself",
                remedy="Remove width=, or remove as=.",
            )
        width = 1
        while FORM_BASES[form] ** width < n:
            width += 1
        return width
    min_width = 1 if n <= 256 else 2
    if declared_width is not None and declared_width < min_width:
        raise InvalidArgument(
            "width",
            f"{n} numbers do not fit into {declared_width} byte",
            remedy=f"Write width={min_width}.",
        )
    return declared_width or min_width


def _choose_alphabet(n: int, form: str, width: int) -> Alphabet:
    """Return the byte values that occur in numbers below n."""
    if form == "decimal":
        return DIGITS
    if form == "hex":
        return HEX_DIGITS
    if form == "letters":
        return Alphabet(_FORM_DIGITS["letters"])
    return Alphabet(bytes(range(n))) if width == 1 else ALL_BYTES
