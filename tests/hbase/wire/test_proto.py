"""The protobuf codec, compared with Google's and tested with arbitrary bytes."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument, RowkeyError
from rowkey.hbase.wire import proto
from rowkey.hbase.wire.proto import (
    MAX_FIELD_VALUES,
    ProtoMessage,
    WireFormatError,
    decode_varint,
    encode_varint,
)

FIELD = descriptor_pb2.FieldDescriptorProto
ONE, MANY = FIELD.LABEL_OPTIONAL, FIELD.LABEL_REPEATED
FIELDS = [
    ("small", 1, FIELD.TYPE_UINT32, ONE),
    ("large", 2, FIELD.TYPE_UINT64, ONE),
    ("int32", 3, FIELD.TYPE_INT32, ONE),
    ("int64", 4, FIELD.TYPE_INT64, ONE),
    ("flag", 5, FIELD.TYPE_BOOL, ONE),
    ("blob", 6, FIELD.TYPE_BYTES, ONE),
    ("text", 7, FIELD.TYPE_STRING, ONE),
    ("double", 8, FIELD.TYPE_DOUBLE, ONE),
    ("float32", 9, FIELD.TYPE_FLOAT, ONE),
    ("inner", 10, FIELD.TYPE_MESSAGE, ONE),
    ("inners", 11, FIELD.TYPE_MESSAGE, MANY),
    ("packed", 12, FIELD.TYPE_UINT64, MANY),
    ("unpacked", 13, FIELD.TYPE_UINT64, MANY),
    ("blobs", 300, FIELD.TYPE_BYTES, MANY),
    ("texts", 2**29 - 1, FIELD.TYPE_STRING, MANY),
]


def build_google_class() -> Any:
    """Return Google's class of a message with every type of field."""
    file = descriptor_pb2.FileDescriptorProto(name="kinds.proto", package="kinds", syntax="proto2")
    kinds = file.message_type.add(name="Kinds")
    for name, number, kind, label in FIELDS:
        one = kinds.field.add(name=name, number=number, type=kind, label=label)
        if kind == FIELD.TYPE_MESSAGE:
            one.type_name = ".kinds.Kinds"
        one.options.packed = name == "packed"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("kinds.Kinds"))


GOOGLE = build_google_class()

u64 = st.integers(0, 2**64 - 1) | st.integers(0, 300)
i64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
leaves = st.fixed_dictionaries(
    {},
    optional={
        "small": st.integers(0, 2**32 - 1),
        "large": u64,
        "int32": st.integers(-(2**31), 2**31 - 1),
        "int64": i64,
        "flag": st.booleans(),
        "blob": st.binary(max_size=200),
        "text": words,
        "double": st.floats(allow_nan=False),
        "float32": st.floats(width=32, allow_nan=False),
        "packed": st.lists(u64, max_size=20) | st.lists(st.integers(0, 9), max_size=300),
        "unpacked": st.lists(u64, max_size=20) | st.lists(st.integers(0, 9), max_size=300),
        "blobs": st.lists(st.binary(max_size=9), max_size=9),
        "texts": st.lists(words, max_size=9),
    },
)
trees = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda leaf, one, many: leaf | {"inner": one, "inners": many},
        leaves,
        inner,
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)
WRITERS: dict[str, Any] = {
    "small": proto.encode_uint,
    "large": proto.encode_uint,
    "int32": proto.encode_int64,
    "int64": proto.encode_int64,
    "flag": proto.encode_bool,
    "blob": proto.encode_bytes,
    "text": proto.encode_text,
    "double": proto.encode_double,
    "float32": proto.encode_float,
}
NUMBERS = {name: number for name, number, _, _ in FIELDS}


def write_message(tree: dict[str, Any]) -> bytes:
    """Return a message of every type of field, by our writer."""
    parts = []
    for name, value in tree.items():
        number = NUMBERS[name]
        if name in WRITERS:
            parts.append(WRITERS[name](number, value))
        elif name == "packed":
            parts.append(proto.encode_message(number, *map(encode_varint, value)) if value else b"")
        elif name == "unpacked":
            parts += [proto.encode_uint(number, one) for one in value]
        elif name == "inner":
            parts.append(proto.encode_message(number, write_message(value)))
        elif name == "inners":
            parts += [proto.encode_message(number, write_message(one)) for one in value]
        else:
            writer = proto.encode_bytes if name == "blobs" else proto.encode_text
            parts += [writer(number, one) for one in value]
    return b"".join(parts)


def read_message(sent: ProtoMessage) -> dict[str, Any]:
    """Return the fields of a message by our reader, without missing ones and empty lists."""
    found: dict[str, Any] = {}
    readers: dict[str, Any] = {
        "small": sent.get_uint,
        "large": sent.get_uint,
        "int32": sent.get_int64,
        "int64": sent.get_int64,
        "flag": sent.get_bool,
        "blob": sent.get_bytes,
        "text": sent.get_text,
        "double": sent.get_double,
        "float32": sent.get_float,
        "packed": sent.list_uints,
        "unpacked": sent.list_uints,
        "blobs": sent.list_bytes,
        "texts": sent.list_texts,
    }
    for name, reader in readers.items():
        if sent.has_field(NUMBERS[name]):
            found[name] = reader(NUMBERS[name])
    inner = sent.get_message(NUMBERS["inner"])
    if inner is not None:
        found["inner"] = read_message(inner)
    if sent.has_field(NUMBERS["inners"]):
        found["inners"] = [read_message(one) for one in sent.iter_messages(NUMBERS["inners"])]
    return found


def drop_empty_lists(tree: dict[str, Any]) -> dict[str, Any]:
    """Return a tree without empty lists, which are not encoded."""
    pruned: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            pruned[name] = drop_empty_lists(value)
        elif name == "inners":
            pruned[name] = [drop_empty_lists(one) for one in value]
        else:
            pruned[name] = value
    return {name: value for name, value in pruned.items() if value != []}


@given(tree=trees)
def test_messages_are_decoded_as_by_the_protobuf_library_of_google(tree: dict[str, Any]) -> None:
    """Our decoder finds the same values in our bytes and Google's, and Google's in ours."""
    by_google, written, values = GOOGLE(**tree), write_message(tree), drop_empty_lists(tree)
    assert values == read_message(ProtoMessage(written))
    assert values == read_message(ProtoMessage(by_google.SerializeToString()))
    assert by_google == GOOGLE.FromString(written)


@given(first=leaves, second=leaves)
def test_concatenated_messages_merge_as_in_the_protobuf_library_of_google(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    """In concatenated messages the last value counts and repeated fields add up."""
    joined = write_message({"inner": first}) + write_message({"inner": second})
    expected = read_message(ProtoMessage(GOOGLE.FromString(joined).SerializeToString()))
    assert expected == read_message(ProtoMessage(joined))


@given(number=u64, before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_a_number_is_decoded_at_an_offset(number: int, before: bytes, after: bytes) -> None:
    """A number within other bytes is found, with the offset after it."""
    sent = encode_varint(number)
    expected = number, len(before) + len(sent)
    assert expected == decode_varint(before + sent + after, len(before))
    assert expected == decode_varint(memoryview(before + sent + after), len(before))


def read_every_field(data: bytes) -> None:
    """Read every field as every type, ignoring missing or malformed ones."""
    try:
        sent = ProtoMessage(data)
    except WireFormatError:
        return
    for number in range(1, 16):
        for reader in (
            sent.get_uint,
            sent.get_int64,
            sent.get_bool,
            sent.get_bytes,
            sent.get_text,
            sent.get_double,
            sent.get_float,
            sent.get_message,
            lambda number: list(sent.iter_messages(number)),
            sent.list_bytes,
            sent.list_texts,
            sent.list_uints,
        ):
            try:
                reader(number)
            except WireFormatError:
                continue


def is_read_or_malformed(data: bytes) -> bool:
    """Return whether reading the bytes ends with an answer or WireFormatError."""
    read_every_field(data)
    return True


@given(data=st.binary(max_size=300))
def test_any_bytes_decode_to_a_message_or_raise_wire_format_error(data: bytes) -> None:
    """No bytes raise anything but WireFormatError, whichever field is read."""
    assert is_read_or_malformed(data)


@given(tree=trees, data=st.data())
def test_a_changed_message_is_decoded_or_raises_wire_format_error(
    tree: dict[str, Any], data: st.DataObject
) -> None:
    """A message with a changed or missing byte raises nothing but WireFormatError."""
    sent = bytearray(write_message(tree) or b"\x08\x01")
    sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    assert is_read_or_malformed(bytes(sent[: data.draw(st.integers(0, len(sent)))]))


@given(tree=leaves)
def test_a_truncated_message_is_malformed(tree: dict[str, Any]) -> None:
    """A message without its last byte raises an error."""
    sent = write_message(tree) + proto.encode_bytes(6, b"last")
    with pytest.raises(WireFormatError):
        ProtoMessage(sent[:-1])


@pytest.mark.parametrize(
    "data",
    [
        b"\x08",  # a tag alone
        b"\x00\x01",  # number 0
        b"\x0b\x0c",  # groups
        b"\x0e\x00",
        b"\x0f\x00",
        b"\x0a\x05abc",  # 5 bytes where 3 are
        b"\x0d\x01\x02\x03",  # a float of 3 bytes
        b"\x09\x01\x02\x03",  # a double of 3 bytes
        b"\x08" + b"\xff" * 9 + b"\x02",  # 65 bits
        b"\x08" + b"\x80" * 10 + b"\x01",  # 11 bytes
        b"\x08\x80\x80",  # ends within a number
        b"\x0a" + b"\xff" * 9 + b"\x01",  # a length of 2^64-1
        encode_varint(1 << 32) + b"\x01",  # number 2^29
    ],
)
def test_each_malformed_message_is_rejected(data: bytes) -> None:
    """Each violation of the format raises WireFormatError."""
    with pytest.raises(WireFormatError, match="HBase's answer: "):
        ProtoMessage(data)


@pytest.mark.parametrize(
    ("data", "reader"),
    [
        (b"\x08\x01", "get_bytes"),
        (b"\x08\x01", "get_text"),
        (b"\x08\x01", "get_message"),
        (b"\x08\x01", "iter_messages"),
        (b"\x08\x01", "list_bytes"),
        (b"\x08\x01", "list_texts"),
        (b"\x0a\x01a", "get_uint"),
        (b"\x0a\x01a", "get_int64"),
        (b"\x0a\x01a", "get_bool"),
        (b"\x0a\x01a", "get_double"),
        (b"\x0a\x01\xff", "get_text"),
        (b"\x0a\x01\xff", "list_uints"),
        (b"\x08" + encode_varint(1 << 32), "get_float"),
    ],
)
def test_reading_a_field_as_another_type_is_malformed(data: bytes, reader: str) -> None:
    """Reading a field as another type raises an error."""
    with pytest.raises(WireFormatError):
        list(getattr(ProtoMessage(data), reader)(1))


@pytest.mark.parametrize(
    "data",
    [
        b"\x08\x00" * (MAX_FIELD_VALUES + 1),
        b"\x08\x00\x10\x00" * (MAX_FIELD_VALUES // 2) + b"\x08\x00",
        (b"\x08\x00" * (MAX_FIELD_VALUES // 2) + b"\x10\x00") * 3,
        proto.encode_bytes(1, bytes(MAX_FIELD_VALUES + 1)),
        proto.encode_bytes(1, bytes(MAX_FIELD_VALUES)) * 2,
    ],
    ids=["one field", "two fields", "runs", "packed", "packed twice"],
)
def test_a_message_of_very_many_values_is_malformed(data: bytes) -> None:
    """A message of more values than any answer has is refused before they fill the memory."""
    with pytest.raises(WireFormatError, match="values or more"):
        ProtoMessage(data).list_uints(1)


def test_wire_format_error_is_a_rowkey_error_and_a_value_error() -> None:
    """WireFormatError is a RowkeyError and a ValueError."""
    assert issubclass(WireFormatError, RowkeyError)
    assert issubclass(WireFormatError, ValueError)


def test_a_field_of_none_is_not_encoded() -> None:
    """A field of None is not encoded, but an empty message is."""
    writers = (*WRITERS.values(), proto.encode_bytes, proto.encode_text)
    assert {b""} == {writer(1, None) for writer in writers}
    assert b"\x0a\x00" == proto.encode_message(1)


def test_a_missing_field_has_the_default_of_the_call() -> None:
    sent = ProtoMessage(b"")
    assert (7, -7, True, b"d", "d") == (
        sent.get_uint(1, 7),
        sent.get_int64(1, -7),
        sent.get_bool(1, default=True),
        sent.get_bytes(1, b"d"),
        sent.get_text(1, "d"),
    )
    assert (None, [], [], [], [], False) == (
        sent.get_message(1),
        list(sent.iter_messages(1)),
        sent.list_bytes(1),
        sent.list_texts(1),
        sent.list_uints(1),
        sent.has_field(1),
    )


def test_numbers_that_the_wire_format_cannot_hold_are_rejected() -> None:
    """A number that the format cannot hold raises an error."""
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (encode_varint, (-1,)),
        (encode_varint, (2**64,)),
        (proto.encode_uint, (1, -1)),
        (proto.encode_int64, (1, 2**63)),
        (proto.encode_int64, (1, -(2**63) - 1)),
        (proto.encode_float, (1, 1e39)),
        (proto.encode_text, (1, "\ud800")),
    ]
    for writer, arguments in calls:
        with pytest.raises(InvalidArgument):
            writer(*arguments)


def test_the_examples_of_the_protobuf_documentation_have_the_same_bytes() -> None:
    assert "089601" == proto.encode_uint(1, 150).hex()
    assert "120774657374696e67" == proto.encode_text(2, "testing").hex()
    assert "1a03089601" == proto.encode_message(3, proto.encode_uint(1, 150)).hex()
    assert "08feffffffffffffffff01" == proto.encode_int64(1, -2).hex()
    assert [3, 270, 86942] == ProtoMessage(bytes.fromhex("3206038e029ea705")).list_uints(6)


def test_floats_are_little_endian_and_nan_stays_nan() -> None:
    """A float and a double are little endian, and NaN stays NaN."""
    assert b"\x09" + struct.pack("<d", 0.1) == proto.encode_double(1, 0.1)
    assert "nan" == str(ProtoMessage(proto.encode_float(1, float("nan"))).get_float(1))


@pytest.mark.parametrize(
    ("number", "value", "expected"),
    [
        (15, 127, b"\x78\x7f"),
        (15, 128, b"\x78\x80\x01"),
        (16, 127, b"\x80\x01\x7f"),
        (16, 128, b"\x80\x01\x80\x01"),
    ],
)
def test_field_numbers_from_16_and_lengths_from_128_take_two_bytes(
    number: int, value: int, expected: bytes
) -> None:
    assert expected == proto.encode_uint(number, value)
    tag = (number << 3 | 2).to_bytes() if number < 16 else b"\x82\x01"
    length = expected[-2:] if value == 128 else expected[-1:]
    assert tag + length + bytes(value) == proto.encode_bytes(number, bytes(value))
