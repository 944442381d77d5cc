"""HBase as a bench, which serves tests with parts of prepared tables."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING

from rowkey.engines import TableSpec, get_time_ms

if TYPE_CHECKING:
    from engines.hbase.slots import Slots
    from rowkey.cells import Family
    from rowkey.engines import Engine, Store

_NUMBERS = count()


class HBaseBench:
    """A cluster, whose clock is the machine's.

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
        """Return the time in ms; the servers run on this machine."""
        return get_time_ms()

    def advance(self, ms: int) -> None:
        """Sleep."""
        time.sleep(ms / 1_000)

    def create(
        self,
        families: Sequence[Family],
        splits: Sequence[bytes] = (),
        attributes: Mapping[str, str] | None = None,
    ) -> Store:
        """Return an empty part of a table, or a new table if it has attributes."""
        if self._alone or attributes:
            name = f"alone{next(_NUMBERS)}.{token_hex(4)}"
            return self.engine.create_table(
                TableSpec(name, tuple(families), tuple(splits), attributes or {})
            )
        layouts = self._layouts
        return self.slots.take(families, splits, [splits] * 8 if layouts is None else layouts)

    def reopen(self, store: Store) -> Store:
        """Return the same table, since the cluster is not restarted."""
        return store

    def drop(self, store: Store) -> None:
        """Do nothing: the tables are removed with the cluster."""

    def close(self) -> None:
        """Do nothing."""
