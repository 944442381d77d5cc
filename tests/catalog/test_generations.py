"""Generations of an entry: which one is written, which are read, and who waits how long."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey import Design
from rowkey.catalog import Entry, check_stale, restored
from rowkey.catalog.document import checksummed_text, entry_of, read_checksummed, text_of
from rowkey.errors import Refused, Unsupported

DESIGN = Design("logs", "[bucket(id, 16)][id]", fields={"id": "u64"})
FIRST = Entry.of(DESIGN, (b"\1",), 1_000)
ANNOUNCED = FIRST.announcing({0: 32}, (b"\1", b"\2"), 2_000)
RULED = ANNOUNCED.ruled()


def test_a_new_generation_is_announced_and_then_rules() -> None:
    """Until it rules the old one is written; both are live all the while."""
    states = [FIRST, ANNOUNCED, RULED]
    assert [16, 16, 32] == [entry.ruling.counts[0] for entry in states]
    assert [None, 2, None] == [entry.announced and entry.announced.number for entry in states]
    assert [[16], [16, 32], [32, 16]] == [[one.counts[0] for one in entry.live] for entry in states]
    third = RULED.announcing({0: 8}, (), 3_000)
    assert [32, 8, 16] == [one.counts[0] for one in third.live]
    assert [8, 32, 16] == [one.counts[0] for one in third.ruled().live]
    assert (3, 3_000, ()) == (
        third.generations[-1].number, third.generations[-1].opened_ms, third.generations[-1].splits
    )  # fmt: skip


def test_the_words_of_a_table_follow_what_rules() -> None:
    """What is only announced is none of them; where rows stand under several counts all are."""
    assert FIRST.words == ANNOUNCED.words
    expected = {
        "rowkey.generation": "2",
        "rowkey.counts": "0=32",
        "rowkey.live": "1:0=16 2:0=32",
        "rowkey.declaration": FIRST.hash,
        "rowkey.design": FIRST.declaration,
    }
    assert expected == RULED.words


@given(st.lists(st.floats(0.5, 600), min_size=1, max_size=4))
def test_the_words_of_a_table_give_its_entry_back(times: list[float]) -> None:
    """What rules, under which counts, and for how long clients may go on is what it was."""
    entry = Entry.of(DESIGN, (), 0, round(times[0], 1))
    for number, stale_s in enumerate(times[1:]):
        entry = entry.announcing({0: number + 2}, (), 0, round(stale_s, 1)).ruled()
    found = restored("logs", entry.words, ())
    timed = (replace(one, opened_ms=0) for one in found.generations)
    assert {None} == {one.opened_ms for one in found.generations}
    assert entry == replace(found, generations=tuple(timed))


@pytest.mark.parametrize("told", ["x", "-1", "nan", "", "1e9"])
def test_a_word_that_is_no_time_is_told(told: str) -> None:
    """What was changed by hand is not gone by."""
    with pytest.raises(Unsupported, match=r"rowkey\.stale is"):
        restored("logs", {**FIRST.words, "rowkey.stale": told}, ())


def test_an_entry_without_the_new_words_is_read() -> None:
    """One that was written before there was a second generation rules, with the usual time."""
    document = read_checksummed(text_of(FIRST, "logs", 1).encode(), "f")
    for word in ("max_stale_s", "longest_s"):
        del document[word]
    for generation in document["generations"]:
        del generation["rules"]
    assert replace(FIRST, version=1) == entry_of(checksummed_text(document).encode(), "logs", "f")


WRONG = [
    ("max_stale_s", 0), ("max_stale_s", -1), ("max_stale_s", "60"), ("max_stale_s", True),
    ("longest_s", 10**9), ("generations", [False]), ("generations", [False, True]),
    ("generations", [True, False, False]), ("generations", [1]),
]  # fmt: skip


@pytest.mark.parametrize(("word", "value"), WRONG)
def test_each_new_word_is_checked(word: str, value: object) -> None:
    """No time is below or above what can be meant; only the last of several may not rule yet."""
    document = read_checksummed(text_of(FIRST, "logs", 1).encode(), "f")
    if isinstance(value, list):
        (one,) = document["generations"]
        value = [{**one, "rules": rules} for rules in value]
    with pytest.raises(Unsupported, match=r"^f: "):
        entry_of(checksummed_text({**document, word: value}).encode(), "logs", "f")


@given(st.lists(st.floats(0.5, 600), min_size=1, max_size=6), st.integers(0, 6))
def test_a_setter_waits_for_the_longest_time_of_any_client(times: list[float], dies: int) -> None:
    """Whatever times a table has had, and wherever a setter died, no client outlives the wait."""
    # A client goes on for as long as the entry it read says. When a generation comes to rule, those
    # that read an entry before it was announced must be at their end.
    entry = Entry.of(DESIGN, (), 0, times[0])
    held = [entry.max_stale_s]  # of clients that have read some entry, and may not have read others
    for number, stale_s in enumerate(times[1:]):
        entry = entry.announcing({0: number + 2}, (), 0, stale_s)
        assert entry.longest_s >= max(held)
        if number == dies:
            assert entry.longest_s >= max(held)  # another setter reads it, and waits as long
        held = [entry.max_stale_s]
        entry = entry.ruled()
        assert entry.longest_s == entry.max_stale_s == stale_s


@pytest.mark.parametrize("wrong", [0, -1, True, "60", None, float("nan"), 10**6])
def test_no_other_time_is_taken(wrong: object) -> None:
    """A time is a number of seconds above 0, of a day at most."""
    with pytest.raises(
        Refused,
        match=r"max_stale: .* is (no length of time|too short|too long); expected seconds, above",
    ):
        check_stale(wrong)
    for right in (0.1, 1, 86_400):
        check_stale(right)
