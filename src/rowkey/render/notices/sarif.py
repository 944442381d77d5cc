"""Findings as SARIF 2.1.0, which code scanning takes."""

from __future__ import annotations

import os
from collections import Counter
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rowkey.render.findings import plain_value
from rowkey.render.notices.checked import MISTAKE, allowed_in, notices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rowkey.design import Stretch
    from rowkey.lint import Rule
    from rowkey.render.notices.checked import Checked, Notice

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""Severities as SARIF has them."""
_MISTAKE_RULE: dict[str, Any] = {
    "id": MISTAKE,
    "shortDescription": {"text": "The file is no design."},
    "defaultConfiguration": {"level": "error"},
}


def sarif_document(checked: Iterable[Checked]) -> dict[str, Any]:
    """What was found, as a SARIF log of one run.

    What a file allows is listed with its reason, as suppressed in the source.

    Source: OASIS, Static Analysis Results Interchange Format 2.1.0, with errata 01.
    """
    from rowkey.lint import chosen

    every = chosen()
    places = {MISTAKE: 0} | {rule.code: n for n, rule in enumerate(every, 1)}
    driver = {
        "name": "rowkey",
        "version": version("rowkey"),
        "rules": [_MISTAKE_RULE, *map(_descriptor, every)],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [result for one in checked for result in _results(one, places)],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _descriptor(rule: type[Rule]) -> dict[str, Any]:
    from rowkey.lint import spoken

    told = rule.told()
    instead = " ".join(told.instead.split())
    shown = f"{instead}\n\nBad:\n\n```toml\n{rule.bad}```\n\nGood:\n\n```toml\n{rule.good}```\n"
    return {
        "id": rule.code,
        "name": spoken(rule.name),
        "shortDescription": {"text": told.summary},
        "fullDescription": {"text": " ".join(told.why.split())},
        "help": {"text": instead, "markdown": shown},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _results(one: Checked, places: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    stretches = {} if one.written is None else one.written.stretches()
    told: Counter[str] = Counter()
    for notice in [*notices_of(one), *allowed_in(one)]:
        said = f"{notice.code} {notice.where}"
        told[said] += 1
        mark = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        yield _result(notice, stretches) | {
            "ruleIndex": places[notice.code],
            "partialFingerprints": {"codeAndPath/v1": f"{mark}:{told[said]}"},
        }


def _result(notice: Notice, stretches: Mapping[str, Stretch]) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri_of(notice.path)}}
    if notice.line:
        physical["region"] = _region(notice, stretches.get(notice.where))
    location: dict[str, Any] = {"physicalLocation": physical}
    if notice.where:
        location["logicalLocations"] = [{"fullyQualifiedName": notice.where}]
    why = {"justification": notice.allowed} if notice.allowed else {}
    evidence = {name: plain_value(value) for name, value in notice.evidence.items()}
    return {
        "ruleId": notice.code,
        "level": _LEVELS[notice.severity],
        "message": {"text": break_links(notice.text)},
        "locations": [location],
        # Where one result has the word, all must: an empty list says that nothing allows it.
        "suppressions": [] if notice.allowed is None else [{"kind": "inSource", **why}],
        **({"properties": {"evidence": evidence}} if evidence else {}),
    }


def _region(notice: Notice, stretch: Stretch | None) -> dict[str, int]:
    """The word that is meant, from its first character to the one behind its value's last."""
    if stretch is None or stretch.line != notice.line:
        column = {"startColumn": notice.column} if notice.column else {}
        return {"startLine": notice.line, **column}
    return {
        "startLine": stretch.line,
        "startColumn": stretch.column,
        "endLine": stretch.last_line,
        "endColumn": stretch.end,
    }


def break_links(text: str) -> str:
    """Return a message in which no name of the file becomes a link, which viewers make clickable.

    Source: SARIF 2.1.0, 3.11.6, Messages with embedded links.

    >>> break_links("reads[0]: [a](https://example.org) is unknown")
    'reads[0]: [a] (https://example.org) is unknown'
    """
    return text.replace("](", "] (")


def uri_of(path: str) -> str:
    """A file as SARIF names it: relative to the current folder where it lies below that.

    >>> uri_of("designs/100% b.toml"), uri_of("./a:b.toml")
    ('designs/100%25%20b.toml', 'a%3Ab.toml')
    """
    place = Path(path)
    if place.is_absolute():
        if not place.is_relative_to(Path.cwd()):
            return place.as_uri()
        place = place.relative_to(Path.cwd())
    return quote(os.fsencode(os.path.normpath(place).replace(os.sep, "/")))
