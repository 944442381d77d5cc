"""Predicted against counted: as a document, and as a page of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import counted
from rowkey.render.documents import FORMAT
from rowkey.render.observed.looks import server_name
from rowkey.render.text import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from rowkey.observe import PhaseProof, Proof, ReadProof, RegionProof

WORDS = {
    "exact": "EXACT",
    "partly": "EXACT AS FAR AS ASKED",
    "unknown": "NOT ALL KNOWN",
    "different": "NOT EXACT",
}
"""What a proof comes to, as a page begins."""
MOST_REGIONS = 32
"""Regions that are printed one by one; of more those that differ."""

PROVE = {
    "format": "version of this document",
    "table": "name of the design",
    "key": "the row key in bracket notation",
    "proved_on": "the table that was written",
    "kept": "whether it is still there, with regions that are never split",
    "source.path": "the sample's file",
    "source.first": "number of the first event that was written",
    "source.left_out": "rows of the sample that are no events",
    "operations": "events written",
    "verdict": "of the counts: exact, partly if not all was asked, unknown or different: the worst",
    "exact": "whether all was asked, every count is known, and each is what was predicted",
    "not_asked[]": "what was not, or not wholly, compared, and why: not asked, or not known",
    "difference": "|predicted - counted| over the regions of all phases",
    "unknown": "counts that are not known, for regions were opened anew or are others",
    "regions[].start": "first possible row key, hexadecimal; empty for the first region",
    "regions[].stop": "first row key behind it, hexadecimal; empty for the last region",
    "regions[].server": "where it was in the last phase; empty if it was split or merged",
    "regions[].predicted": "writes over all phases, as simulated; with the salts that were written",
    "regions[].counted": "the same as counted, or null",
    "phases[].number": "the phase, from 1",
    "phases[].operations": "events written in it",
    "phases[].difference": "|predicted - counted| over its regions",
    "phases[].unknown": "its regions whose count is not known",
    "phases[].regions[].predicted": "writes of each region in it, in the order of `regions`",
    "phases[].regions[].counted": "the same as counted, or null",
    "phases[].regions[].why": "why it is not known, or null",
    "phases[].servers[].name": "a region server",
    "phases[].servers[].predicted": "writes of its regions, as far as their counts are known",
    "phases[].servers[].counted": "the same as counted",
    "reads[].name": "a declared read",
    "reads[].asked": "times it was asked, without its limit",
    "reads[].fan_out": "ranges of all askings",
    "reads[].predicted": "rows in these ranges",
    "reads[].counted": "reads that regions counted",
    "reads[].most": "most they may count: a row each, one a range in a region, one a full answer",
    "reads[].wrong": "regions that counted fewer or more, over all askings",
    "reads[].regions_predicted": "regions that the ranges come to, over all askings",
    "reads[].regions_counted": "regions that counted a read",
    "reads[].unknown": "askings of which nothing is known, for the same reasons",
    "reads[].why": "why it was not asked, or no further, or is not known, or null",
    "size": "bytes on disk; null where there are none to be compared",
    "size.predicted": "bytes of all cells in data blocks, before encoding and compression",
    "size.counted": "bytes on disk after a flush and a major compaction",
    "size.resolution": "how much more they may be, for a cluster tells whole megabytes",
    "size.plain": "whether nothing is encoded or compressed, so that both should be near",
    "remarks[]": "what should be known of the figures",
}


def proof_document(found: Proof) -> dict[str, Any]:
    """What was predicted and counted, as `rowkey prove -f json` prints it."""
    return {
        "format": FORMAT,
        "table": found.design.table,
        "key": str(found.design.key),
        "proved_on": found.table,
        "kept": found.kept,
        "source": {
            "path": found.source.name,
            "first": found.source.first,
            "left_out": found.source.left_out.count,
        },
        "operations": found.operations,
        "verdict": found.verdict,
        "exact": found.is_exact,
        "not_asked": list(found.not_asked),
        "difference": found.difference,
        "unknown": found.unknown,
        "regions": [
            {
                "start": one.start.hex(),
                "stop": one.stop.hex(),
                "server": one.server,
                "predicted": one.predicted,
                "counted": one.counted,
            }
            for one in found.by_region()
        ],
        "phases": [_phase(one) for one in found.phases],
        "reads": [_read(one) for one in found.reads],
        "size": _size(found),
        "remarks": list(found.remarks),
    }


def _phase(phase: PhaseProof) -> dict[str, Any]:
    return {
        "number": phase.number,
        "operations": phase.operations,
        "difference": phase.difference,
        "unknown": phase.unknown,
        "regions": [
            {"predicted": one.predicted, "counted": one.counted, "why": one.why or None}
            for one in phase.regions
        ],
        "servers": [
            {"name": name, "predicted": predicted, "counted": counted}
            for name, (predicted, counted) in sorted(phase.servers.items())
        ],
    }


def _read(read: ReadProof) -> dict[str, Any]:
    return {
        "name": read.name,
        "asked": read.asked,
        "fan_out": read.fan_out,
        "predicted": read.predicted,
        "counted": read.counted,
        "most": read.most,
        "wrong": read.wrong,
        "regions_predicted": read.regions_predicted,
        "regions_counted": read.regions_counted,
        "unknown": read.unknown,
        "why": read.why or None,
    }


def _size(found: Proof) -> dict[str, Any] | None:
    if found.size is None:
        return None
    return {
        "predicted": found.size.predicted,
        "counted": found.size.counted,
        "resolution": found.size.resolution,
        "plain": found.size.is_plain,
    }


def print_proof(found: Proof, console: Console) -> None:
    """Print a proof: whether it is exact, then regions, reads and bytes."""
    for line in proof_lines(found):
        for part in wrapped(line, console.width, len(line) - len(line.lstrip()) + 2):
            console.print(part, soft_wrap=True, markup=False)


def proof_lines(found: Proof) -> Iterator[str]:
    """A proof as text."""
    yield f"{found.design.table}  {found.design.key}"
    counts = sum(len(phase.regions) for phase in found.phases)
    word = WORDS[found.verdict]
    yield (
        f"{word}: {counted(found.operations, 'write')} in {counted(len(found.phases), 'phase')}; "
        f"predicted and counted differ by {found.difference:,} over {counts:,} counts of regions"
        + (f", {found.unknown:,} of them not known" if found.unknown else "")
    )
    yield from (f"  {remark}" for remark in found.remarks)
    yield from (f"  not compared: {one}" for one in found.not_asked)
    yield ""
    yield from _region_lines(found)
    yield from _server_lines(found)
    yield from (_read_line(read) for read in found.reads if read.asked)
    if found.size is not None:
        yield _size_line(found)
    left = "which is kept; its regions are never split" if found.kept else "which was dropped"
    yield f"written to {found.table}, {left}"


def _region_lines(found: Proof) -> Iterator[str]:
    """The regions over all phases; of many only those that differ."""
    regions = list(found.by_region())
    listed = regions
    if len(regions) > MOST_REGIONS:
        listed = [one for one in regions if one.difference != 0]
        yield f"{len(regions):,} regions, {len(listed):,} of them differ"
    if not listed:
        return
    yield f"{'predicted':>12} {'counted':>12} {'apart':>8}  region begins with"
    for one in listed[:MOST_REGIONS]:
        yield f"{one.predicted:>12,} {_counted(one)}  {_begins(found, one)}"


def _counted(region: RegionProof) -> str:
    if region.counted is None:
        return f"{'?':>12} {'?':>8}"
    return f"{region.counted:>12,} {region.difference:>8,}"


def _begins(found: Proof, region: RegionProof) -> str:
    start = found.design.key.show(region.start) if region.start else "(the first row)"
    return f"{start}  {region.why}".rstrip()


def _server_lines(found: Proof) -> Iterator[str]:
    """The sums of the servers, where there are some."""
    names = sorted({name for phase in found.phases for name in phase.servers} - {""})
    for name in names:
        sums = [phase.servers.get(name, (0, 0)) for phase in found.phases]
        predicted, counted = (sum(one[place] for one in sums) for place in (0, 1))
        apart = sum(abs(one[0] - one[1]) for one in sums)
        yield f"{predicted:>12,} {counted:>12,} {apart:>8,}  on {server_name(name)}"


def _read_line(read: ReadProof) -> str:
    wrong = f"; {counted(read.wrong, 'region')} counted another number" if read.wrong else ""
    return (
        f"read {read.name}: asked {read.asked} times, {read.fan_out:,} ranges; {read.predicted:,} "
        f"rows predicted, {read.counted:,} reads counted (at most {read.most:,}); regions touched "
        f"{read.regions_predicted:,} predicted, {read.regions_counted:,} counted{wrong}"
    )


def _size_line(found: Proof) -> str:
    size = found.size
    assert size is not None
    plain = "" if size.is_plain else "; encoded or compressed, so fewer are to be expected"
    more = f" and up to {size.resolution:,} more" if size.resolution else ""
    apart = "" if size.deviation is None else f", {size.deviation:+.1%}"
    return (
        f"bytes: {size.predicted:,} of cells predicted, {size.counted:,}{more} on disk"
        f"{apart}{plain}"
    )
