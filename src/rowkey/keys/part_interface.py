"""The interface of the parts of a key.

A part is bound: it knows its fields and arguments. It must define `framing` and `encode`; all other
members have a safe default, which a part overrides where it has a better answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, final

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys.base_types.domains import Domain
from rowkey.keys.batches.byte_columns import (
    ByteColumn,
    IntArray,
    SlicedByteColumn,
    concatenate_columns,
)
from rowkey.keys.dictionary import Dictionary, FirstSeenDictionary
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.traits import (
    ALL_BYTES,
    MAX_LISTED_IMAGES,
    TOTAL_RESIDUE,
    Alphabet,
    Compatibility,
    Determinant,
    Framing,
    Images,
    Order,
    Residue,
    find_pinned_values,
)
from rowkey.schema import Bounds, Cluster, FieldFacts, Scalar, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch
    from rowkey.keys.batches.encoded_keys import EncodedKeys

Row = Mapping[str, Any]
RowEncoder = Callable[[Row], bytes]


@dataclass(frozen=True, slots=True)
class TimeRemainder:
    """The rest of a time within its time slice, with which the qualifiers of an event begin.

    Args:
        length_units: units of the field's type in one slice.
        width: bytes of the rest.
        descending: whether the rest is complemented, so that later events come first.
    """

    field: str
    length_units: int
    width: int
    descending: bool


class Part(ABC):
    """One part of a row key, bound to its fields and arguments."""

    name: ClassVar[str]
    fields: tuple[str, ...] = ()
    order: Order = Order.NONE
    determined_by: Determinant = Determinant.FIELDS
    alphabet: Alphabet = ALL_BYTES
    cardinality: int | None = None
    """The count of possible byte strings, if the part itself limits it."""
    resolution_ns: int | None = None
    """Nanoseconds in which the part does not change, if it depends on a time alone."""
    time_remainder: TimeRemainder | None = None
    """The rest of the time that qualifiers hold, if the part is a time slice."""
    inversion_text: str = "every bit inverted, the end included,"
    """How `desc` changes the bytes, in words."""
    has_null_encoding: bool = False
    """Whether the part encodes a null of its field."""

    @property
    @abstractmethod
    def framing(self) -> Framing:
        """The limits of the length, and how the end of the bytes is found."""

    @abstractmethod
    def encode(self, row: Row) -> bytes:
        """Return the part's bytes for one row.

        Raises:
            RowError: the row lacks a field, or a value cannot be encoded.
        """

    @property
    def first_byte_alphabet(self) -> Alphabet:
        """The byte values that the part can begin with."""
        return self.alphabet

    def compile_encoder(self) -> RowEncoder:
        """Return a function with the results of `encode`, compiled for many rows."""
        return self.encode

    def compile_input_encoder(self) -> Callable[[bytes], bytes] | None:
        """Return a function from the inputs' joined bytes to the part's; None if impossible."""
        return None

    def residue(self, name: str) -> Residue:
        """Return what the bytes lose of a field."""
        return TOTAL_RESIDUE

    def images(self, bounds: Bounds) -> Images:
        """Return the bytes that the part can have in rows within bounds, or a superset of them.

        The default lists them where the bounds give one or a few values for every field.
        """
        return self.find_pinned_images(bounds) or Images.build_unbounded(
            exact=not self.is_constrained_by(bounds)
        )

    def is_constrained_by(self, bounds: Bounds) -> bool:
        """Return whether a field of the part has a bound."""
        return any(name in bounds for name in self.fields)

    def find_pinned_images(self, bounds: Bounds) -> Images | None:
        """Return the bytes of all value combinations if a read's bounds list few; else None."""
        choices = [find_pinned_values(bounds, name) for name in self.fields]
        if (
            self.determined_by is not Determinant.FIELDS
            or not choices
            or any(values is None for values in choices)
        ):
            return None
        value_lists = [values for values in choices if values is not None]
        count = 1
        for values in value_lists:
            count *= len(values)
        if count > MAX_LISTED_IMAGES:
            return None
        rows = (dict(zip(self.fields, values, strict=True)) for values in product(*value_lists))
        pieces = (self.try_encode(row) for row in rows)
        exact = all(self.residue(name).is_empty for name in self.fields)
        return Images.from_points((piece for piece in pieces if piece is not None), exact=exact)

    def try_encode(self, row: Row) -> bytes | None:
        """Return the part's bytes for a row; None if the row cannot be encoded."""
        try:
            return self.encode(row)
        except RowError:
            return None

    def count_reachable(self, step: int) -> int | None:
        """Return how many byte strings the part has if its numbers are multiples of a step.

        The default ignores the step and returns `cardinality`.

        Args:
            step: in the unit of the field's type, from 1 on.
        """
        return self.cardinality

    def restrict_domain(self, name: str, domain: Domain) -> Domain:
        """Return the values of a field's domain that the part can store."""
        return domain

    def find_end(self, data: bytes, at: int) -> int:
        """Return the end of the part that begins at `at`.

        Raises:
            InvalidArgument: the bytes end before the part does.
        """
        width = self.framing.width
        end = len(data) if width is None else at + width
        if end > len(data):
            raise self.framing.build_shortage_error(len(data) - at)
        return end

    def decode(self, piece: bytes) -> dict[str, Value]:
        """Return the values of the fields that can be read back from the bytes.

        Raises:
            InvalidArgument: no value has these bytes.
        """
        return {}

    def check(self, piece: bytes) -> None:
        """Raise an error if no row can have these bytes, as far as the part knows.

        Called where the values of the part's fields cannot be read back.

        Raises:
            InvalidArgument: no row has these bytes.
        """
        if piece.translate(None, self.alphabet.values):
            raise InvalidArgument(
                "",
                f"the bytes {piece.hex()} are not a valid {self.name} of {', '.join(self.fields)}",
            )

    def check_batch(self, pieces: ByteColumn) -> None:
        """Check many pieces; the default calls `check` for each different one.

        Raises:
            InvalidArgument: no row has the bytes of a piece.
        """
        for piece in set(pieces.tolist()):
            self.check(piece)

    def format_piece(self, piece: bytes) -> str:
        """Return the bytes in readable form."""
        values = self.decode(piece)
        return " ".join(str(value) for value in values.values()) if values else piece.hex()

    def describe_encoding(self) -> str:
        """Describe the bytes in words, so that a program in another language can write them."""
        return (type(self).__doc__ or "").strip().split("\n", maxsplit=1)[0].rstrip(".:")

    def check_compatibility(self, new: Part) -> Compatibility:
        """Return what happens to stored rows if the part is declared as `new` instead."""
        return Compatibility.SAME if repr(self) == repr(new) else Compatibility.BREAKS

    def to_descending(self) -> Part | None:
        """Return the part that sorts in descending order; None if that inverts every bit."""
        return None

    def to_plain(self) -> Part:
        """Return the part with the value's own bytes, without terminator, bias or sign flip."""
        return self

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        """Return the part's bytes for many rows; the default calls `encode` for each."""
        return SlicedByteColumn.from_list(
            [self.encode(row) for row in columns.iterate_rows(self.fields)]
        )

    def find_ends(self, keys: EncodedKeys, at: IntArray) -> IntArray:
        """Return where the part ends in each of many keys; the default calls `find_end` if needed.

        Args:
            at: where the part begins in each, counted in their common buffer.

        Raises:
            InvalidArgument: a key ends before the part does.
        """
        width = self.framing.width
        if width is not None:
            return keys.check_ends(at + width)
        if not self.framing.is_self_delimiting:
            return keys.ends
        ends = [
            start + self.find_end(keys.data[start:end].tobytes(), 0)
            for start, end in zip(at.tolist(), keys.ends.tolist(), strict=True)
        ]
        return np.array(ends, np.int64)

    def decode_batch(self, pieces: ByteColumn) -> dict[str, Any]:
        """Return the values of many pieces, as an array of internal forms or a list of values.

        The default calls `decode` for each.
        """
        names = [name for name in self.fields if self.residue(name).is_empty]
        if not names:
            return {}
        rows = [self.decode(piece) for piece in pieces.tolist()]
        return {name: [row[name] for row in rows] for name in names}

    @final
    def encode_distinct(self, columns: ColumnBatch) -> ByteColumn:
        """Return the part's bytes for many rows, computed once per different value if possible."""
        if self.is_single_field:
            return encode_field_parts(columns, (self,))
        return self.encode_batch(columns)

    @property
    def is_single_field(self) -> bool:
        """Whether one field alone, which is never null, decides the bytes."""
        return (
            self.determined_by is Determinant.FIELDS
            and len(self.fields) == 1
            and not self.has_null_encoding
        )

    @property
    def children(self) -> tuple[Part, ...]:
        """The parts inside this part."""
        return ()

    @property
    def variants(self) -> tuple[Part, ...]:
        """The part for each bucket or salt count in use; the first one encodes new rows."""
        return (self,)

    @property
    def title(self) -> str:
        """The name of the part in messages."""
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name} of {', '.join(self.fields)}: {self.framing}>"


def walk_parts(part: Part) -> Iterator[Part]:
    """Yield a part and all parts inside it."""
    yield part
    for child in part.children:
        yield from walk_parts(child)


def encode_field_parts(columns: ColumnBatch, parts: Sequence[Part]) -> ByteColumn:
    """Return the joined bytes of parts of one field for many rows, once per value if possible."""
    return columns.encode_field(
        parts[0].fields[0],
        tuple(map(id, parts)),
        lambda rows: concatenate_columns([part.encode_batch(rows) for part in parts]),
    )


def find_coded_fields(parts: Iterable[Part]) -> tuple[str, ...]:
    """Return the fields that some parts store as ids, directly or inside another part."""
    names: list[str] = []
    for part in parts:
        if part.determined_by is Determinant.DICTIONARY:
            names += find_coded_fields(part.children) or part.fields
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class NumberArgument:
    """A number among the arguments of a transform.

    `unit` is "time" for a duration; a number without a unit is then a mistake.
    """

    name: str
    minimum: int
    maximum: int
    description: str
    optional: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class EnumOption:
    """A named option of a transform with a list of choices; the first is the default."""

    name: str
    choices: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class BindingContext:
    """What a transform knows about its key while it is bound.

    Args:
        following_parts: the parts after the one being bound.
        dictionary: assigns ids to values; one for each key.
    """

    following_parts: tuple[Part, ...] = ()
    dictionary: Dictionary = field(default_factory=FirstSeenDictionary)


MAX_TERMS = 64


class Transform(Part):
    """A part computed from other parts.

    A transform declares its arguments in `term_limits`, `scalars` and `options`; they are checked
    before it is constructed, and passed as a mapping by name.
    """

    term_limits: ClassVar[tuple[int, int]] = (1, 1)
    """The smallest and the largest count of terms."""
    terms_remedy: ClassVar[str] = ""
    """What to write instead if the count of terms is wrong, as a sentence."""
    scalars: ClassVar[tuple[NumberArgument, ...]] = ()
    options: ClassVar[tuple[EnumOption | NumberArgument, ...]] = ()
    hoists_null: ClassVar[bool] = True
    """Whether a null of the only term becomes a null of the part, with the marker in front."""
    vectors: ClassVar[tuple[GoldenVector, ...]]

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        self.inputs = inputs
        self.arguments = dict(arguments)
        self.context = context
        self.fields = tuple(dict.fromkeys(name for part in inputs for name in part.fields))
        self.has_null_encoding = any(part.has_null_encoding for part in inputs)
        for source in (Determinant.DICTIONARY, Determinant.CHANCE):
            if any(part.determined_by is source for part in inputs):
                self.determined_by = source

    @classmethod
    def suggest_arguments(
        cls, facts: Mapping[str, FieldFacts], cluster: Cluster
    ) -> Iterator[Mapping[str, Scalar]]:
        """Yield arguments worth trying, by name; an empty mapping if there is nothing to choose."""
        yield {}

    @property
    def children(self) -> tuple[Part, ...]:
        """The parts from which the transform is computed."""
        return self.inputs

    @property
    def sole_input(self) -> Part:
        """The input of a transform with one input."""
        return self.inputs[0]

    def normalize_arguments(self) -> Mapping[str, Any]:
        """Return the arguments that decide the bytes, each in one form."""
        return self.arguments

    def check_compatibility(self, new: Part) -> Compatibility:
        """Return what happens to stored rows; with equal arguments, the inputs decide."""
        if (
            not isinstance(new, Transform)
            or new.name != self.name
            or new.normalize_arguments() != self.normalize_arguments()
        ):
            return Compatibility.BREAKS
        if len(self.inputs) != len(new.inputs):
            return Compatibility.BREAKS
        pairs = zip(self.inputs, new.inputs, strict=True)
        return Compatibility.find_worst(
            old.check_compatibility(replacement) for old, replacement in pairs
        )

    def __repr__(self) -> str:
        arguments = [*map(repr, self.inputs), *(f"{k}={v}" for k, v in self.arguments.items())]
        return f"{self.name}({', '.join(arguments)})"
