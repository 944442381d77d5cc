"""How values become the bytes of a row key, and back.

What works on many rows at once is loaded when it is first asked for: it needs NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rowkey.keys.bind import bind_fields
from rowkey.keys.bound import bind_key, bound_key
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.contract import (
    Count,
    Part,
    Pick,
    Rest,
    Row,
    Transform,
    Vector,
    nested,
)
from rowkey.keys.dictionary import Dictionary, FirstAppearance, require_room
from rowkey.keys.fields import KINDS as TYPES
from rowkey.keys.key import Key
from rowkey.keys.meeting import rows_that_meet
from rowkey.keys.parts.field import Field, FieldPart, NumberPart
from rowkey.keys.parts.nullable import Nullable, asks_for_null
from rowkey.keys.recounting import recounted
from rowkey.keys.traits import (
    Alphabet,
    Change,
    Framing,
    Images,
    Interval,
    Order,
    Residue,
    Source,
    complement,
)
from rowkey.keys.transforms import KINDS as TRANSFORMS
from rowkey.keys.types.domains import Domain
from rowkey.keys.types.field_type import Encoding, FieldType

if TYPE_CHECKING:
    from rowkey.keys.batches.assembly import parts_up_to
    from rowkey.keys.batches.columns import Columns, batch_column, own_pieces
    from rowkey.keys.batches.hashing import combined, fingerprints, imprints
    from rowkey.keys.batches.pieces import Fixed, Pieces, Spans
    from rowkey.keys.batches.validation import validate_batch

_BATCHES = {
    "Columns": "columns",
    "Fixed": "pieces",
    "Pieces": "pieces",
    "Spans": "pieces",
    "batch_column": "columns",
    "combined": "hashing",
    "fingerprints": "hashing",
    "imprints": "hashing",
    "own_pieces": "columns",
    "parts_up_to": "assembly",
    "validate_batch": "validation",
}


def __getattr__(name: str) -> Any:
    """The tools for many rows, loaded when asked for."""
    if name not in _BATCHES:
        raise AttributeError(f"module 'rowkey.keys' has no attribute {name!r}")
    return getattr(import_module(f"rowkey.keys.batches.{_BATCHES[name]}"), name)


__all__ = [
    "TRANSFORMS",
    "TYPES",
    "Alphabet",
    "Change",
    "Codec",
    "Columns",
    "Count",
    "Dictionary",
    "Domain",
    "Encoding",
    "Field",
    "FieldPart",
    "FieldType",
    "FirstAppearance",
    "Fixed",
    "Framing",
    "Images",
    "Interval",
    "Key",
    "Nullable",
    "NumberPart",
    "Order",
    "Part",
    "Pick",
    "Pieces",
    "Residue",
    "Rest",
    "Row",
    "Source",
    "Spans",
    "Transform",
    "Vector",
    "asks_for_null",
    "batch_column",
    "bind_fields",
    "bind_key",
    "bound_key",
    "combined",
    "complement",
    "fingerprints",
    "imprints",
    "nested",
    "own_pieces",
    "parts_up_to",
    "recounted",
    "require_room",
    "rows_that_meet",
    "validate_batch",
]
