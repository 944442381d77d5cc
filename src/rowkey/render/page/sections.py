"""The parts of a report that are looked at: the key, the maps, the causes and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.page.figures import offset, times, width
from rowkey.render.page.markup import Html, tag
from rowkey.schema import SURE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.render.page.words import Words

COLOURS = 8
"""Colours of boxes; they come again in keys of more parts."""
BROAD = 12
"""Bytes from which a box is as broad as any."""
_BEGINNINGS = frozenset({
    "a", "all", "an", "any", "each", "every", "its", "most", "no", "none", "nothing", "of", "one",
    "only", "the", "there", "these", "this", "two",
})  # fmt: skip
"""Words with which a sentence begins and that are no name of a design."""


def key_block(one: Mapping[str, Any], words: Words) -> Html:
    """The key of a design as boxes, and what it can and cannot do."""
    boxes, properties = one["boxes"], one["properties"]
    parts = [_box(number, part, words) for number, part in enumerate(boxes["parts"])]
    whole = words("key.whole", bytes=width(**boxes["bytes"], words=words))
    return tag(
        "div",
        tag("p", words("key.lead"), class_="small"),
        tag("ol", parts, class_="boxes"),
        tag("p", whole, " ", words("key.seen" if boxes["seen"] else "key.made"), class_="small"),
        tag("ul", [tag("li", said) for said in _properties(properties, words)], class_="facts"),
        _in_words(boxes["parts"], words),
    )


def _loses(name: str, what: str, words: Words) -> str:
    if what == "the value":
        return words("key.loses_all", name=name)
    return words("key.loses", name=name, what=words.phrase(what))


def _in_words(parts: Sequence[Mapping[str, Any]], words: Words) -> Html | None:
    """The bytes of each part in words, for whoever writes them in another language."""
    english = None if words.language == "en" else "en"
    told = [
        tag("li", tag("code", part["notation"]), " ", tag("span", part["words"], lang=english))
        for part in parts
        if part["words"]
    ]
    if not told:
        return None
    return tag("details", tag("summary", words("key.in_words")), tag("ul", told))


def _box(number: int, part: Mapping[str, Any], words: Words) -> Html:
    """One part of the key; how broad it is follows its bytes."""
    size = part["bytes"]
    broad = min(max(size["most"] or BROAD, 1), BROAD)
    loses = [_loses(name, what, words) for name, what in part["loses"].items()]
    terms = [
        ("offset", offset(**part["offset"])),
        ("width", width(**size, words=words)),
        ("order", words(f"order.{part['order']}")),
    ]
    return tag(
        "li",
        tag("code", part["notation"], class_="notation"),
        tag("code", part["hex"] or "–", class_="bytes", title=words("key.example")),
        tag("span", part["decoded"] or "–", class_="decoded", title=words("key.decoded")),
        tag(
            "dl",
            [tag("div", tag("dt", words(f"key.{name}")), tag("dd", said)) for name, said in terms],
        ),
        tag("p", words("key.and").join(loses), class_="small") if loses else None,
        class_=f"box c{number % COLOURS} b{broad}",
    )


def _properties(found: Mapping[str, Any], words: Words) -> list[str]:
    said = [words("key.decodes" if found["decodes"] else "key.ambiguous")]
    if found["unique"]:
        said.append(words("key.unique"))
    elif found["lossy"]:
        said.append(words("key.lossy", fields=", ".join(found["lossy"])))
    if found["kept"]:
        said.append(words("key.kept", fields=", ".join(found["kept"])))
    if found["chance"]:
        said.append(words("key.chance"))
    if found["order"]:
        said.append(words("key.rows_come", order=", ".join(found["order"])))
    return said


def heat_block(one: Mapping[str, Any], words: Words) -> Html:
    """A place for the heat map of a design; the program of the page draws it there."""
    if one["map"] is None:
        return tag("p", words("map.no_time"), class_="none")
    return Html(
        legend(words, f"map-scale-{one['id']}")
        + tag("div", class_="heat", id=f"map-{one['id']}", data_map=one["id"])
        + tag("p", words("map.help"), class_="small", id=f"map-help-{one['id']}")
    )


def legend(words: Words, name: str | None = None) -> Html:
    """What the colours of a map mean, and a place where its scale is drawn."""
    return Html(
        tag("p", words("map.scale"), class_="small", id=name)
        + tag("div", class_="legend", aria_hidden="true")
    )


def causes_block(one: Mapping[str, Any], words: Words) -> Html:
    """Why a design is as hot as it is, with the numbers that stand on its map."""
    if not one["causes"]:
        is_even = one["verdict"]["word"] == "even"
        name = "none_even" if is_even else "none_few" if one["operations"] < SURE else "none_hot"
        return tag("p", words(f"causes.{name}"), class_="none")
    lead = tag("p", words("causes.lead"), class_="small") if one["map"] is not None else None
    return tag("div", lead, causes_list(one["causes"], words))


def causes_list(causes: Sequence[Mapping[str, Any]], words: Words) -> Html:
    """Causes with what would help, the largest first."""
    return tag("ol", [_cause(cause, words) for cause in causes], class_="causes")


def _cause(cause: Mapping[str, Any], words: Words) -> Html:
    title, said, remedy = cause_words(cause, words)
    return tag(
        "li",
        tag("h4", title, " ", tag("code", cause["code"], class_="code")),
        tag("p", said),
        tag("p", tag("strong", words("causes.try")), " ", remedy, class_="remedy"),
        tag("p", words("causes.explains", bound=times(cause["bound"])), class_="small"),
    )


def cause_words(cause: Mapping[str, Any], words: Words) -> tuple[str, str, str]:
    """A cause in a language: its title, what was seen, what would help.

    Its own English sentences hold more figures and stand wherever they may; else those that the
    language has for its kind, and for a kind that is not known its name and its own.
    """
    front = f"causes.{cause['code']}"
    known = f"{front}.title" in words
    title = words(f"{front}.title") if known else str(cause["code"])
    if words.language == "en" and cause["message"]:
        return title, cause["message"], cause["remedy"]
    if not known:
        said = cause["message"] or words("causes.said", code=title)
        return title, said, cause["remedy"] or words("causes.remedy")
    try:
        said = words(f"{front}.said", **cause["figures"])
    except (KeyError, ValueError, TypeError):  # an evidence without that figure
        said = words(f"{front}.general")
    if cause.get("listed"):
        return title, said, words(f"{front}.listed", **cause["listed"])
    if cause["notation"]:
        return title, said, words(f"{front}.remedy", notation=cause["notation"])
    return title, said, words(f"{front}.bare")


def findings_block(one: Mapping[str, Any], words: Words) -> Html:
    """What the rules say of a design, the gravest first, then what its file allows."""
    if not one["findings"] and not one["allowed"]:
        return tag("p", words("findings.none"), class_="none")
    found = [finding_item(finding, words) for finding in one["findings"]]
    return tag("ul", found, [_allowed(one, words) for one in one["allowed"]], class_="findings")


def finding_item(finding: Mapping[str, Any], words: Words) -> Html:
    """One finding: in the words of the page where it has some for the rule, else in the rule's."""
    place = [finding["path"]]
    if finding["line"]:
        place.append(words("findings.line", line=finding["line"]))
    severity = finding["severity"]
    return tag(
        "li",
        tag("span", words(f"findings.{severity}"), class_=f"chip {severity}"),
        tag("h4", finding["name"], " ", tag("code", finding["code"], class_="code")),
        tag("p", ", ".join(filter(None, place)), class_="small place"),
        _said(finding, words),
    )


def _said(finding: Mapping[str, Any], words: Words) -> Html:
    """What a finding says. Its own sentences, with their figures, are English."""
    code = finding["code"]
    own = Html(
        tag("p", _sentence(finding["what"]))
        + (tag("p", finding["remedy"], class_="remedy") if finding["remedy"] else "")
        + (tag("p", finding["verdict"], class_="small") if finding["verdict"] else "")
    )
    if words.language == "en":
        return own
    if f"rules.{code}" not in words:
        return tag(
            "div", tag("p", words("findings.untold"), class_="small"), tag("div", own, lang="en")
        )
    remedy = tag("strong", words("causes.try")), " ", words(f"remedies.{code}")
    told = tag("p", words(f"rules.{code}")) + tag("p", *remedy, class_="remedy")
    if finding["is_general"]:
        return Html(told)
    return Html(
        told + tag("details", tag("summary", words("findings.own")), tag("div", own, lang="en"))
    )


def _allowed(one: Mapping[str, Any], words: Words) -> Html:
    rule = f"rules.{one['code']}"
    english = None if words.language == "en" else "en"
    return tag(
        "li",
        tag("span", words("findings.allowed"), class_="chip allowed"),
        tag("h4", one["name"], " ", tag("code", one["code"], class_="code")),
        tag("p", words(rule)) if rule in words else tag("p", one["what"], lang=english),
        tag(
            "p",
            words("findings.reason", why=one["why"]) if one["why"] else words("findings.no_reason"),
            class_="small",
        ),
    )


def _sentence(said: str) -> str:
    """A finding as a sentence of its own: it begins large, unless it begins with a name.

    >>> _sentence("the key begins with ts"), _sentence("ts moves with the clock.")
    ('The key begins with ts.', 'ts moves with the clock.')
    """
    if said.split(" ", 1)[0] in _BEGINNINGS:
        said = f"{said[0].upper()}{said[1:]}"
    return said if said.endswith((".", "…")) else f"{said}."
