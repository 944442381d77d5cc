"""Converts the attributes of a family to options of RocksDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.engines.pairs import library
from rowkey.errors import NotSupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocksdict import Options

    from rowkey.cells import Family

BLOOM_BITS_PER_KEY = 10
"""Bits a key, which is 1 % of false answers. Source: RocksDB, Bloom filter; HBase's default too."""

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
    """Raise unless RocksDB has the codecs of a family.

    Raises:
        NotSupported: RocksDB lacks a codec; the text lists those it has.
    """
    for key in ("compression", "compression_compact"):
        codec = getattr(family, key)
        if codec is not None and codec not in _CODECS:
            what = f"RocksDB does not support the codec {codec}"
            path = f"families.{family.name}.{key}"
            raise NotSupported(path, what, f"one of {', '.join(_CODECS)}")


def build_database_options(*, create: bool = False, repair: bool = False) -> Options:
    """Return the options of a RocksDB database.

    A torn end of the log is what a kill leaves behind and is forgiven; a damaged record before it
    is not, for what follows it was acknowledged. All families are flushed together, so that none
    is ahead of a log that was cut. What is missing is never made: it was lost.

    Args:
        create: whether the database is made.
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
    """Return the options of the column family of RocksDB that holds a family of a table.

    RocksDB's filters hold whole keys, so ROW, ROWCOL and prefixes of rows are one to it.
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
    """Return the options that RocksDB can change in an open database; not `block_cache`."""
    bloom = "nullptr" if family.bloom == "NONE" else f"bloomfilter:{BLOOM_BITS_PER_KEY}:false"
    compact = family.compression_compact
    return {
        "compression": _CODECS[family.compression][1],
        "bottommost_compression": _CODECS[compact][1] if compact else "kDisableCompressionOption",
        "block_based_table_factory": f"{{block_size={family.block_size};filter_policy={bloom};}}",
    }
