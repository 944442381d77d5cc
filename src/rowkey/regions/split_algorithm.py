"""The contract of split algorithms, and their requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rowkey.errors import InvalidArgument, Mistakes
from rowkey.regions.boundaries import Boundaries

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
    """A golden example of a split algorithm: a request and its split keys."""

    request: SplitRequest
    splits: tuple[bytes, ...]


_MISSING_FIELD_MESSAGES = {
    "regions": (
        "the number of regions is not given",
        ("Write how many regions to create, such as regions = 16."),
    ),
    "listed": (
        "no split keys are listed",
        ('List the split keys, such as splits = ["g", "n", "t"].'),
    ),
    "prefixes": (
        "the values of the key's leading part cannot be listed",
        'Start the key with a bucket, a salt or a choice, or set splits = "sample".',
    ),
    "keys": (
        "there is no sample to take split keys from",
        ("Give a sample, or use another split algorithm."),
    ),
}


class SplitAlgorithm(ABC):
    """A way to choose the split keys of a table.

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
        """Return the split keys, ascending, for a request with all required fields."""

    def describe_regions(self, request: SplitRequest, boundaries: Boundaries) -> Iterator[str]:
        """Yield remarks on the regions that the split keys make, as sentences."""
        del request, boundaries
        yield from ()

    def build_boundaries(self, request: SplitRequest) -> Boundaries:
        """Check a request and compute the region boundaries.

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
                what = f"the split algorithm {self.name} has no option {word}"
                mistakes.add(word, what, remedy=f"Remove {word}.")
        mistakes.raise_any()
        return Boundaries(self.compute_splits(request))


def _describe_missing_field(name: str) -> tuple[str, str, str]:
    """Return problem, expectation and remedy of a field that a request lacks."""
    what, remedy = _MISSING_FIELD_MESSAGES.get(name, ("the option is not given", ""))
    return what, "", remedy
