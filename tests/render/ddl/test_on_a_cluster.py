"""On a real cluster the texts make the table that `create` makes, to the last word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import rowkey
from render.ddl.conftest import RELEASE, Java
from render.ddl.test_hbase_shell import recorded
from rowkey import Design
from rowkey.render import DIALECTS, CreateStatement, build_create_statement
from rowkey.render.ddl.java import build_class_name
from rowkey.table import create_table, drop_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cluster import Cluster, Described, Judge
    from rowkey.engines import Engine

FULL: dict[str, Any] = {
    "versions": 3, "min_versions": 2, "ttl": 86_400, "keep_deleted": "TTL", "block_size": 8_192,
    "block_cache": False, "bloom": "ROWPREFIX_FIXED_LENGTH(3)", "compression": "GZ",
    "compression_compact": "GZ", "encoding": "FAST_DIFF", "in_memory": True,
    "in_memory_compaction": "EAGER", "replication_scope": 1, "mob": True, "mob_threshold": 1_000,
    "compress_tags": False, "cache_data_on_write": True, "cache_index_on_write": True,
    "cache_blooms_on_write": True, "evict_on_close": True, "prefetch": True,
    "new_version_behavior": True, "dfs_replication": 2,
}  # fmt: skip
"""Nothing of it is the default."""
NAMESPACE = f"ddl{uuid4().hex[:8]}"
SPLITS = [b"\0'\"\\x41", b" #{exit}", b"m\0", b"\x80", b"\xff" * 40]
FIELDS = {"host": "text", "ts": "timestamp_ms"}
DESIGNS = {
    "counted": ("[bucket(host, 4)][host][ts]", {"all": FULL, "#{exit}": {}}),
    "plain": ("[host][ts]", {}),
}
"""Keys, with counted parts and without, and families."""


@pytest.fixture(params=DESIGNS)
def design(request: pytest.FixtureRequest, hbase_engine: Engine) -> Iterator[Design]:
    """A design whose table, and the namespace of it, are not there yet."""
    key, families = DESIGNS[request.param]
    yield Design(f"{NAMESPACE}:{request.param}", key, fields=FIELDS, families=families)
    hbase_engine.client.admin.delete_namespace(NAMESPACE)  # type: ignore[attr-defined]


def seen(judge: Judge, name: str) -> tuple[Described, list[bytes]]:
    """A table to the official client, without the word that each table has of its own."""
    told = judge.describe(name)
    words = {word: value for word, value in told.words.items() if word != "rowkey.table_id"}
    return replace(told, words=words), [region.start for region in judge.regions(name)]


def of_create(design: Design, judge: Judge, url: str) -> tuple[Described, list[bytes]]:
    """The table that `create` makes; it is dropped again."""
    create_table(design, url, splits=SPLITS).close()
    try:
        return seen(judge, design.table)
    finally:
        drop_table(design.table, url)


def by_java(java: Java, folder: Path, cluster: Cluster, creation: CreateStatement) -> None:
    """Compile the text in Java, and run its `main`."""
    name = build_class_name(creation.table.name)
    source = folder / f"{name}.java"
    source.write_text("".join(f"{line}\n" for line in DIALECTS["java"](creation)))
    java.compile(folder, [source], *RELEASE, "-Xlint:none")
    java.run(folder, name, conf=cluster.directory / "conf")


def by_shell(ruby: str, folder: Path, judge: Judge, creation: CreateStatement) -> None:
    """Run the text of the shell, and do with the official client what it asks for."""
    (told,) = recorded(ruby, folder, [creation])
    families, settings = {}, {}
    for name, attributes, configuration in told["families"]:
        families[_text(name)], settings[_text(name)] = _texts(attributes), _texts(configuration)
    splits = [bytes.fromhex(key) for key in told["splits"]]
    judge.create(_text(told["name"]), families, splits, _texts(told["words"]), settings)


def _text(hexed: str) -> str:
    return bytes.fromhex(hexed).decode()


def _texts(words: dict[str, str]) -> dict[str, str]:
    return {_text(word): _text(value) for word, value in words.items()}


def test_java_makes_the_table_of_create(
    design: Design,
    java: Java,
    hbase_cluster: Cluster,
    hbase_judge: Judge,
    hbase_url: str,
    tmp_path: Path,
) -> None:
    """Families, settings, words and regions are the same, and the namespace is made with them."""
    by_java(java, tmp_path, hbase_cluster, build_create_statement(design, SPLITS))
    found = seen(hbase_judge, design.table)
    hbase_judge.drop(design.table)
    assert [b"", *SPLITS] == found[1]
    assert of_create(design, hbase_judge, hbase_url) == found


def test_the_shell_makes_the_table_of_create(
    design: Design, ruby: str, hbase_judge: Judge, hbase_url: str, tmp_path: Path
) -> None:
    """What the shell's `create` is asked for makes the same table, to the official client."""
    by_shell(ruby, tmp_path, hbase_judge, build_create_statement(design, SPLITS))
    found = seen(hbase_judge, design.table)
    hbase_judge.drop(design.table)
    assert of_create(design, hbase_judge, hbase_url) == found


MAKERS = ("java", "shell")
ROW = {"host": "web-1", "ts": 5}


@pytest.fixture(params=MAKERS)
def by_hand(
    request: pytest.FixtureRequest,
    design: Design,
    hbase_cluster: Cluster,
    hbase_judge: Judge,
    tmp_path: Path,
) -> Design:
    """A design whose table one of the texts has made."""
    creation = build_create_statement(design, SPLITS)
    if request.param == "java":
        by_java(request.getfixturevalue("java"), tmp_path, hbase_cluster, creation)
    else:
        by_shell(request.getfixturevalue("ruby"), tmp_path, hbase_judge, creation)
    return design


def test_a_table_that_a_text_has_made_is_opened(by_hand: Design, hbase_url: str) -> None:
    """By its design, and by its name alone as that is kept; it is dropped as any other."""
    with rowkey.open(by_hand, hbase_url, create=False) as table:
        table.put(ROW)
    with rowkey.open(by_hand.table, hbase_url) as table:
        assert by_hand == table.design
        assert [ROW] == list(table.scan())
    drop_table(by_hand.table, hbase_url)


def test_a_table_that_a_text_has_made_is_known_by_its_name_alone(
    by_hand: Design, hbase_url: str
) -> None:
    """Nobody who opens it first needs the file."""
    with rowkey.open(by_hand.table, hbase_url) as table:
        assert by_hand == table.design
        assert [b"", *SPLITS] == [region.start for region in table.regions()]
    drop_table(by_hand.table, hbase_url)
