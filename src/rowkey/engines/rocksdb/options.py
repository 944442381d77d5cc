"""Converts the attributes of a family to options of RocksDB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rowkey.cells import Family
from rowkey.engines.pairs import library
from rowkey.errors import NotSupported

if TYPE_CHECKING:
    from rocksdict import Options

BLOOM_BITS_PER_KEY = 10
"""Bits for each key: 1 % false positives. Source: RocksDB, Bloom filter; HBase's default too."""

KEPT_INFO_LOGS = 4
"""Files of RocksDB's own log that are kept, one for each of the last times it was opened."""

_CODECS: Mapping[str, tuple[str, str]] = {
    "NONE": ("none", "kNoCompression"),
    "SNAPPY": ("snappy", "kSnappyCompression"),
    "LZ4": ("lz4", "kLZ4Compression"),
    "ZSTD": ("zstd", "kZSTD"),
    "GZ": ("zlib", "kZlibCompression"),
    "BZIP2": ("bz2", "kBZip2Compression"),
}
"""HBase's codecs that RocksDB has, by their names before and after it is opened."""


def check_codecs(family: Family) -> None:
    """Raise NotSupported unless RocksDB has the compression codecs of a family.

    Raises:
        NotSupported: RocksDB lacks a codec; the message lists those it has.
    """
    for key in ("compression", "compression_compact"):
        codec = getattr(family, key)
        if codec is not None and codec not in _CODECS:
            what = f"RocksDB does not support the codec {codec}"
            path = f"families.{family.name}.{key}"
            raise NotSupported(path, what, f"one of {', '.join(_CODECS)}")


def build_database_options(*, create: bool = False, repair: bool = False) -> Options:
    """Return the options with which rowkey opens a RocksDB database.

    An incomplete record at the end of a log, as a kill leaves it, is ignored; a damaged record
    before it is an error, as acknowledged changes follow it. All families are flushed together, so
    that none is ahead of a truncated log. A missing database is an error, as it was lost.

    Args:
        create: whether to create the database.
        repair: whether to stop reading the log at the first damage instead of refusing.

    Source: WALRecoveryMode; 15 of 15 flipped bits were opened silently by the default,
        point-in-time.
    """
    mode = library.DBRecoveryMode.tolerate_corrupted_tail_records()
    if repair:
        mode = library.DBRecoveryMode.point_in_time()
    options: Options = library.Options(raw_mode=True)
    options.create_if_missing(create)
    options.create_missing_column_families(create)
    options.set_wal_recovery_mode(mode)
    options.set_atomic_flush(True)
    options.set_keep_log_file_num(KEPT_INFO_LOGS)
    return options


def build_family_options(family: Family) -> Options:
    """Return the options of the RocksDB column family that stores a family of a table.

    RocksDB's Bloom filters contain whole keys, so HBase's types of filters make no difference.
    """
    options: Options = library.Options(raw_mode=True)
    codecs = library.DBCompressionType
    options.set_compression_type(getattr(codecs, _CODECS[family.compression][0])())
    if family.compression_compact is not None:
        codec = getattr(codecs, _CODECS[family.compression_compact][0])
        options.set_bottommost_compression_type(codec())
    blocks = library.BlockBasedOptions()
    blocks.set_block_size(family.block_size)
    if family.bloom != "NONE":
        blocks.set_bloom_filter(BLOOM_BITS_PER_KEY, block_based=False)
    if not family.block_cache:
        blocks.disable_cache()
    options.set_block_based_table_factory(blocks)
    return options


def build_changed_options(family: Family) -> dict[str, str]:
    """Return the options of a family that RocksDB can change while it is open.

    `block_cache` is not among them.
    """
    bloom = "nullptr" if family.bloom == "NONE" else f"bloomfilter:{BLOOM_BITS_PER_KEY}:false"
    compact = family.compression_compact
    return {
        "compression": _CODECS[family.compression][1],
        "bottommost_compression": _CODECS[compact][1] if compact else "kDisableCompressionOption",
        "block_based_table_factory": f"{{block_size={family.block_size};filter_policy={bloom};}}",
    }
