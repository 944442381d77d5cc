"""A report as one HTML file that needs nothing else and asks nothing of any network."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from rowkey.render.page.compared import comparison_section
from rowkey.render.page.designs import called, card, design_section, links
from rowkey.render.page.figures import times
from rowkey.render.page.markup import Html, data, tag
from rowkey.render.page.words import Words, asset

if TYPE_CHECKING:
    from collections.abc import Mapping


def report_page(document: Mapping[str, Any], language: str = "en") -> str:
    """A report as the text of an HTML file.

    The page allows itself no request and no program but its own, by a policy in its head.

    Args:
        document: what `report_document` gave.
        language: one of `LANGUAGES`.
    """
    words = Words(language)
    style, program = asset("browser/style.css"), asset("browser/map.js")
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
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang=words.tag)}\n"


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
    designs = document["designs"]
    payload = {
        "language": words.language,
        "words": {**words.below("map"), "small": words("compared.small")},
        "maps": [_map(one) for one in designs if one["map"] is not None],
    }
    return [
        tag("a", words("page.skip"), class_="skip", href="#content"),
        _head(document, words),
        tag("nav", _contents(document, words), aria_label=words("page.contents")),
        tag(
            "main",
            comparison_section(document, words),
            [design_section(one, words) for one in designs],
            id="content",
        ),
        _foot(document, words),
        data("payload", payload),
    ]


def _map(one: Mapping[str, Any]) -> dict[str, Any]:
    skew = times(one["verdict"]["skew"])
    return {"id": one["id"], "name": called(one), "skew": skew, **one["map"]}


def _contents(document: Mapping[str, Any], words: Words) -> Html:
    """Where to go: the topics of the one design, or the designs."""
    designs = document["designs"]
    if len(designs) == 1:
        return links(designs[0], words)
    places = [("comparison", words("section.comparison"))] if document["comparison"] else []
    places += [(one["id"], called(one)) for one in designs]
    return tag("ul", [tag("li", tag("a", said, href=f"#{name}")) for name, said in places])


def _head(document: Mapping[str, Any], words: Words) -> Html:
    notes = [words("page.redacted")] if document["redacted"] else []
    notes += filter(None, [words("page.partly_english")])
    compared = document["comparison"] or {"why_not": []}
    is_told = compared["why_not"] is not None
    cards = [card(one, words, is_told=is_told) for one in document["designs"]]
    return tag(
        "header",
        tag("p", words("page.title"), class_="kind"),
        tag("h1", _title(document, words)),
        [tag("p", note, class_="note") for note in notes],
        tag("div", cards, class_="cards"),
        tag("noscript", tag("p", words("page.script"), class_="note")),
        class_="head",
    )


def _foot(document: Mapping[str, Any], words: Words) -> Html:
    servers = max(one["servers"] for one in document["designs"])
    said = [words("page.term_skew", servers=servers), words("page.term_even")]
    return tag(
        "footer",
        tag("h2", words("page.terms")),
        [tag("p", one) for one in [*said, words("page.term_share")]],
        tag("p", words("page.ask"), class_="small"),
    )
