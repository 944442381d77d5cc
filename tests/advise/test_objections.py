"""What speaks against proposing a key."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rowkey import Design
from rowkey.advise import JudgedDesign
from rowkey.advise.advice import SIZE_RULES, choose_picks, refuse_key

READS = [{"name": "a host", "where": "host = ?"}]
DESIGN = Design("t", "[host]", fields={"host": "text"}, reads=READS)


def build_judged_design(
    rank: int, codes: Sequence[str] = (), cost: float = 1.0, poor_count: int = 0
) -> JudgedDesign:
    """Return a design with a grade, warnings, one cost of everything, and poor reads."""
    warnings = [SimpleNamespace(code=code, message=f"a warning {code}") for code in codes]
    judged: Any = SimpleNamespace(
        design=DESIGN,
        verdict=SimpleNamespace(
            rank=(rank, poor_count),
            decisive=SimpleNamespace(rank=rank, message=f"rank {rank}"),
        ),
        simulation=SimpleNamespace(reads=(), design=DESIGN),
        warnings=warnings,
        warning_codes={one.code for one in warnings},
        write_cost=cost,
        write_harm=cost,
        read_cost=cost,
        event_bytes=10 * cost,
    )
    return cast("JudgedDesign", judged)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ((1,), (2, (), 0.1), "its verdict is worse: rank 2"),
        ((1,), (1, (), 1.0), "nothing is better than under the declared key"),
        (
            (2, (), 1.0, 1),
            (2, (), 0.1, 2),
            "more of its writes and reads are poor than under the declared key",
        ),
        ((1,), (1, ["RK101"], 0.1), "RK101: a warning RK101"),
        (
            (1, ["RK101"]),
            (1, ["RK101"], 0.1),
            "other proposed keys are better, or at most 5% worse, in every measure",
        ),
        (
            (1,),
            (1, SIZE_RULES, 0.1),
            "other proposed keys are better, or at most 5% worse, in every measure",
        ),
        (
            (1,),
            (0, (), 9.0),
            "other proposed keys are better, or at most 5% worse, in every measure",
        ),
    ],
)
def test_a_worse_verdict_a_new_warning_or_no_gain_refuses_a_key(
    old: tuple[Any, ...], new: tuple[Any, ...], reason: str
) -> None:
    """A worse verdict, a new warning other than of the size, and no gain refuse a key."""
    refused = refuse_key(build_judged_design(*old), build_judged_design(*new))
    assert reason == refused.reason


@pytest.mark.parametrize(("read_cost", "is_balanced"), [(4.0, False), (1.0, True)])
def test_a_key_that_costs_more_in_total_is_not_called_balanced(
    read_cost: float, *, is_balanced: bool
) -> None:
    """A key that costs more together than the declared one is not called balanced."""
    declared: Any = build_judged_design(0)
    judged: Any = build_judged_design(0)
    declared.write_cost = declared.write_harm = 1.2
    judged.read_cost = read_cost
    (pick,) = choose_picks(declared, [judged])
    assert ("writes" in pick.strengths, is_balanced) == (True, "balanced" in pick.strengths)


@pytest.mark.parametrize(("read_cost", "is_cheapest"), [(4.0, False), (1.0, True), (0.5, True)])
def test_no_key_is_called_cheapest_if_the_declared_one_is_cheaper(
    read_cost: float, *, is_cheapest: bool
) -> None:
    """A strength compares with the declared design as well, of which the reads may be cheapest."""
    better: Any = build_judged_design(0)
    better.read_cost = read_cost
    [pick] = choose_picks(build_judged_design(1), [better])
    assert is_cheapest is ("reads" in pick.strengths)
    assert "nearest" in pick.strengths


def test_a_warning_that_the_declared_design_allows_refuses_no_key() -> None:
    """A warning that a comment of the declared design allows does not refuse other keys."""
    text = 'table = "t"\n{}key = "[ts]"\n[fields]\nts = "timestamp_ms"\n'
    designs = [
        Design.loads(text.format(one))
        for one in ("", "# rowkey: allow monotone-lead - one writer\n")
    ]
    warned, allowed = map(JudgedDesign, designs)
    assert "RK101" in {one.code for one in warned.warnings}
    assert "RK101" not in {one.code for one in allowed.warnings}
    assert warned.warning_codes == allowed.warning_codes


def test_no_key_is_called_cheapest_in_reads_if_no_read_is_declared() -> None:
    """Without declared reads, no key is called the one with the cheapest reads."""
    declared: Any = build_judged_design(2)
    declared.simulation.design = Design("t", "[host]", fields={"host": "text"})
    picks = choose_picks(declared, [build_judged_design(1, cost=0.5)])
    assert [("balanced", "writes", "size", "nearest")] == [one.strengths for one in picks]
