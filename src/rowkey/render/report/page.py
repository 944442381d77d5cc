"""A report as one HTML file that needs nothing else and asks nothing of any network."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from rowkey.render.report.figures import times
from rowkey.render.report.markup import Html, data, tag
from rowkey.render.report.sections import (
    causes_section,
    findings_section,
    heat_section,
    key_section,
)
from rowkey.render.report.tables import (
    comparison_section,
    figures_section,
    reads_section,
    storage_section,
)
from rowkey.render.report.words import Words, asset

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTIONS = (
    ("comparison", comparison_section),
    ("key", key_section),
    ("heat", heat_section),
    ("causes", causes_section),
    ("findings", findings_section),
    ("reads", reads_section),
    ("storage", storage_section),
    ("figures", figures_section),
)
"""The sections of a page, by their names in the words, in the order they stand in."""
TAGS = {"en": "en", "zh": "zh-Hans"}
"""The language of a page as HTML names it."""


def report_page(document: Mapping[str, Any], language: str = "en") -> str:
    """A report as the text of an HTML file.

    The page allows itself no request and no program but its own, by a policy in its head.

    Args:
        document: what `report_document` gave.
        language: one of `LANGUAGES`.
    """
    words = Words(language)
    style, program = asset("style.css"), asset("map.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, program)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{_title(document, words)} · {words('page.title')}"),
        tag("style", Html(style)),
    )
    body = tag("body", *_body(document, words), tag("script", Html(program)))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang=TAGS.get(language, language))}\n"


def _policy(style: str, program: str) -> str:
    """Nothing is loaded; only this style and this program are taken, by what they hash to."""
    hashes = [base64.b64encode(sha256(t.encode()).digest()).decode() for t in (style, program)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        f"base-uri 'none'; form-action 'none'"
    )


def _title(document: Mapping[str, Any], words: Words) -> str:
    table, designs = ", ".join(document["tables"]), len(document["designs"])
    name = "page.of_design" if designs == 1 else "page.of_designs"
    return words(name, table=table, count=designs)


def _body(document: Mapping[str, Any], words: Words) -> list[Html]:
    shown = [(name, made) for name, make in SECTIONS if (made := make(document, words))]
    links = [tag("li", tag("a", words(f"section.{name}"), href=f"#{name}")) for name, _ in shown]
    payload = {
        "language": words.language,
        "words": words.below("map"),
        "maps": [
            {"id": one["id"], "name": one["name"], **one["map"]}
            for one in document["designs"]
            if one["map"] is not None
        ],
    }
    return [
        tag("a", words("page.skip"), class_="skip", href="#content"),
        _head(document, words),
        tag("nav", tag("ul", links), aria_label=words("page.contents")),
        tag(
            "main",
            [
                tag(
                    "section",
                    tag("h2", words(f"section.{name}")),
                    made,
                    id=name,
                    class_="topic",
                )
                for name, made in shown
            ],
            id="content",
        ),
        _foot(document, words),
        data("payload", payload),
    ]


def _head(document: Mapping[str, Any], words: Words) -> Html:
    notes = [words("page.redacted")] if document["redacted"] else []
    notes += filter(None, [words("page.partly_english")])
    return tag(
        "header",
        tag("p", words("page.title"), class_="kind"),
        tag("h1", _title(document, words)),
        [tag("p", note, class_="note") for note in notes],
        tag("div", [_card(one, words) for one in document["designs"]], class_="designs cards"),
        tag("noscript", tag("p", words("page.script"), class_="note")),
    )


def _card(one: Mapping[str, Any], words: Words) -> Html:
    """A design in a glance: its verdict, its key, what it was judged by."""
    verdict = one["verdict"]
    return tag(
        "article",
        tag(
            "h2",
            tag("span", words(f"verdict.{verdict['word']}"), class_=f"word {verdict['word']}"),
            " ",
            one["name"],
        ),
        tag("p", tag("code", one["key"]), class_="notation"),
        tag("p", _said(one, words), class_="figure"),
        tag("p", f"{_basis(verdict, words)} {_judged_by(one, words)}", class_="small"),
        tag("ul", [tag("li", said) for said in _more(one, words)], class_="facts"),
        class_=f"card {verdict['word']}",
    )


def _said(one: Mapping[str, Any], words: Words) -> str:
    if one["servers"] == 1:
        return words("verdict.said_single")
    return words("verdict.said", servers=one["servers"], skew=times(one["verdict"]["skew"]))


def _basis(verdict: Mapping[str, Any], words: Words) -> str:
    even, width = times(verdict["even"]), verdict["width_s"]
    if width is None:
        return words("verdict.basis_equal", even=even)
    return words("verdict.basis_s", even=even, width=f"{width} s")


def _judged_by(one: Mapping[str, Any], words: Words) -> str:
    source = one["source"]
    done, events = f"{one['operations']:,}", f"{source['events']:,}"
    if source["kind"] != "sample":
        return words("verdict.judged_by_made", operations=done)
    if not source["name"]:
        return words("verdict.judged_by_hidden", operations=done, events=events)
    return words("verdict.judged_by", operations=done, events=events, name=source["name"])


def _more(one: Mapping[str, Any], words: Words) -> list[str]:
    said = [words("verdict.regions", regions=f"{one['regions']:,}", servers=f"{one['servers']:,}")]
    for name, number in (
        ("dead", one["dead"]),
        ("overwritten", one["overwritten"]),
        ("left_out", one["source"]["left_out"]),
    ):
        if number:
            said.append(words(f"verdict.{name}", count=f"{number:,}", regions=one["regions"]))
    return [*said, *one["source"]["said"]]


def _foot(document: Mapping[str, Any], words: Words) -> Html:
    servers = max(one["servers"] for one in document["designs"])
    said = [words("page.term_skew", servers=servers), words("page.term_even")]
    return tag(
        "footer",
        tag("h2", words("page.terms")),
        [tag("p", one) for one in [*said, words("page.term_share")]],
        tag("p", words("page.ask"), class_="small"),
    )
