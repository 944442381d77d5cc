"""Commands leave pandas alone, which pyarrow imports where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from rowkey import plugins
from rowkey.pandas_guard import skip_pandas

DESIGN = """\
table  = "logs"
key    = "[bucket(host, 16)][host][desc(ts)]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 40 }
ts   = "timestamp_ns"

[writes]
rate = "500/s"
for  = "60s"

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
"""
COMMANDS = """\
check logs.toml --sample rows.parquet --fail-on never
simulate logs.toml --sample rows.csv
init rows.parquet
splits logs.toml --sample rows.csv
create logs.toml --on rocks:data --sample rows.csv
load logs.toml rows.parquet --on rocks:data
scan logs.toml --on rocks:data
explain logs.toml --sample rows.csv
"""
if os.environ.get("HYPOTHESIS_PROFILE") == "long":  # these judge as `simulate` does
    COMMANDS += """\
compare logs.toml logs.toml --sample rows.csv
report logs.toml --sample rows.csv -o report.html
"""
CODE = """
import json, sys
from rowkey.cli import main
found = []
for command in {commands!r}.splitlines():
    sys.argv = ["rowkey", *command.split()]
    try:
        main()
    except SystemExit as left:
        found.append([command, left.code, "pandas" in sys.modules])
import pandas, pyarrow
assert 1 == pyarrow.table(pandas.DataFrame({{"n": [1]}})).num_rows
print(json.dumps(found), file=sys.stderr)
"""


def write_rows(folder: Path) -> None:
    """Write a sample as CSV and Parquet, with times that no `datetime` holds."""
    count = 200
    times = pa.array([1_714_521_600_000_000_001 + n * 1_000_000 for n in range(count)])
    names = [f"web-{n % 7}" for n in range(count)]
    csv.write_csv(pa.table({"host": names, "ts": times}), folder / "rows.csv")
    typed = pa.table({"host": names, "ts": times.cast(pa.timestamp("ns", "UTC"))})
    parquet.write_table(typed, folder / "rows.parquet")


def test_no_command_imports_pandas(tmp_path: Path) -> None:
    """Commands read samples and tables without pandas, and pyarrow reads its frames afterwards."""
    (tmp_path / "logs.toml").write_text(DESIGN)
    write_rows(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(commands=COMMANDS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert 0 == done.returncode, done.stderr
    expected = [[command, 0, False] for command in COMMANDS.splitlines()]
    assert expected == json.loads(done.stderr.splitlines()[-1]), done.stdout + done.stderr


def test_within_a_command_importing_pandas_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a command pandas is not installed; outside, it is."""
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    with skip_pandas(), pytest.raises(ModuleNotFoundError, match="faster without pandas"):
        find_spec("pandas")
    assert find_spec("pandas") is not None


def test_plugins_may_import_pandas_within_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another package offers plugins, pandas is importable within a command."""
    monkeypatch.setattr(plugins, "has_external_plugins", lambda: True)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    with skip_pandas():
        assert find_spec("pandas") is not None
