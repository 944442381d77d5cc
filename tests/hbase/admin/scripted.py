"""A scripted master that records its requests, without a socket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rowkey.cells import Cell
from rowkey.errors import InvalidArgument
from rowkey.hbase.locations.meta import MetaRow
from rowkey.hbase.messages.reads import ScanResponse
from rowkey.hbase.retrying_caller import RetryingCaller
from rowkey.hbase.settings import Settings
from rowkey.hbase.wire.cellblocks import encode_cell

if TYPE_CHECKING:
    from rowkey.hbase.locations import RegionLocation
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.settings import Deadline


class FixedLocations:
    """A fixed list of regions."""

    def __init__(self, regions: Sequence[RegionLocation] = ()) -> None:
        self.listed = list(regions)

    def list_regions(self, table: str, deadline: Deadline) -> list[RegionLocation]:
        """Return all regions."""
        return self.listed

    def list_region_rows(self, table: str, deadline: Deadline) -> list[MetaRow]:
        """Return the regions as rows of hbase:meta, and one more that is opening."""
        rows = [
            MetaRow(one.table, one.name, one.start, one.stop, False, "OPEN", one.server, one.seqnum)
            for one in self.listed
        ]
        return [*rows, rows[-1]._replace(name=b"t,opening,1.x.", state="OPENING")]

    def locate_region(self, table: str, row: bytes, deadline: Deadline) -> RegionLocation:
        """Return the region that holds a row."""
        return next(one for one in self.listed if one.has_row(row))

    def forget_table(self, table: str) -> None:
        """Do nothing, since locations are fixed."""

    def forget_region(self, region: RegionLocation) -> None:
        """Do nothing, since locations are fixed."""


class ScriptedMaster(RetryingCaller):
    """Answers each request by its method, with a value or the result of a function.

    Scans of hbase:meta find the regions, each in a row of two cells, and are counted, not noted.

    Args:
        answers: by the method's name; each list is given out in its order, its last for ever.
        regions: what a listing of hbase:meta gives.
    """

    def __init__(
        self, answers: dict[str, list[Any]], regions: Sequence[RegionLocation] = ()
    ) -> None:
        self.settings = Settings()
        self.asked: list[Any] = []
        self.deadlines: list[Deadline | None] = []
        self.meta_scans = 0
        self._answers = answers
        self.locator: Any = FixedLocations(regions)

    def _answer(self, request: Request[Any]) -> Any:
        self.asked.append(request)
        script = self._answers.get(request.method)
        if not script:
            raise InvalidArgument("test", f"{request.method} was sent")
        answer = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(answer, Exception):
            raise answer
        called: Callable[[Any], Any] | None = answer if callable(answer) else None
        return called(request) if called else answer

    def call_master(self, request: Request[Any], deadline: Deadline | None = None) -> Any:
        self.deadlines.append(deadline)
        return self._answer(request)

    def call_server(
        self, address: tuple[str, int], request: Request[Any], deadline: Deadline | None = None
    ) -> Any:
        return self._answer(request)

    def call_row(
        self,
        table: str,
        row: bytes,
        request: Request[Any],
        deadline: Deadline | None = None,
        check_send: Callable[[], float] | None = None,
    ) -> Any:
        return self._rows_of_meta(request) if table == "hbase:meta" else self._answer(request)

    def _rows_of_meta(self, request: Any) -> ScanResponse:
        """Return the next rows of hbase:meta, as many as the scan requests."""
        self.meta_scans += 1
        start, included = request.scan.start, request.scan.include_start
        every = [one.name for one in self.locator.listed]
        names = [name for name in every if name > start or (included and name == start)]
        cells = [
            encode_cell(name, Cell("info", qualifier, 1, b""))
            for name in names[: request.rows]
            for qualifier in (b"regioninfo", b"state")
        ]
        more = len(names) > request.rows
        counts = [2] * min(len(names), request.rows)
        partials = [False] * len(counts)
        return ScanResponse(
            None, more, more, False, counts, partials, b"".join(cells), None, None, None
        )

    @property
    def methods(self) -> list[str]:
        """Return the methods of all requests in order."""
        return [request.method for request in self.asked]
