"""The contract of storage engines: tables of families, rows as bytes, cells.

An engine knows no design: rows are bytes, cells are `rowkey.cells.Cell`. It must implement `Engine`
and the abstract methods of `Store`; `Operations` are optional. A read passes all its ranges at once
and gets one cursor for each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import ClassVar, Self, TypeAlias

from rowkey.array_libraries import pa
from rowkey.cells import Cell, CellBlock, Family, RowCells
from rowkey.engines.ordering.row_clock import RowClock, get_time_ms
from rowkey.engines.region_tracker import OpenRegion, RegionAvailability, RegionRequestCounts
from rowkey.engines.requests import NEWEST_CELLS, CellCondition, CellSelection, ScanRange, TableSpec
from rowkey.errors import Closed, NotSupported
from rowkey.progress import ReportProgress

SendCheck: TypeAlias = "Callable[[], float]"
"""Called before each time that a change is sent to a server.

Returns the seconds within which it must be sent; raises an error if it must not be sent. Without it
a change that depends on the current values is sent however late it is: after a process was
suspended, or in a retry.
"""


def build_closed_cursor_error() -> Closed:
    """Return the error for reading on from a cursor that was closed, or whose table was."""
    what = "the cursor or its table was closed while it was read"
    return Closed("cursor", what, remedy="Open the table again if needed, and repeat the scan.")


class Cursor(ABC):
    """The rows of one range, in key order, read lazily.

    A cursor shows the table as it was when it was opened, whatever is written meanwhile.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[RowCells]:
        """Iterate over rows with at least one cell, or over parts of rows with `batch`."""

    @abstractmethod
    def read_blocks(self, rows: int = 8192) -> Iterator[pa.RecordBatch]:
        """Return the rows as Arrow record batches of about `rows` rows, the first ones smaller.

        Rows are whole; with `batch`, a record batch may end after any column of a row, and the next
        one continues that row.

        Columns: `row` binary, `family` dictionary of text, `qualifier` binary, `timestamp` int64,
        `value` binary. Not with `raw`.
        """

    def peek_first_row(self) -> bytes | None:
        """Return the first stored row key of the range without reading on; None if unknown.

        In the order of the scan, no row comes before it: a merge of many ranges reads the lowest
        one first. Call it before the first row is read. The row may have no visible cell, and is
        not counted as read.
        """
        return None

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the cursor; closing twice is harmless.

        Reading further raises `Closed`, so that an early end is not taken for the last row.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Reader(ABC):
    """Reads cells of a table or of a snapshot."""

    @abstractmethod
    def get(self, rows: Sequence[bytes], selection: CellSelection = NEWEST_CELLS) -> list[RowCells]:
        """Return the selected cells of rows, in the order of `rows`; a missing row has no cells.

        Raises:
            InvalidArgument: a row key is empty or too long, or a family is unknown.
        """

    @abstractmethod
    def scan(
        self, ranges: Sequence[ScanRange], selection: CellSelection = NEWEST_CELLS
    ) -> list[Cursor]:
        """Return one cursor for each range; all show the table as of the same moment.

        Raises:
            InvalidArgument: a family is unknown, or a number of `selection` is out of range.
        """

    @abstractmethod
    def close(self) -> None:
        """Close this reader of a table or snapshot; closing twice is harmless."""


class Operations:
    """Operations on a table that an engine may support: regions, files, snapshots, metadata.

    Each of them raises `NotSupported` until the store of an engine overrides it.
    """

    @property
    def unmodeled_attributes(self) -> Mapping[str, Mapping[str, str]]:
        """Return HBase's attributes, by family, that `Family` has no field for."""
        return {}

    def list_regions(self) -> list[RegionRequestCounts]:
        """Return the regions in key order, with their request counts."""
        raise self._build_unsupported_error("list the regions of a table")

    def list_open_regions(self, wait_s: float | None = None) -> list[OpenRegion]:
        """Return the regions in key order, each with its server and its counts as of now.

        Args:
            wait_s: seconds to wait for regions that are on no server; None is as configured.

        Raises:
            Unavailable: some region was on no server all the while.
        """
        del wait_s
        return [OpenRegion.from_counts(counts) for counts in self.list_regions()]

    def count_open_regions(self, wait_s: float | None = None) -> RegionAvailability:
        """Return how many regions there are, and how many of them a server has open now.

        Args:
            wait_s: seconds for the answers of all servers; None is as configured.

        Raises:
            Unavailable: the regions could not be listed.
        """
        del wait_s
        count = len(self.list_regions())
        return RegionAvailability(count, count)

    def split(self, split_key: bytes) -> None:
        """Split the region that holds a row key, so that a region starts at that key.

        Raises:
            InvalidArgument: a region starts there already.
        """
        raise self._build_unsupported_error("split a region")

    def alter_families(self, families: Sequence[Family]) -> None:
        """Change the attributes of column families, or add families; none is dropped."""
        raise self._build_unsupported_error("alter the families of a table")

    def replace_attributes(self, attributes: Mapping[str, str]) -> None:
        """Replace all attributes of the table."""
        raise self._build_unsupported_error("change the attributes of a table")

    def flush(self) -> None:
        """Write the cells that are only in memory to files."""
        raise self._build_unsupported_error("flush a table")

    def compact(self, *, major: bool = True) -> None:
        """Merge the table's files; a major compaction removes deleted and expired cells."""
        raise self._build_unsupported_error("compact a table")

    def measure_size_bytes(self) -> int:
        """Return the approximate bytes of the table's files; 0 if it has none."""
        raise self._build_unsupported_error("measure the files of a table")

    def snapshot(self) -> Reader:
        """Return a reader of the table as it is now, which later writes do not change."""
        raise self._build_unsupported_error("take a snapshot")

    def _build_unsupported_error(self, operation: str) -> NotSupported:
        what = f"the engine of {type(self).__name__} cannot {operation}"
        return NotSupported("engine", what, remedy="Store the table on another engine.")


class Store(Reader, Operations):
    """One open table of an engine: an engine must read, scan and write cells; the rest is optional.

    Every call that changes rows raises `InvalidArgument` before anything is changed: for an unknown
    family, an empty or too long row key, a cell above the limit, a timestamp out of range. A change
    is visible to every later read once the call has returned and, as far as the engine is durable,
    survives a crash whole.
    """

    is_shared: ClassVar[bool] = False
    """Whether the table is on a cluster: other processes write to it too, servers stamp increments
    by their own clocks, and the mutations of one call are applied in any order."""

    @property
    @abstractmethod
    def spec(self) -> TableSpec:
        """Return the table's current name, families, split keys and attributes."""

    @property
    def families_and_attributes(self) -> tuple[tuple[Family, ...], Mapping[str, str]]:
        """Return the current families and table attributes, without reading the regions."""
        spec = self.spec
        return spec.families, spec.attributes

    @property
    @abstractmethod
    def row_clock(self) -> RowClock:
        """Return the clock that gives timestamps to changes, shared by all writers of the table."""

    @abstractmethod
    def mutate(self, mutations: Sequence[RowCells], *, sync: bool | None = None) -> None:
        """Apply puts and deletes in their order; several may change the same row.

        Args:
            mutations: puts and deletes; the timestamp `LATEST` becomes now. A `DELETE` with
                `LATEST` hides the newest version of its column.
            sync: whether all of it must be on disk when the call returns; None is as the engine was
                opened.
        """

    @abstractmethod
    def load_blocks(self, blocks: Sequence[CellBlock]) -> None:
        """Write many puts from Arrow columns; all blocks of a call have the same rows."""

    @abstractmethod
    def increment(
        self,
        row: bytes,
        amounts: Sequence[tuple[str, bytes, int]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        """Add to counters of one row atomically: 8-byte big-endian signed numbers, absent is 0.

        Args:
            row: the row key.
            amounts: family, qualifier and the number to add; sums wrap at the ends of 64 bits.
            after_ms: the new cells get later timestamps than this; a cluster stamps them by the
                clocks of its servers and ignores it.
            check_send: see `SendCheck`.

        Returns:
            The new cells, in the order of `amounts`.

        Raises:
            InvalidArgument: a cell is not 8 bytes long; nothing is changed.
        """

    @abstractmethod
    def append(
        self,
        row: bytes,
        pieces: Sequence[tuple[str, bytes, bytes]],
        *,
        after_ms: int = -1,
        check_send: SendCheck | None = None,
    ) -> list[Cell]:
        """Append bytes to cells of one row atomically; arguments as for `increment`."""

    @abstractmethod
    def check_and_mutate(
        self,
        row: bytes,
        condition: CellCondition,
        cells: Sequence[Cell],
        *,
        check_send: SendCheck | None = None,
    ) -> bool:
        """Change a row if a condition on one of its cells holds; return whether it held.

        Args:
            row: the row key.
            condition: compares one cell of the row.
            cells: puts and deletes.
            check_send: see `SendCheck`.
        """


class Engine(ABC):
    """A location that holds tables. The docstring of each engine gives its URL."""

    name: ClassVar[str]
    """The name of the engine."""
    scheme: ClassVar[str]
    """The scheme of its URLs."""
    is_persistent: ClassVar[bool]
    """Whether tables outlive the process."""
    is_shared: ClassVar[bool]
    """Whether several processes may open the engine at the same time."""
    is_exclusive: ClassVar[bool] = False
    """Whether only one process can have the engine open."""
    unsupported_features: ClassVar[Mapping[str, str]]
    """Features of HBase that the engine lacks, each with the reason."""

    @classmethod
    @abstractmethod
    def open(
        cls,
        location: str,
        *,
        sync: bool = False,
        clock: Callable[[], int] = get_time_ms,
        timeout_s: float | None = None,
    ) -> Self:
        """Open the storage engine at a location.

        Args:
            location: the part of the URL after the scheme and its colon.
            sync: whether every write is on disk before the call returns.
            clock: milliseconds since 1970, for `LATEST` and times to live.
            timeout_s: seconds after which a call to a server fails; None is as the engine has it.

        Raises:
            Unavailable: it cannot be reached, or another process has it open.
        """

    @classmethod
    def is_initialized(cls, location: str) -> bool:
        """Return whether the location exists; if not, opening it would create it.

        Args:
            location: as for `open`.

        Raises:
            InvalidArgument: the location is malformed.
            Unavailable: it cannot be examined.
        """
        del location
        return True

    @property
    @abstractmethod
    def catalog_url(self) -> str:
        """Return the default URL of the catalog that stores the designs of the tables."""

    @abstractmethod
    def list_tables(self) -> list[str]:
        """Return the names of all tables of the engine, ascending."""

    def list_servers(self, wait_s: float | None = None) -> list[str]:
        """Return the names of the region servers, ascending; one empty name on an embedded engine.

        Args:
            wait_s: seconds to wait for the answer; None is as configured.

        Raises:
            Unavailable: no answer came in time.
        """
        del wait_s
        return [""]

    def check_reachable(self, wait_s: float | None = None) -> None:  # noqa: B027 - most are
        """Raise unless a client that comes now could find the servers of the engine.

        Args:
            wait_s: seconds to wait for the answer; None is as configured.

        Raises:
            Unavailable: it could not.
        """

    def has_table(self, name: str) -> bool:
        """Return whether a table of this name exists."""
        return name in self.list_tables()

    @abstractmethod
    def create_table(self, spec: TableSpec, progress: ReportProgress | None = None) -> Store:
        """Create a table with one region for each split key and one before, and open it.

        Args:
            spec: name, families, split keys and attributes.
            progress: called with how many regions are open, if opening them takes time.

        Raises:
            InvalidArgument: the table exists already, or the spec is wrong.
            NotSupported: an attribute asks for something that the engine cannot do.
        """

    @abstractmethod
    def open_table(self, name: str) -> Store:
        """Open a table by its name.

        Raises:
            InvalidArgument: there is no table of that name.
        """

    @abstractmethod
    def drop_table(self, name: str) -> None:
        """Delete a table with all its rows.

        Raises:
            InvalidArgument: there is no table of that name.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the engine and its tables; closing twice is harmless."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
