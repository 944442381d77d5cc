"""What a split algorithm is told, and what each of them answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import Mistakes, Refused
from rowkey.regions.boundaries import Boundaries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_REGIONS = 100_000
"""Regions one table may be cut into here.

Derivation: 500 servers of 200 regions each, the most the HBase book gives a server.
"""

ARGUMENTS = ("regions", "first", "last", "listed")
"""What a design file may say; the rest of a request is what is known of the keys."""


@dataclass(frozen=True, slots=True)
class CutRequest:
    """What is known when a table is cut into regions; None is what nobody said.

    Args:
        regions: how many regions are wanted, 1..100,000.
        first: lowest row, for algorithms that divide a range of rows.
        last: highest row.
        listed: the split keys themselves.
        prefixes: every value the leading part of the keys can take, as bytes.
        keys: keys of a sample, ascending; only their number and single ones are asked for.
    """

    regions: int | None = None
    first: str | bytes | None = None
    last: str | bytes | None = None
    listed: Sequence[bytes] | None = None
    prefixes: Sequence[bytes] | None = None
    keys: Sequence[bytes] | None = None

    def __post_init__(self) -> None:
        if self.regions is not None and not 1 <= self.regions <= MOST_REGIONS:
            raise Refused("regions", f"{self.regions} is out of range", f"1..{MOST_REGIONS:,}")


@dataclass(frozen=True, slots=True)
class Vector:
    """A golden example: what is asked, and the split keys that are the answer."""

    request: CutRequest
    splits: tuple[bytes, ...]


_LACK = {
    "regions": ("the number of regions is not given", "Write regions = 16, say."),
    "listed": ("no split keys are listed", "List them."),
    "prefixes": (
        "the values of the key's leading part cannot be listed",
        'Lead with a bucket, a salt or a choice, or take splits = "sample".',
    ),
    "keys": ("there is no sample to take split keys from", "Give a sample, or another algorithm."),
}


class SplitAlgorithm(ABC):
    """One way to choose split keys.

    A kind says what it needs and takes, gives golden vectors, and computes the keys; the checks
    before and after are the same for all.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset()
    """Fields of the request without which it cannot cut."""
    takes: ClassVar[frozenset[str]] = frozenset()
    """Further fields of the request that it looks at."""
    vectors: ClassVar[tuple[Vector, ...]]

    @abstractmethod
    def splits(self, request: CutRequest) -> Sequence[bytes]:
        """The split keys, ascending, for a request that holds all it needs."""

    def remarks(self, request: CutRequest, boundaries: Boundaries) -> Iterator[str]:
        """What the reader should know of the regions that were cut, as sentences."""
        del request, boundaries
        yield from ()

    def cut(self, request: CutRequest) -> Boundaries:
        """The regions.

        Raises:
            DeclarationError: with all that the request lacks or says in vain, or with all that is
                wrong with the split keys.
            Refused: what was asked for cannot be cut this way.
        """
        mistakes = Mistakes()
        for lack in sorted(self.needs):
            if getattr(request, lack) is None:
                mistakes.add(lack, *_lacking(lack))
        for word in ARGUMENTS:
            if word not in self.needs | self.takes and getattr(request, word) is not None:
                mistakes.add(word, f"{self.name} does not take it", remedy="Drop it.")
        mistakes.raise_any()
        return Boundaries(self.splits(request))


def _lacking(word: str) -> tuple[str, str, str]:
    what, remedy = _LACK.get(word, ("it is not given", ""))
    return what, "", remedy
