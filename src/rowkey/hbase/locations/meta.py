"""Questions to hbase:meta: each is one attempt, and whoever asks decides about another."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from rowkey.hbase.errors import (
    ElsewhereError,
    HBaseError,
    MalformedAnswer,
    OutOfTime,
    ServerGone,
    ServerNotRunningYet,
)
from rowkey.hbase.locations.flights import Flights
from rowkey.hbase.locations.region import Region
from rowkey.hbase.locations.rows import (
    STATES,
    MetaRow,
    at_or_below,
    at_start,
    behind_all,
    first_of,
    meta_row,
    meta_scan,
    whole_rows,
)
from rowkey.hbase.reading import Read
from rowkey.hbase.requests.get import Get
from rowkey.hbase.wire.names import META_REGION
from rowkey.hbase.wire.proto import Malformed, Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.cells import RowCells
    from rowkey.hbase.connection import Call, Servers
    from rowkey.hbase.messages.contract import Request
    from rowkey.hbase.messages.scan_answer import ScanAnswer
    from rowkey.hbase.registry import Registry
    from rowkey.hbase.requests.open_scanner import OpenScanner
    from rowkey.hbase.settings import Deadline, Settings

A = TypeVar("A")

META = "hbase:meta"

AHEAD = 10
"""Regions behind the wanted one that are read with it.

Source: hbase.client.locate.prefetch.limit, AsyncNonMetaRegionLocator.
"""

DEPTH = 3
"""Rows of a reversed lookup: parents of split regions stand among the others for minutes."""

PAGE = 1_000
"""Rows of one answer of a listing, some 660 B each."""


@contextmanager
def _understood() -> Iterator[None]:
    """Tell of an answer that cannot be read as of one that did not come.

    Raises:
        MalformedAnswer: it cannot be read.
    """
    try:
        yield
    except Malformed as problem:
        raise MalformedAnswer(META, problem.mistake.what) from problem


class Meta:
    """The table of regions, and where it is itself.

    Args:
        registry: tells which server has it.
        servers: the connections.
        settings: `call_s` bounds one attempt.
    """

    def __init__(self, registry: Registry, servers: Servers, settings: Settings) -> None:
        self._registry, self._servers, self._settings = registry, servers, settings
        self._region: Region | None = None
        self._flights: Flights[Region] = Flights(META)

    @property
    def known(self) -> Region | None:
        """Where it is as far as is known."""
        return self._region

    def region(self, deadline: Deadline) -> Region:
        """Its own region, which the registry knows.

        Raises:
            NobodyKnows: the registry did not tell.
        """
        return self._region or self._flights.share(META, lambda: self._asked(deadline), deadline)

    def _asked(self, deadline: Deadline) -> Region:
        server = self._registry.meta(deadline.sooner(self._settings.call_s))
        self._registry.learn([server])
        self._region = found = Region(META, META_REGION, b"", b"", server, -1)
        return found

    def forget(self, region: Region) -> None:
        """Ask the registry the next time, unless that was done meanwhile."""
        if self._region == region:
            self._region = None

    def forget_server(self, address: tuple[str, int]) -> None:
        """The same, if it was on that server."""
        region = self._region
        if region is not None and region.server.address == address:
            self.forget(region)

    @_understood()
    def around(self, table: str, row: bytes, deadline: Deadline) -> list[MetaRow]:
        """The region that holds a row, if there is one, then some behind it.

        Cost: two scans sent at once, 1 ms to 2 ms.
        """
        down = meta_scan(at_or_below(table, row), first_of(table), DEPTH, reverse=True)
        ahead = meta_scan(at_start(table, row), behind_all(table), AHEAD)
        first, others = self._ask([down, ahead], deadline)
        found = self._living(table, down, first, deadline)
        return found + _living_of(table, whole_rows(others))

    @_understood()
    def below(self, table: str, row: bytes, deadline: Deadline) -> list[MetaRow]:
        """The region that holds the greatest keys below a row, then some before it.

        Cost: one scan.
        """
        start = at_start(table, row) if row else behind_all(table)
        scan = meta_scan(start, first_of(table), DEPTH + AHEAD, reverse=True)
        (answer,) = self._ask([scan], deadline)
        return self._living(table, scan, answer, deadline)

    def _living(
        self, table: str, scan: OpenScanner, answer: ScanAnswer, deadline: Deadline
    ) -> list[MetaRow]:
        """What an answer tells of regions that are not retired; asks on while it tells nothing."""
        while True:
            rows = whole_rows(answer)
            found = _living_of(table, rows)
            if found or answer.more_in_region is False:
                return found
            scan = _behind(scan, rows, deadline)
            (answer,) = self._ask([scan], deadline)

    @_understood()
    def listing(self, table: str, deadline: Deadline) -> list[MetaRow]:
        """All regions of a table that are not retired, in the order of their keys.

        Cost: one scan for 1,000 regions.
        """
        scan = meta_scan(first_of(table), behind_all(table), PAGE)
        found: list[MetaRow] = []
        while True:
            (answer,) = self._ask([scan], deadline)
            rows = whole_rows(answer)
            found += _living_of(table, rows)
            if answer.more_in_region is False:
                return found
            scan = _behind(scan, rows, deadline)

    @_understood()
    def table_state(self, table: str, deadline: Deadline) -> int | None:
        """0 enabled, 1 disabled, 2 being disabled, 3 being enabled; None if there is no such table.

        Source: HBase.proto, TableState {1:state}, in `table:state` of the row named as the table.
        """
        (found,) = self._ask([Get(table.encode(), Read({STATES: (b"state",)}))], deadline)
        return Message(found.cells[0].value).uint(1) if found.cells else None

    def _ask(self, requests: Sequence[Request[A]], deadline: Deadline) -> list[A]:
        """The answers to some requests, sent together; one attempt.

        Where hbase:meta is may be asked by another thread, which is waited for until the deadline;
        its server is waited for no longer than one call may take.

        Raises:
            HBaseError: of the first that failed; what it shows to be wrong is forgotten.
        """
        region = self.region(deadline)
        until = deadline.sooner(self._settings.call_s)
        calls: list[Call] = []
        try:
            for one in requests:
                connection = self._servers.connection(region.server.address, one.service, until)
                param, cells = one.encode(region.name)
                calls.append(connection.send(one.method, param, cells, deadline=until))
            until = deadline.sooner(self._settings.call_s)  # of the answers, once all are sent
            answers = [call.result(until) for call in calls]
        except HBaseError as error:
            for call in calls:
                call.cancel()
            self._heed(error, region)
            raise
        return [one.decode(answer) for one, answer in zip(requests, answers, strict=True)]

    def _heed(self, error: HBaseError, region: Region) -> None:
        if isinstance(error, ElsewhereError | ServerGone | ServerNotRunningYet):
            self.forget(region)
        if isinstance(error, ServerGone | ServerNotRunningYet):
            self._servers.drop(region.server.address, error)


def _living_of(table: str, rows: Sequence[RowCells]) -> list[MetaRow]:
    """The regions of a table among some rows, but those that are retired."""
    found = (meta_row(row) for row in rows)
    return [row for row in found if row and not row.retired and row.table == table]


def _behind(scan: OpenScanner, rows: Sequence[RowCells], deadline: Deadline) -> OpenScanner:
    """The scan that goes on behind the last row of an answer; the same one if that had none.

    An answer without rows before the end is a heartbeat: it says only that the server lives.

    Raises:
        OutOfTime: the deadline is over.
    """
    if deadline.expired:
        raise OutOfTime(META, "a scan did not come to its end in time")
    if not rows:
        return scan
    return replace(scan, scan=replace(scan.scan, start=rows[-1].row, include_start=False))
