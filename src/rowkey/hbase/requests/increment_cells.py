"""Adding to counters of one row, where the timestamps of the new cells matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.hbase.messages.results import only_result
from rowkey.hbase.requests.increment import Increment

if TYPE_CHECKING:
    from rowkey.hbase.wire.frames import Response


class IncrementCells(Increment):
    """As `Increment`; gives the new cells, which tell their timestamps."""

    def decode(self, response: Response) -> Any:
        return self.new_cells(only_result(response)[1])
