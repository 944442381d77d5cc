"""What `rowkey check` loads: most of its time is spent on loading, so each part is asked for."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkey.lint import RULES
from tidy.tree import ROOT, Source, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

DESIGN = """\
table  = "logs"
key    = "[bucket(host, 16)][host][desc(ts)]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 40 }
ts   = "timestamp_ms"

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
"""
DRAWERS = {
    "rowkey.keys.fields": {"text", "timestamp_ms"},
    "rowkey.keys.transforms": {"bucket", "desc", "salt"},  # a key asks for its salts by class
    "rowkey.regions.splits": {"per_bucket"},
    "rowkey.workload.draws": set(),
    "rowkey.workload.formats": set(),
    "rowkey.lint.rules": set(RULES),
}
"""The kinds that checking the design needs of each drawer."""
TOLD_APART = {
    "numpy", "pyarrow", "rich", "rocksdict", "msgpack", "asyncio", "http.client", "ssl", "xml.sax",
    "urllib.request", "multiprocessing", "rowkey.simulate", "rowkey.advise",
    "rowkey.table", "rowkey.catalog", "rowkey.engines", "rowkey.hbase", "rowkey.lint.seen",
    "rowkey.lint.fixing", "rowkey.render.report", "rowkey.render.ddl", "rowkey.render.comparisons",
    "rowkey.render.notices.sarif", "rowkey.render.notices.junit", "rowkey.workload.sample",
    "rowkey.workload.generate", "rowkey.workload.profile",
}  # fmt: skip
"""What other verbs need, or `check` with other words, but not `check FILE`."""


def loaded_by(folder: Path, *words: str) -> set[str]:
    """The modules that a process of the command has loaded at its end."""
    told = "atexit.register(lambda: print(json.dumps([*sys.modules]), file=sys.stderr))"
    start = f"import atexit, json, sys; {told}; sys.argv = ['rowkey', *{words!r}]"
    run = subprocess.run(
        [sys.executable, "-c", f"{start}; from rowkey.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert 0 == run.returncode, run.stdout + run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sound design in it."""
    place = tmp_path_factory.mktemp("start")
    (place / "logs.toml").write_text(DESIGN)
    return place


@pytest.fixture(scope="module")
def loaded(folder: Path) -> set[str]:
    """What checking the design loads."""
    return loaded_by(folder, "check", "logs.toml")


def test_checking_loads_nothing_that_others_need(loaded: set[str]) -> None:
    """No library of figures, no part of the net, and no room that runs, compares or simulates."""
    assert set() == TOLD_APART & loaded


@pytest.mark.parametrize("drawer", DRAWERS)
def test_a_drawer_loads_the_kinds_that_are_named(drawer: str, loaded: set[str]) -> None:
    """A kind that the file does not use is not read, and all rules are asked."""
    found = {name.rpartition(".")[2] for name in loaded if name.startswith(f"{drawer}.")}
    assert DRAWERS[drawer] == found


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (("-f", "sarif"), "rowkey.render.notices.sarif"),
        (("-f", "junit"), "rowkey.render.notices.junit"),
        (("--fix",), "rowkey.lint.fixing"),
    ],
)
def test_what_is_asked_for_is_loaded(words: tuple[str, ...], needed: str, folder: Path) -> None:
    """The names above are those of modules that are there: other words do load them."""
    assert needed in loaded_by(folder, "check", "logs.toml", *words)


def test_checking_twice_writes_no_file(tmp_path: Path) -> None:
    """`check` answers from the files it is given, and leaves none behind, wherever it could."""
    (tmp_path / "logs.toml").write_text(DESIGN)
    folders = {name: str(tmp_path / name) for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR")}
    for path in folders.values():
        Path(path).mkdir()
    environment = {**os.environ, **folders, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("ROWKEY_CACHE_DIR", None)
    command = [sys.executable, "-P", "-m", "rowkey", "check", "logs.toml"]
    before = sorted(tmp_path.rglob("*"))
    for _ in range(2):
        subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, env=environment)
    assert before == sorted(tmp_path.rglob("*"))


def rooms_ajar() -> Iterator[Source]:
    """The rooms that load their files when asked."""
    for source in sources():
        if source.is_package and source.name == "__init__" and "= lazily(" in source.text:
            yield source


@pytest.mark.parametrize("room", rooms_ajar(), ids=lambda room: room.room)
def test_a_room_says_the_same_to_readers_and_to_python(room: Source) -> None:
    """Each name comes from the file that the imports for type checkers say it comes from."""
    read = {
        (node.module, alias.name, alias.asname or alias.name)
        for node in ast.walk(room.tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"rowkey.{room.room}.")
        for alias in node.names
    }
    [table] = [node for node in ast.walk(room.tree) if isinstance(node, ast.Dict)]
    said = set()
    for file, names in ast.literal_eval(table).items():
        for name in names.split():
            held, _, offered = name.partition("=")
            said.add((f"rowkey.{room.room}.{file}", held, offered or held))
    assert read == said
    assert ROOT.joinpath(room.path).is_file()
