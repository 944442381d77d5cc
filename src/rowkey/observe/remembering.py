"""What is remembered of a table that somebody asks about by its name; nothing is written."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.catalog import (
    GENERATION,
    counts_of,
    find_catalog_url,
    open_catalog,
    restored,
)
from rowkey.errors import Refused, Unsupported, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rowkey.catalog import Entry
    from rowkey.design import Design
    from rowkey.engines import Engine, Store

DESIGNS = ".toml"
"""How the files of designs are called, which other verbs take in place of a name."""
DOUBT = "but the table keeps no word of it, so another of this name may have been made since"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of a table beside what the engine has.

    Args:
        entry: what it was made with; None if nobody knows.
        where: who knows that, as a phrase; or why nobody does.
    """

    entry: Entry | None
    where: str

    @property
    def design(self) -> Design | None:
        """The design it was made with, with the numbers of buckets that are written now."""
        if self.entry is None:
            return None
        design, counts = self.entry.design, self.entry.ruling.counts
        return design if counts == counts_of(design) else design.counting(counts)


def table_of(engine: Engine, name: str, url: str) -> Store:
    """A table that must be there.

    Raises:
        Refused: it is not; those that are there are told.
    """
    if not engine.has(name):
        there = engine.tables()
        told = ", ".join(there) or "the name of a table that is there"
        raise Refused(url, f"there is no table {name}", told, _instead(name, there))
    return engine.table(name)


def _instead(name: str, there: Collection[str]) -> str:
    """What to give instead of a name that no table has."""
    if not there:
        return "It holds none: make one by rowkey create."
    if name.endswith(DESIGNS):
        known = name.rpartition("/")[2].removesuffix(DESIGNS)
        found = f": {known}" if known in there else ""
        return f"Give the table's name, not the file of its design{found}."
    return did_you_mean(name, there)


def remembered(engine: Engine, store: Store, name: str) -> Remembered:
    """The design that a table was made with: of its catalog, else of its own words.

    Args:
        engine: where the table is.
        store: the table.
        name: its name.
    """
    words = store.described[1]
    try:
        where = find_catalog_url(name, words, engine)
    except Refused as refusal:
        return _by_itself(name, words, store, f"{refusal.mistake.what}, which nobody has named")
    try:
        with closing(open_catalog(where, engine)) as catalog:
            entry = catalog.read(name)
    except Unsupported as problem:
        why = f"its catalog {where} cannot be read ({problem.mistake.what})"
        return _by_itself(name, words, store, why)
    if entry is not None:
        doubt = "" if GENERATION in words else f"; {DOUBT}"
        return Remembered(entry, f"remembered by its catalog, {where}{doubt}")
    return _by_itself(name, words, store, "no catalog knows it")


def _by_itself(name: str, words: Mapping[str, str], store: Store, why: str) -> Remembered:
    """What a table's own words keep, where its catalog says nothing."""
    if GENERATION not in words:
        return Remembered(None, f"{why}, and it keeps no design: it was not made by rowkey")
    starts = [region.start for region in store.regions()][1:]
    try:
        return Remembered(restored(name, words, starts), "kept in the words of the table itself")
    except Unsupported as problem:
        return Remembered(None, f"{why}, and of its own words {problem.mistake.what}")
