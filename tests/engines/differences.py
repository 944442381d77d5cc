"""The few operations to which HBase may answer differently from rowkey's engines.

Each entry carries the steps that show it, so that a test can say when it is no longer true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines.steps import EVERYTHING, Change, Get, Mutate, Selection, Settle, replay
from rowkey.cells import CellType, Family

if TYPE_CHECKING:
    from engines.steps import Step, World


@dataclass(frozen=True)
class Difference:
    """One accepted difference.

    Args:
        why: a sentence: what HBase does, and why the engines do not.
        link: where HBase's people or the book speak of it, or its code does it.
        families: the table on which it is seen.
        steps: the shortest steps after which it is seen; the last one shows it.
    """

    why: str
    link: str
    families: tuple[Family, ...]
    steps: tuple[Step, ...]


_MATCHERS = (
    "https://github.com/apache/hbase/blob/{commit}/hbase-server/src/main/java/org/apache/hadoop/"
    "hbase/regionserver/querymatcher/"
)
"""The classes that decide which cells a read gives and a compaction keeps, as of a commit."""
_OLD = Change("d", b"s", 0, b"v")
"""A put as old as the delete next to it, which avoids the first difference."""
DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "HBase drops a kept delete that is older than every put of the files it compacts, whatever"
        " their rows (tryDropDelete); the engines do not know of files, and keep it with the"
        " versions above it.",
        f"{_MATCHERS.format(commit='07739e11d67cf9d1a4e1acb12fdf8bf08495f851')}"
        "DropDeletesCompactionScanQueryMatcher.java",
        (Family("d", versions=2, keep_deleted="TRUE"),),
        (
            Mutate(b"r", (Change("d", b"q", 0, kind=CellType.DELETE_COLUMN),)),
            Mutate(b"r", (Change("d", b"q", 1, b"v"),)),
            Settle(),
            Get((b"r",), EVERYTHING),
        ),
    ),
    Difference(
        "HBase stores a put of the same column and moment beside the one before, and shows that one"
        " again when the time to live of the newer cell is over, for that cell is passed over"
        " before versions are counted (preCheck); the engines keep only the newer.",
        f"{_MATCHERS.format(commit='2f432981973696eeab255d2f5f2c80930c786ebd')}"
        "ScanQueryMatcher.java",
        (Family("d"),),
        (
            Mutate(b"r", (Change("d", b"q", -1_000, b"old"),)),
            Mutate(b"r", (Change("d", b"q", -1_000, b"new", ttl_ms=1),)),
            Get((b"r",), Selection()),
        ),
    ),
    Difference(
        "A flush of HBase drops surplus puts of what is in memory, and the compaction counts what"
        " is left: a kept delete in a file stays where the dropped puts were all that was between"
        " it and the versions kept; the engines do not know of memory and files, and count all.",
        f"{_MATCHERS.format(commit='e33fd427e4f217612807ebdc6199d23cccedb49f')}"
        "MinorCompactionScanQueryMatcher.java",
        (Family("d", keep_deleted="TRUE"),),
        (
            Mutate(b"r", (_OLD, Change("d", b"q", 0, kind=CellType.DELETE_COLUMN))),
            Settle(),
            Mutate(b"r", (Change("d", b"q", 1, b"v"), Change("d", b"q", 2, b"v"))),
            Settle(),
            Get((b"r",), EVERYTHING),
        ),
    ),
    Difference(
        "A kept delete of the empty qualifier stays so even if it is in memory too: below a surplus"
        " put a flush goes on with the next column, but from the empty one with the next cell, for"
        " it may be the delete of a family (getKeyForNextColumn, HBASE-18471).",
        f"{_MATCHERS.format(commit='2f432981973696eeab255d2f5f2c80930c786ebd')}"
        "ScanQueryMatcher.java",
        (Family("d", keep_deleted="TRUE"),),
        (
            Mutate(b"r", (_OLD, Change("d", b"", 0, kind=CellType.DELETE_COLUMN))),
            Mutate(b"r", (Change("d", b"", 1, b"v"), Change("d", b"", 2, b"v"))),
            Settle(),
            Get((b"r",), EVERYTHING),
        ),
    ),
)
"""All known differences, which the replay of `engines.hbase` avoids."""


def find_needless(
    differences: Iterable[Difference],
    here: Callable[[tuple[Family, ...]], World],
    there: Callable[[tuple[Family, ...]], World],
) -> list[Difference]:
    """Return the entries whose steps give the same on both engines, so they can be removed.

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
