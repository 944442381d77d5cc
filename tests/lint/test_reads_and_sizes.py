"""Limits and severities of the rules on reads, writes and sizes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from rowkey.advise import JudgedDesign
from rowkey.design import Design
from rowkey.findings import Finding
from rowkey.lint import LintSubject, check_design
from samples import summarize_sample

LOGS = """\
table  = "logs"
key    = "{key}"
splits = {splits}

[fields]
ts    = "timestamp_ms"
host  = {{ type = "text", max_bytes = 16 }}
level = {{ type = "u8", distinct = 5 }}
line  = {{ type = "text", max_bytes = 500, mean_bytes = 200 }}

{more}
"""
HOST_FIRST = "[bucket(host, 16)][host][ts]"
TIME_FIRST = "[bucket(host, 16)][ts][host]"
READ = '[[reads]]\nname = "r"\n'


def find_problems(
    code: str, more: str, key: str = HOST_FIRST, splits: str = '"per_bucket"'
) -> list[Finding]:
    """Return the findings of one rule in a table of logs."""
    text = LOGS.format(key=key, splits=splits, more=more)
    return list(check_design(Design.loads(text, source="design.toml"), select=[code]).findings)


def list_severities(code: str, more: str, key: str = HOST_FIRST) -> list[str]:
    """Return the severities of one rule's findings."""
    return [one.severity for one in find_problems(code, more, key)]


# Reads


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("where = 'ts < ?'", ["error"]),
        ("where = 'ts < ?'\nlimit = 5", ["error"]),
        ("", ["info"]),
        ("limit = 5", []),
        ("where = 'host = ?'", []),
        ("where = 'ts < ?'\nrate = '100/s'", ["error"]),
        ("where = 'ts < ?'\nrate = '2/m'", ["warning"]),
        ("where = 'ts < ?'\nrate = '1/d'", ["info"]),
        ("where = 'ts < ?'\nlimit = 5\nrate = '1/d'", ["warning"]),
    ],
)
def test_the_severity_of_a_full_scan_follows_its_rate(options: str, expected: list[str]) -> None:
    """A scan is as severe as its rate; one of the first few rows is no full scan."""
    assert expected == list_severities("RK601", READ + options)


def test_a_read_that_a_companion_serves_is_judged_by_the_key_of_the_companion(
    tmp_path: Path,
) -> None:
    """No rule judges a read by the key of a table that does not serve it; one says which does."""
    table = """
table  = "{}"
key    = "{}"
splits = "per_bucket"

[fields]
user   = "u64"
number = "u64"
price  = "u32"

[writes]
rate = "80/s"
"""
    other = table.format("by_number", "[bucket(number, 16)][number][user]")
    (tmp_path / "by_number.toml").write_text(other)
    main = table.format("tickets", "[bucket(user, 16)][user][number]")
    path = tmp_path / "tickets.toml"
    path.write_text(
        main.replace("[fields]", 'companions = { by_number = "by_number.toml" }\n\n[fields]')
        + READ
        + 'where = "number = ?"\nrate = "400/s"\n'
        + "[[reads]]\nname = 's'\nwhere = 'price = ?'\nrate = '400/s'\n"
    )
    found = check_design(Design.read(path), select=["RK6"]).findings
    assert [("RK601", "info", "reads[0].where"), ("RK601", "error", "reads[1].where")] == [
        (one.code, one.severity, one.path) for one in found
    ]
    assert found[0].remedy == "Declare it in the design of by_number, by whose key it is judged."
    (tmp_path / "by_number.toml").write_text(f'{other}{READ}where = "number = ?"\n')
    found = check_design(Design.read(path), select=["RK6"]).findings
    assert ["reads[1].where"] == [one.path for one in found]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("where = 'host = ?'\norder = 'level'\nlimit = 5", ["warning"]),
        ("where = 'host = ?'\norder = 'level'", ["info"]),
        ("where = 'host = ?'\norder = 'ts desc'\nlimit = 5", []),
        ("where = 'host = ? and ts = ?'\norder = 'level'", []),
        ("where = 'ts < ?'\norder = 'ts'", []),
    ],
)
def test_a_sort_is_reported_only_where_the_limit_spares_no_rows(
    options: str, expected: list[str]
) -> None:
    """A sort of one row is accepted, and a sort of a full scan is left to another rule."""
    assert expected == list_severities("RK602", READ + options)


def test_a_backward_read_is_reported_only_if_no_read_goes_forward() -> None:
    """A backward read is reported only if no other read needs the forward order."""
    backwards = READ + "where = 'host = ?'\norder = 'ts desc'\nlimit = 5\n"
    forwards = backwards.replace('"r"', '"f"').replace(" desc", "")
    assert ["info"] == list_severities("RK603", backwards)
    assert [] == list_severities("RK603", backwards + forwards)
    assert [] == list_severities("RK603", backwards.replace("limit = 5", ""))


@pytest.mark.parametrize(("levels", "expected"), [(2, 0), (3, 1)])
def test_fan_out_is_measured_against_the_number_of_servers(levels: int, expected: int) -> None:
    """32 ranges on 8 servers are accepted, and 48 are reported."""
    listed = ", ".join(map(str, range(levels)))
    more = READ + f"where = 'level in ({listed}) and ts < ?'"
    assert expected == len(find_problems("RK604", more, "[bucket(host, 16)][level][ts][host]"))


def test_a_filter_on_a_field_of_few_values_after_a_range_is_only_a_remark() -> None:
    """A filter on a field with five values after a range is only a remark."""
    key, read = "[bucket(host, 16)][host][ts][level]", "where = 'host = ? and ts < ? and level = ?'"
    assert ["info"] == list_severities("RK605", READ + read, key)
    assert [] == list_severities("RK605", READ + read.replace("and ts < ? ", ""), key)
    assert [] == list_severities("RK605", READ + read, HOST_FIRST)


@pytest.mark.parametrize(("distinct", "expected"), [(9, 0), (10, 1)])
def test_a_filter_is_reported_from_ten_rows_read_per_row_returned(
    distinct: int, expected: int
) -> None:
    """A filter is reported from ten rows read per row returned, if value counts are known."""
    text = LOGS.replace("distinct = 5", f"distinct = {distinct}")
    text = text.format(key=HOST_FIRST, splits='"per_bucket"', more=READ + "where = 'host = ? and "
                       "level = ?'")  # fmt: skip
    assert expected == len(check_design(Design.loads(text), select=["RK606"]).findings)
    unknown = text.replace(f", distinct = {distinct}", "")
    assert () == check_design(Design.loads(unknown), select=["RK606"]).findings


def test_a_part_of_a_row_is_read_without_a_filter() -> None:
    """A field that opens the qualifiers limits a read to its columns, as simulate counts it."""
    design = Design(
        "follows",
        "[user]",
        fields={
            "user": {"type": "u64", "distinct": 1_000},
            "follower": {"type": "u64", "distinct": 4_000, "at": "qualifier"},
            "since": {"type": "u32", "distinct": 500},
        },
        reads=[
            {"name": "one", "where": "user = ? and follower = ?"},
            {"name": "of a day", "where": "user = ? and since = ?"},
        ],
    )
    found = check_design(design, select=["RK606"]).findings
    assert ["of a day"] == [one.value for one in found]


def test_an_unbound_field_and_a_range_before_another_field_are_reported_once_each() -> None:
    """An unbound field and a range before another field are found by two rules, once each."""
    key, read = "[bucket(host, 16)][host][level][ts]", READ + "where = 'host = ? and ts < ?'"
    assert ["RK607"] == [
        one.code for one in find_problems("RK60", read, key) if one.severity != "info"
    ]
    stretch = read.replace("ts < ?", "ts < ? and level < ?")
    assert [] == find_problems("RK607", stretch, key)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("where = 'host = ?'", 1),
        ("where = 'host = ? and ts >= ?'", 1),
        ("where = 'host = ? and ts >= ? and ts < ?'", 0),
        ("where = 'host = ?'\nlimit = 9", 0),
        ("where = 'host = ?'\n[families.d]\nttl = '1d'", 0),
    ],
)
def test_an_answer_without_time_bound_limit_or_ttl_is_reported_to_grow(
    options: str, expected: int
) -> None:
    """A bound of the time, a limit or a ttl each keep an answer from growing."""
    assert expected == len(find_problems("RK608", READ + options))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [("a", "a~", 1), ("a", "azz", 1), ("a", "ab", 0), ("a", "b", 0), ("a", "c~", 0)],
)
def test_a_range_is_taken_for_a_prefix_only_if_it_ends_with_last_characters(
    low: str, high: str, expected: int
) -> None:
    """Only a range up to last characters, such as ~, is taken for a prefix."""
    more = READ + f"where = \"host >= '{low}' and host < '{high}'\""
    assert expected == len(find_problems("RK609", more))


def test_writes_beyond_the_capacity_of_all_servers_are_reported_once() -> None:
    """Writes that exceed the servers' capacity by themselves are reported once."""
    cluster = "[cluster]\ncapacity = '1000/s'\n[writes]\nrate = '{}/s'\n"
    read = READ + "where = 'host = ? and ts = ?'\nrate = '1000/s'"
    assert [] == find_problems("RK610", cluster.format(7_000) + read)
    assert ["RK610"] == [one.code for one in find_problems("RK610", cluster.format(7_001) + read)]
    both = [*find_problems("RK610", cluster.format(8_001) + read)]
    both += find_problems("RK706", cluster.format(8_001) + read)
    assert ["RK706"] == [one.code for one in both]


def test_the_servers_that_writes_and_reads_need_are_those_of_the_verdict() -> None:
    """`check` counts the reads too, and names as many servers as the verdict of a replay."""
    more = "[cluster]\nservers = 2\ncapacity = '100/s'\n[writes]\nrate = '300/s'\nfor = '1m'\n"
    more += READ + "where = 'host = ? and ts = ?'\nrate = '40/s'"
    text = LOGS.format(key=HOST_FIRST, splits='"per_bucket"', more=more)
    judged = JudgedDesign(Design.loads(text, source="design.toml"))
    (found,) = (one for one in judged.lint_result.findings if one.code == "RK706")
    (writes,) = (one for one in judged.verdict.assessments if one.topic == "writes")
    assert "Use 7 servers or more" == found.remedy[:21]
    assert "Use 7 servers or more" == writes.remedy[:21]


def test_one_region_is_to_be_split_into_as_many_by_the_rule_as_by_the_cause() -> None:
    """The rule on one region, and the cause in a replay, name one number of regions."""
    fields = {"unit": {"type": "u64", "distinct": 9_000}, "ts": "timestamp_ms"}
    design = Design(
        "t",
        "[digest(unit, 2)][unit][ts]",
        fields={**fields, "blob": {"type": "bytes", "max_bytes": 400, "mean_bytes": 90}},
        families={"d": {"ttl": "14d"}},
        cluster={"servers": 4},
        writes={"rate": "3000/s", "for": "10s"},
    )
    judged = JudgedDesign(design)
    (found,) = (one for one in judged.lint_result.findings if one.code == "RK203")
    (cause,) = judged.simulation.causes
    assert "integer_imbalance" == cause.code
    assert cause.remedy.split()[1] in found.remedy
    assert int(cause.remedy.split()[1]) > 8


def test_versions_that_nothing_limits_give_a_table_no_final_size() -> None:
    """Endless versions of a row that is written again are told by how many a day brings."""
    design = Design(
        "t",
        "[lamp]",
        fields={"lamp": {"type": "u64", "distinct": 600}, "on": "bool", "seen": "timestamp_s"},
        families={"d": {"versions": 2**31 - 1}},
        writes={"rate": "60/s", "for": "10s", "arrival": "random"},
    )
    judged = JudgedDesign(design)
    (found,) = (one for one in judged.lint_result.findings if one.code == "RK401")
    assert "nothing limits them" in found.message
    assert "each of 600 rows gets 8,640 more a day" in found.message
    assert judged.simulation.growth is None
    few = JudgedDesign(design.copy_with_options(families={"d": {"versions": 10_000}}))
    assert few.simulation.growth is not None
    assert not any("nothing limits" in one.message for one in few.lint_result.findings)


# Writes


def test_a_hot_key_is_reported_instead_of_a_lack_of_servers() -> None:
    """A hot key is reported instead of a lack of servers where all servers together suffice."""
    more = "[cluster]\ncapacity = '1000/s'\n[writes]\nrate = '4000/s'\n"
    splits = "['2', '4', '6', '8', 'a', 'c', 'e']"
    assert [] == find_problems("RK706", more, TIME_FIRST)
    [told] = find_problems("RK706", more, "[ts][host]", splits)
    assert ("error", 4_000.0) == (told.severity, told.evidence["busiest"])
    assert "servers do not help" in told.remedy


def test_a_burst_above_nine_tenths_of_the_capacity_is_a_warning() -> None:
    """A burst above nine tenths of the servers' capacity is a warning, above half a remark."""
    more = "[cluster]\ncapacity = '1000/s'\n[writes]\nrate = '3000/s'\n"
    more += "bursts = [{ at = '1m', for = '30s', times = TIMES }]"
    found = [list_severities("RK706", more.replace("TIMES", n)) for n in ("2.5", "2", "1.3")]
    assert [["warning"], ["info"], []] == found


def test_late_events_with_rows_of_their_own_are_accepted() -> None:
    """Late events are accepted where the time in the key gives them their own rows."""
    late = "[writes]\nlate = { share = 0.1, upto = '1h' }"
    assert [] == find_problems("RK705", late)
    assert ["error"] == list_severities("RK705", late, "[bucket(host, 16)][host]")


def test_a_ttl_affects_late_events_only_if_their_time_is_the_cell_timestamp() -> None:
    """A ttl affects late events only if the event's time is the cells' timestamp."""
    more = "[families.d]\nttl = '1h'\n[writes]\nlate = { share = 0.1, upto = '6h' }"
    assert [] == find_problems("RK704", more)


@pytest.mark.parametrize(
    ("arrival", "ttl", "expected"),
    [("random", "30d", [0.7]), ("random", "200d", []), ("clock", "30d", [])],
)
def test_old_events_of_an_import_are_expired_when_they_are_written(
    tmp_path: Path, arrival: str, ttl: str, expected: list[float]
) -> None:
    """Of events of 100 days, those older than 30 days do not outlive the import."""
    path = tmp_path / "rows.csv"
    rows = [f"h{n},{1_700_000_000 + n * 86_400}" for n in range(100)]
    path.write_text("\n".join(["host,ts", *rows]))
    design = Design(
        "states",
        "[host]",
        fields={
            "host": {"type": "text", "max_bytes": 8},
            "ts": {"type": "timestamp_s", "at": "timestamp"},
        },
        families={"d": {"ttl": ttl}},
        writes={"arrival": arrival},
    )
    summary = summarize_sample(design, path)
    found = check_design(design, summary, select=["RK703", "RK704"]).findings
    assert expected == [one.evidence["share"] for one in found]


def test_the_ttl_of_an_import_counts_from_a_time_of_the_event() -> None:
    """Not from a column that may hold any time, or that of the last change of a row."""
    ids = ({"type": "uuid"}, {"type": "uuid", "unique": True})
    designs = [
        Design(
            "t",
            key,
            fields={"id": unique, "at": "timestamp_s"},
            families={"d": {"ttl": "30d"}},
            writes={"arrival": "random"} | time,
        )
        for key in ("[id]", "[id][at]")
        for unique in ids
        for time in ({}, {"time": "at"})
    ]
    found = [len(check_design(one, select=["RK703"]).findings) for one in designs]
    assert [0, 0, 0, 1, 1, 1, 1, 1] == found


def test_the_number_of_rows_that_a_salt_doubles_is_computed(tmp_path: Path) -> None:
    """The rows that a salt doubles are computed: half repeat, a sixteenth of them one salt."""
    text = 'table = "o"\nkey = "{}"\nsplits = "per_bucket"\n[fields]\norder = "u64"\nn = "u8"\n'
    path = tmp_path / "rows.csv"
    path.write_text("order,n\n" + "".join(f"{n % 600},{n % 5}\n" for n in range(1_200)))
    salted = Design.loads(text.format("[salt(16)][order]"))
    plain = Design.loads(text.format("[bucket(order, 16)][order]"))
    twice = ["RK108", "RK118"]
    [told] = check_design(salted, summarize_sample(salted, path), select=twice).findings
    assert ("RK118", "warning") == (told.code, told.severity)
    assert (600, 562.5) == (told.evidence["repeats"], told.evidence["duplicates"])
    assert ["RK108"] == [
        one.code
        for one in check_design(plain, summarize_sample(plain, path), select=twice).findings
    ]


def test_few_rows_put_again_under_a_salt_are_only_a_remark(tmp_path: Path) -> None:
    """Recordings hold a few events twice, whatever the table; reads by ranges need no bucket."""
    path = tmp_path / "rows.csv"
    path.write_text("at,n\n" + "".join(f"{max(n, 1)},{n % 5}\n" for n in range(2_000)))
    fields = {"at": "u64", "n": "u8"}
    design = Design("o", "[salt(16)][at]", splits="per_bucket", fields=fields)
    [told] = check_design(design, summarize_sample(design, path), select=["RK118"]).findings
    assert ("info", 1) == (told.severity, told.evidence["repeats"])


@pytest.mark.parametrize(
    ("salt", "where", "named"),
    [
        ("4", "", "[bucket(ts, user, 4)]"),
        ("4", "user = ?", "the fields that reads give"),
        ("300, width=2", "ts > ?", "single values: [bucket(ts, user, 300, width=2)]."),
        ("16, as=hex", "", "[bucket(ts, user, 16, as=hex)]"),
    ],
)
def test_a_bucket_proposed_for_a_salt_uses_fields_of_the_design(
    salt: str, where: str, named: str
) -> None:
    """Where no read gives a field of the key, the bucket is not one of the fields that reads do."""
    design = Design(
        "t", f"[salt({salt})][ts][user]", splits="per_bucket",
        fields={"ts": "timestamp_ms", "user": {"type": "u64", "distinct": 100_000}},
        reads=[{"name": "feed", "where": where, "order": "ts desc", "limit": 10}],
    )  # fmt: skip
    [told] = check_design(design, select=["RK118"]).findings
    assert named in told.remedy


def test_one_copy_in_a_part_of_the_events_stands_for_many_overwritten_rows(tmp_path: Path) -> None:
    """One stray copy among one in a hundred events stands for a table in which most overwrite."""
    text = 'table = "o"\nkey = "[order]"\n[fields]\norder = "u64"\nn = "u8"\n'
    path = tmp_path / "rows.csv"
    path.write_text("order,n\n" + "".join(f"{max(n, 1)},{n % 5}\n" for n in range(2_000)))
    whole = Design.loads(text)
    part, most = (
        Design.loads(f'{text}[sample]\nof = "events"\nshare = "{share}"\n')
        for share in ("1%", "99.9%")
    )
    found = [
        check_design(one, summarize_sample(one, path), select=["RK108"]).findings[0]
        for one in (whole, part, most)
    ]
    assert ["info", "warning", "info"] == [one.severity for one in found]
    assert "the sample has only 1.00% of its events" in found[1].message
    assert found[0].message == found[2].message


@pytest.mark.parametrize(
    ("key", "keys", "values", "severity", "copies"),
    [
        ("[order]", 600, 1_200, "warning", ""),
        ("[order][at]", 600, 1_200, "error", ""),
        ("[order][at]", 1_190, 1_200, "error", ""),
        ("[order][at]", 1_199, 1_200, "info", ""),
        ("[order][at]", 600, 600, "info", "100.0%"),
        ("[order][at]", 300, 600, "error", "66.7%"),
    ],
)
def test_events_that_overwrite_others_are_reported_as_lost(
    tmp_path: Path, key: str, keys: int, values: int, severity: str, copies: str
) -> None:
    """A key with a time keeps events apart; one without may be of entities; copies lose nothing."""
    text = 'table = "o"\nkey = "{}"\n[fields]\norder = "u64"\nat = "timestamp_s"\nn = "u32"\n'
    path = tmp_path / "rows.csv"
    rows = [f"{n % keys},{10 + n % keys},{n % values}\n" for n in range(1_200)]
    path.write_text("order,at,n\n" + "".join(rows))
    design = Design.loads(text.format(key))
    (found,) = check_design(design, summarize_sample(design, path), select=["RK108"]).findings
    assert severity == found.severity
    told = f"{copies} of them one that is equal in every field"
    assert found.message.endswith(told if copies else "the row of an earlier event")


def test_a_unique_field_that_repeats_in_the_sample_is_reported(tmp_path: Path) -> None:
    """A declaration that no value repeats is compared with the sample, in the key or not."""
    text = 'table = "o"\nkey = "[order]"\n[fields]\norder = "u64"\n'
    path = tmp_path / "rows.csv"
    path.write_text("order,n,m\n" + "".join(f"{n},{n % 600},{n}\n" for n in range(1_200)))
    design = Design.loads(
        f"{text}n = {{ type = 'u32', unique = true }}\nm = {{ type = 'u32', unique = true }}"
    )
    (found,) = check_design(design, summarize_sample(design, path), select=["RK108"]).findings
    assert ("fields.n.unique", 600, 1_200) == (
        found.path,
        found.evidence["values"],
        found.evidence["events"],
    )


@pytest.mark.parametrize(
    ("rate", "key", "more", "expected"),
    [
        ("2/s", "[gate][at]", "distinct = 3", []),
        ("5/s", "[gate][at]", "distinct = 3", []),
        ("6/s", "[gate][at]", "distinct = 3", [(3 * 86_400, 6 * 86_400)]),
        ("11/s", "[salt(2)][gate][at]", "distinct = 3", []),
        ("12/s", "[salt(2)][gate][at]", "distinct = 3", [(6 * 86_400, 12 * 86_400)]),
        ("30/s", "[gate][at]", "", []),
        ("30/s", "[gate]", "distinct = 3", []),
    ],
)
def test_too_few_keys_for_the_events_of_a_day_are_found_without_a_sample(
    rate: str, key: str, more: str, expected: list[tuple[float, float]]
) -> None:
    """Two events for each key of a day are found without a sample; updated gates are not."""
    field = f"{{ type = 'u32', {more} }}" if "distinct" in more else "'u32'"
    text = f"""table = "gates"
key = "{key}"
[fields]
gate = {field}
at = "timestamp_s"
[families.d]
ttl = "1d"
[writes]
rate = "{rate}"
"""
    found = check_design(Design.loads(text), select=["RK108"]).findings
    assert expected == [(one.evidence["keys"], one.evidence["events"]) for one in found]


@pytest.mark.parametrize(
    ("values", "severity", "remedy"),
    [
        (["i64"], "info", "Write v0 by increments: of puts, the last one wins."),
        (["i64", "i64"], "info", "Write v0 and v1 by increments: of puts, the last one wins."),
        (["i64", "u64"], "warning", "Add a field to the key"),
        ([], "warning", "Add a field to the key"),
    ],
)
def test_rows_with_many_events_for_each_key_are_reported(
    values: list[str], severity: str, remedy: str
) -> None:
    """Many events for each key are a warning, and a remark where all of them may be counted."""
    fields = {"gate": {"type": "u32", "distinct": 3}, "day": "date"}
    design = Design(
        "gates",
        "[gate][day]",
        fields=fields | {f"v{n}": one for n, one in enumerate(values)},
        families={"d": {"ttl": "30d"}},
        writes={"rate": "30/s"},
    )
    (found,) = check_design(design, select=["RK108"]).findings
    assert severity == found.severity
    assert found.remedy.startswith(remedy)


@pytest.mark.parametrize(("declared", "expected"), [(600, []), (599, [600])])
def test_more_sampled_values_than_declared_are_reported(
    tmp_path: Path, declared: int, expected: list[int]
) -> None:
    """A sample never has more values than the table."""
    field = f"{{ type = 'u32', distinct = {declared} }}"
    design = Design.loads(f"table = 'o'\nkey = '[n]'\n[fields]\nn = {field}\n")
    path = tmp_path / "rows.csv"
    path.write_text("n\n" + "".join(f"{n % 600}\n" for n in range(1_200)))
    found = check_design(design, summarize_sample(design, path), select=["RK805"]).findings
    assert expected == [one.evidence["values"] for one in found]


# Sizes


@pytest.mark.parametrize(
    ("regions", "expected"), [(80, []), (88, ["info"]), (1_600, ["info"]), (1_608, ["warning"])]
)
def test_too_few_or_too_many_regions_for_servers_and_data_are_reported(
    regions: int, expected: list[str]
) -> None:
    """Regions are accepted up to ten a server for a small table, and 200 a server at most."""
    more = "[families.d]\nttl = '1d'\n[writes]\nrate = '100/s'"
    told = find_problems("RK801", more, "[digest(host, 4)][host][ts]",
                 f"{{ algorithm = 'uniform', regions = {regions} }}")  # fmt: skip
    assert expected == [one.severity for one in told]


@pytest.mark.parametrize(
    ("rate", "message"),
    [(1_900, ""), (15_000, "nothing between 50 and 500"), (90_000, "cap of 120")],
)
def test_the_sizing_table_of_the_article_is_quoted_where_it_is_wrong(
    rate: int, message: str
) -> None:
    """The article's table of sizes is quoted where it has a gap or exceeds its cap."""
    more = f"[families.d]\nttl = '1d'\n[writes]\nrate = '{rate}/s'"
    told = find_problems("RK802", more, splits="{ algorithm = 'per_bucket', regions = 4 }")
    assert [bool(message)] == [bool(one.verdict) for one in told]
    assert message in told[0].verdict
    assert 9 == len(told[0].evidence["opinions"])


@pytest.mark.parametrize(
    "key", [HOST_FIRST, "[bucket(host, level, 16)][host][time_slice(ts, 1h)][level]"]
)
@pytest.mark.parametrize(("rate", "severity"), [(600, "info"), (5_000, "warning")])
def test_regions_that_fill_within_days_are_reported_to_split_at_once(
    key: str, rate: int, severity: str
) -> None:
    """Regions that are full after two weeks split one by one; after two days, all at once."""
    more = f"[families.d]\nttl = '90d'\n[writes]\nrate = '{rate}/s'"
    sliced = "slice" in key
    text = LOGS.format(key=key, splits='"per_bucket"', more=more)
    text = text.replace('"timestamp_ms"', '{ type = "timestamp_ms", at = "qualifier" }' * sliced or
                        '"timestamp_ms"')  # fmt: skip
    [told] = check_design(Design.loads(text), select=["RK802"]).findings
    assert severity == told.severity


@pytest.mark.parametrize(
    ("rate", "severities"), [(39_000, []), (60_000, ["info"]), (76_000, ["warning"])]
)
def test_writes_above_half_of_the_capacity_are_a_remark_and_above_nine_tenths_a_warning(
    rate: int, severities: list[str]
) -> None:
    """Half of what 8 servers are taken to bear is worth a remark, nine tenths a warning."""
    more = f"[families.d]\nttl = '1d'\n[writes]\nrate = '{rate}/s'"
    assert severities == list_severities("RK706", more)


CRAWL = """\
table  = "crawl"
key    = "[bucket(url, 16)][url]"
splits = { algorithm = "per_bucket", regions = REGIONS }

[fields]
url  = { type = "text", max_bytes = 2000, mean_bytes = 80, distinct = 1000000000 }
html = { type = "bytes", max_bytes = 2000000, mean_bytes = 40000 }

[cluster]
servers = SERVERS
"""
"""37,353 GiB, which are 3,736 regions of 10 GiB."""
MORE_REGIONS = (
    'splits = { algorithm = "sample", regions = 3744 } and declare [sample] path = "…", a '
    "recording of your events, or raise MAX_FILESIZE of the table in HBase."
)


@pytest.mark.parametrize(
    ("regions", "servers", "expected"),
    [
        # 467 a server are too many, so that no number of regions is right for eight servers.
        (16, 8, {"RK802": f"Use 19 servers or more and write {MORE_REGIONS}"}),
        (1_600, 8, {"RK802": f"Use 19 servers or more and write {MORE_REGIONS}"}),
        (3_744, 8, {"RK801": "Use 1,600 regions or fewer, as a multiple of 8, and raise "
                             "MAX_FILESIZE; or use 19 servers or more."}),
        (16, 19, {"RK802": f"Write {MORE_REGIONS}"}),
        (3_744, 19, {}),
    ],
)  # fmt: skip
def test_the_rules_on_too_few_and_too_many_regions_agree(
    regions: int, servers: int, expected: dict[str, str]
) -> None:
    """The number of regions that one rule asks for is not too many for the other."""
    text = CRAWL.replace("REGIONS", str(regions)).replace("SERVERS", str(servers))
    design = Design.loads(text, source="design.toml")
    told = check_design(design, select=["RK801", "RK802"]).findings
    assert expected == {one.code: one.remedy for one in told}


def test_a_table_whose_rows_are_overwritten_does_not_grow() -> None:
    """A table whose rows are overwritten has as many rows as entities, at any rate."""
    more = "[families.d]\nversions = 1\n[writes]\nrate = '90000/s'"
    assert ["warning"] == list_severities("RK803", more)
    assert [] == list_severities("RK803", more, "[bucket(host, 16)][host]")


COUNTER = """\
table  = "counts"
key    = "[bucket(page, 16)][page][day]"
splits = "per_bucket"

[fields]
page = { type = "u64", distinct = PAGES }
day  = "date"
hits = "u64"

[families.d]
versions = VERSIONS

[writes]
arrival = "clock"
time    = "day"
rate    = "20000/s"
"""


@pytest.mark.parametrize(
    ("pages", "versions", "rows"),
    [
        (1_000, 1, None),  # 1,000 rows a day, however often they are counted up
        (100_000_000, 1, 100_000_000),
        (1_000_000_000_000, 1, 20_000 * 86_400),  # every event may be of another page
        (1_000_000, 100, 100_000_000),
    ],
)
def test_rows_overwritten_all_day_count_once_in_the_size(
    pages: int, versions: int, rows: int | None
) -> None:
    """Rows that are overwritten all day count once, or as often as versions are kept."""
    text = COUNTER.replace("PAGES", str(pages)).replace("VERSIONS", str(versions))
    design = Design.loads(text, source="design.toml")
    told = check_design(design, select=["RK803"]).findings
    each = LintSubject(design).event_bytes
    stay = [one.evidence["bytes_a_day"] for one in told]
    assert stay == ([] if rows is None else [pytest.approx(rows * each)])


def test_a_heap_too_small_for_the_later_regions_is_reported() -> None:
    """A heap is reported as too small for the regions that the table's size needs later."""
    more = "[families.d]\nttl = '90d'\n[writes]\nrate = '5000/s'\n[cluster]\nheap = '8GiB'"
    [told] = find_problems("RK804", more, splits="{ algorithm = 'per_bucket', regions = 16 }")
    assert (1_043, 25) == (told.evidence["needed"], told.evidence["memstores"])


def test_memstores_are_counted_for_regions_after_the_best_compression() -> None:
    """Without a sample, compressed bytes count as a tenth in memstores, as they do in regions."""
    more = (
        "[families.d]\nttl = '90d'\ncompression = 'ZSTD'\n"
        "[writes]\nrate = 'RATE'\n[cluster]\nheap = '8GiB'"
    )
    splits = "{ algorithm = 'per_bucket', regions = 16 }"
    assert [] == find_problems("RK804", more.replace("RATE", "5000/s"), splits=splits)
    [told] = find_problems("RK804", more.replace("RATE", "50000/s"), splits=splits)
    assert (1_043, "info") == (told.evidence["needed"], told.severity)
    assert "even if compression leaves 1 of 10 bytes" in told.message


def test_a_table_with_fewer_buckets_than_servers_needs_more_buckets_before_more_regions() -> None:
    """Where each bucket is a region, the number of buckets is named, and no other rule asked."""
    more = (
        "[families.d]\nttl = '7d'\ncompression = 'ZSTD'\n"
        "[writes]\nrate = '110000/s'\n[cluster]\nservers = 20"
    )
    key = "[bucket(host, 4)][host][desc(ts)]"
    text = LOGS.format(key=key, splits='"per_bucket"', more=more)
    told = check_design(Design.loads(text, source="design.toml")).findings
    remedies = {one.code: one.remedy for one in told}
    assert remedies["RK205"].startswith("Use 40 buckets, one region each")
    assert remedies["RK802"].startswith("Do what RK205 says first")


def test_values_behind_a_range_are_those_of_the_bucket_that_the_read_knows() -> None:
    """A bucket of the field that the read gives leaves only its share of the other values."""
    read = READ + "where = 'host = ? and ts > ? and ts < ?'\nspan = '1h'"
    texts = [
        LOGS.format(key=f"[{front}][ts][host]", splits='"per_bucket"', more=read).replace(
            "max_bytes = 16", "max_bytes = 16, distinct = 400"
        )
        for front in ("bucket(host, 16)", "salt(16)")
    ]
    told, whole = (
        check_design(Design.loads(one, source="design.toml"), select=["RK605"]).findings[0]
        for one in texts
    )
    assert (25, 400) == (told.evidence["distinct"], whole.evidence["distinct"])
    assert "about 25 of the 400 values of host" in told.message


CAMERAS = """\
table  = "clips"
key    = "[bucket(camera, 16)][camera][desc(ts)]"
splits = "per_bucket"
[fields]
camera = "u32"
ts     = "timestamp_ms"
clip   = { type = "bytes", mean_bytes = BYTES }
[families.d]
ttl = "30d"
mob = MOB
[writes]
rate = "10000/s"
[cluster]
heap = "8GiB"
"""


@pytest.mark.parametrize(
    ("bytes_", "mob", "blocks"),
    [(4_000, "true", 1), (9_000_000, "true", 0), (9_000_000, "false", 1)],
)
def test_index_blocks_are_those_of_cells_outside_mob_files(
    bytes_: int, mob: str, blocks: int
) -> None:
    """A value in a MOB file makes no block, and a value larger than a block makes one."""
    text = CAMERAS.replace("BYTES", str(bytes_)).replace("MOB", mob).replace("8GiB", "1GiB")
    told = check_design(Design.loads(text, source="design.toml"), select=["RK412"]).findings
    assert blocks == len(told)
    events = 10_000 * 30 * 86_400
    assert all(one.evidence["blocks"] <= events for one in told)


def test_values_with_a_mean_beyond_the_limit_of_cells_are_reported() -> None:
    """A declared mean of more bytes than HBase accepts for a cell is reported like a maximum."""
    text = CAMERAS.replace("BYTES", "40_000_000").replace("MOB", "true")
    (told,) = check_design(Design.loads(text, source="design.toml"), select=["RK509"]).findings
    assert told.message.startswith("clip has 40,000,000 bytes on average")


def test_reading_shared_rows_backwards_is_a_warning() -> None:
    """The remedy stores the slice of the time in the wanted order, which a forward scan reads."""
    read = READ + "where = 'host = ?'\norder = 'ts desc'\nlimit = 20"
    (tall,) = find_problems("RK603", read)
    (wide,) = find_problems("RK603", read, "[bucket(host, 16)][host][time_slice(ts, 1h)]")
    assert ("info", "warning") == (tall.severity, wide.severity)
    assert wide.remedy == "Store ts in that order: desc(time_slice(ts, 1h))."
    better = "[bucket(host, 16)][host][desc(time_slice(ts, 1h))]"
    assert [] == find_problems("RK603", read, better)


@pytest.mark.parametrize(("rate", "severity"), [("100/s", "info"), ("9000/s", "warning")])
def test_uneven_writes_that_one_server_bears_are_only_a_remark(rate: str, severity: str) -> None:
    """What is uneven about the writes does no harm where one server bears them all."""
    more = f"[writes]\nrate = '{rate}'"
    (found,) = find_problems("RK101", more, "[ts][host]", '["a"]')
    assert severity == found.severity


RISING = """\
table  = "payments"
key    = "KEY"
splits = "per_bucket"

[fields]
id       = "u64"
customer = { type = "u32", distinct = 3000 }
ts       = "timestamp_ms"
line     = { type = "text", max_bytes = 500, mean_bytes = 200 }

[families.d]
ttl         = "30d"

[cluster]
servers = 8

[writes]
rate    = "1000/s"
time    = "ts"
arrival = "clock"
"""


def write_payments(folder: Path, *, heavy: bool) -> Path:
    """Write events with rising numbers and times, of random customers."""
    random = Random(5)
    path = folder / "rows.csv"
    rows = (
        (n * 3, 7 if heavy and n % 10 else random.randrange(3000), 1_700_000_000_000 + n * 50)
        for n in range(20_000)
    )
    text = "".join(f"{number},{customer},{ts},x\n" for number, customer, ts in rows)
    path.write_text("id,customer,ts,line\n" + text)
    return path


@pytest.mark.parametrize(
    ("key", "heavy", "cause"),
    [
        pytest.param("[bucket(id, 16)][id]", False, "missed_splits", marks=pytest.mark.long),
        ("[bucket(customer, 16)][ts][customer]", False, "missed_splits"),
        ("[bucket(customer, 16)][customer][ts]", False, None),
        # New splits would not spread the rows that one customer gets within some seconds.
        pytest.param(
            "[bucket(customer, ts, 16, 4)][customer][ts]",
            True,
            "hot_entity",
            marks=pytest.mark.long,
        ),
    ],
)
def test_more_regions_are_advised_only_if_a_replay_writes_to_them(
    key: str, heavy: bool, cause: str | None, tmp_path: Path
) -> None:
    """More regions are advised only where a replay writes to them and RK201 does not object."""
    path, text = write_payments(tmp_path, heavy=heavy), RISING.replace("KEY", key)
    advised = cause is None
    judged = JudgedDesign(Design.loads(text, source="design.toml"), path, select=["RK802"])
    [told] = judged.lint_result.findings
    assert advised is ("Keep these splits: " not in told.remedy)
    wanted = f'{{ algorithm = "sample", regions = {told.evidence["wanted"]} }}'
    assert advised is (wanted in told.remedy)
    more = JudgedDesign(Design.loads(text.replace('"per_bucket"', wanted)), path)
    empty_share = more.simulation.empty_region_count / len(more.simulation.regions)
    assert advised is (empty_share < 0.2)
    causes = {one.code for one in more.simulation.causes}
    assert "missed_splits" not in causes if cause is None else cause in causes


@pytest.mark.parametrize("spread", ["salt(16)", "bucket(line, 16)"])
def test_a_salted_key_needs_as_many_regions_for_its_size_as_a_bucketed_one(spread: str) -> None:
    """What a salt spreads needs more regions for its size as what a bucket spreads."""
    numbers = range(2_000)
    rows = pa.table({"host": [f"h{n * n % 7}" for n in numbers],
                     "ts": [1_700_000_000 + 60 * n for n in numbers], "line": numbers})  # fmt: skip
    design = Design(
        "logs",
        f"[{spread}][host][ts][line]",
        fields={
            "host": {"type": "text", "max_bytes": 8},
            "ts": "timestamp_s",
            "line": "u32",
            "text": {"type": "text", "max_bytes": 400, "mean_bytes": 200},
        },
        families={"d": {"ttl": "30d", "compression": "ZSTD"}},
        splits="per_bucket",
        writes={"rate": "12000/s"},
    )
    [told] = JudgedDesign(design, rows, select=["RK802"]).lint_result.findings
    assert ("warning", False) == (told.severity, "Keep these splits" in told.remedy)


def test_no_splits_are_advised_in_buckets_of_times_without_a_sample() -> None:
    """Without a sample no splits are advised in buckets whose keys begin with the time."""
    more = "[families.d]\nttl = '30d'\n[writes]\narrival = 'clock'\nrate = '5000/s'"
    [told] = find_problems("RK802", more, TIME_FIRST)
    assert "Keep these splits: the keys of each bucket begin with ts" in told.remedy
    [told] = find_problems("RK802", more, HOST_FIRST)
    assert 'Write splits = { algorithm = "sample"' in told.remedy


@pytest.mark.parametrize(("ttl", "shown"), [("600s", "10m"), ("36h", "36h"), ("90061s", "90061s")])
def test_a_ttl_is_printed_in_whole_units(ttl: str, shown: str) -> None:
    """How long rows are kept is shown in whole units, never as a fraction of days."""
    span = f"{READ}where = 'host = ? and ts >= ? and ts < ?'\nspan = '30d'"
    [told] = find_problems("RK612", f"[families.d]\nttl = '{ttl}'\n{span}")
    assert f"rows are deleted after {shown}" in told.message


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (
            "[bucket(ts, 16)][host][ts]",
            "gives host but not ts, from which the bucket is computed, ",
        ),
        ("[bucket(host, ts, 16)][host][ts]", "from which the bucket is computed too, "),
        ("[bucket(host, 16)][host][ts]", ""),
    ],
)
def test_a_read_that_does_not_give_all_fields_of_a_bucket_is_reported(
    key: str, expected: str
) -> None:
    """A read that gives some, or none, of the fields of a bucket asks every bucket."""
    reads = [{"name": "r", "where": "host = ? and ts >= ? and ts < ?", "span": "1h"}]
    host = {"type": "text", "max_bytes": 9, "distinct": 9_000}
    fields = {"host": host, "ts": "timestamp_ms"}
    design = Design("t", key, fields=fields, splits="per_bucket", reads=reads)
    told = [one.message for one in check_design(design, select=["RK611"]).findings]
    assert bool(expected) == bool(told)
    assert all(expected in one for one in told)


CLIPS = """\
table  = "clips"
key    = "[bucket(car, 16)][car][desc(ts)]"
splits = "per_bucket"

[fields]
car  = {{ type = "u64", distinct = 40000 }}
ts   = "timestamp_ms"
clip = {{ type = "bytes", max_bytes = 8000000, mean_bytes = 3000000 }}

[families.d]
ttl         = "30d"
compression = "ZSTD"
mob         = {mob}

[writes]
rate = "2/s"
"""


def test_mob_files_do_not_count_for_the_size_of_a_region() -> None:
    """Regions hold references to MOB files; where values are not in them, that comes first."""
    plain, mob = (Design.loads(CLIPS.format(mob=one)) for one in ("false", "true"))
    events = plain.estimate_demand().size / plain.layout.estimate_event_bytes(17)
    assert 1_000 < plain.estimate_demand().size / mob.estimate_demand().size
    assert 100 < mob.estimate_demand().size / events < 200
    endless = Design.loads(CLIPS.format(mob="true").replace('ttl         = "30d"\n', ""))
    for design in (mob, endless):
        assert [] == list(check_design(design, select=["RK802", "RK803", "RK409"]).findings)
    apart = Design.loads(CLIPS.format(mob="true\nmob_threshold = 10000000"))
    for design in (plain, apart):
        (told,) = check_design(design, select=["RK802"]).findings
        assert told.remedy.startswith("Store clip in MOB files first, as RK510 says")


@pytest.mark.parametrize(("rate", "expected"), [("100/s", "info"), ("4000/s", "warning")])
def test_endless_growth_is_a_warning_if_regions_fill_within_a_week(
    rate: str, expected: str
) -> None:
    """Rows that are never deleted matter as much as those that a ttl deletes too late."""
    more = f"[families.d]\ncompression = 'ZSTD'\n[writes]\nrate = '{rate}'\n"
    assert [expected] == list_severities("RK803", more)


@pytest.mark.parametrize(
    ("attributes", "severity"),
    [("", "warning"), ("compression = 'ZSTD'", "info"), ("encoding = 'FAST_DIFF'", "warning")],
)
def test_compressed_bytes_count_for_the_time_in_which_regions_fill(
    attributes: str, severity: str
) -> None:
    """Without a sample a table is not warned of what a tenth of its bytes would not do."""
    more = f"[families.d]\nttl = '90d'\n{attributes}\n[writes]\nrate = '5000/s'"
    assert [severity] == list_severities("RK802", more)


SMALL = "[families.d]\nttl = '{ttl}'\nin_memory = true\n[writes]\nrate = '{rate}'\n"


@pytest.mark.parametrize(
    ("rate", "ttl", "reads", "expected"),
    [
        ("10/h", "3650d", "100/s", []),
        ("10/h", "3650d", "20000/s", ["RK203"]),
        ("100/s", "3650d", "100/s", ["RK203", "RK404", "RK408"]),
    ],
)
def test_no_more_regions_are_advised_for_a_table_that_fits_one(
    rate: str, ttl: str, reads: str, expected: list[str]
) -> None:
    """No rule speaks of further regions, or of a full cache, where a table never gets there."""
    more = SMALL.format(rate=rate, ttl=ttl)
    more += f"{READ}where = 'host = ? and ts = ?'\nrate = '{reads}'\n"
    keys = {"RK203": "[host][ts]", "RK404": "[ts][host]", "RK408": "[host][ts]"}
    found = [code for code, key in keys.items() if find_problems(code, more, key, "[]")]
    assert expected == found


@pytest.mark.parametrize(("rate", "expected"), [("10/s", "info"), ("20000/s", "warning")])
def test_splits_without_keys_are_a_warning_where_reads_are_the_load(
    rate: str, expected: str
) -> None:
    """All reads go to the one region that has rows, though the writes are few."""
    more = f"[writes]\nrate = '5/s'\n{READ}where = 'host = ? and ts = ?'\nrate = '{rate}'\n"
    splits = "{ algorithm = 'hex_string', regions = 16 }"
    assert [expected] == [one.severity for one in find_problems("RK201", more, splits=splits)]
    assert [expected] == [one.severity for one in find_problems("RK203", more, splits="[]")]


def test_a_small_table_gets_one_number_for_buckets_and_regions() -> None:
    """Fewer buckets and fewer regions are the same number where each bucket is a region."""
    more = "[cluster]\nservers = 4\n[families.d]\nttl = '30d'\n"
    more += f"{READ}where = 'ts > ?'\n"
    key = "[bucket(host, 500)][ts][host]"
    few = f"{more}[writes]\nrate = '1/m'\n"
    texts = [one.remedy for code in ("RK123", "RK801") for one in find_problems(code, few, key)]
    assert [
        "Leave them out of the key.",
        "Use 8 regions or fewer, as a multiple of 4.",
    ] == texts
    [told] = find_problems("RK123", f"{more}[writes]\nrate = '1000/s'\n", key)
    assert "Use 8, two for each server." == told.remedy


@pytest.mark.parametrize(
    ("rate", "reads", "buckets", "is_needless"),
    [
        ("3000/d", "1/s", 16, True),
        ("3000/d", "1/s", 4, False),  # so few ranges cost little
        ("2000/s", "1/s", 16, False),
        ("3000/d", "1000/s", 16, False),
    ],
)
def test_no_buckets_are_advised_for_few_writes(
    rate: str, reads: str, buckets: int, is_needless: bool
) -> None:
    """A read that asks all buckets pays for evenness that 3,000 rows a day have no use for."""
    more = f"[cluster]\nservers = 8\n[writes]\nrate = '{rate}'\n{READ}where = 'ts > ?'\n"
    found = find_problems(
        "RK123", f"{more}rate = '{reads}'\n", f"[bucket(host, {buckets})][ts][host]"
    )
    assert ["So few writes need no spreading."] * is_needless == [one.verdict for one in found]


def test_no_remedy_names_a_command_that_refuses_the_design() -> None:
    [told] = find_problems("RK601", f"{READ}where = 'ts < ?'", splits='"sample"')
    assert 'declare [sample] path = "…"' in told.remedy
    [told] = find_problems("RK601", f"{READ}where = 'ts < ?'")
    assert "declare" not in told.remedy


def test_no_regions_are_advised_for_a_key_that_another_finding_replaces() -> None:
    """Where one finding names another key, no other counts regions for the present one."""
    text = """
table  = "entries"
key    = "[digest(account, ts, entry, 16)]"
splits = { algorithm = "uniform", regions = 32 }

[fields]
account = { type = "u64", distinct = 5000 }
ts      = "timestamp_s"
entry   = "u32"

[cluster]
servers = 10

[writes]
rate = "500/s"
for  = "20s"

[[reads]]
name  = "entries of an account"
where = "account = ?"
rate  = "100/s"
"""
    found = {
        one.code: one.remedy
        for one in JudgedDesign(Design.loads(text), names_keys=True).lint_result.findings
    }
    assert found["RK601"].startswith("Use key = "), found
    assert found["RK202"].startswith("Change the key first, as RK601 proposes"), found


def test_a_leading_part_of_few_values_before_a_time_is_judged_like_a_bucket() -> None:
    """Regions cut at times of a sample get no write, behind a status as behind a bucket."""
    text = """
table  = "parcels"
key    = "[status][ts][parcel]"
splits = "per_bucket"

[fields]
status = { type = "choice", of = ["new", "sent", "lost"] }
ts     = "timestamp_ms"
parcel = "u64"
label  = { type = "text", max_bytes = 400, mean_bytes = 200 }

[families.d]
ttl         = "30d"
compression = "ZSTD"

[writes]
rate = "2000/s"
"""
    [told] = check_design(Design.loads(text), select=["RK802"]).findings
    assert told.remedy.startswith("Keep these splits: the keys of each bucket begin with ts")


def test_a_dictionary_field_narrows_reads_before_any_id_exists() -> None:
    """Values of `code` have ids once rows hold them, so a read of one value is one range."""
    more = f"{READ}where = 'host = ?'\norder = 'ts'\nlimit = 5\nrate = '50/s'\n"
    key = "[code(host)][ts]"
    text = LOGS.format(key=key, splits='{ algorithm = "uniform", regions = 8 }', more=more)
    design = Design.loads(text)
    assert [] == list(check_design(design, select=["RK6"]).findings)
    assert 1 == design.key.encode({"host": "first", "ts": 1})[3], "no example has taken its id"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("a >= ? and a < ? and b >= ? and b < ?", ["warning"]),
        ("a = ? and b >= ? and b < ?", []),
        ("a >= ? and a < ? and ts >= ?", ["info"]),
        ("a >= ? and a < ?", []),
    ],
)
def test_the_narrower_of_two_ranges_is_taken_for_the_scan(where: str, expected: list[str]) -> None:
    """A range behind another is tested row by row; one of the time is rarely the wide one."""
    text = f"""
table  = "t"
key    = "[a][b][ts]"
[fields]
a  = "u32"
b  = "u32"
ts = "timestamp_s"
[[reads]]
name  = "r"
where = "{where}"
limit = 10
"""
    found = check_design(Design.loads(text), select=["RK613"]).findings
    assert expected == [one.severity for one in found]


def test_an_order_by_a_field_outside_the_key_gets_the_key_field_it_needs() -> None:
    """Where no key of the fields gives the order, the remedy says where the key needs it."""
    text = """
table  = "bids"
key    = "[bucket(auction, 16)][auction][desc(ts)][bidder]"
splits = "per_bucket"
[fields]
auction = { type = "u64", distinct = 2000 }
ts      = "timestamp_s"
bidder  = { type = "u64", distinct = 100000 }
cents   = "u32"
[families.d]
ttl = "1d"
[writes]
rate = "300/s"
for  = "20s"
[[reads]]
name  = "highest bid"
where = "auction = ?"
order = "cents desc"
limit = 1
rate  = "300/s"
"""
    found = JudgedDesign(Design.loads(text), names_keys=True, select=["RK602"]).lint_result
    [told] = found.findings
    assert told.remedy == (
        "Put desc(cents) after auction in this key, or in the key of a second table."
    )


@pytest.mark.parametrize(
    ("key", "is_told"),
    [("[name][ts]", True), ("[name][desc(ts)]", True), ("[ts][name]", False), ("[name]", False)],
)
def test_an_encoding_is_proposed_for_single_cells_whose_neighbours_are_of_other_times(
    key: str, is_told: bool
) -> None:
    """Rows of one name have a key in common but for its time; those of other names have none."""
    fields = {
        "name": {"type": "text", "max_bytes": 80, "mean_bytes": 60},
        "ts": "timestamp_ms",
        "value": "u32",
    }
    design = Design(
        "t",
        key,
        fields={name: one for name, one in fields.items() if name in key or name == "value"},
    )
    told = check_design(design, select=["RK410"]).findings
    assert ['Set encoding = "FAST_DIFF".'] * is_told == [one.remedy for one in told]
