"""Read damaged copies of good files, and print the outcome of each.

This is a program, so that a signal does not end the test runner: the last line names the copy that
was read. A copy that takes ten seconds, or more memory than the limit, is a failure as well.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import signal
import struct
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from rowkey.advise.drafts.inferred_schema import infer_schema
from rowkey.design import Design
from rowkey.errors import RowkeyError
from rowkey.rows import build_cell_blocks
from rowkey.workload import open_sample

DEADLINE_S = 10
ADDRESS_SPACE = 4 << 30
ROWS = 2_000
DESIGN = Design(
    "t",
    "[bucket(host, 16)][host][ts][n]",
    fields={
        "host": {"type": "text", "max_bytes": 40},
        "ts": "timestamp_ms",
        "n": "u32",
        "note": {"type": "text", "nullable": True},
        "share": {"type": "float64", "nullable": True},
        "flag": {"type": "bool", "nullable": True},
    },
)
NUMBERS = (0, 1, -1, 8, 0x7F, 0xFF, 0xFFFF, 1 << 24, (1 << 31) - 1, -(1 << 31), 1 << 40, 1 << 62)
"""Lengths, offsets and counts that are written over others."""


def build_table() -> pa.Table:
    """Return rows with each type of column: coded and plain text, numbers, times, nulls."""
    chance = random.Random(1)
    numbers = range(ROWS)
    return pa.table(
        {
            "host": pa.array([f"web-{n % 40}" for n in numbers]).dictionary_encode(),
            "ts": pa.array([1_700_000_000_000 + 250 * n for n in numbers], pa.timestamp("ms")),
            "n": pa.array([chance.randrange(1 << 32) for _ in numbers], pa.uint32()),
            "note": [chance.choice((None, "", "GET /", "ö" * n)) for n in range(40)] * (ROWS // 40),
            "share": [chance.choice((None, n / 7)) for n in numbers],
            "flag": [chance.choice((None, True, False)) for _ in numbers],
        }
    )


def build_arrow(compression: str | None, *, is_stream: bool) -> bytes:
    """Return the rows as an Arrow file of four batches."""
    sink, rows = io.BytesIO(), build_table()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if is_stream else pa.ipc.new_file
    with make(sink, rows.schema, options=options) as writer:
        writer.write_table(rows, max_chunksize=ROWS // 4)
    return sink.getvalue()


def build_parquet(compression: str, **options: object) -> bytes:
    """Return the rows as a Parquet file of two row groups."""
    sink = io.BytesIO()
    parquet.write_table(
        build_table(), sink, compression=compression, row_group_size=ROWS // 2, **options
    )
    return sink.getvalue()


def build_csv() -> bytes:
    """Return the rows as CSV."""
    lines = [",".join(build_table().column_names)]
    lines += [
        ",".join("" if value is None else str(value) for value in row.values())
        for row in build_table().to_pylist()
    ]
    return "\n".join(lines).encode() + b"\n"


def build_json() -> bytes:
    """Return the rows as JSON lines."""
    rows = build_table().to_pylist()
    return "".join(json.dumps(row, default=str) + "\n" for row in rows).encode()


FILES: dict[str, Callable[[], bytes]] = {
    "file.arrow": lambda: build_arrow(None, is_stream=False),
    "packed.arrow": lambda: build_arrow("zstd", is_stream=False),
    "stream.arrows": lambda: build_arrow("lz4", is_stream=True),
    "plain.arrows": lambda: build_arrow(None, is_stream=True),
    "coded.parquet": lambda: build_parquet("snappy"),
    "plain.parquet": lambda: build_parquet("none", use_dictionary=False, data_page_version="2.0"),
    "rows.csv.gz": lambda: gzip.compress(build_csv(), mtime=0),
    "rows.csv": build_csv,
    "rows.jsonl": build_json,
}


@cache
def build_file(name: str) -> bytes:
    """Return the undamaged file of a name."""
    return FILES[name]()


def damage(good: bytes, chance: random.Random) -> bytes:
    """Return a copy with flipped bits, a lost end, zeros, a planted length or a repeated part."""
    data = bytearray(good)
    at = chance.randrange(len(data))
    # What says how much there is stands at the ends of a file, more often than in its midst.
    if chance.random() < 0.5:
        at = chance.choice((at % 2_000, len(data) - 1 - at % 2_000)) % len(data)
    kind = chance.choice(("bits", "end", "zeros", "length", "length", "stretch"))
    if kind == "bits":
        for _ in range(chance.choice((1, 1, 2, 8))):
            data[(at + chance.randrange(64)) % len(data)] ^= 1 << chance.randrange(8)
    elif kind == "end":
        del data[at:]
    elif kind == "zeros":
        count = chance.choice((1, 4, 16, 300))
        data[at : at + count] = bytes(len(data[at : at + count]))
    elif kind == "length":
        form = chance.choice(("<i", "<q", "<h"))
        at -= at % struct.calcsize(form)
        most = 1 << 8 * struct.calcsize(form) - 1
        number = chance.choice([n for n in NUMBERS if -most <= n < most])
        data[at : at + struct.calcsize(form)] = struct.pack(form, number)
    else:
        start, count = chance.randrange(len(data)), chance.choice((8, 64, 1_000))
        data[at:at] = data[start : start + count]
    return bytes(data)


def read_file(path: Path) -> None:
    """Read a file as `simulate` and `load` do, by the design, and as `init` does, without one."""
    sample = open_sample(path, DESIGN.fields, DESIGN.writes.time).match_columns()
    for events in sample.read_events():
        build_cell_blocks(DESIGN.layout, events.rows, timestamp=0)
    infer_schema(path, None)


def read_copy(name: str, number: int, path: Path) -> str:
    """Read a damaged copy, and return `read`, `refused`, or the error that is none of rowkey's."""
    path.write_bytes(damage(build_file(name), random.Random(f"{name} {number}")))
    signal.alarm(DEADLINE_S)
    try:
        read_file(path)
    except RowkeyError:
        return "refused"
    except BaseException as problem:  # noqa: BLE001 - any other error is the finding
        last_frame = traceback.extract_tb(problem.__traceback__)[-1]
        place = f"{last_frame.filename}:{last_frame.lineno}"
        return " ".join(f"{type(problem).__name__}: {problem} at {place}".split())[:400]
    finally:
        signal.alarm(0)
    return "read"


def main() -> None:
    """Read damaged copies of files, print a line for each, and the peak memory in MB at the end.

    Arguments are a folder, and the copies of each file by their numbers, as `file.arrow=0:40`.
    """
    folder, *copies = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    for name, _, numbers in (one.partition("=") for one in copies):
        first, _, stop = numbers.partition(":")
        for number in range(int(first), int(stop)):
            print(f"{name} {number}", end=" ", flush=True)
            print(read_copy(name, number, Path(folder) / name), flush=True)
    # `ru_maxrss` would count what the process was that started this one.
    status = Path("/proc/self/status").read_text("ascii")
    print("peak", int(status.partition("VmHWM:")[2].split()[0]) >> 10)


if __name__ == "__main__":
    main()
