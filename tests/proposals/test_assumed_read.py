"""The read by which keys are compared where a design declares none."""

from __future__ import annotations

from typing import Any

import pytest

from rowkey.design import Design
from rowkey.proposals import assume_read

FIELDS = {"user": "text", "at": "timestamp_s", "day": "date", "n": "u32"}
WRITES = {"time": "at"}


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("[bucket(user, 16)][user][at]", ("user = ?", "at desc")),
        ("[at][user][n]", ("user = ?", "at desc")),
        ("[digest(user, 4)][user]", ("user = ?", "")),
        ("[n][user]", ("n = ?", "")),
        ("[day][at]", None),
    ],
)
def test_the_assumed_read_asks_for_the_latest_rows_of_the_first_non_time_field(
    key: str, read: tuple[str, str] | None
) -> None:
    """The first field that is no time is the entity; a key of times alone has none."""
    reads = assume_read(Design("log", key, fields=FIELDS, writes=WRITES)).declaration.reads
    assert ([] if read is None else [read]) == [(one.where, one.order) for one in reads]


def test_no_read_is_assumed_for_a_design_that_declares_one() -> None:
    """A design with a read is returned as it is."""
    reads: list[dict[str, Any]] = [{"name": "a day", "where": "at >= ? and at < ?", "span": "1d"}]
    design = Design("log", "[user][at]", fields=FIELDS, writes=WRITES, reads=reads)
    assert design is assume_read(design)
