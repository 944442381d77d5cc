"""A table's own word for its catalog leads nowhere unless the caller names the same place."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from cli.command import run
from ramdisk import RAM_FOLDER
from rowkey.catalog import find_catalog_url
from rowkey.catalog.catalog_url import TABLE_CATALOG
from rowkey.engines import open_engine
from rowkey.errors import InvalidArgument
from rowkey.table import drop_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DESIGN = """\
table = "logs"
key   = "[host][ts]"

[fields]
host = { type = "text", max_bytes = 20 }
ts   = "timestamp_ms"
"""
ROW = {"host": "a", "ts": 1}
REFUSED = "the attributes of table logs name another catalog"


class Foreign:
    """A table that somebody else has sent, whose word names a catalog; rows are in it.

    Args:
        folder: where it lies.
        word: what its word names.
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
        """The documents next to the table: what was refused has not changed them either."""
        return sorted(path.read_bytes() for path in (self.folder / "data/.catalog").iterdir())

    def has_row(self, **words: Any) -> bool:
        """Whether the row is there, by a catalog that is named."""
        with rowkey.open("logs", self.url, **words) as table:
            return [ROW] == list(table.scan())


@pytest.fixture
def foreign() -> Iterator[Foreign]:
    """A table whose word names a directory that is not there."""
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        yield Foreign(Path(folder), f"file:{folder}/elsewhere/catalog")


@pytest.fixture
def elsewhere(foreign: Foreign) -> Path:
    """That directory."""
    return Path(foreign.word.removeprefix("file:"))


USES: dict[str, Callable[[Foreign], object]] = {
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


def test_an_unnamed_catalog_is_refused(foreign: Foreign, elsewhere: Path) -> None:
    """The error quotes the catalog that only the table names, and says how to name it."""
    before = foreign.read_own_catalog()
    for use in USES.values():
        with pytest.raises(InvalidArgument, match=REFUSED) as refused:
            use(foreign)
        assert f"name it too: --catalog {foreign.word}, or catalog= in Python" in str(refused.value)
        assert not elsewhere.parent.exists()
        assert before == foreign.read_own_catalog()
    assert foreign.has_row(catalog=foreign.word)


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
def test_commands_refuse_an_unnamed_catalog(
    foreign: Foreign, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """Each command exits with 2, prints no row, and changes nothing."""
    monkeypatch.chdir(foreign.folder)
    (foreign.folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")
    before = foreign.read_own_catalog()
    for name, words in COMMANDS.items():
        table = "logs.toml" if name == "create" else named
        given = words.format(table).split()
        done = run(*given, "--on", foreign.url, stdin=json.dumps({**ROW, "ts": 2}))
        assert (2, "") == (done.code, done.out), done.err
        assert REFUSED in done.err, done.err
        assert not elsewhere.parent.exists()
        assert before == foreign.read_own_catalog()
    assert foreign.has_row(catalog=foreign.word)


@pytest.mark.parametrize("content", [None, b"garbage"], ids=["nothing", "garbage"])
def test_describe_goes_by_the_table_alone(
    foreign: Foreign, elsewhere: Path, content: bytes | None
) -> None:
    """It prints the design that the table keeps itself, and reads no document of the word's."""
    if content is not None:
        elsewhere.mkdir(parents=True)
        (elsewhere / "logs.json").write_bytes(content)
    done = run("describe", "logs", "--on", foreign.url)
    assert (0, "logs: the key is [host][ts], as stored by rowkey\n") == (done.code, done.err)
    assert "is from the attributes of the table" in done.out
    assert (content is not None) == elsewhere.exists()


def test_a_planted_design_is_not_believed(foreign: Foreign, elsewhere: Path) -> None:
    """What lies where the word leads is not read, though it is a sound entry of such a table."""
    other = rowkey.Design("logs", "[ts][host]", fields={"host": "text", "ts": "timestamp_ms"})
    with rowkey.open(other, f"rocks:{foreign.folder / 'other'}"):
        pass
    elsewhere.parent.mkdir()
    (foreign.folder / "other" / ".catalog").rename(elsewhere)
    for use in USES.values():
        with pytest.raises(InvalidArgument, match=REFUSED):
            use(foreign)
    assert "[ts][host]" not in run("describe", "logs", "--on", foreign.url).out


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Somebody who listens, and would notice a connection."""
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.01)
        yield listening


def test_an_unnamed_server_is_not_contacted(foreign: Foreign, server: socket.socket) -> None:
    """Neither Python nor a command contacts a server that only the table names."""
    port = server.getsockname()[1]
    other = Foreign(foreign.folder / "other", f"zookeeper://127.0.0.1:{port}/r?timeout=200ms")
    for use in USES.values():
        with pytest.raises(InvalidArgument, match=REFUSED):
            use(other)
    for words in ("count logs", "describe logs", "drop logs --yes logs", "verify"):
        run(*words.split(), "--on", other.url)
    with pytest.raises(TimeoutError):
        server.accept()


def test_a_named_catalog_is_opened(foreign: Foreign, elsewhere: Path) -> None:
    """With `catalog=` or `--catalog` the table is opened, counted and dropped there."""
    assert foreign.has_row(catalog=foreign.word)
    assert ["logs.json"] == [path.name for path in elsewhere.glob("*.json")]
    for named in ("logs", str(foreign.design)):
        done = run("count", named, "--on", foreign.url, "--catalog", foreign.word)
        assert (0, "1\n") == (done.code, done.out)
    wrong = run("count", "logs", "--on", foreign.url, "--catalog", f"{foreign.word}2")
    assert 2 == wrong.code
    assert REFUSED in wrong.err
    assert not elsewhere.with_name("catalog2").exists()
    done = run("drop", "logs", "--yes", "logs", "--on", foreign.url, "--catalog", foreign.word)
    assert 0 == done.code
    assert [] == list(elsewhere.glob("*.json"))
    with open_engine(foreign.url) as engine:
        assert [] == engine.list_tables()


def test_a_declared_catalog_is_opened(foreign: Foreign, elsewhere: Path) -> None:
    """A catalog that the design declares is opened."""
    foreign.design.write_text(f'catalog = "{foreign.word}"\n{DESIGN}')
    design = rowkey.Design.read(foreign.design)
    assert 0 == run("count", foreign.design, "--on", foreign.url).code
    with rowkey.open(design, foreign.url) as table:
        assert [ROW] == list(table.scan())
    assert ["logs.json"] == [path.name for path in elsewhere.glob("*.json")]
    drop_table(design, foreign.url)
    assert [] == list(elsewhere.glob("*.json"))


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
def test_catalog_urls_are_compared_as_text(
    word: str | None, named: list[str | None], found: str | None
) -> None:
    """Only the engine's own catalog, or the same text as the caller's, is opened."""
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
