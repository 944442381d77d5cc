"""Generations of an entry: which one is written, which are read, and how long clients wait."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey import Design
from rowkey.catalog import CatalogEntry, GenerationPhase, check_max_stale, restore_entry
from rowkey.catalog.entry_document import (
    format_checksummed,
    format_entry,
    parse_checksummed,
    parse_entry,
)
from rowkey.errors import InvalidArgument, Unavailable

DESIGN = Design("logs", "[bucket(id, 16)][id]", fields={"id": "u64"})
FIRST = CatalogEntry.from_design(DESIGN, (b"\1",), 1_000)
ANNOUNCED_ENTRY = FIRST.announce_generation({0: 32}, (b"\1", b"\2"), 2_000)
ACTIVE_ENTRY = ANNOUNCED_ENTRY.activate_generation()


def test_an_announced_generation_becomes_active_after_its_time() -> None:
    """The old generation is written until the new one is active, and both are read."""
    states = [FIRST, ANNOUNCED_ENTRY, ACTIVE_ENTRY]
    assert [16, 16, 32] == [entry.active_generation.counts[0] for entry in states]
    assert [None, 2, None] == [
        entry.announced_generation and entry.announced_generation.number for entry in states
    ]
    assert [[16], [16, 32], [32, 16]] == [
        [one.counts[0] for one in entry.live_generations] for entry in states
    ]
    third = ACTIVE_ENTRY.announce_generation({0: 8}, (), 3_000)
    assert [32, 8, 16] == [one.counts[0] for one in third.live_generations]
    assert [8, 32, 16] == [one.counts[0] for one in third.activate_generation().live_generations]
    assert (3, 3_000, ()) == (
        third.generations[-1].number, third.generations[-1].opened_ms, third.generations[-1].splits
    )  # fmt: skip


def test_table_attributes_list_the_active_and_all_live_bucket_counts() -> None:
    """A table's attributes list the active generation, and all live counts if there are several."""
    assert FIRST.table_attributes == ANNOUNCED_ENTRY.table_attributes
    expected = {
        "rowkey.generation": "2",
        "rowkey.counts": "0=32",
        "rowkey.live": "1:0=16 2:0=32",
        "rowkey.declaration": FIRST.hash,
        "rowkey.design": FIRST.declaration,
    }
    assert expected == ACTIVE_ENTRY.table_attributes


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        (["retired", "gone", None], "`phase` is 'gone', which is none of live, copied, retired"),
        ([None, None, "copied"], "the last of `generations` that is active is not live"),
        ([None, 3, None], "3 is not text"),
    ],
)
def test_the_phase_of_each_generation_is_validated(phases: list[Any], message: str) -> None:
    """A phase is a known one, and rows are not written under a generation that is retired."""
    document = parse_checksummed(format_entry(FIRST, "logs", 1).encode(), "f")
    (one,) = document["generations"]
    listed = [
        {**one, "number": number, **({} if phase is None else {"phase": phase})}
        for number, phase in enumerate(phases, 1)
    ]
    text = format_checksummed({**document, "generations": listed})
    with pytest.raises(Unavailable, match=re.escape(message)):
        parse_entry(text.encode(), "logs", "f")


def test_an_entry_keeps_its_retired_generations_and_the_attributes_do_not() -> None:
    """A retired number is in the history and not among those that rows may stand under."""
    entry = FIRST
    for count in (32, 64):
        entry = entry.announce_generation({0: count}, (), 0).activate_generation()
    retired = entry.advance_earlier_generations(GenerationPhase.RETIRED)
    assert [64] == [one.counts[0] for one in retired.live_generations]
    assert [0, 0, 0] == [one.is_announced for one in retired.generations]
    assert "rowkey.live" not in retired.table_attributes
    stored = format_entry(retired, "logs", 1).encode()
    assert replace(retired, version=1) == parse_entry(stored, "logs", "f")
    assert replace(retired, version=9).is_successor_of(entry)
    assert not replace(entry, version=9).is_successor_of(retired)


@pytest.mark.parametrize(
    ("phase", "version"), [(None, 2), (GenerationPhase.COPIED, 3), (GenerationPhase.RETIRED, 3)]
)
def test_only_an_entry_with_a_retirement_has_a_format_that_earlier_versions_refuse(
    phase: GenerationPhase | None, version: int
) -> None:
    """They would take a generation whose rows are being removed for one that has rows."""
    entry = FIRST.announce_generation({0: 32}, (), 0).activate_generation()
    if phase is not None:
        entry = entry.advance_earlier_generations(phase)
    stored = format_entry(entry, "logs", 1).encode()
    assert version == parse_checksummed(stored, "f")["format"]
    assert replace(entry, version=1) == parse_entry(stored, "logs", "f")
    later = format_checksummed({**parse_checksummed(stored, "f"), "format": 4})
    with pytest.raises(Unavailable, match="format version 4; expected version 2 or 3"):
        parse_entry(later.encode(), "logs", "f")


@given(st.lists(st.floats(0.5, 600), min_size=1, max_size=4))
def test_a_catalog_entry_is_restored_from_table_attributes(times: list[float]) -> None:
    """A table's attributes restore its generations, counts and times."""
    entry = CatalogEntry.from_design(DESIGN, (), 0, round(times[0], 1))
    for number, stale_s in enumerate(times[1:]):
        entry = entry.announce_generation(
            {0: number + 2}, (), 0, round(stale_s, 1)
        ).activate_generation()
    found = restore_entry("logs", entry.table_attributes, ())
    timed = (replace(one, opened_ms=0) for one in found.generations)
    assert {None} == {one.opened_ms for one in found.generations}
    assert entry == replace(found, generations=tuple(timed))


@pytest.mark.parametrize("time", ["x", "-1", "nan", "", "1e9"])
def test_an_invalid_time_in_table_attributes_is_reported_and_ignored(time: str) -> None:
    """A time that was changed by hand is reported and not used."""
    with pytest.raises(
        Unavailable, match=r"table logs, attributes: rowkey\.stale = .* is not a valid time"
    ):
        restore_entry("logs", {**FIRST.table_attributes, "rowkey.stale": time}, ())


def test_a_generation_without_optional_keys_is_active() -> None:
    """Without the optional keys a generation is active, with the default time."""
    document = parse_checksummed(format_entry(FIRST, "logs", 1).encode(), "f")
    for word in ("max_stale_s", "longest_s"):
        del document[word]
    for generation in document["generations"]:
        del generation["is_active"]
    assert replace(FIRST, version=1) == parse_entry(
        format_checksummed(document).encode(), "logs", "f"
    )


WRONG = [
    ("max_stale_s", 0), ("max_stale_s", -1), ("max_stale_s", "60"), ("max_stale_s", True),
    ("longest_s", 10**9), ("generations", [False]), ("generations", [False, True]),
    ("generations", [True, False, False]), ("generations", [1]),
]  # fmt: skip


@pytest.mark.parametrize(("word", "value"), WRONG)
def test_each_optional_key_of_a_generation_is_validated(word: str, value: object) -> None:
    """Times must be in range, and only the last of several generations may be announced."""
    document = parse_checksummed(format_entry(FIRST, "logs", 1).encode(), "f")
    if isinstance(value, list):
        (one,) = document["generations"]
        value = [{**one, "is_active": is_active} for is_active in value]
    with pytest.raises(Unavailable, match=r"^f: "):
        parse_entry(format_checksummed({**document, word: value}).encode(), "logs", "f")


@given(st.lists(st.floats(0.5, 600), min_size=1, max_size=6), st.integers(0, 6))
def test_a_bucket_change_waits_for_the_longest_lease_of_any_client(
    times: list[float], dies: int
) -> None:
    """A change waits for the longest lease of any client, whatever times a table had."""
    # A client goes on for as long as the entry it read says. When a generation comes to rule, those
    # that read an entry before it was announced must be at their end.
    entry = CatalogEntry.from_design(DESIGN, (), 0, times[0])
    held = [entry.max_stale_s]  # of clients that have read some entry, and may not have read others
    for number, stale_s in enumerate(times[1:]):
        entry = entry.announce_generation({0: number + 2}, (), 0, stale_s)
        assert entry.longest_stale_s >= max(held)
        if number == dies:
            assert entry.longest_stale_s >= max(held)  # another setter reads it, and waits as long
        held = [entry.max_stale_s]
        entry = entry.activate_generation()
        assert entry.longest_stale_s == entry.max_stale_s == stale_s


@pytest.mark.parametrize("wrong", [0, -1, True, "60", None, float("nan"), 10**6])
def test_a_lease_time_must_be_above_0_and_at_most_a_day(wrong: object) -> None:
    """A time is a number of seconds above 0, of a day at most."""
    with pytest.raises(
        InvalidArgument,
        match=r"max_stale: .* is (not a length of time|not above zero|too long); expected seconds",
    ):
        check_max_stale(wrong)
    for right in (0.1, 1, 86_400):
        check_max_stale(right)
