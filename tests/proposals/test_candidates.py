"""Keys that a design could have, checked by hand and by properties."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.proposals import KeyProposal, has_enough_values, list_candidates
from rowkey.proposals.spreading_terms import count_heavy_buckets


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


@given(st.floats(0.001, 1), st.integers(1, 64), st.integers(2, 256))
def test_a_heavy_value_takes_half_a_share_of_each_bucket(
    share: float, servers: int, buckets: int
) -> None:
    """A heavy value is spread over the fewest power of two of buckets that suffice, or over all."""
    spread = count_heavy_buckets(share, servers, buckets)
    assert 2 <= spread <= buckets
    if spread < buckets:
        assert spread.bit_count() == 1
        assert share * servers / spread <= 0.5
        assert spread == 2 or share * servers / (spread // 2) > 0.5


def test_no_bucket_is_tried_before_a_digest_of_the_same_field() -> None:
    """A digest in front spreads its values already; a bucket of them costs a byte more."""
    fields = {"user": "text", "ts": "timestamp_ms", "text": "text"}
    design = Design("log", "[digest(user, 4)][user][ts]", fields=fields)
    found = list_candidates(design, {}, has_sample=True, added_fields=())
    keys = [one.key for one in found]
    assert "[digest(user, 4)][user][ts]" in keys
    assert [] == [key for key in keys if "[bucket(user, 16)][digest(user, 4)]" in key]
    assert any("[bucket(user, ts, 16)][digest(user, 4)]" in key for key in keys)
