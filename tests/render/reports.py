"""Reports for the tests: with hostile names, of one log, and with a very large map."""

from __future__ import annotations

import base64
import csv
import gzip
import json
import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import rowkey
from example_counts import IS_LONG
from rowkey import Design, advise
from rowkey.advise import JudgedDesign
from rowkey.render import Redaction, build_report_document, build_report_page
from rowkey.render.report.heat_map import pack_counts

if TYPE_CHECKING:
    import numpy as np

    from rowkey.advise import Comparison

REDACTION = Redaction(b"0123456789abcdef")
HOSTS = tuple(f"{name}.corp.example" for name in ("atlas", "borea", "cygnus", "dione", "elara"))
USERS = tuple(f"person-{number:03}" for number in range(40))
HOT_DEVICE = 7_700_001_234_567
EVENTS = 4_000
REQUESTS = 300
"""Lines of the shipped log that reports are made of, unless all of them are."""

LOGS = """\
table  = "logs"
key    = "{key}"
splits = {splits}

[fields]
host = {{ type = "text", max_bytes = 60, heavy = ["atlas.corp.example"] }}
user = {{ type = "text", max_bytes = 60 }}
ts   = "timestamp_s"
note = {{ type = "text", family = "d", qualifier = "n" }}

[families.d]
ttl = "30d"

[cluster]
servers = 4

[writes]
time = "ts"

[sample]
path = "events.csv"

[[reads]]
name  = "of a host"
where = "host = ? and ts >= ?"
order = "ts desc"
limit = 10

[[reads]]
name  = "of one person"
where = "user = 'person-007'"
"""
KEYS = {
    "spread": ("[bucket(host, user, 8)][host][user][ts]", '"per_bucket"'),
    "by_host": ("[host][user][ts]", '{ algorithm = "sample", regions = 8 }'),
    "by_time": ("[ts][host][user]", '{ algorithm = "sample", regions = 8 }'),
}


def write_logs(folder: Path) -> dict[str, Path]:
    """Write a recording of a few hosts, one of them hot, and three designs for the recording."""
    with (folder / "events.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["host", "user", "ts", "note"])
        for number in range(EVENTS):
            host = HOSTS[0] if number % 2 else HOSTS[number // 2 % len(HOSTS)]
            user = USERS[number * 7 % len(USERS)]
            writer.writerow([host, user, 1_700_000_000 + number, f"said {host}"])
    written = {}
    for name, (key, splits) in KEYS.items():
        path = folder / f"{name}.toml"
        path.write_text(LOGS.format(key=key, splits=splits), encoding="utf-8")
        written[name] = path
    return written


def compare_logs(folder: Path) -> Comparison:
    """Return the comparison of the three designs on the second half of their recording."""
    paths = write_logs(folder)
    designs = [Design.read(path) for path in paths.values()]
    return advise.compare_designs(designs, names=list(paths))


def judge_hot_device(folder: Path) -> JudgedDesign:
    """Judge a design of which one device of one host is hot."""
    path = folder / "devices.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["host", "device", "ts"])
        for number in range(EVENTS):
            entity = (HOSTS[0], HOT_DEVICE) if number % 2 else ("other", number % 400)
            writer.writerow([*entity, 1_700_000_000 + number])
    design = Design(
        "devices",
        "[bucket(host, device, 8)][host][device][ts]",
        fields={
            "host": {"type": "text", "max_bytes": 60},
            "device": "u64",
            "ts": "timestamp_s",
        },
        splits="per_bucket",
        cluster={"servers": 4},
        writes={"time": "ts"},
        sample={"path": str(path)},
    )
    return JudgedDesign(design, name="devices", second_half=True)


EXAMPLES = Path(str(rowkey.__file__)).parent / "examples"
SHIPPED = ("time_first", "mod", "hashed")
"""The designs of a folder of examples, as the demo judges them."""


@cache
def compare_examples(name: str) -> Comparison:
    """Return the comparison of the demo's designs for a shipped recording.

    Args:
        name: the folder of the designs: apache or flights.
    """
    designs = [Design.read(EXAMPLES / name / f"{one}.toml") for one in SHIPPED]
    if IS_LONG or name != "apache":
        return advise.compare_designs(designs, names=SHIPPED, second_half=True)
    lines = gzip.decompress((EXAMPLES / "apache_access.log.gz").read_bytes()).splitlines(True)
    with TemporaryDirectory() as folder:
        sample = Path(folder) / "first.log"
        sample.write_bytes(b"".join(lines[:REQUESTS]))
        return advise.compare_designs(designs, sample, names=SHIPPED, second_half=True)


NAUGHTY = "</script><script>alert(1)</script>"
ATTRIBUTE = "\" onmouseover='alert(2)' x=\""
QUOTED = "' onmouseover='alert(3)' x='"
UNPRINTABLE = "\u2028\u202e<!--\u0007"


def judge_hostile_design() -> JudgedDesign:
    """Judge a design whose names and values try to end the elements around them."""
    fields = {
        NAUGHTY: {"type": "choice", "of": [ATTRIBUTE, NAUGHTY, UNPRINTABLE]},
        QUOTED: {"type": "text", "max_bytes": 30},
        "ts": "timestamp_ms",
        "v": {"type": "text", "qualifier": NAUGHTY},
    }
    design = Design(
        "logs",
        f"[{json.dumps(NAUGHTY)}][{json.dumps(QUOTED)}][ts]",
        fields=fields,
        splits="per_bucket",
        writes={"rate": "100/s", "for": "30s"},
        reads=[{"name": NAUGHTY, "where": "ts >= ?", "limit": 5}],
    )
    return JudgedDesign(design, name=UNPRINTABLE + NAUGHTY)


def build_hostile_page(language: str = "en") -> str:
    """Return the report of the hostile design."""
    return build_report_page(build_report_document([judge_hostile_design()], Redaction()), language)


DRAWN_COLUMNS = 32
"""Columns of a large map that are drawn by lot."""


def enlarge_map(document: dict[str, Any], rows: int, columns: int) -> None:
    """Give the first design of a report a map of another size with all cells written.

    Args:
        document: the result of `build_report_document`, which is changed.
        rows: the number of regions.
        columns: the number of windows, which are those of `DRAWN_COLUMNS` again and again.
    """
    import numpy as np

    counts = np.random.default_rng(6).zipf(1.3, (DRAWN_COLUMNS, rows)).clip(1, 10_000)
    times = columns // DRAWN_COLUMNS
    given = document["designs"][0]["map"]
    named = [{"first": n, "last": n, "server": n % 4, "start": f"host {n}"} for n in range(rows)]
    given["columns"] = columns
    given["views"]["region"] = {"rows": named, "counts": _pack_times(counts, times), "marks": []}
    by_server = counts.reshape(DRAWN_COLUMNS, rows // 4, 4).sum(axis=1)
    given["views"]["server"]["counts"] = _pack_times(by_server, times)
    given["views"]["server"]["marks"] = []


def _pack_times(counts: np.ndarray[Any, Any], times: int) -> str:
    """Return counts that are all positive several times, packed as `pack_counts` packs them."""
    packed = zlib.decompress(base64.b64decode(pack_counts(counts)))
    return base64.b64encode(zlib.compress(packed * times)).decode()
