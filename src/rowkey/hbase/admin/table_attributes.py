"""The attributes of tables in HBase and the values that are valid for each.

HBase stores any attribute with any value. A misspelt name is stored and has no effect; a wrong
value can make a table whose regions never open and that cannot be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rowkey.errors import InvalidArgument
from rowkey.messages import format_value, suggest_name
from rowkey.regions import SplitPolicy

_MAX_LONG = 2**63 - 1
"""The greatest Java long. Source: Long.MAX_VALUE."""

_MAX_INT = 2**31 - 1
"""The greatest Java int. Source: Integer.MAX_VALUE."""

_MAX_REPLICAS = 2**16 - 1
"""The greatest replica number. Source: RegionInfo.MAX_REPLICA_ID, four hex digits."""

_SPLIT_POLICIES = tuple(policy.value for policy in SplitPolicy)
_POLICY_PACKAGE = "org.apache.hadoop.hbase.regionserver."
"""The Java package of these classes. Source: HBase 2.6.4, hbase-server."""

_BOOLEANS = ("true", "false")
_DURABILITIES = ("USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL")
"""With another value regions never open. Source: org.apache.hadoop.hbase.client.Durability."""


@dataclass(frozen=True, slots=True)
class TableAttribute:
    """An attribute of HBase tables, such as MAX_FILESIZE, with its valid values.

    Args:
        name: HBase's name of it.
        choices: the valid values; empty for a number or a text.
        minimum: smallest number; None if it is not a number.
        maximum: greatest number.
    """

    name: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int = _MAX_LONG

    @property
    def allowed_text(self) -> str:
        """Return the valid values of the attribute as text for a message."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.minimum is None:
            return "a text"
        return f"a whole number from {self.minimum} to {self.maximum}, in digits"

    def is_valid_value(self, value: str) -> bool:
        """Return whether a value is valid for the attribute."""
        if self.name == "SPLIT_POLICY":
            return value in self.choices or "." in value
        if self.choices:
            return value in self.choices
        if self.minimum is None:
            return bool(value)
        plain = value.isascii() and value.isdigit() and len(value) <= len(str(self.maximum))
        return plain and str(int(value)) == value and self.minimum <= int(value) <= self.maximum


TABLE_ATTRIBUTES: Mapping[str, TableAttribute] = {
    attribute.name: attribute
    for attribute in (
        TableAttribute("MAX_FILESIZE", minimum=2 << 20),
        TableAttribute("MEMSTORE_FLUSHSIZE", minimum=1 << 20),
        TableAttribute("READONLY", _BOOLEANS),
        TableAttribute("DURABILITY", _DURABILITIES),
        TableAttribute("REGION_REPLICATION", minimum=1, maximum=_MAX_REPLICAS),
        TableAttribute("REGION_MEMSTORE_REPLICATION", _BOOLEANS),
        TableAttribute("SPLIT_POLICY", _SPLIT_POLICIES),
        TableAttribute("SPLIT_ENABLED", _BOOLEANS),
        TableAttribute("MERGE_ENABLED", _BOOLEANS),
        TableAttribute("COMPACTION_ENABLED", _BOOLEANS),
        TableAttribute("NORMALIZATION_ENABLED", _BOOLEANS),
        TableAttribute("NORMALIZER_TARGET_REGION_COUNT", minimum=1, maximum=_MAX_INT),
        TableAttribute("NORMALIZER_TARGET_REGION_SIZE_MB", minimum=1),
        TableAttribute("PRIORITY", minimum=0, maximum=_MAX_INT),
        TableAttribute("FLUSH_POLICY"),
        TableAttribute("ERASURE_CODING_POLICY"),
    )
}
"""Every attribute of a table.

Source: TableDescriptorBuilder of 2.6.4; TableDescriptorChecker: hbase.hregion.max.filesize.limit
2 MiB, hbase.hregion.memstore.flush.size.limit 1 MiB.
"""

INTERNAL_ATTRIBUTE = "IS_META"
"""An attribute that HBase stores with each table by itself; it cannot be set."""


def check_attributes(attributes: Mapping[str, object]) -> Iterator[InvalidArgument]:
    r"""Yield every mistake in the attributes of a table, with the attribute's name as its path.

    Names with a lower-case letter or a dot are user attributes or overridden site settings. They
    are valid unless they differ from an attribute of HBase only in case.

    Args:
        attributes: values by name; None for an attribute that is removed.

    >>> attributes = {"READONLY": "yes", "MAX_FILESIZ": "1", "rowkey.n": "16"}
    >>> print(*check_attributes(attributes), sep="\n")
    argument READONLY: 'yes' is not valid; expected one of true, false.
    argument MAX_FILESIZ: this is not a table attribute of HBase. Did you mean MAX_FILESIZE?
    """
    for name, value in attributes.items():
        if not is_nonempty_text(name):
            yield InvalidArgument(
                "", f"{format_value(name)} is not an attribute name", "a text that is not empty"
            )
        elif value is not None and not isinstance(value, str):
            remedy = f"Write {str(value)!r}." if type(value) in (int, float) else ""
            yield InvalidArgument(
                name[:80], f"{format_value(value)} is not a text", "a str", remedy
            )
        elif value == "":  # Source: TableDescriptorBuilder.setValue removes such an attribute
            yield InvalidArgument(
                name[:80],
                "the value is empty, which HBase does not store",
                "a text that is not empty",
            )
        elif not is_utf8_encodable(name + (value or "")):
            what = f"{format_value(value)} cannot be encoded as UTF-8"
            yield InvalidArgument(name[:80], what, "valid Unicode text")
        elif name in TABLE_ATTRIBUTES:
            attribute = TABLE_ATTRIBUTES[name]
            if value is not None and not attribute.is_valid_value(value):
                similar = suggest_name(value, attribute.choices)
                what = f"{value[:80]!r} is not valid"
                yield InvalidArgument(name, what, attribute.allowed_text, similar)
        else:
            yield from _check_unknown_name(name)


def is_nonempty_text(value: object) -> bool:
    """Return whether a value is a text that is not empty."""
    return isinstance(value, str) and bool(value)


def is_utf8_encodable(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8: it has no lone surrogate."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _check_unknown_name(name: str) -> Iterator[InvalidArgument]:
    """Yield a mistake for an unknown attribute name, unless it is a user's own or a setting."""
    upper = name.upper()
    if upper == INTERNAL_ATTRIBUTE:
        yield InvalidArgument(
            name, "HBase sets this attribute itself", remedy="Remove the attribute."
        )
    elif upper in TABLE_ATTRIBUTES:
        yield InvalidArgument(
            name, "this is not a table attribute of HBase", remedy=f"Did you mean {upper}?"
        )
    elif name == upper and "." not in name and any(map(str.isalpha, name)):
        similar = suggest_name(name, TABLE_ATTRIBUTES)
        own = f"Name an attribute of your own with a dot, such as app.{name[:80].lower()}."
        yield InvalidArgument(
            name[:80], "this is not a table attribute of HBase", remedy=similar or own
        )


def expand_split_policy(attributes: Mapping[str, str]) -> dict[str, str]:
    """Replace the split policy among table attributes by the full name of its Java class.

    >>> expand_split_policy({"SPLIT_POLICY": "DisabledRegionSplitPolicy"})
    {'SPLIT_POLICY': 'org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy'}
    """
    policy = attributes.get("SPLIT_POLICY", "")
    full_name = {"SPLIT_POLICY": f"{_POLICY_PACKAGE}{policy}"} if policy in _SPLIT_POLICIES else {}
    return {**attributes, **full_name}
