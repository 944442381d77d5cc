"""Draw `docs/performance.md` from the measured results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEAD = """# Performance

<!-- Written by `make bench` from benchmarks/results/*.json. Do not edit. -->

The authors of rowkey wrote both sides of each comparison. All figures come from one shared machine
with two cores, whose speed varies by a factor of two within a day. Compared programs ran in turn,
five times each unless a section gives another number, so trust the ratios more than the rates.
A goal that was not reached is marked **missed**.
"""
TITLES = {"hbase": "HBase", "move_hbase": "Move on HBase"}
"""Titles of sections that differ from their capitalized names."""
MILLION = 1e6
NEARLY = 0.95
"""The share of a rival's speed above which nothing is called slower, because of noise."""


def write_page(results: Path, page: Path) -> None:
    """Write the page from all results; benchmarks without results are listed as not measured."""
    wanted = {path.stem.removeprefix("bench_") for path in results.parent.glob("bench_*.py")}
    lines = [HEAD]
    for name in sorted(wanted | {path.stem for path in results.glob("*.json")}):
        path = results / f"{name}.json"
        if path.exists():
            lines += _format_section(name, json.loads(path.read_text(encoding="utf-8")))
        else:
            note = f"Not measured yet: `python benchmarks/run.py bench_{name}` does it."
            lines += [_format_title(name), "", note, ""]
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _format_title(name: str) -> str:
    """Return the heading of a benchmark's section."""
    return f"## {TITLES.get(name, name.capitalize())}"


def _format_section(name: str, document: dict[str, Any]) -> list[str]:
    """Return the lines of a benchmark's section: machine, note and table."""
    machine = document["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    lines = [
        _format_title(name),
        "",
        (
            f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, "
            f"Python {machine['python']}, {packages}."
        ),
        *(["", document["note"]] if document.get("note") else []),
        "",
        "| what | median (min – max) | against | ratio | goal |",
        "|---|---|---|---|---|",
    ]
    lines += [_format_row(result) for result in document["results"]]
    return [*lines, ""]


def _format_row(result: dict[str, Any]) -> str:
    """Return the table row of one result."""
    rates = f"{format_rate(result)} {_format_spread(result)}"
    ratio = f"{result['ratio']:.2f}×" if result["ratio"] else ""
    goal = result["goal"] or ""
    if not goal and result["ratio"] and result["ratio"] < NEARLY:
        goal = f"**slower**: {result['rival']} is {1 / result['ratio']:.1f} times as fast"
    if result["met"] is not None:
        goal += " — met" if result["met"] else " — **missed**"
    notes = f"; {result['notes']}" if result["notes"] else ""
    return f"| {result['name']}{notes} | {rates} | {result['rival'] or ''} | {ratio} | {goal} |"


def format_rate(result: dict[str, Any]) -> str:
    """Return the median with its unit, in millions if it is at least one.

    >>> format_rate({"median": 2.5e6, "unit": "M rows/s"})
    '2.50 M rows/s'
    >>> format_rate({"median": 3, "unit": "gets/s"})
    '3.0 gets/s'
    >>> format_rate({"median": 58_494.7, "unit": "M rows/s"})
    '58,495 rows/s'
    """
    unit = result["unit"]
    shown = unit if _is_in_millions(result) else unit.removeprefix("M ")
    return f"{_format_figure(result['median'], result)} {shown}"


def _format_spread(result: dict[str, Any]) -> str:
    """Return the minimum and maximum rate of a result."""
    return f"({_format_figure(result['min'], result)} – {_format_figure(result['max'], result)})"


def _format_figure(value: float, result: dict[str, Any]) -> str:
    """Return a rate in the precision of the result's median."""
    if _is_in_millions(result):
        return f"{value / MILLION:.2f}"
    return f"{value:,.0f}" if result["median"] >= 1_000 else f"{value:.1f}"


def _is_in_millions(result: dict[str, Any]) -> bool:
    """Return whether a rate is shown in millions."""
    return bool(result["unit"].startswith("M ") and result["median"] >= MILLION)
