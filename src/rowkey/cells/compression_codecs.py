"""The codecs with which HBase compresses blocks, at the levels that HBase uses by default."""

from __future__ import annotations

from collections.abc import Callable

from rowkey.array_libraries import pa

_LEVELS = {"SNAPPY": ("snappy", None), "LZ4": ("lz4_raw", None), "ZSTD": ("zstd", 3),
           "BROTLI": ("brotli", 6)}  # fmt: skip
"""Codecs of Arrow, each with its name there and its level. Source: SnappyCodec, Lz4Codec, ZstdCodec
(hbase.io.compress.zstd.level) and BrotliCodec of HBase 2.6."""


def find_compressor(codec: str) -> Callable[[bytes], bytes] | None:
    """Return a function that compresses a block; None if no such codec is available here.

    Args:
        codec: a compression that a family may declare, such as ZSTD.

    Source: Compression.Algorithm.

    >>> compress = find_compressor("ZSTD")
    >>> len(compress(bytes(65_536))) < 100, find_compressor("NONE")(b"ab"), find_compressor("LZO")
    (True, b'ab', None)
    """
    import bz2
    import gzip
    import lzma

    if codec in _LEVELS:
        name, level = _LEVELS[codec]
        if not pa.Codec.is_available(name):
            return None
        arrow_codec = pa.Codec(name, compression_level=level)
        return lambda block: bytes(arrow_codec.compress(block, asbytes=True))
    compressors: dict[str, Callable[[bytes], bytes]] = {
        "NONE": bytes,
        "GZ": lambda block: gzip.compress(block, 6, mtime=0),
        "BZIP2": bz2.compress,
        "LZMA": lzma.compress,
    }
    return compressors.get(codec)
