"""A transform of another package, found by its entry point, works like one of our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import test_vectors
from test_key_properties import CHECKS, check_decoding, check_images, check_traits
from test_mutants import MUTANT_EXAMPLES, UNCHANGED_EXAMPLES, is_mutant_caught

import strategies
from docs.blocks import ROOT, parse_blocks
from rowkey import plugins
from rowkey.errors import Unavailable
from rowkey.keys import TRANSFORMS

if TYPE_CHECKING:
    from test_mutants import Check

GUIDE = ROOT / "docs" / "guides" / "writing-a-plugin.md"
FILES = {block.file: block.text for block in parse_blocks(GUIDE.read_text("utf-8")) if block.file}
"""The files of the guide, so that the text readers copy is tested."""
ENTRY_POINTS = "[rowkey.kinds]\nweekday = weekday:Weekday\n"
ROW = '{"ts": "2021-01-01T12:00:00Z", "shop": 7}\n'
Outputs = dict[str, list[Any]]
FRIDAY_KEY_HEX = "04" + "00000007" + "000000005fef0ec0"


@pytest.fixture(scope="module")
def package_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed package that has a transform, and a design that uses it."""
    return install_package(tmp_path_factory.mktemp("outside"))


def install_package(
    folder: Path, entry_points: str = ENTRY_POINTS, replacements: Mapping[str, str] | None = None
) -> Path:
    """Write an installed package into a folder, with some replacements in its only module."""
    metadata = folder / "weekday-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weekday\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(entry_points)
    text = FILES["weekday.py"]
    for old, new in (replacements or {}).items():
        assert old in text
        text = text.replace(old, new)
    (folder / "weekday.py").write_text(text)
    (folder / "visits.toml").write_text(FILES["visits.toml"])
    return folder


def run_python(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python in a folder with the package on its path."""
    path = os.pathsep.join([str(folder), str(ROOT / "tests"), str(ROOT / "tests" / "keys")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


COMMANDS_SCRIPT = f"""
import json, sys
sys.path.append({str(ROOT)!r})
from click.testing import CliRunner
from rowkey.cli import get_command
from tools.reference import build_external_plugins_page

results = {{"page": (0, build_external_plugins_page(), "")}}
for name, words, stdin in json.load(sys.stdin):
    result = CliRunner().invoke(get_command(), words, input=stdin)
    results[name] = (result.exit_code, result.stdout, result.stderr)
json.dump(results, sys.stdout)
"""
COMMANDS: dict[str, tuple[list[str], str]] = {
    "encode": (["encode", "visits.toml"], ROW),
    "decode": (["decode", "visits.toml"], FRIDAY_KEY_HEX),
    # No rule of these searches for a better key.
    "check": (["check", "visits.toml", "--select", "RK6", "-f", "json"], ""),
    "splits": (["splits", "visits.toml", "--keys", "hex"], ""),
    "simulate": (["simulate", "short.toml", "-f", "json"], ""),
    "vectors": (["vectors", "visits.toml"], ""),
}


@pytest.fixture(scope="module")
def outputs(package_folder: Path) -> Outputs:
    """The exit code, output and errors of each command, all run by one process."""
    short = FILES["visits.toml"] + '\n[writes]\nrate = "1000/s"\nfor = "10s"\n'
    (package_folder / "short.toml").write_text(short)
    calls = [(name, *call) for name, call in COMMANDS.items()]
    result = run_python(package_folder, "-c", COMMANDS_SCRIPT, stdin=json.dumps(calls))
    assert (0, "") == (result.returncode, result.stderr)
    return dict(json.loads(result.stdout))


def test_the_commands_encode_and_decode_with_a_plugin(outputs: Outputs) -> None:
    """`rowkey encode` writes the byte of the plugin, and `rowkey decode` returns the row."""
    assert [0, FRIDAY_KEY_HEX + "\n", ""] == outputs["encode"]
    assert {"ts": 1_609_502_400, "shop": 7} == json.loads(outputs["decode"][1])


def test_reads_and_splits_work_with_a_transform_of_a_plugin(outputs: Outputs) -> None:
    """A read of a shop scans one range per weekday, and each weekday is a region."""
    assert [7] == [read["fan_out"] for read in json.loads(outputs["check"][1])["reads"]]
    assert [f"{day:02x}" for day in range(1, 7)] == outputs["splits"][1].split()


def test_a_simulation_names_the_cause_within_a_transform_of_a_plugin(outputs: Outputs) -> None:
    """All writes of an hour go to one weekday, and the report names that as the cause."""
    report = json.loads(outputs["simulate"][1])
    assert "hot" == report["writes"]["level"]
    assert 10_000 == report["operations"] == max(region["writes"] for region in report["regions"])
    assert ["time_only_bucket"] == [cause["code"] for cause in report["causes"]]


def test_the_reference_documents_a_plugin(outputs: Outputs) -> None:
    """The reference gets a section on the plugin, and `rowkey vectors` describes its bytes."""
    page = outputs["page"][1]
    assert "\n## weekday\n\n`weekday(x)`\n\nThe day of the week of a time in UTC" in page
    assert "| `[weekday(ts)]` | `ts: timestamp_s` | `ts = 0` | `03` |" in page
    assert "in UTC, in 1 byte, 00 for Monday" in outputs["vectors"][1]


@contextmanager
def use_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process find the package of a folder during a block."""
    with monkeypatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(plugins, "_list_entry_points", cache(plugins._list_entry_points.__wrapped__))
        patch.delitem(sys.modules, "weekday", raising=False)
        vars(TRANSFORMS).pop("plugins", None)
        try:
            yield
        finally:
            sys.modules.pop("weekday", None)
            vars(TRANSFORMS).pop("plugins", None)


def test_a_plugin_passes_the_property_tests(
    package_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys with the plugin have every property, and its golden vectors their bytes."""
    with use_package(package_folder, monkeypatch):
        for check in CHECKS:
            assert not is_mutant_caught(check, strategies.keys("weekday"), UNCHANGED_EXAMPLES)
        vectors = TRANSFORMS["weekday"].vectors
        assert vectors
        for vector in vectors:
            test_vectors.test_each_row_has_the_bytes_of_its_golden_vector(vector)
            test_vectors.test_each_row_of_a_batch_has_the_bytes_of_its_golden_vector(vector)
            test_vectors.test_golden_vectors_decode_to_their_rows(vector)


@pytest.mark.long
def test_pytest_finds_and_tests_a_plugin_by_its_package(package_folder: Path) -> None:
    """The property tests and the tests of golden vectors find the plugin by its package."""
    # The reference encoder is left out: it is written by hand for rowkey's own transforms.
    files = [
        str(ROOT / "tests" / "keys" / name)
        for name in ("test_key_properties.py", "test_vectors.py")
    ]
    options = ["-q", "-k", "weekday and not reference_encoder", f"--rootdir={ROOT}"]
    result = run_python(
        package_folder, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *options, *files
    )
    assert 0 == result.returncode, result.stdout
    assert 9 == int(result.stdout.rpartition(" passed")[0].split()[-1])


MUTANTS: dict[str, tuple[Check, dict[str, str]]] = {
    "there is one day": (
        check_traits,
        {"self.cardinality = 7": "self.cardinality = 1"},
    ),
    "reads need no Sunday": (
        check_images,
        {"in range(7))": "in range(6))"},
    ),
    "it changes once a week": (
        check_traits,
        {"resolution_ns = DAY_NS": "resolution_ns = 7 * DAY_NS"},
    ),
    "its bytes hold the time": (
        check_decoding,
        {"    def describe_encoding": "    def residue(self, name):\n"
         "        return __import__('rowkey.keys').keys.Residue()\n\n    def describe_encoding"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("mutant_name", MUTANTS)
def test_a_mutant_of_a_plugin_is_caught(
    mutant_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that the plugin passes fails for the plugin with a planted mistake."""
    check, replacements = MUTANTS[mutant_name]
    folder = install_package(tmp_path, replacements=replacements)
    with use_package(folder, monkeypatch):
        assert is_mutant_caught(check, strategies.keys("weekday"), MUTANT_EXAMPLES)


IMPORTS_SCRIPT = """
import os, sys
import numpy, pyarrow, pydantic  # once for all
codes = []
for first in sys.argv[1:]:
    if not (child := os.fork()):
        exec(f"import {first}, weekday\\nfrom rowkey.keys import TRANSFORMS")
        assert TRANSFORMS["weekday"] is weekday.Weekday
        sys.exit()
    codes.append(os.waitpid(child, 0)[1])
sys.exit(any(codes))
"""


def test_a_plugin_may_be_imported_before_or_after_rowkey(package_folder: Path) -> None:
    """The registry holds the class of the plugin's module in any order of imports."""
    orders = ["weekday", "rowkey.keys", "rowkey.simulate"]
    result = run_python(package_folder, "-c", IMPORTS_SCRIPT, *orders)
    assert (0, "") == (result.returncode, result.stderr)


MESSAGES_BY_ENTRY_POINT = {
    "weekday:Missing": "the plugin cannot be imported: AttributeError: module 'weekday' has no",
    "nowhere:Weekday": "the plugin cannot be imported: ModuleNotFoundError: No module",
    "weekday:DAY_NS": "86400000000000 is not a plugin; expected a class derived from a plugin base",
    "json:JSONDecoder": "<class 'json.decoder.JSONDecoder'> is not a plugin; expected a class",
    "rowkey.keys:Transform": "Transform does not define encode, framing; expected a class without",
    "rowkey.keys.transforms.mod:ModTransform": (
        "the plugin name 'mod' is already used by rowkey.keys.transforms.mod"
    ),
}


def find_transforms(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of all transforms with those of a package in a folder."""
    with use_package(folder, monkeypatch):
        return list(TRANSFORMS)


@pytest.mark.parametrize("value", MESSAGES_BY_ENTRY_POINT)
def test_an_invalid_entry_point_is_named(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error begins with the entry point and has one line."""
    folder = install_package(tmp_path, ENTRY_POINTS.replace("weekday:Weekday", value))
    with pytest.raises(Unavailable) as error:
        find_transforms(folder, monkeypatch)
    expected = f"entry point rowkey.kinds, weekday = {value}: {MESSAGES_BY_ENTRY_POINT[value]}"
    assert str(error.value).startswith(expected)
    assert 1 == len(str(error.value).splitlines())


def test_a_command_prints_an_invalid_entry_point_in_one_line(tmp_path: Path) -> None:
    """The error line of a command names the entry point once."""
    folder = install_package(tmp_path, ENTRY_POINTS.replace("weekday:Weekday", "weekday:Missing"))
    result = run_python(folder, "-m", "rowkey", "check", "visits.toml")
    assert (4, "", 1) == (result.returncode, result.stdout, result.stderr.count("\n"))
    assert 1 == result.stderr.count("entry point rowkey.kinds, weekday = weekday:Missing: ")


def test_a_plugin_with_an_invalid_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plugin name that a key cannot contain is refused when the plugin is loaded."""
    folder = install_package(tmp_path, replacements={'name = "weekday"': 'name = "Week day"'})
    message = "the plugin name of Weekday is 'Week day'; expected lower-case letters"
    with pytest.raises(Unavailable, match=message):
        find_transforms(folder, monkeypatch)


def test_without_its_package_there_is_no_transform_of_the_plugin() -> None:
    """Without the package there is no transform of that name."""
    assert "weekday" not in TRANSFORMS
