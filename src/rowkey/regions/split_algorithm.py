"""The contract of split algorithms, and their requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rowkey.errors import InvalidArgument, Mistakes
from rowkey.regions.boundaries import Boundaries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_REGIONS = 100_000
"""Regions one table may be cut into here.

Derivation: 500 servers of 200 regions each, the most the HBase book gives a server.
"""

DESIGN_ARGUMENTS = ("regions", "first", "last", "listed")
"""What a design file may say; the rest of a request is what is known of the keys."""


@dataclass(frozen=True, slots=True)
class SplitRequest:
    """The arguments of a split algorithm; None where one is not given.

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
        if self.regions is not None and not 1 <= self.regions <= MAX_REGIONS:
            raise InvalidArgument(
                "regions", f"{self.regions} is out of range", f"1..{MAX_REGIONS:,}"
            )


@dataclass(frozen=True, slots=True)
class SplitVector:
    """A golden example: a request and its split keys."""

    request: SplitRequest
    splits: tuple[bytes, ...]


_MISSING_FIELD_MESSAGES = {
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
    required_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields of the request that the algorithm requires."""
    optional_fields: ClassVar[frozenset[str]] = frozenset()
    """Further fields of the request that the algorithm uses."""
    vectors: ClassVar[tuple[SplitVector, ...]]

    @abstractmethod
    def compute_splits(self, request: SplitRequest) -> Sequence[bytes]:
        """Return the split keys, ascending, for a complete request."""

    def describe_regions(self, request: SplitRequest, boundaries: Boundaries) -> Iterator[str]:
        """Yield remarks on the regions, as sentences."""
        del request, boundaries
        yield from ()

    def build_boundaries(self, request: SplitRequest) -> Boundaries:
        """Compute the boundaries of the regions.

        Raises:
            InvalidDesign: with all that the request lacks or says in vain, or with all that is
                wrong with the split keys.
            InvalidArgument: what was asked for cannot be cut this way.
        """
        mistakes = Mistakes()
        for lack in sorted(self.required_fields):
            if getattr(request, lack) is None:
                mistakes.add(lack, *_describe_missing_field(lack))
        for word in DESIGN_ARGUMENTS:
            if (
                word not in self.required_fields | self.optional_fields
                and getattr(request, word) is not None
            ):
                mistakes.add(word, f"{self.name} does not take it", remedy="Drop it.")
        mistakes.raise_any()
        return Boundaries(self.compute_splits(request))


def _describe_missing_field(name: str) -> tuple[str, str, str]:
    what, remedy = _MISSING_FIELD_MESSAGES.get(name, ("it is not given", ""))
    return what, "", remedy
