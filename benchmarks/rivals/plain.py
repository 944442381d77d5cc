"""The same keys written by hand, in plain Python: what every guide shows."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import mmh3
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONG = struct.Struct(">Q").pack
_BUCKETS = [bytes([number]) for number in range(16)]


def number_key(row: Mapping[str, Any]) -> bytes:
    """`[bucket(id, 16)][id][ts]` of one row."""
    packed = _LONG(row["id"])
    key: bytes = _BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(row["ts"])
    return key


def text_key(row: Mapping[str, Any]) -> bytes:
    """`[bucket(host, 16)][host][ts]` of one row."""
    packed = row["host"].encode() + b"\0"
    key: bytes = _BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(row["ts"])
    return key


def number_keys(ids: Sequence[int], times: Sequence[int]) -> list[bytes]:
    """The same keys of lists, in a loop."""
    keys = []
    for number, time in zip(ids, times, strict=True):
        packed = _LONG(number)
        keys.append(_BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(time))
    return keys


def text_keys(hosts: Sequence[str], times: Sequence[int]) -> list[bytes]:
    """The same of text."""
    keys = []
    for host, time in zip(hosts, times, strict=True):
        packed = host.encode() + b"\0"
        keys.append(_BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(time))
    return keys


def text_keys_arrow(batch: pa.RecordBatch) -> pa.Array:
    """The same from Arrow columns to an Arrow column, as a batch goes in and out of rowkey."""
    hosts, times = (column.to_pylist() for column in batch.columns)
    return pa.array(text_keys(hosts, times), pa.binary())


def number_keys_arrow(batch: pa.RecordBatch) -> pa.Array:
    """The same of numbers."""
    ids, times = (column.to_pylist() for column in batch.columns)
    return pa.array(number_keys(ids, times), pa.binary())
