"""A bound row key: encodes rows, decodes keys, and answers what its parts imply together."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from rowkey.errors import DesignRefused, Refused, RowError, escaped, shown
from rowkey.keys.bind import LONGEST
from rowkey.keys.contract import Part, Row, Transform, nested
from rowkey.keys.dictionary import IDS, Dictionary, FirstAppearance, Trial, coded_fields, learn_ids
from rowkey.keys.parts.nullable import NULL
from rowkey.keys.parts.sequence import Sequence
from rowkey.keys.traits import Change, Source
from rowkey.keys.transforms.salt import CHANCE
from rowkey.keys.verifying import verify
from rowkey.open_file_limit import explains_shortage
from rowkey.schema import Term, print_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    import pyarrow as pa

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.keys.parts.field import Field
    from rowkey.keys.types.domains import Domain
    from rowkey.schema import Value


class Key:
    """A bound row key.

    Args:
        terms: the declared key.
        fields: the declared fields, bound.
        parts: the bound parts, one for each term.
        seed: where random salts begin.
        dictionary: gives ids to the values of `code`; needed where there are any.

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
        seed: int = 0,
        dictionary: Dictionary | None = None,
    ) -> None:
        self.terms = terms
        self.all_fields = dict(fields)
        self.body = Sequence(parts)
        self.parts = parts
        self.dictionary = dictionary
        self.fields = {name: fields[name] for name in self.body.fields}
        self.is_salted = any(part.source is Source.CHANCE for part in parts)
        self.is_decodable = all(part.framing.closed for part in parts[:-1])
        self._coded = coded_fields(parts)
        self.is_coded = bool(self._coded)
        # Then a key is one if its values are written as the same bytes, which is quick to tell.
        self._is_whole = not (self.is_salted or self.is_coded) and all(
            self.body.residue(name).nothing for name in self.fields
        )
        self.seed = seed
        self._salts = Random(seed)  # noqa: S311 - spreads rows, guards nothing
        self._written = self.body.writer()
        self._write = self._tried if self.is_coded else self._written

    def __str__(self) -> str:
        return print_key(self.terms)

    def __repr__(self) -> str:
        shown = (f"{name}: {field.type!r}" for name, field in self.fields.items())
        return f"<{self} of {', '.join(shown)}>"

    def encode(self, row: Row, *, salt: int | None = None) -> bytes:
        """The row key of one row.

        Args:
            row: a value for each field of the key; others are left alone.
            salt: the number a random salt takes; drawn if absent.

        Raises:
            RowError: a field is missing, a value is none of its type, or the key is empty or too
                long.

        Cost: 0.2 to 1 µs, by the number of parts.
        """
        if self.is_salted:
            row = {**row, CHANCE: self._salts.getrandbits(64) if salt is None else salt}
            if salt is None:
                row[CHANCE] %= self.salt_count
        try:
            key = self._write(row)
        except KeyError as missing:
            raise self._lacks(missing.args[0], row) from None
        if not 0 < len(key) <= LONGEST:
            raise _bad_length(key)
        return key

    def _tried(self, row: Row) -> bytes:
        """The bytes of a row; its values are given ids only once all of it has been encoded."""
        assert self.dictionary is not None
        trial = Trial(self.dictionary)
        key = self._sized({**row, IDS: trial})
        return self._written(row) if trial.settle() else key

    def _sized(self, row: Row) -> bytes:
        key = self._written(row)
        if not 0 < len(key) <= LONGEST:
            raise _bad_length(key)
        return key

    def learn(self, rows: Iterable[Row]) -> None:
        """Give ids to all values of `code` that some rows have, at once; `encode` alone asks twice.

        Args:
            rows: some rows; those that have no key are passed over, and their values get no ids.

        Raises:
            RowError: others were given ids meanwhile, and these have no room any more.

        Cost: an encoding of each row, and one question to whoever gives the ids.
        """
        if self.dictionary is not None:
            learn_ids(
                lambda row: self._sized({**row, CHANCE: 0}), rows, self._coded, self.dictionary
            )

    def is_known(self, row: Row) -> bool:
        """Whether all values of `code` in a row have ids; if not, no such row was ever stored.

        Raises:
            RowError: as `encode`.
        """
        dictionary = FirstAppearance()
        try:
            self._written({**row, IDS: dictionary, CHANCE: 0})
        except KeyError as missing:
            raise self._lacks(missing.args[0], row) from None
        return self.dictionary is None or dictionary.is_within(self.dictionary)

    @property
    def salt_count(self) -> int:
        """How many numbers a random salt may take; only where there is one."""
        return next(salt.cardinality or 1 for part in self.parts for salt in salts_of(part))

    @property
    def least_bytes(self) -> int:
        """Bytes of the shortest row key."""
        return sum(part.framing.least for part in self.parts)

    def _lacks(self, name: str, row: Row) -> RowError:
        given = ", ".join(str(key) for key in list(row)[:12] if key != CHANCE)
        return RowError(name, "the row has no such value", f"a value beside {given or 'nothing'}")

    def decode(self, key: bytes) -> dict[str, Value]:
        """The fields that a row key holds, by name.

        Parts that repeat what others say, such as a bucket beside its host, are verified.

        Raises:
            RowError: the bytes are no key of this design.
            DesignRefused: a part before the last has no end, so that no key can be taken apart.
        """
        self.require_decodable()
        if type(key) is not bytes:
            key = _bytes_of(key)
        if not 0 < len(key) <= LONGEST:
            raise _bad_length(key)
        try:
            pieces = self.body.cut(key)
            values = self._read(pieces)
            if self._is_whole and len(values) == len(self.fields) and self._written(values) == key:
                return values
            for part, piece in zip(self.parts, pieces, strict=True):
                verify(self, part, piece, values)
        except Refused as refusal:
            mistake = refusal.mistake
            raise RowError(f"key {key.hex()}", mistake.what, mistake.allowed) from None
        return values

    def require_decodable(self) -> None:
        """Refuse where no key can be taken apart.

        Raises:
            DesignRefused: a part before the last has no end.
        """
        if self.is_decodable:
            return
        at = next(i for i, part in enumerate(self.parts) if not part.framing.closed)
        what = f"{self.terms[at]} has no end but is not last, so no key can be taken apart"
        raise DesignRefused(f"key[{at}]", what, remedy="Use an encoding with an end.")

    def _read(self, pieces: list[bytes]) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for part, piece in zip(self.parts, pieces, strict=True):
            values |= part.read(piece or (NULL if part.takes_nulls else b""))
        return values

    @explains_shortage
    def encode_batch(
        self, batch: pa.RecordBatch | pa.Table, *, salts: np.ndarray[Any, Any] | None = None
    ) -> pa.Array:
        """The row keys of many rows: the same bytes as `encode` gives.

        Args:
            batch: Arrow columns named as the fields; text may be dictionary-encoded.
            salts: the number a random salt takes, one per row; drawn if absent.

        Returns:
            An Arrow binary array, one key per row, in order.

        Raises:
            RowError: as `encode`, for the first row found.

        Cost: 10 to 80 ns a row.
        """
        from rowkey.keys.batches.validation import validate_batch

        validate_batch(batch)
        return self.encode_valid_batch(batch, salts=salts)

    def encode_valid_batch(
        self, batch: pa.RecordBatch | pa.Table, *, salts: np.ndarray[Any, Any] | None = None
    ) -> pa.Array:
        """Return the row keys of many rows that are known to be valid.

        Args:
            batch: the rows.
            salts: the number a random salt takes, one per row; drawn if absent.

        Raises:
            RowError: as `encode_batch`, where no column is damaged.
        """
        from rowkey.keys.batches.assembly import keys_of

        columns = self.columns(batch, salts=salts)
        if self.is_coded:
            assert self.dictionary is not None
            columns.trial = trial = Trial(self.dictionary)
            keys = keys_of(self, columns)
            if not trial.settle():
                return keys
            columns.trial = None
        return keys_of(self, columns)

    def columns(
        self,
        batch: pa.RecordBatch | pa.Table,
        *,
        salts: np.ndarray[Any, Any] | None = None,
        before: Columns | None = None,
    ) -> Columns:
        """The fields of the key as columns ready to be encoded.

        Args:
            batch: the rows.
            salts: the random salt of each, or None to draw them.
            before: columns of an earlier batch, as `Columns.of` takes them.

        Raises:
            RowError: the batch lacks a column, or a value is none of its field.
        """
        from rowkey.keys.batches.columns import Columns

        columns = Columns.of(batch, list(self.fields.values()), before)
        if self.is_salted:
            if salts is None:
                salts = self._drawn(len(columns))
            columns.salts = salts
        return columns

    def _drawn(self, count: int) -> np.ndarray[Any, Any]:
        import numpy as np

        drawn = np.random.default_rng(self._salts.getrandbits(64))
        return drawn.integers(0, self.salt_count, count)

    @explains_shortage
    def decode_batch(self, keys: pa.Array) -> pa.RecordBatch:
        """The fields that many row keys hold, as Arrow columns in the types of the fields.

        Raises:
            RowError: as `decode`, for the first key found.
        """
        from rowkey.keys.batches.decoding import rows_of
        from rowkey.keys.batches.validation import validate_column

        validate_column("keys", keys)
        return rows_of(self, keys)

    def pieces(self, columns: Columns, parts: tuple[Part, ...]) -> Pieces:
        """The bytes of some of the parts, side by side, for many rows."""
        return Sequence(parts).batch(columns)

    def cut(self, key: bytes) -> list[bytes]:
        """The bytes of each part.

        Raises:
            Refused: the bytes are no key of this design.
        """
        return self.body.cut(key)

    def domain(self, name: str) -> Domain:
        """The values of a field that its encodings in the key have room for."""
        domain = self.fields[name].type.domain
        for part in self.parts:
            for one in nested(part):
                domain = one.room(name, domain)
        return domain

    def examples(self, count: int) -> list[dict[str, Value]]:
        """Rows with different values of every field; nulls among them where they may be.

        Args:
            count: how many rows.
        """
        rows = []
        for number in range(count):
            row: dict[str, Value] = {}
            for place, (name, field) in enumerate(self.fields.items()):
                domain = self.domain(name)
                index = number * (place + 1) % max(domain.size, 1)
                absent = field.nullable and number % (place + 2) == 1
                row[name] = None if absent else domain.nth(index)
            rows.append(row)
        return rows

    def show(self, start: bytes) -> str:
        """The beginning of a key as a person would name it: `host web-1, ts 2021-01-01T00:00:00Z`.

        What does not print is escaped: a stored value reaches no terminal as it is.

        Args:
            start: bytes from the start of a key on; a part that they do not hold whole is shown in
                hexadecimal.
        """
        shown, at = [], 0
        for part in self.parts:
            if at >= len(start):
                break
            try:
                end = part.measure(start, at)
                name = "" if part.cardinality == 1 else f"{', '.join(part.fields)} "
                piece = part.show(start[at:end])
                shown.append(piece if part.title in piece else f"{name}{piece}")
            except Refused:
                break
            at = end
        if at < len(start):
            shown.append(f"{start[at:].hex()}…")
        return escaped(", ".join(shown))

    def rests(self) -> list[Part]:
        """The parts that leave a rest of their time to the qualifier."""
        return [part for part in self.parts if part.rest is not None]

    def evolves(self, new: Key) -> Change:
        """What becomes of stored rows when the key is declared as `new` instead."""
        return self.body.evolves(new.body)


def salts_of(part: Part) -> list[Transform]:
    """What draws a number in a part: by chance, and not because something inside is."""
    made = [inner for inner in nested(part) if isinstance(inner, Transform) and not inner.inputs]
    return [inner for inner in made if inner.source is Source.CHANCE]


def _bytes_of(given: object) -> bytes:
    """The bytes of a view or an array of bytes.

    Raises:
        RowError: it is neither.
    """
    if not isinstance(given, bytes | bytearray | memoryview):
        raise RowError("key", f"{shown(given)} is a {type(given).__name__}", "bytes")
    return bytes(given)


def _bad_length(key: bytes) -> RowError:
    if not key:
        return RowError("key", "every part is left out, so the key is empty", "1 byte or more")
    return RowError("key", f"{len(key):,} bytes are too long", f"at most {LONGEST:,} bytes")
