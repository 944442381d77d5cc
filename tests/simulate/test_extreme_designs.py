"""Legal designs of the largest sizes: they end in a verdict or a refusal, in bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAX_ADDRESS_BYTES = 3 << 29
"""Bytes of memory that a command may map: 1.5 GiB."""
LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MAX_ADDRESS_BYTES}, {MAX_ADDRESS_BYTES}))
from rowkey.cli import main
sys.exit(main())
"""
FIELDS = """
[fields]
host = { type = "text", heavy = ["web-1"], max_bytes = 40 }
ts = "timestamp_ms"
a = "u64"
"""
BRIEFLY = '[writes]\nrate = "2000/s"\nfor = "10s"\n'
READS = """
[[reads]]
name = "interval"
where = "ts >= ? and ts < ?"
order = "ts"
limit = 10
"""
PER_BUCKET = 'splits = "per_bucket"'
DESIGNS = {
    "buckets": ("[bucket(host, 65536)][host][ts]", PER_BUCKET, BRIEFLY),
    "spread": ("[bucket(host, ts, 60000, 60000)][host][ts]", PER_BUCKET, BRIEFLY),
    "pairs": ("[bucket(a, 65536, width=2)][mod(a, 65536)][a]", PER_BUCKET, BRIEFLY),
    "regions": (
        "[bucket(host, 16)][host][ts]",
        'splits = { algorithm = "hex_string", regions = 100000 }',
        BRIEFLY,
    ),
    "servers": ("[bucket(host, 65536)][host][ts]", PER_BUCKET, BRIEFLY + "[cluster]\nservers=9999"),
    "4,096 ranges": ("[salt(4096)][bucket(host, 4096)][ts]", PER_BUCKET, BRIEFLY + READS),
    "wide read": ("[salt(65536)][bucket(host, 65536)][ts]", PER_BUCKET, BRIEFLY + READS),
    "rate": ("[bucket(host, 16)][host][ts]", "", '[writes]\nrate = "1000000000/s"\n'),
    "fast": ("[bucket(host, 16)][host][ts]", "", '[writes]\nrate = "1000000/s"\n'),
}
"""The key, the splits and other tables of each design."""
VERDICTS = ("GOOD: ", "FAIR: ", "POOR: ")
SHORT_RUNS = {
    ("simulate", "rate"): ("the workload ends after 0.067 s, with 67,000,000 events",),
}
"""The commands that `make test` runs, and what each of them prints; the rest of the largest designs
resembles those of `test_sizes.py`."""
DEEP_RUNS = {
    ("explain", "4,096 ranges"): ("4,096 ranges",),
    ("explain", "wide read"): ("65,536 ranges",),
    ("simulate", "pairs"): VERDICTS,
    ("simulate", "buckets"): VERDICTS,
    ("simulate", "spread"): VERDICTS,
    ("report", "regions"): (" kB written",),
}
"""More of them for `make test-long`."""
TOLD = SHORT_RUNS | DEEP_RUNS
COMMANDS = ("simulate", "check", "explain", "splits", "vectors", "report", "compare")
LONG_RUNS = [
    (command, name) for command in COMMANDS for name in DESIGNS if (command, name) not in TOLD
]


def run_limited(command: str, name: str, folder: Path) -> tuple[int, str]:
    """Run a command on a design with a limit of its memory; return its exit code and output."""
    key, splits, more = DESIGNS[name]
    for table in ("one", "two"):
        text = f'table = "{table}"\nkey = "{key}"\n{splits}\n{FIELDS}{more}'
        (folder / f"{table}.toml").write_text(text)
    designs = ["one.toml", "two.toml"] if command == "compare" else ["one.toml"]
    options = {"report": ["-o", "report.html"]}.get(command, [])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, command, *designs, *options],
        cwd=folder,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "name"),
    [*SHORT_RUNS, *(pytest.param(*words, marks=pytest.mark.long) for words in DEEP_RUNS)],
)
def test_an_extreme_design_is_judged_in_bounded_memory(
    command: str, name: str, tmp_path: Path
) -> None:
    """The command prints a verdict or a refusal that names what fits."""
    code, output = run_limited(command, name, tmp_path)
    assert code in {0, 1, 2}, output
    assert any(text in output for text in TOLD[command, name]), output


@pytest.mark.long
@pytest.mark.parametrize(("command", "name"), LONG_RUNS)
def test_no_command_crashes_on_an_extreme_design(command: str, name: str, tmp_path: Path) -> None:
    """No command ends by a lack of memory or a mistake of the program."""
    code, output = run_limited(command, name, tmp_path)
    assert code in {0, 1, 2}, output
    assert "MemoryError" not in output
