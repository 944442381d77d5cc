"""The format of a file that is given in place of the declared sample."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from rowkey.advise import draft_design
from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.simulate import run
from rowkey.workload.formats import FORMATS

DECLARED_FORMATS = {
    "log": {"kind": "log", "pattern": "{host};{ts}"},
    "csv": {"kind": "csv", "delimiter": ";"},
}


@pytest.mark.parametrize(
    ("declared", "path", "name", "given", "is_read"),
    [
        ("csv", "a.csv", "b.csv", None, True),
        ("csv", "a.csv", "b.csv.gz", None, True),
        ("csv", "a.csv", "b.tsv", None, True),
        ("csv", "a.csv", "b.data", None, True),
        ("csv", "a.csv", "b.log", None, False),
        ("csv", "a.log", "b.log", None, True),
        ("csv", "a.csv", "b.csv", {"kind": "csv", "delimiter": "|"}, False),
        ("csv", "a.csv", "b.csv", {"kind": "csv", "delimiter": ";"}, True),
        ("log", "a.log", "b.log", None, True),
        ("log", "a.log", "b.csv", None, True),
        ("log", "a.log", "b.csv", {"kind": "csv"}, False),
    ],
)
def test_the_declared_format_is_used_for_another_file(
    tmp_path: Path, declared: str, path: str, name: str, given: Any, *, is_read: bool
) -> None:
    """The declared format is used unless the file's ending or an option gives another."""
    fields = {"host": {"type": "text", "max_bytes": 9}, "ts": "timestamp_s"}
    text = "".join(f"h{n};{1_700_000_000 + n}\n" for n in range(50)).encode()
    data = text if declared == "log" else b"host;ts\n" + text
    other = tmp_path / name
    other.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    sample = {"path": path, "format": DECLARED_FORMATS[declared]}
    design = Design("t", "[host][ts]", fields=fields, sample=sample)
    if is_read:
        assert 50 == run(design, other, format_options=given).operation_count
    else:
        with pytest.raises(SampleError):
            run(design, other, format_options=given)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "host;ts;n\n" + "web-1;03.11.2025 12:00;1,5\nweb-2;23.11.2025 12:01;2,5\n" * 60),
        ("a.jsonl", '{"host": {"name": "web-1"}, "ts": 1700000000.5}\n' * 60),
        ("a.log", '10.0.0.1 - - [03/Nov/2025:12:00:01 +0000] "GET / HTTP/1.1" 200 5\n' * 60),
    ],
)
def test_a_draft_reads_its_file_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    """Also where layouts of times and numbers, a delimiter or a pattern are found in it."""
    path = tmp_path / name
    path.write_text(text)
    passes: list[str] = []
    for kind in FORMATS.values():

        def read_batches(self: Any, *given: Any, read: Any = kind.read_batches) -> Any:
            """Note that the rows are read."""
            passes.append(self.name)
            return read(self, *given)

        monkeypatch.setattr(kind, "read_batches", read_batches)
    draft = draft_design(path)
    assert 1 == len(passes)
    assert "times" in draft.text or "pattern" in draft.text
