"""The progress of a copy covers all row keys exactly, whatever happens to regions."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.catalog import open_catalog
from rowkey.errors import CorruptionError
from rowkey.move import CopyInterval, CopyProgress, load_progress, save_progress
from rowkey.move.copy_progress import MAX_INTERVALS, PROGRESS_NOTE


@given(
    starts=st.lists(st.binary(max_size=4), max_size=600),
    since=st.none() | st.integers(0, 9),
    last=st.binary(max_size=4),
)
def test_intervals_of_a_copy_cover_all_keys_without_gap(
    starts: list[bytes], since: int | None, last: bytes
) -> None:
    """Each interval begins where the one before ends, and a stored progress reads back."""
    progress = CopyProgress.start("t", starts, since, last)
    assert len(progress.intervals) <= MAX_INTERVALS
    assert b"" == progress.intervals[0].start == progress.intervals[-1].stop
    assert all(one.stop == other.start for one, other in pairwise(progress.intervals))
    assert not progress.is_complete
    assert progress == CopyProgress.from_json(progress.to_json())


def build_progress() -> CopyProgress:
    """Return a progress of three intervals, one of them copied."""
    progress = CopyProgress.start("t", [b"", b"f", b"m"])
    done = CopyInterval(b"f", b"m", b"f", is_done=True, row_count=7)
    return progress.replace_interval(1, done)


@pytest.mark.parametrize(
    ("index", "field", "value", "reason"),
    [
        (0, "stop", "65", "does not begin where that one ends"),
        (1, "start", "6e", "is empty"),
        (2, "position", "61", "is outside of its interval"),
        (2, "stop", "7a", "the first or the last row keys"),
        (0, "start", "61", "is outside of its interval"),
        (1, "done", 1, "must be a truth value"),
        (1, "start", 5, "has another type"),
        (1, "start", "x", "non-hexadecimal"),
    ],
)
def test_a_stored_copy_progress_with_a_gap_or_overlap_is_refused(
    index: int, field: str, value: object, reason: str
) -> None:
    """A gap, an overlap or a wrong type is found when the progress is loaded."""
    document = json.loads(build_progress().to_json())
    document["intervals"][index][field] = value
    catalog = open_catalog("memory:")
    catalog.write_note("source", PROGRESS_NOTE, json.dumps(document))
    with pytest.raises(CorruptionError, match=reason):
        load_progress(catalog, "source")


def test_the_progress_of_a_copy_is_stored_read_and_removed() -> None:
    """The note is written, read and removed."""
    catalog = open_catalog("memory:")
    assert load_progress(catalog, "source") is None
    save_progress(catalog, "source", build_progress())
    found = load_progress(catalog, "source")
    assert build_progress() == found
    assert found is not None
    assert 7 == found.row_count
    save_progress(catalog, "source", None)
    assert load_progress(catalog, "source") is None
