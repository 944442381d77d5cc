"""A bound row key: encodes rows, decodes keys, and answers what its parts imply together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from rowkey.array_libraries import np, pa
from rowkey.errors import DesignRefused, InvalidArgument, RowError
from rowkey.keys.base_types.domains import Domain
from rowkey.keys.base_types.strings import NULLABLE_REMEDY
from rowkey.keys.batches.byte_columns import ByteColumn, IntArray
from rowkey.keys.declared_field import Field
from rowkey.keys.dictionary import (
    DICTIONARY_FIELD,
    Dictionary,
    FirstSeenDictionary,
    TentativeDictionary,
    assign_row_ids,
)
from rowkey.keys.key_length import MAX_KEY_BYTES, build_length_error
from rowkey.keys.part_interface import (
    Part,
    Row,
    RowEncoder,
    Transform,
    find_coded_fields,
    walk_parts,
)
from rowkey.keys.part_verification import PartVerifier
from rowkey.keys.parts.nullable import NULL_MARKER
from rowkey.keys.parts.sequence import SequencePart, name_part
from rowkey.keys.traits import Compatibility, Determinant
from rowkey.keys.transforms.salt import SALT_FIELD
from rowkey.messages import escape_text, format_value
from rowkey.open_file_limit import explain_shortage
from rowkey.schema import Term, Value, format_key

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch


class Key:
    """A row key whose parts are bound to typed fields: encodes rows and decodes keys.

    Args:
        terms: the declared key.
        fields: the declared fields, bound.
        parts: the bound parts, one for each term.
        dictionary: gives ids to the values of `code`; needed where there are any.
        variants: the keys of other counts that this key reads as well, itself first.

    >>> from rowkey.keys import bind_key
    >>> key = bind_key("[bucket(host, 16)][host][desc(ts)]", {"host": "text", "ts": "timestamp_ms"})
    >>> row = {"host": "web-1", "ts": 1609459200000}
    >>> key.encode(row).hex()
    '097765622d31007ffffe8944c18fff'
    >>> key.decode(key.encode(row)) == row
    True
    """

    def __init__(
        self,
        terms: tuple[Term, ...],
        fields: Mapping[str, Field],
        parts: tuple[Part, ...],
        dictionary: Dictionary | None = None,
        variants: tuple[Key, ...] = (),
    ) -> None:
        self.terms = terms
        self.declared_fields = dict(fields)
        self.part_sequence = SequencePart(parts)
        self.parts = parts
        self.dictionary = dictionary
        self.variants = variants
        self.fields = {name: fields[name] for name in self.part_sequence.fields}
        self.is_salted = any(part.determined_by is Determinant.CHANCE for part in parts)
        self.is_decodable = all(part.framing.is_self_delimiting for part in parts[:-1])
        self._coded_fields = find_coded_fields(parts)
        self.has_coded_fields = bool(self._coded_fields)
        # Then a key is one if its values are written as the same bytes, which is quick to tell.
        self._can_verify_by_encoding = not (self.is_salted or self.has_coded_fields) and all(
            self.part_sequence.residue(name).is_empty for name in self.fields
        )
        self._verifier = PartVerifier(dictionary, self.salt_count if self.is_salted else 0)
        self._encode_sequence: RowEncoder = self._compile_and_encode
        self._encode_row: RowEncoder = (
            self._encode_and_commit_ids if self.has_coded_fields else self._compile_and_encode
        )

    def __str__(self) -> str:
        return format_key(self.terms)

    def __repr__(self) -> str:
        shown = (f"{name}: {field.type!r}" for name, field in self.fields.items())
        return f"<{self} of {', '.join(shown)}>"

    def encode(self, row: Row, *, salt: int | None = None) -> bytes:
        """Return the row key of one row.

        Args:
            row: a value for each field of the key; others are left alone.
            salt: the number that the random salt takes; needed where the key has one.

        Raises:
            RowError: a field is missing, a value is not valid for its type, or the key is empty
                or too long.
            InvalidArgument: the key has a random salt and no number for it is given.

        Cost: 0.2 to 1 µs, by the number of parts.
        """
        if self.is_salted:
            if salt is None:
                raise self._build_missing_salt_error()
            row = {**row, SALT_FIELD: salt}
        try:
            key = self._encode_row(row)
        except KeyError as missing:
            raise self._build_missing_field_error(missing.args[0], row) from None
        if not 0 < len(key) <= MAX_KEY_BYTES:
            raise build_length_error(len(key))
        return key

    def _compile_and_encode(self, row: Row) -> bytes:
        """Return the key of the first row, and let a compiled encoder make those of all others.

        Keys that only plan reads, such as hundreds of candidates, do without one.
        """
        self._encode_sequence = self.part_sequence.compile_encoder()
        if not self.has_coded_fields:
            self._encode_row = self._encode_sequence
        return self._encode_sequence(row)

    def _encode_and_commit_ids(self, row: Row) -> bytes:
        """Return the key of a row; assign ids to new values only if all of it can be encoded."""
        assert self.dictionary is not None
        trial = TentativeDictionary(self.dictionary)
        key = self._encode_checked({**row, DICTIONARY_FIELD: trial})
        return self._encode_sequence(row) if trial.commit_ids() else key

    def _encode_checked(self, row: Row) -> bytes:
        """Return the row key of a row; a missing field raises RowError."""
        key = self._encode_sequence(row)
        if not 0 < len(key) <= MAX_KEY_BYTES:
            raise build_length_error(len(key))
        return key

    def assign_ids(self, rows: Iterable[Row]) -> None:
        """Assign ids to the new `code` values of some rows, all in one request.

        Args:
            rows: some rows; those that have no key are skipped, and their values get no ids.

        Raises:
            RowError: other clients took the last ids.

        Cost: an encoding of each row, and one request to the dictionary.
        """
        if self.dictionary is not None:
            assign_row_ids(
                lambda row: self._encode_checked({**row, SALT_FIELD: 0}),
                rows,
                self._coded_fields,
                self.dictionary,
            )

    def has_known_ids(self, row: Row) -> bool:
        """Return whether all values of `code` in a row have ids; if not, no such row is stored.

        Raises:
            RowError: as `encode`.
        """
        dictionary = FirstSeenDictionary()
        try:
            self._encode_sequence({**row, DICTIONARY_FIELD: dictionary, SALT_FIELD: 0})
        except KeyError as missing:
            raise self._build_missing_field_error(missing.args[0], row) from None
        return self.dictionary is None or dictionary.is_subset_of(self.dictionary)

    @property
    def salt_count(self) -> int:
        """The number of different salts of a key with a random salt."""
        return next(salt.cardinality or 1 for part in self.parts for salt in find_salts(part))

    @property
    def min_bytes(self) -> int:
        """Bytes of the shortest row key."""
        return sum(part.framing.min_bytes for part in self.parts)

    def draw_salts(self, count: int, rng: np.random.Generator) -> IntArray | None:
        """Return a random salt for each of some rows; None if the key has none.

        Args:
            count: how many rows.
            rng: where the numbers come from; the same state gives the same salts.
        """
        return rng.integers(0, self.salt_count, count) if self.is_salted else None

    def _build_missing_salt_error(self) -> InvalidArgument:
        return InvalidArgument(
            "argument salts",
            f"the key {self} has a random salt, but no salts were passed",
            f"a number from 0 to {self.salt_count - 1} for each row",
            "Pass salts=key.draw_salts(count, rng), or salt= to encode.",
        )

    def _build_missing_field_error(self, name: str, row: Row) -> RowError:
        names = ", ".join(str(key) for key in list(row)[:12] if key != SALT_FIELD)
        what = (
            f"the row has no value for this field, only for {names}"
            if names
            else "the row is empty"
        )
        return RowError(f"field {name}", what, "a value", NULLABLE_REMEDY)

    def decode(self, key: bytes) -> dict[str, Value]:
        """Return the fields that a row key holds, by name.

        Parts that repeat others, such as the bucket of a host, are verified.

        Raises:
            RowError: the bytes are no key of this design.
            DesignRefused: a part before the last has no end, so that no key can be split.
        """
        self.check_decodable()
        if type(key) is not bytes:
            key = _to_bytes(key)
        if not 0 < len(key) <= MAX_KEY_BYTES:
            raise build_length_error(len(key))
        try:
            pieces = self.part_sequence.split_pieces(key)
            values = self._decode_pieces(pieces)
            if (
                self._can_verify_by_encoding
                and len(values) == len(self.fields)
                and self._encode_sequence(values) == key
            ):
                return values
            for part, piece in zip(self.parts, pieces, strict=True):
                self._verifier.verify_part(part, piece, values)
        except InvalidArgument as refusal:
            mistake = refusal.mistake
            path = f"row key {key.hex()}" + (f", {mistake.path}" if mistake.path else "")
            remedy = mistake.remedy or FOREIGN_KEY_REMEDY
            raise RowError(path, mistake.problem, mistake.expected, remedy) from None
        return values

    def check_decodable(self) -> None:
        """Raise an error if no key of this design can be decoded.

        Raises:
            DesignRefused: a part before the last has no end.
        """
        if self.is_decodable:
            return
        at = next(i for i, part in enumerate(self.parts) if not part.framing.is_self_delimiting)
        what = f"{self.terms[at]} does not mark where its value ends, so no key can be decoded"
        remedy = f"Move {self.terms[at]} to the end of the key, or write it without :raw."
        raise DesignRefused(f"key[{at}]", what, remedy=remedy)

    def _decode_pieces(self, pieces: list[bytes]) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for part, piece in zip(self.parts, pieces, strict=True):
            try:
                values |= part.decode(piece or (NULL_MARKER if part.has_null_encoding else b""))
            except InvalidArgument as refusal:
                raise name_part(part, refusal) from None
        return values

    @explain_shortage
    def encode_batch(
        self, batch: pa.RecordBatch | pa.Table, *, salts: IntArray | None = None
    ) -> pa.Array:
        """Return the row keys of many rows: the same bytes as `encode` gives for each.

        Args:
            batch: Arrow columns named as the fields; text may be dictionary-encoded.
            salts: the number that the random salt takes in each row; needed where the key has one.

        Returns:
            An Arrow binary array, one key per row, in order.

        Raises:
            RowError: as `encode`, for the first row that cannot be encoded; it names the row,
                from 0.
            InvalidArgument: the key has a random salt, and no numbers for it are given, or not one
                a row.

        Cost: 10 to 80 ns a row.
        """
        from rowkey.keys.batches.key_assembly import assemble_keys
        from rowkey.keys.batches.validation import locate_refused_row, validate_batch

        def encode_rows(row_count: int) -> None:
            some_salts = None if salts is None else salts[:row_count]
            columns = self.build_columns(batch.slice(0, row_count), salts=some_salts)
            self._start_trial(columns)
            assemble_keys(self.part_sequence, columns)

        validate_batch(batch)
        try:
            return self.encode_valid_batch(batch, salts=salts)
        except RowError as error:
            raise locate_refused_row(error, batch.num_rows, encode_rows) from None

    def encode_valid_batch(
        self, batch: pa.RecordBatch | pa.Table, *, salts: IntArray | None = None
    ) -> pa.Array:
        """Return the row keys of many rows that are known to be valid.

        Args:
            salts: the number that the random salt takes in each row; needed where the key has one.

        Raises:
            RowError: as `encode_batch`, but the row is not named, and columns are not checked.
            InvalidArgument: as `encode_batch`.
        """
        from rowkey.keys.batches.key_assembly import assemble_keys

        columns = self.build_columns(batch, salts=salts)
        trial = self._start_trial(columns)
        keys = assemble_keys(self.part_sequence, columns)
        if trial is None or not trial.commit_ids():
            return keys
        columns.tentative_dictionary = None
        return assemble_keys(self.part_sequence, columns)

    def _start_trial(self, columns: ColumnBatch) -> TentativeDictionary | None:
        """Let new values of `code` get ids that are not committed; None without such fields."""
        if not self.has_coded_fields:
            return None
        assert self.dictionary is not None
        columns.tentative_dictionary = trial = TentativeDictionary(self.dictionary)
        return trial

    def build_columns(
        self,
        batch: pa.RecordBatch | pa.Table,
        *,
        salts: IntArray | None = None,
        previous: ColumnBatch | None = None,
    ) -> ColumnBatch:
        """Return the fields of the key as columns that are ready to be encoded.

        Args:
            salts: the number that the random salt takes in each row; needed where the key has one.
            previous: columns of an earlier batch, as `ColumnBatch.from_batch` takes them.

        Raises:
            RowError: the batch lacks a column, or a value is not valid for its field.
            InvalidArgument: the key has a random salt, and no numbers for it are given, or not one
                a row.
        """
        from rowkey.keys.batches.columns import ColumnBatch

        columns = ColumnBatch.from_batch(batch, list(self.fields.values()), previous)
        if self.is_salted:
            if salts is None:
                raise self._build_missing_salt_error()
            if len(salts) != len(columns):
                what = f"{len(salts):,} salts were passed for {len(columns):,} rows"
                raise InvalidArgument("salts", what, "one salt for each row")
            columns.salts = salts
        return columns

    @explain_shortage
    def decode_batch(self, keys: pa.Array) -> pa.RecordBatch:
        """Return the fields that many row keys hold, as Arrow columns in the types of the fields.

        Raises:
            RowError: as `decode`, for the first key found.
        """
        from rowkey.keys.batches.key_decoding import decode_keys, to_binary_array
        from rowkey.keys.batches.validation import validate_column

        validate_column("keys", keys)
        self.check_decodable()
        keys = to_binary_array(keys)
        try:
            return decode_keys(self.part_sequence, self.fields, self._verifier, keys)
        except (InvalidArgument, RowError, pa.ArrowInvalid, OverflowError):
            for data in keys.to_pylist():
                self.decode(data)
            raise

    @cached_property
    def identity_parts(self) -> tuple[Part, ...]:
        """Return the parts that identify a row, without redundant parts.

        Random salts are left out: the same row with two salts is still written twice.
        """
        parts = [part for part in self.parts if part.fields]
        if not self.is_decodable:
            return tuple(p for p in self.parts if p.determined_by is not Determinant.CHANCE)
        lossless_fields = {
            name for part in parts for name in part.fields if part.residue(name).is_empty
        }
        identifying_parts = [
            part
            for part in parts
            if any(part.residue(name).is_empty for name in part.fields)
            or not set(part.fields) <= lossless_fields
        ]
        return tuple(identifying_parts or parts or self.parts[:1])

    def encode_parts(self, columns: ColumnBatch, parts: tuple[Part, ...]) -> ByteColumn:
        """Return the joined bytes of some parts, for many rows."""
        return SequencePart(parts).encode_batch(columns)

    def split_pieces(self, key: bytes) -> list[bytes]:
        """Return the bytes of each part of a key.

        Raises:
            InvalidArgument: the bytes are no key of this design.
        """
        return self.part_sequence.split_pieces(key)

    def find_domain(self, name: str) -> Domain:
        """Return the values of a field that every part of the key can encode."""
        domain = self.fields[name].type.domain
        for part in self.parts:
            for one in walk_parts(part):
                domain = one.restrict_domain(name, domain)
        return domain

    def generate_rows(self, count: int) -> list[dict[str, Value]]:
        """Return rows with different values of every field, and nulls where a field allows them.

        Args:
            count: how many rows.
        """
        rows = []
        for number in range(count):
            row: dict[str, Value] = {}
            for place, (name, field) in enumerate(self.fields.items()):
                domain = self.find_domain(name)
                index = number * (place + 1) % max(domain.size, 1)
                absent = field.nullable and number % (place + 2) == 1
                row[name] = None if absent else domain.generate_value(index)
            if self.part_sequence.framing.min_bytes == 0 and set(row.values()) == {None}:
                name = next(iter(row))  # a row of nulls alone would have an empty key
                domain = self.find_domain(name)
                row[name] = domain.generate_value(number % domain.size)
            rows.append(row)
        return rows

    def format_prefix(self, start: bytes) -> str:
        """Return the start of a key in readable form: `host web-1, ts 2021-01-01T00:00:00Z`.

        Characters that do not print are escaped, so that a stored value cannot control a terminal.

        Args:
            start: the first bytes of a key; an incomplete part is formatted as hexadecimal.
        """
        pieces, at = [], 0
        for part in self.parts:
            if at >= len(start):
                break
            try:
                end = part.find_end(start, at)
                name = "" if part.cardinality == 1 else f"{', '.join(part.fields)} "
                piece = part.format_piece(start[at:end])
                pieces.append(piece if part.title in piece else f"{name}{piece}")
            except InvalidArgument:
                break
            at = end
        if at < len(start):
            pieces.append(f"{start[at:].hex()}…")
        return escape_text(", ".join(pieces))

    def check_compatibility(self, new: Key) -> Compatibility:
        """Return what happens to stored rows when the key is declared as `new` instead."""
        return self.part_sequence.check_compatibility(new.part_sequence)


FOREIGN_KEY_REMEDY = "Decode the key with the design that wrote it."


def find_salts(part: Part) -> list[Transform]:
    """Return the random salts inside of a part."""
    transforms = [
        inner for inner in walk_parts(part) if isinstance(inner, Transform) and not inner.inputs
    ]
    return [inner for inner in transforms if inner.determined_by is Determinant.CHANCE]


def find_leading_parts(key: Key, depth: int) -> tuple[Part, ...]:
    """Return the leading parts that fill at least `depth` bytes of every key."""
    min_bytes = 0
    for index, part in enumerate(key.parts):
        min_bytes += part.framing.min_bytes
        if min_bytes >= depth and index + 1 <= len(key.parts) - key.part_sequence.omittable_count:
            return key.parts[: index + 1]
    return key.parts


def _to_bytes(value: object) -> bytes:
    """Return a memory view or a byte array as bytes.

    Raises:
        RowError: it is neither.
    """
    if not isinstance(value, bytes | bytearray | memoryview):
        raise RowError(
            "key", f"{format_value(value)} is of the type {type(value).__name__}", "bytes"
        )
    return bytes(value)
