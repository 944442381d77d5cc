"""Findings as JUnit's XML, which CI servers show as tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rowkey.messages import shorten_text
from rowkey.render.notices.notice import MISTAKE_CODE, list_notices

if TYPE_CHECKING:
    from rowkey.lint import Severity
    from rowkey.render.notices.notice import CheckedFile, Notice


def format_junit(
    checked_files: Sequence[CheckedFile], min_severity: Severity | None
) -> Iterator[str]:
    """Yield the findings as JUnit XML: a suite per file, a case per finding.

    Args:
        checked_files: the files.
        min_severity: severity from which a finding is a failure, None if only mistakes are
            failures; other findings count as skipped.

    Source: the schema that Jenkins' xUnit plugin publishes, junit-10.xsd.
    """
    suites = [(one, list(list_notices(one))) for one in checked_files]
    every = [notice for _, notices in suites for notice in notices]
    cases = sum(max(len(notices), 1) for _, notices in suites)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    # The schema gives only suites a count of what was skipped, not the whole.
    yield f'<testsuites name="rowkey check" {_format_counts(every, cases, min_severity)}>'
    for one, notices in suites:
        counts = _format_counts(notices, max(len(notices), 1), min_severity)
        skipped = sum(not _is_failure(notice, min_severity) for notice in notices)
        name = _quote_attribute(one.path)
        yield f'  <testsuite name={name} {counts} skipped="{skipped}">'
        for notice in notices:
            yield from _format_case(notice, min_severity)
        if not notices:
            yield f'    <testcase name="check" classname={name}/>'
        yield "  </testsuite>"
    yield "</testsuites>"


def _format_counts(
    notices: Sequence[Notice], case_count: int, min_severity: Severity | None
) -> str:
    """Return the XML attributes that count tests and failures."""
    failures = sum(_is_failure(notice, min_severity) for notice in notices)
    return f'tests="{case_count}" failures="{failures}" errors="0"'


def _is_failure(notice: Notice, min_severity: Severity | None) -> bool:
    """Return whether a notice is severe enough to fail its test."""
    from rowkey.lint import SEVERITIES

    if min_severity is None or notice.code == MISTAKE_CODE:
        return notice.code == MISTAKE_CODE
    return SEVERITIES.index(notice.severity) >= SEVERITIES.index(min_severity)


def _format_case(notice: Notice, min_severity: Severity | None) -> Iterator[str]:
    """Yield the XML lines of one finding as a JUnit test case."""
    name = _quote_attribute(f"{notice.code} {notice.design_path}".strip())
    yield f"    <testcase name={name} classname={_quote_attribute(notice.path)}>"
    message = _quote_attribute(notice.text)
    if _is_failure(notice, min_severity):
        spot = f"{notice.line}:{notice.column}" if notice.column else notice.line
        place = _escape_xml(f"{notice.path}:{spot}: {notice.design_path}")
        yield (
            f"      <failure message={message} "
            f"type={_quote_attribute(notice.name)}>{place}</failure>"
        )
    else:
        yield f"      <skipped message={message}/>"
    yield "    </testcase>"


def _quote_attribute(text: str) -> str:
    """Return a text as a quoted XML attribute value."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(shorten_text(text))


def _escape_xml(text: str) -> str:
    """Return a text escaped for the content of an XML element."""
    from xml.sax.saxutils import escape

    return escape(shorten_text(text))
