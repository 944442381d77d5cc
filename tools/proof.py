"""Prove the designs of `examples/proof` on a real cluster, and write `docs/proof.md`.

Every recording that ships with rowkey is written with four designs into a cluster of three region
servers, in twenty phases. After each phase the counters of all regions are read. Measurements are
saved in `benchmarks/proof.json` after each design, so that an interrupted run resumes. A design is
measured again if its file, its recording, its encoded cells or the HBase version has changed.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from math import hypot
from operator import itemgetter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from timing import describe_machine  # noqa: E402

from cluster import Cluster  # noqa: E402 - a package of the tests
from cluster.files import measure_files  # noqa: E402
from rowkey import Design  # noqa: E402
from rowkey.hbase import connect  # noqa: E402
from rowkey.observe import prove_design  # noqa: E402
from rowkey.simulate import choose_source_splits, open_source  # noqa: E402
from rowkey.table import drop_table  # noqa: E402
from rowkey.workload import open_sample  # noqa: E402

if TYPE_CHECKING:
    from rowkey.observe import Proof

DESIGNS = ROOT / "examples" / "proof"
MEASURED = ROOT / "benchmarks" / "proof.json"
READ_LOAD = ROOT / "benchmarks" / "read_load.json"
"""Where reads of a mix fall, measured by `tools/read_load.py`."""
PAGE = ROOT / "docs" / "proof.md"
PHASES = 20
FIRST = 1_000
"""The number of rows whose cells are part of a fingerprint."""
PLAIN, GOAL = "NONE, NONE", 0.03
"""The encoding and compression with exact predictions, and the allowed deviation of bytes."""
RECORDINGS = {
    "flights": "departures from New York in 2013",
    "nab": "measurements of 47 streams, from the Numenta Anomaly Benchmark",
    "orders": "purchases of 23,570 customers of CDNOW",
    "apache": "requests to a web server",
}
"""The recordings by the folder of their designs, the largest first."""
MARGINS = ({"has_draw": True}, {"has_draw": False})
KINDS = {
    "time_first": "time first",
    "advised": "key of the guides",
    "hashed": "hashed bucket",
    "best": "recommended by rowkey",
}
"""What the key of a design is, by the name of its file."""
HEAD = """# Proof

<!-- Written by `make proof` from benchmarks/proof.json. Do not edit. -->

The write counts that rowkey predicts for each region are compared here with the counters of a real
HBase cluster. Every recording that ships with rowkey was written with four designs: time first, the
key that HBase guides advise, a hashed bucket, and the key that rowkey recommends. Each was written
in {phases} phases. After each phase the counters of all regions were read and compared with the
result of `rowkey simulate`, which has no access to the cluster and computes the row keys with the
same encoder.

HBase {hbase}, {servers} region servers on one machine, balancer, splits and merges off;
{processor}, {cores} cores, Python {python}, rowkey {rowkey}.
"""
WRITES = """## Writes

*Error* is the sum of |predicted − counted| over all regions and phases, and over all servers
and phases. *Non-zero* is an upper bound of the region counts above 0: the number of phases times
the regions that have a file. All other counts are 0 and were predicted as 0; with time first these
are the counts of fifteen of sixteen regions. *Skew* is the counted load of the busiest of the three
servers divided by its fair share, the median over the phases. A skew of 3 means that one server
does all the work. If the region boundaries come from the sample, they are computed from its first
half and only the second half is written, so there are half as many events.

| recording | key | events | region counts | non-zero | error | server counts | error | skew |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""
READS = """## Reads

Each read was run ten times. *Ranges* is the number of key ranges that the plan scans per run; HBase
does not count them. *Predicted* is the number of rows in these ranges. *Counted* is the sum of the
read counters: a region counts each row, and one more if a range ends in it. A response that is full
(2 MB) may end within a row, which is then counted again. *Maximum* is the highest count that these
rules allow. *Wrong* is the number of regions, over all runs, that counted less than the predicted
rows or more than the maximum. *Regions* are the regions that the ranges touch, predicted and
counted.

| recording | key | read | ranges | predicted | counted | maximum | wrong | regions |
|---|---|---|---:|---:|---:|---:|---:|---|"""
READ_MIX = """## Where reads fall

A mix of the reads of three designs was answered in proportion to their rates, in five rounds of
about 600 answers. Values and times were drawn by the `keys` and the `age` of each read, which
[samples and workloads](guides/samples-and-workloads.md) explains. The designs are in
[tools/read_load.py](../tools/read_load.py), their recordings in the [cases](cases/logs.md). Reads
have no `limit` here, as above.

*Expected* are the reads that the plans of exactly these answers cause: a region counts each row,
and one read where a range finds none in it. It may count one more where a range ends, and a row
again in which a full response ends, so counts up to *maximum* are right. *Regions* is the number of
region counts, one for each region and round, *exact* how many are equal to the expected, *wrong*
how many are below it or above the maximum.

| case | key | answers | expected | counted | maximum | regions | exact | wrong |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""
READ_SHARES = """
*Shares* are those of the counted reads in a round that fall on a region or a server, which
`rowkey simulate` predicts with a margin of 95 %. 600 random answers are no mean answer: the second
margin, of the draw, is computed from the expected reads of each answer. *In both* are the shares
within the root of the sum of both squares, *in its own* those within the margin of the prediction
alone. *Margin* and *draw* are the means of the two, *deviation* is the mean of
|predicted − counted|, in points of 100. *Busiest server* is its counted load over a fair share.

| case | shares | in both | in its own | margin | draw | deviation | busiest server |
|---|---:|---:|---:|---:|---:|---:|---:|"""
BYTES = """## Bytes

*Predicted* is the size of all cells in uncompressed data blocks. *On disk* is the size of HBase's
files after a flush and a major compaction, with their indexes, Bloom filters and trailers. The
effect of encoding and compression is not predicted; for such families the deviation shows what they
save. Without them the goal is a deviation of at most 3 %. Indexes, filters and trailers are not
predicted and matter more in small files: here files of over 400 kB meet the goal, smaller ones do
not.

{missed}

| recording | key | encoding, compression | predicted | on disk | files | deviation |
|---|---|---|---:|---:|---:|---:|"""
TAIL = """## What this does not prove

The region counts are exact because one client wrote each row once and no region moved. A write
that a client repeats is counted twice, and a region that moves loses its counters. Latency is not
predicted: rowkey predicts where load falls, not how long a request takes. Nor are reads with a
`limit` part of these tables. rowkey's client asks one range for as many rows as the limit: the
latest 10 of 14,000 rows were 10 counted reads, as predicted. It asks each of several ranges for up
to twice its share and three more: 10 rows of eight ranges were 40 counted reads, while the
prediction is the limit and at most one row of each range. Other clients may ask for more.

To repeat the proof run `make proof` in a clone (some minutes on two cores), or `rowkey prove` with
your own design and recording on [your cluster](guides/running-tables.md#is-the-prediction-true).
"""


def main() -> None:
    """Measure all designs without a current measurement, and write the page."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="measure all designs again")
    parser.add_argument("--page", action="store_true", help="write the page without measuring")
    arguments = parser.parse_args()
    measurements = (
        {} if arguments.again or not MEASURED.exists() else json.loads(MEASURED.read_text("utf-8"))
    )
    if not arguments.page:
        measurements = measure_missing(measurements, dict(iter_designs()), MEASURED)
    PAGE.write_text(build_page(measurements), encoding="utf-8")


def iter_designs() -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of each design to prove."""
    for recording in RECORDINGS:
        for kind in KINDS:
            yield f"{recording}/{kind}", DESIGNS / recording / f"{kind}.toml"


def compute_fingerprint(path: Path) -> dict[str, str]:
    """Return hashes of everything that a measurement depends on.

    These are the design file, the recording, the region boundaries, the cells of the first rows,
    and the versions of rowkey and HBase.

    Args:
        path: the design file.
    """
    design = Design.read(path)
    data = design.sample_path
    assert data is not None
    source = open_source(design, None, None, second_half=False, seed=0, keeps_all_fields=True)
    boundaries = choose_source_splits(design, source, seed=0).boundaries
    return {
        "design": hash_bytes(path.read_bytes()),
        "data": hash_bytes(data.read_bytes()),
        "boundaries": hash_bytes(repr(boundaries.splits).encode()),
        "cells": hash_bytes(repr(list(_iter_first_rows(design, data))).encode()),
        "rowkey": version("rowkey"),
        "hbase": read_hbase_version(),
    }


def hash_bytes(data: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of some bytes."""
    return sha256(data).hexdigest()[:16]


def _iter_first_rows(
    design: Design, data: Path
) -> Iterator[tuple[bytes, list[tuple[str, bytes, bytes]]]]:
    """Yield the first rows: row key, and family, qualifier and value of each cell."""
    sample = open_sample(data, design.fields, None, design.sample_format).match_columns()
    first = next(iter(sample.read_events())).rows.slice(0, FIRST)
    for row in first.to_pylist():
        written = design.layout.encode_event(
            {name: row[name] for name in row if row[name] is not None}
        )
        yield written.row, [(cell.family, cell.qualifier, cell.value) for cell in written.cells]


def read_hbase_version() -> str:
    """Return the default HBase version of the tests' cluster."""
    pom = (ROOT / "tests" / "cluster" / "pom.xml").read_text(encoding="utf-8")
    proof = re.search(r"<hbase.version>([^<]+)<", pom)
    assert proof is not None
    return proof[1]


def measure_missing(
    measurements: dict[str, Any],
    designs: Mapping[str, Path],
    saved: Path,
    compute_fingerprint: Callable[[Path], dict[str, str]] = compute_fingerprint,
    judge_design: Callable[[Path], dict[str, Any]] = lambda _: {},
) -> dict[str, Any]:
    """Return all measurements, after measuring designs that are missing or have changed.

    Args:
        measurements: those of earlier runs; an empty dictionary if there are none.
        designs: the design files by name.
        saved: the file that the measurements are saved in after each design.
        compute_fingerprint: returns what a measurement of a design depends on.
        judge_design: returns more figures of a design, which need no cluster.
    """
    proofs = measurements.get("proofs", {})
    prints = {name: compute_fingerprint(path) for name, path in designs.items()}
    known = {
        name: proofs[name]
        for name, current in prints.items()
        if is_current(proofs.get(name), current)
    }
    left = [name for name in designs if name not in known]
    if not left:
        print("All designs are measured already. Add --again to measure them again.")
        return measurements
    with Cluster.start(patience_s=600) as cluster, connect(cluster.url) as client:
        client.admin.set_balancer(False)
        client.admin.set_splits_and_merges(False)
        status = client.admin.get_cluster_status()
        for number, name in enumerate(left, 1):
            print(f"{number} of {len(left)}: {name}", flush=True)
            path = designs[name]
            known[name] = {**prints[name], **judge_design(path), **_prove(cluster, path)}
            about = {**describe_machine(), "hbase": status.version, "servers": len(status.servers)}
            ordered = {one: known[one] for one in designs if one in known}
            measurements = {"machine": about, "phases": PHASES, "proofs": ordered}
            text = json.dumps(measurements, indent=1, ensure_ascii=False)
            saved.write_text(text + "\n", encoding="utf-8")
    return measurements


def is_current(proof: dict[str, Any] | None, fingerprint: dict[str, str]) -> bool:
    """Return whether a stored measurement still matches the design and versions."""
    return proof is not None and fingerprint.items() <= proof.items()


def _prove(cluster: Cluster, path: Path) -> dict[str, Any]:
    """Prove a design on a cluster and return the result for the file of measurements."""
    design = Design.read(path)
    proof = prove_design(design, cluster.url, phases=PHASES, keep_table=True)
    try:
        files = measure_files(cluster, proof.table)
    finally:
        drop_table(proof.table, cluster.url)
    return {
        "key": str(design.key),
        **_summarize_writes(proof),
        **_summarize_reads(proof),
        **_summarize_bytes(proof, files),
    }


def _summarize_writes(proof: Proof) -> dict[str, Any]:
    """Return the predicted and counted writes of a proof as JSON figures."""
    servers = [both for phase in proof.phases for both in phase.writes_by_server.values()]
    regions = [region for phase in proof.phases for region in phase.regions]
    return {
        "events": proof.operation_count,
        "regions": len(regions),
        "regions_apart": proof.difference,
        "regions_unknown": proof.unknown_count,
        "servers": len(servers),
        "servers_apart": sum(abs(predicted - counted) for predicted, counted in servers),
        "skew": _compute_skew(proof),
    }


def _compute_skew(proof: Proof) -> float:
    """Return the median over the phases of the busiest server's load over its fair share."""
    skews = []
    for phase in proof.phases:
        loads = [counted for _, counted in phase.writes_by_server.values()]
        skews.append(max(loads) * len(loads) / sum(loads))
    return round(sorted(skews)[len(skews) // 2], 3)


def _summarize_reads(proof: Proof) -> dict[str, Any]:
    """Return the predicted and counted reads of a proof as JSON figures."""
    return {
        "reads": [
            {
                "name": read.name,
                "runs": read.trial_count,
                "fan_out": read.fan_out,
                "predicted": read.predicted_rows,
                "counted": read.counted_reads,
                "most": read.max_reads,
                "wrong": read.wrong_regions,
                "reason": read.reason,
                "regions_predicted": read.predicted_regions,
                "regions_counted": read.counted_regions,
            }
            for read in proof.reads
        ]
    }


def _summarize_bytes(proof: Proof, files: list[int]) -> dict[str, Any]:
    """Return the predicted and measured bytes of a proof as JSON figures."""
    size = proof.size
    families = proof.design.families.values()
    encodings = sorted({f"{one.encoding}, {one.compression}" for one in families})
    return {
        "bytes": {
            "predicted": None if size is None else size.predicted_bytes,
            "on_disk": sum(files),
            "files": len(files),
            "encoding": "; ".join(encodings),
        }
    }


def build_page(measurements: dict[str, Any]) -> str:
    """Return the page `docs/proof.md` from all measurements."""
    about, proofs = measurements["machine"], measurements["proofs"]
    packages = about["packages"]
    lines = [
        HEAD.format(
            phases=measurements["phases"], **{"rowkey": packages.get("rowkey", "")} | about
        ),
        WRITES,
        *(
            _format_row(name, *_format_write_cells(proof, measurements["phases"]))
            for name, proof in proofs.items()
        ),
        "",
        READS,
        *(
            _format_row(name, *_format_read_cells(read))
            for name, proof in proofs.items()
            for read in proof["reads"]
        ),
        "",
        *_format_read_mixes(json.loads(READ_LOAD.read_text("utf-8"))),
        "",
        BYTES.format(missed=_describe_missed_goals(proofs)),
        *(_format_row(name, *_format_byte_cells(proof["bytes"])) for name, proof in proofs.items()),
        "",
        "## Recordings",
        "",
        *(
            f"* **{name}**: {what}; [the designs](../examples/proof/{name})."
            for name, what in RECORDINGS.items()
        ),
        "",
        TAIL,
    ]
    return "\n".join(lines)


def _format_read_mixes(measured: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the section on mixes of reads."""
    yield READ_MIX
    names = ("answers", "expected", "counted", "most", "regions", "exact", "wrong")
    for case, one in measured.items():
        counts = " | ".join(f"{one[name]:,}" for name in names)
        yield f"| {case} | `{one['key']}` | {counts} |"
    yield READ_SHARES
    for case, one in measured.items():
        figures = one["figures"]
        means = [
            100 * sum(map(value, figures)) / len(figures)
            for value in (itemgetter("margin"), itemgetter("drawn"), compute_share_error)
        ]
        hits = [sum(is_within(figure, **kept) for figure in figures) for kept in MARGINS]
        cells = [f"{len(figures)}", *map(str, hits), *(f"{mean:.2f}" for mean in means)]
        yield f"| {case} | {' | '.join(cells)} | {one['skew']:.2f}× |"


def compute_share_error(figure: dict[str, float]) -> float:
    """Return by how much a counted share differs from the predicted one."""
    return abs(figure["predicted"] - figure["counted"])


def is_within(figure: dict[str, float], *, has_draw: bool) -> bool:
    """Return whether a counted share lies within the margin of the predicted one.

    Args:
        figure: both shares with their margins.
        has_draw: whether the margin includes that of the draw of answers.
    """
    return compute_share_error(figure) <= hypot(figure["margin"], has_draw * figure["drawn"])


def _format_row(name: str, *cells: str) -> str:
    """Return a Markdown table row that begins with recording and design."""
    recording, kind = name.split("/")
    return f"| {recording} | {KINDS[kind]} | {' | '.join(cells)} |"


def _format_write_cells(proof: dict[str, Any], phases: int) -> list[str]:
    """Return the table cells of a proof's writes."""
    # The designs have one family, so that each region that was written to has one file.
    not_zero = {**proof, "not_zero": phases * proof["bytes"]["files"]}
    counts = ("events", "regions", "not_zero", "regions_apart", "servers", "servers_apart")
    return [*(f"{not_zero[one]:,}" for one in counts), f"{proof['skew']:.2f}"]


def _format_read_cells(read: dict[str, Any]) -> list[str]:
    """Return the table cells of one read of a proof."""
    if read["reason"]:
        return [read["name"], f"not run: {read['reason']}", "", "", "", "", ""]
    each = read["fan_out"] / read["runs"]
    counts = (f"{read[one]:,}" for one in ("predicted", "counted", "most", "wrong"))
    regions = f"{read['regions_predicted']:,} and {read['regions_counted']:,}"
    return [read["name"], f"{each:g}", *counts, regions]


def _format_byte_cells(size: dict[str, Any]) -> list[str]:
    """Return the table cells of a proof's bytes."""
    predicted, on_disk = size["predicted"], size["on_disk"]
    parts = "not predicted" if predicted is None else f"{predicted:,}"
    apart = f"{100 * compute_deviation(size):+.1f} %" if predicted else ""
    missed = ", missed" if is_missed(size) else ""
    return [size["encoding"], parts, f"{on_disk:,}", f"{size['files']}", f"{apart}{missed}"]


def compute_deviation(size: dict[str, Any]) -> float:
    """Return the relative deviation of bytes on disk from the prediction; 0 without one."""
    return float(size["on_disk"] / size["predicted"] - 1) if size["predicted"] else 0.0


def is_missed(size: dict[str, Any]) -> bool:
    """Return whether the deviation of bytes exceeds the goal."""
    return size["encoding"] == PLAIN and abs(compute_deviation(size)) > GOAL


def _describe_missed_goals(proofs: dict[str, Any]) -> str:
    """Return the sentence that lists the designs whose bytes miss the goal."""
    plain = {
        name: one["bytes"] for name, one in proofs.items() if one["bytes"]["encoding"] == PLAIN
    }
    parts = [
        f"{recording}, {KINDS[kind]}: {100 * compute_deviation(size):+.1f} %"
        for name, size in plain.items()
        if is_missed(size)
        for recording, kind in [name.split("/")]
    ]
    return fill(f"Missed by {len(parts)} of {len(plain)}: {'; '.join(parts)}.", 100)


if __name__ == "__main__":
    main()
