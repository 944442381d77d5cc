"""What is left of a declaration without its mistakes, so that the rest is checked as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, time
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rowkey.design.paths import path_text, prefixes
from rowkey.design.sentences import Path, field_info, is_of_a_name, note_all, shown
from rowkey.errors import DeclarationError, Mistakes, Refused
from rowkey.schema import (
    Declaration,
    FieldRef,
    ReadWords,
    Term,
    fields_of,
    name_mistake,
    parse_call,
    parse_order,
    parse_where,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic_core import ErrorDetails

NO_NAME = "\0"
"""A name no file can hold; it stands where one is needed and none is sound."""
_STAND_INS: dict[str, Any] = {
    "table": "", "key": "", "fields": {NO_NAME: {"type": "text"}}, "name": NO_NAME,
    "path": NO_NAME, "at": "", "for": "", "upto": "", "times": 1.0, "share": 1.0,
}  # fmt: skip
"""What stands for a required word that is wrong. Nothing is said of it: its path was reported."""
_NEEDED_BY_TYPES = frozenset({"of", "precision", "scale", "width"})
_ROUNDS = 4


@dataclass(slots=True)
class Mended:
    """A declaration without the words that were wrong.

    Args:
        declaration: what is left.
        named: every name under `fields`, sound or not.
        families: every name under `families`.
        reported: paths of which a mistake is known.
        unbound: fields that lack what their type needs, because it was wrong.
    """

    declaration: Declaration
    named: frozenset[str]
    families: frozenset[str]
    reported: set[str] = field(default_factory=set)
    unbound: set[str] = field(default_factory=set)

    def is_follow_up(self, path: str) -> bool:
        """Whether a mistake only follows from one that is known."""
        below = any(one in self.reported for one in prefixes(path))
        return below or path in {path_text(("fields", name)) for name in self.unbound}

    def unknown(self, bound: Iterable[str], terms: Iterable[Term]) -> frozenset[str]:
        """Names that are no mistakes where they are used, for they were declared or lost.

        Args:
            bound: the fields that could be bound.
            terms: the key.
        """
        if "fields" not in self.reported:
            return self.named - frozenset(bound)
        names = {one.name for term in terms for one in fields_of(term)}
        names |= {str(self.declaration.writes.time), entity_of(self.declaration.writes.arrival)}
        return frozenset(names)

    def reads(self, unknown: frozenset[str]) -> list[ReadWords]:
        """The reads without what they say of unknown fields."""
        lost = None if "fields" in self.reported else unknown
        return [_without(read, lost) for read in self.declaration.reads]


def mended(words: Mapping[str, Any], mistakes: Mistakes) -> Mended:
    """The declaration of a tree, or what is left of it.

    Args:
        words: the tree as it was read.
        mistakes: where what is wrong is noted.

    Raises:
        DeclarationError: nothing is left.
    """
    found: list[Path] = []
    tree: Any = words
    for _ in range(_ROUNDS):
        try:
            declaration = Declaration.model_validate(tree)
            break
        except ValidationError as problem:
            noted = note_all(problem, mistakes if not found else Mistakes())
            found = found or noted
            tree = _copied(tree)
            for detail in problem.errors(include_url=False, include_input=False):
                _mend(tree, detail["loc"], detail)
    else:
        raise DeclarationError(mistakes.found)
    left = Mended(declaration, _names(words, "fields"), _names(words, "families"))
    left.reported = {path_text(path) for path in found}
    for path in found:
        if len(path) > 2 and path[0] == "fields" and path[2] in _NEEDED_BY_TYPES:
            left.unbound.add(str(path[1]))
    _check_spelling(left, mistakes)
    return left


def entity_of(arrival: str) -> str:
    """The field of `per(field)`; empty if it is none."""
    try:
        term = parse_call(arrival)
    except Refused:
        return ""
    return "" if isinstance(term, FieldRef) else next((f.name for f in fields_of(term)), "")


def _mend(tree: Any, path: Path, detail: ErrorDetails) -> None:
    """Take one wrong word out of a tree, or put another in its place."""
    if is_of_a_name(detail) or (path[0] == "fields" and path[2:] in ((), ("type",)) and path[1:]):
        tree[path[0]].pop(path[1], None)
        return
    above = tree
    for depth, step in enumerate(path[:-1]):
        if isinstance(path[depth + 1], int) and path[0] != "reads" and path[1:2] != ("bursts",):
            above.pop(step, None)  # a list of plain values is left out whole
            return
        if isinstance(above, dict) and step not in above:
            return
        above = above[step]
    info = field_info(path)
    if isinstance(path[-1], int):
        above[path[-1]] = {}
    elif info is not None and info.is_required() and detail["type"] != "extra_forbidden":
        above[path[-1]] = _STAND_INS[str(path[-1])]
    else:
        above.pop(path[-1], None)


def _copied(tree: Any) -> Any:
    """The tables and lists of a tree anew, so that they can be changed."""
    if isinstance(tree, dict):
        return {word: _copied(value) for word, value in tree.items()}
    return [_copied(value) for value in tree] if isinstance(tree, list | tuple) else tree


def _names(words: Mapping[str, Any], table: str) -> frozenset[str]:
    given = words.get(table)
    return frozenset(map(str, given)) if isinstance(given, dict) else frozenset()


def _check_spelling(left: Mended, mistakes: Mistakes) -> None:
    """Note names of fields that no key could spell, and values that no file could."""
    for name, words in left.declaration.fields.items():
        mistake = name_mistake(name)
        if mistake and name != NO_NAME:
            mistakes.add(path_text(("fields", name)), mistake.what, mistake.allowed, mistake.remedy)
        for index, value in enumerate(words.heavy):
            if not isinstance(value, str | int | float | date | time):
                what = f"{shown(value)} does not fit"
                path = path_text(("fields", name, "heavy", index))
                mistakes.add(path, what, "a value that a file can hold")


def _without(read: ReadWords, lost: frozenset[str] | None) -> ReadWords:
    """A read without its tests and orderings of some fields; of all if None."""
    kept = {}
    for word, separator, parse in (("where", " and ", parse_where), ("order", ", ", parse_order)):
        text = getattr(read, word)
        try:
            tests: Any = parse(text)
        except Refused:
            continue
        sound = [str(test) for test in tests if lost is not None and test.field not in lost]
        if len(sound) < len(tests):
            kept[word] = separator.join(sound)
    return read.model_copy(update=kept) if kept else read
