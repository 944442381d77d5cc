"""A declared key becomes a bound one: every name looked up, every argument checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, Refused, did_you_mean, printable
from rowkey.keys.contract import Context, Count, Part, Pick, Transform
from rowkey.keys.fields import KINDS as TYPES
from rowkey.keys.parts.constant import ConstantPart
from rowkey.keys.parts.field import Field, field_part
from rowkey.keys.parts.nullable import Nullable
from rowkey.keys.transforms import KINDS as TRANSFORMS
from rowkey.schema import Call, Constant, Duration, FieldRef, FieldWords, Scalar, Term, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.dictionary import Dictionary
    from rowkey.keys.types.field_type import FieldType

LONGEST = 32_767
"""Bytes of the longest row key. Source: HConstants.MAX_ROW_LENGTH is Short.MAX_VALUE."""

_TYPE_WORDS = frozenset({"of", "precision", "scale", "width", "max_bytes", "normalize"})


def bind_fields(declared: Mapping[str, FieldWords], mistakes: Mistakes) -> dict[str, Field]:
    """The declared fields with their types bound; those with mistakes are left out.

    Args:
        declared: the words of each field, by name.
        mistakes: where what is wrong is noted, below `fields`.
    """
    bound = {}
    for name, words in declared.items():
        path = f"fields.{name}"
        kind = TYPES.get(words.type)
        if kind is None:
            known = ", ".join(TYPES)
            remedy = did_you_mean(words.type, TYPES)
            mistakes.add(f"{path}.type", f"{words.type!r} is no type", known, remedy)
            continue
        if field := _bind_field(name, kind, words, path, mistakes):
            bound[name] = field
    return bound


def _bind_field(
    name: str, kind: type[FieldType], words: FieldWords, path: str, mistakes: Mistakes
) -> Field | None:
    given = {word for word in _TYPE_WORDS if getattr(words, word) is not None}
    for word in sorted(given - kind.options):
        takes = ", ".join(sorted(kind.options)) or "none"
        mistakes.add(f"{path}.{word}", f"{word} means nothing to {kind.name}", f"of these: {takes}")
    for word in sorted(kind.required - given):
        mistakes.add(path, f"{kind.name} needs {word}", f"{word} = …")
    if not kind.required <= given <= kind.options:
        return None
    try:
        field = Field(name, kind(words), words, words.nullable, words.heavy)
    except Refused as refusal:
        mistakes.refused(path, refusal)
        return None
    before = len(mistakes.found)
    seen: set[Value] = set()
    for index, given_value in enumerate(words.heavy):
        try:
            value = field.type.declared(given_value)
        except Refused as refusal:
            mistakes.refused(f"{path}.heavy[{index}]", refusal)
            continue
        if value in seen:
            what = f"{printable(field.type.show(value))} stands twice"
            mistakes.add(f"{path}.heavy[{index}]", what, "each value once")
        seen.add(value)
    return field if len(mistakes.found) == before else None


def bind_terms(
    terms: tuple[Term, ...],
    fields: Mapping[str, Field],
    dictionary: Dictionary,
    mistakes: Mistakes,
    unknown: frozenset[str] = frozenset(),
) -> tuple[Part, ...]:
    """The parts of a key, last to first, so that each may ask for what stands behind it.

    Args:
        terms: the declared key.
        fields: the bound fields, by name.
        dictionary: gives ids to the values of `code`.
        mistakes: where what is wrong is noted, below `key`.
        unknown: declared fields that could not be bound; they are not mistakes a second time.
    """
    binder = _Binder(fields, dictionary, mistakes, unknown)
    parts: list[Part] = []
    for index in range(len(terms) - 1, -1, -1):
        part = binder.bind(terms[index], f"key[{index}]", Context(tuple(parts), dictionary))
        if part is not None:
            parts.insert(0, part)
    return tuple(parts)


class _Binder:
    """Binds terms and notes what is wrong with them."""

    def __init__(
        self,
        fields: Mapping[str, Field],
        dictionary: Dictionary,
        mistakes: Mistakes,
        unknown: frozenset[str],
    ) -> None:
        self.fields = fields
        self.dictionary = dictionary
        self.mistakes = mistakes
        self.unknown = unknown

    def bind(self, term: Term, path: str, context: Context) -> Part | None:
        """The part of a term; None if something in it is wrong."""
        if isinstance(term, Constant):
            return ConstantPart(term.value)
        if isinstance(term, FieldRef):
            return self.bind_reference(term, path)
        return self.bind_call(term, f"{path}.{term.kind}", context)

    def bind_reference(self, term: FieldRef, path: str) -> Part | None:
        field = self.fields.get(term.name)
        if field is None:
            if term.name not in self.unknown:
                self._unknown_field(term, path)
            return None
        kind = field.type
        encoding = kind.encodings.get(term.encoding)
        if encoding is None:
            known = ", ".join(f":{word}" for word in kind.encodings if word) or "none"
            what = f"{kind.name} has no encoding :{term.encoding}"
            remedy = did_you_mean(term.encoding, kind.encodings)
            self.mistakes.add(path, what, known, remedy)
            return None
        if len(term.arguments) != len(encoding.arguments):
            asked = f":{term.encoding}({', '.join(encoding.arguments)})"
            has = _counted(len(term.arguments), "argument")
            self.mistakes.add(path, f"{term} has {has}", asked)
            return None
        return self._encoded(field, term, path)

    def _unknown_field(self, term: FieldRef, path: str) -> None:
        remedy = did_you_mean(term.name, [*self.fields, *sorted(self.unknown)])
        if not remedy and term.name in TRANSFORMS:
            remedy = f"A transform takes its arguments in parentheses: {term.name}(…)."
        known = ", ".join(list(self.fields)[:12])
        self.mistakes.add(path, f"there is no field {term.name!r}", known, remedy)

    def _encoded(self, field: Field, term: FieldRef, path: str) -> Part | None:
        try:
            part = field_part(field, field.type.codec(term.encoding, _widths(term.arguments)), term)
        except Refused as refusal:
            self.mistakes.refused(path, refusal)
            return None
        return Nullable(part) if field.nullable else part

    def bind_call(self, term: Call, path: str, context: Context) -> Part | None:
        kind = TRANSFORMS.get(term.kind)
        if kind is None:
            remedy = did_you_mean(term.kind, TRANSFORMS)
            known = ", ".join(TRANSFORMS)
            self.mistakes.add(path, f"{term.kind!r} is no transform", known, remedy)
            return None
        before = len(self.mistakes.found)
        inputs = [
            self.bind(inner, f"{path}[{index}]", context) for index, inner in enumerate(term.terms)
        ]
        arguments = self.arguments(kind, term, path)
        if len(self.mistakes.found) > before or None in inputs:
            return None
        return self.made(kind, tuple(part for part in inputs if part), arguments, path, context)

    def arguments(self, kind: type[Transform], term: Call, path: str) -> dict[str, Any]:
        """The numbers and options by name, each checked against what the kind declares."""
        least, most = kind.terms
        if not least <= len(term.terms) <= most:
            allowed = _counted(most, "term") if least == most else f"{least} to {most} terms"
            self.mistakes.add(path, f"it is given {_counted(len(term.terms), 'term')}", allowed)
        if len(term.scalars) > len(kind.scalars):
            names = ", ".join(scalar.name for scalar in kind.scalars) or "none"
            self.mistakes.add(path, f"it is given {_counted(len(term.scalars), 'number')}", names)
        given: dict[str, Any] = {}
        for index, scalar in enumerate(kind.scalars):
            if index < len(term.scalars):
                given[scalar.name] = self.number(scalar, term.scalars[index], path)
            elif scalar.optional:
                given[scalar.name] = None
            else:
                what = f"the number {scalar.name} is missing"
                self.mistakes.add(path, what, scalar.meaning)
        return given | self.options(kind, term, path)

    def options(self, kind: type[Transform], term: Call, path: str) -> dict[str, Any]:
        """The named options, defaults included."""
        known = {option.name: option for option in kind.options}
        chosen: dict[str, Any] = {
            name: option.words[0] if isinstance(option, Pick) else None
            for name, option in known.items()
        }
        for name, value in term.options.items():
            option = known.get(name)
            if option is None:
                allowed = ", ".join(f"{word}=" for word in known) or "no options"
                remedy = did_you_mean(name, known)
                self.mistakes.add(path, f"there is no option {name}=", allowed, remedy)
            elif isinstance(option, Count):
                chosen[name] = self.number(option, value, path)
            elif value not in option.words:
                remedy = did_you_mean(str(value), option.words)
                if isinstance(value, Constant) and (plain := str(value)[1:-1]) in option.words:
                    remedy = f"Write {name}={plain}, without quotes."
                self.mistakes.add(
                    f"{path}.{name}", f"{value} is not known", ", ".join(option.words), remedy
                )
            else:
                chosen[name] = value
        return chosen

    def number(self, asked: Count, given: Scalar | str | Constant, path: str) -> Scalar | None:
        """A number within its range, and of the right sort."""
        at = f"{path}.{asked.name}"
        if asked.unit == "time":
            if isinstance(given, Duration) and 0 < given.nanoseconds <= asked.most:
                return given
            allowed = "a number with its unit, such as 1h"
            self.mistakes.add(at, f"{given} is no length of time", allowed)
        elif not isinstance(given, int):
            self.mistakes.add(at, f"{given} is no number", f"{asked.least}..{asked.most}")
        elif not asked.least <= given <= asked.most:
            remedy = (
                "Use fewer: each one is a scan." if asked.name == "n" and given > asked.most else ""
            )
            self.mistakes.add(
                at, f"{given} is out of range", f"{asked.least}..{asked.most}", remedy
            )
        else:
            return given
        return None

    def made(
        self,
        kind: type[Transform],
        inputs: tuple[Part, ...],
        arguments: dict[str, Any],
        path: str,
        context: Context,
    ) -> Part | None:
        """The bound transform; a null of its only input stands outside."""
        hoists = kind.hoists_null and len(inputs) == 1 and isinstance(inputs[0], Nullable)
        inner = (inputs[0].inner,) if hoists and isinstance(inputs[0], Nullable) else inputs
        try:
            part = kind(inner, arguments, context)
        except Refused as refusal:
            self.mistakes.refused(path, refusal)
            return None
        return Nullable(part) if hoists else part


def _counted(count: int, noun: str) -> str:
    """So many things: `no terms`, `1 term`, `2 terms`."""
    return f"{count or 'no'} {noun}{'s' * (count != 1)}"


def _widths(arguments: tuple[Scalar, ...]) -> tuple[int, ...]:
    """The arguments of an encoding, which are numbers of bytes."""
    for argument in arguments:
        if not isinstance(argument, int) or not 1 <= argument <= LONGEST:
            raise Refused("", f"{argument} is no number of bytes", f"1..{LONGEST}")
    return tuple(argument for argument in arguments if isinstance(argument, int))
