"""The imports of `rowkey check`, which take most of its time."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidy.tree import ROOT, Source, read_sources

DESIGN = """\
table  = "logs"
key    = "[bucket(host, 16)][host][desc(ts)]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 40 }
ts   = "timestamp_ms"

[writes]
rate = "500/s"
for  = "60s"

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
"""
UNNEEDED_MODULES = {
    "numpy", "pyarrow", "rich", "rocksdict", "msgpack", "asyncio", "http.client", "ssl", "xml.sax",
    "urllib.request", "multiprocessing", "rowkey.simulate.simulator",
    "rowkey.advise.comparison_run", "rowkey.advise.drafts",
    "rowkey.table", "rowkey.catalog", "rowkey.engines", "rowkey.hbase",
    "rowkey.lint.sample_summary", "rowkey.lint.fixes", "rowkey.render.report",
    "rowkey.render.ddl", "rowkey.render.comparison", "rowkey.workload.sample_file",
    "rowkey.workload.workload_generator", "rowkey.workload.profile",
    "rowkey.workload.distributions.zipf", "rowkey.workload.formats.csv",
}  # fmt: skip
"""Modules that other commands or options need, but not `check FILE`."""


LISTING_CODE = """
import json, sys
from rowkey.cli import main
for options in {options!r}:
    sys.argv = ["rowkey", "check", "logs.toml", *options]
    try:
        main()
    except SystemExit as left:
        assert not left.code
print(json.dumps([*sys.modules]), file=sys.stderr)
"""


def find_loaded_modules(folder: Path, *options: list[str]) -> set[str]:
    """Return the modules that one process has imported after checks with some options."""
    run = subprocess.run(
        [sys.executable, "-c", LISTING_CODE.format(options=options)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert 0 == run.returncode, run.stdout + run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a valid design."""
    path = tmp_path_factory.mktemp("start")
    (path / "logs.toml").write_text(DESIGN)
    return path


@pytest.fixture(scope="module")
def loaded(folder: Path) -> set[str]:
    """Return the modules that checking the design imports."""
    return find_loaded_modules(folder, [])


def test_check_imports_no_numeric_or_network_library(loaded: set[str]) -> None:
    """A check imports no numeric library, no networking, and nothing that runs or simulates."""
    assert set() == UNNEEDED_MODULES & loaded


def test_options_of_check_import_the_modules_they_need(folder: Path) -> None:
    """Other options do import the unneeded modules, so their names above are right."""
    needed = {"xml.sax", "rowkey.lint.fixes"}
    assert needed <= UNNEEDED_MODULES
    assert needed <= find_loaded_modules(folder, ["-f", "sarif"], ["-f", "junit"], ["--fix"])


def test_check_writes_no_file(tmp_path: Path) -> None:
    """A check leaves no file in the folder, the home, the cache or the temporary folder."""
    (tmp_path / "logs.toml").write_text(DESIGN)
    folders = {name: str(tmp_path / name) for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR")}
    for path in folders.values():
        Path(path).mkdir()
    environment = {**os.environ, **folders, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("ROWKEY_CACHE_DIR", None)
    command = [sys.executable, "-P", "-m", "rowkey", "check", "logs.toml"]
    before = sorted(tmp_path.rglob("*"))
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, env=environment)
    assert before == sorted(tmp_path.rglob("*"))


def find_lazy_packages() -> Iterator[Source]:
    """Return the packages that import their files on first use."""
    for source in read_sources():
        is_package = source.is_package_file and source.name == "__init__"
        if is_package and "= build_lazy_getattr(" in source.text:
            yield source


@pytest.mark.parametrize("package", find_lazy_packages(), ids=lambda package: package.package)
def test_a_lazy_name_comes_from_the_file_its_package_declares(package: Source) -> None:
    """A lazy name comes from the file that the imports for type checkers name."""
    [declared] = [node for node in package.tree.body if isinstance(node, ast.If)]
    imports = {
        (node.module, alias.name, alias.asname or alias.name)
        for node in declared.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    [table] = [node for node in ast.walk(package.tree) if isinstance(node, ast.Dict)]
    lazy = set()
    for file, names in ast.literal_eval(table).items():
        for name in names.split():
            original, _, offered = name.partition("=")
            lazy.add((f"rowkey.{package.package}.{file}", original, offered or original))
    assert imports == lazy
    assert ROOT.joinpath(package.path).is_file()
