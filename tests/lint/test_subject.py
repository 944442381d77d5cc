"""The subject of a rule: the facts of a design that rules may use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkey.design import Design
from rowkey.lint import LintSubject, subject
from rowkey.schema import FieldFacts, OneOf
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.hotspots import CauseFinding

USERS = """\
table  = "users"
key    = "[bucket(user, 32)][user]"
splits = {splits}

[fields]
user = {{ type = "text", distinct = 50, mean_bytes = 9 }}
name = {{ type = "text", mean_bytes = 12 }}
age  = {{ type = "u8", distinct = 90 }}
note = {{ type = "text", family = "n" }}
more = {{ type = "text", family = "n" }}
{families}
"""


def build_subject(splits: str = '"per_bucket"', families: str = "") -> LintSubject:
    """Return a table of users as a rule sees it, without a sample."""
    return LintSubject(Design.loads(USERS.format(splits=splits, families=families)))


def test_declared_mean_length_and_number_of_values_are_known_of_a_field() -> None:
    """The declared mean length and number of values of a field are both known."""
    facts = build_subject().facts
    assert FieldFacts(distinct_count=50, mean_bytes=9) == facts["user"]
    assert FieldFacts(mean_bytes=12) == facts["name"]
    assert FieldFacts(distinct_count=90) == facts["age"]
    assert "note" not in facts


@pytest.mark.parametrize(
    ("families", "name", "expected"),
    [
        ("", "n", "fields.note"),
        ("[families.n]", "n", "families.n"),
        ("", "d", "fields"),
        ("[families.n]", "d", "families"),
    ],
)
def test_the_path_of_a_family_is_its_table_or_first_field(
    families: str, name: str, expected: str
) -> None:
    """The path of a family is its table, else its first field, else where its table would be."""
    assert expected == build_subject(families=families).find_family_path(name)


@pytest.mark.parametrize(
    ("splits", "regions"),
    [
        ('"per_bucket"', 32),
        ('{ algorithm = "per_bucket", regions = 4 }', 4),
        ('{ algorithm = "uniform", regions = 5 }', 5),
        ('"uniform"', 64),
        ("['05', '0a']", 3),
    ],
)
def test_regions_that_splits_define_are_not_replaced_by_those_of_sizing(
    splits: str, regions: int
) -> None:
    """Where splits need no number of regions, the number that sizing proposes is not used."""
    subject = build_subject(splits, "[cluster]\nservers = 40")
    assert 64 == subject.sizing.regions
    boundaries = subject.boundaries
    assert boundaries is not None
    assert regions == len(boundaries)


LISTED = """\
table = "users"
key   = "[user][age]"

[fields]
user = "text"
age  = { type = "u8", distinct = 90 }

[[reads]]
name  = "some"
where = "user in (?, 'bob', ?) and age in (?, ?, ?)"
"""


def test_a_list_condition_is_planned_with_different_values() -> None:
    """A listed condition is planned with different values, known frequent ones first."""
    known = {"user": FieldFacts(heaviest_values=(("bob", 0.5), ("ada", 0.3)))}
    (some,) = LintSubject(Design.loads(LISTED), extra_facts=known).reads
    assert some.plan is not None
    assert 9 == some.plan.fan_out
    assert {"user": OneOf(("ada", "bob", "00000000")), "age": OneOf((0, 1, 2))} == some.bounds


def test_designs_that_differ_only_in_reads_share_the_predicted_causes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Designs of one sample share the predicted causes, unless more than name and reads differ."""
    path = tmp_path / "users.csv"
    path.write_text("user,age\n" + "".join(f"u{n % 50},{n % 90}\n" for n in range(500)))
    options = {"fields": {"user": "text", "age": "u8"}}
    first = Design("users", "[user][age]", **options)
    others = [
        Design("by_age", "[user][age]", **options, reads=[{"name": "one", "where": "age = ?"}]),
        Design("users", "[user][age]", **options, splits={"algorithm": "uniform", "regions": 4}),
    ]
    predicted: list[Design] = []

    def predict(design: Design, *_: object) -> list[CauseFinding]:
        predicted.append(design)
        return []

    monkeypatch.setattr(subject, "predict_causes", predict)
    sample = summarize_sample(first, path)
    for design in (first, *others):
        assert {} == LintSubject(design, sample).causes
    assert [first, others[1]] == predicted
