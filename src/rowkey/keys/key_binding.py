"""Builds row keys from declarations: the notation and the fields."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rowkey.errors import InvalidArgument, Mistakes
from rowkey.keys.combined_key import combine_keys
from rowkey.keys.declared_field import Field
from rowkey.keys.dictionary import Dictionary, FirstSeenDictionary
from rowkey.keys.key import Key, find_salts
from rowkey.keys.part_interface import Part
from rowkey.keys.term_binding import bind_fields, bind_terms
from rowkey.messages import format_value, suggest_name
from rowkey.schema import FieldDeclaration, Term, find_field_refs, parse_key

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails


_FIELD_KEYS = {info.alias or name: info for name, info in FieldDeclaration.model_fields.items()}


def bind_key(
    key: str | tuple[Term, ...],
    fields: Mapping[str, Any],
    *,
    dictionary: Dictionary | None = None,
) -> Key:
    """Return the row key of a notation and fields, both as in a design file.

    Args:
        key: the notation, or its terms.
        fields: for each field its type, or a mapping of its options.
        dictionary: assigns ids to the values of `code`; by first occurrence if absent.

    Raises:
        InvalidDesign: with all mistakes.

    >>> str(bind_key("[host] [desc(ts)]", {"host": "text", "ts": "timestamp_ms"}))
    '[host][desc(ts)]'
    """
    mistakes = Mistakes()
    bound_fields = bind_fields(_parse_field_declarations(fields, mistakes), mistakes)
    terms = _parse_terms(key, mistakes)
    # A field with a mistake in its declaration is not reported as missing too.
    referenced = {field.name for term in terms for field in find_field_refs(term)}
    unbound_names = frozenset(
        referenced & set(fields) if hasattr(fields, "items") else referenced
    ) - frozenset(bound_fields)
    bound_key = build_key(
        terms, bound_fields, mistakes, unbound_names=unbound_names, dictionary=dictionary
    )
    mistakes.raise_any()
    assert bound_key is not None
    return bound_key


def _parse_terms(key: str | tuple[Term, ...], mistakes: Mistakes) -> tuple[Term, ...]:
    """Return the terms of a key; none if it is not well formed."""
    if isinstance(key, tuple):
        return key
    if not isinstance(key, str):
        mistakes.add("key", f"{format_value(key)} is not text", "a key such as '[host][ts]'")
        return ()
    try:
        return parse_key(key)
    except InvalidArgument as refusal:
        mistakes.add_invalid_argument("key", refusal)
        return ()


def build_key(
    terms: tuple[Term, ...],
    fields: Mapping[str, Field],
    mistakes: Mistakes,
    *,
    unbound_names: frozenset[str] = frozenset(),
    dictionary: Dictionary | None = None,
) -> Key | None:
    """Return the row key of terms and bound fields; None if there are mistakes.

    Args:
        terms: the declared key.
        fields: the bound fields, by name.
        mistakes: mistakes are added here, with paths below `key`.
        unbound_names: declared fields that could not be bound.
        dictionary: assigns ids to the values of `code`; by first occurrence if absent.
    """
    mistake_count = len(mistakes.mistakes)
    numbering = dictionary or FirstSeenDictionary()
    parts = bind_terms(terms, fields, numbering, mistakes, unbound_names)
    if len(mistakes.mistakes) == mistake_count and len(parts) == len(terms):
        _check_part_sequence(parts, terms, mistakes)
    if len(mistakes.mistakes) > mistake_count or not parts:
        return None
    return Key(terms, fields, parts, numbering)


def _reduce_key(key: Key) -> tuple[Callable[..., Key], tuple[Any, ...]]:
    """Return how to bind a key again: its encoders are closures, which cannot be pickled."""
    if key.variants:
        return combine_keys, (key.variants,)
    declarations = {name: field.declaration for name, field in key.declared_fields.items()}
    return rebuild_key, (key.terms, declarations, key.dictionary)


copyreg.pickle(Key, _reduce_key)


def rebuild_key(
    terms: tuple[Term, ...],
    declarations: Mapping[str, FieldDeclaration],
    dictionary: Dictionary | None,
) -> Key:
    """Return the key of terms and fields that were bound before; unpickles keys."""
    mistakes = Mistakes()
    key = build_key(terms, bind_fields(declarations, mistakes), mistakes, dictionary=dictionary)
    assert key is not None, "it was bound before"
    return key


def _check_part_sequence(
    parts: tuple[Part, ...], terms: tuple[Term, ...], mistakes: Mistakes
) -> None:
    """Add the mistakes that concern several parts: two salts, or a part without an end."""
    salts = [index for index, part in enumerate(parts) for _ in find_salts(part)]
    for index in salts[1:]:
        mistakes.add(
            f"key[{index}]",
            "a second salt does not spread rows further",
            "one salt",
            "Remove this salt.",
        )
    for index, part in enumerate(parts[:-1]):
        if not part.framing.is_self_delimiting and ":tail" in str(terms[index]):
            mistakes.add(
                f"key[{index}]",
                f"{terms[index]} does not mark where its value ends, so it must be the last part",
                remedy=f"Move {terms[index]} to the end of the key, or write it without :tail, or "
                "with :raw if keys need not be decoded.",
            )


def _parse_field_declarations(
    fields: Mapping[str, Any], mistakes: Mistakes
) -> dict[str, FieldDeclaration]:
    """Return the declaration of each field; fields with mistakes are left out.

    The package `design` checks whole files, where it knows the line of each option.

    Args:
        fields: for each field its type, or a mapping of its options.
        mistakes: mistakes are added here, with paths below `fields`.
    """
    if not isinstance(fields, Mapping):
        mistakes.add(
            "fields", f"{format_value(fields)} is not a mapping", "field names with their types"
        )
        return {}
    declarations = {}
    for name, option in fields.items():
        if not isinstance(name, str):
            mistakes.add("fields", f"the field name {format_value(name)} is not text", "text")
            continue
        options = {"type": option} if isinstance(option, str) else option
        try:
            declarations[name] = FieldDeclaration.model_validate(options)
        except ValidationError as problem:
            for detail in problem.errors(include_url=False):
                _note_schema_error(f"fields.{name}", detail, mistakes)
    return declarations


def _format_number_range(info: FieldInfo) -> str:
    """Return the range of a number, such as `1..38`; empty for other options."""
    limits: dict[str, int] = {}
    for constraint in info.metadata:
        limits |= {
            limit: getattr(constraint, limit)
            for limit in ("ge", "le")
            if hasattr(constraint, limit)
        }
    return f"{limits['ge']:,}..{limits['le']:,}" if len(limits) == 2 else ""


def _note_schema_error(path: str, detail: ErrorDetails, mistakes: Mistakes) -> None:
    """Add one mistake that the schema found in a field."""
    if not detail["loc"]:
        mistakes.add(
            path,
            f"{format_value(detail['input'])} does not declare a field",
            "a type such as 'text', or a mapping with a type",
        )
        return
    option = str(detail["loc"][0])
    option_path = ".".join([path, *map(str, detail["loc"])])
    if detail["type"] == "extra_forbidden":
        mistakes.add(
            option_path,
            f"a field has no option {option!r}",
            f"one of {', '.join(_FIELD_KEYS)}",
            suggest_name(option, _FIELD_KEYS),
        )
        return
    expected = _FIELD_KEYS[option].description or ""
    if number_range := _format_number_range(_FIELD_KEYS[option]):
        expected = f"{number_range} ({expected})"
    what = f"{format_value(detail['input'])} is not valid"
    if detail["type"] == "missing":
        what = "the design lacks this option"
    mistakes.add(option_path, what, expected)
