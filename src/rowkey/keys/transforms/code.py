"""The transform `code`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.contract import Context, Count, Part, Row, Transform, Vector
from rowkey.keys.dictionary import IDS, Dictionary, require_room
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.traits import NOTHING, Framing, Images, Residue, Source, pinned_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Bounds, Value


class Code(Transform):
    """A short number in place of a long value, from a dictionary that is kept with the table.

    Numbers begin at 1 and are given in the order in which values are first seen: early values
    share their leading bytes, so a code spreads nothing.
    """

    name = "code"
    options = (Count("width", 1, 8, "bytes of the number", optional=True),)
    source = Source.DICTIONARY
    vectors: ClassVar = (
        Vector("[code(host)]", {"host": "text"}, {"host": "web-1"}, "00000001"),
        Vector("[code(host, width=2)]", {"host": "text"}, {"host": "web-1"}, "0001"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.only
        if not isinstance(source, FieldPart) or source.reference.encoding:
            found = source.reference if isinstance(source, FieldPart) else source.title
            what = f"code takes a field as it is, not {found}"
            raise Refused("", what, "the name of a field")
        self.field = source.field
        self.width: int = arguments["width"] or 4
        self.cardinality = 256**self.width - 1

    @property
    def framing(self) -> Framing:
        return Framing.fixed(self.width)

    def encode(self, row: Row) -> bytes:
        value = self.field.normal(row[self.field.name])
        dictionary: Dictionary = row.get(IDS, self.context.dictionary)
        number = dictionary.id_of(self.field.name, value, self.cardinality)
        require_room(self.field.name, number, self.cardinality)
        return number.to_bytes(self.width, "big")

    def images(self, bounds: Bounds) -> Images:
        """The ids of the values asked for, where all of them are known; none is given.

        A value without an id is in no row, if the dictionary knows every id that there is.
        """
        values = pinned_values(bounds, self.field.name)
        if values is None:
            return super().images(bounds)
        dictionary = self.context.dictionary
        ids = [dictionary.known_id(self.field.name, v) for v in values if v is not None]
        if None in ids and not dictionary.is_whole:
            return Images.anything(exact=False)
        pieces = (number.to_bytes(self.width, "big") for number in ids if number is not None)
        return Images.listed(pieces, exact=True)

    def told(self) -> Mapping[str, Any]:
        return {"width": self.width}

    def residue(self, name: str) -> Residue:
        return NOTHING

    def read(self, piece: bytes) -> dict[str, Value]:
        number = int.from_bytes(piece, "big")
        return {self.field.name: self.context.dictionary.value_of(self.field.name, number)}

    def words(self) -> str:
        return f"the number of {self.field.name} in the table's dictionary, {self.width} bytes"

    def batch(self, columns: Columns) -> Pieces:
        """One question to the dictionary for each different value, in the order of first rows."""
        from rowkey.keys.batches.pieces import Spans

        known: dict[Value, bytes] = {}
        pieces = []
        for row in columns.rows(self.fields):
            value = row[self.field.name]
            if (piece := known.get(value)) is None:
                piece = known[value] = self.encode(row)
            pieces.append(piece)
        return Spans.of(pieces)
