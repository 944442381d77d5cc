"""HBase on a bench: what the tests of engines ask of every engine, by parts of prepared tables."""

from __future__ import annotations

import time
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING

from rowkey.engines import TableSpec, get_time_ms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engines.hbase.slots import Slots
    from rowkey.cells import Family
    from rowkey.engines import Engine, Store

_NUMBERS = count()


class HBaseBench:
    """A cluster whose clock is that of the machine.

    Args:
        engine: the cluster.
        slots: parts of its tables.
        layouts: the splits of each part of a new table; None makes it for what is asked, eight
            parts of it.
        alone: whether every table is one of its own, not a part of one.
    """

    def __init__(
        self,
        engine: Engine,
        slots: Slots,
        layouts: Sequence[Sequence[bytes]] | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self.engine, self.slots = engine, slots
        self._layouts, self._alone = layouts, alone

    def now(self) -> int:
        """Now, in ms; the servers are on this machine."""
        return get_time_ms()

    def advance(self, ms: int) -> None:
        """Wait."""
        time.sleep(ms / 1_000)

    def create(
        self,
        families: Sequence[Family],
        splits: Sequence[bytes] = (),
        attributes: Mapping[str, str] | None = None,
    ) -> Store:
        """An empty part of a table, or a table where it has attributes."""
        if self._alone or attributes:
            name = f"alone{next(_NUMBERS)}.{token_hex(4)}"
            return self.engine.create_table(
                TableSpec(name, tuple(families), tuple(splits), attributes or {})
            )
        layouts = self._layouts
        return self.slots.take(families, splits, [splits] * 8 if layouts is None else layouts)

    def reopen(self, store: Store) -> Store:
        """The same table: a cluster is not started anew."""
        return store

    def drop(self, store: Store) -> None:
        """Nothing: the cluster goes with its tables."""

    def close(self) -> None:
        """Nothing."""
