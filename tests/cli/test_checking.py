"""The output and exit codes of `rowkey check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.command import run
from rowkey.lint import RULES, select_rules
from rowkey.render import CHECK_FIELDS, list_paths
from rowkey.render import RULES_FIELDS as DOCUMENTED

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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a design that has a warning and a remark."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "front.toml").write_text(TIME_FIRST_DESIGN)
    return tmp_path


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ([], 1),
        (["--fail-on", "never"], 0),
        (["--fail-on", "info"], 1),
        (["--fail-on", "error"], 0),
        (["--ignore", "monotone-lead"], 0),
        (["--ignore", "RK1"], 0),
        (["--select", "RK106"], 0),
        (["--select", "RK106", "--fail-on", "info"], 1),
        (["--select", "RK106,RK101"], 1),
        (["--select", "nothing"], 2),
        (["--fail-on", "grave"], 2),
    ],
)
@pytest.mark.usefixtures("folder")
def test_check_exits_with_0_if_clean_1_with_findings_and_2_on_wrong_usage(
    more: list[str], code: int
) -> None:
    """A check exits with 0 if clean, 1 with findings, and 2 on wrong usage; `ok` says the same."""
    assert code == run("check", "front.toml", *more).code
    found = run("check", "front.toml", *more, "-f", "json")
    assert code == found.code
    assert code == 2 or json.loads(found.out)["ok"] == (code == 0)


@pytest.mark.parametrize("level", ["info", "warning", "error", "never"])
def test_a_file_with_mistakes_exits_with_1_whatever_fail_on_says(folder: Path, level: str) -> None:
    """A file with mistakes exits with 1 whatever --fail-on gives, and only its document says so."""
    (folder / "broken.toml").write_text("table = 1\n")
    found = run("check", "broken.toml", "front.toml", "--fail-on", level, "-f", "json")
    assert 1 == found.code
    assert [False, level in ("error", "never")] == [one["ok"] for one in json.loads(found.out)]


@pytest.mark.usefixtures("folder")
def test_findings_are_printed_by_severity_with_their_line() -> None:
    """Each finding is a line with its file and line number, by severity under counts."""
    lines = run("check", "front.toml").out.splitlines()
    told = lines[lines.index("1 warning") :]
    assert "front.toml:2: key: RK101 monotone-lead: the key begins with ts" == told[1][:62]
    assert ["1 remark"] == told[2:3]
    assert told[3].startswith("front.toml:6: fields.host: RK106 unbounded-key: ")
    assert "moving_front" not in "".join(lines)


@pytest.mark.usefixtures("folder")
def test_an_unknown_rule_gets_the_nearest_as_suggestion() -> None:
    """An unknown rule is wrong usage, and the nearest rule is suggested."""
    found = run("check", "front.toml", "--select", "monotone-leed")
    assert "Did you mean monotone-lead?" in found.err


def test_an_allowed_finding_is_printed_with_its_reason_and_not_counted(folder: Path) -> None:
    (folder / "front.toml").write_text(
        TIME_FIRST_DESIGN.replace(
            '[host]"', '[host]" # rowkey: allow monotone-lead - one row a day'
        )
    )
    found = run("check", "front.toml")
    assert 0 == found.code
    assert "1 allowed\nfront.toml:2: RK101 monotone-lead: one row a day\n" in found.out


def run_check_json(*arguments: object) -> dict[str, Any]:
    """Return what `rowkey check -f json` prints."""
    found: dict[str, Any] = json.loads(run("check", *arguments, "-f", "json").out)
    return found


def test_the_json_of_check_has_every_documented_field_of_a_finding(folder: Path) -> None:
    (folder / "front.toml").write_text(
        TIME_FIRST_DESIGN.replace(
            'host = "text"', 'host = "text" # rowkey: allow unbounded-key - short'
        )
    )
    told = run_check_json("front.toml")
    [finding] = told["findings"]
    assert ("RK101", "monotone-lead", "warning", 2, "key") == tuple(
        finding[name] for name in ("code", "name", "severity", "line", "path")
    )
    assert {"field": "ts", "rising": None} == finding["evidence"]
    [allowed] = told["allowed"]
    assert ("RK106", "short", 6) == (allowed["code"], allowed["reason"], allowed["comment"])
    assert None is told["sample"]
    for path in list_paths({"findings": told["findings"], "allowed": told["allowed"]}):
        assert path in CHECK_FIELDS or path.startswith("findings[].evidence.")


def test_check_names_the_given_sample_and_refuses_an_unreadable_one(folder: Path) -> None:
    """A given sample is named with its events, and an unreadable one is wrong usage."""
    (folder / "rows.csv").write_text("ts,host,line\n" + "".join(f"{n},a,b\n" for n in range(200)))
    told = run_check_json("front.toml", "--sample", "rows.csv")
    assert {"path": "rows.csv", "events": 200, "remark": None} == told["sample"]
    [front] = [one for one in told["findings"] if one["code"] == "RK101"]
    assert {"field": "ts", "rising": 1.0} == front["evidence"]
    assert 2 == run("check", "front.toml", "--sample", "nothing.csv").code


def test_a_missing_declared_sample_is_reported_and_not_used(folder: Path) -> None:
    """A missing declared sample is reported, and the design is checked without it."""
    (folder / "front.toml").write_text(TIME_FIRST_DESIGN + '\n[sample]\npath = "nothing.csv"\n')
    found = run("check", "front.toml")
    assert 1 == found.code
    assert found.err.startswith("front.toml: the rules run without the declared sample: ")
    assert found.err.removeprefix("front.toml: ").strip() in run_check_json("front.toml")["remarks"]


def test_check_reports_that_a_salted_key_may_store_copies_of_a_row(folder: Path) -> None:
    """A salted key is reported, since a second put may store a copy of the row."""
    (folder / "front.toml").write_text(
        TIME_FIRST_DESIGN.replace("key", 'key = "[salt(4)][ts][host]" #', 1)
    )
    told = run("check", "front.toml").out
    assert 2 == told.count("a second put of a row may store a second copy under another salt")


# The catalogue


def test_the_rules_command_prints_a_line_for_each_rule() -> None:
    """`rowkey rules` prints a line for each rule, which begins with its code."""
    lines = run("rules").out.splitlines()
    assert len(RULES) == len(lines)
    assert all(rule.code == line[:5] for rule, line in zip(select_rules(), lines, strict=True))


def test_the_explanation_of_a_rule_has_all_sections_and_examples() -> None:
    """The explanation of a rule has all sections and both example designs."""
    found = run("rules", "monotone-lead").out
    assert found.startswith("RK101 monotone-lead (warning): ")
    for title in ("What it does: ", "Why it hurts: ", "Use instead: ", "Source: ", "Bad:", "Good:"):
        assert f"\n{title}" in found
    assert '  key   = "[ts][host]"' in found


def test_the_json_list_of_rules_has_every_documented_field() -> None:
    """The JSON list of rules has every documented field for each rule."""
    told = json.loads(run("rules", "-f", "json").out)
    assert [rule.code for rule in select_rules()] == [one["code"] for one in told["rules"]]
    names = {path.removeprefix("rules[].").removesuffix("[]") for path in DOCUMENTED} - {"format"}
    assert all(names == set(one) for one in told["rules"])
    assert 2 == run("rules", "nothing").code


# Fixes

SLOW = """\
# users, by number
table  = "users"
key    = "[bucket(user, 16)][user]"
splits = "per_bucket"

[fields]
user = "u64"
name = { type = "text", max_bytes = 200 }

[families.d]
block_size  = 1048576  # for scans
block_cache = false

[[reads]]
name  = "a user"   # by far the most
where = "user = ?"
"""


def test_written_fixes_keep_comments_and_leave_nothing_to_fix(folder: Path) -> None:
    """Fixes keep comments, are reported on stderr, and leave no finding to fix."""
    (folder / "slow.toml").write_text(SLOW)
    found = run("check", "slow.toml", "--fix")
    assert (0, 2) == (found.code, found.err.count("slow.toml: fixed families.d.block_"))
    after = (folder / "slow.toml").read_text()
    assert "block_size  = 65536  # for scans\n\n[[reads]]\n" in after
    assert SLOW.splitlines()[0] == after.splitlines()[0]
    assert "" == run("check", "slow.toml", "--fix").err


def test_check_diff_prints_the_changes_and_writes_no_file(folder: Path) -> None:
    """A diff prints the changes, writes no file, and exits with 1 if there are changes."""
    (folder / "slow.toml").write_text(SLOW)
    found = run("check", "slow.toml", "--diff", "--select", "RK406")
    lines = found.out.splitlines()
    assert 1 == found.code
    assert ["--- slow.toml", "+++ slow.toml"] == lines[:2]
    assert ["-block_size  = 1048576  # for scans", "+block_size  = 65536  # for scans"] == [
        line for line in lines[2:] if line[0] in "+-"
    ]
    assert SLOW == (folder / "slow.toml").read_text()
    assert (0, "") == (
        run("check", "front.toml", "--diff").code,
        run("check", "front.toml", "--diff").out,
    )


def test_check_reports_values_that_the_key_refuses_in_a_sample_it_cannot_read(folder: Path) -> None:
    """That most rows of a sample have no row key is an error of the design, and no mere note."""
    rows = "".join(f"{n},{n % 7 - 5}\n" for n in range(100))
    (folder / "rows.csv").write_text(f"meter,delta\n{rows}")
    text = 'table = "d"\nkey = "[meter][desc(delta:u32)]"\n[fields]\nmeter = "u32"\ndelta = "i32"\n'
    (folder / "d.toml").write_text(f'{text}[sample]\npath = "rows.csv"\n')
    done = run("check", "d.toml", "-f", "json")
    (found,) = (one for one in json.loads(done.out)["findings"] if one["code"] == "RK126")
    assert (1, "error") == (done.code, found["severity"])
    assert "field delta: -5 is out of range" in found["message"]
    assert "Write [desc(delta)] instead of [desc(delta:u32)]" in found["remedy"]


def test_check_judges_companions_and_names_them(folder: Path) -> None:
    """A companion has the load of its main table, and its findings are named by it."""
    fields = '[fields]\nts = "timestamp_ms"\nhost = { type = "text", max_bytes = 8 }\n'
    (folder / "by_time.toml").write_text(
        f'table = "by_time"\nkey = "[ts][host]"\n{fields}', encoding="utf-8"
    )
    (folder / "logs.toml").write_text(
        'table = "logs"\nkey = "[bucket(host, 16)][host][ts]"\nsplits = "per_bucket"\n'
        'companions = { by_time = "by_time.toml" }\n'
        f'{fields}[writes]\nrate = "8000/s"\nfor = "1s"\n'
        '[[reads]]\nname = "newest"\nwhere = "ts >= ?"\nrate = "1/s"\n',
        encoding="utf-8",
    )
    found = json.loads(run("check", "logs.toml", "-f", "json").out)["findings"]
    fronts = [one for one in found if one["code"] == "RK101"]
    assert [("companions.by_time.key", 4, "warning")] == [
        (one["path"], one["line"], one["severity"]) for one in fronts
    ]
    assert 1 == run("check", "logs.toml").code
    assert not any(one["code"] == "RK101" for one in found if one["path"] == "key")
