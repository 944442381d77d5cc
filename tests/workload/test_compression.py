"""Compressed files are recognized, read in bounded memory, and refused if they are damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

import pyarrow as pa
import pytest

from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.workload import compression, open_sample
from rowkey.workload.compression import RewindableStream, XzDecoder, open_decoded

LINES = "".join(f"web-{n},{n}\n" for n in range(20_000)).encode()
PACKED = {
    ".gz": gzip.compress(LINES),
    ".bz2": bz2.compress(LINES),
    ".xz": lzma.compress(LINES),
    ".zst": pa.Codec("zstd").compress(LINES, asbytes=True),
}


@pytest.mark.parametrize("suffix", PACKED)
def test_compression_is_recognized_without_its_suffix(tmp_path: Path, suffix: str) -> None:
    """A compressed file with the name of a plain one is read, and the result says so."""
    path = tmp_path / "rows.csv"
    path.write_bytes(PACKED[suffix])
    fields = Design("t", "[host][n]", fields={"host": "text", "n": "u32"}).fields
    sample = open_sample(path, fields, None, {"kind": "csv", "names": ["host", "n"]})
    assert 20_000 == sum(len(events) for events in sample.read_events())
    said = f"rows.csv is compressed as a {suffix} file, as its first bytes show"
    assert [said] == list(map(str, sample.assumptions))


@pytest.mark.parametrize("suffix", PACKED)
def test_a_compressed_stream_can_be_read_from_any_position(suffix: str) -> None:
    """A compressed stream can be read again from the start, and from later positions."""
    stream = open_decoded(io.BytesIO(PACKED[suffix]), suffix)
    for position in (0, 100_000, 7, len(LINES) - 5, 0):
        assert position == stream.seek(position)
        assert LINES[position : position + 9] == stream.read(9)
    assert len(LINES) == stream.seek(0, io.SEEK_END)


def test_concatenated_xz_files_are_read_as_one() -> None:
    """Two xz files after each other, with padding between them, are one stream."""
    data = lzma.compress(b"one ") + bytes(4) + lzma.compress(b"two") + bytes(8)
    stream = RewindableStream(io.BytesIO(data), XzDecoder)
    assert b"one two" == io.BufferedReader(stream).read()


def test_an_xz_file_that_needs_too_much_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file whose decoder would take too much memory is refused."""
    monkeypatch.setattr(compression, "MAX_XZ_MEMORY_BYTES", 1 << 16)
    path = tmp_path / "rows.csv.xz"
    path.write_bytes(PACKED[".xz"])
    fields = Design("t", "[host]", fields={"host": "text"}).fields
    with pytest.raises(SampleError, match="Memory usage limit"):
        list(open_sample(path, fields, None).read_events())
