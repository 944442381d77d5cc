"""The explanation of a read, checked by hand for one design and by properties for random ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from plan.random_keys import KEYS
from plan.random_reads import random_reads
from rowkey.errors import Mistakes
from rowkey.explanations import Explanation, explain_read
from rowkey.keys import Key, bind_key
from rowkey.plan import (
    bind_declared_reads,
    bind_example,
    bind_read,
    extract_merge_key,
    plan_read,
)
from rowkey.schema import Equal, FieldFacts, OneOf, Range, ReadDeclaration, StartsWith

LOGS = {
    "host": "text",
    "kind": {"type": "choice", "of": ["INFO", "WARN", "ERROR"]},
    "ts": "timestamp_ms",
    "user": {"type": "text", "nullable": True},
    "size": "u32",
}
KEY = bind_key("[bucket(host, 16)][host][kind][desc(ts)]", LOGS)


def explain(where: str, *values: Any, order: str = "", key: Key = KEY, **more: Any) -> Explanation:
    """Explain a read of the log table."""
    return explain_read(key, bind_read(where, order, values, key.declared_fields), **more)


def test_the_explanation_of_a_bucketed_read_merges_its_ranges_by_time() -> None:
    """One bucket and three kinds make three ranges, merged by time without a residual filter."""
    found = explain("host = ?", "web-1", order="ts desc", limit=100)
    assert ("scan", 3, ("bucket(host, 16)", "host", "kind"), "", (), "forwards", 1.0, ()) == (
        found.access_type, found.fan_out, found.pinned_parts, found.narrowed_part,
        found.residual_fields, found.order_method, found.rows_read, found.warnings,
    )  # fmt: skip
    assert [
        "bucket 9, host web-1, kind INFO",
        "bucket 9, host web-1, kind WARN",
        "bucket 9, host web-1, kind ERROR",
    ] == [one.description for one in found.ranges]
    assert "backwards" == explain("host = ?", "web-1", order="ts").order_method


def test_a_time_range_is_explained_by_its_start_and_stop() -> None:
    """A description gives the common prefix once, then the start and the stop of the range."""
    found = explain("host = 'a' and kind = 'INFO' and ts >= ? and ts < ?", 5, 10_000)
    assert ("desc(ts)", 1) == (found.narrowed_part, found.fan_out)
    assert (
        "bucket 10, host a, kind INFO, from ts 1970-01-01T00:00:09.999Z "
        "up to ts 1970-01-01T00:00:00.004Z"
    ) == found.ranges[0].description
    half = explain("host = 'a' and kind = 'INFO' and ts < ?", 10_000)
    assert (
        "bucket 10, host a, kind INFO, from ts 1970-01-01T00:00:09.999Z"
        == half.ranges[0].description
    )


@pytest.mark.parametrize(
    ("where", "values", "expected"),
    [
        ("host = 'a' and kind = 'INFO' and ts = ?", [5], ("get", 1)),
        ("host = 'a' and kind in ('INFO', 'WARN') and ts = ?", [5], ("get", 2)),
        ("host starts with 'a'", [], ("scan", 16)),
        ("size > 5", [], ("full scan", 16)),
        ("", [], ("full scan", 16)),
        ("size > 5 and size < 5", [], ("nothing", 0)),
        ("host in ?", [[]], ("nothing", 0)),
    ],
)
def test_an_explained_read_is_a_get_a_scan_a_full_scan_or_nothing(
    where: str, values: list[Any], expected: tuple[str, int]
) -> None:
    found = explain(where, *values)
    assert expected == (found.access_type, found.fan_out)
    assert min(found.fan_out, 3) == len(found.ranges)


def test_an_explanation_warns_that_a_sort_reads_all_rows() -> None:
    """A sort in memory reads all rows of the answer, whatever the limit is."""
    (only,) = explain("host = 'a'", order="kind, ts", limit=10).warnings
    assert "all rows of the answer are read and sorted in memory" in only
    assert only.endswith("the limit of 10 does not reduce them")
    assert explain("host = 'a' and kind = 'INFO' and ts = 5", order="size").warnings == ()


KNOWN_FACTS = {
    "size": FieldFacts(distinct_count=50, heaviest_values=((7, 0.5),), minimum=0, maximum=99),
    "user": FieldFacts(distinct_count=11, heaviest_values=(("ada", 0.2),), null_share=0.3),
    "ts": FieldFacts(minimum=0, maximum=999),
}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("size = 7", 2.0),
        ("size = 8", 98.0),
        ("size in (7, 8)", 1 / (0.5 + 0.5 / 49)),
        ("size >= 90", 10.0),
        ("size > 89 and size <= 94", 20.0),
        ("size > 500", None),
        ("user = 'ada'", 5.0),
        ("user = 'bob'", 20.0),
        ("user in ('ada', 'bob')", 4.0),
        ("user = 'ada' and size = 7", 10.0),
        ("user starts with 'a'", None),
        ("host = 'a' and size = 7", 2.0),
        ("host = 'a'", 1.0),
    ],
)
def test_rows_read_per_returned_row_are_the_reciprocal_of_the_selectivity(
    where: str, expected: float | None
) -> None:
    """Rows read per returned row are the reciprocal of the selectivity; None if unknown."""
    found = explain(where, facts=KNOWN_FACTS).rows_read
    assert found == (expected if expected is None else pytest.approx(expected))


def test_ordering_by_the_first_key_field_needs_no_sort() -> None:
    """An order by kind or by listed hosts needs no sort."""
    by_kind = explain("host = 'a'", order="kind, ts desc")
    back = explain("host = 'a' and ts < 9", order="kind desc, ts")
    assert ("forwards", "backwards") == (by_kind.order_method, back.order_method)
    assert ["bucket 10, host a, kind INFO", "bucket 10, host a, kind WARN"] == [
        one.description for one in by_kind.ranges[:2]
    ]
    assert back.ranges[0].description.startswith("bucket 10, host a, kind INFO, from ts 1970-01-01")
    listed = bind_read("host in ('a', 'b', 'c')", "host, ts", (), KEY.declared_fields)
    plan = plan_read(bind_key("[bucket(host, 4)][host][ts]", LOGS), listed.bounds, listed.order)
    assert (True, 2, 1) == (plan.serves_order, plan.pinned_count, plan.merge_prefix_count)


def test_the_selectivity_of_a_condition_on_null_is_the_share_of_nulls() -> None:
    assert explain("user = ?", None, facts=KNOWN_FACTS).rows_read == pytest.approx(1 / 0.3)
    assert explain("user = ?", None).rows_read is None


def test_no_selectivity_is_assumed_within_the_range_of_a_digest() -> None:
    """Nearly all rows in the range of a digest match, so no selectivity is assumed."""
    key = bind_key("[digest(user, 4)][ts]", {**LOGS, "user": "text"})
    found = explain("user = 'ada'", key=key, facts=KNOWN_FACTS)
    assert (("user",), None) == (found.residual_fields, found.rows_read)


@given(st.data())
def test_an_explanation_agrees_with_its_plan(data: st.DataObject) -> None:
    """Ranges, order and residual fields are the plan's; a slow read needs another key."""
    key = data.draw(KEYS["any"])
    random_read = data.draw(random_reads(key))
    bound_read = bind_read(
        random_read.where, random_read.order, random_read.values, key.declared_fields
    )
    plan, found = (
        plan_read(key, bound_read.bounds, bound_read.order),
        explain_read(key, bound_read),
    )
    assert (plan.fan_out, plan.residual_fields) == (found.fan_out, found.residual_fields)
    assert [(one.start, one.stop) for one in plan.ranges[:3]] == [
        (one.start, one.stop) for one in found.ranges
    ]
    assert (found.order_method == "sorted") == (plan.needs_sort and bool(bound_read.order))
    event("needs a key" if found.needs_key else "is served")
    is_slow = plan.needs_sort or (plan.is_full_scan and bool(bound_read.bounds))
    assert found.needs_key == (is_slow and bool(plan.fan_out) and not plan.is_point)
    assert found.proposal is None
    assert 2 < len(str(found).splitlines()) < 16


def test_a_declared_read_is_explained_with_example_values() -> None:
    """Parameters get example values of the types of their fields."""
    where = "host = ? and ts between :a and :b and kind in ? and user starts with ? and size < ?"
    mistakes = Mistakes()
    (read,) = bind_declared_reads(
        [ReadDeclaration(name="r", where=where)], KEY.declared_fields, mistakes
    )
    bounds = bind_example(read).bounds
    assert [Equal, Range, OneOf, StartsWith, Range] == [type(one) for one in bounds.values()]
    assert bounds["kind"] == OneOf(("INFO", "ERROR"))
    assert explain_read(KEY, bind_example(read)).fan_out == 2


@pytest.mark.parametrize(
    ("declared", "span", "units"),
    [
        ("timestamp_ms", "1m", 60_000),
        ("timestamp_s", None, 3_600),
        ("date", "7d", 7),
        ("date", "1m", 1),
    ],
)
def test_an_example_time_range_has_the_declared_span(
    declared: str, span: str | None, units: int
) -> None:
    """A range of time has the declared span, else an hour, and at least one unit."""
    key = bind_key("[at]", {"at": declared})
    for where in ("at >= ? and at < ?", "at between ? and ?"):
        words = ReadDeclaration(name="r", where=where, span=span)
        (read,) = bind_declared_reads([words], key.declared_fields, Mistakes())
        bound_read = bind_example(read).bounds["at"]
        assert isinstance(bound_read, Range)
        hold = key.declared_fields["at"].type.to_internal
        assert units == hold(bound_read.high) - hold(bound_read.low)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("kind in (?, ?)", {"kind": ("INFO", "WARN")}),
        ("kind in (?, 'INFO', ?)", {"kind": ("WARN", "INFO", "ERROR")}),
        ("kind in (?, ?, ?, ?)", {"kind": ("INFO", "WARN", "ERROR")}),
        ("kind in (:a, :b, :a)", {"kind": ("INFO", "WARN")}),
        ("kind in ('INFO', 'WARN', 'ERROR', ?)", {"kind": ("INFO", "WARN", "ERROR")}),
        ("size in (?, ?, ?) and ts in (?, ?)",
         {"size": (0, 1, 2), "ts": (1_704_067_200_000, 1_704_067_200_001)}),
    ],
)  # fmt: skip
def test_parameters_of_a_list_get_different_example_values(
    where: str, expected: dict[str, tuple[Any, ...]]
) -> None:
    """Each parameter of a list gets another value, as far as the type has enough values."""
    mistakes = Mistakes()
    (read,) = bind_declared_reads(
        [ReadDeclaration(name="r", where=where)], KEY.declared_fields, mistakes
    )
    assert {n: OneOf(values) for n, values in expected.items()} == bind_example(read).bounds


def test_ranges_for_null_and_values_are_merged_by_key() -> None:
    """Null comes first, then the values."""
    key = bind_key("[host][user]", LOGS)
    bounds = bind_read(
        "host = 'a' and user in ?", "", [["b", None, "z"]], key.declared_fields
    ).bounds
    plan = plan_read(key, bounds)
    assert (3, {b"a\0"}) == (plan.fan_out, {one.prefix for one in plan.ranges})
    keys = [key.encode({"host": "a", "user": user}) for user in (None, "b", "z")]
    runs = [one for where in keys for one in plan.ranges if one.has_key(where)]
    found = [extract_merge_key(one, where) for one, where in zip(runs, keys, strict=True)]
    assert [b"", b"\1b\0", b"\1z\0"] == found == sorted(found)


def test_both_ends_of_a_time_range_are_described_as_times() -> None:
    """Both ends are times, also where the stop key is shorter than a time."""
    key = bind_key("[mod(size, 4)][at][size]", {**LOGS, "at": "timestamp_s"})
    where = "at >= '2024-01-01T00:00:00Z' and at < '2024-01-02T00:00:00Z'"
    found = explain(where, key=key)
    assert (
        "mod 0, from at 2024-01-01T00:00:00Z up to at 2024-01-02T00:00:00Z"
        == found.ranges[0].description
    )


@pytest.mark.parametrize(("form", "digits"), [("", "0cc175b9"), (", as=hex", "0cc175b9")])
def test_a_digest_is_described_in_hexadecimal(form: str, digits: str) -> None:
    """The description shows the digest once in hexadecimal digits, in either format."""
    key = bind_key(f"[digest(host, 4{form}, hash=md5)][ts]", LOGS)
    found = explain("host = 'a'", key=key)
    assert f"digest {digits}" == found.ranges[0].description
