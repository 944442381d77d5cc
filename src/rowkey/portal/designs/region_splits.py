"""The row keys with which the regions of a new table begin, by its design or by a sample."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rowkey.design import Design
from rowkey.portal.designs.workspace import DesignFile, Workspace
from rowkey.progress import ReportProgress
from rowkey.simulate import choose_design_splits, choose_source_splits, open_generated_source


def choose_splits(design: Design, sample: Path | None) -> Sequence[bytes]:
    """Return the row keys with which the regions of a table begin, but the first.

    A sample that the design declares is left alone: it may lie outside of the folder.

    Args:
        sample: the file from which boundaries follow, if they follow from one.

    Raises:
        InvalidDesign: the regions cannot be split so.
        SampleError: the sample cannot be read, or is needed and missing.

    Cost: up to 0.1 s without a sample; with one, what reading it takes.
    """
    if design.splits.needs_sample and sample is not None:
        return choose_design_splits(design, sample).boundaries.splits
    return choose_source_splits(design, open_generated_source(design, 0), 0).boundaries.splits


def choose_sampled_splits(
    report: ReportProgress,
    folder: str,
    hidden_files: Sequence[str],
    name: str,
    text: str,
    sample: str,
) -> dict[str, list[str]]:
    """Return the result of `choose_splits` of each table of a design, in hexadecimal digits.

    Args:
        report: takes no progress.
        hidden_files: files of the folder that are no designs.
        sample: the path of the file of events.
    """
    del report
    workspace = Workspace(Path(folder), frozenset(map(Path, hidden_files)))
    design = workspace.read_design(DesignFile(name, text.encode("utf-8", "surrogateescape")))
    tables = {design.table: design, **design.companions}
    path = Path(sample)
    os.chdir(path.parent)  # so that no text names a folder of this machine
    return {
        table: [key.hex() for key in choose_splits(one, Path(path.name))]
        for table, one in tables.items()
    }
