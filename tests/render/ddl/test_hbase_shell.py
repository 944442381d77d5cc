"""The text for HBase's shell, run by a real Ruby, creates the right table."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, given, settings

from oracles.plugin import LEFT_OUT, REQUIRED
from render.ddl.conftest import HERE, PATIENCE_S
from render.ddl.random_tables import ANYTHING, NAMES, draw_creations
from rowkey.cells import ATTRIBUTES, Family
from rowkey.hbase import build_table_schema
from rowkey.render import DIALECTS, CreateStatement

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SCRIPT = DIALECTS["hbase_shell"]
CONSTANTS = [
    "NAME",
    "METADATA",
    "CONFIGURATION",
    "SPLITS",
    *(a.hbase_name for a in ATTRIBUTES.values()),
]
"""What is written without quotes: the shell makes constants of HBase's names of attributes."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the texts."""
    return tmp_path_factory.mktemp("shell")


def run_in_ruby(
    ruby: str, folder: Path, creations: Sequence[CreateStatement], *flags: str
) -> list[dict[str, Any]]:
    """Return the recorded calls of each text in Ruby, run without a locale, with all warnings."""
    files = []
    for number, creation in zip(count(), creations, strict=False):
        text = "".join(f"{line}\n" for line in SCRIPT(creation))
        assert text.isascii()
        files.append(folder / f"{number}.rb")
        files[-1].write_bytes(text.encode())
    done = subprocess.run(
        [ruby, "-w", HERE / "recorder.rb", ",".join(CONSTANTS), *flags, *files],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
    )
    assert (0, "") == (done.returncode, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_random_attributes(creation: CreateStatement, found: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded call without its random attributes, which are checked here."""
    words = dict(found["words"])
    for word in creation.random_attributes:
        assert re.fullmatch("[0-9a-f]{16}", bytes.fromhex(words.pop(word.encode().hex())).decode())
    return {**found, "words": words}


def encode_hex(words: Any) -> dict[str, str]:
    """Return attributes in hexadecimal, as the recorder prints them."""
    return {word.encode().hex(): value.encode().hex() for word, value in words.items()}


def build_expected_call(creation: CreateStatement) -> dict[str, Any]:
    """Return the call that Ruby should record."""
    table = creation.table
    return {
        "name": table.name.encode().hex(),
        "namespaces": [creation.namespace.encode().hex()] if creation.namespace else [],
        "families": [
            [one.name.encode().hex(), encode_hex(one.attributes), encode_hex(one.configuration)]
            for one in table.families
        ],
        "words": encode_hex(table.attributes),
        "splits": [key.hex() for key in creation.splits],
        "said": "",
    }


@given(drawn=st.lists(draw_creations(NAMES | ANYTHING), min_size=1, max_size=20))
# Each step of shrinking starts a Ruby.
@settings(max_examples=15 if IS_LONG else 3, phases=[Phase.generate])
def test_names_attributes_and_keys_pass_ruby_unchanged(
    ruby: str, folder: Path, drawn: list[CreateStatement]
) -> None:
    """Names, attributes and keys pass Ruby unchanged, also with quotes, #{} and NUL."""
    found = run_in_ruby(ruby, folder, drawn)
    assert [build_expected_call(one) for one in drawn] == list(
        map(check_random_attributes, drawn, found)
    )


def test_the_same_shell_text_creates_tables_with_different_random_attributes(
    ruby: str, folder: Path
) -> None:
    """The same text creates two tables with different random attributes."""
    creation = CreateStatement(
        build_table_schema("t", [Family("d")], {}), (), (), ("rowkey.table_id",)
    )
    one, other = run_in_ruby(ruby, folder, [creation, creation])
    assert one["words"] != other["words"]
    assert check_random_attributes(creation, one) == check_random_attributes(creation, other)


def test_an_attribute_of_several_lines_passes_ruby_unchanged(ruby: str, folder: Path) -> None:
    """A text with several lines is written line by line and passes Ruby unchanged."""
    for text in ("a\nb\n", "a\n\n#{b}", "\n\n"):
        creation = CreateStatement(build_table_schema("t", [Family("d")], {"word": text}))
        assert [build_expected_call(creation)] == run_in_ruby(ruby, folder, [creation])
    assert ["    'word' =>", '      "a\\n" \\', '      "b\\n"'] == list(
        SCRIPT(CreateStatement(build_table_schema("t", [Family("d")], {"word": "a\nb\n"})))
    )[4:7]


def test_ten_thousand_and_very_long_split_keys_pass_ruby_unchanged(ruby: str, folder: Path) -> None:
    """Ten thousand split keys, and one of the largest length, pass Ruby unchanged."""
    keys = [*(n.to_bytes(2) for n in range(1, 10_000)), b"\xff" * 32_000]
    creation = CreateStatement(build_table_schema("t", [Family("d")], {}), keys)
    assert [build_expected_call(creation)] == run_in_ruby(ruby, folder, [creation])


def test_the_shell_text_creates_a_table_in_an_existing_namespace(ruby: str, folder: Path) -> None:
    """If the namespace exists, the text says so and creates the table."""
    creation = CreateStatement(build_table_schema("shop:orders", [Family("d")], {}), [b"m"])
    told = "The namespace was not created: Namespace shop already exists\n"
    assert [{**build_expected_call(creation), "said": told}] == run_in_ruby(
        ruby, folder, [creation], "exists"
    )


def test_a_family_without_ttl_is_written_as_forever(ruby: str, folder: Path) -> None:
    """A family without ttl is written as FOREVER, which HBase's shell prints."""
    creation = CreateStatement(
        build_table_schema("t", [Family("d")], {}, explicit_defaults=["TTL"])
    )
    assert "  {NAME => 'd', TTL => 'FOREVER'}" in list(SCRIPT(creation))
    assert [build_expected_call(creation)] == run_in_ruby(ruby, folder, [creation])


TAKES_THE_FIXTURE = '''
def test_text(ruby):
    """Needs a Ruby."""
    raise AssertionError("reached without Ruby")
'''


@pytest.mark.parametrize(
    ("required", "code", "message"),
    [pytest.param("0", 0, LEFT_OUT, marks=pytest.mark.long), ("1", 1, REQUIRED)],
)
def test_without_ruby_shell_tests_are_skipped_or_fail_if_required(
    tmp_path: Path, required: str, code: int, message: str
) -> None:
    """Without Ruby the test is skipped loudly, or fails where Ruby is required."""
    (tmp_path / "test_it.py").write_text(TAKES_THE_FIXTURE)
    plugins = ("-p", "oracles.plugin", "-p", "render.ddl.conftest", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins],
        cwd=tmp_path,
        env={
            "PATH": str(tmp_path),
            "PYTHONPATH": str(HERE.parents[1]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            REQUIRED: required,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert code == done.returncode
    assert message in done.stdout
    assert "ruby is not found in path" in done.stdout.lower()
