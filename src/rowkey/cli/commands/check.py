"""The command `check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

import rowkey
from rowkey import advise, render
from rowkey.cli.group import define_command
from rowkey.cli.options import (
    DESIGNS_ARGUMENT,
    NEVER_FAIL,
    NO_CACHE_OPTION,
    SAMPLE_FORMAT_OPTION,
    SAMPLE_OPTION,
    add_fail_on_option,
    print_json,
    print_lines,
    print_notes,
)
from rowkey.cli.screen import build_console
from rowkey.errors import InvalidArgument, InvalidDesign
from rowkey.messages import escape_text

if TYPE_CHECKING:
    from rowkey.advise import JudgedDesign
    from rowkey.design import Design
    from rowkey.findings import Severity
    from rowkey.lint import FixedDesign, LintResult
    from rowkey.render import CheckedFile


@define_command("Judge", "Report mistakes in design files and what the rules find.")
@DESIGNS_ARGUMENT
@SAMPLE_OPTION
@SAMPLE_FORMAT_OPTION
@NO_CACHE_OPTION
@click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    help="Run only these rules: a code, the beginning of codes, or a name.",
)
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not apply these rules.")
@add_fail_on_option(
    ["error", "warning", "info"],
    "warning",
    "Lowest severity of a finding that makes the command exit with 1.",
)
@click.option(
    "-f",
    "--format",
    "output",
    type=click.Choice(["text", "json", "sarif", "github", "junit"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)
@click.option("--fix", is_flag=True, help="Write safe fixes into the files, then check them.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and nothing else.")
def command(
    designs: tuple[str, ...],
    sample: str | Path | None,
    format_options: dict[str, str] | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str,
    output: str,
    *,
    fix: bool,
    diff: bool,
) -> int:
    """Report every mistake of design files with its line; for valid files, the properties of the
    key and the findings of the rules.

    Rules use the sample if one is given or declared, and the declaration alone otherwise. The
    comment `# rowkey: allow NAME - reason` on the line of a finding, or above it, allows the
    finding. A fix never changes the key and keeps comments. Exits with 1 if a file has mistakes, if
    it has findings of the severity that --fail-on gives, or if --diff prints changes; with 2 if a
    file cannot be read.

    \b
    rowkey check logs.toml
    rowkey check logs.toml --sample events.csv --ignore RK1
    rowkey check designs/*.toml -f sarif > rowkey.sarif
    """  # noqa: D205 - the sentence is the help's first paragraph
    severity = None if fail_on == NEVER_FAIL else cast("Severity", fail_on)
    checked, documents, is_bad, is_unreadable = [], [], False, False
    for path in designs:
        try:
            design = rowkey.Design.read(path)
        except InvalidDesign as problem:
            is_bad, is_unreadable = True, is_unreadable or problem.is_unreadable
            checked.append(render.CheckedFile(path, problem.mistakes))
            documents.append(render.build_mistakes_document(path, problem.mistakes))
            if output == "text":
                print_lines([str(problem)])
            continue
        judged = advise.JudgedDesign(
            design,
            sample,
            format_options=format_options,
            names_keys=True,
            select=_split_commas(select),
            ignore=_split_commas(ignore),
        )
        remarks = _note_sample(path, judged)
        if diff:
            is_bad |= _print_diff(path, design, _apply_fixes(judged))
            continue
        if fix:
            judged = _write_fixes(path, judged)
        lint_result = _run_rules(judged)
        is_ok = severity is None or not lint_result.filter_by_severity(severity)
        is_bad |= not is_ok
        checked.append(
            render.CheckedFile(path, lint_result=lint_result, file_text=judged.design.source)
        )
        if output in ("text", "json"):
            document = _show_check(path, judged, remarks, as_text=output == "text")
            documents.append({**document, "ok": is_ok})
    if output == "json":
        print_json(documents[0] if len(documents) == 1 else documents)
    elif output != "text":
        _print_notices(checked, output, severity)
    return 2 if is_unreadable else int(is_bad)


def _show_check(
    path: str, judged: JudgedDesign, remarks: list[str], *, as_text: bool
) -> dict[str, Any]:
    """Return the JSON document of one valid design file; print the result if output is text."""
    result = judged.design, judged.properties, judged.lint_result, judged.packing
    if as_text and sys.stdout.isatty():
        render.print_check(path, judged, build_console())
    elif as_text:
        print_lines(render.format_check(path, *result))
    return render.build_check_document(path, *result, remarks)


def _print_notices(
    checked_files: list[CheckedFile], output: str, severity: Severity | None
) -> None:
    """Print findings as SARIF, JUnit XML or GitHub workflow commands."""
    if output == "sarif":
        print_json(render.build_sarif_document(checked_files))
    elif output == "junit":
        print_lines(render.format_junit(checked_files, severity))
    else:
        print_lines(render.format_github_commands(checked_files))


def _note_sample(path: str, judged: JudgedDesign) -> list[str]:
    """Read the sample of a design; print what was detected in it.

    Returns:
        Why a declared sample cannot be used; it is printed too.
    """
    if judged.sample is not None:
        print_notes(f"{path}: assumed: {sentence}" for sentence in judged.sample.assumptions)
    if judged.sample is not None or judged.sample_problem is None:
        return []
    remark = f"the rules run without the declared sample: {judged.sample_problem}"
    print_notes([f"{path}: {remark}"])
    return [remark]


def _run_rules(judged: JudgedDesign) -> LintResult:
    """Return what the rules find in a judged design.

    Raises:
        UsageError: a rule that was selected or ignored does not exist.
    """
    try:
        return judged.lint_result
    except InvalidArgument as problem:
        raise click.UsageError(str(problem)) from None


def _apply_fixes(judged: JudgedDesign) -> FixedDesign:
    """Return the design file's text with all safe fixes applied.

    Raises:
        UsageError: a rule that was selected or ignored does not exist.
    """
    try:
        return judged.apply_fixes()
    except InvalidArgument as problem:
        raise click.UsageError(str(problem)) from None


def _print_diff(path: str, design: Design, fixed: FixedDesign) -> bool:
    """Print the diff that fixes would make in a design file; return whether there is one."""
    from difflib import unified_diff

    assert design.source is not None, "it was read from a file"
    before = design.source.text.splitlines()
    name = escape_text(path)
    lines = list(unified_diff(before, fixed.text.splitlines(), name, name, lineterm=""))
    print_lines(lines)
    return bool(lines)


def _write_fixes(path: str, judged: JudgedDesign) -> JudgedDesign:
    """Write safe fixes into the design file, and return the judgement of the fixed design."""
    fixed = _apply_fixes(judged)
    if not fixed.fixed_findings:
        return judged
    Path(path).write_text(fixed.text, encoding="utf-8", newline="")
    print_notes(f"{path}: fixed {finding}" for finding in fixed.fixed_findings)
    return judged.judge_fixed(fixed)


def _split_commas(values: tuple[str, ...]) -> list[str]:
    """Return the rule names of repeated options, each of which may list several with commas."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]
