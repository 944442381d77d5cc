"""Parsing a declaration with mistakes: the valid rest is still checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rowkey.design.paths import KeyPath, format_path, iter_path_prefixes
from rowkey.design.validation_messages import (
    find_field_info,
    format_value,
    is_name_error,
    note_validation_errors,
)
from rowkey.errors import InvalidArgument, InvalidDesign, Mistakes
from rowkey.schema import (
    DesignDeclaration,
    FieldRef,
    ReadDeclaration,
    Term,
    find_field_refs,
    find_name_mistake,
    parse_call,
    parse_order,
    parse_where,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

PLACEHOLDER_NAME = "\0"
"""A name no file can hold; it stands where one is needed and none is sound."""
_PLACEHOLDERS: dict[str, Any] = {
    "table": "", "key": "", "fields": {PLACEHOLDER_NAME: {"type": "text"}},
    "name": PLACEHOLDER_NAME, "path": PLACEHOLDER_NAME, "at": "", "for": "", "upto": "",
    "times": 1.0, "share": 1.0,
}  # fmt: skip
"""What stands for a required word that is wrong. Nothing is said of it: its path was reported."""
_TYPE_OPTIONS = frozenset({"of", "precision", "scale", "width"})
_MAX_PARSE_ROUNDS = 4


@dataclass(slots=True)
class PartialDeclaration:
    """A declaration without its invalid options.

    Args:
        declaration: what is left.
        field_names: every name under `fields`, sound or not.
        family_names: every name under `families`.
        reported_paths: paths of which a mistake is known.
        unbound_fields: fields that lack what their type needs, because it was wrong.
    """

    declaration: DesignDeclaration
    field_names: frozenset[str]
    family_names: frozenset[str]
    reported_paths: set[str] = field(default_factory=set)
    unbound_fields: set[str] = field(default_factory=set)

    def is_follow_up(self, path: str) -> bool:
        """Return whether a mistake only follows from one that was already reported."""
        below = any(one in self.reported_paths for one in iter_path_prefixes(path))
        return below or path in {format_path(("fields", name)) for name in self.unbound_fields}

    def find_unknown_names(
        self, bound_names: Iterable[str], terms: Iterable[Term]
    ) -> frozenset[str]:
        """Return names that must not be reported where they are used: their fields are invalid.

        Args:
            bound_names: the fields that could be bound.
            terms: the key.
        """
        if "fields" not in self.reported_paths:
            return self.field_names - frozenset(bound_names)
        names = {one.name for term in terms for one in find_field_refs(term)}
        names |= {str(self.declaration.writes.time), parse_entity(self.declaration.writes.arrival)}
        return frozenset(names)

    def filter_reads(self, unknown_names: frozenset[str]) -> list[ReadDeclaration]:
        """Return the reads without conditions and orders of invalid fields."""
        lost = None if "fields" in self.reported_paths else unknown_names
        return [_drop_conditions(read, lost) for read in self.declaration.reads]


def parse_declaration(words: Mapping[str, Any], mistakes: Mistakes) -> PartialDeclaration:
    """Return the declaration of a tree, without its invalid options.

    Args:
        words: the tree as it was read.
        mistakes: mistakes are added here.

    Raises:
        InvalidDesign: no valid declaration is left.
    """
    invalid_paths: list[KeyPath] = []
    tree: Any = words
    for _ in range(_MAX_PARSE_ROUNDS):
        try:
            declaration = DesignDeclaration.model_validate(tree)
            break
        except ValidationError as problem:
            noted_paths = note_validation_errors(
                problem, mistakes if not invalid_paths else Mistakes()
            )
            invalid_paths = invalid_paths or noted_paths
            tree = _copy_tree(tree)
            for detail in problem.errors(include_url=False, include_input=False):
                _drop_mistake(tree, detail["loc"], detail)
    else:
        raise InvalidDesign(mistakes.mistakes)
    partial = PartialDeclaration(
        declaration, _list_names(words, "fields"), _list_names(words, "families")
    )
    partial.reported_paths = {format_path(path) for path in invalid_paths}
    for path in invalid_paths:
        if len(path) > 2 and path[0] == "fields" and path[2] in _TYPE_OPTIONS:
            partial.unbound_fields.add(str(path[1]))
    _check_spelling(partial, mistakes)
    return partial


def parse_entity(arrival: str) -> str:
    """Return the field of `per(field)`, or an empty string."""
    try:
        term = parse_call(arrival)
    except InvalidArgument:
        return ""
    return "" if isinstance(term, FieldRef) else next((f.name for f in find_field_refs(term)), "")


def _drop_mistake(tree: Any, path: KeyPath, detail: ErrorDetails) -> None:
    """Remove an invalid option from a tree, or replace a required one by a placeholder."""
    if is_name_error(detail) or (path[0] == "fields" and path[2:] in ((), ("type",)) and path[1:]):
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
    info = find_field_info(path)
    if isinstance(path[-1], int):
        above[path[-1]] = {}
    elif info is not None and info.is_required() and detail["type"] != "extra_forbidden":
        above[path[-1]] = _PLACEHOLDERS[str(path[-1])]
    else:
        above.pop(path[-1], None)


def _copy_tree(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {word: _copy_tree(value) for word, value in tree.items()}
    return [_copy_tree(value) for value in tree] if isinstance(tree, list | tuple) else tree


def _list_names(tree: Mapping[str, Any], table: str) -> frozenset[str]:
    given = tree.get(table)
    return frozenset(map(str, given)) if isinstance(given, dict) else frozenset()


def _check_spelling(partial: PartialDeclaration, mistakes: Mistakes) -> None:
    """Note field names that a key cannot contain, and values that a file cannot hold."""
    for name, words in partial.declaration.fields.items():
        mistake = find_name_mistake(name)
        if mistake and name != PLACEHOLDER_NAME:
            mistakes.add(
                format_path(("fields", name)), mistake.problem, mistake.expected, mistake.remedy
            )
        for index, value in enumerate(words.heavy):
            if not isinstance(value, str | int | float | date | time):
                what = f"{format_value(value)} cannot be written in a design file"
                path = format_path(("fields", name, "heavy", index))
                mistakes.add(path, what, "text, a number, true, false, a date or a time")


def _drop_conditions(
    read: ReadDeclaration, unknown_names: frozenset[str] | None
) -> ReadDeclaration:
    """Return a read without conditions and orders of some fields; of all fields if None."""
    valid_clauses: dict[str, str | None] = {}
    for word, separator, parse in (("where", " and ", parse_where), ("order", ", ", parse_order)):
        text = getattr(read, word)
        try:
            tests: Any = parse(text)
        except InvalidArgument:
            continue
        sound = [
            str(test)
            for test in tests
            if unknown_names is not None and test.field not in unknown_names
        ]
        if len(sound) < len(tests):
            valid_clauses[word] = separator.join(sound)
    if "where" in valid_clauses:  # they may be about conditions that were dropped
        valid_clauses |= {"keys": None, "age": None}
    return read.model_copy(update=valid_clauses) if valid_clauses else read
