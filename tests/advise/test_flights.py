"""Four designs of the shipped flights, compared with counts made by Arrow and NumPy alone."""

from __future__ import annotations

import os
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mmh3
import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from rowkey.advise import compare_designs
from rowkey.design import Design

if TYPE_CHECKING:
    from rowkey.advise import ComparedDesign, Comparison

EXAMPLES = files("rowkey") / "examples"
RECORDING = str(EXAMPLES / "flights.parquet")
STEP = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 12
"""One of so many departures is compared; in the long profile all are."""
MOST_SEARCHED = None if STEP == 1 else 1_500
"""Departures by which keys are searched; all in the long profile."""
SERVERS, REGIONS, WINDOWS = 8, 16, 50
LOSSY = """\
table  = "departures"
key    = "[mod(flight, 16)][carrier][flight]"   # no time: the departures of a flight are one row
splits = "per_bucket"

[fields]
time    = { type = "timestamp_s", from = "time_hour" }
carrier = { type = "text", max_bytes = 2 }
flight  = "u16"
origin  = { type = "text", max_bytes = 3 }
dest    = { type = "text", max_bytes = 3 }
tailnum = { type = "text", max_bytes = 6 }

[writes]
sort = true
"""
HISTORY, A_DAY, DAY_S = "history of a flight", "departures of a day", 86_400
NAMES = ("time_first", "mod", "hashed", "lossy")


class Flights:
    """The replayed half of a sample, or all of it, in the order of time, as columns of numbers.

    Its keys are placed without the package: time first by the order of (time, carrier, flight), mod
    by the remainder of the time, hashed by the murmur3 of the carrier's bytes, a zero and the
    flight's two, lossy by the remainder of the flight.

    Args:
        path: the sample.
        is_whole: whether it is all of the sample, of which reads are asked.
    """

    def __init__(self, path: Path, *, is_whole: bool = False) -> None:
        table = pq.read_table(path)
        time = table["time_hour"].cast("int64").to_numpy() // 1_000
        order = np.argsort(time, kind="stable")
        names, carrier = np.unique(table["carrier"].to_numpy(), return_inverse=True)
        flight = table["flight"].to_numpy()
        in_order = ((time * 64 + carrier) * 65_536 + flight)[order]
        self.event_count, half = len(order), len(order) // 2
        first = np.sort(in_order[:half])
        begin = 0 if is_whole else half
        second = order[begin:]
        splits = first[[half * number // REGIONS for number in range(1, REGIONS)]]
        entity, which = np.unique(carrier[second] * 65_536 + flight[second], return_inverse=True)
        hashes = [
            mmh3.hash(
                names[one >> 16].encode() + b"\0" + int(one & 0xFFFF).to_bytes(2), signed=False
            )
            for one in entity.tolist()
        ]
        self.seconds = time[second]
        self.which = which
        self.counts = np.bincount(which)
        self.last = np.zeros(len(entity), np.int64)
        np.maximum.at(self.last, which, self.seconds)
        self.repeats = len(second) - len(entity)
        self.latest_ten = float(np.minimum(self.counts[which], 10).mean())
        self.regions = {
            "time_first": np.searchsorted(splits, in_order[begin:], "right"),
            "mod": self.seconds % REGIONS,
            "hashed": (np.array(hashes) % REGIONS)[which],
            "lossy": flight[second] % REGIONS,
        }
        self.value_bytes = {
            name: int(pc.sum(pc.binary_length(table[name].take(second))).as_py())
            for name in ("origin", "dest", "tailnum")
        }

    def __len__(self) -> int:
        return len(self.seconds)

    def count_bytes(self, key_bytes: int, more: dict[str, int] | None = None) -> int:
        """Return the bytes of all cells, each 20 plus its key, family, qualifier and value."""
        cells = self.value_bytes | (more or {})
        return sum(len(self) * (20 + key_bytes + 1 + len(q)) + total for q, total in cells.items())

    def count_within_day(self, times: Any) -> float:
        """Return how many of some times are in the 24 h after a departure, on average."""
        ordered = np.sort(times)
        first, end = (np.searchsorted(ordered, self.seconds + after) for after in (0, DAY_S))
        return float((end - first).mean())

    def count_rows_until_ten(self, first_answer: int) -> float:
        """Return how many rows are read from the latest on until ten of a flight have come.

        They come in answers, each of twice as many rows as the one before. They are looked at in
        groups that double up to 1,024 rows, with a group that ends after 10, 30, 70, 150 … rows.

        Args:
            first_answer: the rows of the first answer.
        """
        by_flight = np.argsort(self.which, kind="stable")
        tenth = np.cumsum(self.counts) - 10
        found = len(self) - by_flight[np.maximum(tenth, 0)]
        ends = [0]
        for round_end in [10 * (2**n - 1) for n in range(1, 16)]:
            while ends[-1] < round_end:
                group = min(2 ** (len(ends) - 1), 1_024)
                ends.append(min(ends[-1] + group, round_end))
        answers = first_answer * (2 ** np.arange(1, 16) - 1)
        looked_at = np.array(ends)[np.searchsorted(ends, found)]
        came = np.minimum(answers[np.searchsorted(answers, looked_at)], len(self))
        return float(np.where(self.counts >= 10, came, len(self))[self.which].mean())

    def count_prefixes(self, name: str) -> dict[str, int]:
        """Return how many ranges a flight's history and a day need, by leading bytes."""
        if name == "time_first":
            return {HISTORY: 1, A_DAY: 1}
        if name == "mod":
            of_day = {second % REGIONS for second in range(DAY_S)}
            return {HISTORY: REGIONS, A_DAY: len(of_day)}
        of_flight = {len(set(self.regions[name][self.which == one].tolist())) for one in range(50)}
        all_of_them = len(set(self.regions[name].tolist()))
        return {HISTORY: max(of_flight), A_DAY: all_of_them if name == "hashed" else 1}

    def skew(self, name: str) -> float:
        """Return the busiest server's mean share of 50 equal windows, times the servers."""
        servers = self.regions[name] % SERVERS
        edges = [len(self) * number // WINDOWS for number in range(WINDOWS + 1)]
        shares = [np.bincount(servers[a:b]).max() / (b - a) for a, b in pairwise(edges)]
        return float(SERVERS * np.mean(shares))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the departures that are compared."""
    table, path = pq.read_table(RECORDING), tmp_path_factory.mktemp("flights") / "some.parquet"
    pq.write_table(table.take(np.arange(0, len(table), STEP)), path)
    return path


@pytest.fixture(scope="module")
def flights(sample: Path) -> Flights:
    """Return the sample with the counts made by hand."""
    return Flights(sample)


@pytest.fixture(scope="module")
def flights_with_reads(sample: Path) -> Flights:
    """Return all of the sample, of which reads are asked, with the counts made by hand."""
    return Flights(sample, is_whole=True)


@pytest.fixture(scope="module")
def flights_comparison(sample: Path) -> Comparison:
    """Return the comparison of three shipped designs and one that loses rows."""
    return compare_flights(sample)


def compare_flights(sample: Path) -> Comparison:
    """Compare three shipped designs and one that loses rows."""
    shipped = [Design.read(str(EXAMPLES / "flights" / f"{name}.toml")) for name in NAMES[:3]]
    return compare_designs([*shipped, Design.loads(LOSSY)], sample, names=NAMES)


def list_values(found: Comparison, name: str, read: str | None = None) -> list[Any]:
    """Return the figures of a measure."""
    return [figure.value for figure in found.find_measure(name, read).figures]


def test_all_compared_designs_replay_the_second_half_if_one_samples_its_splits(
    flights_comparison: Comparison, flights: Flights
) -> None:
    """All designs replay the second half, since one takes its split keys from the first half."""
    count = flights.event_count
    assert (count, count // 2, len(flights)) == (
        flights_comparison.event_count,
        flights_comparison.first_event,
        flights_comparison.operation_count,
    )
    assert {len(flights)} == {one.simulation.operation_count for one in flights_comparison.designs}


def test_writes_of_each_region_equal_the_counts_by_hand(
    flights_comparison: Comparison, flights: Flights
) -> None:
    """Each region has as many writes as counted by hand."""
    for one in flights_comparison.designs:
        writes = np.bincount(flights.regions[one.name], minlength=REGIONS).tolist()
        assert writes == [region.writes for region in one.simulation.regions], one.name


def count_by_column(one: ComparedDesign, flights: Flights) -> list[list[int]]:
    """Return the events of each column of the load map by region, counted by hand."""
    assert one.simulation.load_map is not None
    start, width, heat = one.simulation.load_map
    columns = (flights.seconds - start) // width
    cells = np.bincount(columns * REGIONS + flights.regions[one.name], minlength=heat.size)
    return list(cells.reshape(heat.shape).tolist())


def test_load_map_cells_equal_the_counts_by_hand(
    flights_comparison: Comparison, flights: Flights
) -> None:
    """Each cell of the load map has as many writes as counted by hand."""
    for one in flights_comparison.designs:
        assert one.simulation.load_map is not None
        assert count_by_column(one, flights) == one.simulation.load_map[2].tolist(), one.name


def test_the_skew_is_measured_in_windows_of_equal_event_counts(
    flights_comparison: Comparison, flights: Flights
) -> None:
    """The skew is that of windows with equal event counts, since no hour has 1,600 departures."""
    _, most = np.unique(flights.seconds // 600, return_counts=True)
    assert most.max() < 200 * SERVERS
    assert {None} == {
        v for w in (1, 10, 60, 600) for v in list_values(flights_comparison, f"skew_{w}s")
    }
    assert pytest.approx([flights.skew(name) for name in NAMES]) == list_values(
        flights_comparison, "skew_equal"
    )
    assert (2,) == flights_comparison.find_measure("skew_equal").best_designs


def test_a_key_without_the_time_keeps_only_the_last_departure_of_a_flight(
    flights_comparison: Comparison, flights: Flights
) -> None:
    assert flights.repeats > len(flights) / 2
    assert [0, 0, 0, flights.repeats] == list_values(flights_comparison, "overwritten")
    assert (0, 1, 2) == flights_comparison.find_measure("overwritten").best_designs


def test_bytes_of_all_designs_equal_the_sizes_computed_by_hand(
    flights_comparison: Comparison, flights: Flights
) -> None:
    """The bytes of all designs equal the cell sizes computed by hand."""
    keys = [8 + 3 + 2, 1 + 8 + 3 + 2, 1 + 3 + 2 + 8, 1 + 3 + 2]
    time = {"time": 8 * len(flights)}
    totals = [flights.count_bytes(key) for key in keys[:3]] + [flights.count_bytes(keys[3], time)]
    assert keys == list_values(flights_comparison, "key_bytes")
    assert totals == list_values(flights_comparison, "total_bytes")
    assert [total / len(flights) for total in totals] == list_values(
        flights_comparison, "event_bytes"
    )
    assert all(figure.is_exact for figure in flights_comparison.find_measure("total_bytes").figures)


def test_a_history_is_one_range_if_the_key_begins_with_the_flight(
    flights_comparison: Comparison,
) -> None:
    """A history is one range if the key begins with the flight, a day if with the time."""
    history, day = "history of a flight", "departures of a day"
    assert [1, 16, 1, 1] == list_values(flights_comparison, "fan_out", history)
    assert [1, 16, 16, 1] == list_values(flights_comparison, "fan_out", day)
    assert [1, 16, 8.5, 1] == list_values(flights_comparison, "fan_out")
    assert [1, 1] == list_values(flights_comparison, "read_per_returned", day)[:2]
    assert [1, 1] == list_values(flights_comparison, "read_per_returned", history)[2:]
    assert (0, 1) == flights_comparison.find_measure("read_per_returned", day).best_designs


def test_ranges_of_each_read_equal_the_prefixes_counted_by_hand(
    flights_comparison: Comparison, flights: Flights
) -> None:
    """The ranges of each read equal the number of prefixes counted by hand."""
    for read in (HISTORY, A_DAY):
        by_hand = [flights.count_prefixes(name)[read] for name in NAMES]
        assert by_hand == list_values(flights_comparison, "fan_out", read)


def test_only_a_time_first_key_reads_just_the_rows_of_a_day(
    flights_comparison: Comparison, flights_with_reads: Flights
) -> None:
    """A key that begins with the time reads only the day's rows, and others read all."""
    day = flights_with_reads.count_within_day(flights_with_reads.seconds)
    returned = list_values(flights_comparison, "rows_returned", A_DAY)
    assert pytest.approx([day] * 3, rel=0.03) == returned[:3]
    left = flights_with_reads.count_within_day(flights_with_reads.last)
    assert pytest.approx(left, rel=0.15) == returned[3]
    by_hand = [1.0, 1.0, len(flights_with_reads) / day, len(flights_with_reads.last) / left]
    assert pytest.approx(by_hand, rel=0.15) == list_values(
        flights_comparison, "read_per_returned", A_DAY
    )
    assert (
        pytest.approx(by_hand[:3], rel=0.03)
        == list_values(flights_comparison, "read_per_returned", A_DAY)[:3]
    )


def test_only_a_flight_first_key_reads_just_the_rows_of_a_flight(
    flights_comparison: Comparison, flights_with_reads: Flights
) -> None:
    """A key that begins with the flight reads only its rows, others until ten came."""
    # By the remainder all rows are in one of sixteen ranges, each of which is asked for four first.
    by_hand = [flights_with_reads.count_rows_until_ten(first) for first in (10, 4)]
    costs = [
        next(cost for cost in one.simulation.reads if cost.name == HISTORY)
        for one in flights_comparison.designs
    ]
    # A hundred flights are asked of all: the margins say how far chance moves their mean.
    for rows, cost in zip(by_hand, costs[:2], strict=True):
        assert abs(rows - cost.read_rows) <= cost.margins.read_rows <= 0.15 * rows
    ratios = list_values(flights_comparison, "read_per_returned", HISTORY)
    assert [cost.read_rows / cost.returned_rows for cost in costs] == pytest.approx(ratios)
    assert [1.0, 1.0] == ratios[2:]


def test_a_design_without_reads_is_compared_by_the_reads_of_the_other_designs(
    flights_comparison: Comparison, flights_with_reads: Flights
) -> None:
    """A design that declares no read is compared by the other designs' reads as well."""
    returned = list_values(flights_comparison, "rows_returned", "history of a flight")
    assert returned[0] == returned[1] == returned[2]
    assert pytest.approx(flights_with_reads.latest_ten, rel=0.03) == returned[0]
    assert 1.0 == returned[3]


@pytest.mark.long
def test_a_compared_design_has_the_findings_of_its_own_check(sample: Path, tmp_path: Path) -> None:
    """Each design has the same findings as when it is checked alone."""
    # A search for a key, by which findings name their remedy, judges all events again and again.
    pq.write_table(pq.read_table(sample).slice(0, MOST_SEARCHED), tmp_path / "some.parquet")
    compared = compare_flights(tmp_path / "some.parquet")
    said = [[one.name for one in design.lint_result.findings] for design in compared.designs]
    assert ["monotone-lead"] == said[0]
    assert ["time-only-bucket"] == said[1]
    assert [] == said[2]
    assert "overwritten-rows" in said[3]
    assert [len(one) for one in said] == [
        sum(counts)
        for counts in zip(
            *(list_values(compared, n) for n in ("errors", "warnings", "remarks")),
            strict=True,
        )
    ]
