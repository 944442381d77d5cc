"""Proposed designs as design files: the declared file with the proposed options in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.design import BOM, Design, KeyPath, TomlSpans, find_companion_obstacle, find_spans
from rowkey.errors import InvalidDesign
from rowkey.lint import edit_toml
from rowkey.render.text import wrap_text
from rowkey.schema import format_key

if TYPE_CHECKING:
    from rowkey.advise import Advice, JudgedDesign

PROPOSAL_MARK = "# Proposed by rowkey advise"
"""The beginning of the comment that explains a proposed key."""
COMMENT_WIDTH = 96
_BLANK_LINES = re.compile(r"(?:[ \t\r]*\n)*")
_COMMENT_LINES = re.compile(r"(?:^[ \t]*#[^\n]*\n)+\Z", re.MULTILINE)


UNFINISHED = (
    "The search was interrupted: the figures are of the first events, and other keys may be better."
)
"""Said of a design that an interrupted search proposes."""


def format_advised_design(
    advice: Advice,
    judged: JudgedDesign,
    path: Path,
    companions: Mapping[str, str] | None = None,
    *,
    is_temporary: bool = False,
) -> str:
    """Return a proposed design as the text of a design file, with its verdict as comments.

    A design of the declared table is the declared file with the changed options in it: its
    comments and its layout stay, but for reads that another table serves. Where these options
    cannot be edited, and for further tables, the file is written anew.

    Args:
        judged: one of its picks or tables.
        path: the file, to whose folder the path of a sample is relative.
        companions: the files of its companions by name, if several tables are proposed.
        is_temporary: whether a sample that the design does not declare is gone later, so that the
            file must not name it.
    """
    declared = advice.declared.design
    is_main = judged.design.table == declared.table
    options = _build_options(judged, path, is_temporary=is_temporary)
    if is_main:
        kept = _list_kept_companions(judged.design, declared, path)
        options |= {"companions": kept | {**(companions or {})}} if kept or companions else {}
        own, served = judged.design.reads, advice.declared.simulation.design.reads
        moved = {read.name for read in served} - {read.name for read in own}
        tree = declared.declaration.model_dump(by_alias=True, exclude_unset=True)
        options["reads"] = [one for one in tree.get("reads", ()) if one["name"] not in moved]
    proposed = Design(**options)
    decisive = judged.verdict.decisive
    verdict = f"{decisive.grade.upper()}: {decisive.subject}: {decisive.message}."
    if not advice.is_complete:
        verdict += f" {UNFINISHED}"
    if is_main and declared.source is not None:
        text = _edit_declared_text(declared, proposed)
        if text is not None:
            why = f"in place of {format_key(declared.key.terms)}. {verdict}"
            old_key = format_key(declared.key.terms)
            return _insert_comments(text, f"{PROPOSAL_MARK[2:]}, {why}", old_key)
    comments = [f"{PROPOSAL_MARK}.", *(f"# {one}" for one in wrap_text(verdict, COMMENT_WIDTH, 0))]
    return "\n".join([*comments, "", proposed.dumps()])


def _list_kept_companions(design: Design, declared: Design, path: Path) -> dict[str, str]:
    """Return the files of the companions of a declared design that suit a proposed one too.

    Args:
        declared: the declared one.
        path: the file of the proposed one, to whose folder they are relative.
    """
    if find_companion_obstacle(design, declared.companions) is not None:
        return {}
    return {
        name: relpath(declared.directory / file, path.parent)
        for name, file in declared.declaration.companions.items()
    }


def _build_options(judged: JudgedDesign, path: Path, *, is_temporary: bool) -> dict[str, Any]:
    """Return the options of a proposed design without companions, as in a file at a path."""
    design, source = judged.design, judged.simulation.source
    options = design.declaration.model_dump(by_alias=True, exclude_unset=True)
    options.pop("companions", None)
    if design.sample_path is not None:
        options["sample"]["path"] = relpath(design.sample_path, path.parent)
    elif not is_temporary and source.name and Path(source.name).is_file():
        options.setdefault("sample", {})["path"] = relpath(source.name, path.parent)
    return options


def _edit_declared_text(declared: Design, proposed: Design) -> str | None:
    """Return the text of a declared design with the options of a proposed one.

    Options that only spell out a default stay as they are, if the text then means the same.

    Returns:
        The text; None if the changed options cannot be edited in it.
    """
    assert declared.source is not None, "the design was read from a text"
    text = _remove_reads(declared.source.text, declared, proposed)
    if text is None:
        return None
    old, new = (
        one.declaration.model_dump(by_alias=True, exclude_unset=True, exclude={"reads"})
        for one in (declared, proposed)
    )
    changes = dict(_list_changes(old, new))
    present = {path: value for path, value in changes.items() if value is not None}
    expected = proposed.dumps(defaults=False)
    for some in (present, changes):
        edited = edit_toml(text, some)
        try:
            if expected == Design.loads(edited).dumps(defaults=False):
                return edited
        except InvalidDesign:
            continue
    return None


def _list_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], path: KeyPath = ()
) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the path and the new value of each option that differs; None for one that is gone."""
    for name in dict.fromkeys([*old, *new]):
        mine, other = old.get(name), new.get(name)
        if isinstance(mine, dict) and isinstance(other, dict) and name != "splits":
            yield from _list_changes(mine, other, (*path, name))
        elif mine != other:
            yield (*path, name), other


def _remove_reads(text: str, declared: Design, proposed: Design) -> str | None:
    """Return the text of a declared design without the reads that a proposed one lacks.

    The comments directly above a read go with it.

    Returns:
        The text; None if its reads are not written as `[[reads]]`.
    """
    kept = {read.name for read in proposed.declaration.reads}
    body = text.removeprefix(BOM)
    spans = find_spans(body)
    for index, read in reversed(list(enumerate(declared.declaration.reads))):
        if read.name in kept:
            continue
        path: KeyPath = ("reads", index)
        if path not in spans.header_stops:
            return None
        start, stop = _find_block(body, spans, path)
        body = body[:start] + body[stop:]
    return text[: len(text) - len(text.removeprefix(BOM))] + body


def _find_block(text: str, spans: TomlSpans, path: KeyPath) -> tuple[int, int]:
    """Return where a table begins and ends in a text.

    The comments directly above it and the blank lines after its last option belong to it.
    """
    stops = [stop for one, (_, stop) in spans.value_spans.items() if one[: len(path)] == path]
    last = max([spans.header_stops[path], *stops])
    newline = text.find("\n", last)
    rest = "" if newline < 0 else text[newline + 1 :]
    blank = _BLANK_LINES.match(rest)
    stop = len(text) - len(rest) + (0 if blank is None else blank.end())
    return _find_comment_start(text, spans.starts[path]), stop


def _find_comment_start(text: str, offset: int) -> int:
    """Return where the comment lines directly above the line of an offset begin."""
    line = text.rfind("\n", 0, offset) + 1
    found = _COMMENT_LINES.search(text, 0, line)
    return line if found is None else found.start()


def _insert_comments(text: str, comment: str, old_key: str) -> str:
    """Return a design file with a comment above its key, in place of one of an earlier advice.

    Comments that stood above the old key describe it, so it follows them, as a comment.
    """
    body = text.removeprefix(BOM)
    start = find_spans(body).starts[("key",)]
    line = body.rfind("\n", 0, start) + 1
    above = body[:line]
    described = _find_comment_start(body, start)
    mark = above.rfind(PROPOSAL_MARK, described)
    if mark >= 0:
        above = above[: above.rfind("\n", 0, mark) + 1]
    end = "\r\n" if body.partition("\n")[0].endswith("\r") else "\n"
    lines: Sequence[str] = list(wrap_text(comment, COMMENT_WIDTH, 0))
    comments = "".join(f"# {one}{end}" for one in lines)
    if mark < 0 and described < line:
        comments = f'# before: key = "{old_key}"{end}{comments}'
    return text[: len(text) - len(body)] + above + comments + body[line:]
