"""Folders of tables that were exchanged or copied over each other are told by the tables' ids."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rowkey import Design, open  # noqa: A004 - the package's own name for it
from rowkey.errors import CorruptionError
from rowkey.table import repair_catalog, verify_tables

FIELDS = {"id": "u64", "value": "text"}


def create_tables(folder: Path) -> str:
    """Create two tables of one design with a row each, and return the URL."""
    url = f"rocks:{folder}"
    for name in ("left", "right"):
        with open(Design(name, "[id]", fields=FIELDS), url, create=True) as table:
            table.put({"id": 1, "value": name})
    return url


@pytest.mark.parametrize("by_name", [True, False])
def test_tables_with_exchanged_folders_are_refused(tmp_path: Path, by_name: bool) -> None:
    """No table is opened with another's rows; put back, both have their own again."""
    url = create_tables(tmp_path)
    (tmp_path / "left").rename(tmp_path / ".aside")
    (tmp_path / "right").rename(tmp_path / "left")
    (tmp_path / ".aside").rename(tmp_path / "right")
    for name in ("left", "right"):
        wanted = name if by_name else Design(name, "[id]", fields=FIELDS)
        with pytest.raises(CorruptionError, match=f"the files of the table {name} are those of"):
            open(wanted, url, create=False)
    assert [False, False] == [one.is_sound for one in verify_tables(url)]
    (tmp_path / "right").rename(tmp_path / ".aside")
    (tmp_path / "left").rename(tmp_path / "right")
    (tmp_path / ".aside").rename(tmp_path / "left")
    with open("left", url, create=False) as table:
        assert {"id": 1, "value": "left"} == table.get(id=1)


def test_a_table_whose_folder_is_a_copy_of_another_is_refused(tmp_path: Path) -> None:
    """A table whose folder is a copy of another's is refused, and the other one is not."""
    url = create_tables(tmp_path)
    shutil.rmtree(tmp_path / "right")
    shutil.copytree(tmp_path / "left", tmp_path / "right")
    with pytest.raises(CorruptionError, match="the files of the table right are those of"):
        open("right", url, create=False)
    with open("left", url, create=False) as table:
        assert {"id": 1, "value": "left"} == table.get(id=1)


def test_a_catalog_repair_adopts_the_files_that_are_there(tmp_path: Path) -> None:
    """A repair of the catalog makes the entry that of the files which are there, if asked to."""
    url = create_tables(tmp_path)
    shutil.rmtree(tmp_path / "right")
    shutil.copytree(tmp_path / "left", tmp_path / "right")
    found = repair_catalog(Design("right", "[id]", fields=FIELDS), url)
    assert found is not None
    assert (True, False) == ("are those of another table" in str(found), found.is_repaired)
    repaired = repair_catalog(Design("right", "[id]", fields=FIELDS), url, apply=True)
    assert repaired is not None
    assert repaired.is_repaired
    with open("right", url, create=False) as table:
        assert {"id": 1, "value": "left"} == table.get(id=1)
