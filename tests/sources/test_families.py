"""Families and their attributes, as two documents describe them and as HBase 2.6 has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rowkey.cells import FOREVER_S, Cell, Family, select_kept_cells
from rowkey.errors import InvalidDesign
from rowkey.lint import check_design
from samples import summarize_sample
from sources.evaluations import (
    NAMES,
    change_design,
    check_example,
    get_finding,
    list_rules,
    read_design,
    simulate_example,
)

if TYPE_CHECKING:
    from rowkey.design import Design

THREE, ADVISED = "families/three", "families/advised"


def list_findings(name: str, rule: str) -> list[Any]:
    """Return the findings of one rule in a design, as path and value."""
    return [(one.path, one.value) for one in check_example(name).findings if one.name == rule]


def change_family(**words: Any) -> Design:
    """Return the better design with other options of its family."""
    return change_design("families/better", families={"d": words})


# How many, and what they are called


@pytest.mark.claims(16)
@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, []), (2, []), (3, ["warning"]), (10, ["warning"]), (11, ["error"])],
)
def test_more_than_two_families_are_a_warning(count: int, expected: list[str]) -> None:
    """From the third family on there is a finding; the book says one to three, ten at most."""
    names = list("abcefghijkl")[:count]
    fields = {
        field: {"type": "text", "max_bytes": 40, "family": names[n % count]}
        for n, field in enumerate(("name", "town", *(f"more{n}" for n in range(9))))
    }
    design = change_design("families/better", families={n: {} for n in names}, fields=fields)
    if count == 1:
        design = change_design("families/better", families={"d": {}})
    assert expected == [
        one.severity for one in check_design(design, select=["many-families"]).findings
    ]


@pytest.mark.claims(16)
def test_every_better_design_has_one_family() -> None:
    """Every better design has one family, and the third family of the other has a finding."""
    one = get_finding(THREE, "many-families")
    assert ("families.statistics", 3, "warning") == (one.path, one.value, one.severity)
    assert 3 == len(
        {cell.family for cell in simulate_example(THREE).design.layout.estimate_cells()}
    )
    for name in NAMES:
        if "/better" in name:
            assert 1 == len(read_design(name).families)


@pytest.mark.claims(17)
def test_three_small_families_are_flushed_into_three_files_an_hour() -> None:
    """Three small families are flushed by age into three files an hour instead of one."""
    one = get_finding(THREE, "flushed-together")
    key = 1 + 8
    sizes = {
        "information": 20 + key + len("information") + len("name") + 20,
        "address": 20 + key + len("address") + len("town") + 20,
        "statistics": 20 + key + len("statistics") + len("visits") + 4,
    }
    # 100 events a second, in sixteen regions, for the hour after which a MemStore is flushed.
    hourly = {name: size * 100 / 16 * 3_600 for name, size in sizes.items()}
    assert all(each < 16 * 2**20 for each in hourly.values())
    assert pytest.approx(hourly) == dict(one.evidence["mean_bytes"])
    assert pytest.approx(3.0) == one.evidence["files"]
    assert "only the large families" in one.verdict


@pytest.mark.claims(18, 42)
def test_families_with_equal_attributes_are_reported() -> None:
    """Families with equal attributes are reported, as a read of two looks into two stores."""
    families = ["information", "address", "statistics"]
    assert families == get_finding(THREE, "equal-families").evidence["families"]
    across = get_finding(THREE, "read-across-families").evidence
    assert (["town", "visits"], ["address", "statistics"]) == (across["fields"], across["families"])
    alone = change_design(THREE, reads=[{"name": "visits", "where": "user = ? and visits > ?"}])
    assert () == check_design(alone, select=["read-across-families"]).findings


@pytest.mark.claims(19)
def test_a_family_that_few_rows_have_is_reported(tmp_path: Any) -> None:
    """A family in one of a hundred sampled rows is reported, in half of the rows not."""
    design = change_design(
        THREE,
        fields={"town": {"type": "text", "max_bytes": 9, "nullable": True, "family": "address"}},
    )
    for share, expected in ((100, ["address"]), (2, [])):
        path = tmp_path / f"{share}.csv"
        lines = [f"{n},n,{'' if n % share else 't'},1" for n in range(2_000)]
        path.write_text("\n".join(["user,name,town,visits", *lines, ""]))
        one = check_design(
            design, summarize_sample(design, path), select=["unequal-families"]
        ).findings
        assert expected == [each.value for each in one]


@pytest.mark.claims(20, 22)
def test_a_long_family_name_is_reported() -> None:
    """Names above one letter are reported, from 8 bytes as a warning; 127 is the limit."""
    assert {
        ("information", "statistics"): (11, "warning"),
        ("address",): (7, "info"),
    } == {
        tuple(one.evidence.get("families", [one.value])): (one.evidence["bytes"], one.severity)
        for one in check_example(THREE).findings
        if one.name == "long-family-name"
    }
    for length in (127, 128):
        name = "f" * length
        words = {"type": "u32", "family": name}
        if length == 127:
            assert name in change_design("families/better", families={name: {}, "d": {}},
                                   fields={"visits": words}).families  # fmt: skip
        else:
            with pytest.raises(InvalidDesign, match="127"):
                change_design(
                    "families/better", families={name: {}, "d": {}}, fields={"visits": words}
                )


@pytest.mark.claims(24)
def test_an_event_in_three_families_has_one_row_key_in_all_cells() -> None:
    """An event in three families is three cells of one row in one mutation."""
    row = {"user": 7, "name": "anna", "town": "Ulm", "visits": 3}
    design = read_design(THREE)
    key, cells = design.layout.encode_event(row)
    assert design.key.encode(row) == key
    assert {"information", "address", "statistics"} == {cell.family for cell in cells}
    assert row == design.layout.decode_events(key, cells)[0]


# Versions and times to live


@pytest.mark.claims(25)
def test_a_hundred_versions_are_a_warning_and_99_are_not() -> None:
    assert [("families.d.versions", 100)] == list_findings(ADVISED, "many-versions")
    assert () == check_design(change_family(versions=99), select=["many-versions"]).findings


@pytest.mark.claims(26)
def test_the_default_is_one_version() -> None:
    """The default is one version, since 0.96 (HBASE-10941), and not three."""
    assert (1, 1) == (Family("d").versions, change_family().families["d"].versions)


@pytest.mark.claims(27)
@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"min_versions": 1, "versions": 2}, False),
        ({"min_versions": 3, "versions": 2, "ttl": "1d"}, False),
        ({"min_versions": 1, "versions": 2, "ttl": "1d"}, True),
    ],
)
def test_minimum_versions_need_a_time_to_live(options: dict[str, Any], *, allowed: bool) -> None:
    """Minimum versions need a ttl, and must not exceed the versions."""
    if allowed:
        assert 1 == change_family(**options).families["d"].min_versions
    else:
        with pytest.raises(InvalidDesign, match="min_versions"):
            change_family(**options)


@pytest.mark.claims(28, 30)
def test_a_time_to_live_is_counted_in_seconds() -> None:
    """A week in milliseconds is a ttl of nineteen years, and FOREVER is the largest int."""
    assert [("families.d.ttl", 604_800_000)] == list_findings(ADVISED, "ttl-in-milliseconds")
    assert 604_800_000 == 7 * 86_400 * 1_000 == read_design(ADVISED).families["d"].ttl_s
    assert 86_400 == change_family(ttl="1d").families["d"].ttl_s
    assert (2**31 - 1, 2**31 - 1) == (FOREVER_S, change_family().families["d"].ttl_s)
    for wrong in (0, 2**31):
        with pytest.raises(InvalidDesign, match="ttl"):
            change_family(ttl=wrong)


@pytest.mark.claims(30)
def test_a_cell_does_not_outlive_the_ttl_of_its_family() -> None:
    """A cell expires by the shorter of its own ttl, in milliseconds, and the family's."""
    family = Family("d", ttl_s=10)
    for ttl_ms, now_ms, left in ((60_000, 9_999, 1), (60_000, 10_001, 0), (5_000, 5_001, 0)):
        cell = Cell("d", b"q", 0, b"v", ttl_ms=ttl_ms)
        assert left == len(select_kept_cells([cell], family, now_ms))


@pytest.mark.claims(27, 29)
def test_minimum_versions_keep_the_last_expired_version() -> None:
    """An expired row keeps its last version with MIN_VERSIONS 1, and none otherwise."""
    assert [("families.d.min_versions", 1)] == list_findings(ADVISED, "min-versions-keep-files")
    cells = [Cell("d", b"q", ts, b"v") for ts in (2_000, 1_000)]
    assert [] == select_kept_cells(cells, Family("d", versions=2, ttl_s=1), 60_000)
    kept = select_kept_cells(cells, Family("d", versions=2, ttl_s=1, min_versions=1), 60_000)
    assert [2_000] == [cell.timestamp for cell in kept]


@pytest.mark.claims(29)
def test_a_ttl_with_minimum_versions_is_reported_to_keep_files() -> None:
    """A ttl with minimum versions is reported, as a warning where each event is a row."""
    one = get_finding(ADVISED, "min-versions-keep-files")
    assert "HBase cannot drop expired files whole" in one.message
    assert ("info", "Remove min_versions") == (one.severity, one.remedy[:19])
    for words, expected in (
        ({"ttl": "7d", "versions": 2}, []),
        ({"ttl": "7d", "versions": 2, "min_versions": 1}, ["info"]),
    ):
        told = check_design(change_family(**words), select=["min-versions-keep-files"]).findings
        assert expected == [each.severity for each in told]
    history = change_design(
        "slices/rows", families={"d": {"ttl": "1d", "versions": 2, "min_versions": 1}}
    )
    [one] = check_design(history, select=["min-versions-keep-files"]).findings
    assert ("warning", True) == (one.severity, "no event is ever deleted" in one.message)


@pytest.mark.claims(29)
def test_regions_of_expired_rows_stay_under_a_time_first_key() -> None:
    """Under a key of times, expired regions stay empty; bucketed regions get new rows."""
    for name, expected in (("logs/time_first", 1), ("logs/better_by_time", 0)):
        design = change_design(name, families={"d": {"ttl": "7d"}})
        recorded = read_design(name).sample_path
        assert recorded is not None
        seen = summarize_sample(design, recorded)
        assert expected == len(check_design(design, seen, select=["ttl-behind-the-front"]).findings)


# Blocks, codecs and caches


@pytest.mark.claims(31)
@pytest.mark.parametrize(("size", "allowed"), [(1_023, False), (1_024, True), (16 * 2**20, True)])
def test_block_sizes_have_the_limits_of_hbase(size: int, *, allowed: bool) -> None:
    """Block sizes have HBase's limits, and large ones under gets are reported."""
    if allowed:
        assert size == change_family(block_size=size).families["d"].block_size
    else:
        with pytest.raises(InvalidDesign, match="block_size"):
            change_family(block_size=size)
    assert [("families.d.block_size", 262_144)] == list_findings(ADVISED, "blocks-unlike-reads")


@pytest.mark.claims(31)
@pytest.mark.parametrize(
    ("size", "read_words", "expected"),
    [
        (262_144, {"where": "user = ?"}, 1),
        (16_384, {"where": "user = ?"}, 0),
        (262_144, {"order": "user", "limit": 100}, 0),
        (16_384, {"order": "user", "limit": 100}, 1),
    ],
)
def test_large_blocks_are_accepted_for_scans_and_reported_for_gets(
    size: int, read_words: dict[str, Any], expected: int
) -> None:
    """Large blocks are accepted for scans, small ones for gets, and reported otherwise."""
    design = change_design(
        "families/better",
        families={"d": {"block_size": size}},
        reads=[{"name": "one", **read_words}],
    )
    assert expected == len(check_design(design, select=["blocks-unlike-reads"]).findings)


@pytest.mark.claims(32)
def test_a_disabled_block_cache_is_reported_for_gets() -> None:
    """A disabled block cache is reported where rows are got one by one."""
    assert change_family().families["d"].block_cache
    assert ["a profile"] == get_finding(ADVISED, "uncached-gets").evidence["reads"]
    assert "families.d.block_cache" == get_finding(ADVISED, "uncached-gets").path


@pytest.mark.claims(32)
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([{"name": "a profile", "where": "user = ?"}], ["families.d.block_cache"]),
        ([{"name": "all", "order": "user", "limit": 1_000}], []),
        ([], []),
    ],
)
def test_a_disabled_block_cache_is_accepted_for_scans(
    options: list[dict[str, Any]], expected: list[str]
) -> None:
    """A disabled cache is accepted for scans, but not options that fill the cache."""
    off = change_design("families/better", families={"d": {"block_cache": False}}, reads=options)
    assert expected == [one.path for one in check_design(off, select=["uncached-gets"]).findings]
    warm = {"d": {"block_cache": False, "prefetch": True}}
    [one] = check_design(
        change_design("families/better", families=warm), select=["idle-cache-words"]
    ).findings
    assert "families.d.prefetch" == one.path


@pytest.mark.claims(33, 34)
def test_lzo_has_a_remark_and_newer_codecs_are_accepted() -> None:
    """No codec is the default, LZO has a remark, and LZ4 and ZSTD are accepted."""
    assert "NONE" == Family("d").compression
    one = get_finding(ADVISED, "dated-codec")
    assert ("LZO", "LZ4") == (one.value, one.evidence["better"])
    assert "ZSTD" in one.verdict
    for codec in ("SNAPPY", "LZ4", "ZSTD"):
        assert () == check_design(change_family(compression=codec), select=["dated-codec"]).findings


@pytest.mark.claims(33)
@pytest.mark.parametrize(("codec", "expected"), [("NONE", ["info"]), ("LZ4", []), ("ZSTD", [])])
def test_a_large_table_without_a_codec_has_a_remark(codec: str, expected: list[str]) -> None:
    """A large table without a codec has a remark, and with one none."""
    design = change_design(
        "regions/better_large", families={"d": {"ttl": "30d", "compression": codec}}
    )
    told = check_design(design, select=["uncompressed-family"]).findings
    assert expected == [one.severity for one in told]
    few = change_design(
        "regions/better_large", families={"d": {"ttl": "10m", "compression": codec}}
    )
    assert () == check_design(few, select=["uncompressed-family"]).findings


@pytest.mark.claims(33)
@pytest.mark.parametrize(("encoding", "expected"), [("NONE", 1), ("FAST_DIFF", 0)])
def test_a_long_key_is_reported_until_blocks_are_encoded(encoding: str, expected: int) -> None:
    """A key that is most of each cell is reported until blocks are encoded."""
    for name, often in (("described_orders/described", expected), ("described_orders/better", 0)):
        design = change_design(name, families={"d": {"encoding": encoding}})
        assert often == len(check_design(design, select=["unencoded-keys"]).findings)


@pytest.mark.claims(35)
def test_in_memory_is_reported_to_be_only_a_cache_priority() -> None:
    """IN_MEMORY has a remark that it is a cache priority, and the better design lacks it."""
    assert "not a table in memory" in get_finding(ADVISED, "in-memory-family").verdict
    assert [] == list_rules("families/better")


@pytest.mark.claims(36)
def test_row_is_the_default_bloom_filter_and_none_is_reported_for_gets() -> None:
    assert "ROW" == Family("d").bloom
    assert [("families.d.bloom", "NONE")] == list_findings(ADVISED, "bloom-unlike-reads")


@pytest.mark.claims(36)
@pytest.mark.parametrize(
    ("bloom", "get", "scan"),
    [
        ("NONE", 1, 0),
        ("ROW", 0, 0),
        ("ROWCOL", 1, 1),
        ("ROWPREFIX_FIXED_LENGTH(5)", 0, 0),
        ("ROWPREFIX_FIXED_LENGTH(6)", 0, 1),
    ],
)
def test_row_bloom_filters_serve_gets_and_prefix_filters_scans(
    bloom: str, get: int, scan: int
) -> None:
    """Row filters serve gets, ROWCOL serves gets of columns, and prefix filters serve scans."""
    families = {"d": {"bloom": bloom}}
    got = change_design("families/better", families=families)
    day = {"name": "a day", "where": "station = ? and ts >= ? and ts < ?", "span": "1d"}
    scanned = change_design("packed/better", families=families, reads=[day])
    ways = [
        len(check_design(one, select=["bloom-unlike-reads"]).findings) for one in (got, scanned)
    ]
    assert [get, scan] == ways
