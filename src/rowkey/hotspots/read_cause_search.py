"""Search for the causes of a read hot spot in the measured load of one read."""

from __future__ import annotations

from rowkey.hotspots.read_causes import READ_CAUSES
from rowkey.hotspots.read_load_result import ReadCauseFinding, ReadLoadResult


def recognise_read_causes(result: ReadLoadResult) -> list[ReadCauseFinding]:
    """Find why servers have much to do for a read, what explains most of it first.

    Args:
        result: the measured load of the read.
    """
    findings = [
        cause.recognise(result)
        for cause in READ_CAUSES.values()
        if cause.concerns_even_load or not result.is_even
    ]
    found = [one for one in findings if one is not None]
    return sorted(found, key=lambda finding: -finding.explained_share)
