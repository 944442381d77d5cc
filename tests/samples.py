"""The summary of a sample, as the rules get it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rowkey.advise import JudgedDesign

if TYPE_CHECKING:
    from rowkey import Design
    from rowkey.workload import SampleSummary


def summarize_sample(
    design: Design, sample: Any, format_options: Mapping[str, Any] | None = None
) -> SampleSummary:
    """Return the summary of a sample for a design."""
    summary = JudgedDesign(design, sample, format_options=format_options).sample
    assert summary is not None
    return summary
