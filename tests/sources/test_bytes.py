"""The sources' claims on bytes: long keys, repeated keys, packed columns, text numbers."""

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
from sources.evaluations import (
    NAMES,
    change_design,
    check_example,
    get_finding,
    list_rows,
    list_rules,
    read_design,
    simulate_example,
)

DESCRIBED_DESIGN = "described_orders/described"
COLUMNS = ["temperature", "humidity", "pressure", "wind", "gusts", "rain", "sun", "snow"]


def encode_key_value(row: bytes, family: bytes, qualifier: bytes, value: bytes) -> bytes:
    """Encode a put as HBase's KeyValue, from its description."""
    coordinates = struct.pack(">H", len(row)) + row + bytes([len(family)]) + family + qualifier
    coordinates += struct.pack(">qB", 1, 4)
    return struct.pack(">II", len(coordinates), len(value)) + coordinates + value


def count_stored_bytes(name: str, row: dict[str, Any]) -> int:
    """Return the bytes of all cells of a row."""
    key, cells = read_design(name).layout.encode_event(row)
    made = [encode_key_value(key, one.family.encode(), one.qualifier, one.value) for one in cells]
    return sum(map(len, made))


# Long keys


@pytest.mark.claims(3)
def test_a_row_key_has_1_to_32767_bytes() -> None:
    """Row keys of 32,768 bytes and of none are refused; the limit is not 64 KB."""
    key = bind_key("[text:tail]", {"text": "text"})
    assert 32_767 == MAX_ROW_BYTES == len(key.encode({"text": "x" * 32_767}))
    for text in ("x" * 32_768, "x" * 65_536, ""):
        with pytest.raises(RowError):
            key.encode({"text": text})
    one = get_finding(DESCRIBED_DESIGN, "unbounded-key")
    assert "32,767" in one.verdict
    bounded = {"description": {"type": "text", "max_bytes": 32_757}}
    for extra, expected in ((0, 0), (1, 1)):
        bounded["description"]["max_bytes"] = 32_757 + extra
        design = change_design(DESCRIBED_DESIGN, fields=bounded)
        assert expected == len(check_design(design, select=["unbounded-key"]).findings)


@pytest.mark.claims(4, 5, 22)
def test_a_long_key_is_reported_with_its_bytes_per_event() -> None:
    """The finding on a long key counts its bytes once for each cell of an event."""
    key = 1 + 8 + 180 + 1
    amount, state = 20 + key + 1 + len("amount") + 4, 20 + key + 1 + len("state") + 4
    evidence = get_finding(DESCRIBED_DESIGN, "long-key").evidence
    assert (key, 2) == (evidence["key_bytes"], evidence["cells"])
    assert evidence["share"] == pytest.approx(2 * key / (amount + state), abs=0.003)
    assert "warning" == get_finding(DESCRIBED_DESIGN, "long-key").severity
    assert [] == list_rules("described_orders/better")


@pytest.mark.claims(5)
def test_a_key_of_100_bytes_costs_a_gigabyte_per_cell_of_ten_million_rows() -> None:
    """100 bytes in 10 million rows are a gigabyte for each cell of a row."""
    for cells in (1, 3):
        with_key, without = (cells * compute_cell_bytes(length, 1, 1, 8) for length in (100, 0))
        assert cells * 10**9 == 10_000_000 * (with_key - without)
    assert len(encode_key_value(bytes(100), b"d", b"q", bytes(8))) == compute_cell_bytes(
        100, 1, 1, 8
    )


@pytest.mark.claims(4)
@pytest.mark.parametrize(("length", "expected"), [(16, []), (40, ["info"]), (140, ["warning"])])
def test_a_key_above_16_bytes_is_a_remark_and_above_100_a_warning(
    length: int, expected: list[str]
) -> None:
    """A key of 17 bytes is a remark if it is most of its cell; above 100 bytes it is a warning."""
    fields: dict[str, Any] = {"code": {"type": "hex", "width": length}, "n": "u32"}
    design = rowkey.Design("t", "[code]", fields=fields, splits=["8"], cluster={"servers": 2})
    assert expected == [one.severity for one in check_design(design, select=["long-key"]).findings]


@pytest.mark.claims(4)
@pytest.mark.parametrize(("length", "expected"), [(100, ["info"]), (101, ["warning"])])
def test_a_key_of_101_bytes_is_a_warning_and_one_of_100_is_not(
    length: int, expected: list[str]
) -> None:
    """A key of 101 bytes is a warning that gives its bytes a cell and their share."""
    fields: dict[str, Any] = {"code": {"type": "hex", "width": length}, "n": "u32"}
    design = rowkey.Design("t", "[code]", fields=fields, splits=["8"], cluster={"servers": 2})
    [one] = check_design(design, select=["long-key"]).findings
    assert expected == [one.severity]
    cell = len(encode_key_value(bytes(length), b"d", b"n", bytes(4)))
    assert (length, 1, length / cell) == tuple(
        one.evidence[word] for word in ("key_bytes", "cells", "share")
    )


@pytest.mark.claims(4)
def test_a_short_key_or_one_of_variable_length_is_not_reported() -> None:
    """Only keys above 16 bytes that are much of their cells have a finding."""
    told = {
        name: one
        for name in NAMES
        for one in check_example(name).findings
        if one.name == "long-key"
    }
    assert {"described_orders/described", "devices/md5", "ids/as_text"} == set(told)
    others = {"behaviour/better", "orders_by_user/better", "logs/better_by_host"}
    assert others.isdisjoint(told)
    assert all(simulate_example(name).key_bytes > 16 for name in [*told, *others])
    for one in told.values():
        assert ("warning" if one.evidence["key_bytes"] > 100 else "info") == one.severity
        assert "what matters is the bytes in each cell" in one.verdict
    assert read_design("orders_by_user/better").key.part_sequence.framing.width is None
    assert [] == list_rules("orders_by_user/better")


@pytest.mark.claims(7)
def test_a_key_of_8_bytes_has_no_advantage_over_one_of_9() -> None:
    """Each byte of the key adds one byte to a cell, and nine bytes have no finding."""
    sizes = [len(encode_key_value(bytes(length), b"d", b"q", bytes(8))) for length in range(1, 40)]
    assert sizes == [compute_cell_bytes(length, 1, 1, 8) for length in range(1, 40)]
    assert {1} == {after - before for before, after in pairwise(sizes)}
    assert 9 == simulate_example("described_orders/better").key_bytes
    assert [] == list_rules("described_orders/better")


@pytest.mark.claims(6, 22)
def test_a_name_shorter_by_n_bytes_saves_n_bytes_in_every_cell() -> None:
    """A key, family or name that is n bytes shorter saves n bytes a cell in a MemStore."""
    row = {"user": 7, "name": "anna", "town": "Ulm", "visits": 3}
    long, short = (
        count_stored_bytes("families/three", row),
        count_stored_bytes("families/better", row),
    )
    assert long - short == sum(map(len, ("information", "address", "statistics"))) - 3


# Packed columns


@pytest.mark.claims(5, 45)
def test_eight_columns_packed_into_one_cell_save_the_computed_bytes() -> None:
    """A cell costs key, family, name and 20 bytes; a value in protocol buffers costs 5."""
    row = {"station": 7, "ts": 1_609_459_200, **dict.fromkeys(COLUMNS, 0.5)}
    apart = sum(20 + 13 + 1 + len(name) + 4 for name in COLUMNS)
    packed = 20 + 13 + 1 + len("p") + 8 * (1 + 4)
    assert (apart, packed) == (
        count_stored_bytes("packed/columns", row),
        count_stored_bytes("packed/better", row),
    )
    assert (apart, 13) == (simulate_example("packed/columns").event_bytes, 1 + 4 + 8)
    evidence = get_finding("packed/columns", "unpacked-columns").evidence
    assert COLUMNS == evidence["fields"]
    assert evidence["saved"] <= apart - packed


@pytest.mark.claims(45)
def test_a_packed_cell_is_a_protocol_buffers_message() -> None:
    """Field n is encoded as its number with wire type 5 and four bytes, least first."""
    values = {name: float(n) for n, name in enumerate(COLUMNS)}
    row = {"station": 7, "ts": 1_609_459_200, **values}
    key, [cell] = read_design("packed/better").layout.encode_event(row)
    message = b"".join(
        bytes([n << 3 | 5]) + struct.pack("<f", values[name]) for n, name in enumerate(COLUMNS, 1)
    )
    assert message == cell.value
    [back] = read_design("packed/better").layout.decode_events(key, [cell])
    assert values == {name: back[name] for name in COLUMNS}


@pytest.mark.claims(45)
@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (
            {"reads": [{"name": "heat", "where": "station = ? and temperature > ?"}]},
            "packed-under-filter",
        ),
        ({"families": {"d": {"versions": 3}}}, "packed-history"),
    ],
)
def test_packing_is_reported_to_give_up_filters_and_versions(
    options: dict[str, Any], rule: str
) -> None:
    """Packed values cannot be filtered or have versions one by one, which is reported."""
    assert [rule] == [
        one.name
        for one in check_design(change_design("packed/better", **options), select=[rule]).findings
    ]
    assert () == check_design(change_design("packed/columns", **options), select=[rule]).findings


@pytest.mark.claims(45)
def test_putting_one_value_of_a_packed_cell_is_refused() -> None:
    """Putting one value of a packed cell is refused, and of its own cell accepted."""
    row = {"station": 7, "ts": 1_609_459_200}
    with rowkey.open(read_design("packed/columns"), "memory:") as table:
        table.put({**row, **dict.fromkeys(COLUMNS, 0.5)})
        table.put({**row, "rain": 2.0})
        assert (2.0, 0.5) == (table.get(row)["rain"], table.get(row)["sun"])
    with rowkey.open(read_design("packed/better"), "memory:") as table, pytest.raises(RowError):
        table.put({**row, "rain": 2.0})


# Numbers and digests as text


@pytest.mark.claims(83)
def test_a_long_has_8_bytes_and_up_to_20_digits() -> None:
    """A long as text has up to 20 digits, 2.5 times its 8 bytes, and the recorded ones 19."""
    assert 20 / 8 == len(str(2**64 - 1)) / len(struct.pack(">Q", 2**64 - 1)) == 2.5
    assert {19} == {len(row["serial"]) for row in list_rows("ids/as_text")}
    told = {
        one.path: one.evidence
        for one in check_example("ids/as_text").findings
        if "spelled" in one.name
    }
    assert {"bytes": 19.0, "possible": 8} == dict(told["fields.serial"])
    assert {"bytes": 32.0, "possible": 16} == dict(told["fields.trace"])


@pytest.mark.claims(4, 83, 84)
def test_binary_values_take_24_bytes_instead_of_53_as_text() -> None:
    """Binary values need 24 bytes instead of 53, and keep the order of the numbers."""
    text, typed = read_design("ids/as_text").key, read_design("ids/better").key
    for row in list_rows("ids/as_text"):
        trace, serial = row["trace"].encode(), row["serial"].encode()
        assert trace + b"\0" + serial + b"\0" == text.encode(row)
        short = bytes.fromhex(row["trace"]) + struct.pack(">Q", int(row["serial"]))
        assert short == typed.encode({"trace": row["trace"], "serial": int(row["serial"])})
    assert (53, 24) == (
        simulate_example("ids/as_text").key_bytes,
        simulate_example("ids/better").key_bytes,
    )
    assert [] == list_rules("ids/better")


@pytest.mark.claims(84)
def test_the_length_of_a_digest_made_a_string_depends_on_the_charset() -> None:
    """The document's MD5 has 16 bytes, 26 through windows-1252 and 34 through UTF-8."""
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
def test_binary_keys_printed_by_the_shell_are_decoded() -> None:
    """`decode` returns the values of a binary key that the shell printed."""
    key = read_design("devices/better").key
    row = {"device": 77, "ts": 1_609_459_200_000}
    made = key.encode(row)
    shown = to_string_binary(made)
    assert "\\x00\\x00\\x00M" in shown
    assert made == from_string_binary(shown)
    assert row == key.decode(from_string_binary(shown))
    assert "device 77" in key.format_prefix(made)


@pytest.mark.claims(85)
def test_rowkey_decode_takes_keys_as_the_hbase_shell_prints_them(tmp_path: Any) -> None:
    """`rowkey decode` takes keys as HBase's shell and logs print them."""
    from click.testing import CliRunner

    from rowkey.cli.group import program
    from sources.evaluations import SOURCES

    key = read_design("devices/better").key
    keys = [key.encode({"device": device, "ts": 1_609_459_200_000 + device}) for device in range(3)]
    path = tmp_path / "keys.txt"
    path.write_text("".join(f"{to_string_binary(one)}\n" for one in keys))
    design = str(SOURCES / "devices" / "better.toml")
    told = CliRunner().invoke(program, ["decode", design, str(path), "--keys", "binary"])
    assert 0 == told.exit_code, told.output
    assert 3 == len(told.stdout.splitlines())
    assert all(f'"device": {n}' in line for n, line in enumerate(told.stdout.splitlines()))


@pytest.mark.claims(81, 82)
@pytest.mark.parametrize("block", [32_768, 65_536, 131_072, 16 * 2**20])
def test_a_block_index_has_a_key_and_12_bytes_for_each_block(block: int) -> None:
    """A block index has a key and 12 bytes a block, so long keys and small blocks enlarge it."""
    key = 1 + 8 + 180 + 1 + 8
    event = (20 + key + 1 + len("amount") + 4) + (20 + key + 1 + len("state") + 4)
    blocks = 10_000 * 30 * 86_400 * event / block
    expected = blocks * (key + 12) / 8
    for codec in ("NONE", "ZSTD"):
        design = change_design(
            DESCRIBED_DESIGN,
            key="[bucket(order, 16)][order][description][ts]",
            fields={"ts": "timestamp_ms"},
            families={"d": {"block_size": block, "ttl": "30d", "compression": codec}},
            writes={"rate": "10000/s"},
            cluster={"servers": 8, "heap": "16GiB"},
        )
        told = check_design(design, select=["index-too-large"]).findings
        share = expected / (16 * 2**30)
        severity = ["warning" if share >= 0.4 else "info"] if share >= 0.2 else []
        assert severity == [one.severity for one in told]
        for one in told:
            assert pytest.approx(expected, rel=0.005) == one.evidence["index_bytes"]
            assert pytest.approx(blocks, rel=0.005) == one.evidence["blocks"]


@pytest.mark.claims(62)
@pytest.mark.parametrize("buckets", [4, 7, 16])
def test_the_salt_byte_of_a_row_is_that_of_phoenix(buckets: int) -> None:
    """A salt byte is computed over the key as Phoenix's SaltingUtil does."""
    fields = {"host": {"type": "text", "max_bytes": 20}, "n": "u32"}
    key = bind_key(f"[bucket({buckets}, hash=java31, over=rest)][host][n]", fields)
    for n in range(200):
        made = key.encode({"host": f"web-{n}.é", "n": n * 7_919})
        number = 1
        for byte in made[1:]:
            number = (31 * number + (byte ^ 0x80) - 0x80) & 0xFFFFFFFF
        signed = number - (1 << 32) if number >> 31 else number
        assert abs(signed) % buckets == made[0]
