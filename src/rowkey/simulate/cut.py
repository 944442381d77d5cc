"""Region boundaries of a design, from its file or a sample, and the events it is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.design import cut_regions, prefixes_of
from rowkey.errors import DeclarationError, Mistake, Refused, SampleError, did_you_mean
from rowkey.regions import SPLITS, Boundaries, CutRequest, Sizing
from rowkey.simulate.replay import sampled_keys
from rowkey.simulate.source import Source, generated, recorded
from rowkey.workload import format_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design import Design
    from rowkey.keys import Field

SPLIT_ROOM = 1 << 20
"""Keys from which split points are taken: quantiles are exact for samples up to twice as long."""


@dataclass(frozen=True, slots=True)
class CutFound:
    """Region boundaries and what should be known of them.

    Args:
        algorithm: the split algorithm.
        boundaries: where regions begin.
        remarks: what should be known of them, as sentences.
        sizing: how many regions there should be and why; None for a bare algorithm.
    """

    algorithm: str
    boundaries: Boundaries
    remarks: tuple[str, ...]
    sizing: Sizing | None


def source_of(
    design: Design,
    sample: str | Path | None,
    format_words: Mapping[str, Any] | None,
    *,
    second_half: bool,
    seed: int,
    fields: Mapping[str, Field] | None = None,
) -> Source:
    """The events a design is judged by.

    Args:
        design: the design.
        sample: a file of recorded events; the design's own if None, or events made from the file.
        format_words: how it is read, whatever was declared; if None, as `[sample] format` says
            unless the file's name tells another kind.
        second_half: whether only the second half is replayed.
        seed: where randomness begins.
        fields: what is read of each event of a sample, as far as it has them; if None, those of the
            key, of reads, and the time.

    Raises:
        SampleError: the sample cannot be read, or is needed and missing.
    """
    path = Path(sample) if sample is not None else design.sample_path
    if path is None:
        if design.cut.needs_sample:
            raise SampleError(
                "splits",
                "the boundaries follow from a sample and there is none",
                "a file of recorded events",
                "Give --sample FILE, or declare [sample] path.",
            )
        return generated(design, seed)
    if format_words is None:
        format_words = format_for(path, design.sample_format, design.sample_path)
    half = second_half or design.cut.needs_sample
    return recorded(design, path, format_words, second_half=half, seed=seed, fields=fields)


def cut_by_source(design: Design, source: Source, seed: int) -> CutFound:
    """The boundaries of a design, quantiles of the earlier events where it asks for them.

    Raises:
        DeclarationError: they cannot be cut.
    """
    keys: Sequence[bytes] | None = None
    if design.cut.needs_sample:
        keys = sampled_keys(design, source.earlier(), SPLIT_ROOM, seed)
    made = cut_regions(design, source.facts, keys, source.counts)
    request = CutRequest(regions=made.wanted, prefixes=prefixes_of(design.key), keys=keys)
    remarks = tuple(SPLITS[design.cut.algorithm]().remarks(request, made.boundaries))
    return CutFound(design.cut.algorithm, made.boundaries, remarks, made.sizing)


def cut_design(
    design: Design,
    sample: str | Path | None = None,
    *,
    format_words: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> CutFound:
    """The region boundaries of a design, as `create` would take them: of the whole sample.

    Args:
        design: the design.
        sample: a file of recorded events, where boundaries follow from one.
        format_words: how it is read, as in `run`.
        seed: where the sample's sample begins.

    Raises:
        SampleError: a sample is needed and missing, or cannot be read.
        DeclarationError: they cannot be cut.
    """
    source = source_of(design, sample, format_words, second_half=False, seed=seed)
    source.first = source.total
    return cut_by_source(design, source, seed)


def cut_by_algorithm(name: str, regions: int | None) -> CutFound:
    """The region boundaries that an algorithm gives by itself.

    Raises:
        DeclarationError: there is no such algorithm, or it needs more than a number of regions.
    """
    known = name.replace("-", "_")
    if known not in SPLITS:
        mistake = Mistake(
            "--algorithm",
            f"{name!r} is no split algorithm",
            ", ".join(SPLITS),
            did_you_mean(known, SPLITS),
        )
        raise DeclarationError([mistake])
    kind, request = SPLITS[known](), CutRequest(regions=regions)
    try:
        boundaries = kind.cut(request)
    except Refused as refusal:
        raise DeclarationError([refusal.mistake]) from None
    return CutFound(known, boundaries, tuple(kind.remarks(request, boundaries)), None)
