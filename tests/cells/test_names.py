"""Valid and invalid names of tables and families."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import (
    compute_max_split_bytes,
    find_family_name_mistakes,
    find_table_name_mistakes,
)

GOOD_TABLES = ["t", "server_logs", "sales:orders", "a.b-c", "_x", "9", "default:t", "q" * 255]
BAD_TABLES = ["", ":t", "ns:", "a:b:c", "-t", ".t", "a b", "a/b", "a'b", 'a"b', "a\n", "n-s:t",
              "日志", "zookeeper", "ns:zookeeper", "q" * 256, "t\x00"]  # fmt: skip
GOOD_FAMILIES = ["d", "日", "a b", "a.b", "x" * 127, "é" * 63]
BAD_FAMILIES = ["", "a:b", "a/b", "a\\b", "a'b", 'a"b', ".a", "recovered.edits", "a\x00", "a\x1f",
                "a\x7f", "a\x9f", "\ud800", "x" * 128, "é" * 64]  # fmt: skip


@pytest.mark.parametrize("name", GOOD_TABLES)
def test_valid_table_names_have_no_mistakes(name: str) -> None:
    """A table name that HBase accepts has no mistakes."""
    assert [] == [str(mistake) for mistake in find_table_name_mistakes(name)]


@pytest.mark.parametrize("name", BAD_TABLES)
def test_each_invalid_part_of_a_table_name_has_one_mistake(name: str) -> None:
    """Each invalid part of a table name has one mistake, which prints as one line."""
    assert [1] == [len(str(mistake).splitlines()) for mistake in find_table_name_mistakes(name)]


def test_the_table_name_proposed_by_a_remedy_is_valid() -> None:
    proposed = [
        mistake.mistake.remedy.removeprefix("Write ").removesuffix(".")
        for name in ("a b", "a/b:c", "日志")
        for mistake in find_table_name_mistakes(name)
    ]
    assert ["a_b", "a_b", "__"] == proposed
    assert [] == [mistake for name in proposed for mistake in find_table_name_mistakes(name)]


@pytest.mark.parametrize("name", GOOD_FAMILIES)
def test_valid_family_names_have_no_mistakes(name: str) -> None:
    """A family name that HBase accepts has no mistakes, in any script."""
    assert [] == [str(mistake) for mistake in find_family_name_mistakes(name)]


@pytest.mark.parametrize("name", BAD_FAMILIES)
def test_each_invalid_family_name_has_a_mistake_with_a_remedy(name: str) -> None:
    remedies = [mistake.mistake.remedy for mistake in find_family_name_mistakes(name)]
    assert remedies
    assert all(remedies)


def test_all_mistakes_of_a_family_name_are_reported_together() -> None:
    assert 3 == len(list(find_family_name_mistakes(".a:b" + "c" * 200)))


@given(st.text(max_size=300))
def test_validating_any_text_as_a_name_never_raises(name: str) -> None:
    """Validating any text as a name raises nothing and gives short messages."""
    mistakes = [*find_table_name_mistakes(name), *find_family_name_mistakes(name)]
    assert all(len(str(mistake)) < 700 for mistake in mistakes)


def test_a_split_key_leaves_room_for_its_row_in_the_meta_table() -> None:
    """A table name, a start key and 49 bytes together fit a row key of 32,767 bytes."""
    assert 32_767 == len("ns:orders") + compute_max_split_bytes("ns:orders") + 49
    assert compute_max_split_bytes("orders") == compute_max_split_bytes("default:orders")
