"""For fields of any name, the path of a finding is TOML and is found in the file."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rowkey.design import Design
from rowkey.lint import RULES, check_design
from rowkey.schema import FieldRef
from samples import summarize_sample

if TYPE_CHECKING:
    from rowkey.findings import Finding
    from rowkey.lint import Rule

NAMES = ("a b", "用户", "x.y", "it's", "h</script>", "dashed-")
"""Put in front of each field's own name: one for each rule, and all in the long profile."""
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
NOTATION_OPTIONS = {"key", "where", "order", "arrival"}
"""Words of a design that name fields in a notation of their own; all others name them plainly."""


def rename_fields(words: Any, called: dict[str, str], word: str = "") -> Any:
    """Return the content of a design file with other field names."""
    if isinstance(words, dict):
        return {
            called.get(one, one) if word == "fields" else one: rename_fields(said, called, one)
            for one, said in words.items()
        }
    if isinstance(words, list):
        return [rename_fields(one, called, word) for one in words]
    if word in NOTATION_OPTIONS and isinstance(words, str):
        names = "|".join(map(re.escape, called))
        return re.sub(
            rf"\b({names})\b(?![(=])", lambda found: str(FieldRef(called[found[0]])), words
        )
    return called.get(words, words) if isinstance(words, str) and word == "time" else words


def write_bad_design(rule: type[Rule], before: str) -> tuple[str, str]:
    """Return the file of a rule's bad design and its sample, with other field names."""
    words = tomllib.loads(rule.bad_design)
    called = {name: f"{before}{name}" for name in words["fields"]}
    text = Design(**rename_fields(words, called)).dumps(defaults=False)
    header, _, rest = rule.sample_csv.partition("\n")
    quoted = (called.get(name, name).replace('"', '""') for name in header.split(","))
    return text, ",".join(f'"{name}"' for name in quoted) + f"\n{rest}" if rule.sample_csv else ""


def is_path_in_file(finding: Finding, text: str) -> bool:
    """Return whether a finding's path, parsed as TOML, leads to an option of the file."""
    tables, _, _ = re.sub(r"\[(\d+)\]", r".\1", finding.path).partition("\n")
    here, there = tomllib.loads(text), tomllib.loads(f"{tables} = 0")
    while isinstance(there, dict):
        [(step, there)] = there.items()
        if isinstance(here, list):
            here = here[int(step)]
        elif step in here:
            here = here[step]
        else:
            return False
    return True


@pytest.mark.parametrize("before", NAMES)
def test_rules_have_the_same_findings_for_any_field_names(before: str, tmp_path: Path) -> None:
    """Each rule has the same findings for any field names, with paths that the file has."""
    # What looks at the others reads the file's comments, in which no field is named.
    rules = [one for one in RULES.values() if not one.runs_last]
    for rule in rules if IS_LONG else rules[NAMES.index(before) :: len(NAMES)]:
        text, data = write_bad_design(rule, before)
        design, sample = Design.loads(text), tmp_path / "rows.csv"
        sample.write_text(data, encoding="utf-8")
        found = check_design(design, summarize_sample(design, sample) if data else None).findings
        assert rule.code in {one.code for one in found}, (rule.name, text)
        assert [] == [one.path for one in found if not is_path_in_file(one, text)], rule.name
        for one in found:
            assert design.source is not None
            assert one.line == design.source.source_map.find_line(one.path) > 0
