"""The figures of a declared design next to those of proposed ones, for cards and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Documents = Mapping[str, Any]

GIB = 1 << 30
UNKNOWN = "–"
MIN_DIFFERENCE = 0.05
"""Share of a figure by which another one is more, and not by chance."""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of several designs; less is better.

    Args:
        key: its label, by its key in the language files.
        name: the name of the read that it is about; empty for none.
        values: the figure of each design, the declared one first; None where it is unknown.
        format: returns a value as text.
    """

    key: str
    name: str
    values: Sequence[float | None]
    format: Callable[[float], str]

    @property
    def texts(self) -> list[str]:
        """The values as text."""
        return [UNKNOWN if one is None else self.format(one) for one in self.values]

    def is_worse(self, place: int) -> bool:
        """Return whether a design costs more than the declared one, by more than chance.

        Args:
            place: the place of the design; 0 is the declared one.
        """
        declared, value = self.values[0], self.values[place]
        if declared is None or value is None:
            return False
        return value > declared * (1 + MIN_DIFFERENCE) and self.texts[0] != self.texts[place]


def list_figures(documents: Sequence[Documents], summaries: Sequence[Documents]) -> list[FigureRow]:
    """Return the figures by which designs are compared.

    Args:
        documents: the designs as `build_advice_document` has them, the declared one first.
        summaries: the same as `build_summary_document` has them.
    """
    rows = [
        FigureRow("skew", "", [one["writes"]["skew"] for one in documents], "{:.2f}×".format),
        *_list_read_figures(summaries),
        FigureRow("event_bytes", "", [one["event_bytes"] for one in documents], "{:,.0f}".format),
    ]
    for key, scale, form in (
        ("servers", 1, "{:,.0f}"),
        ("disk_bytes", GIB, "{:,.1f} GiB"),
        ("cost_per_month", 1, "{:,.2f}"),
    ):
        values = [one["resources"][key]["value"] for one in documents]
        if any(value is not None for value in values):
            scaled = [None if value is None else value / scale for value in values]
            rows.append(FigureRow(key, "", scaled, form.format))
    return rows


def _list_read_figures(summaries: Sequence[Documents]) -> Iterator[FigureRow]:
    """Yield the ranges and the rows of each read that all designs serve."""
    costs = [{read["name"]: read for read in one["reads"]} for one in summaries]
    for name in costs[0]:
        found = [one.get(name) for one in costs]
        for key in ("ranges", "rows"):
            values = [None if one is None else _get_read_figure(one, key) for one in found]
            yield FigureRow(key, name, values, "{:,.0f}".format)


def _get_read_figure(read: Mapping[str, Any], key: str) -> float | None:
    """Return how many ranges a read scans, or how many rows it reads; None if it cannot run."""
    if read["error"]:
        return None
    figure = read["fan_out" if key == "ranges" else "rows_read"]
    mean: float = figure["mean"]
    return mean
