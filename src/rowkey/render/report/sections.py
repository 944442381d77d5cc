"""The parts of a report that are looked at: the key, the maps, the causes and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.render.report.figures import offset, times, width
from rowkey.render.report.markup import Html, beside, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.render.report.words import Words

COLOURS = 8
"""Colours of boxes; they come again in keys of more parts."""
BROAD = 12
"""Bytes from which a box is as broad as any."""


def key_section(document: Mapping[str, Any], words: Words) -> Html:
    """The key of each design as boxes."""
    designs = document["designs"]
    return Html(
        tag("p", words("key.lead"), class_="small")
        + beside(designs, [_key(o, words) for o in designs])
    )


def _key(one: Mapping[str, Any], words: Words) -> Html:
    boxes, properties = one["boxes"], one["properties"]
    parts = [_box(number, part, words) for number, part in enumerate(boxes["parts"])]
    whole = words("key.whole", bytes=width(**boxes["bytes"], words=words))
    return tag(
        "div",
        tag("ol", parts, class_="boxes"),
        tag("p", whole, " ", words("key.seen" if boxes["seen"] else "key.made"), class_="small"),
        tag("ul", [tag("li", said) for said in _properties(properties, words)], class_="facts"),
        _in_words(boxes["parts"], words),
    )


def _loses(name: str, what: str, words: Words) -> str:
    if what == "the value":
        return words("key.loses_all", name=name)
    return words("key.loses", name=name, what=what)


def _in_words(parts: Sequence[Mapping[str, Any]], words: Words) -> Html | None:
    """The bytes of each part in words, for whoever writes them in another language."""
    told = [
        tag("li", tag("code", part["notation"]), " ", part["words"])
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
        tag("p", "; ".join(loses), class_="small") if loses else None,
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


def heat_section(document: Mapping[str, Any], words: Words) -> Html:
    """A place for the heat map of each design; the program of the page draws it there."""
    designs = document["designs"]
    return Html(
        tag("p", words("map.scale"), class_="small", id="map-scale")
        + tag("div", class_="legend", id="legend", aria_hidden="true")
        + beside(designs, [_map(one, words) for one in designs])
        + tag("p", words("map.help"), class_="small", id="map-help")
    )


def _map(one: Mapping[str, Any], words: Words) -> Html:
    if one["map"] is None:
        return tag("p", words("map.no_time"), class_="none")
    return tag("div", class_="heat", id=f"map-{one['id']}", data_map=one["id"])


def causes_section(document: Mapping[str, Any], words: Words) -> Html:
    """Why each design is as hot as it is, with the numbers that stand on its map."""
    designs = document["designs"]
    lead = words("causes.lead") if any(one["causes"] for one in designs) else ""
    return Html(
        tag("p", lead, class_="small") + beside(designs, [_causes(one, words) for one in designs])
    )


def _causes(one: Mapping[str, Any], words: Words) -> Html:
    if not one["causes"]:
        name = "none_even" if one["verdict"]["word"] == "even" else "none_hot"
        return tag("p", words(f"causes.{name}"), class_="none")
    return tag("ol", [_cause(cause, words) for cause in one["causes"]], class_="causes")


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
    language has for its kind, and for a kind that is not known, or lacks a figure, its name.
    """
    front = f"causes.{cause['code']}"
    known = f"{front}.title" in words
    title = words(f"{front}.title") if known else str(cause["code"])
    if words.language == "en" and cause["message"]:
        return title, cause["message"], cause["remedy"]
    if not known:
        return title, cause["message"] or words("causes.said", code=title), _or(cause, words)
    try:
        said = words(f"{front}.said", **cause["figures"])
    except (KeyError, ValueError, TypeError):
        said = cause["message"] or words("causes.said", code=title)
    remedy = words.all[f"{front}.remedy"]
    if "{notation}" in remedy and not cause["notation"]:
        return title, said, _or(cause, words)
    return title, said, words(f"{front}.remedy", notation=cause["notation"])


def _or(cause: Mapping[str, Any], words: Words) -> str:
    """The remedy as it was said, or what holds of any cause."""
    return str(cause["remedy"]) or words("causes.remedy")


def findings_section(document: Mapping[str, Any], words: Words) -> Html:
    """What the rules say of each design, the gravest first."""
    designs = document["designs"]
    return beside(designs, [_findings(one, words) for one in designs])


def _findings(one: Mapping[str, Any], words: Words) -> Html:
    if not one["findings"] and not one["allowed"]:
        return tag("p", words("findings.none"), class_="none")
    found = [_finding(finding, words) for finding in one["findings"]]
    return tag("ul", found, [_allowed(one, words) for one in one["allowed"]], class_="findings")


def _finding(finding: Mapping[str, Any], words: Words) -> Html:
    place = [finding["path"]]
    if finding["line"]:
        place.append(words("findings.line", line=finding["line"]))
    severity = finding["severity"]
    english = None if words.language == "en" else "en"
    told = None
    if finding["verdict"]:
        told = tag("p", finding["verdict"], class_="small", lang=english)
    title = f"rules.{finding['code']}"
    return tag(
        "li",
        tag("span", words(f"findings.{severity}"), class_=f"chip {severity}"),
        tag("h4", finding["name"], " ", tag("code", finding["code"], class_="code")),
        tag("p", ", ".join(filter(None, place)), class_="small place"),
        tag("p", words(title)) if title in words else None,
        tag("p", _sentence(finding["what"]), lang=english) if finding["what"] else None,
        tag("p", finding["remedy"], class_="remedy", lang=english) if finding["remedy"] else None,
        told,
    )


def _allowed(one: Mapping[str, Any], words: Words) -> Html:
    return tag(
        "li",
        tag("span", words("findings.allowed"), class_="chip allowed"),
        tag("h4", one["name"], " ", tag("code", one["code"], class_="code")),
        tag("p", one["why"] or words("findings.no_reason"), class_="small"),
    )


def _sentence(said: str) -> str:
    return said if said.endswith((".", "…")) else f"{said}."
