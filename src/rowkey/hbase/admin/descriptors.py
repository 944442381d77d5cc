"""Families and tables in HBase's words, there and back, and how two of them differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, Family
from rowkey.errors import Mistake
from rowkey.hbase.admin.words import OWN, as_hbase_says
from rowkey.hbase.messages.schema import FamilySchema, TableSchema
from rowkey.hbase.wire.names import short_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.cells import Attribute

PREFIX_BLOOM, PREFIX_LENGTH = "ROWPREFIX_FIXED_LENGTH", "RowPrefixBloomFilter.prefix_length"
"""The Bloom filter that carries a number, and the setting that holds it. Source: HBASE-20636."""

_BY_ITSELF = {OWN: "false", "hbase.store.file-tracker.impl": "DEFAULT"}
_FAMILY_BY_ITSELF = {"INDEX_BLOCK_ENCODING": "NONE"}
"""What HBase 2.6 adds to each table and family that says nothing of it."""

_BY_HBASE = {row.hbase: row for row in ATTRIBUTES.values()}
_KEYS_SHOWN = 5
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Described:
    """A table as HBase has it.

    Args:
        name: the table's name, its namespace before it unless that is `default`.
        families: ascending by name; what HBase was not told has its default.
        attributes: words kept with the table, without those HBase keeps by itself.
        others: by family, words and settings that no field of `Family` stands for, or whose value
            none can hold.
    """

    name: str
    families: tuple[Family, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: TableSchema) -> Described:
        """The table that a descriptor describes."""
        read = [_read_family(one) for one in schema.families]
        others = {family.name: told for family, told in read if told}
        words = _without({**schema.attributes, **schema.configuration}, _BY_ITSELF)
        return cls(schema.name, tuple(family for family, _ in read), words, others)


def field_of(row: Attribute) -> str:
    """The field of `Family` that holds an attribute; lengths of time carry their unit."""
    return f"{row.word}_s" if row.seconds else row.word


def family_schema(family: Family, known: FamilySchema | None = None) -> FamilySchema:
    """A family in HBase's words.

    Args:
        family: the family as it shall be.
        known: as HBase has it now; words that rowkey does not know are kept. None for a new
            family: then what is the default anyway is left out.

    >>> family_schema(Family("d", versions=3, bloom="ROWPREFIX_FIXED_LENGTH(8)")).attributes
    {'VERSIONS': '3', 'BLOOMFILTER': 'ROWPREFIX_FIXED_LENGTH'}
    """
    words = dict(known.attributes) if known else {}
    settings = dict(known.configuration) if known else {}
    for row in ATTRIBUTES.values():
        value = getattr(family, field_of(row))
        if value is None:
            words.pop(row.hbase, None)
        elif value != row.default or row.hbase in words:
            words[row.hbase] = str(value).lower() if isinstance(value, bool) else str(value)
    words.pop(PREFIX_LENGTH, None)
    settings.pop(PREFIX_LENGTH, None)
    if family.prefix_length is not None:
        words["BLOOMFILTER"] = PREFIX_BLOOM
        settings[PREFIX_LENGTH] = str(family.prefix_length)
    return FamilySchema(family.name, words, settings)


def table_schema(
    name: str,
    families: Iterable[Family],
    attributes: Mapping[str, str],
    configuration: Mapping[str, str] | None = None,
    *,
    told: Iterable[str] = (),
) -> TableSchema:
    """A new table in HBase's words, as `create` sends it.

    Args:
        name: `qualifier` or `namespace:qualifier`.
        families: its families.
        attributes: words of HBase or of one's own, kept with the table.
        configuration: settings of the site that the table overrides.
        told: attributes, by HBase's names, that are told of a family although they are the default.

    >>> table_schema("default:t", [Family("d")], {}, told=["TTL"]).families[0].attributes
    {'TTL': '2147483647'}
    """
    said = dict.fromkeys(told, "")
    described = tuple(family_schema(one, FamilySchema(one.name, said)) for one in families)
    words = as_hbase_says(attributes)
    return TableSchema(short_table(name), described, words, dict(configuration or {}))


def _read_family(schema: FamilySchema) -> tuple[Family, dict[str, str]]:
    """A family, and what of it no field can hold.

    >>> _read_family(FamilySchema("d", {"VERSIONS": "3", "VERSION": "4", "TTL": "soon"}))[1]
    {'VERSION': '4', 'TTL': 'soon'}
    """
    told = {**schema.attributes, **schema.configuration}
    known: dict[str, Any] = {}
    others: dict[str, str] = {}
    for word, value in told.items():
        row = _BY_HBASE.get(word)
        typed = None if row is None else _typed(row, value, told)
        if row is None or typed is None:
            others[word] = value
        else:
            known[field_of(row)] = typed
    if "(" in str(known.get("bloom", "")):
        others.pop(PREFIX_LENGTH, None)
    return Family(schema.name, **known), _without(others, _FAMILY_BY_ITSELF)


def _typed(row: Attribute, value: str, told: Mapping[str, str]) -> Any:
    """A value as `Family` holds it; None if it cannot."""
    if isinstance(row.default, bool):
        return value.lower() == "true"  # as Java reads it: `yes` is false
    if not row.choices:
        return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None
    upper = value.upper()
    if upper == PREFIX_BLOOM:
        upper = f"{upper}({told.get(PREFIX_LENGTH)})"
        return None if any(row.check(upper)) else upper
    return upper if upper in row.choices else None


def _without(words: Mapping[str, str], by_itself: Mapping[str, str]) -> dict[str, str]:
    return {word: value for word, value in words.items() if by_itself.get(word) != value}


def family_differences(asked: Sequence[Family], found: Sequence[Family]) -> Iterator[Mistake]:
    """How families differ from those that were asked for; families beyond them are not looked at.

    >>> print(*family_differences([Family("d", versions=3)], [Family("d", in_memory=True)]))
    families.d.versions: declared 3, remembered 1. families.d.in_memory: declared False, ...
    """
    by_name = {family.name: family for family in found}
    for family in asked:
        path = f"families.{family.name}"
        if family.name not in by_name:
            yield _difference(path, "it", NOTHING)
            continue
        for row in ATTRIBUTES.values():
            wanted = getattr(family, field_of(row))
            held = getattr(by_name[family.name], field_of(row))
            if wanted != held:
                yield _difference(f"{path}.{row.word}", wanted, held)


def word_differences(
    asked: Mapping[str, str | None], found: Mapping[str, str]
) -> Iterator[Mistake]:
    """How words of a table differ from those asked for; None asks that there be none.

    >>> print(*word_differences({"READONLY": "true"}, {}))
    attributes.READONLY: declared true, remembered nothing.
    """
    for word, value in asked.items():
        if found.get(word) != value:
            declared = NOTHING if value is None else value
            yield _difference(f"attributes.{word}", declared, found.get(word, NOTHING))


def split_differences(asked: Sequence[bytes], found: Sequence[bytes]) -> Iterator[Mistake]:
    """How the keys that regions begin with differ from those asked for, the first few of them.

    >>> print(*split_differences([b"a", b"b"], [b"b"]))
    splits: declared 2 keys, remembered 1. splits: declared b'a', remembered nothing.
    """
    if list(asked) == list(found):
        return
    yield _difference("splits", f"{len(asked):,} keys", f"{len(found):,}")
    held, wanted = set(found), set(asked)
    missing = [key for key in asked if key not in held]
    surplus = [key for key in found if key not in wanted]
    for key in missing[:_KEYS_SHOWN]:
        yield _difference("splits", repr(key), NOTHING)
    for key in surplus[:_KEYS_SHOWN]:
        yield _difference("splits", NOTHING, repr(key))


def _difference(path: str, declared: object, remembered: object) -> Mistake:
    return Mistake(path, f"declared {declared}, remembered {remembered}")
