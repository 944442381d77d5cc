"""Bytes: long keys, cells that repeat them, packed columns, numbers and digests as text."""

from __future__ import annotations

import hashlib
import struct
from itertools import pairwise
from typing import Any

import pytest

import rowkey
from rowkey import bind_key
from rowkey.cells import MAX_ROW_BYTES, compute_cell_bytes
from rowkey.errors import RowError
from rowkey.lint import check_design
from rowkey.regions import from_string_binary, to_string_binary
from sources.judged import NAMES, changed, findings, found, read, rows, rules, simulated

DESCRIBED = "described_orders/described"
COLUMNS = ["temperature", "humidity", "pressure", "wind", "gusts", "rain", "sun", "snow"]


def key_value(row: bytes, family: bytes, qualifier: bytes, value: bytes) -> bytes:
    """A put as HBase's KeyValue has it, written from its description."""
    coordinates = struct.pack(">H", len(row)) + row + bytes([len(family)]) + family + qualifier
    coordinates += struct.pack(">qB", 1, 4)
    return struct.pack(">II", len(coordinates), len(value)) + coordinates + value


def stored(name: str, row: dict[str, Any]) -> int:
    """The bytes of all cells that a row is written as."""
    key, cells = read(name).layout.encode_event(row)
    made = [key_value(key, one.family.encode(), one.qualifier, one.value) for one in cells]
    return sum(map(len, made))


# Long keys


@pytest.mark.claims(3)
def test_a_row_key_has_32767_bytes_at_most_and_one_at_least() -> None:
    """Not 64 KB: one byte more is refused, and so is no byte at all."""
    key = bind_key("[text:tail]", {"text": "text"})
    assert 32_767 == MAX_ROW_BYTES == len(key.encode({"text": "x" * 32_767}))
    for text in ("x" * 32_768, "x" * 65_536, ""):
        with pytest.raises(RowError):
            key.encode({"text": text})
    one = found(DESCRIBED, "unbounded-key")
    assert "32,767" in one.verdict
    bounded = {"description": {"type": "text", "max_bytes": 32_757}}
    for extra, expected in ((0, 0), (1, 1)):
        bounded["description"]["max_bytes"] = 32_757 + extra
        design = changed(DESCRIBED, fields=bounded)
        assert expected == len(check_design(design, select=["unbounded-key"]).findings)


@pytest.mark.claims(4, 5, 22)
def test_a_long_key_is_told_by_its_bytes_of_an_event() -> None:
    """It stands in every cell, so it counts by cell and not by row: 190 bytes twice."""
    key = 1 + 8 + 180 + 1
    amount, state = 20 + key + 1 + len("amount") + 4, 20 + key + 1 + len("state") + 4
    evidence = found(DESCRIBED, "long-key").evidence
    assert (key, 2) == (evidence["key_bytes"], evidence["cells"])
    assert evidence["share"] == pytest.approx(2 * key / (amount + state), abs=0.003)
    assert "warning" == found(DESCRIBED, "long-key").severity
    assert [] == rules("described_orders/better")


@pytest.mark.claims(5)
def test_a_hundred_bytes_of_ten_million_rows_are_a_gigabyte_for_each_cell() -> None:
    """As the document has it for one cell a row; three cells a row are three of them."""
    for cells in (1, 3):
        with_key, without = (cells * compute_cell_bytes(length, 1, 1, 8) for length in (100, 0))
        assert cells * 10**9 == 10_000_000 * (with_key - without)
    assert len(key_value(bytes(100), b"d", b"q", bytes(8))) == compute_cell_bytes(100, 1, 1, 8)


@pytest.mark.claims(4)
@pytest.mark.parametrize(("length", "expected"), [(16, []), (40, ["info"]), (140, ["warning"])])
def test_sixteen_bytes_are_no_limit(length: int, expected: list[str]) -> None:
    """Above 16 a key that is most of its cell is worth knowing; above 100 it is a warning."""
    fields: dict[str, Any] = {"code": {"type": "hex", "width": length}, "n": "u32"}
    design = rowkey.Design("t", "[code]", fields=fields, splits=["8"], cluster={"servers": 2})
    assert expected == [one.severity for one in check_design(design, select=["long-key"]).findings]


@pytest.mark.claims(4)
@pytest.mark.parametrize(("length", "expected"), [(100, ["info"]), (101, ["warning"])])
def test_a_hundred_bytes_are_a_warning_from_the_next_on(length: int, expected: list[str]) -> None:
    """The length at which the document ends; what is told are bytes a cell, and their share."""
    fields: dict[str, Any] = {"code": {"type": "hex", "width": length}, "n": "u32"}
    design = rowkey.Design("t", "[code]", fields=fields, splits=["8"], cluster={"servers": 2})
    [one] = check_design(design, select=["long-key"]).findings
    assert expected == [one.severity]
    cell = len(key_value(bytes(length), b"d", b"n", bytes(4)))
    assert (length, 1, length / cell) == tuple(
        one.evidence[word] for word in ("key_bytes", "cells", "share")
    )


@pytest.mark.claims(4)
def test_neither_sixteen_bytes_nor_a_fixed_length_is_asked_for() -> None:
    """Of all designs, only keys above 16 that are much of their cells are told, 100 the loudest."""
    told = {
        name: one for name in NAMES for one in findings(name).findings if one.name == "long-key"
    }
    assert {"described_orders/described", "devices/md5", "ids/as_text"} == set(told)
    sizes = {name: simulated(name).key_bytes for name in NAMES}
    assert all(sizes[name] > 16 for name in told)
    for one in told.values():
        assert ("warning" if one.evidence["key_bytes"] > 100 else "info") == one.severity
        assert "what matters is the bytes in each cell" in one.verdict
    longer = {name for name in NAMES if sizes[name] > 16} - set(told)
    assert {"behaviour/better", "orders_by_user/better", "logs/better_by_host"} <= longer
    assert read("orders_by_user/better").key.part_sequence.framing.width is None
    assert [] == rules("orders_by_user/better")


@pytest.mark.claims(7)
def test_eight_bytes_have_no_advantage() -> None:
    """Cells are packed: each byte more of the key is one byte more, and nine are found no fault."""
    sizes = [len(key_value(bytes(length), b"d", b"q", bytes(8))) for length in range(1, 40)]
    assert sizes == [compute_cell_bytes(length, 1, 1, 8) for length in range(1, 40)]
    assert {1} == {after - before for before, after in pairwise(sizes)}
    assert 9 == simulated("described_orders/better").key_bytes
    assert [] == rules("described_orders/better")


@pytest.mark.claims(6, 22)
def test_short_names_save_what_they_are_shorter_in_every_cell() -> None:
    """In what a MemStore holds, a key, family or name of n bytes less is n bytes less a cell."""
    row = {"user": 7, "name": "anna", "town": "Ulm", "visits": 3}
    long, short = stored("families/three", row), stored("families/better", row)
    assert long - short == sum(map(len, ("information", "address", "statistics"))) - 3


# Packed columns


@pytest.mark.claims(5, 45)
def test_eight_columns_in_one_cell() -> None:
    """Each cell has the key, the family, its name and 20 bytes more; protobuf takes 5 a value."""
    row = {"station": 7, "ts": 1_609_459_200, **dict.fromkeys(COLUMNS, 0.5)}
    apart = sum(20 + 13 + 1 + len(name) + 4 for name in COLUMNS)
    packed = 20 + 13 + 1 + len("p") + 8 * (1 + 4)
    assert (apart, packed) == (stored("packed/columns", row), stored("packed/better", row))
    assert (apart, 13) == (simulated("packed/columns").event_bytes, 1 + 4 + 8)
    evidence = found("packed/columns", "unpacked-columns").evidence
    assert COLUMNS == evidence["fields"]
    assert evidence["saved"] <= apart - packed


@pytest.mark.claims(45)
def test_the_packed_cell_is_a_message_of_protocol_buffers() -> None:
    """Field n is its number and wire type 5, then four bytes, the least first."""
    values = {name: float(n) for n, name in enumerate(COLUMNS)}
    row = {"station": 7, "ts": 1_609_459_200, **values}
    key, [cell] = read("packed/better").layout.encode_event(row)
    message = b"".join(
        bytes([n << 3 | 5]) + struct.pack("<f", values[name]) for n, name in enumerate(COLUMNS, 1)
    )
    assert message == cell.value
    [back] = read("packed/better").layout.decode_events(key, [cell])
    assert values == {name: back[name] for name in COLUMNS}


@pytest.mark.claims(45)
@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (
            {"reads": [{"name": "heat", "where": "station = ? and temperature > ?"}]},
            "packed-under-filter",
        ),
        ({"families": {"d": {"versions": 3}}}, "packed-history"),
    ],
)
def test_what_packing_gives_up_is_told(words: dict[str, Any], rule: str) -> None:
    """A filter of a single value, and versions of one; on columns of their own neither is."""
    assert [rule] == [
        one.name for one in check_design(changed("packed/better", **words), select=[rule]).findings
    ]
    assert () == check_design(changed("packed/columns", **words), select=[rule]).findings


@pytest.mark.claims(45)
def test_a_packed_cell_is_written_whole() -> None:
    """One value by itself is refused; in a cell of its own it is taken."""
    row = {"station": 7, "ts": 1_609_459_200}
    with rowkey.open(read("packed/columns"), "memory:") as table:
        table.put({**row, **dict.fromkeys(COLUMNS, 0.5)})
        table.put({**row, "rain": 2.0})
        assert (2.0, 0.5) == (table.get(row)["rain"], table.get(row)["sun"])
    with rowkey.open(read("packed/better"), "memory:") as table, pytest.raises(RowError):
        table.put({**row, "rain": 2.0})


# Numbers and digests as text


@pytest.mark.claims(83)
def test_a_long_is_eight_bytes_and_up_to_twenty_digits() -> None:
    """2.5 times as many at most; the recorded ones have nineteen."""
    assert 20 / 8 == len(str(2**64 - 1)) / len(struct.pack(">Q", 2**64 - 1)) == 2.5
    assert {19} == {len(row["serial"]) for row in rows("ids/as_text")}
    told = {
        one.path: one.evidence for one in findings("ids/as_text").findings if "spelled" in one.name
    }
    assert {"bytes": 19.0, "possible": 8} == dict(told["fields.serial"])
    assert {"bytes": 32.0, "possible": 16} == dict(told["fields.trace"])


@pytest.mark.claims(4, 83, 84)
def test_the_same_values_as_what_they_are_take_24_bytes_for_53() -> None:
    """Both keys by hand, of every row; the short one has the order of the numbers as well."""
    text, typed = read("ids/as_text").key, read("ids/better").key
    for row in rows("ids/as_text"):
        trace, serial = row["trace"].encode(), row["serial"].encode()
        assert trace + b"\0" + serial + b"\0" == text.encode(row)
        short = bytes.fromhex(row["trace"]) + struct.pack(">Q", int(row["serial"]))
        assert short == typed.encode({"trace": row["trace"], "serial": int(row["serial"])})
    assert (53, 24) == (simulated("ids/as_text").key_bytes, simulated("ids/better").key_bytes)
    assert [] == rules("ids/better")


@pytest.mark.claims(84)
def test_a_digest_made_a_string_is_an_accident_of_the_charset() -> None:
    """Of the document's own MD5: 26 bytes through windows-1252, 34 through UTF-8, 16 as it is."""
    digest = hashlib.md5(b"1234567890").digest()
    western = digest.decode("cp1252", errors="replace").encode()
    unicode = digest.decode("utf-8", errors="replace").encode()
    assert (26, 34, 16) == (len(western), len(unicode), len(digest))
    assert unicode.decode().encode("utf-8") != digest
    fields = {"n": {"type": "digits", "width": 10}}
    raw = bind_key("[digest(n, 16)]", fields)
    assert digest == raw.encode({"n": "1234567890"})
    spelled = bind_key("[digest(n, 16, as=hex)]", fields)
    assert digest.hex().encode() == spelled.encode({"n": "1234567890"})


@pytest.mark.claims(85)
def test_what_the_shell_prints_of_binary_keys_is_read_back() -> None:
    """The key of a reading is not to be read by a person, and `decode` gives its values."""
    key = read("devices/better").key
    row = {"device": 77, "ts": 1_609_459_200_000}
    made = key.encode(row)
    shown = to_string_binary(made)
    assert "\\x00\\x00\\x00M" in shown
    assert made == from_string_binary(shown)
    assert row == key.decode(from_string_binary(shown))
    assert "device 77" in key.format_prefix(made)


@pytest.mark.claims(85)
def test_the_command_decodes_what_the_shell_prints(tmp_path: Any) -> None:
    """`rowkey decode` takes keys as HBase's shell and logs print them."""
    from click.testing import CliRunner

    from rowkey.cli.group import program
    from sources.judged import SOURCES

    key = read("devices/better").key
    keys = [key.encode({"device": device, "ts": 1_609_459_200_000 + device}) for device in range(3)]
    path = tmp_path / "keys.txt"
    path.write_text("".join(f"{to_string_binary(one)}\n" for one in keys))
    design = str(SOURCES / "devices" / "better.toml")
    told = CliRunner().invoke(program, ["decode", design, str(path), "--keys", "binary"])
    assert 0 == told.exit_code, told.output
    assert 3 == len(told.stdout.splitlines())
    assert all(f'"device": {n}' in line for n, line in enumerate(told.stdout.splitlines()))


@pytest.mark.claims(81, 82)
@pytest.mark.parametrize("block", [65_536, 131_072, 16 * 2**20])
def test_an_index_is_a_key_and_twelve_bytes_for_each_block(block: int) -> None:
    """By hand, of thirty days: long keys and small blocks make it large, a codec does not."""
    key = 1 + 8 + 180 + 1 + 8
    event = (20 + key + 1 + len("amount") + 4) + (20 + key + 1 + len("state") + 4)
    blocks = 10_000 * 30 * 86_400 * event / block
    expected = blocks * (key + 12) / 8
    for codec in ("NONE", "ZSTD"):
        design = changed(
            DESCRIBED,
            key="[bucket(order, 16)][order][description][ts]",
            fields={"ts": "timestamp_ms"},
            families={"d": {"block_size": block, "ttl": "30d", "compression": codec}},
            writes={"rate": "10000/s"},
            cluster={"servers": 8, "heap": "16GiB"},
        )
        told = check_design(design, select=["index-too-large"]).findings
        assert (expected >= 0.05 * 16 * 2**30) == bool(told)
        for one in told:
            assert pytest.approx(expected, rel=0.005) == one.evidence["index_bytes"]
            assert pytest.approx(blocks, rel=0.005) == one.evidence["blocks"]


@pytest.mark.claims(62)
@pytest.mark.parametrize("buckets", [4, 7, 16])
def test_a_row_has_the_salt_byte_that_phoenix_gives_it(buckets: int) -> None:
    """31 h + byte from 1 over the finished key, without its sign: as SaltingUtil is described."""
    fields = {"host": {"type": "text", "max_bytes": 20}, "n": "u32"}
    key = bind_key(f"[bucket({buckets}, hash=java31, over=rest)][host][n]", fields)
    for n in range(200):
        made = key.encode({"host": f"web-{n}.é", "n": n * 7_919})
        number = 1
        for byte in made[1:]:
            number = (31 * number + (byte ^ 0x80) - 0x80) & 0xFFFFFFFF
        signed = number - (1 << 32) if number >> 31 else number
        assert abs(signed) % buckets == made[0]
