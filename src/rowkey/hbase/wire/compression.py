"""Compresses the cell blocks of a connection by zlib, one stream for each block.

Source: tested on HBase 2.6.4: Hadoop's DefaultCodec is plain zlib.
"""

from __future__ import annotations

import zlib

from rowkey.hbase.wire.frames import MAX_FRAME_BYTES
from rowkey.hbase.wire.proto import WireFormatError

CODEC_CLASS = "org.apache.hadoop.io.compress.DefaultCodec"
"""The Java class of zlib, for the connection header. Codecs such as Snappy need a native library
on both sides, and a server that lacks it never answers.
"""

_LEVEL = 1
"""The fastest level, since each block is decompressed once. Source: zlib, levels 1..9."""


def compress(block: bytes) -> bytes:
    """Compress a cell block to one zlib stream; an empty block stays empty.

    >>> decompress(compress(b"cells" * 9)) == b"cells" * 9
    True
    """
    return zlib.compress(block, _LEVEL) if block else b""


def decompress(block: bytes | memoryview, max_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """Decompress the zlib stream of one cell block.

    Args:
        block: the complete stream; an empty one is an empty block.
        max_bytes: the most bytes of the result, so that a small answer cannot fill the memory.

    Raises:
        WireFormatError: the bytes are not one complete stream, or hold more than `max_bytes`.
    """
    if not block:
        return b""
    stream = zlib.decompressobj()
    try:
        cells = stream.decompress(block, max_bytes + 1)
    except zlib.error as problem:
        raise WireFormatError(f"a compressed cell block is not a zlib stream ({problem})") from None
    if len(cells) > max_bytes:
        raise WireFormatError(f"a cell block decompresses to more than {max_bytes:,} bytes")
    if not stream.eof:
        raise WireFormatError("a compressed cell block ends before the end of its zlib stream")
    if stream.unused_data:
        raise WireFormatError("a compressed cell block goes on after the end of its zlib stream")
    return cells
