import os
from pathlib import Path

import pytest

import rowkey
from rowkey.simulate import run
from rowkey.table import load_file
from table.recordings import RECORDINGS, SHARED

MAX_ROWS = None if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 500
"""Rows of each file that are loaded; all of them in `make test-long`."""
LARGE = ("cdnow", "flights")
"""Recordings that take long to open, and whose keys have parts of other recordings."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LARGE else ())
        for name in sorted(RECORDINGS)
    ],
)
def test_recorded_rows_are_in_the_regions_that_simulate_predicts(name: str, tmp_path: Path) -> None:
    """Each row of a real recording is in the region that simulate predicts."""
    recording = RECORDINGS[name]
    sample = recording.sample(MAX_ROWS, tmp_path)
    design = recording.design(sample)
    assert recording.columns == len(design.fields)
    predicted = run(design, sample)
    with rowkey.open(design, f"rocks:{tmp_path / 'data'}") as table:
        loaded = load_file(table, sample)
        counted = [region.writes for region in table.regions()]
        rows = table.count()
    assert len(counted) > 1
    assert 0 == loaded.left_out.count
    assert loaded.row_count == predicted.operation_count == sum(counted)
    assert [region.writes for region in predicted.regions] == counted
    assert predicted.is_overwrite_exact
    assert rows == predicted.operation_count - predicted.overwrite_count


@pytest.mark.skipif(not SHARED.exists(), reason="NOT LOADED: shared/data is not beside rowkey")
def test_every_recording_is_loaded_by_these_tests() -> None:
    """Each file of recordings, or a copy of the file, is loaded by these tests."""
    loaded = {recording.path.name.replace("apache_access.", "apache_access_10k.")
              for recording in RECORDINGS.values()}  # fmt: skip
    kinds = (".zip", ".gz")
    there = {path.name for path in SHARED.rglob("*") if path.suffix in kinds}
    assert {name for name in there if not name.startswith("LICENSE")} <= loaded
