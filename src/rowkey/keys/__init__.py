"""How values become the bytes of a row key, and back."""

from rowkey.keys.bind import bind_fields
from rowkey.keys.contract import (
    Count,
    Dictionary,
    FirstAppearance,
    Part,
    Pick,
    Rest,
    Row,
    Transform,
    Vector,
)
from rowkey.keys.fields import KINDS as TYPES
from rowkey.keys.key import Key, bind_key, bound_key, nested
from rowkey.keys.parts.field import Field, FieldPart, NumberPart
from rowkey.keys.parts.nullable import Nullable, asks_for_null
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
from rowkey.keys.types.field_type import Encoding, FieldType

__all__ = [
    "TRANSFORMS",
    "TYPES",
    "Alphabet",
    "Change",
    "Count",
    "Dictionary",
    "Encoding",
    "Field",
    "FieldPart",
    "FieldType",
    "FirstAppearance",
    "Framing",
    "Images",
    "Interval",
    "Key",
    "Nullable",
    "NumberPart",
    "Order",
    "Part",
    "Pick",
    "Residue",
    "Rest",
    "Row",
    "Source",
    "Transform",
    "Vector",
    "asks_for_null",
    "bind_fields",
    "bind_key",
    "bound_key",
    "complement",
    "nested",
]
