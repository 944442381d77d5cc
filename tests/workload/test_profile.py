"""The facts of a sample summary agree with counts by lists and sets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import compute_cell_bytes
from rowkey.design import Design
from rowkey.errors import Mistakes
from rowkey.keys import bind_fields
from rowkey.schema import FieldDeclaration, FieldFacts
from rowkey.simulate import run
from rowkey.workload import EventBatch, SampleSummary
from strategies import fields as any_fields
from strategies import values

if TYPE_CHECKING:
    from rowkey.keys import Field

WORDS = {
    "host": FieldDeclaration(type="text", max_bytes=8),
    "rack": FieldDeclaration(type="choice", of=("r1", "r2", "r3"), nullable=True),
    "n": FieldDeclaration(type="i32"),
    "ts": FieldDeclaration(type="timestamp_ms", nullable=True),
}
Row = tuple[str, str | None, int, int | None]
STEPS = st.sampled_from([1, 7, 60_000])
ROWS = st.lists(
    st.tuples(
        st.text(st.sampled_from("abé"), max_size=3),
        st.sampled_from(["r1", "r2", "r3", None]),
        st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31 - 1)),
        st.one_of(st.none(), st.integers(0, 50)),
    ),
    min_size=1,
    max_size=40,
)


def bind_test_fields() -> dict[str, Field]:
    """Return the bound fields."""
    mistakes = Mistakes()
    bound = bind_fields(WORDS, mistakes)
    assert [] == mistakes.mistakes
    return bound


def build_batch(rows: list[Row]) -> EventBatch:
    """Build a batch of rows with typed dates and a dictionary of hosts."""
    host, rack, n, ts = zip(*rows, strict=True)
    arrays = [
        pa.array(host).dictionary_encode(),
        pa.array(rack, pa.string()),
        pa.array(n, pa.int32()),
        pa.array(ts, pa.timestamp("ms", "UTC")),
    ]
    return EventBatch(pa.RecordBatch.from_arrays(arrays, names=list(WORDS)), None)


def summarize_rows(
    rows: list[Row], sizes: list[int] | None = None, seed: int = 0
) -> Mapping[str, FieldFacts]:
    """Return the facts of rows that are added in batches of given sizes."""
    profile = SampleSummary(bind_test_fields(), seed=seed)
    at = 0
    for size in [*(sizes or []), len(rows)]:
        if rows[at : at + size]:
            profile.add(build_batch(rows[at : at + size]))
        at += size
    assert len(rows) == profile.event_count
    return profile.measured_facts


def compute_rising_share(values: list[Any]) -> float | None:
    """Return the share of values that are not below all values before."""
    good = [value >= max(values[: n + 1]) for n, value in enumerate(values)]
    return sum(good) / len(good) if good else None


def compute_step(values: list[int]) -> int | None:
    """Return the greatest common divisor of all differences."""
    return math.gcd(*(b - a for a, b in pairwise(values))) or None


@given(rows=ROWS, wide=STEPS)
def test_facts_of_a_sample_equal_a_count_by_hand(rows: list[Row], wide: int) -> None:
    """Numbers, ends, widths, nulls, order and steps of every field are exact."""
    rows = [(host, rack, n, None if ts is None else ts * wide) for host, rack, n, ts in rows]
    found = summarize_rows(rows)
    for name, column in zip(WORDS, zip(*rows, strict=True), strict=True):
        values = [value for value in column if value is not None]
        facts = found[name]
        assert (len(column), len(set(values)), True) == (
            facts.value_count,
            facts.distinct_count,
            facts.exact,
        )
        assert pytest.approx(1 - len(values) / len(column)) == facts.null_share
        counts = Counter(values)
        shares = [count / len(column) for _, count in counts.most_common(10)]
        assert pytest.approx(shares) == [share for _, share in facts.heaviest_values]
        assert all(share == counts[value] / len(column) for value, share in facts.heaviest_values)
        assert compute_rising_share(values) == facts.rising_share
        ends = (min(values), max(values)) if values else (None, None)
        assert ends == (facts.minimum, facts.maximum)
    assert compute_step([n for _, _, n, _ in rows]) == found["n"].step
    assert compute_step([ts for *_, ts in rows if ts is not None]) == found["ts"].step


@given(rows=ROWS)
def test_the_width_of_a_text_is_that_of_its_utf_8(rows: list[Row]) -> None:
    """A text is as wide as its UTF-8, a number as its type, and a null has no width."""
    found = summarize_rows(rows)
    lengths = [len(row[0].encode()) for row in rows]
    assert pytest.approx(sum(lengths) / len(lengths)) == found["host"].mean_bytes
    assert max(lengths) == found["host"].max_bytes
    assert (4.0, 4) == (found["n"].mean_bytes, found["n"].max_bytes)
    has_times = any(row[3] is not None for row in rows)
    assert (8.0 if has_times else 0.0) == found["ts"].mean_bytes


@given(st.data())
def test_facts_of_every_type_equal_those_of_a_list_of_values(data: st.DataObject) -> None:
    """Frequent values, ends, rising share and nulls of each type equal those of a list."""
    field = data.draw(any_fields()).popitem()[1]
    pool = [*data.draw(st.lists(values(field), min_size=1, max_size=4)), None]
    listed = data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=15))
    kind = field.type.build_arrow_type()
    plain = pa.array(listed, pa.int64() if pa.types.is_timestamp(kind) else kind)
    column = plain.cast(kind)
    profile = SampleSummary({field.name: field})
    profile.add(EventBatch(pa.record_batch([column], names=[field.name]), None))
    facts = profile.measured_facts[field.name]
    held = [value for value in plain.to_pylist() if value is not None]
    tallied = [(value, count / len(listed)) for value, count in Counter(held).most_common(10)]
    assert tallied == list(facts.heaviest_values)
    assert listed.count(None) / len(listed) == facts.null_share
    if held:
        highest = list(accumulate(held, max))
        rising = sum(value == top for value, top in zip(held, highest, strict=True)) / len(held)
        assert (min(held), max(held), rising) == (facts.minimum, facts.maximum, facts.rising_share)


@given(rows=ROWS)
def test_a_field_is_determined_by_another_with_one_value_for_each_of_its(rows: list[Row]) -> None:
    """A field is determined by another if each repeated value of that has one value of it."""
    found = summarize_rows(rows)
    columns = dict(zip(WORDS, zip(*rows, strict=True), strict=True))
    for name, own in columns.items():
        by = []
        for other, theirs in columns.items():
            values = set(theirs)
            repeats = 1 < len(values) <= len(rows) / 2
            tells = len(set(zip(theirs, own, strict=True))) == len(values)
            if other != name and len(set(own)) > 1 and repeats and tells:
                by.append(other)
        assert tuple(by) == found[name].determining_fields


def test_a_town_determines_its_country_and_not_the_reverse() -> None:
    """A dependency is found in its direction only."""
    rows: list[Row] = [
        (f"h{n % 6}", ("r1", "r2", "r3")[n % 6 % 3], n, n // 7) for n in range(2_000)
    ]
    found = summarize_rows(rows)
    assert ("host",) == found["rack"].determining_fields
    assert () == found["host"].determining_fields


@given(rows=ROWS, sizes=st.lists(st.integers(0, 9), max_size=8))
def test_the_facts_of_a_sample_do_not_depend_on_its_batches(
    rows: list[Row], sizes: list[int]
) -> None:
    """The same rows in other batches give the same facts."""
    assert summarize_rows(rows) == summarize_rows(rows, sizes)


def test_facts_of_more_rows_than_are_kept_are_marked_as_estimates() -> None:
    """With many rows counts stay exact, shares are estimated, and `exact` is false."""
    rows: list[Row] = [("hot" if n % 4 == 0 else f"h{n % 999}", "r1", n, n) for n in range(150_000)]
    found = summarize_rows(rows, [50_000, 50_000])
    facts = found["host"]
    assert (150_000, len({row[0] for row in rows}), False) == (
        facts.value_count, facts.distinct_count, facts.exact,
    )  # fmt: skip
    assert "hot" == facts.heaviest_values[0][0]
    assert pytest.approx(0.25, abs=0.005) == facts.heaviest_share
    assert (0, 149_999, 1, 1.0) == (
        found["n"].minimum, found["n"].maximum, found["n"].step, found["n"].rising_share,
    )  # fmt: skip


@given(
    kind=st.sampled_from(["u64", "i64", "timestamp_ns", "date", "u8"]),
    batches=st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=4),
    data=st.data(),
)
def test_facts_of_numbers_at_the_limits_of_their_type_are_right(
    kind: str, batches: list[list[int]], data: st.DataObject
) -> None:
    """Ends, order and steps are right for differences above 63 bits, and across empty batches."""
    mistakes = Mistakes()
    field = bind_fields({"n": FieldDeclaration(type=kind)}, mistakes)["n"]
    low, high = field.type.number_range
    near = st.sampled_from([low, low + 2, low + 6, (low + high) // 2, high - 6, high - 1, high])
    rows = [[data.draw(near) for _ in some] for some in batches]
    profile = SampleSummary({"n": field})
    for some in rows:
        column = field.type.build_number_column(
            np.array(some, np.uint64 if kind == "u64" else np.int64)
        )
        profile.add(EventBatch(pa.RecordBatch.from_arrays([column], names=["n"]), None))
    values = [value for some in rows for value in some]
    facts = profile.measured_facts.get("n", FieldFacts())
    release = field.type.from_internal
    ends = (release(min(values)), release(max(values))) if values else (None, None)
    assert (ends, compute_rising_share(values), compute_step(values)) == (
        (facts.minimum, facts.maximum), facts.rising_share, facts.step,
    )  # fmt: skip


def test_fields_that_the_sample_lacks_have_their_declared_facts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("host,ts\n" + "".join(f"h{n % 7},{n}\n" for n in range(100)))
    note = {"type": "text", "mean_bytes": 500, "distinct": 9}
    fields = {"host": {"type": "text", "distinct": 1_000}, "note": note, "ts": "timestamp_s"}
    found = run(Design("t", "[host][ts]", fields=fields), path)
    assert (7, 9, 500) == (
        found.facts["host"].distinct_count, found.facts["note"].distinct_count,
        found.facts["note"].mean_bytes,
    )  # fmt: skip
    assert found.event_bytes == compute_cell_bytes(int(found.key_bytes), 1, 4, 500)


def test_a_sample_without_events_has_no_facts() -> None:
    assert {} == SampleSummary(bind_test_fields()).measured_facts
