"""`verify` calls a table sound if, and only if, it can be opened, read and written."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

import rowkey
from ramdisk import RAM_FOLDER
from rowkey.errors import RowkeyError
from rowkey.move import Move
from rowkey.table import verify_tables

DESIGN = rowkey.Design("t", "[id]", fields={"id": "u32"})
OTHER = rowkey.Design("t", "[id]", fields={"id": "u64"})
FILES = (
    "t/descriptor.json",
    "t/high-water",
    "t/CURRENT",
    "t/MANIFEST",
    "t/IDENTITY",
    "t/LOCK",
    "t/LOG",
    "t/OPTIONS",
    "t/rocksdict-config.json",
    "t/log",
    "t/sst",
    ".catalog/t.json",
    ".lock",
)
NOBODY = 65_534


@pytest.fixture(scope="module")
def model() -> Iterator[Path]:
    """Return a closed place with a table of two rows."""
    folder = Path(mkdtemp(dir=RAM_FOLDER))
    with rowkey.open(DESIGN, f"rocks:{folder / 'place'}") as table:
        table.put({"id": 1})
    with rowkey.open(DESIGN, f"rocks:{folder / 'place'}") as table:
        table.put({"id": 2})
    yield folder / "place"
    shutil.rmtree(folder)


@pytest.fixture
def place(model: Path) -> Iterator[Path]:
    """Return a copy of the place that a test may damage."""
    folder = Path(mkdtemp(dir=RAM_FOLDER))
    shutil.copytree(model, folder / "place")
    yield folder / "place"
    shutil.rmtree(folder)


def find_file(place: Path, name: str) -> Path:
    """Return the newest file that a short name stands for."""
    parent, last = (place / name).parent, name.rpartition("/")[2]
    if last in ("log", "sst"):
        return max(parent.glob(f"*.{last}"))
    return max(parent.glob(f"{last}*"))


def can_be_used(place: Path) -> bool:
    """Open a table, read and write it, close it, and return whether all of that worked."""
    try:
        with rowkey.open(DESIGN, f"rocks:{place}", create=False) as table:
            rows = list(table.scan())
            table.put({"id": 3})
    except RowkeyError:
        return False
    return rows == [{"id": 1}, {"id": 2}]


def is_called_sound(place: Path) -> bool:
    """Return whether `verify` finds the only table sound; it raises or reports otherwise."""
    try:
        (examination,) = verify_tables(f"rocks:{place}")
    except RowkeyError:
        return False
    return examination.is_sound


def check_agreement(place: Path) -> bool:
    """Compare what verify says with what opening does, and return whether the table is sound."""
    is_sound = is_called_sound(place)
    assert is_sound == can_be_used(place)
    return is_sound


def put_link(path: Path) -> None:
    """Put a link to a copy in the place of a file."""
    path.rename(path.parent.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent.parent / "elsewhere")


def put_folder(path: Path) -> None:
    """Put a folder in the place of a file."""
    path.unlink()
    path.mkdir()


def put_pipe(path: Path) -> None:
    """Put a pipe in the place of a file."""
    path.unlink()
    os.mkfifo(path)


def put_socket(path: Path) -> None:
    """Put a socket in the place of a file."""
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def put_device(path: Path) -> None:
    """Put a link to a device without an end in the place of a file."""
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [put_link, put_folder, put_pipe, put_socket, put_device])
@pytest.mark.parametrize("name", FILES)
def test_verify_and_open_agree_on_links_and_devices_in_place_of_files(
    place: Path, name: str, put: Callable[[Path], None]
) -> None:
    """A link, folder, pipe, socket or device in place of a file is told, or does no harm."""
    put(find_file(place, name))
    check_agreement(place)


def damage_entry(text: bytes) -> Iterator[bytes]:
    """Yield damaged contents of a catalog entry."""
    yield from (b"", b"{}", b"[]", b"null", b"\0" * len(text), b"\xff" * 9, b"[" * 100_000)
    yield from (text[: len(text) * part // 8] for part in range(1, 8))
    yield from (text + b"x", text.replace(b"checksum", b"checksun"), text.replace(b"u32", b"u64"))
    for part in range(16):
        position = len(text) * part // 16
        yield text[:position] + bytes([text[position] ^ 1]) + text[position + 1 :]


def test_verify_and_open_agree_on_damaged_catalog_entries(place: Path) -> None:
    """A damaged, foreign or lost entry is told by verify if the table cannot be opened."""
    path = place / ".catalog" / "t.json"
    text = path.read_bytes()
    refused = 0
    for content in damage_entry(text):
        path.write_bytes(content)
        is_sound = is_called_sound(place)
        refused += not is_sound
        assert is_sound == can_be_opened(place), content[:80]
    assert refused > 20
    path.unlink()
    assert check_agreement(place)


def can_be_opened(place: Path) -> bool:
    """Return whether a table can be opened and read, without a change to it."""
    try:
        with rowkey.open(DESIGN, f"rocks:{place}", create=False) as table:
            return table.count() == 2
    except RowkeyError:
        return False


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("mode", [0o000, 0o444])
@pytest.mark.parametrize("name", [*FILES, "t", ".catalog"])
def test_verify_and_open_agree_on_file_permissions(place: Path, name: str, mode: int) -> None:
    """A file that this user may not read or write is told if opening needs it."""
    for path in (place.parent, place, *place.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    path = place / name if name in ("t", ".catalog") else find_file(place, name)
    path.chmod(mode | (0o111 if path.is_dir() and mode else 0))
    os.seteuid(NOBODY)
    try:
        check_agreement(place)
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("name", ["999999.sst", "000001.log.bak", "notes.txt", "folder"])
def test_verify_and_open_agree_on_foreign_files(place: Path, name: str) -> None:
    """Files of others in the table's folder are told if they keep the table from opening."""
    if name == "folder":
        (place / "t" / name).mkdir()
    else:
        (place / "t" / name).write_bytes(b"mine")
    check_agreement(place)


def test_verify_names_damaged_catalog_notes_and_calls_the_table_sound(place: Path) -> None:
    """Damaged notes in the catalog are named, and the table that can be used is sound."""
    notes = place / ".catalog" / "t.notes"
    notes.write_bytes(b"garbage")
    (found,) = verify_tables(f"rocks:{place}")
    assert can_be_used(place)
    assert found.is_sound
    assert [True] == [note.startswith(f"{notes}: ") for note in found.notes]


@pytest.mark.parametrize("is_switched", [False, True])
def test_verify_calls_a_table_sound_while_its_rows_are_moved(
    place: Path, *, is_switched: bool
) -> None:
    """Both tables of a move are sound, before and after the cutover, unless one is missing."""
    url = f"rocks:{place}"
    moved = rowkey.Design("t", "[bucket(id, 4)][id]", fields={"id": "u32"})
    with Move("t", url) as move:
        assert move.run(moved).has_passed
        if is_switched:
            move.cut_over()
    assert {"t": True, "t_2": True} == {one.table: one.is_sound for one in verify_tables(url)}
    with rowkey.open("t", url) as table:
        assert 2 == table.count()
    shutil.rmtree(place / "t_2")
    assert not {one.table: one.is_sound for one in verify_tables(url)}["t"]
