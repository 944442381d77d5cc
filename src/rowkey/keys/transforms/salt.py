"""The transform `salt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import RowError
from rowkey.keys.contract import Row, Vector
from rowkey.keys.parts.numbered import AS, MOST, NUMBER_OF, WIDTH, NumberedPrefix
from rowkey.keys.traits import Images, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Bounds, Cluster, Facts

CHANCE = "\0salt"
"""Where the number drawn for a row stands among its values; no field can have this name."""


class Salt(NumberedPrefix):
    """One of n numbers at random: rows spread evenly whatever they hold.

    A row cannot be found by its values alone: get reads all n, and writing a row twice stores it
    twice. Phoenix and Pinpoint call "salt" what is `bucket` here, which has neither cost.
    """

    name = "salt"
    terms = (0, 0)
    scalars = (NUMBER_OF,)
    options = (AS, WIDTH)
    source = Source.CHANCE
    vectors: ClassVar = (
        Vector("[salt(16)]", {"host": "text"}, {CHANCE: 11}, "0b"),
        Vector("[salt(100, as=decimal)]", {"host": "text"}, {CHANCE: 7}, "3037"),
    )

    def encode(self, row: Row) -> bytes:
        number = row[CHANCE]
        if not isinstance(number, int) or not 0 <= number < self.n:
            raise RowError("salt", f"{number!r} is no salt", f"0..{self.n - 1}")
        return self.table[number]

    def images(self, bounds: Bounds) -> Images:
        return self.every(exact=True)

    def batch(self, columns: Columns) -> Pieces:
        return self.written(columns.chance(self.n))

    def words(self) -> str:
        return f"a random number from 0 to {self.n - 1} in {self.form_words()}"

    @classmethod
    def tries(cls, facts: Mapping[str, Facts], cluster: Cluster) -> Iterator[Mapping[str, int]]:
        """One or two salts a server: every read costs as many scans."""
        for factor in (1, 2):
            if (n := factor * cluster.servers) <= MOST:
                yield {"n": n}
