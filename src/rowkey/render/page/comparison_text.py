"""The sentences and figures of a comparison that the templates of a report show.

What is better is said of each measure by itself; there is no score over all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.advise import GRADES
from rowkey.render.languages import Translator
from rowkey.render.page.design_text import format_design_name
from rowkey.render.page.figure_format import format_load, format_measure, format_share, format_size

if TYPE_CHECKING:
    Document = Mapping[str, Any]

MEASURE_GROUPS = {
    "writes": ("skew", "throughput", "regions", "empty_region_count"),
    "bytes": ("key_bytes", "event_bytes", "total_bytes", "encode_us", "overwritten"),
    "needs": ("disk", "servers", "operations_per_s", "cost_per_month"),
    "rules": ("errors", "warnings", "remarks"),
}
"""Measures under one title, by the beginnings of their names; all others are of reads."""
BEST_MARK, NO_VALUE = "★", "–"


def format_lead(comparison: Document, translator: Translator) -> str:
    """Return the sentence that says on which sample and servers designs were compared."""
    sample = comparison["sample"]
    values = {name: f"{comparison[name]:,}" for name in ("operations", "servers")}
    values["events"] = f"{sample['events']:,}"
    if sample["path"] is None:
        return translator("compared.sample_hidden", **values)
    return translator("compared.sample", name=Path(sample["path"]).name, **values)


def has_row(measure: Document) -> bool:
    """Return whether a measure is shown in the table: at least one figure is known."""
    values = {figure["value"] for figure in measure["figures"].values()}
    return values != {None} and (measure["name"] != "sorted_in_memory" or values != {0.0})


def has_small_maps(designs: Sequence[Document]) -> bool:
    """Return whether every design has a heat map and several servers."""
    return all(design["map"] is not None and design["servers"] > 1 for design in designs)


def build_measure_groups(
    comparison: Document, designs: Sequence[Document], translator: Translator
) -> list[dict[str, Any]]:
    """Return the rows of the comparison table, grouped by topic.

    The first row of the group of writes are the verdicts.
    """
    rows: dict[tuple[str, str | None], list[dict[str, Any]]] = {
        ("writes", None): [_build_verdict_row(designs, translator)]
    }
    for measure in filter(has_row, comparison["measures"]):
        rows.setdefault(_find_title(measure), []).append(_build_row(measure, translator))
    return [
        {"title": _format_title(title, comparison, translator), "rows": some}
        for title, some in rows.items()
    ]


def _build_verdict_row(designs: Sequence[Document], translator: Translator) -> dict[str, Any]:
    """Return the table row of verdicts, with the best ones marked."""
    grades = [GRADES.index(design["verdict"]["grade"]) for design in designs]
    return {
        "label": translator("compared.verdict"),
        "cells": [
            {
                "verdict": design["verdict"]["grade"],
                "is_best": grade == min(grades) != max(grades),
                "note": "",
            }
            for design, grade in zip(designs, grades, strict=True)
        ],
    }


def _build_row(measure: Document, translator: Translator) -> dict[str, Any]:
    return {
        "label": format_label(measure, translator),
        "cells": [
            {
                "verdict": None,
                "text": _format_value(measure, figure, translator),
                "is_best": label in measure["best"],
                "note": translator("reads.whole_table")
                if figure["full_scan"] and measure["name"] == "fan_out" and measure["read"]
                else "",
            }
            for label, figure in measure["figures"].items()
        ],
    }


def _find_title(measure: Document) -> tuple[str, str | None]:
    """Return the topic of a measure, and its read if it has one."""
    for title, names in MEASURE_GROUPS.items():
        if measure["name"].startswith(names) and measure["read"] is None:
            return title, None
    return "reads", measure["read"]


def _format_title(
    title: tuple[str, str | None], comparison: Document, translator: Translator
) -> str:
    name, read = title
    if name != "reads":
        return translator(f"compared.{name}")
    if read is None:
        return translator(
            "compared.all_reads" if comparison["has_rates"] else "compared.all_reads_equal"
        )
    if comparison["has_rates"]:
        shares = {one["name"]: one["share"] for one in comparison["reads"]}
        return translator("compared.read_share", name=read, share=format_share(shares[read]))
    return translator("compared.read", name=read)


def _format_value(measure: Document, figure: Document, translator: Translator) -> str:
    """Return a figure of a measure as text with its unit."""
    value = figure["value"]
    if value is None:
        return NO_VALUE
    if measure["name"] == "sorted_in_memory":
        return translator("compared.yes" if value else "compared.no")
    if measure["name"].startswith("skew"):
        return f"{format_load(value)}×"
    is_size = measure["name"] in ("total_bytes", "disk_bytes")
    return format_size(value) if is_size else format_measure(value)


def format_label(measure: Document, translator: Translator) -> str:
    """Return the translated name of a measure."""
    name = measure["name"]
    if name.startswith("skew_") and name != "skew_equal":
        return translator("measure.skew_s", width=name.removeprefix("skew_").removesuffix("s"))
    return translator(f"measure.{name}") if f"measure.{name}" in translator else str(name)


def _is_timed_skew(name: str) -> bool:
    """Return whether a measure is the skew at one window width."""
    return name.startswith("skew_") and name != "skew_equal"


def list_missing_figures(
    comparison: Document, designs: Sequence[Document], translator: Translator
) -> list[str]:
    """Return sentences that say which figures are missing or estimated, and why."""
    notes = list(_explain_missing_figures(comparison, designs, translator))
    is_estimated = any(
        not figure["exact"]
        for measure in comparison["measures"]
        if measure["name"] == "event_bytes"
        for figure in measure["figures"].values()
    )
    return [*notes, translator("compared.estimated")] if is_estimated else notes


def _explain_missing_figures(
    comparison: Document, designs: Sequence[Document], translator: Translator
) -> Iterator[str]:
    """Yield a sentence for each group of missing figures with the same reason."""
    silent = [
        measure
        for measure in comparison["measures"]
        if all(figure["value"] is None for figure in measure["figures"].values())
    ]
    widths = [
        measure["name"].removeprefix("skew_").removesuffix("s")
        for measure in silent
        if _is_timed_skew(measure["name"])
    ]
    if widths:
        yield translator("figures.thin", widths=", ".join(f"{width} s" for width in widths))
    without: dict[tuple[str, ...], list[str]] = {}
    for measure in comparison["measures"]:
        if measure["name"].startswith("skew_") or measure["name"] == "encode_us":
            continue
        for design in designs:
            figure = measure["figures"][design["label"]]
            if figure["value"] is None:
                reason = translator.translate_message(figure["reason"] or "") or translator(
                    "compared.no_figure"
                )
                what = (
                    *filter(None, [measure["read"]]),
                    format_label(measure, translator),
                    str(reason),
                )
                without.setdefault(what, []).append(format_design_name(design))
    for (*of, reason), names in without.items():
        yield f"{', '.join([*names, *of])}: {reason}"


def list_measure_names(comparison: Document, translator: Translator) -> list[str]:
    """Return the names of the shown measures, in the order of the language file."""
    shown_names = {measure["name"] for measure in comparison["measures"] if has_row(measure)}
    names = [key.removeprefix("measure.") for key in translator.list_keys("measure.")]
    return [
        name
        for name in dict.fromkeys(["skew_s", *names])
        if name in shown_names or (name == "skew_s" and any(map(_is_timed_skew, shown_names)))
    ]
