"""Decodes many keys at once, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rowkey.array_libraries import np, pa
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys.base_types.arrow_strings import to_byte_column
from rowkey.keys.base_types.field_type import FieldType
from rowkey.keys.batches.byte_columns import ByteColumn, IntArray, SlicedByteColumn
from rowkey.keys.batches.columns import ColumnBatch
from rowkey.keys.batches.encoded_keys import EncodedKeys
from rowkey.keys.declared_field import Field
from rowkey.keys.key_length import MAX_KEY_BYTES
from rowkey.keys.part_interface import Part
from rowkey.keys.part_verification import PartVerifier
from rowkey.keys.parts.nullable import NULL_MARKER, NullablePart
from rowkey.keys.parts.sequence import TRAILING_NULL_MESSAGE, SequencePart
from rowkey.keys.traits import Determinant
from rowkey.keys.transforms.salt import SaltTransform


def to_binary_array(keys: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the keys as one array of bytes without nulls.

    Raises:
        RowError: the keys are not bytes, or one is null.
    """
    if isinstance(keys, pa.ChunkedArray):
        keys = keys.combine_chunks()
    arrow_type = keys.type
    if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
        keys = keys.cast(pa.large_binary())
    elif not (
        pa.types.is_binary(arrow_type)
        or pa.types.is_large_binary(arrow_type)
        or pa.types.is_fixed_size_binary(arrow_type)
    ):
        raise RowError("keys", f"the array of row keys has the type {arrow_type}", "bytes")
    if keys.null_count:
        row = keys.is_null().index(True).as_py()
        raise RowError(f"key of row {row}", "the key is null", "bytes", "Remove the row.")
    return keys


def decode_keys(
    sequence: SequencePart, fields: Mapping[str, Field], verifier: PartVerifier, keys: pa.Array
) -> pa.RecordBatch:
    """Return the fields of many keys, from `to_binary_array`, as Arrow columns.

    An error does not name the key that is wrong, and may be one of Arrow.

    Raises:
        InvalidArgument: the bytes of a key are not such as the parts encode.
    """
    encoded = EncodedKeys(to_byte_column(keys))
    lengths = encoded.ends - encoded.starts
    if len(lengths) and not 0 < int(lengths.min()) <= int(lengths.max()) <= MAX_KEY_BYTES:
        raise InvalidArgument("keys", "a key is empty or too long")
    at = encoded.starts
    arrays: dict[str, pa.Array] = {}
    pieces: list[SlicedByteColumn] = []
    for index, part in enumerate(sequence.parts):
        may_lack = index >= len(sequence.parts) - sequence.omittable_count
        ends = _find_part_ends(part, encoded, at, may_lack=may_lack)
        piece = SlicedByteColumn(encoded.data, at, ends - at)
        pieces.append(piece)
        for name, values in _decode_part(part, piece).items():
            arrays[name] = (
                values if isinstance(values, pa.Array) else _build_column(fields[name].type, values)
            )
        at = ends
    if bool((at < encoded.ends).any()):
        remedy = "Decode keys with the design that they were written with."
        what = "one of the row keys has bytes after its last part"
        raise InvalidArgument("keys", what, "keys that this design encodes", remedy)
    _refuse_trailing_nulls(encoded, pieces[len(pieces) - sequence.omittable_count :])
    names = [name for name in fields if name in arrays]
    batch = pa.RecordBatch.from_arrays([arrays[name] for name in names], names=names)
    columns = ColumnBatch.from_batch(batch, [fields[name] for name in names])
    columns.row_count = len(keys)  # a batch without columns has no rows
    _verify_parts(sequence.parts, verifier, columns, pieces)
    return batch


def _refuse_trailing_nulls(encoded: EncodedKeys, pieces: list[SlicedByteColumn]) -> None:
    """Raise an error if a key ends with the marker of a null, which must be left out.

    Args:
        pieces: the bytes of the parts that can be left out.

    Raises:
        InvalidArgument: a key ends with the marker of a null.
    """
    for piece in pieces:
        last = (piece.inner_lengths == 1) & (piece.starts + 1 == encoded.ends)
        if bool((encoded.data[piece.starts[last]] == NULL_MARKER[0]).any()):
            raise InvalidArgument("keys", TRAILING_NULL_MESSAGE)


def _find_part_ends(part: Part, encoded: EncodedKeys, at: IntArray, *, may_lack: bool) -> IntArray:
    """Return the ends of a part in all keys; a null may be left out at the end of a key."""
    if not may_lack:
        return part.find_ends(encoded, at)
    rows = np.flatnonzero(at < encoded.ends)
    ends = at.copy()
    if len(rows):
        present_keys = EncodedKeys(
            SlicedByteColumn(encoded.data, at.take(rows), (encoded.ends - at).take(rows))
        )
        ends[rows] = part.find_ends(present_keys, at.take(rows))
    return ends


def _decode_part(part: Part, piece: SlicedByteColumn) -> dict[str, Any]:
    """Return the values of a part by field; those of a nullable part as a list with None."""
    if not isinstance(part, NullablePart):
        return part.decode_batch(piece)
    names = [name for name in part.fields if part.residue(name).is_empty]
    rows = [part.decode(data or NULL_MARKER) for data in piece.tolist()]
    return {name: [row[name] for row in rows] for name in names}


def _build_column(field_type: FieldType, internal: Any) -> pa.Array:
    """Return a column in the Arrow type of a field, from internal forms or a list of values."""
    if not isinstance(internal, list):
        return field_type.build_column(internal)
    arrow_type = field_type.build_arrow_type()
    if pa.types.is_timestamp(arrow_type):
        return pa.array(internal, pa.int64()).cast(arrow_type)
    return pa.array(internal, arrow_type)


def _verify_parts(
    parts: Sequence[Part],
    verifier: PartVerifier,
    columns: ColumnBatch,
    pieces: list[SlicedByteColumn],
) -> None:
    """Check every part that the decoded values determine.

    Raises:
        InvalidArgument: a key has other bytes than its values have.
    """
    for part, piece in zip(parts, pieces, strict=True):
        if not columns.columns.keys() >= set(part.fields):
            part.check_batch(piece.take(np.flatnonzero(piece.inner_lengths > 0)).to_packed())
        elif isinstance(part.variants[0], SaltTransform):
            part.check_batch(piece)
        elif part.determined_by is not Determinant.FIELDS:
            for data, row in zip(piece.tolist(), columns.iterate_rows(part.fields), strict=True):
                verifier.verify_part(part, data, row)
        elif not _has_expected_bytes(part, columns, piece):
            what = (
                f"in one of the row keys the part {part.title} has other bytes than its fields give"
            )
            remedy = "Decode keys with the design that they were written with."
            raise InvalidArgument("keys", what, "keys that this design encodes", remedy)


def _has_expected_bytes(part: Part, columns: ColumnBatch, piece: SlicedByteColumn) -> bool:
    """Return whether every piece has the bytes of its row, for any variant of the part."""
    if len(part.variants) == 1:
        return _is_equal(
            part.encode_distinct(columns), piece, may_lack=isinstance(part, NullablePart)
        )
    width = part.framing.width or 0
    stored = piece.to_packed().data.reshape(-1, width)
    matches = np.zeros(len(stored), np.bool_)
    for variant in part.variants:
        expected = variant.encode_distinct(columns).to_sliced().to_packed().data.reshape(-1, width)
        matches |= (expected == stored).all(axis=1)
    return bool(matches.all())


def _is_equal(expected: ByteColumn, actual: SlicedByteColumn, *, may_lack: bool) -> bool:
    """Return whether two columns are equal; a null of one byte may be left out."""
    expected_slices = expected.to_sliced()
    if may_lack and not actual.inner_lengths.all():
        missing_rows, present_rows = (
            np.flatnonzero(actual.inner_lengths == 0),
            np.flatnonzero(actual.inner_lengths > 0),
        )
        if any(piece != NULL_MARKER for piece in set(expected_slices.take(missing_rows).tolist())):
            return False
        expected_slices, actual = (
            expected_slices.take(present_rows).to_sliced(),
            actual.take(present_rows).to_sliced(),
        )
    if bool((expected_slices.inner_lengths != actual.inner_lengths).any()):
        return False
    return bool((expected_slices.to_packed().data == actual.to_packed().data).all())
