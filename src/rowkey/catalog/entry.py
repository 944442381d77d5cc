"""What is remembered of one table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import isnan
from typing import TYPE_CHECKING

from rowkey.design import Design
from rowkey.errors import Refused, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


CATALOG_WORD = "rowkey.catalog"
"""The word of a table that names its catalog, where that is not next to it."""
BORN = "rowkey.born"
"""The word that tells a table from another one of the same name, made before or after it."""
GENERATION, COUNTS, DECLARATION = "rowkey.generation", "rowkey.counts", "rowkey.declaration"
DESIGN = "rowkey.design"
"""The words among a table's attributes that repeat its entry: number, counts, hash and text."""
LIVE = "rowkey.live"
"""The word that lists the counts of all generations, where rows may stand under several."""
STALE = "rowkey.stale"
"""The word that says how many seconds a client may go on without the catalog, where not 60."""
MAX_STALE_S = 60.0
"""Seconds that a client goes on without its catalog. A leader of ZooKeeper is elected in some
seconds and restarted in some ten; whoever changes a table waits for as long."""
MOST_STALE_S = 86_400.0
"""Seconds that it may go on at most: whoever asks for more has mistaken the unit."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The bucket counts that a table has from some time on.

    Args:
        number: from 1; a table is created with the first.
        counts: how many numbers each part of the key takes that is one of so many, by its place
            from 0.
        splits: the row keys that regions began with when the generation was opened, ascending.
        opened_ms: when that was, milliseconds since 1970; None if nobody knows any more, nor how
            many regions there were, for the catalog was restored.
        rules: whether rows are written under it, or were before a later one ruled; one that does
            not yet is announced, so that everyone reads it and deletes in it before anyone writes.
    """

    number: int
    counts: Mapping[int, int]
    splits: tuple[bytes, ...]
    opened_ms: int | None
    rules: bool = True

    def is_of(self, other: Generation) -> bool:
        """Whether both are one generation, as it may be before it rules and since.

        A number does not tell: a catalog that was lost gives it once more.

        >>> told = Generation(2, {0: 32}, (), 1_000, rules=False)
        >>> [told.is_of(Generation(2, {0: count}, (), 1_000)) for count in (32, 64)]
        [True, False]
        """
        times = {self.opened_ms, other.opened_ms} - {None}
        return (self.number, self.counts) == (other.number, other.counts) and len(times) < 2


@dataclass(frozen=True, slots=True)
class Entry:
    """What is remembered of one table.

    Args:
        declaration: the text of its design file.
        generations: its bucket counts, oldest first: all under which rows may stand. The last one
            with `rules` is written; only the very last may be without.
        codes: by field, the values that `code` has numbered, as text; the first has the id 1.
        version: how often the entry was written; 0 if it never was.
        max_stale_s: seconds that a client goes on without having read the entry.
        longest_s: seconds that some client may still go on: more than `max_stale_s` while that is
            being lowered.
        born: the word that tells the table from another one of its name, as it keeps that itself;
            empty if nobody knows it.
        is_made: whether the table was made; else nothing was ever written to it.
    """

    declaration: str
    generations: tuple[Generation, ...]
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: int = 0
    max_stale_s: float = MAX_STALE_S
    longest_s: float = MAX_STALE_S
    born: str = ""
    is_made: bool = True

    @classmethod
    def of(
        cls,
        design: Design,
        splits: Sequence[bytes],
        opened_ms: int,
        max_stale_s: float = MAX_STALE_S,
    ) -> Entry:
        """What is remembered of a table when it is created.

        Args:
            design: what it is created with.
            splits: the row keys its regions begin with, ascending.
            opened_ms: now, milliseconds since 1970.
            max_stale_s: seconds that a client goes on without having read the entry.

        >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
        >>> Entry.of(design, (), 0).generations[0].counts
        {0: 4}
        """
        first = Generation(1, counts_of(design), tuple(splits), opened_ms)
        return cls(
            design.dumps(defaults=False), (first,), max_stale_s=max_stale_s, longest_s=max_stale_s
        )

    @property
    def ruling(self) -> Generation:
        """The generation under which rows are written: the newest that rules."""
        return next(one for one in reversed(self.generations) if one.rules)

    @property
    def announced(self) -> Generation | None:
        """The generation that is going to rule, if there is one."""
        last = self.generations[-1]
        return None if last.rules else last

    @property
    def live(self) -> tuple[Generation, ...]:
        """The generations that rows may stand under: the ruling one, then the others, newest first.

        >>> first = Generation(1, {0: 4}, (), 0)
        >>> entry = Entry("", (first, Generation(2, {0: 8}, (), 0, rules=False)))
        >>> [one.number for one in entry.live], [one.number for one in entry.ruled().live]
        ([1, 2], [2, 1])
        """
        others = [one for one in reversed(self.generations) if one is not self.ruling]
        return (self.ruling, *others)

    def follows(self, before: Entry) -> bool:
        """Whether whoever goes by an earlier entry of a table may go by this one from now on.

        A version does not tell: a catalog that was lost and put back, and a table that was dropped
        and made anew, begin with the first once more. So everything that the earlier one has must
        be in this one, and of one version both must be the same.

        >>> first = Entry("", (Generation(1, {0: 4}, (), 5),), version=1)
        >>> anew = replace(first, generations=(Generation(1, {0: 8}, (), 9),), version=7)
        >>> later = replace(first.announcing({0: 8}, (), 9), version=2)
        >>> [one.follows(first) for one in (first, later, anew, replace(later, version=1))]
        [True, True, False, False]
        """
        if self.version < before.version or len({self.born, before.born} - {""}) > 1:
            return False
        pairs = zip(self.generations, before.generations, strict=False)
        has_all = len(self.generations) >= len(before.generations) and all(
            mine.is_of(one) and mine.rules >= one.rules for mine, one in pairs
        )
        return has_all and (self.version > before.version or self._is_like(before))

    def _is_like(self, other: Entry) -> bool:
        """Whether both say the same of what the table is; each has the generations of the other."""
        told = [
            (one.declaration, one.codes, len(one.generations), one.announced is None)
            for one in (self, other)
        ]
        return told[0] == told[1]

    def announcing(
        self,
        counts: Mapping[int, int],
        splits: Sequence[bytes],
        opened_ms: int,
        max_stale_s: float | None = None,
    ) -> Entry:
        """The entry with a generation that is going to rule, once everyone must have read of it.

        Args:
            counts: its counts.
            splits: the row keys that regions begin with now, ascending.
            opened_ms: now, milliseconds since 1970.
            max_stale_s: seconds that clients may go on from now on; None as before.
        """
        number = self.generations[-1].number + 1
        last = Generation(number, counts, tuple(splits), opened_ms, rules=False)
        stale_s = self.max_stale_s if max_stale_s is None else max_stale_s
        longest_s = max(self.longest_s, stale_s)
        generations = (*self.generations, last)
        return replace(self, generations=generations, max_stale_s=stale_s, longest_s=longest_s)

    def ruled(self) -> Entry:
        """The entry once the announced generation rules: everyone knows of it by now."""
        *before, last = self.generations
        generations = (*before, replace(last, rules=True))
        return replace(self, generations=generations, longest_s=self.max_stale_s)

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
        counts = counts_said(self.ruling)
        told = {COUNTS: counts} if counts else {}
        standing = [one for one in self.generations if one.rules]
        if len(standing) > 1:
            told[LIVE] = " ".join(f"{one.number}:{counts_said(one)}" for one in standing)
        if self.longest_s != MAX_STALE_S:
            told[STALE] = f"{self.longest_s:g}"
        number = str(self.ruling.number)
        return {GENERATION: number, **told, DECLARATION: self.hash, DESIGN: self.declaration}


OWN = frozenset({GENERATION, COUNTS, LIVE, STALE, DECLARATION, DESIGN})
"""The words of a table that repeat its entry."""


def is_told(words: Mapping[str, str], entry: Entry) -> bool:
    """Whether a table's words repeat an entry, and nothing that it has no more."""
    return {word: words[word] for word in OWN & words.keys()} == entry.words


def telling(words: Mapping[str, str], entry: Entry) -> dict[str, str]:
    """A table's words once they repeat an entry; those of others stay.

    >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
    >>> entry = Entry.of(design, (), 0)
    >>> "rowkey.live" in telling({"rowkey.live": "1:0=2 2:0=4"}, entry)
    False
    """
    return {word: text for word, text in words.items() if word not in OWN} | entry.words


def counts_said(one: Generation) -> str:
    """The counts of a generation, as a table's words have them."""
    return ",".join(f"{place}={count}" for place, count in sorted(one.counts.items()))


def check_stale(seconds: object, path: str = "max_stale", said: str = "") -> None:
    """Refuse what is no length of time that a client may go on without its catalog.

    Args:
        seconds: the time.
        path: what it was given as, for the message.
        said: how it was written, if not as this number.

    Raises:
        Refused: it is none, or too short or too long.
    """
    what, told = "", repr(said) if said else shown(seconds)
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or isnan(seconds):
        what = f"{told} is no length of time"
    elif seconds <= 0:
        what = f"{told} is too short"
    elif seconds > MOST_STALE_S:
        what = f"{told} is too long"
    if what:
        allowed = f"seconds, above 0, at most {MOST_STALE_S:,.0f}"
        remedy = "A change of the number of buckets waits for a little longer."
        raise Refused(path, what, "above 0s, at most 24h" if said else allowed, remedy)


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
