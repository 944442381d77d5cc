"""What can be said of a column family: one table of attributes, and the class they make.

The fields of `Family` are that table. What is checked, printed in the docs and sent to HBase is
derived from it.
"""

from __future__ import annotations

import re
import reprlib
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from rowkey.cells.limits import FOREVER_S, INT_MOST, ROW_BYTES_MOST
from rowkey.cells.names import check_family_name
from rowkey.errors import Mistakes, Refused, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BUILDER = "ColumnFamilyDescriptorBuilder"
_CODECS = ("NONE", "GZ", "SNAPPY", "LZO", "LZ4", "ZSTD", "BZIP2", "LZMA", "BROTLI")
_PREFIX_BLOOM = re.compile(r"ROWPREFIX_FIXED_LENGTH\(([1-9][0-9]{0,4})\)")

DAY_MS = 86_400_000
"""Milliseconds of a day, in which a length of time in seconds is sometimes given by mistake."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a family, as data.

    Args:
        word: its name in the design file.
        hbase: its name in HBase.
        default: its value where the file says nothing; None leaves the site's setting.
        says: what it does, for the docs.
        source: where default and range are from.
        least: smallest number.
        most: greatest number.
        choices: words allowed.
        seconds: whether it is a length of time in seconds.
    """

    word: str
    hbase: str
    default: int | str | bool | None
    says: str
    source: str
    least: int = 0
    most: int = INT_MOST
    choices: tuple[str, ...] = ()
    seconds: bool = False

    @property
    def allowed(self) -> str:
        """What may be written, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.least}..{self.most}"

    def check(self, value: object) -> Iterator[Refused]:
        """The mistake in a value, if there is one."""
        if not self._takes(value):
            what = f"{_shown(value)} cannot be stored"
            yield Refused(self.word, what, self.allowed, self._near(value))

    def _takes(self, value: object) -> bool:
        if isinstance(self.default, bool):
            return isinstance(value, bool)
        if self.choices:
            plain = isinstance(value, str) and value in self.choices and "(" not in value
            return plain or self._is_prefix_bloom(value)
        return (
            isinstance(value, int)
            and not isinstance(value, bool)
            and self.least <= value <= self.most
        )

    def _is_prefix_bloom(self, value: object) -> bool:
        """Whether this is the one choice that carries a number."""
        if self.hbase != "BLOOMFILTER" or not isinstance(value, str):
            return False
        match = _PREFIX_BLOOM.fullmatch(value)
        return match is not None and int(match[1]) <= ROW_BYTES_MOST

    def _near(self, value: object) -> str:
        if isinstance(value, str):
            return did_you_mean(value.upper(), self.choices)
        if not self.seconds or not isinstance(value, int) or value <= self.most:
            return ""
        days, rest = divmod(value, DAY_MS)
        if rest or value > 1_000 * self.most:
            return ""
        return f'It is in seconds, and {value} ms are {days:,} days: write "{days}d".'


def _shown(value: object) -> str:
    """A value as it is named in a mistake: short, whatever a hostile file holds."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length():,} bits"
    return reprlib.repr(value)


def _attribute(hbase: str, default: int | str | bool | None, says: str, **more: Any) -> Any:
    """A field of `Family` that carries the attribute it stands for."""
    source = more.pop("source", _BUILDER)
    word = more.pop("word", "")
    return field(default=default, metadata={"row": (word, hbase, default, says, source, more)})


@dataclass(frozen=True, slots=True)
class Family:
    """A column family: its name and what HBase does with its cells.

    >>> Family("d", versions=3, bloom="ROWPREFIX_FIXED_LENGTH(8)").prefix_length
    8
    """

    name: str
    versions: int = _attribute(
        "VERSIONS", 1, "versions kept of each cell", least=1,
        source="HBASE-10941: 1 since 0.96; book, Number of Versions",
    )  # fmt: skip
    min_versions: int = _attribute(
        "MIN_VERSIONS", 0, "versions kept although their time to live is over",
        source="book, Minimum Number of Versions; TableDescriptorChecker",
    )  # fmt: skip
    ttl_s: int = _attribute(
        "TTL", FOREVER_S, "seconds after which a cell is gone", word="ttl", least=1, seconds=True,
        source="HConstants.FOREVER; TableDescriptorChecker: above 0",
    )  # fmt: skip
    keep_deleted: str = _attribute(
        "KEEP_DELETED_CELLS", "FALSE", "whether deleted cells stay readable in the past",
        choices=("FALSE", "TRUE", "TTL"), source="KeepDeletedCells",
    )  # fmt: skip
    block_size: int = _attribute(
        "BLOCKSIZE", 65_536, "bytes of a data block: larger for scans, smaller for gets",
        least=1_024, most=16_777_216, source="TableDescriptorChecker: 1 KiB..16 MiB",
    )  # fmt: skip
    block_cache: bool = _attribute(
        "BLOCKCACHE", True, "whether its data blocks are cached when read"
    )
    bloom: str = _attribute(
        "BLOOMFILTER", "ROW", "what the Bloom filters hold, so that gets skip files",
        choices=("NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH(n)"),
        source="BloomType; HBASE-20636 for ROWPREFIX_FIXED_LENGTH",
    )  # fmt: skip
    compression: str = _attribute(
        "COMPRESSION",
        "NONE",
        "codec of its blocks",
        choices=_CODECS,
        source="Compression.Algorithm",
    )
    compression_compact: str | None = _attribute(
        "COMPRESSION_COMPACT", None, "codec of blocks that a compaction writes", choices=_CODECS,
        source="Compression.Algorithm",
    )  # fmt: skip
    encoding: str = _attribute(
        "DATA_BLOCK_ENCODING", "NONE", "how keys that share a prefix are written in a block",
        choices=("NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"), source="DataBlockEncoding",
    )  # fmt: skip
    in_memory: bool = _attribute("IN_MEMORY", False, "whether its blocks leave the cache last")
    in_memory_compaction: str | None = _attribute(
        "IN_MEMORY_COMPACTION", None, "how the MemStore is compacted before a flush",
        choices=("NONE", "BASIC", "EAGER", "ADAPTIVE"), source="MemoryCompactionPolicy",
    )  # fmt: skip
    replication_scope: int = _attribute(
        "REPLICATION_SCOPE", 0, "1 sends its cells to peer clusters", most=1, source="HConstants"
    )
    mob: bool = _attribute("IS_MOB", False, "whether large values live in files of their own")
    mob_threshold: int = _attribute("MOB_THRESHOLD", 102_400, "bytes above which a value is large")
    compress_tags: bool = _attribute(
        "COMPRESS_TAGS", True, "whether tags are encoded with the block"
    )
    cache_data_on_write: bool = _attribute(
        "CACHE_DATA_ON_WRITE", False, "caches blocks when written"
    )
    cache_index_on_write: bool = _attribute("CACHE_INDEX_ON_WRITE", False, "caches indexes as well")
    cache_blooms_on_write: bool = _attribute(
        "CACHE_BLOOMS_ON_WRITE", False, "caches filters as well"
    )
    evict_on_close: bool = _attribute(
        "EVICT_BLOCKS_ON_CLOSE", False, "drops a closed file's blocks"
    )
    prefetch: bool = _attribute("PREFETCH_BLOCKS_ON_OPEN", False, "caches a file when it is opened")
    new_version_behavior: bool = _attribute(
        "NEW_VERSION_BEHAVIOR", False, "orders puts and deletes by arrival", source="HBASE-15968"
    )
    dfs_replication: int = _attribute(
        "DFS_REPLICATION", 0, "copies of each file; 0 is the file system's own", most=512,
        source="ColumnFamilyDescriptorBuilder; HDFS dfs.replication.max",
    )  # fmt: skip

    @property
    def prefix_length(self) -> int | None:
        """Bytes of the prefix in the Bloom filter, where it holds prefixes."""
        match = _PREFIX_BLOOM.fullmatch(self.bloom)
        return int(match[1]) if match else None


def _rows() -> Iterator[Attribute]:
    """The attributes, from the fields they are written in."""
    for entry in fields(Family):
        if "row" in entry.metadata:
            word, hbase, default, says, source, more = entry.metadata["row"]
            yield Attribute(word or entry.name, hbase, default, says, source, **more)


ATTRIBUTES: Mapping[str, Attribute] = {row.word: row for row in _rows()}
"""Every attribute by its word in the design file."""

_FIELD_OF = {
    entry.metadata["row"][0] or entry.name: entry.name for entry in fields(Family) if entry.metadata
}


def check_family(name: str, attributes: Mapping[str, object]) -> Iterator[Refused]:
    r"""Every mistake in a family, with the attribute's word as its path.

    Args:
        name: the family's name.
        attributes: what the file says of it, as TOML gives it; lengths of time in seconds.

    Returns:
        Mistakes in the order of the file; those between two attributes last.

    Source: TableDescriptorChecker for ranges; the book's chapter on versions for min_versions.

    >>> print(*check_family("d", {"compresion": "ZSTD", "min_versions": 2}), sep="\n")
    compresion: is not an attribute of a family. Did you mean compression?
    min_versions: 2 versions outlive a time to live that never ends. Give ttl, or drop it.
    min_versions: 2 versions are kept of 1; expected at most versions = 1. Raise versions to 2.
    """
    yield from check_family_name(name)
    sound = {}
    for word, value in attributes.items():
        if word not in ATTRIBUTES:
            yield Refused(word[:80], "is not an attribute of a family", remedy=_remedy(word))
            continue
        mistakes = list(ATTRIBUTES[word].check(value))
        yield from mistakes
        if not mistakes:
            sound[word] = value
    yield from _check_min_versions(sound)


def _remedy(word: str) -> str:
    """The nearest word, also for those who write HBase's own."""
    by_hbase = {row.hbase.lower(): row.word for row in ATTRIBUTES.values()}
    if word.lower() in by_hbase:
        return f"Did you mean {by_hbase[word.lower()]}?"
    return did_you_mean(word, ATTRIBUTES)


def _check_min_versions(sound: Mapping[str, Any]) -> Iterator[Refused]:
    """What min_versions needs of its neighbours."""
    least = sound.get("min_versions", 0)
    most = sound.get("versions", ATTRIBUTES["versions"].default)
    if least and sound.get("ttl", FOREVER_S) == FOREVER_S:
        what = f"{least} versions outlive a time to live that never ends"
        yield Refused("min_versions", what, remedy="Give ttl, or drop it.")
    if least > most:
        what = f"{least} versions are kept of {most}"
        remedy = f"Raise versions to {least}."
        yield Refused("min_versions", what, f"at most versions = {most}", remedy)


def bind_family(name: str, attributes: Mapping[str, Any]) -> Family:
    """The family that the file describes.

    Raises:
        DeclarationError: with every mistake of the family, below `families.NAME`.

    >>> bind_family("d", {"ttl": 86_400}).ttl_s
    86400
    """
    mistakes = Mistakes()
    for refusal in check_family(name, attributes):
        mistakes.refused(f"families.{name[:80]}", refusal)
    mistakes.raise_any()
    return Family(name, **{_FIELD_OF[word]: value for word, value in attributes.items()})
