"""Findings as SARIF 2.1.0, the format of code scanning services."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rowkey.render.notices.notice import MISTAKE_CODE, list_allowed_notices, list_notices
from rowkey.render.redaction import to_plain_value

if TYPE_CHECKING:
    from rowkey.design import TextRange
    from rowkey.lint import Rule
    from rowkey.render.notices.notice import CheckedFile, Notice

_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""Severities as SARIF has them."""
_MISTAKE_RULE: dict[str, Any] = {
    "id": MISTAKE_CODE,
    "shortDescription": {"text": "The file is not a valid design."},
    "defaultConfiguration": {"level": "error"},
}


def build_sarif_document(checked_files: Iterable[CheckedFile]) -> dict[str, Any]:
    """Return the findings as a SARIF log of one run.

    What a file allows is listed with its reason, as suppressed in the source.

    Source: OASIS, Static Analysis Results Interchange Format 2.1.0, with errata 01.
    """
    from rowkey.lint import select_rules

    every = select_rules()
    places = {MISTAKE_CODE: 0} | {rule.code: n for n, rule in enumerate(every, 1)}
    driver = {
        "name": "rowkey",
        "version": version("rowkey"),
        "rules": [_MISTAKE_RULE, *map(_build_descriptor, every)],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [result for one in checked_files for result in _build_results(one, places)],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _build_descriptor(rule: type[Rule]) -> dict[str, Any]:
    """Return the SARIF description of a lint rule."""
    from rowkey.lint import format_rule_name

    sections = rule.parse_docstring()
    instead = " ".join(sections.remedy.split())
    help_text = (
        f"{instead}\n\nBad:\n\n```toml\n{rule.bad_design}```\n\n"
        f"Good:\n\n```toml\n{rule.good_design}```\n"
    )
    return {
        "id": rule.code,
        "name": format_rule_name(rule.name),
        "shortDescription": {"text": sections.summary},
        "fullDescription": {"text": " ".join(sections.reason.split())},
        "help": {"text": instead, "markdown": help_text},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _build_results(
    checked_file: CheckedFile, rule_indexes: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Yield the SARIF results of one checked file."""
    stretches = {} if checked_file.file_text is None else checked_file.file_text.build_text_ranges()
    counts: Counter[str] = Counter()
    for notice in [*list_notices(checked_file), *list_allowed_notices(checked_file)]:
        fingerprint = f"{notice.code} {notice.design_path}"
        counts[fingerprint] += 1
        mark = sha256(fingerprint.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        yield _build_result(notice, stretches) | {
            "ruleIndex": rule_indexes[notice.code],
            "partialFingerprints": {"codeAndPath/v1": f"{mark}:{counts[fingerprint]}"},
        }


def _build_result(notice: Notice, text_ranges: Mapping[str, TextRange]) -> dict[str, Any]:
    """Return the SARIF result of one notice."""
    physical: dict[str, Any] = {"artifactLocation": {"uri": to_uri(notice.path)}}
    if notice.line:
        physical["region"] = _build_region(notice, text_ranges.get(notice.design_path))
    location: dict[str, Any] = {"physicalLocation": physical}
    if notice.design_path:
        location["logicalLocations"] = [{"fullyQualifiedName": notice.design_path}]
    why = {"justification": notice.allowed_reason} if notice.allowed_reason else {}
    evidence = {name: to_plain_value(value) for name, value in notice.evidence.items()}
    return {
        "ruleId": notice.code,
        "level": _SARIF_LEVELS[notice.severity],
        "message": {"text": break_links(notice.text)},
        "locations": [location],
        # Where one result has the word, all must: an empty list says that nothing allows it.
        "suppressions": [] if notice.allowed_reason is None else [{"kind": "inSource", **why}],
        **({"properties": {"evidence": evidence}} if evidence else {}),
    }


def _build_region(notice: Notice, text_range: TextRange | None) -> dict[str, int]:
    """Return the SARIF text region of the key and value that a notice is about."""
    if text_range is None or text_range.line != notice.line:
        column = {"startColumn": notice.column} if notice.column else {}
        return {"startLine": notice.line, **column}
    return {
        "startLine": text_range.line,
        "startColumn": text_range.column,
        "endLine": text_range.last_line,
        "endColumn": text_range.end_column,
    }


def break_links(text: str) -> str:
    """Return a message in which SARIF viewers find no links.

    Source: SARIF 2.1.0, 3.11.6, Messages with embedded links.

    >>> break_links("reads[0]: [a](https://example.org) is unknown")
    'reads[0]: [a] (https://example.org) is unknown'
    """
    return text.replace("](", "] (")


def to_uri(path: str) -> str:
    """Return a file path as a SARIF URI, relative to the current folder if it is below it.

    >>> to_uri("designs/100% b.toml"), to_uri("./a:b.toml")
    ('designs/100%25%20b.toml', 'a%3Ab.toml')
    """
    place = Path(path)
    if place.is_absolute():
        if not place.is_relative_to(Path.cwd()):
            return place.as_uri()
        place = place.relative_to(Path.cwd())
    return quote(os.fsencode(os.path.normpath(place).replace(os.sep, "/")))
