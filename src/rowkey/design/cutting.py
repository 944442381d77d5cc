"""How the declared splits become region boundaries."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rowkey.design.paths import path_text
from rowkey.design.sentences import shown
from rowkey.errors import DeclarationError, Mistakes, Refused, did_you_mean
from rowkey.regions import (
    ARGUMENTS,
    MOST_REGIONS,
    SPLITS,
    Boundaries,
    CutRequest,
    Sizing,
    from_binary,
    size_regions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rowkey.design.design import Design
    from rowkey.errors import Mistake
    from rowkey.keys import Key
    from rowkey.schema import Facts, RowCounts

MOST_PREFIXES = 65_536


@dataclass(frozen=True, slots=True)
class Cut:
    """The declared splits, bound.

    Args:
        algorithm: the name of the split algorithm.
        request: what was declared of it; what only a sample knows is added when cutting.
    """

    algorithm: str
    request: CutRequest

    @property
    def needs_sample(self) -> bool:
        """Whether boundaries follow from a sample."""
        return "keys" in SPLITS[self.algorithm].needs

    @property
    def needs_count(self) -> bool:
        """Whether the number of regions must be known and was not declared."""
        return "regions" in SPLITS[self.algorithm].needs and self.request.regions is None

    def boundaries(
        self, key: Key, keys: Sequence[bytes] | None = None, regions: int | None = None
    ) -> Boundaries:
        """The region boundaries.

        Args:
            key: the bound row key.
            keys: keys of a sample, ascending.
            regions: how many regions, where none were declared.

        Raises:
            DeclarationError: with everything the algorithm lacks.
        """
        request = CutRequest(
            regions=self.request.regions if self.request.regions is not None else regions,
            first=self.request.first,
            last=self.request.last,
            listed=self.request.listed,
            prefixes=prefixes_of(key),
            keys=keys,
        )
        found: tuple[Mistake, ...]
        try:
            return SPLITS[self.algorithm]().cut(request)
        except Refused as refusal:
            found = (refusal.mistake,)
        except DeclarationError as problem:
            found = problem.mistakes
        raise DeclarationError([replace(one, path=_path(one.path)) for one in found])

    def check(self, key: Key, mistakes: Mistakes) -> None:
        """Note why the boundaries of a key cannot be cut, where no sample and no count is needed.

        Cost: that of cutting them.
        """
        if self.needs_sample or self.needs_count:
            return
        try:
            self.boundaries(key)
        except DeclarationError as problem:
            mistakes.found += problem.mistakes


@dataclass(frozen=True, slots=True)
class Regions:
    """The regions of a design, as far as they follow from what is known.

    Args:
        boundaries: where they begin.
        wanted: how many the split algorithm was asked for; None where it decides that.
        sizing: how many there should be, and why.
    """

    boundaries: Boundaries
    wanted: int | None
    sizing: Sizing


def cut_regions(
    design: Design,
    facts: Mapping[str, Facts],
    keys: Sequence[bytes] | None = None,
    counts: RowCounts | None = None,
) -> Regions:
    """The regions of a design: the one place that counts and cuts them.

    Args:
        design: the design.
        facts: what is known of its fields.
        keys: keys of a sample, ascending; taken only where the boundaries follow from them.
        counts: how many rows the events of a sample are.

    Raises:
        DeclarationError: with everything the algorithm lacks.
    """
    cut, sizing = design.cut, size_regions(design.demand(facts, counts=counts))
    wanted = sizing.regions if cut.needs_count else cut.request.regions
    used = keys if cut.needs_sample else None
    return Regions(cut.boundaries(design.key, used, wanted), wanted, sizing)


def _path(word: str) -> str:
    """Where a mistake of an algorithm stands in the file: at its argument, if that was written."""
    if word.startswith("splits"):
        return word
    return f"splits.{word}" if word in ARGUMENTS else "splits"


def prefixes_of(key: Key) -> tuple[bytes, ...] | None:
    """Every value that the leading part of a key can take; None if they cannot be listed.

    Constants before it stand in front of each.
    """
    prefixes = [b""]
    for part in key.parts:
        points = part.images({}).points
        if points is None or len(prefixes) * len(points) > MOST_PREFIXES:
            return None
        prefixes = [a + b for a, b in itertools.product(prefixes, points)]
        if len(points) > 1:
            return tuple(sorted(prefixes))
    return None


def bind_splits(words: Any, mistakes: Mistakes) -> Cut:
    """The declared splits, with what is wrong noted below `splits`.

    Args:
        words: nothing, a name, a list of keys, or a table with `algorithm` and its arguments.
        mistakes: where what is wrong is noted.
    """
    if words is None:
        return _listing(())
    if isinstance(words, str):
        words = {"algorithm": words}
    if isinstance(words, tuple | list):
        return _listing(_keys(words, "splits", mistakes))
    if isinstance(words, dict):
        return _from_table(words, mistakes) or _listing(())
    mistakes.add("splits", f"{shown(words)} does not fit", "a name, a table or a list of keys")
    return _listing(())


def _listing(keys: Sequence[bytes]) -> Cut:
    """Boundaries that are listed, by the algorithm that needs nothing else."""
    name = next(name for name, kind in SPLITS.items() if kind.needs == {"listed"})
    return Cut(name, CutRequest(listed=keys))


def _from_table(words: dict[str, Any], mistakes: Mistakes) -> Cut | None:
    given, known = words.get("algorithm", ""), ", ".join(SPLITS)
    name = str(given).replace("-", "_")
    if name not in SPLITS:
        what = f"{shown(given)} is not a split algorithm" if given != "" else "it is missing"
        mistakes.add("splits.algorithm", what, known, did_you_mean(name, SPLITS))
        return None
    kind = SPLITS[name]
    takes = (kind.needs | kind.takes) & set(ARGUMENTS)
    for word in words:
        if word not in {"algorithm", *takes}:
            allowed = ", ".join(sorted(takes)) or "no arguments"
            remedy = did_you_mean(word, takes) or "Leave it out."
            mistakes.add(path_text(("splits", word)), f"{name} does not take it", allowed, remedy)
    return Cut(name, _request({w: v for w, v in words.items() if w in takes}, mistakes))


def _request(given: dict[str, Any], mistakes: Mistakes) -> CutRequest:
    """The arguments of an algorithm; those that are wrong are left out."""
    found: dict[str, Any] = {}
    for word, value in given.items():
        path = f"splits.{word}"
        if word == "listed":
            found[word] = _keys(value, path, mistakes)
        elif word != "regions" and not isinstance(value, str):
            mistakes.add(path, f"{shown(value)} does not fit", "text")
        elif word == "regions" and (not isinstance(value, int) or isinstance(value, bool)):
            mistakes.add(path, f"{shown(value)} does not fit", "a whole number")
        elif word == "regions" and not 1 <= value <= MOST_REGIONS:
            mistakes.add(path, f"{shown(value)} is out of range", f"1..{MOST_REGIONS:,}")
        else:
            found[word] = value
    return CutRequest(**found)


def _keys(words: Any, path: str, mistakes: Mistakes) -> tuple[bytes, ...]:
    """Split keys as bytes; all that is wrong with them is noted below the path."""
    if not isinstance(words, tuple | list):
        mistakes.add(path, f"{shown(words)} does not fit", "a list of keys")
        return ()
    if len(words) >= MOST_REGIONS:
        what = f"{len(words):,} keys are too many"
        mistakes.add(path, what, f"at most {MOST_REGIONS - 1:,}, for {MOST_REGIONS:,} regions")
        return ()
    keys: dict[int, bytes] = {}
    for index, word in enumerate(words):
        try:
            keys[index] = _key(word)
        except Refused as refusal:
            mistakes.refused(f"{path}[{index}]", refusal)
    return _in_order(keys, path, mistakes)


def _key(word: Any) -> bytes:
    if not isinstance(word, str):
        raise Refused("", f"{shown(word)} does not fit", r"text, \xNN for bytes")
    return from_binary(word)


def _in_order(keys: Mapping[int, bytes], path: str, mistakes: Mistakes) -> tuple[bytes, ...]:
    """The keys, if they can be boundaries."""
    places = list(keys)
    try:
        return Boundaries(keys.values()).splits
    except DeclarationError as problem:
        for one in problem.mistakes:
            place = places[int(one.path.removeprefix("splits[").removesuffix("]"))]
            mistakes.add(f"{path}[{place}]", one.what, one.allowed, one.remedy)
        return ()
