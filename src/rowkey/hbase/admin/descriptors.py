"""Tables and families as the master describes them, and their attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rowkey.cells import ATTRIBUTES, Family, FamilyAttribute
from rowkey.errors import InvalidArgument, Mistake
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.wire.names import shorten_table_name
from rowkey.messages import format_value, pluralize, suggest_name
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


ALTERED_MEANWHILE_REMEDY = (
    "Another client altered the table at the same time. Call describe_table to see the table as it "
    "is, then alter it again if needed."
)
"""What to do when a table that was read back is not as it was requested."""

PREFIX_BLOOM, PREFIX_LENGTH = "ROWPREFIX_FIXED_LENGTH", "RowPrefixBloomFilter.prefix_length"
"""The Bloom filter with a prefix length, and the setting that stores it. Source: HBASE-20636."""

_IMPLICIT_TABLE_ATTRIBUTES = {
    INTERNAL_ATTRIBUTE: "false",
    "hbase.store.file-tracker.impl": "DEFAULT",
}
_IMPLICIT_FAMILY_ATTRIBUTES = {"INDEX_BLOCK_ENCODING": "NONE"}
"""Attributes that HBase 2.6 adds to each table and family that does not set them."""

_ATTRIBUTES_BY_HBASE_NAME = {row.hbase_name: row for row in ATTRIBUTES.values()}
_MAX_KEYS_SHOWN = 5
NOTHING_TEXT = "no value"


@dataclass(frozen=True, slots=True)
class TableDescriptor:
    """Families and attributes of a table as HBase stores them.

    Args:
        name: the table's name, with its namespace unless that is `default`.
        families: ascending by name; attributes that were not set have their default.
        attributes: attributes of the table, without those that HBase adds by itself.
        other_attributes: by family, the attributes that `Family` has no field for, or whose value
            no field can hold.
    """

    name: str
    families: tuple[Family, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    other_attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def from_schema(cls, schema: TableSchema) -> TableDescriptor:
        """Convert the schema that HBase returns for a table."""
        parsed = [_parse_family(one) for one in schema.families]
        other_attributes = {family.name: attributes for family, attributes in parsed if attributes}
        attributes = _drop_implicit(
            {**schema.attributes, **schema.configuration}, _IMPLICIT_TABLE_ATTRIBUTES
        )
        return cls(schema.name, tuple(family for family, _ in parsed), attributes, other_attributes)


def find_family_field(attribute: FamilyAttribute) -> str:
    """Return the name of the `Family` field for an attribute, such as `ttl_s` for ttl."""
    return f"{attribute.key}_s" if attribute.is_duration else attribute.key


def build_family_schema(family: Family, current: FamilySchema | None = None) -> FamilySchema:
    """Convert a `Family` to the schema that HBase takes, with HBase's attribute names.

    Args:
        family: the new family.
        current: its present schema, whose attributes unknown to rowkey are kept. None for a new
            family, whose default attributes are left out.

    >>> build_family_schema(Family("d", versions=3, bloom="ROWPREFIX_FIXED_LENGTH(8)")).attributes
    {'VERSIONS': '3', 'BLOOMFILTER': 'ROWPREFIX_FIXED_LENGTH'}
    """
    attributes = dict(current.attributes) if current else {}
    settings = dict(current.configuration) if current else {}
    for row in ATTRIBUTES.values():
        value = getattr(family, find_family_field(row))
        if value is None:
            attributes.pop(row.hbase_name, None)
        elif value != row.default or row.hbase_name in attributes:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            attributes[row.hbase_name] = text
    attributes.pop(PREFIX_LENGTH, None)
    settings.pop(PREFIX_LENGTH, None)
    if family.prefix_length is not None:
        attributes["BLOOMFILTER"] = PREFIX_BLOOM
        settings[PREFIX_LENGTH] = str(family.prefix_length)
    return FamilySchema(family.name, attributes, settings)


def build_table_schema(
    name: str,
    families: Iterable[Family],
    attributes: Mapping[str, str],
    configuration: Mapping[str, str] | None = None,
    *,
    explicit_defaults: Iterable[str] = (),
) -> TableSchema:
    """Build the schema of a new table, with HBase's attribute names.

    Args:
        name: `qualifier` or `namespace:qualifier`.
        attributes: attributes of HBase or your own, stored with the table.
        configuration: site settings that the table overrides.
        explicit_defaults: HBase's names of family attributes that are sent even with their default
            value.

    >>> schema = build_table_schema("default:t", [Family("d")], {}, explicit_defaults=["TTL"])
    >>> schema.families[0].attributes
    {'TTL': '2147483647'}
    """
    explicit = dict.fromkeys(explicit_defaults, "")
    schemas = tuple(build_family_schema(one, FamilySchema(one.name, explicit)) for one in families)
    expanded = expand_split_policy(attributes)
    return TableSchema(shorten_table_name(name), schemas, expanded, dict(configuration or {}))


def _parse_family(schema: FamilySchema) -> tuple[Family, dict[str, str]]:
    """Convert a family's schema to a `Family` and the attributes that have no field in it.

    >>> _parse_family(FamilySchema("d", {"VERSIONS": "3", "VERSION": "4", "TTL": "soon"}))[1]
    {'VERSION': '4', 'TTL': 'soon'}
    """
    attributes = {**schema.attributes, **schema.configuration}
    field_values: dict[str, Any] = {}
    other_attributes: dict[str, str] = {}
    for name, value in attributes.items():
        row = _ATTRIBUTES_BY_HBASE_NAME.get(name)
        typed = None if row is None else _parse_value(row, value, attributes)
        if row is None or typed is None:
            other_attributes[name] = value
        else:
            field_values[find_family_field(row)] = typed
    if "(" in str(field_values.get("bloom", "")):
        other_attributes.pop(PREFIX_LENGTH, None)
    return Family(schema.name, **field_values), _drop_implicit(
        other_attributes, _IMPLICIT_FAMILY_ATTRIBUTES
    )


def _parse_value(
    attribute: FamilyAttribute, value: str, family_attributes: Mapping[str, str]
) -> Any:
    """Convert the text of an attribute to its value in `Family`, or None if that is impossible."""
    if isinstance(attribute.default, bool):
        return value.lower() == "true"  # as Java parses it: `yes` is false
    if not attribute.choices:
        return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None
    upper = value.upper()
    if upper == PREFIX_BLOOM:
        upper = f"{upper}({family_attributes.get(PREFIX_LENGTH)})"
        return None if any(attribute.find_mistakes(upper)) else upper
    return upper if upper in attribute.choices else None


def _drop_implicit(attributes: Mapping[str, str], implicit: Mapping[str, str]) -> dict[str, str]:
    """Remove the attributes that HBase adds by itself, unless they have another value."""
    return {name: value for name, value in attributes.items() if implicit.get(name) != value}


def find_family_differences(
    declared: Sequence[Family], actual: Sequence[Family]
) -> Iterator[Mistake]:
    """Yield the differences between declared and actual families; extra families are ignored.

    >>> print(*find_family_differences([Family("d", versions=3)], [Family("d", in_memory=True)]))
    families.d.versions: requested 3, but the table has 1. families.d.in_memory: requested ...
    """
    by_name = {family.name: family for family in actual}
    for family in declared:
        path = f"families.{family.name}"
        if family.name not in by_name:
            yield Mistake(path, "the family was requested, but the table does not have it")
            continue
        for row in ATTRIBUTES.values():
            declared_value = getattr(family, find_family_field(row))
            actual_value = getattr(by_name[family.name], find_family_field(row))
            if declared_value != actual_value:
                yield _build_difference(f"{path}.{row.key}", declared_value, actual_value)


def find_attribute_differences(
    requested: Mapping[str, str | None], actual: Mapping[str, str]
) -> Iterator[Mistake]:
    """Yield the differences between requested and actual attributes; None means removed.

    >>> print(*find_attribute_differences({"READONLY": "true"}, {}))
    attributes.READONLY: requested true, but the table has no value.
    """
    for name, value in requested.items():
        if actual.get(name) != value:
            declared = NOTHING_TEXT if value is None else value
            yield _build_difference(f"attributes.{name}", declared, actual.get(name, NOTHING_TEXT))


def find_split_differences(
    requested: Sequence[bytes], actual: Sequence[bytes]
) -> Iterator[Mistake]:
    """Yield the first few differences between requested and actual split keys.

    >>> print(*find_split_differences([b"a", b"b"], [b"b"]))
    splits: requested 2 split keys, but the table has 1. splits: the split key b'a' is missing ...
    """
    if list(requested) == list(actual):
        return
    if len(requested) != len(actual):
        requested_count = pluralize(len(requested), "split key")
        yield _build_difference("splits", requested_count, f"{len(actual):,}")
    actual_keys, requested_keys = set(actual), set(requested)
    missing = [key for key in requested if key not in actual_keys]
    surplus = [key for key in actual if key not in requested_keys]
    for key in missing[:_MAX_KEYS_SHOWN]:
        yield Mistake("splits", f"the split key {key!r} is missing in HBase")
    for key in surplus[:_MAX_KEYS_SHOWN]:
        yield Mistake("splits", f"HBase has the split key {key!r}, which was not requested")


def _build_difference(path: str, declared: object, actual: object) -> Mistake:
    return Mistake(path, f"requested {declared}, but the table has {actual}")
