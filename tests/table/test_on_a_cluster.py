"""Recordings have the same rows in the same order on a cluster and on disk."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import rowkey
from rowkey import Design
from rowkey.errors import Unavailable
from rowkey.hbase.connection import PendingCall, ServerConnection
from rowkey.table import create_table, drop_table, load_file
from table.recordings import RECORDINGS, Recording

if TYPE_CHECKING:
    from rowkey.hbase import Deadline
    from rowkey.hbase.wire.frames import Response

COPIES = 3
"""Of the flights of 2013, so that they are a million rows; the number of the copy is in the key."""


def multiply_recording(
    recording: Recording, copies: int, folder: Path
) -> tuple[Path, dict[str, Any]]:
    """Write a recording several times, with a design that distinguishes the copies."""
    rows = parquet.read_table(recording.sample(None, folder))
    numbered = [
        rows.append_column("copy", pa.array([number] * len(rows), pa.uint8()))
        for number in range(copies)
    ]
    parquet.write_table(pa.concat_tables(numbered), folder / "copies.parquet")
    words = dict(recording.words)
    words["key"] = words["key"].replace("][", "][copy][", 1)
    words["fields"] = words["fields"] | {"copy": "u8"}
    return folder / "copies.parquet", words


def load_and_read(place: str, design: Design, sample: Path) -> tuple[pa.Table, list[bytes]]:
    """Load a file on an engine; return all rows and the region starts."""
    with rowkey.open(design, place) as table:
        assert 0 == load_file(table, sample).left_out.count
    with rowkey.open(design.table, place) as table:
        rows = table.scan().to_arrow()
        assert len(rows) == table.count()
        return rows, [region.start for region in table.regions()]


def compare_with_disk(url: str, design: Design, sample: Path, folder: Path) -> int:
    """Load a file on disk and on a cluster, compare all rows, and return them."""
    places = (f"rocks:{folder / 'data'}", url)
    for place in places:
        create_table(design, place).close()
    try:
        read = [load_and_read(place, design, sample) for place in places]
    finally:
        drop_table(design.table, url)
    (expected, cut), (actual, cut_there) = read
    assert expected.equals(actual)
    assert set(cut) <= set(cut_there)
    return len(actual)


@pytest.mark.parametrize("name", ["shipped flights", "apache"])
def test_recorded_rows_have_the_same_order_on_hbase_and_on_disk(
    name: str, hbase_url: str, tmp_path: Path
) -> None:
    sample = RECORDINGS[name].sample(3_000, tmp_path)
    design = Design(f"recorded.{token_hex(4)}", **RECORDINGS[name].words)
    assert compare_with_disk(hbase_url, design, sample, tmp_path) > 1_000


@pytest.mark.parametrize("answer", [b"", b"\x10\x00", b"\x08\xff", b"\x22\x7f\x01", b"\xff" * 60])
def test_a_put_that_is_answered_with_garbage_raises(
    answer: bytes, hbase_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A put of one row or several raises if the servers answer with something else than "done"."""
    fields = {"id": "u64", "note": {"type": "text", "family": "d"}}
    design = Design(f"garbage{token_hex(4)}", key="[id]", fields=fields, families={"d": {}})
    wait_for_answer = ServerConnection.wait_for_answer

    def falsify_answer(self: ServerConnection, call: PendingCall, deadline: Deadline) -> Response:
        response = wait_for_answer(self, call, deadline)
        is_write = call.method in {"Mutate", "Multi"}
        return response._replace(message=answer) if is_write else response

    with create_table(design, hbase_url) as table:
        table.put({"id": 1, "note": "first"})
        with monkeypatch.context() as patch:
            patch.setattr(ServerConnection, "wait_for_answer", falsify_answer)
            with pytest.raises(Unavailable):
                table.put({"id": 2, "note": "second"})
            batch = table.batch()
            batch.put({"id": 3, "note": "third"})
            batch.put({"id": 4, "note": "fourth"})
            with pytest.raises(Unavailable):
                batch.send()
        assert {"id": 1, "note": "first"} == table.get({"id": 1})
    drop_table(design.table, hbase_url)


def test_a_table_without_bucket_counts_is_opened_again(hbase_url: str) -> None:
    """A table without bucket counts in its attributes is opened again."""
    fields = {"id": "u64", "note": {"type": "text", "family": "d"}}
    design = Design(f"plain.{token_hex(4)}", "[id]", fields=fields)
    row = {"id": 7, "note": "here"}
    create_table(design, hbase_url).close()
    for named in (design, design.table):
        with rowkey.open(named, hbase_url) as table:
            table.put(row)
            assert row == table.get(id=7)
    drop_table(design.table, hbase_url)


@pytest.mark.long
def test_a_million_rows_are_the_same_on_hbase_and_on_disk(hbase_url: str, tmp_path: Path) -> None:
    """A million flights are the same on three servers and on disk."""
    sample, words = multiply_recording(RECORDINGS["flights"], COPIES, tmp_path)
    design = Design(f"million.{token_hex(4)}", **words)
    assert compare_with_disk(hbase_url, design, sample, tmp_path) > 1_000_000
