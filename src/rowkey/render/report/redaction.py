"""What of a report stays hidden: values of fields, wherever the bytes of a key would show them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from rowkey.errors import Refused, printable

if TYPE_CHECKING:
    from rowkey.design import Design
    from rowkey.keys import Part

KEY_BYTES = 16
"""Bytes of the key under which values are hashed."""
FEW = 4_096
"""Values of a part, up to which a digest of a field tells as good as nothing of it."""
HIDDEN = "·"
"""Stands for a byte that is not shown."""


@dataclass(frozen=True)
class Redaction:
    """Shows names as they are or, where a key is given, as what they hash to under it.

    The time of an event stays, as do buckets and other small digests, names of fields and
    families, the notation of the key, and all figures.

    Args:
        key: drawn anew for each report and kept nowhere, so that nobody can hash a list of known
            names and look them up; None hides nothing.
    """

    key: bytes | None = None

    @property
    def hides(self) -> bool:
        """Whether anything is hidden."""
        return self.key is not None

    def token(self, text: str) -> str:
        """What stands for a value; the same value has the same one throughout a report.

        >>> Redaction().token("web-1")
        'web-1'
        >>> Redaction(b"0123456789abcdef").token("web-1")
        '#41f7a76c'
        """
        if self.key is None:
            return printable(text)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), key=self.key, digest_size=4)
        return f"#{digest.hexdigest()}"

    def shows(self, design: Design, part: Part) -> bool:
        """Whether the bytes of a part are shown as they are."""
        if not self.hides or not part.fields:
            return True
        time = design.writes.time
        if time is not None and set(part.fields) == {time.name}:
            return True
        is_small = part.cardinality is not None and part.cardinality <= FEW
        return is_small and all(part.residue(name).everything for name in part.fields)

    def piece(self, design: Design, part: Part, piece: bytes) -> str:
        """The bytes of one part as a person would name them.

        Raises:
            Refused: they are no bytes of this part.
        """
        shown = part.show(piece)
        return printable(shown) if self.shows(design, part) else self.token(shown)

    def hex(self, design: Design, part: Part, piece: bytes) -> str:
        """The bytes of one part in hexadecimal, with spaces between; or as many dots."""
        return piece.hex(" ") if self.shows(design, part) else " ".join([HIDDEN * 2] * len(piece))

    def start(self, design: Design, start: bytes) -> str:
        """The beginning of a key as a person would name it, as `Key.show` does."""
        if not self.hides:
            return printable(design.key.show(start))
        told, at = [], 0
        for part in design.key.parts:
            if at >= len(start):
                break
            try:
                end = part.measure(start, at)
                told.append(self._named(design, part, start[at:end]))
            except Refused:
                break
            at = end
        return ", ".join(told if at >= len(start) else [*told, "…"])

    def _named(self, design: Design, part: Part, piece: bytes) -> str:
        shown = self.piece(design, part, piece)
        is_told = part.cardinality == 1 or part.name in shown
        return shown if is_told else f"{', '.join(part.fields)} {shown}"

    def start_hex(self, design: Design, start: bytes) -> str:
        """The same in hexadecimal; nothing of it where a part of it is hidden."""
        if all(self.shows(design, part) for part in design.key.parts):
            return start.hex()
        return ""

    def figure(self, value: Any) -> Any:
        """A figure of some evidence: numbers stay, what is text is a value and is hidden."""
        if isinstance(value, str):
            return self.token(value)
        if isinstance(value, bool | int | float) or value is None:
            return value
        return self.token(str(value))
