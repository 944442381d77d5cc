"""What is remembered of one table."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from rowkey.design import Design

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


BORN = "rowkey.born"
"""The word that tells a table from another one of the same name, made before or after it."""
GENERATION, COUNTS, DECLARATION = "rowkey.generation", "rowkey.counts", "rowkey.declaration"
DESIGN = "rowkey.design"
"""The words among a table's attributes that repeat its entry: number, counts, hash and text."""
LIVE = "rowkey.live"
"""The word that lists the counts of all generations, where rows may stand under several."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The bucket counts that a table has from some time on.

    Args:
        number: from 1; a table is created with the first.
        counts: how many numbers each part of the key takes that is one of so many, by its place
            from 0.
        splits: the row keys that regions began with when the generation was opened, ascending.
        opened_ms: when that was, milliseconds since 1970.
    """

    number: int
    counts: Mapping[int, int]
    splits: tuple[bytes, ...]
    opened_ms: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What is remembered of one table.

    Args:
        declaration: the text of its design file.
        generations: its bucket counts, oldest first; the last one rules.
        codes: by field, the values that `code` has numbered, as text; the first has the id 1.
        version: how often the entry was written; 0 if it never was.
    """

    declaration: str
    generations: tuple[Generation, ...]
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: int = 0

    @classmethod
    def of(cls, design: Design, splits: Sequence[bytes], opened_ms: int) -> Entry:
        """What is remembered of a table when it is created.

        Args:
            design: what it is created with.
            splits: the row keys its regions begin with, ascending.
            opened_ms: now, milliseconds since 1970.

        >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
        >>> Entry.of(design, (), 0).generations[0].counts
        {0: 4}
        """
        first = Generation(1, counts_of(design), tuple(splits), opened_ms)
        return cls(design.dumps(defaults=False), (first,))

    @property
    def design(self) -> Design:
        """The design as it was declared, with the counts of the first generation.

        Raises:
            DeclarationError: this version of rowkey does not understand it.
        """
        return Design.loads(self.declaration)

    @property
    def hash(self) -> str:
        """A hash of the declaration: SHA-256, hexadecimal."""
        return sha256(self.declaration.encode()).hexdigest()

    @property
    def words(self) -> dict[str, str]:
        """What a table itself keeps of its entry, so that it needs no catalog to be opened first.

        A table that was made by hand, cloned or restored tells by them what it is.

        A key without counting parts has no word for them: HBase takes an empty value for none.

        Source: TableDescriptorBuilder.setValue of 2.6.4, by ProtobufUtil.toTableDescriptor.

        >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
        >>> list(Entry.of(design, (), 0).words)
        ['rowkey.generation', 'rowkey.counts', 'rowkey.declaration', 'rowkey.design']
        """
        last = self.generations[-1]
        counts = ",".join(f"{place}={count}" for place, count in sorted(last.counts.items()))
        told = {COUNTS: counts} if counts else {}
        number = str(last.number)
        return {GENERATION: number, **told, DECLARATION: self.hash, DESIGN: self.declaration}


def counts_of(design: Design) -> dict[int, int]:
    """How many numbers each counting part of a key takes, by its place from 0.

    A part counts if its first number is how many byte strings it has: a bucket, a salt, a
    remainder.
    """
    counts = {}
    for place, part in enumerate(design.key.parts):
        given = getattr(part, "arguments", {}).get("n")
        if given is not None and given == part.cardinality:
            counts[place] = given
    return counts
