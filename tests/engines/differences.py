"""Where a real HBase may answer otherwise than rowkey's engines: the list of it, which is short.

Each entry carries the steps that show it, so that a test can say when it is no longer true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines.steps import replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engines.steps import Step, World
    from rowkey.cells import Family


@dataclass(frozen=True)
class Difference:
    """One difference that is legal.

    Args:
        why: a sentence: what HBase does, and why the engines do not.
        link: where HBase's people, or the book, speak of it.
        families: the table on which it is seen.
        steps: the shortest steps after which it is seen; the last one shows it.
    """

    why: str
    link: str
    families: tuple[Family, ...]
    steps: tuple[Step, ...]


DIFFERENCES: tuple[Difference, ...] = ()
"""None is known."""


def needless(
    differences: Iterable[Difference],
    here: Callable[[tuple[Family, ...]], World],
    there: Callable[[tuple[Family, ...]], World],
) -> list[Difference]:
    """The entries whose steps give the same in both places, so that they can be dropped.

    Args:
        differences: the list.
        here: makes a table of an engine, empty.
        there: makes the same table on HBase, empty.
    """
    return [
        one
        for one in differences
        if replay(one.steps, here(one.families)) == replay(one.steps, there(one.families))
    ]
