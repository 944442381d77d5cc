"""A MANIFEST from an earlier copy of a table brings no deleted row and no old value back."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import rowkey
from rowkey.table import save_tables

if TYPE_CHECKING:
    from pathlib import Path

DESIGN = rowkey.Design("t", "[id]", fields={"id": "u32", "v": "u32"})


def test_a_stale_manifest_brings_nothing_back(tmp_path: Path) -> None:
    """Rows are saved from the files that an earlier MANIFEST does not know, and it is told."""
    with rowkey.open(DESIGN, f"rocks:{tmp_path / 'place'}") as table:
        store = table.engine.open_table("t")
        for number in range(40):
            table.put({"id": number, "v": 1})
        store.flush()
        (manifest,) = (tmp_path / "place" / "t").glob("MANIFEST-*")
        shutil.copy(manifest, tmp_path / "stale")
        for number in range(20):
            table.put({"id": number, "v": 2})
        for number in range(33, 40):
            table.delete({"id": number})
        store.flush()
        expected = list(table.scan())
        shutil.copytree(tmp_path / "place", tmp_path / "damaged")
    shutil.copy(tmp_path / "stale", tmp_path / "damaged" / "t" / manifest.name)
    (saved,) = save_tables(f"rocks:{tmp_path / 'damaged'}", f"rocks:{tmp_path / 'new'}", ["t"])
    assert any("it is an earlier copy" in note for note in saved.notes)
    with rowkey.open(DESIGN, f"rocks:{tmp_path / 'new'}") as table:
        assert expected == list(table.scan())
