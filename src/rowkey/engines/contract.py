"""What an engine is: tables of families and bytes, behind a dozen calls.

An engine knows no design and no row key: rows are bytes, cells are `rowkey.cells.Cell`. Whoever
asks gives all ranges of a read at once and gets one bounded cursor for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Self

from rowkey.engines.counts import OpenRegion
from rowkey.engines.requests import ALL, Ask, Check, Span, TableSpec, now_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    import pyarrow as pa

    from rowkey.cells import Cell, CellBlock, Family, RowCells
    from rowkey.engines.counts import RegionCount
    from rowkey.engines.ordering.row_clock import RowClock


class Cursor(ABC):
    """The rows of one range, in order, read as they are asked for.

    It sees the table as it was when it was opened, whatever is written meanwhile.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[RowCells]:
        """Rows with at least one cell; with `batch`, their pieces one after another."""

    @abstractmethod
    def blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """The same cells as Arrow columns, about `rows` rows of them at a time, at first fewer.

        Rows are whole; asked with `batch`, a block may end behind any column of a row, and the next
        one goes on with it.

        Columns: `row` binary, `family` dictionary of text, `qualifier` binary, `timestamp` int64,
        `value` binary. Not with `raw`.
        """

    def ahead(self) -> bytes | None:
        """A row key that none of its rows stands before, in its order; None if that is not known.

        To be asked before any row is. Where many ranges are merged it tells which to read first;
        it may be the key of a row of which nothing is seen, and is not counted as read.
        """
        return None

    @abstractmethod
    def close(self) -> None:
        """Let go of what the cursor holds; closing twice is harmless.

        Whoever then goes on reading gets `Refused`, so that nobody takes it for the end.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Reader(ABC):
    """What can be read of a table: by the table itself, and by a snapshot of it."""

    @abstractmethod
    def get(self, rows: Sequence[bytes], ask: Ask = ALL) -> list[RowCells]:
        """The wanted cells of some rows, in the order asked; no cells where there are none.

        Raises:
            Refused: a row key is empty or too long, or a family is unknown.
        """

    @abstractmethod
    def scan(self, spans: Sequence[Span], ask: Ask = ALL) -> list[Cursor]:
        """One cursor for each range; all see the table as of one moment.

        Raises:
            Refused: a family is unknown, or a number of `ask` is out of range.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the table or snapshot; closing twice is harmless."""


class Store(Reader):
    """One table of an engine.

    Every call that changes rows raises `Refused` before anything is changed: for an unknown family,
    an empty or too long row key, a cell above the limit, a timestamp out of range. What has
    returned is visible to every later read and, as far as the engine's durability says, survives a
    crash whole.
    """

    @property
    @abstractmethod
    def spec(self) -> TableSpec:
        """The table as it is: its regions may have split since it was made."""

    is_shared: ClassVar[bool] = False
    """Whether it is on a cluster: others write too, counts are stamped by clocks of servers,
    and changes of several rows by one call come in any order."""

    @property
    @abstractmethod
    def row_clock(self) -> RowClock:
        """What orders and stamps changes; all who change the table in this process share it."""

    @property
    def described(self) -> tuple[tuple[Family, ...], Mapping[str, str]]:
        """Families and words as they are; it does not ask where the regions are."""
        spec = self.spec
        return spec.families, spec.attributes

    @property
    def unsaid(self) -> Mapping[str, Mapping[str, str]]:
        """By family, words that no `Family` has a place for; our own engines keep none."""
        return {}

    @abstractmethod
    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Apply mutations in their order, each of one row; several may name the same row.

        Args:
            mutations: puts and deletes; `LATEST` becomes now. A `DELETE` with `LATEST` hides the
                newest version there is.
            sync: whether all of it must be on disk when the call returns; None is as opened.
        """

    @abstractmethod
    def load(self, blocks: Sequence[CellBlock]) -> None:
        """Write many puts; the blocks of one call name the same rows, each counted as one write."""

    @abstractmethod
    def increment(
        self, row: bytes, amounts: Sequence[tuple[str, bytes, int]], *, after_ms: int = -1
    ) -> list[Cell]:
        """Add to counters of one row together: 8-byte big-endian signed numbers, absent is 0.

        Args:
            row: the row key.
            amounts: family, qualifier and what is added to it; sums wrap at the ends of 64 bits.
            after_ms: the new cells are later than this; a cluster stamps by the clocks of its
                servers, whatever this is.

        Returns:
            The new cells, in the order given.

        Raises:
            Refused: a cell is not 8 bytes long; nothing is changed.
        """

    @abstractmethod
    def append(
        self, row: bytes, pieces: Sequence[tuple[str, bytes, bytes]], *, after_ms: int = -1
    ) -> list[Cell]:
        """Append bytes to cells of one row together; as `increment`."""

    @abstractmethod
    def check_and_mutate(self, row: bytes, check: Check, cells: Sequence[Cell]) -> bool:
        """Apply cells to a row if the check holds, with nothing in between; says whether it did."""

    @abstractmethod
    def regions(self) -> list[RegionCount]:
        """The regions in the order of their keys, with their counters."""

    def openings(self, wait_s: float | None = None) -> list[OpenRegion]:
        """The regions in the order of their keys, each with its server and its counters as of now.

        Args:
            wait_s: seconds to wait for regions that are on no server; None is as configured.

        Raises:
            Unsupported: some region was on no server all the while.
        """
        del wait_s
        return [OpenRegion.here(one) for one in self.regions()]

    @abstractmethod
    def split(self, at: bytes) -> None:
        """Divide the region that holds a row key before that key.

        Raises:
            Refused: a region begins there already.
        """

    @abstractmethod
    def alter(self, families: Sequence[Family]) -> None:
        """Give families new attributes, or add families; none is dropped."""

    @abstractmethod
    def annotate(self, attributes: Mapping[str, str]) -> None:
        """Replace the words kept with the table."""

    @abstractmethod
    def flush(self) -> None:
        """Write what is in memory to disk."""

    @abstractmethod
    def compact(self, *, major: bool = True) -> None:
        """Merge files; a major one drops deletes and what can never be seen again."""

    @abstractmethod
    def size(self) -> int:
        """Bytes on disk, approximately; 0 where there is no disk."""

    @abstractmethod
    def snapshot(self) -> Reader:
        """The table as it is now, to be read at leisure."""


class Engine(ABC):
    """A place where tables live. A kind's docstring says how its URL is written."""

    name: ClassVar[str]
    """The name of its kind."""
    scheme: ClassVar[str]
    """What its URLs begin with."""
    persistent: ClassVar[bool]
    """Whether its tables outlive the process."""
    shared: ClassVar[bool]
    """Whether several processes may open it at once."""
    exclusive: ClassVar[bool] = False
    """Whether whoever has it open is alone, so that nobody else uses its tables at that time."""
    refuses: ClassVar[Mapping[str, str]]
    """What it cannot do, by feature, each with the reason."""

    @classmethod
    @abstractmethod
    def open(cls, where: str, *, sync: bool = False, clock: Callable[[], int] = now_ms) -> Self:
        """Open the engine.

        Args:
            where: what stands behind the scheme and its colon.
            sync: whether every write is on disk before the call returns.
            clock: milliseconds since 1970, for `LATEST` and times to live.

        Raises:
            Unsupported: it cannot be reached, or another process has it.
        """

    @classmethod
    def is_there(cls, where: str) -> bool:
        """Whether there is a place to open; where there is none, opening would make it.

        Args:
            where: as for `open`.

        Raises:
            Refused: there can be no such place.
            Unsupported: it cannot be looked at.
        """
        del where
        return True

    @property
    @abstractmethod
    def catalog_url(self) -> str:
        """Where its tables are remembered, unless their designs name another place."""

    @abstractmethod
    def tables(self) -> list[str]:
        """The names of its tables, ascending."""

    def servers(self, wait_s: float | None = None) -> list[str]:
        """The servers that may hold regions, ascending; one without a name where there are none.

        It waits for so many seconds, None being as configured, and then raises `Unsupported`.
        """
        del wait_s
        return [""]

    def has(self, name: str) -> bool:
        """Whether there is a table of a name."""
        return name in self.tables()

    @abstractmethod
    def create(self, spec: TableSpec, progress: Callable[[int, int], None] | None = None) -> Store:
        """Make a table, pre-split; what it then is can be read back as `store.spec`.

        Args:
            spec: what it is to be.
            progress: told how many regions are open, and of how many; where that takes no time,
                not at all.

        Raises:
            Refused: there is one of that name, or the engine cannot do what an attribute asks.
        """

    @abstractmethod
    def table(self, name: str) -> Store:
        """A table that exists.

        Raises:
            Refused: there is none of that name.
        """

    @abstractmethod
    def drop(self, name: str) -> None:
        """Remove a table and all its rows.

        Raises:
            Refused: there is none of that name.
        """

    @abstractmethod
    def close(self) -> None:
        """Close everything; closing twice is harmless."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
