"""Keys that a design could have, checked by hand and by properties."""

from __future__ import annotations

import tomllib

import pytest

from rowkey.design import Design
from rowkey.proposals import KeyProposal, has_enough_values, list_candidates
from rowkey.schema import FieldFacts


def test_a_proposal_is_written_as_in_a_design_file() -> None:
    """Each part of the text is TOML, also for a key with quotes in it."""
    proposal = KeyProposal(key="[host]['a\"b'][ts]", splits="per_bucket")
    options = tomllib.loads(proposal.toml_text.replace(" and ", "\n"))
    assert {"key": proposal.key, "splits": "per_bucket"} == options
    assert KeyProposal(key="[ts]").toml_text == 'key = "[ts]"'


@pytest.mark.parametrize(("values", "is_enough"), [(15, False), (16, True), (None, True)])
def test_four_values_for_each_proposed_bucket_are_enough(
    values: int | None, is_enough: bool
) -> None:
    """Two servers get four buckets, which sixteen values fill; an unknown number may."""
    assert is_enough == has_enough_values(values, servers=2)


@pytest.mark.parametrize(("distinct", "is_listed"), [(500, True), (4, True), (3, False)])
def test_heavy_values_are_listed_where_most_values_are_light(
    distinct: int, *, is_listed: bool
) -> None:
    """Two heavy users of hundreds are listed; two of three are not, as that would list most."""
    design = Design("log", "[user][ts]", fields={"user": "text", "ts": "timestamp_ms"})
    facts = {"user": FieldFacts(distinct_count=distinct, heaviest_values=(("a", 0.3), ("b", 0.3)))}
    found = list_candidates(design, facts, has_sample=True, added_fields=())
    listed = [one.heavy_values for one in found if one.heavy_values]
    assert is_listed == bool(listed)
    assert all(one == {"user": ("a", "b")} for one in listed)


def test_no_bucket_is_tried_before_a_digest_of_the_same_field() -> None:
    """A digest in front spreads its values already; a bucket of them costs a byte more."""
    fields = {"user": "text", "ts": "timestamp_ms", "text": "text"}
    design = Design("log", "[digest(user, 4)][user][ts]", fields=fields)
    found = list_candidates(design, {}, has_sample=True, added_fields=())
    keys = [one.key for one in found]
    assert "[digest(user, 4)][user][ts]" in keys
    assert [] == [key for key in keys if "[bucket(user, 16)][digest(user, 4)]" in key]
    assert any("[bucket(user, ts, 16)][digest(user, 4)]" in key for key in keys)
