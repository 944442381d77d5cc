"""Draw `docs/performance.md` from the measured results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """# Performance

<!-- Written by `make bench` from benchmarks/results/*.json. Do not edit. -->

Take these figures with salt: we wrote both sides, and they are of one shared machine with two
cores, whose speed drifts by a factor of two within a day. What is compared was measured in turn,
five times each; trust the ratios. A goal that was missed says so.
"""


def write_page(results: Path, page: Path) -> None:
    """Write the page from all results.

    Raises:
        SystemExit: a benchmark has none; a page that leaves one out would hide it.
    """
    wanted = {path.stem.removeprefix("bench_") for path in results.parent.glob("bench_*.py")}
    missing = wanted - {path.stem for path in results.glob("*.json")}
    if missing:
        raise SystemExit(f"no results of {', '.join(sorted(missing))}; run `make bench`")
    lines = [HEAD]
    for path in sorted(results.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        lines += _section(path.stem, document)
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(name: str, document: dict[str, Any]) -> list[str]:
    machine = document["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    lines = [
        f"## {name.capitalize()}",
        "",
        (
            f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, "
            f"Python {machine['python']}, {packages}."
        ),
        "",
        "| what | median (min – max) | against | ratio | goal |",
        "|---|---|---|---|---|",
    ]
    lines += [_row(result) for result in document["results"]]
    return [*lines, ""]


def _row(result: dict[str, Any]) -> str:
    rates = " ".join((_rate(result["median"], result["unit"]), _spread(result)))
    ratio = f"{result['ratio']:.2f}×" if result["ratio"] else ""
    goal = result["goal"] or ""
    if not goal and result["ratio"] and result["ratio"] < 1:
        goal = f"**slower**: {result['rival']} is {1 / result['ratio']:.1f} times as fast"
    if result["met"] is not None:
        goal += " — met" if result["met"] else " — **missed**"
    notes = f"; {result['notes']}" if result["notes"] else ""
    return f"| {result['name']}{notes} | {rates} | {result['rival'] or ''} | {ratio} | {goal} |"


def _rate(value: float, unit: str) -> str:
    return f"{value / 1e6:.2f} {unit}" if unit.startswith("M ") else f"{value:.1f} {unit}"


def _spread(result: dict[str, Any]) -> str:
    scale = 1e6 if result["unit"].startswith("M ") else 1
    return f"({result['min'] / scale:.2f} – {result['max'] / scale:.2f})"
