"""Protobuf by hand, against Google's own reader and writer, and against any bytes at all."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import Refused, RowkeyError
from rowkey.hbase.wire import proto
from rowkey.hbase.wire.proto import Malformed, Message, read_varint, varint

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


def google_class() -> Any:
    """The class Google's protobuf makes of a message with every kind of field."""
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


GOOGLE = google_class()

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
    "small": proto.uint,
    "large": proto.uint,
    "int32": proto.sint64,
    "int64": proto.sint64,
    "flag": proto.flag,
    "blob": proto.blob,
    "text": proto.text,
    "double": proto.double,
    "float32": proto.float32,
}
NUMBERS = {name: number for name, number, _, _ in FIELDS}


def write(tree: dict[str, Any]) -> bytes:
    """A message of every kind of field, by our writer."""
    parts = []
    for name, value in tree.items():
        number = NUMBERS[name]
        if name in WRITERS:
            parts.append(WRITERS[name](number, value))
        elif name == "packed":
            parts.append(proto.message(number, *map(varint, value)) if value else b"")
        elif name == "unpacked":
            parts += [proto.uint(number, one) for one in value]
        elif name == "inner":
            parts.append(proto.message(number, write(value)))
        elif name == "inners":
            parts += [proto.message(number, write(one)) for one in value]
        else:
            writer = proto.blob if name == "blobs" else proto.text
            parts += [writer(number, one) for one in value]
    return b"".join(parts)


def read(sent: Message) -> dict[str, Any]:
    """What our reader finds in a message; what did not come, or is an empty list, is left out."""
    found: dict[str, Any] = {}
    readers: dict[str, Any] = {
        "small": sent.uint,
        "large": sent.uint,
        "int32": sent.int64,
        "int64": sent.int64,
        "flag": sent.flag,
        "blob": sent.blob,
        "text": sent.text,
        "double": sent.double,
        "float32": sent.float32,
        "packed": sent.uints,
        "unpacked": sent.uints,
        "blobs": sent.blobs,
        "texts": sent.texts,
    }
    for name, reader in readers.items():
        if sent.has(NUMBERS[name]):
            found[name] = reader(NUMBERS[name])
    inner = sent.message(NUMBERS["inner"])
    if inner is not None:
        found["inner"] = read(inner)
    if sent.has(NUMBERS["inners"]):
        found["inners"] = [read(one) for one in sent.messages(NUMBERS["inners"])]
    return found


def without_empty(tree: dict[str, Any]) -> dict[str, Any]:
    """A tree as it can be read back: an empty list is not on the wire."""
    pruned: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            pruned[name] = without_empty(value)
        elif name == "inners":
            pruned[name] = [without_empty(one) for one in value]
        else:
            pruned[name] = value
    return {name: value for name, value in pruned.items() if value != []}


@given(tree=trees)
def test_what_is_written_is_read_back(tree: dict[str, Any]) -> None:
    """Every kind of field, in messages in messages, comes back as it was given."""
    assert without_empty(tree) == read(Message(write(tree)))


@given(tree=trees)
def test_google_reads_what_we_write(tree: dict[str, Any]) -> None:
    """Google's reader finds in our bytes what Google's writer would have been given."""
    assert GOOGLE(**tree) == GOOGLE.FromString(write(tree))


@given(tree=trees)
def test_we_read_what_google_writes(tree: dict[str, Any]) -> None:
    """Our reader finds in Google's bytes what was given to Google's writer."""
    assert without_empty(tree) == read(Message(GOOGLE(**tree).SerializeToString()))


@given(first=leaves, second=leaves)
def test_two_messages_joined_are_merged_as_google_merges(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Of a field that came twice the last counts, repeated ones add up, messages are merged."""
    joined = write({"inner": first}) + write({"inner": second})
    expected = read(Message(GOOGLE.FromString(joined).SerializeToString()))
    assert expected == read(Message(joined))


@given(number=u64, before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_numbers_are_read_where_they_stand(number: int, before: bytes, after: bytes) -> None:
    """A number is found in the midst of bytes, with the place behind it."""
    sent = varint(number)
    expected = number, len(before) + len(sent)
    assert expected == read_varint(before + sent + after, len(before))
    assert expected == read_varint(memoryview(before + sent + after), len(before))


def ask_everything(data: bytes) -> None:
    """Asks for every field as every kind; what is not there or of another kind may be malformed."""
    try:
        sent = Message(data)
    except Malformed:
        return
    for number in range(1, 16):
        for reader in (
            sent.uint,
            sent.int64,
            sent.flag,
            sent.blob,
            sent.text,
            sent.double,
            sent.float32,
            sent.message,
            sent.messages,
            sent.blobs,
            sent.texts,
            sent.uints,
        ):
            try:
                reader(number)
            except Malformed:
                continue


def only_malformed(data: bytes) -> bool:
    """Whether reading these bytes ends, with an answer or with Malformed."""
    ask_everything(data)
    return True


@given(data=st.binary(max_size=300))
def test_any_bytes_are_read_or_malformed(data: bytes) -> None:
    """No bytes raise anything but Malformed, whatever they are asked for."""
    assert only_malformed(data)


@given(tree=trees, data=st.data())
def test_broken_messages_are_read_or_malformed(tree: dict[str, Any], data: st.DataObject) -> None:
    """A message with a byte changed, or cut, raises nothing but Malformed."""
    sent = bytearray(write(tree) or b"\x08\x01")
    sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    assert only_malformed(bytes(sent[: data.draw(st.integers(0, len(sent)))]))


@given(tree=leaves)
def test_a_message_cut_within_its_last_field_is_malformed(tree: dict[str, Any]) -> None:
    """What lacks its last byte is never read as if it were whole."""
    sent = write(tree) + proto.blob(6, b"last")
    with pytest.raises(Malformed):
        Message(sent[:-1])


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
        varint(1 << 32) + b"\x01",  # number 2^29
    ],
)
def test_each_kind_of_malformed_message(data: bytes) -> None:
    """Each way to break the format is noticed when the message is read."""
    with pytest.raises(Malformed, match="a server's bytes: "):
        Message(data)


@pytest.mark.parametrize(
    ("data", "reader"),
    [
        (b"\x08\x01", "blob"),
        (b"\x08\x01", "text"),
        (b"\x08\x01", "message"),
        (b"\x08\x01", "messages"),
        (b"\x08\x01", "blobs"),
        (b"\x08\x01", "texts"),
        (b"\x0a\x01a", "uint"),
        (b"\x0a\x01a", "int64"),
        (b"\x0a\x01a", "flag"),
        (b"\x0a\x01a", "double"),
        (b"\x0a\x01\xff", "text"),
        (b"\x0a\x01\xff", "uints"),
        (b"\x08" + varint(1 << 32), "float32"),
    ],
)
def test_a_field_of_another_kind_is_malformed(data: bytes, reader: str) -> None:
    """A field asked for as what it is not is malformed, not a wrong answer."""
    with pytest.raises(Malformed):
        getattr(Message(data), reader)(1)


def test_malformed_is_an_error_of_the_house() -> None:
    """Whoever catches what rowkey raises, or a ValueError, catches it."""
    assert issubclass(Malformed, RowkeyError)
    assert issubclass(Malformed, ValueError)


def test_nothing_is_written_for_none() -> None:
    """A field without a value is left out; an empty message is not."""
    writers = (*WRITERS.values(), proto.blob, proto.text)
    assert {b""} == {writer(1, None) for writer in writers}
    assert b"\x0a\x00" == proto.message(1)


def test_defaults_of_what_did_not_come() -> None:
    """A field that did not come has the default asked for."""
    sent = Message(b"")
    assert (7, -7, True, b"d", "d") == (
        sent.uint(1, 7),
        sent.int64(1, -7),
        sent.flag(1, default=True),
        sent.blob(1, b"d"),
        sent.text(1, "d"),
    )
    assert (None, [], [], [], [], False) == (
        sent.message(1),
        sent.messages(1),
        sent.blobs(1),
        sent.texts(1),
        sent.uints(1),
        sent.has(1),
    )


def test_numbers_out_of_range_are_refused() -> None:
    """What the wire has no room for is refused, not written as another number."""
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (varint, (-1,)),
        (varint, (2**64,)),
        (proto.uint, (1, -1)),
        (proto.sint64, (1, 2**63)),
        (proto.sint64, (1, -(2**63) - 1)),
        (proto.float32, (1, 1e39)),
        (proto.text, (1, "\ud800")),
    ]
    for writer, arguments in calls:
        with pytest.raises(Refused):
            writer(*arguments)


def test_vectors_of_the_format() -> None:
    """The examples of protobuf's own page on its encoding."""
    assert "089601" == proto.uint(1, 150).hex()
    assert "120774657374696e67" == proto.text(2, "testing").hex()
    assert "1a03089601" == proto.message(3, proto.uint(1, 150)).hex()
    assert "08feffffffffffffffff01" == proto.sint64(1, -2).hex()
    assert [3, 270, 86942] == Message(bytes.fromhex("3206038e029ea705")).uints(6)


def test_bits_of_floats_are_kept() -> None:
    """A float and a double are little endian; a NaN stays one."""
    assert b"\x09" + struct.pack("<d", 0.1) == proto.double(1, 0.1)
    assert "nan" == str(Message(proto.float32(1, float("nan"))).float32(1))
