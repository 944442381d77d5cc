"""Results as a notebook shows them: a piece of HTML without a program, and the same as text.

The rooms that find something know nothing of how it is shown, so they hold no `_repr_html_` of
their own: `show` gives one to what they found.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused
from rowkey.render.page.compared import comparison_fragment
from rowkey.render.page.designs import called, card
from rowkey.render.page.figures import count, offset, times, width
from rowkey.render.page.markup import Html, tag
from rowkey.render.page.pictures import as_address, heat_png
from rowkey.render.page.sections import causes_list, findings_block
from rowkey.render.page.tables import table
from rowkey.render.page.words import Words, asset
from rowkey.render.report import (
    Redaction,
    allowed_document,
    by_server,
    cause_document,
    finding_document,
    glance_document,
    gravest,
    key_boxes,
    measures_document,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rowkey.advise import Comparison
    from rowkey.design import Design
    from rowkey.lint import Findings
    from rowkey.simulate import ReadResult, Simulation

OPEN = Redaction()
"""A notebook is its owner's: nothing is hidden in it."""
TEXT_WIDTH = 100
MOST_FINDINGS = 20


class Shown:
    """Something rowkey found, as notebooks and terminals show it.

    Args:
        html: it as a piece of HTML; nothing in it runs, and its style touches nothing else.
        text: gives it as text.
    """

    def __init__(self, html: str, text: Callable[[], str]) -> None:
        self._html = html
        self._text = text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text()


def show(found: Simulation | Comparison | Design | Findings, language: str = "en") -> Shown:
    """A result for the last line of a cell of a notebook; as text where there is no HTML.

    IPython shows what it is given by itself once rowkey is imported; `show` is for other notebooks,
    and for another language.

    Args:
        found: a simulation, a comparison, a design, or what the rules found.
        language: one of `LANGUAGES`.

    Raises:
        Refused: it is nothing of these, or there is no such language.
    """
    from rowkey.advise import Comparison
    from rowkey.design import Design
    from rowkey.lint import Findings
    from rowkey.render.page.words import LANGUAGES
    from rowkey.simulate import Simulation

    if language not in LANGUAGES:
        raise Refused("language", repr(language), ", ".join(LANGUAGES))
    words = Words(language)
    if isinstance(found, Simulation):
        return _shown(_simulation(found, words), words, lambda: _simulation_text(found))
    if isinstance(found, Comparison):
        return _shown(_comparison(found, words), words, lambda: _comparison_text(found))
    if isinstance(found, Findings):
        return _shown(_findings(found, words), words, lambda: _findings_text(found))
    if isinstance(found, Design):
        return _shown(_design(found, words), words, lambda: _design_text(found))
    raise Refused(
        "show", f"{type(found).__name__}", "a Simulation, a Comparison, a Design or Findings"
    )


def _shown(inner: Html, words: Words, text: Callable[[], str]) -> Shown:
    style = tag("style", Html(asset("browser/fragment.css")))
    return Shown(tag("div", style, inner, class_="rowkey-shown", lang=words.tag), text)


def _simulation(found: Simulation, words: Words) -> Html:
    """The verdict, the servers over time, the causes, and what the reads cost."""
    one = {"label": "", **glance_document(found.design.table, found, OPEN)}
    causes = [cause_document(cause, OPEN) for cause in found.causes]
    return Html(
        card(one, words, is_told=True)
        + _picture(found, words)
        + (causes_list(causes, words) if causes else "")
        + (_reads(found, words) if found.reads else "")
    )


def _picture(found: Simulation, words: Words) -> Html:
    """A small map of the servers; none where events have no time, or the server has no other."""
    servers = found.design.cluster.servers
    if found.heat is None or servers == 1 or not len(found.heat[2]):
        return Html("")
    loads = by_server(found.heat[2], [region.server for region in found.regions], servers)
    said = words("shown.map", skew=times(found.verdict.skew))
    image = tag("img", src=as_address(heat_png(loads, servers)), alt=said)
    return tag("figure", image, tag("figcaption", said))


def _reads(found: Simulation, words: Words) -> Html:
    heads = [words(f"reads.{name}") for name in ("name", "opens", "regions", "per_row")]
    rows = [
        (one.name, _opens(one, words), count(one.regions[0]), count(one.amplification))
        for one in found.reads
    ]
    return table(heads, rows, words("shown.reads"))


def _opens(read: ReadResult, words: Words) -> str:
    if read.error:
        return words.phrase(read.error)
    if read.is_full_scan:
        return words("reads.whole_table")
    ranges = count(read.fan_out[0])
    return words("reads.range") if ranges == "1" else words("reads.ranges", count=ranges)


def _comparison(found: Comparison, words: Words) -> Html:
    """A picture of each design on one scale, and the table of measures."""
    designs, pictures = [], []
    for one in found.designs:
        designs.append({"label": one.label, **glance_document(one.name, one.simulation, OPEN)})
        pictures.append(_picture(one.simulation, words))
    shown = [
        tag("div", tag("p", called(one), class_="title"), picture, class_="beside")
        for one, picture in zip(designs, pictures, strict=True)
        if picture
    ]
    return Html(
        tag("div", shown, class_="pictures")
        + comparison_fragment(measures_document(found, OPEN), designs, words)
    )


def _design(design: Design, words: Words) -> Html:
    """The key part by part with an example, then fields, families and reads."""
    from rowkey.design import properties_of

    boxes = key_boxes(design, properties_of(design), None, OPEN)
    heads = [words("shown.key")]
    heads += [words(f"key.{name}") for name in ("offset", "width", "order", "example", "decoded")]
    rows = [_part(part, words) for part in boxes["parts"]]
    fields = ", ".join(f"{name}: {one.words.type}" for name, one in design.fields.items())
    said = [("fields", fields), ("families", ", ".join(design.families))]
    said += [("reads", ", ".join(one.name for one in design.reads))] if design.reads else []
    return Html(
        tag("p", design.table, " ", tag("code", str(design.key)), class_="title")
        + table(heads, rows, words("section.key"))
        + tag("dl", [tag("div", tag("dt", words(f"shown.{n}")), tag("dd", s)) for n, s in said])
    )


def _part(part: Mapping[str, Any], words: Words) -> tuple[object, ...]:
    """A part of a key as a row of a table."""
    return (
        tag("code", part["notation"]),
        offset(**part["offset"]),
        width(**part["bytes"], words=words),
        words(f"order.{part['order']}"),
        tag("code", part["hex"] or "–"),
        part["decoded"] or "–",
    )


def _findings(found: Findings, words: Words) -> Html:
    """What was found, the gravest first."""
    told = [finding_document(one, OPEN) for one in gravest(found)]
    allowed = [allowed_document(one, OPEN) for one in found.allowed]
    if not told and not allowed:
        return tag("p", words("shown.nothing_found"))
    more = len(told) - MOST_FINDINGS
    return Html(
        findings_block({"findings": told[:MOST_FINDINGS], "allowed": allowed}, words)
        + (tag("p", words("shown.more", count=f"{more:,}")) if more > 0 else "")
    )


def _simulation_text(found: Simulation) -> str:
    from rich.console import Console

    from rowkey.render.text import print_simulation

    told = StringIO()
    # Within a notebook a console shows its lines by itself, and in colours meant for a terminal.
    console = Console(
        file=told,
        width=TEXT_WIDTH,
        highlight=False,
        force_jupyter=False,
        force_terminal=False,
        color_system=None,
    )
    print_simulation(found, console)
    return told.getvalue().rstrip("\n")


def _comparison_text(found: Comparison) -> str:
    from rowkey.render.comparisons import comparison_lines

    return "\n".join(comparison_lines(found, TEXT_WIDTH))


def _findings_text(found: Findings) -> str:
    from rowkey.render.findings import finding_lines

    return "\n".join(finding_lines("design", found))


def _design_text(design: Design) -> str:
    from rowkey.design import properties_of
    from rowkey.lint import Findings
    from rowkey.render.text import check_lines

    lines = check_lines(design.table, design, properties_of(design), Findings(()))
    return "\n".join(lines)
