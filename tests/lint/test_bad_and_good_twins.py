"""Each bad table is found by its rule, and the good table next to it by none."""

from __future__ import annotations

import re
from pathlib import Path
from string import ascii_letters, digits

import pytest

from rowkey.design import Design
from rowkey.lint import check_design
from samples import summarize_sample

BILLS = """\
table  = "bills"
key    = "[bucket(customer, 16)][customer][day][bill]"
splits = "per_bucket"

[fields]
customer = { type = "u32", distinct = 10000 }
day      = DAY
bill     = "u32"
amount   = { type = "decimal", precision = 9, scale = 2 }

[families.d]
compression = "ZSTD"
encoding    = "FAST_DIFF"
ATTRIBUTES

[[reads]]
name  = "bills of a customer"
where = "customer = ? and day >= ? and day < ?"
limit = 100
"""
DATES = "".join(
    f"{n * 7919 % 1009},{1 + n % 28:02d}/{1 + n % 12:02d}/{2019 + n % 5},{n},{n % 97}.5\n"
    for n in range(600)
)
DATES_OF_ONE_YEAR = re.sub(r"/20[0-9]{2},", "/2024,", DATES)
DATES_THAT_BEGIN_WITH_THE_MONTH = "".join(
    f"{n % 1009},{1 + n // 28:02d}/{1 + n % 28:02d}/2025,{n},{n % 97}.5\n" for n in range(12 * 28)
)
ZONED_TIMES = "".join(
    f"{n % 1009},2025-03-31T{n // 60:02d}:{n % 60:02d}:00{'+09:00' if n % 3 else 'Z'},{n},1.5\n"
    for n in range(1_200)
)
ISO_DATES = "".join(
    f"{n * 7919 % 1009},{2019 + n % 5}-{1 + n % 12:02d}-{1 + n % 28:02d},{n},{n % 97}.5\n"
    for n in range(600)
)
MILLISECONDS = "".join(
    f"{n * 7919 % 1009},{1_700_000_000_000 + 977 * n},{n},{n % 97}.5\n" for n in range(600)
)
TEXT_DAY = '{ type = "text", max_bytes = 20 }'
TEXT_TIME = '{ type = "text", max_bytes = 30 }'
PAGES = """\
table  = "pages"
key    = "[bucket(site, 16)][site][page]"
splits = "per_bucket"

[fields]
site = { type = "u32", distinct = 10000 }
page = "u32"
body = { type = "text", max_bytes = 200000, mean_bytes = MEAN }

[families.d]
compression   = "ZSTD"
mob           = true
mob_threshold = THRESHOLD
"""
LOAD = """\
table  = "log"
key    = "[bucket(host, 16)][host][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 16 }
ts   = "timestamp_ms"
line = { type = "text", max_bytes = 200 }

[families.d]
ttl         = "1h"
compression = "ZSTD"
encoding    = "FAST_DIFF"

[writes]
rate = "RATE/s"
"""
PADDED = """\
table  = "log"
key    = "[bucket(host, 16)][HOST][ts]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 64 }
ts   = "timestamp_ms"
size = "u32"

[families.d]
ttl         = "30d"
compression = "ZSTD"
encoding    = "FAST_DIFF"
"""
TRACKS = """\
table  = "tracks"
key    = "[bucket(truck, 16)][truck]KEY"
splits = "per_bucket"

[fields]
truck = { type = "text", max_bytes = 8 }
at    = TIME
speed = "u8"

[families.d]
ttl         = "30d"
compression = "ZSTD"
encoding    = "FAST_DIFF"
versions    = 1

[[reads]]
name  = "track of a day"
where = "truck = ? and at >= ? and at < ?"
span  = "1d"
"""
HOSTS = "".join(
    f"host{1000 + n * 7919 % 997},{1_700_000_000_000 + 977 * n},{n}\n" for n in range(600)
)


def build_bills(day: str = '"date"', attributes: str = "") -> str:
    """Return the table of bills with another type of its day, or attributes of its family."""
    return BILLS.replace("DAY", day).replace("ATTRIBUTES", attributes)


def build_pages(mean_bytes: int, threshold: int) -> str:
    """Return the table of pages with large values of some mean size."""
    return PAGES.replace("MEAN", str(mean_bytes)).replace("THRESHOLD", str(threshold))


SIGN_INS = """\
table  = "sign_ins"
key    = "[bucket(user, 16)][user][at]"
splits = "per_bucket"

[fields]
user = TYPE
at   = "timestamp_ms"
code = "u32"

[families.d]
ttl         = "30d"
compression = "ZSTD"
encoding    = "FAST_DIFF"

[[reads]]
name  = "some users"
where = "user >= ? and user < ?"
limit = 100
"""
TEXT_USER = SIGN_INS.replace("TYPE", '{ type = "text", max_bytes = 40 }')
USERS = "".join(
    f"{f'{name}.{n % 150}@Mail.com'},{1_700_000_000_000 + 977 * n},{n}\n"
    for n in range(600)
    for name in ("anna", "Ben")
)
TYPED_USERS = USERS + USERS[: len(USERS) // 2].lower()
ACCENTED_USERS = USERS.replace("anna", "zo\u00eb") + USERS[:100].replace("anna", "zoe\u0308")
CODE_CHARACTERS = f"{digits}{ascii_letters}"
CODES = "".join(
    f"{''.join(CODE_CHARACTERS[n * 100_003 // 62**at % 62] for at in range(3))},"
    f"{1_700_000_000_000 + 977 * n},{n}\n"
    for n in range(3_000)
)
ADDRESSES = "".join(
    f"10.0.{n % 7}.{n * 7 % 250},{1_700_000_000_000 + 977 * n},{n}\n" for n in range(600)
)

NUMBERED = """\
table  = "events"
key    = "[bucket(event, 16)][event]"
splits = "per_bucket"

[fields]
event = { type = "TYPE", unique = true }
level = "u8"

[families.d]
ttl         = "30d"
compression = "ZSTD"
encoding    = "FAST_DIFF"

[writes]
rate    = "9000/s"
arrival = "sequential"
"""
METRICS = """\
table  = "metrics"
key    = "[bucket(metric, 16)][CODE][ts]"
splits = "per_bucket"

[fields]
metric = { type = "text", max_bytes = 60, distinct = 20000 }
ts     = "timestamp_s"
value  = "float64"

[families.d]
ttl         = "30d"
compression = "ZSTD"
encoding    = "FAST_DIFF"
"""
REVIEWS = """\
table  = "reviews"
key    = "[bucket(product, 16)][product][at]"
splits = "per_bucket"

[fields]
product = { type = "u64", distinct = 4000000 }
at      = "timestamp_s"
text    = { type = "text", mean_bytes = 900 }

[families.d]
compression = "CODEC"
encoding    = "FAST_DIFF"

[writes]
rate = "30/s"
"""
ALBUMS = """\
table  = "albums"
key    = "[bucket(album, 32)][album][photo]"
splits = "per_bucket"

[fields]
album = { type = "u64", distinct = 2000000 }
photo = "u32"
title = { type = "text", max_bytes = 200, mean_bytes = 30 }
jpeg  = { type = "bytes", max_bytes = 2000000, mean_bytes = 400000, family = "p" }

[families.d]
compression = "ZSTD"

[families.p]
mob = MOB

[writes]
rate = "30/m"
"""

PAYMENTS = """\
table  = "payments"
key    = "[bucket(merchant, 16)][merchant][desc(ts)][payment]"
splits = "per_bucket"

[fields]
merchant = { type = "u32", distinct = 2000 }
ts       = "timestamp_ms"
payment  = "u64"
cents    = "u32"

[families.d]
ttl         = "365d"
compression = "ZSTD"
encoding    = "FAST_DIFF"

[writes]
rate = "2000/s"

[[reads]]
name  = "payments of a merchant"
where = "merchant = ?"
order = "ts desc"
rate  = "50/s"
LIMIT
"""
VECTORS = """\
table  = "vectors"
key    = "[bucket(user, 8)][user]"
splits = "per_bucket"

[fields]
user   = { type = "u64", distinct = USERS, unique = true }
vector = { type = "bytes", max_bytes = 256, mean_bytes = 256 }

[families.d]
compression = "LZ4"
in_memory   = true

[cluster]
servers = 4
heap    = "24GiB"

[writes]
rate    = "800/s"
arrival = "random"
"""


def build_tracks(key: str, time: str) -> str:
    """Return the table of positions with another key, and another place of the time."""
    return TRACKS.replace("KEY", key).replace("TIME", time)


TWINS = {
    "dates of one year as text that begins with the day": (
        ("RK112", build_bills(TEXT_DAY), DATES_OF_ONE_YEAR),
        (build_bills('"date"'), ISO_DATES),
    ),
    "addresses of people in any case": (
        ("RK114", TEXT_USER, TYPED_USERS),
        (TEXT_USER, USERS.lower()),
    ),
    "names in two forms of Unicode": (
        ("RK114", TEXT_USER, ACCENTED_USERS),
        (TEXT_USER.replace("40 }", '40, normalize = "nfc" }'), ACCENTED_USERS),
    ),
    "names of which each has one spelling": (
        ("RK114", TEXT_USER, TYPED_USERS),
        (TEXT_USER, USERS),
    ),
    "short codes that their case tells apart": (
        ("RK114", TEXT_USER, TYPED_USERS),
        (TEXT_USER, CODES),
    ),
    "addresses as text of which a read asks a range": (
        ("RK113", TEXT_USER, ADDRESSES),
        (SIGN_INS.replace("TYPE", '"ipv4"'), ADDRESSES),
    ),
    "a range of a time of which one version is kept": (
        ("RK402", build_tracks("", '{ type = "timestamp_ms", at = "timestamp" }'), ""),
        (build_tracks("[at]", '"timestamp_ms"'), ""),
    ),
    "dates as text that begins with the day": (
        ("RK112", build_bills(TEXT_DAY), DATES),
        (build_bills(TEXT_DAY), ISO_DATES),
    ),
    "dates of one year as text that begins with the month": (
        ("RK112", build_bills(TEXT_DAY), DATES_THAT_BEGIN_WITH_THE_MONTH),
        (build_bills(TEXT_DAY), ISO_DATES),
    ),
    "times as text with their offsets from UTC": (
        ("RK112", build_bills(TEXT_TIME), ZONED_TIMES),
        (build_bills(TEXT_TIME), ZONED_TIMES.replace("+09:00", "Z")),
    ),
    "times in milliseconds as text": (
        ("RK113", build_bills(TEXT_DAY), MILLISECONDS),
        (build_bills('"timestamp_ms"'), MILLISECONDS),
    ),
    "times in milliseconds as digits": (
        ("RK113", build_bills('{ type = "digits", width = 13 }'), MILLISECONDS),
        (build_bills('"timestamp_ms"'), MILLISECONDS),
    ),
    "a fixed width eight times as long as the values": (
        ("RK107", PADDED.replace("HOST", "host:fixed(64)"), HOSTS),
        (PADDED.replace("HOST", "host"), HOSTS),
    ),
    "a Bloom filter of columns, and scans only": (
        ("RK411", build_bills(attributes='bloom = "ROWCOL"'), ""),
        (build_bills(attributes='bloom = "ROW"'), ""),
    ),
    "a threshold of large values below common ones": (
        ("RK510", build_pages(600, 100), ""),
        (build_pages(150_000, 102_400), ""),
    ),
    "numbers of 32 bits for 9,000 new rows a second": (
        ("RK125", NUMBERED.replace("TYPE", "u32"), ""),
        (NUMBERED.replace("TYPE", "u64"), ""),
    ),
    "ids of one byte for 20,000 metrics": (
        ("RK125", METRICS.replace("CODE", "code(metric, width=1)"), ""),
        (METRICS.replace("CODE", "code(metric, width=3)"), ""),
    ),
    "text that is never deleted and not compressed": (
        ("RK409", REVIEWS.replace("CODEC", "NONE"), ""),
        (REVIEWS.replace("CODEC", "LZ4"), ""),
    ),
    "a declared length that a fixed width pads eight times": (
        ("RK107", PADDED.replace("HOST", "host:fixed(512)"), ""),
        (PADDED.replace("HOST", "host"), ""),
    ),
    "a threshold of large values above all of them": (
        ("RK510", build_pages(150_000, 10_000_000), ""),
        (build_pages(150_000, 102_400), ""),
    ),
    "pictures in an ordinary family next to small columns": (
        ("RK304", ALBUMS.replace("MOB", "false"), ""),
        (ALBUMS.replace("MOB", "true"), ""),
    ),
    "an answer of all payments of a year": (
        ("RK608", PAYMENTS.replace("LIMIT", ""), ""),
        (PAYMENTS.replace("LIMIT", "limit = 100"), ""),
    ),
    "a table in memory that does not fit there": (
        ("RK408", VECTORS.replace("USERS", "300000000"), ""),
        (VECTORS.replace("USERS", "3000000"), ""),
    ),
    "more writes than servers usually take": (
        ("RK706", LOAD.replace("RATE", "120000"), ""),
        (LOAD.replace("RATE", "20000"), ""),
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_rule_finds_the_bad_table_and_not_the_good_one(name: str, tmp_path: Path) -> None:
    """The rule finds the bad table; in the good one no rule finds what needs a change."""
    (code, bad, bad_rows), (good, good_rows) = TWINS[name]
    assert code in find_codes(bad, bad_rows, tmp_path / "bad.csv")
    found = find_codes(good, good_rows, tmp_path / "good.csv")
    assert code not in found


def find_codes(text: str, rows: str, path: Path) -> set[str]:
    """Return the codes of the rules that find something in a design, by a sample if it has rows."""
    design, sample = Design.loads(text), None
    if rows:
        path.write_text(f"{','.join(design.fields)}\n{rows}")
        sample = summarize_sample(design, path)
    return {one.code for one in check_design(design, sample).findings}


def test_texts_of_13_digits_are_recognised_as_times(tmp_path: Path) -> None:
    """Texts of 13 digits are times in milliseconds, not any numbers."""
    path = tmp_path / "bills.csv"
    path.write_text(f"customer,day,bill,amount\n{MILLISECONDS}")
    design = Design.loads(build_bills(TEXT_DAY))
    (found,) = (
        one
        for one in check_design(design, summarize_sample(design, path)).findings
        if one.code == "RK113"
    )
    assert 'Declare type = "timestamp_ms".' == found.remedy


def test_the_remedy_for_a_padded_key_is_an_encoding_without_padding(tmp_path: Path) -> None:
    """The remedy for a width of 64 bytes for values of eight is the encoding without padding."""
    path = tmp_path / "log.csv"
    path.write_text(f"host,ts,size\n{HOSTS}")
    design = Design.loads(PADDED.replace("HOST", "host:fixed(64)"))
    result = check_design(design, summarize_sample(design, path), select=["RK107"])
    (found,) = result.findings
    assert found.remedy == (
        "Write [host] instead of [host:fixed(64)], which pads values of at most 8 bytes to 64."
    )


def test_addresses_stored_as_text_are_reported_where_a_read_uses_their_order(
    tmp_path: Path,
) -> None:
    """Text takes more bytes than an address, and returns wrong rows of a range."""
    path = tmp_path / "sign_ins.csv"
    path.write_text(f"user,at,code\n{ADDRESSES}")
    severities = []
    for text in (TEXT_USER, TEXT_USER.replace("user >= ? and user < ?", "user = ?")):
        design = Design.loads(text)
        found = check_design(design, summarize_sample(design, path), select=["RK113"]).findings
        severities += [one.severity for one in found]
    assert ["warning", "info"] == severities
