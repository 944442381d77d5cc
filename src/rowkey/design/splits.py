"""Region boundaries from the declared splits."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rowkey.design.paths import format_path
from rowkey.design.validation_messages import format_value
from rowkey.errors import InvalidArgument, InvalidDesign, Mistake, Mistakes
from rowkey.keys import Determinant, Key
from rowkey.messages import suggest_name
from rowkey.regions import (
    DESIGN_ARGUMENTS,
    MAX_REGIONS,
    SPLIT_ALGORITHMS,
    Boundaries,
    SplitRequest,
    from_string_binary,
)

MAX_PREFIXES = 65_536


@dataclass(frozen=True, slots=True)
class BoundSplits:
    """The declared splits: an algorithm with its checked arguments.

    Args:
        algorithm: the name of the split algorithm.
        request: what was declared of it; what only a sample knows is added when cutting.
    """

    algorithm: str
    request: SplitRequest

    @property
    def needs_sample(self) -> bool:
        """Return whether the boundaries depend on a sample."""
        return "keys" in SPLIT_ALGORITHMS[self.algorithm].required_fields

    @property
    def needs_count(self) -> bool:
        """Return whether the algorithm needs a region count that was not declared."""
        return (
            "regions" in SPLIT_ALGORITHMS[self.algorithm].required_fields
            and self.request.regions is None
        )

    def compute_boundaries(
        self, key: Key, keys: Sequence[bytes] | None = None, regions: int | None = None
    ) -> Boundaries:
        """Return the region boundaries.

        Args:
            key: the bound row key.
            keys: keys of a sample, ascending.
            regions: how many regions, where none were declared.

        Raises:
            InvalidDesign: with every argument that the algorithm lacks or rejects.
        """
        request = SplitRequest(
            regions=self.request.regions if self.request.regions is not None else regions,
            first=self.request.first,
            last=self.request.last,
            listed=self.request.listed,
            prefixes=list_key_prefixes(key),
            keys=keys,
        )
        mistakes: tuple[Mistake, ...]
        try:
            return SPLIT_ALGORITHMS[self.algorithm]().build_boundaries(request)
        except InvalidArgument as refusal:
            mistakes = (refusal.mistake,)
        except InvalidDesign as problem:
            mistakes = problem.mistakes
        raise InvalidDesign([replace(one, path=_locate_mistake(one.path)) for one in mistakes])

    def check_boundaries(self, key: Key, mistakes: Mistakes) -> None:
        """Note why boundaries cannot be computed, if no sample or count is missing.

        Cost: that of cutting them.
        """
        if self.needs_sample or self.needs_count:
            return
        try:
            self.compute_boundaries(key)
        except InvalidDesign as problem:
            mistakes.mistakes += problem.mistakes


def _locate_mistake(path: str) -> str:
    """Return the path in the file of a mistake of a split algorithm."""
    if path.startswith("splits"):
        return path
    return f"splits.{path}" if path in DESIGN_ARGUMENTS else "splits"


def list_key_prefixes(key: Key) -> tuple[bytes, ...] | None:
    """Return every value of the leading part of a key, ascending; None if they cannot be listed.

    Constants before that part stand in front of each value. A bucket or salt of one value counts as
    the leading part only if the values of the next part cannot be listed.
    """
    prefixes, has_leading_part = [b""], False
    for part in key.parts:
        points = part.images({}).points
        if points is None or len(prefixes) * len(points) > MAX_PREFIXES:
            break
        prefixes = [prefix + point for prefix, point in itertools.product(prefixes, points)]
        has_leading_part |= bool(part.fields) or part.determined_by is Determinant.CHANCE
        if len(points) > 1:
            break
    return tuple(sorted(prefixes)) if has_leading_part else None


def bind_splits(declared: Any, mistakes: Mistakes) -> BoundSplits:
    """Return the declared splits and note their mistakes.

    Args:
        declared: nothing, a name, a list of keys, or a table with `algorithm` and its arguments.
        mistakes: where what is wrong is noted.
    """
    if declared is None:
        return _build_listed_splits(())
    if isinstance(declared, str):
        declared = {"algorithm": declared}
    if isinstance(declared, tuple | list):
        return _build_listed_splits(_parse_split_keys(declared, "splits", mistakes))
    if isinstance(declared, dict):
        return _bind_split_table(declared, mistakes) or _build_listed_splits(())
    mistakes.add(
        "splits",
        f"{format_value(declared)} does not say where regions begin",
        f"the name of an algorithm ({', '.join(SPLIT_ALGORITHMS)}), a table such as "
        '{ algorithm = "uniform", regions = 16 }, or a list of split keys such as ["m", "t"]',
    )
    return _build_listed_splits(())


def _build_listed_splits(keys: Sequence[bytes]) -> BoundSplits:
    name = next(
        name for name, kind in SPLIT_ALGORITHMS.items() if kind.required_fields == {"listed"}
    )
    return BoundSplits(name, SplitRequest(listed=keys))


def _bind_split_table(options: dict[str, Any], mistakes: Mistakes) -> BoundSplits | None:
    """Return the splits of a table with an algorithm and its arguments."""
    algorithm = options.get("algorithm", "")
    known_algorithms = f"one of {', '.join(SPLIT_ALGORITHMS)}"
    name = str(algorithm).replace("-", "_")
    if name not in SPLIT_ALGORITHMS:
        what = (
            f"{format_value(algorithm)} is not a split algorithm"
            if algorithm != ""
            else "the design lacks this option"
        )
        mistakes.add(
            "splits.algorithm", what, known_algorithms, suggest_name(name, SPLIT_ALGORITHMS)
        )
        for word, value in options.items():
            if word not in {"algorithm", *DESIGN_ARGUMENTS}:
                _add_unknown_option(word, value, mistakes)
        return None
    kind = SPLIT_ALGORITHMS[name]
    takes = (kind.required_fields | kind.optional_fields) & set(DESIGN_ARGUMENTS)
    for word in options:
        if word not in {"algorithm", *takes}:
            allowed = f"one of {', '.join(sorted(takes))}" if takes else "no options"
            remedy = suggest_name(word, takes) or f"Remove {word}."
            what = f"the split algorithm {name} has no such option"
            mistakes.add(format_path(("splits", word)), what, allowed, remedy)
    return BoundSplits(
        name, _build_request({w: v for w, v in options.items() if w in takes}, mistakes)
    )


def _add_unknown_option(word: str, value: Any, mistakes: Mistakes) -> None:
    """Note an option of splits that no algorithm has, such as `kind` in place of `algorithm`."""
    name = str(value).replace("-", "_")
    what, remedy = f"the option {word!r} is unknown", f'Write algorithm = "{name}".'
    if name not in SPLIT_ALGORITHMS:
        what += f", and {format_value(value)} is not a split algorithm"
        remedy = suggest_name(name, SPLIT_ALGORITHMS)
    allowed = f"one of algorithm, {', '.join(DESIGN_ARGUMENTS)}"
    mistakes.add(format_path(("splits", word)), what, allowed, remedy)


def _build_request(options: dict[str, Any], mistakes: Mistakes) -> SplitRequest:
    """Return the valid arguments of an algorithm as a request."""
    arguments: dict[str, Any] = {}
    for word, value in options.items():
        path = f"splits.{word}"
        if word == "listed":
            arguments[word] = _parse_split_keys(value, path, mistakes)
        elif word != "regions" and not isinstance(value, str):
            mistakes.add(path, f"{format_value(value)} is not text", "text")
        elif word == "regions" and (not isinstance(value, int) or isinstance(value, bool)):
            mistakes.add(
                path, f"{format_value(value)} is not a number of regions", "a whole number"
            )
        elif word == "regions" and not 1 <= value <= MAX_REGIONS:
            mistakes.add(path, f"{format_value(value)} is out of range", f"1..{MAX_REGIONS:,}")
        else:
            arguments[word] = value
    return SplitRequest(**arguments)


def _parse_split_keys(texts: Any, path: str, mistakes: Mistakes) -> tuple[bytes, ...]:
    """Return split keys as bytes, and note the invalid ones."""
    if not isinstance(texts, tuple | list):
        mistakes.add(path, f"{format_value(texts)} is not a list", "a list of split keys")
        return ()
    if len(texts) >= MAX_REGIONS:
        what = f"the list has {len(texts):,} split keys"
        mistakes.add(path, what, f"at most {MAX_REGIONS - 1:,}, for {MAX_REGIONS:,} regions")
        return ()
    keys: dict[int, bytes] = {}
    for index, word in enumerate(texts):
        try:
            keys[index] = _parse_split_key(word)
        except InvalidArgument as refusal:
            mistakes.add_invalid_argument(f"{path}[{index}]", refusal)
    return _check_split_order(keys, path, mistakes)


def _parse_split_key(text: Any) -> bytes:
    """Return one split key as bytes.

    Raises:
        InvalidArgument: it is not text, or has a malformed escape.
    """
    if not isinstance(text, str):
        raise InvalidArgument(
            "", f"{format_value(text)} is not a split key", r"text, in which \xNN stands for a byte"
        )
    return from_string_binary(text)


def _check_split_order(
    keys: Mapping[int, bytes], path: str, mistakes: Mistakes
) -> tuple[bytes, ...]:
    """Return the keys if they ascend without repetition, else note the first that does not."""
    places = list(keys)
    try:
        return Boundaries(keys.values()).splits
    except InvalidDesign as problem:
        for one in problem.mistakes:
            place = places[int(one.path.removeprefix("splits[").removesuffix("]"))]
            mistakes.add(f"{path}[{place}]", one.problem, one.expected, one.remedy)
        return ()
