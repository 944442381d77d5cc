"""Every file keeps the conventions, and each convention finds a breach planted for it."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from click import Context

from rowkey.catalog import CATALOGS
from rowkey.cli.group import program
from rowkey.engines import ENGINES
from rowkey.hotspots import CAUSES, READ_CAUSES
from rowkey.keys import TRANSFORMS, TYPES
from rowkey.lint import RULES
from rowkey.regions import SPLIT_ALGORITHMS
from rowkey.rows import PLACEMENTS
from rowkey.workload import DISTRIBUTIONS, FORMATS
from tidy import conventions
from tidy.tree import PACKAGE, ROOT, Source, read_sources

if TYPE_CHECKING:
    from tidy.conventions import Convention


PLUGIN_FOLDERS = {
    "fields": TYPES,
    "transforms": TRANSFORMS,
    "splits": SPLIT_ALGORITHMS,
    "distributions": DISTRIBUTIONS,
    "formats": FORMATS,
    "causes": CAUSES,
    "read_causes": READ_CAUSES,
    "rules": RULES,
    "placements": PLACEMENTS,
    "backends": ENGINES,
    "stores": CATALOGS,
    "commands": dict.fromkeys(program.list_commands(Context(program))),
}
JUDGING_PACKAGE = f"{PACKAGE}hotspots/"
TEST_PATH = "tests/heat/test_planted.py"

CONVENTIONS: dict[str, tuple[Convention, Source]] = {
    "functions are short": (
        conventions.check_function_length,
        Source("tools/long.py", 'def f():\n    """It."""\n' + "    f()\n" * 61),
    ),
    "names say what": (conventions.check_file_names, Source(f"{JUDGING_PACKAGE}_utils.py", "")),
    "names are no bare participles": (
        conventions.check_names,
        Source(f"{JUDGING_PACKAGE}x.py", "def _told(): ...\n"),
    ),
    "paths are shallow": (
        conventions.check_depth,
        Source(f"{JUDGING_PACKAGE}causes/more/x.py", ""),
    ),
    "packages are imported through __init__": (
        conventions.check_imports_of_packages,
        Source(f"{JUDGING_PACKAGE}x.py", "from rowkey.keys.part_interface import Part\n"),
    ),
    "files hide no function": (
        conventions.check_module_names,
        Source(f"{JUDGING_PACKAGE}hide.py", "def hide(): ...\n"),
    ),
    "judging is pure": (
        conventions.check_purity,
        Source(f"{JUDGING_PACKAGE}x.py", "import time\n"),
    ),
    "modules say why": (conventions.check_module_docstrings, Source("tools/x.py", '"""X"""\n')),
    "tests say what holds": (
        conventions.check_test_names,
        Source(TEST_PATH, "def test_limits():\n    assert 1 == f()\n"),
    ),
    "docstrings of tests are sentences": (
        conventions.check_test_docstrings,
        Source(TEST_PATH, 'def test_one_is_one_again():\n    """One"""\n    assert 1 == f()\n'),
    ),
    "tests can fail": (
        conventions.build_assertion_check(read_sources),
        Source(TEST_PATH, 'def test_x():\n    """It runs."""\n    print(1)\n'),
    ),
    "tests list no plugins": (
        conventions.build_plugin_list_check(
            tuple(frozenset(plugins) for plugins in PLUGIN_FOLDERS.values())
        ),
        Source(TEST_PATH, f"KINDS = {sorted(TRANSFORMS)[3:]}\n"),
    ),
    "nothing is unfinished": (
        conventions.check_unfinished_notes,
        Source("docs/x.md", "TO" + "DO later"),
    ),
    "no machine is named": (
        conventions.check_machine_paths,
        Source("docs/x.md", "see /ho" + "me/me"),
    ),
    "no registry is named": (conventions.check_registries, Source("x.txt", "--index" + "-url x")),
    "no key is published": (
        conventions.check_private_keys,
        Source("tests/x.pem", "-----BEGIN EC PRI" + "VATE KEY-----"),
    ),
    "fragments are sentences": (
        conventions.check_changelog_fragments,
        Source("changes/x.new.md", "Something was added."),
    ),
}


@pytest.fixture(scope="module", autouse=True)
def syntax_trees() -> Iterator[None]:
    """Keep the garbage collector from visiting a million nodes again and again."""
    gc.disable()
    yield
    read_sources.cache_clear()
    gc.enable()


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_file_of_the_repository_keeps_each_convention(name: str) -> None:
    """No file of the repository breaks the convention."""
    check, _ = CONVENTIONS[name]
    assert [] == [breach for source in read_sources() for breach in check(source)]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_each_convention_finds_its_planted_breach(name: str) -> None:
    check, planted = CONVENTIONS[name]
    assert 1 == len(list(check(planted)))


@pytest.mark.parametrize(
    "line",
    ["from datetime import datetime\nx = datetime.now()", "from random import Random\nx = Random()",
     "import socket", "from uuid import uuid4", "import os\nx = os.urandom(4)"],
)  # fmt: skip
def test_each_use_of_clock_network_or_chance_by_judging_packages_is_found(line: str) -> None:
    """Each way to read the clock, the network or chance is found in the packages that judge."""
    assert list(conventions.check_purity(Source(f"{JUDGING_PACKAGE}x.py", f"{line}\n")))


def test_a_plugin_folder_holds_only_plugins() -> None:
    """Each file of a plugin folder has a plugin, and no plugin comes from elsewhere."""
    for folder, plugins in PLUGIN_FOLDERS.items():
        files = {s.name for s in read_sources() if s.is_package_file and s.parts[-2] == folder}
        homes = {_find_file(name, plugin) for name, plugin in plugins.items()}
        assert files - {"__init__"} == homes - {""}


def _find_file(name: str, plugin: Any) -> str:
    """Return the name of a plugin's file, that of a command for itself; empty if not rowkey's."""
    if plugin is None:
        return name
    package, _, file = plugin.__module__.rpartition(".")
    return file if package.startswith("rowkey.") else ""


def test_the_page_of_the_design_lists_every_package() -> None:
    """Each package has a row of its own in the table of `docs/design-of-rowkey.md`."""
    page = (ROOT / "docs" / "design-of-rowkey.md").read_text("utf-8")
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    packages = {file.parent.name for file in (ROOT / PACKAGE).glob("*/__init__.py")}
    assert set() == packages - rows


def test_no_two_public_classes_share_a_name() -> None:
    planted = [Source(f"{PACKAGE}{name}.py", "class Region: ...\n") for name in "ab"]
    assert ["Region"] == conventions.find_repeated_classes(planted)
    assert [] == conventions.find_repeated_classes(read_sources())


PACKAGES_WITH_CIRCLES = {"advise", "design", "happybase", "portal"}
"""Packages that still have circles of imports among their modules."""


def test_the_modules_of_a_package_import_each_other_one_way() -> None:
    """No package has a circle of imports, unless it is listed, and a planted circle is found."""
    imports = "def f():\n    from rowkey.keys import {}\n", "import rowkey.keys.{}\n"
    planted = [
        Source(f"{PACKAGE}keys/{name}.py", text.format(other))
        for name, other, text in zip("ab", "ba", imports, strict=True)
    ]
    assert ["rowkey.keys.a", "rowkey.keys.b"] == sorted(
        set(conventions.find_import_circle(planted, "keys"))
    )
    sources = [source for source in read_sources() if source.is_package_file]
    packages = {source.package for source in sources}
    circles = {package: conventions.find_import_circle(sources, package) for package in packages}
    assert PACKAGES_WITH_CIRCLES == {package for package in packages if circles[package]}
