"""How HBase describes tables and families on the wire: names and texts, whatever they mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from rowkey.hbase.wire.names import read_table_name, table_name
from rowkey.hbase.wire.proto import Malformed, Message, blob, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping

# Words that are no UTF-8 are sent back as they came.
_TEXT = ("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class FamilySchema:
    """A family in HBase's words.

    Args:
        name: the family's name.
        attributes: its attributes as text.
        configuration: settings of the site that it overrides.

    Source: HBase.proto, ColumnFamilySchema {1:name, 2:attributes*, 3:configuration*}.
    """

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """The protobuf ColumnFamilySchema of it; the inverse of `read`."""
        name = blob(1, self.name.encode(*_TEXT))
        return name + _pairs(2, self.attributes) + _settings(3, self.configuration)

    @classmethod
    def read(cls, sent: Message) -> Self:
        """The family that a protobuf describes."""
        name = sent.blob(1).decode(*_TEXT)
        return cls(name, _read_pairs(sent, 2), _read_pairs(sent, 3))


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table in HBase's words.

    Args:
        name: the table's name, its namespace before it unless that is `default`.
        families: in the order HBase has them.
        attributes: what is kept with the table, as text.
        configuration: settings of the site; HBase gives them back among the attributes.

    Source: HBase.proto, TableSchema {1:table_name, 2:attributes*, 3:column_families*,
        4:configuration*}.
    """

    name: str
    families: tuple[FamilySchema, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        """The protobuf TableSchema of it; the inverse of `read`."""
        families = b"".join(message(3, family.encode()) for family in self.families)
        name, words = message(1, table_name(self.name)), _pairs(2, self.attributes)
        return name + words + families + _settings(4, self.configuration)

    @classmethod
    def read(cls, sent: Message) -> Self:
        """The table that a protobuf describes.

        Raises:
            Malformed: it has no name.
        """
        name = sent.message(1)
        if name is None:
            raise Malformed("a table without a name", "a name")
        families = tuple(FamilySchema.read(one) for one in sent.messages(3))
        return cls(read_table_name(name), families, _read_pairs(sent, 2), _read_pairs(sent, 4))


def _pairs(number: int, words: Mapping[str, str]) -> bytes:
    """Words as BytesBytesPair {1:first, 2:second}."""
    return b"".join(
        message(number, blob(1, word.encode(*_TEXT)), blob(2, value.encode(*_TEXT)))
        for word, value in words.items()
    )


def _settings(number: int, words: Mapping[str, str]) -> bytes:
    """Words as NameStringPair {1:name, 2:value}."""
    pairs = words.items()
    return b"".join(message(number, text(1, word), text(2, value)) for word, value in pairs)


def _read_pairs(sent: Message, number: int) -> dict[str, str]:
    """The words of a repeated pair of either sort."""
    pairs = sent.messages(number)
    return {one.blob(1).decode(*_TEXT): one.blob(2).decode(*_TEXT) for one in pairs}
