"""Where a table lies: an engine, and the catalog that remembers its tables."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rowkey.catalog import (
    BORN,
    CATALOG_WORD,
    MAX_STALE_S,
    CatalogDictionary,
    Entry,
    Lease,
    awake_or_asleep_s,
    find_catalog_url,
    is_first,
    is_told,
    lapse,
    last_told,
    open_catalog,
    remember,
    restored,
    standing,
)
from rowkey.cells import check_table
from rowkey.errors import (
    Conflict,
    CorruptionError,
    Refused,
    RowkeyError,
    Unsupported,
)
from rowkey.table.generations.live import Following
from rowkey.table.generations.ruling import AGAIN, TRIES, settle_told
from rowkey.table.made import boundaries_of, compare_families, compare_made, has_rows, spec_of
from rowkey.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from rowkey.catalog import Catalog
    from rowkey.design import Design
    from rowkey.engines import Engine


def missing(url: str, name: str, engine: Engine) -> Refused:
    """The error of a table that is asked for by its name and is not there."""
    there = ", ".join(engine.tables())
    remedy = "" if there else "It holds none: make one by rowkey create."
    return Refused(url, f"there is no table {name}", there, remedy)


def build_lost_error(
    url: str, catalog: str, table: str, entry: Entry, *, is_own_catalog: bool = True
) -> CorruptionError:
    """Return the error of a table that the catalog remembers and the engine has not.

    It is never made again in place of what was lost.

    Args:
        url: where it should be.
        catalog: the catalog's URL.
        table: the table's name.
        entry: what is remembered of it.
        is_own_catalog: whether the catalog is that of the place, and not shared with others.
    """
    opened, made = entry.generations[0].opened_ms, ""
    with suppress(ValueError, OverflowError, OSError):
        if opened is not None:
            made = f", made {datetime.fromtimestamp(opened / 1_000, UTC):%Y-%m-%d %H:%M} UTC"
    what = f"the catalog {catalog} remembers the table {table}{made}; it is not there"
    forget = f"rowkey repair {url} DESIGN --yes"
    remedy = f"Restore it; or if it was dropped, have the catalog forget it: {forget}."
    if not is_own_catalog:
        what += ", though it may lie elsewhere"
        remedy = f"Take another name or catalog. {remedy}"
    return CorruptionError(url, what, remedy=remedy)


PAUSES_S = (0.05, 0.1, 0.2, 0.5)
SHARED_PAUSES_S = (*PAUSES_S, 1.0, 2.0, 5.0, 10.0, 20.0)
"""How long is waited for a table that somebody else is just making; a cluster takes its time."""


class Place:
    """An engine, and the catalog that remembers its tables."""

    def __init__(
        self,
        engine: Engine,
        design: Design | str,
        url: str,
        max_stale_s: float | None = None,
        catalog: str | None = None,
    ) -> None:
        self.engine, self.url, self.max_stale_s = engine, url, max_stale_s
        self.name = design if isinstance(design, str) else design.table
        self.declared = None if isinstance(design, str) else design.declaration.catalog
        self.kept: Mapping[str, str] = {}
        self.is_made = engine.has(self.name)
        if self.is_made:
            self.kept = engine.table(self.name).described[1]
        self.where = find_catalog_url(self.name, self.kept, engine, catalog, self.declared)
        self.catalog: Catalog = open_catalog(self.where, engine, url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.catalog.close()

    def require_new(self) -> None:
        """Refuse a table that is there."""
        if self.is_made:
            raise Refused(self.url, f"there is a table {self.name} already", "another name")

    def lost_table(self, entry: Entry) -> CorruptionError:
        """Return the error of a table that the catalog remembers and the engine has not."""
        is_own = self.declared is None
        return build_lost_error(self.url, self.where, self.name, entry, is_own_catalog=is_own)

    def make_once(
        self,
        design: Design,
        splits: Sequence[bytes] | None,
        clock: Callable[[], int],
        *,
        may_create: bool,
    ) -> None:
        """Create the table, or find that somebody else has made it at the same time."""
        try:
            self.make(design, splits, clock, may_create=may_create)
        except (Refused, Conflict):
            if not may_create or not self._is_made_by_others():
                raise

    def _is_made_by_others(self) -> bool:
        """Whether the table is there after all, once those who may be making it have done so."""
        for pause in SHARED_PAUSES_S if self.engine.shared else PAUSES_S:
            if self.engine.has(self.name):
                self.is_made = True
                self.kept = self.engine.table(self.name).described[1]
                return True
            entry = self.catalog.read(self.name)
            if entry is None:  # nobody is
                return False
            time.sleep(pause)
        return False

    def make(
        self,
        design: Design,
        splits: Sequence[bytes] | None,
        clock: Callable[[], int],
        *,
        may_create: bool,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Create the engine's table and remember its design; compare what was made.

        The catalog is written first: a table that nobody remembers could not be read. What it
        has already is left until the table is there, for somebody may just be making that.
        """
        before = self.catalog.read(design.table)
        if before and before.is_made and not self.engine.has(self.name):
            raise self.lost_table(before)
        if not may_create:
            remedy = "Create it first: rowkey create."
            raise Refused(self.url, f"there is no table {design.table}", remedy=remedy)
        keys = boundaries_of(design) if splits is None else tuple(splits)
        if before is not None and self.declared is not None:
            # Of our own place it is what a crash has left; elsewhere it may be another table's.
            what = f"{self.declared} remembers a table {design.table} already"
            remedy = "If it is what an interrupted create has left: rowkey repair URL DESIGN."
            raise Refused("catalog", what, "another name, or a catalog of its own", remedy)
        if self.engine.has(self.name):
            self.is_made = True
            self.require_new()
        stale_s = MAX_STALE_S if self.max_stale_s is None else self.max_stale_s
        born = secrets.token_hex(8)
        entry = replace(Entry.of(design, keys, clock(), stale_s), born=born, is_made=False)
        version = 0 if before is not None else self.catalog.write(design.table, entry, None)
        told = spec_of(design, keys)
        self.kept = {**told.attributes, BORN: born}
        spec = replace(told, attributes=self.kept)
        try:
            made = self.engine.create(spec, progress)
        except BaseException:
            if before is None:
                self._unremember(version)
            raise
        self._remember_made(entry)
        compare_made(spec, made)

    def _remember_made(self, entry: Entry) -> None:
        """Have the table remembered as it was made: what was there may be of another one.

        Whoever has opened it meanwhile has read of it in its own words, but not when it was made.
        """
        for _ in range(TRIES):
            found, new = self.catalog.read(self.name), entry
            if found is not None and found.born == entry.born:
                first, *others = found.generations
                if first.opened_ms is not None and found.is_made:
                    return
                new = replace(found, generations=(entry.generations[0], *others), is_made=True)
            elif found is not None:  # ids that somebody may have given out
                new = replace(entry, codes=found.codes, is_made=True)
            else:
                new = replace(entry, is_made=True)
            with suppress(Conflict):
                self.catalog.write(self.name, new, None if found is None else found.version)

    def _unremember(self, version: int) -> None:
        """Forget a table that could not be made, if nobody else has made it."""
        with suppress(Conflict, Unsupported):
            if not self.engine.has(self.name):
                self.catalog.remove(self.name, version)

    def remembered(self, clock: Callable[[], int]) -> Table:
        """The table of a name, under the design that the catalog has."""
        if not self.is_made:
            lost = None if any(check_table(self.name)) else self.catalog.read(self.name)
            if lost is not None and lost.is_made:
                raise self.lost_table(lost)
            raise missing(self.url, self.name, self.engine)
        since = awake_or_asleep_s()
        entry = self._entry()
        if entry.ruling.number > last_told(self.kept):
            # Who changed it died before this. Whoever may only read it leaves that to others.
            with suppress(RowkeyError):
                settle_told(self.catalog, self.name, self.engine.table(self.name))
        return self._in_use(entry.design, entry, clock, since)

    def opened(self, design: Design, clock: Callable[[], int]) -> Table:
        """The table of a design, once the catalog has it with its safe changes.

        Raises:
            DriftError: there are others; nothing is changed.
        """
        since = awake_or_asleep_s()
        self._entry()
        entry = remember(self.catalog, design, opened_ms=clock(), may_be_new=False)
        # It has changed, or who changed it died before this. What is about to rule is told before.
        if not (is_told(self.kept, entry) or is_told(self.kept, entry.ruled())):
            # Whoever may write rows but not alter the table leaves that to others.
            with suppress(Refused, Unsupported):
                settle_told(self.catalog, self.name, self.engine.table(self.name))
        return self._in_use(standing(design, entry.design), entry, clock, since)

    def _entry(self) -> Entry:
        """What the catalog remembers of a table that the engine has.

        One that it does not know, but that never had other counts, it learns from the table.

        Raises:
            Unsupported: it has lost it, or some of it; nothing is changed.
        """
        entry = self._of_this_table(self.catalog.read(self.name))
        what = lapse(self.name, entry, self.kept)
        if entry is not None and not what:
            return entry
        restore = f"restore its catalog, {self.where}."
        try:
            told = self.told(entry)
        except Unsupported as problem:
            if not any(word.startswith("rowkey.") for word in self.kept):
                what = f"{self.name} was not made by rowkey: nobody knows its design"
                remedy = f"rowkey describe {self.name} --on {self.url} tells what its rows show."
                raise Unsupported(self.url, what, remedy=remedy) from None
            remedy = f"Drop the table, or {restore} It does not tell enough: {problem}"
            raise Unsupported(self.url, what, remedy=remedy) from None
        if entry is None and is_first(self.kept):
            with suppress(Conflict):
                self.catalog.write(self.name, told, None)
            return self.catalog.read(self.name) or told
        remedy = f"Run rowkey repair {self.url} DESIGN to put it back, or {restore}"
        raise Unsupported(self.url, what, remedy=remedy)

    def _of_this_table(self, entry: Entry | None) -> Entry | None:
        """The entry, put right by the table's own words where it is of another one of its name.

        Of several who make a table at once one has written the entry first, and another may have
        made the table. He writes his entry at last, unless he dies; whoever opens the table before
        must not go by what is not of it. In a catalog that a design declares the entry may be that
        of a table elsewhere; there only one at a time makes a table.

        Raises:
            Unsupported: the table does not tell enough.
            Conflict: the entry changes faster than it can be read.
        """
        born = self.kept.get(BORN, "")
        is_ours = born and CATALOG_WORD not in self.kept and is_first(self.kept)
        for _ in range(TRIES):
            if entry is None or not is_ours or entry.born in ("", born):
                return entry
            right = replace(self.told(None), codes=entry.codes)
            with suppress(Conflict):
                self.catalog.write(self.name, right, entry.version)
            entry = self.catalog.read(self.name)
        raise Conflict(f"table {self.name}", f"{TRIES:,} changes were overtaken", "", AGAIN)

    def told(self, found: Entry | None) -> Entry:
        """What the catalog should remember of a table, as the table itself tells it.

        Args:
            found: what it remembers.

        Raises:
            Unsupported: the table does not tell enough.
        """
        store = self.engine.table(self.name)
        starts = [region.start for region in store.regions()][1:]
        entry = restored(self.name, self.kept, starts, found)
        key = entry.design.key
        key.require_decodable()
        if key.is_coded and has_rows(store):
            what = f"{self.name} has rows whose codes nobody else knows"
            raise Unsupported("words", what, "a key without code, or a table without rows")
        return entry

    def _in_use(
        self, design: Design, entry: Entry, clock: Callable[[], int], since: float
    ) -> Table:
        """The table of a design, from what was asked of the catalog at a time."""
        dictionary = CatalogDictionary(self.catalog, design.table, design.fields)
        store = self.engine.table(design.table)
        compare_families(design, store)
        lease = Lease(self.catalog, design.table, entry, self.max_stale_s, since=since)
        following = Following(design, lease, dictionary, self.engine, store)
        return Table(following, self.engine, store, self.catalog)
