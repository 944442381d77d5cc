"""What designs must agree on to stand on one scale: the sample, its order, the servers, the reads.

Two figures can be compared only where all but the designs is the same. What differs is refused, not
averaged away: a skew of 2 on four servers is another thing than a skew of 2 on eight.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistake, Mistakes
from rowkey.plan import bind_reads
from rowkey.schema import Cluster
from rowkey.workload import format_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rowkey.design import Design
    from rowkey.schema import ReadWords

Named = tuple[str, "Design"]
"""A design with what it is called."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What is the same for all designs of a comparison.

    Args:
        path: the sample; None where there is no single one.
        format_words: how it is read; None where its name tells.
        servers: region servers.
        capacity: operations a second one of them serves, if a design declares it.
        reads: all reads that any design declares, by name.
        second_half: whether only the second half of the sample is replayed, because the boundaries
            of a design are from the first.
    """

    path: Path | None
    format_words: Mapping[str, Any] | None
    servers: int
    capacity: float | None
    reads: Mapping[str, ReadWords]
    second_half: bool

    def fitted(self, design: Design) -> tuple[Design, list[Mistake]]:
        """A design with the reads and the capacity of the scale, and what keeps it from them."""
        used, found = copy(design), Mistakes()
        used.cluster = Cluster(design.cluster.servers, self.capacity, design.cluster.heap)
        used.reads = bind_reads(list(self.reads.values()), design.fields, found)
        names = list(self.reads)
        return used, list(dict.fromkeys(_of_read(one, names) for one in found.found))


def scale_of(
    designs: Sequence[Named],
    sample: str | Path | None,
    format_words: Mapping[str, Any] | None,
    mistakes: list[Mistake],
    *,
    second_half: bool = False,
) -> Scale:
    """What designs have in common; where they do not agree is noted.

    Args:
        designs: each with its name; one or more.
        sample: the sample; that which all declare if None.
        format_words: how it is read; as they declare if None.
        mistakes: where what is in the way is noted.
        second_half: whether the second half is wanted in any case.
    """
    path = Path(sample) if sample is not None else _declared_sample(designs, mistakes)
    _differing(designs, mistakes, "cluster.servers", lambda design: design.cluster.servers)
    _differing(designs, mistakes, "writes.sort", lambda design: design.writes.sort)
    _differing(designs, mistakes, "writes.time", _time_column)
    return Scale(
        path,
        format_words or _declared_format(designs, path, mistakes),
        designs[0][1].cluster.servers,
        _capacity(designs, mistakes),
        _reads(designs, mistakes),
        second_half or any(design.cut.needs_sample for _, design in designs),
    )


def _declared_sample(designs: Sequence[Named], mistakes: list[Mistake]) -> Path | None:
    """The sample that all designs declare."""
    remedy = "Give --sample FILE, which then holds for all."
    for name, design in designs:
        if design.sample_path is None:
            allowed = "a file of recorded events"
            mistakes.append(Mistake(f"{name}: sample", "there is none", allowed, remedy))
    _differing(
        [(name, design) for name, design in designs if design.sample_path is not None],
        mistakes,
        "sample.path",
        lambda design: str(design.sample_path),
        remedy,
    )
    return designs[0][1].sample_path


def _declared_format(
    designs: Sequence[Named], path: Path | None, mistakes: list[Mistake]
) -> Mapping[str, Any] | None:
    """How designs say that the sample is read; None where none says it."""
    if path is None:
        return None
    said = {
        name: words
        for name, design in designs
        if (words := format_for(path, design.sample_format, design.sample_path)) is not None
    }
    telling = [(name, design) for name, design in designs if name in said]
    _differing(telling, mistakes, "sample.format", lambda design: design.sample_format)
    return next(iter(said.values()), None)


def _capacity(designs: Sequence[Named], mistakes: list[Mistake]) -> float | None:
    """What one server serves, as those designs say that say it: the servers are the same."""
    telling = [(name, design) for name, design in designs if design.cluster.capacity is not None]
    _differing(telling, mistakes, "cluster.capacity", lambda design: design.cluster.capacity)
    return telling[0][1].cluster.capacity if telling else None


def _reads(designs: Sequence[Named], mistakes: list[Mistake]) -> dict[str, ReadWords]:
    """All reads that any design declares; one name must mean one read."""
    found: dict[str, tuple[str, ReadWords]] = {}
    for name, design in designs:
        for words in design.declaration.reads:
            first, known = found.setdefault(words.name, (name, words))
            for word, value in words.model_dump().items():
                other = getattr(known, word)
                if value != other:
                    what = f"{value!r} in {word}"
                    allowed = f"{other!r}, as in {first}"
                    remedy = "Call what is another read by another name."
                    path = f"{name}: read {words.name}"
                    mistakes.append(Mistake(path, what, allowed, remedy))
    return {name: words for name, (_, words) in found.items()}


def _of_read(mistake: Mistake, names: Sequence[str]) -> Mistake:
    """A mistake of a read, by the read's name: its number is that of no file."""
    number = int(mistake.path.partition("[")[2].partition("]")[0])
    word = mistake.path.rpartition(".")[2]
    remedy = mistake.remedy or "Every design is asked all reads; declare what this one tests."
    return Mistake(f"read {names[number]}, {word}", mistake.what, mistake.allowed, remedy)


def _time_column(design: Design) -> str | None:
    """The column of the sample by which windows are cut."""
    time = design.writes.time
    return None if time is None else time.words.source or time.name


def _differing(
    designs: Sequence[Named],
    mistakes: list[Mistake],
    path: str,
    value: Callable[[Design], object],
    remedy: str = "",
) -> None:
    """Note each design in which something is not as in the first."""
    mistakes += _unlike(designs, path, value, remedy or "Compare designs for one and the same use.")


def _unlike(
    designs: Sequence[Named], path: str, value: Callable[[Design], object], remedy: str
) -> Iterator[Mistake]:
    for name, design in designs[1:]:
        first, expected = designs[0][0], value(designs[0][1])
        found = value(design)
        if found != expected:
            yield Mistake(
                f"{name}: {path}", _said(found), f"{_said(expected)}, as in {first}", remedy
            )


def _said(value: object) -> str:
    return "none" if value is None else str(value)
