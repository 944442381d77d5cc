"""Key bytes are those of the Java classes that other programs write keys with.

Every comparison uses 2,000 random values (10,000 with `make test-long`) from a fixed seed and the
edges of their type. Keys are encoded one by one and in batches; both must be what Java says.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from oracles import JavaOracle, parse_bytes
from rowkey import bind_key
from rowkey.errors import RowError

if TYPE_CHECKING:
    from oracles import Argument

CASES = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 2_000
LONG_MAX = 2**63 - 1
COUNTS = (1, 2, 3, 7, 10, 16, 31, 100, 255, 256, 257, 1_000, 32_768, 65_535, 65_536)
EXOTIC = "aZ09 ~\x01\x7f\x80\xff\u0100é߿ࠀ￿\U00010000\U0010ffff🎉"
"""Characters at the ends of what one to four bytes of UTF-8 can hold, and ordinary ones."""


def encode_keys(notation: str, words: Any, values: Sequence[Any], kind: pa.DataType) -> list[bytes]:
    """Return the keys of values of the field `x`, checked to be the same in a batch."""
    key = bind_key(notation, {"x": words})
    alone = [key.encode({"x": value}) for value in values]
    batch = pa.RecordBatch.from_pydict({"x": pa.array(values, kind)})
    assert alone == key.encode_batch(batch).to_pylist()
    return alone


def ask_bytes(oracle: JavaOracle, questions: Sequence[tuple[Argument, ...]]) -> list[bytes]:
    """Return the bytes that Java answers to each question."""
    assert len(questions) >= CASES
    return [parse_bytes(answer) for answer in oracle.ask_many(questions)]


def draw_integers(random: Random, low: int, high: int) -> list[int]:
    """Return integers of all sizes, and those near powers of two and the bounds."""
    near = {low, low + 1, high - 1, high, 0}
    near |= {sign * 2**bit + off for bit in range(64) for off in (-1, 0, 1) for sign in (-1, 1)}
    edges = sorted(number for number in near if low <= number <= high)
    sizes = (random.randrange(1, 65) for _ in range(CASES))
    drawn = [random.randrange(-(2**size), 2**size) for size in sizes]
    return edges + [low + (number - low) % (high - low + 1) for number in drawn]


def draw_texts(random: Random) -> list[str]:
    """Return texts of up to 20 characters and a few above 256 bytes."""
    drawn = ["".join(random.choices(EXOTIC, k=random.randrange(20))) for _ in range(CASES)]
    return ["", *EXOTIC, *drawn, *("w" * length for length in range(250, 270))]


def draw_blobs(random: Random) -> list[bytes]:
    """Return byte strings of up to 40 bytes and a few longer ones, some of 00 and FF only."""
    drawn = [random.randbytes(random.randrange(1, 40)) for _ in range(CASES)]
    extreme = [bytes(random.choices([0, 127, 128, 255], k=k % 18 + 1)) for k in range(500)]
    return [*drawn, *extreme, *(random.randbytes(length) for length in range(250, 300))]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_signed_integers_are_encoded_as_by_ordered_bytes(
    hbase_oracle: JavaOracle, bits: int
) -> None:
    """Signed integers are OrderedBytes' without the header, ascending and descending."""
    values = draw_integers(Random(bits), -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    kind = getattr(pa, f"int{bits}")()
    for notation, order in (("[x]", "ASCENDING"), ("[desc(x)]", "DESCENDING")):
        asked = [("OrderedBytes.encode", f"Int{bits}", order, value) for value in values]
        expected = [answer[1:] for answer in ask_bytes(hbase_oracle, asked)]
        assert expected == encode_keys(notation, f"i{bits}", values, kind)


@pytest.mark.parametrize(("bits", "name"), [(16, "short"), (32, "int"), (64, "long")])
def test_unsigned_integers_are_encoded_as_by_bytes_to_bytes(
    hbase_oracle: JavaOracle, bits: int, name: str
) -> None:
    """Unsigned integers have the bytes of Bytes.toBytes for the same bits."""
    values = draw_integers(Random(bits), 0, 2**bits - 1)
    signed = [value - (value >> (bits - 1) << bits) for value in values]
    asked = [("Bytes.toBytes", name, value) for value in signed]
    expected = ask_bytes(hbase_oracle, asked)
    assert expected == encode_keys("[x]", f"u{bits}", values, getattr(pa, f"uint{bits}")())


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_are_encoded_as_java_longs(hbase_oracle: JavaOracle, unit: str) -> None:
    """Timestamps are Java longs, descending ones Long.MAX_VALUE minus the long."""
    values = draw_integers(Random(unit), 0, LONG_MAX)
    asked: list[tuple[Argument, ...]] = [("Bytes.toBytes", "long", value) for value in values]
    expected = ask_bytes(hbase_oracle, asked)
    assert expected == encode_keys("[x]", f"timestamp_{unit}", values, pa.int64())
    asked = [("Long.MAX_VALUE-", value) for value in values]
    expected = ask_bytes(hbase_oracle, asked)
    assert expected == encode_keys("[desc(x)]", f"timestamp_{unit}", values, pa.int64())


@pytest.mark.parametrize(("unit", "per_s"), [("s", 1), ("ms", 10**3), ("ns", 10**9)])
def test_a_timestamp_as_u32_is_the_unsigned_int_of_its_seconds(
    hbase_oracle: JavaOracle, unit: str, per_s: int
) -> None:
    values = draw_integers(Random(unit), 0, 2**32 * per_s - 1)
    values = [value for value in values if value < 2**63]
    seconds = [value // per_s for value in values]
    signed = [second - (second >> 31 << 32) for second in seconds]
    expected = ask_bytes(hbase_oracle, [("Bytes.toBytes", "int", number) for number in signed])
    assert expected == encode_keys("[x:u32]", f"timestamp_{unit}", values, pa.int64())


def test_a_time_bucket_is_rounded_down_as_by_floor_mod(hbase_oracle: JavaOracle) -> None:
    """A time bucket is the long minus Math.floorMod; descending, Long.MAX_VALUE minus that."""
    values = draw_integers(Random("floors"), 0, LONG_MAX)
    asked: list[tuple[Argument, ...]]
    asked = [("Math.floorMod", value, 3_600_000) for value in values]
    rests = map(int, hbase_oracle.ask_many(asked))
    starts = [value - rest for value, rest in zip(values, rests, strict=True)]
    expected = ask_bytes(hbase_oracle, [("Long.MAX_VALUE-", start) for start in starts])
    assert expected == encode_keys("[desc(time_bucket(x, 1h))]", "timestamp_ms", values, pa.int64())


@pytest.mark.parametrize(("bits", "letter"), [(32, "f"), (64, "d")])
def test_floats_are_encoded_as_by_ordered_bytes(
    hbase_oracle: JavaOracle, bits: int, letter: str
) -> None:
    """Floats are OrderedBytes' without the header; −0.0 is 0.0 here, and NaN has no bytes."""
    random, width = Random(bits), bits // 8
    most = {32: "7f7fffff", 64: "7fefffffffffffff"}[bits]
    drawn = [random.randbytes(width) for _ in range(CASES + 100)]
    edges = [number.to_bytes(width) for number in (0, 1, 1 << (bits - 2))] + [bytes.fromhex(most)]
    infinite = struct.pack(f">{letter}", float("inf"))
    near = [struct.pack(f">{letter}", random.gauss(0, 10)) for _ in range(CASES)]
    patterns = [*drawn, *near, *edges, infinite]
    patterns += [bytes([pattern[0] ^ 0x80]) + pattern[1:] for pattern in [*edges, infinite]]
    values = [struct.unpack(f">{letter}", pattern)[0] for pattern in patterns]
    kept = [value + 0.0 for value in values if value == value]  # noqa: PLR0124 - NaN is not itself
    assert len(values) - len(kept) > 0
    for notation, order in (("[x]", "ASCENDING"), ("[desc(x)]", "DESCENDING")):
        asked = [
            ("OrderedBytes.encode", f"Float{bits}", order, struct.pack(f">{letter}", value))
            for value in kept
        ]
        expected = [answer[1:] for answer in ask_bytes(hbase_oracle, asked)]
        assert expected == encode_keys(
            notation, f"float{bits}", kept, getattr(pa, f"float{bits}")()
        )


@pytest.mark.parametrize("bits", [32, 64])
def test_minus_zero_and_nan_differ_from_java(hbase_oracle: JavaOracle, bits: int) -> None:
    """Java keeps −0.0 below 0.0 and has a NaN; here the one is 0.0 and the other is refused."""
    kind, zero = getattr(pa, f"float{bits}")(), bytes(bits // 8)
    answer = hbase_oracle.ask("OrderedBytes.encode", f"Float{bits}", "ASCENDING", zero)
    expected = parse_bytes(answer)[1:]
    assert [expected, expected] == encode_keys("[x]", f"float{bits}", [-0.0, 0.0], kind)
    with pytest.raises(RowError):
        encode_keys("[x]", f"float{bits}", [float("nan")], kind)
    key = bind_key("[x]", {"x": f"float{bits}"})
    with pytest.raises(RowError):
        key.encode_batch(pa.RecordBatch.from_pydict({"x": pa.array([float("nan")], kind)}))


def test_texts_are_encoded_as_by_ordered_bytes(hbase_oracle: JavaOracle) -> None:
    """Text is OrderedBytes' without the header, ascending and descending."""
    values = draw_texts(Random("texts"))
    for notation, order in (("[x]", "ASCENDING"), ("[desc(x)]", "DESCENDING")):
        asked = [("OrderedBytes.encode", "String", order, value) for value in values]
        expected = [answer[1:] for answer in ask_bytes(hbase_oracle, asked)]
        assert expected == encode_keys(notation, "text", values, pa.string())


def test_java_and_rowkey_both_refuse_text_with_a_zero_byte(hbase_oracle: JavaOracle) -> None:
    """Java refuses text with a zero byte, and so does rowkey."""
    answer = hbase_oracle.ask("OrderedBytes.encode", "String", "ASCENDING", "a\0b")
    assert answer == "! IllegalArgumentException"
    with pytest.raises(RowError):
        encode_keys("[x]", "text", ["a\0b"], pa.string())


def ask_numbers(oracle: JavaOracle, name: str, values: Sequence[bytes]) -> list[int]:
    """Return the number that Java answers for each byte string."""
    assert len(values) >= CASES
    return [int(answer) for answer in oracle.ask_many([(name, value) for value in values])]


HASHES = {"murmur3": "MurmurHash3.hash", "crc32": "CRC32.getValue"}


@pytest.mark.parametrize("name", HASHES)
def test_buckets_and_digests_use_the_hashes_of_hbase(hbase_oracle: JavaOracle, name: str) -> None:
    """Bucket and digest use the unsigned hashes of HBase's jars and the JDK."""
    values = draw_blobs(Random(name))
    hashes = ask_numbers(hbase_oracle, HASHES[name], values)
    expected = [number.to_bytes(4) for number in hashes]
    assert expected == encode_keys(f"[digest(x, 4, hash={name})]", "bytes", values, pa.binary())
    for n in COUNTS:
        expected = [(number % n).to_bytes(1 if n <= 256 else 2) for number in hashes]
        assert expected == encode_keys(
            f"[bucket(x:raw, {n}, hash={name})]", "bytes", values, pa.binary()
        )


@pytest.mark.parametrize("name", HASHES)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_hashes_of_integers_in_batches_agree_with_hbase(
    hbase_oracle: JavaOracle, name: str, bits: int
) -> None:
    """Hashes of integers agree too, which batches compute by word columns."""
    values = draw_integers(Random(bits), 0, 2**bits - 1)
    hashes = ask_numbers(
        hbase_oracle, HASHES[name], [value.to_bytes(bits // 8) for value in values]
    )
    kind = getattr(pa, f"uint{bits}")()
    expected = [(number % 1_000).to_bytes(2) for number in hashes]
    assert expected == encode_keys(f"[bucket(x, 1000, hash={name})]", f"u{bits}", values, kind)


def compute_java31(oracle: JavaOracle, values: Sequence[bytes], n: int) -> list[bytes]:
    """Return Phoenix's salt byte: Math.abs(hash % n) with the hash of Bytes.hashCode."""
    hashes = ask_numbers(oracle, "Bytes.hashCode", values)
    salts = oracle.ask_many([("Math.abs%", number, n) for number in hashes])
    return [int(salt).to_bytes(1 if n <= 256 else 2) for salt in salts]


@pytest.mark.parametrize("n", [1, 3, 15, 16, 31, 256, 1_000, 65_536])
def test_the_java31_bucket_is_the_salt_byte_of_phoenix(hbase_oracle: JavaOracle, n: int) -> None:
    """The java31 bucket is Phoenix's salt byte, also for the hash -2^31."""
    least = bytes.fromhex("9600f60013fe")  # hashes to -2^31, which has no positive counterpart
    values = [least, *draw_blobs(Random(n))]
    expected = compute_java31(hbase_oracle, values, n)
    notation = f"[bucket(x:raw, {n}, hash=java31)]"
    assert expected == encode_keys(notation, "bytes", values, pa.binary())


@pytest.mark.parametrize("n", [3, 16, 256])
def test_a_bucket_over_the_rest_of_the_key_is_the_salt_byte_of_phoenix(
    hbase_oracle: JavaOracle, n: int
) -> None:
    """A bucket over the rest of the key is the byte that Phoenix prepends to its keys."""
    values = draw_texts(Random(n))
    rests = [value.encode() + b"\0" for value in values]
    salts = compute_java31(hbase_oracle, rests, n)
    expected = [salt + rest for salt, rest in zip(salts, rests, strict=True)]
    notation = f"[bucket({n}, hash=java31, over=rest)][x]"
    assert expected == encode_keys(notation, "text", values, pa.string())


DIGESTS = {"md5": ("MD5", 16), "sha1": ("SHA-1", 20), "sha256": ("SHA-256", 32)}


@pytest.mark.parametrize("name", DIGESTS)
def test_a_digest_is_the_truncated_message_digest_of_java(
    hbase_oracle: JavaOracle, name: str
) -> None:
    """A digest is MessageDigest's over the value's bytes, truncated, and in hex if requested."""
    algorithm, width = DIGESTS[name]
    values = draw_texts(Random(name))
    asked = [("MessageDigest.digest", algorithm, value.encode()) for value in values]
    expected = ask_bytes(hbase_oracle, asked)
    for n in (1, 4, width):
        cut = [digest[:n] for digest in expected]
        assert cut == encode_keys(f"[digest(x, {n}, hash={name})]", "text", values, pa.string())
    spelled = [digest[:4].hex().encode() for digest in expected]
    assert spelled == encode_keys(
        f"[digest(x, 4, hash={name}, as=hex)]", "text", values, pa.string()
    )


def test_the_digest_of_a_number_is_over_its_java_bytes(hbase_oracle: JavaOracle) -> None:
    """The digest of a number is over the bytes of Bytes.toBytes."""
    values = draw_integers(Random("digests"), -(2**63), LONG_MAX)
    plain = ask_bytes(hbase_oracle, [("Bytes.toBytes", "long", value) for value in values])
    expected = ask_bytes(hbase_oracle, [("MessageDigest.digest", "MD5", key) for key in plain])
    assert expected == encode_keys("[digest(x, 16)]", "i64", values, pa.int64())


@pytest.mark.parametrize("n", [1, 7, 16, 256, 1_000, 65_536])
@pytest.mark.parametrize("type_", ["i64", "timestamp_ms", "i32"])
def test_a_remainder_is_that_of_floor_mod(hbase_oracle: JavaOracle, type_: str, n: int) -> None:
    """A remainder is Math.floorMod, never negative."""
    least = {"i64": -(2**63), "timestamp_ms": 0, "i32": -(2**31)}[type_]
    values = draw_integers(Random(n), least, 2**31 - 1 if type_ == "i32" else LONG_MAX)
    asked = [("Math.floorMod", value, n) for value in values]
    expected = [int(rest).to_bytes(1 if n <= 256 else 2) for rest in hbase_oracle.ask_many(asked)]
    assert expected == encode_keys(f"[mod(x, {n})]", type_, values, pa.int64())
