"""A sample of which many rows cannot be read is refused, unless its format allows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rowkey.design import Design
from rowkey.errors import SampleError
from rowkey.workload import open_sample

FIELDS: dict[str, Any] = {"host": "text", "n": "u32"}


def count_rows(path: Path, n_rows: int, n_unreadable: int, **options: Any) -> tuple[int, int]:
    """Return how many rows of a new CSV file are read, and how many are skipped."""
    numbers = ["x" if n < n_unreadable else str(n) for n in range(n_rows)]
    path.write_text("host,n\n" + "".join(f"web,{number}\n" for number in numbers))
    fields = Design("t", "[host][n]", fields=FIELDS).fields
    sample = open_sample(path, fields, None, {"kind": "csv", **options})
    return sum(batch.rows.num_rows for batch in sample.read_events()), sample.skipped_rows.count


@pytest.mark.parametrize(
    ("n_rows", "n_unreadable", "is_refused"),
    [(1_000, 50, False), (1_000, 51, True), (100, 19, False), (100, 20, True), (38, 19, False),
     (37, 19, True)],
)  # fmt: skip
def test_up_to_5_percent_of_the_rows_may_be_skipped(
    tmp_path: Path, n_rows: int, n_unreadable: int, is_refused: bool
) -> None:
    """Up to 5 % of the rows are skipped, or up to half if they are fewer than 20."""
    path = tmp_path / "rows.csv"
    if not is_refused:
        assert (n_rows - n_unreadable, n_unreadable) == count_rows(path, n_rows, n_unreadable)
        return
    with pytest.raises(
        SampleError, match=f"^.*rows.csv: {n_unreadable} of {n_rows:,} rows"
    ) as error:
        count_rows(path, n_rows, n_unreadable)
    allowed = re.search(r"max_skipped = (\S+) in the format", str(error.value))
    assert allowed is not None
    share = float(allowed[1])
    counts = count_rows(path, n_rows, n_unreadable, max_skipped=share)
    assert (n_rows - n_unreadable, n_unreadable) == counts


@pytest.mark.parametrize(
    ("share", "message"),
    [(1.5, "1.5 is not a share; expected a number from 0 to 1"), ("half", "'half' has the type")],
)
def test_an_allowed_share_above_1_is_refused(tmp_path: Path, share: object, message: str) -> None:
    """A share above 1 and a text are refused."""
    with pytest.raises(SampleError, match=f"^sample.format.max_skipped: {message}"):
        count_rows(tmp_path / "rows.csv", 10, 0, max_skipped=share)


def test_a_sample_without_a_readable_row_is_refused(tmp_path: Path) -> None:
    """Even if all rows may be skipped, one must be read."""
    with pytest.raises(SampleError, match="25 of 25 rows cannot be read as events"):
        count_rows(tmp_path / "rows.csv", 25, 25, max_skipped=1.0)


SAME_MISTAKE: dict[str, tuple[str, dict[str, Any], str]] = {
    "a.csv": ("title\nhost,n\nweb-1,1\n\nweb-2,x\n", {"skip_lines": 1}, "line 5"),
    "a.jsonl": ('{"host": "web-1", "n": 1}\n\n{"host": "web-2", "n": "x"}\n', {}, "line 3"),
    "a.log": ("web-1 1\nno\n\nweb-2 x\nweb-3 3\n", {"pattern": "{host:word} {n}"}, "line 4"),
}


@pytest.mark.parametrize("name", SAME_MISTAKE)
def test_a_skipped_row_of_a_text_file_is_named_by_its_line(tmp_path: Path, name: str) -> None:
    """Judging and loading name the same line, counted from 1 with the header and empty lines."""
    text, options, place = SAME_MISTAKE[name]
    (tmp_path / name).write_text(text)
    design = Design("t", "[host]", fields={"host": "text", "n": "u8"})
    kind = {"csv": "csv", "jsonl": "json_lines", "log": "log"}[name.partition(".")[2]]
    sample = open_sample(tmp_path / name, design.fields, None, {"kind": kind, **options})
    sample.can_be_empty = True
    list(sample.read_events())
    assert f"{place}: n is 'x'; expected u8" in "\n".join(sample.skipped_rows.format_problems())
