"""Predicted against counted requests, as a document and as a page of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rowkey.messages import pluralize
from rowkey.render.documents import FORMAT_VERSION
from rowkey.render.running_tables.load_map import format_server
from rowkey.render.text import wrap_text

if TYPE_CHECKING:
    from rich.console import Console

    from rowkey.observe import PhaseProof, Proof, ReadProof, RegionProof

VERDICT_TITLES = {
    "exact": "EXACT",
    "partly": "EXACT WHERE COMPARED",
    "unknown": "SOME COUNTS UNKNOWN",
    "different": "NOT EXACT",
}
"""Titles of the verdicts, with which the page begins."""
MAX_REGIONS_PRINTED = 32
"""Regions that are printed one by one; of more those that differ."""

PROOF_FIELDS = {
    "format": "version of this document",
    "table": "name of the design",
    "key": "the row key in bracket notation",
    "proved_on": "the table that was written",
    "is_table_kept": "whether it is still there, with regions that are never split",
    "source.path": "the sample's file",
    "source.first": "number of the first event that was written",
    "source.left_out": "rows of the sample that are no events",
    "operations": "events written",
    "verdict": "of the counts, the worst: exact, partly (not all compared), unknown or different",
    "exact": "whether all was compared, every count is known, and each is what was predicted",
    "not_compared[]": "what was not, or not completely, compared, and why",
    "difference": "|predicted - counted| over the regions of all phases",
    "unknown": "counts that are unknown, because regions were reopened or replaced",
    "regions[].start": "first possible row key, hexadecimal; empty for the first region",
    "regions[].stop": "first row key after it, hexadecimal; empty for the last region",
    "regions[].server": "where it was in the last phase; empty if it was split or merged",
    "regions[].predicted": "writes over all phases, as simulated; with the salts that were written",
    "regions[].counted": "the same as counted, or null",
    "phases[].number": "the phase, from 1",
    "phases[].operations": "events written in it",
    "phases[].difference": "|predicted - counted| over its regions",
    "phases[].unknown": "its regions whose count is not known",
    "phases[].regions[].predicted": "writes of each region in it, in the order of `regions`",
    "phases[].regions[].counted": "the same as counted, or null",
    "phases[].regions[].reason": "why it is not known, or null",
    "phases[].servers[].name": "a region server",
    "phases[].servers[].predicted": "writes of its regions, as far as their counts are known",
    "phases[].servers[].counted": "the same as counted",
    "reads[].name": "a declared read",
    "reads[].runs": "how often it was run, without its limit",
    "reads[].fan_out": "ranges of all runs",
    "reads[].predicted": "rows in these ranges",
    "reads[].counted": "reads that regions counted",
    "reads[].most": "most they may count: a row each, one a range in a region, one a full answer",
    "reads[].wrong": "regions that counted fewer or more, over all runs",
    "reads[].regions_predicted": "regions that the ranges touch, over all runs",
    "reads[].regions_counted": "regions that counted a read",
    "reads[].unknown": "runs of which nothing is known, for the same reasons",
    "reads[].reason": "why it was not run, or stopped, or is not known, or null",
    "size": "bytes on disk; null where there are none to be compared",
    "size.predicted": "bytes of all cells in data blocks, before encoding and compression",
    "size.counted": "bytes on disk after a flush and a major compaction",
    "size.resolution": "how much more they may be, for a cluster tells whole megabytes",
    "size.plain": "whether nothing is encoded or compressed, so that both should be near",
    "remarks[]": "remarks on the figures",
}


def build_proof_document(proof: Proof) -> dict[str, Any]:
    """Return predicted and counted requests as `rowkey prove -f json` prints them."""
    return {
        "format": FORMAT_VERSION,
        "table": proof.design.table,
        "key": str(proof.design.key),
        "proved_on": proof.table,
        "is_table_kept": proof.is_table_kept,
        "source": {
            "path": proof.source.name,
            "first": proof.source.first_replayed,
            "left_out": proof.source.skipped_rows.count,
        },
        "operations": proof.operation_count,
        "verdict": proof.verdict,
        "exact": proof.is_exact,
        "not_compared": list(proof.omissions),
        "difference": proof.difference,
        "unknown": proof.unknown_count,
        "regions": [
            {
                "start": one.start.hex(),
                "stop": one.stop.hex(),
                "server": one.server,
                "predicted": one.predicted_writes,
                "counted": one.counted_writes,
            }
            for one in proof.sum_by_region()
        ],
        "phases": [_build_phase(one) for one in proof.phases],
        "reads": [_build_read(one) for one in proof.reads],
        "size": _build_size(proof),
        "remarks": list(proof.remarks),
    }


def _build_phase(phase: PhaseProof) -> dict[str, Any]:
    """Return the predicted and counted writes of one phase."""
    return {
        "number": phase.number,
        "operations": phase.operation_count,
        "difference": phase.difference,
        "unknown": phase.unknown_count,
        "regions": [
            {
                "predicted": region.predicted_writes,
                "counted": region.counted_writes,
                "reason": region.reason or None,
            }
            for region in phase.regions
        ],
        "servers": [
            {"name": name, "predicted": predicted, "counted": counted}
            for name, (predicted, counted) in sorted(phase.writes_by_server.items())
        ],
    }


def _build_read(read: ReadProof) -> dict[str, Any]:
    """Return the predicted and counted rows of one declared read."""
    return {
        "name": read.name,
        "runs": read.trial_count,
        "fan_out": read.fan_out,
        "predicted": read.predicted_rows,
        "counted": read.counted_reads,
        "most": read.max_reads,
        "wrong": read.wrong_regions,
        "regions_predicted": read.predicted_regions,
        "regions_counted": read.counted_regions,
        "unknown": read.unknown_trials,
        "reason": read.reason or None,
    }


def _build_size(proof: Proof) -> dict[str, Any] | None:
    """Return the predicted and measured bytes on disk; None if not measured."""
    if proof.size is None:
        return None
    return {
        "predicted": proof.size.predicted_bytes,
        "counted": proof.size.counted_bytes,
        "resolution": proof.size.resolution_bytes,
        "plain": proof.size.is_plain,
    }


def print_proof(proof: Proof, console: Console) -> None:
    """Print whether predicted and counted requests agree, then regions, reads and bytes."""
    for line in format_proof(proof):
        for part in wrap_text(line, console.width, len(line) - len(line.lstrip()) + 2):
            console.print(part, soft_wrap=True, markup=False)


def format_proof(proof: Proof) -> Iterator[str]:
    """Yield the lines that report whether predicted and counted requests agree."""
    yield f"{proof.design.table}  {proof.design.key}"
    counts = sum(len(phase.regions) for phase in proof.phases)
    title = VERDICT_TITLES[proof.verdict]
    yield (
        f"{title}: {pluralize(proof.operation_count, 'write')} in "
        f"{pluralize(len(proof.phases), 'phase')}; predicted and counted writes differ by "
        f"{proof.difference:,} over {counts:,} region counts"
        + (f", {proof.unknown_count:,} of them unknown" if proof.unknown_count else "")
    )
    yield from (f"  {remark}" for remark in proof.remarks)
    yield from (f"  not compared: {omission}" for omission in proof.omissions)
    yield ""
    yield from _format_regions(proof)
    yield from _format_servers(proof)
    yield from (_format_read(read) for read in proof.reads if read.trial_count)
    if proof.size is not None:
        yield _format_size(proof)
    table_state = (
        "which is kept; its regions are never split" if proof.is_table_kept else "which was dropped"
    )
    yield f"written to {proof.table}, {table_state}"


def _format_regions(proof: Proof) -> Iterator[str]:
    """Yield a table of predicted and counted writes by region."""
    regions = list(proof.sum_by_region())
    listed = regions
    if len(regions) > MAX_REGIONS_PRINTED:
        listed = [region for region in regions if region.difference != 0]
        yield f"{len(regions):,} regions, {len(listed):,} of them differ"
    if not listed:
        return
    yield f"{'predicted':>12} {'counted':>12} {'differ':>8}  region begins with"
    for region in listed[:MAX_REGIONS_PRINTED]:
        counts = _format_counts(region)
        yield f"{region.predicted_writes:>12,} {counts}  {_format_start(proof, region)}"


def _format_counts(region: RegionProof) -> str:
    """Return the counted writes of a region and their difference from the prediction."""
    if region.counted_writes is None:
        return f"{'?':>12} {'?':>8}"
    return f"{region.counted_writes:>12,} {region.difference:>8,}"


def _format_start(proof: Proof, region: RegionProof) -> str:
    """Return a region's first row key as text, and why its count is unknown."""
    start = proof.design.key.format_prefix(region.start) if region.start else "(the first row)"
    return f"{start}  {region.reason}".rstrip()


def _format_servers(proof: Proof) -> Iterator[str]:
    """Yield predicted and counted writes of each server."""
    names = sorted({name for phase in proof.phases for name in phase.writes_by_server} - {""})
    for name in names:
        sums = [phase.writes_by_server.get(name, (0, 0)) for phase in proof.phases]
        predicted, counted = (sum(one[place] for one in sums) for place in (0, 1))
        apart = sum(abs(one[0] - one[1]) for one in sums)
        yield f"{predicted:>12,} {counted:>12,} {apart:>8,}  on {format_server(name)}"


def _format_read(read: ReadProof) -> str:
    """Return the line with predicted and counted rows of one declared read."""
    wrong = (
        f"; {pluralize(read.wrong_regions, 'region')} counted an unexpected number"
        if read.wrong_regions
        else ""
    )
    return (
        f"read {read.name}: run {read.trial_count} times, {read.fan_out:,} ranges; "
        f"{read.predicted_rows:,} rows predicted, {read.counted_reads:,} reads counted (at most "
        f"{read.max_reads:,}); regions touched {read.predicted_regions:,} predicted, "
        f"{read.counted_regions:,} counted{wrong}"
    )


def _format_size(proof: Proof) -> str:
    """Return the line with predicted and measured bytes on disk."""
    size = proof.size
    assert size is not None
    plain = "" if size.is_plain else "; encoded or compressed, so fewer are expected"
    uncertainty = f" and up to {size.resolution_bytes:,} more" if size.resolution_bytes else ""
    apart = "" if size.deviation is None else f", {size.deviation:+.1%}"
    return (
        f"bytes: {size.predicted_bytes:,} of cells predicted, {size.counted_bytes:,}{uncertainty} "
        f"on disk{apart}{plain}"
    )
