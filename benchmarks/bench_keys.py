"""How fast keys are encoded and decoded, one at a time and in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rivals import plain
from timing import measure_rate, measure_ratio

from rowkey import bind_key

if TYPE_CHECKING:
    from timing import Result

BATCH, LOOP, ROWS = 4_000_000, 400_000, 200_000
START = 1_609_459_200_000


def measure_all() -> Iterator[Result]:
    """Yield all results on encoding and decoding row keys."""
    yield from _measure_numbers()
    yield from _measure_texts()
    yield from _measure_rows()
    yield from _measure_decoding()


def _build_number_batch(count: int) -> pa.RecordBatch:
    """Return a batch of random integer ids with ascending times."""
    ids = np.random.default_rng(0).integers(0, 2**40, count, dtype=np.uint64)
    times = np.arange(count, dtype=np.int64) + START
    return pa.record_batch([pa.array(ids), pa.array(times)], names=["id", "ts"])


def _build_text_batch(count: int, distinct: int | None) -> pa.RecordBatch:
    """Return a batch of host names, distinct or drawn from a set, with ascending times."""
    times = np.arange(count, dtype=np.int64) + START
    if distinct is None:
        hosts = pa.array([f"user{n * 7919 % 1_000_003}-{n}" for n in range(count)])
    else:
        names = pa.array([f"host-{n * 7919 % 100_003}.example" for n in range(distinct)])
        drawn = np.random.default_rng(0).integers(0, distinct, count)
        hosts = names.take(pa.array(drawn))
    return pa.record_batch([hosts, pa.array(times)], names=["host", "ts"])


NUMBERS = bind_key("[bucket(id, 16)][id][ts]", {"id": "u64", "ts": "timestamp_ms"})
TEXTS = bind_key("[bucket(host, 16)][host][ts]", {"host": "text", "ts": "timestamp_ms"})


def _measure_numbers() -> Iterator[Result]:
    """Yield the result of encoding integer keys in a batch."""
    big, small = _build_number_batch(BATCH), _build_number_batch(LOOP)
    ids, times = (column.to_pylist() for column in small.columns)
    result = measure_ratio(
        "batch encode, bucket + integer + timestamp",
        "M keys/s",
        (BATCH, lambda: NUMBERS.encode_batch(big)),
        "a plain Python loop over lists",
        (LOOP, lambda: plain.encode_number_keys(ids, times)),
    )
    result.goal = "60 M keys/s, or 12 times the loop"
    result.met = result.median >= 60e6 or (result.ratio or 0) >= 12
    yield result


def _measure_texts() -> Iterator[Result]:
    """Yield the results of encoding text keys in a batch."""
    for distinct in (1_000, 10_000):
        batch = _build_text_batch(BATCH, distinct)
        result = measure_rate(
            f"batch encode, bucket + text + timestamp, {distinct:,} different texts",
            "M keys/s",
            BATCH,
            partial(TEXTS.encode_batch, batch),
        )
        result.goal, result.met = "20 M keys/s", result.median >= 20e6
        result.notes = "a third of the time, Arrow finds the repeated texts"
        yield result
    big, small = _build_text_batch(BATCH // 2, None), _build_text_batch(LOOP, None)
    result = measure_ratio(
        "batch encode, bucket + text + timestamp, every text different",
        "M keys/s",
        (BATCH // 2, lambda: TEXTS.encode_batch(big)),
        "a plain Python loop, Arrow in and out",
        (LOOP, lambda: plain.encode_text_keys_arrow(small)),
    )
    result.goal, result.met = "4 times the loop", (result.ratio or 0) >= 4
    yield result
    hosts, times = (column.to_pylist() for column in small.columns)
    yield measure_ratio(
        "the same against a loop that starts and ends with lists",
        "M keys/s",
        (BATCH // 2, lambda: TEXTS.encode_batch(big)),
        "a plain Python loop over lists",
        (LOOP, lambda: plain.encode_text_keys(hosts, times)),
    )


def _encode_each(encode: Callable[[Mapping[str, Any]], bytes], rows: list[dict[str, Any]]) -> None:
    """Encode each row by itself."""
    for row in rows:
        encode(row)


def _measure_rows() -> Iterator[Result]:
    """Yield the results of encoding rows one at a time."""
    for name, key, rival, batch in (
        (
            "bucket + integer + timestamp",
            NUMBERS,
            plain.encode_number_key,
            _build_number_batch(ROWS),
        ),
        ("bucket + text + timestamp", TEXTS, plain.encode_text_key, _build_text_batch(ROWS, None)),
    ):
        rows = batch.to_pylist()
        result = measure_ratio(
            f"one row at a time, {name}",
            "M keys/s",
            (ROWS, partial(_encode_each, key.encode, rows)),
            "struct code written by hand for this key",
            (ROWS, partial(_encode_each, rival, rows)),
        )
        result.goal = "at most 3.5 times as long as by hand"
        result.met = 1 / (result.ratio or 1) <= 3.5
        yield result


def _measure_decoding() -> Iterator[Result]:
    """Yield the result of decoding keys in a batch."""
    keys = TEXTS.encode_batch(_build_text_batch(1_000_000, 10_000))
    sample = keys.slice(0, 20_000).to_pylist()
    yield measure_ratio(
        "batch decode, bucket + text + timestamp, each bucket verified",
        "M keys/s",
        (len(keys), lambda: TEXTS.decode_batch(keys)),
        "decoding one at a time",
        (len(sample), lambda: [TEXTS.decode(key) for key in sample]),
    )
