"""Limits of the rules on keys: digests, digits, buckets and slices."""

from __future__ import annotations

import re
from ast import literal_eval
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pytest

from rowkey.design import Design
from rowkey.lint import check_design
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.findings import Finding

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 16, "distinct": 5_000},
    "level": {"type": "u8", "distinct": 5},
    "number": {"type": "text", "max_bytes": 10},
    "ts": "timestamp_s",
    "value": "float64",
}
RANGE_READ = [{"name": "r", "where": "number >= ?", "limit": 5}]


def find_problems(rule: str, key: str, sample: Path | None = None, **words: Any) -> list[Finding]:
    """Return the findings of one rule in a key over the fields of this file."""
    used = {**FIELDS, **words.pop("fields", {})}
    design = Design("t", key, fields=used, **{"splits": ["8"], **words})
    seen = summarize_sample(design, sample) if sample is not None else None
    return list(check_design(design, seen, select=[rule]).findings)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("[digest(host, 4)][host][ts]", []),
        ("[digest(host, 5)][host][ts]", ["only to spread rows"]),
        ("[digest(host, 4, as=hex)][host][ts]", ["only to spread rows"]),
        ("[digest(host, 16)][ts]", []),
        ("[digest(host, 16, as=hex)][ts]", ["16 bytes of digest as 32 digits"]),
        ("[digest(host, 2, as=hex)][ts]", []),
    ],
)
def test_a_digest_longer_than_needed_is_reported(key: str, expected: list[str]) -> None:
    """A long digest is reported: 4 bytes suffice before its field, raw bytes in its place."""
    told = find_problems("long-digest", key)
    assert len(expected) == len(told)
    assert all(words in one.message for words, one in zip(expected, told, strict=True))


SPLIT_REMEDY = 'and set splits = { algorithm = "uniform", regions = 2 }, '


@pytest.mark.parametrize(
    ("key", "remedy", "verdict"),
    [
        (
            "[digest(host, 16)][host]",
            "Write [digest(host, 4)] instead, or use a bucket.",
            "2 to 4 raw bytes spread as well as 16.",
        ),
        (
            "[digest(host, 4, as=hex)][host]",
            f"Write [digest(host, 4)] instead, {SPLIT_REMEDY}or use a bucket.",
            "2 to 4 raw bytes spread as well as 8 digits.",
        ),
        (
            "[digest(host, 16, as=hex)][host]",
            f"Write [digest(host, 4)] instead, {SPLIT_REMEDY}or use a bucket.",
            "2 to 4 raw bytes spread as well as 32 digits.",
        ),
        (
            "[digest(host, 16, as=hex)]",
            f"Remove as=hex, or put [digest(host, 4)] before host itself, {SPLIT_REMEDY[:-2]}.",
            "16 raw bytes distinguish as many values as 32 digits.",
        ),
    ],
)
def test_a_long_digest_in_place_of_its_field_is_accepted(
    key: str, remedy: str, verdict: str
) -> None:
    """A long digest in place of its field is accepted, as its bytes distinguish values."""
    [told] = find_problems("long-digest", key)
    assert (remedy, verdict) == (told.remedy, told.verdict)
    is_whole = key.endswith("[host]")
    mended = "[digest(host, 4)][host]" if is_whole else key.replace(", as=hex", "")
    assert [] == find_problems("long-digest", mended)
    if key == "[digest(host, 16, as=hex)]":
        assert [] == find_problems("colliding-keys", mended)


@pytest.mark.parametrize(
    "key",
    [
        "[host:raw][number]",
        "[host:raw]['~'][number]",
        "[bucket(host, 16)][host:raw][number]",
        "[bucket(host, number, 16)][host:raw]['--'][number:raw]",
        "[level][host:raw][number][ts]",
        "[raw:raw][number]",
    ],
)
def test_the_two_example_rows_of_a_collision_have_one_key(key: str) -> None:
    """The two example rows of a collision have different values and one key."""
    fields = {"raw": {"type": "bytes", "max_bytes": 9}}
    design = Design("t", key, fields={**FIELDS, **fields}, splits=["8"])
    [told] = check_design(design, select=["ambiguous-key"]).findings
    one, other = re.findall(r"(b?'[^']*') before (b?'[^']*')", told.message)
    first = "raw" if "raw:raw" in key else "host"
    rows = [
        {first: literal_eval(a), "number": literal_eval(b), "level": 1, "ts": 5}
        for a, b in (one, other)
    ]
    assert rows[0] != rows[1]
    assert design.key.encode(rows[0]) == design.key.encode(rows[1])


@pytest.mark.parametrize("key", ["[host:raw][ts]", "[digest(host, 8)][host:raw][number]"])
def test_no_example_of_a_collision_is_given_where_none_was_found(key: str) -> None:
    """No example is given after a fixed width or an eight-byte digest, where none was found."""
    [told] = find_problems("ambiguous-key", key)
    assert told.message.endswith("cannot find where host ends, so no key can be decoded")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("date", "a month of days is 30"),
        ("timestamp_s", "an hour of seconds is 3,600"),
        ("timestamp_ms", "a second of milliseconds is 1,000"),
        ("timestamp_us", "a millisecond of microseconds is 1,000"),
        ("timestamp_ns", "a microsecond of nanoseconds is 1,000"),
    ],
)
def test_ranges_of_a_reversed_time_are_counted_in_the_unit_of_its_type(
    kind: str, expected: str
) -> None:
    reads = [{"name": "r", "where": "ts >= ? and ts < ?"}]
    [told] = find_problems(
        "reversed-under-range", "[reverse(ts)]", fields={"ts": kind}, reads=reads
    )
    assert (
        f"A reversed time cannot serve a time range: {expected} separate ranges of keys."
        == told.verdict
    )


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (["9", "10"], [("10", "9")]),
        (["9999", "1000", "99", "101"], [("1000", "101")]),
        (["1", "2", "10", "20"], [("10", "2")]),
        (["1", "10", "100"], []),
        (["7", "8", "9"], []),
        (["07", "7", "8"], []),
        (["10", "9", "x"], []),
        (["-5", "3", "-7"], [("-5", "-7")]),
        (["-1", "0", "1"], []),
        (["9.50", "10.25"], [("10.25", "9.50")]),
        (["1.5.2", "10"], []),
    ],
)
def test_any_two_numbers_in_the_wrong_order_are_reported(
    tmp_path: Path, numbers: list[str], expected: list[tuple[str, str]]
) -> None:
    """The example of a wrong order need not contain the largest number of the type."""
    path = tmp_path / "rows.csv"
    lines = [f"h,1,{number},{n},0.5" for n, number in enumerate(numbers)]
    path.write_text("\n".join(["host,level,number,ts,value", *lines, ""]))
    told = find_problems("unpadded-digits", "[number][ts]", path, reads=RANGE_READ)
    assert expected == [(one.evidence["greater"], one.evidence["lesser"]) for one in told]


@pytest.mark.parametrize("texts", [("9", "10"), ("13/01/2024", "01/12/2024")])
@pytest.mark.parametrize(
    ("read", "severity"),
    [({"where": "number >= ?"}, "error"), ({"where": "", "order": "number"}, "warning")],
)
def test_a_range_over_text_that_does_not_sort_is_an_error(
    tmp_path: Path, texts: tuple[str, str], read: dict[str, str], severity: str
) -> None:
    """A range over text that does not sort finds other rows; an order only sorts them otherwise."""
    path = tmp_path / "rows.csv"
    lines = [f"h,1,{text},{n},0.5" for n, text in enumerate(texts)]
    path.write_text("\n".join(["host,level,number,ts,value", *lines, ""]))
    reads = [{"name": "r", "limit": 5, **read}]
    [told] = find_problems("unpadded-digits", "[number][ts]", path, reads=reads)
    assert severity == told.severity


@pytest.mark.parametrize(
    ("key", "field", "expected"),
    [
        ("[reverse(host)][ts]", "host", "does not keep its order"),
        ("[pad(number, 10)][ts]", "number", "does not keep its order"),
        ("[code(host)][ts]", "host", "does not keep its order"),
        ("[host][ts]", "host", ""),
        ("[desc(host)][ts]", "host", ""),
    ],
)
def test_a_range_over_a_part_without_order_names_the_right_cause(
    key: str, field: str, expected: str
) -> None:
    """Reversed, padded and coded fields get a finding that names the right cause."""
    reads = [{"name": "r", "where": f"{field} >= ?", "limit": 5}]
    told = find_problems("reversed-under-range", key, reads=reads)
    assert bool(expected) == bool(told)
    assert all(expected in one.message and "time" not in one.verdict for one in told)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("[bucket(host, 3)][ts][host]", 1),
        ("[bucket(host, 3, as=decimal)]['_'][ts][host]", 1),
        ("[bucket(host, 3)][host][ts]", 0),
        ("[bucket(host, 16)]['_'][ts][host]", 0),
    ],
)
def test_a_constant_between_bucket_and_time_does_not_hide_the_front(
    key: str, expected: int
) -> None:
    """Three buckets are three fronts, although a constant separates them from the time."""
    told = find_problems("too-few-buckets", key, splits="per_bucket", cluster={"servers": 8})
    assert expected == len(told)


@pytest.mark.parametrize(("distinct", "expected"), [(63, 0), (64, 1)])
def test_a_bucket_over_more_fields_than_reads_give_is_accepted_for_few_values(
    distinct: int, expected: int
) -> None:
    """A bucket over more fields than reads give is accepted below four values a bucket."""
    host = {"type": "text", "max_bytes": 16, "distinct": distinct}
    told = find_problems(
        "read-asks-every-bucket",
        "[bucket(host, level, 16)][host][ts][level]",
        splits="per_bucket",
        fields={"host": host},
        reads=[{"name": "r", "where": "host = ? and ts >= ?", "limit": 5}],
    )
    assert expected == len(told)


@pytest.mark.parametrize(
    ("levels", "expected"), [(1, [86_400.0]), (5, [17_280.0]), (50, []), (None, [])]
)
def test_events_of_a_time_slice_are_divided_by_the_other_key_fields(
    levels: int | None, expected: list[float]
) -> None:
    """The events of a slice are divided by the declared values of the other key fields."""
    level = {"type": "u32"} if levels is None else {"type": "u32", "distinct": levels}
    told = find_problems(
        "slice-length",
        "[host][level][time_slice(ts, 1d)]",
        fields={"level": level},
        writes={"arrival": "per(host)", "period": "1s"},
    )
    assert expected == [one.evidence["events"] for one in told]


@pytest.mark.parametrize(
    ("key", "splits", "message"),
    [
        ("[host][ts]", "['m']", "go to one region at a time, so the load is uneven."),
        ("[host][ts]", "['b', 'c', 'd', 'e', 'f', 'g', 'h']",
         "go to one region at a time, so 3 or more regions get none of them."),
        ("[bucket(host, 16)][host][ts]", "'per_bucket'",
         "hashed values leave 11.6 of them empty on average."),
    ],
)  # fmt: skip
def test_few_values_in_key_order_are_not_described_as_hashed(
    key: str, splits: str, message: str
) -> None:
    """The finding on few values describes the regions by the order in which the key puts them."""
    text = (
        f'table = "t"\nkey = "{key}"\nsplits = {splits}\n[fields]\nts = "timestamp_ms"\n'
        'host = { type = "text", max_bytes = 9, distinct = 5 }\nv = "u8"\n'
    )
    [told] = check_design(Design.loads(text), select=["RK104"]).findings
    assert message in told.message


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ({"type": "text", "max_bytes": 40}, "10.0.{}.7", ['Declare type = "ipv4".']),
        ("ipv4", "10.0.{}.7", []),
        ("uuid", "00112233-4455-6677-8899-aabbccddee{:02x}", []),
    ],
)
def test_only_a_text_field_is_reported_to_spell_out_its_value(
    tmp_path: Path, declared: Any, text: str, expected: list[str]
) -> None:
    """Only a text field can spell out a value; other types store their own bytes."""
    sample = tmp_path / "rows.csv"
    sample.write_text("id,value\n" + "".join(f"{text.format(n)},1\n" for n in range(60)))
    design = Design("t", "[id]", fields={"id": declared, "value": "u8"}, splits=["8"])
    told = check_design(design, summarize_sample(design, sample), select=["RK113"]).findings
    assert expected == [one.remedy for one in told]


@pytest.mark.parametrize("declared", [{}, {"normalize": "nfc"}])
@pytest.mark.parametrize("names", [["Zo\u00eb", "Zoe\u0308"], ["Zo\u00eb", "Zoe"]])
def test_texts_that_are_equal_in_unicode_but_have_two_keys_are_reported(
    names: list[str], declared: dict[str, str], tmp_path: Path
) -> None:
    """Values that Unicode holds to be one are two keys, unless the field makes them one."""
    sample = tmp_path / "sample.csv"
    sample.write_text("name,value\n" + "".join(f"{name},1\n" for name in names))
    fields = {"name": {"type": "text", "max_bytes": 9} | declared, "value": "u8"}
    design = Design("t", "[name]", fields=fields, splits=["8"])
    told = check_design(design, summarize_sample(design, sample), select=["RK114"]).findings
    is_one = len({normalize("NFC", name) for name in names}) == 1
    expected = ['Declare normalize = "nfc", which makes them one.'] * (is_one and not declared)
    assert expected == [one.remedy for one in told]


HEX = {
    "id": {"type": "hex", "width": 32},
    "name": {"type": "text", "max_bytes": 90, "mean_bytes": 60},
}
IDS = "Use ids instead of names; "
EVEN_REMEDY = 'set splits = { algorithm = "uniform", regions = 2 }'


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("[id]", f"Write [id:bytes] instead of [id], and {EVEN_REMEDY}."),
        ("[bucket(id, 8)][id]", "Write [id:bytes] instead of [id]."),
        ("[name][id]", "Write [id:bytes] instead of [id]."),
        ("[id:bytes]", None),
        ("[name]", IDS),
        ("[name][id:bytes]", IDS),
        # Numbers with one column cannot be made shorter.
        ("[at][number][uuid]", None),
        # Four bytes would lose what is less than a second, and digits are longer.
        ("[name][at]", IDS),
        ("[name][at:calendar]", "Write [at] instead of [at:calendar]."),
        # A u32 has no room for each u64.
        ("[name][number]", IDS),
        ("[name][odd]", IDS),
    ],
)
def test_the_first_remedy_for_a_long_id_is_its_shorter_encoding(
    key: str, remedy: str | None
) -> None:
    """The first remedy for an id in digits is the encoding that halves its bytes."""
    others: dict[str, Any] = {
        "at": "timestamp_ms",
        "number": "u64",
        "odd": {"type": "hex", "width": 7},
    }
    others["uuid"] = "uuid"
    fields = {n: words for n, words in (HEX | others).items() if n in key} | {"value": "u8"}
    told = check_design(Design("t", key, fields=fields, splits=["8"]), select=["RK107"]).findings
    assert ([] if remedy is None else [remedy]) == [
        IDS if one.remedy.startswith(IDS) else one.remedy for one in told
    ]


@pytest.mark.parametrize(
    ("mean", "reads", "is_digest"),
    [
        (120, ["name = ?"], True),
        (120, ["name in ?", "name = ? and day > ?"], True),
        (120, ["name = ?", "name starts with ?"], False),
        (120, ["name = ?", "name > ?"], False),
        (120, ["day = ?"], False),
        (120, [], False),
        (20, ["name = ?"], False),
    ],
)
def test_a_digest_is_proposed_only_for_a_text_that_reads_give_whole(
    mean: int, reads: list[str], *, is_digest: bool
) -> None:
    """A digest takes the place of a text only where no read needs its order or its beginning."""
    fields = {"name": {"type": "text", "max_bytes": 900, "mean_bytes": mean}, "day": "date"}
    told = [
        one.remedy
        for key in ("[name][day]", "[digest(name, 16)][day]")
        for one in check_design(
            Design(
                "t",
                key,
                fields=fields | {"clicks": "u8", "seen": "u8"},
                splits={"algorithm": "uniform", "regions": 8},
                reads=[{"name": where, "where": where} for where in reads],
            ),
            select=["RK107"],
        ).findings
    ]
    digest = "Write [digest(name, 16)] instead of [name], and set splits = "
    assert [True] * is_digest == [one.startswith(digest) for one in told if "digest" in one]
    assert not is_digest or len(told) == 1


@pytest.mark.parametrize("mean", [100, 120, 400])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_a_digest_is_proposed_only_where_events_become_smaller(mean: int, count: int) -> None:
    """The column that then holds the text is a cell more, with a key of its own."""
    fields = {"name": {"type": "text", "max_bytes": 900, "mean_bytes": mean}, "day": "date"}
    fields |= {f"column{number}": "u32" for number in range(count)}
    reads = [{"name": "one", "where": "name = ?"}]
    design = Design("t", "[name][day]", fields=fields, reads=reads)
    told = check_design(design, select=["RK107"]).findings
    fixed, day = 20 + len("d"), 4
    column = fixed + len("column1") + day + 4
    plain = count * (column + mean + 1)
    digested = count * (column + 16) + fixed + len("name") + 16 + day + mean
    assert (digested < plain) == any("digest" in one.remedy for one in told)


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("[probe][at:u32]", "Write [at] instead of [at:u32]."),
        ("[probe][time_bucket(at, 1h)]", "Add at itself to the key, after that part."),
    ],
)
def test_an_encoding_that_cuts_a_value_is_left_out(key: str, remedy: str) -> None:
    """A time in whole seconds gets its fraction back by its own encoding, and not once more."""
    design = Design("t", key, fields={"probe": "u32", "at": "timestamp_ms", "rtt": "float32"})
    assert [remedy] == [one.remedy for one in check_design(design, select=["RK110"]).findings]


def test_a_digest_in_a_table_of_one_region_needs_no_splits() -> None:
    """The splits of one region, which uniform splits cannot make, are not advised."""
    fields: dict[str, Any] = {"name": {"type": "text", "max_bytes": 900, "mean_bytes": 120}}
    fields |= {"clicks": "u8", "seen": "u8"}
    reads = [{"name": "it", "where": "name = ?"}]
    design = Design("t", "[name]", fields=fields, reads=reads)
    (told,) = check_design(design, select=["RK107"]).findings
    assert told.remedy.startswith("Write [digest(name, 16)] instead of [name]: all reads give")


@pytest.mark.parametrize(
    ("splits", "names"),
    [
        ('"per_bucket"', ["few-leading-values"]),
        ('{ algorithm = "per_bucket", regions = 8 }', ["few-leading-values"]),
    ],
)
def test_no_more_regions_are_proposed_than_there_are_values(splits: str, names: list[str]) -> None:
    """Eight regions are not proposed for four statuses, which would leave four empty."""
    text = (
        f'table = "t"\nkey = "[status][desc(ts)][oid]"\nsplits = {splits}\n[fields]\n'
        'status = { type = "choice", of = ["NEW", "PAID", "SENT", "DONE"] }\n'
        'ts = "timestamp_ms"\noid = "u64"\n'
    )
    told = check_design(Design.loads(text), select=["RK104", "RK201", "RK205"]).findings
    assert names == [one.name for one in told]


@pytest.mark.parametrize("sample", ["", '[sample]\npath = "rows.csv"\n'])
def test_a_remedy_with_sampled_splits_asks_for_a_missing_sample(sample: str) -> None:
    """A remedy with sampled splits asks for a recording where none is declared."""
    text = f'table = "t"\nkey = "[host]"\n[fields]\nhost = "text"\nv = "u8"\n{sample}'
    [told] = check_design(Design.loads(text), select=["RK203"]).findings
    assert ("[sample] path" in told.remedy) is not bool(sample)


@pytest.mark.parametrize(
    ("part", "algorithm"),
    [("digest(host, 8)", "uniform"), ("digest(host, 8, as=hex)", "hex_string")],
)
def test_equal_step_splits_are_proposed_for_a_key_that_begins_with_a_hash(
    part: str, algorithm: str
) -> None:
    """Equal steps fit a hash, and the proposed splits are found right."""
    fields = 'host = { type = "text", max_bytes = 16 }\nts = "timestamp_ms"\nv = "u8"\n'
    text = f'table = "t"\nkey = "[{part}][host][ts]"\n[fields]\n{fields}'
    [told] = check_design(Design.loads(text), select=["RK203"]).findings
    splits = f'{{ algorithm = "{algorithm}", regions = 16 }}'
    assert told.remedy.startswith(f"Write splits = {splits}, because")
    fixed = Design.loads(f"splits = {splits}\n{text}")
    assert [] == list(check_design(fixed, select=["RK201", "RK203", "RK205"]).findings)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("host:fixed(8)", [8]),
        ("desc(host:fixed(8))", [8]),
        ("host:fixed(16)", []),
        ("host", []),
        ("truncate(host, 4)", []),
        ("pad(number, 6)", [6]),
        ("code(host)", []),
    ],
)
def test_a_fixed_width_that_refuses_possible_values_is_reported(
    part: str, expected: list[int]
) -> None:
    """A part that refuses values that its field may have is reported with its width."""
    found = find_problems("RK125", f"[bucket(host, 4)][{part}][ts]")
    assert expected == [one.evidence["width"] for one in found]


def test_a_fixed_width_of_a_nullable_field_that_refuses_values_is_reported() -> None:
    """The byte that tells a missing value from others does not hide the width."""
    text = (
        'table = "t"\nkey = "[host:fixed(12)][ts]"\n[fields]\nts = "timestamp_ms"\n'
        'host = { type = "text", max_bytes = 20, nullable = true }\nv = "u8"\n'
    )
    [found] = check_design(Design.loads(text), select=["RK125"]).findings
    assert 12 == found.evidence["width"]


@pytest.mark.parametrize(("prices", "severity"), [(1, "warning"), (3, "info")])
def test_no_rule_asks_to_add_a_measured_value_that_another_asks_to_remove(
    tmp_path: Path, prices: int, severity: str
) -> None:
    """What one rule says to take out of a key, no other says to add to it."""
    path = tmp_path / "trades.csv"
    lines = (f"a{n % 50},{n // (50 * prices)},{n // 50 % prices}.5" for n in range(1_500))
    path.write_text("\n".join(["asset,block,price", *lines]) + "\n")
    fields = {"asset": {"type": "text", "max_bytes": 8}, "block": "u32", "price": "float64"}
    design = Design("t", "[asset][block][price]", fields=fields)
    found = check_design(design, summarize_sample(design, path), select=["RK108", "RK116"])
    assert [("RK116", severity)] == [(one.code, one.severity) for one in found.findings]


@pytest.mark.parametrize(
    ("lines", "is_unique", "expected"),
    [
        (0, False, ["warning"]),
        (0, True, []),
        (1, False, ["info"]),  # each event has its number
        (2, False, ["warning"]),  # two events have one number on one day
    ],
)
def test_no_further_key_field_is_asked_for_if_no_sample_shows_the_need(
    lines: int, is_unique: bool, expected: list[str], tmp_path: Path
) -> None:
    """Rows may share a key where a sample does not show that another field tells them apart."""
    sample = tmp_path / "events.csv"
    rows = [f"{n // max(lines, 1)},{1_700_000_000 + n}" for n in range(600)]
    sample.write_text("\n".join(["event,ts", *rows]), encoding="utf-8")
    found = find_problems(
        "colliding-keys",
        "[time_bucket(ts, 1d)][event]",
        sample if lines else None,
        fields={"event": {"type": "u32", "unique": is_unique}},
    )
    assert expected == [one.severity for one in found]


@pytest.mark.parametrize(
    ("key", "is_counter"),
    [("[level]", True), ("[bucket(level, 16)][level]", True), ("[level][host]", False)],
)
def test_few_rows_with_all_writes_get_no_remedy_of_the_same_fields(
    key: str, *, is_counter: bool
) -> None:
    """Where each of few values is a row, no key of the same fields spreads its writes."""
    fields = {name: FIELDS[name] for name in ("level", "host", "value") if name in f"{key}value"}
    splits = "per_bucket" if "bucket" in key else ["2", "4"]
    design = Design("t", key, fields=fields, splits=splits, writes={"rate": "25000/s"})
    told = check_design(design, select=["RK104"]).findings
    assert [is_counter] == ["adding up its rows" in one.remedy for one in told]


def test_nulls_are_one_of_the_values_in_front(tmp_path: Path) -> None:
    """A key that starts with three campaigns or null has four values to fill its regions."""
    design = Design(
        "visits",
        "[bucket(campaign, 16)][campaign][visit]",
        fields={"campaign": {"type": "text", "nullable": True}, "visit": "u32"},
        splits="per_bucket",
    )
    path = tmp_path / "visits.csv"
    visits = [f"{['', 'a', 'b', 'c'][n % 4]},{n}" for n in range(2_000)]
    path.write_text("\n".join(["campaign,visit", *visits]))
    (found,) = check_design(design, summarize_sample(design, path), select=["RK104"]).findings
    assert "campaign has 4 values for 16 regions" in found.message


@pytest.mark.parametrize(
    ("distinct", "width", "severity"),
    [(10_000, 4, None), (10_001, 4, "info"), (100_001, 4, "warning"), (300, 1, "error")],
)
def test_a_dictionary_of_too_many_values_is_told(
    distinct: int, width: int, severity: str | None
) -> None:
    """The catalog keeps them in one list, and the bytes of a number hold so many."""
    fields = {"host": {"type": "text", "distinct": distinct}, "ts": "timestamp_ms"}
    design = Design("t", f"[code(host, width={width})][ts]", fields=fields)
    told = check_design(design, select=["RK127"]).findings
    assert [severity] * (severity is not None) == [one.severity for one in told]
    for one in told:
        assert f"Write [host] instead of [code(host, width={width})]." == one.remedy
        assert ("numbers for them" in one.message) == (severity == "error")
