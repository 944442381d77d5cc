"""Several parts one after the other: a whole key, or the parts that `over=rest` hashes.

Nulls at the end of a key are left out, so that optional fields there cost nothing and can be added
to a table that has rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument
from rowkey.keys.batches.byte_columns import ByteColumn, SlicedByteColumn, concatenate_columns
from rowkey.keys.part_interface import Part, Row, RowEncoder, Transform, encode_field_parts
from rowkey.keys.parts.nullable import NULL_MARKER, NullablePart
from rowkey.keys.traits import Compatibility, Determinant, Framing, Residue
from rowkey.schema import Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


TRAILING_NULL_MESSAGE = "the key ends with a null marker 00, which rowkey never writes there"
"""The message for a key that spells out a trailing null, and so is a second key of its row."""


class SequencePart(Part):
    """Several parts, encoded one after the other."""

    name = "sequence"

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.fields = tuple(dict.fromkeys(name for part in parts for name in part.fields))
        self.has_null_encoding = any(part.has_null_encoding for part in parts)
        self.omittable_count = _count_omittable(parts)
        if any(part.determined_by is Determinant.CHANCE for part in parts):
            self.determined_by = Determinant.CHANCE
        elif any(part.determined_by is Determinant.DICTIONARY for part in parts):
            self.determined_by = Determinant.DICTIONARY

    @property
    def framing(self) -> Framing:
        required_parts = self.parts[: len(self.parts) - self.omittable_count]
        min_bytes = sum(part.framing.min_bytes for part in required_parts)
        part_limits = [part.framing.max_bytes for part in self.parts]
        max_bytes = (
            None
            if None in part_limits
            else sum(limit for limit in part_limits if limit is not None)
        )
        is_self_delimiting = not self.omittable_count and all(
            part.framing.is_self_delimiting for part in self.parts
        )
        return Framing(min_bytes, max_bytes, is_self_delimiting=is_self_delimiting)

    def encode(self, row: Row) -> bytes:
        return self.join_pieces([part.encode(row) for part in self.parts])

    def compile_encoder(self) -> RowEncoder:
        if self.omittable_count:
            encoders = [part.compile_encoder() for part in self.parts]
            return lambda row: self.join_pieces([encode_part(row) for encode_part in encoders])
        first = self.parts[0]
        derive = (
            first.compile_input_encoder()
            if _is_computed_from_following(_list_inputs(first), self.parts[1:])
            else None
        )
        if derive is None:
            return _concatenate_encoders([part.compile_encoder() for part in self.parts])
        split = 1 + len(_list_inputs(first))
        shared = _concatenate_encoders([part.compile_encoder() for part in self.parts[1:split]])
        if split == len(self.parts):
            return lambda row: derive(piece := shared(row)) + piece
        rest = _concatenate_encoders([part.compile_encoder() for part in self.parts[split:]])
        return lambda row: derive(piece := shared(row)) + piece + rest(row)

    def join_pieces(self, pieces: list[bytes]) -> bytes:
        """Return the joined pieces without the nulls at their end."""
        for _ in range(self.omittable_count):
            if pieces[-1] != NULL_MARKER:
                break
            pieces.pop()
        return b"".join(pieces)

    def residue(self, name: str) -> Residue:
        residues = [part.residue(name) for part in self.parts if name in part.fields]
        return next((r for r in residues if r.is_empty), residues[0] if residues else Residue())

    def split_pieces(self, data: bytes) -> list[bytes]:
        """Return the bytes of each part; b"" for a null that was left out.

        Raises:
            InvalidArgument: the bytes do not follow the parts.
        """
        at, pieces = 0, []
        for index, part in enumerate(self.parts):
            if at == len(data) and index >= len(self.parts) - self.omittable_count:
                pieces.append(b"")
                continue
            try:
                end = part.find_end(data, at)
            except InvalidArgument as refusal:
                raise name_part(part, refusal) from None
            pieces.append(data[at:end])
            at = end
        if at < len(data):
            what = f"the key has bytes after its last part: {data[at:].hex()}"
            remedy = "Decode it with the design that it was written with."
            raise InvalidArgument("", what, "a key that this design encodes", remedy)
        if self.omittable_count and self._find_last_omittable(pieces) == NULL_MARKER:
            raise InvalidArgument("", TRAILING_NULL_MESSAGE)
        return pieces

    def _find_last_omittable(self, pieces: list[bytes]) -> bytes:
        """Return the last piece that is present and may be left out; b"" if there is none."""
        return next(filter(None, reversed(pieces[-self.omittable_count :])), b"")

    def decode(self, piece: bytes) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for part, part_piece in zip(self.parts, self.split_pieces(piece), strict=True):
            values |= (
                part.decode(part_piece or NULL_MARKER)
                if part.has_null_encoding
                else part.decode(part_piece)
            )
        return values

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return concatenate_columns(self.encode_parts(columns))

    def encode_parts(self, columns: ColumnBatch) -> list[ByteColumn]:
        """Return the bytes of the parts for many rows, without the nulls at the end.

        Neighbouring parts of one coded field become one piece.
        """
        pieces: list[ByteColumn] = []
        for group in _group_by_field(self.parts, columns):
            piece = (
                encode_field_parts(columns, group)
                if group[0].is_single_field
                else group[0].encode_batch(columns)
            )
            pieces.append(piece)
        return self._drop_trailing_nulls(pieces, columns) if self.omittable_count else pieces

    def _drop_trailing_nulls(
        self, pieces: list[ByteColumn], columns: ColumnBatch
    ) -> list[ByteColumn]:
        """Return the pieces with those of nulls at the end of a row emptied."""
        left_out = np.ones(len(columns), np.bool_)
        for back in range(1, self.omittable_count + 1):
            part = self.parts[-back]
            assert isinstance(part, NullablePart)
            left_out &= part.find_nulls(columns)
            spans = pieces[-back].to_sliced()
            shortened = np.where(left_out, 0, spans.inner_lengths)
            pieces[-back] = SlicedByteColumn(spans.data, spans.starts, shortened)
        return pieces

    def check_compatibility(self, new: Part) -> Compatibility:
        """Return what happens to stored rows; nullable fields can be added at the end of a key."""
        if not isinstance(new, SequencePart) or len(new.parts) < len(self.parts):
            return Compatibility.BREAKS
        pairs = zip(self.parts, new.parts, strict=False)
        changes = [old.check_compatibility(part) for old, part in pairs]
        if added := new.parts[len(self.parts) :]:
            is_optional = all(isinstance(part, NullablePart) for part in added)
            may_grow = is_optional and self.parts[-1].framing.is_self_delimiting
            changes.append(Compatibility.WIDER if may_grow else Compatibility.BREAKS)
        return Compatibility.find_worst(changes)

    def __repr__(self) -> str:
        return "".join(f"[{part!r}]" for part in self.parts)


def name_part(part: Part, refusal: InvalidArgument) -> InvalidArgument:
    """Return the error of a part's bytes with the fields of the part as its path."""
    mistake = refusal.mistake
    path = f"field {', '.join(part.fields)}" if part.fields else f"part {part.name}"
    return InvalidArgument(path, mistake.problem, mistake.expected, mistake.remedy)


def _list_inputs(part: Part) -> tuple[Part, ...]:
    """Return the parts from which a part is computed; none unless it is a transform."""
    return part.inputs if isinstance(part, Transform) else ()


def _is_computed_from_following(inputs: tuple[Part, ...], parts: tuple[Part, ...]) -> bool:
    """Return whether the inputs of a part are the parts after it, so that it can share bytes."""
    next_parts = parts[: len(inputs)]
    return 0 < len(inputs) == len(next_parts) and list(map(repr, inputs)) == list(
        map(repr, next_parts)
    )


def _concatenate_encoders(encoders: Sequence[RowEncoder]) -> RowEncoder:
    """Return an encoder that joins the results of several; up to three need no loop."""
    if len(encoders) == 1:
        return encoders[0]
    if len(encoders) == 2:
        first, second = encoders
        return lambda row: first(row) + second(row)
    if len(encoders) == 3:
        first, second, third = encoders
        return lambda row: first(row) + second(row) + third(row)
    join = b"".join
    return lambda row: join([encode(row) for encode in encoders])


def _count_omittable(parts: Sequence[Part]) -> int:
    """Return how many parts at the end of a key may be left out."""
    count = 0
    for part in reversed(parts):
        if not isinstance(part, NullablePart):
            break
        count += 1
    return count


def _group_by_field(parts: Sequence[Part], columns: ColumnBatch) -> list[list[Part]]:
    """Return the parts in groups: adjacent parts of one dictionary-coded field are a group."""

    def group_key(part: Part) -> object:
        """Return the dictionary-coded field of a part, or the part itself."""
        if part.is_single_field and columns.has_codes(part.fields[0]):
            return part.fields[0]
        return part

    return [list(group) for _, group in groupby(parts, key=group_key)]
