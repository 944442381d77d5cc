"""Lost tables, catalogs and descriptors are reported and never replaced or removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import rowkey
from cli.command import run, run_in_process
from ramdisk import RAM_FOLDER
from rowkey.design import Design
from rowkey.engines.rocksdb_files.descriptor import DESCRIPTOR_FILE
from rowkey.errors import CorruptionError, InvalidArgument, RowkeyError, Unavailable
from rowkey.table import create_table, drop_table

URL = "rocks:data"
PLACE_OPTION = ("--on", URL)
DESIGN = """\
table = "logs"
key   = "[bucket(host, 4)][host][ts]"

[fields]
host = { type = "text", max_bytes = 20 }
ts   = "timestamp_ms"
"""
ROWS = [{"host": f"h{number % 5}", "ts": number} for number in range(20)]


@pytest.fixture(scope="module")
def source() -> Iterator[Path]:
    """Return a folder with a design and a closed table of 20 rows."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        (Path(folder) / "logs.toml").write_text(DESIGN)
        with rowkey.open(Design.loads(DESIGN), f"rocks:{folder}/data") as table:
            for row in ROWS:
                table.put(row)
        yield Path(folder)


@pytest.fixture
def table(source: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the directory of the table in a copy, which is the current folder."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        monkeypatch.chdir(folder)
        yield Path(folder) / "data" / "logs"
        monkeypatch.undo()


def all_files() -> dict[str, bytes]:
    """Return the content of all files of the place except the lock."""
    found = {str(path): path for path in Path("data").rglob("*") if path.name != ".lock"}
    return {name: path.read_bytes() if path.is_file() else b"" for name, path in found.items()}


def count_rows() -> int:
    """Return how many rows the table has."""
    done = run("count", "logs", *PLACE_OPTION)
    assert 0 == done.code, done.err
    return int(done.out)


def open_design() -> None:
    """Open the table of the design, which creates an unknown table."""
    rowkey.open(Design.loads(DESIGN), URL).close()


OPENINGS: dict[str, Callable[[], object]] = {
    "by design": open_design,
    "by name": lambda: rowkey.open("logs", URL),
    "make nothing": lambda: rowkey.open(Design.loads(DESIGN), URL, create=False),
    "create": lambda: create_table(Design.loads(DESIGN), URL),
}
DROPS: tuple[Callable[[], object], ...] = (
    lambda: drop_table("logs", URL),
    lambda: drop_table(Design.loads(DESIGN), URL),
)
COMMANDS = ("count logs", "count logs.toml", "scan logs", "create logs.toml", "put logs.toml")


@pytest.mark.parametrize("others", [False, True], ids=["alone", "next to another table"])
def test_a_table_whose_directory_is_lost_is_neither_opened_nor_created(
    table: Path, *, others: bool
) -> None:
    """Opening or creating a table whose directory is lost raises an error."""
    if others:
        other = Design.loads(DESIGN.replace('"logs"', '"others"'))
        rowkey.open(other, URL).close()
    shutil.rmtree(table)
    before = all_files()
    for use in OPENINGS.values():
        with pytest.raises(CorruptionError, match=r"the table logs \(created .*\) is missing, but"):
            use()
        assert before == all_files()
    for words in COMMANDS:
        done = run(*words.split(), *PLACE_OPTION, stdin='{"host": "a", "ts": 1}')
        assert (4, "") == (done.code, done.out), words
        assert "if it was dropped, remove its catalog entry: rowkey repair " in done.err
        assert before == all_files()
    with pytest.raises(InvalidArgument, match="there is no table logs"):
        drop_table("logs", URL)
    assert before == all_files()


def test_a_restored_directory_is_opened_after_earlier_refusals(table: Path) -> None:
    table.rename("away")
    for use in OPENINGS.values():
        with pytest.raises(CorruptionError):
            use()
    Path("away").rename(table)
    assert len(ROWS) == count_rows()


def test_a_lost_table_is_removed_from_the_catalog_by_the_suggested_command(table: Path) -> None:
    """The suggested command removes the lost table's entry, and it can be created."""
    shutil.rmtree(table)
    asked = run("repair", "--on", URL, "logs.toml")
    assert asked.code != 0
    with pytest.raises(CorruptionError):
        open_design()
    done = run("repair", "--on", URL, "logs.toml", "--yes")
    assert (1, "logs: the entry was removed") == (done.code, done.out.splitlines()[-1])
    open_design()
    assert 0 == count_rows()


def test_a_table_of_one_bucket_count_is_opened_without_its_catalog(table: Path) -> None:
    """Without its catalog a table with one bucket count is still opened, also by name."""
    del table
    shutil.rmtree("data/.catalog")
    assert len(ROWS) == count_rows()
    shutil.rmtree("data/.catalog")
    with rowkey.open(Design.loads(DESIGN), URL) as found:
        assert ROWS == sorted(found.scan(), key=lambda row: row["ts"])
    assert ["logs.json"] == [path.name for path in Path("data/.catalog").glob("*.json")]


def test_a_table_of_several_bucket_counts_is_refused_without_its_catalog(table: Path) -> None:
    """Without its catalog a table with several bucket counts is refused and unchanged."""
    del table
    done = run("buckets", "set", "logs", "8", *PLACE_OPTION)
    assert 0 == done.code, done.err
    saved = shutil.copytree("data/.catalog", "saved")
    shutil.rmtree("data/.catalog")
    for name, use in OPENINGS.items():
        expected = InvalidArgument if name == "create" else Unavailable
        with pytest.raises(expected):
            use()
    assert 4 == run("count", "logs", *PLACE_OPTION).code
    assert [] == list(Path("data/.catalog").glob("*.json"))
    shutil.copytree(saved, "data/.catalog", dirs_exist_ok=True)
    assert len(ROWS) == count_rows()


FOREIGN = [
    "notes.txt",
    "descriptor.json.bak",
    "folder/file",
]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_table_with_a_foreign_file_is_not_dropped(table: Path, name: str) -> None:
    """A drop of a table with a foreign file names the file and removes nothing."""
    (table / name).parent.mkdir(exist_ok=True)
    (table / name).write_text("mine")
    first = name.split("/", maxsplit=1)[0]
    with pytest.raises(Unavailable, match=f"rowkey did not write these files .*: {first}"):
        drop_table("logs", URL)
    done = run("drop", "logs", "--yes", "logs", *PLACE_OPTION)
    assert 4 == done.code
    assert f"rowkey did not write these files in the table's directory: {first}" in done.err
    assert "mine" == (table / name).read_text()
    assert len(ROWS) == count_rows()


def test_a_link_in_place_of_a_table_directory_is_refused_and_kept(table: Path) -> None:
    """A link in place of a table directory is refused and left alone."""
    target = table.rename(Path("mine").resolve())
    table.symlink_to(target)
    before = sorted(path.name for path in target.iterdir())
    for use in (*OPENINGS.values(), *DROPS):
        with pytest.raises(RowkeyError):
            use()
    assert before == sorted(path.name for path in target.iterdir())
    assert table.is_symlink()


def _remove(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "has_catalog"), [(_remove, True), (_flip, True), (_remove, False), (_empty, False)]
)
def test_a_table_without_its_descriptor_is_refused_until_repaired(
    table: Path, spoil: Callable[[Path], None], *, has_catalog: bool
) -> None:
    """A table without a descriptor is refused unchanged, and a repair restores it."""
    spoil(table / DESCRIPTOR_FILE)
    if not has_catalog:
        shutil.rmtree("data/.catalog")
    before = {name: data for name, data in all_files().items() if "/logs" in name}
    for use in (*OPENINGS.values(), *DROPS):
        with pytest.raises(CorruptionError, match="the descriptor of the table is"):
            use()
        assert before.items() <= all_files().items()
    for words in (*COMMANDS, "drop logs --yes logs", "drop logs.toml --yes logs"):
        done = run(*words.split(), *PLACE_OPTION, stdin='{"host": "a", "ts": 1}')
        assert (4, "") == (done.code, done.out), words
        assert before.items() <= all_files().items()
    assert 1 == run("repair", "--on", URL, "--yes").code
    assert len(ROWS) == count_rows()


def test_a_foreign_folder_with_the_name_of_a_table_is_not_removed(table: Path) -> None:
    """A foreign folder with a table's name is neither used nor removed."""
    shutil.rmtree(table.parent)
    table.mkdir(parents=True)
    (table / "20240101.log").write_text("mine")
    (table / "CURRENT").write_text("my current work")
    with pytest.raises(Unavailable, match=r"new table has other files: 20240101\.log, CURRENT"):
        open_design()
    assert 4 == run("create", "logs.toml", *PLACE_OPTION).code
    with pytest.raises(InvalidArgument, match="there is no table logs"):
        drop_table("logs", URL)
    assert ["20240101.log", "CURRENT"] == sorted(path.name for path in table.iterdir())
    assert [] == list(Path("data/.catalog").glob("*.json"))


def test_verify_and_repair_report_a_table_without_its_directory(table: Path) -> None:
    """A table in the catalog without a directory is reported as damage."""
    shutil.rmtree(table)
    for words, code in (
        (("verify", *PLACE_OPTION), 3),
        (("verify", "logs", *PLACE_OPTION), 3),
        (("repair", "--on", URL), 4),
        (("repair", "--on", URL, "--into", "rocks:saved"), 4),
    ):
        done = run(*words)
        assert code == done.code, words
        assert "the table logs (created " in done.out
    assert not Path("saved").exists()


def test_repair_into_a_new_directory_saves_all_tables_if_one_is_damaged(table: Path) -> None:
    """A repair into a new place saves all tables if one is damaged."""
    other = Design.loads(DESIGN.replace('"logs"', '"other"'))
    with rowkey.open(other, URL) as opened:
        opened.put(ROWS[0])
    file = max(table.glob("*.sst"), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:-1])
    assert 1 == run("repair", "--on", URL, "--into", "rocks:saved").code
    with rowkey.open("other", "rocks:saved", create=False) as saved:
        assert [ROWS[0]] == list(saved.scan())


def test_repair_into_a_new_directory_saves_nothing_if_nothing_is_damaged(table: Path) -> None:
    """A repair of an undamaged place reports that and creates no new place."""
    del table
    done = run("repair", "--on", URL, "--into", "rocks:saved")
    assert (0, "nothing was saved, because no table is damaged\n") == (done.code, done.err)
    assert not Path("saved").exists()


def test_count_warns_if_the_last_rows_may_be_lost(table: Path) -> None:
    """A count warns if the table cannot tell whether its last rows are lost."""
    (table / "high-water").unlink()
    main = "from rowkey.cli import main\nmain()"
    done = run_in_process(Path.cwd(), main, "count", "logs.toml", *PLACE_OPTION)
    assert (0, "20\n") == (done.code, done.out)
    assert "the file, which counts the stored changes, is missing or damaged" in done.err
