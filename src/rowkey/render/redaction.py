"""Hides the values of fields in documents, also where the bytes of a key would reveal them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from rowkey.errors import InvalidArgument
from rowkey.messages import shorten_text

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.keys import Part

REDACTION_KEY_BYTES = 16
"""Bytes of the key under which values are hashed."""
MAX_SMALL_CARDINALITY = 4_096
"""Values of a part, up to which a digest of a field tells as good as nothing of it."""
HIDDEN_BYTE = "·"
"""Stands for a byte that is not shown."""


@dataclass(frozen=True)
class Redaction:
    """Shows field values in documents, or replaces them by keyed hashes.

    The time of an event stays, as do buckets and other small digests, names of fields and
    families, the notation of the key, and all figures.

    Args:
        key: drawn anew for each report and kept nowhere, so that nobody can hash a list of known
            names and look them up; None hides nothing.
    """

    key: bytes | None = None

    @property
    def is_hiding(self) -> bool:
        """Whether values are replaced by hashes."""
        return self.key is not None

    def redact_text(self, text: str) -> str:
        """Return a value unchanged, or its hash, which is the same throughout a report.

        >>> Redaction().redact_text("web-1")
        'web-1'
        >>> Redaction(b"0123456789abcdef").redact_text("web-1")
        '#41f7a76c'
        """
        if self.key is None:
            return text
        digest = blake2b(text.encode("utf-8", "surrogatepass"), key=self.key, digest_size=4)
        return f"#{digest.hexdigest()}"

    def is_shown(self, design: Design, part: Part) -> bool:
        """Return whether the bytes of a key part may be shown."""
        if not self.is_hiding or not part.fields:
            return True
        time = design.writes.time
        if time is not None and set(part.fields) == {time.name}:
            return True
        is_small = part.cardinality is not None and part.cardinality <= MAX_SMALL_CARDINALITY
        return is_small and all(part.residue(name).is_total for name in part.fields)

    def format_piece(self, design: Design, part: Part, piece: bytes) -> str:
        """Return the value of one key part as text, hashed if it is hidden.

        Raises:
            InvalidArgument: they are no bytes of this part.
        """
        text = part.format_piece(piece)
        return shorten_text(text) if self.is_shown(design, part) else self.redact_text(text)

    def format_hex(self, design: Design, part: Part, piece: bytes) -> str:
        """Return the bytes of one key part in hexadecimal, or as dots if hidden."""
        return (
            piece.hex(" ")
            if self.is_shown(design, part)
            else " ".join([HIDDEN_BYTE * 2] * len(piece))
        )

    def format_start(self, design: Design, start: bytes) -> str:
        """Return a region's first row key as text, with hidden values hashed."""
        if not self.is_hiding:
            return shorten_text(design.key.format_prefix(start))
        texts, at = [], 0
        for part in design.key.parts:
            if at >= len(start):
                break
            try:
                end = part.find_end(start, at)
                texts.append(self._format_named_piece(design, part, start[at:end]))
            except InvalidArgument:
                break
            at = end
        return ", ".join(texts if at >= len(start) else [*texts, "…"])

    def _format_named_piece(self, design: Design, part: Part, piece: bytes) -> str:
        """Return the value of a key part with the name of its field."""
        text = self.format_piece(design, part, piece)
        is_told = part.cardinality == 1 or part.name in text
        return text if is_told else f"{', '.join(part.fields)} {text}"

    def format_row_key(self, design: Design, row_key: bytes) -> str | None:
        """Return a row key in hexadecimal; None if a part of the key is hidden."""
        if all(self.is_shown(design, part) for part in design.key.parts):
            return row_key.hex()
        return None

    def redact_evidence(self, evidence: Mapping[str, Any]) -> dict[str, Any]:
        """Return figures as JSON values by name; texts and lists are hashed if values are hidden.

        The names of fields stay.
        """
        figures = {name: to_plain_value(value) for name, value in evidence.items()}
        if not self.is_hiding:
            return figures
        return {
            name: value
            if name == "fields" or value is None or isinstance(value, bool | int | float)
            else self.redact_text(str(value))
            for name, value in figures.items()
        }

    def omit_text(self, text: str) -> str | None:
        """Return a text that may hold values; None if it is empty or values are hidden."""
        return None if self.is_hiding else text or None

    def omit_texts(self, texts: Iterable[str]) -> list[str]:
        """Return texts that may hold values; none if values are hidden."""
        return [] if self.is_hiding else list(texts)


NO_REDACTION = Redaction()
"""Hides nothing."""


def to_plain_value(value: Any) -> Any:
    """Return a value as JSON types; other types become text."""
    if isinstance(value, dict):
        return {str(name): to_plain_value(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain_value(one) for one in value]
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return str(value)
