"""A row key from what was declared: the notation, the fields, and what no part can see alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowkey.errors import Mistakes, Refused, shown
from rowkey.keys.bind import bind_fields, bind_terms
from rowkey.keys.declared import field_words
from rowkey.keys.dictionary import Dictionary, FirstAppearance
from rowkey.keys.key import Key, salts_of
from rowkey.schema import Term, fields_of, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.contract import Part
    from rowkey.keys.parts.field import Field


def bind_key(
    key: str | tuple[Term, ...],
    fields: Mapping[str, Any],
    *,
    dictionary: Dictionary | None = None,
    seed: int = 0,
) -> Key:
    """A row key from its notation and its fields, as they stand in a design file.

    Args:
        key: the notation, or its terms.
        fields: for each field its type, or a mapping of its words.
        dictionary: gives ids to the values of `code`; by first appearance if absent.
        seed: where random salts begin.

    Raises:
        DeclarationError: with everything that is wrong.

    >>> str(bind_key("[host] [desc(ts)]", {"host": "text", "ts": "timestamp_ms"}))
    '[host][desc(ts)]'
    """
    mistakes = Mistakes()
    bound = bind_fields(field_words(fields, mistakes), mistakes)
    terms = _terms(key, mistakes)
    # What was declared wrong, or not as a table, is not missing too.
    named = {field.name for term in terms for field in fields_of(term)}
    lost = frozenset(named & set(fields) if hasattr(fields, "items") else named) - frozenset(bound)
    made = bound_key(terms, bound, mistakes, unknown=lost, dictionary=dictionary, seed=seed)
    mistakes.raise_any()
    assert made is not None
    return made


def _terms(key: str | tuple[Term, ...], mistakes: Mistakes) -> tuple[Term, ...]:
    """The terms of a key, or none if it is not well formed."""
    if isinstance(key, tuple):
        return key
    if not isinstance(key, str):
        mistakes.add("key", f"{shown(key)} does not fit", "text")
        return ()
    try:
        return parse(key)
    except Refused as refusal:
        mistakes.refused("key", refusal)
        return ()


def bound_key(
    terms: tuple[Term, ...],
    fields: Mapping[str, Field],
    mistakes: Mistakes,
    *,
    unknown: frozenset[str] = frozenset(),
    dictionary: Dictionary | None = None,
    seed: int = 0,
) -> Key | None:
    """A row key from its terms and bound fields; None if something was wrong.

    Args:
        terms: the declared key.
        fields: the bound fields, by name.
        mistakes: where what is wrong is noted, below `key`.
        unknown: declared fields that could not be bound.
        dictionary: gives ids to the values of `code`; by first appearance if absent.
        seed: where random salts begin.
    """
    before = len(mistakes.found)
    numbering = dictionary or FirstAppearance()
    parts = bind_terms(terms, fields, numbering, mistakes, unknown)
    if len(mistakes.found) == before and len(parts) == len(terms):
        _check_together(parts, terms, mistakes)
    if len(mistakes.found) > before or not parts:
        return None
    return Key(terms, fields, parts, seed, numbering)


def _check_together(parts: tuple[Part, ...], terms: tuple[Term, ...], mistakes: Mistakes) -> None:
    """What no part can see alone."""
    salts = [index for index, part in enumerate(parts) for _ in salts_of(part)]
    for index in salts[1:]:
        mistakes.add(f"key[{index}]", "a second salt spreads nothing more", "one salt")
    for index, part in enumerate(parts[:-1]):
        if not part.framing.closed and ":tail" in str(terms[index]):
            mistakes.add(
                f"key[{index}]",
                f"{terms[index]} has no end but is not last",
                "the last place in the key",
                "Leave :tail out, or say :raw if the key need not be read back.",
            )
