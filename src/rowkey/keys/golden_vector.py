"""Golden examples: values whose bytes never change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GoldenVector:
    """A golden example: a one-part key must always encode these values to these bytes.

    Args:
        key: one part in the notation, `[bucket(host, 16)]`.
        fields: declared fields, as in a design file.
        hex: the bytes.
    """

    key: str
    fields: Mapping[str, Any]
    row: Mapping[str, Any]
    hex: str
