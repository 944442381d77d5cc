"""Region boundaries, stop rows and printed rows against HBase's own classes.

Every comparison uses 2,000 random questions (10,000 with `make test-long`) from a fixed seed,
including those that Java refuses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from oracles import JavaOracle, parse_bytes, parse_keys, parse_text
from rowkey.errors import InvalidArgument
from rowkey.regions import (
    SPLIT_ALGORITHMS,
    SplitRequest,
    compute_prefix_stop,
    from_string_binary,
    split_byte_range,
    to_string_binary,
)
from rowkey.rows import format_qualifier, parse_qualifier

if TYPE_CHECKING:
    from oracles import Argument

CASES = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 2_000
REFUSED = ["refused"]
DIGITS = {"hex_string": "HexStringSplit", "decimal_string": "DecimalStringSplit"}
JAVA_OF = DIGITS | {"uniform": "UniformSplit"}

Question = tuple["Argument", ...]


def run_or_refuse(compute: Callable[..., Any], *told: Any, **named: Any) -> Any:
    """Return what rowkey answers, or that it refuses."""
    try:
        return compute(*told, **named)
    except InvalidArgument:
        return REFUSED


def ask_keys(oracle: JavaOracle, questions: Sequence[Question]) -> list[Any]:
    """Return the lists of keys that Java answers, or that it threw."""
    answers = oracle.ask_many(questions)
    told = [REFUSED if answer.startswith("!") else parse_keys(answer) for answer in answers]
    assert len(told) >= CASES
    assert told.count(REFUSED) < CASES // 2
    return told


def compute_splits(name: str, regions: int, first: Any = None, last: Any = None) -> list[bytes]:
    """Return the split keys of one algorithm."""
    return list(
        SPLIT_ALGORITHMS[name]().build_boundaries(SplitRequest(regions, first, last)).splits
    )


def compute_middle(algorithm: Any, first: bytes, last: bytes) -> list[bytes]:
    """Return the midpoint as a list."""
    return [algorithm.find_middle(first, last)]


def get_algorithm(name: str) -> Any:
    """Return an algorithm, untyped, since not all have the same methods."""
    return SPLIT_ALGORITHMS[name]()


def draw_row_pairs(random: Random, name: str) -> list[tuple[bytes, bytes]]:
    """Return first and last rows for the algorithms over digits; few in the wrong order."""
    digits, base = ("0123456789abcdefABCDEF", 16) if name == "hex_string" else ("0123456789", 10)
    pairs = []
    for _ in range(CASES):
        width = random.choice([1, 2, 4, 8, 8, 8, 12, 20])
        first, last = ("".join(random.choices(digits, k=width)) for _ in range(2))
        if int(first, base) > int(last, base) and random.random() < 0.9:
            first, last = last, first
        pairs.append((first.encode(), last.encode()))
    return pairs


def draw_byte_pairs(random: Random) -> list[tuple[bytes, bytes]]:
    """Return rows of bytes, mostly ascending, often with a common prefix or close together."""
    pairs = [(b"", b"\xff"), (b"\0", b"\0\1"), (b"a", b"a\0\1"), (b"\x7f", b"\x80")]
    for _ in range(CASES + CASES // 2):
        common = random.randbytes(random.choice([0, 0, 1, 3]))
        first, last = (common + random.randbytes(random.choice([0, 1, 2, 4, 8])) for _ in range(2))
        if first > last and random.random() < 0.9:
            first, last = last, first
        pairs.append((first, last))
    return pairs


def draw_region_counts(random: Random, count: int) -> list[int]:
    """Return numbers of regions, mostly small."""
    return [random.choice([1, 2, 3, 5, 10, 16, random.randrange(1, 100)]) for _ in range(count)]


@pytest.mark.parametrize("name", JAVA_OF)
def test_split_keys_of_the_whole_key_space_equal_those_of_region_splitter(
    hbase_oracle: JavaOracle, name: str
) -> None:
    """Split keys are RegionSplitter's for every number of regions below 600 and a few more."""
    counts = [*range(1, 600), 2_000, 4_096, 9_999]
    answers = hbase_oracle.ask_many([("RegionSplitter.split", JAVA_OF[name], n) for n in counts])
    expected = [REFUSED if answer.startswith("!") else parse_keys(answer) for answer in answers]
    assert sum(map(len, expected)) > CASES
    assert expected == [run_or_refuse(compute_splits, name, n) for n in counts]


@pytest.mark.parametrize("name", DIGITS)
def test_split_keys_between_rows_of_digits_equal_those_of_region_splitter(
    hbase_oracle: JavaOracle, name: str
) -> None:
    """Split keys between rows of digits are RegionSplitter's."""
    random = Random(name)
    pairs = draw_row_pairs(random, name)
    cases = list(zip(draw_region_counts(random, len(pairs)), pairs, strict=True))
    asked: list[Question]
    asked = [("RegionSplitter.split", JAVA_OF[name], n, *rows) for n, rows in cases]
    expected = ask_keys(hbase_oracle, asked)
    assert expected == [run_or_refuse(compute_splits, name, n, *rows) for n, rows in cases]


@pytest.mark.parametrize("with_ends", [True, False])
@pytest.mark.parametrize("name", JAVA_OF)
def test_split_keys_within_a_region_equal_those_of_region_splitter(
    hbase_oracle: JavaOracle, name: str, with_ends: bool
) -> None:
    """Split keys within a region of a table are RegionSplitter's."""
    random = Random(name)
    pairs = draw_row_pairs(random, name) if name in DIGITS else draw_byte_pairs(random)
    cases = list(zip(pairs, draw_region_counts(random, len(pairs)), strict=True))
    asked: list[Question]
    asked = [("RegionSplitter.within", JAVA_OF[name], *rows, n, with_ends) for rows, n in cases]
    between = get_algorithm(name).split_range
    expected = ask_keys(hbase_oracle, asked)
    assert expected == [run_or_refuse(between, *rows, n, inclusive=with_ends) for rows, n in cases]


@pytest.mark.parametrize("name", JAVA_OF)
def test_the_midpoint_of_two_rows_equals_that_of_region_splitter(
    hbase_oracle: JavaOracle, name: str
) -> None:
    """The midpoint of two rows is RegionSplitter's."""
    random = Random(name)
    pairs = draw_row_pairs(random, name) if name in DIGITS else draw_byte_pairs(random)
    asked: list[Question] = [("RegionSplitter.midpoint", JAVA_OF[name], *rows) for rows in pairs]
    expected = ask_keys(hbase_oracle, asked)
    assert expected == [run_or_refuse(compute_middle, get_algorithm(name), *rows) for rows in pairs]


def test_split_keys_between_rows_of_bytes_equal_those_of_uniform_split(
    hbase_oracle: JavaOracle,
) -> None:
    """Split keys between a first and a last row of bytes are UniformSplit's."""
    random = Random("uniform")
    pairs = [(first, last) for first, last in draw_byte_pairs(random) if first and last]
    cases = list(zip(draw_region_counts(random, len(pairs)), pairs, strict=True))
    asked: list[Question]
    asked = [("RegionSplitter.split", "UniformSplit", n, *rows) for n, rows in cases]
    expected = ask_keys(hbase_oracle, asked)
    assert expected == [run_or_refuse(compute_splits, "uniform", n, *rows) for n, rows in cases]


@pytest.mark.parametrize("inclusive", [True, False])
def test_equal_steps_between_two_rows_equal_those_of_bytes_split(
    hbase_oracle: JavaOracle, inclusive: bool
) -> None:
    """Equal steps between two rows are those of Bytes.split, including padding."""
    random = Random("bytes")
    pairs = draw_byte_pairs(random)
    cases = list(zip(pairs, draw_region_counts(random, len(pairs)), strict=True))
    asked: list[Question] = [("Bytes.split", *rows, inclusive, n) for rows, n in cases]
    expected = ask_keys(hbase_oracle, asked)
    found = [
        run_or_refuse(split_byte_range, *rows, inclusive=inclusive, count=n) for rows, n in cases
    ]
    assert expected == found


def draw_blobs(random: Random) -> list[bytes]:
    """Return byte strings of up to 20 bytes, many with 00, FF and backslashes."""
    drawn = [random.randbytes(random.randrange(1, 20)) for _ in range(CASES)]
    extreme = [bytes(random.choices(b"\0\xff\xfe\\xA ~", k=k % 9 + 1)) for k in range(CASES)]
    return [*drawn, *extreme, *(bytes([byte]) for byte in range(256))]


def test_the_stop_row_of_a_prefix_equals_that_of_the_hbase_client(hbase_oracle: JavaOracle) -> None:
    """The stop row of a prefix is the one HBase's client scans to; empty means no stop."""
    rows = [*draw_blobs(Random("stops")), b"\xff\xff", b"a\xff", b"\0\xff\xff"]
    name = "ClientUtil.calculateTheClosestNextRowKeyForPrefix"
    expected = [parse_bytes(answer) for answer in hbase_oracle.ask_many([(name, r) for r in rows])]
    assert expected == [compute_prefix_stop(row) or b"" for row in rows]


def test_rows_are_printed_as_in_the_hbase_shell(hbase_oracle: JavaOracle) -> None:
    rows = draw_blobs(Random("printed"))
    answers = hbase_oracle.ask_many([("Bytes.toStringBinary", row) for row in rows])
    assert [parse_text(answer) for answer in answers] == [to_string_binary(row) for row in rows]


def test_printed_rows_are_parsed_as_in_the_hbase_shell(hbase_oracle: JavaOracle) -> None:
    """Printed rows are read as in the HBase shell."""
    texts = [to_string_binary(row) for row in draw_blobs(Random("read"))]
    answers = hbase_oracle.ask_many([("Bytes.toBytesBinary", text) for text in texts])
    assert [parse_bytes(answer) for answer in answers] == [
        run_or_refuse(from_string_binary, t) for t in texts
    ]


def test_a_qualifier_in_a_design_is_read_as_in_the_hbase_shell(hbase_oracle: JavaOracle) -> None:
    """A qualifier in a design has the bytes that the HBase shell reads, and is printed as there."""
    qualifiers = [blob for blob in draw_blobs(Random("qualifiers")) if not is_text(blob)]
    answers = hbase_oracle.ask_many([("Bytes.toStringBinary", one) for one in qualifiers])
    assert [parse_text(answer) for answer in answers] == list(map(format_qualifier, qualifiers))
    texts = [to_string_binary(one) for one in qualifiers] + ["a\\b", "\\x5Cx41", "\\x80\\x0Bq"]
    answers = hbase_oracle.ask_many([("Bytes.toBytesBinary", text) for text in texts])
    assert [parse_bytes(answer) for answer in answers] == list(map(parse_qualifier, texts))


def is_text(blob: bytes) -> bool:
    """Return whether bytes are text in UTF-8 that a design writes as it is."""
    return format_qualifier(blob).encode() == blob


def test_typed_rows_are_read_as_in_the_hbase_shell_or_refused(hbase_oracle: JavaOracle) -> None:
    """Typed text is read as in the HBase shell, or refused."""
    random = Random("typed")
    pieces = ("a", "\\", "x", "\\x", "0", "F", "\\x0A", "\\xFF", "f", "\\xff", "é", "~", " ")
    typed = ["".join(random.choices(pieces, k=random.randrange(8))) for _ in range(3 * CASES)]
    answers = hbase_oracle.ask_many([("Bytes.toBytesBinary", text) for text in typed])
    read = [
        (run_or_refuse(from_string_binary, text), answer)
        for text, answer in zip(typed, answers, strict=True)
    ]
    taken = [(found, parse_bytes(answer)) for found, answer in read if found is not REFUSED]
    assert len(taken) >= CASES
    assert [expected for _, expected in taken] == [found for found, _ in taken]
