"""A bound row key: encodes rows, decodes keys, and answers what its parts imply together."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from rowkey.errors import DesignRefused, Mistakes, Refused, RowError
from rowkey.keys.bind import LONGEST, bind_fields, bind_terms
from rowkey.keys.contract import Dictionary, FirstAppearance, Part, Row, Transform
from rowkey.keys.parts.nullable import NULL, Nullable
from rowkey.keys.parts.sequence import Sequence
from rowkey.keys.traits import Change, Source
from rowkey.keys.transforms.salt import CHANCE
from rowkey.schema import FieldWords, Term, parse, print_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import pyarrow as pa

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.keys.parts.field import Field
    from rowkey.schema import Value


class Key:
    """A bound row key.

    Args:
        terms: the declared key.
        fields: the declared fields, bound.
        parts: the bound parts, one for each term.
        seed: where random salts begin.

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
    ) -> None:
        self.terms = terms
        self.all_fields = dict(fields)
        self.body = Sequence(parts)
        self.parts = parts
        self.fields = {name: fields[name] for name in self.body.fields}
        self.is_salted = any(_is_by_chance(part) for part in parts)
        self.is_decodable = all(part.framing.closed for part in parts[:-1])
        self.is_coded = any(part.source is Source.DICTIONARY for part in parts)
        self.seed = seed
        self._salts = Random(seed)  # noqa: S311 - spreads rows, guards nothing
        self._write = self.body.writer()

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
                row[CHANCE] %= self._salt_count()
        try:
            key = self._write(row)
        except KeyError as missing:
            raise self._lacks(missing.args[0], row) from None
        if not 0 < len(key) <= LONGEST:
            raise _bad_length(key)
        return key

    def _salt_count(self) -> int:
        return next(salt.cardinality or 1 for part in self.parts for salt in _salts(part))

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
        if not self.is_decodable:
            raise self._undecodable()
        try:
            pieces = self.body.cut(key)
            values = self._read(pieces)
        except Refused as refusal:
            mistake = refusal.mistake
            raise RowError(f"key {key.hex()}", mistake.what, mistake.allowed) from None
        self._verify(key, pieces, values)
        return values

    def _undecodable(self) -> DesignRefused:
        at = next(i for i, part in enumerate(self.parts) if not part.framing.closed)
        what = f"{self.terms[at]} has no end but is not last, so no key can be taken apart"
        return DesignRefused(f"key[{at}]", what, remedy="Use an encoding with an end.")

    def _read(self, pieces: list[bytes]) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for part, piece in zip(self.parts, pieces, strict=True):
            values |= part.read(piece or (NULL if part.takes_nulls else b""))
        return values

    def _verify(self, key: bytes, pieces: list[bytes], values: dict[str, Value]) -> None:
        """Check every part that the recovered values decide."""
        for part, piece in zip(self.parts, pieces, strict=True):
            if part.source is not Source.FIELDS or not set(part.fields) <= values.keys():
                continue
            expected = part.encode(values)
            if piece != expected and not (not piece and expected == NULL):
                raise RowError(
                    f"key {key.hex()}",
                    f"{piece.hex()} stands where {part.name} of {', '.join(part.fields)} should",
                    expected.hex(),
                )

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
        from rowkey.keys.batches.assembly import keys_of

        return keys_of(self, self.columns(batch, salts=salts))

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
        return drawn.integers(0, self._salt_count(), count)

    def decode_batch(self, keys: pa.Array) -> pa.RecordBatch:
        """The fields that many row keys hold, as Arrow columns in the types of the fields.

        Raises:
            RowError: as `decode`, for the first key found.
        """
        from rowkey.keys.batches.decoding import rows_of

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

    def examples(self, count: int) -> list[dict[str, Value]]:
        """Rows with different values of every field; nulls among them where they may be.

        Args:
            count: how many rows.
        """
        rows = []
        for number in range(count):
            row: dict[str, Value] = {}
            for place, (name, field) in enumerate(self.fields.items()):
                index = number * (place + 1) % max(field.type.domain.size, 1)
                absent = field.nullable and number % (place + 2) == 1
                row[name] = None if absent else field.type.domain.nth(index)
            rows.append(row)
        return rows

    def show(self, start: bytes) -> str:
        """The beginning of a key as a person would name it: `host web-1, ts 2021-01-01T00:00:00Z`.

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
                shown.append(piece if part.name in piece else f"{name}{piece}")
            except Refused:
                break
            at = end
        if at < len(start):
            shown.append(f"{start[at:].hex()}…")
        return ", ".join(shown)

    def rests(self) -> list[Part]:
        """The parts that leave a rest of their time to the qualifier."""
        return [part for part in self.parts if part.rest is not None]

    def evolves(self, new: Key) -> Change:
        """What becomes of stored rows when the key is declared as `new` instead."""
        if len(new.parts) < len(self.parts):
            return Change.BREAKS
        changes = {old.evolves(part) for old, part in zip(self.parts, new.parts, strict=False)}
        added = new.parts[len(self.parts) :]
        if Change.BREAKS in changes or not all(isinstance(part, Nullable) for part in added):
            return Change.BREAKS
        if added and self.parts and not self.parts[-1].framing.closed:
            return Change.BREAKS
        return Change.WIDER if added or Change.WIDER in changes else Change.SAME


def _is_by_chance(part: Part) -> bool:
    return part.source is Source.CHANCE


def _salts(part: Part) -> list[Transform]:
    """What draws a number in a part: by chance, and not because something inside is."""
    made = [inner for inner in nested(part) if isinstance(inner, Transform) and not inner.inputs]
    return [inner for inner in made if _is_by_chance(inner)]


def _bad_length(key: bytes) -> RowError:
    if not key:
        return RowError("key", "every part is left out, so the key is empty", "1 byte or more")
    return RowError("key", f"{len(key):,} bytes are too long", f"at most {LONGEST:,} bytes")


def bind_key(
    key: str | tuple[Term, ...],
    fields: Mapping[str, Any],
    *,
    dictionary: Dictionary | None = None,
    seed: int = 0,
) -> Key:
    """A row key from its notation and its fields, as they stand in a design file.

    Args:
        key: the notation, or its terms.
        fields: for each field its type, or a mapping of its words.
        dictionary: gives ids to the values of `code`; by first appearance if absent.
        seed: where random salts begin.

    Raises:
        DeclarationError: with everything that is wrong.

    >>> str(bind_key("[host] [desc(ts)]", {"host": "text", "ts": "timestamp_ms"}))
    '[host][desc(ts)]'
    """
    mistakes = Mistakes()
    words = {
        name: FieldWords.model_validate({"type": given} if isinstance(given, str) else given)
        for name, given in fields.items()
    }
    bound = bind_fields(words, mistakes)
    try:
        terms = parse(key) if isinstance(key, str) else key
    except Refused as refusal:
        mistakes.refused("key", refusal)
        terms = ()
    made = bound_key(terms, bound, mistakes, dictionary=dictionary, seed=seed)
    mistakes.raise_any()
    assert made is not None
    return made


def bound_key(
    terms: tuple[Term, ...],
    fields: Mapping[str, Field],
    mistakes: Mistakes,
    *,
    unknown: frozenset[str] = frozenset(),
    dictionary: Dictionary | None = None,
    seed: int = 0,
) -> Key | None:
    """A row key from its terms and bound fields; None if something was wrong.

    Args:
        terms: the declared key.
        fields: the bound fields, by name.
        mistakes: where what is wrong is noted, below `key`.
        unknown: declared fields that could not be bound.
        dictionary: gives ids to the values of `code`; by first appearance if absent.
        seed: where random salts begin.
    """
    before = len(mistakes.found)
    numbering = dictionary or FirstAppearance()
    parts = bind_terms(terms, fields, numbering, mistakes, unknown)
    if len(mistakes.found) == before and len(parts) == len(terms):
        _check_together(parts, terms, mistakes)
    if len(mistakes.found) > before or not parts:
        return None
    return Key(terms, fields, parts, seed)


def _check_together(parts: tuple[Part, ...], terms: tuple[Term, ...], mistakes: Mistakes) -> None:
    """What no part can see alone."""
    salts = [index for index, part in enumerate(parts) for _ in _salts(part)]
    for index in salts[1:]:
        mistakes.add(f"key[{index}]", "a second salt spreads nothing more", "one salt")
    for index, part in enumerate(parts[:-1]):
        if not part.framing.closed and ":tail" in str(terms[index]):
            mistakes.add(
                f"key[{index}]",
                f"{terms[index]} has no end but is not last",
                "the last place in the key",
                "Leave :tail out, or say :raw if the key need not be read back.",
            )


def nested(part: Part) -> Iterator[Part]:
    """A part and all it is made of."""
    yield part
    inner: tuple[Part, ...] = ()
    if isinstance(part, Transform):
        inner = part.inputs
    elif isinstance(part, Nullable):
        inner = (part.inner,)
    for below in inner:
        yield from nested(below)
