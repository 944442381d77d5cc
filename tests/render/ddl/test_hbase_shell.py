"""The text for HBase's shell, run by a real Ruby: it asks for the table it was made from."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, given, settings

from oracles.plugin import LEFT_OUT, REQUIRED
from render.ddl.conftest import HERE, PATIENCE_S
from render.ddl.drawn import ANYTHING, NAMES, creations
from rowkey.cells import ATTRIBUTES, Family
from rowkey.hbase import build_table_schema
from rowkey.render import DIALECTS, CreateStatement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    """Where the texts are written."""
    return tmp_path_factory.mktemp("shell")


def recorded(
    ruby: str, folder: Path, creations: Sequence[CreateStatement], *flags: str
) -> list[dict[str, Any]]:
    """What Ruby was asked for by each text; it is run without a locale, with all its warnings."""
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


def without_drawn(creation: CreateStatement, found: dict[str, Any]) -> dict[str, Any]:
    """What Ruby was asked for, but for words that it has drawn, which are looked at here."""
    words = dict(found["words"])
    for word in creation.random_attributes:
        assert re.fullmatch("[0-9a-f]{16}", bytes.fromhex(words.pop(word.encode().hex())).decode())
    return {**found, "words": words}


def hexes(words: Any) -> dict[str, str]:
    """Words as the recorder prints them."""
    return {word.encode().hex(): value.encode().hex() for word, value in words.items()}


def asked(creation: CreateStatement) -> dict[str, Any]:
    """What Ruby should be asked for."""
    table = creation.table
    return {
        "name": table.name.encode().hex(),
        "namespaces": [creation.namespace.encode().hex()] if creation.namespace else [],
        "families": [
            [one.name.encode().hex(), hexes(one.attributes), hexes(one.configuration)]
            for one in table.families
        ],
        "words": hexes(table.attributes),
        "splits": [key.hex() for key in creation.splits],
        "said": "",
    }


@given(drawn=st.lists(creations(NAMES | ANYTHING), max_size=20))
# Each step of shrinking starts a Ruby.
@settings(max_examples=15 if IS_LONG else 8, phases=[Phase.generate])
def test_the_shell_is_asked_for_the_same_table(
    ruby: str, folder: Path, drawn: list[CreateStatement]
) -> None:
    """Names, words and keys come through Ruby as they are, with quotes, #{} and NUL in them."""
    found = recorded(ruby, folder, drawn)
    assert [asked(one) for one in drawn] == list(map(without_drawn, drawn, found))


def test_what_is_drawn_is_drawn_each_time(ruby: str, folder: Path) -> None:
    """The same text makes two tables that are told apart."""
    creation = CreateStatement(
        build_table_schema("t", [Family("d")], {}), (), (), ("rowkey.table_id",)
    )
    one, other = recorded(ruby, folder, [creation, creation])
    assert one["words"] != other["words"]
    assert without_drawn(creation, one) == without_drawn(creation, other)


def test_a_text_of_lines_stands_line_by_line(ruby: str, folder: Path) -> None:
    """As people read it, and as it was; so does one that does not end with its last line."""
    for text in ("a\nb\n", "a\n\n#{b}", "\n\n"):
        creation = CreateStatement(build_table_schema("t", [Family("d")], {"word": text}))
        assert [asked(creation)] == recorded(ruby, folder, [creation])
    assert ["    'word' =>", '      "a\\n" \\', '      "b\\n"'] == list(
        SCRIPT(CreateStatement(build_table_schema("t", [Family("d")], {"word": "a\nb\n"})))
    )[4:7]


def test_long_keys_and_many(ruby: str, folder: Path) -> None:
    """Ten thousand keys, and one that is as long as a key may be."""
    keys = [*(n.to_bytes(2) for n in range(1, 10_000)), b"\xff" * 32_000]
    creation = CreateStatement(build_table_schema("t", [Family("d")], {}), keys)
    assert [asked(creation)] == recorded(ruby, folder, [creation])


def test_a_namespace_that_is_there(ruby: str, folder: Path) -> None:
    """Where the namespace is there, that is told, and the table is created nevertheless."""
    creation = CreateStatement(build_table_schema("shop:orders", [Family("d")], {}), [b"m"])
    told = "The namespace was not created: Namespace shop already exists\n"
    assert [{**asked(creation), "said": told}] == recorded(ruby, folder, [creation], "exists")


def test_a_lifetime_without_end_has_its_name(ruby: str, folder: Path) -> None:
    """What HBase's shell prints for a family without TTL is what it reads."""
    creation = CreateStatement(
        build_table_schema("t", [Family("d")], {}, explicit_defaults=["TTL"])
    )
    assert "  {NAME => 'd', TTL => 'FOREVER'}" in list(SCRIPT(creation))
    assert [asked(creation)] == recorded(ruby, folder, [creation])


TAKES_THE_FIXTURE = '''
def test_text(ruby):
    """Needs a Ruby."""
    raise AssertionError("reached without Ruby")
'''


@pytest.mark.parametrize(("required", "code", "says"), [("0", 0, LEFT_OUT), ("1", 1, REQUIRED)])
def test_without_ruby(tmp_path: Path, required: str, code: int, says: str) -> None:
    """Where there is no Ruby the test is left out loudly, or fails where it is required."""
    (tmp_path / "test_it.py").write_text(TAKES_THE_FIXTURE)
    plugins = ("-p", "oracles.plugin", "-p", "render.ddl.conftest", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "PYTHONPATH": str(HERE.parents[1]), REQUIRED: required},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert code == done.returncode
    assert says in done.stdout
    assert "ruby is not found in path" in done.stdout.lower()
