"""The description of a table, of rowkey or of another program, creates the same table again."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rowkey
from example_counts import thin_out
from observe.worlds import encode_bound
from rowkey import lint
from rowkey.cells import Cell, Family, RowCells
from rowkey.engines import TableSpec, open_engine
from rowkey.observe import describe_table
from rowkey.rows import parse_qualifier
from rowkey.table import create_table

if TYPE_CHECKING:
    from rowkey.engines import Engine, Store

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 16},
    "ts": "timestamp_ms",
    "message": {"type": "text", "nullable": True, "family": "d", "qualifier": "m"},
}
FAMILIES: dict[str, Any] = {
    "d": {
        "versions": 3,
        "ttl": "30d",
        "compression": "ZSTD",
        "encoding": "FAST_DIFF",
        "bloom": "ROWCOL",
        "keep_deleted": "TTL",
        "block_size": 8_192,
        "min_versions": 1,
    },
    "e": {"in_memory": True, "bloom": "ROWPREFIX_FIXED_LENGTH(8)"},
}
START_MS = 1_700_000_000_000
START_S = START_MS // 1_000
HOUR_S = START_S // 3_600 * 3_600
DAY_MS = START_MS // 86_400_000 * 86_400_000
NOW_MS = START_MS + 86_400_000
ONE_BYTE = tuple(bytes([number]) for number in range(1, 16))


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str:
    """A URL of an engine in memory for one test."""
    return f"memory:{request.node.name}"


def make_rows(count: int = 400) -> list[dict[str, Any]]:
    """Return rows of 30 hosts."""
    chance = random.Random(1)
    return [
        {"host": f"web-{chance.randrange(30)}", "ts": START_MS + 1_000 * number, "message": "hi"}
        for number in range(count)
    ]


def have_same_spec(one: Store, other: Store) -> bool:
    """Return whether two tables have the same families and regions."""
    families = [
        sorted(store.families_and_attributes[0], key=lambda f: f.name) for store in (one, other)
    ]
    splits = [store.spec.splits for store in (one, other)]
    return families[0] == families[1] and splits[0] == splits[1]


def recreate_table(engine: Engine, table: str, url: str) -> str:
    """Create a table from the description of another, compare both, and return its text."""
    found = describe_table(table, url)
    again = rowkey.Design.loads(found.text)
    assert () == lint.check_design(again).filter_by_severity("error")
    with create_table(again, f"{url}.again") as made:
        assert have_same_spec(engine.open_table(table), made.store)
        second = describe_table(table, f"{url}.again")
    assert second.design.families == again.families
    assert second.is_own_table
    return found.text


@pytest.mark.parametrize(
    ("key", "splits"),
    [
        ("[bucket(host, 16)][host][desc(ts)]", "per_bucket"),
        ("[salt(8)][host][ts]", "per_bucket"),
        ("[ts][host]", {"algorithm": "hex_string", "regions": 16}),
        ("[host][ts]", []),
    ],
)
def test_a_table_that_rowkey_created_is_described_by_its_design(
    url: str, key: str, splits: Any
) -> None:
    """A table that rowkey created is described by exactly its design, and created again."""
    words = {"fields": FIELDS, "families": FAMILIES, "splits": splits}
    design = rowkey.Design("logs", key, **words)
    with open_engine(url) as engine, create_table(design, url) as table:
        with table.batch() as batch:
            for row in make_rows(40):
                batch.put(row)
        found = describe_table("logs", url)
        assert design == found.design
        assert (True, 0) == (found.is_own_table, found.sampled_rows)
        recreate_table(engine, "logs", url)


def test_split_regions_and_altered_families_are_described_as_they_are_now(url: str) -> None:
    words = {"fields": FIELDS, "families": FAMILIES, "splits": "per_bucket"}
    design = rowkey.Design("logs", "[bucket(host, 4)][host][ts]", **words)
    with open_engine(url) as engine, create_table(design, url) as table:
        table.store.split(b"\2m")
        table.store.alter_families([Family("d", versions=7, ttl_s=60)])
        text = recreate_table(engine, "logs", url)
    assert "the current 5 regions; the table was created with 4" in text
    assert 'ttl      = "1m"' in text
    assert 7 == rowkey.Design.loads(text).families["d"].versions


def test_a_description_names_the_source_of_its_design(url: str) -> None:
    """A description names the catalog or the table as the source of the design."""
    design = rowkey.Design("logs", "[host][ts]", fields=FIELDS)
    with create_table(design, url) as table:
        words = table.store.families_and_attributes[1]
        entry = table.catalog.read("logs")
        assert entry is not None
        assert "is from its catalog, memory:" in describe_logs(url)
        table.store.replace_attributes({})
        assert "it may be another table of this name" in describe_logs(url)
        table.store.replace_attributes(words)
        table.catalog.remove("logs", entry.version)
        assert "is from the attributes of the table" in describe_logs(url)
        table.store.replace_attributes({**words, "rowkey.declaration": "0"})
        assert (
            "is unknown: no catalog has an entry for the table, and its attributes are broken"
            in describe_logs(url)
        )
        table.store.replace_attributes({**words, "rowkey.catalog": "nowhere:x"})
        assert "is from the attributes" in describe_logs(url)


def describe_logs(url: str) -> str:
    """Return the description of the table of logs, each comment on one line."""
    return describe_table("logs", url).text.replace("\n#  ", "")


def create_foreign_table(url: str, keys: Iterable[bytes], splits: Sequence[bytes] = ()) -> Engine:
    """Create a table without a design, with rows of two columns."""
    engine = open_engine(url)
    families = (Family("d", compression="GZ"), Family("e"))
    store = engine.create_table(TableSpec("theirs", families, tuple(splits)))
    columns = [("d", b"name", b"x y"), ("e", b"\0\1", b"v"), ("e", b"n-1", bytes(8))]
    store.mutate([RowCells(k, [Cell(f, q, 7, v) for f, q, v in columns]) for k in keys])
    return engine


def infer_key(url: str, keys: Iterable[bytes], splits: Sequence[bytes] = ()) -> tuple[str, str]:
    """Return the key that is inferred, after creating the described table and reading its rows."""
    known = sorted(set(keys))
    with create_foreign_table(url, known, splits) as engine:
        text = recreate_table(engine, "theirs", url)
    key = rowkey.Design.loads(text).key
    assert known == [key.encode(key.decode(one)) for one in known]
    return str(key), text


def encode_keys(notation: str) -> list[bytes]:
    """Return the row keys of the rows of `make_rows` under a key in notation."""
    key = rowkey.Design("t", notation, fields=FIELDS).key
    chance = random.Random(0)
    salts = [chance.randrange(key.salt_count) if key.is_salted else None for _ in make_rows()]
    return [key.encode(row, salt=salt) for row, salt in zip(make_rows(), salts, strict=True)]


def encode_long(number: int) -> bytes:
    """Encode a number as Java's Bytes.toBytes encodes a long."""
    return number.to_bytes(8, "big")


def encode_int(number: int) -> bytes:
    """Encode a number as Java's Bytes.toBytes encodes an int."""
    return number.to_bytes(4, "big")


def encode_host_keys(heads: int, numbers: Callable[[int], Iterable[int]]) -> list[bytes]:
    """Return keys of a host's name followed by numbers of eight bytes."""
    return [
        b"host-%03d\0" % head + encode_long(one) for head in range(heads) for one in numbers(head)
    ]


def deal_ids(share: float) -> Callable[[int], list[int]]:
    """Return a function that deals rising ids to hosts at random, some ids to several hosts."""

    def choose_ids(head: int) -> list[int]:
        chance = random.Random(head)
        return [1_234_567_890 + n for n in range(3_000) if chance.random() < share]

    return choose_ids


CASES: dict[str, tuple[list[bytes], Sequence[bytes], str]] = {
    "a bucket of rowkey": (
        encode_keys("[bucket(host, 16)][host][desc(ts)]"),
        ONE_BYTE,
        "[bucket(text, 16)][text][desc(time)]",
    ),
    "a bucket of rowkey over the rest of the key": (
        encode_keys("[bucket(host, ts, 16, hash=crc32)][host][ts]"),
        ONE_BYTE,
        "[bucket(text, time, 16, hash=crc32)][text][time]",
    ),
    "a salt": (encode_keys("[salt(16)][host][ts]"), ONE_BYTE, "[bucket][text][time]"),
    "time first": (encode_keys("[ts][host:tail]"), (), "[time][text:tail]"),
    "an MD5 in hexadecimal": (
        [
            hashlib.md5(row["host"].encode()).hexdigest().encode() + b"_" + row["host"].encode()
            for row in make_rows()
        ],
        (),
        "[digest(text, 16, hash=md5, as=hex)]['_'][text:tail]",
    ),
    "digits of a hash that nobody knows": (
        [
            hashlib.md5(b"pepper" + row["host"].encode()).hexdigest()[:8].encode()
            + b"_"
            + row["host"].encode()
            for row in make_rows()
        ],
        (),
        "[hash]['_'][text:tail]",
    ),
    "a raw MD5 of the field behind it": (
        [
            hashlib.md5(row["host"].encode()).digest()
            + row["host"].encode()
            + b"\0"
            + encode_long(row["ts"])
            for row in make_rows()
        ],
        (),
        "[digest(text, 16, hash=md5)][text][time]",
    ),
    "a raw SHA-1, cut": (
        [
            hashlib.sha1(row["host"].encode()).digest()[:5] + row["host"].encode()
            for row in make_rows()
        ],
        (),
        "[digest(text, 5, hash=sha1)][text:tail]",
    ),
    "a digest of all that follows": (
        [
            hashlib.sha256(row["host"].encode() + b"\0" + encode_long(row["ts"]))
            .hexdigest()[:6]
            .encode()
            + row["host"].encode()
            + b"\0"
            + encode_long(row["ts"])
            for row in make_rows()
        ],
        (),
        "[digest(text, time, 3, hash=sha256, as=hex)][text][time]",
    ),
    "a digest of a later field": (
        [
            hashlib.md5(encode_long(row["ts"])).digest()[:4]
            + row["host"].encode()
            + b"\0"
            + encode_long(row["ts"])
            for row in make_rows()
        ],
        (),
        "[digest(time, 4, hash=md5)][text][time]",
    ),
    "raw bytes of a hash that nobody knows": (
        [
            hashlib.md5(b"pepper" + row["host"].encode()).digest() + row["host"].encode()
            for row in make_rows()
        ],
        (),
        "[bytes:tail]",
    ),
    "a digest in all keys but one": (
        [
            *(hashlib.md5(b"web-%d" % n).digest() + b"web-%d" % n for n in range(60)),
            bytes(16) + b"web-60",
        ],
        (),
        "[bytes:tail]",
    ),
    "digits and text": (
        [f"{n:08d}|web {n % 7}".encode() for n in range(100)],
        (),
        "[number]['|'][text:tail]",
    ),
    "text with separators": (
        [f"web-{n % 7}|{n:04d}|x".encode() for n in range(100)],
        (),
        "[text:tail]",
    ),
    "OpenTSDB": (
        [
            bytes([0, 0, m])
            + (1_700_000_000 // 3_600 * 3_600 + 3_600 * h).to_bytes(4, "big")
            + bytes([0, 0, 1, 0, 0, t])
            for m in range(1, 4)
            for h in range(5)
            for t in range(3)
        ],
        (),
        "[bytes:fixed(3)][time:u32][bytes2:fixed(6)]",
    ),
    "OpenTSDB with one metric and a later tag": (
        [
            bytes([0, 0, 1])
            + (1_700_000_000 // 3_600 * 3_600 + 3_600 * h).to_bytes(4, "big")
            + bytes([1, 0, 1, 0, 0, t])
            for h in range(5)
            for t in range(5)
        ],
        (),
        "[bytes:fixed(3)][time:u32][bytes2:fixed(6)]",
    ),
    "OpenTSDB's names of series": (
        [bytes([0, 0, m, 0, 0, 1, 0, 0, t]) for m in range(1, 4) for t in range(9)],
        (),
        "[bytes:fixed(9)]",
    ),
    "days in milliseconds": (
        [encode_long(86_400_000 * (19_000 + n)) + b"x" for n in range(40)],
        (),
        "[time][text:tail]",
    ),
    "numbers": ([encode_long(7 * n) for n in range(50)], (), "[number]"),
    "a UUID": (
        [
            bytes(random.Random(n).randbytes(6)) + b"\x4a\x01\x80" + random.Random(n).randbytes(7)
            for n in range(50)
        ],
        (),
        "[id]",
    ),
    "noise": ([random.Random(n).randbytes(3 + n % 9) for n in range(90)], (), "[bytes:tail]"),
    "ids of ten digits": ([encode_long(10**9 + n) for n in range(90)], (), "[number]"),
    "ids of 13 digits": ([encode_long(10**12 + 37 * n) for n in range(90)], (), "[number]"),
    "ids of ten digits, later": (
        [encode_long(1_234_567_890 + 9 * n) for n in range(90)],
        (),
        "[number]",
    ),
    "order numbers": (
        [encode_long(random.Random(n).randrange(10**12, 4 * 10**12)) for n in range(90)],
        (),
        "[number]",
    ),
    "order numbers as text": (
        [b"%d" % random.Random(n).randrange(10**12, 4 * 10**12) for n in range(90)],
        (),
        "[number]",
    ),
    "telephone numbers": (
        [encode_long(random.Random(n).randrange(10**9, 4 * 10**9)) for n in range(90)],
        (),
        "[number]",
    ),
    "one id before names": (
        [encode_long(1_700_000_000) + b"user-%03d" % n for n in range(30)],
        (),
        "[number][text:tail]",
    ),
    "one time before names": (
        [encode_long(START_MS) + b"user-%03d" % n for n in range(30)],
        (),
        "[number][text:tail]",
    ),
    "a short constant before numbers": (
        [(1_200_000_000).to_bytes(4, "big") + n.to_bytes(4, "big") for n in range(30)],
        (),
        "[number]",
    ),
    "a short constant before names": (
        [(1_200_000_000).to_bytes(4, "big") + b"user-%d" % n for n in range(30)],
        (),
        "[bytes:tail]",
    ),
    "seconds": ([encode_long(START_MS // 1_000 + 977 * n) for n in range(40)], (), "[time]"),
    "minutes in seconds": (
        [encode_long(START_MS // 60_000 * 60 + 60 * n) for n in range(40)],
        (),
        "[time]",
    ),
    "every 32 seconds": ([encode_long(START_MS + 32_000 * n) for n in range(40)], (), "[time]"),
    "microseconds": ([encode_long(START_MS * 1_000 + n) for n in range(40)], (), "[time]"),
    "every 10 seconds of each host": (
        encode_host_keys(3, lambda _: range(START_S, START_S + 1_700, 10)),
        (),
        "[text][time]",
    ),
    "every 5 minutes at another second for each host": (
        encode_host_keys(10, lambda host: range(START_S + 37 * host, START_S + 86_400, 300)),
        (),
        "[text][time]",
    ),
    "once in 5 minutes of each host": (
        encode_host_keys(
            100,
            lambda host: [
                START_S + 300 * n + random.Random(f"{host} {n}").randrange(300) for n in range(16)
            ],
        ),
        (),
        "[text][time]",
    ),
    "every second of each host": (
        encode_host_keys(3, lambda _: range(START_S, START_S + 100)),
        (),
        "[text][number]",
    ),
    "ids of each host's own": (
        encode_host_keys(
            3, lambda host: range(7 * 10**8 + 10**8 * host, 7 * 10**8 + 10**8 * host + 90)
        ),
        (),
        "[text][number]",
    ),
    "ids that hosts share": (encode_host_keys(60, deal_ids(1 / 60)), (), "[text][number]"),
    "ids that each host has a few of": (
        encode_host_keys(9, deal_ids(1 / 30)),
        (),
        "[text][number]",
    ),
    "ids of documents behind each word that is in them": (
        encode_host_keys(20, deal_ids(1 / 9)),
        (),
        "[text][number]",
    ),
    "ids in buckets": (
        encode_host_keys(100, lambda host: range(1_234_567_800 + host, 1_234_571_000, 100)),
        (),
        "[text][number]",
    ),
    "ids in buckets, of which some are seen": (
        encode_host_keys(4, lambda host: range(1_234_567_800 + host, 1_234_577_000, 100)),
        (),
        "[text][number]",
    ),
    "one day in milliseconds before ids": (
        [encode_long(DAY_MS) + encode_int(7 * n) for n in range(90)],
        (),
        "[time][number]",
    ),
    "one day downwards before ids": (
        [encode_long(2**63 - 1 - DAY_MS) + encode_int(7 * n) for n in range(90)],
        (),
        "[desc(time)][number]",
    ),
    "three hours in milliseconds before ids": (
        [encode_long((HOUR_S + n % 3 * 3_600) * 1_000) + encode_int(7 * n) for n in range(90)],
        (),
        "[time][number]",
    ),
    "three times that are no whole minutes before ids": (
        [encode_long(START_MS + n % 3 * 3_600_000) + encode_int(7 * n) for n in range(90)],
        (),
        "[number][number2]",
    ),
    "a constant number before ids": (
        [encode_long(1_500_000_000_000) + encode_int(7 * n) for n in range(90)],
        (),
        "[number][number2]",
    ),
    "a constant that ends with zeros before numbers": (
        [encode_int(0x4812_0000) + encode_int(n) for n in range(30)],
        (),
        "[number]",
    ),
    "OpenTSDB with one metric in one hour": (
        [
            bytes([0, 0, 1]) + encode_int(HOUR_S) + bytes([0, 0, 1]) + n.to_bytes(3, "big")
            for n in range(1, 513)
        ],
        (),
        "[bytes:fixed(3)][time:u32][bytes2:fixed(6)]",
    ),
    "OpenTSDB as a cluster has it": (
        [
            bytes([0, 0, m]) + encode_int(HOUR_S + 3_600 * h) + bytes([0, 0, 1, 0, 0, t])
            for m in range(1, 4)
            for h in range(5)
            for t in range(1, 13)
        ],
        [b"\0\0\2", b"\0\0\3"],
        "[bytes:fixed(3)][time:u32][bytes2:fixed(6)]",
    ),
    "OpenTSDB with metrics that make microseconds": (
        [
            bytes([0, 0, m]) + encode_int(HOUR_S + 3_600 * h) + bytes([0, 0, 1, 0, 0, t])
            for m in range(2, 6)
            for h in range(5)
            for t in range(1, 13)
        ],
        (),
        "[bytes:fixed(3)][time:u32][bytes2:fixed(6)]",
    ),
    "OpenTSDB's series as a cluster has them": (
        [bytes([0, 0, m, 0, 0, 1, 0, 0, t]) for m in range(1, 4) for t in range(1, 13)],
        (),
        "[bytes:fixed(9)]",
    ),
    "OpenTSDB's names and their numbers": (
        [
            b"\0",
            b"host",
            *(b"sys.load.%d" % m for m in range(3)),
            *(b"web-%d" % t for t in range(12)),
            *(bytes([0, 0, n]) for n in range(1, 13)),
        ],
        (),
        "[bytes:tail]",
    ),
    "ids of four bytes before minutes": (
        [encode_int(300) + encode_int(HOUR_S + 60 * n) + b"x" for n in range(40)],
        (),
        "[bytes:fixed(4)][time:u32][text:tail]",
    ),
    "ids before a time": (
        [encode_long(1_234_567_890 + n) + encode_long(START_MS + 977 * n) for n in range(40)],
        (),
        "[number][time]",
    ),
    "three bytes, a second and a zero": (
        [b"\0\0\1" + encode_int(START_S + 7 * n) + b"\0\1" for n in range(90)],
        (),
        "[number][number2]",
    ),
    "every 32 seconds, long ago": (
        [encode_long(1_450_000_000_000 + 32_000 * n) for n in range(40)],
        (),
        "[time]",
    ),
    "every 256 milliseconds": ([encode_long(START_MS + 256 * n) for n in range(400)], (), "[time]"),
    "every 64 milliseconds in microseconds": (
        [encode_long(START_MS * 1_000 + 64_000 * n) for n in range(400)],
        (),
        "[time]",
    ),
    "days in milliseconds, long ago": (
        [encode_long(86_400_000 * (16_000 + n)) + b"x" for n in range(40)],
        (),
        "[time][text:tail]",
    ),
    "too few": ([b"a", b"b"], (), "[row:tail]"),
    "none": ([], (), "[row:tail]"),
}


@pytest.mark.parametrize("many", [2, 4, 16])
def test_no_bucket_is_inferred_from_rows_of_a_single_value(many: int) -> None:
    """No bucket is inferred from rows of one site, whose hash may agree by chance."""
    from rowkey.observe.description.key_format import infer_key_format

    splits = [bytes([number]) for number in range(1, many)]
    for site in range(many):
        keys = [
            bytes([site]) + b"plant-a\0" + encode_long(START_MS + 1_000 * n) for n in range(200)
        ]
        assert "[bucket][text][time]" == infer_key_format(keys, splits, NOW_MS).key


def test_a_first_byte_that_matches_no_hash_is_described_as_a_possible_salt() -> None:
    """A first byte that no hash gives is described as a possible salt, and a hash is not."""
    from rowkey.observe.description.key_format import infer_key_format

    sorts = [bytes([1 + n % 3]) + b"user-%03d" % n for n in range(60)]
    made = infer_key_format(sorts, [b"\1", b"\2", b"\3"], NOW_MS)
    assert "[bucket][text:tail]" == made.key
    assert made.notes[0].endswith("it may be a bucket, a salt or a row type.")
    hashed = infer_key_format(encode_keys("[bucket(host, 16)][host][desc(ts)]"), ONE_BYTE, NOW_MS)
    assert "the murmur3 hash of text, modulo 16" in hashed.notes[0]
    assert not any("may be" in note for note in hashed.notes)


def test_no_short_digest_is_inferred_from_a_single_value() -> None:
    """Two digits of an MD5 before a single name are not inferred as a digest; 16 bytes are."""
    from rowkey.observe.description.key_format import infer_key_format

    digest = hashlib.md5(b"plant-c").hexdigest().encode()
    keys = [b"_plant-c\0" + encode_long(START_MS + 1_000 * n) for n in range(200)]
    inferred = [
        infer_key_format([digest[:w] + one for one in keys], [], NOW_MS).key for w in (2, 32)
    ]
    assert "[hash]['_'][text][time]" == inferred[0]
    assert "[digest(text, 16, hash=md5, as=hex)]['_'][text][time]" == inferred[1]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            [encode_long(1_700_000_000)],
            "they may be s since 1970, on 2023-11-14, but they have only 1 distinct value",
        ),
        (
            [encode_long(10**12 + n) for n in range(30)],
            "ids that count up from 1,000,000,000,000",
        ),
        ([encode_long(1_234_567_890 + n) for n in range(30)], "they are as close together as ids"),
        (
            [encode_long(1_720_000_000_000_000 + 64_000 * n) for n in range(30)],
            "they may be us since 1970, on 2024-07-03, but their last byte is always the same",
        ),
        ([encode_long(DAY_MS)], "8 bytes that look like ms since 1970, on 2023-11-14."),
        ([encode_long(START_MS + n) for n in range(5)], "8 bytes that look like ms since 1970"),
        (
            [encode_long(START_MS + n) for n in range(30)],
            "8 bytes that are ms since 1970, on 2023-11-14.",
        ),
        (
            [encode_long(1_600_000_000 + 977 * n) for n in range(30)],
            "8 bytes that look like s since 1970",
        ),
        (
            [(1_600_000_020 + 60 * n).to_bytes(4, "big") for n in range(30)],
            "4 bytes that look like seconds since 1970, on 2020-09-13, all of them multiples of 60",
        ),
    ],
)
def test_inferred_times_are_reported_with_their_certainty(keys: list[bytes], expected: str) -> None:
    """Numbers that need not be times stay numbers, and times are inferred with their certainty."""
    from rowkey.observe.description.key_format import infer_key_format

    named = [one + b"user-%02d" % n for one in keys for n in range(30)]
    made = infer_key_format(named, [], NOW_MS)
    assert expected in made.notes[0]
    assert (", but " in made.notes[0]) == made.key.startswith("[number]")


@pytest.mark.parametrize(("years", "expected"), [(1, "[time]"), (3, "[number]")])
def test_times_are_inferred_up_to_a_year_ahead(years: int, expected: str) -> None:
    """Times are inferred up to a year ahead, such as expiry times, and not three years ahead."""
    from rowkey.observe.description.key_format import infer_key_format

    there = NOW_MS + years * 365 * 86_400_000
    keys = [encode_long(there - 86_399_999 * n) for n in range(60)]
    assert expected == infer_key_format(keys, [], NOW_MS).key


@pytest.mark.parametrize("name", thin_out(CASES, 2))
def test_the_key_format_is_inferred_from_what_all_keys_support(name: str) -> None:
    """The parts that all keys support are inferred with their evidence, the rest is bytes."""
    from rowkey.observe.description.key_format import infer_key_format

    keys, splits, expected = CASES[name]
    sampled = sorted(set(keys))[:2_000]
    assert expected == infer_key_format(sampled, splits, NOW_MS).key


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if number % 8 == 0 else pytest.mark.long)
        for number, name in enumerate(CASES)
    ],
)
def test_the_design_of_an_inferred_key_reads_the_table_and_creates_it_again(
    name: str, url: str
) -> None:
    keys, splits, expected = CASES[name]
    key, text = infer_key(url.replace("[", ".").replace("]", ""), keys, splits)
    assert expected == key
    assert "The design is unknown: no catalog has an entry for the table" in text


def test_columns_of_any_name_are_described_as_fields(url: str) -> None:
    """Columns of any name become fields, and values of unknown meaning are bytes."""
    _, text = infer_key(url, [b"row-%d" % n for n in range(30)])
    fields = rowkey.Design.loads(text).fields
    assert {"text": "text", "name": "text", "n_1": "bytes", "x00_x01": "text"} == {
        name: field.type.name for name, field in fields.items()
    }
    assert "n-1" == fields["n_1"].declaration.qualifier
    assert "\\x00\\x01" == fields["x00_x01"].declaration.qualifier
    assert "# found in 30 of 30 rows, 8 bytes each, like a long" in text.replace("\n#  ", "")


def test_one_value_that_is_not_text_makes_a_column_bytes(url: str) -> None:
    """One value that is not text, or has another length, makes the whole column bytes."""
    with open_engine(url) as engine:
        store = engine.create_table(TableSpec("theirs", (Family("d"),), ()))
        values = [b"ok"] * 400 + [b"\xff\xfe\xfd"]
        store.mutate(
            [RowCells(b"k%04d" % n, [Cell("d", b"v", 7, v)]) for n, v in enumerate(values)]
        )
        text = describe_table("theirs", url).text.replace("\n#  ", "")
    assert "bytes" == rowkey.Design.loads(text).fields["v"].type.name
    assert "# found in 401 of 401 rows, 2 to 3 bytes; their meaning is unknown" in text


def test_a_qualifier_too_long_for_a_field_name_is_kept(url: str) -> None:
    """A qualifier that is too long for a field name is kept as the field's qualifier."""
    cells = [Cell("d", b"q" * 400, 7, b"v"), Cell("d", b"q" * 401, 7, b"v")]
    with open_engine(url) as engine:
        store = engine.create_table(TableSpec("theirs", (Family("d"),), ()))
        store.mutate([RowCells(b"k%04d" % n, cells) for n in range(30)])
        fields = rowkey.Design.loads(recreate_table(engine, "theirs", url)).fields
    named = {name: field.declaration.qualifier for name, field in fields.items() if name != "text"}
    assert {"q" * 64: "q" * 400, "d_" + "q" * 64: "q" * 401} == named


def test_columns_of_a_family_named_0_get_valid_field_names(url: str) -> None:
    """Columns of family 0 get valid field names, with the family where the name is taken."""
    cells = [Cell("0", name, 7, b"v") for name in (b"text", b"0", b"1.5", b"in")]
    with open_engine(url) as engine:
        store = engine.create_table(TableSpec("theirs", (Family("0"),), ()))
        store.mutate([RowCells(b"row-%d" % n, cells) for n in range(30)])
        fields = rowkey.Design.loads(recreate_table(engine, "theirs", url)).fields
    named = {name: field.declaration.qualifier for name, field in fields.items() if name != "text"}
    assert {
        "family_0_text": "text", "column_0": "0", "column_1_5": "1.5", "column_in": "in",
    } == named  # fmt: skip


@given(
    columns=st.sets(
        st.tuples(
            st.sampled_from(["d", "0", "--", "in", "\u00fc", "a.b"]),
            st.text(min_size=1, max_size=9).map(lambda text: text.encode("utf-8", "replace"))
            | st.binary(min_size=1, max_size=9)
            | st.sampled_from([b"in", b"desc", b"0", b"a", b"A", b"d_a"]),
        ),
        max_size=12,
    )
)
def test_columns_of_any_name_get_field_names_without_quotes(
    columns: set[tuple[str, bytes]],
) -> None:
    """Columns of any name get different field names that need no quotes in reads and keys."""
    from rowkey.observe.description.column_fields import build_fields
    from rowkey.observe.description.table_sample import SampledColumn, TableSample

    seen = {(f, q): SampledColumn(f, q, row_count=1, min_bytes=1, max_bytes=1) for f, q in columns}
    made, _ = build_fields(TableSample([b"k"], seen), {"a", "text"})
    assert not {"a", "text"} & made.keys()
    declared = {(one["family"], one.get("qualifier", name)) for name, one in made.items()}
    assert columns == {(family, parse_qualifier(text)) for family, text in declared}
    for name in made:
        read = {"name": "one", "where": f"{name} = ?"}
        design = rowkey.Design("t", f"[{name}]", fields={name: {"type": "text"}}, reads=[read])
        assert (name,) == tuple(design.fields)


def test_a_dropped_family_stays_in_the_description_with_a_note(url: str) -> None:
    """A dropped family stays in the described file, with a note."""
    fields = {**FIELDS, "note": {"type": "text", "nullable": True, "family": "e"}}
    design = rowkey.Design("logs", "[host][ts]", fields=fields, families=FAMILIES)
    with open_engine(url) as engine, create_table(design, url) as table:
        words = table.store.families_and_attributes[1]
        engine.drop_table("logs")
        engine.create_table(TableSpec("logs", (Family("d", versions=7),), (), words))
        found = describe_table("logs", url)
    assert "# Family e is declared, but no longer exists in the table" in found.text
    assert (7, True) == (found.design.families["d"].versions, found.design.families["e"].in_memory)


def test_attributes_that_a_design_cannot_express_are_reported(url: str) -> None:
    """Attributes that a design cannot express, and a lost catalog, are reported."""
    with open_engine(url) as engine:
        spec = TableSpec("theirs", (Family("d"),), (), {"MAX_FILESIZE": "4194304", "ours": "x"})
        engine.create_table(spec)
        text = describe_table("theirs", url).text
    assert "# The table has MAX_FILESIZE = 4194304; a design has no option for it." in text
    assert "# The table has no row." in text.splitlines()


def test_split_keys_of_a_described_table_are_listed_one_per_line(url: str) -> None:
    """Split keys of any bytes are listed one a line, with the number of sampled regions."""
    splits = tuple(number.to_bytes(2, "big") for number in range(1, 5_000))
    with open_engine(url) as engine:
        engine.create_table(TableSpec("theirs", (Family("d"),), splits))
        text = describe_table("theirs", url).text
    assert "# The table has no row in 250 of its 5,000 regions, evenly chosen." in text.splitlines()
    assert '  "\\\\x00{",' in text.splitlines()
    assert 100 > max(map(len, text.splitlines()))
    assert (
        splits
        == rowkey.Design.loads(text).splits.compute_boundaries(rowkey.Design.loads(text).key).splits
    )


def test_a_description_allows_the_rule_errors_of_the_existing_table(url: str) -> None:
    """Errors of rules about an existing table are allowed in its described file."""
    with open_engine(url) as engine:
        engine.create_table(TableSpec("theirs", tuple(Family(f"f{n}") for n in range(12)), ()))
        assert "rowkey: allow many-families" in recreate_table(engine, "theirs", url)


@given(keys=st.sets(st.binary(min_size=1, max_size=12), min_size=20, max_size=60))
def test_an_inferred_key_reads_every_row_whatever_its_bytes(keys: set[bytes]) -> None:
    """The inferred key reads every row back, whatever bytes the keys have."""
    from rowkey.observe.description.key_format import can_read_keys, infer_key_format

    known = sorted(keys)
    behind = [b"\1" + one for one in known]
    assert can_read_keys(infer_key_format(known, (), NOW_MS), known)
    assert can_read_keys(infer_key_format(known, ONE_BYTE, NOW_MS), known)
    assert can_read_keys(infer_key_format(behind, ONE_BYTE, NOW_MS), behind)


def test_region_bounds_of_a_simulated_cluster_are_valid_split_keys() -> None:
    assert [b"\x40\x00", b"\x80\x00"] == [encode_bound(one) for one in (16_384, 32_768)]
