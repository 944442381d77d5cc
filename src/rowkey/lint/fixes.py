"""Applying the safe fixes of findings to a design file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.design import Design
from rowkey.errors import InvalidDesign
from rowkey.findings import Finding
from rowkey.lint.checker import check_design
from rowkey.lint.rules import RULES
from rowkey.lint.subject import LintSubject
from rowkey.lint.toml_edit import edit_toml
from rowkey.open_file_limit import explain_shortage

if TYPE_CHECKING:
    from rowkey.workload import SampleSummary

MAX_FIXES = 200
"""Fixes of one file at most; each changes one option, and no file has more that rules can fix."""


@dataclass(frozen=True, slots=True)
class FixedDesign:
    """A design file after the safe fixes of its findings.

    Args:
        text: the file.
        design: the design that it declares.
        fixed_findings: the findings that are fixed.
    """

    text: str
    design: Design
    fixed_findings: tuple[Finding, ...]


@explain_shortage
def apply_fixes(
    design: Design,
    sample: SampleSummary | None = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> FixedDesign:
    """Apply every safe fix to a design file.

    A fix is kept if its finding is gone and no new warning or error appears.

    Args:
        design: the design, from a file or a text.
        sample: the summary of a sample, if there is one.
        select: as `check_design`.
        ignore: as `check_design`.

    Raises:
        InvalidArgument: no rule has such a code or name.
    """
    assert design.source is not None, "a design written in Python has no file text to fix"
    state = FixedDesign(design.source.text, design, ())
    tried_ids: set[tuple[str, str]] = set()
    while len(state.fixed_findings) < MAX_FIXES:
        step = next(_try_fixes(state, sample, select, ignore, tried_ids), None)
        if step is None:
            return state
        state = step
    return state


def fix_families(
    design: Design, findings: Iterable[Finding], sample: SampleSummary | None = None
) -> Design:
    """Return a design with the fixes of findings on its families; the same if there are none.

    Args:
        design: the design; it need not be from a file.
        findings: what the rules found in it.
        sample: the summary of the sample by which they did.

    Raises:
        InvalidDesign: no design can have all fixes together.
    """
    subject = LintSubject(design, sample)
    rules = {rule.code: rule for rule in RULES.values()}
    changes: dict[str, dict[str, Any]] = {}
    for finding in findings:
        for path, value in rules[finding.code]().build_fix(subject, finding).items():
            if path[0] == "families":
                changes.setdefault(str(path[1]), {})[str(path[2])] = value
    if not changes:
        return design
    families = design.declaration.model_dump(by_alias=True, exclude_defaults=True)["families"]
    for name, family in changes.items():
        merged = families.get(name, {}) | family
        families[name] = {word: one for word, one in merged.items() if one is not None}
    return design.copy_with_options(families=families)


def _try_fixes(
    state: FixedDesign,
    sample: SampleSummary | None,
    select: Sequence[str],
    ignore: Sequence[str],
    tried_ids: set[tuple[str, str]],
) -> Iterator[FixedDesign]:
    """Yield the design file with one more finding fixed, for each finding with a safe fix."""
    rules = {rule.code: rule for rule in RULES.values()}
    subject = LintSubject(state.design, sample)
    findings = check_design(state.design, sample, select=select, ignore=ignore).findings
    old_ids = {(one.code, one.path) for one in findings}
    for finding in findings:
        finding_id = (finding.code, finding.path)
        if finding_id in tried_ids:
            continue
        tried_ids.add(finding_id)
        options = rules[finding.code]().build_fix(subject, finding)
        if not options:
            continue
        text = edit_toml(state.text, options)
        candidate = _parse_changed_text(state.design, text)
        if candidate is None:
            continue
        remaining_findings = check_design(candidate, sample, select=select, ignore=ignore).findings
        new_findings = [
            one for one in remaining_findings if one.rank and (one.code, one.path) not in old_ids
        ]
        if (
            finding_id not in {(one.code, one.path) for one in remaining_findings}
            and not new_findings
        ):
            yield FixedDesign(text, candidate, (*state.fixed_findings, finding))


def _parse_changed_text(original: Design, text: str) -> Design | None:
    """Parse a changed design file; None if it is invalid."""
    source = original.source.name if original.source is not None else ""
    try:
        return Design.loads(text, source=source, directory=Path(original.directory))
    except InvalidDesign:
        return None
