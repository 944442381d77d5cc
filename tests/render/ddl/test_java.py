"""The text in Java, compiled and run: it describes the table it was made from."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings

from cluster.judge import Answer
from render.ddl.conftest import DRIVER, HERE, RELEASE, Java
from render.ddl.drawn import NAMES, creations
from rowkey.cells import Family
from rowkey.hbase import FamilySchema, TableSchema, build_table_schema
from rowkey.render import DIALECTS, CreateStatement
from rowkey.render.ddl.java import build_class_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PROGRAM = DIALECTS["java"]


@pytest.fixture(scope="module")
def folder(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs are compiled, with the one that tells what they describe."""
    folder = tmp_path_factory.mktemp("java")
    java.compile(folder, [HERE / "Told.java"], *DRIVER, "-Xlint:none")
    return folder


def described(
    java: Java, folder: Path, creations: Sequence[CreateStatement]
) -> list[CreateStatement]:
    """What the programs describe: after what HBase says of any table, one for each of them."""
    sources = []
    for creation in creations:
        text = "".join(f"{line}\n" for line in PROGRAM(creation))
        assert text.isascii()
        sources.append(folder / f"{build_class_name(creation.table.name)}.java")
        sources[-1].write_text(text)
    java.compile(folder, sources, *RELEASE, "-Xlint:none")
    told = java.run(folder, "Told", *(source.stem for source in sources))
    return [_read(Answer(line)) for line in told.splitlines()]


def _read(told: Answer) -> CreateStatement:
    name = told.read_text()
    families = tuple(
        FamilySchema(told.read_text(), told.pairs(), told.pairs()) for _ in range(told.number())
    )
    words = told.pairs()
    splits = [told.read_bytes() for _ in range(told.number())]
    return CreateStatement(TableSchema(name, families, words), splits)


def filled(creation: CreateStatement, plain: CreateStatement) -> CreateStatement:
    """A table with what HBase itself says of any, its families in HBase's order."""
    (any_family,) = plain.table.families
    families = (
        FamilySchema(one.name, {**any_family.attributes, **one.attributes}, one.configuration)
        for one in creation.table.families
    )
    listed = tuple(sorted(families, key=lambda one: one.name.encode()))
    words = {**plain.table.attributes, **creation.table.attributes}
    return CreateStatement(TableSchema(creation.table.name, listed, words), creation.splits)


def without_drawn(creation: CreateStatement, found: CreateStatement) -> CreateStatement:
    """A table that a program describes, but for words that it has drawn, which are looked at."""
    words = dict(found.table.attributes)
    for word in creation.random_attributes:
        assert re.fullmatch("[0-9a-f]{16}", words.pop(word))
    return replace(found, table=replace(found.table, attributes=words))


def gathered() -> list[CreateStatement]:
    """Drawn tables, each of another class, to be compiled at once: a compiler takes seconds."""
    found: dict[str, CreateStatement] = {}

    @given(creations(NAMES))
    @settings(phases=[Phase.generate])
    def gather(one: CreateStatement) -> None:
        found[build_class_name(one.table.name).lower()] = one

    gather()
    return list(found.values())


def test_java_describes_the_same_table(java: Java, folder: Path) -> None:
    """Names, words and keys come through Java, with quotes, NUL, many keys and long texts."""
    keys = [*(n.to_bytes(2) for n in range(1, 10_000)), b"\xff" * 32_000]
    words = {"app.long": "é" * 100_000, "app.lines": "é\n" * 999, "app.many": "é\n" * 40_000}
    long = CreateStatement(build_table_schema("very_long", [Family("d")], words), keys)
    drawn = [*gathered(), long]
    plain, *found = described(java, folder, drawn)
    assert [filled(one, plain) for one in drawn] == list(map(without_drawn, drawn, found))
