"""Followers of users: wide rows, separators in keys, and scans to an assumed last byte."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from typing import Any

import mmh3
import pytest

import rowkey
from rowkey.lint import check_design
from rowkey.regions import compute_prefix_stop
from samples import summarize_sample
from sources.evaluations import (
    change_design,
    explain_conditions,
    get_finding,
    get_read_costs,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    read_design,
    recount,
    simulate_example,
)
from sources.recordings import format_recording

STARS = ("uid1", "uid2")
SIXTEENTHS = [bytes([n]) for n in range(1, 16)]


def hash_texts(*texts: str) -> int:
    """Return the hash of terminated texts, computed by another library."""
    data = b"".join(text.encode() + b"\0" for text in texts)
    return int(mmh3.hash(data, 0, signed=False))


def read_recording() -> list[dict[str, Any]]:
    """Return all rows of the recording, not only the replayed half."""
    header, *lines = format_recording("follows/recorded").splitlines()
    names = header.split(",")
    return [dict(zip(names, line.split(","), strict=True)) for line in lines]


# A column for each follower


@pytest.mark.claims(46)
def test_followers_are_cells_of_one_wide_row_or_rows_of_a_tall_table() -> None:
    """The fans of a star are the cells of one wide row, or as many tall rows."""
    fans = {row["fan"] for row in read_recording() if row["star"] == "uid2"}
    pairs = [{"star": "uid2", "fan": fan} for fan in fans]
    wide, tall = read_design("follows/wide"), read_design("follows/better")
    assert (1, len(fans)) == tuple(
        len({design.key.encode(pair) for pair in pairs}) for design in (wide, tall)
    )
    names = {wide.layout.encode_event({**pair, "since": 1})[1][0].qualifier for pair in pairs}
    assert len(fans) == len(names)


@pytest.mark.claims(46)
def test_a_row_hundreds_of_times_larger_than_others_is_reported() -> None:
    """The largest row is reported with its cells, its share, and the mean of all rows."""
    counts = Counter(row["star"] for row in list_rows("follows/wide"))
    star, most = counts.most_common(1)[0]
    evidence = get_finding("follows/wide", "uneven-rows").evidence
    assert (most, counts.total() / len(counts)) == (evidence["events"], evidence["mean"])
    assert most / counts.total() == evidence["share"]
    assert most > 100 * counts.total() / len(counts)
    assert star in STARS


@pytest.mark.claims(46, 50)
def test_a_wide_row_is_on_one_server_whatever_its_bucket() -> None:
    """All writes of a star are on one server, and the remedy is more fields in the key."""
    name = "follows/wide"
    counted = recount(
        name,
        lambda row: bytes([hash_texts(row["star"]) % 16]),
        SIXTEENTHS,
        [round(row["since"].timestamp() * 1_000) for row in list_rows(name)],
    )
    assert counted.writes == [region.writes for region in simulate_example(name).regions]
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == get_skew(name)
    [cause] = simulate_example(name).causes
    share = Counter(row["star"] for row in list_rows(name)).most_common(1)[0][1] / len(
        list_rows(name)
    )
    assert pytest.approx(8 * share) == cause.bound
    assert "put fan into the key" in cause.remedy
    told = get_finding(name, "hot-entity")
    assert cause.remedy == told.remedy


@pytest.mark.claims(46)
def test_the_key_advised_for_a_wide_row_is_valid_and_even() -> None:
    """The advised key with a bucket of star and fan is valid and even."""
    advised = change_design(
        "follows/wide",
        key="[bucket(star, fan, 16)][star][fan]",
        fields={"fan": {"type": "text", "max_bytes": 12}},
        sample={"path": str(read_design("follows/wide").sample_path)},
    )
    measured = rowkey.simulate.run(advised)
    assert "even" == measured.verdict.level
    assert () == tuple(measured.causes)


@pytest.mark.claims(46, 50)
def test_two_listed_stars_are_spread_over_eight_buckets() -> None:
    """Two listed stars have eight places each and all others one, and servers are even."""
    name = "follows/better"

    def bucket(row: Mapping[str, Any]) -> int:
        spread = hash_texts(row["fan"]) % 8 if row["star"] in STARS else 0
        return (hash_texts(row["star"]) % 16 + spread) % 16

    places: dict[str, set[int]] = {}
    for row in list_rows(name):
        places.setdefault(row["star"], set()).add(bucket(row))
    assert {8} == {len(places.pop(star)) for star in STARS}
    assert {1} == set(map(len, places.values()))
    writes = Counter(map(bucket, list_rows(name)))
    assert [writes[n] for n in range(16)] == [r.writes for r in simulate_example(name).regions]
    assert ([], []) == (list_rules(name), list_causes(name))


# A separator between ids


@pytest.mark.claims(47)
def test_without_terminators_two_pairs_of_ids_share_a_key() -> None:
    """Without terminators star a with fan ~b has the key of star a~ with fan b."""
    pairs = [{"star": "a", "fan": "~b"}, {"star": "a~", "fan": "b"}]
    tilde, ended = read_design("follows/tilde").key, read_design("follows/better").key
    assert [b"a~~b\0"] == sorted({tilde.encode(pair) for pair in pairs})
    assert pairs == [ended.decode(ended.encode(pair)) for pair in pairs]
    assert ["ambiguous-key", "separator-in-key"] == list_rules("follows/tilde")
    assert "last byte raised by one" in get_finding("follows/tilde", "separator-in-key").verdict


@pytest.mark.claims(47)
def test_a_sampled_id_with_the_separator_makes_the_finding_an_error(tmp_path: Any) -> None:
    """A sampled id with the separator is shown, and makes the finding an error."""
    path = tmp_path / "rows.csv"
    path.write_text("since,star,fan\n1767225600000,a~,b\n1767225600001,c,d\n")
    design = read_design("follows/tilde")
    [one] = check_design(
        design, summarize_sample(design, path), select=["separator-in-key"]
    ).findings
    assert "error" == one.severity
    assert "'a~'" in one.message


# A scan to what is taken for the end


def find_missed_fans() -> tuple[set[str], set[str]]:
    """Return the fans of uid1, and those of them whose names begin with 7E or above."""
    fans = {row["pair"][5:] for row in read_recording() if row["pair"].startswith("uid1~")}
    return fans, {fan for fan in fans if fan.encode()[0] >= 0x7E}


@pytest.mark.claims(47)
def test_a_scan_up_to_two_tildes_misses_followers() -> None:
    """A scan up to ~~ misses names from 7E on, and a prefix scan returns all."""
    fans, lost = find_missed_fans()
    assert len(lost) > 20
    with rowkey.open(read_design("follows/pairs"), "memory:", splits=[]) as table:
        for row in read_recording():
            table.put({"pair": row["pair"], "since": int(row["since"])})
        got = {row["pair"][5:] for row in table.read("fans of uid1")}
        whole = {row["pair"][5:] for row in table.scan("pair starts with 'uid1~'")}
    assert fans - lost == got
    assert fans == whole


@pytest.mark.claims(47)
def test_the_range_of_a_prefix_ends_at_its_last_byte_plus_one() -> None:
    """The range of the prefix ends at 7F, after 7E 7E where the other scan ended."""
    design = read_design("follows/pairs")
    told = explain_conditions(design, "pair starts with 'uid1~'", [])
    [one] = told.ranges
    assert (b"uid1~", b"uid1\x7f") == (one.start, one.stop)
    assert b"uid1\x7f" == compute_prefix_stop(b"uid1~")
    evidence = get_finding("follows/pairs", "hand-made-prefix").evidence
    assert ("uid1~", "uid1~~") == (evidence["low"], evidence["high"])
    mended = change_design(
        "follows/pairs", reads=[{"name": "fans", "where": "pair starts with 'uid1~'"}]
    )
    assert () == check_design(mended, select=["hand-made-prefix"]).findings


@pytest.mark.claims(47, 48)
def test_a_prefix_scan_reads_only_the_rows_it_returns() -> None:
    cost = get_read_costs("follows/pairs", "fans of uid1")
    _, lost = find_missed_fans()
    rows = list_rows("follows/pairs", is_whole=True)
    pairs = {row["pair"] for row in rows if row["pair"].startswith("uid1~")}
    expected = sum(pair.encode()[5] < 0x7E for pair in pairs)
    assert (1.0, expected, expected) == (cost.fan_out[0], cost.returned_rows, cost.read_rows)
    assert len(pairs) - expected > len(lost) / 3
    assert 1 == bisect_right([b"uid1~~"], "uid1~é".encode())
