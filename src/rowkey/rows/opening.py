"""What opens the qualifier of every cell of an event, where many events share one row.

First what time slices leave of their times, then the fields placed in the qualifier, each encoded
as a part of a key would be; the column's own qualifier follows. It is bound as a key of its own,
whose last part is the column's name, so that keys' encoders and decoders serve it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, Refused, RowError
from rowkey.keys import Images, Nullable, NumberPart, bind_fields, bound_key, complement
from rowkey.schema import Call, Equal, FieldRef, FieldWords, OneOf, Range

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from rowkey.keys import Field, Key, Part, Rest, Row
    from rowkey.rows.contract import Width
    from rowkey.schema import Bound, Bounds, Term, Value

NAME = "\0name"
"""The column's own qualifier, as a field; no declared field can have this name."""

NULL = b"\0"
"""The marker of a null in a key, which is also left out at its end."""


@dataclass(frozen=True)
class Slice:
    """A time slice among the parts of a row key.

    Args:
        at: its place among the parts.
        part: the slice itself.
        rest: what it leaves to the qualifier.
        field: the field of its time.
        nullable: whether a null has bytes there.
    """

    at: int
    part: NumberPart
    rest: Rest
    field: Field
    nullable: bool

    @property
    def name(self) -> str:
        """The rest, as a field."""
        return f"\0{self.at}"

    @property
    def source(self) -> NumberPart:
        """The part whose number is sliced."""
        (source,) = self.part.made_of
        assert isinstance(source, NumberPart)
        return source

    @property
    def is_whole(self) -> bool:
        """Whether slice and rest together hold the time whole.

        They do not where the time was cut before it was sliced, or where the encoding loses a part
        of the start of a slice.
        """
        source = self.source
        lost = (source.resolution or 1) // (source.tick or 1)
        return not source.made_of and self.rest.units % max(lost, 1) == 0

    def of(self, row: Row) -> int:
        """The rest of a row's time; 0 for a null."""
        if self.nullable and row.get(self.rest.field) is None:
            return 0
        return self.source.number(row) % self.rest.units

    def of_batch(self, batch: pa.RecordBatch) -> pa.Array:
        """The rests of many rows' times; 0 for null."""
        import numpy as np
        import pyarrow as pa

        from rowkey.keys import Columns

        columns = Columns.of(batch, [self.field])
        missing = columns.nulls(self.field.name) if self.nullable else None
        if missing is None:
            missing = np.zeros(len(columns), np.bool_)
        rests = np.zeros(len(columns), np.int64)
        there = np.flatnonzero(~missing)
        if len(there):
            numbers = self.source.numbers(columns.take(there))
            rests[there] = numbers % numbers.dtype.type(self.rest.units)
        return pa.array(rests)

    def writer(self) -> Callable[[Row], bytes]:
        """The bytes of the rest of a row's time, compiled."""
        rest_of, width = self.of, self.rest.width
        if self.rest.descending:
            return lambda row: complement(rest_of(row).to_bytes(width, "big"))
        return lambda row: rest_of(row).to_bytes(width, "big")

    def start(self, pieces: Sequence[bytes]) -> int | None:
        """The start of the slice, from the bytes of each part of a row key; None for null.

        Raises:
            Refused: the bytes are no slice.
        """
        piece = pieces[self.at]
        if self.nullable:
            if piece in (b"", NULL):
                return None
            piece = piece[1:]
        return self.part.unpack(piece)

    def time(self, start: int | None, rest: int) -> Value:
        """The time of an event.

        Raises:
            Refused: the rest lies outside the slice.
        """
        if not 0 <= rest < self.rest.units or (start is None and rest):
            raise Refused("", f"{rest} is no rest of a slice", f"0..{self.rest.units - 1}")
        if start is None:
            return None
        if not self.source.low <= start + rest <= self.source.high:
            raise Refused("", f"{start + rest} is no {self.field.type.name}")
        return self.source.value(start + rest)

    def asked(self, bound: Bound) -> Bound | None:
        """What a bound of the time asks of the rest; None where that is not one stretch."""
        match bound:
            case Equal(value):
                rest = self._rest_of(value)
                return None if rest is None else Equal(rest)
            case OneOf(values):
                rests = [self._rest_of(value) for value in values]
                known = tuple(dict.fromkeys(rest for rest in rests if rest is not None))
                return OneOf(known) if known and None not in rests else None
            case Range(low, high):
                return self._between(low, high)
        return None

    def _rest_of(self, value: Value) -> int | None:
        try:
            return self.of({self.rest.field: value})
        except RowError:
            return None

    def _between(self, low: Value, high: Value) -> Bound | None:
        """The rests of a range that lies within one slice, its ends included."""
        if low is None or high is None:
            return None
        try:
            first, last = (self.source.number({self.rest.field: end}) for end in (low, high))
        except RowError:
            return None
        units = self.rest.units
        return Range(first % units, last % units) if first // units == last // units else None


class Opening:
    """Writes and reads what stands before the column's name in the qualifiers of an event.

    Args:
        slices: the time slices of the row key.
        fields: the fields placed in the qualifier, in their order.
    """

    def __init__(self, slices: Sequence[Slice], fields: Sequence[Field]) -> None:
        self.slices = tuple(slices)
        self.fields = tuple(fields)
        self.key = self._bound()
        self.parts = self.key.parts[:-1]
        self._writers = [slice_.writer() for slice_ in self.slices]
        self._writers += [part.writer() for part in self.parts[len(self.slices) :]]
        widths = [part.framing.width for part in self.parts]
        self.width = None if None in widths else sum(width or 0 for width in widths)
        """Its bytes, where they are always as many."""

    def _bound(self) -> Key:
        """The opening and the column's name as a key."""
        words = {one.name: FieldWords(type=f"u{8 * one.rest.width}") for one in self.slices}
        mistakes = Mistakes()
        declared = bind_fields({**words, NAME: FieldWords(type="bytes")}, mistakes)
        terms: list[Term] = []
        for one in self.slices:
            rest = FieldRef(one.name)
            terms.append(Call("desc", (rest,)) if one.rest.descending else rest)
        terms += [FieldRef(field.name) for field in self.fields]
        terms.append(FieldRef(NAME, "tail"))
        declared |= {field.name: field for field in self.fields}
        key = bound_key(tuple(terms), declared, mistakes)
        assert key is not None, mistakes.found
        return key

    def mean_bytes(self, widths: Mapping[str, Width]) -> float:
        """Mean bytes that the fields take, rests of slices not counted.

        Args:
            widths: how wide the values by themselves are, and how often there is one.
        """
        parts = zip(self.fields, self.parts[len(self.slices) :], strict=True)
        return sum(_mean_bytes(field, part, widths[field.name]) for field, part in parts)

    def write(self, row: Row) -> bytes:
        """What opens the qualifiers of a row's cells.

        Raises:
            RowError: a field is missing, or a value is none of its type.
        """
        try:
            return b"".join([write(row) for write in self._writers])
        except KeyError as problem:
            raise RowError(str(problem.args[0]), "the row has no such value") from None

    def measure(self, qualifier: bytes) -> int:
        """Where the column's name begins.

        Raises:
            Refused: the qualifier ends before.
        """
        if self.width is not None:
            if len(qualifier) < self.width:
                raise Refused("", f"{qualifier.hex()} is no qualifier", f"{self.width} bytes")
            return self.width
        at = 0
        for part in self.parts:
            at = part.measure(qualifier, at)
        return at

    def read(self, opening: bytes, starts: Sequence[int | None]) -> dict[str, Value]:
        """The fields that the opening of an event holds, times of slices included.

        Args:
            opening: what stands before the column's name.
            starts: of the slices, from the row key.

        Raises:
            RowError: the bytes are none of any event.
            Refused: a rest lies outside its slice.
        """
        found = self.key.decode(opening)
        del found[NAME]
        for one, start in zip(self.slices, starts, strict=True):
            time = one.time(start, found.pop(one.name))
            if one.is_whole:
                found[one.rest.field] = time
        return found

    def starts(self, row_key: Key, data: bytes) -> list[int | None]:
        """The starts of the slices of a row.

        Raises:
            Refused: the bytes are no row key.
        """
        if not self.slices:
            return []
        pieces = row_key.cut(data)
        return [one.start(pieces) for one in self.slices]

    def write_batch(self, batch: pa.RecordBatch) -> pa.Array:
        """What opens the qualifiers of many events' cells, as Arrow bytes.

        Raises:
            RowError: as `write`, for the first row found.
        """
        import pyarrow as pa

        from rowkey.rows.batches.arrays import column_of

        no_name = pa.repeat(pa.scalar(b"", pa.binary()), batch.num_rows)
        columns: dict[str, Any] = {NAME: no_name}
        for field in (*(one.field for one in self.slices), *self.fields):
            columns[field.name] = array = column_of(batch, field.name)
            if array is None:
                raise RowError(field.name, "the batch has no such column", str(batch.schema.names))
        given = pa.RecordBatch.from_pydict(columns)
        for one in self.slices:
            columns[one.name] = one.of_batch(given)
        return self.key.encode_valid_batch(pa.RecordBatch.from_pydict(columns))

    def read_batch(self, qualifiers: pa.Array) -> pa.RecordBatch:
        """The fields of many qualifiers: rests of slices, fields, and `NAME`.

        Raises:
            RowError: one is none of any event.
        """
        return self.key.decode_batch(qualifiers)

    def stretch(self, bounds: Bounds) -> tuple[bytes, bytes]:
        """Where the qualifiers of all events lie that satisfy the bounds.

        Returns:
            The first qualifier, and the first behind the last; b"" where nothing bounds a side.
        """
        asked: dict[str, Bound] = {}
        for one in self.slices:
            bound = bounds.get(one.rest.field)
            rest = None if bound is None else one.asked(bound)
            if rest is not None:
                asked[one.name] = rest
        asked |= {f.name: bounds[f.name] for f in self.fields if f.name in bounds}
        start = b""
        for part in self.parts:
            images = _images(part, asked)
            if not images.bounded or images.points == ():
                break
            if images.points is not None and len(images.points) == 1:
                start += images.points[0]
                continue
            if images.points is not None:
                return start + images.points[0], _behind(start + images.points[-1])
            low = min(interval.low for interval in images.intervals)
            highs = [interval.high for interval in images.intervals]
            high = max(highs) if all(highs) else b""
            return start + low, _behind(start + high)
        return start, _behind(start)


def slices_of(key: Key) -> list[Slice]:
    """The time slices of a row key."""
    found = []
    for at, part in enumerate(key.parts):
        if part.rest is None:
            continue
        inner = part.inner if isinstance(part, Nullable) else part
        if not isinstance(inner, NumberPart):  # the slice lies within a desc
            (turned,) = inner.made_of
            inner = turned.descending()
        assert isinstance(inner, NumberPart)
        field = key.fields[part.rest.field]
        found.append(Slice(at, inner, part.rest, field, isinstance(part, Nullable)))
    return found


def _images(part: Part, asked: Bounds) -> Images:
    """The bytes a part can take; a null, which a key may leave out at its end, is written here."""
    if isinstance(part, Nullable) and asked.get(part.field) in (Equal(None), OneOf((None,))):
        return Images.listed([NULL], exact=True)
    return part.images(asked)


def _mean_bytes(field: Field, part: Part, width: Width) -> float:
    """Mean bytes of a field's encoding: its marker, and its value with its end."""
    inner = part.inner if isinstance(part, Nullable) else part
    fixed = inner.framing.width
    longer = inner.framing.least - field.type.own().framing.least
    each = width.mean + longer if fixed is None else fixed
    return isinstance(part, Nullable) + each * width.share


def _behind(prefix: bytes) -> bytes:
    """The least byte string above all that begin with a prefix; b"" if there is none.

    >>> _behind(b"a"), _behind(b"a\\xff"), _behind(b"\\xff")
    (b'b', b'b', b'')
    """
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""
