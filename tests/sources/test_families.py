"""Families and their attributes, as two documents have them and as HBase 2.6 does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rowkey.cells import FOREVER_S, Cell, Family, select_kept_cells
from rowkey.errors import InvalidDesign
from rowkey.lint import check_design, summarize_sample
from sources.judged import NAMES, changed, findings, found, read, rules, simulated

if TYPE_CHECKING:
    from rowkey.design import Design

THREE, ADVISED = "families/three", "families/advised"


def told(name: str, rule: str) -> list[Any]:
    """What one rule finds in a design, as path and value."""
    return [(one.path, one.value) for one in findings(name).findings if one.name == rule]


def with_family(**words: Any) -> Design:
    """The better design with other words of its family."""
    return changed("families/better", families={"d": words})


# How many, and what they are called


@pytest.mark.claims(16)
@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, []), (2, []), (3, ["warning"]), (10, ["warning"]), (11, ["error"])],
)
def test_more_than_two_families_are_a_warning(count: int, expected: list[str]) -> None:
    """One to three, the book says, and ten at the very most: from the third on it is told."""
    names = list("abcefghijkl")[:count]
    fields = {
        field: {"type": "text", "max_bytes": 40, "family": names[n % count]}
        for n, field in enumerate(("name", "town", *(f"more{n}" for n in range(9))))
    }
    design = changed("families/better", families={n: {} for n in names}, fields=fields)
    if count == 1:
        design = changed("families/better", families={"d": {}})
    assert expected == [
        one.severity for one in check_design(design, select=["many-families"]).findings
    ]


@pytest.mark.claims(16)
def test_one_family_is_what_every_better_design_has() -> None:
    """And the one with three is told so, at the third; what is simulated stores three cells."""
    one = found(THREE, "many-families")
    assert ("families.statistics", 3, "warning") == (one.path, one.value, one.severity)
    assert 3 == len({cell.family for cell in simulated(THREE).design.layout.estimate_cells()})
    for name in NAMES:
        if "/better" in name:
            assert 1 == len(read(name).families)


@pytest.mark.claims(17)
def test_small_families_leave_a_file_each() -> None:
    """In an hour none of the three reaches 16 MB, so each is flushed by its age: three for one."""
    one = found(THREE, "flushed-together")
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
def test_families_that_are_read_together_gain_nothing() -> None:
    """They differ in nothing, and a read that tests two of them looks into two stores."""
    families = ["information", "address", "statistics"]
    assert families == found(THREE, "equal-families").evidence["families"]
    across = found(THREE, "read-across-families").evidence
    assert (["town", "visits"], ["address", "statistics"]) == (across["fields"], across["families"])
    alone = changed(THREE, reads=[{"name": "visits", "where": "user = ? and visits > ?"}])
    assert () == check_design(alone, select=["read-across-families"]).findings


@pytest.mark.claims(19)
def test_a_family_that_few_rows_have_is_told(tmp_path: Any) -> None:
    """A hundred to one, counted in a sample; half of the rows are no matter."""
    design = changed(
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
def test_the_name_of_a_family_stands_in_every_cell() -> None:
    """Its bytes above one letter, more loudly from eight on; 127 are the most."""
    assert {
        "families.information": (11, "warning"),
        "families.address": (7, "info"),
        "families.statistics": (10, "warning"),
    } == {
        one.path: (one.evidence["bytes"], one.severity)
        for one in findings(THREE).findings
        if one.name == "long-family-name"
    }
    for length in (127, 128):
        name = "f" * length
        words = {"type": "u32", "family": name}
        if length == 127:
            assert name in changed("families/better", families={name: {}, "d": {}},
                                   fields={"visits": words}).families  # fmt: skip
        else:
            with pytest.raises(InvalidDesign, match="127"):
                changed("families/better", families={name: {}, "d": {}}, fields={"visits": words})


@pytest.mark.claims(24)
def test_one_row_key_has_cells_in_every_family() -> None:
    """An event of three families is three cells under one key, written as one mutation."""
    row = {"user": 7, "name": "anna", "town": "Ulm", "visits": 3}
    design = read(THREE)
    key, cells = design.layout.encode_event(row)
    assert design.key.encode(row) == key
    assert {"information", "address", "statistics"} == {cell.family for cell in cells}
    assert row == design.layout.decode_events(key, cells)[0]


# Versions and times to live


@pytest.mark.claims(25)
def test_a_hundred_versions_are_a_warning() -> None:
    """From a hundred on."""
    assert [("families.d.versions", 100)] == told(ADVISED, "many-versions")
    assert () == check_design(with_family(versions=99), select=["many-versions"]).findings


@pytest.mark.claims(26)
def test_one_version_is_the_default() -> None:
    """Not three: HBASE-10941, since 0.96."""
    assert (1, 1) == (Family("d").versions, with_family().families["d"].versions)


@pytest.mark.claims(27)
@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ({"min_versions": 1, "versions": 2}, False),
        ({"min_versions": 3, "versions": 2, "ttl": "1d"}, False),
        ({"min_versions": 1, "versions": 2, "ttl": "1d"}, True),
    ],
)
def test_minimum_versions_need_a_time_to_live(words: dict[str, Any], *, allowed: bool) -> None:
    """And are not above the versions kept."""
    if allowed:
        assert 1 == with_family(**words).families["d"].min_versions
    else:
        with pytest.raises(InvalidDesign, match="min_versions"):
            with_family(**words)


@pytest.mark.claims(28, 30)
def test_a_time_to_live_is_in_seconds() -> None:
    """A week in milliseconds is nineteen years; for ever is the greatest int."""
    assert [("families.d.ttl", 604_800_000)] == told(ADVISED, "ttl-in-milliseconds")
    assert 604_800_000 == 7 * 86_400 * 1_000 == read(ADVISED).families["d"].ttl_s
    assert 86_400 == with_family(ttl="1d").families["d"].ttl_s
    assert (2**31 - 1, 2**31 - 1) == (FOREVER_S, with_family().families["d"].ttl_s)
    for wrong in (0, 2**31):
        with pytest.raises(InvalidDesign, match="ttl"):
            with_family(ttl=wrong)


@pytest.mark.claims(30)
def test_a_cells_own_time_to_live_does_not_outlast_its_familys() -> None:
    """In milliseconds, and the shorter of both ends it."""
    family = Family("d", ttl_s=10)
    for ttl_ms, now_ms, left in ((60_000, 9_999, 1), (60_000, 10_001, 0), (5_000, 5_001, 0)):
        cell = Cell("d", b"q", 0, b"v", ttl_ms=ttl_ms)
        assert left == len(select_kept_cells([cell], family, now_ms))


@pytest.mark.claims(27, 29)
def test_minimum_versions_keep_what_is_expired() -> None:
    """Without them nothing of an expired row is left; with one, its last version is."""
    assert [("families.d.min_versions", 1)] == told(ADVISED, "min-versions-keep-files")
    cells = [Cell("d", b"q", ts, b"v") for ts in (2_000, 1_000)]
    assert [] == select_kept_cells(cells, Family("d", versions=2, ttl_s=1), 60_000)
    kept = select_kept_cells(cells, Family("d", versions=2, ttl_s=1, min_versions=1), 60_000)
    assert [2_000] == [cell.timestamp for cell in kept]


@pytest.mark.claims(29)
def test_files_of_expired_cells_are_dropped_unless_versions_are_kept() -> None:
    """Told where both words stand, and how: a warning where each event is a row of its own."""
    one = found(ADVISED, "min-versions-keep-files")
    assert "HBase cannot drop expired files whole" in one.message
    assert ("info", "Leave min_versions out") == (one.severity, one.remedy[:22])
    for words, expected in (
        ({"ttl": "7d", "versions": 2}, []),
        ({"ttl": "7d", "versions": 2, "min_versions": 1}, ["info"]),
    ):
        told = check_design(with_family(**words), select=["min-versions-keep-files"]).findings
        assert expected == [each.severity for each in told]
    history = changed(
        "slices/rows", families={"d": {"ttl": "1d", "versions": 2, "min_versions": 1}}
    )
    [one] = check_design(history, select=["min-versions-keep-files"]).findings
    assert ("warning", True) == (one.severity, "no event is ever deleted" in one.message)


@pytest.mark.claims(29)
def test_a_region_whose_files_are_dropped_stays() -> None:
    """Under a key of times what expires leaves regions empty; behind a bucket new rows come."""
    for name, expected in (("logs/time_first", 1), ("logs/better_by_time", 0)):
        design = changed(name, families={"d": {"ttl": "7d"}})
        recorded = read(name).sample_path
        assert recorded is not None
        seen = summarize_sample(design, recorded)
        assert expected == len(check_design(design, seen, select=["ttl-behind-the-front"]).findings)


# Blocks, codecs and caches


@pytest.mark.claims(31)
@pytest.mark.parametrize(("size", "allowed"), [(1_023, False), (1_024, True), (16 * 2**20, True)])
def test_blocks_have_a_kilobyte_to_sixteen_megabytes(size: int, *, allowed: bool) -> None:
    """Legal sizes are those of HBase; large ones under gets are told."""
    if allowed:
        assert size == with_family(block_size=size).families["d"].block_size
    else:
        with pytest.raises(InvalidDesign, match="block_size"):
            with_family(block_size=size)
    assert [("families.d.block_size", 262_144)] == told(ADVISED, "blocks-unlike-reads")


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
def test_larger_blocks_are_for_scans(size: int, read_words: dict[str, Any], expected: int) -> None:
    """And smaller ones for gets; the other way round each is told."""
    design = changed(
        "families/better",
        families={"d": {"block_size": size}},
        reads=[{"name": "one", **read_words}],
    )
    assert expected == len(check_design(design, select=["blocks-unlike-reads"]).findings)


@pytest.mark.claims(32)
def test_the_cache_is_on_by_default_and_missed_by_gets() -> None:
    """Off, it is told where rows are got one by one."""
    assert with_family().families["d"].block_cache
    assert ["a profile"] == found(ADVISED, "uncached-gets").evidence["reads"]
    assert "families.d.block_cache" == found(ADVISED, "uncached-gets").path


@pytest.mark.claims(32)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([{"name": "a profile", "where": "user = ?"}], ["families.d.block_cache"]),
        ([{"name": "all", "order": "user", "limit": 1_000}], []),
        ([], []),
    ],
)
def test_the_cache_may_be_off_for_what_is_rarely_read(
    words: list[dict[str, Any]], expected: list[str]
) -> None:
    """For scans, or where nothing is read, nobody minds; what fills a cache that is off is told."""
    off = changed("families/better", families={"d": {"block_cache": False}}, reads=words)
    assert expected == [one.path for one in check_design(off, select=["uncached-gets"]).findings]
    warm = {"d": {"block_cache": False, "prefetch": True}}
    [one] = check_design(
        changed("families/better", families=warm), select=["idle-cache-words"]
    ).findings
    assert "families.d.prefetch" == one.path


@pytest.mark.claims(33, 34)
def test_codecs_newer_than_snappy_are_named() -> None:
    """None is the default; LZO is told to be overtaken, and LZ4 and ZSTD are taken."""
    assert "NONE" == Family("d").compression
    one = found(ADVISED, "dated-codec")
    assert ("LZO", "LZ4") == (one.value, one.evidence["better"])
    assert "ZSTD" in one.verdict
    for codec in ("SNAPPY", "LZ4", "ZSTD"):
        assert () == check_design(with_family(compression=codec), select=["dated-codec"]).findings


@pytest.mark.claims(33)
@pytest.mark.parametrize(("codec", "expected"), [("NONE", ["info"]), ("LZ4", []), ("ZSTD", [])])
def test_much_data_without_a_codec_is_told(codec: str, expected: list[str]) -> None:
    """A remark, for the processor pays: the large table of the sources, with and without."""
    design = changed("regions/better_large", families={"d": {"ttl": "30d", "compression": codec}})
    told = check_design(design, select=["uncompressed-family"]).findings
    assert expected == [one.severity for one in told]
    few = changed("regions/better_large", families={"d": {"ttl": "10m", "compression": codec}})
    assert () == check_design(few, select=["uncompressed-family"]).findings


@pytest.mark.claims(33)
@pytest.mark.parametrize(("encoding", "expected"), [("NONE", 1), ("FAST_DIFF", 0)])
def test_long_keys_want_an_encoding(encoding: str, expected: int) -> None:
    """A key that is most of each cell is told until blocks are encoded; a short one is not."""
    for name, often in (("described_orders/described", expected), ("described_orders/better", 0)):
        design = changed(name, families={"d": {"encoding": encoding}})
        assert often == len(check_design(design, select=["unencoded-keys"]).findings)


@pytest.mark.claims(35)
def test_in_memory_is_a_rank_in_the_cache() -> None:
    """The word is told for what it is, and the better design does without."""
    assert "not a table in memory" in found(ADVISED, "in-memory-family").verdict
    assert [] == rules("families/better")


@pytest.mark.claims(36)
def test_row_is_the_default_filter_and_gets_want_one() -> None:
    """Off, it is told of gets."""
    assert "ROW" == Family("d").bloom
    assert [("families.d.bloom", "NONE")] == told(ADVISED, "bloom-unlike-reads")


@pytest.mark.claims(36)
@pytest.mark.parametrize(
    ("bloom", "get", "scan"),
    [
        ("NONE", 1, 0),
        ("ROW", 0, 0),
        ("ROWCOL", 1, 0),
        ("ROWPREFIX_FIXED_LENGTH(5)", 0, 0),
        ("ROWPREFIX_FIXED_LENGTH(6)", 0, 1),
    ],
)
def test_a_filter_by_row_helps_gets_and_one_by_prefix_ranges(
    bloom: str, get: int, scan: int
) -> None:
    """Gets miss none, and one of columns if they name none; scans pin a bucket and a station."""
    families = {"d": {"bloom": bloom}}
    got = changed("families/better", families=families)
    day = {"name": "a day", "where": "station = ? and ts >= ? and ts < ?", "span": "1d"}
    scanned = changed("packed/better", families=families, reads=[day])
    ways = [
        len(check_design(one, select=["bloom-unlike-reads"]).findings) for one in (got, scanned)
    ]
    assert [get, scan] == ways
