"""Closing a table while other threads scan ends the scans, and the table opens again."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.errors import Closed

if TYPE_CHECKING:
    from rowkey.table import Table

DESIGN = rowkey.Design("t", "[bucket(id, 4)][id]", fields={"id": "u32", "n": "u32"})
ROWS = 2_000
"""Enough that a scan takes several reads of the engine."""
CLOSES = 3
LONGEST_S = 30.0
"""Seconds within which whoever scans must end once the table is closed."""


def count_rows(table: Table) -> int:
    """Scan all rows one by one and return how many there were."""
    return sum(1 for _ in table.scan())


def count_in_batches(table: Table) -> int:
    """Scan all rows as columns and return how many there were."""
    return sum(batch.num_rows for batch in table.scan().batches(200))


def count_with_threads(table: Table) -> int:
    """Scan all rows by several threads at once and return how many there were."""
    return int(table.scan(threads=2).to_arrow().num_rows)


def count_backwards(table: Table) -> int:
    """Scan all rows in descending order and return how many there were."""
    return sum(1 for _ in table.scan(order="id desc"))


SCANS: tuple[Callable[[Table], int], ...] = (
    count_rows,
    count_in_batches,
    count_with_threads,
    count_backwards,
)


class Scanner(Thread):
    """A thread that scans a table again and again until an error.

    Args:
        table: the table.
        scan: reads all of it and returns how many rows there were.
    """

    def __init__(self, table: Table, scan: Callable[[Table], int]) -> None:
        super().__init__(daemon=True)  # one that hangs fails the test, not the end of the process
        self.table, self.scan = table, scan
        self.is_scanning = Event()
        self.refusal: Closed | None = None
        self.failure: BaseException | None = None
        self.counts: list[int] = []

    def run(self) -> None:
        try:
            while True:
                self.is_scanning.set()
                self.counts.append(self.scan(self.table))
        except Closed as refusal:
            self.refusal = refusal
        except BaseException as failure:  # noqa: BLE001 - whatever it is, the test tells it
            self.failure = failure


def close_during_scans(table: Table, delay_s: float) -> None:
    """Close a table while threads scan it, and check how each of them ends."""
    scanners = [Scanner(table, scan) for scan in SCANS]
    for scanner in scanners:
        scanner.start()
    for scanner in scanners:
        assert scanner.is_scanning.wait(LONGEST_S)
    Event().wait(delay_s)
    closer = Thread(target=table.close, daemon=True)
    closer.start()
    for thread in (closer, *scanners):
        thread.join(LONGEST_S)
        assert not thread.is_alive(), thread
    for scanner in scanners:
        assert scanner.failure is None
        assert "closed" in str(scanner.refusal)
        assert {ROWS} >= set(scanner.counts), scanner.scan


@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_closing_a_table_ends_every_scan_with_an_error(engine: str) -> None:
    """Closes end every scan with a refusal, and the table is whole when it is reopened."""
    with TemporaryDirectory(dir=RAM_FOLDER) as place:
        url = f"{engine}:{place}"
        with rowkey.open(DESIGN, url) as table, table.batch() as batch:
            for number in range(ROWS):
                batch.put({"id": number, "n": number})
        for number in range(CLOSES):
            close_during_scans(rowkey.open(DESIGN, url), 0.02 * number)
            with rowkey.open(DESIGN, url) as table:
                row: dict[str, Any] = {"id": number, "n": number}
                assert row == table.get(id=number)
                table.put(row)
        with rowkey.open(DESIGN, url) as table:
            assert ROWS == table.count()
