"""Every format gives the same events of the same records, and describes unreadable files."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from pyarrow import parquet

from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.workload import FORMATS, open_sample
from rowkey.workload.records import MAX_BATCH_CHARACTERS, build_batches
from rowkey.workload.values.calendar_digits import DAY_RANGE

FIELDS: dict[str, Any] = {
    "host": {"type": "text", "max_bytes": 400},
    "n": "i32",
    "ts": "timestamp_s",
    "note": {"type": "text", "max_bytes": 400, "nullable": True},
}
Record = tuple[str, int, int, str]
NAMES = tuple(FIELDS)


def read_events(
    path: Path, words: Mapping[str, Any] | None = None, fields: Mapping[str, Any] = FIELDS
) -> tuple[list[dict[str, Any]], int]:
    """Return the events of a file as normal values, and the number of skipped rows."""
    key = "".join(f"[{name}]" for name in fields)
    design = Design("t", key, fields=fields)
    sample = open_sample(path, design.collect_needed_fields(), design.writes.time, words)
    rows: list[dict[str, Any]] = []
    for some in sample.read_events():
        columns = {name: design.fields[name].type.build_arrow_type() for name in fields}
        arrays = [some.rows.column(name).cast(kind) for name, kind in columns.items()]
        plain = [a.cast("int64") if pa.types.is_timestamp(a.type) else a for a in arrays]
        rows += pa.RecordBatch.from_arrays(plain, names=list(fields)).to_pylist()
    return rows, sample.skipped_rows.count


def get_refusal(path: Path, words: Mapping[str, Any] | None = None) -> str:
    """Return the error message of a sample that cannot be read."""
    with pytest.raises(SampleError) as caught:
        read_events(path, words)
    return str(caught.value)


# One text, every file


def encode_csv(records: Sequence[Record], delimiter: str = ",", end: str = "\n") -> bytes:
    """Return the records as CSV with a header line."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(NAMES)
    writer.writerows(records)
    return out.getvalue().encode()


def encode_json_lines(records: Sequence[Record]) -> bytes:
    """Return the records as an object a line."""
    lines = (json.dumps(dict(zip(NAMES, one, strict=True))) for one in records)
    return "\n".join(lines).encode() + b"\n"


def build_table(records: Sequence[Record]) -> pa.Table:
    """Return the records as a typed table, with a dictionary of hosts and microseconds."""
    host, n, ts, note = zip(*records, strict=True)
    return pa.table(
        {
            "host": pa.array(host).dictionary_encode(),
            "n": pa.array(n, pa.int64()),
            "ts": pa.array([time * 1_000_000 for time in ts], pa.timestamp("us")),
            "note": pa.array(note),
        }
    )


def encode_parquet(records: Sequence[Record]) -> bytes:
    """Return the table as Parquet, in row groups of three rows."""
    sink = io.BytesIO()
    parquet.write_table(build_table(records), sink, row_group_size=3)
    return sink.getvalue()


def encode_arrow(records: Sequence[Record], writer: Any) -> bytes:
    """Return the table as an Arrow file or stream, in batches of three rows."""
    table, sink = build_table(records), io.BytesIO()
    with writer(sink, table.schema) as out:
        out.write_table(table, max_chunksize=3)
    return sink.getvalue()


def leave_unpacked(data: bytes) -> bytes:
    """Return the data unchanged."""
    return data


def pack_zip(data: bytes) -> bytes:
    """Return a zip archive of one file in a folder."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside/", b"")
        archive.writestr("inside/file", data)
    return out.getvalue()


WRITERS: dict[str, Callable[[Sequence[Record]], bytes]] = {
    "a.csv": encode_csv,
    "a.jsonl": encode_json_lines,
    "a.ndjson": encode_json_lines,
    "a.parquet": encode_parquet,
    "a.arrow": lambda records: encode_arrow(records, pa.ipc.new_file),
    "a.arrows": lambda records: encode_arrow(records, pa.ipc.new_stream),
    "a.tsv": lambda records: encode_csv(records, "\t"),
    "crlf.csv": lambda records: encode_csv(records, end="\r\n"),
    "bom.csv": lambda records: b"\xef\xbb\xbf" + encode_csv(records),
}


def pack_zstd(data: bytes) -> bytes:
    """Compress bytes as `zstd` does."""
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": leave_unpacked,
    ".gz": gzip.compress,
    ".zip": pack_zip,
    ".xz": partial(lzma.compress, preset=0),
    ".bz2": bz2.compress,
    ".zst": pack_zstd,
}
VALUES = st.text(
    st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from(",;\"' "), max_size=12
)
TIMES = st.integers(100_000, 2**39).filter(lambda time: not DAY_RANGE[0] <= time <= DAY_RANGE[1])
"""Numbers of seconds that are no days of a calendar or spreadsheet and no milliseconds."""
RECORDS = st.lists(
    st.tuples(VALUES, st.integers(-(2**31), 2**31 - 1), TIMES, VALUES.filter(bool)),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples write into."""
    return tmp_path_factory.mktemp("formats")


@pytest.mark.parametrize(
    ("name", "packing"),
    [
        pytest.param(name, packing, marks=() if is_quick else pytest.mark.long)
        for name in WRITERS
        for packing in PACKERS
        for is_quick in [not packing or name in ("a.csv", "a.parquet")]
    ],
)
@settings(max_examples=settings().max_examples // 4)
@given(records=RECORDS)
def test_every_sample_format_gives_the_same_events(
    folder: Path, name: str, packing: str, records: list[Record]
) -> None:
    """CSV, JSON lines, Parquet and Arrow, plain and compressed, give the written records."""
    path = folder / f"{name}{packing}"
    path.write_bytes(PACKERS[packing](WRITERS[name](records)))
    expected = [dict(zip(NAMES, one, strict=True)) for one in records]
    assert (expected, 0) == read_events(path)


def test_csv_values_may_hold_quotes_delimiters_and_line_ends(folder: Path) -> None:
    """Quoted values and column names keep quotes, delimiters and line ends."""
    path = folder / "quoted.csv"
    path.write_bytes(b'"ho\nst",n,ts\n"a,b",1,1\n"x\ny",2,2\n"q""q",3,3\n"",4,4\n')
    fields = {"host": {"type": "text", "from": "ho\nst"}, "n": "i32", "ts": "timestamp_s"}
    rows, _ = read_events(path, fields=fields)
    assert ["a,b", "x\ny", 'q"q', ""] == [row["host"] for row in rows]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_within_a_value_is_kept(folder: Path, mark: str) -> None:
    """Only a byte order mark at the beginning of a file is removed."""
    path = folder / "mark.csv"
    path.write_text(f"{mark}host\n\ufeffx\n\ufeff\n", "utf-8")
    found, left_out = read_events(path, fields={"host": "text"})
    assert ([{"host": "\ufeffx"}, {"host": "\ufeff"}], 0) == (found, left_out)


def test_an_empty_csv_value_is_a_text_but_no_number(folder: Path) -> None:
    """An empty CSV value is an empty text, a null note, and an invalid time."""
    path = folder / "empty-values.csv"
    path.write_bytes(b"host,n,ts,note\n,1,1,\na,2,,x\nb,3,3,y\n")
    rows, left_out = read_events(path)
    assert (["", "b"], 1) == ([row["host"] for row in rows], left_out)


@pytest.mark.parametrize("delimiter", [";", "|", "\t", " "])
def test_with_a_declared_delimiter_commas_do_not_separate_values(
    folder: Path, delimiter: str
) -> None:
    path = folder / "delimited.csv"
    path.write_bytes(encode_csv([("a,b", 1, 2, "c")], delimiter))
    rows, _ = read_events(path, {"kind": "csv", "delimiter": delimiter})
    assert [{"host": "a,b", "n": 1, "ts": 2, "note": "c"}] == rows


@pytest.mark.parametrize(
    ("name", "options", "delimiter", "said"),
    [
        ("colon.csv", None, ":", 'delimiter = ":" }'),
        ("comma.tsv", None, ",", 'delimiter = "," }'),
        ("comma.csv", {"kind": "csv", "delimiter": ";"}, ",", 'delimiter = "," }'),
    ],
)
def test_the_delimiter_proposed_for_a_single_column_header_works(
    folder: Path, name: str, options: dict[str, Any] | None, delimiter: str, said: str
) -> None:
    """A header with a single name gives a hint at the delimiter in it, and the hint works."""
    path = folder / name
    path.write_bytes(encode_csv([("a", 1, 2, "c")], delimiter).replace(b"host", b'"host"'))
    message = get_refusal(path, options)
    assert f'[sample] format = {{ kind = "csv", {said}' in message
    assert "Did you mean" not in message
    rows, _ = read_events(path, {"kind": "csv", "delimiter": delimiter})
    assert [{"host": "a", "n": 1, "ts": 2, "note": "c"}] == rows


def test_no_delimiter_is_proposed_if_it_gives_no_needed_column(folder: Path) -> None:
    """No delimiter is proposed where splitting by it gives no needed column."""
    path = folder / "one.csv"
    path.write_text("a;b\n1\n")
    said = get_refusal(path)
    assert "delimiter" not in said
    assert "has no column 'host'" in said


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "é"])
def test_a_delimiter_that_is_a_quote_or_line_end_is_refused(folder: Path, delimiter: str) -> None:
    """A delimiter must be one byte without another meaning."""
    path = folder / "a.csv"
    assert "sample.format.delimiter" in get_refusal(path, {"kind": "csv", "delimiter": delimiter})


@pytest.mark.parametrize("kind", ["csv", "columns"])
def test_declared_names_replace_a_missing_header(folder: Path, kind: str) -> None:
    path = folder / "nameless.data"
    between = "," if kind == "csv" else "   "
    lines = [between.join(map(str, (f"h{n}", n, n, "x"))) for n in range(3)]
    path.write_text("\n".join(lines))
    rows, _ = read_events(path, {"kind": kind, "names": list(NAMES)})
    assert ["h0", "h1", "h2"] == [row["host"] for row in rows]


def test_values_separated_by_white_space_are_read(folder: Path) -> None:
    """Lines with another number of values are skipped, and empty lines do not count."""
    path = folder / "a.txt"
    path.write_text(" host  n\tts note\n a 1 1 x\n\nb 2 2\n c  3 3  y z\nd 4 4 w\n")
    rows, left_out = read_events(path)
    assert (["a", "d"], 2) == ([row["host"] for row in rows], left_out)


def test_a_dot_in_a_column_name_leads_into_a_json_object(folder: Path) -> None:
    """A dot in a column name leads into an object, and values of other types become text."""
    path = folder / "nested.jsonl"
    lines = [
        {"request": {"host": "a", "n": 1}, "ts": 1, "note.x": "dotted"},
        {"request": {"host": True, "n": 2}, "ts": "1970-01-01T00:00:02Z", "note.x": [1, "b"]},
        {"request": {"host": 3.5, "n": 3}, "ts": 3, "note.x": None},
        {"request": "no object", "ts": 4, "note.x": "x"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    fields = {
        "host": {"type": "text", "from": "request.host"},
        "n": {"type": "i32", "from": "request.n"},
        "ts": "timestamp_s",
        "note": {"type": "text", "nullable": True, "from": "note.x"},
    }
    rows, left_out = read_events(path, fields=fields)
    assert [("a", 1, 1, "dotted"), ("true", 2, 2, '[1, "b"]'), ("3.5", 3, 3, None)] == [
        tuple(row.values()) for row in rows
    ]
    assert 1 == left_out


def test_malformed_json_lines_are_counted(folder: Path) -> None:
    """Lines that are not objects are skipped and counted, and the first one is shown."""
    good = '{"host": "a", "n": 1, "ts": 1}\n'
    bad = ["nope", "[1]", '{"host":', "[" * 200_000, '{"n": ' + "9" * 5_000 + "}", "\ufeff{"]
    path = folder / "broken.jsonl"
    path.write_text(good * 7 + "\n".join(bad) + "\n\n" + good)
    rows, left_out = read_events(path)
    assert (8, 6) == (len(rows), left_out)


# Logs

LOG = """\
h1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5
h2 - frank [17/May/2015:12:05:03 +0200] "GET /b c d HTTP/1.1" 404 - "-" "Mozilla \\"x\\" (a)"
h3 - - [17/May/2015:10:05:04 +0000] "-" 408 0 "-" "-"
h4 - - [17/May/2015:10:05:04 +0000] "\\x16\\x03\\x01" 400 226
h5 - - [17/May/2015:10:05:05 +0000] "GET /q" 200 1 "http://r/" "agent" extra fields 0.2
h6 - - [77/May/2015:10:05:05 +0000] "GET /" 200 1
not a line of a log
h7 - - [17/May/2015:10:05:06 +0000] "POST /caf\u00e9 HTTP/2" 201 9
"""
LOG_FIELDS: dict[str, Any] = {
    name: {"type": "text", "nullable": True, "max_bytes": 99}
    for name in ("client", "user", "method", "path", "protocol", "status", "bytes", "agent")
}


@pytest.mark.parametrize("packing", PACKERS)
def test_every_valid_line_of_an_apache_log_is_read(folder: Path, packing: str) -> None:
    """Every valid line is read with any request, `-` is null, and two lines are skipped."""
    path = folder / f"access.log{packing}"
    path.write_bytes(PACKERS[packing](LOG.encode()))
    fields = {**LOG_FIELDS, "ts": {"type": "timestamp_s", "from": "time"}}
    rows, left_out = read_events(path, fields=fields)
    start = int(datetime(2015, 5, 17, 10, 5, 3, tzinfo=UTC).timestamp())
    assert [("h1", 0), ("h2", 0), ("h3", 1), ("h4", 1), ("h5", 2), ("h7", 3)] == [
        (row["client"], row["ts"] - start) for row in rows
    ]
    assert 2 == left_out
    assert ("/b c d", "HTTP/1.1", "frank", None, 'Mozilla \\"x\\" (a)') == tuple(
        rows[1][name] for name in ("path", "protocol", "user", "bytes", "agent")
    )
    assert (None, None, None) == tuple(rows[2][n] for n in ("method", "path", "agent"))
    assert ("/q", None, "agent") == tuple(rows[4][n] for n in ("path", "protocol", "agent"))
    assert "/café" == rows[5]["path"]


def test_a_pattern_splits_lines_at_its_fixed_text(folder: Path) -> None:
    """Names take the text between fixed texts, `{}` skips it, and times have a format."""
    path = folder / "app.log"
    path.write_text(
        "<3> web-1 05/01/2021 10:00:00 [7] disk full\n"
        "<5> web-2 05/01/2021 10:00:01 [8] \n"
        "<5> web-3 99/01/2021 10:00:01 [8] x\n"
        "other\n"
        "<1>  05/01/2021 10:00:02 [9] [in] brackets\n"
    )
    words = {"kind": "log", "pattern": "<{}> {host} {ts:%d/%m/%Y %H:%M:%S} [{n}] {note}"}
    rows, left_out = read_events(path, words)
    start = int(datetime(2021, 1, 5, 10, tzinfo=UTC).timestamp())
    assert [
        ("web-1", 7, start, "disk full"),
        ("web-2", 8, start + 1, ""),
        ("", 9, start + 2, "[in] brackets"),
    ] == [tuple(row.values()) for row in rows]
    assert 2 == left_out


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("no names", "the pattern has 0 names in braces"),
        ("{a}{b}", "two names follow each other without text between them"),
        ("{a b} {c}", "is not a valid name"),
        (" ".join("{a}" for _ in range(65)), "65 names"),
        ("{a} " + "x" * 5_000, "names in braces"),
        ("{a:%Y %d %m %Y}", "%Y occurs twice"),
        ("{a:%c}", "%c in '%c' is not a supported time directive"),
        ("{a:%}", "is not a supported time directive"),
        ("{a:text}", "is not a time format"),
    ],
)
def test_a_pattern_without_fixed_text_between_names_is_refused(
    folder: Path, pattern: str, what: str
) -> None:
    """A pattern needs 1 to 64 names with fixed text between them."""
    said = get_refusal(folder / "a.log", {"kind": "log", "pattern": pattern})
    assert "sample.format.pattern" in said
    assert what in said


def test_no_pattern_is_slow_on_any_text(folder: Path) -> None:
    """A pattern that would make a regular expression backtrack is applied in one pass."""
    path = folder / "evil.log"
    path.write_text("a" * 900_000 + "\n" + "a b" * 3 + "\n")
    pattern = "a".join(f"{{f{n}}}" for n in range(64))
    assert "2 of 2 lines do not follow the format" in get_refusal(
        path, {"kind": "log", "pattern": pattern + "!"}
    ) or "has no column" in get_refusal(path, {"kind": "log", "pattern": pattern + "!"})


# What cannot be read

GARBAGE = random.Random(11).randbytes(40_000)
CSV = encode_csv([(f"h{n}", n, n, "x") for n in range(2_000)])
LONG = b"x" * (2 << 20)
BROKEN: dict[str, tuple[bytes, str]] = {
    "empty.csv": (b"", "is empty"),
    "names.csv": (b"host,n,ts,note\n", "the file has no rows"),
    "empty.jsonl": (b"", "the file has no rows"),
    "empty.parquet": (b"", "is not Parquet"),
    "empty.arrow": (b"", "is not Arrow"),
    "cut.arrow": (b"ARROW1\0\0", "is not Arrow"),
    "empty.txt": (b"", "is empty"),
    "empty.csv.gz": (b"", "is empty"),
    "empty.csv.zip": (b"", "cannot be read"),
    "missing.csv": (b"hots,n,ts,note\na,1,1,x\n", "Did you mean hots?"),
    "missing.jsonl": (b'{"hots": 1, "n": 1, "ts": 1, "note": "x"}\n' * 3, "Did you mean hots?"),
    "twice.csv": (b"host,n,ts,note,host\na,1,1,x,b\n", "2 columns 'host'"),
    "types.csv": (
        b"host,n,ts,note\na,one,1,x\nb,two,2,x\n",
        "2 of 2 rows cannot be read as events: line 2",
    ),
    "types.jsonl": (
        b'{"host": "a", "n": 1.5, "ts": 1}\n' * 3,
        "3 of 3 rows cannot be read as events",
    ),
    "shapes.csv": (b"host,n,ts,note\n" + b"a,1\n" * 9, "9 of 9 lines do not follow the format"),
    "truncated.csv.gz": (gzip.compress(CSV)[:-900], "cannot be read"),
    "truncated.csv.xz": (lzma.compress(CSV)[:-900], "cannot be read"),
    "truncated.csv.bz2": (bz2.compress(CSV)[:-900], "cannot be read"),
    "truncated.csv.zst": (pack_zstd(CSV)[:-900], "cannot be read"),
    "garbage.csv.xz": (GARBAGE, "cannot be read"),
    "garbage.csv.zst": (GARBAGE, "cannot be read"),
    "garbage.csv": (GARBAGE, "so the file is not text"),
    "wide.csv": ("host,n,ts,note\n".encode("utf-16-le"), "contains the byte 0x00"),
    "garbage.csv.gz": (GARBAGE, "cannot be read"),
    "garbage.csv.zip": (GARBAGE, "cannot be read"),
    "garbage.jsonl": (GARBAGE, "lines do not follow the format"),
    "garbage.parquet": (GARBAGE, "is not Parquet"),
    "garbage.arrow": (GARBAGE, "is not Arrow"),
    "garbage.txt": (GARBAGE, "has no column 'host'"),
    "behind.csv": (b"host,n,ts,note\n" + GARBAGE, "lines do not follow the format"),
    "carriage.csv": (b"host,n,ts,note\ra,1,1,x\r", "a carriage return alone"),
    "carriage-long.csv": (b"host,n,ts,note\r" + b"a,1,1,x\r" * 200_000, "a carriage return alone"),
    "carriage-quoted.csv": (b'"host",n\r"a",1\r', "a carriage return alone"),
    "name-long.csv": (b"host,n," + b"x" * 200_000 + b"\n", "a name of more than 128 KiB"),
    "long.csv": (b"host,n,ts,note\na,1,1,x\n" + LONG + b",1,1,x\n" + CSV, "longer than 1 MiB"),
    "long-names.csv": (LONG + b",n,ts\na,1,1\n", "longer than 1 MiB"),
    "long.jsonl": (b'{"host": "' + 33 * LONG + b'"}\n', "longer than 64 MiB"),
    "long.txt": (b"host n ts note\n" + LONG, "longer than 1 MiB"),
    "two.csv.zip": (b"", "contains 2 files: a.csv, b.csv"),
    "locked.csv.zip": (b"", "the archive is encrypted"),
    "method.csv.zip": (b"", "cannot be read"),
}


def _build_broken_file(name: str) -> bytes:
    """Return the bytes of a broken file; archives are built by hand."""
    if name == "two.csv.zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.csv", CSV)
            archive.writestr("b.csv", CSV)
        return out.getvalue()
    if name in ("locked.csv.zip", "method.csv.zip"):
        data = bytearray(pack_zip(CSV))
        central = data.rfind(b"PK\x01\x02")
        local = data.rfind(b"PK\x03\x04", 0, central)
        flag, method = (1, 8) if name == "locked.csv.zip" else (0, 97)
        data[local + 6], data[local + 8] = flag, method
        data[central + 8], data[central + 10] = flag, method
        return bytes(data)
    return BROKEN[name][0]


@pytest.mark.parametrize("name", BROKEN)
def test_the_error_of_a_broken_file_names_the_file_and_the_problem(folder: Path, name: str) -> None:
    """The error of each broken file names the file and what is wrong with it."""
    path = folder / name
    path.write_bytes(_build_broken_file(name))
    said = get_refusal(path)
    assert BROKEN[name][1] in said
    assert str(path) in said
    assert "\n" not in said.split(";")[0]


@pytest.mark.parametrize("name", ["none.csv", "none.log", "none.parquet", "none.jsonl.gz"])
def test_a_missing_sample_file_is_reported_in_every_format(folder: Path, name: str) -> None:
    fields = {"client": {"type": "text"}} if name.endswith("log") else FIELDS
    design = Design("t", "".join(f"[{one}]" for one in fields), fields=fields)
    with pytest.raises(SampleError, match="there is no such file"):
        list(open_sample(folder / name, design.collect_needed_fields(), None).read_events())


def test_a_folder_in_place_of_a_sample_is_refused(folder: Path) -> None:
    """A folder with the name of a sample is refused as a folder."""
    (folder / "folder.csv").mkdir(exist_ok=True)
    assert "directory" in get_refusal(folder / "folder.csv")


def test_a_corrupt_parquet_file_is_an_error_of_the_file(folder: Path) -> None:
    """Parquet pages that do not decode are an error of the file, not a crash."""
    data = bytearray(encode_parquet([(f"host-{n}", n, n, "x" * 20) for n in range(300)]))
    data[8:300] = GARBAGE[:292]
    path = folder / "corrupt.parquet"
    path.write_bytes(bytes(data))
    assert "Parquet" in get_refusal(path) or "cannot be read" in get_refusal(path)


def test_an_excel_sheet_has_the_events_of_a_csv_file(folder: Path) -> None:
    """Cells of Excel, with a date and a time of day, become the values that CSV has as text."""
    records: list[Record] = [("a", 1, 1_700_000_000, "x"), ("=b", -2, 1_700_000_060, "é")]
    workbook = Workbook()
    workbook.active.append(NAMES)
    for host, n, ts, note in records:
        when = datetime.fromtimestamp(ts, UTC).replace(tzinfo=None)
        workbook.active.append([host, n, when, note])
    workbook.active["A3"].data_type = "s"  # a text that looks like a formula
    workbook.save(folder / "a.xlsx")
    (folder / "same.csv").write_bytes(encode_csv(records))
    assert read_events(folder / "same.csv") == read_events(folder / "a.xlsx")


def test_batches_of_long_values_are_bounded_in_characters() -> None:
    """A batch is bounded in characters too, and no record is lost between batches."""
    batches = list(build_batches(([str(n), "x" * 100_000] for n in range(500)), ["n", "pad"]))
    assert list(map(str, range(500))) == [n for batch in batches for n in batch["n"].to_pylist()]
    assert MAX_BATCH_CHARACTERS / 100_000 + 1 >= max(batch.num_rows for batch in batches)
    assert 3 < len(batches)


def test_an_unknown_file_ending_asks_for_the_format(folder: Path) -> None:
    """An unknown ending is refused with a request for the format, an unknown format with a list."""
    assert "the format of a file with the suffix" in get_refusal(folder / "sample.xyz")
    assert "the format of a file with the suffix" in get_refusal(folder / "sample")
    assert "Did you mean csv?" in get_refusal(folder / "a.csv", {"kind": "csvv"})
    assert "no option 'delimeter'" in get_refusal(
        folder / "a.csv", {"kind": "csv", "delimeter": ";"}
    )
    assert "5 has the type int" in get_refusal(folder / "a.csv", {"kind": "csv", "delimiter": 5})


def test_every_format_plugin_is_read_by_a_test() -> None:
    """Each format plugin is read in this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    told = {name: [*(f"a{end}" for end in kind.suffixes), name] for name, kind in FORMATS.items()}
    assert [] == [
        name for name, words in told.items() if not any(f'"{word}"' in text for word in words)
    ]
