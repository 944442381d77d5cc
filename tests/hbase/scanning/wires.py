"""Fake locations, connections and calls between a client and a test's world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.hbase.errors import CallTimedOut, ConnectionLost, HBaseError
from rowkey.hbase.locations import RegionLocation
from rowkey.hbase.scanning import LeaseRenewer
from rowkey.hbase.settings import Deadline
from rowkey.hbase.wire.proto import ProtoMessage

if TYPE_CHECKING:
    from hbase.scanning.world import World
    from rowkey.hbase.wire.frames import Response
    from rowkey.hbase.wire.names import ServerName


class ImmediateRenewer(LeaseRenewer):
    """A renewer without a thread, which closes scanners at once."""

    def watch_lease(self, scanner: Any) -> None:
        return None

    def close_when_answered(self, region_scanner: Any) -> None:
        while not region_scanner.close():
            region_scanner.fetch_response(Deadline.from_now(1))


class FakeLocations:
    """The client's locations: right when looked up, possibly outdated later."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.known: list[RegionLocation] = []

    def locate_region(self, table: str, row: bytes, deadline: Deadline) -> RegionLocation:
        return self._find(lambda one: one.has_row(row), self.world.holder(row))

    def locate_region_before(self, table: str, row: bytes, deadline: Deadline) -> RegionLocation:
        def fits(one: RegionLocation) -> bool:
            return (
                not one.stop if not row else one.start < row and (not one.stop or row <= one.stop)
            )

        return self._find(fits, self.world.before(row))

    def _find(self, fits: Any, right: RegionLocation) -> RegionLocation:
        word = self.world.script[0] if self.world.script else ""
        if word == "wrong place":
            self.world.script.popleft()
            others = [one for one in self.world.regions if not fits(one)]
            return others[0] if others else right
        if word == "stale":
            self.world.script.popleft()
            old = [one for one in self.world.former if fits(one)]
            return old[-1] if old else right
        found = [one for one in self.known if fits(one)]
        if found:
            return found[-1]
        self.known.append(right)
        return right

    def forget_region(self, region: RegionLocation) -> None:
        self.known = [one for one in self.known if one.name != region.name]

    def forget_server(self, address: tuple[str, int]) -> None:
        self.known = [one for one in self.known if one.server.address != address]

    def record_move(self, region: RegionLocation, server: ServerName, seqnum: int) -> None:
        self.forget_region(region)
        self.known.append(
            RegionLocation(region.table, region.name, region.start, region.stop, server, seqnum)
        )


class FakeConnections:
    """The connections to the world's servers."""

    def __init__(self, world: World) -> None:
        self.world = world

    def get_connection(
        self, address: tuple[str, int], service: str, deadline: Deadline
    ) -> FakeConnection:
        return FakeConnection(self.world, address)

    def get_open_connection(self, address: tuple[str, int], service: str) -> FakeConnection:
        if self.world.fails is not None:
            raise self.world.fails
        return FakeConnection(self.world, address)

    def drop_connections(self, address: tuple[str, int], error: HBaseError) -> None:
        return None


@dataclass
class FakeConnection:
    """A connection to a server."""

    world: World
    address: tuple[str, int]

    def send(
        self,
        method: str,
        param: bytes,
        cells: bytes = b"",
        *,
        deadline: Deadline,
        no_wait: bool = False,
    ) -> FakeCall:
        word = self.world.happen()
        if word == "refused":
            raise ConnectionLost(str(self.address), "the connection was refused")
        return FakeCall(self.world, self.address, ProtoMessage(param), word)


class FakeCall:
    """A sent request; most are answered at once, some when a thread waits for the answer."""

    def __init__(
        self, world: World, address: tuple[str, int], sent: ProtoMessage, word: str
    ) -> None:
        self.world, self.address, self.sent = world, address, sent
        self.word = word
        self.outcome: Response | HBaseError | None = None
        self.looked = 0
        self.is_rows = not sent.get_bool(10) and not (sent.has_field(3) and sent.get_bool(5))
        world.in_flight += self.is_rows
        world.most_in_flight = max(world.most_in_flight, world.in_flight)
        if word != "late":
            self.do()

    @property
    def done(self) -> bool:
        return self.outcome is not None

    def has_arrived(self) -> bool:
        if self.world.is_silent:
            return False
        self.looked += 1
        if self.outcome is None and self.looked > 1:
            self.do()
        return self.done

    def do(self) -> None:
        try:
            self.outcome = self.world.answer(self.address, self.sent, self.word)
        except HBaseError as error:
            self.outcome = error

    def result(self, deadline: Deadline) -> Response:
        if self.world.is_silent:
            raise CallTimedOut(str(self.address), "no answer in time")
        if self.outcome is None:
            self.do()
        self.world.in_flight -= self.is_rows
        self.is_rows = False
        if isinstance(self.outcome, HBaseError):
            raise self.outcome
        assert self.outcome is not None
        return self.outcome

    def cancel(self) -> None:
        self.world.in_flight -= self.is_rows
        self.is_rows = False
