"""Whether the bytes of a part are those of the values beside it, as of a bucket and its host."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, RowError
from rowkey.keys.dictionary import IDS, Trial
from rowkey.keys.parts.nullable import NULL
from rowkey.keys.traits import Source
from rowkey.keys.transforms.salt import CHANCE, Salt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rowkey.keys.contract import Part
    from rowkey.keys.key import Key


def verify(key: Key, part: Part, piece: bytes, values: Mapping[str, Any]) -> None:
    """Check a part against the recovered values, or by itself where they do not decide it.

    Args:
        key: the key that the part is of.
        part: the part; one of several counts holds what any of them would.
        piece: its bytes.
        values: the fields that were recovered.

    Raises:
        Refused: the values, or any row, have other bytes there.
    """
    first, *others = part.forms
    for form in others:
        with suppress(Refused):
            _verify(key, form, piece, values)
            return
    _verify(key, first, piece, values)


def _verify(key: Key, part: Part, piece: bytes, values: Mapping[str, Any]) -> None:
    if not all(name in values for name in part.fields):
        part.check(piece or (NULL if part.takes_nulls else b""))
        return
    if part.source is not Source.FIELDS:
        verify_drawn(key, part, piece, values)
        return
    expected = part.encode(values)
    if piece != expected and not (not piece and expected == NULL):
        raise _other(part, piece, expected.hex())


def verify_drawn(key: Key, part: Part, piece: bytes, values: Mapping[str, Any]) -> None:
    """Check a part that chance or the dictionary decides together with recovered values.

    Raises:
        Refused: the values have other bytes there, whatever was drawn.
    """
    if part.source is Source.DICTIONARY:
        assert key.dictionary is not None
        trial, expected = Trial(key.dictionary), b""
        with suppress(RowError):  # there is no room for a value without an id
            expected = part.encode({**values, IDS: trial})
        if (piece or NULL) != expected or trial.lacking:
            raise _other(part, piece, "" if trial.lacking else expected.hex())
    elif isinstance(part, Salt):
        part.check(piece)
    else:
        drawn = (part.encode({**values, CHANCE: salt}) for salt in range(key.salt_count))
        if piece not in drawn:
            raise _other(part, piece, "")


def _other(part: Part, piece: bytes, expected: str) -> Refused:
    """What is said of bytes that are not those of the row's values."""
    found = piece.hex() or "nothing"
    what = f"{found} stands where {part.name} of {', '.join(part.fields)} should"
    return Refused("", what, expected)
