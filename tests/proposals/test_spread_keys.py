"""Keys that are proposed to spread writes, checked by hand and by properties."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.design import Design
from rowkey.proposals import (
    KeyProposal,
    has_enough_values,
    list_candidates,
    propose_bucket_count,
    propose_heavy_key,
    propose_read_table,
    propose_salted_key,
    propose_spread_key,
)
from rowkey.proposals.spreading_terms import count_heavy_buckets
from rowkey.schema import Equal, FieldFacts

FIELDS: dict[str, Any] = {"host": "text", "user": "text", "ts": "timestamp_ms"}


def build_design(key: str, splits: Any = "per_bucket") -> Design:
    """A design with two servers and no reads."""
    return Design("t", key, fields=FIELDS, splits=splits, cluster={"servers": 2})


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("[host][ts]", "[bucket(host, ts, 4)][host][ts]"),
        ("['log-'][bucket(host, 9)][host][ts]", "[bucket(host, ts, 4)]['log-'][host][ts]"),
        ("[salt(3)][ts]", "[salt(4)][ts]"),
        ("[ts]", "[salt(4)][ts]"),
    ],
)
def test_a_spreading_part_replaces_the_present_one(key: str, expected: str) -> None:
    """Buckets and salts of the key go, constants stay, and a key of times alone gets a salt."""
    splits = {"algorithm": "hex_string", "regions": 4}
    proposal = propose_spread_key(build_design(key, splits), {})
    assert (expected, "per_bucket") == (proposal.key, proposal.splits)
    assert f'{proposal.part} in front and set splits = "per_bucket"' == proposal.prefix_phrase


@pytest.mark.parametrize(
    "key", ["[bucket(host, 4)][host][time_slice(ts, 1h)]", "[bucket(host, 4)][host][ts]"]
)
def test_a_value_that_is_heavy_by_itself_is_spread(key: str) -> None:
    """A key whose only entity does not spread its rows gets its time into the bucket, or a salt."""
    proposal = propose_spread_key(build_design(key), {}, insufficient_fields=["host"])
    expected = "[salt(4)]" if "slice" in key else "[bucket(host, ts, 4)]"
    assert expected == proposal.part
    Design("t", proposal.key, fields=FIELDS, splits="per_bucket")


def test_splits_that_fit_are_not_proposed_again() -> None:
    """One region for each bucket fits any number of buckets, a number of regions does not."""
    counted = {"algorithm": "per_bucket", "regions": 8}
    key = "[bucket(host, 2)][host][ts]"
    assert "" == propose_salted_key(build_design(key)).splits
    assert "per_bucket" == propose_salted_key(build_design(key, counted)).splits


def test_a_proposal_is_written_as_in_a_design_file() -> None:
    """Each part of the text is TOML, also for a key with quotes in it."""
    proposal = KeyProposal(key="[host]['a\"b'][ts]", splits="per_bucket")
    options = tomllib.loads(proposal.toml_text.replace(" and ", "\n"))
    assert {"key": proposal.key, "splits": "per_bucket"} == options
    assert KeyProposal(key="[ts]").toml_text == 'key = "[ts]"'


def test_only_the_number_of_buckets_changes() -> None:
    """The fields, the option and the other parts of the key stay."""
    design = build_design("['a'][bucket(host, 3, hash=crc32)][host][ts]")
    assert "['a'][bucket(host, 6, hash=crc32)][host][ts]" == propose_bucket_count(design, 1, 6).key


def test_a_second_table_has_a_bucket_of_what_the_read_gives() -> None:
    """Its rows are spread by the field of the read, not by the field of the first table."""
    design = build_design("[bucket(host, 9)][host][ts]")
    proposal = propose_read_table(design.key, {"user": Equal("ada")}, (), 2, {})
    assert proposal is not None
    assert ("[bucket(user, 4)][user][host][ts]", "per_bucket") == (proposal.key, proposal.splits)


@pytest.mark.parametrize(
    "facts",
    [
        FieldFacts(distinct_count=1),
        FieldFacts(distinct_count=50_000, heaviest_values=(("ada", 0.94),)),
    ],
)
def test_a_second_table_spreads_a_value_of_many_rows(facts: FieldFacts) -> None:
    """If the read's field cannot fill the buckets, the other fields of the key do."""
    design = build_design("[bucket(host, 9)][host][ts]")
    proposal = propose_read_table(design.key, {"user": Equal("ada")}, (), 2, {"user": facts})
    assert proposal is not None
    assert "[bucket(user, host, ts, 4)][user][host][ts]" == proposal.key
    assert 4 == proposal.fan_out


@pytest.mark.parametrize(
    "facts",
    [
        FieldFacts(distinct_count=2),
        FieldFacts(distinct_count=50_000, heaviest_values=(("ada", 0.4),)),
        FieldFacts(value_count=20, distinct_count=1, heaviest_values=(("ada", 1.0),)),
    ],
    ids=["as many values as servers", "less than a share", "a small sample"],
)
def test_a_read_of_one_range_is_kept_where_no_server_is_known_to_be_too_busy(
    facts: FieldFacts,
) -> None:
    """A bucket of the read's field alone gives the read one range, which costs least."""
    design = build_design("[bucket(host, 9)][host][ts]")
    proposal = propose_read_table(design.key, {"user": Equal("ada")}, (), 2, {"user": facts})
    assert proposal is not None
    assert "[bucket(user, 4)][user][host][ts]" == proposal.key


def test_a_second_table_keeps_intervals_in_one_row() -> None:
    """A time of which a row holds an interval is not hashed: its events would lie in many rows."""
    design = build_design("[bucket(host, 9)][host][time_slice(ts, 1h)]")
    facts = {"user": FieldFacts(distinct_count=1)}
    proposal = propose_read_table(design.key, {"user": Equal("ada")}, (), 2, facts)
    assert proposal is not None
    assert "[bucket(user, host, 4)][user][host][time_slice(ts, 1h)]" == proposal.key


def test_heavy_values_are_added_to_the_list() -> None:
    """The key spreads the listed values, and the design that declares both is valid."""
    facts = {"host": FieldFacts(distinct_count=500)}
    design = build_design("[bucket(host, 4)][host][ts]")
    proposal = propose_heavy_key(design, facts, ["host"], [("a", 0.5)])
    assert proposal is not None
    assert "[bucket(host, ts, 4, 2)][host][ts]" == proposal.key
    assert {"host": ("a",)} == proposal.heavy_values
    assert propose_heavy_key(design, facts, ["host", "user"], [("a", 0.5)]) is None


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
