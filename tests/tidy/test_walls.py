"""The walls of the house, held against every file, and each against a breach planted for it."""

from __future__ import annotations

from importlib import import_module
from inspect import getmembers, isabstract, isclass
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import pytest
from click import Context

from rowkey.catalog import CATALOGS
from rowkey.cli.group import program
from rowkey.engines import ENGINES
from rowkey.hbase import requests
from rowkey.hbase.messages.contract import Request
from rowkey.heat import CAUSES
from rowkey.keys import TRANSFORMS, TYPES
from rowkey.lint import RULES
from rowkey.regions import SPLITS
from rowkey.rows import PLACES
from rowkey.workload import DRAWS, FORMATS
from tidy import walls
from tidy.tree import PACKAGE, Source, sources

if TYPE_CHECKING:
    from tidy.walls import Wall


def _requests() -> dict[str, type[Request[Any]]]:
    """The requests of HBase's protocol by the file that holds each."""
    found: dict[str, type[Request[Any]]] = {}
    for file in iter_modules(requests.__path__):
        module = import_module(f"{requests.__name__}.{file.name}")
        own = (
            kind for _, kind in getmembers(module, isclass) if kind.__module__ == module.__name__
        )
        kinds = [kind for kind in own if issubclass(kind, Request) and not isabstract(kind)]
        if len(kinds) == 1:
            found[file.name] = kinds[0]
    return found


DRAWERS = {
    "fields": TYPES,
    "transforms": TRANSFORMS,
    "splits": SPLITS,
    "draws": DRAWS,
    "formats": FORMATS,
    "causes": CAUSES,
    "rules": RULES,
    "places": PLACES,
    "backends": ENGINES,
    "stores": CATALOGS,
    "requests": _requests(),
    "verbs": dict.fromkeys(program.list_commands(Context(program))),
}
FIRST_ROOM = f"{PACKAGE}heat/"
A_TEST = "tests/heat/test_planted.py"

WALLS: dict[str, tuple[Wall, Source]] = {
    "functions are short": (
        walls.functions_are_short,
        Source("tools/long.py", 'def f():\n    """It."""\n' + "    f()\n" * 61),
    ),
    "names say what": (walls.names_say_what, Source(f"{FIRST_ROOM}_utils.py", "")),
    "paths are shallow": (walls.paths_are_shallow, Source(f"{FIRST_ROOM}causes/more/x.py", "")),
    "rooms have doors": (
        walls.rooms_have_doors,
        Source(f"{FIRST_ROOM}x.py", "from rowkey.keys.contract import Part\n"),
    ),
    "files hide no function": (
        walls.files_hide_no_function,
        Source(f"{FIRST_ROOM}hide.py", "def hide(): ...\n"),
    ),
    "judging is pure": (walls.judging_is_pure, Source(f"{FIRST_ROOM}x.py", "import time\n")),
    "modules say why": (walls.modules_say_why, Source("tools/x.py", '"""X"""\n')),
    "tests say what": (
        walls.tests_say_what,
        Source(A_TEST, "def test_x():\n    assert 1 == f()\n"),
    ),
    "tests can fail": (
        walls.tests_can_fail(walls.names_that_assert(sources())),
        Source(A_TEST, 'def test_x():\n    """It runs."""\n    print(1)\n'),
    ),
    "tests list no kinds": (
        walls.tests_list_no_kinds(tuple(frozenset(kinds) for kinds in DRAWERS.values())),
        Source(A_TEST, f"KINDS = {sorted(TRANSFORMS)[3:]}\n"),
    ),
    "nothing is unfinished": (walls.nothing_is_unfinished, Source("docs/x.md", "TO" + "DO later")),
    "no machine is named": (walls.no_machine_is_named, Source("docs/x.md", "see /ho" + "me/me")),
    "no registry is named": (walls.no_registry_is_named, Source("x.txt", "--index" + "-url x")),
    "fragments are sentences": (
        walls.fragments_are_sentences,
        Source("changes/x.new.md", "Something was added."),
    ),
}


@pytest.mark.parametrize("name", WALLS)
def test_wall_holds(name: str) -> None:
    """No file of the repository breaks the wall."""
    wall, _ = WALLS[name]
    assert [] == [breach for source in sources() for breach in wall(source)]


@pytest.mark.parametrize("name", WALLS)
def test_wall_sees_a_breach(name: str) -> None:
    """A breach planted for the wall is seen, so that the wall cannot be blind."""
    wall, planted = WALLS[name]
    assert 1 == len(list(wall(planted)))


@pytest.mark.parametrize(
    "line",
    ["from datetime import datetime\nx = datetime.now()", "from random import Random\nx = Random()",
     "import socket", "from uuid import uuid4", "import os\nx = os.urandom(4)"],
)  # fmt: skip
def test_impurity_is_seen(line: str) -> None:
    """Each way to ask the clock, the net or chance breaks the wall of the judging rooms."""
    assert list(walls.judging_is_pure(Source(f"{FIRST_ROOM}x.py", f"{line}\n")))


def test_a_drawer_holds_its_kinds_only() -> None:
    """A drawer is a folder whose files are its kinds: none is missing, none is left over."""
    for drawer, kinds in DRAWERS.items():
        files = {s.name for s in sources() if s.is_package and s.parts[-2] == drawer}
        assert files - {"__init__"} == {name for name in kinds if _is_inside(kinds[name])}


def _is_inside(kind: Any) -> bool:
    """Whether a kind comes with the package; those of other packages have no file here."""
    return kind is None or kind.__module__.startswith("rowkey.")
