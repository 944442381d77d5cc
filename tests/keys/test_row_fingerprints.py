"""Fingerprints of rows are equal where their keys are, but for the random salt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rowkey.keys import bind_key, compute_row_fingerprints

FIELDS: dict[str, Any] = {
    "host": "text",
    "user": "text",
    "ts": "timestamp_ms",
    "zone": {"type": "text", "nullable": True},
}
KEYS = (
    "[bucket(host, 16)][host][desc(ts)]",
    "[salt(4)][ts][host]",
    "[digest(host, 4)][ts]",
    "[truncate(host, 2)][ts]",
    "[time_bucket(ts, 1h)][host]",
    "[ts][zone]",
    "[host][zone]",
)


@pytest.mark.parametrize("repeats", [1, 2_000])
@pytest.mark.parametrize("text", KEYS)
def test_rows_of_one_key_have_one_fingerprint(text: str, repeats: int) -> None:
    """Rows have as many fingerprints as keys, also where texts are coded and in later batches."""
    key = bind_key(text, FIELDS)
    rows = [
        {"host": host, "user": host, "ts": ts, "zone": zone}
        for host in ("a", "b", "web-1", "web-2", "web-10", "web-1")
        for ts in (0, 1, 3_600_000, 0)
        for zone in (None, "", "x")
    ] * repeats
    schema = pa.schema({"host": "utf8", "user": "utf8", "ts": "int64", "zone": "utf8"})
    batch = pa.RecordBatch.from_pylist(rows, schema)
    salts = np.zeros(len(rows), np.int64)
    keys = key.encode_valid_batch(batch, salts=salts).to_pylist()
    columns = key.build_columns(batch, salts=np.arange(len(rows)) % 4)
    fingerprints = compute_row_fingerprints(key, columns).tolist()
    pairs = set(zip(keys, fingerprints, strict=True))
    assert len(pairs) == len({*keys}) == len({*fingerprints})
