"""Binds the terms of a key: looks up every name and checks every argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowkey.errors import InvalidArgument, Mistakes
from rowkey.keys.base_types.field_type import FieldType
from rowkey.keys.declared_field import Field
from rowkey.keys.dictionary import Dictionary
from rowkey.keys.fields import FIELD_TYPES as TYPES
from rowkey.keys.key_length import MAX_KEY_BYTES
from rowkey.keys.part_interface import BindingContext, EnumOption, NumberArgument, Part, Transform
from rowkey.keys.parts.constant import ConstantPart
from rowkey.keys.parts.field import build_field_part
from rowkey.keys.parts.nullable import NullablePart
from rowkey.keys.transforms import TRANSFORMS
from rowkey.messages import shorten_text, suggest_name
from rowkey.schema import (
    Constant,
    Duration,
    FieldDeclaration,
    FieldRef,
    FunctionCall,
    Scalar,
    Term,
    Value,
)

_TYPE_SYNONYMS = {
    **dict.fromkeys(("string", "str", "varchar", "char"), "text"),
    **dict.fromkeys(("int", "integer", "int32"), "i32"),
    **dict.fromkeys(("long", "bigint", "int64"), "i64"),
    **dict.fromkeys(("short", "smallint", "int16"), "i16"),
    **dict.fromkeys(("byte", "tinyint", "int8"), "i8"),
    **dict.fromkeys(("double", "real"), "float64"),
    **dict.fromkeys(("timestamp", "datetime", "time"), "timestamp_ms"),
    **dict.fromkeys(("binary", "blob", "bytea"), "bytes"),
    "float": "float32",
    "boolean": "bool",
    "enum": "choice",
    "ip": "ipv4",
}
"""The field types that stand for the types of SQL, Java and Python."""

_FUNCTION_SYNONYMS = {
    **dict.fromkeys(("hash", "md5", "sha1", "sha256", "murmur3"), "bucket or digest"),
    **dict.fromkeys(("substr", "substring", "prefix", "left"), "truncate"),
    **dict.fromkeys(("invert", "negate", "complement"), "desc"),
    **dict.fromkeys(("hour", "day", "floor", "date_trunc"), "time_bucket"),
}
"""The transforms that do what functions of other systems do."""

_TYPE_OPTIONS = frozenset({"of", "precision", "scale", "width", "max_bytes", "normalize"})


def bind_fields(
    declarations: Mapping[str, FieldDeclaration], mistakes: Mistakes
) -> dict[str, Field]:
    """Return the declared fields with their types; fields with mistakes are left out.

    Args:
        declarations: the options of each field, by name.
        mistakes: mistakes are added here, with paths below `fields`.
    """
    fields = {}
    for name, declaration in declarations.items():
        path = f"fields.{name}"
        field_type = TYPES.get(declaration.type)
        if field_type is None:
            known = f"one of {', '.join(TYPES)}"
            remedy = suggest_name(declaration.type, TYPES, _TYPE_SYNONYMS)
            mistakes.add(f"{path}.type", f"{declaration.type!r} is not a field type", known, remedy)
            continue
        if field := _bind_field(name, field_type, declaration, path, mistakes):
            fields[name] = field
    return fields


def _bind_field(
    name: str,
    field_type: type[FieldType],
    declaration: FieldDeclaration,
    path: str,
    mistakes: Mistakes,
) -> Field | None:
    """Return a declared field with its type; None if it has mistakes."""
    options = {option for option in _TYPE_OPTIONS if getattr(declaration, option) is not None}
    for option in sorted(options - field_type.options):
        names = ", ".join(sorted(field_type.options))
        what = f"the type {field_type.name} has no option {option}"
        mistakes.add(
            f"{path}.{option}", what, f"one of {names}" if names else "", f"Remove {option}."
        )
    for option in sorted(field_type.required_options - options):
        mistakes.add(
            path,
            f"the type {field_type.name} needs the option `{option}`, which is missing",
            remedy=f"Declare the option `{option}` of this field.",
        )
    if not field_type.required_options <= options <= field_type.options:
        return None
    try:
        field = Field(
            name, field_type(declaration), declaration, declaration.nullable, declaration.heavy
        )
    except InvalidArgument as refusal:
        mistakes.add_invalid_argument(path, refusal)
        return None
    mistake_count = len(mistakes.mistakes)
    values: set[Value] = set()
    for index, declared_value in enumerate(declaration.heavy):
        try:
            value = field.type.parse_declared_value(declared_value)
        except InvalidArgument as refusal:
            mistakes.add_invalid_argument(f"{path}.heavy[{index}]", refusal)
            continue
        if value in values:
            what = f"the value {shorten_text(field.type.format_value(value))} is listed twice"
            mistakes.add(f"{path}.heavy[{index}]", what, "each value once", "Remove one of them.")
        values.add(value)
    return field if len(mistakes.mistakes) == mistake_count else None


def bind_terms(
    terms: tuple[Term, ...],
    fields: Mapping[str, Field],
    dictionary: Dictionary,
    mistakes: Mistakes,
    unbound_names: frozenset[str] = frozenset(),
) -> tuple[Part, ...]:
    """Return the parts of a key, bound from last to first because some depend on later ones.

    Args:
        terms: the declared key.
        fields: the bound fields, by name.
        dictionary: assigns ids to the values of `code`.
        mistakes: mistakes are added here, with paths below `key`.
        unbound_names: declared fields that could not be bound; they are not reported again.
    """
    binder = _TermBinder(fields, dictionary, mistakes, unbound_names)
    parts: list[Part] = []
    for index in range(len(terms) - 1, -1, -1):
        part = binder.bind_term(
            terms[index], f"key[{index}]", BindingContext(tuple(parts), dictionary)
        )
        if part is not None:
            parts.insert(0, part)
    return tuple(parts)


class _TermBinder:
    """Binds terms and collects their mistakes."""

    def __init__(
        self,
        fields: Mapping[str, Field],
        dictionary: Dictionary,
        mistakes: Mistakes,
        unbound_names: frozenset[str],
    ) -> None:
        self.fields = fields
        self.dictionary = dictionary
        self.mistakes = mistakes
        self.unbound_names = unbound_names

    def bind_term(self, term: Term, path: str, context: BindingContext) -> Part | None:
        """Return the part of a term; None if it has mistakes."""
        if isinstance(term, Constant):
            return ConstantPart(term.value)
        if isinstance(term, FieldRef):
            return self.bind_reference(term, path)
        return self.bind_call(term, f"{path}.{term.name}", context)

    def bind_reference(self, term: FieldRef, path: str) -> Part | None:
        field = self.fields.get(term.name)
        if field is None:
            if term.name not in self.unbound_names:
                self._note_unknown_field(term, path)
            return None
        field_type = field.type
        encoding = field_type.encodings.get(term.encoding)
        if encoding is None:
            names = ", ".join(f":{name}" for name in field_type.encodings if name)
            allowed = f"one of {names}" if names else "the default encoding"
            what = f"the type {field_type.name} has no encoding :{term.encoding}"
            remedy = suggest_name(term.encoding, field_type.encodings) or f"Write {term.name}."
            self.mistakes.add(path, what, allowed, remedy)
            return None
        if len(term.arguments) != len(encoding.arguments):
            expected = f":{term.encoding}({', '.join(encoding.arguments)})"
            count = _pluralize(len(term.arguments), "argument")
            remedy = f"Write the number of bytes, such as {term.name}:{term.encoding}(8)."
            self.mistakes.add(path, f"{term} has {count}", expected, remedy)
            return None
        return self._build_field_part(field, term, path)

    def _note_unknown_field(self, term: FieldRef, path: str) -> None:
        remedy = suggest_name(term.name, [*self.fields, *sorted(self.unbound_names)])
        if not remedy and term.name in TRANSFORMS:
            remedy = f"Write the arguments of the function in parentheses: {term.name}(…)."
        known = f"one of {', '.join(list(self.fields)[:12])}" if self.fields else ""
        self.mistakes.add(path, f"there is no field {term.name!r}", known, remedy)

    def _build_field_part(self, field: Field, term: FieldRef, path: str) -> Part | None:
        """Return the part of a field in its encoding; None if it has mistakes."""
        try:
            part = build_field_part(
                field, field.type.build_codec(term.encoding, _parse_widths(term.arguments)), term
            )
        except InvalidArgument as refusal:
            self.mistakes.add_invalid_argument(path, refusal)
            return None
        return NullablePart(part) if field.nullable else part

    def bind_call(self, term: FunctionCall, path: str, context: BindingContext) -> Part | None:
        transform = TRANSFORMS.get(term.name)
        if transform is None:
            remedy = suggest_name(term.name, TRANSFORMS, _FUNCTION_SYNONYMS)
            known = f"one of {', '.join(TRANSFORMS)}"
            self.mistakes.add(path, f"{term.name!r} is not a function", known, remedy)
            return None
        mistake_count = len(self.mistakes.mistakes)
        inputs = [
            self.bind_term(inner, f"{path}[{index}]", context)
            for index, inner in enumerate(term.terms)
        ]
        arguments = self.bind_arguments(transform, term, path)
        if len(self.mistakes.mistakes) > mistake_count or None in inputs:
            return None
        return self.build_transform(
            transform, tuple(part for part in inputs if part), arguments, path, context
        )

    def bind_arguments(
        self, transform: type[Transform], term: FunctionCall, path: str
    ) -> dict[str, Any]:
        """Return the numbers and options by name, checked against the transform's declaration."""
        min_terms, max_terms = transform.term_limits
        if not min_terms <= len(term.terms) <= max_terms:
            allowed = (
                _pluralize(max_terms, "field")
                if min_terms == max_terms
                else f"{min_terms} to {max_terms} fields"
            )
            what = f"{term.name} was given {_pluralize(len(term.terms), 'field')}"
            self.mistakes.add(path, what, allowed, transform.terms_remedy)
        if len(term.scalars) > len(transform.scalars):
            what = f"{term.name} was given {_pluralize(len(term.scalars), 'number')}"
            names = " and ".join(scalar.name for scalar in transform.scalars)
            self.mistakes.add(path, what, f"only {names}" if names else "no numbers")
        arguments: dict[str, Any] = {}
        for index, scalar in enumerate(transform.scalars):
            if index < len(term.scalars):
                arguments[scalar.name] = self.bind_number(scalar, term.scalars[index], path)
            elif scalar.optional:
                arguments[scalar.name] = None
            else:
                what = f"{term.name} needs the number {scalar.name}: {scalar.description}"
                self.mistakes.add(path, what, remedy=f"Add {scalar.name} in the parentheses.")
        return arguments | self.bind_options(transform, term, path)

    def bind_options(
        self, transform: type[Transform], term: FunctionCall, path: str
    ) -> dict[str, Any]:
        """Return the named options, with the defaults of missing ones."""
        options = {option.name: option for option in transform.options}
        chosen: dict[str, Any] = {
            name: option.choices[0] if isinstance(option, EnumOption) else None
            for name, option in options.items()
        }
        for name, value in term.options.items():
            option = options.get(name)
            if option is None:
                names = ", ".join(f"{name}=" for name in options)
                allowed = f"one of {names}" if names else "no options"
                remedy = suggest_name(name, options) or f"Remove {name}=."
                self.mistakes.add(path, f"{term.name} has no option {name}=", allowed, remedy)
            elif isinstance(option, NumberArgument):
                chosen[name] = self.bind_number(option, value, path)
            elif value not in option.choices:
                remedy = suggest_name(str(value), option.choices)
                if isinstance(value, Constant) and (choice := str(value)[1:-1]) in option.choices:
                    remedy = f"Write {name}={choice}, without quotes."
                self.mistakes.add(
                    f"{path}.{name}",
                    f"{value} is not a value of {name}=",
                    f"one of {', '.join(option.choices)}",
                    remedy,
                )
            else:
                chosen[name] = value
        return chosen

    def bind_number(
        self, argument: NumberArgument, value: Scalar | str | Constant, path: str
    ) -> Scalar | None:
        """Return a number within its range, or a length of time; None if it is neither."""
        argument_path = f"{path}.{argument.name}"
        if argument.unit == "time":
            if isinstance(value, Duration) and 0 < value.nanoseconds <= argument.maximum:
                return value
            allowed = "a number with its unit, such as 1h"
            self.mistakes.add(argument_path, f"{value} is not a length of time", allowed)
        elif not isinstance(value, int):
            self.mistakes.add(
                argument_path, f"{value} is not a number", f"{argument.minimum}..{argument.maximum}"
            )
        elif not argument.minimum <= value <= argument.maximum:
            remedy = (
                "Use a smaller number: a read needs one scan for each."
                if argument.name == "n" and value > argument.maximum
                else ""
            )
            self.mistakes.add(
                argument_path,
                f"{value} is out of range",
                f"{argument.minimum}..{argument.maximum}",
                remedy,
            )
        else:
            return value
        return None

    def build_transform(
        self,
        transform: type[Transform],
        inputs: tuple[Part, ...],
        arguments: dict[str, Any],
        path: str,
        context: BindingContext,
    ) -> Part | None:
        """Return the bound transform; the null marker of its only input is put in front of it."""
        hoists = transform.hoists_null and len(inputs) == 1 and isinstance(inputs[0], NullablePart)
        inner = (inputs[0].inner,) if hoists and isinstance(inputs[0], NullablePart) else inputs
        try:
            part = transform(inner, arguments, context)
        except InvalidArgument as refusal:
            self.mistakes.add_invalid_argument(path, refusal)
            return None
        return NullablePart(part) if hoists else part


def _pluralize(count: int, noun: str) -> str:
    """Return a count and its noun: `no terms`, `1 term`, `2 terms`."""
    return f"{count or 'no'} {noun}{'s' * (count != 1)}"


def _parse_widths(arguments: tuple[Scalar, ...]) -> tuple[int, ...]:
    """Return the arguments of an encoding, all counts of bytes.

    Raises:
        InvalidArgument: one is not a number of bytes.
    """
    for argument in arguments:
        if not isinstance(argument, int) or not 1 <= argument <= MAX_KEY_BYTES:
            raise InvalidArgument("", f"{argument} is not a number of bytes", f"1..{MAX_KEY_BYTES}")
    return tuple(argument for argument in arguments if isinstance(argument, int))
