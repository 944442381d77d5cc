"""Many changes of rows, sent a thousand at a time: what is wrong is told per row, the rest kept."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rowkey.errors import BatchError, DesignRefused, RowError, shown
from rowkey.table.changes import takes_away
from rowkey.table.models import as_mapping

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from rowkey.cells import RowCells
    from rowkey.table.changes import RowChange
    from rowkey.table.generations.live import Live
    from rowkey.table.writing import Writing

    Make = Callable[[Any], RowChange]
    """What makes a change of a row."""

ROWS = 1_000
"""Mutations that are sent together. Source: writes a second level off there; see the benchmarks."""
BYTES = 4 << 20
"""Bytes that are sent together at most, or one mutation. Source: a few MB a call in HBase."""
MOST_TOLD = 1_000
"""Errors that are remembered; further ones are counted."""


class Batch:
    """A bounded buffer of puts and deletes, sent when it is full and when the block ends.

    A row that is refused is noted and left out; the others are written. When the block ends without
    another error, `BatchError` names every row that was refused, by its number in the batch.

    Args:
        now: says what the table is, and what turns rows into mutations.
        rows: mutations that are sent together.
        sync: whether each sending is on disk before it returns; None is as opened.
    """

    def __init__(
        self, now: Callable[[], Live], rows: int = ROWS, *, sync: bool | None = None
    ) -> None:
        if type(rows) is not int or not 1 <= rows <= 1_000_000:
            raise RowError(
                "rows", f"{shown(rows)} mutations cannot be sent", "1..1,000,000 at once"
            )
        self.now = now
        self.live = now()
        """What the table was when all that waits was turned into changes."""
        self.rows = rows
        self.sync = sync
        self.waiting: list[tuple[int, RowChange]] = []
        self.mutations = 0
        self.coded: list[tuple[int, str, dict[str, Any]]] = []
        """Rows whose key holds ids: turned together, so that new values get theirs together."""
        self.size = 0
        self.seen = 0
        self.refused: list[tuple[int, RowError]] = []
        self.refused_count = 0

    def put(self, row: Any) -> None:
        """Write the fields given; None takes a field away."""
        self._take("put", row)

    def replace(self, row: Any) -> None:
        """Write the fields given and take all others away."""
        self._take("replace", row)

    def delete(self, row: Any) -> None:
        """Take a row away."""
        self._take("delete", row)

    def send(self) -> None:
        """Send what waits, without waiting for more."""
        self._writing()
        if self.coded:
            self._turn_coded()
        waiting, self.waiting, self.size, self.mutations = self.waiting, [], 0, 0
        if not waiting:
            return
        try:
            written = self._apply([change for _, change in waiting])
            sent = [(number, one) for (number, _), one in zip(waiting, written, strict=True)]
        except RowError:
            # The engine has applied nothing: the row that is wrong is found by itself.
            sent = []
            for number, change in waiting:
                try:
                    (written_alone,) = self._apply([change])
                    sent.append((number, written_alone))
                except RowError as problem:
                    self._refuse(number, problem)
        self._take_again(sent)

    def _take_again(self, sent: list[tuple[int, list[RowCells]]]) -> None:
        """Take away also where the table's counts put rows since they were turned into changes.

        See `Following.write`.
        """
        sent = [(number, written) for number, written in sent if takes_away(written)]
        while sent and (live := self.now()) is not self.live:
            self.live, again = live, []
            for number, written in sent:
                try:
                    missed = live.missed(written)
                except RowError as problem:
                    self._refuse(number, problem)
                    continue
                again.append((number, [*written, *missed]))
                if missed:
                    live.writing.send(missed, sync=self.sync)
            sent = again

    def _apply(self, changes: list[RowChange]) -> list[list[RowCells]]:
        return self.live.writing.apply(changes, sync=self.sync)

    def _writing(self) -> Writing:
        """What turns rows now; what waits is made again if the table's counts have changed."""
        live = self.now()
        if live is not self.live:
            waiting, self.waiting, self.live = self.waiting, [], live
            for number, change in waiting:
                try:
                    self.waiting.append((number, live.rehomed(change)))
                except RowError as problem:
                    self._refuse(number, problem)
        return live.writing

    def _take(self, change: str, row: Any) -> None:
        number = self.seen
        self.seen += 1
        writing = self._writing()
        if not writing.key.is_coded:
            self._turn(number, getattr(writing, change), row)
            return
        try:
            values = dict(as_mapping(row))
        except RowError as problem:
            self._refuse(number, problem)
            return
        self.coded.append((number, change, values))
        for one in values.values():
            if type(one) is str or type(one) is bytes:
                self.size += len(one)
        if len(self.coded) >= self.rows or self.size >= BYTES:
            self.send()

    def _turn_coded(self) -> None:
        """Turn the rows that wait for ids into mutations; their new values get them all at once."""
        with suppress(RowError):  # each row tells by itself what is wrong with it
            written = (values for _, change, values in self.coded if change != "delete")
            self.live.writing.key.learn(written)
        coded, self.coded, self.size = self.coded, [], 0
        for number, change, values in coded:
            self._turn(number, getattr(self.live.writing, change), values)

    def _turn(self, number: int, make: Make, row: Any) -> None:
        """Make a change of a row, and send when there are enough."""
        try:
            change = make(row)
        except DesignRefused:
            raise
        except RowError as problem:
            self._refuse(number, problem)
            return
        if not change.mutations:
            return
        self.waiting.append((number, change))
        self.mutations += len(change.mutations)
        for mutation in change.mutations:
            self.size += sum(len(cell.value) + 40 for cell in mutation.cells)
        if self.mutations >= self.rows or self.size >= BYTES:
            self.send()

    def _refuse(self, number: int, problem: RowError) -> None:
        self.refused_count += 1
        if len(self.refused) < MOST_TOLD:
            self.refused.append((number, problem))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Send what waits, also after an error: what was put before it stays put."""
        self.send()
        if error is None and self.refused:
            raise BatchError(self.refused, self.refused_count, self.seen)
