"""Parts one after the other: the body of a key, and what `over=rest` hashes.

A null is left out where every later part is left out too, so that optional fields at the end of a
key cost nothing and may be added to a table that has rows.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rowkey.errors import Refused
from rowkey.keys.contract import Part, Row, Transform, Writer
from rowkey.keys.parts.nullable import NULL, Nullable
from rowkey.keys.traits import Change, Framing, Residue, Source

if TYPE_CHECKING:
    from collections.abc import Sequence as Listed

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Pieces
    from rowkey.schema import Value


SUPERFLUOUS = "a null is left out at the end of a key, 00 stands there"
"""What is said of a key that would be a second one of its row."""


class Sequence(Part):
    """Several parts, encoded one after the other."""

    name = "sequence"

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.fields = tuple(dict.fromkeys(name for part in parts for name in part.fields))
        self.takes_nulls = any(part.takes_nulls for part in parts)
        self.omittable = _omittable(parts)
        if any(part.source is Source.CHANCE for part in parts):
            self.source = Source.CHANCE
        elif any(part.source is Source.DICTIONARY for part in parts):
            self.source = Source.DICTIONARY

    @property
    def framing(self) -> Framing:
        kept = self.parts[: len(self.parts) - self.omittable]
        least = sum(part.framing.least for part in kept)
        tops = [part.framing.most for part in self.parts]
        most = None if None in tops else sum(top for top in tops if top is not None)
        fixed = not self.omittable and all(part.framing.closed for part in self.parts)
        return Framing(least, most, closed=fixed)

    def encode(self, row: Row) -> bytes:
        return self.joined([part.encode(row) for part in self.parts])

    def writer(self) -> Writer:
        if self.omittable:
            writers = [part.writer() for part in self.parts]
            return lambda row: self.joined([write(row) for write in writers])
        first = self.parts[0]
        derive = first.derived() if _is_prefix(_inputs(first), self.parts[1:]) else None
        if derive is None:
            return _concatenated([part.writer() for part in self.parts])
        split = 1 + len(_inputs(first))
        shared = _concatenated([part.writer() for part in self.parts[1:split]])
        if split == len(self.parts):
            return lambda row: derive(piece := shared(row)) + piece
        rest = _concatenated([part.writer() for part in self.parts[split:]])
        return lambda row: derive(piece := shared(row)) + piece + rest(row)

    def joined(self, pieces: list[bytes]) -> bytes:
        """The pieces one after the other, nulls at the end left out."""
        for _ in range(self.omittable):
            if pieces[-1] != NULL:
                break
            pieces.pop()
        return b"".join(pieces)

    def residue(self, name: str) -> Residue:
        residues = [part.residue(name) for part in self.parts if name in part.fields]
        return next((r for r in residues if r.nothing), residues[0] if residues else Residue())

    def cut(self, data: bytes) -> list[bytes]:
        """The bytes of each part; b"" for a null that was left out.

        Raises:
            Refused: the bytes do not follow the parts.
        """
        at, pieces = 0, []
        for index, part in enumerate(self.parts):
            if at == len(data) and index >= len(self.parts) - self.omittable:
                pieces.append(b"")
                continue
            end = part.measure(data, at)
            pieces.append(data[at:end])
            at = end
        if at < len(data):
            raise Refused("", f"{len(data) - at} bytes are left over: {data[at:].hex()}")
        if self.omittable and self._last_of(pieces) == NULL:
            raise Refused("", SUPERFLUOUS)
        return pieces

    def _last_of(self, pieces: list[bytes]) -> bytes:
        """The last piece that may be left out and is there."""
        return next(filter(None, reversed(pieces[-self.omittable :])), b"")

    def read(self, piece: bytes) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for part, cut in zip(self.parts, self.cut(piece), strict=True):
            values |= part.read(cut or NULL) if part.takes_nulls else part.read(cut)
        return values

    def batch(self, columns: Columns) -> Pieces:
        from rowkey.keys.batches.pieces import joined

        return joined(self.part_pieces(columns))

    def part_pieces(self, columns: Columns) -> list[Pieces]:
        """The bytes of the parts, nulls at the end left out.

        Neighbours that one coded field decides are one piece.
        """
        pieces: list[Pieces] = []
        for group in _groups(self.parts, columns):
            together = columns.once(*group) if group[0].is_of_one_field else group[0].batch(columns)
            pieces.append(together)
        return self._shortened(pieces, columns) if self.omittable else pieces

    def _shortened(self, pieces: list[Pieces], columns: Columns) -> list[Pieces]:
        """The same pieces, those of nulls at the end emptied."""
        import numpy as np

        from rowkey.keys.batches.pieces import Spans

        left_out = np.ones(len(columns), np.bool_)
        for back in range(1, self.omittable + 1):
            part = self.parts[-back]
            assert isinstance(part, Nullable)
            left_out &= part.absent(columns)
            spans = pieces[-back].spans()
            shortened = np.where(left_out, 0, spans.inner)
            pieces[-back] = Spans(spans.data, spans.starts, shortened)
        return pieces

    def evolves(self, new: Part) -> Change:
        """Fields that may be null may be added at the end: rows that lack them leave them out."""
        if not isinstance(new, Sequence) or len(new.parts) < len(self.parts):
            return Change.BREAKS
        pairs = zip(self.parts, new.parts, strict=False)
        changes = [old.evolves(part) for old, part in pairs]
        if added := new.parts[len(self.parts) :]:
            is_optional = all(isinstance(part, Nullable) for part in added)
            may_grow = is_optional and self.parts[-1].framing.closed
            changes.append(Change.WIDER if may_grow else Change.BREAKS)
        return Change.worst(changes)

    def __repr__(self) -> str:
        return "".join(f"[{part!r}]" for part in self.parts)


def _inputs(part: Part) -> tuple[Part, ...]:
    return part.inputs if isinstance(part, Transform) else ()


def _is_prefix(inputs: tuple[Part, ...], parts: tuple[Part, ...]) -> bool:
    """Whether a part is computed from just what stands behind it, and can share its bytes."""
    head = parts[: len(inputs)]
    return 0 < len(inputs) == len(head) and list(map(repr, inputs)) == list(map(repr, head))


def _concatenated(writers: Listed[Writer]) -> Writer:
    """One writer for several; short lists are spelled out, for a loop costs as much as a part."""
    if len(writers) == 1:
        return writers[0]
    if len(writers) == 2:
        one, two = writers
        return lambda row: one(row) + two(row)
    if len(writers) == 3:
        one, two, three = writers
        return lambda row: one(row) + two(row) + three(row)
    join = b"".join
    return lambda row: join([write(row) for write in writers])


def _omittable(parts: Listed[Part]) -> int:
    """How many parts at the end may be left out."""
    count = 0
    for part in reversed(parts):
        if not isinstance(part, Nullable):
            break
        count += 1
    return count


def _groups(parts: Listed[Part], columns: Columns) -> list[list[Part]]:
    """The parts, neighbours joined that one coded field decides."""

    def marked(part: Part) -> object:
        if part.is_of_one_field and columns.is_coded(part.fields[0]):
            return part.fields[0]
        return part

    return [list(group) for _, group in groupby(parts, key=marked)]
