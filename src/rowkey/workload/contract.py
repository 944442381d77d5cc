"""What the kinds of this room answer: how a sample is read, how values are drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rowkey.errors import Refused, did_you_mean
from rowkey.workload.files import Meter
from rowkey.workload.records import LeftOut

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Domain


@dataclass(frozen=True, slots=True)
class Option:
    """A word that a kind takes beside its name in a design file.

    Args:
        name: the word.
        kinds: the Python types its value may have.
        meaning: what it says, for the reference.
        default: its value if it is absent; None where it must be given.
        allowed: what is allowed, as printed in an error.
    """

    name: str
    kinds: tuple[type, ...]
    meaning: str
    default: Any = None
    allowed: str = ""
    required: bool = False


NULLS = Option(
    "nulls",
    (list, tuple),
    'texts that stand for null when they are not quoted, such as ["NA"]',
    (),
    "a list of texts",
)
"""The option of formats whose values are text, all of which are null where there is nothing."""


def nulls_of(chosen: Mapping[str, Any]) -> list[str]:
    """The texts that stand for null.

    Raises:
        Refused: one is no text.
    """
    for one in chosen[NULLS.name]:
        if not isinstance(one, str) or not one:
            raise Refused(NULLS.name, f"{one!r} does not fit", NULLS.allowed)
    return list(chosen[NULLS.name])


def read_options(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a kind, each checked, defaults filled in.

    Raises:
        Refused: one is unknown, missing or of another type.
    """
    known = {option.name: option for option in kind.options}
    for name in given:
        if name != "kind" and name not in known:
            allowed = ", ".join(known) or "none"
            raise Refused(
                name, f"{kind.name} has no option {name!r}", allowed, did_you_mean(name, known)
            )
    chosen = {}
    for name, option in known.items():
        value = given.get(name, option.default)
        if value is None and option.required:
            raise Refused(name, f"{kind.name} needs {name}", option.meaning)
        if value is not None and (
            not isinstance(value, option.kinds) or isinstance(value, bool) != (bool in option.kinds)
        ):
            raise Refused(name, f"{value!r} does not fit", option.allowed or option.meaning)
        chosen[name] = value
    return chosen


class Format(ABC):
    """How a file becomes batches of columns.

    A format reads; it knows no design. Values come as Arrow has them or as text.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Endings of file names, before `.gz` or `.zip`, that mean this format."""
    options: ClassVar[tuple[Option, ...]] = ()
    nulls_may_be_empty: bool = False
    """Whether a null of a text that cannot be null is an empty one."""
    rows_name_values: ClassVar[bool] = False
    """Whether each row names its values, so that any may lack some; else all have the same."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.chosen = read_options(type(self), given)
        self.meter = Meter()
        """How far the file is read that was opened last, where a format lets it watch."""

    @abstractmethod
    def batches(
        self, path: Path, columns: Sequence[str] | None, left_out: LeftOut
    ) -> Iterator[pa.RecordBatch]:
        """The file's rows in order, a bounded number at a time.

        Args:
            path: the file.
            columns: the columns wanted, in any order; None for all.
            left_out: where lines that are no rows are noted.

        Raises:
            SampleError: the file cannot be read, or has no such column.
        """

    def column_names(self, path: Path, sought: Collection[str] = ()) -> list[str] | None:
        """The names of a file's columns, in their order; None where it has no rows and tells none.

        Args:
            path: the file.
            sought: names that count: where rows name their values, those of the first row are
                given, and of others as many of these as any row has.

        Raises:
            SampleError: the file cannot be read.
        """
        first = next(iter(self.batches(path, None, LeftOut())), None)
        return None if first is None else list(first.schema.names)

    def find_unreadable_columns(self, path: Path) -> Mapping[str, str]:
        """Return the columns that `batches` leaves out if all are wanted, with their types.

        Raises:
            SampleError: the file cannot be read.
        """
        return {}

    def count(self, path: Path) -> int | None:
        """How many rows a file has, where it says so without being read; None elsewhere."""
        return None

    def check_named(self, path: Path, columns: Sequence[str]) -> None:  # noqa: B027 - a default
        """Raise if a file whose rows name their values has none of some names.

        Asked when no row had a value for columns that must have one; a format that finds its
        columns before the first row has refused them there.

        Args:
            path: the file.
            columns: the columns without any value.

        Raises:
            SampleError: the rows have other names.
        """


class Draw(ABC):
    """How often each of a field's values comes, and in what order."""

    name: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    ascends: ClassVar[bool] = False
    """Whether each event has a value no smaller than the one before, but for starting anew."""
    arrivals: ClassVar[frozenset[str]] = frozenset()
    """The arrivals under which fields are drawn so that declare no draw: one draw has each."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.chosen = read_options(type(self), given)

    @property
    def comes_in_order(self) -> bool:
        """Whether values appear one after the other, so that the newest are neighbours."""
        return self.newest_share(2, 2) is not None

    def heaviest_value(self, domain: Domain) -> Any:
        """The most frequent value of a field.

        Args:
            domain: the values that the field may have.
        """
        return domain.nth(0) if self.comes_in_order else domain.drawn_one(0)

    @abstractmethod
    def draw(
        self, chance: np.random.Generator, first: int, count: int, distinct: int
    ) -> np.ndarray[Any, Any]:
        """Which value each of the next events has.

        Args:
            chance: where randomness comes from.
            first: the number of the first event, from 0.
            count: how many events.
            distinct: how many values there are.

        Returns:
            `count` numbers of 0 .. distinct-1.
        """

    def heaviest_share(self, distinct: int, events: int | None = None) -> float:
        """Share of the most frequent value, as far as chance does not decide.

        Args:
            distinct: how many values there are.
            events: how many events there are, from 1; without end if None.
        """
        return 1 / distinct

    def newest_share(self, distinct: int, parts: int) -> float | None:
        """Share of a moment's events that fall into one of so many equal stretches of the values.

        It is the stretch of those that came last; None where values do not come in their order.

        Args:
            distinct: how many values there are.
            parts: how many stretches they are cut into, from 1 on.
        """
        return 1.0 if self.ascends else None


def chance_for(purpose: str, seed: int) -> np.random.Generator:
    """Random numbers for one purpose, independent of those for any other.

    What draws values and what chooses which events are kept must not go by the same numbers: the
    sample would then hold more of some values than there are.

    Args:
        purpose: tells one use from another.
        seed: where randomness begins: a whole number from 0.
    """
    import numpy as np

    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(purpose.encode())))


SPREAD = 0x9E3779B97F4A7C15
"""An odd number near 2^64 / golden ratio: its multiples are spread evenly modulo anything."""


def scattered(ranks: np.ndarray[Any, Any], distinct: int) -> np.ndarray[Any, Any]:
    """Ranks renumbered so that neighbours in rank are not neighbours in value.

    Real identifiers do not sort by how busy they are; hot ones lie anywhere in the key space.
    """
    from math import gcd

    factor = SPREAD % distinct or 1
    while gcd(factor, distinct) != 1:
        factor += 1
    if distinct > 1 << 31:
        return ranks
    return ranks * factor % distinct
