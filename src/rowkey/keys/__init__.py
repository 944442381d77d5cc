"""Row keys: how the values of a row become the bytes of its key, and back.

The functions for many rows need NumPy, so they are imported on first access.
"""

from typing import TYPE_CHECKING

from rowkey.keys.base_types.domains import Domain
from rowkey.keys.base_types.field_type import Encoding, FieldType
from rowkey.keys.base_types.strings import NULLABLE_REMEDY
from rowkey.keys.codecs.codec import Codec
from rowkey.keys.combined_key import combine_keys
from rowkey.keys.declared_field import Field
from rowkey.keys.dictionary import (
    Dictionary,
    ExampleDictionary,
    FirstSeenDictionary,
    check_id_fits,
)
from rowkey.keys.fields import FIELD_TYPES as TYPES
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.key import Key, find_leading_parts
from rowkey.keys.key_binding import bind_key, build_key
from rowkey.keys.key_collision import find_colliding_rows
from rowkey.keys.part_interface import (
    EnumOption,
    NumberArgument,
    Part,
    Row,
    TimeRemainder,
    Transform,
    walk_parts,
)
from rowkey.keys.parts.field import FieldPart, NumberPart
from rowkey.keys.parts.nullable import NullablePart, is_null_requested
from rowkey.keys.term_binding import bind_fields
from rowkey.keys.traits import (
    Alphabet,
    Compatibility,
    Determinant,
    Framing,
    Images,
    Order,
    PrefixInterval,
    Residue,
    complement_bytes,
)
from rowkey.keys.transforms import TRANSFORMS as TRANSFORMS
from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.keys.batches.batch_hashes import compute_fingerprints
    from rowkey.keys.batches.byte_columns import (
        ByteColumn,
        FixedByteColumn,
        SlicedByteColumn,
        sum_lengths,
    )
    from rowkey.keys.batches.columns import (
        ColumnBatch,
        FieldColumn,
        build_field_column,
        build_missing_column_error,
        encode_plain_values,
        encode_repeated_texts,
        refuse_nulls,
    )
    from rowkey.keys.batches.key_assembly import check_key_lengths
    from rowkey.keys.batches.row_fingerprints import compute_row_fingerprints, find_only_field
    from rowkey.keys.batches.validation import add_row_number, validate_batch
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "batches.batch_hashes": "compute_fingerprints",
            "batches.byte_columns": "ByteColumn FixedByteColumn SlicedByteColumn sum_lengths",
            "batches.columns": (
                "ColumnBatch FieldColumn build_field_column build_missing_column_error "
                "encode_plain_values encode_repeated_texts refuse_nulls"
            ),
            "batches.key_assembly": "check_key_lengths",
            "batches.row_fingerprints": "compute_row_fingerprints find_only_field",
            "batches.validation": "add_row_number validate_batch",
        },
    )

__all__ = [
    "NULLABLE_REMEDY",
    "TRANSFORMS",
    "TYPES",
    "Alphabet",
    "ByteColumn",
    "Codec",
    "ColumnBatch",
    "Compatibility",
    "Determinant",
    "Dictionary",
    "Domain",
    "Encoding",
    "EnumOption",
    "ExampleDictionary",
    "Field",
    "FieldColumn",
    "FieldPart",
    "FieldType",
    "FirstSeenDictionary",
    "FixedByteColumn",
    "Framing",
    "GoldenVector",
    "Images",
    "Key",
    "NullablePart",
    "NumberArgument",
    "NumberPart",
    "Order",
    "Part",
    "PrefixInterval",
    "Residue",
    "Row",
    "SlicedByteColumn",
    "TimeRemainder",
    "Transform",
    "add_row_number",
    "bind_fields",
    "bind_key",
    "build_field_column",
    "build_key",
    "build_missing_column_error",
    "check_id_fits",
    "check_key_lengths",
    "combine_keys",
    "complement_bytes",
    "compute_fingerprints",
    "compute_row_fingerprints",
    "encode_plain_values",
    "encode_repeated_texts",
    "find_colliding_rows",
    "find_leading_parts",
    "find_only_field",
    "is_null_requested",
    "refuse_nulls",
    "sum_lengths",
    "validate_batch",
    "walk_parts",
]
