"""Designs side by side: a table for people, a JSON document for machines."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from rowkey.errors import counted
from rowkey.render.documents import FORMAT
from rowkey.render.text import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from rowkey.advise import Comparison, Figure, Measure

COMPARE = {
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
    "designs[].verdict": "even, warm or hot, as `simulate` says",
    "designs[].verdict_skew": "the skew over servers it is from",
    "designs[].verdict_even": "what an even design would show",
    "designs[].verdict_basis": "the windows it is from",
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
    "measures[].what": "what it measures",
    "measures[].better": "less or more; null where neither is better",
    "measures[].within": "figures that differ by less are equal: chance or a clock makes as much",
    "measures[].figures.*.value": "by the design's letter, its figure; null where there is none",
    "measures[].figures.*.exact": "whether it was counted, not estimated or timed",
    "measures[].figures.*.reason": "why there is none",
    "measures[].figures.*.whole": "whether it is of a read of the whole table: never the best",
    "measures[].best[]": "letters of the best; none where all are equal or nothing is better",
}
"""The meaning of every field of `comparison_document`."""

LABELS = {
    "throughput": "writes a second, at most",
    "regions": "regions",
    "dead_regions": "regions without a write",
    "key_bytes": "bytes of a row key",
    "event_bytes": "bytes of an event",
    "total_bytes": "bytes of all events",
    "encode_us": "µs to make a key",
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
FIRST_WIDTH = 24
"""Characters of the first column; with eight designs each of the others has seven of 80."""
WIDEST = 13
BEST = "*"
NOTHING = "–"
ALL = "all"
"""In place of the number of ranges of a read of the whole table."""


def comparison_document(found: Comparison) -> dict[str, Any]:
    """A comparison, as `rowkey compare -f json` prints it."""
    return {
        "format": FORMAT,
        "seed": found.seed,
        "sample": {"path": str(found.path), "events": found.events, "first": found.first},
        "operations": found.operations,
        "servers": found.servers,
        "capacity": found.capacity,
        "designs": [
            {
                "label": one.label,
                "name": one.name,
                "table": one.design.table,
                "key": str(one.design.key),
                "verdict": one.simulation.verdict.word,
                "verdict_skew": one.simulation.verdict.skew,
                "verdict_even": one.simulation.verdict.even,
                "verdict_basis": one.simulation.verdict.basis,
                "findings": [
                    {"code": said.code, "name": said.name, "severity": said.severity}
                    for said in one.findings.found
                ],
            }
            for one in found.designs
        ],
        "reads": [
            {
                "name": name,
                "where": words.where,
                "order": words.order,
                "limit": words.limit,
                "share": found.weights[name],
            }
            for name, words in found.reads.items()
        ],
        "has_rates": found.has_rates,
        "measures": [_measure(one, _labels(found)) for one in found.measures],
    }


def _labels(found: Comparison) -> list[str]:
    return [one.label for one in found.designs]


def _measure(one: Measure, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "name": one.name,
        "read": one.read,
        "what": one.what,
        "better": one.better or None,
        "within": one.within,
        "figures": {
            label: {
                "value": figure.value,
                "exact": figure.is_exact,
                "reason": figure.reason or None,
                "whole": figure.is_whole,
            }
            for label, figure in zip(labels, one.figures, strict=True)
        },
        "best": [labels[number] for number in one.best],
    }


def print_comparison(found: Comparison, console: Console) -> None:
    """Print a comparison: the designs, then a row for each measure with its best marked."""
    from rich.text import Text

    for line in comparison_lines(found, console.width):
        shown = Text(line)
        shown.highlight_regex(rf"\S+{_escaped(BEST)}(?= |$)", "bold green")
        console.print(shown, soft_wrap=True)


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" for character in text)


def comparison_lines(found: Comparison, width: int = 80) -> Iterator[str]:
    """A comparison as text.

    Args:
        found: the comparison.
        width: characters of a line; 80 hold a table of eight designs.
    """
    for one in found.designs:
        yield from wrapped(
            f"{one.label}  {one.name}: {one.design.table}  {one.design.key}", width, 5
        )
    half = ", its second half" if found.first else ""
    servers = "server" if found.servers == 1 else "servers"
    said = (
        f"{counted(found.operations, 'event')} of {found.path}{half}, on {found.servers:,} "
        f"{servers}"
    )
    yield from wrapped(said, width, 2)
    yield ""
    room = min(WIDEST, (width - FIRST_WIDTH) // len(found.designs))
    yield _row("", [f"{label} " for label in _labels(found)], room)
    verdicts = [one.simulation.verdict.word for one in found.designs]
    yield _row("verdict", _marked(verdicts, _least_grave(verdicts)), room)
    for (read, is_of_reads), group in groupby(found.measures, _title_of):
        if is_of_reads:
            yield from wrapped(_read_title(found, read), width, 2)
        for measure in filter(_is_told, group):
            cells = [_cell_of(measure, figure, room - 2) for figure in measure.figures]
            yield _row(_label(measure), _marked(cells, measure.best), room)
    yield ""
    for note in _notes(found):
        yield from wrapped(note, width, 2)


def _row(first: str, cells: Sequence[str], room: int) -> str:
    return f"{first:<{FIRST_WIDTH}}{''.join(f'{cell:>{room}}' for cell in cells)}".rstrip()


def _marked(cells: Sequence[str], best: Sequence[int]) -> list[str]:
    return [f"{cell}{BEST if number in best else ' '}" for number, cell in enumerate(cells)]


def _least_grave(words: Sequence[str]) -> list[int]:
    """The designs with the best word of all, unless all have it."""
    least = min(words, key=("even", "warm", "hot").index)
    best = [number for number, word in enumerate(words) if word == least]
    return best if len(best) < len(words) else []


def _title_of(one: Measure) -> tuple[str | None, bool]:
    """The read under whose title a measure stands, and whether it is of reads at all."""
    return one.read, LABELS.get(one.name, "").startswith(" ")


def _label(one: Measure) -> str:
    return LABELS.get(one.name) or f"skew, {one.name.removeprefix('skew_').removesuffix('s')} s"


def _is_told(one: Measure) -> bool:
    """Whether a measure has a row; it has none where nothing is known, or nothing was found."""
    values = {figure.value for figure in one.figures}
    is_silent = one.name in ("errors", "warnings", "remarks", "sorted_in_memory", "dead_regions")
    return values != {None} and not (is_silent and values == {0.0})


def _read_title(found: Comparison, name: str | None) -> str:
    if name is None:
        often = "by their rates" if found.has_rates else "each as often as the others"
        return f"all reads, {often}"
    share = f", {found.weights[name]:.0%} of the reads" if found.has_rates else ""
    return f"read {name}{share}"


def _cell_of(measure: Measure, figure: Figure, room: int) -> str:
    if figure.is_whole and measure.read is not None:
        return ALL
    if measure.name == "sorted_in_memory" and figure.value is not None:
        return "yes" if figure.value else "no"
    return _cell(figure, room)


def _cell(figure: Figure, room: int) -> str:
    """A figure in as many characters as there are, or a few more.

    >>> from rowkey.advise import Figure
    >>> [_cell(Figure(value), 5) for value in (1.126, 16.0, 1234.0, 336_776.0, 45_112_345.0, None)]
    ['1.13', '16', '1,234', '337k', '45.1M', '–']
    >>> _cell(Figure(45_112_345.0), 10), _cell(Figure(2896.1), 5), _cell(Figure(0.0004), 5)
    ('45,112,345', '2,896', '0.00')
    """
    value = figure.value
    if value is None:
        return NOTHING
    decimals = 0 if value == int(value) or value >= 1_000 else (2 if value < 10 else 1)
    text = f"{value:,.{decimals}f}"
    for unit in "kMGTPE":
        if len(text) <= room:
            break
        value /= 1_000
        text = f"{value:.{0 if value >= 100 else 1}f}{unit}"
    return text


def _notes(found: Comparison) -> Iterator[str]:
    """What the marks mean, and why figures are missing."""
    more = "; of writes a second, more" if found.capacity is not None else ""
    yield f"{BEST} the best of its row, or equal to it but for chance: less is better{more}"
    if any(figure.is_whole for one in found.measures for figure in one.figures):
        yield f"{ALL}: nothing in the key narrows the read, and the whole table is its range"
    thin = [one for one in found.measures if one.name not in LABELS]
    missing = [one for one in thin if all(figure.value is None for figure in one.figures)]
    if missing:
        widths = ", ".join(_label(one).removeprefix("skew, ") for one in missing)
        yield f"no skew in windows of {widths}: {missing[-1].figures[0].reason}"
    yield from _absences(found, missing)
    if not found.designs[0].is_measured:
        yield "bytes of an event are told from the widths of fields: the sample lacks some of them"


def _absences(found: Comparison, told: Sequence[Measure]) -> Iterator[str]:
    """Why figures are missing, each reason once for all designs and measures it holds of."""
    without: dict[tuple[str, str], list[str]] = {}
    for one in found.measures:
        if one in told:
            continue
        for label, figure in zip(_labels(found), one.figures, strict=True):
            if figure.value is None and (one.name, figure.reason) != ("encode_us", ""):
                of = f"read {one.read}: " if one.read is not None else ""
                without.setdefault((f"{of}{_label(one).strip()}", figure.reason), []).append(label)
    alike: dict[tuple[str, str], list[str]] = {}
    for (what, reason), labels in without.items():
        alike.setdefault((", ".join(labels), reason), []).append(what)
    for (labels_said, reason), whats in alike.items():
        yield f"{NOTHING} {labels_said}; {', '.join(whats)}: {reason}"
