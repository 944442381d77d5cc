"""What every type of field answers: its values, how they compare, and its encodings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused
from rowkey.keys.traits import Change
from rowkey.keys.types.values import list_values

if TYPE_CHECKING:
    import pyarrow as pa

    from rowkey.keys.batches.pieces import Ints
    from rowkey.keys.codecs.codec import Codec
    from rowkey.keys.contract import Vector
    from rowkey.keys.types.domains import Domain
    from rowkey.schema import FieldWords, Value


@dataclass(frozen=True, slots=True)
class Encoding:
    """One encoding a type offers after the colon.

    Args:
        meaning: its bytes, as a sentence for the reference.
        arguments: names of the whole numbers it takes in parentheses.
    """

    meaning: str
    arguments: tuple[str, ...] = ()


class FieldType(ABC):
    """A type of values: which there are, how they compare, and which encodings they have.

    The *held* form of a value is the one that compares as the type orders it and that codecs
    turn into bytes: the number of a timestamp, the index of a choice, the text of a text.
    Equal values are held equal.
    """

    name: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()
    """Which words of a declared field mean something to the type."""
    required: ClassVar[frozenset[str]] = frozenset()
    """Which of them must be given."""
    encodings: ClassVar[dict[str, Encoding]]
    """By their word; the default's word is empty."""
    vectors: ClassVar[tuple[Vector, ...]]
    plain: ClassVar[bool] = False
    """Whether whole numbers are held as they are."""
    is_sequence: ClassVar[bool] = False
    """Whether held values can be cut and turned round: text and bytes."""
    tick: ClassVar[int | None] = None
    """Nanoseconds of one unit, for times."""
    counts: ClassVar[bool] = False
    """Whether held values are whole numbers that `mod` and `time_bucket` can take."""
    numbers: tuple[int, int] = (0, 0)
    """The smallest and the largest of them."""
    listed_values: tuple[Value, ...] | None = None
    """All values, where the declaration lists them."""

    def __init__(self, words: FieldWords) -> None:
        self.words = words

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The values of the type."""

    @abstractmethod
    def hold(self, value: Value) -> Any:
        """The held form of a value.

        Raises:
            Refused: the type has no such value.
        """

    def release(self, held: Any) -> Value:
        """The normal value of a held form."""
        return held

    @abstractmethod
    def parse(self, text: str) -> Value:
        """The value written as text in a CSV file, a log or a condition.

        Raises:
            Refused: the text is no value of the type.
        """

    def declared(self, given: Any) -> Value:
        """A value as a design file writes it: text where TOML has no such value.

        A floating-point number stands for the number that its shortest digits are.

        Raises:
            Refused: it is no value of the type.
        """
        if isinstance(given, str):
            return self.parse(given)
        try:
            self.hold(given)
        except Refused:
            if not isinstance(given, float):
                raise
            return self.parse(repr(given))
        return given

    def show(self, value: Value) -> str:
        """The value as text; `parse` gives it back."""
        return str(value)

    @abstractmethod
    def codec(self, encoding: str, arguments: tuple[int, ...]) -> Codec:
        """An encoding by its word, with its whole-number arguments."""

    def narrower(self, codec: Codec) -> str | None:
        """The encoding of the fewest bytes among those of a fixed width that say the same.

        Args:
            codec: one encoding; another one says the same if it takes each value, loses none and
                sorts them alike.

        Returns:
            Its word; None where no other has fewer bytes.
        """
        least, found = codec.framing.least, None
        for word in (word for word, each in self.encodings.items() if not each.arguments):
            try:
                other = self.codec(word, ())
            except Refused:
                continue
            width = other.framing.width
            is_kept = other.residue.nothing and other.room(self.domain).size == self.domain.size
            if width is not None and width < least and is_kept and other.order == codec.order:
                least, found = width, word
        return found

    @abstractmethod
    def own(self) -> Codec:
        """The encoding of the value's own bytes: what `digest` and `truncate` take."""

    def arrow(self) -> pa.DataType:
        """The Arrow type that columns of this type have."""
        import pyarrow as pa

        return pa.string()

    def cast(self, array: pa.Array) -> pa.Array | None:
        """A text column as a typed one, where Arrow's own parsing means the same as `parse`.

        Args:
            array: Arrow strings; nulls stay null.

        Returns:
            None where each different text must be parsed by itself.
        """
        return None

    def physical(self, array: pa.Array) -> Any:
        """The held forms of an Arrow array without nulls, in the shape the codecs take."""
        return [self.hold(value) for value in list_values(array)]

    def from_numbers(self, numbers: Ints) -> pa.Array:
        """A column of the values that whole numbers stand for; of types that count only."""
        import pyarrow as pa

        return pa.array(numbers).cast(self.arrow())

    def listed(self, physical: Any) -> list[Value]:
        """The normal values of an array of held forms."""
        return [self.release(held) for held in physical]

    def column(self, physical: Any) -> pa.Array:
        """An Arrow column of held forms, in the type that `arrow` names."""
        import pyarrow as pa

        return pa.array(self.listed(physical), self.arrow())

    def taken(self, physical: Any, rows: Ints) -> Any:
        """Some of an array of held forms, in the given order."""
        if isinstance(physical, list):
            return [physical[row] for row in rows.tolist()]
        return physical.take(rows)

    def evolves(self, new: FieldType) -> Change:
        """What becomes of stored values when the field is declared as `new` instead.

        `Codec.layout` tells whether their bytes change.
        """
        if repr(self) != repr(new):
            return Change.BREAKS
        return _grown(self.longest, new.longest)

    @property
    def longest(self) -> int | None:
        """Most bytes of a value by itself, where the declaration limits them."""
        return self.words.max_bytes if "max_bytes" in self.options else None

    def __repr__(self) -> str:
        """The type with the words that bear on its bytes."""
        given = ((name, getattr(self.words, name)) for name in sorted(self.options - {"max_bytes"}))
        shown = ", ".join(f"{name}={value!r}" for name, value in given if value is not None)
        return f"{self.name}({shown})"


def _grown(old: int | None, new: int | None) -> Change:
    """What becomes of values when the longest that is allowed changes; None is no limit."""
    if old == new:
        return Change.SAME
    return Change.WIDER if new is None or (old is not None and old < new) else Change.BREAKS
