"""Samples are read in bounded memory: a file ten times as long takes no more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

READER = """
import gzip, os, resource, sys
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

def measure(folder, name, *lengths):
    kind = name.split(".")[1]
    for lines in map(int, lengths):
        path = folder / f"{lines}-{name}"
        (parquet_written if kind == "parquet" else written)(path, kind, lines)
        count, most = read(path)
        print(name, count, most, peak_mb(), flush=True)

for words in sys.argv[2:]:
    if not (child := os.fork()):
        measure(Path(sys.argv[1]), *words.split())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
"""Measures each type of file in a process of its own, forked once all is imported."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
LINES = {
    "a.csv": (40_000, 80_000),
    "a.csv.gz": (40_000, 80_000),
    "a.jsonl": (40_000, 80_000),
    "a.parquet": (80_000, 1_280_000 if IS_LONG else 720_000),
}
"""Lines of the short and the longer file, which is longer than a batch may be.

The short one is read first, until libraries have set up what they keep, whatever the length: what
is read ahead stops growing between 20 and 40 MB of text. Lines are 1 KB; of Parquet there are
rather more groups of rows, for each of which Arrow keeps half a megabyte until the last is read if
all are read together."""
MAX_BATCH_ROWS = 65_536
MAX_GROWTH_MB = 20
"""What the longer file may take more: half of the 40 MB that text is longer. Parquet with
all groups read together takes 30 to 35 MB more, and the longest 60 to 70."""


Measurements = dict[str, list[tuple[int, int, float]]]


def list_lengths(name: str) -> list[int]:
    """Return the lines of the files that are read one after another."""
    short, long = LINES[name]
    return [short, short, *([short] * IS_LONG), long]


@pytest.fixture(scope="module")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> Measurements:
    """The rows, the rows of the largest batch and the peak memory of each file, by its type."""
    folder = tmp_path_factory.mktemp("memory")
    script = folder / "reader.py"
    script.write_text(READER, encoding="utf-8")
    names = [name for name in LINES if IS_LONG or "csv" not in name]
    words = [" ".join(map(str, (name, *list_lengths(name)))) for name in names]
    told = subprocess.run(
        [sys.executable, str(script), str(folder), *words],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found: Measurements = {name: [] for name in names}
    for name, count, most, peak in map(str.split, told.splitlines()):
        found[name].append((int(count), int(most), float(peak)))
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if "csv" in name else ()) for name in LINES],
)
def test_memory_does_not_grow_with_the_length_of_a_sample_file(
    measurements: Measurements, name: str
) -> None:
    """Batches are bounded, and a much longer file adds little to the peak memory."""
    found = measurements[name]
    assert list_lengths(name) == [count for count, *_ in found]
    assert max(most for _, most, _ in found) <= MAX_BATCH_ROWS
    *_, (*_, before), (*_, after) = found
    assert after - before <= MAX_GROWTH_MB
