"""Sheets of Excel are read with the types of their cells, and what is no workbook is refused."""

from __future__ import annotations

import sys
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from openpyxl import Workbook

import rowkey
from rowkey.advise import draft_design
from rowkey.errors import SampleError, Unavailable
from rowkey.table import load_file
from rowkey.workload import SkippedRows, record_sample

NOON = datetime(2024, 1, 31, 12)  # noqa: DTZ001 - Excel knows no zones
HEADER = ["host", "ts", "day", "n", "price", "ok", "mixed"]
ROWS: list[list[Any]] = [
    ["web-1", NOON, date(2024, 1, 31), 1, 1.5, True, 7],
    [],
    ["web-2", datetime(2024, 2, 1), date(2024, 2, 1), 2, 2, False, "x"],  # noqa: DTZ001
    ["=NA()", None, None, None, 0.25, None, NOON],
    ["#N/A", NOON, None, 3, None, None, 1.5],
]


def write_workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    """Write a workbook with some sheets, and return its path."""
    workbook = Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


def read_sheet(path: Path, **options: Any) -> tuple[pa.Table, list[str]]:
    """Return the rows of a workbook, and what was assumed of it."""
    recording = record_sample(path, {"kind": "excel", **options} if options else None)
    table = pa.Table.from_batches(recording.read_batches(None, SkippedRows()))
    return table, list(map(str, recording.format.assumptions))


def test_excel_cells_keep_their_types(tmp_path: Path) -> None:
    """Dates, times, numbers and booleans are such; cells without a value are null."""
    path = write_workbook(tmp_path / "a.xlsx", {"events": [HEADER, *ROWS]})
    table, assumptions = read_sheet(path)
    assert ["string", "timestamp[us]", "date32[day]", "int64", "double", "bool", "string"] == [
        str(kind) for kind in table.schema.types
    ]
    expected = {
        "host": ["web-1", "web-2", None, None],
        "ts": [NOON, datetime(2024, 2, 1), None, NOON],  # noqa: DTZ001
        "day": [date(2024, 1, 31), date(2024, 2, 1), None, None],
        "n": [1, 2, None, 3],
        "price": [1.5, 2.0, 0.25, None],
        "ok": [True, False, None, None],
        "mixed": ["7", "x", "2024-01-31 12:00:00", "1.5"],
    }
    assert expected == table.to_pydict()
    [note] = assumptions
    assert (
        note == "the column mixed of the sheet holds values of several types, and is read as text"
    )


def test_the_type_of_an_excel_column_depends_on_all_its_rows(tmp_path: Path) -> None:
    """A value in the last rows decides about the first ones."""
    rows: list[list[Any]] = [[n, n, NOON if n % 2 else date(2024, 1, 31)] for n in range(2_000)]
    rows += [[0.5, "x", None]]
    path = write_workbook(tmp_path / "a.xlsx", {"s": [["a", "b", "c"], *rows]})
    table, _ = read_sheet(path)
    assert ["double", "string", "timestamp[us]"] == [str(kind) for kind in table.schema.types]
    assert ([1_999.0, 0.5], ["1999", "x"]) == (
        table["a"].to_pylist()[-2:],
        table["b"].to_pylist()[-2:],
    )


def test_the_sheet_that_is_read_is_named(tmp_path: Path) -> None:
    """Which of several sheets is read is reported, and a name that none has is refused."""
    sheets: dict[str, list[list[Any]]] = {
        "one": [["a"], [1]],
        "two": [["Report"], ["b", "c"], [2, 3]],
    }
    path = write_workbook(tmp_path / "a.xlsx", sheets)
    table, assumptions = read_sheet(path)
    assert {"a": [1]} == table.to_pydict()
    (assumption,) = assumptions
    assert "the sheet one of a.xlsx is read, the first of 2" in assumption
    assert 'to read another, declare format = { kind = "excel", sheet = "NAME" }' in assumption
    table, assumptions = read_sheet(path, sheet="two", skip_lines=1)
    assert ({"b": [2], "c": [3]}, []) == (table.to_pydict(), assumptions)
    table, _ = read_sheet(path, sheet="two", skip_lines=2, names=["x", "y"])
    assert {"x": [2], "y": [3]} == table.to_pydict()
    with pytest.raises(SampleError, match="no sheet 'twoo'; expected one of 'one' and 'two'"):
        read_sheet(path, sheet="twoo")
    with pytest.raises(SampleError, match=r"'Report', and others more.*skip_lines = 1"):
        draft_design(path, format_options={"kind": "excel", "sheet": "two"})


def test_an_excel_sheet_is_drafted_and_loaded_as_its_csv(tmp_path: Path) -> None:
    """A design drafted from a sheet has typed fields, and holds all of its rows."""
    rows = [[f"web-{n % 9}", datetime(2024, 1, 1 + n % 28, n % 24), n] for n in range(300)]  # noqa: DTZ001
    path = write_workbook(tmp_path / "a.xlsx", {"events": [["host", "ts", "n"], *rows]})
    draft = draft_design(path)
    assert 'ts = "timestamp' in draft.text.replace("  ", " ").replace("  ", " ")
    fields = {"host": "text", "ts": "timestamp_ms", "n": "u32"}
    design = rowkey.Design("t", "[host][ts][n]", fields=fields)
    with rowkey.open(design, "memory:") as table:
        assert 300 == load_file(table, path).row_count
        row = next(iter(table.scan("host = ?", "web-0")))
    assert ("web-0", 0) == (row["host"], row["n"])
    assert datetime(2024, 1, 1, tzinfo=UTC).timestamp() * 1_000 == row["ts"]


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"host,ts\n", b"\xd0\xcf\x11\xe0" + bytes(600)]
)
def test_a_file_that_is_no_workbook_is_refused(tmp_path: Path, content: bytes) -> None:
    """A damaged file, a text and a workbook with a password are refused with the way out."""
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    with pytest.raises(SampleError, match="Excel workbook"):
        read_sheet(path)


def test_a_damaged_workbook_is_read_or_refused(tmp_path: Path) -> None:
    """Whichever of its files is missing or garbage, the workbook is read or refused."""
    refused = set()
    path = write_workbook(tmp_path / "a.xlsx", {"s": [HEADER, *ROWS]})
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for damaged, sound in contents.items():
        for garbage in (None, b"", b"<a", b"<a/>", sound.replace(b">1<", b">x<")):
            with zipfile.ZipFile(path, "w") as archive:
                for name, content in contents.items():
                    if name != damaged or garbage is not None:
                        archive.writestr(name, content if name != damaged else garbage or b"")
            try:
                read_sheet(path)
            except SampleError:
                refused.add(damaged)
    assert {"xl/workbook.xml", "xl/worksheets/sheet1.xml"} <= refused


def share_texts(path: Path, text: str, row_count: int) -> None:
    """Give a workbook's sheet rows with one text that is stored once, as Excel writes texts."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name).decode() for name in archive.namelist()}
    cells = "".join(f'<row><c t="s"><v>{int(n > 0)}</v></c></row>' for n in range(row_count + 1))
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    contents["xl/worksheets/sheet1.xml"] = (
        f"<worksheet {main}><sheetData>{cells}</sheetData></worksheet>"
    )
    contents["xl/sharedStrings.xml"] = f"<sst {main}><si><t>a</t></si><si><t>{text}</t></si></sst>"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    override = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    contents["[Content_Types].xml"] = contents["[Content_Types].xml"].replace("</Types>", override)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


def test_a_workbook_that_unpacks_to_a_huge_size_is_refused(tmp_path: Path) -> None:
    """Neither large members nor one long text in many cells fill the memory."""
    path = write_workbook(tmp_path / "a.xlsx", {"s": [["a"]]})
    share_texts(path, "é", 3)
    assert {"a": ["é"] * 3} == read_sheet(path)[0].to_pydict()
    share_texts(path, "x" * 32_000, 3_000)
    with pytest.raises(SampleError, match="absurdly many for the size of the file"):
        read_sheet(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large", bytes(100 << 20))
    with pytest.raises(SampleError, match="the file unpacks to 10"):
        read_sheet(path)


def test_a_missing_openpyxl_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without openpyxl the message says how to install it."""
    path = write_workbook(tmp_path / "a.xlsx", {"s": [HEADER, *ROWS]})
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(Unavailable, match=r"pip install rowkey\[excel\]"):
        read_sheet(path)
