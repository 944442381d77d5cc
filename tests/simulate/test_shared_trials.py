"""What the trials of a read share under all keys is what each key's own plan finds."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.errors import ReadError
from rowkey.keys import ColumnBatch
from rowkey.plan import ResidualFilter, plan_read
from rowkey.regions import Boundaries
from rowkey.simulate.ranked_rows import RankedRows
from rowkey.simulate.read_simulator import ReadSimulator
from rowkey.simulate.replay import encode_keys
from rowkey.simulate.rows_by_key import RowsByKey
from rowkey.simulate.trial_values import TRIALS_PER_READ, TrialValues

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 4},
    "ts": "timestamp_s",
    "n": {"type": "u8", "nullable": True},
}
KEYS = (
    "[host][ts]",
    "[ts][host]",
    "[bucket(host, 4)][host][desc(ts)]",
    "[truncate(host, 1)][ts]",
    "[mod(ts, 3)][host]",
    "[n][host]",
)
CONDITIONS = (
    "host = ?",
    "host in (?, ?) and n = ?",
    "host starts with ? and ts >= ?",
    "ts >= ? and ts < ?",
    "n = ? and host > ?",
)


@st.composite
def draw_events(draw: st.DrawFn) -> pa.RecordBatch:
    """Draw events of few values, so that many overwrite others and many match a read."""
    event = st.tuples(
        st.sampled_from(["a", "ab", "b", "ba"]), st.integers(0, 9), st.sampled_from([None, 0, 1, 2])
    )
    events = draw(st.lists(event, min_size=1, max_size=30))
    host, ts, n = zip(*events, strict=True)
    columns = [pa.array(host), pa.array(ts, pa.timestamp("s")), pa.array(n, pa.uint8())]
    return pa.RecordBatch.from_arrays(columns, names=list(FIELDS))


def build_design(key: str, condition: str, limit: int | None = None) -> Design:
    """Build a design with one read."""
    read = {"name": "it", "where": condition, **({"limit": limit} if limit else {})}
    if "ts <" in condition:
        read["span"] = "3s"
    return Design("t", key, fields=FIELDS, reads=[read])


@given(draw_events(), st.sampled_from(KEYS), st.sampled_from(CONDITIONS), st.data())
def test_the_rows_of_a_trial_are_those_that_plan_and_filter_find(
    events: pa.RecordBatch, key: str, condition: str, data: st.DataObject
) -> None:
    """The rows of the matching events are those that pass the filter in the ranges of the plan."""
    design = build_design(key, condition)
    read, fields = design.reads[0], list(design.fields.values())
    columns, keys = ColumnBatch.from_batch(events, fields), encode_keys(design, events)
    rows = RowsByKey(design, events, keys)
    trial = data.draw(st.integers(0, TRIALS_PER_READ - 1))
    try:
        question = TrialValues(read, RankedRows(columns)).get_question(trial)
    except ReadError:  # no event has a value in all fields that are tested
        return
    plan = plan_read(design.key, question.bounds, read.order)
    residual = ResidualFilter(plan.residual_fields, question.bounds, design.fields)
    listed = list(columns.iterate_rows(list(FIELDS)))
    values = [
        {name: None if v is None else design.fields[name].normalize(v) for name, v in one.items()}
        for one in listed
    ]
    last = {key: number for number, key in enumerate(keys)}
    expected = [
        place
        for place, one in enumerate(sorted(last))
        if plan.has_key(one) and residual(values[last[one]])
    ]
    assert expected == rows.list_rows(question.matching_events).tolist()


@given(
    draw_events(),
    st.permutations(KEYS),
    st.sampled_from(CONDITIONS),
    st.sampled_from([None, 1, 3]),
)
def test_the_cost_of_a_read_does_not_depend_on_keys_measured_before(
    events: pa.RecordBatch, keys: list[str], condition: str, limit: int | None
) -> None:
    """A read costs what it costs alone, whatever keys were measured on the same rows before."""
    shared: dict[tuple[object, ...], Any] = {}
    for key in keys:
        design = build_design(key, condition, limit)
        simulate = (design, Boundaries((b"b",)), events, encode_keys(design, events), 90, 100)
        alone, next_to_others = (
            ReadSimulator(*simulate, max_trials=10, measurements=one).measure_read(design.reads[0])
            for one in ({}, shared)
        )
        assert alone == next_to_others
