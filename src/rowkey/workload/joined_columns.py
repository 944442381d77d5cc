"""Columns of a file that are joined to one, such as a date and a time of day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa, pc

if TYPE_CHECKING:
    Joins = Mapping[str, Sequence[str]]
    """The columns that are joined, in order, by the name of the column that they become."""


def expand_names(joins: Joins, names: Iterable[str]) -> list[str]:
    """Return the file's own columns that are needed for some columns, each once."""
    return list(dict.fromkeys(own for name in names for own in joins.get(name, (name,))))


def replace_joined_names(joins: Joins, names: Sequence[str]) -> list[str]:
    """Return the columns of a file with those that are joined replaced by what they become.

    >>> replace_joined_names({"ts": ["date", "time"]}, ["host", "date", "time", "n"])
    ['host', 'ts', 'n']
    >>> replace_joined_names({"date": ["date", "time"]}, ["date", "time", "n"])
    ['date', 'n']
    """
    found = list(names)
    for joined, parts in joins.items():
        if all(part in found for part in parts):
            place = found.index(parts[0])
            after = [name for name in found[place:] if name not in parts]
            found = [*(name for name in found[:place] if name not in parts), joined, *after]
    return found


def join_batch(
    joins: Joins, batch: pa.RecordBatch, columns: Sequence[str] | None
) -> pa.RecordBatch:
    """Return a batch with some columns, or all, after joining.

    A joined value has a space between its parts, and is null if one of them is.
    """
    names = replace_joined_names(joins, batch.schema.names) if columns is None else list(columns)
    arrays = []
    for name in names:
        if name in joins:
            texts = [pc.cast(batch.column(part), pa.string()) for part in joins[name]]
            trimmed = [pc.utf8_trim_whitespace(text) for text in texts]
            arrays.append(pc.binary_join_element_wise(*trimmed, " "))
        else:
            arrays.append(batch.column(name))
    return pa.RecordBatch.from_arrays(arrays, names=names)
