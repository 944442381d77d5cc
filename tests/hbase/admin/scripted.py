"""A master that answers what a test scripts, and notes what it was asked; no socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.cells import Cell
from rowkey.errors import Refused
from rowkey.hbase.calling import Caller
from rowkey.hbase.messages.scan_answer import ScanAnswer
from rowkey.hbase.settings import Settings
from rowkey.hbase.wire.cellblocks import encode_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rowkey.hbase.locations import Region
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.settings import Deadline


class Places:
    """Regions that are always the same."""

    def __init__(self, regions: Sequence[Region] = ()) -> None:
        self.listed = list(regions)

    def regions(self, table: str, deadline: Deadline) -> list[Region]:
        """All of them."""
        return self.listed

    def locate(self, table: str, row: bytes, deadline: Deadline) -> Region:
        """The one that holds a row."""
        return next(one for one in self.listed if one.holds(row))

    def forget_table(self, table: str) -> None:
        """Nothing is remembered."""

    def forget(self, region: Region) -> None:
        """Nothing is remembered."""


class Scripted(Caller):
    """Answers by the method of a request: with a value, or with what a function makes of it.

    Scans of hbase:meta find the regions, each in a row of two cells, and are counted, not noted.

    Args:
        answers: by the method's name; each list is given out in its order, its last for ever.
        regions: what a listing of hbase:meta gives.
    """

    def __init__(self, answers: dict[str, list[Any]], regions: Sequence[Region] = ()) -> None:
        self.settings = Settings()
        self.asked: list[Any] = []
        self.deadlines: list[Deadline | None] = []
        self.meta_scans = 0
        self._answers = answers
        self.locations: Any = Places(regions)

    def _answer(self, request: Request[Any]) -> Any:
        self.asked.append(request)
        script = self._answers.get(request.method)
        if not script:
            raise Refused("test", f"{request.method} was sent")
        answer = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(answer, Exception):
            raise answer
        called: Callable[[Any], Any] | None = answer if callable(answer) else None
        return called(request) if called else answer

    def on_master(self, request: Request[Any], deadline: Deadline | None = None) -> Any:
        self.deadlines.append(deadline)
        return self._answer(request)

    def on_server(
        self, address: tuple[str, int], request: Request[Any], deadline: Deadline | None = None
    ) -> Any:
        return self._answer(request)

    def on_row(
        self, table: str, row: bytes, request: Request[Any], deadline: Deadline | None = None
    ) -> Any:
        return self._rows_of_meta(request) if table == "hbase:meta" else self._answer(request)

    def _rows_of_meta(self, request: Any) -> ScanAnswer:
        """As many rows as are asked for, behind the one that the scan begins behind."""
        self.meta_scans += 1
        start, included = request.scan.start, request.scan.include_start
        every = [one.name for one in self.locations.listed]
        names = [name for name in every if name > start or (included and name == start)]
        cells = [
            encode_cell(name, Cell("info", qualifier, 1, b""))
            for name in names[: request.rows]
            for qualifier in (b"regioninfo", b"state")
        ]
        more = len(names) > request.rows
        counts = [2] * min(len(names), request.rows)
        partials = [False] * len(counts)
        return ScanAnswer(
            None, more, more, False, counts, partials, b"".join(cells), None, None, None
        )

    @property
    def methods(self) -> list[str]:
        """The methods that were asked, in their order."""
        return [request.method for request in self.asked]
