"""The right cause is named first on recordings whose cause is known, and nothing on even ones."""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from hotspots.applied_remedies import apply_remedy
from hotspots.recordings import EVEN, FIELDS, HOT, Recording
from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.hotspots.least_skew import compute_least_skew
from rowkey.simulate import run

if TYPE_CHECKING:
    from rowkey.simulate import Simulation

TABLE = """\
log by time                      moving_front       8.00   8.00  hot
newest first                     moving_front       4.00   4.00  hot
sales by date                    moving_front       5.00   5.00  hot
metrics by hour                  moving_front       6.00   6.00  hot
orders by number                 moving_front       5.00   5.00  hot
sorted import                    moving_front       1.00   2.07  hot
new users by code                moving_front       8.00   8.00  hot
export in no order               moving_front       8.00   8.00  hot
remainder of whole hours         time_only_bucket   8.00   8.00  hot
hashed seconds                   time_only_bucket   1.20   1.40  warm
remainder of scrapes             time_only_bucket   3.50   5.00  hot
hashed minutes                   time_only_bucket  10.00  10.00  hot
reversed milliseconds            time_only_bucket   4.80   4.80  hot
one busy host                    hot_entity         3.20   3.95  hot
one giant tenant                 hot_entity         3.00   3.24  hot
bursts in a third of the time    hot_entity         3.24   3.45  hot
rush hour                        hot_entity         2.67   3.09  hot
users by Zipf                    hot_entity         3.43   3.76  hot
no session                       hot_entity         3.55   4.02  hot
two hundred regions              hot_entity         2.98   3.78  hot
two servers                      hot_entity         1.40   1.70  hot
page counters                    hot_row            2.78   3.42  hot
three airports                   few_entities       2.67   2.94  hot
eight machines                   few_entities       1.24   1.86  warm
few aircraft in the air          few_entities       1.00   1.82  warm
four continents                  few_entities       2.00   2.20  warm
remainder of snowflakes          uneven_buckets     8.00   8.00  hot
weak hash of doubled digits      uneven_buckets     4.02   4.15  hot
digest of one byte               missed_splits      1.00   2.07  warm
hexadecimal splits on names      missed_splits      8.00   8.00  hot
one prefix                       missed_splits      8.00   8.00  hot
reversed numbers with zeros      missed_splits      5.00   5.00  hot
sensors of a rollout             missed_splits      8.00   8.00  hot
articles of the season           missed_splits      1.00   4.43  hot
ten buckets on eight servers     integer_imbalance  1.58   1.69  warm
seven regions on five servers    integer_imbalance  1.39   1.54  warm
one region                       integer_imbalance  6.00   6.00  hot
"""
"""Each recording with its first cause, the cause's bound, and the skew that was measured. An expert
expected these causes; `HOT` says why."""
LONG_EVEN = (
    "two hundred regions on twenty servers", "random identifiers", "hexadecimal digests", "digests",
    "scrapes of a second", "night and day", "hosts by quantiles", "remainder of a counter",
)  # fmt: skip
"""Even recordings that take long and resemble others: `make test-long` replays them."""
MARGIN = 0.02
"""By how much a measured skew may lie below a bound: a design with other splits is replayed on
another half of the events."""


@cache
def build_table(recording: Recording) -> pa.Table:
    """Return the events of a recording, made once."""
    return pa.table(recording.make())


def build_design(
    recording: Recording, key: str, splits: Any, columns: list[str], capacity: float | None = None
) -> Design:
    """Return a design for a recording, on servers of some capacity; of the usual one if None."""
    fields = {
        name: FIELDS[name] | ({"heavy": recording.heavy[name]} if name in recording.heavy else {})
        if isinstance(FIELDS[name], dict)
        else FIELDS[name]
        for name in columns
    }
    cluster: dict[str, Any] = {"servers": recording.servers}
    if capacity is not None:
        cluster["capacity"] = f"{86_400 * capacity:.0f}/d"
    return Design(
        "t", key, fields=fields, splits=splits, cluster=cluster, writes=recording.writes
    )  # fmt: skip


@cache
def simulate(recording: Recording) -> Simulation:
    """Return the replay of a recording on its design."""
    return simulate_other(recording, recording.key, recording.splits)


def simulate_other(recording: Recording, key: str, splits: Any) -> Simulation:
    """Return the replay of a recording on a design with another key or other splits."""
    table = build_table(recording)
    return run(build_design(recording, key, splits, table.column_names), table)


QUICK = (
    "log by time", "sales by date", "export in no order",
    "remainder of whole hours", "reversed milliseconds",
    "one busy host", "bursts in a third of the time", "no session",
    "page counters",
    "three airports",
    "remainder of snowflakes",
    "one prefix", "articles of the season",
    "ten buckets on eight servers",
)  # fmt: skip
"""The recordings with a cause that `make test` replays, of each cause some: the first, third … with
other regions too, the second, eighth … with their remedies."""
each_hot = pytest.mark.parametrize(
    "recording",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.long)
        for one in HOT
    ],
)
each_even = pytest.mark.parametrize(
    "recording",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.long if one.name in LONG_EVEN else ())
        for one in EVEN
    ],
)


def test_there_are_thirty_hot_and_twenty_even_recordings() -> None:
    """There are thirty recordings with a cause and twenty even ones, each with its own name."""
    assert len(HOT) >= 30
    assert len(EVEN) >= 20
    assert len(HOT + EVEN) == len({one.name for one in HOT + EVEN})


def format_row(recording: Recording, found: Simulation) -> str:
    """Return the row of a recording in the table."""
    cause = found.causes[0]
    return (
        f"{recording.name:33}{cause.code:18}{cause.bound:5.2f}{found.verdict.skew:7.2f}  "
        f"{found.verdict.level}"
    )


@each_hot
def test_the_first_cause_of_each_recording_is_the_expected_one(recording: Recording) -> None:
    """The first cause is the expected one, with the bound and the skew of the table."""
    found = simulate(recording)
    assert found.causes[0].code in recording.expected
    assert format_row(recording, found) in TABLE.splitlines()


@each_even
def test_no_cause_is_named_for_an_even_recording(recording: Recording) -> None:
    """An even recording is judged even and has no cause."""
    found = simulate(recording)
    assert ("even", []) == (found.verdict.level, [one.code for one in found.causes])


@each_hot
def test_no_cause_explains_more_skew_than_was_measured(recording: Recording) -> None:
    """No cause explains more than was measured, its bound is no more than it explains."""
    found = simulate(recording)
    explained = [one.explained_skew for one in found.causes]
    assert sorted(explained, reverse=True) == explained
    for cause in found.causes:
        assert 1 <= cause.bound <= cause.explained_skew <= found.verdict.skew
    assert explained[0] - 1 >= (found.verdict.skew - 1) / 3


@pytest.mark.parametrize(
    ("recording", "key", "splits"),
    [
        pytest.param(
            one,
            key,
            splits,
            id=f"{one.name}, {key}",
            marks=() if not number and one.name in QUICK[::2] else pytest.mark.long,
        )
        for one in HOT
        for number, (key, splits) in enumerate(one.others)
    ],
)
def test_more_regions_of_the_same_key_stay_above_the_bound(
    recording: Recording, key: str, splits: Any
) -> None:
    """With more buckets, other hashes or finer splits the skew is not below the bound."""
    bound = simulate(recording).causes[0].bound
    other = simulate_other(recording, key, splits)
    assert other.verdict.skew >= (1 - MARGIN) * bound
    if other.causes:
        assert other.causes[0].bound <= other.verdict.skew


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK else pytest.mark.long)
        for one in HOT
        if "integer_imbalance" in one.expected
    ],
)
def test_no_random_placement_of_the_regions_is_below_the_bound(recording: Recording) -> None:
    """Of a thousand random placements of the regions on the servers none is below the bound."""
    found, chance = simulate(recording), random.Random(1)
    writes = [region.writes for region in found.regions]
    servers = recording.servers
    for _ in range(1_000):
        loads = [0] * servers
        for load in writes:
            loads[chance.randrange(servers)] += load
        assert max(loads) * servers / sum(loads) >= found.causes[0].bound - 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_no_assignment_of_loads_to_servers_is_below_the_least_skew(seed: int) -> None:
    """No assignment of up to eight loads to two or three servers is below their least skew."""
    chance = random.Random(seed)
    servers = chance.choice([2, 3])
    loads = [chance.randrange(1, 10) for _ in range(chance.randrange(1, 9))]
    best = min(
        max(
            sum(load for load, place in zip(loads, places, strict=True) if place == server)
            for server in range(servers)
        )
        for places in itertools.product(range(servers), repeat=len(loads))
    )
    least = compute_least_skew(np.array(loads), servers)
    assert 1 <= least <= best * servers / sum(loads) + 1e-9


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(one, id=one.name, marks=() if one.name in QUICK[1::6] else pytest.mark.long)
        for one in HOT
    ],
)
def test_the_first_remedy_of_each_recording_lowers_the_skew(recording: Recording) -> None:
    """The same events are less skewed after the first remedy, and its remedy is not the old key."""
    rows, replayed = build_table(recording), simulate(recording)
    # A server bears twice its fair share of what the recording has in a second: heat does harm.
    rate = replayed.recorded_rate
    capacity = None if rate is None else 2 * rate / recording.servers
    design = build_design(recording, recording.key, recording.splits, rows.column_names, capacity)
    judged = JudgedDesign(design, rows, names_keys=True)
    found, cause = judged.simulation.verdict, judged.simulation.causes[0]
    better = apply_remedy(judged.design, cause)
    if better is None:
        # A counter is divided by those who count, which no sample shows.
        named = ("Shuffle the rows", "add one for the writer that counts")
        assert any(one in cause.remedy for one in named), cause.remedy
        return
    again = JudgedDesign(better, rows, names_keys=True)
    after = again.simulation.verdict
    assert after.skew / after.even_skew < found.skew / found.even_skew
    for one in again.simulation.causes[:1]:
        back = apply_remedy(better, one)
        assert back is None or back.key.terms != judged.design.key.terms
