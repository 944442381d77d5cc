"""Tables, families and regions as messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import randbits
from typing import ClassVar, Self

from rowkey.hbase.messages.contract import Request
from rowkey.hbase.wire.names import encode_table_name, parse_table_name
from rowkey.hbase.wire.proto import (
    ProtoMessage,
    encode_bytes,
    encode_message,
    encode_text,
    encode_uint,
)

# Texts that are not UTF-8 are sent back as they came.
_TEXT_CODEC = ("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class FamilySchema:
    """The schema of a column family as HBase sends it: name and attributes as text.

    Args:
        configuration: the settings of the site that it overrides.

    Source: HBase.proto, ColumnFamilySchema {1:name, 2:attributes*, 3:configuration*}.
    """

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Encode the family as a protobuf ColumnFamilySchema; the inverse of `from_message`."""
        name = encode_bytes(1, self.name.encode(*_TEXT_CODEC))
        return (
            name
            + _encode_bytes_pairs(2, self.attributes)
            + _encode_string_pairs(3, self.configuration)
        )

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> Self:
        """Convert a protobuf ColumnFamilySchema."""
        name = msg.require_fields(1).get_bytes(1).decode(*_TEXT_CODEC)
        return cls(name, _decode_pairs(msg, 2), _decode_pairs(msg, 3))


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The schema of a table as HBase sends it: name, families, and attributes as text.

    Args:
        name: the table's name, with its namespace unless that is `default`.
        families: its families in HBase's order.
        configuration: settings of the site; HBase returns them among the attributes.

    Source: HBase.proto, TableSchema {1:table_name, 2:attributes*, 3:column_families*,
        4:configuration*}.
    """

    name: str
    families: tuple[FamilySchema, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Encode the table as a protobuf TableSchema; the inverse of `from_message`."""
        families = b"".join(encode_message(3, family.encode()) for family in self.families)
        name, words = (
            encode_message(1, encode_table_name(self.name)),
            _encode_bytes_pairs(2, self.attributes),
        )
        return name + words + families + _encode_string_pairs(4, self.configuration)

    @classmethod
    def from_message(cls, msg: ProtoMessage) -> Self:
        """Convert a protobuf TableSchema.

        Raises:
            WireFormatError: it has no name.
        """
        name = msg.require_message(1)
        families = tuple(FamilySchema.from_message(one) for one in msg.iter_messages(3))
        return cls(parse_table_name(name), families, _decode_pairs(msg, 2), _decode_pairs(msg, 4))


def _encode_bytes_pairs(number: int, attributes: Mapping[str, str]) -> bytes:
    """Encode attributes as repeated protobuf BytesBytesPair {1:first, 2:second}."""
    return b"".join(
        encode_message(
            number,
            encode_bytes(1, word.encode(*_TEXT_CODEC)),
            encode_bytes(2, value.encode(*_TEXT_CODEC)),
        )
        for word, value in attributes.items()
    )


def _encode_string_pairs(number: int, settings: Mapping[str, str]) -> bytes:
    """Encode configuration as repeated protobuf NameStringPair {1:name, 2:value}."""
    pairs = settings.items()
    return b"".join(
        encode_message(number, encode_text(1, word), encode_text(2, value)) for word, value in pairs
    )


def _decode_pairs(msg: ProtoMessage, number: int) -> dict[str, str]:
    """Decode a repeated protobuf field of name-value pairs to a dict."""
    pairs = [one.require_fields(1, 2) for one in msg.iter_messages(number)]
    return {
        one.get_bytes(1).decode(*_TEXT_CODEC): one.get_bytes(2).decode(*_TEXT_CODEC)
        for one in pairs
    }


def generate_nonce() -> int:
    """Return a random number that no other request has, 1..2^63-1; 0 would mean none."""
    return randbits(63) or 1


@dataclass(frozen=True, slots=True)
class ProcedureRequest(Request[int]):
    """A request to the master that starts a procedure; its answer is the procedure's id.

    Args:
        nonce: a retry with the same nonce starts nothing new, and gets the same answer.

    Source: HBase 2.6.4, the same nonce gives the same procedure; 0 stands for none.
    """

    service: ClassVar[str] = "MasterService"
    nonce: int = field(default_factory=generate_nonce, kw_only=True)

    def encode_nonce(self, number: int) -> bytes:
        """Encode the fields nonce_group and nonce; `number` is the field number of the first."""
        return encode_uint(number, 0) + encode_uint(number + 1, self.nonce)

    def parse_answer(self, answer: ProtoMessage, cells: bytes | memoryview) -> int:
        """Return the id of the procedure; 0 if the master started none."""
        return max(answer.require_fields(1).get_int64(1), 0)
