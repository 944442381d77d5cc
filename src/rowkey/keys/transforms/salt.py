"""The transform `salt`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import RowError
from rowkey.keys.batches.byte_columns import ByteColumn
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import Row
from rowkey.keys.parts.numbered_prefix import (
    COUNT_ARGUMENT,
    FORM_OPTION,
    MAX_NUMBERS,
    WIDTH_OPTION,
    NumberedPrefix,
)
from rowkey.keys.traits import Determinant, Images
from rowkey.schema import Bounds, Cluster, FieldFacts

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch

SALT_FIELD = "\0salt"
"""The key of a row's random number among its values; no field can have this name."""


class SaltTransform(NumberedPrefix):
    """A random number from 0 to n-1: rows spread evenly, whatever their values are.

    A row cannot be found by its values alone: a get reads all n keys, and writing a row twice
    stores it twice. What Phoenix and Pinpoint call a "salt" is `bucket` here and has neither cost.
    """

    name = "salt"
    term_limits = (0, 0)
    terms_remedy = (
        "A salt is a random number for each row. Write bucket(field, n) for a number that is "
        "computed from a field."
    )
    scalars = (COUNT_ARGUMENT,)
    options = (FORM_OPTION, WIDTH_OPTION)
    determined_by = Determinant.CHANCE
    vectors: ClassVar = (
        GoldenVector("[salt(16)]", {"host": "text"}, {SALT_FIELD: 11}, "0b"),
        GoldenVector("[salt(100, as=decimal)]", {"host": "text"}, {SALT_FIELD: 7}, "3037"),
    )

    def encode(self, row: Row) -> bytes:
        number = row[SALT_FIELD]
        if not isinstance(number, int) or not 0 <= number < self.n:
            raise RowError(
                "argument salt", f"{number!r} is out of range", f"a whole number in 0..{self.n - 1}"
            )
        return self.number_table[number]

    def images(self, bounds: Bounds) -> Images:
        return self.build_all_images(exact=True)

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return self.encode_numbers(columns.find_salts(self.n))

    def describe_encoding(self) -> str:
        return f"a random number from 0 to {self.n - 1} in {self.describe_form()}"

    @classmethod
    def suggest_arguments(
        cls, facts: Mapping[str, FieldFacts], cluster: Cluster
    ) -> Iterator[Mapping[str, int]]:
        """Yield one or two salts per server: every read costs as many scans."""
        for factor in (1, 2):
            if (n := factor * cluster.servers) <= MAX_NUMBERS:
                yield {"n": n}
