"""The figures of the rules on families and cells agree with figures counted by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.lint import RULES, LintSubject, apply_fixes, check_design
from rowkey.schema import FieldFacts
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.findings import Finding

MIB = 2**20
METERS = """\
table  = "meters"
key    = "[bucket(meter, 16)][meter]{slice}"
splits = "per_bucket"

[fields]
ts    = {ts}
meter = {{ type = "u32", distinct = 1000 }}
value = "float64"

[families.d]
ttl = "{ttl}"

[writes]
rate = "1000/s"
"""


def find_problems(text: str, code: str) -> list[Finding]:
    """Return the findings of one rule in a design file."""
    return list(check_design(Design.loads(text), select=[code]).findings)


def format_design(slice_: str = "", ts: str = '"timestamp_ms"', ttl: str = "FOREVER") -> str:
    """Return a design file in which a thousand meters send a value a second each."""
    return METERS.format(slice=slice_, ts=ts, ttl=ttl)


def test_four_equal_families_are_flushed_together() -> None:
    """Four equal families are flushed together, as none exceeds a quarter of 128 MB."""
    files, means = RULES["flushed_together"]().estimate_flushes([0.25] * 4, None)  # type: ignore[attr-defined]
    assert pytest.approx(4) == files
    assert pytest.approx([32 * MIB] * 4) == means


def test_a_family_next_to_one_without_data_is_flushed_alone() -> None:
    """A family next to one without data is flushed alone, at 128 MB."""
    files, means = RULES["flushed_together"]().estimate_flushes([1.0, 0.0], None)  # type: ignore[attr-defined]
    assert pytest.approx(1) == files
    assert pytest.approx([128 * MIB, 0.0]) == means


def test_families_with_little_data_are_flushed_every_hour() -> None:
    """Families of 1 KiB/s are flushed every hour, which leaves two files instead of one."""
    rule = RULES["flushed_together"]()
    one, _ = rule.estimate_flushes([1.0], 1024.0)  # type: ignore[attr-defined]
    two, means = rule.estimate_flushes([0.75, 0.25], 1024.0)  # type: ignore[attr-defined]
    assert pytest.approx(2 * one) == two
    assert pytest.approx([2700 * 1024, 900 * 1024]) == means


def test_flushes_are_not_reported_if_their_bytes_are_only_a_guess() -> None:
    """No flush is reported where the estimate depends on a text of undeclared length."""
    bad = RULES["flushed_together"].bad_design
    assert find_problems(bad, "RK304")
    assert not find_problems(
        bad.replace('state = { type = "u8"', 'state = { type = "text"'), "RK304"
    )


@pytest.mark.parametrize(("count", "severity"), [(2, []), (3, ["warning"]), (11, ["error"])])
def test_more_than_two_families_are_reported(count: int, severity: list[str]) -> None:
    """Two families pass, three are reported, and eleven exceed the book's ten."""
    fields = "".join(f'f{n} = {{ type = "u8", family = "{chr(97 + n)}" }}\n' for n in range(count))
    text = f'table = "t"\nkey = "[id]"\n\n[fields]\nid = "u64"\n{fields}'
    declared = "".join(f"[families.{chr(97 + n)}]\n" for n in range(count))
    assert severity == [one.severity for one in find_problems(text, "RK301")]
    assert severity == [one.severity for one in find_problems(text + declared, "RK301")]
    assert all(one.line == 8 for one in find_problems(text, "RK3") if one.code == "RK301")


def test_families_with_the_same_fault_are_one_finding() -> None:
    """It leaves out what a comment allows; its remedy and its fix are for all of them."""
    names = ["name", "call", "note", "town"]
    fields = "".join(
        f'f{name} = {{ type = "text", family = "{name}", mean_bytes = 20 }}\n' for name in names
    )
    families = "".join(
        ("# rowkey: allow uncompressed-family - read all day\n" if name == "call" else "")
        + f"[families.{name}]\n"
        for name in names
    )
    design = Design.loads(
        f'table = "t"\nkey = "[id]"\n[fields]\nid = {{ type = "uuid", distinct = 90000000 }}\n'
        f'{fields}{families}[writes]\narrival = "random"\nrate = "1500/s"\n'
    )
    judged = JudgedDesign(design, names_keys=True)
    found = {one.code: one for one in judged.lint_result.findings}
    assert len(found) == len(judged.lint_result.findings)
    assert "family names name, call, note and town are stored" in found["RK302"].message
    assert "families name, note and town are not compressed" in found["RK409"].message
    assert [["call"]] == [[one.evidence["family"]] for one in judged.lint_result.allowed_findings]
    assert found["RK409"].remedy.startswith("Set compression = ")
    fixed = apply_fixes(design, select=["RK409"]).design.families
    assert ["ZSTD", "NONE", "ZSTD", "ZSTD"] == [fixed[name].compression for name in names]


@pytest.mark.parametrize(
    ("name", "severity"), [("d", []), ("cf", ["info"]), ("datafamily", ["warning"])]
)
def test_the_length_of_a_family_name_is_counted_in_bytes(name: str, severity: list[str]) -> None:
    """A name of one letter passes, a longer one is reported, and 8 bytes are a warning."""
    text = f'table = "t"\nkey = "[id]"\n\n[fields]\nid = "u64"\nn = "u8"\n\n[families.{name}]\n'
    assert severity == [one.severity for one in find_problems(text, "RK302")]


@pytest.mark.parametrize(
    ("length", "severity"),
    [("1s", ["info"]), ("1h", []), ("2h", ["info"]), ("20d", ["warning"])],
)
def test_the_events_in_a_row_of_a_time_slice_are_counted(length: str, severity: list[str]) -> None:
    """Time slices of one event a second have 1, 3,600, 7,200 and 1,728,000 events in a row."""
    text = format_design(f"[time_slice(ts, {length})]")
    assert severity == [one.severity for one in find_problems(text, "RK505")]


@pytest.mark.parametrize("length", ["2h", "20d", "400d"])
def test_the_shorter_time_slice_that_is_proposed_is_short_enough(length: str) -> None:
    """The slice that the remedy names needs no other, and still holds more than one event."""
    (found,) = find_problems(format_design(f"[time_slice(ts, {length})]"), "RK505")
    proposed = found.remedy.removeprefix("Shorten the time slice in the key to ").rstrip(".")
    assert "1h" == proposed
    assert [] == find_problems(format_design(f"[time_slice(ts, {proposed})]"), "RK505")


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("key", ["[meter]", "[meter][measured]"])
def test_one_version_is_enough_where_each_event_is_a_row(key: str, *, unique: bool) -> None:
    """The time of a cell is no history where the key holds another time, or a unique value."""
    design = Design(
        "t",
        key,
        fields={
            "meter": {"type": "u32", "unique": unique},
            "measured": "timestamp_ms",
            "sent": {"type": "timestamp_ms", "at": "timestamp"},
            "value": "u8",
        },
        writes={"time": "sent"},
    )
    expected = [] if unique or "measured" in key else ["RK402"]
    found = check_design(design, select=["RK402"]).findings
    assert expected == [one.code for one in found]


@pytest.mark.parametrize(
    ("meters", "declared", "findings"),
    [
        ("mean_bytes = 4", "", 1),
        ("distinct = 1000", "", 0),
        ("mean_bytes = 4", "[sample]\nof = 'meter'\nshare = '1%'\n", 0),
        ("mean_bytes = 4", "[sample]\nof = 'events'\nshare = '1%'\n", 1),
    ],
)
def test_the_events_of_a_time_slice_are_divided_by_all_declared_meters(
    tmp_path: Path, meters: str, declared: str, findings: int
) -> None:
    """Ten meters of a sample share the rate if they are all; else those that are declared do."""
    text = format_design("[time_slice(ts, 1h)]").replace("distinct = 1000", meters)
    events = [f"{n % 10},{1_700_000_000_000 + n},0" for n in range(2_000)]
    assert findings == len(find_sampled(tmp_path, text + declared, events, "RK505"))


def test_a_row_with_a_short_ttl_stays_small() -> None:
    """With a cell a second, a ttl of ten days keeps rows small, and one of twelve does not."""
    at = '{ type = "timestamp_ms", at = "qualifier" }'
    assert [] == find_problems(format_design(ts=at, ttl="10d"), "RK506")
    (late,) = find_problems(format_design(ts=at, ttl="12d"), "RK506")
    (never,) = find_problems(format_design(ts=at), "RK506")
    assert ("warning", "warning") == (late.severity, never.severity)
    assert "11.6 days" in never.message


@pytest.mark.parametrize("rate", ["1/s", "30/s", "1000/s", "9000/s", "800000/s"])
def test_the_time_slice_proposed_for_an_endless_row_is_short_enough(rate: str) -> None:
    """The time slice that is proposed for a row without an end is none to be shortened."""
    at = '{ type = "timestamp_ms", at = "qualifier" }'
    (found,) = find_problems(format_design(ts=at).replace("1000/s", rate), "RK506")
    slice_ = found.remedy[4 : found.remedy.index("]") + 1]
    text = format_design(slice_).replace("1000/s", rate)
    assert all("Shorten" not in one.remedy for one in find_problems(text, "RK505")), slice_


def find_sampled(tmp_path: Path, text: str, events: Iterable[str], code: str) -> list[Finding]:
    """Return the findings of one rule in a design file with a sample of meters."""
    path = tmp_path / "events.csv"
    path.write_text("\n".join(["meter,ts,value", *events]))
    design = Design.loads(text)
    return list(check_design(design, summarize_sample(design, path), select=[code]).findings)


@pytest.mark.parametrize("codec", ["NONE", "ZSTD"])
def test_regions_are_counted_once_the_family_is_compressed(tmp_path: Path, codec: str) -> None:
    """The size of a table measured without a codec is none to count regions by."""
    text = format_design("[ts]", ttl="90d").replace("1000/s", "9000/s")
    design = Design.loads(text.replace("[writes]", f'compression = "{codec}"\n[writes]'))
    path = tmp_path / "events.csv"
    events = [f"{n % 1000},{1_700_000_000_000 + n},{n % 7}" for n in range(2_000)]
    path.write_text("\n".join(["meter,ts,value", *events]))
    result = check_design(design, summarize_sample(design, path), select=["RK409", "RK802"])
    found = {one.code: one for one in result.findings}
    assert ("RK409" in found) == (codec == "NONE")
    assert ("before compression" in found["RK802"].message) == (codec == "NONE")
    assert found["RK802"].remedy.startswith("Do what RK409 says first") == (codec == "NONE")


def test_the_proposed_time_slice_fits_the_busiest_meter(tmp_path: Path) -> None:
    """A meter with half of a thousand events a second needs a slice of less than an hour."""
    text = format_design(ts='{ type = "timestamp_s", at = "qualifier" }')
    events = [f"{0 if n % 2 else n},{1_700_000_000 + n},0" for n in range(2_000)]
    (found,) = find_sampled(tmp_path, text, events, "RK506")
    assert "the fullest of the sample after 0.56 hours" in found.message
    assert "[time_slice(ts, 10m)]" in found.remedy


@pytest.mark.parametrize(
    ("length", "growth"), [("1h", ""), ("1d", "gets 2 GiB in 24 h"), ("30d", "62 GiB in 30 days")]
)
def test_the_busiest_row_of_a_time_slice_grows_for_the_time_of_the_slice(
    tmp_path: Path, length: str, growth: str
) -> None:
    """The busy row of a slice gets 500 cells of 52 bytes a second, for the time of the slice."""
    text = format_design(f"[time_slice(ts, {length})]", '"timestamp_s"')
    events = [f"{0 if n % 2 else n},{1_700_000_000 + n % 100},{n}" for n in range(2_000)]
    (found,) = find_sampled(tmp_path, text, events, "RK507")
    assert ("error" if growth else RULES["uneven_rows"].severity) == found.severity
    assert growth in found.message
    assert "Shorten the time step in the key" in found.remedy


def test_a_row_with_a_time_in_its_key_does_not_grow_without_end() -> None:
    """A time in the key ends the row, whichever fields are in the qualifier."""
    text = format_design("[time_slice(ts, 1h)]").replace(
        '"float64"', '{ type = "float64", at = "qualifier" }'
    )
    assert [] == find_problems(text, "RK506")


@pytest.mark.parametrize(
    ("followers", "ttl", "expected"),
    [(400_000_000, "FOREVER", ["error"]), (2_000_000, "FOREVER", ["warning"]), (900_000, "", []),
     (400_000_000, "1m", []), (None, "FOREVER", [])],
)  # fmt: skip
def test_a_row_of_all_values_of_a_field_is_too_long(
    followers: int | None, ttl: str, expected: list[str]
) -> None:
    """The fullest row holds each follower once, as many as come in the time to live or a year."""
    follower = {"type": "u64", "at": "qualifier"} | ({"distinct": followers} if followers else {})
    design = Design(
        "follows",
        "[user]",
        fields={
            "user": {"type": "u64", "distinct": 1_000, "draw": {"kind": "zipf", "theta": 1.2}},
            "follower": follower,
            "since": "u32",
        },
        families={"d": {"ttl": ttl} if ttl else {}},
        writes={"rate": "2500/s"},
    )
    assert expected == [one.severity for one in check_design(design, select=["RK506"]).findings]


def test_sampled_events_that_share_a_cell_are_counted(tmp_path: Path) -> None:
    """Two of three sampled events that share a cell are counted."""
    design = Design.loads(format_design("[time_slice(ts, 1h)]", '"timestamp_s"'))
    path = tmp_path / "rows.csv"
    path.write_text("ts,meter,value\n1760000000,1,1.5\n1760000000,1,2.5\n1760000001,1,3.5\n")
    (one,) = check_design(design, summarize_sample(design, path), select=["RK508"]).findings
    assert ("warning", 1, 3) == (one.severity, one.evidence["repeats"], one.evidence["events"])


def test_a_sampled_value_above_the_cell_limit_is_an_error() -> None:
    """A value that may be too large is a warning, and a sampled one is an error."""
    design = Design.loads('table = "t"\nkey = "[id]"\n\n[fields]\nid = "u64"\nv = "text"\n')
    assert () == check_design(design, select=["RK509"]).findings
    seen = {"v": FieldFacts(max_bytes=11_000_000)}
    (one,) = check_design(design, facts=seen, select=["RK509"]).findings
    assert ("error", "fields.v", 11_000_000) == (one.severity, one.path, one.value)


def test_a_large_column_in_a_family_of_its_own_is_accepted() -> None:
    """A large column in a family of its own is accepted, since it keeps the other fast."""
    bad = RULES["equal_families"].bad_design
    assert find_problems(bad, "RK305")
    assert [] == find_problems(
        bad.replace("40, family", "4000, mean_bytes = 2000, family", 1), "RK305"
    )


def test_packing_is_not_proposed_for_a_column_that_reads_filter_by() -> None:
    """Packing is not proposed where a read filters by a column, or versions are kept."""
    bad = RULES["unpacked_columns"].bad_design
    read = '\n[[reads]]\nname = "fast"\nwhere = "car = ? and speed > 130"\n'
    assert find_problems(bad, "RK502")
    assert [] == find_problems(bad + read, "RK502")
    assert [] == find_problems(bad + "\n[families.d]\nversions = 3\n", "RK502")


@pytest.mark.parametrize(
    ("ttl", "message"),
    [
        (86_400_000, "86400000 seconds are 1,000 days; 86400000 milliseconds would be 1 day"),
        (3_600_000, "3600000 seconds are 41.7 days; 3600000 milliseconds would be 1 hour"),
        (1_800_000, "1800000 seconds are 20.8 days; 1800000 milliseconds would be 30 minutes"),
        (172_800_000, "172800000 seconds are 2,000 days; 172800000 milliseconds would be 2 days"),
        (604_800_000, "604800000 seconds are 19 years; 604800000 milliseconds would be 7 days"),
        (
            2_000_000_000,
            "2000000000 seconds are 63 years; 2000000000 milliseconds would be 23.1 days",
        ),
        (86_400, ""),
        (604_800, ""),
        (2_592_000, ""),
        (31_536_000, ""),
        (63_072_000, ""),
        (94_608_000, ""),
        (157_680_000, ""),
        (1_000_000, ""),
        (300_000, "300000 seconds are 3.47 days; 300000 milliseconds would be 5 minutes"),
        (600_000, "600000 seconds are 6.94 days; 600000 milliseconds would be 10 minutes"),
        (500_000, ""),
        ('"1000d"', ""),
        ('"604800000s"', "604800000 seconds are 19 years; 604800000 milliseconds would be 7 days"),
        ('"31536000s"', ""),
    ],
)
def test_a_ttl_given_in_milliseconds_is_reported(ttl: int | str, message: str) -> None:
    """A ttl that is a usual span in milliseconds is reported; seconds and units are not."""
    told = find_problems(format_design().replace('"FOREVER"', str(ttl)), "RK403")
    assert [message] * bool(message) == [one.message for one in told]


WIDE = """
table = "feed"
key   = "[bucket(user, 16)][user]"

[fields]
user = "u64"
item = { type = "u64", at = "qualifier" }
seen = "timestamp_ms"

[families.d]
bloom = "BLOOM"
"""
NARROW = WIDE.replace(', at = "qualifier"', "")


@pytest.mark.parametrize(
    ("text", "bloom", "where", "expected"),
    [
        # Whether a client names the one column that it wants, a file does not say.
        (NARROW, "ROWCOL", ["user = ?"], ["info ROW"]),
        (NARROW, "ROW", ["user = ?"], []),
        (NARROW, "NONE", ["user = ?"], ["warning ROW"]),
        (NARROW, "ROWCOL", [], []),
        (NARROW.replace('seen = "timestamp_ms"', ""), "ROWCOL", ["user = ?"], []),
        (WIDE, "ROWCOL", ["user = ?"], ["warning ROW"]),
        (WIDE, "ROWCOL", ["user = ? and item = ?"], []),
        (WIDE, "ROWCOL", ["user = ? and item = ?", "user = ?"], []),
        (WIDE, "ROWCOL", ["user = ? and item > ?"], ["warning ROW"]),
        (WIDE, "ROW", ["user = ? and item = ?"], ["info ROWCOL"]),
        (WIDE, "ROW", ["user = ? and item = ?", "user = ?"], []),
        (WIDE, "NONE", ["user = ? and item = ?"], ["warning ROWCOL"]),
        (f'{WIDE}\n[fields.more]\ntype = "u8"', "ROWCOL", ["user = ? and item = ?"],
         ["info ROW"]),
    ],
)  # fmt: skip
def test_a_row_column_bloom_filter_is_accepted_for_reads_of_one_column(
    text: str, bloom: str, where: list[str], expected: list[str]
) -> None:
    """A row-column filter is accepted where reads name exactly one column of a wide row."""
    reads = "".join(f"\n[[reads]]\nname = 'r{n}'\nwhere = '{w}'\n" for n, w in enumerate(where))
    design = Design.loads(text.replace("BLOOM", bloom) + reads)
    told = check_design(design, select=["RK411"]).findings
    assert expected == [f"{one.severity} {one.evidence['better']}" for one in told]
    assert all(one.severity == "warning" or "if your client" in one.remedy for one in told)
    changed = [RULES["bloom_unlike_reads"]().build_fix(LintSubject(design), one) for one in told]
    is_sure = [severity == "warning ROW" for severity in expected]
    assert is_sure == [bool(words) for words in changed]


@pytest.mark.parametrize(
    ("key", "where", "better"),
    [
        ("[player][desc(ts)][match]", "player = ?", "ROWPREFIX_FIXED_LENGTH(16)"),
        ("[bucket(player, 16)][player][ts]", "player = ?", "ROWPREFIX_FIXED_LENGTH(17)"),
        ("[bucket(team, 16)][team][player][ts]", "team = ?", "ROW"),
        ("['m'][ts]", "ts >= ? and ts < ?", "ROW"),
        ("[player]", "player = ?", "ROW"),
    ],
)
def test_a_prefix_bloom_filter_is_shortened_to_what_scans_fix(
    key: str, where: str, better: str
) -> None:
    """A prefix that few rows tell apart, and one that gets fix, give way to a filter of rows."""
    text = f"""
        table = "t"
        key = "{key}"
        [fields]
        player = "uuid"
        team = {{ type = "text", max_bytes = 20 }}
        ts = "timestamp_ms"
        match = "u64"
        [families.d]
        bloom = "ROWPREFIX_FIXED_LENGTH(24)"
        [[reads]]
        name = "it"
        where = "{where}"
        span = "1h"
    """
    design = Design.loads(text if "ts " in where else text.replace('span = "1h"', ""))
    (found,) = check_design(design, select=["RK411"]).findings
    assert f'Set bloom = "{better}".' == found.remedy
    fixed = apply_fixes(design, select=["RK411"])
    assert better == fixed.design.families["d"].bloom
