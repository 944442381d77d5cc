"""The engines as the tests open them: each on a bench with a clock, tables and a way to reopen."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from rowkey.engines import ENGINES, TableSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rowkey.cells import Family
    from rowkey.engines import Engine, Store

START_MS = 1_700_000_000_000
"""The moment at which the clocks of the tests begin."""

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
        where: what stands behind the scheme.
    """

    def __init__(self, scheme: str, where: str) -> None:
        self.kind = ENGINES[scheme]
        self.where = where
        self.clock = Clock()
        self.engine = self.open()
        self._made: list[str] = []

    def open(self) -> Engine:
        """The engine, opened once more."""
        return self.kind.open(self.where, clock=self.clock)

    def now(self) -> int:
        """The moment at which times to live are judged, in ms."""
        return self.clock.ms

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self.clock.ms += ms

    def create(
        self,
        families: Sequence[Family],
        splits: Sequence[bytes] = (),
        attributes: Mapping[str, str] | None = None,
    ) -> Store:
        """A new table with a name of its own."""
        name = f"t{next(_NUMBERS)}"
        self._made.append(name)
        spec = TableSpec(name, tuple(families), tuple(splits), attributes or {})
        return self.engine.create_table(spec)

    def reopen(self, store: Store) -> Store:
        """The same table after the engine was closed and opened again."""
        name = store.spec.name
        self.engine.close()
        self.engine = self.open()
        return self.engine.open_table(name)

    def drop(self, store: Store) -> None:
        """Drop a table that was made here."""
        name = store.spec.name
        self._made.remove(name)
        self.engine.drop_table(name)

    def close(self) -> None:
        """Drop what was made, and close."""
        for name in set(self._made) & set(self.engine.list_tables()):
            self.engine.drop_table(name)
        self.engine.close()


BENCHES: dict[str, Callable[[Path], Bench]] = {
    "memory": lambda folder: Bench("memory", f"test{next(_NUMBERS)}"),
    "rocks": lambda folder: Bench("rocks", str(folder)),
}
"""How each engine under test is opened, in an empty folder of its own."""
