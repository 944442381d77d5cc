"""The engines under test, each with a clock, tables and a way to reopen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.engines import ENGINES, TableSpec

if TYPE_CHECKING:
    from rowkey.cells import Family
    from rowkey.engines import Engine, Store

START_MS = 1_700_000_000_000
"""The time at which the tests' clocks begin."""

_NUMBERS = count()


class Clock:
    """A clock that moves only when a test advances it."""

    def __init__(self, ms: int = START_MS) -> None:
        self.ms = ms

    def __call__(self) -> int:
        return self.ms


class Bench:
    """One open engine with a clock of its own.

    Args:
        scheme: the engine's name.
        where: the rest of the URL after the scheme.
    """

    def __init__(self, scheme: str, where: str) -> None:
        self.kind = ENGINES[scheme]
        self.where = where
        self.clock = Clock()
        self.engine = self.open()
        self._made: list[str] = []

    def open(self) -> Engine:
        """Open the engine again."""
        return self.kind.open(self.where, clock=self.clock)

    def now(self) -> int:
        """Return the time in ms by which times to live are judged."""
        return self.clock.ms

    def advance(self, ms: int) -> None:
        """Advance the clock."""
        self.clock.ms += ms

    def create(
        self,
        families: Sequence[Family],
        splits: Sequence[bytes] = (),
        attributes: Mapping[str, str] | None = None,
    ) -> Store:
        """Create a table with a name of its own."""
        name = f"t{next(_NUMBERS)}"
        self._made.append(name)
        spec = TableSpec(name, tuple(families), tuple(splits), attributes or {})
        return self.engine.create_table(spec)

    def reopen(self, store: Store) -> Store:
        """Close the engine, open it again and return the same table."""
        name = store.spec.name
        self.engine.close()
        self.engine = self.open()
        return self.engine.open_table(name)

    def drop(self, store: Store) -> None:
        """Drop a table that the bench created."""
        name = store.spec.name
        self._made.remove(name)
        self.engine.drop_table(name)

    def close(self) -> None:
        """Drop all created tables and close the engine."""
        for name in set(self._made) & set(self.engine.list_tables()):
            self.engine.drop_table(name)
        self.engine.close()


BENCHES: dict[str, Callable[[Path], Bench]] = {
    "memory": lambda folder: Bench("memory", f"test{next(_NUMBERS)}"),
    "rocks": lambda folder: Bench("rocks", str(folder)),
}
"""Functions that open each engine under test in an empty folder."""
