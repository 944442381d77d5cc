import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import rowkey
from cli.command import run
from design.designs import designs
from design.schemas import Schema
from docs.blocks import ROOT
from rowkey import Design, build_json_schema
from rowkey.cells import ATTRIBUTES
from rowkey.errors import InvalidDesign

EXAMPLES = sorted((ROOT / "src" / "rowkey" / "examples").glob("*/*.toml"))
SCHEMA = Schema(build_json_schema())
WRONG = Path(__file__).with_name("wrong.toml")


def test_the_schema_command_prints_the_json_schema() -> None:
    """`rowkey schema` prints the schema that `rowkey.build_json_schema` gives."""
    assert rowkey.build_json_schema() == json.loads(run("schema").out)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_json_schema_accepts_every_shipped_design(path: Path) -> None:
    assert [] == SCHEMA.list_breaches(tomllib.loads(path.read_text(encoding="utf-8")))


@given(designs)
def test_the_json_schema_accepts_every_file_that_rowkey_accepts(design: Design) -> None:
    assert [] == SCHEMA.list_breaches(tomllib.loads(design.dumps()))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("colour = 1", "colour"),
        ("key = 5", "key"),
        ('splits = "hex-strin"', "splits"),
        ("splits = { algorithm = 'uniform', region = 3 }", "splits"),
        ('fields.host = "txt"', "fields.host"),
        ('fields.host = { type = "text", nullabel = true }', "fields.host"),
        ('fields.host = { type = "text", max_bytes = 0 }', "fields.host"),
        ('fields.host = { type = "text", draw = "zpif" }', "fields.host"),
        ("families.d.compresion = 'ZSTD'", "families.d.compresion"),
        ("families.d.compression = 'zst'", "families.d.compression"),
        ("cluster.servers = 0", "cluster.servers"),
        ("cluster.servers = 2.5", "cluster.servers"),
        ('writes.sort = "true"', "writes.sort"),
        ("reads = [{ name = '' }]", "reads.0.name"),
        ("sample = { path = 'a', format = 'cvs' }", "sample"),
    ],
)  # fmt: skip
def test_the_json_schema_reports_a_wrong_option_or_value_at_its_path(text: str, path: str) -> None:
    """The JSON Schema reports a wrong option, type or value at its path."""
    sound = {"table": "t", "key": "[a]", "fields": {"a": "u8"}}
    assert [] == SCHEMA.list_breaches(sound)
    assert [path] == SCHEMA.list_breaches(sound | tomllib.loads(text))


@pytest.mark.parametrize("splits", ["hex-string", {"algorithm": "per-bucket"}, [r"\x01", "b"]])
def test_the_json_schema_accepts_every_form_of_splits(splits: object) -> None:
    """The JSON Schema accepts splits as a name, as a name with arguments and as a list."""
    assert [] == SCHEMA.list_breaches(
        {"table": "t", "key": "[a]", "fields": {"a": "u8"}, "splits": splits}
    )


@pytest.mark.parametrize("share", [0.01, "1%", "0.5%", "1", "1 %", 1.5])
def test_the_json_schema_accepts_a_share_as_number_or_percent(share: object) -> None:
    """The JSON Schema accepts a share as a number or in percent, and no other as rowkey does."""
    sample = {"path": "a.csv", "of": "a", "share": share}
    file: dict[str, Any] = {"table": "t", "key": "[a]", "fields": {"a": "u8"}, "sample": sample}
    try:
        Design(**file)
    except InvalidDesign:
        assert ["sample"] == SCHEMA.list_breaches(file)
    else:
        assert [] == SCHEMA.list_breaches(file)


@pytest.mark.parametrize("word", ["table", "key", "fields"])
def test_the_json_schema_requires_table_key_and_fields(word: str) -> None:
    sound = {"table": "t", "key": "[a]", "fields": {"a": "u8"}}
    assert [""] == SCHEMA.list_breaches({name: sound[name] for name in sound if name != word})


def test_the_json_schema_reports_mistakes_in_every_section() -> None:
    """The JSON Schema reports mistakes in every section of the file of all mistakes."""
    found = SCHEMA.list_breaches(tomllib.loads(WRONG.read_text(encoding="utf-8")))
    sections = {"colour", "splits", "fields", "families", "cluster", "writes", "reads", "sample"}
    assert sections == {path.partition(".")[0] for path in found}


def test_every_option_of_the_json_schema_has_the_description_of_the_reference() -> None:
    definitions = build_json_schema()["$defs"]
    tables = {**definitions, "": build_json_schema()}
    silent = [
        f"{name}.{word}"
        for name, table in tables.items()
        for word, said in table.get("properties", {}).items()
        if not said.get("description")
    ]
    assert [] == silent
    family = build_json_schema()["properties"]["families"]["additionalProperties"]["properties"]
    assert [f"{row.description}; {row.hbase_name}" for row in ATTRIBUTES.values()] == [
        said["description"] for said in family.values()
    ]
