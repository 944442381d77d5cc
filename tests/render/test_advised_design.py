"""A proposed design is written into the declared file, whose comments and layout stay."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey import Design
from rowkey.render import format_advised_design

LINES = (
    (None, 'table  = "orders"'),
    (None, 'key    = "[at][user][number]"'),
    (None, 'splits = { algorithm = "uniform", regions = 16 }'),
    (None, "[fields]"),
    (None, 'user   = { type = "text", max_bytes = 8 }'),
    (None, 'at     = "timestamp_s"'),
    (None, 'number = "u64"'),
    (None, "[families.d]"),
    (None, "versions = 1"),
    (None, "[[reads]]"),
    ("latest", 'name  = "latest"'),
    ("latest", 'where = "user = ?"'),
    (None, "[[reads]]"),
    ("one", 'name  = "one"'),
    ("one", 'where = "number = ?"'),
    (None, "[[reads]]"),
    ("day", 'name  = "day"'),
    ("day", 'where = "at >= ? and at < ?"'),
    (None, "[writes]"),
    (None, 'time = "at"'),
)
"""The lines of a design file, each with the read that a comment in it or above it belongs to."""
KEY = "[bucket(user, 16)][user][desc(at)][number]"


def format_proposal(declared: Design, folder: Path = Path(), **changed: Any) -> tuple[str, Design]:
    """Return the file of a proposed design, and the design."""
    options = declared.declaration.model_dump(by_alias=True, exclude_defaults=True)
    proposed = Design(**{**options, **changed})
    decisive = SimpleNamespace(grade="good", subject="writes", message="even")
    judged: Any = SimpleNamespace(
        design=proposed,
        verdict=SimpleNamespace(decisive=decisive),
        simulation=SimpleNamespace(source=SimpleNamespace(name="")),
    )
    declared_design = SimpleNamespace(
        design=declared, simulation=SimpleNamespace(design=declared.keep_own_reads({}))
    )
    advice: Any = SimpleNamespace(
        recommendation=(judged,), declared=declared_design, is_complete=True
    )
    return format_advised_design(advice, judged, folder / "better.toml"), proposed


def list_comments(text: str) -> list[str]:
    """Return the numbers of the comments of a text, in order."""
    return re.findall(r"# c(\d+)", text)


@given(
    comments=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=20, max_size=20),
    kept=st.sets(st.sampled_from(["latest", "one", "day"]), min_size=1),
    has_heavy=st.booleans(),
    ending=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_a_proposed_design_file_keeps_other_options_and_comments(
    comments: list[tuple[bool, bool]], kept: set[str], *, has_heavy: bool, ending: str, mark: str
) -> None:
    """The file means the proposed design; no comment is lost but those of reads that are gone."""
    lines, expected = ["# c999", ""], ["999"]
    for number, ((read, line), (is_above, is_behind)) in enumerate(
        zip(LINES, comments, strict=True)
    ):
        is_header = line.startswith("[")
        if is_header:
            lines.append("")
        if is_above and line != "[[reads]]":
            lines.append(f"# c{number}")
        lines.append(f"{line}  # c{100 + number}" if is_behind and not is_header else line)
        if read is None or read in kept:
            if is_above and line != "[[reads]]":
                expected.append(f"{number}")
            if is_behind and not is_header:
                expected.append(f"{100 + number}")
    text = mark + ending.join([*lines, ""])
    declared = Design.loads(text)
    options = declared.declaration.model_dump(by_alias=True, exclude_defaults=True)
    changed: dict[str, Any] = {
        "key": KEY,
        "splits": "per_bucket",
        "reads": [one for one in options["reads"] if one["name"] in kept],
    }
    if has_heavy:
        changed["fields"] = {**options["fields"], "number": {"type": "u64", "heavy": [7]}}
    written, proposed = format_proposal(declared, **changed)
    assert expected == list_comments(written)
    assert proposed.dumps(defaults=False) == Design.loads(written).dumps(defaults=False)
    assert written.count("\n") == written.count(ending)
    assert mark == written[: len(mark)]
    assert "# Proposed by rowkey advise, in place of [at][user][number]. GOOD: writes" in written
    assert [f'key    = "{KEY}"'] == [one[: len(KEY) + 11] for one in written.split(ending)
                                    if one.startswith("key")]  # fmt: skip
    again, _ = format_proposal(Design.loads(written), key="[bucket(user, 4)][user][at][number]")
    assert expected == list_comments(again)
    assert 1 == again.count("Proposed by rowkey advise")
    key_place = next(number for number, (_, line) in enumerate(LINES) if line.startswith("key"))
    is_described = comments[key_place][0]
    assert is_described is ('# before: key = "[at][user][number]"' in written)
    assert written.count("# before: ") == again.count("# before: ") == is_described


@pytest.mark.parametrize("splits", ["[splits]\nalgorithm = 'uniform'\nregions = 4\n", ""])
def test_a_file_that_cannot_be_edited_in_place_is_written_as_a_whole(splits: str) -> None:
    """Where an option is a table with a header, the whole file is written."""
    text = "table = 't'\nkey = '[id][n]'\nreads = [{ name = 'r', where = 'n = ?' }]\n"
    declared = Design.loads(f"{text}{splits}[fields]\nid = 'u64' # c1\nn = 'u64'\n")
    written, proposed = format_proposal(
        declared, key="[bucket(n, 4)][n][id]", splits="per_bucket", reads=[]
    )
    assert written.startswith("# Proposed by rowkey advise.\n# GOOD: writes: even.\n\ntable")
    assert proposed.dumps(defaults=False) == Design.loads(written).dumps(defaults=False)


def test_a_proposed_design_keeps_the_declared_companions(tmp_path: Path) -> None:
    """A proposed key keeps the declared companions, whose paths are relative to the new file."""
    fields = '[fields]\nid = "u64"\nn = "u64"\n'
    (tmp_path / "by_n.toml").write_text(f'table = "by_n"\nkey = "[n][id]"\n{fields}')
    text = f'table = "t"\nkey = "[id][n]"\ncompanions = {{ by_n = "by_n.toml" }} # c1\n{fields}'
    (tmp_path / "t.toml").write_text(text)
    folder = tmp_path / "new"
    folder.mkdir()
    declared = Design.read(tmp_path / "t.toml")
    written, _ = format_proposal(declared, folder, key="[bucket(id, 4)][id][n]", companions={})
    assert {"by_n": "../by_n.toml"} == tomllib.loads(written)["companions"]
    (folder / "better.toml").write_text(written)
    assert ["by_n"] == list(Design.read(folder / "better.toml").companions)
    salted, _ = format_proposal(declared, folder, key="[salt(4)][id][n]", companions={})
    assert "companions" not in tomllib.loads(salted)
