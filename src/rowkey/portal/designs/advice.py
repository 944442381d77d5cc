"""Searches for better keys, as `rowkey advise` makes them, with their files and figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.advise import Advice, search
from rowkey.portal.designs.workspace import DesignFile, Workspace
from rowkey.progress import ReportProgress
from rowkey.render import build_advice_document, build_summary_document, format_advised_design

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


@dataclass(frozen=True, slots=True)
class AdviceRequest:
    """What a user wants better keys for.

    Args:
        design: the name of the design file.
        sample: the name of the file of events; empty for what the design declares.
        user: who wants it.
        created_ms: when, in milliseconds since 1970.
    """

    design: str
    etag: str
    sample: str
    user: str
    created_ms: int


def advise_design(
    report: ReportProgress,
    folder: str,
    hidden_files: Sequence[str],
    name: str,
    text: str,
    sample: str | None,
) -> dict[str, Any]:
    """Return better keys for a design, and the texts of the files that declare them.

    Args:
        hidden_files: files of the folder that are no designs.
        sample: the path of a file of events; None for events generated from the file.

    Returns:
        `document`, that of `rowkey advise`. `declared`, `picks` and `tables`, the same designs as
        reports describe them. `pick_texts`, the text of the design file with each pick, and
        `table_files`, the name and the text of each file of the proposed tables, the first of
        which is the design file; `has_companions` says whether the first one
        keeps the others in step.

    Raises:
        SampleError: the events cannot be read.
    """
    workspace = Workspace(Path(folder), frozenset(map(Path, hidden_files)))
    design = workspace.read_design(DesignFile(name, text.encode("utf-8", "surrogateescape")))
    path = None
    if sample is not None:
        path = Path(sample).name
        os.chdir(Path(sample).parent)  # so that no document names a folder of this machine
    advice = search(design, path, progress=report)
    documents = {
        "document": build_advice_document(advice),
        "declared": build_summary_document(advice.declared),
        "picks": [build_summary_document(one.judged) for one in advice.picks],
        "tables": [build_summary_document(one) for one in advice.tables],
    }
    os.chdir(workspace.folder)  # to which the path of a declared sample is relative
    return {
        **documents,
        "pick_texts": [
            format_advised_design(advice, one.judged, workspace.folder / name, is_temporary=True)
            for one in advice.picks
        ],
        "table_files": _format_tables(advice, workspace, name),
        "has_companions": bool(advice.tables) and advice.companion_obstacle is None,
    }


def _format_tables(advice: Advice, workspace: Workspace, name: str) -> list[dict[str, str]]:
    """Return the name and the text of the file of each proposed table.

    Further tables get names that are free; they are companions of the first where that is possible.
    """
    if not advice.tables:
        return []
    main, *others = advice.tables
    taken = {file.name for file in workspace.list_files()}
    stem = Path(name).stem
    free = (one for number in count(2) if (one := f"{stem}_{number}.toml") not in taken)
    further = list(zip(free, others, strict=False))
    companions = {judged.design.table: file for file, judged in further}
    if advice.companion_obstacle is not None:
        companions = {}
    return [
        {
            "name": file,
            "text": format_advised_design(
                advice,
                judged,
                workspace.folder / file,
                companions if judged is main else {},
                is_temporary=True,
            ),
        }
        for file, judged in [(name, main), *further]
    ]
