"""`rowkey check` of hostile files ends soon and prints readable output in every format."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import run
from cli.test_notices import parse_github, reject_constant
from design.measurement import measure_yard_s
from design.test_hostile import BASE, MEASURE, MOST_MEGABYTES, MOST_YARDS, SPOILERS, TRIES
from lint.layouts import write_layout
from rowkey import Design
from rowkey.design import build_json_schema, derive_properties
from rowkey.errors import InvalidDesign
from rowkey.lint import RULES, check_design
from rowkey.render import (
    CheckedFile,
    build_check_document,
    build_mistakes_document,
    build_sarif_document,
    format_check,
    format_github_commands,
    format_junit,
)
from rowkey.workload import open_sample

# Long files: comments, lists and findings

CHOICES = "[" + ",".join(f"'{n:x}'" for n in range(19_000)) + "]"
READS = "".join(
    f"[[reads]]\nname = 'r{n}'\nwhere = 'ts > ? and ts < ?'\norder = 'ts desc'\n"
    for n in range(190)
)
LONG = {
    "allow_dashes": BASE + "# rowkey: allow " + "-" * 250_000 + "!",
    "allow_spaces": BASE + "# rowkey: allow a" + " " * 250_000 + "!",
    "allow_commas": BASE + "# rowkey: allow a" + " ," * 120_000 + "!",
    "allow_words": BASE + "# rowkey: allow a" + "-a" * 120_000 + "- !",
    "allow_because": BASE + "# rowkey: allow a" + " because" * 30_000,
    "allow_names": BASE + "# rowkey: allow " + ", ".join(["a"] * 60_000) + " - b",
    "allow_lines": BASE + "# rowkey: allow a-b - c\n" * 10_500,
    "comment_of_quotes": BASE + "x = 1 #" + '"""' * 80_000,
    "families": BASE + "".join(
        f"[families.f{n:03}]\nblock_size = 1048576\nbloom = 'NONE'\ncompression = 'GZ'\n"
        "in_memory = true\nversions = 1000\nttl = '1s'\nblock_cache = false\nmin_versions = 5\n"
        for n in range(95)
    ),
    "fields": BASE.replace(
        "[families.d]",
        "".join(f"f{n} = {{ type = 'text', qualifier = '{'q' * 99}{n}' }}\n" for n in range(900))
        + "\n[families.d]",
    ),
    "reads_of_choices": BASE.replace("[bucket(host, 16)]", "[c]").replace(
        "[families.d]", f"c = {{ type = 'choice', of = {CHOICES} }}\n\n[families.d]"
    ) + READS,
    "reads_of_regions": BASE.replace(
        '"per_bucket"', "{ algorithm = 'uniform', regions = 100000 }"
    ) + READS,
}  # fmt: skip
"""Valid files of up to 256 kB with long texts that the rules read."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
TEXT_NAMES = [*LONG][1::2] if IS_LONG else ["fields"]
QUICK_NAMES = ("allow_words", "families")
"""A long name of a rule, and many findings."""
SARIF_NAMES = [*LONG] if IS_LONG else QUICK_NAMES
FORMS_AND_NAMES = [
    *(("sarif", name) for name in SARIF_NAMES),
    *(("text", name) for name in TEXT_NAMES),
]
"""Every file in the longest format, and some in the one for readers."""


@pytest.fixture(scope="module")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the measurements by command and name."""
    words = [sys.executable, str(MEASURE), str(TRIES)]
    for form in ("text", "sarif"):
        folder = tmp_path_factory.mktemp("long")
        for name in (name for one, name in FORMS_AND_NAMES if one == form):
            (folder / name).write_text(LONG[name], "utf-8")
        words += [f"check -f {form}", str(folder)]
    done = subprocess.run(words, capture_output=True, check=True, timeout=300)
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("form", "name"), FORMS_AND_NAMES)
def test_checking_a_long_file_is_limited_in_time_memory_and_output(
    form: str, name: str, measurements: dict[str, dict[str, Any]]
) -> None:
    """A check takes less than 20 yards of processor time, 200 MB and 3 MB of output."""
    found = measurements[f"check -f {form} {name}"]
    assert found["code"] in (0, 1)
    assert "" == found["err"]
    assert found["yards"] < MOST_YARDS
    assert found["megabytes"] < MOST_MEGABYTES
    assert len(found["out"]) < 3_000_000


def test_only_the_first_of_many_findings_of_a_rule_are_printed() -> None:
    """Of many findings of a rule the first are printed, and the rest are counted."""
    found = check_design(Design.loads(LONG["allow_names"])).findings
    told = [one for one in found if one.code == "RK002"]
    expected = (1_001, "59,000 more findings of this rule are not listed")
    assert expected == (len(told), told[-1].message)


# Thousands of files in this process


def measure_check(data: bytes, form: str) -> float:
    """Return the processor time, in yards, to check a file and format the result."""
    start = process_time()
    text = data.decode("utf-8", "surrogateescape")
    lines: list[str]
    try:
        design = Design.loads(text, source="design.toml")
    except InvalidDesign as problem:
        one = CheckedFile("design.toml", problem.mistakes)
        lines, document = (
            str(problem).split("\n"),
            build_mistakes_document("design.toml", one.mistakes),
        )
        assert all(line[-1] in ".…?" for line in lines)
    else:
        judged = check_design(design)
        found = derive_properties(design)
        one = CheckedFile("design.toml", (), judged, design.source)
        lines = list(format_check("design.toml", design, found, judged))
        document = build_check_document("design.toml", design, found, judged)
    assert all(line.isprintable() for line in lines)
    json.loads(json.dumps(document), parse_constant=reject_constant)
    if form == "sarif":
        json.loads(json.dumps(build_sarif_document([one])), parse_constant=reject_constant)
    elif form == "junit":
        cases = fromstring("\n".join(format_junit([one], "warning")).encode()).iter("testcase")
        assert list(cases)
    else:
        parse_github("\n".join(format_github_commands([one])))
    return (process_time() - start) / measure_yard_s()


@cache
def list_trees() -> list[dict[str, Any]]:
    """Return the example designs of every rule as trees."""
    texts = [text for rule in RULES.values() for text in (rule.bad_design, rule.good_design)]
    return [tomllib.loads(text) for text in [*texts, BASE]]


@cache
def list_options() -> dict[str, list[str]]:
    """Return the options of each table of a design file, from the JSON Schema."""
    schema = build_json_schema()
    tables = {"": schema["properties"], "fields": schema["$defs"]["FieldDeclaration"]["properties"]}
    for word, kind in (
        ("writes", "WriteDeclaration"),
        ("cluster", "ClusterDeclaration"),
        ("reads", "ReadDeclaration"),
    ):
        tables[word] = schema["$defs"][kind]["properties"]
    tables["families"] = schema["properties"]["families"]["additionalProperties"]["properties"]
    return {table: sorted(known) for table, known in tables.items()}


HOSTILE: list[Any] = [
    "", "a", "é", "e\u0301", "\u202e", "x" * 300, "16EiB", "1ns", "9" * 18 + "d", "1e999/s", "?",
    "[", "[host", "[ts][ts]", "[bucket(ts, 65536)]" * 9, "host = ? and host = ?", "ts desc, ts asc",
    "(a+)+$", "NONE", "{}", "rest", 0, 1, -1, 2**31, 2**63, 2**64, 10**38, 1e308, float("inf"),
    float("-inf"), float("nan"), -0.0, True, False, [], {}, [[]], [{}], ["a", "a"], [1, "a"],
    {"kind": "zipf"}, {"kind": "none"}, {"type": "u8"},
]  # fmt: skip
"""Values that are wrong for almost every option."""


def change_option(tree: Any, chance: random.Random) -> Any:
    """Return a tree with one option changed, removed or added."""
    if not isinstance(tree, dict):
        return chance.choice(HOSTILE)
    copy = dict(tree)
    word = chance.choice([*copy, ""])
    if word and chance.random() < 0.7:
        copy[word] = change_option(copy[word], chance)
    elif word and chance.random() < 0.3:
        copy.pop(word)
    else:
        table = chance.choice([*list_options()])
        copy[chance.choice([*list_options()[table], "a b", "é", "x" * 300])] = chance.choice(
            HOSTILE
        )
    return copy


@given(st.integers(0, 2**32))
def test_designs_with_wrong_options_are_checked_in_every_output_format(seed: int) -> None:
    """Example designs with wrong options are checked in every format without a failure."""
    chance = random.Random(seed)
    for _ in range(20 if IS_LONG else 8):
        tree = chance.choice(list_trees())
        for _ in range(chance.randint(1, 3)):
            tree = change_option(tree, chance)
        assert_quick(format_toml(tree, chance).encode("utf-8", "surrogatepass"), chance)


def format_toml(tree: dict[str, Any], chance: random.Random) -> str:
    """Return a tree as TOML in a random layout."""
    text = write_layout(tree, chance)
    return text.replace("Infinity", "inf").replace("NaN", "nan")


@given(st.integers(0, 2**32))
def test_designs_with_changed_bytes_are_checked_in_every_output_format(seed: int) -> None:
    """Example designs with changed bytes are checked in every format without a failure."""
    chance = random.Random(seed)
    for _ in range(40 if IS_LONG else 16):
        data = format_toml(chance.choice(list_trees()), chance).encode()
        for _ in range(chance.randint(1, 4)):
            at, width = chance.randrange(len(data)), chance.randrange(6)
            spoiler = chance.choice(
                [
                    bytes([chance.randrange(256)]),
                    chance.choice(SPOILERS).encode("utf-8", "surrogatepass"),
                    data[chance.randrange(len(data)) :][: chance.randrange(40)],
                ]
            )
            data = data[:at] + spoiler + data[at + width :]
        assert_quick(data, chance)


def assert_quick(data: bytes, chance: random.Random) -> None:
    """Check that the best of three tries takes less than 20 yards of processor time."""
    form = chance.choice(["sarif", "junit", "github", "github", "github"])
    assert any(measure_check(data, form) < MOST_YARDS for _ in range(TRIES)), data


# Samples that a design names

SAMPLES = {
    "a\\u0000b.csv": "the path contains a zero byte",
    "pipe.csv": "is a pipe, which can be read only once",
    "zeros.csv": "is not a regular file",
    "loop.csv": "Too many levels of symbolic links",
    "folder.csv": "Is a directory",
    "a" * 5_000 + ".csv": "File name too long",
    "\\u001b[31m.csv": "\\x1b[31m.csv: there is no such file",
    "../../../../../../../etc/hostname": "the format of a file with the suffix",
    "http://127.0.0.1:1/rows.csv": "there is no such file",
    "design.toml/rows.csv": "Not a directory",
}
"""Names of unusable samples with their messages."""


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("form", ["", 'format = "csv"\n'])
def test_an_unusable_sample_is_reported_and_the_design_checked_without_it(
    name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unusable sample is reported in a line, and the design is checked without it."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    Path("zeros.csv").symlink_to("/dev/zero")
    Path("loop.csv").symlink_to("loop.csv")
    Path("folder.csv").mkdir()
    Path("design.toml").write_text(f'{BASE}\n[sample]\npath = "{name}"\n{form}')
    found = run("check", "design.toml")
    assert found.code in (0, 1)
    assert found.err.startswith("design.toml: the rules run without the declared sample: ")
    assert form or SAMPLES[name] in found.err
    assert found.err[:-1].isprintable()


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the system has no such files")
def test_a_special_file_of_size_0_is_not_read() -> None:
    """A special file of size 0 is not read, since reading might never end."""
    design = Design.loads(BASE)
    path = Path("/proc/self/status")
    assert path.read_bytes()
    with pytest.raises(ValueError, match="is empty"):
        list(open_sample(path, design.fields, None, {"kind": "csv"}).read_events())
