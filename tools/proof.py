"""Proves the designs of `examples/proof` on a real cluster, and writes `docs/proof.md`.

Every recording that ships with rowkey is written by four designs into a cluster of three region
servers, in twenty phases. After each of them every region is asked what it counted. What was
measured is kept in `benchmarks/proof.json` after each design, so that an interrupted run goes on
where it stopped. It stands for one design, one recording, what rowkey makes of it, and one HBase;
where any of them is another it is measured anew.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from timing import machine  # noqa: E402

from cluster import Cluster  # noqa: E402 - it stands beside the tests
from cluster.files import stored_files  # noqa: E402
from rowkey import Design  # noqa: E402
from rowkey.hbase import connect  # noqa: E402
from rowkey.observe import prove  # noqa: E402
from rowkey.simulate import cut_by_source, source_of  # noqa: E402
from rowkey.table import drop_table  # noqa: E402
from rowkey.workload import open_sample  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rowkey.observe import Proof

DESIGNS = ROOT / "examples" / "proof"
MEASURED = ROOT / "benchmarks" / "proof.json"
PAGE = ROOT / "docs" / "proof.md"
PHASES = 20
FIRST = 1_000
"""Rows of a recording whose cells tell whether they are still written as they were."""
PLAIN, GOAL = "NONE, NONE", 0.03
"""Encoding and compression of cells that are as predicted, and how near the bytes should be."""
RECORDINGS = {
    "flights": "departures from New York in 2013",
    "nab": "measurements of 47 streams, from the Numenta Anomaly Benchmark",
    "orders": "purchases of 23,570 customers of CDNOW",
    "apache": "requests to a web server",
}
"""What is written, by the folder of the designs, the largest first."""
KINDS = {
    "time_first": "time first",
    "advised": "as the guides advise",
    "hashed": "hashed bucket",
    "best": "ours",
}
"""Designs of each recording, by their files."""
HEAD = """# Proof

<!-- Written by `make proof` from benchmarks/proof.json. Do not edit. -->

What rowkey predicts is what HBase counts. Every recording that ships with rowkey was written into
a real cluster by four designs: time first, what guides advise, a hashed bucket, and the one we
would take. Each was written in {phases} phases; after each phase every region was asked what it
had counted, and that was compared with what `rowkey simulate` says, which knows nothing of the
cluster: it makes the same row keys with the same encoder.

HBase {hbase}, {servers} region servers on one machine, balancer, splits and merges off;
{processor}, {cores} cores, Python {python}, rowkey {rowkey}.
"""
WRITES = """## Writes

*Apart* is |predicted − counted|, added up: over each region in each phase, and over each server
in each phase. *Not 0* are counts of regions that can be above 0, at most: those of regions that
were written to, which are those with a file. The others are 0 against 0, and show no more than
that nothing fell where nothing was expected: by time first that is fifteen regions of sixteen.
*Skew* is what was counted: the load of the fullest of the three servers over its fair share, the
median over the phases. Three is one server doing all the work; the counts of the other two are
then 0 as well. Where a sample cuts the boundaries, its first half does, and only the second is
written: half as many events.

| recording | key | events | counts of regions | not 0 | apart | counts of servers | apart | skew |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""
READS = """## Reads

Each read was asked ten times. *Ranges predicted* are those of the plan for one asking, and HBase
has no count of them. *Predicted* are the rows that lie in its ranges; a region counts each of
them, and one more where a range ends in it. An answer that is full, at two megabytes, may end
within a row, which is counted again. *Wrong* are regions, over all askings, that counted fewer
than the rows, or more than one more for each range and each full answer. *Regions* are those that
the ranges come to, predicted and counted.

| recording | key | read | ranges predicted | predicted | counted | at most | wrong | regions |
|---|---|---|---:|---:|---:|---:|---:|---|"""
BYTES = """## Bytes

*Predicted* are the bytes of all cells as a data block has them; *on disk* those of HBase's files
after a flush and a major compaction, with their indexes, Bloom filters and trailers. Where cells
are encoded and compressed no figure is predicted for them: what is left is stated. The goal is 3 %
where nothing is encoded. What a file has beside its cells is not predicted, and weighs more the
smaller a file is: above 400 kB a file the goal is met here, and below it is missed.

{missed}

| recording | key | encoding, compression | predicted | on disk | files | deviation |
|---|---|---|---:|---:|---:|---:|"""
TAIL = """## What this does not prove

Counts of regions are exact because one client wrote, once, and nothing moved. A client that must
repeat a write makes a region count it twice; a region that moves forgets what it counted. What
the cluster does to *times* is not predicted: rowkey says where load falls, not how long a request
takes.

Run it yourself: `make proof` in a clone, some minutes on two cores; or `rowkey prove` with a
design and a recording of your own, on [your
cluster](guides/what-a-running-table-says.md#is-the-prediction-true).
"""


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="measure all of them anew")
    parser.add_argument("--page", action="store_true", help="write the page alone")
    given = parser.parse_args()
    found = {} if given.again or not MEASURED.exists() else json.loads(MEASURED.read_text("utf-8"))
    if not given.page:
        found = _measured(found)
    PAGE.write_text(page(found), encoding="utf-8")


def designs() -> Iterator[tuple[str, Path]]:
    """The design files, each with its name among the measured ones."""
    for recording in RECORDINGS:
        for kind in KINDS:
            yield f"{recording}/{kind}", DESIGNS / recording / f"{kind}.toml"


def fingerprint(path: Path) -> dict[str, str]:
    """What a measurement stands for: with any of it changed, it was of something else.

    That is the design's file, the recording, where the regions begin and the cells of the first
    rows as both are made now, and the versions of rowkey and HBase.

    Args:
        path: the design file.
    """
    design = Design.read(path)
    data = design.sample_path
    assert data is not None
    source = source_of(design, None, None, second_half=False, seed=0, fields=design.fields)
    boundaries = cut_by_source(design, source, seed=0).boundaries
    return {
        "design": _hashed(path.read_bytes()),
        "data": _hashed(data.read_bytes()),
        "boundaries": _hashed(repr(boundaries.splits).encode()),
        "cells": _hashed(repr(list(_written(design, data))).encode()),
        "rowkey": version("rowkey"),
        "hbase": hbase_version(),
    }


def _hashed(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def _written(design: Design, data: Path) -> Iterator[tuple[bytes, list[tuple[str, bytes, bytes]]]]:
    """The first rows of a recording: row key, and family, qualifier and value of each cell."""
    sample = open_sample(data, design.fields, None, design.sample_format).fitted()
    first = next(iter(sample.events())).rows.slice(0, FIRST)
    for row in first.to_pylist():
        written = design.layout.write({name: row[name] for name in row if row[name] is not None})
        yield written.row, [(cell.family, cell.qualifier, cell.value) for cell in written.cells]


def hbase_version() -> str:
    """The HBase that the cluster of the tests runs, if no other is asked for."""
    pom = (ROOT / "tests" / "cluster" / "pom.xml").read_text(encoding="utf-8")
    found = re.search(r"<hbase.version>([^<]+)<", pom)
    assert found is not None
    return found[1]


def _measured(found: dict[str, Any]) -> dict[str, Any]:
    """What was measured before, with what was missing or is not what it was."""
    proofs = found.get("proofs", {})
    known = {name: proofs[name] for name, path in designs() if _stands(proofs.get(name), path)}
    left = [(name, path) for name, path in designs() if name not in known]
    if not left:
        print("all of them are measured; --again measures them anew")
        return found
    with Cluster.start(patience_s=600) as cluster, connect(cluster.url) as client:
        client.admin.balancer(False)
        client.admin.splits_and_merges(False)
        status = client.admin.status()
        for number, (name, path) in enumerate(left, 1):
            print(f"{number} of {len(left)}: {name}", flush=True)
            known[name] = {**fingerprint(path), **_proved(cluster, path)}
            about = {**machine(), "hbase": status.version, "servers": len(status.servers)}
            found = {"machine": about, "phases": PHASES, "proofs": known}
            text = json.dumps(found, indent=1, ensure_ascii=False)
            MEASURED.write_text(text + "\n", encoding="utf-8")
    return found


def _stands(proof: dict[str, Any] | None, path: Path) -> bool:
    if proof is None:
        return False
    return all(proof.get(word) == said for word, said in fingerprint(path).items())


def _proved(cluster: Cluster, path: Path) -> dict[str, Any]:
    """A design, proved on a cluster, as it is kept."""
    design = Design.read(path)
    found = prove(design, cluster.url, phases=PHASES, keep=True)
    try:
        files = stored_files(cluster, found.table)
    finally:
        drop_table(found.table, cluster.url)
    return {"key": str(design.key), **_writes(found), **_reads(found), **_bytes(found, files)}


def _writes(found: Proof) -> dict[str, Any]:
    servers = [both for phase in found.phases for both in phase.servers.values()]
    regions = [region for phase in found.phases for region in phase.regions]
    return {
        "events": found.operations,
        "regions": len(regions),
        "regions_apart": found.difference,
        "regions_unknown": found.unknown,
        "servers": len(servers),
        "servers_apart": sum(abs(predicted - counted) for predicted, counted in servers),
        "skew": _skew(found),
    }


def _skew(found: Proof) -> float:
    """The fullest server's load over its fair share, as counted: the median over the phases."""
    skews = []
    for phase in found.phases:
        loads = [counted for _, counted in phase.servers.values()]
        skews.append(max(loads) * len(loads) / sum(loads))
    return round(sorted(skews)[len(skews) // 2], 3)


def _reads(found: Proof) -> dict[str, Any]:
    words = ("name", "asked", "fan_out", "predicted", "counted", "most", "wrong", "why")
    more = ("regions_predicted", "regions_counted")
    return {"reads": [{one: getattr(r, one) for one in (*words, *more)} for r in found.reads]}


def _bytes(found: Proof, files: list[int]) -> dict[str, Any]:
    size = found.size
    families = found.design.families.values()
    made = sorted({f"{one.encoding}, {one.compression}" for one in families})
    return {
        "bytes": {
            "predicted": None if size is None else size.predicted,
            "on_disk": sum(files),
            "files": len(files),
            "made": "; ".join(made),
        }
    }


def page(found: dict[str, Any]) -> str:
    """The page of what was measured."""
    about, proofs = found["machine"], found["proofs"]
    packages = about["packages"]
    lines = [
        HEAD.format(phases=found["phases"], **{"rowkey": packages.get("rowkey", "")} | about),
        WRITES,
        *(_row(name, *_write_cells(proof, found["phases"])) for name, proof in proofs.items()),
        "",
        READS,
        *(
            _row(name, *_read_cells(read))
            for name, proof in proofs.items()
            for read in proof["reads"]
        ),
        "",
        BYTES.format(missed=_missed(proofs)),
        *(_row(name, *_byte_cells(proof["bytes"])) for name, proof in proofs.items()),
        "",
        "## What was written",
        "",
        *(
            f"* **{name}**: {what}; [the designs](../examples/proof/{name})."
            for name, what in RECORDINGS.items()
        ),
        "",
        TAIL,
    ]
    return "\n".join(lines)


def _row(name: str, *cells: str) -> str:
    recording, kind = name.split("/")
    return f"| {recording} | {KINDS[kind]} | {' | '.join(cells)} |"


def _write_cells(proof: dict[str, Any], phases: int) -> list[str]:
    # The designs have one family, so that each region that was written to has one file.
    not_zero = {**proof, "not_zero": phases * proof["bytes"]["files"]}
    counts = ("events", "regions", "not_zero", "regions_apart", "servers", "servers_apart")
    return [*(f"{not_zero[one]:,}" for one in counts), f"{proof['skew']:.2f}"]


def _read_cells(read: dict[str, Any]) -> list[str]:
    if read["why"]:
        return [read["name"], f"not asked: {read['why']}", "", "", "", "", ""]
    each = read["fan_out"] / read["asked"]
    counts = (f"{read[one]:,}" for one in ("predicted", "counted", "most", "wrong"))
    regions = f"{read['regions_predicted']:,} and {read['regions_counted']:,}"
    return [read["name"], f"{each:g}", *counts, regions]


def _byte_cells(size: dict[str, Any]) -> list[str]:
    predicted, on_disk = size["predicted"], size["on_disk"]
    told = "not predicted" if predicted is None else f"{predicted:,}"
    apart = f"{100 * deviation(size):+.1f} %" if predicted else ""
    missed = ", missed" if is_missed(size) else ""
    return [size["made"], told, f"{on_disk:,}", f"{size['files']}", f"{apart}{missed}"]


def deviation(size: dict[str, Any]) -> float:
    """How far bytes on disk are from those predicted, as a share of these; 0 if there are none."""
    return float(size["on_disk"] / size["predicted"] - 1) if size["predicted"] else 0.0


def is_missed(size: dict[str, Any]) -> bool:
    """Whether bytes are further from those predicted than they should be."""
    return size["made"] == PLAIN and abs(deviation(size)) > GOAL


def _missed(proofs: dict[str, Any]) -> str:
    """The sentence that says where the goal is missed, and by how much."""
    plain = {name: one["bytes"] for name, one in proofs.items() if one["bytes"]["made"] == PLAIN}
    told = [
        f"{recording}, {KINDS[kind]}: {100 * deviation(size):+.1f} %"
        for name, size in plain.items()
        if is_missed(size)
        for recording, kind in [name.split("/")]
    ]
    return fill(f"Missed by {len(told)} of {len(plain)}: {'; '.join(told)}.", 100)


if __name__ == "__main__":
    main()
