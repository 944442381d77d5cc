"""What a rule may look at, where it is easily got wrong."""

from __future__ import annotations

import pytest

from rowkey.design import Design
from rowkey.lint import LintSubject
from rowkey.schema import FieldFacts, OneOf

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


def users(splits: str = '"per_bucket"', families: str = "") -> LintSubject:
    """A table of users under judgement, without a sample."""
    return LintSubject(Design.loads(USERS.format(splits=splits, families=families)))


def test_all_that_the_file_says_of_a_field_is_known() -> None:
    """The mean of its bytes stands beside the number of its values."""
    facts = users().facts
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
def test_a_family_stands_where_the_file_names_it(families: str, name: str, expected: str) -> None:
    """In its own words, else at the first field of it, else where its words would stand."""
    assert expected == users(families=families).find_family_path(name)


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
def test_regions_are_those_the_table_begins_with(splits: str, regions: int) -> None:
    """Of 64 that sizing proposes here, nothing is heard where the splits need no number."""
    subject = users(splits, "[cluster]\nservers = 40")
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


def test_a_list_is_planned_with_different_values() -> None:
    """Those known to be frequent first, none twice: of three users with three ages, nine ranges."""
    known = {"user": FieldFacts(heaviest_values=(("bob", 0.5), ("ada", 0.3)))}
    (some,) = LintSubject(Design.loads(LISTED), extra_facts=known).reads
    assert some.plan is not None
    assert 9 == some.plan.fan_out
    assert {"user": OneOf(("ada", "bob", "00000000")), "age": OneOf((0, 1, 2))} == some.bounds
