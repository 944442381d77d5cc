"""How an event becomes a row's cells: which fields live where, and how many bytes that takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rowkey.cells import cell_bytes
from rowkey.rows.contract import Width
from rowkey.rows.places import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey.keys import Field, FieldType, Key, Rest
    from rowkey.rows.contract import CellShape, Place
    from rowkey.schema import Facts

DEFAULT_FAMILY = "d"
UNKNOWN_TEXT_BYTES = 16
"""Taken for the mean of a text of which nothing is known, and said so where it matters."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of an event live.

    Args:
        key: the bound row key.
        family: the first family.
        stored: names of the fields in each place, by the place's name.
        kept: fields of the key that are stored as columns because the key does not hold them whole.
        rests: what time slices leave to the qualifier.
        fields: every declared field.
    """

    key: Key
    family: str
    stored: Mapping[str, tuple[str, ...]]
    kept: tuple[str, ...]
    rests: tuple[Rest, ...]
    fields: Mapping[str, Field] = field(repr=False)

    @property
    def shares_rows(self) -> bool:
        """Whether several events may live in one row, apart by their qualifiers."""
        return bool(self.rests or self.stored.get("qualifier"))

    def cells(self, facts: Mapping[str, Facts] | None = None) -> tuple[CellShape, ...]:
        """The cells that an event writes, columns first.

        Args:
            facts: what is known of the fields' widths.
        """
        widths = self._widths(facts or {})
        cells: list[CellShape] = []
        for kind, placed in self._placed():
            cells += kind.cells(placed, self.family, widths)
        if all(cell.optional for cell in cells):
            cells += KINDS["marker"].cells((), self.family, widths)
        return tuple(cells)

    def qualifier_bytes(self, facts: Mapping[str, Facts] | None = None) -> float:
        """Mean bytes that stand before the qualifier of every cell."""
        widths = self._widths(facts or {})
        opened = sum(rest.width for rest in self.rests)
        return opened + sum(kind.qualifier_bytes(f, widths) for kind, f in self._placed())

    def _placed(self) -> Iterator[tuple[type[Place], list[Field]]]:
        """Each place that is used, with the fields that live there."""
        for name, kind in KINDS.items():
            if names := self.stored.get(name, ()):
                yield kind, [self.fields[field] for field in names]

    def _widths(self, facts: Mapping[str, Facts]) -> dict[str, Width]:
        shares = {name: 1 - facts[name].nulls if name in facts else 1.0 for name in self.fields}
        return {
            name: Width(mean_bytes(declared, facts.get(name)), shares[name])
            for name, declared in self.fields.items()
        }

    def event_bytes(self, key_bytes: float, facts: Mapping[str, Facts] | None = None) -> float:
        """Bytes that one event adds to a store before encoding and compression.

        Args:
            key_bytes: mean bytes of the row key, which every cell repeats.
            facts: what is known of the fields' widths, and how often they are absent.

        Source: KeyValue.java; 20 bytes of overhead, the key, the family and the qualifier a cell.
        """
        before = self.qualifier_bytes(facts)
        fixed = cell_bytes(0, 0, 0, 0)
        return sum(
            (fixed + key_bytes + len(c.family.encode()) + before + len(c.qualifier) + c.value_bytes)
            * c.share
            for c in self.cells(facts)
        )


def mean_bytes(declared: Field, facts: Facts | None) -> float:
    """Mean bytes of a field's value by itself: measured, declared, or from its type."""
    if facts is not None and facts.bytes_mean is not None:
        return facts.bytes_mean
    if declared.words.mean_bytes is not None:
        return declared.words.mean_bytes
    return own_bytes(declared.type)


def own_bytes(kind: FieldType) -> float:
    """Bytes of a value of the type by itself: its width, or a guess for text and bytes."""
    framing = kind.own().framing
    if framing.most is None:
        return float(max(framing.least, UNKNOWN_TEXT_BYTES))
    return (framing.least + framing.most) / 2


def lay_out(key: Key, fields: Mapping[str, Field], family: str = DEFAULT_FAMILY) -> Layout:
    """Where each field lives: in the key, or in the place its words ask for.

    A field that the key holds only in part, as a digest, truncated or as whole seconds, is stored
    as a column too, unless what is lost stands in the qualifier.

    Args:
        key: the bound row key.
        fields: every declared field.
        family: the family of fields that name none.
    """
    rests = tuple(part.rest for part in key.rests() if part.rest is not None)
    sliced = {rest.field for rest in rests}
    whole = {name for name in key.fields if key.body.residue(name).nothing} | sliced
    kept = tuple(name for name in key.fields if name not in whole)
    stored: dict[str, list[str]] = {}
    for name, declared in fields.items():
        asked = declared.words
        is_placed = any((asked.at, asked.pack, asked.qualifier is not None, asked.family))
        if name in whole and not is_placed:
            continue
        place = next(kind.name for kind in KINDS.values() if kind.claims(asked))
        stored.setdefault(place, []).append(name)
    frozen = {place: tuple(names) for place, names in stored.items()}
    return Layout(key, family, frozen, kept, rests, fields)
