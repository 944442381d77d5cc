"""Small samples: rules about shares are skipped, and a remark says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.design import Design, derive_properties
from rowkey.lint import check_design
from rowkey.render import build_check_document, format_check
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.lint import LintResult

FIELDS: dict[str, Any] = {
    "user": "u32",
    "ts": "timestamp_s",
    "status": {"type": "text", "max_bytes": 8},
}
SHARE_RULES = {"RK101", "RK102", "RK103", "RK104", "RK105", "RK122", "RK201"}
"""Rules that tell of shares, order and numbers of values."""
KEYS = (
    "[user][ts]",
    "[user]",
    "[bucket(user, 16)][user][ts]",
    "[bucket(user, 16)][ts]",
    "[digest(user, 4)][user][ts]",
    "[status][user][ts]",
)


def check_sample(folder: Path, key: str, events: int, **words: Any) -> tuple[Design, LintResult]:
    """Return the findings of a design on so many events, whose times rise."""
    sample = folder / "rows.csv"
    rows = [f"{4 + n // (events - 1 or 1)},{1_609_459_200 + 60 * n},x\n" for n in range(events)]
    sample.write_text("user,ts,status\n" + "".join(rows))
    fields = {name: words.get(name, said) for name, said in FIELDS.items()}
    splits: Any = "per_bucket" if "bucket" in key else {"algorithm": "uniform", "regions": 16}
    design = Design("few", key, fields=fields, splits=splits)
    return design, check_design(design, summarize_sample(design, sample))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("events", [1, 2, 3, 5, 10, 99])
def test_few_sampled_events_add_only_findings_that_one_event_proves(
    key: str, events: int, tmp_path: Path
) -> None:
    """A small sample adds no finding except those that a single event proves."""
    design, found = check_sample(tmp_path, key, events)
    # Of numbers that came, nothing is assumed.
    alone = {one.code for one in check_design(design).findings if not one.evidence.get("assumed")}
    told = {one.code for one in found.findings}
    assert alone & SHARE_RULES == told & SHARE_RULES


@pytest.mark.parametrize(("events", "has"), [(1, "1 event"), (2, "2 events"), (99, "99 events")])
def test_the_output_says_that_sampled_events_are_too_few_for_shares(
    events: int, has: str, tmp_path: Path
) -> None:
    """Text and JSON give the number of events and the number that rules about shares need."""
    design, found = check_sample(tmp_path, "[user][ts]", events)
    said = f"the sample has {has}; shares, order and numbers of values are judged from 100 on"
    properties = derive_properties(design)
    assert said in list(format_check("few.toml", design, properties, found, None))
    document = build_check_document("few.toml", design, properties, found, None)
    assert said == document["sample"]["remark"]


def test_from_100_events_on_a_sample_is_used_by_every_rule(tmp_path: Path) -> None:
    """From 100 events on, the sample shows its two users, and no rule is skipped."""
    design, found = check_sample(tmp_path, "[bucket(user, 16)][user][ts]", 100)
    assert ["few_entities"] == [one.code for one in found.causes]
    document = build_check_document("few.toml", design, derive_properties(design), found, None)
    assert document["sample"]["remark"] is None


def test_declared_values_are_used_if_the_sample_is_small(tmp_path: Path) -> None:
    """Ten thousand declared users are used although a small sample has two."""
    user = {"type": "u32", "distinct": 10_000, "draw": {"kind": "zipf", "theta": 1.3}}
    design, found = check_sample(tmp_path, "[bucket(user, 16)][user][ts]", 3, user=user)
    assert found.sample is not None
    assert 10_000 == found.sample.facts["user"].distinct_count
    assert [one.message for one in check_design(design).causes] == [
        one.message for one in found.causes
    ]
