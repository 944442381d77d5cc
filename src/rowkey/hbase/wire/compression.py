"""How cell blocks are packed on a connection: one stream a block, as Hadoop's codecs write it.

Source: tried on HBase 2.6.4: DefaultCodec is plain zlib, GzipCodec plain gzip.
"""

from __future__ import annotations

import zlib

from rowkey.errors import Refused
from rowkey.hbase.wire.frames import FRAME_BYTES_MOST
from rowkey.hbase.wire.proto import Malformed

_CLASSES = {
    "zlib": "org.apache.hadoop.io.compress.DefaultCodec",
    "gzip": "org.apache.hadoop.io.compress.GzipCodec",
}

_WINDOW = {"zlib": zlib.MAX_WBITS, "gzip": zlib.MAX_WBITS + 16}
"""What zlib takes to read and write each form. Source: zlib, deflateInit2."""

_LEVEL = 1
"""The fastest: what is packed is unpacked at once at the other end. Source: zlib, levels 1..9."""


def codec_class(name: str) -> str:
    """The full name of the Java class that packs like this, for the connection header.

    Raises:
        Refused: no such form; Snappy and the others need a native library on both sides, and a
            server that lacks it never answers.

    >>> codec_class("zlib")
    'org.apache.hadoop.io.compress.DefaultCodec'
    """
    if name not in _CLASSES:
        raise Refused("compress", f"{name!r} is unknown", " or ".join(_CLASSES))
    return _CLASSES[name]


def compress(name: str, block: bytes) -> bytes:
    """A cell block as one stream; an empty one stays empty, for it is not sent.

    Raises:
        Refused: no such form.

    >>> decompress("zlib", compress("zlib", b"cells" * 9)) == b"cells" * 9
    True
    """
    codec_class(name)
    if not block:
        return b""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW[name])
    return packer.compress(block) + packer.flush()


def decompress(name: str, block: bytes | memoryview, most: int = FRAME_BYTES_MOST) -> bytes:
    """The cell block of one stream.

    Args:
        name: the form.
        block: the whole stream; of an empty one comes an empty block.
        most: bytes that come of it at most, so that a small answer cannot fill the memory.

    Raises:
        Refused: no such form.
        Malformed: the bytes are not one whole stream, or hold more than `most`.
    """
    codec_class(name)
    if not block:
        return b""
    unpacker = zlib.decompressobj(_WINDOW[name])
    try:
        cells = unpacker.decompress(block, most + 1)
    except zlib.error as problem:
        raise Malformed(f"a cell block that is not {name} ({problem})") from None
    if len(cells) > most:
        raise Malformed(f"a cell block of more than {most:,} bytes unpacked", f"up to {most:,}")
    if not unpacker.eof or unpacker.unused_data:
        end = "goes on behind" if unpacker.eof else "ends before"
        raise Malformed(f"a cell block that {end} the end of its {name} stream")
    return cells
