from __future__ import annotations

from typing import TYPE_CHECKING

from engines import steps
from engines.book import Book
from engines.differences import DIFFERENCES, Difference, find_needless
from rowkey.cells import Family

if TYPE_CHECKING:
    from engines.benches import Bench

STEPS = (
    steps.Mutate(b"r", (steps.Change("d", b"q", 0, b"v"),)),
    steps.Get((b"r",), steps.Selection()),
)
PLANTED_DIFFERENCE = Difference(
    "Nothing differs.", "https://hbase.apache.org", (Family("d"),), STEPS
)


def test_a_listed_difference_that_no_longer_exists_is_found(bench: Bench) -> None:
    """An entry whose steps give the same on both engines is found, and no other."""

    def on_engine(families: tuple[Family, ...]) -> steps.World:
        return steps.World(bench.create(families), bench, bench.now())

    def in_book(families: tuple[Family, ...]) -> steps.World:
        return steps.World(Book(families, bench.now), None, bench.now())

    def later(families: tuple[Family, ...]) -> steps.World:
        return steps.World(Book(families, bench.now), None, bench.now() + 1)

    assert [PLANTED_DIFFERENCE] == find_needless([PLANTED_DIFFERENCE], on_engine, in_book)
    assert [] == find_needless([PLANTED_DIFFERENCE], on_engine, later)


def test_every_listed_difference_has_a_reason_and_a_link() -> None:
    """Each entry has a reason, a link and steps that show the difference."""
    assert all(one.why.endswith(".") and one.steps for one in DIFFERENCES)
    assert all(one.link.startswith("https://") for one in DIFFERENCES)
