"""Identities of rows as values of fields, from Arrow columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rowkey.array_libraries import pa
from rowkey.keys import Field, build_field_column


def iterate_identities(
    batch: pa.RecordBatch, fields: Mapping[str, Field]
) -> Iterator[dict[str, Any]]:
    """Yield some fields of rows in Arrow columns as rows are read one by one.

    Args:
        fields: the wanted fields, by name.
    """
    lists = [
        batch.column(name).to_pylist()
        if field.type.is_sequence
        else build_field_column(field, batch.column(name)).to_list()
        for name, field in fields.items()
    ]
    return (dict(zip(fields, values, strict=True)) for values in zip(*lists, strict=True))
