"""A comparison as plain data, with hidden names replaced."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import IncomparableDesigns
from rowkey.messages import shorten_text

if TYPE_CHECKING:
    from rowkey.advise import Comparison, Measure
    from rowkey.render.report.redaction import Redaction


def build_measures_document(
    comparison: Comparison | IncomparableDesigns, redaction: Redaction
) -> dict[str, Any]:
    """Return a comparison as data for a page, or why designs cannot be compared.

    Args:
        comparison: the comparison, or what keeps the designs from standing on one scale.
        redaction: what is hidden.

    Returns:
        Measures with a figure for each design, in the order of the designs. Figures that are `best`
        are named by their number from 0.
    """
    if isinstance(comparison, IncomparableDesigns):
        reasons = [] if redaction.is_hiding else [str(mistake) for mistake in comparison.mistakes]
        return {"why_not": reasons, "measures": []}
    return {
        "why_not": None,
        "sample": "" if redaction.is_hiding else shorten_text(Path(comparison.path).name),
        "events": comparison.event_count,
        "operations": comparison.operation_count,
        "is_half": bool(comparison.first_event),
        "servers": comparison.servers,
        "capacity": comparison.capacity,
        "has_rates": comparison.has_rates,
        "is_measured": comparison.designs[0].is_measured,
        "reads": {shorten_text(name): share for name, share in comparison.read_weights.items()},
        "measures": [_build_measure(measure, redaction) for measure in comparison.measures],
    }


def _build_measure(measure: Measure, redaction: Redaction) -> dict[str, Any]:
    """Return a measure with a figure for each design; reasons are hidden with values.

    A range that is the whole table is said to be so, for by its number it is as good as any other.
    """
    hides = redaction.is_hiding and measure.read_name is not None
    figures = [
        {"value": f.value, "exact": f.is_exact, "reason": "" if hides else shorten_text(f.reason)}
        for f in measure.figures
    ]
    if measure.name == "fan_out" and measure.read_name is not None:
        for figure, f in zip(figures, measure.figures, strict=True):
            figure["is_whole"] = f.is_full_scan
    return {
        "name": measure.name,
        "read": None if measure.read_name is None else shorten_text(measure.read_name),
        "better": measure.direction,
        "best": list(measure.best_designs),
        "figures": figures,
    }
