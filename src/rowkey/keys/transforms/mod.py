"""The transform `mod`."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.contract import Context, Part, Row, Vector, Writer
from rowkey.keys.parts.field import NumberPart
from rowkey.keys.parts.numbered import AS, MOST, NUMBER_OF, WIDTH, NumberedPrefix
from rowkey.keys.traits import Images, pinned_values
from rowkey.schema import Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Bounds, Cluster, Facts


class Mod(NumberedPrefix):
    """The remainder of a number or a time, in its own unit: `timestamp % n` of many guides.

    Times that come in steps reach only n / gcd(step, n) of the numbers: whole hours in seconds
    reach one of 16. A bucket has no such pattern.
    """

    name = "mod"
    terms = (1, 1)
    scalars = (NUMBER_OF,)
    options = (AS, WIDTH)
    is_remainder = True
    vectors: ClassVar = (
        Vector("[mod(ts, 16)]", {"ts": "timestamp_s"}, {"ts": 1609459201}, "01"),
        Vector("[mod(n, 16)]", {"n": "i32"}, {"n": -1}, "0f"),
        Vector("[mod(ts, 100, as=decimal)]", {"ts": "timestamp_s"}, {"ts": 1609459201}, "3031"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.only
        if not isinstance(source, NumberPart):
            raise Refused(
                "", f"mod takes a number, not {source.title}", "an integer, a time, a date"
            )
        self.number = source
        self.resolution = source.stands_still

    def encode(self, row: Row) -> bytes:
        return self.table[self.number.number(row) % self.n]

    def writer(self) -> Writer:
        number, table, n = self.number.number, self.table, self.n
        return lambda row: table[number(row) % n]

    def images(self, bounds: Bounds) -> Images:
        """As many as the range has numbers, at most all."""
        name = self.fields[0]
        asked = bounds.get(name)
        if pinned_values(bounds, name) is not None:
            listed = self.pinned(bounds)
            return self.every(exact=False) if listed is None else listed.inexact()
        if isinstance(asked, Range) and asked.low is not None and asked.high is not None:
            low = self.number.number({name: asked.low})
            high = self.number.number({name: asked.high})
            if high - low + 1 < self.n:
                numbers = range(low, high + 1)
                return Images.listed((self.table[n % self.n] for n in numbers), exact=False)
        return self.every(exact=asked is None)

    def reach(self, step: int) -> int:
        """Steps reach n / gcd(step, n) remainders."""
        return self.n // gcd(step, self.n)

    def words(self) -> str:
        unit = "in its own unit, never negative"
        return f"{self.fields[0]} modulo {self.n} {unit}, in {self.form_words()}"

    def batch(self, columns: Columns) -> Pieces:
        numbers = self.number.numbers(columns)
        return self.written(numbers % numbers.dtype.type(self.n))

    @classmethod
    def tries(cls, facts: Mapping[str, Facts], cluster: Cluster) -> Iterator[Mapping[str, int]]:
        """The counts a bucket would have, so that the two can be compared."""
        for factor in (1, 2):
            if (n := factor * cluster.servers) <= MOST:
                yield {"n": n}
