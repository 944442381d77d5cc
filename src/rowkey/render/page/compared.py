"""Designs side by side: one picture of each on one scale, and a table of measures without a score.

What is better is said of each measure by itself. Differences that chance makes are none.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from rowkey.render.page.designs import called, word_of
from rowkey.render.page.figures import measured, share, size, times
from rowkey.render.page.markup import Html, breakable, tag
from rowkey.render.page.sections import legend

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.render.page.words import Words

    Document = Mapping[str, Any]

GROUPS = {
    "writes": ("skew", "throughput", "regions", "dead_regions"),
    "bytes": ("key_bytes", "event_bytes", "total_bytes", "encode_us", "overwritten"),
    "rules": ("errors", "warnings", "remarks"),
}
"""Measures under one title, by the beginnings of their names; all others are of reads."""
BEST, NOTHING = "★", "–"


def comparison_section(document: Document, words: Words) -> Html | None:
    """What several designs cost beside each other; nothing where nobody has compared them."""
    found, designs = document["comparison"], document["designs"]
    if found is None:
        return None
    if found["why_not"] is not None:
        english = None if words.language == "en" else "en"
        said = [tag("li", one) for one in found["why_not"]]
        reasons = tag("ul", said, class_="facts", lang=english)
        inner = tag("p", words("compared.none")) + (reasons if found["why_not"] else "")
    else:
        inner = (
            tag("p", _lead(found, words))
            + _pictures(designs, words)
            + tag(
                "div",
                tag(
                    "div",
                    tag("h3", words("compared.measures")),
                    measures_table(found, designs, words),
                    tag("p", words("compared.how", best=BEST), class_="small"),
                    _notes(found, designs, words),
                ),
                tag(
                    "div",
                    tag("h3", words("compared.by_design")),
                    tag("p", words("compared.best_at"), class_="small"),
                    _by_design(found, designs, words),
                ),
                class_="pair",
            )
        )
    title = tag("h2", words("section.comparison"))
    return tag("section", title, Html(inner), id="comparison", class_="topic one")


def _lead(found: Document, words: Words) -> str:
    """What all were judged by."""
    values = {n: f"{found[n]:,}" for n in ("events", "operations", "servers")}
    name = "sample_hidden" if not found["sample"] else "sample"
    return words(f"compared.{name}", name=found["sample"], **values)


def _pictures(designs: Sequence[Document], words: Words) -> Html:
    """A small map of the servers of each design, all on one scale."""
    if any(one["map"] is None or one["servers"] == 1 for one in designs):
        return Html("")
    figures = [
        tag(
            "figure",
            tag("div", class_="small-map", data_small=one["id"]),
            tag(
                "figcaption",
                tag("a", called(one), href=f"#{one['id']}-heat"),
                " ",
                words("compared.caption", skew=times(one["verdict"]["skew"])),
            ),
        )
        for one in designs
    ]
    return Html(
        tag("h3", words("compared.maps"))
        + tag("p", words("compared.map_rows", servers=designs[0]["servers"]), class_="small")
        + legend(words)
        + tag("div", figures, class_="small-maps")
    )


def comparison_fragment(found: Document, designs: Sequence[Document], words: Words) -> Html:
    """The measures alone, without places to go to.

    Args:
        found: what `measures_document` gave.
        designs: each with its letter and what is seen of it first.
        words: the language.
    """
    return Html(
        tag("p", _lead(found, words))
        + measures_table(found, designs, words)
        + tag("p", words("compared.how", best=BEST), class_="small")
        + _notes(found, designs, words)
    )


def measures_table(found: Document, designs: Sequence[Document], words: Words) -> Html:
    """A row for each measure, a column for each design, the best of each row marked."""
    heads = [tag("th", words("compared.measure"), scope="col")]
    heads += [tag("th", breakable(called(one)), scope="col") for one in designs]
    bodies = [_verdicts(designs, words)]
    for title, group in groupby(filter(is_told, found["measures"]), _title_of):
        rows = [_row(measure, words) for measure in group]
        if title == ("writes", None):
            bodies[0] = Html(bodies[0] + "".join(rows))
            continue
        bodies.append(Html(_group(_said(title, found, words), len(heads)) + "".join(rows)))
    table = tag("table", tag("thead", tag("tr", heads)), [tag("tbody", body) for body in bodies])
    label = words("compared.measures")
    return tag(
        "div", table, class_="scroll measures", tabindex="0", role="region", aria_label=label
    )


def is_told(measure: Document) -> bool:
    """Whether a measure has a row: something is known, and something is sorted at all."""
    values = {figure["value"] for figure in measure["figures"]}
    return values != {None} and (measure["name"] != "sorted_in_memory" or values != {0.0})


def _title_of(measure: Document) -> tuple[str, str | None]:
    """The title under which a measure stands, and the read it is of."""
    for title, names in GROUPS.items():
        if measure["name"].startswith(names) and measure["read"] is None:
            return title, None
    return "reads", measure["read"]


def _said(title: tuple[str, str | None], found: Document, words: Words) -> str:
    name, read = title
    if name != "reads":
        return words(f"compared.{name}")
    if read is None:
        return words("compared.all_reads" if found["has_rates"] else "compared.all_reads_equal")
    if found["has_rates"]:
        return words("compared.read_share", name=read, share=share(found["reads"][read]))
    return words("compared.read", name=read)


def _group(said: str, columns: int) -> Html:
    return tag("tr", tag("th", said, colspan=columns, scope="rowgroup"), class_="group")


def _verdicts(designs: Sequence[Document], words: Words) -> Html:
    """The verdicts under the first title, and the least grave of them marked."""
    grave = [("even", "warm", "hot").index(one["verdict"]["word"]) for one in designs]
    best = [n for n, one in enumerate(grave) if one == min(grave) != max(grave)]
    cells = [
        _cell(word_of(one["verdict"], words), words, is_best=number in best)
        for number, one in enumerate(designs)
    ]
    row = tag("tr", tag("th", words("compared.verdict"), scope="row"), cells)
    return Html(_group(words("compared.writes"), len(designs) + 1) + row)


def _row(measure: Document, words: Words) -> Html:
    cells = [
        _cell(
            _value(measure, figure, words),
            words,
            is_best=number in measure["best"],
            more=words("reads.whole_table") if figure.get("is_whole") else "",
        )
        for number, figure in enumerate(measure["figures"])
    ]
    return tag("tr", tag("th", label_of(measure, words), scope="row"), cells)


def _cell(said: Html | str, words: Words, *, is_best: bool, more: str = "") -> Html:
    below = tag("span", more, class_="below") if more else None
    if not is_best:
        return tag("td", said, below)
    star = tag("span", BEST, class_="star", role="img", aria_label=words("compared.best"))
    return tag("td", said, " ", star, below, class_="best")


def _value(measure: Document, figure: Document, words: Words) -> str:
    value = figure["value"]
    if value is None:
        return NOTHING
    if measure["name"] == "sorted_in_memory":
        return words("compared.yes" if value else "compared.no")
    if measure["name"].startswith("skew"):
        return f"{times(value)}×"
    return size(value) if measure["name"] == "total_bytes" else measured(value)


def label_of(measure: Document, words: Words) -> str:
    """What a measure is called."""
    name = measure["name"]
    if name.startswith("skew_") and name != "skew_equal":
        return words("measure.skew_s", width=name.removeprefix("skew_").removesuffix("s"))
    return words(f"measure.{name}") if f"measure.{name}" in words else str(name)


def _notes(found: Document, designs: Sequence[Document], words: Words) -> Html:
    """Why figures are missing, and what the measures are."""
    said = [tag("li", note) for note in _missing(found, designs, words)]
    if not found["is_measured"]:
        said.append(tag("li", words("compared.estimated")))
    told = {m["name"] for m in found["measures"] if is_told(m)}
    names = ["skew_s", *(one.removeprefix("measure.") for one in words.names("measure."))]
    meant = [
        tag(
            "div", tag("dt", words(f"measure.{name}", width="n")), tag("dd", words(f"means.{name}"))
        )
        for name in dict.fromkeys(names)
        if name in told or (name == "skew_s" and any(_is_timed(one) for one in told))
    ]
    return Html(
        (tag("ul", said, class_="facts") if said else "")
        + tag("details", tag("summary", words("compared.means")), tag("dl", meant, class_="means"))
    )


def _is_timed(name: str) -> bool:
    return name.startswith("skew_") and name != "skew_equal"


def _missing(found: Document, designs: Sequence[Document], words: Words) -> Iterator[str]:
    """Where figures are missing, and why."""
    silent = [one for one in found["measures"] if all(f["value"] is None for f in one["figures"])]
    widths = [
        one["name"].removeprefix("skew_").removesuffix("s")
        for one in silent
        if _is_timed(one["name"])
    ]
    if widths:
        yield words("figures.thin", widths=", ".join(f"{width} s" for width in widths))
    without: dict[tuple[str, ...], list[str]] = {}
    for one in found["measures"]:
        if one["name"].startswith("skew_") or one["name"] == "encode_us":
            continue
        for design, figure in zip(designs, one["figures"], strict=True):
            if figure["value"] is None:
                reason = words.phrase(figure["reason"]) or words("compared.no_figure")
                what = (*filter(None, [one["read"]]), label_of(one, words), str(reason))
                without.setdefault(what, []).append(called(design))
    for (*of, reason), names in without.items():
        yield f"{', '.join([*names, *of])}: {reason}"


def _by_design(found: Document, designs: Sequence[Document], words: Words) -> Html:
    """The measures at which each design is best, or equal to the best."""
    told = [one for one in found["measures"] if is_told(one)]
    items = []
    for number, design in enumerate(designs):
        best = [one for one in told if number in one["best"]]
        said = [
            tag("li", tag("strong", _said(title, found, words)), " ", _listed(group, words))
            for title, group in groupby(best, _title_of)
        ]
        shown = tag("ul", said) if said else words("compared.best_nowhere")
        items.append(tag("div", tag("dt", called(design)), tag("dd", shown)))
    return tag("dl", items, class_="means")


def _listed(group: Iterator[Document], words: Words) -> str:
    """The names of measures; of what is best where there is none, that there is none."""
    names = (
        words("compared.unsorted") if one["name"] == "sorted_in_memory" else label_of(one, words)
        for one in group
    )
    return words("compared.separator").join(names)
