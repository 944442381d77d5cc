"""rocksdict's settings file, which is rewritten at each open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engines.rocks.script import SPEC, Clock, Script, count_writes, list_everything
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb_files.rocksdict_settings import SETTINGS_FILE

if TYPE_CHECKING:
    from rowkey.cells import RowCells

OPERATIONS = 60
State = tuple[list["RowCells"], list[tuple[bytes, int]]]


def write_table(place: Path) -> State:
    """Write rows to files and to the log, and return them."""
    with RocksEngine.open(str(place), clock=Clock()) as engine:
        store = engine.create_table(SPEC)
        for number in range(1, OPERATIONS):
            Script(7).apply(store, number)
        store.flush()
        Script(7).apply(store, OPERATIONS)
        return list_everything(store), count_writes(store)


def read_table(place: Path) -> State:
    """Return the rows of the table."""
    with RocksEngine.open(str(place), clock=Clock()) as engine:
        store = engine.open_table("t")
        return list_everything(store), count_writes(store)


@pytest.mark.parametrize(
    "content",
    [b"", None, b"{", bytes(40), b"\xff\xfe", b"[]", b"7", b"null", b"{}", b'{"raw_mode": false}'],
)
def test_a_table_with_an_empty_or_zeroed_settings_file_opens_complete(
    content: bytes | None, tmp_path: Path
) -> None:
    expected = write_table(tmp_path)
    config = tmp_path / "t" / SETTINGS_FILE
    whole = config.read_bytes()
    for _ in range(2):
        config.unlink()
        if content is not None:
            config.write_bytes(content)
        assert expected == read_table(tmp_path)
        assert whole == config.read_bytes()
