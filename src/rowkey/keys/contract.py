"""What every part of a key answers, whoever wrote it.

A part is bound: it knows its fields and arguments. It needs `framing` and `encode`; everything
else has a default that is safe, and is overridden where the part knows better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, final

from rowkey.errors import Refused, RowError
from rowkey.keys.dictionary import Dictionary, FirstAppearance
from rowkey.keys.traits import (
    ALL_BYTES,
    EVERYTHING,
    MOST_IMAGES,
    Alphabet,
    Change,
    Framing,
    Images,
    Order,
    Residue,
    Source,
    pinned_values,
)

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.decoding import Encoded
    from rowkey.keys.batches.pieces import Ints, Pieces
    from rowkey.keys.types.domains import Domain
    from rowkey.schema import Bounds, Cluster, Facts, Scalar, Value

Row = Mapping[str, Any]
Writer = Callable[[Row], bytes]


@dataclass(frozen=True, slots=True)
class Vector:
    """A golden example: these values, encoded by this one-part key, are these bytes for ever.

    Args:
        key: one part in the notation, `[bucket(host, 16)]`.
        fields: declared fields, as in a design file.
        row: the values.
        hex: the bytes.
    """

    key: str
    fields: Mapping[str, Any]
    row: Mapping[str, Any]
    hex: str


@dataclass(frozen=True, slots=True)
class Rest:
    """What a time slice leaves of its field: it opens the qualifier of every cell of the event.

    Args:
        field: the time field.
        units: units of the field's type in one slice.
        width: bytes of the rest.
        descending: whether the rest is complemented, so that later events come first.
        part: the part whose value the rest completes.
    """

    field: str
    units: int
    width: int
    descending: bool


class Part(ABC):
    """One bound part of a key."""

    name: ClassVar[str]
    fields: tuple[str, ...] = ()
    order: Order = Order.NONE
    source: Source = Source.FIELDS
    alphabet: Alphabet = ALL_BYTES
    cardinality: int | None = None
    """How many byte strings there are, if that is bounded by the part itself."""
    resolution: int | None = None
    """Nanoseconds within which the part does not change, if time alone decides it."""
    rest: Rest | None = None
    """What is left for the qualifier, if the part is a time slice."""
    turned: str = "every bit inverted, the end included,"
    """What `desc` does to the bytes, in words."""
    takes_nulls: bool = False
    """Whether a null of a field has bytes of its own."""

    @property
    @abstractmethod
    def framing(self) -> Framing:
        """How the end of the bytes is found."""

    @abstractmethod
    def encode(self, row: Row) -> bytes:
        """The part's bytes for one row.

        Raises:
            RowError: the row lacks a field, or a value cannot be encoded.
        """

    @property
    def opens(self) -> Alphabet:
        """The byte values that the part can begin with."""
        return self.alphabet

    def writer(self) -> Writer:
        """The same as `encode`, compiled for many rows."""
        return self.encode

    def derived(self) -> Callable[[bytes], bytes] | None:
        """The part's bytes from the joined bytes of its inputs, if nothing else decides them."""
        return None

    def residue(self, name: str) -> Residue:
        """What the bytes lose of a field."""
        return EVERYTHING

    def images(self, bounds: Bounds) -> Images:
        """The bytes the part can take for rows within the bounds; sound always.

        The default lists them where every field is pinned to one or a few values.
        """
        return self.pinned(bounds) or Images.anything(exact=not self.asked(bounds))

    def asked(self, bounds: Bounds) -> bool:
        """Whether the bounds say anything of the part's fields."""
        return any(name in bounds for name in self.fields)

    def pinned(self, bounds: Bounds) -> Images | None:
        """Every encoding, where each field has one or a few values and nothing else decides."""
        choices = [pinned_values(bounds, name) for name in self.fields]
        if self.source is not Source.FIELDS or not choices or any(c is None for c in choices):
            return None
        listed = [c for c in choices if c is not None]
        count = 1
        for values in listed:
            count *= len(values)
        if count > MOST_IMAGES:
            return None
        rows = (dict(zip(self.fields, values, strict=True)) for values in product(*listed))
        found = (self.image(row) for row in rows)
        exact = all(self.residue(name).nothing for name in self.fields)
        return Images.listed((piece for piece in found if piece is not None), exact=exact)

    def image(self, row: Row) -> bytes | None:
        """The part's bytes for a row; None if no stored row can have its values."""
        try:
            return self.encode(row)
        except RowError:
            return None

    def reach(self, step: int) -> int | None:
        """How many byte strings occur if the field's numbers are all multiples of a step apart.

        Args:
            step: in the unit of the field's type, from 1 on.
        """
        return self.cardinality

    def room(self, name: str, domain: Domain) -> Domain:
        """The values of a field's domain that the part has room for."""
        return domain

    def measure(self, data: bytes, at: int) -> int:
        """Where the part that begins at `at` ends.

        Raises:
            Refused: the bytes end before the part does.
        """
        width = self.framing.width
        end = len(data) if width is None else at + width
        if end > len(data):
            raise Refused("", f"ends after {len(data) - at} bytes", str(self.framing))
        return end

    def read(self, piece: bytes) -> dict[str, Value]:
        """The values of the fields that the bytes hold whole.

        Raises:
            Refused: no value has these bytes.
        """
        return {}

    def check(self, piece: bytes) -> None:
        """Refuse bytes that no row has, as far as the part can tell by itself.

        Asked where the values that the part is computed from cannot be read back.

        Raises:
            Refused: no row has these bytes.
        """
        if piece.translate(None, self.alphabet.values):
            raise Refused("", f"{piece.hex()} is no {self.name} of {', '.join(self.fields)}")

    def check_batch(self, pieces: Pieces) -> None:
        """The same for many pieces; the default asks `check` for each different one.

        Raises:
            Refused: no row has the bytes of some.
        """
        for piece in set(pieces.tolist()):
            self.check(piece)

    def show(self, piece: bytes) -> str:
        """The bytes as a person would name them."""
        values = self.read(piece)
        return " ".join(str(value) for value in values.values()) if values else piece.hex()

    def words(self) -> str:
        """The bytes in words, so that a producer in another language can match them."""
        return (type(self).__doc__ or "").strip().split("\n", maxsplit=1)[0].rstrip(".:")

    def evolves(self, new: Part) -> Change:
        """What becomes of stored rows when the part is declared as `new` instead."""
        return Change.SAME if repr(self) == repr(new) else Change.BREAKS

    def descending(self) -> Part:
        """The part whose bytes sort the other way round."""
        from rowkey.keys.parts.complement import Complement

        return Complement(self)

    def own(self) -> Part:
        """The part whose bytes are the value's own, without end, bias or sign bit."""
        return self

    def batch(self, columns: Columns) -> Pieces:
        """The part's bytes for many rows; the default asks `encode` for each."""
        from rowkey.keys.batches.pieces import Spans

        return Spans.of([self.encode(row) for row in columns.rows(self.fields)])

    def measure_batch(self, keys: Encoded, at: Ints) -> Ints:
        """Where the part ends in each of many keys; the default asks `measure` where it must.

        Args:
            keys: the keys.
            at: where the part begins in each, counted in their common buffer.

        Raises:
            Refused: a key ends before the part does.
        """
        return keys.ends_of(self, at)

    def read_batch(self, pieces: Pieces) -> dict[str, Any]:
        """The values of many pieces, as their field's type holds them in columns, or as a list.

        The default asks `read` for each.
        """
        if not any(self.residue(name).nothing for name in self.fields):
            return {}
        rows = [self.read(piece) for piece in pieces.tolist()]
        names = rows[0].keys() if rows else ()
        return {name: [row[name] for row in rows] for name in names}

    @final
    def pieces(self, columns: Columns) -> Pieces:
        """The part's bytes for many rows, computed once per different value where possible."""
        return columns.once(self) if self.is_of_one_field else self.batch(columns)

    @property
    def is_of_one_field(self) -> bool:
        """Whether one present field alone decides the bytes."""
        return self.source is Source.FIELDS and len(self.fields) == 1 and not self.takes_nulls

    @property
    def made_of(self) -> tuple[Part, ...]:
        """The parts that the part is made of."""
        return ()

    @property
    def forms(self) -> tuple[Part, ...]:
        """The part under each count that rows may have been written with; the first one writes."""
        return (self,)

    @property
    def title(self) -> str:
        """What a message calls the part."""
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name} of {', '.join(self.fields)}: {self.framing}>"


def nested(part: Part) -> Iterator[Part]:
    """A part and all it is made of."""
    yield part
    for below in part.made_of:
        yield from nested(below)


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number among a transform's arguments.

    `unit` is "time" where a duration is meant and a bare number is a mistake.
    """

    name: str
    least: int
    most: int
    meaning: str
    optional: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """A named option of a transform: one word of a list, of which the first is the default."""

    name: str
    words: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a transform may ask of its surroundings while it is bound.

    Args:
        following: the parts that stand behind the one being bound.
        dictionary: gives ids to values; one for each key.
    """

    following: tuple[Part, ...] = ()
    dictionary: Dictionary = field(default_factory=FirstAppearance)


MANY = 64


class Transform(Part):
    """A part computed from other parts.

    A kind declares what it takes in `terms`, `scalars` and `options`; the binder checks them and
    gives each as an attribute of the same name (`as_` for `as`).
    """

    terms: ClassVar[tuple[int, int]] = (1, 1)
    """Fewest and most terms."""
    scalars: ClassVar[tuple[Count, ...]] = ()
    options: ClassVar[tuple[Pick | Count, ...]] = ()
    hoists_null: ClassVar[bool] = True
    """Whether a null of the only term becomes a null of the part, its marker outside."""
    vectors: ClassVar[tuple[Vector, ...]]

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        self.inputs = inputs
        self.arguments = dict(arguments)
        self.context = context
        self.fields = tuple(dict.fromkeys(name for part in inputs for name in part.fields))
        self.takes_nulls = any(part.takes_nulls for part in inputs)
        for source in (Source.DICTIONARY, Source.CHANCE):
            if any(part.source is source for part in inputs):
                self.source = source

    @classmethod
    def tries(cls, facts: Mapping[str, Facts], cluster: Cluster) -> Iterator[Mapping[str, Scalar]]:
        """Arguments worth trying, by name; none for a kind that has none to choose."""
        yield {}

    @property
    def made_of(self) -> tuple[Part, ...]:
        return self.inputs

    @property
    def only(self) -> Part:
        """The input of a transform that has one."""
        return self.inputs[0]

    def told(self) -> Mapping[str, Any]:
        """The arguments that bear on the bytes, each in one form."""
        return self.arguments

    def evolves(self, new: Part) -> Change:
        """The same kind with the same arguments changes as its inputs do."""
        if not isinstance(new, Transform) or new.name != self.name or new.told() != self.told():
            return Change.BREAKS
        if len(self.inputs) != len(new.inputs):
            return Change.BREAKS
        pairs = zip(self.inputs, new.inputs, strict=True)
        return Change.worst(one.evolves(other) for one, other in pairs)

    def __repr__(self) -> str:
        shown = [*map(repr, self.inputs), *(f"{k}={v}" for k, v in self.arguments.items())]
        return f"{self.name}({', '.join(shown)})"
