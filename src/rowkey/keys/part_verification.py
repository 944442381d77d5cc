"""Checks that the bytes of a part match the decoded values, such as a bucket and its host."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rowkey.errors import InvalidArgument, RowError
from rowkey.keys.dictionary import DICTIONARY_FIELD, Dictionary, TentativeDictionary
from rowkey.keys.part_interface import Part
from rowkey.keys.parts.nullable import NULL_MARKER
from rowkey.keys.traits import Determinant
from rowkey.keys.transforms.salt import SALT_FIELD, SaltTransform


@dataclass(frozen=True, slots=True)
class PartVerifier:
    """Verifies parts of the keys of one design.

    Args:
        dictionary: has the ids of `code`.
        salt_count: how many random salts there are; 0 without a random salt.
    """

    dictionary: Dictionary | None
    salt_count: int

    def verify_part(self, part: Part, piece: bytes, values: Mapping[str, Any]) -> None:
        """Raise InvalidArgument unless the bytes of a part match the decoded field values.

        Args:
            part: the part; the bytes must be right for one of its variants.
            piece: the bytes.

        Raises:
            InvalidArgument: a row with these values, or any row, has other bytes there.
        """
        first_variant, *other_variants = part.variants
        for variant in other_variants:
            with suppress(InvalidArgument):
                self._verify_variant(variant, piece, values)
                return
        self._verify_variant(first_variant, piece, values)

    def _verify_variant(self, part: Part, piece: bytes, values: Mapping[str, Any]) -> None:
        """Raise InvalidArgument unless the bytes match one variant of a part."""
        if not all(name in values for name in part.fields):
            part.check(piece or (NULL_MARKER if part.has_null_encoding else b""))
            return
        if part.determined_by is not Determinant.FIELDS:
            self._verify_drawn_part(part, piece, values)
            return
        expected = part.encode(values)
        if piece != expected and not (not piece and expected == NULL_MARKER):
            raise _build_mismatch_error(part, piece, expected.hex())

    def _verify_drawn_part(self, part: Part, piece: bytes, values: Mapping[str, Any]) -> None:
        """Raise InvalidArgument unless bytes with a salt or an id match the field values.

        Raises:
            InvalidArgument: the values have other bytes there for every salt and id.
        """
        if part.determined_by is Determinant.DICTIONARY:
            assert self.dictionary is not None
            trial, expected = TentativeDictionary(self.dictionary), b""
            with suppress(RowError):  # the id of a new value does not fit
                expected = part.encode({**values, DICTIONARY_FIELD: trial})
            if trial.pending_ids:
                raise _build_mismatch_error(part, piece, "")
            if (piece or NULL_MARKER) != expected:
                raise _build_mismatch_error(part, piece, expected.hex())
        elif isinstance(part, SaltTransform):
            part.check(piece)
        else:
            drawn = (part.encode({**values, SALT_FIELD: salt}) for salt in range(self.salt_count))
            if piece not in drawn:
                raise _build_mismatch_error(part, piece, "")


def _build_mismatch_error(part: Part, piece: bytes, expected: str) -> InvalidArgument:
    noun = "encoding" if part.name in {"field", "nullable"} else part.name
    names = ", ".join(part.fields)
    title = f"{noun} of the field{'s' * (len(part.fields) != 1)} {names}"
    what = f"{piece.hex()} is not the {title}" if piece else f"the {title} is missing"
    return InvalidArgument("", what, expected)
