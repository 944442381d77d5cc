"""The generated reference agrees with the classes and has every public name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import pytest
from click import Context

import rowkey
from docs.blocks import ROOT
from rowkey import hbase
from rowkey.cells import ATTRIBUTES
from rowkey.cli.group import program
from rowkey.hbase import filters
from rowkey.hotspots import CAUSES, READ_CAUSES
from rowkey.keys import TRANSFORMS, TYPES
from rowkey.regions import SPLIT_ALGORITHMS
from rowkey.render import (
    CHECK_FIELDS,
    COUNT_FIELDS,
    EXPLANATIONS_FIELDS,
    REGIONS_FIELDS,
    SIMULATION_FIELDS,
    SPLITS_FIELDS,
    VECTORS_FIELDS,
)
from rowkey.rows import PLACEMENTS
from rowkey.schema import (
    Burst,
    ClusterDeclaration,
    DesignDeclaration,
    FieldDeclaration,
    LateEvents,
    ReadDeclaration,
    SampleDeclaration,
    WriteDeclaration,
)
from rowkey.workload import ARRIVAL_MODES, DISTRIBUTIONS, FORMATS

REFERENCE = ROOT / "docs" / "reference"
MODELS = (
    DesignDeclaration, FieldDeclaration, ClusterDeclaration, WriteDeclaration, LateEvents, Burst,
    ReadDeclaration, SampleDeclaration,
)  # fmt: skip
BASES = ("Filter", "Comparator", "RowRange")
"""Base classes of filters, which are no filters themselves."""
KINDS: dict[str, Mapping[str, Any]] = {
    "fields": TYPES,
    "transforms": TRANSFORMS,
    "splits": SPLIT_ALGORITHMS,
    "distributions": DISTRIBUTIONS,
    "formats": FORMATS,
    "placements": PLACEMENTS,
    "causes": {**CAUSES, **READ_CAUSES},
}


def read_page(name: str) -> str:
    """Return a page of the reference."""
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", KINDS)
def test_every_plugin_has_a_heading_on_its_page(name: str) -> None:
    """Every plugin has a heading on the page of its registry."""
    headings = set(read_page(name).splitlines())
    own = [kind for kind, made in KINDS[name].items() if made.__module__.startswith("rowkey.")]
    assert [] == [kind for kind in own if f"## {kind}" not in headings]


def test_every_golden_vector_is_in_the_reference() -> None:
    """The golden vectors of every type and transform are in the reference."""
    for name in ("fields", "transforms"):
        text = read_page(name)
        for kind in KINDS[name].values():
            assert [] == [v for v in kind.vectors if f"`{v.hex}`" not in text]


def test_every_option_of_a_design_file_is_in_the_reference() -> None:
    """Every option of a design file is in its table with a meaning."""
    rows = [
        line.split(" | ")
        for line in read_page("design-file").splitlines()
        if line.startswith("| `")
    ]
    told = {row[0].strip("| `") for row in rows if row[3].strip(" |")}
    words = {info.alias or name for m in MODELS for name, info in m.model_fields.items()}
    assert set() == (words | set(ATTRIBUTES)) - told


def test_every_command_and_option_is_in_the_reference() -> None:
    """Every command is on the page of the command line, with all of its options."""
    text = read_page("cli")
    context = Context(program)
    for verb in program.list_commands(context):
        command = program.get_command(context, verb)
        assert command is not None
        section = text.partition(f"\n## {verb}\n")[2].partition("\n## ")[0]
        options = [option for one in command.params for option in one.opts if option[0] == "-"]
        assert [] == [option for option in options if option not in section]


def test_the_chinese_page_lists_each_command_once() -> None:
    """The page in Chinese lists each command once, and no other."""
    text = (ROOT / "docs" / "zh.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| `")]
    told = [verb for row in rows for verb in re.findall(r"`(\w+)`", row)]
    assert program.list_commands(Context(program)) == sorted(told)


DOCUMENTS = (
    SIMULATION_FIELDS,
    CHECK_FIELDS,
    SPLITS_FIELDS,
    VECTORS_FIELDS,
    EXPLANATIONS_FIELDS,
    COUNT_FIELDS,
    REGIONS_FIELDS,
)


@pytest.mark.parametrize("fields", DOCUMENTS)
def test_every_json_field_is_in_the_reference(fields: dict[str, str]) -> None:
    """Every field of a JSON document is on the page with its meaning."""
    text = read_page("json")
    assert [] == [path for path, says in fields.items() if f"| `{path}` | {says} |" not in text]


def test_every_arrival_and_error_class_is_in_the_reference() -> None:
    """Every arrival and every error class is on its page."""
    arrivals, told = read_page("arrivals"), read_page("errors")
    assert [] == [name for name, each in ARRIVAL_MODES.items() if each.meaning not in arrivals]
    assert [] == [name for name in rowkey.__all__ if "Error" in name and f"## {name}" not in told]


def test_every_public_name_is_in_the_reference() -> None:
    """Every public name of rowkey and of its packages is on the page for Python."""
    text = read_page("python")
    assert [] == [name for name in rowkey.__all__ if f"### {name}\n" not in text]
    for path in sorted((ROOT / "src" / "rowkey").glob("*/__init__.py")):
        package = path.parent.name
        if package != "cli":
            section = text.partition(f"\n## rowkey.{package}\n")[2].partition("\n## ")[0]
            offered = __import__(f"rowkey.{package}", fromlist=["__all__"]).__all__
            assert [] == [name for name in offered if f"| `{name}` | " not in section]


def test_every_method_and_setting_of_the_client_is_in_the_reference() -> None:
    """Every method and setting of the client is on its page, inherited ones too."""
    text = read_page("hbase")
    assert [] == [name for name in hbase.__all__ if f"## {name}\n" not in text]
    assert [] == [one.name for one in fields(hbase.Settings) if f"| `{one.name}` | " not in text]
    assert [] == [
        name for name in filters.__all__ if f"| `{name}(" not in text and name not in BASES
    ]
    for kind in (hbase.Client, hbase.HBaseTable, hbase.Admin, hbase.Scanner):
        section = text.partition(f"\n## {kind.__name__}\n")[2].partition("\n## ")[0]
        calls = [name for name in dir(kind) if not name.startswith("_")]
        methods = [name for name in calls if inspect.isfunction(getattr(kind, name))]
        assert [] == [name for name in methods if f"| `{name}(" not in section]


def test_every_error_class_of_the_client_is_in_the_reference_once() -> None:
    """Every error class of the client is on its page once, under its remedy."""
    _, _, text = read_page("hbase-errors").rpartition("```")
    names = {
        one.__name__ for one in list_subclasses(hbase.HBaseError) if one.__module__[:7] == "rowkey."
    }
    names = {name for name in names if not name.startswith("_")}
    assert len(names) > 40
    told = re.findall(r"^(?:\| |## )?`?(\w+)`?(?: \| .*)?$", text, re.MULTILINE)
    assert [] == [name for name in names if 1 != told.count(name)]


def list_subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    """Return all direct and indirect subclasses of a class."""
    for child in kind.__subclasses__():
        yield child
        yield from list_subclasses(child)


def test_every_file_with_a_source_is_linked_from_the_page() -> None:
    """Each file of the package that names a source in a docstring is linked from the page."""
    text = read_page("sources")
    package = ROOT / "src" / "rowkey"
    naming = [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob("*.py"))
        if re.search(
            r'^(?! *#).*?(?:^ *|"""|[.] )Source: (?!\w+ = )',
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    ]
    assert len(naming) > 20
    assert [] == [name for name in naming if f"[{name}]" not in text]
