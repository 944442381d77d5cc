"""What a table is under the generations that live: designs, and what writes and gets by them."""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from rowkey import forks
from rowkey.catalog import counts_of
from rowkey.cells import Kind, RowCells
from rowkey.errors import Refused, RowError, Unsupported
from rowkey.schema import print_key
from rowkey.table.changes import RowChange, takes_away
from rowkey.table.generations.counting import countable
from rowkey.table.generations.ruling import let_rule, patience_s
from rowkey.table.getting import Getting
from rowkey.table.models import as_mapping
from rowkey.table.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from rowkey.catalog import Entry, Lease
    from rowkey.cells import Cell
    from rowkey.design import Design
    from rowkey.engines import Engine, Store
    from rowkey.keys import Dictionary, Key
    from rowkey.plan import Explanation
    from rowkey.table.scans.merge import Piece

LOOKS = 30
"""Times that a count which must wait looks at the catalog, about; no two closer than the least
pause, which spares the catalog, nor further than the longest, which spares who waits."""
LEAST_PAUSE_S, MOST_PAUSE_S = 0.02, 1.0


class Live:
    """A table under the generations of an entry; made anew where they change.

    Args:
        design: the table's design with the counts that it was created with.
        entry: what the catalog has of it.
        dictionary: gives ids to the values of `code`.
        store: the engine's table.
    """

    def __init__(self, design: Design, entry: Entry, dictionary: Dictionary, store: Store) -> None:
        def used(one: Design) -> Design:
            return one.in_use(dictionary, secrets.randbits(63))

        self.entry = entry
        self.designs = tuple(used(_under(design, counts)) for counts in distinct_counts(entry))
        """The design under each count that rows may stand under: the ruling one first, then the
        others, the newest generation's first."""
        self.ruling = self.designs[0]
        self.design = self.ruling.reading(self.designs[1:]) if self.is_several else self.ruling
        """The design that reads: it finds and decodes what any of them has written."""
        self.counting = frozenset(countable(self.ruling))
        """The places of the parts of the key that may get another count."""
        named = used(design).key
        is_first = str(named) == str(self.ruling.key)
        self.writing = Writing(self.designs, store, None if is_first else named)
        self.getting = Getting(self.design, store, self.writing)

    @property
    def is_several(self) -> bool:
        """Whether rows stand under more than one count."""
        return len(self.designs) > 1

    @property
    def places(self) -> int:
        """The row keys under which a row may stand."""
        if not self.ruling.key.is_salted:
            return len(self.designs)
        others = {repr([p for p in one.key.parts if p.fields]) for one in self.designs}
        return self.design.key.salt_count * len(others)

    def uncounted(self, leading: int) -> str:
        """The key, without the numbers of those of its leading parts that may get another."""
        places = (place for place in self.counting if place < leading)
        return print_key(self.ruling.counted(dict.fromkeys(places, 0)))

    def coordinates(self, values: Mapping[str, Any]) -> tuple[bytes, bytes, int]:
        """Where a row stands: its key, less chance, what opens its qualifiers, its event time."""
        layout = self.ruling.layout
        opening = b"" if layout.opening is None else layout.opening.write(values)
        at = 0 if layout.stamp is None else layout.stamp.of(values)
        return layout.key.encode(values, salt=0), opening, at

    def noted(self, found: Explanation) -> Explanation:
        """How a read runs, with what the generations bear on it."""
        if not self.is_several:
            return found
        terms = zip(*(one.key.terms for one in self.designs), strict=True)
        each = [tuple(dict.fromkeys(map(str, one))) for one in terms]
        said = [" and ".join(one) for one in each if len(one) > 1]
        note = f"rows stand under {', '.join(said)}: the ranges of each are read"
        return replace(found, warnings=(*found.warnings, note))

    def rank(self, piece: Piece) -> int:
        """Which generation has written a row: 0 the ruling one, then the newest first.

        Cells of one time may differ where a field is the timestamp; the later generation has them
        from the later write.
        """
        try:
            (values,) = self.design.layout.events(piece.row, piece.cells)
            for number, one in enumerate(self.designs):
                if piece.row in _keys(one.key, values):
                    return number
        except (RowError, ValueError):  # somebody else's row
            pass
        return len(self.designs)

    def identity(self, row: bytes, cells: Sequence[Cell]) -> dict[str, Any]:
        """The fields that a row key, and the qualifiers of one event's cells, hold whole.

        Raises:
            RowError: the bytes are none of the design.
        """
        layout = self.design.layout
        values = layout.key.decode(row)
        if layout.opening is not None:
            before = cells[0].qualifier[: layout.opening.measure(cells[0].qualifier)]
            values |= layout.opening.read(before, layout.opening.starts(layout.key, row))
        return values

    def rehomed(self, change: RowChange) -> RowChange:
        """Return a change that was made under older counts, as it is under those of now.

        Raises:
            RowError: its key does not tell the values that its new place follows from.
        """
        *_, mutation = change.mutations
        try:
            values = self.identity(*mutation)
            places = self.writing.keys_of(values)
            written = [key for key in places if self._is_written(key, values)]
        except (Refused, RowError):
            what = "the buckets of the table were changed while it waited, and its key is a digest"
            raise RowError(f"row {mutation.row.hex()}", what, remedy="Put it again.") from None
        here = mutation.row if mutation.row in written else written[0]
        deletes = {
            one.row: [cell for cell in one.cells if cell.kind is not Kind.PUT]
            for one in change.mutations
        }
        taken = list(dict.fromkeys(cell for cells in deletes.values() for cell in cells))
        others = [RowCells(key, deletes.get(key) or taken) for key in places if key != here]
        mutations = [*(others if taken else ()), RowCells(here, mutation.cells)]
        if here != mutation.row and change.salt is not None:
            return RowChange(change.name, mutations, stamps=1)
        return change._replace(mutations=mutations)

    def missed(
        self, mutations: Sequence[RowCells], values: Mapping[str, Any] | None = None
    ) -> list[RowCells]:
        """What mutations of one row take away, in those places of now that none of them names.

        They keep their timestamps: taken away once more, nothing is lost.

        Args:
            mutations: made under other generations, and written.
            values: the fields of the row's key; None if the key must tell them.

        Raises:
            RowError: it does not.
        """
        taken = [cell for one in mutations for cell in one.cells if cell.kind is not Kind.PUT]
        if not taken:
            return []
        try:
            named = self.identity(*mutations[0]) if values is None else values
            places = self.writing.keys_of(named)
        except (Refused, RowError):
            what = "the buckets of the table were changed while it was written, its key is a digest"
            where = f"row {mutations[0].row.hex()}"
            raise RowError(where, what, remedy="Take away again what it took away.") from None
        written = {one.row for one in mutations}
        deletes = list(dict.fromkeys(taken))
        return [RowCells(key, deletes) for key in places if key not in written]

    def _is_written(self, key: bytes, values: Mapping[str, Any]) -> bool:
        """Whether a row of these values may be written under a row key now."""
        return key in _keys(self.ruling.key, values)


def _keys(key: Key, values: Mapping[str, Any]) -> Iterator[bytes]:
    """The row keys that values have, one for each number that a random salt may take."""
    salts = range(key.salt_count) if key.is_salted else (None,)
    return (key.encode(values, salt=salt) for salt in salts)


def _under(design: Design, counts: Mapping[int, int]) -> Design:
    """A design under some counts; the same one if these are its own."""
    return design if counts_of(design) == counts else design.counting(counts)


def distinct_counts(entry: Entry) -> list[Mapping[int, int]]:
    """The counts that rows of an entry may stand under, each once, as `Entry.live` has them."""
    found: list[Mapping[int, int]] = []
    for one in entry.live:
        if one.counts not in found:
            found.append(one.counts)
    return found


class Following:
    """Keeps what a table is in step with its entry, for all threads that use it.

    Args:
        design: the table's design with the counts that it was created with.
        lease: says what the entry is, for as long as anyone may go by it.
        dictionary: gives ids to the values of `code`.
        engine: the engine.
        store: its table.
    """

    def __init__(
        self,
        design: Design,
        lease: Lease,
        dictionary: Dictionary,
        engine: Engine,
        store: Store,
    ) -> None:
        self.lease = lease
        self.declared = design
        self.pause: Callable[[float], None] = time.sleep
        """Waits so many seconds."""
        self._engine = engine
        self._of = (dictionary, store)
        self._lock = Lock()
        self._entry = lease.entry()
        self.last = self.under(self._entry)
        """What it was when it was last asked for."""
        self.is_inherited = False
        forks.register(self)

    def require_own(self) -> None:
        """Raise if the table was opened before this process was forked.

        Raises:
            Refused: it was.
        """
        if self.is_inherited:
            raise forks.inherited_error(self.declared.table)

    def reset_in_child(self) -> None:
        """In a forked child: refuse everything from now on; the parent has the table."""
        self.is_inherited = True

    def now(self) -> Live:
        """What the table is.

        Raises:
            Refused: it was opened before this process was forked.
            Unsupported: the catalog was not reached for too long.

        Cost: 0.2 µs; some milliseconds where the generations have changed.
        """
        if self.is_inherited:
            self.require_own()
        entry = self.lease.entry()
        if entry is not self._entry:
            self._follow(entry)
        return self.last

    def write(
        self, make: Callable[[Writing, Any], RowChange], row: Any, *, sync: bool | None
    ) -> None:
        """Write the change that is made of a row; what it takes away stays away.

        A thread that stands still between computing the places of a row and writing them may find
        a generation that it did not know of, to which others have brought a cell meanwhile. So it
        looks after the write, and takes away there too: if it may still go by what it knew then
        nobody wrote in another place before.

        Raises:
            RowError: the row cannot be written.
            Unsupported: the catalog was not reached for too long; if that was so only after the
                write, what it takes away may be left where others write by now.
        """
        live = self.now()
        (mutations,) = live.writing.apply([make(live.writing, row)], sync=sync)
        while takes_away(mutations) and (now := self.now()) is not live:
            live = now
            if missed := live.missed(mutations, as_mapping(row)):
                live.writing.send(missed, sync=sync)
                mutations = [*mutations, *missed]

    @contextmanager
    def counting(self) -> Iterator[Writing]:
        """What changes rows by what it finds there, for the time of one change.

        That must be done in one place by all. So while a generation is announced nobody does it:
        some write under the old one still, others could under the new one already. Whoever waits
        for longer than it takes everyone to know lets it rule, should its setter have died.

        Raises:
            Unsupported: the catalog does not answer; or the change took so long that others may
                have gone on in another place meanwhile.
        """
        live = self._settled()
        yield live.writing
        known = self.lease.known
        # One that was announced since may rule by now, however lately that was read.
        if self.lease.is_over or known.generations != live.entry.generations:
            known = self.lease.renew()
        if known.ruling != live.entry.ruling:
            what = "its buckets were changed while a count was on its way, which may be lost"
            allowed = f"a count that is made within {self.lease.max_stale_s:g} s"
            remedy = "Look at the row, and count again if it lacks that."
            raise Unsupported(f"table {live.design.table}", what, allowed, remedy)

    def _settled(self) -> Live:
        """What the table is once no generation is announced.

        Each one that is met is waited for in full, from when it was met: the next may be announced
        between two looks.
        """
        live, clock = self.now(), self.lease.clock
        waited_for, since = live.entry.announced, clock()
        while (announced := live.entry.announced) is not None:
            if waited_for is None or not announced.is_of(waited_for):
                waited_for, since = announced, clock()
            patience = patience_s(live.entry, self._engine)
            if clock() - since >= patience:
                name, store = live.design.table, self._of[1]
                catalog = self.lease.catalog
                self.lease.took(let_rule(catalog, name, announced, store, must_tell=False))
            else:
                self.pause(min(max(patience / LOOKS, LEAST_PAUSE_S), MOST_PAUSE_S))
                self.lease.renew()
            live = self.now()
        return live

    def under(self, entry: Entry) -> Live:
        """What the table would be under an entry."""
        return Live(self.declared, entry, *self._of)

    def _follow(self, entry: Entry) -> None:
        with self._lock:
            if entry.version < self._entry.version:
                return
            if entry.generations != self._entry.generations:
                self.last = self.under(entry)
            self._entry = entry
