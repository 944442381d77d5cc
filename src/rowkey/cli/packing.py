"""The bytes that packed cells save, measured on the sample that a design is judged by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.workload import Packing


def packing_for(
    design: Design, sample: str | None = None, format_words: Mapping[str, Any] | None = None
) -> Packing | None:
    """What the packed cells of a design save, or None where it has none.

    It is measured on a sample that can be read and has all of their fields, and else told from the
    widths of the fields.

    Args:
        design: the design.
        sample: a file; the design's own sample if None.
        format_words: how it is read; as for the design's own if None.
    """
    from rowkey.errors import RowError, SampleError
    from rowkey.workload import packing_of

    path = design.sample_path if sample is None else Path(sample)
    if path is None or packing_of(design.layout, None) is None:
        return packing_of(design.layout, None)
    from rowkey.workload import format_for, open_sample

    words = format_words or format_for(path, design.sample_format, design.sample_path)
    try:
        return packing_of(design.layout, open_sample(path, design.fields, None, words).fitted())
    except (SampleError, RowError):
        return packing_of(design.layout, None)
