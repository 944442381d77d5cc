"""What can be said of a column family: one table of attributes, and the class they make.

The fields of `Family` are that table. What is checked, printed in the docs and sent to HBase is
derived from it.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rowkey.cells.limits import FOREVER_S, MAX_JAVA_INT, MAX_ROW_BYTES
from rowkey.cells.names import find_family_name_mistakes
from rowkey.errors import InvalidArgument, Mistakes
from rowkey.messages import suggest_name

_BUILDER_SOURCE = "ColumnFamilyDescriptorBuilder"
_CODECS = ("NONE", "GZ", "SNAPPY", "LZO", "LZ4", "ZSTD", "BZIP2", "LZMA", "BROTLI")
_PREFIX_BLOOM = re.compile(r"ROWPREFIX_FIXED_LENGTH\(([1-9][0-9]{0,4})\)")

DAY_MS = 86_400_000
"""Milliseconds of a day, in which a length of time in seconds is sometimes given by mistake."""


@dataclass(frozen=True, slots=True)
class FamilyAttribute:
    """One attribute of a column family: its HBase name, default and allowed values.

    Args:
        key: its name in the design file.
        default: its value where the file says nothing; None leaves the site's setting.
        description: what it does, for the docs.
        source: where default and range are from.
        min_value: smallest number.
        max_value: greatest number.
        choices: words allowed.
        is_duration: whether it is a length of time in seconds.
    """

    key: str
    hbase_name: str
    default: int | str | bool | None
    description: str
    source: str
    min_value: int = 0
    max_value: int = MAX_JAVA_INT
    choices: tuple[str, ...] = ()
    is_duration: bool = False

    @property
    def allowed_values(self) -> str:
        """The allowed values of the attribute, as a message lists them."""
        if isinstance(self.default, bool):
            return "true or false"
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.min_value}..{self.max_value}"

    @property
    def field_name(self) -> str:
        """The field of `Family` that holds the attribute; durations carry their unit."""
        return f"{self.key}_s" if self.is_duration else self.key

    def find_mistakes(self, value: object) -> Iterator[InvalidArgument]:
        """Yield the mistake in a value, if there is one."""
        if not self._is_valid(value):
            what = f"{_format_value(value)} is not a valid value"
            allowed = f"one of {self.allowed_values}" if self.choices else self.allowed_values
            yield InvalidArgument(self.key, what, allowed, self._suggest_remedy(value))

    def _is_valid(self, value: object) -> bool:
        if isinstance(self.default, bool):
            return isinstance(value, bool)
        if self.choices:
            plain = isinstance(value, str) and value in self.choices and "(" not in value
            return plain or self._is_prefix_bloom(value)
        return (
            isinstance(value, int)
            and not isinstance(value, bool)
            and self.min_value <= value <= self.max_value
        )

    def _is_prefix_bloom(self, value: object) -> bool:
        """Return whether a value is the Bloom filter of a prefix, with its length."""
        if self.hbase_name != "BLOOMFILTER" or not isinstance(value, str):
            return False
        match = _PREFIX_BLOOM.fullmatch(value)
        return match is not None and int(match[1]) <= MAX_ROW_BYTES

    def _suggest_remedy(self, value: object) -> str:
        """Return a remedy for a value that is almost valid; empty if none is known."""
        if isinstance(value, str):
            return suggest_name(value.upper(), self.choices)
        if not self.is_duration or not isinstance(value, int) or value <= self.max_value:
            return ""
        days, rest = divmod(value, DAY_MS)
        if rest or value > 1_000 * self.max_value:
            return ""
        return (
            f'Write "{days}d": {value} looks like {days:,} days in ms, but a number is in seconds.'
        )


def _format_value(value: object) -> str:
    """Return a value for a message, shortened."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length():,} bits"
    return reprlib.repr(value)


def _define_attribute(
    hbase_name: str, default: int | str | bool | None, description: str, **constraints: Any
) -> Any:
    """Return a field of `Family` with its attribute as metadata."""
    source = constraints.pop("source", _BUILDER_SOURCE)
    key = constraints.pop("key", "")
    return field(
        default=default,
        metadata={"row": (key, hbase_name, default, description, source, constraints)},
    )


@dataclass(frozen=True, slots=True)
class Family:
    """A column family: its name and what HBase does with its cells.

    >>> Family("d", versions=3, bloom="ROWPREFIX_FIXED_LENGTH(8)").prefix_length
    8
    """

    name: str
    versions: int = _define_attribute(
        "VERSIONS", 1, "versions kept of each cell", min_value=1,
        source="HBASE-10941: 1 since 0.96; book, Number of Versions",
    )  # fmt: skip
    min_versions: int = _define_attribute(
        "MIN_VERSIONS", 0, "versions kept although their time to live is over",
        source="book, Minimum Number of Versions; TableDescriptorChecker",
    )  # fmt: skip
    ttl_s: int = _define_attribute(
        "TTL", FOREVER_S, "seconds after which a cell is gone", key="ttl", min_value=1,
        is_duration=True, source="HConstants.FOREVER; TableDescriptorChecker: above 0",
    )  # fmt: skip
    keep_deleted: str = _define_attribute(
        "KEEP_DELETED_CELLS", "FALSE", "whether deleted cells stay readable in the past",
        choices=("FALSE", "TRUE", "TTL"), source="KeepDeletedCells",
    )  # fmt: skip
    block_size: int = _define_attribute(
        "BLOCKSIZE", 65_536, "bytes of a data block: larger for scans, smaller for gets",
        min_value=1_024, max_value=16_777_216, source="TableDescriptorChecker: 1 KiB..16 MiB",
    )  # fmt: skip
    block_cache: bool = _define_attribute(
        "BLOCKCACHE", True, "whether its data blocks are cached when read"
    )
    bloom: str = _define_attribute(
        "BLOOMFILTER", "ROW", "what the Bloom filters hold, so that gets skip files",
        choices=("NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH(n)"),
        source="BloomType; HBASE-20636 for ROWPREFIX_FIXED_LENGTH",
    )  # fmt: skip
    compression: str = _define_attribute(
        "COMPRESSION",
        "NONE",
        "codec of its blocks",
        choices=_CODECS,
        source="Compression.Algorithm",
    )
    compression_compact: str | None = _define_attribute(
        "COMPRESSION_COMPACT", None, "codec of blocks that a compaction writes", choices=_CODECS,
        source="Compression.Algorithm",
    )  # fmt: skip
    encoding: str = _define_attribute(
        "DATA_BLOCK_ENCODING", "NONE", "how keys that share a prefix are written in a block",
        choices=("NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"), source="DataBlockEncoding",
    )  # fmt: skip
    in_memory: bool = _define_attribute(
        "IN_MEMORY", False, "whether its blocks leave the cache last"
    )
    in_memory_compaction: str | None = _define_attribute(
        "IN_MEMORY_COMPACTION", None, "how the MemStore is compacted before a flush",
        choices=("NONE", "BASIC", "EAGER", "ADAPTIVE"), source="MemoryCompactionPolicy",
    )  # fmt: skip
    replication_scope: int = _define_attribute(
        "REPLICATION_SCOPE",
        0,
        "1 sends its cells to peer clusters",
        max_value=1,
        source="HConstants",
    )
    mob: bool = _define_attribute(
        "IS_MOB", False, "whether large values live in files of their own"
    )
    mob_threshold: int = _define_attribute(
        "MOB_THRESHOLD", 102_400, "bytes above which a value is large"
    )
    compress_tags: bool = _define_attribute(
        "COMPRESS_TAGS", True, "whether tags are encoded with the block"
    )
    cache_data_on_write: bool = _define_attribute(
        "CACHE_DATA_ON_WRITE", False, "caches blocks when written"
    )
    cache_index_on_write: bool = _define_attribute(
        "CACHE_INDEX_ON_WRITE", False, "caches indexes as well"
    )
    cache_blooms_on_write: bool = _define_attribute(
        "CACHE_BLOOMS_ON_WRITE", False, "caches filters as well"
    )
    evict_on_close: bool = _define_attribute(
        "EVICT_BLOCKS_ON_CLOSE", False, "drops a closed file's blocks"
    )
    prefetch: bool = _define_attribute(
        "PREFETCH_BLOCKS_ON_OPEN", False, "caches a file when it is opened"
    )
    new_version_behavior: bool = _define_attribute(
        "NEW_VERSION_BEHAVIOR", False, "orders puts and deletes by arrival", source="HBASE-15968"
    )
    dfs_replication: int = _define_attribute(
        "DFS_REPLICATION", 0, "copies of each file; 0 is the file system's own", max_value=512,
        source="ColumnFamilyDescriptorBuilder; HDFS dfs.replication.max",
    )  # fmt: skip

    @property
    def prefix_length(self) -> int | None:
        """The length of the prefixes in the Bloom filter; None if it stores no prefixes."""
        match = _PREFIX_BLOOM.fullmatch(self.bloom)
        return int(match[1]) if match else None


def _iterate_attributes() -> Iterator[FamilyAttribute]:
    for entry in fields(Family):
        if "row" in entry.metadata:
            key, hbase_name, default, description, source, more = entry.metadata["row"]
            yield FamilyAttribute(
                key or entry.name, hbase_name, default, description, source, **more
            )


ATTRIBUTES: Mapping[str, FamilyAttribute] = {row.key: row for row in _iterate_attributes()}
"""Every attribute by its key in the design file."""


def find_family_mistakes(name: str, attributes: Mapping[str, object]) -> Iterator[InvalidArgument]:
    r"""Yield every mistake in a family, with the key of the attribute as its path.

    Args:
        attributes: what the file says of it, as TOML gives it; lengths of time in seconds.

    Returns:
        Mistakes in the order of the file; those between two attributes last.

    Source: TableDescriptorChecker for ranges; the book's chapter on versions for min_versions.

    >>> print(*find_family_mistakes("d", {"min_versions": 2}), sep="\n")
    argument min_versions: 2 has no effect, because cells never expire. Declare ...
    argument min_versions: 2 is greater than versions; expected at most 1. Raise versions to 2.
    """
    yield from find_family_name_mistakes(name)
    sound = {}
    for word, value in attributes.items():
        if word not in ATTRIBUTES:
            yield InvalidArgument(
                word[:80],
                "a column family has no such attribute",
                f"one of {', '.join(ATTRIBUTES)}",
                _suggest_key(word),
            )
            continue
        mistakes = list(ATTRIBUTES[word].find_mistakes(value))
        yield from mistakes
        if not mistakes:
            sound[word] = value
    yield from _find_min_versions_mistakes(sound)


def _suggest_key(key: str) -> str:
    """Return a suggestion for an unknown attribute, which may be HBase's own name."""
    by_hbase = {row.hbase_name.lower(): row.key for row in ATTRIBUTES.values()}
    if key.lower() in by_hbase:
        return f"Did you mean {by_hbase[key.lower()]}?"
    return suggest_name(key, ATTRIBUTES)


def _find_min_versions_mistakes(valid_attributes: Mapping[str, Any]) -> Iterator[InvalidArgument]:
    """Yield the mistakes of min_versions together with other attributes."""
    min_versions = valid_attributes.get("min_versions", 0)
    max_versions = valid_attributes.get("versions", ATTRIBUTES["versions"].default)
    if min_versions and valid_attributes.get("ttl", FOREVER_S) == FOREVER_S:
        what = f"{min_versions} has no effect, because cells never expire"
        yield InvalidArgument("min_versions", what, remedy="Declare ttl, or remove min_versions.")
    if min_versions > max_versions:
        what = f"{min_versions} is greater than versions"
        remedy = f"Raise versions to {min_versions}."
        yield InvalidArgument("min_versions", what, f"at most {max_versions}", remedy)


def bind_family(name: str, attributes: Mapping[str, Any]) -> Family:
    """Build the family that a design file describes.

    Raises:
        InvalidDesign: with every mistake of the family, below `families.NAME`.

    >>> bind_family("d", {"ttl": 86_400}).ttl_s
    86400
    """
    mistakes = Mistakes()
    for refusal in find_family_mistakes(name, attributes):
        mistakes.add_invalid_argument(f"families.{name[:80]}", refusal)
    mistakes.raise_any()
    return Family(name, **{ATTRIBUTES[key].field_name: value for key, value in attributes.items()})
