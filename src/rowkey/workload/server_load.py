"""What a region server can bear, and how much of that a workload takes.

The unit is one operation: a put of one row, or a read's request to one region. Each row read there
costs a fraction of an operation, and so does each event, where events share rows.
"""

from __future__ import annotations

DEFAULT_CAPACITY_PER_S = 10_000.0
"""Operations a second of a server whose capacity is not declared. Source: docs/performance.md has
10,040 single puts a second on a cluster of two cores; users of OpenTSDB reported 2,900 to 18,700
writes a second for each server at HBaseCon."""
SCANNED_ROWS_PER_OPERATION = 20
"""Rows that a scan reads in the time of one operation: 200,000 a second at the default capacity.
Source: a rule of thumb for narrow rows in cached blocks; docs/performance.md has 1.28 million rows
a second from three servers on two cores."""
BYTES_PER_OPERATION = 40_000
"""Bytes that a server writes, or reads from its cache, in the time of one operation: 400 MB a
second at the default capacity. Measured with one server on two cores, for values of 50 and of
100,000 bytes: 7,837 and 3,133 single puts a second; scans of 610,205 and of 11,710 rows a second.
The puts give 66,000 bytes for the time of one put, the scans 39,000 for the time of 20 small rows:
the lower is taken for both. Copies on other machines are not in it."""
FREE_BYTES = 1_000
"""Bytes of an event, or of a row that is read, which cost nothing of their own."""

HARMLESS_UTILIZATION = 0.25
"""Share of its capacity up to which a server may take any share of the load: four times as much
would still fit."""
FORESEEN_GROWTH = 10
"""Times their rate at which writes have to do no harm too, before nothing is paid for even ones."""
FAIR_UTILIZATION = 0.5
"""Share of its capacity above which a server has too little left for twice the load."""
POOR_UTILIZATION = 0.9
"""Share of its capacity above which a peak, or the failure of a neighbour, is too much."""
FAIR_WASTE, POOR_WASTE = 0.01, 0.1
"""Shares of all servers' capacity that a read may waste on regions and rows that its answer does
not need, before it is fair, and before it is poor."""


def count_read_operations(regions: float, rows_read: float, row_bytes: float = 0.0) -> float:
    """Return the operations that one answer of a read costs.

    Args:
        regions: regions that it asks.
        rows_read: rows read in them.
        row_bytes: the mean bytes of a row.

    >>> count_read_operations(1, 1), count_read_operations(16, 200_000, 100)
    (1.05, 10016.0)
    >>> count_read_operations(1, 10, 101_000)
    26.5
    """
    return regions + rows_read * (1 / SCANNED_ROWS_PER_OPERATION + _count_bytes(row_bytes))


def count_write_operations(event_bytes: float) -> float:
    """Return the operations that one event costs: one, and more for its bytes if it is large.

    >>> count_write_operations(100), count_write_operations(101_000)
    (1.0, 3.5)
    """
    return 1 + _count_bytes(event_bytes)


def _count_bytes(size: float) -> float:
    """Return the operations that the bytes of a large event or row cost."""
    return max(size - FREE_BYTES, 0.0) / BYTES_PER_OPERATION
