"""Damaged and hostile column files are read or refused, in bounded memory."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import rowkey
from rowkey.advise.drafts.inferred_schema import infer_schema
from rowkey.errors import RowkeyError, SampleError
from rowkey.table import load_file
from rowkey.workload import FORMATS, SkippedRows, open_sample, read_batches, sample_streams
from rowkey.workload.columnar.arrow_ipc import CONTINUATION, MAGIC
from rowkey.workload.columnar.batches import MAX_BATCH_BYTES
from workload import fuzzed

MAX_PEAK_MB = 1_200
COLUMN_FILES = [name for name in fuzzed.FILES if "arrow" in name or "parquet" in name]
ROW_FILES = [name for name in fuzzed.FILES if name not in COLUMN_FILES]
EXPECTED_ERRORS = {"plain.parquet=2253:2254"}
"""Copies that once ended the process: contradictory statistics of sizes in a footer."""
DESIGN = rowkey.Design(
    "t",
    "[n]",
    fields={"n": "u32", "host": {"type": "text", "nullable": True}},
    splits=["00000064"],
    cluster={"servers": 2},
)


def read_copies(folder: Path, copies: list[str]) -> list[str]:
    """Read damaged copies in another process; return the lines of those that went wrong."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "workload.fuzzed", str(folder), *copies]
    here = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    wrong = [line for line in lines[:-1] if line.split(" ", 2)[2] not in ("read", "refused")]
    if done.returncode or not lines[-1].startswith("peak "):
        wrong += [f"exit {done.returncode} at {lines[-1:]}: {done.stderr[-400:]}"]
    elif int(lines[-1].split()[1]) > MAX_PEAK_MB:
        wrong.append(lines[-1])
    return wrong


def test_damaged_sample_files_are_read_or_refused(tmp_path: Path) -> None:
    """Some copies of each type of file, with damaged bytes, are read or refused."""
    copies = [f"{name}=0:2" for name in COLUMN_FILES] + [f"{name}=0:1" for name in ROW_FILES]
    assert [] == read_copies(tmp_path, [*copies, *EXPECTED_ERRORS])


@pytest.mark.long
def test_every_format_of_bytes_has_a_file_that_is_damaged() -> None:
    """A format whose files begin with bytes of their own is no text, so its damage is tried."""
    names = {name for name, kind in FORMATS.items() if kind.first_bytes}
    assert names == {
        name
        for name in names
        if any(file.endswith(FORMATS[name].suffixes) for file in fuzzed.FILES)
    }


@pytest.mark.parametrize("name", sorted(fuzzed.FILES))
def test_a_thousand_damaged_sample_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    """A thousand damaged copies of column files, and a hundred of others, are read or refused."""
    first, stop = (2, 1_002) if name in COLUMN_FILES else (1, 101)
    assert [] == read_copies(tmp_path, [f"{name}={first}:{stop}"])


# What a file says of its sizes


def read_all_batches(path: Path, columns: list[str] | None = None) -> list[pa.RecordBatch]:
    """Return all batches of a file."""
    form = open_sample(path, DESIGN.fields, None).format
    return list(read_batches(form, path, columns, SkippedRows()))


def write_arrow(path: Path, table: pa.Table, compression: str | None = None) -> bytes:
    """Write a table as an Arrow file, and return its bytes."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, table.schema, options=options) as writer,
    ):
        writer.write_table(table)
    return path.read_bytes()


def test_parquet_that_decodes_to_20_gb_is_refused_before_decoding(tmp_path: Path) -> None:
    """58 kB of Parquet that decode to 20 GB of text are refused before they are decoded."""
    path = tmp_path / "long.parquet"
    value = "x" * 1_000_000
    hosts = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array([value]))
    table = pa.table({"n": pa.array(range(20_000), pa.uint32()), "host": hosts})
    parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 200_000
    with pytest.raises(SampleError, match=r"bytes declares .* bytes of values"):
        read_all_batches(path)
    small = table.slice(0, 150)
    parquet.write_table(small, path, compression="zstd")
    found = read_all_batches(path)
    assert 150 == sum(batch.num_rows for batch in found)
    assert max(batch.nbytes for batch in found) <= MAX_BATCH_BYTES + (1 << 21)
    write_arrow(path.with_suffix(".arrow"), small)
    found = read_all_batches(path.with_suffix(".arrow"))
    assert 150 == sum(batch.num_rows for batch in found)
    assert max(batch.nbytes for batch in found) <= MAX_BATCH_BYTES + (1 << 21)


def test_a_compressed_buffer_that_claims_a_terabyte_is_refused(tmp_path: Path) -> None:
    """A compressed buffer that claims to have a terabyte is refused with this size."""
    path = tmp_path / "packed.arrow"
    table = pa.table({"n": pa.array([7] * 5_000, pa.uint32())})
    good = write_arrow(path, table, "zstd")
    assert good.count(struct.pack("<q", 20_000)) == 1
    path.write_bytes(good.replace(struct.pack("<q", 20_000), struct.pack("<q", 1 << 40)))
    with pytest.raises(SampleError, match="unpacks to 1,099,511,627,776, more than") as refused:
        read_all_batches(path)
    assert str(refused.value).startswith(f"{path}: the file is damaged, or is not Arrow: a batch")


def test_an_arrow_offset_outside_of_the_text_is_refused(tmp_path: Path) -> None:
    """A batch whose text begins beyond its bytes is refused, with the format's name."""
    path = tmp_path / "text.arrow"
    good = write_arrow(path, pa.table({"host": ["a", "b", "c", "d"]}))
    offsets = struct.pack("<5i", *range(5))
    assert 1 == good.count(offsets)
    path.write_bytes(good.replace(offsets, struct.pack("<5i", 0, 1, 90_000, 3, 4)))
    with pytest.raises(SampleError) as refused:
        read_all_batches(path)
    assert str(refused.value).startswith(f"{path}: the file is damaged, or is not Arrow: ")


def test_metadata_of_two_gigabytes_is_refused(tmp_path: Path) -> None:
    """Metadata of two gigabytes is refused before memory is allocated."""
    path = tmp_path / "long.arrows"
    path.write_bytes(struct.pack("<Ii", CONTINUATION, (1 << 31) - 1) + bytes(64))
    with pytest.raises(SampleError, match="the metadata of a message has 2,147,483,647 bytes"):
        read_all_batches(path)


def test_a_footer_of_another_length_is_refused(tmp_path: Path) -> None:
    """A footer whose length disagrees with the number before the final magic is refused."""
    path = tmp_path / "footer.arrow"
    good = write_arrow(path, pa.table({"n": pa.array([1], pa.uint32())}))
    end = MAGIC.rstrip(b"\0")
    for size in (-1, 0, 1 << 20, (1 << 31) - 1):
        path.write_bytes(good[: -len(end) - 4] + struct.pack("<i", size) + end)
        with pytest.raises(SampleError):
            read_all_batches(path)


def test_text_of_an_extreme_compression_ratio_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A compressed text file with an extreme ratio of sizes is refused."""
    assert sample_streams.MAX_FREE_UNPACKED_BYTES == 1 << 26
    monkeypatch.setattr(sample_streams, "MAX_FREE_UNPACKED_BYTES", 1 << 22)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"n,host\n" + (b"1," + b"a" * 1_021 + b"\n") * 4_097))
    with pytest.raises(SampleError, match="unpack to more than 4,194,304"):
        read_all_batches(path)


# Values


def test_an_index_outside_of_its_dictionary_is_refused(tmp_path: Path) -> None:
    """An index outside of its dictionary is refused, as it would read foreign memory."""
    path = tmp_path / "coded.arrow"
    codes = pa.array([0, 1, 1 << 28], pa.int32())
    hosts = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)
    write_arrow(path, pa.table({"n": pa.array([1, 2, 3], pa.uint32()), "host": hosts}))
    with rowkey.open(DESIGN, "memory:") as table:
        with pytest.raises(SampleError, match=r"column 'host': .*268435456"):
            load_file(table, path)
        assert [] == list(table.scan())


def test_each_flipped_bit_of_a_page_with_a_checksum_is_found(tmp_path: Path) -> None:
    path = tmp_path / "sums.parquet"
    table = pa.table({"n": pa.array(range(300), pa.uint32())})
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    parquet.write_table(table, path, **options)
    good = path.read_bytes()
    start = good.index(struct.pack("<4i", 0, 1, 2, 3))
    for at in range(start, start + 4 * 300, 97):
        data = bytearray(good)
        data[at] ^= 1
        path.write_bytes(data)
        with pytest.raises(SampleError):
            read_all_batches(path)
    path.write_bytes(good)
    assert 300 == sum(batch.num_rows for batch in read_all_batches(path))


EXTREMES = {"64": [-(1 << 63), (1 << 63) - 1, 0, None], "32": [-(1 << 31), (1 << 31) - 1, 0, None]}
ZONED = pa.timestamp("s", "Nowhere/Land")
TYPES = [
    pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us"), pa.timestamp("ns", "UTC"),
    ZONED, pa.duration("s"), pa.duration("ns"), pa.date32(), pa.date64(), pa.time32("s"),
    pa.time64("ns"),
]  # fmt: skip
FIELD_TYPES = [
    "text", "bytes", "bool", "u32", "i64", "float32", "float64", "date", "timestamp_s",
    "timestamp_ns", "uuid", "ipv4",
]  # fmt: skip


def extreme_table(kind: pa.DataType) -> pa.Table:
    """Return a table with the smallest and largest numbers of a type as times."""
    width = "64" if kind.bit_width == 64 else "32"
    column = pa.array(EXTREMES[width], f"int{width}").view(kind)
    return pa.table({"n": pa.array(range(4), pa.uint32()), "x": column})


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_times_outside_of_the_calendar_are_values_or_refused(
    tmp_path: Path, kind: pa.DataType
) -> None:
    """Times outside of the calendar are values or are refused, for any field type."""
    table, path = extreme_table(kind), tmp_path / "times.arrow"
    write_arrow(path, table)
    with suppress(SampleError):
        infer_schema(path, None)
    for name in FIELD_TYPES:
        fields = {"n": "u32", "x": {"type": name, "nullable": True}}
        design = rowkey.Design("t", "[n]", fields=fields)
        with rowkey.open(design, "memory:") as rows:
            with suppress(RowkeyError):
                load_file(rows, path)
            with suppress(RowkeyError):
                rows.load(table)
            list(rows.scan())


def test_nested_columns_are_left_out_of_a_draft_with_a_remark(tmp_path: Path) -> None:
    """Nested columns are left out of a draft with a remark, and refused as a field's column."""
    path = tmp_path / "nested.arrow"
    numbers = pa.array(range(3), pa.uint32())
    table = pa.table({"n": numbers, "host": [["a"], [], None]})
    for name in ("nested.arrow", "nested.parquet"):
        path = tmp_path / name
        if path.suffix == ".arrow":
            write_arrow(path, table)
        else:
            parquet.write_table(table, path)
        form = open_sample(path, DESIGN.fields, None).format
        assert ["host"] == list(form.find_unreadable_columns(path))
        assert [["n"]] == [batch.schema.names for batch in read_all_batches(path)]
        with pytest.raises(SampleError, match="the column 'host' has the type list<"):
            read_all_batches(path, ["host"])
