"""Repeat some reads on the table of a move that is not read yet, and compare the answers.

A client repeats a share of its own reads in a thread beside them, so that they become no slower.
What it counts is a note in the catalog, one of each client; `rowkey move status` adds them up.
"""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from queue import Full, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from rowkey.errors import RowkeyError
from rowkey.messages import format_value
from rowkey.plan import BoundRead
from rowkey.table.scans import Scan

if TYPE_CHECKING:
    from rowkey.catalog import Catalog
    from rowkey.table.generations.generation_tracker import GenerationState

    GetStates = Callable[[], tuple[GenerationState, GenerationState] | None]
    """Returns the states of the table that is read and of the other one; None without a move."""

SHADOW_NOTE_PREFIX = "move.shadow."
"""Before the name of a client's note, next to the catalog entry of the source."""
MAX_WAITING = 100
"""Reads that wait to be repeated; further ones are not."""
MAX_ROWS = 100
"""Rows of a scan that are compared, the first ones."""
MAX_EXAMPLES = 5
"""Unequal answers of which a note says which rows they are."""
PAUSES_S = (0.01, 0.05, 0.2, 0.5, 1.0, 2.0)
"""Seconds between attempts to compare unequal answers: a write reaches the other table later."""
WRITE_INTERVAL_S = 2.0
"""Seconds between two writes of the note."""


@dataclass
class ShadowCounts:
    """How many reads of applications were repeated on the other table of a move.

    Args:
        equal: answers that were equal, also those that first were not.
        late: those of them that were equal only some time later, as a write was on its way.
        unequal: answers that stayed unequal.
        failed: reads that the other table did not answer.
        skipped: reads that were chosen, and not compared: others were still waiting, or the rows
            changed during each attempt.
        examples: what differs in the first unequal answers, as sentences.
    """

    equal: int = 0
    late: int = 0
    unequal: int = 0
    failed: int = 0
    skipped: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def repeated_count(self) -> int:
        """The reads that were repeated."""
        return self.equal + self.unequal + self.failed

    def add(self, document: Mapping[str, Any]) -> None:
        """Add what another client has counted, as a note says it."""
        for one in fields(self):
            if one.name != "examples" and type(number := document.get(one.name)) is int:
                setattr(self, one.name, getattr(self, one.name) + number)
        listed = document.get("examples")
        self.examples += [str(one) for one in listed] if isinstance(listed, list) else []
        del self.examples[MAX_EXAMPLES:]


def sum_shadow_counts(notes: Mapping[str, str], period: str) -> ShadowCounts:
    """Return what all clients have counted; a malformed note is left out.

    Args:
        notes: the notes of the table that is moved, by name.
        period: the `period` of the move; what was counted in another one is left out.
    """
    total = ShadowCounts()
    for name, text in notes.items():
        if name.startswith(SHADOW_NOTE_PREFIX):
            with suppress(ValueError, AttributeError):
                document = json.loads(text)
                if document.get("period") == period:
                    total.add(document)
    return total


class ShadowReads:
    """Repeats a share of the reads of one client on the other table of a move.

    Args:
        share: the share of the reads, above 0 and up to 1.
        catalog: where the note is kept.
        source: the table that is moved.
        period: the `period` of the move, in which one table is read.
        get_states: returns the states of both tables.
    """

    def __init__(
        self, share: float, catalog: Catalog, source: str, period: str, get_states: GetStates
    ) -> None:
        self.share, self.period = share, period
        self.counts = ShadowCounts()
        self._catalog, self._source, self._get_states = catalog, source, get_states
        self._note = f"{SHADOW_NOTE_PREFIX}{secrets.token_hex(6)}"
        self._is_closing = False
        self._waiting: Queue[Callable[[], None] | None] = Queue(MAX_WAITING)
        self._thread = Thread(target=self._work, name="rowkey-shadow", daemon=True)
        self._thread.start()

    def offer_get(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Repeat a get later, if it is one of the share."""
        if self._is_chosen():
            self._offer(lambda: self._compare(lambda state: state.getter.get_rows(rows), rows))

    def offer_scan(self, read: BoundRead, limit: int | None) -> None:
        """Repeat a scan later, if it is one of the share: its first rows."""
        if self._is_chosen():
            count = MAX_ROWS if limit is None else min(limit, MAX_ROWS)
            self._offer(lambda: self._compare_scans(read, count))

    def _is_chosen(self) -> bool:
        return random.random() < self.share  # noqa: S311 - which reads are repeated is no secret

    def _offer(self, work: Callable[[], None]) -> None:
        try:
            self._waiting.put_nowait(work)
        except Full:
            self.counts.skipped += 1

    def close(self) -> None:
        """Write the note; what still waits is not compared."""
        self._is_closing = True
        with suppress(Full):
            self._waiting.put_nowait(None)
        self._thread.join()

    def _work(self) -> None:
        """Compare what is offered until it is closed; write the note now and then."""
        written_at_s = time.monotonic()
        while (work := self._waiting.get()) is not None and not self._is_closing:
            try:
                work()
            except Exception:  # noqa: BLE001 - whatever fails here, reads of the client go on
                self.counts.failed += 1
            self._waiting.task_done()
            if time.monotonic() - written_at_s > WRITE_INTERVAL_S:
                written_at_s = time.monotonic()
                self._write_note()
        self._write_note()

    def _write_note(self) -> None:
        if self.counts.repeated_count or self.counts.skipped:
            document = {"period": self.period, **vars(self.counts)}
            with suppress(RowkeyError):  # of a client that may not write notes
                self._catalog.write_note(self._source, self._note, json.dumps(document))

    def _compare_scans(self, read: BoundRead, limit: int) -> None:
        """Compare the first rows of a scan with those of the other table.

        Without an order the tables return them in the order of their keys. So each row must be in
        the other table as it is, and the values of the fields that give the order must be alike.
        """

        def scan(state: GenerationState) -> list[dict[str, Any]]:
            return list(Scan(state, state.store, read, limit=limit))

        def read_both(state: GenerationState) -> tuple[list[Any], list[Any]]:
            states = self._get_states()
            rows = [row for one in states or (state,) for row in scan(one)]
            names = state.writer.identity_fields
            known = {tuple(map(repr, map(row.get, names))): row for row in rows}
            ordered = [[row[one.field] for one in read.order] for row in scan(state)]
            return state.getter.get_rows([*known.values()]), ordered

        self._compare(read_both, ())

    def _compare(
        self, read: Callable[[GenerationState], Any], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """Compare the answers of both tables, again after pauses while they are unequal."""
        answers: list[Any] = []
        for number, pause_s in enumerate((*PAUSES_S, None)):
            states = self._get_states()
            if states is None or self._is_closing:  # the move has ended, or the client does
                return
            answers = [read(state) for state in (*states, states[0])]
            if answers[1] in (answers[0], answers[2]):
                self.counts.equal += 1
                self.counts.late += number > 0
                return
            if pause_s is not None:
                time.sleep(pause_s)
        if answers[0] != answers[2]:  # the rows change so fast that nothing can be compared
            self.counts.skipped += 1
            return
        self.counts.unequal += 1
        if len(self.counts.examples) < MAX_EXAMPLES:
            self.counts.examples.append(describe_difference(answers[0], answers[1], rows))


def describe_difference(here: Any, there: Any, rows: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return how two answers differ: the first row that is missing, or differs in its fields.

    Args:
        here: the answer of the table that is read: rows, or rows and the values of the order.
        there: that of the other table.
        rows: the fields of the keys that were asked for.

    >>> describe_difference([{"id": 1, "n": 2}], [{"id": 1, "n": 3}])
    'the row id 1, n 2 differs in n'
    """
    if isinstance(here, tuple):
        if here[0] == there[0]:
            first = _format_row((here[0] or [{}])[0] or {})
            return f"the rows are in another order, from {first} on"
        here, there = here[0], there[0]
    for number, (one, other) in enumerate(zip_longest(here, there)):
        if one == other:
            continue
        known = one or other or (rows[number] if number < len(rows) else {})
        if other is None:
            return f"the row {_format_row(known)} is missing"
        if one is None:
            return f"the row {_format_row(known)} is there only"
        differing = ", ".join(name for name in one if one[name] != other.get(name))
        return f"the row {_format_row(known)} differs in {differing}"
    return "the numbers of rows differ"


def _format_row(row: Mapping[str, Any]) -> str:
    """Return some values of a row, for a message."""
    return ", ".join(f"{name} {format_value(value)}" for name, value in [*row.items()][:4])
