"""The format of a file that is given in place of the declared sample."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.simulate import run

if TYPE_CHECKING:
    from pathlib import Path

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
def test_a_declared_format_holds_for_another_file(
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
