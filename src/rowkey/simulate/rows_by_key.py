"""Sampled rows in the order in which a table holds them.

Where several events share a row, each of them is a row here: HBase reads such a row cell by cell,
so reading it costs as much as what it holds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa, pc
from rowkey.errors import RowError
from rowkey.schema import Bounds, RowCounts

if TYPE_CHECKING:
    from rowkey.design import Design


class RowsByKey:
    """The distinct rows among sampled events, by row key and by their place in a shared row.

    Args:
        rows: the sampled events, in the order of their arrival.
        keys: the row key of each; of events that overwrite each other the last stands.
    """

    def __init__(self, design: Design, rows: pa.RecordBatch, keys: Sequence[bytes]) -> None:
        self._layout = design.layout
        columns = {"key": pa.array(keys, pa.binary())}
        qualifiers = _encode_qualifiers(design, rows)
        if qualifiers is not None:
            columns["qualifier"] = qualifiers
        table = pa.table(columns)
        order = pc.sort_indices(table, [(name, "ascending") for name in columns])
        table = table.take(order)
        is_last = np.ones(len(keys), np.bool_)
        if qualifiers is not None or not design.layout.has_shared_rows:
            is_last[:-1] = np.any([_find_changes(column) for column in table.columns], axis=0)
        table = table.filter(pa.array(is_last))
        self.keys: list[bytes] = table.column("key").to_pylist()
        self.order: np.ndarray[Any, Any] = order.to_numpy()[is_last].astype(np.intp)
        """The event of each row."""
        self._single_count = int(
            np.count_nonzero(np.diff(np.flatnonzero(is_last), prepend=-1) == 1)
        )
        self.places = np.empty(len(keys), np.intp)
        """The row of each event."""
        self.places[order.to_numpy()] = np.cumsum(is_last) - is_last
        self._event_count = len(keys)
        self._qualifiers = None if qualifiers is None else table.column("qualifier")

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def counts(self) -> RowCounts:
        """Return how many rows the sampled events are, and how many of them one event wrote."""
        return RowCounts(self._event_count, len(self), self._single_count)

    def list_rows(self, events: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the rows that some events left behind, ascending: others may overwrite theirs."""
        rows = self.places[events]
        return np.sort(rows[self.order[rows] == events])

    def find_span(self, start: bytes, stop: bytes) -> tuple[int, int]:
        """Return the first row at or after a start key, and at or after a stop; b"" for no stop."""
        end = bisect_left(self.keys, stop) if stop else len(self.keys)
        return bisect_left(self.keys, start), end

    def count_read(self, bounds: Bounds) -> np.ndarray[Any, Any]:
        """Return how many rows before each row a read of it does not skip within shared rows.

        Args:
            bounds: the read's conditions; those on the start of qualifiers become a filter.

        Returns:
            One more count than rows, so that differences are those of spans.
        """
        first, stop = self._layout.find_qualifier_range(bounds)
        if self._qualifiers is None or (first, stop) == (b"", b""):
            return self._row_counts
        names, places = self._qualifier_places
        low = bisect_left(names, first)
        high = bisect_left(names, stop) if stop else len(names)
        return np.concatenate([[0], np.cumsum((places >= low) & (places < high))])

    def is_narrowed_by(self, name: str | None, bounds: Bounds) -> bool:
        """Return whether the bound of a field limits which parts of shared rows are read."""
        if self._qualifiers is None or name not in bounds:
            return False
        others = {other: bound for other, bound in bounds.items() if other != name}
        find_range = self._layout.find_qualifier_range
        return find_range(bounds) != find_range(others)

    def extend_to_whole_row(self, row: int | None, *, is_backwards: bool) -> int | None:
        """Return the last event that is read with another of a shared row: without pages all."""
        if row is None:
            return None
        if is_backwards:
            return bisect_left(self.keys, self.keys[row])
        if self._layout.has_one_family:
            return row
        return bisect_right(self.keys, self.keys[row]) - 1

    @cached_property
    def _row_counts(self) -> np.ndarray[Any, Any]:
        """Return how many rows are before each row, and how many there are."""
        return np.arange(len(self) + 1)

    @cached_property
    def _qualifier_places(self) -> tuple[list[bytes], np.ndarray[Any, Any]]:
        """Return the distinct qualifiers, ascending, and the place of each row's among them."""
        assert self._qualifiers is not None
        encoded = self._qualifiers.combine_chunks().dictionary_encode()
        names: list[bytes] = encoded.dictionary.to_pylist()
        ranks = np.empty(len(names), np.intp)
        ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        return sorted(names), ranks[encoded.indices.to_numpy()]


def _encode_qualifiers(design: Design, rows: pa.RecordBatch) -> pa.Array | None:
    """Return where each event lies in its shared row.

    None if rows are not shared, or if the sample does not tell: then a read of a row reads all.
    """
    prefix = design.layout.qualifier_prefix
    if prefix is None or not set(prefix.field_names).issubset(rows.schema.names):
        return None
    try:
        return prefix.encode_batch(rows)
    except RowError:  # an event that cannot be written
        return None


def _find_changes(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Return for each value but the last whether the next one is another."""
    values = column.combine_chunks()
    changes: np.ndarray[Any, Any] = pc.not_equal(values[1:], values[:-1]).to_numpy(
        zero_copy_only=False
    )
    return changes
