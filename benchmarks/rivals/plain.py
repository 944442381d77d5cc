"""The same keys written by hand, in plain Python: what every guide shows."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import mmh3
import pyarrow as pa

_LONG = struct.Struct(">Q").pack
_BUCKETS = [bytes([number]) for number in range(16)]


def encode_number_key(row: Mapping[str, Any]) -> bytes:
    """Return the key `[bucket(id, 16)][id][ts]` of one row."""
    packed = _LONG(row["id"])
    key: bytes = _BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(row["ts"])
    return key


def encode_text_key(row: Mapping[str, Any]) -> bytes:
    """Return the key `[bucket(host, 16)][host][ts]` of one row."""
    packed = row["host"].encode() + b"\0"
    key: bytes = _BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(row["ts"])
    return key


def encode_number_keys(ids: Sequence[int], times: Sequence[int]) -> list[bytes]:
    """Return the number keys of lists, in a loop."""
    keys = []
    for number, time in zip(ids, times, strict=True):
        packed = _LONG(number)
        keys.append(_BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(time))
    return keys


def encode_text_keys(hosts: Sequence[str], times: Sequence[int]) -> list[bytes]:
    """Return the text keys of lists, in a loop."""
    keys = []
    for host, time in zip(hosts, times, strict=True):
        packed = host.encode() + b"\0"
        keys.append(_BUCKETS[mmh3.hash(packed, 0, False) % 16] + packed + _LONG(time))
    return keys


def encode_text_keys_arrow(batch: pa.RecordBatch) -> pa.Array:
    """Return the text keys of Arrow columns as an Arrow column."""
    hosts, times = (column.to_pylist() for column in batch.columns)
    return pa.array(encode_text_keys(hosts, times), pa.binary())


def encode_number_keys_arrow(batch: pa.RecordBatch) -> pa.Array:
    """Return the number keys of Arrow columns as an Arrow column."""
    ids, times = (column.to_pylist() for column in batch.columns)
    return pa.array(encode_number_keys(ids, times), pa.binary())
