"""Samples are read in bounded memory: a file ten times as long takes no more."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

READER = """
import gzip, resource, sys
from pathlib import Path
from rowkey.design import Design
from rowkey.workload import open_sample

FIELDS = {"host": {"type": "text", "max_bytes": 400}, "n": "u32", "ts": "timestamp_s"}
PAD = "x" * 1_000
LITTLE = 10

def line_of(kind, n):
    host, ts = f"h{n % 1_000}", 1_700_000_000 + n
    return {
        "csv": f"{host},{n},{ts},{PAD}\\n",
        "jsonl": f'{{"host": "{host}", "n": {n}, "ts": {ts}, "pad": "{PAD}"}}\\n',
    }[kind]

BLOCK = 10_000

def written(path, kind, lines):
    begin = {"csv": "host,n,ts,pad\\n", "jsonl": ""}[kind]
    block = "".join(line_of(kind, n) for n in range(BLOCK)).encode()
    pack = (lambda data: gzip.compress(data, 1)) if path.suffix == ".gz" else bytes
    packed = pack(block)
    with path.open("wb") as out:
        out.write(pack(begin.encode()))
        for _ in range(lines // BLOCK):
            out.write(packed)

def parquet_written(path, kind, lines):
    import pyarrow as pa
    from pyarrow import parquet
    numbers = range(BLOCK)
    hosts, pads = [f"h{n % 1_000}" for n in numbers], [PAD[:LITTLE]] * BLOCK
    block = pa.table({"host": hosts, "n": numbers, "ts": numbers, "pad": pads})
    options = {"compression": "none", "use_dictionary": False}
    with parquet.ParquetWriter(path, block.schema, **options) as out:
        for _ in range(lines // BLOCK):
            out.write_table(block)

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def read(path):
    design = Design("t", "[host][n][ts]", fields=FIELDS)
    sample = open_sample(path, design.collect_needed_fields(), design.writes.time)
    sizes = [len(events) for events in sample.read_events()]
    return sum(sizes), max(sizes)

folder, name = Path(sys.argv[1]), sys.argv[2]
kind = name.split(".")[1]
for lines in map(int, sys.argv[3:]):
    path = folder / f"{lines}-{name}"
    (parquet_written if kind == "parquet" else written)(path, kind, lines)
    count, most = read(path)
    print(count, most, peak_mb())
"""
SHORT = (20_000, 20_000, 20_000)
"""The short file is read until libraries have set up what they keep, whatever the length."""
LONG = {"a.csv": 80_000, "a.csv.gz": 80_000, "a.jsonl": 80_000, "a.parquet": 1_280_000}
"""Lines of the longer file. Lines are 1 KB; of Parquet there are rather more groups of rows, for
each of which Arrow keeps half a megabyte until the last is read if all are read together."""
MAX_BATCH_ROWS = 65_536
MAX_GROWTH_MB = 15
"""What the longer file may take more: a quarter of the 60 MB that text is longer; 0 to 8 came in
32 runs by hand, and 60 to 70 of Parquet with all groups read together."""


@pytest.mark.parametrize(
    "name", ["a.csv", pytest.param("a.csv.gz", marks=pytest.mark.long), "a.jsonl", "a.parquet"]
)
def test_memory_does_not_grow_with_the_length_of_a_file(tmp_path: Path, name: str) -> None:
    """Batches are bounded, and a much longer file adds little to the peak memory."""
    script, lines = tmp_path / "reader.py", (*SHORT, LONG[name])
    script.write_text(READER, encoding="utf-8")
    told = subprocess.run(
        [sys.executable, str(script), str(tmp_path), name, *map(str, lines)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = [list(map(float, line.split())) for line in told.splitlines()]
    assert list(lines) == [count for count, *_ in found]
    assert max(most for _, most, _ in found) <= MAX_BATCH_ROWS
    *_, (*_, before), (*_, after) = found
    assert after - before <= MAX_GROWTH_MB
