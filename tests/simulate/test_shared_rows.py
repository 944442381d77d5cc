"""Reads of rows that several events share cost what the rows hold, counted by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_counts import divide_examples
from rowkey.design import Design
from rowkey.regions import Boundaries
from rowkey.simulate import run
from rowkey.simulate.read_simulator import ReadSimulator

if TYPE_CHECKING:
    from rowkey.simulate import ReadCost

HOUR = 3_600
FIELDS: dict[str, Any] = {"host": {"type": "text", "max_bytes": 8}, "ts": "timestamp_s"}
EVENTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 3 * HOUR // 600).map(lambda n: 600 * n)),
    min_size=2,
    max_size=30,
    unique=True,
)
Event = tuple[str, int]


def measure_read(key: str, events: Sequence[Event], **read: Any) -> tuple[ReadCost, list[Any]]:
    """Return the cost of a read of a table that holds just these events, and its trials' values."""
    fields = FIELDS if "ts" in key else {**FIELDS, "ts": {"type": "timestamp_s", "at": "qualifier"}}
    design = Design("t", key, fields=fields, reads=[{"name": "it", **read}])
    assert design.layout.has_shared_rows
    hosts, times = zip(*events, strict=True)
    batch = pa.record_batch([pa.array(hosts), pa.array(times)], names=["host", "ts"])
    keys = design.key.encode_batch(batch, salts=np.zeros(len(events), np.int64)).to_pylist()
    simulator = ReadSimulator(design, Boundaries(()), batch, keys, len(events), 100)
    return simulator.measure_read(design.reads[0]), list(simulator.generate_values(design.reads[0]))


def count_mean(
    events: Sequence[Event], trials: Sequence[Mapping[Any, Any]], fits: Callable[..., bool]
) -> float:
    """Return the mean number of events that fit the values of a trial."""
    counts = [sum(fits(event, *values.values()) for event in events) for values in trials]
    return sum(counts) / len(counts)


@divide_examples(2)
@given(EVENTS)
def test_a_read_of_a_shared_row_reads_all_of_its_events(events: Sequence[Event]) -> None:
    """A read of one host's row returns and reads each of its events."""
    cost, trials = measure_read("[host]", events, where="host = ?")
    own = count_mean(events, trials, lambda event, host: event[0] == host)
    assert (own, own) == pytest.approx((cost.returned_rows, cost.read_rows))


@divide_examples(2)
@given(EVENTS)
def test_times_in_qualifiers_narrow_what_is_read_of_a_row(events: Sequence[Event]) -> None:
    read = {"where": "host = ? and ts >= ? and ts < ?", "span": "1h"}
    cost, trials = measure_read("[host]", events, **read)

    def fits(event: Event, host: str, low: int, high: int) -> bool:
        return event[0] == host and low <= event[1] < high

    returned = count_mean(events, trials, fits)
    # A range of qualifiers stops after its last value: one event at the end itself may be read.
    at_end = count_mean(events, trials, lambda event, host, low, high: event == (host, high))
    assert pytest.approx(returned) == cost.returned_rows
    assert returned - 1e-9 <= cost.read_rows <= returned + at_end + 1e-9


@divide_examples(2)
@given(EVENTS)
def test_a_time_range_over_two_slices_reads_both_rows(events: Sequence[Event]) -> None:
    """A range of times within one slice reads its events, and one over several reads all rows."""
    read = {"where": "host = ? and ts >= ? and ts < ?", "span": "30m"}
    cost, trials = measure_read("[host][time_slice(ts, 1h)]", events, **read)

    def is_read(event: Event, host: str, low: int, high: int) -> bool:
        is_in_row = event[0] == host and low // HOUR <= event[1] // HOUR <= (high - 1) // HOUR
        is_one_slice = low // HOUR == (high - 1) // HOUR
        return is_in_row and (not is_one_slice or low <= event[1] < high)

    assert pytest.approx(count_mean(events, trials, is_read), abs=1) == cost.read_rows


def test_a_forward_limit_reads_pages_and_a_backward_one_whole_rows() -> None:
    """A row is read in pages up to the limit; from its end, or to be sorted, it is read whole."""
    events = [("a", 600 * n) for n in range(30)]
    for key, order, read_rows in [
        ("[host]", "", 5.0),
        ("[host]", "ts", 30.0),
        ("[host][time_slice(ts, 1h)]", "", 5.0),
        ("[host][time_slice(ts, 1h)]", "ts desc", 6.0),
    ]:
        cost, _ = measure_read(key, events, where="host = ?", order=order, limit=5)
        assert (5.0, read_rows) == (cost.returned_rows, cost.read_rows), (key, order)


def test_events_of_a_shared_row_that_overwrite_each_other_are_one() -> None:
    """The same host and time, written again, is returned once."""
    events = pa.table({"host": ["a"] * 3, "ts": [0, 0, 600]})
    fields = {**FIELDS, "ts": {"type": "timestamp_s", "at": "qualifier"}}
    reads = [{"name": "it", "where": "host = ? and ts = ?"}]
    (cost,) = run(Design("t", "[host]", fields=fields, reads=reads), events).reads
    assert cost.returned_rows == cost.read_rows == 1.0
