"""What a sample shows of a design beyond the facts of each field: its rows, and their keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import RowError, SampleError, counted
from rowkey.heat import Came, declared_facts
from rowkey.open_file_limit import explains_shortage
from rowkey.schema import SURE, Facts
from rowkey.workload import Distinct, Profile, format_for, key_pieces, open_sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from rowkey.design import Design
    from rowkey.schema import RowCounts
    from rowkey.workload import Events, Sample

KEYS_KEPT = 131_072
"""Row keys kept for boundaries that follow from the sample; as many as the profile keeps rows."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a sample showed.

    Args:
        name: the sample's file.
        events: how many events it has.
        left_out: how many of its rows could be no events.
        facts: what it shows of each field; of few events only what one of them can show, and else
            what the file declares.
        rows: a uniform sample of its events.
        keys: row keys of those, ascending.
        came: those that have a key, with it, in the order of the sample; as if every salt were 0.
        repeats: events whose key, and place in the row, had come before; None if nobody counted.
        counts: how many different keys they have; None if that tells nothing of rows: of keys with
            codes, and where many events share a row.
        unkeyed: events of those kept that the key refuses, and why the first is refused.
    """

    name: str
    events: int
    left_out: int
    facts: Mapping[str, Facts]
    rows: pa.RecordBatch = field(repr=False)
    keys: tuple[bytes, ...] = field(repr=False)
    came: Came = field(repr=False)
    repeats: int | None
    counts: RowCounts | None
    unkeyed: tuple[int, str] = (0, "")

    @property
    def is_thin(self) -> bool:
        """Whether its events are too few to tell shares, order and numbers of values."""
        return self.events < SURE

    @property
    def remark(self) -> str:
        """What its events are too few for, as a sentence without its end; empty if they are not."""
        if not self.is_thin:
            return ""
        has = counted(self.events, "event")
        return (
            f"the sample has {has}; shares, order and numbers of values are judged from {SURE} on"
        )


@explains_shortage
def look(
    design: Design,
    path: str | Path,
    format_words: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
) -> Seen:
    """What a sample shows of a design.

    All declared fields are read where the file has them; else those that judging needs.

    Args:
        design: the design.
        path: the sample's file.
        format_words: how it is read; as the design declares if None, unless the file's name tells
            another kind.
        seed: where the sample's sample begins.

    Raises:
        SampleError: the file cannot be read, or does not have the fields that judging needs.

    Cost: about 1 µs an event.
    """
    path = Path(path)
    words = format_words or format_for(path, design.sample_format, design.sample_path)
    try:
        return _Look(design, seed).over(open_sample(path, design.fields, None, words).fitted())
    except SampleError:
        wanted = design.wanted_fields()
        return _Look(design, seed).over(open_sample(path, wanted, None, words))


@dataclass(slots=True)
class _Look:
    """One pass over a sample."""

    design: Design
    seed: int
    rows: Distinct = field(default_factory=Distinct)
    counted: bool = True

    def over(self, sample: Sample) -> Seen:
        profile = Profile(sample.fields, self.seed)
        for events in sample.events():
            profile.add(events)
            self._count(events)
        rows = profile.reservoir.rows()
        came, unkeyed = self._keys(rows.slice(0, KEYS_KEPT))
        return Seen(
            str(sample.path),
            profile.count,
            sample.left_out.count,
            self._facts(profile),
            rows,
            tuple(sorted(came.keys)),
            came,
            self.rows.repeats if self.counted and self.design.layout.stamp is None else None,
            self.rows.rows if self.counted and profile.count >= SURE else None,
            unkeyed,
        )

    def _facts(self, profile: Profile) -> dict[str, Facts]:
        """What is known of each field, as far as the events are enough for it."""
        declared = declared_facts(self.design)
        return {n: one.sure(declared.get(n, Facts())) for n, one in profile.facts().items()}

    def _count(self, events: Events) -> None:
        """Count different rows, where each event is a row or a version of one."""
        from rowkey.keys import fingerprints

        if self.design.layout.shares_rows or self.design.key.is_coded:
            self.counted = False
        if not self.counted:
            return
        try:
            self.rows.add(fingerprints(key_pieces(self.design.key, events.rows)))
        except RowError:
            self.counted = False

    def _keys(self, rows: pa.RecordBatch) -> tuple[Came, tuple[int, str]]:
        """Rows with their keys; and how many have none, with the reason of the first."""
        try:
            return Came(rows, key_pieces(self.design.key, rows).tolist()), (0, "")
        except RowError:
            pass
        keys, kept, first = [], [], ""
        for index, row in enumerate(rows.to_pylist()):
            try:
                keys.append(self.design.key.encode(row, salt=0))
                kept.append(index)
            except RowError as problem:
                first = first or problem.mistake.what
        return Came(rows.take(kept), keys), (rows.num_rows - len(kept), first)
