"""Prove the designs of `docs/cases` on a real cluster, and write the figures into the pages.

The examples of each page are run in an empty folder. The designs that they leave are proved like
those of `tools/proof.py`: `book.toml`, the key that a guide advises, and `pick.toml` with
`pick_2.toml`, what `rowkey advise` proposes. Measurements are saved in `benchmarks/cases.json`
after each design. A design is measured again if it, its sample, its encoded cells or the HBase
version has changed.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from tools import proof  # noqa: E402

from docs.blocks import run_page  # noqa: E402 - a package of the tests
from rowkey import Design  # noqa: E402
from rowkey.advise import judge_simulation  # noqa: E402
from rowkey.simulate import run  # noqa: E402

MEASURED = ROOT / "benchmarks" / "cases.json"
TABLES = {"book": "key of the guide", "pick": "pick", "pick_2": "pick, second table"}
"""What the design of a file is."""
OPENING = "<!-- Written by `make proof` from benchmarks/cases.json. Do not edit. -->\n"
PAGES = sorted(
    page for page in (ROOT / "docs" / "cases").glob("*.md") if OPENING in page.read_text("utf-8")
)
"""The pages with figures of a cluster."""
CLOSING = "<!-- end -->\n"
HEAD = """
On HBase {hbase}, with {servers} region servers on one machine, in {phases} phases. *Differ* is the
sum of |predicted − counted| over all regions and phases, and over all servers and phases. *Busiest
server* is its counted load as a multiple of its fair share, the median over the phases.

| table | key | verdict | writes | regions differ | servers differ | busiest server |
|---|---|---|---:|---:|---:|---:|"""
READS = """
*Ranges* and *rows* are means of an answer as `rowkey simulate` computes them, with the limit of the
read. *Predicted* and *counted* are the rows of ten runs without a limit. A region counts one more
row if a range ends in it, and may count a row again in which a full response ends, so counts up to
*maximum* are right.

| read | table | ranges | rows | predicted | counted | maximum |
|---|---|---:|---:|---:|---:|---:|"""


def main() -> None:
    """Measure all designs without a current measurement, and write the pages."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="measure all designs again")
    parser.add_argument("--page", action="store_true", help="write the pages without measuring")
    arguments = parser.parse_args()
    is_known = MEASURED.exists() and not arguments.again
    measurements = json.loads(MEASURED.read_text("utf-8")) if is_known else {}
    if not arguments.page:
        with TemporaryDirectory() as folder:
            designs = dict(_iter_all_designs(Path(folder)))
            measurements = proof.measure_missing(
                measurements, designs, MEASURED, compute_fingerprint, judge_design
            )
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        page.write_text(replace_figures(text, page.stem, measurements), encoding="utf-8")


def _iter_all_designs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of each design of all pages, whose examples it runs."""
    for page in PAGES:
        of_page = folder / page.stem
        of_page.mkdir()
        print(f"running the examples of {page.name}", flush=True)
        for _ in run_page(page.read_text(encoding="utf-8"), of_page):
            pass
        yield from list_designs(page.stem, of_page)


def list_designs(case: str, folder: Path) -> list[tuple[str, Path]]:
    """Return the name and the file of each design that the examples of a page left.

    Args:
        case: the name of the page.
        folder: where its examples were run.
    """
    paths = ((table, folder / f"{table}.toml") for table in TABLES)
    return [(f"{case}/{table}", path) for table, path in paths if path.exists()]


def compute_fingerprint(path: Path) -> dict[str, str]:
    """Return hashes of everything that a measurement depends on; comments of the design do not.

    Args:
        path: the design file.
    """
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {**proof.compute_fingerprint(path), "design": proof.hash_bytes(text.encode())}


def judge_design(path: Path) -> dict[str, Any]:
    """Return the verdict of a design and what its reads cost, without a cluster.

    Args:
        path: the design file.
    """
    simulation = run(Design.read(path), None)
    return {
        "grade": judge_simulation(simulation).verdict.grade,
        "costs": {
            cost.name: {"ranges": round(cost.fan_out[0], 2), "rows": round(cost.read_rows, 1)}
            for cost in simulation.reads
        },
    }


def replace_figures(page: str, case: str, measurements: dict[str, Any]) -> str:
    """Return a page with the figures that were measured last.

    Args:
        page: its text.
        case: its name.
        measurements: all of them.
    """
    before, _, rest = page.partition(OPENING)
    _, _, after = rest.partition(CLOSING)
    proofs = {
        name.partition("/")[2]: one
        for name, one in measurements["proofs"].items()
        if name.startswith(f"{case}/")
    }
    about = {**measurements["machine"], "phases": measurements["phases"]}
    lines = [
        HEAD.format(**about),
        *(_format_table(table, one) for table, one in proofs.items()),
        READS,
        *(
            _format_read(table, read, one["costs"][read["name"]])
            for table, one in proofs.items()
            for read in one["reads"]
        ),
        "",
    ]
    return before + OPENING + "\n".join(lines) + "\n" + CLOSING + after


def _format_table(table: str, measured: dict[str, Any]) -> str:
    """Return the Markdown row of a design."""
    counts = " | ".join(
        f"{measured[name]:,}" for name in ("events", "regions_apart", "servers_apart")
    )
    key = f"`{measured['key']}` | {measured['grade'].upper()}"
    return f"| {TABLES[table]} | {key} | {counts} | {measured['skew']:.2f}× |"


def _format_read(table: str, read: dict[str, Any], cost: dict[str, Any]) -> str:
    """Return the Markdown row of a read of a design."""
    mean = f"{cost['ranges']:g} | {cost['rows']:,g}"
    counts = " | ".join(f"{read[name]:,}" for name in ("predicted", "counted", "most"))
    return f"| {read['name']} | {TABLES[table]} | {mean} | {counts} |"


if __name__ == "__main__":
    main()
