"""On a real cluster the texts create the table that `create` creates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import rowkey
from render.ddl.conftest import RELEASE, Java
from render.ddl.test_hbase_shell import run_in_ruby
from rowkey import Design
from rowkey.render import DIALECTS, CreateStatement, build_create_statement
from rowkey.render.ddl.java import build_class_name
from rowkey.table import create_table, drop_table

if TYPE_CHECKING:
    from cluster import Cluster, Judge, SchemaAnswer
    from rowkey.engines import Engine

ALL_ATTRIBUTES: dict[str, Any] = {
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
    "counted": ("[bucket(host, 4)][host][ts]", {"all": ALL_ATTRIBUTES, "#{exit}": {}}),
    "plain": ("[host][ts]", {}),
}
"""Keys, with counted parts and without, and families."""


@pytest.fixture
def design(request: pytest.FixtureRequest, hbase_engine: Engine) -> Iterator[Design]:
    """A design whose table and namespace do not exist yet."""
    key, families = DESIGNS[request.param]
    yield Design(f"{NAMESPACE}:{request.param}", key, fields=FIELDS, families=families)
    hbase_engine.client.admin.delete_namespace(NAMESPACE)  # type: ignore[attr-defined]


def describe_on_cluster(judge: Judge, name: str) -> tuple[SchemaAnswer, list[bytes]]:
    """Return a table as the official client sees it, without its random table id."""
    told = judge.describe(name)
    words = {word: value for word, value in told.words.items() if word != "rowkey.table_id"}
    return replace(told, words=words), [region.start for region in judge.regions(name)]


def describe_created_table(
    design: Design, judge: Judge, url: str
) -> tuple[SchemaAnswer, list[bytes]]:
    """Return the table that `create` makes, and drop it."""
    create_table(design, url, splits=SPLITS).close()
    try:
        return describe_on_cluster(judge, design.table)
    finally:
        drop_table(design.table, url)


def create_with_java(java: Java, folder: Path, cluster: Cluster, creation: CreateStatement) -> None:
    """Compile the text in Java and run its `main`."""
    name = build_class_name(creation.table.name)
    source = folder / f"{name}.java"
    source.write_text("".join(f"{line}\n" for line in DIALECTS["java"](creation)))
    java.compile(folder, [source], *RELEASE, "-Xlint:none")
    java.run(folder, name, conf=cluster.directory / "conf")


def create_with_shell(ruby: str, folder: Path, judge: Judge, creation: CreateStatement) -> None:
    """Run the shell's text, and make its recorded calls with the official client."""
    (told,) = run_in_ruby(ruby, folder, [creation])
    families, settings = {}, {}
    for name, attributes, configuration in told["families"]:
        families[_decode_hex(name)], settings[_decode_hex(name)] = (
            _decode_words(attributes),
            _decode_words(configuration),
        )
    splits = [bytes.fromhex(key) for key in told["splits"]]
    judge.create(
        _decode_hex(told["name"]), families, splits, _decode_words(told["words"]), settings
    )


def _decode_hex(hexed: str) -> str:
    return bytes.fromhex(hexed).decode()


def _decode_words(words: dict[str, str]) -> dict[str, str]:
    return {_decode_hex(word): _decode_hex(value) for word, value in words.items()}


ROW = {"host": "web-1", "ts": 5}
CASES = [
    ("counted", "java", "design"),
    ("counted", "shell", "name"),
    pytest.param("plain", "java", "name", marks=pytest.mark.long),
    ("plain", "shell", "design"),
]
"""A design, what makes its table, and by what the table is opened first."""


@pytest.mark.parametrize(("design", "maker", "opened_by"), CASES, indirect=["design"])
def test_the_ddl_text_run_on_a_cluster_makes_the_table_of_create(
    design: Design,
    maker: str,
    opened_by: str,
    hbase_cluster: Cluster,
    hbase_judge: Judge,
    hbase_url: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Families, attributes and regions are the same, and the table opens."""
    creation = build_create_statement(design, SPLITS)
    if maker == "java":
        create_with_java(request.getfixturevalue("java"), tmp_path, hbase_cluster, creation)
    else:
        create_with_shell(request.getfixturevalue("ruby"), tmp_path, hbase_judge, creation)
    found = describe_on_cluster(hbase_judge, design.table)
    assert [b"", *SPLITS] == found[1]
    if opened_by == "design":
        with rowkey.open(design, hbase_url, create=False) as table:
            table.put(ROW)
    with rowkey.open(design.table, hbase_url) as table:
        assert design == table.design
        assert [b"", *SPLITS] == [region.start for region in table.regions()]
        assert [ROW] * (opened_by == "design") == list(table.scan())
    drop_table(design.table, hbase_url)
    assert describe_created_table(design, hbase_judge, hbase_url) == found
