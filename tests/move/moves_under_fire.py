"""A move while threads change its rows, most of all those that are being copied.

Each thread owns its rows, so that an oracle knows what every row must be: the newest versions of
each field. Both tables are compared with it, while the threads stand still, after each step of the
move.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from random import Random
from secrets import token_hex
from threading import Event, Lock, Thread, local
from typing import TYPE_CHECKING, Any, Self
from unittest.mock import patch

import rowkey
from move.foreign_cells import read_foreign
from rowkey.cells import Cell, CellType, RowCells
from rowkey.engines import CellSelection, ScanRange
from rowkey.errors import BatchError, Conflict, Unavailable
from rowkey.move import Move, RowCopier
from rowkey.progress import Progress
from rowkey.table.moves.move_follower import MoveFollower
from rowkey.table.row_writer import RowWriter
from rowkey.table.table_location import TableLocation

if TYPE_CHECKING:
    from rowkey.move import CopyResult
    from rowkey.table import GenerationState, Table

    Identity = tuple[str, int]
    Version = tuple[int, int, Any]
    """The clock before a change and after it, and the value."""

VERSIONS = 3
STALE_S = 0.03
"""Seconds that a client goes on without the catalog."""
NAP_S = 0.1
"""Seconds that a client sleeps between its look at the record and its write: more than a lease."""
MAX_MEETING_S = 5.0
"""Most seconds for which a chunk that was read waits for changes of its rows."""
THREADS = 4
GAP_MS = 4
"""Milliseconds between an undeclared cell and the changes of its row."""
FIRST_MS = 1_700_000_000_000
COLUMNS = ("note", "tag", "hits", "log")
TEXT = {"type": "text", "nullable": True}
FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "note": TEXT,
    "tag": {**TEXT, "family": "e"},
    "hits": {"type": "i64", "nullable": True},
    "log": {**TEXT, "family": "e"},
}
FAMILIES = {"d": {"versions": VERSIONS}, "e": {"versions": VERSIONS}}
OTHER_FAMILIES = {
    **FIELDS,
    "note": {**TEXT, "family": "e"},
    "tag": TEXT,
    "hits": {**FIELDS["hits"], "family": "e"},
}
PACKED = {**FIELDS, "note": {**TEXT, "pack": "p"}, "tag": {**TEXT, "pack": "p"}}
WIDE = {**FIELDS, "ts": {"type": "timestamp_ms", "at": "qualifier"}}


def build_design(key: str, fields: dict[str, Any]) -> rowkey.Design:
    """Return a design of the common fields."""
    return rowkey.Design("logs", key, fields=fields, families=FAMILIES)


SOURCE = build_design("[ts][host]", FIELDS)
TARGETS = {
    "other families": build_design("[bucket(host, 4)][host][desc(ts)]", OTHER_FAMILIES),
    "wide": build_design("[host]", WIDE),
    "packed": build_design("[bucket(host, 2)][host][ts]", PACKED),
}


class KilledCopier(Exception):
    """Stands for the end of the mover's process."""


class DeadClient(Exception):
    """Stands for the end of a client's process."""


class TickingClock:
    """Milliseconds of the clock that never repeat, so that each change is a version of its own."""

    def __init__(self) -> None:
        self._lock, self.last_ms = Lock(), 0

    def __call__(self) -> int:
        with self._lock:
            self.last_ms = max(self.last_ms + 1, time.time_ns() // 1_000_000)
            return self.last_ms


class RowOracle:
    """What each row must be: the versions of each field, the newest first."""

    def __init__(self) -> None:
        self.rows: dict[Identity, dict[str, list[Version]]] = {}
        self.foreign: dict[Identity, dict[tuple[str, bytes], list[tuple[int, bytes]]]] = {}
        """The versions of undeclared cells, with their timestamps."""
        self.uncertain: set[tuple[Identity, str]] = set()
        """Fields of which a refused change may have been made: only the newest value is known."""

    def get_newest(self, identity: Identity, field: str) -> Any:
        """Return the value of a field; None if it has none."""
        versions = self.rows.get(identity, {}).get(field)
        return versions[0][2] if versions else None

    def delete(self, identity: Identity, span: tuple[int, int]) -> None:
        """Delete a row, with its undeclared cells."""
        self.put(identity, dict.fromkeys(COLUMNS), span)
        self.foreign.pop(identity, None)

    def put_foreign(self, identity: Identity, cell: Cell) -> None:
        """Put an undeclared cell, or delete all its versions."""
        cells = self.foreign.setdefault(identity, {})
        versions = cells.pop(cell[:2], [])
        if cell.cell_type is CellType.PUT:
            cells[cell[:2]] = [(cell.timestamp, cell.value), *versions][:VERSIONS]

    def put(self, identity: Identity, values: dict[str, Any], span: tuple[int, int]) -> None:
        """Put values; None deletes all versions of a field."""
        row = self.rows.setdefault(identity, {})
        for field, value in values.items():
            if value is None:
                row.pop(field, None)
                self.uncertain.discard((identity, field))
            else:
                row[field] = [(*span, value), *row.get(field, [])][:VERSIONS]

    def replace(self, identity: Identity, values: dict[str, Any], span: tuple[int, int]) -> None:
        """Put values, and delete all other fields."""
        self.put(identity, {**dict.fromkeys(COLUMNS), **values}, span)

    def collect_values(self, row: dict[str, list[Version]]) -> dict[str, Any]:
        """Return the newest values of a row."""
        return {field: versions[0][2] for field, versions in row.items() if versions}


class FireCopier(RowCopier):
    """A copier that meets changes, compactions and crashes between its reads and its writes."""

    def __init__(self, *arguments: Any, fire: MoveUnderFire, **words: Any) -> None:
        super().__init__(*arguments, chunk_rows=fire.chunk_rows, **words)
        self._fire, self._states = fire, arguments[:2]

    def run(self) -> CopyResult:
        result = super().run()
        if self._since_ms is None and not self._fire.has_early_deaths:
            self._fire.check("copied once")
        return result

    def _read_chunk(self, interval: Any) -> tuple[Sequence[RowCells], bool]:
        rows, is_last = super()._read_chunk(interval)
        if rows and self._since_ms is None:
            self._fire.meet_chunk(self._states, [row.row for row in rows])
        return rows, is_last

    def _copy_chunk(self, index: int, interval: Any) -> Any:
        after = super()._copy_chunk(index, interval)
        if self._since_ms is None and self._fire.must_kill_copier():
            raise KilledCopier
        return after


def _asks_again(refusal: Exception) -> bool:
    """Return whether a batch was refused because its table was moved meanwhile."""
    return isinstance(refusal, BatchError) and "Write it again." in str(refusal)


class MoveUnderFire:
    """One move of a table that threads change.

    Args:
        url: an engine without tables.
        seed: decides what is written, and to which design the table is moved.
        rows: how many rows there are at first.
        chunk_rows: rows of a chunk.
        changes_per_chunk: changes of a chunk's rows between its read and its write.
        nap_share: the share of writes that sleep after their look at the record.
        target: the name of the target's design.
        has_early_deaths: whether clients die also while rows are copied. Else the tables are also
            compared before what has changed is copied again, which hides other faults.
    """

    def __init__(
        self,
        url: str,
        seed: int,
        *,
        rows: int = 100,
        chunk_rows: int = 20,
        changes_per_chunk: int = 40,
        nap_share: float = 0.002,
        target: str = "",
        has_early_deaths: bool = False,
    ) -> None:
        self.url, self.random, self.row_count = url, Random(seed), rows
        self.seed, self.chunk_rows, self.changes_per_chunk = seed, chunk_rows, changes_per_chunk
        self.nap_share, self.has_early_deaths = nap_share, has_early_deaths
        names = list(TARGETS)
        self.target_name = target or names[seed % len(names)]
        self.oracles = [RowOracle() for _ in range(THREADS)]
        self.clock = TickingClock()
        self.change_count = self.chunk_changes = self.kills = self.deaths = self.compactions = 0
        self.uncertain_count = 0
        self.is_deadly = False
        """Whether clients may die between their two writes."""
        self.has_foreign_writers = self.may_write_foreign = self.target_name != "wide"
        """Whether undeclared cells are written to the table that is read; not during a switch,
        which their writers would not notice."""
        self.in_flight: list[list[Identity]] = [[] for _ in range(THREADS)]
        self._gates = [Lock() for _ in range(THREADS)]
        self._is_over = Event()
        self._errors: list[BaseException] = []
        self._own = local()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            # Seen before all else, so that it is not seen as a client's.
            table = rowkey.open(SOURCE, self.url, clock=self.clock, max_stale=STALE_S)
            self.table = stack.enter_context(table)
            place = TableLocation(table.engine, "logs", self.url)
            self.clients = [self.table, *(place.open_by_name(self.clock) for _ in range(3))]
            for client in self.clients[1:]:
                stack.callback(client.close)
            self.move = stack.enter_context(Move.from_table(table, self.url))
            copier = partial(FireCopier, fire=self)
            stack.enter_context(patch("rowkey.move.copying.RowCopier", copier))
            stack.enter_context(patch.object(MoveFollower, "get_write_state", self._build_nap()))
            stack.enter_context(patch.object(RowWriter, "send_mutations", self._build_death()))
            self._load()
            self._threads = [Thread(target=self._write, args=(n,)) for n in range(THREADS)]
            for thread in self._threads:
                thread.start()
            stack.callback(self.stop)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def stop(self) -> None:
        """End all threads; raise what one of them has raised."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors.pop()

    # The move

    def run(self, *, with_roll_back: bool) -> None:
        """Move the table, and compare both tables with the oracle after each step."""
        result = None
        while result is None:
            try:
                result = self.move.run(TARGETS[self.target_name], progress=self._stop_foreign)
            except KilledCopier:
                self.kills += 1
        self.check("copied")
        assert result.has_passed, (result.differences, result.unsettled)
        self.may_write_foreign = self.has_foreign_writers
        self._switch("cut over", self.move.cut_over)
        if with_roll_back:
            self._switch("rolled back", self.move.roll_back)
            self._switch("cut over again", self.move.cut_over)
        self.stop()
        kept = self.move.target
        self.check("at the end")
        self.move.finish()
        kept.store.compact(major=True)
        self._compare("finished", kept.get_state())
        self._compare_foreign("finished", kept.get_state())

    def _stop_foreign(self, now: Progress) -> None:
        """Let nobody write undeclared cells once all that has changed is copied."""
        if now.phase == "catch up" and self.may_write_foreign:
            self.may_write_foreign = False
            self._wait_for_threads()

    def _wait_for_threads(self) -> None:
        """Wait until each thread has ended the change that it is making."""
        for gate in self._gates:
            with gate:
                pass

    def _switch(self, name: str, switch: Callable[..., Any]) -> None:
        """Switch to the other table while clients die, and go on for some changes."""
        self.is_deadly, has_begun, self.may_write_foreign = True, False, False

        def watch(now: Progress) -> None:
            nonlocal has_begun
            has_begun |= now.phase == "switch"
            if has_begun and now.phase == "catch up":  # all clients wait
                self.is_deadly = False

        self._wait_for_threads()
        self._wait_for_changes(100)
        switch(progress=watch)
        self.check(name)
        self.may_write_foreign = self.has_foreign_writers
        self._wait_for_changes(100)
        self.check(f"some time after {name}")

    def _wait_for_changes(self, number: int) -> None:
        """Wait until so many more changes were made."""
        goal = self.change_count + number
        while self.change_count < goal and not self._errors:
            time.sleep(0.002)

    def must_kill_copier(self) -> bool:
        """Return whether the mover ends after a chunk was written, before that is noted."""
        return self.kills == 0 or (self.kills == 1 and self.random.random() < 0.3)

    def meet_chunk(self, states: Sequence[GenerationState], row_keys: list[bytes]) -> None:
        """Let threads change the rows of a chunk that was read, and compact both tables."""
        decode, in_flight = states[0].combined_design.key.decode, self.in_flight
        self.is_deadly = self.has_early_deaths
        chunk: list[list[Identity]] = [[] for _ in in_flight]
        for row_key in row_keys:
            values = decode(row_key)
            identity = (values["host"], values["ts"])
            chunk[self._find_owner(identity)].append(identity)
        self.in_flight = chunk
        goal, deadline = self.chunk_changes + self.changes_per_chunk, time.monotonic()
        deadline += MAX_MEETING_S
        while self.chunk_changes < goal and not self._errors and time.monotonic() < deadline:
            time.sleep(0.001)
        for state in states:
            state.writer.store.compact(major=True)
        self.compactions += 1
        self.is_deadly = False

    # The comparison

    def check(self, step: str) -> None:
        """Compare both tables with the oracle while no thread writes."""
        self.is_deadly = False
        with ExitStack() as stack:
            for gate in self._gates:
                stack.enter_context(gate)
            for tracker in (self.move.source, self.move.target):
                self._compare(step, tracker.get_state())
            self._compare_reads(step)
            self._compare_foreign(step, self.table.follower.get_state())

    def _compare_foreign(self, step: str, state: GenerationState) -> None:
        """Compare the undeclared cells of the table that is read with the oracle."""
        found: dict[Any, dict[Any, list[tuple[int, bytes]]]] = {}
        for (identity, *column, timestamp), value in read_foreign(state, ("host", "ts")).items():
            cells = found.setdefault(identity, {})
            cells.setdefault(tuple(column), []).append((timestamp, value))
        for oracle in self.oracles:
            for identity, cells in oracle.foreign.items():
                place = (step, state.active_design.table, identity)
                assert cells == found.pop(identity, {}), (*place, cells)
        assert {} == found, step

    def _compare_reads(self, step: str) -> None:
        """Compare what a client reads with the oracle."""
        found = {
            (row["host"], row["ts"]): values
            for row in self.clients[1].scan()
            if (values := {name: row[name] for name in COLUMNS if row[name] is not None})
        }
        expected = {
            identity: values
            for oracle in self.oracles
            for identity, row in oracle.rows.items()
            if (values := oracle.collect_values(row))
        }
        for identity in expected.keys() | found.keys():
            assert expected.get(identity) == found.get(identity), (step, identity)

    def _compare(self, step: str, state: GenerationState) -> None:
        """Compare the visible cells of one table with the oracle, with timestamps."""
        layout = state.combined_design.layout
        found: dict[Identity, dict[str, list[tuple[int, Any]]]] = {}
        selection = CellSelection(versions=VERSIONS)
        # Each version of a packed cell has all of its fields, changed or not.
        packed = {
            name
            for design in (SOURCE, TARGETS[self.target_name])
            for slot in design.layout.slots
            for name in slot.field_names
            if len(slot.field_names) > 1
        }
        for row_key, cells in state.writer.store.scan([ScanRange()], selection)[0]:
            for cell in cells:
                is_packed = cell.qualifier == b"p"
                for event in layout.decode_events(row_key, [cell]):
                    row = found.setdefault((event["host"], event["ts"]), {})
                    for name in COLUMNS:
                        if event[name] is not None:
                            row.setdefault(name, []).append((cell.timestamp, event[name]))
                        elif name in packed and is_packed:
                            row.setdefault(name, []).append((cell.timestamp, None))
        owners = {identity: oracle for oracle in self.oracles for identity in oracle.rows}
        for identity in owners.keys() | found.keys():
            oracle, stored = owners.get(identity, RowOracle()), found.get(identity, {})
            for name in COLUMNS:
                wanted = oracle.rows.get(identity, {}).get(name, [])
                versions = stored.get(name, [])
                place = (step, state.active_design.table, identity, name)
                if name in packed or (identity, name) in oracle.uncertain:
                    newest = [value for _, value in versions[:1] if value is not None]
                    assert [one[2] for one in wanted[:1]] == newest, (*place, wanted, versions)
                    continue
                is_equal = [one[2] for one in wanted] == [value for _, value in versions] and all(
                    low <= at <= high
                    for (low, high, _), (at, _) in zip(wanted, versions, strict=True)
                )
                assert is_equal, (*place, wanted, versions)

    # The clients

    def _load(self) -> None:
        """Put the first rows; as many again for each thread come later."""
        for number in range(self.row_count):
            identity = (f"h{number % 7}", FIRST_MS + number)
            values = {"note": f"first {number}", "hits": number, "tag": "t"}
            before = self.clock()
            self.table.put({"host": identity[0], "ts": identity[1], **values})
            oracle = self.oracles[self._find_owner(identity)]
            oracle.put(identity, values, (before, self.clock()))

    def _find_owner(self, identity: Identity) -> int:
        """Return the thread that changes a row."""
        return (identity[1] - FIRST_MS) % THREADS

    def _write(self, thread: int) -> None:
        """Change rows of a thread until the end, each time as one of two clients."""
        random = Random(f"{self.seed} {thread}")
        first = 2 * (thread % 2)
        pair = self.clients[first : first + 2]
        self._own.random = Random(f"naps {self.seed} {thread}")
        try:
            while not self._is_over.is_set():
                with self._gates[thread]:
                    chunk = self.in_flight[thread]
                    is_aimed = bool(chunk) and random.random() < 0.5
                    identity = random.choice(chunk) if is_aimed else self._draw(random, thread)
                    self._change(random.choice(pair), random, self.oracles[thread], identity)
                    self.change_count += 1
                    self.chunk_changes += is_aimed
                time.sleep(0)
        except BaseException as error:  # noqa: BLE001 - raised again by `stop`
            self._errors.append(error)

    def _draw(self, random: Random, thread: int) -> Identity:
        """Return a row of a thread, which may be new."""
        number = random.randrange(self.row_count) * THREADS + thread
        return (f"h{number % 7}", FIRST_MS + number)

    def _change(self, table: Table, random: Random, oracle: RowOracle, identity: Identity) -> None:
        """Make one random change with a client, and in the oracle."""
        key: dict[str, Any] = {"host": identity[0], "ts": identity[1]}
        chosen = random.sample(COLUMNS, random.randint(1, 3))
        if self.target_name == "packed" and not {"note", "tag"}.isdisjoint(chosen):
            # A put replaces a packed cell with all of its fields.
            chosen = list(dict.fromkeys([*chosen, "note", "tag"]))
        number = random.randrange(1_000_000)
        values: dict[str, Any] = {
            name: number if name == "hits" else f"{name[0]}{number}" for name in chosen
        }
        kind = random.choices(
            ["put", "increment", "append", "check", "batch", "none", "replace", "delete"],
            [25, 15, 10, 10, 10, 10, 8, 12],
        )[0]
        if self.may_write_foreign and random.random() < 0.1:
            self._write_foreign(table, random, oracle, key)
        if kind == "none":
            values[random.choice(chosen)] = None
        before = self.clock()
        try:
            self._own.table, self._own.may_die = table, self.is_deadly and random.random() < 0.05
            done = self._make_change(table, kind, key, values, number, oracle, identity)
        except DeadClient:
            self.deaths += 1
            # Other clients may have seen what the dead one has written to the primary table.
            done = self._predict(kind, values, number, oracle, identity)
        except (Conflict, Unavailable, BatchError) as refusal:
            # Cells of a batch that were built before the switch may not do after it.
            if kind not in ("increment", "append", "check") and not _asks_again(refusal):
                raise
            self._read_again(table, key, oracle, identity)
            return
        finally:
            self._own.table = None
        span = (before, max(self.clock(), time.time_ns() // 1_000_000) + 2)
        if kind == "delete":
            oracle.delete(identity, span)
        elif done is not None:
            apply = oracle.replace if kind == "replace" else oracle.put
            apply(identity, done, span)

    def _write_foreign(
        self, table: Table, random: Random, oracle: RowOracle, key: dict[str, Any]
    ) -> None:
        """Write or delete an undeclared cell of a row in the table that is read."""
        state = table.follower.get_state()
        first, *_ = (self.clock() for _ in range(GAP_MS))  # later than stamps that ran ahead
        kind = random.choices([CellType.PUT, CellType.DELETE_COLUMN], [4, 1])[0]
        value = b"%d" % first if kind is CellType.PUT else b""
        family, name = random.choice([("d", b"x"), ("d", b"\x80"), ("e", b"")])
        cell = Cell(family, name, self.clock(), value, kind)
        row_key = state.active_design.key.encode(key)
        state.writer.store.mutate([RowCells(row_key, [cell])])
        for _ in range(GAP_MS):
            self.clock()
        oracle.put_foreign((key["host"], key["ts"]), cell)

    def _predict(
        self,
        kind: str,
        values: dict[str, Any],
        number: int,
        oracle: RowOracle,
        identity: Identity,
    ) -> dict[str, Any]:
        """Return the fields that a change sets."""
        if kind == "increment":
            return {"hits": (oracle.get_newest(identity, "hits") or 0) + number}
        if kind == "append":
            return {"log": (oracle.get_newest(identity, "log") or "") + f"+{number}"}
        return values

    def _make_change(
        self,
        table: Table,
        kind: str,
        key: dict[str, Any],
        values: dict[str, Any],
        number: int,
        oracle: RowOracle,
        identity: Identity,
    ) -> dict[str, Any] | None:
        """Make one change; return the fields that it sets, None if it was not made."""
        match kind:
            case "increment":
                found = table.increment(key, hits=number)
                assert self._predict(kind, values, number, oracle, identity) == found
            case "append":
                table.append(key, log=f"+{number}")
            case "check":
                if not table.check_and_put(
                    {**key, **values}, hits=oracle.get_newest(identity, "hits")
                ):
                    raise AssertionError(identity)
            case "batch":
                with table.batch() as batch:
                    batch.put({**key, **values})
            case "replace":
                table.replace({**key, **values})
            case "delete":
                table.delete(key)
            case _:
                table.put({**key, **values})
        return self._predict(kind, values, number, oracle, identity)

    def _read_again(
        self, table: Table, key: dict[str, Any], oracle: RowOracle, identity: Identity
    ) -> None:
        """Take what a row is after a change that was refused, and may have been made."""
        found = table.get(key) or {}
        self.uncertain_count += 1
        for name in COLUMNS:
            value = found.get(name)
            if value != oracle.get_newest(identity, name):
                oracle.put(identity, {name: value}, (0, 0))
            if value is not None:
                oracle.uncertain.add((identity, name))

    # Faults of clients

    def _build_nap(self) -> Callable[[MoveFollower], Any]:
        """Return `get_write_state` with a sleep after it in some calls of the threads."""
        call = MoveFollower.get_write_state

        def read_and_nap(follower: MoveFollower) -> Any:
            state = call(follower)
            random = getattr(self._own, "random", None)
            if random is not None and not self._own.may_die and random.random() < self.nap_share:
                time.sleep(NAP_S)
            return state

        return read_and_nap

    def _build_death(self) -> Callable[..., None]:
        """Return `send_mutations` that raises `DeadClient` in place of some second writes."""
        call = RowWriter.send_mutations

        def send_or_die(
            writer: RowWriter, mutations: Sequence[RowCells], *, sync: bool | None = None
        ) -> None:
            table = getattr(self._own, "table", None)
            if table is not None and self._own.may_die and self.is_deadly:
                primary = table.follower.primary_tracker.last_state.writer
                if writer.layout is not primary.layout:
                    self._own.may_die = False
                    raise DeadClient
            call(writer, mutations, sync=sync)

        return send_or_die


def build_url(engine: str, folder: Any) -> str:
    """Return the URL of an engine without tables."""
    return f"{engine}:{folder}/{token_hex(4)}"
