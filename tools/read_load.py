"""Prove on a real cluster where a mix of declared reads falls, and write `docs/proof.md`.

Three designs for the recordings of `docs/cases` are written into a cluster of three region servers.
A mix of their reads is then answered in proportion to their rates, with values and times that are
drawn by the `keys` and the `age` of each read. What the regions count is compared in two ways:

* the rows that the plans of exactly these answers touch in each region, by the law of the counter;
* the share of each region and server as `simulate` predicts it, with its margin.

Measurements are saved in `benchmarks/read_load.json` after each design, and made again if a design,
its recording or a version has changed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from tools import proof  # noqa: E402

from cluster import Cluster  # noqa: E402 - a package of the tests
from docs.blocks import run_page  # noqa: E402
from rowkey import Design  # noqa: E402
from rowkey.hbase import Settings, connect  # noqa: E402
from rowkey.plan import plan_read  # noqa: E402
from rowkey.rows import build_cell_blocks  # noqa: E402
from rowkey.simulate import (  # noqa: E402
    LoadEstimate,
    ReadSimulator,
    choose_source_splits,
    encode_keys,
    open_source,
)
from rowkey.table import create_table, drop_table  # noqa: E402

if TYPE_CHECKING:
    from rowkey.plan import DeclaredRead
    from rowkey.regions import Boundaries
    from rowkey.table import Table

ROUNDS, ANSWERS = 5, 600
"""Mixes that are replayed for each design, and answers of each."""
MARGIN_DEVIATIONS = 1.96
CELL_HEAP_BYTES = 96
"""Memory of a cell beside its row key, qualifier and value. Source: KeyValue.heapSize of 2.6.4."""
DESIGNS = {
    "logs": r"""
table  = "logs"
key    = "[time][host][digest(message, 8)]"
splits = [
  '\x00\x00\x01\x9C\xAD\xCB\xAFH',
  '\x00\x00\x01\x9C\xAD\xD0\xC4\x10',
  '\x00\x00\x01\x9C\xAD\xD5\xDC\xC0',
  '\x00\x00\x01\x9C\xAD\xDA\xF1\x88',
  '\x00\x00\x01\x9C\xAD\xE0\x06P',
]

[fields]
time    = "timestamp_ms"
host    = { type = "text", max_bytes = 16 }
level   = { type = "choice", of = ["ERROR", "INFO", "WARN"] }
message = { type = "text", max_bytes = 64 }

[cluster]
servers = 3

[writes]
time = "time"

[[reads]]
name  = "lines of a minute"
where = "time >= ? and time < ?"
span  = "1m"
rate  = "1/s"
age   = "exp(5m)"

[[reads]]
name  = "lines of a host in a minute"
where = "host = ? and time >= ? and time < ?"
span  = "1m"
rate  = "2/s"
keys  = "uniform"
age   = "uniform"

[sample]
path = "logs.csv"
""",
    "orders": """
table  = "orders"
key    = "[user_id][desc(created_at)]"
splits = { algorithm = "sample", regions = 6 }

[fields]
order_id   = { type = "digits", width = 8 }
user_id    = { type = "text", max_bytes = 16 }
created_at = "timestamp_ms"
amount     = "float64"
status     = { type = "choice", of = ["new", "paid"] }

[cluster]
servers = 3

[writes]
time = "created_at"

[[reads]]
name  = "orders of a user"
where = "user_id = ?"
rate  = "100/s"

[[reads]]
name  = "orders of a user in an hour"
where = "user_id = ? and created_at >= ? and created_at < ?"
span  = "1h"
rate  = "10/s"
keys  = "zipf(1.2)"
age   = "uniform"

[sample]
path = "orders.csv"
""",
    "iot": """
table  = "iot"
key    = "[bucket(device, time, 6, 2)][device][desc(time)]"
splits = "per_bucket"

[fields]
device      = { type = "text", max_bytes = 32, heavy = ["dev-00017"] }
time        = "timestamp_ms"
temperature = "float64"
battery     = "u32"

[cluster]
servers = 3

[writes]
time = "time"

[[reads]]
name  = "readings of a device"
where = "device = ?"
rate  = "50/s"
keys  = "zipf(1.2)"

[[reads]]
name  = "ten minutes of a device"
where = "device = ? and time >= ? and time < ?"
span  = "10m"
rate  = "10/s"
keys  = "uniform"
age   = "exp(10m)"

[sample]
path = "iot.csv"
""",
}


@dataclass(frozen=True)
class Draw:
    """Random values for one declared read, drawn from its declaration and all rows.

    Args:
        read: the read.
        rows: all rows of the table.
        values: the distinct values of its equality conditions.
        shares: how often each is asked for.
        rows_by_value: the places of the rows of each.
    """

    read: DeclaredRead
    rows: list[dict[str, Any]]
    values: list[tuple[Any, ...]]
    shares: list[float]
    rows_by_value: dict[tuple[Any, ...], list[int]]

    @classmethod
    def from_rows(cls, read: DeclaredRead, rows: list[dict[str, Any]]) -> Draw:
        """Return a draw by the read's `keys`, from their definition."""
        rows_by_value: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(rows):
            value = tuple(row[name] for name in read.parameter_fields)
            rows_by_value.setdefault(value, []).append(place)
        ranked = sorted(rows_by_value, key=lambda value: (-len(rows_by_value[value]), value))
        weights = [float(len(rows_by_value[value])) for value in ranked]
        if read.keys.shape == "uniform":
            weights = [1.0] * len(ranked)
        elif read.keys.shape == "zipf":
            weights = [rank**-read.keys.exponent for rank in range(1, len(ranked) + 1)]
        shares = [weight / sum(weights) for weight in weights]
        return cls(read, rows, ranked, shares, rows_by_value)

    def draw_parameters(self, rng: np.random.Generator) -> list[Any]:
        """Return random values of the parameters of one answer, in their order."""
        value = self.values[int(rng.choice(len(self.values), p=self.shares))]
        places = self.rows_by_value[value]
        row = self.rows[places[int(rng.integers(len(places)))]]
        parameters = []
        for test in self.read.conditions:
            if test.operator in ("=", "in"):
                parameters.append(row[test.field])
                continue
            if test.operator == ">=":  # the end of the range comes next, with <
                start = self._draw_start(rng, test.field, row)
                end = start + (self.read.get_span(test.field) or 0)
            internal = start if test.operator == ">=" else end
            parameters.append(self.read.fields[test.field].type.from_internal(internal))
        return parameters

    def _draw_start(self, rng: np.random.Generator, name: str, row: dict[str, Any]) -> int:
        """Return where a range over a time field begins, as internal value, by the read's `age`."""
        kind, age = self.read.fields[name].type, self.read.age
        times = self.times
        latest = times[-1] - (self.read.get_span(name) or 0)
        if age is None:
            return min(int(kind.to_internal(row[name])), latest)
        if age.shape == "uniform":
            return int(rng.integers(times[0], latest + 1))
        assert age.mean is not None
        while True:
            drawn = rng.exponential(age.mean.nanoseconds / (kind.unit_ns or 1))
            if drawn <= latest - times[0]:
                return latest - int(drawn)

    @cached_property
    def times(self) -> list[int]:
        """Return the first and the last time of the rows, as internal values."""
        (name,) = self.read.time_ranges
        times = [self.read.fields[name].type.to_internal(row[name]) for row in self.rows]
        return [min(times), max(times)]


@dataclass(frozen=True, eq=False)
class Mix:
    """Answers to several reads in proportion to their rates, and what regions count of them.

    Args:
        predicted: the reads that each region should count, by answer and region.
        more: the reads that each region may count beside them, by region.
        strata: the number of the read of each answer.
        counted: reads that each region counted.
    """

    predicted: np.ndarray[Any, Any]
    more: np.ndarray[Any, Any]
    strata: np.ndarray[Any, Any]
    counted: np.ndarray[Any, Any]

    def compute_share_deviations(
        self, groups: np.ndarray[Any, Any], group_count: int
    ) -> np.ndarray[Any, Any]:
        """Return the standard error of the share of each group, because answers are random.

        Each read has a fixed number of answers, so only the answers to one read vary.

        Source: a ratio of sums in strata; Cochran, Sampling Techniques (1977), section 6.11.
        """
        grouped = np.zeros((len(self.predicted), group_count))
        for region, group in enumerate(groups.tolist()):
            grouped[:, group] += self.predicted[:, region]
        totals = grouped.sum(axis=1)
        apart = grouped - totals[:, None] * grouped.sum(axis=0) / totals.sum()
        variances = np.zeros(group_count)
        for number in np.unique(self.strata):
            part = apart[self.strata == number]
            variances += len(part) * part.var(axis=0, ddof=1)
        deviations: np.ndarray[Any, Any] = np.sqrt(variances) / totals.sum()
        return deviations


class MixReplay:
    """Replays random mixes of a design's reads on a table that holds its recording.

    Args:
        design: the design.
        boundaries: where its regions begin.
        table: the table; `load` writes the recording into it.
        least_reads: what a region counts for a range that finds no row in it: 1 on HBase.
    """

    def __init__(
        self, design: Design, boundaries: Boundaries, table: Table, least_reads: int
    ) -> None:
        self.design, self.boundaries, self.table = design, boundaries, table
        self.least_reads = least_reads
        self.rates = [read.rate or 1.0 for read in design.reads]

    def load(self, batch: pa.RecordBatch) -> None:
        """Write the rows, and predict where the reads fall."""
        self.table.load(batch)
        keys = encode_keys(self.design, batch)
        self.keys = sorted(set(keys))
        heap_bytes = self.least_reads * measure_heap_bytes(self.design, batch)  # 0 if embedded
        self.responses_per_row = heap_bytes / len(self.keys) / Settings().scan_answer_bytes
        rows = batch.to_pylist()
        self.draws = [Draw.from_rows(read, rows) for read in self.design.reads]
        simulator = ReadSimulator(self.design, self.boundaries, batch, keys, len(self.keys), 100.0)
        loads = [simulator.measure_read(read).load for read in self.design.reads]
        self.answers = [load.count_reads(self.least_reads) for load in loads if load is not None]

    def predict_load(self, groups: np.ndarray[Any, Any], group_count: int) -> LoadEstimate:
        """Return the predicted reads of each group of regions, at the rates of the reads."""
        loads = [
            answer.estimate_load(groups, group_count).scale(rate)
            for answer, rate in zip(self.answers, self.rates, strict=True)
        ]
        return reduce(LoadEstimate.add, loads)

    def replay(self, seed: int, answer_count: int) -> Mix:
        """Answer a random mix of the reads, and return predicted and counted reads by region.

        Args:
            seed: where randomness begins.
            answer_count: about how many answers.
        """
        rng = np.random.default_rng(seed)
        counts = [max(round(answer_count * rate / sum(self.rates)), 2) for rate in self.rates]
        strata = rng.permutation(np.repeat(np.arange(len(counts)), counts))
        before = self._count_reads()
        predicted = []
        for number in strata.tolist():
            read = self.design.reads[number]
            parameters = self.draws[number].draw_parameters(rng)
            self.table.scan(read.conditions, *parameters).count()
            predicted.append(self.predict_answer(read, parameters))
        by_answer, more = np.array(predicted).swapaxes(0, 1)
        return Mix(by_answer, more.sum(axis=0), strata, self._count_reads() - before)

    def predict_answer(
        self, read: DeclaredRead, parameters: Sequence[Any]
    ) -> tuple[list[int], list[int]]:
        """Return how many reads each region counts for one answer, by the law of the counter.

        It counts each row, and one where a range finds none in it. It may count one more where
        rows of a range end, and a row again for each response of the cluster that is full.

        Returns:
            The reads of each region, and those that it may count beside them.
        """
        plan = plan_read(self.design.key, read.build_bounds(dict(enumerate(parameters))))
        reads, more = [0] * len(self.boundaries.regions), [0] * len(self.boundaries.regions)
        for one in plan.ranges:
            for number, (first, end) in enumerate(self.boundaries.regions):
                low, high = max(one.start, first), min(filter(None, (one.stop, end)), default=b"")
                if high and low >= high:
                    continue
                stop = bisect_left(self.keys, high) if high else len(self.keys)
                rows = stop - bisect_left(self.keys, low)
                reads[number] += max(rows, self.least_reads)
                more[number] += min(rows, self.least_reads) + int(rows * self.responses_per_row)
        return reads, more

    def number_servers(self) -> np.ndarray[Any, Any]:
        """Return the number of the server of each region, from 0."""
        names = [region.server for region in self.table.store.list_open_regions()]
        return np.array([sorted(set(names)).index(name) for name in names])

    def _count_reads(self) -> np.ndarray[Any, Any]:
        """Return the reads that each region has counted."""
        return np.array([region.reads for region in self.table.store.list_open_regions()])


def compare_shares(replay: MixReplay, mixes: Sequence[Mix]) -> list[dict[str, float]]:
    """Return the predicted and counted share of each region and server in each mix.

    Returns:
        `predicted`, its `margin`, `counted`, and `drawn`, how far a mix of these answers may lie
        from the mean mix in 95 of 100 cases.
    """
    servers = replay.number_servers()
    figures = []
    for groups in (np.arange(len(servers)), servers):
        count = int(groups.max()) + 1
        load = replay.predict_load(groups, count)
        for mix in mixes:
            counted = np.bincount(groups, mix.counted, count) / mix.counted.sum()
            drawn = MARGIN_DEVIATIONS * mix.compute_share_deviations(groups, count)
            figures += [
                {
                    "predicted": round(float(load.operations[place] / load.total), 5),
                    "margin": round(float(load.margins[place] / load.total), 5),
                    "counted": round(float(counted[place]), 5),
                    "drawn": round(float(drawn[place]), 5),
                }
                for place in range(count)
            ]
    return figures


def measure_heap_bytes(design: Design, batch: pa.RecordBatch) -> int:
    """Return the memory that the cells of some rows need in a server that returns them."""
    total = 0
    for block in build_cell_blocks(design.layout, batch):
        cells = zip(block.rows, block.values, strict=True)
        sizes = [len(row.as_py()) + len(value.as_py()) for row, value in cells if value.is_valid]
        total += sum(sizes) + len(sizes) * (CELL_HEAP_BYTES + len(block.qualifiers))
    return total


def open_recording(design: Design) -> tuple[pa.RecordBatch, Boundaries]:
    """Return the rows of a design's recording that are written, and where its regions begin."""
    source = open_source(design, None, None, second_half=False, seed=0, keeps_all_fields=True)
    boundaries = choose_source_splits(design, source, seed=0).boundaries
    batches = [events.rows for events in source.read_replayed_events()]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0], boundaries


def measure_design(
    design: Design, url: str, least_reads: int, rounds: int, answers: int
) -> dict[str, Any]:
    """Replay mixes on a new table of a design, and return the figures; the table is dropped."""
    batch, boundaries = open_recording(design)
    with create_table(design, url, splits=boundaries.splits) as table:
        try:
            replay = MixReplay(design, boundaries, table, least_reads)
            replay.load(batch)
            mixes = [replay.replay(seed, answers) for seed in range(rounds)]
            figures = compare_shares(replay, mixes)
            servers = replay.number_servers()
        finally:
            drop_table(design, url)
    expected = sum(int(mix.predicted.sum()) for mix in mixes)
    apart = [mix.counted - mix.predicted.sum(axis=0) for mix in mixes]
    wrong = [(one < 0) | (one > mix.more) for one, mix in zip(apart, mixes, strict=True)]
    loads = np.bincount(servers, sum(mix.counted for mix in mixes))
    return {
        "key": str(design.key),
        "answers": sum(len(mix.strata) for mix in mixes),
        "expected": expected,
        "counted": sum(int(mix.counted.sum()) for mix in mixes),
        "most": expected + sum(int(mix.more.sum()) for mix in mixes),
        "regions": len(mixes) * len(boundaries.regions),
        "exact": int(sum((one == 0).sum() for one in apart)),
        "wrong": int(sum(one.sum() for one in wrong)),
        "skew": round(float(loads.max() * len(loads) / loads.sum()), 3),
        "figures": figures,
    }


def main() -> None:
    """Measure all designs without a current measurement, and write the page of proofs."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="measure all designs again")
    arguments = parser.parse_args()
    is_known = proof.READ_LOAD.exists() and not arguments.again
    measurements = json.loads(proof.READ_LOAD.read_text("utf-8")) if is_known else {}
    with TemporaryDirectory() as folder:
        designs = {case: write_design(case, Path(folder)) for case in DESIGNS}
        left = {
            case: design
            for case, design in designs.items()
            if not proof.is_current(measurements.get(case), compute_fingerprint(case, design))
        }
        if left:
            _measure_on_cluster(left, measurements)
    measured = json.loads(proof.MEASURED.read_text("utf-8"))
    proof.PAGE.write_text(proof.build_page(measured), encoding="utf-8")


def write_design(case: str, folder: Path) -> Design:
    """Return a design, with its recording in a folder.

    Args:
        case: its name, which is that of a page of `docs/cases`.
        folder: where the page's first example, which writes the recording, is run.
    """
    page = (ROOT / "docs" / "cases" / f"{case}.md").read_text(encoding="utf-8")
    for _ in run_page(page.partition("## Two commands")[0], folder):
        pass
    return Design.loads(DESIGNS[case], directory=folder)


def compute_fingerprint(case: str, design: Design) -> dict[str, str]:
    """Return hashes of everything that a measurement depends on."""
    assert design.sample_path is not None
    return {
        "design": proof.hash_bytes(DESIGNS[case].encode()),
        "data": proof.hash_bytes(design.sample_path.read_bytes()),
        "rowkey": version("rowkey"),
        "hbase": proof.read_hbase_version(),
    }


def _measure_on_cluster(designs: dict[str, Design], measurements: dict[str, Any]) -> None:
    """Measure designs on a new cluster, and save the measurements after each."""
    with Cluster.start(patience_s=600) as cluster, connect(cluster.url) as client:
        client.admin.set_balancer(False)
        client.admin.set_splits_and_merges(False)
        for case, design in designs.items():
            print(case, flush=True)
            figures = measure_design(design, cluster.url, 1, ROUNDS, ANSWERS)
            measurements[case] = {**compute_fingerprint(case, design), **figures}
            text = json.dumps(measurements, indent=1, ensure_ascii=False)
            proof.READ_LOAD.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
