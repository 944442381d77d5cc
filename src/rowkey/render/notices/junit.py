"""Findings as JUnit's XML, which servers that run tests show as tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.errors import printable
from rowkey.render.notices.checked import notices_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rowkey.lint import Severity
    from rowkey.render.notices.checked import Checked, Notice


def junit_lines(checked: Sequence[Checked], least: Severity) -> Iterator[str]:
    """What was found, as JUnit's XML: a suite a file, a case a finding.

    Args:
        checked: the files.
        least: severity from which a finding is a failure; lesser ones count as skipped.

    Source: the schema that Jenkins' xUnit plugin publishes, junit-10.xsd.
    """
    suites = [(one, list(notices_of(one))) for one in checked]
    every = [notice for _, notices in suites for notice in notices]
    cases = sum(max(len(notices), 1) for _, notices in suites)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    # The schema gives only suites a count of what was skipped, not the whole.
    yield f'<testsuites name="rowkey check" {_counts(every, cases, least)}>'
    for one, notices in suites:
        counts = _counts(notices, max(len(notices), 1), least)
        skipped = sum(not _fails(notice, least) for notice in notices)
        name = _quoted(one.path)
        yield f'  <testsuite name={name} {counts} skipped="{skipped}">'
        for notice in notices:
            yield from _case(notice, least)
        if not notices:
            yield f'    <testcase name="check" classname={name}/>'
        yield "  </testsuite>"
    yield "</testsuites>"


def _counts(notices: Sequence[Notice], cases: int, least: Severity) -> str:
    failures = sum(_fails(notice, least) for notice in notices)
    return f'tests="{cases}" failures="{failures}" errors="0"'


def _fails(notice: Notice, least: Severity) -> bool:
    from rowkey.lint import SEVERITIES

    return SEVERITIES.index(notice.severity) >= SEVERITIES.index(least)


def _case(notice: Notice, least: Severity) -> Iterator[str]:
    name = _quoted(f"{notice.code} {notice.where}".strip())
    yield f"    <testcase name={name} classname={_quoted(notice.path)}>"
    message = _quoted(notice.text)
    if _fails(notice, least):
        spot = f"{notice.line}:{notice.column}" if notice.column else notice.line
        place = _escaped(f"{notice.path}:{spot}: {notice.where}")
        yield f"      <failure message={message} type={_quoted(notice.name)}>{place}</failure>"
    else:
        yield f"      <skipped message={message}/>"
    yield "    </testcase>"


def _quoted(text: str) -> str:
    """A text as the value of an attribute; nothing in it that XML 1.0 has no character for."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(printable(text))


def _escaped(text: str) -> str:
    """A text between tags."""
    from xml.sax.saxutils import escape

    return escape(printable(text))
