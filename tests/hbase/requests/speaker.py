"""Sends single requests to the servers of a real cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rowkey.hbase.connection import ServerConnections
from rowkey.hbase.errors import HBaseError, StaleLocationError
from rowkey.hbase.read_spec import ReadSpec, ScanSpec
from rowkey.hbase.requests import OpenScanner
from rowkey.hbase.settings import Deadline, Settings
from rowkey.hbase.wire.cellblocks import decode_rows
from rowkey.hbase.wire.names import META_REGION_NAME, ServerName

if TYPE_CHECKING:
    from cluster import Cluster
    from rowkey.cells import RowCells
    from rowkey.hbase.requests import Request, ScanResponse

A = TypeVar("A")
PATIENCE_S = 30.0
PLENTY = 10_000_000


class RequestSender:
    """Sends requests to the region that holds a row, and looks up a moved one again."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.servers = ServerConnections(Settings())
        self._known: dict[str, list[tuple[bytes, bytes, tuple[str, int]]]] = {}

    def send(self, address: tuple[str, int], region: bytes, request: Request[A]) -> A:
        """Return a server's answer to a request about a region."""
        deadline = Deadline.from_now(PATIENCE_S)
        connection = self.servers.get_connection(address, request.service, deadline)
        param, cells = request.encode(region)
        call = connection.send(request.method, param, cells, deadline=deadline)
        return request.decode(call.result(deadline))

    def send_to_row(self, table: str, request: Request[A], row: bytes = b"") -> A:
        """Return the answer of the server that has the region of a table's row."""
        region, address = self.find_region(table, row)
        try:
            return self.send(address, region, request)
        except StaleLocationError:
            self._known.pop(table)
            region, address = self.find_region(table, row)
            return self.send(address, region, request)

    def find_region(self, table: str, row: bytes = b"") -> tuple[bytes, tuple[str, int]]:
        """Return the full name and the server of the region that holds a row."""
        if table not in self._known:
            self._known[table] = self.list_regions(table)
        holders = [place for place in self._known[table] if place[0] <= row]
        _, name, address = holders[-1]
        return name, address

    def list_regions(self, table: str) -> list[tuple[bytes, bytes, tuple[str, int]]]:
        """Return start, full name and server of each region of a table in key order."""
        prefix = table.encode()
        read = ReadSpec({"info": (b"server",)})
        wanted = OpenScanner(
            ScanSpec(prefix + b",,", prefix + b" ,,", read=read, read_type="pread"),
            rows=1_000,
            max_result_bytes=PLENTY,
            close=True,
        )
        found = []
        for row, cells in parse_results(self._of_meta(wanted)):
            start = row[len(prefix) + 1 : row.rindex(b",")]
            found.append((start, row, ServerName.parse(cells[0].value.decode()).address))
        return found

    def _of_meta(self, wanted: OpenScanner) -> ScanResponse:
        """Return the answer of the server that has hbase:meta."""
        last: HBaseError | None = None
        for name in self.cluster.judge.status().live:
            try:
                return self.send(ServerName.parse(name).address, META_REGION_NAME, wanted)
            except StaleLocationError as error:
                last = error
        raise AssertionError(f"nobody has hbase:meta: {last}")

    def close(self) -> None:
        """Close the connections."""
        self.servers.close()


def parse_results(answer: ScanResponse) -> list[RowCells]:
    """Return the results in a scanner's answer."""
    return decode_rows(bytes(answer.cells), answer.counts)
