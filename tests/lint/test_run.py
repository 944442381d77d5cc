"""How rules are run over a design: chosen, allowed, placed in its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.lint import RULES, check_design, format_rule_name, select_rules, summarize_sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BAD = """\
table = "logs"
key   = "[ts][host:raw][id]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
id   = "u32"
"""


def codes(text: str, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> list[str]:
    """The codes of what is found in a design file."""
    found = check_design(Design.loads(text), select=select, ignore=ignore)
    return [one.code for one in found.findings]


def test_findings_come_in_the_order_of_the_file() -> None:
    """By line, then by code."""
    text = BAD.replace("max_bytes = 16", 'family = "d"')
    found = [(one.line, one.code) for one in check_design(Design.loads(text)).findings]
    assert [(2, "RK101"), (2, "RK109"), (6, "RK106")] == found


@pytest.mark.parametrize("word", ["RK101", "rk101", "RK10", "monotone-lead", "monotone_lead"])
def test_rules_are_chosen_by_code_or_name(word: str) -> None:
    """A code, its beginning, or the name either way; all others are left out."""
    assert "RK101" in codes(BAD, select=[word])
    assert "RK101" not in codes(BAD, ignore=[word])
    assert set(codes(BAD)) == set(codes(BAD, select=[word])) | set(codes(BAD, ignore=[word]))


def test_ignoring_is_stronger_than_choosing() -> None:
    """What is both chosen and ignored is ignored."""
    assert ["RK109"] == codes(BAD, select=["RK1"], ignore=["monotone-lead"])


@pytest.mark.parametrize("word", ["RK9", "monotone", "R", "", "RK1000"])
def test_a_word_that_means_no_rule_is_refused(word: str) -> None:
    """It is a slip, and would silently check nothing."""
    with pytest.raises(InvalidArgument, match="no rule has the name or code"):
        select_rules([word])
    with pytest.raises(InvalidArgument, match="no rule has the name or code"):
        select_rules([], [word])


def test_a_slip_is_told_the_nearest_name() -> None:
    """The refusal names it."""
    with pytest.raises(InvalidArgument, match="Did you mean monotone-lead"):
        select_rules(["monoton-lead"])


def test_a_design_of_python_has_findings_without_lines() -> None:
    """There is no file, so there is no line; all else is the same."""
    fields = {"ts": "timestamp_ms", "id": "u32"}
    [found] = check_design(Design("t", "[ts][id]", fields=fields)).findings
    assert ("RK101", 0, "key") == (found.code, found.line, found.path)


# Allowances


@pytest.mark.parametrize(
    "comment",
    [
        "# rowkey: allow monotone-lead - one writer",
        "#rowkey:allow monotone_lead: one writer",
        "# rowkey: allow RK101 — one writer",
        "# Rowkey: allow rk101 because one writer",
        "# rowkey: allow ambiguous-key, monotone-lead -- one writer",
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_a_finding_is_allowed_where_it_stands(comment: str, *, above: bool) -> None:
    """By a comment on its line, or right above it, with a reason."""
    line = BAD.splitlines()[1]
    placed = f"{comment}\n# more to say\n{line}" if above else f"{line}  {comment}"
    found = check_design(Design.loads(BAD.replace(line, placed)))
    assert "RK101" not in {one.code for one in found.findings}
    assert "RK101" in {one.finding.code for one in found.allowed_findings}
    assert {"one writer"} == {one.reason for one in found.allowed_findings}
    assert {"RK001", "RK002"}.isdisjoint(one.code for one in found.findings)


def test_a_comment_elsewhere_allows_nothing() -> None:
    """One on another line is idle, and what it meant is found."""
    text = BAD.replace('table = "logs"', 'table = "logs"  # rowkey: allow monotone-lead - so')
    assert ["RK002", "RK101", "RK109"] == codes(text)


def test_words_in_a_text_are_no_comment() -> None:
    """A `#` between quotes allows nothing and is not idle."""
    text = BAD.replace('"logs"', "'logs'") + "x = '# rowkey: allow monotone-lead - no'\n"
    text = text.replace("x = ", '"a # b" = { type = "text", from = ').replace("no'", "no' }")
    assert ["RK101", "RK109"] == codes(text)


def test_an_allowance_without_a_reason_is_found() -> None:
    """What it allows is allowed all the same."""
    text = BAD.replace('[id]"', '[id]" # rowkey: allow monotone-lead, ambiguous-key')
    assert ["RK001"] == codes(text)


def test_rules_that_are_not_asked_make_no_allowance_idle() -> None:
    """Choosing rules changes what is told, not what is true."""
    text = BAD.replace('[id]"', '[id]" # rowkey: allow monotone-lead, ambiguous-key - so')
    assert [] == codes(text, ignore=["RK1"]) == codes(text, select=["RK0"])


def test_what_judges_allowances_cannot_be_allowed() -> None:
    """Else an idle comment could excuse itself."""
    text = BAD.replace('"logs"', '"logs" # rowkey: allow idle-allowance, monotone-lead - so')
    assert ["RK002", "RK002"] == [one for one in codes(text) if one == "RK002"]


# Samples


def test_a_sample_tells_more_than_the_file(tmp_path: Path) -> None:
    """Numbers that count up in a sample are a front although nothing says so in the file."""
    text = 'table = "t"\nkey = "[id]"\n[fields]\nid = "u32"\nm = { type = "text", max_bytes = 9 }\n'
    path = tmp_path / "rows.csv"
    path.write_text("id,m\n" + "".join(f"{n},x\n" for n in range(500)))
    design = Design.loads(text)
    assert "RK101" not in codes(text)
    seen = summarize_sample(design, path)
    assert (500, 0, 500) == (seen.event_count, seen.repeat_count, len(seen.keys))
    assert "RK101" in {one.code for one in check_design(design, seen).findings}


def test_a_sample_without_all_fields_is_read_for_those_that_count(tmp_path: Path) -> None:
    """Fields that judging does not need may be missing from the file."""
    path = tmp_path / "rows.csv"
    path.write_text("ts,host,id\n" + "".join(f"{n},h{n % 3},{n}\n" for n in range(90)))
    text = BAD + 'line = { type = "text", max_bytes = 100 }\n'
    assert {"ts", "host", "id"} == set(summarize_sample(Design.loads(text), path).facts)


def test_every_rule_is_chosen_by_default() -> None:
    """In the order of the codes."""
    assert sorted(rule.code for rule in RULES.values()) == [rule.code for rule in select_rules()]
    assert {format_rule_name(name) for name in RULES} == {
        format_rule_name(rule.name) for rule in select_rules()
    }


@pytest.mark.parametrize(
    ("most", "more"),
    [
        (2, "3 more findings of this rule are"),
        (4, "1 more finding of this rule is"),
        (5, ""),
        (9, ""),
    ],
)
@pytest.mark.parametrize("allowed", [0, 1, 5])
def test_findings_that_are_not_listed_are_counted_and_stand_nowhere(
    most: int, more: str, allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What tells of them has no line, remedy or value of one of them, and no comment allows it."""
    monkeypatch.setattr("rowkey.lint.checker.MAX_FINDINGS_PER_RULE", most)
    marks = ["  # rowkey: allow dated-codec - so"] * allowed + [""] * 5
    text = BAD + "".join(
        f'\n[families.f{number}]\ncompression = "LZO"{mark}\n' for number, mark in enumerate(marks)
    )
    found = check_design(Design.loads(text), select=["dated-codec"])
    assert allowed == len(found.allowed_findings)
    listed = [one for one in found.findings if one.line]
    assert min(most, 5) == len(listed)
    rest = [one for one in found.findings if not one.line]
    said = [f"{more} not listed"] if more else []
    assert said == [one.message for one in rest]
    for one in rest:
        assert one is found.findings[-1]
        assert ("", "", None, "") == (one.path, one.remedy, one.value, one.verdict)
