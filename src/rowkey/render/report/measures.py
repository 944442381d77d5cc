"""A comparison as plain data: what was measured of designs side by side, with names redacted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import Incomparable, printable

if TYPE_CHECKING:
    from rowkey.advise import Comparison, Measure
    from rowkey.render.report.redaction import Redaction


def measures_document(found: Comparison | Incomparable, redaction: Redaction) -> dict[str, Any]:
    """A comparison as a page shows it, or why there is none.

    Args:
        found: the comparison, or what keeps the designs from standing on one scale.
        redaction: what is hidden.

    Returns:
        Measures with a figure for each design, in the order of the designs. Figures that are `best`
        are named by their number from 0.
    """
    if isinstance(found, Incomparable):
        said = [] if redaction.hides else [str(mistake) for mistake in found.mistakes]
        return {"why_not": said, "measures": []}
    return {
        "why_not": None,
        "sample": "" if redaction.hides else printable(Path(found.path).name),
        "events": found.events,
        "operations": found.operations,
        "is_half": bool(found.first),
        "servers": found.servers,
        "capacity": found.capacity,
        "has_rates": found.has_rates,
        "is_measured": found.designs[0].is_measured,
        "reads": {printable(name): share for name, share in found.weights.items()},
        "measures": [_measure(one, redaction) for one in found.measures],
    }


def _measure(one: Measure, redaction: Redaction) -> dict[str, Any]:
    """A measure; why a read could not be asked may tell of values, and is hidden with them.

    A range that is the whole table is said to be so, for by its number it is as good as any other.
    """
    hides = redaction.hides and one.read is not None
    figures = [
        {"value": f.value, "exact": f.is_exact, "reason": "" if hides else printable(f.reason)}
        for f in one.figures
    ]
    if one.name == "fan_out" and one.read is not None:
        for figure, f in zip(figures, one.figures, strict=True):
            figure["is_whole"] = f.is_whole
    return {
        "name": one.name,
        "read": None if one.read is None else printable(one.read),
        "better": one.better,
        "best": list(one.best),
        "figures": figures,
    }
