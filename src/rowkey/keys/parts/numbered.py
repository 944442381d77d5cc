"""A prefix that is one of n numbers: what buckets, salts and remainders have in common."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, cached_property
from itertools import islice, product
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.contract import Context, Count, Part, Pick, Transform
from rowkey.keys.traits import ALL_BYTES, DIGITS, HEX_DIGITS, Alphabet, Framing, Images

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from rowkey.keys.batches.pieces import Ints, Pieces

MOST = 65_536
FORMS = {"bytes": 256, "decimal": 10, "hex": 16, "letters": 26}
_CHARACTERS = {
    "bytes": bytes(range(256)),
    "decimal": b"0123456789",
    "hex": b"0123456789abcdef",
    "letters": bytes(range(97, 123)),
}

NUMBER_OF = Count("n", 1, MOST, "how many numbers there are")
AS = Pick("as", tuple(FORMS), "bytes, or text of as many digits as n - 1 needs; letters: a is 0")
WIDTH = Count("width", 1, 2, "bytes of the number; 2 leaves room for more than 256", optional=True)


class NumberedPrefix(Transform):
    """A part that is one of `n` numbers, in bytes or in text."""

    options: ClassVar[tuple[Pick | Count, ...]] = (AS, WIDTH)
    is_remainder: ClassVar[bool] = False
    """Whether the number is what a division by `n` leaves, of a number that `n` has no part in."""

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        self.n: int = arguments["n"]
        self.form: str = arguments["as"]
        self.width = _width(self.n, self.form, arguments["width"])
        self.cardinality = self.n
        self.table = _table(self.form, self.width, _rounded(self.n))
        self.alphabet = _alphabet(self.n, self.form, self.width)

    @property
    def framing(self) -> Framing:
        return Framing.fixed(self.width)

    def every(self, *, exact: bool) -> Images:
        """All n numbers."""
        return Images(self.table[: self.n], exact=exact)

    def number_of(self, piece: bytes) -> int:
        """The number that the bytes stand for.

        Raises:
            Refused: they stand for none.
        """
        at = bisect_left(self.table, piece, hi=self.n)
        if at == self.n or self.table[at] != piece:
            raise Refused("", f"{piece.hex()} is no number of {self.name}", f"one of {self.n}")
        return at

    def check(self, piece: bytes) -> None:
        self.number_of(piece)

    def check_batch(self, pieces: Pieces) -> None:
        if self.form != "bytes":
            super().check_batch(pieces)
            return
        stored = pieces.spans().gathered(self.width).items.view(f">u{self.width}")
        if len(stored) and int(stored.max()) >= self.n:
            self.check(int(stored.max()).to_bytes(self.width, "big"))

    def told(self) -> Mapping[str, Any]:
        return {**self.arguments, "width": self.width}

    def form_words(self) -> str:
        """How the number is written."""
        if self.form == "bytes":
            return "1 byte" if self.width == 1 else "2 bytes, big-endian"
        digits = {"decimal": "decimal", "hex": "lower-case hexadecimal", "letters": "base-26"}
        return f"{self.width} {digits[self.form]} digits in ASCII"

    def show(self, piece: bytes) -> str:
        return f"{self.name} {self.number_of(piece)}"

    def written(self, numbers: Ints) -> Pieces:
        """The bytes of many numbers."""
        import numpy as np

        from rowkey.keys.batches.pieces import Fixed

        if self.form == "bytes":
            return Fixed(numbers.astype(f">u{self.width}"))
        return Fixed(self._items.take(numbers.astype(np.int64)))

    @cached_property
    def _items(self) -> np.ndarray[tuple[int], np.dtype[Any]]:
        """The table as an array."""
        import numpy as np

        return np.frombuffer(b"".join(self.table), f"V{self.width}")


@cache
def _table(form: str, width: int, count: int) -> tuple[bytes, ...]:
    """The first numbers in a form, ascending; one table for all parts that write so.

    Cost: 50 bytes a number; there are 17 counts for each of a dozen forms and widths.
    """
    characters = _CHARACTERS[form]
    return tuple(map(bytes, islice(product(characters, repeat=width), count)))


def _rounded(n: int) -> int:
    """The next power of two, so that few tables serve every n."""
    return 1 << (n - 1).bit_length()


def _width(n: int, form: str, declared: int | None) -> int:
    """Bytes of the number: what was declared, or what n - 1 needs."""
    if form != "bytes":
        if declared is not None:
            raise Refused("width", f"width={declared} has no effect on as={form}", "no width=")
        width = 1
        while FORMS[form] ** width < n:
            width += 1
        return width
    needed = 1 if n <= 256 else 2
    if declared is not None and declared < needed:
        raise Refused("width", f"{n} numbers do not fit into {declared} byte", f"{needed}")
    return declared or needed


def _alphabet(n: int, form: str, width: int) -> Alphabet:
    if form == "decimal":
        return DIGITS
    if form == "hex":
        return HEX_DIGITS
    if form == "letters":
        return Alphabet(_CHARACTERS["letters"])
    return Alphabet(bytes(range(n))) if width == 1 else ALL_BYTES
