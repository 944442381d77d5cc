"""Nouns after a number 1 are singular in everything that is printed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rowkey.advise import JudgedDesign, compare_designs
from rowkey.design import Design
from rowkey.lint import RULES
from rowkey.render import format_check, print_comparison, print_simulation

WRONG_PLURAL = re.compile(
    r"(?<![\w.,])(?<! to )1 "
    r"(buckets|bytes|cells|columns|days|designs|digits|errors|events|families|fields|"
    r"files|fragments|gets|keys|leading values|levels|numbers|operations|others|parts|ranges|reads|"
    r"regions|remarks|rows|salts|seconds|servers|slices|splits|times|values|versions|warnings|"
    r"windows|years|(?:different|empty|such|logical|sampled|separate) \w+s)\b"
)
FIELDS: dict[str, Any] = {
    "u": {"type": "text", "max_bytes": 1},
    "n": "u8",
    "ts": "timestamp_s",
    "v": {"type": "u8", "nullable": True},
}
KEYS = ("[u][ts]", "[ts][u]", "[bucket(u, 1)][u]", "[salt(2)][u]", "[n]", "[bucket(ts, 2)][ts][u]",
        "[u:raw][n]", "[digest(u, 1)]", "[mod(n, 2)][n][u]", "[code(u)][ts]")  # fmt: skip
READS = [
    {"name": "one", "where": "u = ?", "order": "ts desc", "limit": 1},
    {"name": "some", "where": "ts >= ? and v = ?", "limit": 1},
]


SIZES: list[tuple[int, list[str], int, int]] = [
    (1, ["8"], 1, 1), (2, [], 2, 2), (2, ["8"], 120, 2), (1, [], 120, 1)
]  # fmt: skip
"""Servers, splits of a table, events of a sample, and how many values they have.

Each key gets one of them in turn, and all pairs of the four in the long profile.
"""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
if IS_LONG:
    SIZES = list(product((1, 2), (["8"], []), (1, 2, 120), (1, 2)))


def format_lines(design: Design, sample: Path | None) -> Iterator[str]:
    """Yield all lines that check and simulate print of a design."""
    judged = JudgedDesign(design, sample)
    yield from format_check("d.toml", design, judged.properties, judged.lint_result, None)
    if sample is not None:
        out = StringIO()
        print_simulation(judged, Console(file=out, width=10_000))
        yield from out.getvalue().splitlines()


def find_wrong_plurals(lines: Iterator[str]) -> list[str]:
    """Return the lines with a plural after 1."""
    return [line for line in lines if WRONG_PLURAL.search(line)]


@pytest.mark.parametrize("key", KEYS)
def test_one_server_or_region_is_singular_in_every_output(key: str, tmp_path: Path) -> None:
    """One server, region, bucket, event or value is singular in every output."""
    sample = tmp_path / "rows.csv"
    turn = KEYS.index(key) % len(SIZES)
    for servers, splits, events, values in SIZES if IS_LONG else SIZES[turn : turn + 1]:
        rows = [f"{n % values},{n % values},{n * 60},{n % 2 or ''}\n" for n in range(events)]
        sample.write_text("u,n,ts,v\n" + "".join(rows))
        cluster = {"servers": servers, "capacity": "1/s"}
        writes = {"rate": "1/s"}
        families = {"d": {"ttl": "1d"}}
        design = Design("t", key, fields=FIELDS, splits=splits, cluster=cluster, reads=READS,
                        writes=writes, families=families)  # fmt: skip
        assert [] == find_wrong_plurals(format_lines(design, sample))


@pytest.mark.parametrize("rule", RULES)
def test_findings_of_every_rule_have_the_right_plurals(rule: str) -> None:
    """Each rule's bad design has right plurals on one server and on two."""
    for servers in (1, 2):
        text = re.sub(r"(?m)^servers *=.*$", "", RULES[rule].bad_design)
        text = text if "[cluster]" in text else f"{text}\n[cluster]\n"
        text = text.replace("[cluster]", f"[cluster]\nservers = {servers}")
        assert [] == find_wrong_plurals(format_lines(Design.loads(text), None))


def test_a_comparison_on_one_server_has_the_right_plurals(tmp_path: Path) -> None:
    """A comparison on one server under one event has right plurals."""
    sample = tmp_path / "rows.csv"
    sample.write_text("u,n,ts,v\n1,1,60,1\n")
    designs = [
        Design("t", key, fields=FIELDS, splits=[], cluster={"servers": 1}, reads=READS)
        for key in ("[u][ts]", "[ts][u]")
    ]
    out = StringIO()
    print_comparison(compare_designs(designs, sample), Console(file=out, width=10_000))
    assert [] == find_wrong_plurals(iter(out.getvalue().splitlines()))
