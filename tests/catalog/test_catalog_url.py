"""The catalog URL stored in a table is followed only if the caller names the same catalog."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import rowkey
from cli.command import run
from ramdisk import RAM_FOLDER
from rowkey.catalog import find_catalog_url
from rowkey.catalog.catalog_url import TABLE_CATALOG
from rowkey.engines import open_engine
from rowkey.errors import InvalidArgument
from rowkey.table import drop_table

DESIGN = """\
table = "logs"
key   = "[host][ts]"

[fields]
host = { type = "text", max_bytes = 20 }
ts   = "timestamp_ms"
"""
ROW = {"host": "a", "ts": 1}
REFUSAL = "the attributes of table logs name another catalog"


class ForeignTable:
    """A table of another user with an attribute that names a catalog, and with rows.

    Args:
        folder: the folder of the table.
        word: the catalog URL in the table's attribute.
    """

    def __init__(self, folder: Path, word: str) -> None:
        self.folder, self.word, self.url = folder, word, f"rocks:{folder / 'data'}"
        self.design = folder / "logs.toml"
        folder.mkdir(exist_ok=True)
        self.design.write_text(DESIGN)
        with rowkey.open(rowkey.Design.read(self.design), self.url) as table:
            table.put(ROW)
            own = table.store.families_and_attributes[1]
            table.store.replace_attributes({**own, "rowkey.catalog": word})

    def read_own_catalog(self) -> list[bytes]:
        """Return the documents of the catalog next to the table."""
        return sorted(path.read_bytes() for path in (self.folder / "data/.catalog").iterdir())

    def has_row(self, **words: Any) -> bool:
        """Return whether the row is found through a named catalog."""
        with rowkey.open("logs", self.url, **words) as table:
            return [ROW] == list(table.scan())


@pytest.fixture
def foreign_table() -> Iterator[ForeignTable]:
    """Yield a table with an attribute that names a missing catalog directory."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield ForeignTable(Path(folder), f"file:{folder}/elsewhere/catalog")


@pytest.fixture
def named_folder(foreign_table: ForeignTable) -> Path:
    """Return the catalog directory that the foreign table names."""
    return Path(foreign_table.word.removeprefix("file:"))


USES: dict[str, Callable[[ForeignTable], object]] = {
    "open by design": lambda one: rowkey.open(rowkey.Design.read(one.design), one.url),
    "open by name": lambda one: rowkey.open("logs", one.url),
    "open, make nothing": lambda one: rowkey.open(
        rowkey.Design.read(one.design), one.url, create=False
    ),
    "open by another catalog": lambda one: rowkey.open("logs", one.url, catalog="memory:other"),
    "drop by design": lambda one: drop_table(rowkey.Design.read(one.design), one.url),
    "drop by name": lambda one: drop_table("logs", one.url),
    "drop by another catalog": lambda one: drop_table("logs", one.url, catalog="memory:other"),
}


def test_a_catalog_that_only_the_table_names_is_refused(
    foreign_table: ForeignTable, named_folder: Path
) -> None:
    """The error quotes the catalog that only the table names, and says how to name it."""
    before = foreign_table.read_own_catalog()
    for use in USES.values():
        with pytest.raises(InvalidArgument, match=REFUSAL) as refused:
            use(foreign_table)
        assert f"give --catalog {foreign_table.word}, or catalog= in Python" in str(refused.value)
        assert not named_folder.parent.exists()
        assert before == foreign_table.read_own_catalog()
    assert foreign_table.has_row(catalog=foreign_table.word)


COMMANDS = {
    "count": "count {}",
    "scan": "scan {}",
    "dump": "dump {}",
    "get": "get {} host=a ts=1",
    "put": "put {}",
    "load": "load {} rows.jsonl",
    "create": "create {}",
    "drop": "drop {} --yes logs",
    "show buckets": "buckets show {}",
}


@pytest.mark.parametrize("named", ["logs", "logs.toml"])
def test_commands_refuse_a_catalog_that_only_the_table_names(
    foreign_table: ForeignTable, named_folder: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """Each command exits with 2, prints no row, and changes nothing."""
    monkeypatch.chdir(foreign_table.folder)
    (foreign_table.folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    before = foreign_table.read_own_catalog()
    for name, words in COMMANDS.items():
        table = "logs.toml" if name == "create" else named
        given = words.format(table).split()
        done = run(*given, "--on", foreign_table.url, stdin=json.dumps({**ROW, "ts": 2}))
        assert (2, "") == (done.code, done.out), done.err
        assert REFUSAL in done.err, done.err
        assert not named_folder.parent.exists()
        assert before == foreign_table.read_own_catalog()
    assert foreign_table.has_row(catalog=foreign_table.word)


@pytest.mark.parametrize("content", [None, b"garbage"], ids=["nothing", "garbage"])
def test_describe_reads_the_design_of_the_table_and_no_catalog(
    foreign_table: ForeignTable, named_folder: Path, content: bytes | None
) -> None:
    """The command `describe` prints the design stored with the table and reads no other catalog."""
    if content is not None:
        named_folder.mkdir(parents=True)
        (named_folder / "logs.json").write_bytes(content)
    done = run("describe", "logs", "--on", foreign_table.url)
    assert (0, "logs: the key is [host][ts], as stored by rowkey\n") == (done.code, done.err)
    assert "is from the attributes of the table" in done.out
    assert (content is not None) == named_folder.exists()


def test_an_entry_in_a_catalog_that_only_the_table_names_is_not_read(
    foreign_table: ForeignTable, named_folder: Path
) -> None:
    other = rowkey.Design("logs", "[ts][host]", fields={"host": "text", "ts": "timestamp_ms"})
    with rowkey.open(other, f"rocks:{foreign_table.folder / 'other'}"):
        pass
    named_folder.parent.mkdir()
    (foreign_table.folder / "other" / ".catalog").rename(named_folder)
    for use in USES.values():
        with pytest.raises(InvalidArgument, match=REFUSAL):
            use(foreign_table)
    assert "[ts][host]" not in run("describe", "logs", "--on", foreign_table.url).out


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Yield a listening server and a way to see whether a client connected."""
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.01)
        yield listening


def test_a_server_that_only_the_table_names_is_not_contacted(
    foreign_table: ForeignTable, server: socket.socket
) -> None:
    port = server.getsockname()[1]
    other = ForeignTable(
        foreign_table.folder / "other", f"zookeeper://127.0.0.1:{port}/r?timeout=200ms"
    )
    for use in USES.values():
        with pytest.raises(InvalidArgument, match=REFUSAL):
            use(other)
    for words in ("count logs", "describe logs", "drop logs --yes logs", "verify"):
        run(*words.split(), "--on", other.url)
    with pytest.raises(TimeoutError):
        server.accept()


def test_a_catalog_named_by_the_caller_is_opened(
    foreign_table: ForeignTable, named_folder: Path
) -> None:
    """With `catalog=` or `--catalog` the table can be opened, counted and dropped."""
    assert foreign_table.has_row(catalog=foreign_table.word)
    assert ["logs.json"] == [path.name for path in named_folder.glob("*.json")]
    for named in ("logs", str(foreign_table.design)):
        done = run("count", named, "--on", foreign_table.url, "--catalog", foreign_table.word)
        assert (0, "1\n") == (done.code, done.out)
    wrong = run("count", "logs", "--on", foreign_table.url, "--catalog", f"{foreign_table.word}2")
    assert 2 == wrong.code
    assert REFUSAL in wrong.err
    assert not named_folder.with_name("catalog2").exists()
    done = run(
        "drop", "logs", "--yes", "logs", "--on", foreign_table.url, "--catalog", foreign_table.word
    )
    assert 0 == done.code
    assert [] == list(named_folder.glob("*.json"))
    with open_engine(foreign_table.url) as engine:
        assert [] == engine.list_tables()


def test_a_catalog_that_the_design_declares_is_opened(
    foreign_table: ForeignTable, named_folder: Path
) -> None:
    foreign_table.design.write_text(f'catalog = "{foreign_table.word}"\n{DESIGN}')
    design = rowkey.Design.read(foreign_table.design)
    assert 0 == run("count", foreign_table.design, "--on", foreign_table.url).code
    with rowkey.open(design, foreign_table.url) as table:
        assert [ROW] == list(table.scan())
    assert ["logs.json"] == [path.name for path in named_folder.glob("*.json")]
    drop_table(design, foreign_table.url)
    assert [] == list(named_folder.glob("*.json"))


@pytest.mark.parametrize(
    ("word", "named", "found"),
    [
        (None, [], "memory:own"),
        (None, [None, None], "memory:own"),
        (None, ["file:a"], "file:a"),
        (None, [None, "file:b"], "file:b"),
        (TABLE_CATALOG, [], TABLE_CATALOG),
        ("memory:own", [], "memory:own"),
        ("memory:own", ["file:a"], "memory:own"),
        ("file:a", ["file:a"], "file:a"),
        ("file:a", ["file:b", "file:a"], "file:a"),
        ("file:a", [], None),
        ("file:a", ["file:b"], None),
        ("file:a", ["file:a/"], None),
        ("FILE:a", ["file:a"], None),
        ("table ", [], None),
    ],
)
def test_only_the_same_text_counts_as_the_same_catalog_url(
    word: str | None, named: list[str | None], found: str | None
) -> None:
    """Only the engine's own catalog, or the same text as the caller's URL, is opened."""
    with open_engine("memory:own") as engine:
        assert "memory:own" == engine.catalog_url
        words = {} if word is None else {"rowkey.catalog": word}
        if found is None:
            with pytest.raises(
                InvalidArgument, match="the attributes of table t name another catalog"
            ):
                find_catalog_url("t", words, engine, *named)
        else:
            assert found == find_catalog_url("t", words, engine, *named)
