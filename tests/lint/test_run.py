"""Rules are selected, allowed by comments, and their findings placed in the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.lint import RULES, check_design, format_rule_name, select_rules
from samples import summarize_sample

BAD = """\
table = "logs"
key   = "[ts][host:raw][id]"

[fields]
ts   = "timestamp_ms"
host = { type = "text", max_bytes = 16 }
id   = "u32"
"""


def list_codes(text: str, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> list[str]:
    """Return the codes of the findings in a design file."""
    found = check_design(Design.loads(text), select=select, ignore=ignore)
    return [one.code for one in found.findings]


def test_findings_are_sorted_by_line_and_code() -> None:
    """Findings are sorted by line, then by code."""
    text = BAD.replace("max_bytes = 16", 'family = "d"')
    found = [(one.line, one.code) for one in check_design(Design.loads(text)).findings]
    assert [(2, "RK101"), (2, "RK109"), (6, "RK106")] == found


@pytest.mark.parametrize("word", ["RK101", "rk101", "RK10", "monotone-lead", "monotone_lead"])
def test_rules_are_selected_by_code_or_name(word: str) -> None:
    """Rules are selected by code, by the beginning of a code, or by name."""
    assert "RK101" in list_codes(BAD, select=[word])
    assert "RK101" not in list_codes(BAD, ignore=[word])
    assert set(list_codes(BAD)) == set(list_codes(BAD, select=[word])) | set(
        list_codes(BAD, ignore=[word])
    )


def test_a_rule_that_is_both_selected_and_ignored_is_ignored() -> None:
    assert ["RK109"] == list_codes(BAD, select=["RK1"], ignore=["monotone-lead"])


@pytest.mark.parametrize("word", ["RK9", "monotone", "R", "", "RK1000"])
def test_a_selection_that_matches_no_rule_is_refused(word: str) -> None:
    """A selection that matches no rule is refused, as it would check nothing."""
    with pytest.raises(InvalidArgument, match="no rule has the name or code"):
        select_rules([word])
    with pytest.raises(InvalidArgument, match="no rule has the name or code"):
        select_rules([], [word])


def test_the_error_of_an_unknown_rule_suggests_the_nearest_name() -> None:
    with pytest.raises(InvalidArgument, match="Did you mean monotone-lead"):
        select_rules(["monoton-lead"])


def test_findings_of_a_python_design_have_no_lines() -> None:
    """Findings of a design written in Python have no line, and are otherwise the same."""
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
def test_a_comment_on_or_above_the_line_of_a_finding_allows_it(
    comment: str, *, above: bool
) -> None:
    """A comment with a reason on the line of a finding, or above the line, allows it."""
    line = BAD.splitlines()[1]
    placed = f"{comment}\n# more to say\n{line}" if above else f"{line}  {comment}"
    found = check_design(Design.loads(BAD.replace(line, placed)))
    assert "RK101" not in {one.code for one in found.findings}
    assert "RK101" in {one.code for one in found.allowed_findings}
    assert {"one writer"} == {one.allowed_reason for one in found.allowed_findings}
    assert {"RK001", "RK002"}.isdisjoint(one.code for one in found.findings)


def test_an_allow_comment_on_another_line_is_reported_as_unused() -> None:
    """A comment on another line is reported as unused, and the finding stays."""
    text = BAD.replace('table = "logs"', 'table = "logs"  # rowkey: allow ambiguous-key - so')
    assert ["RK002", "RK101", "RK109"] == list_codes(text)


def test_a_hash_sign_between_quotes_is_no_allow_comment() -> None:
    """A `#` between quotes allows nothing and is not reported as unused."""
    text = BAD.replace('"logs"', "'logs'") + "x = '# rowkey: allow monotone-lead - no'\n"
    text = text.replace("x = ", '"a # b" = { type = "text", from = ').replace("no'", "no' }")
    assert ["RK101", "RK109"] == list_codes(text)


def test_an_allow_comment_without_a_reason_is_reported() -> None:
    """A comment without a reason is reported, and allows its finding all the same."""
    text = BAD.replace('[id]"', '[id]" # rowkey: allow monotone-lead, ambiguous-key')
    assert ["RK001"] == list_codes(text)


def test_an_allow_comment_for_an_unselected_rule_is_not_reported_as_unused() -> None:
    """A comment is not reported as unused because its rule is not selected."""
    text = BAD.replace('[id]"', '[id]" # rowkey: allow monotone-lead, ambiguous-key - so')
    assert [] == list_codes(text, ignore=["RK1"]) == list_codes(text, select=["RK0"])


def test_findings_about_allow_comments_cannot_be_allowed() -> None:
    text = BAD.replace('"logs"', '"logs" # rowkey: allow idle-allowance, ambiguous-key - so')
    assert ["RK002", "RK002"] == [one for one in list_codes(text) if one == "RK002"]


def test_a_changed_design_keeps_the_allow_comments_of_its_file() -> None:
    """A design that was changed from a file has the file's allowances, of which none is idle."""
    text = BAD.replace('[id]"', '[id]" # rowkey: allow monotone-lead, ambiguous-key - so')
    changed = Design.loads(text).copy_with_options(key="[ts][id][host]")
    found = check_design(changed)
    assert [] == [one.code for one in found.findings]
    assert ["RK101"] == [one.code for one in found.allowed_findings]


def test_an_allow_comment_for_a_sample_finding_is_unused_only_with_a_sample(tmp_path: Path) -> None:
    """A comment that allows what only a sample shows is idle only where one was read."""
    text = """\
table = "t"
# rowkey: allow overwritten-rows - the last put wins
key = "[bucket(id, 16)][id]"
splits = "per_bucket"
[fields]
id = "u32"
m = { type = "text", max_bytes = 9 }
"""
    assert [] == list_codes(text)
    path = tmp_path / "rows.csv"
    path.write_text("id,m\n" + "".join(f"{n},x\n" for n in range(500)))
    design = Design.loads(text)
    found = check_design(design, summarize_sample(design, path))
    assert "RK002" in {one.code for one in found.findings}


# Samples


def test_rising_numbers_of_a_sample_are_reported_as_a_front(tmp_path: Path) -> None:
    """Rising numbers of a sample are a front, although the file does not declare them so."""
    text = 'table = "t"\nkey = "[id]"\n[fields]\nid = "u32"\nm = { type = "text", max_bytes = 9 }\n'
    path = tmp_path / "rows.csv"
    path.write_text("id,m\n" + "".join(f"{n},x\n" for n in range(500)))
    design = Design.loads(text)
    assert "RK101" not in list_codes(text)
    seen = summarize_sample(design, path)
    assert (500, 0, 500) == (seen.event_count, seen.repeat_count, len(seen.keys))
    assert "RK101" in {one.code for one in check_design(design, seen).findings}


def test_a_sample_may_lack_fields_that_no_rule_needs(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("ts,host,id\n" + "".join(f"{n},h{n % 3},{n}\n" for n in range(90)))
    text = BAD + 'line = { type = "text", max_bytes = 100 }\n'
    assert {"ts", "host", "id"} == set(summarize_sample(Design.loads(text), path).facts)


def test_all_rules_run_by_default_in_the_order_of_their_codes() -> None:
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
def test_the_finding_that_counts_omitted_ones_has_no_line_and_no_remedy(
    most: int, more: str, allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finding that counts omitted ones has no line, remedy or value, and cannot be allowed."""
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
