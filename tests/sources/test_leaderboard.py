"""Leaderboards and telephone numbers: order kept, inverted, reversed, and lost."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

import pytest

import rowkey
from rowkey import bind_key
from rowkey.advise import compare_designs
from rowkey.errors import RowError
from rowkey.lint import check_design
from sources.evaluations import (
    SOURCES,
    change_design,
    check_example,
    explain_declared_read,
    get_finding,
    get_read_costs,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    measure_runs,
    read_design,
    recount,
    simulate_example,
)
from sources.recordings import format_recording

BEST = "best hundred"
AREA = "calls of an area"


def read_recording() -> list[dict[str, Any]]:
    """Return the recorded scores as text."""
    header, *lines = format_recording("leaderboard/scores").splitlines()
    return [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]


# Scores


@pytest.mark.claims(9, 43)
def test_scores_as_digits_sort_9_above_1000() -> None:
    """Scores as digits sort wrongly, and most of the best hundred are missed."""
    evidence = get_finding("leaderboard/as_text", "unpadded-digits").evidence
    more, less = evidence["greater"], evidence["lesser"]
    assert more < less
    assert int(more) > int(less)
    assert {more, less} <= {row["score"] for row in read_recording()}
    right = sorted((int(row["score"]) for row in read_recording()), reverse=True)[:100]
    with rowkey.open(read_design("leaderboard/as_text"), "memory:", splits=[]) as table:
        for row in read_recording():
            table.put({**row, "ts": int(row["ts"])})
        got = [int(row["score"]) for row in table.read(BEST)]
    assert sorted(map(str, got), reverse=True) == [str(score) for score in got]
    assert len(set(got) & set(right)) < 60
    assert any(score < 100 for score in got)


@pytest.mark.claims(43)
def test_with_descending_scores_the_best_hundred_are_the_first_rows() -> None:
    """With descending scores the hundred largest are the first rows of one range."""
    right = sorted((int(row["score"]) for row in read_recording()), reverse=True)[:100]
    with rowkey.open(read_design("leaderboard/better_max_minus"), "memory:", splits=[]) as table:
        for row in read_recording():
            table.put({**row, "score": int(row["score"]), "ts": int(row["ts"])})
        assert right == [row["score"] for row in table.read(BEST)]
    told = explain_declared_read("leaderboard/better_max_minus", BEST)
    assert (1, "forwards") == (told.fan_out, told.order_method)
    assert "backwards" == explain_declared_read("leaderboard/as_text", BEST).order_method
    assert "latest-read-backwards" in list_rules("leaderboard/as_text")


@pytest.mark.claims(43)
@pytest.mark.parametrize("score", [0, 1, 9_999, 2**31 - 1, -1, -(2**31)])
def test_descending_scores_have_the_bytes_of_the_java_subtraction(score: int) -> None:
    """The four bytes are those of Java's Integer.MAX_VALUE - score, and keep the order."""
    key = read_design("leaderboard/better_max_minus").key
    made = key.encode({"score": score, "player": "p"})[:4]
    assert struct.pack(">I", (0x7FFFFFFF - score) % 2**32) == made


@pytest.mark.claims(9, 43)
def test_a_subtraction_written_as_digits_loses_the_order() -> None:
    """Integer.MAX_VALUE - score as digits varies in length and loses the order."""
    scores = [0, 5, 1_147_483_647, 1_147_483_648, 2_147_483_646]
    printed = [str(2**31 - 1 - score) for score in scores]
    assert sorted(printed, reverse=True) != printed
    key = bind_key("[desc(score)]", {"score": "i32"})
    made = [key.encode({"score": score}) for score in sorted([*scores, -7])]
    assert sorted(made, reverse=True) == made


@pytest.mark.claims(9)
def test_signed_numbers_keep_their_order_with_an_inverted_sign_bit() -> None:
    """Two's complement sorts -1 after 1, and an inverted sign bit keeps the order."""
    numbers = [-(2**31), -1, 0, 1, 2**31 - 1]
    plain = [struct.pack(">i", number) for number in numbers]
    assert sorted(plain) != plain
    key = bind_key("[score]", {"score": "i32"})
    made = [key.encode({"score": number}) for number in numbers]
    assert sorted(made) == made


@pytest.mark.claims(23)
def test_a_new_score_moves_the_row_of_the_player() -> None:
    """A new score deletes the player's row and puts another one."""
    with rowkey.open(read_design("leaderboard/better_max_minus"), "memory:", splits=[]) as table:
        table.put({"player": "anna", "score": 10, "ts": 1})
        table.move({"player": "anna", "score": 10}, score=25)
        assert [("anna", 25)] == [(row["player"], row["score"]) for row in table.scan()]
        assert table.get(player="anna", score=10) is None


# No more design than is needed


@pytest.mark.claims(60, 75)
def test_a_needless_bucket_costs_ranges_and_lowers_no_skew() -> None:
    """The bucket leaves the skew equal, and a read costs sixteen ranges instead of one."""
    names = ("leaderboard/better_max_minus", "leaderboard/bucketed")
    compared = compare_designs(
        [read_design(name) for name in names], SOURCES / "leaderboard" / "scores.csv.gz"
    )
    ranges = compared.find_measure("fan_out", BEST)
    assert ([1.0, 16.0], (0,)) == ([figure.value for figure in ranges.figures], ranges.best_designs)
    level = compared.find_measure("skew_10s")
    assert () == level.best_designs
    even = simulate_example(names[0]).verdict.even_skew
    assert all(figure.value and figure.value < 1.25 * even for figure in level.figures)
    for size in ("key_bytes", "event_bytes"):
        assert (0,) == compared.find_measure(size).best_designs


@pytest.mark.claims(60)
@pytest.mark.parametrize(
    "name", ["leaderboard/better_max_minus", "behaviour/better", "metrics/many"]
)
def test_an_even_design_has_no_cause_and_no_proposed_change(name: str) -> None:
    """An even design has no cause and no finding that asks for changes."""
    assert ("even", []) == (simulate_example(name).verdict.level, list_causes(name))
    assert () == check_example(name).findings


# Telephone numbers


@pytest.mark.claims(12, 51)
def test_numbers_with_equal_leading_digits_are_in_one_region() -> None:
    """Numbers that share five of eleven digits are in one region of digit splits."""
    name = "phones/plain"
    assert {"00000"} == {row["phone"][:5] for row in list_rows(name)}
    splits = [f"{10**8 * n // 16:08d}".encode() for n in range(1, 16)]
    counted = recount(name, lambda row: row["phone"].encode(), splits)
    assert [len(list_rows(name)), *[0] * 15] == counted.writes
    assert (8.0, ["missed_splits"]) == (get_skew(name), list_causes(name))


@pytest.mark.claims(12)
def test_reversed_numbers_are_even_over_the_regions() -> None:
    """With reversed numbers every region has its share, counted here and simulated."""
    name = "phones/better_reversed"
    assert list_rows(name) == list_rows("phones/plain")
    splits = [f"{10**8 * n // 16:08d}".encode() for n in range(1, 16)]
    counted = recount(name, lambda row: row["phone"][::-1].encode(), splits)
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    assert get_skew(name) < 1.1
    assert ([], []) == (list_rules(name), list_causes(name))


@pytest.mark.claims(12)
def test_a_read_by_a_range_of_reversed_numbers_is_a_full_scan() -> None:
    """The reversed numbers of an area are all over the table, and a read is a full scan."""
    numbers = {row["phone"] for row in list_rows("phones/plain")}
    area = {n[::-1].encode() for n in numbers if "00000150000" <= n < "00000160000"}
    many, span = measure_runs(area, sorted(number[::-1].encode() for number in numbers))
    assert many > len(area) * 0.9
    assert span > len(numbers) * 0.98
    name = "phones/reversed_range"
    assert "full scan" == explain_declared_read(name, AREA).access_type
    assert get_read_costs(name, AREA).is_full_scan
    one = get_finding(name, "reversed-under-range")
    assert "phone" == one.evidence["field"]
    assert "loses their order" in one.verdict
    forwards = change_design(name, key="[phone][ts]")
    assert () == check_design(forwards, select=["reversed-under-range"]).findings


@pytest.mark.claims(12)
def test_a_number_of_another_length_is_refused() -> None:
    """A number of another length is refused, as its reversed digits would not align."""
    with pytest.raises(RowError):
        read_design("phones/better_reversed").key.encode({"phone": "1234567890", "ts": 0})


@pytest.mark.claims(12, 78)
def test_a_reversed_number_still_serves_scans_of_one_entity() -> None:
    """A number's day, or an order's history, is one range without a filter."""
    for name, read_name in (
        ("phones/better_reversed", "calls of a number on a day"),
        ("order_status/reversed", "latest states of an order"),
    ):
        told = explain_declared_read(name, read_name)
        assert ("scan", 1, ()) == (told.access_type, told.fan_out, told.residual_fields)


@pytest.mark.claims(51)
def test_ten_leading_values_cannot_fill_sixteen_regions() -> None:
    leads = Counter(row["metric"] for row in list_rows("metrics/few"))
    assert len(leads) == 10 < len(simulate_example("metrics/few").regions)
    assert 6 == simulate_example("metrics/few").empty_region_count
