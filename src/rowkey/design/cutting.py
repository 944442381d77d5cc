"""How the declared splits become region boundaries."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.errors import DeclarationError, Mistakes, Refused, did_you_mean
from rowkey.regions import ARGUMENTS, SPLITS, Boundaries, CutRequest, from_binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rowkey.keys import Key

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
        try:
            return SPLITS[self.algorithm]().cut(request)
        except Refused as refusal:
            mistakes = Mistakes()
            mistakes.refused("splits", refusal)
            raise DeclarationError(mistakes.found) from None


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
        return Cut("explicit", CutRequest(listed=()))
    if isinstance(words, str):
        words = {"algorithm": words}
    if isinstance(words, tuple | list):
        return Cut("explicit", CutRequest(listed=_keys(words, mistakes)))
    if not isinstance(words, dict):
        mistakes.add("splits", f"{words!r} does not fit", "a name, a table or a list of keys")
        return Cut("explicit", CutRequest(listed=()))
    return _from_table(words, mistakes)


def _from_table(words: dict[str, Any], mistakes: Mistakes) -> Cut:
    name = str(words.get("algorithm", "")).replace("-", "_")
    known = ", ".join(SPLITS)
    if name not in SPLITS:
        what = f"{name!r} is no split algorithm" if name else "algorithm is missing"
        mistakes.add("splits.algorithm", what, known, did_you_mean(name, SPLITS))
        return Cut("explicit", CutRequest(listed=()))
    kind = SPLITS[name]
    given = {word: value for word, value in words.items() if word != "algorithm"}
    takes = (kind.needs | kind.takes) & set(ARGUMENTS)
    for word in given:
        if word not in takes:
            allowed = ", ".join(sorted(takes)) or "no arguments"
            mistakes.add(f"splits.{word}", f"{name} does not take it", allowed)
    request = _request({w: v for w, v in given.items() if w in takes}, mistakes)
    return Cut(name, request)


def _request(given: dict[str, Any], mistakes: Mistakes) -> CutRequest:
    regions = given.get("regions")
    if regions is not None and (not isinstance(regions, int) or isinstance(regions, bool)):
        mistakes.add("splits.regions", f"{regions!r} does not fit", "a whole number")
        given["regions"] = None
    for word in ("first", "last"):
        if word in given and not isinstance(given[word], str):
            mistakes.add(f"splits.{word}", f"{given[word]!r} does not fit", "text")
            given[word] = None
    if "listed" in given:
        given["listed"] = _keys(given["listed"], mistakes)
    try:
        return CutRequest(**given)
    except Refused as refusal:
        mistakes.refused("splits", refusal)
        return CutRequest()


def _keys(words: Any, mistakes: Mistakes) -> tuple[bytes, ...]:
    """Split keys as bytes, and all that is wrong with them together."""
    keys: list[bytes] = []
    if not isinstance(words, tuple | list):
        mistakes.add("splits", f"{words!r} does not fit", "a list of keys")
        return ()
    for index, word in enumerate(words):
        try:
            keys.append(from_binary(word) if isinstance(word, str) else bytes(word))
        except Refused as refusal:
            mistakes.refused(f"splits[{index}]", refusal)
        except TypeError:
            mistakes.add(f"splits[{index}]", f"{word!r} does not fit", r"text, \xNN for bytes")
    try:
        Boundaries(keys)
    except DeclarationError as problem:
        for mistake in problem.mistakes:
            path = f"splits{mistake.path.removeprefix('splits')}"
            mistakes.add(path, mistake.what, mistake.allowed, mistake.remedy)
        return ()
    return tuple(keys)
