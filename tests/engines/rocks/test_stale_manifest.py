"""A MANIFEST from an earlier copy of a table brings no deleted row and no old value back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.errors import CorruptionError
from rowkey.table import repair_tables, save_tables, verify_tables

DESIGN = rowkey.Design("t", "[id]", fields={"id": "u32", "v": "u32"})


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return an empty folder in memory."""
    folder = Path(mkdtemp(dir=RAM_FOLDER))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("has_files", [True, False], ids=["with files", "without files"])
@pytest.mark.parametrize("has_log", [True, False], ids=["with a log", "without a log"])
@pytest.mark.parametrize("has_mark", [True, False], ids=["with mark", "without mark"])
def test_a_table_with_a_stale_manifest_is_refused_and_only_saved_elsewhere(
    folder: Path, *, has_files: bool, has_log: bool, has_mark: bool
) -> None:
    """A table whose MANIFEST is an earlier copy is not opened or repaired, only saved elsewhere."""
    with rowkey.open(DESIGN, f"rocks:{folder / 'place'}") as table:
        store = table.engine.open_table("t")
        if has_files:
            for number in range(40):
                table.put({"id": number, "v": 1})
            store.flush()
        (manifest,) = (folder / "place" / "t").glob("MANIFEST-*")
        shutil.copy(manifest, folder / "stale")
        for number in range(20):
            table.put({"id": number, "v": 2})
        for number in range(10, 40):
            table.delete({"id": number})
        store.flush()
        if has_log:
            table.put({"id": 100, "v": 3})
        expected = list(table.scan())
        shutil.copytree(folder / "place", folder / "damaged")
    url, damaged = f"rocks:{folder / 'damaged'}", folder / "damaged" / "t"
    shutil.copy(folder / "stale", damaged / manifest.name)
    if not has_mark:
        (damaged / "high-water").unlink()
    what = f"{damaged / manifest.name}: the MANIFEST is an earlier copy"
    (found,) = verify_tables(url)
    assert str(found.problems[0]).startswith(what)
    for use in (lambda: rowkey.open(DESIGN, url), lambda: list(repair_tables(url, ["t"]))):
        with pytest.raises(CorruptionError, match="the MANIFEST is an earlier copy"):
            use()
    (saved,) = save_tables(url, f"rocks:{folder / 'new'}", ["t"])
    assert any("is an earlier copy" in note for note in saved.notes)
    with rowkey.open(DESIGN, f"rocks:{folder / 'new'}") as table:
        assert expected == list(table.scan())


def test_a_complete_backup_copied_over_a_newer_table_opens_with_the_rows_of_the_backup(
    folder: Path,
) -> None:
    """A whole table that was copied back over its newer files has the rows of the backup."""
    url = f"rocks:{folder / 'place'}"
    with rowkey.open(DESIGN, url) as table:
        table.put({"id": 1, "v": 1})
        table.engine.open_table("t").flush()
    shutil.copytree(folder / "place", folder / "backup")
    with rowkey.open(DESIGN, url) as table:
        table.put({"id": 1, "v": 2})
        table.engine.open_table("t").flush()
    for log in (folder / "place" / "t").glob("*.log"):
        log.unlink()
    shutil.copytree(folder / "backup", folder / "place", dirs_exist_ok=True)
    with rowkey.open(DESIGN, url) as table:
        assert [{"id": 1, "v": 1}] == list(table.scan())


def test_an_incomplete_backup_copied_over_a_newer_table_is_refused(folder: Path) -> None:
    """A MANIFEST and a high-water mark of a backup, without its other files, are earlier copies."""
    url, place = f"rocks:{folder / 'place'}", folder / "place" / "t"
    with rowkey.open(DESIGN, url) as table:
        for number in range(20):
            table.put({"id": number, "v": 1})
            if number % 10 == 0:
                table.engine.open_table("t").flush()
    backup = {path.name: path.read_bytes() for path in place.iterdir() if path.suffix != ".sst"}
    with rowkey.open(DESIGN, url) as table:
        table.delete({"id": 3})
        table.put({"id": 4, "v": 2})
        table.engine.open_table("t").compact()
        expected = list(table.scan())
    (place / (place / "CURRENT").read_text().strip()).unlink()
    for name in ("CURRENT", backup["CURRENT"].decode().strip(), "high-water"):
        (place / name).write_bytes(backup[name])
    (found,) = verify_tables(url)
    assert any("the MANIFEST is an earlier copy" in str(one) for one in found.problems)
    (saved,) = save_tables(url, f"rocks:{folder / 'new'}", ["t"])
    assert any("is an earlier copy" in note for note in saved.notes)
    with rowkey.open(DESIGN, f"rocks:{folder / 'new'}") as table:
        assert expected == list(table.scan())
