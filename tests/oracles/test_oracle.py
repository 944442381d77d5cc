"""The oracle itself agrees with known vectors and reports its failures.

Source: the vectors of HBase's own TestRegionSplitter and TestOrderedBytes, and values that the
classes gave when rowkey's byte formats were written down.
"""

from __future__ import annotations

import hashlib
import os
import signal
import struct
import sys
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import mmh3
import pytest

from oracles import JavaOracle, OracleError, format_argument, parse_bytes, parse_keys, parse_text
from oracles.build import build_command

if TYPE_CHECKING:
    from oracles import Argument

HEX, DECIMAL, UNIFORM = "HexStringSplit", "DecimalStringSplit", "UniformSplit"
UP, DOWN = "ASCENDING", "DESCENDING"
NEXT = "ClientUtil.calculateTheClosestNextRowKeyForPrefix"
LONG_LEAST, LONG_MOST = -(2**63), 2**63 - 1


def encode_texts(*keys: str) -> list[bytes]:
    """Return the keys of a split algorithm that writes digits."""
    return [key.encode() for key in keys]


def decode_hex(*keys: str) -> list[bytes]:
    """Return keys spelled in hex."""
    return [bytes.fromhex(key) for key in keys]


SPLITS: list[tuple[tuple[Argument, ...], list[bytes]]] = [
    ((HEX, 1), []),
    ((HEX, 2), encode_texts("80000000")),
    ((HEX, 3), encode_texts("55555555", "aaaaaaaa")),
    (
        (HEX, 10),
        encode_texts(
            *("19999999", "33333332", "4ccccccb", "66666664"),
            *("7ffffffd", "99999996", "b333332f", "ccccccc8", "e6666661"),
        ),
    ),
    ((HEX, 16), [b"%x0000000" % digit for digit in range(1, 16)]),
    ((HEX, 11, b"0", b"A"), [b"%x" % digit for digit in range(1, 11)]),
    ((DECIMAL, 2), encode_texts("50000000")),
    ((DECIMAL, 3), encode_texts("33333333", "66666666")),
    ((HEX, 2, b"10", b"1f"), encode_texts("18")),
    ((DECIMAL, 3, b"00", b"99"), encode_texts("33", "66")),
    ((DECIMAL, 2, b"50", b"99"), encode_texts("75")),
    ((UNIFORM, 2), decode_hex("80" + "00" * 7)),
    ((UNIFORM, 3), decode_hex("55" * 8, "aa" * 8)),
    ((UNIFORM, 2, b"\x10", b"\x20"), decode_hex("18")),
    ((UNIFORM, 16), [bytes([digit << 4, *bytes(7)]) for digit in range(1, 16)]),
]


@pytest.mark.parametrize(("question", "keys"), SPLITS)
def test_each_java_split_algorithm_returns_its_known_keys(
    hbase_oracle: JavaOracle, question: tuple[Argument, ...], keys: list[bytes]
) -> None:
    """Each algorithm returns its known keys, between its default rows and given ones."""
    assert keys == parse_keys(hbase_oracle.ask("RegionSplitter.split", *question))


def test_uniform_split_adds_a_byte_for_a_narrow_range(hbase_oracle: JavaOracle) -> None:
    """UniformSplit adds a byte to fit 12 regions into a range of 10 bytes."""
    keys = parse_keys(hbase_oracle.ask("RegionSplitter.split", UNIFORM, 12, b"\0", b"\n"))
    expected = [2] * 11
    assert expected == [len(key) for key in keys]
    assert sorted(set(keys)) == keys


REFUSED: list[tuple[tuple[Argument, ...], str]] = [
    (("RegionSplitter.split", HEX, 12, b"0", b"A"), "! IllegalStateException"),
    (("RegionSplitter.split", HEX, 2, b"AA", b"00"), "! IllegalArgumentException"),
    (("RegionSplitter.split", UNIFORM, 1), "! IllegalArgumentException"),
    (("Bytes.split", b"b", b"a", False, 1), "! IllegalArgumentException"),
    (("Bytes.toBytesBinary", "\\x4"), "! StringIndexOutOfBoundsException"),
    (("OrderedBytes.encode", "String", UP, "a\0b"), "! IllegalArgumentException"),
    (("OrderedBytes.decode", "Int64", b"\x2c\0\0\0\0"), "! ArrayIndexOutOfBoundsException"),
    (("Math.floorMod", 1, 0), "! ArithmeticException"),
    (("MessageDigest.digest", "MD-5000", b""), "! NoSuchAlgorithmException"),
]


@pytest.mark.parametrize(("question", "error"), REFUSED)
def test_a_java_exception_is_returned_as_its_name(
    hbase_oracle: JavaOracle, question: tuple[str, ...], error: str
) -> None:
    """An exception of a Java class is returned as its name."""
    assert error == hbase_oracle.ask(*question)


KEYS: list[tuple[tuple[Argument, ...], list[bytes]]] = [
    (
        ("RegionSplitter.within", HEX, b"00000000", b"30000000", 3, False),
        encode_texts("10000000", "20000000"),
    ),
    (
        ("RegionSplitter.within", HEX, b"00000000", b"30000000", 3, True),
        encode_texts("00000000", "10000000", "20000000", "30000000"),
    ),
    (
        ("RegionSplitter.within", DECIMAL, b"00", b"99", 3, False),
        encode_texts("00000033", "00000066"),
    ),
    (("RegionSplitter.midpoint", HEX, b"00000000", b"fffffffe"), encode_texts("7fffffff")),
    # An end that is the algorithm's last row counts as one more: the region is open there.
    (("RegionSplitter.midpoint", HEX, b"00000000", b"ffffffff"), encode_texts("80000000")),
    (("RegionSplitter.midpoint", HEX, b"0", b"9", b"0", b"9"), encode_texts("5")),
    (
        ("RegionSplitter.midpoint", UNIFORM, b"\xdf" + b"\xff" * 7, b"\xff" * 8),
        decode_hex("ef" + "ff" * 7),
    ),
    (("Bytes.split", b"a", b"b", False, 3), decode_hex("6100", "6140", "6180", "61c0", "6200")),
    (("Bytes.split", b"a", b"b", True, 1), decode_hex("61", "62", "62")),
    (("Bytes.split", b"aaa", b"aab", False, 1), decode_hex("61616100", "61616180", "61616200")),
    (("Bytes.split", b"", b" ", False, 1), decode_hex("", "10", "20")),
    ((NEXT, b"a\xff\xff"), [b"b"]),
    ((NEXT, b"\xff\xff"), [b""]),
    (("Bytes.toBytes", "short", -2), decode_hex("fffe")),
    (("Bytes.toBytes", "int", 1), decode_hex("00000001")),
    (("Bytes.toBytes", "long", LONG_LEAST), decode_hex("80" + "00" * 7)),
    (("Bytes.toBytes", "float", bytes.fromhex("7fc12345")), decode_hex("7fc12345")),
    (("Bytes.toBytes", "double", struct.pack(">d", -1.5)), decode_hex("bff8" + "00" * 6)),
    (("Bytes.toBytesBinary", "a\\x0A\\xff\\éé€"), [b"a\nxff\\\xe9\xe9\xac"]),
    (("Long.MAX_VALUE-", 1), decode_hex("7f" + "ff" * 6 + "fe")),
]


@pytest.mark.parametrize(("question", "keys"), KEYS)
def test_java_ranges_midpoints_and_stop_rows_are_the_known_bytes(
    hbase_oracle: JavaOracle, question: tuple[str, ...], keys: list[bytes]
) -> None:
    """Ranges, midpoints, padded ends, stop rows and plain integers are the known bytes."""
    assert keys == parse_keys(hbase_oracle.ask(*question))


def test_a_key_spelled_as_in_the_hbase_shell_is_returned_as_text(hbase_oracle: JavaOracle) -> None:
    """The shell's spelling of a key is returned as text."""
    expected = r"a\x00~ \x5C\xFF"
    assert expected == parse_text(hbase_oracle.ask("Bytes.toStringBinary", b"a\0~ \\\xff"))


ORDERED: list[tuple[str, Argument, str]] = [
    ("Int8", 5, "2985"),
    ("Int16", -1, "2a7fff"),
    ("Int32", 0, "2b80000000"),
    ("Int64", LONG_LEAST, "2c0000000000000000"),
    ("Int64", -1, "2c7fffffffffffffff"),
    ("Int64", 5, "2c8000000000000005"),
    ("Int64", LONG_MOST, "2cffffffffffffffff"),
    ("Float32", struct.pack(">f", 1.0), "30bf800000"),
    ("Float32", struct.pack(">f", -1.0), "30407fffff"),
    ("Float32", struct.pack(">f", -0.0), "307fffffff"),
    ("Float32", struct.pack(">f", 0.0), "3080000000"),
    ("Float64", struct.pack(">d", 1.0), "31bff0000000000000"),
    ("String", "foo", "34666f6f00"),
    ("String", "", "3400"),
    ("String", None, "05"),
    ("BlobVar", b"", "3700"),
    ("BlobVar", b"foo", "37b39bed70"),
    ("BlobVar", b"\xaa" * 7, "37d5aad5aad5aad52a"),
    ("BlobVar", b"88888888", "379c8e8783c1e0f0b89c00"),
    ("BlobVar", None, "05"),
]


@pytest.mark.parametrize(("type_", "value", "ascending"), ORDERED)
def test_ordered_bytes_ascend_and_descend_and_decode_in_java(
    hbase_oracle: JavaOracle, type_: str, value: Argument, ascending: str
) -> None:
    """Ascending is the known bytes, descending their complement, and both decode to the value."""
    descending = bytes(byte ^ 0xFF for byte in bytes.fromhex(ascending)).hex()
    assert ascending == hbase_oracle.ask("OrderedBytes.encode", type_, UP, value)
    assert descending == hbase_oracle.ask("OrderedBytes.encode", type_, DOWN, value)
    for stored in (ascending, descending):
        assert format_argument(value) == hbase_oracle.ask(
            "OrderedBytes.decode", type_, bytes.fromhex(stored)
        )


def test_every_nan_is_encoded_by_java_as_the_one_that_sorts_last(hbase_oracle: JavaOracle) -> None:
    noisy = {"Float32": bytes.fromhex("7fc12345"), "Float64": bytes.fromhex("fff8000000000123")}
    expected = ["30ffc00000", "31fff8000000000000"]
    assert expected == [
        hbase_oracle.ask("OrderedBytes.encode", type_, UP, bits) for type_, bits in noisy.items()
    ]


@pytest.mark.parametrize("value", [b"", b"a", b"abc", b"\xff" * 7, bytes(range(256))])
def test_java_hashes_agree_with_independent_implementations(
    hbase_oracle: JavaOracle, value: bytes
) -> None:
    """Digests and hashes agree with implementations other than rowkey's and Java's."""
    digests = {"MD5": hashlib.md5, "SHA-1": hashlib.sha1, "SHA-256": hashlib.sha256}
    for name, digest in digests.items():
        asked = hbase_oracle.ask("MessageDigest.digest", name, value)
        assert digest(value).digest() == parse_bytes(asked)
    assert str(zlib.crc32(value)) == hbase_oracle.ask("CRC32.getValue", value)
    assert str(mmh3.hash(value, 0, signed=False)) == hbase_oracle.ask("MurmurHash3.hash", value)


ARITHMETIC: list[tuple[tuple[Argument, ...], int]] = [
    (("Bytes.hashCode", b""), 1),
    (("Bytes.hashCode", b"a"), 31 + 97),
    (("Bytes.hashCode", b"\xff"), 31 - 1),
    (("Bytes.compareTo", b"a", b"ab"), -1),
    (("Bytes.compareTo", b"\x7f", b"\x80"), -1),
    (("Bytes.compareTo", b"", b""), 0),
    (("Math.abs%", -7, 4), 3),
    (("Math.abs%", -(2**31), 10), 8),
    (("Math.floorMod", -7, 4), 1),
    (("Math.floorMod", LONG_LEAST, 16), 0),
]


@pytest.mark.parametrize(("question", "number"), ARITHMETIC)
def test_java_arithmetic_has_signed_bytes_and_remainders(
    hbase_oracle: JavaOracle, question: tuple[str, ...], number: int
) -> None:
    """Java's arithmetic has signed bytes, signed remainders and floors."""
    assert str(number) == hbase_oracle.ask(*question)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (("Bytes.tobytes", 1), "no such question: Bytes.tobytes"),
        (("Bytes.toBytes", "int", 2**31), "not within -2147483648..2147483647"),
        (("Bytes.toBytes", "float", b"abc"), "argument 2 is not 4 bytes"),
        (("RegionSplitter.split", "hex_string", 2), "no split algorithm: hex_string"),
        (("Bytes.hashCode", b"a", b"b"), "takes 1 arguments, not 2"),
        (("OrderedBytes.encode", "Int8", "UP", 1), "no Order: UP"),
    ],
)
def test_an_invalid_question_is_not_mistaken_for_a_java_exception(
    hbase_oracle: JavaOracle, question: tuple[str, ...], reason: str
) -> None:
    """An invalid question is never mistaken for an exception of HBase."""
    with pytest.raises(OracleError, match=reason):
        hbase_oracle.ask(*question)


def test_a_float_as_argument_of_the_oracle_is_refused(hbase_oracle: JavaOracle) -> None:
    """A float as argument is refused, since the payload of a NaN would be lost."""
    with pytest.raises(TypeError, match="IEEE bits"):
        hbase_oracle.ask("Bytes.toBytes", "double", 1.5)  # type: ignore[arg-type]
    expected = "128"
    assert expected == hbase_oracle.ask("Bytes.hashCode", b"a")


def test_fifty_thousand_questions_cause_no_deadlock(hbase_oracle: JavaOracle) -> None:
    """More data than both pipes hold causes no deadlock and keeps its order."""
    numbers = range(50_000)
    questions = (("Long.MAX_VALUE-", number) for number in numbers)
    answers = hbase_oracle.ask_many(questions)
    assert [(LONG_MOST - number).to_bytes(8).hex() for number in numbers] == answers


def test_questions_and_answers_larger_than_a_pipe_arrive_complete(hbase_oracle: JavaOracle) -> None:
    longest = [bytes([byte]) * 300_000 for byte in (0x00, 0x61, 0xFF)]
    answers = hbase_oracle.ask_many(("Bytes.toStringBinary", value) for value in longest)
    expected = [300_000 * 4, 300_000, 300_000 * 4]
    assert expected == [len(parse_text(answer)) for answer in answers]


def test_an_empty_list_of_questions_gives_no_answers(hbase_oracle: JavaOracle) -> None:
    """No questions give no answers."""
    expected: list[str] = []
    assert expected == hbase_oracle.ask_many([])


def test_output_of_a_java_library_does_not_mix_with_the_answers(hbase_oracle: JavaOracle) -> None:
    questions: list[tuple[Argument, ...]]
    questions = [("System.out.println", "= 1"), ("Bytes.hashCode", b"")]
    expected = ["null", "1"]
    assert expected == hbase_oracle.ask_many(questions)


@pytest.fixture
def own_oracle(hbase_oracle: JavaOracle) -> Iterator[JavaOracle]:
    """An oracle that a test may break; the session's oracle shows that Java is available."""
    assert hbase_oracle.pid
    with JavaOracle(build_command()) as oracle:
        yield oracle


def test_a_killed_jvm_is_reported_with_its_exit_code(own_oracle: JavaOracle) -> None:
    """A killed JVM is reported as dead with its exit code, now and later."""
    expected = "1"
    assert expected == own_oracle.ask("Bytes.hashCode", b"")
    os.kill(own_oracle.pid, signal.SIGKILL)
    with pytest.raises(OracleError, match="the JVM died, exit code -9"):
        own_oracle.ask("Bytes.hashCode", b"")
    with pytest.raises(OracleError, match="cannot be asked: the JVM died, exit code -9"):
        own_oracle.ask("Bytes.hashCode", b"")


def test_stopping_the_oracle_ends_its_process(own_oracle: JavaOracle) -> None:
    """Stopping ends the process itself, and a second stop is harmless."""
    own_oracle.stop()
    own_oracle.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(own_oracle.pid, 0)
    with pytest.raises(OracleError, match="it was stopped"):
        own_oracle.ask("Bytes.hashCode", b"")


def test_a_jvm_that_does_not_start_is_reported_with_its_output() -> None:
    with (
        JavaOracle([sys.executable, "-c", "raise SystemExit('no main class')"]) as oracle,
        pytest.raises(OracleError, match="exit code 1; its last words: no main class"),
    ):
        oracle.ask("Bytes.hashCode", b"")


def test_a_jvm_that_hangs_is_given_up_at_the_timeout() -> None:
    with (
        JavaOracle([sys.executable, "-c", "input(); input()"], patience_s=0.5) as oracle,
        pytest.raises(OracleError, match=r"said nothing for 0\.5 s"),
    ):
        oracle.ask("Bytes.hashCode", b"")
