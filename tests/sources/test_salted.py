"""Salted names such as foo0001: random letters, hashed letters, a byte of a hash."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any

import mmh3
import pytest

import rowkey
from rowkey.engines import ScanRange
from sources.evaluations import (
    explain_declared_read,
    get_finding,
    get_read_costs,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    read_design,
    recount,
    simulate_example,
    to_milliseconds,
)

THINGS = ["foo0001", "foo0002", "foo0003", "foo0004"]
LISTED_KEYS = [
    ("a", "foo0003"),
    ("b", "foo0001"),
    ("c", "foo0003"),
    ("c", "foo0004"),
    ("d", "foo0002"),
]
"""The keys that document 0 prints: four things, five rows."""


def hash_name(name: str) -> int:
    """Return the hash of a terminated name, computed by another library."""
    return int(mmh3.hash(name.encode() + b"\0", 0, signed=False))


def hash_like_java(name: bytes) -> int:
    """Return HBase's Bytes.hashCode: 31 h + byte, from 1, in 32 bits with a sign."""
    number = 1
    for byte in name:
        number = (31 * number + (byte ^ 0x80) - 0x80) & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


@pytest.mark.claims(11, 14)
def test_rising_names_are_written_to_one_region_at_a_time() -> None:
    """Rising names fill one region a window until old names are repeated."""
    assert 7.5 < get_skew("salted/names_first") <= 8.0
    assert ["moving_front"] == list_causes("salted/names_first")
    assert "name" == get_finding("salted/names_first", "monotone-lead").evidence["field"]


# A random letter


@pytest.mark.claims(14, 21)
def test_one_name_under_two_random_letters_is_two_rows() -> None:
    """The document's a-foo0003 and c-foo0003 are two rows of one name."""
    key = read_design("salted/random_letters").key
    made = [key.encode({"name": name}, salt="abcd".index(letter)) for letter, name in LISTED_KEYS]
    assert [f"{letter}-{name}".encode() for letter, name in LISTED_KEYS] == made
    names = [key.decode(one)["name"] for one in made]
    assert (5, 4) == (len(set(made)), len(set(names)))
    assert ["foo0003"] == [name for name, count in Counter(names).items() if count == 2]


@pytest.mark.claims(14, 21)
def test_names_put_again_under_random_letters_are_stored_several_times() -> None:
    """Forty puts of four names are many rows with random letters, and four with hashed ones."""
    left: dict[str, list[bytes]] = {}
    for name in ("salted/random_letters", "salted/hashed_letters"):
        clock = count(1_700_000_000_000).__next__
        with rowkey.open(read_design(name), "memory:", clock=clock) as table:
            for turn in range(10):
                for thing in THINGS:
                    table.put({"name": thing, "ts": turn})
            (cursor,) = table.store.scan([ScanRange()])
            left[name] = [row.row for row in cursor]
    assert THINGS == sorted(row[2:].decode() for row in left["salted/hashed_letters"])
    assert set(THINGS) == {row[2:].decode() for row in left["salted/random_letters"]}
    assert len(left["salted/random_letters"]) > 10


@pytest.mark.claims(14, 21)
def test_the_number_of_duplicates_under_random_letters_is_predicted() -> None:
    """Of 400 repeated names, three in four are predicted to get another random letter."""
    names = Counter(row["name"] for row in list_rows("salted/better"))
    repeats = names.total() - len(names)
    evidence = get_finding("salted/random_letters", "random-salt").evidence
    assert (400, 400, 400 * 3 / 4) == (repeats, evidence["repeats"], evidence["duplicates"])
    assert "random-salt" not in list_rules("salted/hashed_letters")


@pytest.mark.claims(14, 15, 78)
def test_a_get_has_four_ranges_under_random_letters_and_one_under_a_hashed_letter() -> None:
    """A get has a range for each random letter, and one for a hashed letter."""
    told = explain_declared_read("salted/random_letters", "a thing")
    assert ("get", 4) == (told.access_type, told.fan_out)
    assert ["a thing"] == get_finding("salted/random_letters", "random-salt").evidence["gets"]
    assert (4.0, 4) == get_read_costs("salted/random_letters", "a thing").fan_out
    for name in ("salted/hashed_letters", "salted/java_byte", "salted/better"):
        assert ("get", 1) == (
            explain_declared_read(name, "a thing").access_type,
            explain_declared_read(name, "a thing").fan_out,
        )


@pytest.mark.claims(15, 86)
def test_the_hashed_letter_equals_that_of_another_library() -> None:
    """The hashed letter is that of another library's hash."""
    key = read_design("salted/hashed_letters").key
    for name in THINGS:
        letter = "abcd"[hash_name(name) % 4]
        assert f"{letter}-{name}".encode() == key.encode({"name": name})


@pytest.mark.claims(14, 87)
@pytest.mark.parametrize("name", ["salted/random_letters", "salted/hashed_letters"])
def test_four_letters_use_four_of_eight_servers(name: str) -> None:
    """Four letters use four of eight servers, a skew of 2."""
    assert 4 == len(simulate_example(name).regions)
    assert get_skew(name) == pytest.approx(8 / 4, rel=0.08)
    [cause] = simulate_example(name).causes
    assert ("integer_imbalance", 2.0) == (cause.code, cause.evidence["bound"])
    assert 8 == get_finding(name, "fewer-regions-than-servers").evidence["servers"]


@pytest.mark.claims(87)
def test_simulated_writes_of_hashed_names_equal_a_count_by_hand() -> None:
    """Each of the four regions gets the names whose hash, computed here, has its remainder."""
    counts = Counter(hash_name(row["name"]) % 4 for row in list_rows("salted/hashed_letters"))
    writes = [region.writes for region in simulate_example("salted/hashed_letters").regions]
    assert [counts[n] for n in range(4)] == writes


# A byte of a hash


@pytest.mark.claims(68)
def test_the_printed_formula_gives_negative_remainders_in_java() -> None:
    """The printed formula gives negative remainders in Java; rowkey drops the sign."""
    key = read_design("salted/java_byte").key
    names = {row["name"].encode() for row in list_rows("salted/java_byte")}
    hashes = {name: hash_like_java(name + b"\0") for name in names}
    assert any(number < 0 for number in hashes.values())
    printed = {name: (abs(n) % 16 * (1 if n >= 0 else -1)) & 0xFF for name, n in hashes.items()}
    assert max(printed.values()) > 127
    made = {name: key.encode({"name": name.decode()})[0] for name in names}
    assert {name: abs(number) % 16 for name, number in hashes.items()} == made
    assert set(range(16)) == set(made.values())


@pytest.mark.claims(68)
@pytest.mark.parametrize(("buckets", "shared"), [(16, 0), (128, 0), (129, 1), (130, 3), (257, 257)])
def test_signed_remainders_of_129_buckets_do_not_fit_a_byte(buckets: int, shared: int) -> None:
    """From 129 buckets on, the 2 n - 1 signed remainders do not fit into a byte."""
    remainders = {int(math.fmod(number, buckets)) for number in range(-5 * buckets, 5 * buckets)}
    assert 2 * buckets - 1 == len(remainders)
    assert shared == len(remainders) - len({number & 0xFF for number in remainders})


@pytest.mark.claims(68)
def test_the_java31_hash_is_more_even_over_servers_than_over_buckets() -> None:
    """The java31 hash has a skew of 1.16 over 16 buckets and of 1.03 over 8 servers."""
    measured = simulate_example("salted/java_byte")
    fullest = max(region.writes for region in measured.regions) * 16 / 6_400
    assert pytest.approx(1.16, abs=0.005) == fullest
    assert fullest == pytest.approx(
        get_finding("salted/java_byte", "java-hash").evidence["fullest"]
    )
    assert "even" == measured.verdict.level
    assert get_skew("salted/java_byte") < 1.04


@pytest.mark.claims(68)
def test_the_java31_hash_is_less_even_than_murmur() -> None:
    """The fullest bucket over the mean, counted by hand, is the figure of the rule."""
    names = [row["name"] for row in list_rows("salted/java_byte")]
    full = Counter(abs(hash_like_java(name.encode() + b"\0")) % 16 for name in names)
    evidence = get_finding("salted/java_byte", "java-hash").evidence
    assert pytest.approx(max(full.values()) * 16 / len(names)) == evidence["fullest"]
    assert 16 == evidence["used"]
    even = Counter(hash_name(name) % 16 for name in names)
    assert max(even.values()) < max(full.values())


@pytest.mark.claims(68, 69)
def test_a_bucket_adds_one_byte_to_the_key() -> None:
    """The key is one byte and the terminated name, and regions are those of the hash."""
    key = read_design("salted/better").key
    for name in THINGS:
        assert bytes([hash_name(name) % 16]) + name.encode() + b"\0" == key.encode({"name": name})

    def lead(row: Mapping[str, Any]) -> bytes:
        return bytes([hash_name(row["name"]) % 16])

    counted = recount(
        "salted/better",
        lead,
        [bytes([n]) for n in range(1, 16)],
        [to_milliseconds(row["ts"]) for row in list_rows("salted/better")],
    )
    assert counted.writes == [region.writes for region in simulate_example("salted/better").regions]
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == get_skew("salted/better")
    assert get_skew("salted/better") < 1.15


@pytest.mark.claims(69, 78)
def test_names_are_merged_in_order_from_all_buckets() -> None:
    """Sixteen ordered ranges are merged into the order of all names."""
    names = [f"foo{n:04d}" for n in range(300, 0, -1)]
    with rowkey.open(read_design("salted/better"), "memory:") as table:
        for name in names:
            table.put({"name": name, "ts": 1})
        first = [row["name"] for row in table.read("first things")]
    assert sorted(names)[:100] == first
    told = explain_declared_read("salted/better", "first things")
    assert (16, "forwards") == (told.fan_out, told.order_method)
    assert (16.0, 16) == get_read_costs("salted/better", "first things").fan_out
