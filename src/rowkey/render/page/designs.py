"""One design of a report: all that is told of it, from its key to its bytes, in one section."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.page.figures import times
from rowkey.render.page.markup import Html, tag
from rowkey.render.page.sections import causes_block, findings_block, heat_block, key_block
from rowkey.render.page.tables import figures_block, reads_block, storage_block

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.render.page.words import Words

TOPICS = (
    ("key", key_block),
    ("heat", heat_block),
    ("causes", causes_block),
    ("findings", findings_block),
    ("reads", reads_block),
    ("storage", storage_block),
    ("figures", figures_block),
)
"""What is told of a design, by its names in the words, in the order it stands in."""


def called(one: Mapping[str, Any]) -> str:
    """What a design is called: its letter, where there are several, and its name.

    >>> called({"label": "A", "name": "logs"}), called({"label": "", "name": "logs"})
    ('A logs', 'logs')
    """
    return " ".join(filter(None, (one["label"], one["name"])))


def word_of(verdict: Mapping[str, Any], words: Words) -> Html:
    """The word of a verdict in its colour."""
    return tag("span", words(f"verdict.{verdict['word']}"), class_=f"word {verdict['word']}")


def card(one: Mapping[str, Any], words: Words, *, is_told: bool) -> Html:
    """A design in a glance.

    Args:
        one: the design, as `glance_document` tells it, with its letter and its place in the page.
        words: the language.
        is_told: whether it says what it was judged by.
    """
    verdict = one["verdict"]
    name = tag("a", called(one), href=f"#{one['id']}") if one["label"] else one["name"]
    basis = [_basis(verdict, words), _judged_by(one, words) if is_told else ""]
    return tag(
        "article",
        tag("p", word_of(verdict, words), " ", name, class_="title"),
        tag("p", tag("code", one["key"]), class_="notation"),
        tag("p", _said(one, words), class_="figure"),
        tag("p", " ".join(filter(None, basis)), class_="small"),
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
    return [*said, *map(words.phrase, one["source"]["said"])]


def links(one: Mapping[str, Any], words: Words) -> Html:
    """The topics of a design as places to go to."""
    items = [
        tag("li", tag("a", words(f"section.{name}"), href=f"#{one['id']}-{name}"))
        for name, _ in TOPICS
    ]
    return tag("ul", items)


def design_section(one: Mapping[str, Any], words: Words) -> Html:
    """Everything of one design; where it is the only one, the page's title is its own."""
    is_sole = not one["label"]
    title = tag("h2", called(one), " ", None if is_sole else word_of(one["verdict"], words))
    head = tag(
        "header",
        title,
        None if is_sole else tag("p", tag("code", one["key"]), class_="notation"),
        None if is_sole else tag("div", links(one, words), class_="jump"),
        class_="sole" if is_sole else "name",
    )
    topics = [_topic(one, name, make(one, words), words) for name, make in TOPICS]
    return tag(
        "section",
        head,
        tag("div", topics, class_="topics" if one["causes"] else "topics calm"),
        id=one["id"],
        class_="one",
    )


def _topic(one: Mapping[str, Any], name: str, made: Html, words: Words) -> Html:
    return tag(
        "section",
        tag("h3", words(f"section.{name}")),
        made,
        id=f"{one['id']}-{name}",
        class_=f"topic t-{name}",
    )
