"""Who follows whom: wide rows, a separator between ids, a scan to what is taken for the end."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

import mmh3
import pytest

import rowkey
from rowkey.lint import check_design, summarize_sample
from rowkey.regions import compute_prefix_stop
from sources.judged import (
    asked,
    by_hand,
    causes,
    changed,
    explained_of,
    found,
    read,
    rows,
    rules,
    simulated,
    skew,
)
from sources.recordings import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

STARS = ("uid1", "uid2")
SIXTEENTHS = [bytes([n]) for n in range(1, 16)]


def hashed(*texts: str) -> int:
    """The hash of texts with their ends, by another program."""
    data = b"".join(text.encode() + b"\0" for text in texts)
    return int(mmh3.hash(data, 0, signed=False))


def recorded() -> list[dict[str, Any]]:
    """All rows of the recording, not the replayed half alone."""
    header, *lines = text_of("follows/recorded").splitlines()
    names = header.split(",")
    return [dict(zip(names, line.split(","), strict=True)) for line in lines]


# A column for each follower


@pytest.mark.claims(46)
def test_a_wide_row_holds_all_that_follow_and_a_tall_table_a_row_for_each() -> None:
    """The fans of one star are the cells of one row, or as many rows as there are fans."""
    fans = {row["fan"] for row in recorded() if row["star"] == "uid2"}
    pairs = [{"star": "uid2", "fan": fan} for fan in fans]
    wide, tall = read("follows/wide"), read("follows/better")
    assert (1, len(fans)) == tuple(
        len({design.key.encode(pair) for pair in pairs}) for design in (wide, tall)
    )
    names = {wide.layout.encode_event({**pair, "since": 1})[1][0].qualifier for pair in pairs}
    assert len(fans) == len(names)


@pytest.mark.claims(46)
def test_a_row_hundreds_of_times_the_others_is_found() -> None:
    """Counted in the recording: its cells, their share, and the mean of all rows."""
    counts = Counter(row["star"] for row in rows("follows/wide"))
    star, most = counts.most_common(1)[0]
    evidence = found("follows/wide", "uneven-rows").evidence
    assert (most, counts.total() / len(counts)) == (evidence["events"], evidence["mean"])
    assert most / counts.total() == evidence["share"]
    assert most > 100 * counts.total() / len(counts)
    assert star in STARS


@pytest.mark.claims(46, 50)
def test_a_row_is_in_one_region_whatever_its_bucket() -> None:
    """A star's writes are one server's: its share of all, eight times; the advice is more key."""
    name = "follows/wide"
    counted = by_hand(
        name,
        lambda row: bytes([hashed(row["star"]) % 16]),
        SIXTEENTHS,
        [round(row["since"].timestamp() * 1_000) for row in rows(name)],
    )
    assert counted.writes == [region.writes for region in simulated(name).regions]
    expected = counted.skews[10]
    assert expected is not None
    assert pytest.approx(expected[0]) == skew(name)
    [cause] = simulated(name).causes
    share = Counter(row["star"] for row in rows(name)).most_common(1)[0][1] / len(rows(name))
    assert pytest.approx(8 * share) == cause.bound
    assert "put fan into the key and [bucket(star, fan, 16)] in front" in cause.remedy
    told = found(name, "hot-entity")
    assert cause.remedy == told.remedy


@pytest.mark.claims(46)
def test_what_is_advised_for_a_wide_row_binds_and_is_even() -> None:
    """The fan in the key, and a bucket of both: half of all writes spread over all regions."""
    advised = changed(
        "follows/wide",
        key="[bucket(star, fan, 16)][star][fan]",
        fields={"fan": {"type": "text", "max_bytes": 12}},
        sample={"path": str(read("follows/wide").sample_path)},
    )
    measured = rowkey.simulate.run(advised)
    assert "even" == measured.verdict.level
    assert () == tuple(measured.causes)


@pytest.mark.claims(46, 50)
def test_listed_stars_spread_over_eight_buckets() -> None:
    """By hand: two stars have eight places each, all others one; servers are even."""
    name = "follows/better"

    def bucket(row: Mapping[str, Any]) -> int:
        spread = hashed(row["fan"]) % 8 if row["star"] in STARS else 0
        return (hashed(row["star"]) % 16 + spread) % 16

    places: dict[str, set[int]] = {}
    for row in rows(name):
        places.setdefault(row["star"], set()).add(bucket(row))
    assert {8} == {len(places.pop(star)) for star in STARS}
    assert {1} == set(map(len, places.values()))
    writes = Counter(map(bucket, rows(name)))
    assert [writes[n] for n in range(16)] == [r.writes for r in simulated(name).regions]
    assert ([], []) == (rules(name), causes(name))


# A separator between ids


@pytest.mark.claims(47)
def test_an_id_that_holds_the_separator_is_taken_for_two() -> None:
    """Star a with fan ~b and star a~ with fan b have the same bytes; with ends they have not."""
    pairs = [{"star": "a", "fan": "~b"}, {"star": "a~", "fan": "b"}]
    tilde, ended = read("follows/tilde").key, read("follows/better").key
    assert [b"a~~b\0"] == sorted({tilde.encode(pair) for pair in pairs})
    assert pairs == [ended.decode(ended.encode(pair)) for pair in pairs]
    assert ["ambiguous-key", "separator-in-key"] == rules("follows/tilde")
    assert "last byte raised by one" in found("follows/tilde", "separator-in-key").verdict


@pytest.mark.claims(47)
def test_a_recorded_id_that_holds_the_separator_is_an_error(tmp_path: Any) -> None:
    """Where a sample has one, it is shown, and the finding is no longer a warning."""
    path = tmp_path / "rows.csv"
    path.write_text("since,star,fan\n1767225600000,a~,b\n1767225600001,c,d\n")
    design = read("follows/tilde")
    [one] = check_design(
        design, summarize_sample(design, path), select=["separator-in-key"]
    ).findings
    assert "error" == one.severity
    assert "'a~'" in one.message


# A scan to what is taken for the end


def missed() -> tuple[set[str], set[str]]:
    """The fans of uid1 in the whole recording, and those of them whose names begin with 7E on."""
    fans = {row["pair"][5:] for row in recorded() if row["pair"].startswith("uid1~")}
    return fans, {fan for fan in fans if fan.encode()[0] >= 0x7E}


@pytest.mark.claims(47)
def test_a_scan_to_two_tildes_misses_followers() -> None:
    """Loaded and read: what begins with 7E or more is not there; by its prefix all are."""
    fans, lost = missed()
    assert len(lost) > 20
    with rowkey.open(read("follows/pairs"), "memory:", splits=[]) as table:
        for row in recorded():
            table.put({"pair": row["pair"], "since": int(row["since"])})
        got = {row["pair"][5:] for row in table.read("fans of uid1")}
        whole = {row["pair"][5:] for row in table.scan("pair starts with 'uid1~'")}
    assert fans - lost == got
    assert fans == whole


@pytest.mark.claims(47)
def test_the_end_of_a_prefix_is_its_last_byte_raised() -> None:
    """The range of the prefix stops at 7F, behind 7E 7E, which is where the scan stopped."""
    design = read("follows/pairs")
    told = explained_of(design, "pair starts with 'uid1~'", [])
    [one] = told.ranges
    assert (b"uid1~", b"uid1\x7f") == (one.start, one.stop)
    assert b"uid1\x7f" == compute_prefix_stop(b"uid1~")
    evidence = found("follows/pairs", "hand-made-prefix").evidence
    assert ("uid1~", "uid1~~") == (evidence["low"], evidence["high"])
    mended = changed("follows/pairs", reads=[{"name": "fans", "where": "pair starts with 'uid1~'"}])
    assert () == check_design(mended, select=["hand-made-prefix"]).findings


@pytest.mark.claims(47, 48)
def test_the_scan_costs_what_it_returns() -> None:
    """What is right in the advice: a scan of a prefix reads the rows of the answer and no other."""
    cost = asked("follows/pairs", "fans of uid1")
    _, lost = missed()
    half = [row["pair"] for row in rows("follows/pairs") if row["pair"].startswith("uid1~")]
    expected = sum(pair.encode()[5] < 0x7E for pair in half)
    assert (1.0, expected, expected) == (cost.fan_out[0], cost.returned_rows, cost.read_rows)
    assert len(half) - expected > len(lost) / 3
    assert 1 == bisect_right([b"uid1~~"], "uid1~é".encode())
