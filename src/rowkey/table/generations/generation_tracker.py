"""The state of a table under the generations of its bucket counts: designs, reader, writer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from rowkey import fork_safety
from rowkey.array_libraries import pa
from rowkey.catalog import CatalogEntry, GenerationPhase, Lease, find_part_counts
from rowkey.cells import Cell, CellType, RowCells
from rowkey.design import Design
from rowkey.engines import Engine, RowClock, Store
from rowkey.errors import Conflict, InvalidArgument, RowError
from rowkey.explanations import Explanation
from rowkey.keys import Dictionary, Key
from rowkey.plan import ReadPlanner
from rowkey.schema import format_key
from rowkey.table.client_wait import compute_wait_s
from rowkey.table.generations.activation import activate_announced
from rowkey.table.generations.counted_parts import find_resizable_parts
from rowkey.table.moves.row_translator import RowTranslator
from rowkey.table.read_modify_write import ReadModifyWrite
from rowkey.table.row_getter import RowGetter
from rowkey.table.row_writer import RowChange, RowNaming, RowWriter, select_deletes
from rowkey.table.scans.merge import CopyMatcher, ScanItem

if TYPE_CHECKING:
    from rowkey.table.row_writer import ChangeBuilder

POLLS_PER_WAIT = 30
"""About how many times a waiting change reads the catalog, with pauses in the range below."""
MIN_PAUSE_S, MAX_PAUSE_S = 0.02, 1.0


T = TypeVar("T")

_SHARED_NAMINGS: WeakKeyDictionary[RowClock, RowNaming] = WeakKeyDictionary()
"""How the clients of this process name and order the changes of tables that rows were moved to, by
the clocks that these tables have themselves."""


class _NotSent(Conflict):
    """A change was not sent because the generations have changed."""


class GenerationState:
    """The designs, planner, writer and getter of a table under the generations of one entry.

    It is built again when the generations change.

    Args:
        design: the table's design with the counts that it was created with.
        dictionary: allocates the ids of `code` values.
        store: the engine's table.
        row_naming: names and orders the changes of its rows; by its own keys and clock if None.
    """

    def __init__(
        self,
        design: Design,
        entry: CatalogEntry,
        dictionary: Dictionary,
        store: Store,
        row_naming: RowNaming | None = None,
    ) -> None:
        self.entry, self.store = entry, store
        self._declared_design, self._dictionary = design, dictionary
        self.designs = self._build_designs(list_distinct_counts(entry))
        """The design with each bucket count that rows may be stored under: that of the active
        generation first, then the others, the newest first."""
        self.active_design = self.designs[0]
        self.combined_design = (
            self.active_design.copy_for_reading(self.designs[1:])
            if self.has_several_counts
            else self.active_design
        )
        """The design for reads: it finds and decodes the rows of all these designs."""
        self.declared_reads = {read.name: read for read in self.active_design.reads}
        """The reads that the design declares, by name."""
        self.resizable_parts = frozenset(find_resizable_parts(self.active_design))
        """The indexes of the key parts whose bucket count can be changed."""
        self.planner = ReadPlanner(self.combined_design.key)
        """Plans the reads of the table."""
        self._copy_matchers: dict[int, CopyMatcher] = {}
        is_active_key = str(design.key) == str(self.active_design.key)
        naming_key = None if is_active_key else design.copy_with_dictionary(dictionary).key
        if row_naming is None:
            row_naming = RowNaming(naming_key, store.row_clock)
        self.writer = RowWriter(self.designs, store, row_naming)
        self.getter = RowGetter(self.combined_design, store, self.writer)

    def _build_designs(self, counts: Iterable[Mapping[int, int]]) -> tuple[Design, ...]:
        """Return the design with each of some bucket counts."""
        design, dictionary = self._declared_design, self._dictionary
        return tuple(_apply_counts(design, one).copy_with_dictionary(dictionary) for one in counts)

    @cached_property
    def retired_designs(self) -> tuple[Design, ...]:
        """The design with each bucket count that was retired, and is not in use again.

        A row stands under its keys only if a client died after a write that came too late.
        """
        retired, live = GenerationPhase.RETIRED, list_distinct_counts(self.entry)
        counts = (one.counts for one in self.entry.generations if one.phase is retired)
        return self._build_designs(one for one in counts if one not in live)

    def has_retired_key(self, row: bytes) -> bool:
        """Return whether a row key is one that a retired bucket count gives."""
        for design in self.retired_designs:
            with suppress(RowError):
                design.key.decode(row)
                return True
        return False

    @property
    def has_several_counts(self) -> bool:
        """Whether rows are stored under more than one bucket count."""
        return len(self.designs) > 1

    @property
    def has_row_copies(self) -> bool:
        """Whether a row may be stored under several row keys, by bucket counts or a random salt."""
        return self.has_several_counts or self.active_design.key.is_salted

    def find_copy_matcher(self, merge_prefix_count: int) -> CopyMatcher:
        """Return the matcher of row copies for reads that merge over some leading key parts."""
        if merge_prefix_count not in self._copy_matchers:
            self._copy_matchers[merge_prefix_count] = CopyMatcher(
                self.combined_design.key, merge_prefix_count, self.resizable_parts
            )
        return self._copy_matchers[merge_prefix_count]

    @property
    def place_count(self) -> int:
        """The number of row keys under which a row may be stored."""
        if not self.active_design.key.is_salted:
            return len(self.designs)
        others = {repr([p for p in one.key.parts if p.fields]) for one in self.designs}
        return self.combined_design.key.salt_count * len(others)

    def format_key_without_counts(self, leading_count: int) -> str:
        """Return the key as text, with 0 for the changeable bucket counts of its leading parts."""
        indexes = (index for index in self.resizable_parts if index < leading_count)
        return format_key(self.active_design.replace_term_counts(dict.fromkeys(indexes, 0)))

    def locate_row(self, values: Mapping[str, Any]) -> tuple[bytes, bytes, int]:
        """Return a row's key without its salt, its qualifier prefix, and its cell timestamp."""
        layout = self.active_design.layout
        opening = b"" if layout.qualifier_prefix is None else layout.qualifier_prefix.encode(values)
        at = 0 if layout.cell_timestamp is None else layout.cell_timestamp.compute_timestamp(values)
        return layout.key.encode(values, salt=0), opening, at

    def add_generation_note(self, explanation: Explanation) -> Explanation:
        """Return the explanation of a read with a note on the bucket counts of stored rows."""
        if not self.has_several_counts:
            return explanation
        terms = zip(*(one.key.terms for one in self.designs), strict=True)
        variants = [tuple(dict.fromkeys(map(str, one))) for one in terms]
        counted = [" and ".join(texts) for texts in variants if len(texts) > 1]
        note = f"rows are stored under {', '.join(counted)}, so the ranges of each are read"
        return replace(explanation, warnings=(*explanation.warnings, note))

    def rank_item(self, item: ScanItem) -> int:
        """Return the rank of the generation that wrote a row: 0 the active one, then newest first.

        Cells with equal timestamps may differ if a field is the timestamp; the later write is
        that of the later generation.
        """
        try:
            (values,) = self.combined_design.layout.decode_events(item.row, item.cells)
            for number, one in enumerate(self.designs):
                if item.row in _encode_keys(one.key, values):
                    return number
        except (RowError, ValueError):  # a row of another program
            pass
        return len(self.designs)

    def decode_identity(self, row: bytes, cells: Sequence[Cell]) -> dict[str, Any]:
        """Return the fields whose full values are in a row key and in the qualifiers of its cells.

        Raises:
            RowError: the bytes cannot be decoded by the design.
        """
        layout = self.combined_design.layout
        values = layout.key.decode(row)
        if layout.qualifier_prefix is not None:
            prefix = cells[0].qualifier[: layout.qualifier_prefix.find_end(cells[0].qualifier)]
            values |= layout.qualifier_prefix.decode(
                prefix, layout.qualifier_prefix.find_slice_starts(layout.key, row)
            )
        return values

    def split_change(self, change: RowChange) -> list[tuple[GenerationState, RowChange]]:
        """Return a change that this state has built, with the state."""
        return [(self, change)]

    def rebuild_change(self, changes: Sequence[tuple[GenerationState, RowChange]]) -> RowChange:
        """Return a change built under an earlier state as it is under this one.

        Args:
            changes: the change of each table that it was built for.

        Raises:
            RowError: its key does not have the values from which the new key follows.
        """
        for state, change in changes:
            is_same_active = self.entry.active_generation == state.entry.active_generation
            if state is self or (is_same_active and self._has_all_places_of(state)):
                return change
            if self.has_same_table(state):
                return self._rebuild_own_change(state, change) if change.mutations else change
        earlier_state, change = changes[0]
        mutations = self.translate_mutations(earlier_state, change.mutations)
        return change._replace(mutations=mutations, salt=None)

    def _has_all_places_of(self, earlier: GenerationState) -> bool:
        """Return whether deletes that were built under an earlier state reach all row keys.

        They do if no count is new since, such as when earlier ones are retired.
        """
        if not self.has_same_table(earlier):
            return False
        before = list_distinct_counts(earlier.entry)
        return all(one in before for one in list_distinct_counts(self.entry))

    def _keeps_places_of(self, earlier: GenerationState) -> bool:
        """Return whether rows are still read where an earlier state wrote them."""
        now = list_distinct_counts(self.entry)
        return all(one in now for one in list_distinct_counts(earlier.entry))

    def reads_rows_of(self, earlier: GenerationState) -> bool:
        """Return whether what an earlier state of this table has written is read by now."""
        return self.has_same_table(earlier) and self._keeps_places_of(earlier)

    def has_same_table(self, other: GenerationState) -> bool:
        """Return whether both are states of one table."""
        return self.active_design.table == other.active_design.table

    def translate_mutations(
        self,
        earlier_state: GenerationState,
        mutations: Sequence[RowCells],
        values: Mapping[str, Any] | None = None,
    ) -> list[RowCells]:
        """Return mutations of a row of another table, from which rows are moved, for this table.

        Args:
            earlier_state: the state of the other table.
            mutations: the mutations of the row there.
            values: the fields of the row's key; None to decode them from the mutations.

        Raises:
            RowError: the cells of this table cannot be built from those of the other one.
        """
        translator = RowTranslator(earlier_state, self)
        translated: list[RowCells] = []
        if translator.is_direct and values is None:
            translated = translator.translate(mutations)
        elif translator.is_direct and values is not None:
            for one in mutations:
                translated += translator.translate_event(values, one.cells)
        if (mutations and not translated) or translator.untranslatable_count:
            what = (
                f"rows were moved to the table {self.active_design.table} while the row was "
                "written, and its cells there cannot be computed from those that were written"
            )
            raise RowError(f"row key {mutations[0].row.hex()}", what, remedy="Write the row again.")
        return translated

    def _rebuild_own_change(self, earlier: GenerationState, change: RowChange) -> RowChange:
        """Return a change built under older bucket counts as it is under the current ones.

        Raises:
            RowError: its key does not have the values from which the new key follows.
        """
        *_, mutation = change.mutations
        try:
            values = earlier.decode_identity(*mutation)
            places = self.writer.encode_row_keys(values)
            active_keys = [key for key in places if self._is_active_key(key, values)]
        except (InvalidArgument, RowError):
            what = (
                "the number of buckets was changed while the row waited to be sent, and its key is "
                "a digest, from which the new key cannot be built"
            )
            raise RowError(
                f"row key {mutation.row.hex()}", what, remedy="Put the row again."
            ) from None
        row_key = mutation.row if mutation.row in active_keys else active_keys[0]
        deletes = {one.row: select_deletes(one.cells) for one in change.mutations}
        all_deletes = list(dict.fromkeys(cell for cells in deletes.values() for cell in cells))
        other_mutations = [
            RowCells(key, deletes.get(key) or all_deletes) for key in places if key != row_key
        ]
        mutations = [*(other_mutations if all_deletes else ()), RowCells(row_key, mutation.cells)]
        if row_key != mutation.row and change.salt is not None:
            return RowChange(change.row_name, mutations, stamp_count=1)
        return change._replace(mutations=mutations)

    def _build_missed_changes(
        self,
        earlier: GenerationState,
        mutations: Sequence[RowCells],
        values: Mapping[str, Any] | None,
    ) -> list[RowCells]:
        """Return what the mutations of a row missed that were built under an earlier state.

        Deletes are repeated under row keys that are new since. Puts under a row key that nobody
        reads any more, as its count was retired meanwhile, are repeated under the active one and
        taken back. All keep their timestamps, so that nothing newer is hidden.

        Raises:
            RowError: the row key does not have the values from which the others follow.
        """
        deletes = [cell for one in mutations for cell in select_deletes(one.cells)]
        if not deletes and self._keeps_places_of(earlier):
            return []
        try:
            identity = values
            if identity is None:
                identity = earlier.decode_identity(*mutations[-1])
            places = self.writer.encode_row_keys(identity)
        except (InvalidArgument, RowError):
            what = (
                "the number of buckets was changed while the row was written, and its key is a "
                "digest, so the change may not reach all copies of the row"
            )
            remedy = "Make this change again."
            raise RowError(f"row key {mutations[0].row.hex()}", what, remedy=remedy) from None
        written = {one.row for one in mutations}
        deletes = list(dict.fromkeys(deletes))
        missed = [RowCells(key, deletes) for key in places if deletes and key not in written]
        for one in mutations:
            puts = [cell for cell in one.cells if cell.cell_type is CellType.PUT]
            if puts and one.row not in places:
                taken_back = [Cell(*c[:3], cell_type=CellType.DELETE_COLUMN) for c in puts]
                missed += [RowCells(places[0], puts), RowCells(one.row, taken_back)]
        return missed

    def split_mutations(
        self, mutations: list[RowCells]
    ) -> list[tuple[GenerationState, list[RowCells]]]:
        """Return the mutations that were written for a change, with this state."""
        return [(self, mutations)]

    def repeat_missed(
        self,
        written: Sequence[tuple[GenerationState, list[RowCells]]],
        values: Mapping[str, Any] | None = None,
        *,
        sync: bool | None = None,
    ) -> list[RowCells]:
        """Write what a change that was written under an earlier state missed in this table.

        If the change was made in this table, its deletes are repeated under other row keys. If only
        in another table, from which the rows are moved to this one, all of it is made here.

        Args:
            written: the mutations of each table that was written.
            values: the fields of the row's key; None to decode them from the key.
            sync: whether it is on disk when the call returns; None is as opened.

        Returns:
            All mutations of the change in this table.

        Raises:
            RowError: the key does not have these fields.
        """
        for state, mutations in written:
            if state is self:
                return mutations
            if self.has_same_table(state):
                is_known = self._has_all_places_of(state) and self._keeps_places_of(state)
                missed = [] if is_known else self._build_missed_changes(state, mutations, values)
                break
        else:
            state, other_mutations = written[0]
            mutations = []
            missed = self.translate_mutations(state, other_mutations, values)
        if missed:
            self.writer.send_mutations(missed, sync=sync)
        return [*mutations, *missed]

    def build_change(self, build: ChangeBuilder, row: Any) -> RowChange:
        """Return the change of a row that a method of `RowWriter` builds."""
        return build(self.writer, row)

    @property
    def has_coded_fields(self) -> bool:
        """Whether the key has ids of `code`, which many rows get together."""
        return self.writer.key.has_coded_fields

    def assign_ids(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Give ids of `code` to the new values of many rows at once."""
        self.writer.key.assign_ids(rows)

    def apply_changes(
        self, changes: Sequence[RowChange], *, sync: bool | None = None
    ) -> list[list[RowCells]]:
        """Write changes; see `RowWriter.apply_changes`."""
        return self.writer.apply_changes(changes, sync=sync)

    @property
    def primary(self) -> GenerationState:
        """This state: it is that of the table that is read."""
        return self

    @property
    def all_states(self) -> tuple[GenerationState, ...]:
        """The states of all tables that are written: this one."""
        return (self,)

    @property
    def load_order(self) -> tuple[GenerationState, ...]:
        """The states of the tables that a loaded row is written to, in this order."""
        return (self,)

    def mirror_loaded_rows(self, row_keys: pa.Array) -> None:
        """Do nothing: rows are loaded into all tables."""

    def _is_active_key(self, key: bytes, values: Mapping[str, Any]) -> bool:
        """Return whether the active generation may write a row of these values under a row key."""
        return key in _encode_keys(self.active_design.key, values)


def _encode_keys(key: Key, values: Mapping[str, Any]) -> Iterator[bytes]:
    """Return the row keys of a row under one key definition, one for each random salt."""
    salts = range(key.salt_count) if key.is_salted else (None,)
    return (key.encode(values, salt=salt) for salt in salts)


def _apply_counts(design: Design, counts: Mapping[int, int]) -> Design:
    """Return a design with other bucket counts; the same design if it has them already."""
    return design if find_part_counts(design) == counts else design.copy_with_counts(counts)


def list_distinct_counts(entry: CatalogEntry) -> list[Mapping[int, int]]:
    """Return the bucket counts that rows may be stored under, each once, the active ones first."""
    counts: list[Mapping[int, int]] = []
    for one in entry.live_generations:
        if one.counts not in counts:
            counts.append(one.counts)
    return counts


class GenerationTracker:
    """Updates the state of a table when its catalog entry changes, for all threads that use it.

    Args:
        design: the table's design with the counts that it was created with.
        lease: the table's catalog entry, for as long as it may be used.
        dictionary: allocates the ids of `code` values.
        row_naming: as for `GenerationState`, of the target of a move. All clients of this process
            that open the target later use it too: changes are ordered only if one clock does it.
    """

    def __init__(
        self,
        design: Design,
        lease: Lease,
        dictionary: Dictionary,
        engine: Engine,
        store: Store,
        row_naming: RowNaming | None = None,
    ) -> None:
        self.lease, self.store = lease, store
        self.declared_design = design
        self.pause: Callable[[float], None] = time.sleep
        self.engine = engine
        if row_naming is not None:
            _SHARED_NAMINGS[store.row_clock] = row_naming
        self._dictionary = dictionary
        self._row_naming = _SHARED_NAMINGS.get(store.row_clock)
        self._lock = Lock()
        self.last_entry = lease.get_entry()
        """The catalog entry that the state was last checked against."""
        self.last_state = self.build_state(self.last_entry)
        """The state when it was last read."""
        self.is_inherited = False
        fork_safety.register_resource(self)

    def require_own_process(self) -> None:
        """Raise if the table was opened before this process was forked.

        Raises:
            Closed: it was opened before.
        """
        if self.is_inherited:
            raise fork_safety.build_inherited_error(self.declared_design.table)

    def reset_in_child(self) -> None:
        """Mark the table as inherited by a forked child process, where every call then raises."""
        self.is_inherited = True

    def get_state(self) -> GenerationState:
        """Return the current state of the table.

        Raises:
            Closed: it was opened before this process was forked.
            Unavailable: the catalog was not reached for too long.

        Cost: 0.2 µs; some milliseconds where the generations have changed.
        """
        if self.is_inherited:
            self.require_own_process()
        entry = self.lease.get_entry()
        if entry is not self.last_entry:
            self._update_state(entry)
        return self.last_state

    def run_pinned(self, change: Callable[[ReadModifyWrite], T]) -> T:
        """Make one change that depends on the row's current values, and return its result.

        All clients must make such a change under one row key. So no client makes one while a
        generation is announced: some clients still write under its predecessor, others may already
        write under the new one. A client that has waited longer than all clients need to read the
        announcement activates the generation, in case the client that announced it has died.

        A server gives such a change a timestamp when it arrives, so that a late one would hide
        newer changes under the new row key. So each time before it is sent, the change checks that
        it comes in time; if not, it begins anew.

        Raises:
            Conflict: the change took so long that other clients may have written the row under
                another row key meanwhile.
            Unavailable: the catalog does not answer.
        """
        while True:
            state = self._wait_until_settled()
            with suppress(_NotSent):
                checks_time = partial(self._check_time_left, state)
                result = change(ReadModifyWrite(state.writer, checks_time))
                self._require_same_generation(state)
                return result

    def _require_same_generation(self, state: GenerationState) -> None:
        """Raise Conflict if a change took so long that another generation is active."""
        entry = self.lease.last_entry
        # One that was announced since may be active by now, however recently the entry was read.
        if self.lease.is_expired or entry.generations != state.entry.generations:
            entry = self.lease.renew_entry()
        if entry.active_generation != state.entry.active_generation:
            what = (
                f"this write took longer than {self.lease.max_stale_s:g} s, in which the number of "
                "buckets was changed, so the written values may be lost"
            )
            remedy = "Read the row, and write it again if the values are missing."
            raise Conflict(f"table {state.combined_design.table}", what, remedy=remedy)

    def _check_time_left(self, state: GenerationState) -> float:
        """Return the seconds for which no other client writes rows under other row keys.

        Raises:
            _NotSent: clients may write under other row keys already, or soon.
            Unavailable: the catalog does not answer.
        """
        lease = self.lease
        if lease.age_s > lease.max_stale_s / 2:
            lease.try_renewal()
        age_s = lease.age_s  # before the entry, which may be renewed meanwhile
        if lease.last_entry.generations != state.entry.generations:
            what = "the number of buckets is being changed, so this write was not sent"
            raise _NotSent(f"table {state.combined_design.table}", what)
        return lease.max_stale_s - age_s

    def _wait_until_settled(self) -> GenerationState:
        """Wait until no generation is announced, activating one that was left; return the state.

        The wait for each generation begins when it is first read: the next one may be announced
        between two reads of the entry.
        """
        state, clock = self.get_state(), self.lease.clock
        waited_for, since = state.entry.announced_generation, clock()
        while (announced := state.entry.announced_generation) is not None:
            if waited_for is None or not announced.is_same(waited_for):
                waited_for, since = announced, clock()
            patience = compute_wait_s(state.entry, self.engine)
            if clock() - since >= patience:
                name, catalog = state.combined_design.table, self.lease.catalog
                self.lease.adopt_entry(
                    activate_announced(catalog, name, announced, self.store, must_sync=False)
                )
            else:
                self.pause(min(max(patience / POLLS_PER_WAIT, MIN_PAUSE_S), MAX_PAUSE_S))
                self.lease.renew_entry()
            state = self.get_state()
        return state

    def build_state(self, entry: CatalogEntry) -> GenerationState:
        """Return the state of the table under an entry."""
        return GenerationState(
            self.declared_design, entry, self._dictionary, self.store, self._row_naming
        )

    def _update_state(self, entry: CatalogEntry) -> None:
        """Use an entry if it is newer than the known one; build the state again if needed."""
        with self._lock:
            if entry.version < self.last_entry.version:
                return
            if entry.generations != self.last_entry.generations:
                self.last_state = self.build_state(entry)
            self.last_entry = entry
