"""The text in Java, compiled and run, describes the right table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from cluster.judge import Answer
from render.ddl.conftest import DRIVER, HERE, RELEASE, Java
from render.ddl.random_tables import NAMES, draw_creations
from rowkey.cells import Family
from rowkey.hbase import FamilySchema, TableSchema, build_table_schema
from rowkey.render import DIALECTS, CreateStatement
from rowkey.render.ddl.java import build_class_name

PROGRAM = DIALECTS["java"]


@pytest.fixture(scope="module")
def folder(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled program that prints the described tables."""
    folder = tmp_path_factory.mktemp("java")
    java.compile(folder, [HERE / "Told.java"], *DRIVER, "-Xlint:none")
    return folder


def describe_tables(
    java: Java, folder: Path, creations: Sequence[CreateStatement]
) -> list[CreateStatement]:
    """Return what the compiled programs describe, after HBase's defaults for any table."""
    sources = []
    for creation in creations:
        text = "".join(f"{line}\n" for line in PROGRAM(creation))
        assert text.isascii()
        sources.append(folder / f"{build_class_name(creation.table.name)}.java")
        sources[-1].write_text(text)
    java.compile(folder, sources, *RELEASE, "-Xlint:none")
    told = java.run(folder, "Told", *(source.stem for source in sources))
    return [_read_table(Answer(line)) for line in told.splitlines()]


def _read_table(told: Answer) -> CreateStatement:
    name = told.read_text()
    families = tuple(
        FamilySchema(told.read_text(), told.pairs(), told.pairs()) for _ in range(told.number())
    )
    words = told.pairs()
    splits = [told.read_bytes() for _ in range(told.number())]
    return CreateStatement(TableSchema(name, families, words), splits)


def fill_attributes(creation: CreateStatement, plain: CreateStatement) -> CreateStatement:
    """Return a table with HBase's default attributes, its families in HBase's order."""
    (any_family,) = plain.table.families
    families = (
        FamilySchema(one.name, {**any_family.attributes, **one.attributes}, one.configuration)
        for one in creation.table.families
    )
    listed = tuple(sorted(families, key=lambda one: one.name.encode()))
    words = {**plain.table.attributes, **creation.table.attributes}
    return CreateStatement(TableSchema(creation.table.name, listed, words), creation.splits)


def check_random_attributes(creation: CreateStatement, found: CreateStatement) -> CreateStatement:
    """Return a described table without its random attributes, which are checked here."""
    words = dict(found.table.attributes)
    for word in creation.random_attributes:
        assert re.fullmatch("[0-9a-f]{16}", words.pop(word))
    return replace(found, table=replace(found.table, attributes=words))


def draw_named_creations() -> list[CreateStatement]:
    """Return random tables with different class names, to be compiled at once."""
    found: dict[str, CreateStatement] = {}

    @given(draw_creations(NAMES))
    @settings(phases=[Phase.generate])
    def gather(one: CreateStatement) -> None:
        found[build_class_name(one.table.name).lower()] = one

    gather()
    return list(found.values())


def test_names_attributes_and_keys_pass_java_unchanged(java: Java, folder: Path) -> None:
    """Names, attributes and keys pass Java unchanged, also with quotes, NUL and long texts."""
    keys = [*(n.to_bytes(2) for n in range(1, 10_000)), b"\xff" * 32_000]
    words = {"app.long": "é" * 100_000, "app.lines": "é\n" * 999, "app.many": "é\n" * 40_000}
    long = CreateStatement(build_table_schema("very_long", [Family("d")], words), keys)
    drawn = [*draw_named_creations(), long]
    plain, *found = describe_tables(java, folder, drawn)
    assert [fill_attributes(one, plain) for one in drawn] == list(
        map(check_random_attributes, drawn, found)
    )
