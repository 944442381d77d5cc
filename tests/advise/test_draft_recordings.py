"""Drafts of real recordings: shipped ones, those of the tests, and larger ones."""

from __future__ import annotations

import gzip
import os
import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rowkey.advise import draft_design
from rowkey.design import Design
from rowkey.lint import check_design
from rowkey.workload import open_sample
from samples import summarize_sample
from table.recordings import SHARED

ROOT = Path(__file__).parents[2]
EXAMPLES = Path(str(files("rowkey") / "examples"))


@dataclass(frozen=True)
class Recording:
    """A recording and the key and types that its draft must have.

    Args:
        path: the file.
        key: the fields of the key, in order, after the bucket.
        types: the types of some fields.
        format: how it is read, if its name does not tell.
    """

    path: Path
    key: tuple[str, ...]
    types: dict[str, str]
    format: dict[str, Any] | None = None

    def find_sample(self, folder: Path) -> Path:
        """Return the recording, or the first lines of one of text; skip the test if it is missing.

        Args:
            folder: where the first lines are written.
        """
        if not self.path.exists():
            pytest.skip(f"NOT LOADED: {self.path.name}, to be drafted, is not beside rowkey")
        if MAX_LINES is None:
            return self.path
        sample = folder / self.path.name
        with gzip.open(self.path) as whole, gzip.open(sample, "w", 1) as part:
            part.writelines(islice(whole, MAX_LINES))
        return sample


RECORDINGS = [
    Recording(
        EXAMPLES / "flights.parquet",
        ("tailnum", "time_hour", "flight", "dest"),
        {"time_hour": "timestamp_ms", "carrier": "choice", "flight": "u32", "tailnum": "text"},
    ),
    Recording(
        EXAMPLES / "apache_access.log.gz",
        ("client", "time", "path", "status"),
        {"time": "timestamp_s", "status": "u16", "method": "choice", "bytes": "u64"},
        {"kind": "log", "pattern": "apache"},
    ),
    Recording(
        ROOT / "tests" / "data" / "CDNOW_master.txt.gz",
        ("customer_id", "date"),
        {
            "customer_id": "digits",
            "date": "date",
            "number_of_cds": "u32",
            "dollar_value": "decimal",
        },
    ),
    Recording(
        ROOT / "tests" / "data" / "nab_real_streams.csv.gz",
        ("sensor", "timestamp"),
        {"timestamp": "timestamp_s", "group": "choice", "sensor": "text", "value": "float64"},
    ),
    Recording(
        SHARED / "flights_nyc13" / "flights.csv.zip",
        ("flight", "time_hour", "carrier"),
        {"time_hour": "timestamp_s", "dep_delay": "i32", "tailnum": "text", "month": "u8"},
    ),
    Recording(
        SHARED / "flights_nyc13" / "weather.csv.gz",
        ("origin", "time_hour"),
        {"time_hour": "timestamp_s", "temp": "float64", "wind_dir": "u32"},
    ),
]
MAX_LINES = None if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 8_000
"""Lines of a recording of text that are drafted in a quick run."""
QUICK_RECORDINGS = {"CDNOW_master.txt.gz"}
"""A recording of a table of text whose rows repeat; other tests draft the shipped ones."""


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(
            one,
            id=one.path.name,
            marks=[pytest.mark.long] * (one.path.name not in QUICK_RECORDINGS),
        )
        for one in RECORDINGS
    ],
)
def test_the_draft_of_each_recording_has_the_right_types_and_key(
    recording: Recording, tmp_path: Path
) -> None:
    """The draft of a recording has the right types and key, no warning, and no hot verdict."""
    sample = recording.find_sample(tmp_path)
    draft = draft_design(sample, format_options=recording.format, folder=sample.parent)
    design = Design.loads(draft.text, directory=sample.parent)
    types = {name: design.fields[name].type.name for name in recording.types}
    assert recording.types == types
    key = list(dict.fromkeys(name for part in design.key.parts[1:] for name in part.fields))
    assert recording.key == tuple(key)
    assert design.sample_path == sample
    assert not draft.simulation.verdict.is_hot
    seen = summarize_sample(design, sample, design.sample_format)
    assert [] == [str(one) for one in check_design(design, seen).filter_by_severity("warning")]
    assert 0 == seen.skipped_rows.count
    assert seen.repeat_count is not None
    lost = seen.repeat_count and seen.repeat_count - count_copies(design, sample)
    told = re.findall("# ([0-9,]+) rows? of the sample differ", draft.text)
    assert [lost] * (lost > 0) == [int(one.replace(",", "")) for one in told]


def count_copies(design: Design, path: Path) -> int:
    """Return how many rows of a file equal an earlier row in every field."""
    sample = open_sample(path, design.fields, None, design.sample_format)
    rows = pa.Table.from_batches([events.rows for events in sample.read_events()])
    return int(rows.num_rows - rows.group_by(rows.column_names).aggregate([]).num_rows)
