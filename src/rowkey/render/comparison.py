"""A comparison of designs as a table for people and as a JSON document for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rowkey import advise
from rowkey.messages import pluralize
from rowkey.render.documents import FORMAT_VERSION
from rowkey.render.redaction import NO_REDACTION, Redaction
from rowkey.render.text import wrap_text
from rowkey.render.verdict import VERDICT_FIELDS, build_verdict_document

if TYPE_CHECKING:
    from rich.console import Console

    from rowkey.advise import Comparison, Figure, Grade, Measure

COMPARISON_FIELDS = {
    "format": "version of this document",
    "seed": "where randomness began",
    "sample.path": "the sample",
    "sample.events": "events it has",
    "sample.first": "number of the first event that was replayed",
    "operations": "events replayed on each design",
    "servers": "region servers",
    "capacity": "operations a second that one of them serves; null where none is declared",
    "designs[].label": "its letter, by which figures and bests name it",
    "designs[].name": "the design file",
    "designs[].table": "name of the table",
    "designs[].key": "the row key in bracket notation",
    "designs[].left_out": "rows of the sample that are no events of it; they are not replayed",
    "designs[].left_out_first": "the first of them, and why it is left out",
    "designs[].remarks[]": "remarks on its boundaries and the sample",
    **{f"designs[].{name}": meaning for name, meaning in VERDICT_FIELDS.items()},
    "designs[].findings[].code": "the code of a rule that found something",
    "designs[].findings[].name": "its name",
    "designs[].findings[].severity": "error, warning or info",
    "reads[].name": "a read that any of the designs declares, and all are asked",
    "reads[].where": "its conditions",
    "reads[].order": "the order asked for",
    "reads[].limit": "rows wanted; null for all",
    "reads[].share": "its share of all reads, by the rates; equal where a rate is missing",
    "has_rates": "whether the shares are from declared rates",
    "measures[].name": "name of the measure, such as skew_10s or fan_out",
    "measures[].read": "the read it is of; null for all reads together, and what is not of reads",
    "measures[].description": "what it measures",
    "measures[].better": "less or more; null where neither is better",
    "measures[].tolerance": "figures that differ by less are equal: it is chance",
    "measures[].figures.*.value": "by the design's letter, its figure; null where there is none",
    "measures[].figures.*.exact": "whether it was counted, not estimated or timed",
    "measures[].figures.*.reason": "why there is none",
    "measures[].figures.*.full_scan": "whether it is of a read of the whole table: never the best",
    "measures[].best[]": "letters of the best; none where all are equal or nothing is better",
}
"""The meaning of every field of `build_comparison_document`."""

MEASURE_LABELS = {
    "throughput": "writes a second, at most",
    "regions": "regions",
    "empty_region_count": "regions without a write",
    "key_bytes": "bytes of a row key",
    "event_bytes": "bytes of an event",
    "total_bytes": "bytes of all events",
    "encode_us": "µs to make a key",
    "disk_event_bytes": "bytes of an event, disk",
    "servers": "servers needed",
    "operations_per_s": "operations a second",
    "disk_bytes": "GiB on disk, all copies",
    "cost_per_month": "cost of a month",
    "overwritten": "rows overwritten",
    "errors": "errors found",
    "warnings": "warnings found",
    "remarks": "remarks found",
    "skew_equal": "skew, equal windows",
    "fan_out": "  ranges",
    "read_regions": "  regions",
    "read_per_returned": "  rows read for each one",
    "rows_returned": "  rows returned",
    "sorted_in_memory": "  sorted in memory",
}
LABEL_WIDTH = 24
"""Characters of the first column; with eight designs each of the others has seven of 80."""
MAX_COLUMN_WIDTH = 13
BEST_MARK = "*"
NO_VALUE = "–"
WHOLE_TABLE = "all"
"""In place of the number of ranges of a read of the whole table."""


def build_comparison_document(
    comparison: Comparison, redaction: Redaction = NO_REDACTION
) -> dict[str, Any]:
    """Return a comparison of designs as `rowkey compare -f json` prints it."""
    return {
        "format": FORMAT_VERSION,
        "seed": comparison.seed,
        "sample": {
            "path": redaction.omit_text(str(comparison.path)),
            "events": comparison.event_count,
            "first": comparison.first_event,
        },
        "operations": comparison.operation_count,
        "servers": comparison.servers,
        "capacity": comparison.capacity,
        "designs": [
            {
                "label": design.label,
                "name": design.name,
                "table": design.design.table,
                "key": str(design.design.key),
                "left_out": design.simulation.source.skipped_rows.count,
                "left_out_first": redaction.omit_text(
                    design.simulation.source.skipped_rows.first_problem
                ),
                "remarks": redaction.omit_texts(design.simulation.remarks),
                **build_verdict_document(design.verdict, design.remedied_simulation, redaction),
                "findings": [
                    {"code": finding.code, "name": finding.name, "severity": finding.severity}
                    for finding in design.declared.lint_result.findings
                ],
            }
            for design in comparison.designs
        ],
        "reads": [
            {
                "name": name,
                "where": redaction.omit_text(rate.where),
                "order": rate.order,
                "limit": rate.limit,
                "share": comparison.read_weights[name],
            }
            for name, rate in comparison.reads.items()
        ],
        "has_rates": comparison.has_rates,
        "measures": [
            _build_measure(measure, _list_labels(comparison), redaction)
            for measure in comparison.measures
        ],
    }


def _list_labels(comparison: Comparison) -> list[str]:
    """Return the letter of each compared design."""
    return [design.label for design in comparison.designs]


def _build_measure(measure: Measure, labels: Sequence[str], redaction: Redaction) -> dict[str, Any]:
    """Return the document of one measure, with its figures by design.

    Why a read has no figure may hold a value, so that it is left out if values are hidden.
    """
    hides_reasons = redaction.is_hiding and measure.read_name is not None
    return {
        "name": measure.name,
        "read": measure.read_name,
        "description": measure.description,
        "better": measure.direction or None,
        "tolerance": measure.tolerance,
        "figures": {
            label: {
                "value": figure.value,
                "exact": figure.is_exact,
                "reason": None if hides_reasons else figure.reason or None,
                "full_scan": figure.is_full_scan,
            }
            for label, figure in zip(labels, measure.figures, strict=True)
        },
        "best": [labels[number] for number in measure.best_designs],
    }


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print a comparison: the designs, then a row for each measure with its best marked."""
    from rich.text import Text

    for line in format_comparison(comparison, console.width):
        text = Text(line)
        text.highlight_regex(rf"\S+{_escape_pattern(BEST_MARK)}(?= |$)", "bold green")
        console.print(text, soft_wrap=True)


def _escape_pattern(text: str) -> str:
    """Return a regular expression that matches a text literally."""
    return "".join(f"\\{character}" for character in text)


def format_comparison(comparison: Comparison, width: int = 80) -> Iterator[str]:
    """Yield a comparison of designs as the lines of a text table.

    Args:
        width: characters of a line; 80 hold a table of eight designs.
    """
    for one in comparison.designs:
        yield from wrap_text(
            f"{one.label}  {one.name}: {one.design.table}  {one.design.key}", width, 5
        )
        decisive = one.verdict.decisive
        text = f"   {decisive.grade.upper()}: {decisive.subject}: {decisive.message}"
        yield from wrap_text(text, width, 5)
        if decisive.remedy:
            yield from wrap_text(f"     {decisive.remedy}", width, 5)
    half = ", its second half" if comparison.first_event else ""
    servers = "server" if comparison.servers == 1 else "servers"
    summary = (
        f"{pluralize(comparison.operation_count, 'event')} of {comparison.path}{half}, on "
        f"{comparison.servers:,} {servers}"
    )
    yield from wrap_text(summary, width, 2)
    for text in _format_skipped_rows(comparison):
        yield from wrap_text(text, width, 4)
    yield ""
    cell_width = min(MAX_COLUMN_WIDTH, (width - LABEL_WIDTH) // len(comparison.designs))
    yield _format_row("", [f"{label} " for label in _list_labels(comparison)], cell_width)
    grades = [one.verdict.grade for one in comparison.designs]
    yield _format_row("verdict", _mark_best(grades, _find_best_grades(grades)), cell_width)
    for (read, is_of_reads), group in groupby(comparison.measures, _get_title):
        if is_of_reads:
            yield from wrap_text(_format_read_title(comparison, read), width, 2)
        for measure in filter(_has_row, group):
            cells = [_format_cell(measure, figure, cell_width - 2) for figure in measure.figures]
            yield _format_row(
                _format_label(measure), _mark_best(cells, measure.best_designs), cell_width
            )
    yield ""
    for note in _format_notes(comparison):
        yield from wrap_text(note, width, 2)


def _format_skipped_rows(comparison: Comparison) -> Iterator[str]:
    """Yield how many rows of the sample are left out, and why; of each design where they differ."""
    texts = [
        f"{pluralize(rows.count, 'row')} left out; {rows.first_problem}" if rows.count else ""
        for rows in (design.simulation.source.skipped_rows for design in comparison.designs)
    ]
    if len(set(texts)) == 1:
        yield from (f"  {text}" for text in texts[:1] if text)
        return
    for label, text in zip(_list_labels(comparison), texts, strict=True):
        if text:
            yield f"  {label}: {text}"


def _format_row(first: str, cells: Sequence[str], cell_width: int) -> str:
    """Return a row of the comparison table: a label, then a cell for each design."""
    return f"{first:<{LABEL_WIDTH}}{''.join(f'{cell:>{cell_width}}' for cell in cells)}".rstrip()


def _mark_best(cells: Sequence[str], best: Sequence[int]) -> list[str]:
    """Return the cells of a row, with a star after each of the best."""
    return [f"{cell}{BEST_MARK if number in best else ' '}" for number, cell in enumerate(cells)]


def _find_best_grades(grades: Sequence[Grade]) -> list[int]:
    """Return the numbers of the designs with the best grade; none if all are equal."""
    least = min(grades, key=advise.GRADES.index)
    best = [number for number, grade in enumerate(grades) if grade == least]
    return best if len(best) < len(grades) else []


def _get_title(measure: Measure) -> tuple[str | None, bool]:
    """Return a measure's read name, and whether the measure is about reads."""
    return measure.read_name, MEASURE_LABELS.get(measure.name, "").startswith(" ")


def _format_label(measure: Measure) -> str:
    """Return the label of a measure with its unit."""
    return (
        MEASURE_LABELS.get(measure.name)
        or f"skew, {measure.name.removeprefix('skew_').removesuffix('s')} s"
    )


def _has_row(measure: Measure) -> bool:
    """Return whether a measure is shown: some figure is known, and not all counts are 0."""
    values = {figure.value for figure in measure.figures}
    is_silent = measure.name in (
        "errors",
        "warnings",
        "remarks",
        "sorted_in_memory",
        "empty_region_count",
    )
    return values != {None} and not (is_silent and values == {0.0})


def _format_read_title(comparison: Comparison, name: str | None) -> str:
    """Return the heading above the measures of one read, or of all reads."""
    if name is None:
        weights = "by their rates" if comparison.has_rates else "equally"
        return f"all reads, weighted {weights}"
    share = f", {comparison.read_weights[name]:.0%} of the reads" if comparison.has_rates else ""
    return f"read {name}{share}"


def _format_cell(measure: Measure, figure: Figure, cell_width: int) -> str:
    """Return the figure of one design for a measure as a table cell."""
    if figure.is_full_scan and measure.read_name is not None:
        return WHOLE_TABLE
    if measure.name == "sorted_in_memory" and figure.value is not None:
        return "yes" if figure.value else "no"
    if measure.name == "disk_bytes" and figure.value is not None:
        figure = replace(figure, value=figure.value / 2**30)
    return _format_figure(figure, cell_width)


def _format_figure(figure: Figure, cell_width: int) -> str:
    """Return a figure as text that fits a cell, with a unit such as k or M.

    >>> from rowkey.advise import Figure
    >>> values = (1.126, 16.0, 1234.0, 336_776.0, 45_112_345.0, None)
    >>> [_format_figure(Figure(value), 5) for value in values]
    ['1.13', '16', '1,234', '337k', '45.1M', '–']
    >>> _format_figure(Figure(45_112_345.0), 10), _format_figure(Figure(2896.1), 5)
    ('45,112,345', '2,896')
    >>> _format_figure(Figure(473_029_492_101.0), 11), _format_figure(Figure(999_999.0), 5)
    ('473G', '1.0M')
    >>> _format_figure(Figure(0.0004), 5)
    '0.00'
    """
    value = figure.value
    if value is None:
        return NO_VALUE
    decimals = 0 if value == int(value) or value >= 1_000 else (2 if value < 10 else 1)
    text = f"{value:,.{decimals}f}"
    if len(text) <= cell_width:
        return text
    power = next((one for one in range(1, 6) if round(value / 1_000**one) < 1_000), 6)
    value /= 1_000**power
    return f"{value:.{0 if value >= 100 else 1}f}{'kMGTPE'[power - 1]}"


def _format_notes(comparison: Comparison) -> Iterator[str]:
    """Yield notes that explain the marks of the table and its missing figures."""
    more = ", except for writes a second" if comparison.capacity is not None else ""
    yield f"{BEST_MARK} best of its row, or different only by chance: less is better{more}"
    if any(figure.is_full_scan for one in comparison.measures for figure in one.figures):
        yield (
            f"{WHOLE_TABLE}: the read scans the whole table, since nothing in the key narrows it"
        )
    thin = [one for one in comparison.measures if one.name not in MEASURE_LABELS]
    missing = [one for one in thin if all(figure.value is None for figure in one.figures)]
    if missing:
        widths = ", ".join(_format_label(one).removeprefix("skew, ") for one in missing)
        yield f"no skew is known for windows of {widths}: {missing[-1].figures[0].reason}"
    yield from _explain_missing_figures(comparison, missing)
    if not comparison.designs[0].is_measured:
        yield "bytes of an event are estimated from field widths: the sample lacks some fields"


def _explain_missing_figures(comparison: Comparison, skipped: Sequence[Measure]) -> Iterator[str]:
    """Yield each reason for missing figures, with the designs and measures it concerns."""
    labels_by_measure: dict[tuple[str, str], list[str]] = {}
    for one in comparison.measures:
        if one in skipped:
            continue
        for label, figure in zip(_list_labels(comparison), one.figures, strict=True):
            if figure.value is None and (one.name, figure.reason) != ("encode_us", ""):
                read_title = f"read {one.read_name}: " if one.read_name is not None else ""
                labels_by_measure.setdefault(
                    (f"{read_title}{_format_label(one).strip()}", figure.reason), []
                ).append(label)
    measures_by_reason: dict[tuple[str, str], list[str]] = {}
    for (measure, reason), labels in labels_by_measure.items():
        measures_by_reason.setdefault((", ".join(labels), reason), []).append(measure)
    for (label_list, reason), measures in measures_by_reason.items():
        yield f"{NO_VALUE} {label_list}; {', '.join(measures)}: {reason}"
