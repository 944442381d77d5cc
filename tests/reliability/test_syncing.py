"""Files are synced before their names, and names before a call returns."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import pytest

from reliability.record import record
from reliability.shim import build_shim, run_with_shim

SyncNotes = list[tuple[str, PurePath]]

TEMPORARY_FILES = ("LOG", "LOCK", ".lock", "catalog.lock", "rocksdict-config.json", "high-water")
"""Files that are made again, or are not needed, where they are lost."""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SyncNotes]:
    """The files that each step created, renamed and synced, in this order."""
    folder = tmp_path_factory.mktemp("synced")
    place = folder / "place"
    place.mkdir()
    module = Path(__file__).with_name("syncing.py")
    found: dict[str, SyncNotes] = {}
    for line in run_with_shim(build_shim(folder), module, str(place)):
        told = json.loads(line)
        found[told["step"]] = [(what, PurePath(path)) for what, path in told["noted"]]
    return found


def test_a_file_is_synced_before_it_replaces_another(steps: dict[str, SyncNotes]) -> None:
    """No file takes the place of another before its own content is on disk."""
    renamed = 0
    for noted in steps.values():
        for index, (what, path) in enumerate(noted):
            if what != "rename" or path.name.startswith(("LOG", ".dropped-")):
                continue
            before = noted[:index]
            created = max(n for n, (done, _) in enumerate(before) if done == "create")
            assert ("sync", before[created][1]) in before[created:], path
            renamed += 1
    assert renamed >= 10


def test_a_directory_is_synced_after_the_last_file_created_in_it(
    steps: dict[str, SyncNotes],
) -> None:
    """A directory is on disk after the last file that was created in it or renamed into it."""
    for name, noted in steps.items():
        for index, (what, path) in enumerate(noted):
            is_temporary = path.suffix in (".new", ".dbtmp")
            if what == "sync" or is_temporary or path.name.startswith(TEMPORARY_FILES):
                continue
            assert ("sync", path.parent) in noted[index:], (name, path)


def test_a_flush_syncs_a_file_before_the_manifest_names_it(steps: dict[str, SyncNotes]) -> None:
    """The MANIFEST names a new file, so the file and its name come to disk first."""
    noted = steps["flush"]
    for index, (what, path) in enumerate(noted):
        if what == "create" and path.suffix == ".sst":
            then = [one[1] for one in noted[index:] if one[0] == "sync"]
            manifest = next(n for n, one in enumerate(then) if one.name.startswith("MANIFEST"))
            assert {path, path.parent} <= set(then[:manifest])


def test_only_a_put_with_sync_syncs_the_log(steps: dict[str, SyncNotes]) -> None:
    """A put writes nothing to disk, and one with `sync` syncs the log."""
    assert [] == steps["put"]
    assert any(what == "sync" and path.suffix == ".log" for what, path in steps["put with sync"])


def test_current_is_renamed_after_its_manifest_was_synced(steps: dict[str, SyncNotes]) -> None:
    """CURRENT is renamed after the MANIFEST that it names was synced."""
    noted = steps["create"]
    written = [n for n, (what, path) in enumerate(noted) if path.name == "CURRENT"]
    assert written
    for index in written:
        made = max(
            n
            for n, (what, path) in enumerate(noted[:index])
            if what == "create" and path.name.startswith("MANIFEST")
        )
        assert ("sync", noted[made][1]) in noted[made:index]


@pytest.mark.long
def test_the_synced_files_of_each_step_are_recorded_for_the_page(
    steps: dict[str, SyncNotes],
) -> None:
    """The synced files of each step are recorded for the page on reliability."""
    told = {
        name: [f"{what} {path.name or 'place'}" for what, path in one]
        for name, one in steps.items()
    }
    record("synced", told)
    assert {"create", "put", "put with sync", "flush", "catalog", "note", "drop"} == told.keys()
