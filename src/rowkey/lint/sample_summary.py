"""The summary of a sample that rules use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import SampleError
from rowkey.hotspots import build_declared_facts
from rowkey.open_file_limit import explain_shortage
from rowkey.workload import SampleSummary, choose_format, open_sample, record_sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.design import Design
    from rowkey.workload import SampleFile, SampleInput


@explain_shortage
def summarize_sample(
    design: Design,
    sample: SampleInput,
    format_options: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
) -> SampleSummary:
    """Read a sample once and return the summary that rules judge a design by.

    All declared fields are read if the file has them, else only those that judging needs.

    Args:
        design: the design.
        sample: the sample's file, its recording, or a table in memory, such as a DataFrame.
        format_options: how the file is read; as the design declares if None, unless the file's name
            shows another format.
        seed: the seed of random numbers.

    Raises:
        SampleError: the file cannot be read, or does not have the fields that judging needs.

    Cost: about 1 µs an event.
    """
    if isinstance(sample, (str, Path)):
        sample = Path(sample)
        format_options = format_options or choose_format(
            sample, design.sample_format, design.sample_path
        )
    else:
        sample = record_sample(sample, format_options)
    try:
        file = open_sample(sample, design.fields, None, format_options).match_columns()
        return _summarize_file(design, file, seed)
    except SampleError:
        needed = design.collect_needed_fields()
        return _summarize_file(design, open_sample(sample, needed, None, format_options), seed)


def _summarize_file(design: Design, file: SampleFile, seed: int) -> SampleSummary:
    """Return the summary of a sample file's events, in one pass."""
    summary = SampleSummary(
        file.fields,
        design.key,
        design.layout,
        build_declared_facts(design),
        seed=seed,
        path=str(file.path),
    )
    summary.add_sample(file)
    return summary
