"""The verb `check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rowkey.cli.options import (
    EXIT_ZERO,
    FORMAT,
    SAMPLE,
    print_aside,
    print_json,
    print_lines,
)
from rowkey.errors import Refused, escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.lint import Findings, Mended, Seen, Severity
    from rowkey.render import Checked


@click.command(short_help="Mistakes of design files, and what the rules find in sound ones.")
@click.argument("designs", nargs=-1, required=True)
@SAMPLE
@FORMAT
@click.option(
    "--select", multiple=True, metavar="RULE", help="Only these: a code, its beginning, or a name."
)
@click.option("--ignore", multiple=True, metavar="RULE", help="All but these.")
@click.option(
    "--severity",
    type=click.Choice(["info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="Least severity of a finding that it leaves with 1 for.",
)
@click.option(
    "-f",
    "output",
    type=click.Choice(["text", "json", "sarif", "github", "junit"]),
    default="text",
    show_default=True,
    help="What is printed.",
)
@click.option("--fix", is_flag=True, help="Write what has a safe fix into the files, and go on.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and nothing else.")
@EXIT_ZERO
def command(
    designs: tuple[str, ...],
    sample: str | None,
    sample_format: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    severity: Severity,
    output: str,
    *,
    fix: bool,
    diff: bool,
    exit_zero: bool,
) -> int:
    """Report every mistake of design files with its line; of sound ones, what they can and cannot,
    and what the rules find.

    Rules look at the sample where there is one, given or declared, and else at the declaration. A
    finding is allowed by a comment on its line, or above it: `# rowkey: allow NAME - reason`.
    Leaves with 1 if a file has mistakes, or findings of the severity, or --diff has changes. A fix
    never touches the key, and keeps comments.

    \b
    rowkey check logs.toml
    rowkey check logs.toml --sample events.csv --ignore RK1
    rowkey check designs/*.toml -f sarif > rowkey.sarif
    """  # noqa: D205 - the sentence is the help's first paragraph
    from rowkey.design import Design
    from rowkey.errors import DeclarationError
    from rowkey.render import Checked, mistakes_document

    words = None if sample_format is None else {"kind": sample_format}
    checked, documents, is_bad = [], [], False
    for path in designs:
        try:
            design = Design.read(path)
        except DeclarationError as problem:
            is_bad = True
            checked.append(Checked(path, problem.mistakes))
            documents.append(mistakes_document(path, problem.mistakes))
            if output == "text":
                print_lines([str(problem)])
            continue
        seen = _seen(path, design, sample, words)
        if fix or diff:
            after = _mended(design, seen, select, ignore)
            if diff:
                is_bad |= _print_diff(path, design, after)
                continue
            design = _written(path, design, after)
        judged = _judged(design, seen, select, ignore)
        is_bad |= bool(judged.at_least(severity))
        checked.append(Checked(path, judged=judged, written=design.written))
        if output in ("text", "json"):
            documents.append(_told(path, design, judged, (sample, words), as_text=output == "text"))
    if diff:
        return 1 if is_bad and not exit_zero else 0
    if output == "json":
        print_json(documents[0] if len(documents) == 1 else documents)
    elif output != "text":
        _print_notices(checked, output, severity)
    return 1 if is_bad and not exit_zero else 0


def _print_notices(checked: list[Checked], output: str, severity: Severity) -> None:
    """Print what was found in a form that another program takes."""
    from rowkey.render import github_lines, junit_lines, sarif_document

    if output == "sarif":
        print_json(sarif_document(checked))
    else:
        is_junit = output == "junit"
        print_lines(junit_lines(checked, severity) if is_junit else github_lines(checked))


def _seen(
    path: str, design: Design, sample: str | None, words: Mapping[str, Any] | None
) -> Seen | None:
    """What the sample shows; a declared one that cannot be read is told, and done without."""
    given = design.sample_path if sample is None else sample
    if given is None:
        return None
    from rowkey.errors import SampleError
    from rowkey.lint import look

    try:
        return look(design, given, words)
    except SampleError as problem:
        if sample is not None:
            raise
        print_aside([f"{path} is judged without its sample: {problem}"])
        return None


def _judged(
    design: Design, seen: Seen | None, select: tuple[str, ...], ignore: tuple[str, ...]
) -> Findings:
    """What the rules say.

    Raises:
        UsageError: there is no such rule.
    """
    from rowkey.lint import check

    try:
        return check(design, seen, select=_split(select), ignore=_split(ignore))
    except Refused as refusal:
        raise click.UsageError(str(refusal)) from None


def _mended(
    design: Design, seen: Seen | None, select: tuple[str, ...], ignore: tuple[str, ...]
) -> Mended:
    """The file with all that has a safe fix.

    Raises:
        UsageError: there is no such rule.
    """
    from rowkey.lint import mended

    try:
        return mended(design, seen, select=_split(select), ignore=_split(ignore))
    except Refused as refusal:
        raise click.UsageError(str(refusal)) from None


def _print_diff(path: str, design: Design, after: Mended) -> bool:
    """Print what fixes would change; gives whether they would change anything."""
    from difflib import unified_diff

    assert design.written is not None, "it was read from a file"
    before = design.written.text.splitlines()
    name = escaped(path)
    lines = list(unified_diff(before, after.text.splitlines(), name, name, lineterm=""))
    print_lines(lines)
    return bool(lines)


def _written(path: str, design: Design, after: Mended) -> Design:
    """The mended design, written to its file; what was done is told aside."""
    from pathlib import Path

    if not after.done:
        return design
    Path(path).write_text(after.text, encoding="utf-8", newline="")
    print_aside(f"{path}: mended {one}" for one in after.done)
    return after.design


def _split(given: tuple[str, ...]) -> list[str]:
    """Words that were given one by one, or with commas between them."""
    return [word.strip() for words in given for word in words.split(",") if word.strip()]


def _told(
    path: str,
    design: Design,
    judged: Findings,
    sample: tuple[str | None, Mapping[str, Any] | None],
    *,
    as_text: bool,
) -> dict[str, Any]:
    """The document of a sound file; its text is printed, where text is wanted."""
    from rowkey.cli.packing import packing_for
    from rowkey.design import properties_of
    from rowkey.render import check_document, check_lines

    facts = None if judged.seen is None else judged.seen.facts
    found, packing = properties_of(design, facts), packing_for(design, *sample)
    if as_text:
        print_lines(check_lines(path, design, found, judged, packing))
    return check_document(path, design, found, judged, packing)
