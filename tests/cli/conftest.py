"""Tables for the tests of the command: a folder with a design and a table of every type."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.command import run

EVERYTHING = """\
table  = "things"
key    = "[bucket(host, 4)][host][desc(ts)]"
splits = "per_bucket"

[fields]
host   = "text"
ts     = "timestamp_ms"
text   = { type = "text", nullable = true }
price  = { type = "decimal", precision = 10, scale = 2, nullable = true }
raw    = { type = "bytes", nullable = true }
day    = { type = "date", nullable = true }
id     = { type = "uuid", nullable = true }
hits   = { type = "i64", nullable = true }
ok     = { type = "bool", nullable = true }
ratio  = { type = "float64", nullable = true }
"my =" = { type = "text", nullable = true }

[writes]
time = "ts"
for  = "1s"  # a check searches for a better key by so many events

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
limit = 10
"""

ROWS = """\
{"host": "web-1", "ts": 1000, "text": "a, \\"b\\"\\nc\\rd", "price": "12.50", "raw": "00ff", \
"day": "2021-02-03", "id": "12345678-1234-5678-1234-567812345678", "hits": -7, "ok": true, \
"ratio": 1.5, "my =": "x = y"}
{"host": "web-1", "ts": 2000, "text": "größe", "price": 3, "hits": 9223372036854775807}
{"host": "web-1", "ts": 3000, "ok": false, "ratio": 1e300, "text": ""}
{"host": "web-2", "ts": 1500, "text": "a b", "hits": 5}
{"host": "db-1", "ts": 2500, "price": 0.01, "text": "12"}
"""


@pytest.fixture(scope="session")
def filled_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table of five rows in its folder `data`, to be copied."""
    folder = tmp_path_factory.mktemp("things")
    (folder / "things.toml").write_text(EVERYTHING)
    design, on = folder / "things.toml", f"rocks:{folder / 'data'}"
    assert 0 == run("create", design, "--on", on).code
    assert 0 == run("put", design, "--on", on, stdin=ROWS).code
    return folder


@pytest.fixture
def things_folder(filled_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a table of five rows on `rocks:data`."""
    shutil.copytree(filled_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path
