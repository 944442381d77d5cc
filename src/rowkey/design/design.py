"""A design: all words of one file, bound to each other, ready to be judged and run."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.cells import check_table
from rowkey.design.cutting import bind_splits, prefixes_of
from rowkey.design.dump import dumped, said, spelled
from rowkey.design.load import Written, parsed, text_of
from rowkey.design.mending import NO_NAME, Mended, entity_of, mended
from rowkey.design.paths import in_order, needs_quotes, requoted
from rowkey.design.placing import bind_families, check_columns, check_places
from rowkey.errors import DeclarationError, Mistakes, Refused, did_you_mean
from rowkey.keys import Key, bind_fields, bound_key, recounted
from rowkey.open_file_limit import explains_shortage
from rowkey.plan import Read, bind_reads
from rowkey.regions import Demand
from rowkey.rows import lay_out
from rowkey.schema import (
    Call,
    Cluster,
    Declaration,
    Term,
    parse,
    print_key,
    read_rate,
    read_size,
)
from rowkey.workload import FORMATS, bind_writes, standing_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rowkey.cells import Family
    from rowkey.keys import Dictionary, Domain, Field
    from rowkey.schema import Facts, RowCounts


class Design:
    """One table: its fields, row key, families, boundaries, writes and reads.

    Args:
        table: its name.
        key: the row key in bracket notation, or its terms.
        words: the other words of a design file, as they stand there: `fields`, `families`,
            `splits`, `cluster`, `writes`, `reads`, `sample`, `catalog`.

    Raises:
        DeclarationError: with every mistake found.

    >>> design = Design("logs", "[bucket(host, 16)][host][ts]",
    ...     fields={"host": "text", "ts": "timestamp_ms"}, splits="per_bucket")
    >>> design.key.encode({"host": "web-1", "ts": 1609459200000}).hex()
    '097765622d310000000176bb3e7000'
    >>> len(design.cut.boundaries(design.key))
    16
    """

    def __init__(self, table: str, key: str | tuple[Term, ...], **words: Any) -> None:
        notation = print_key(key) if isinstance(key, tuple) else key
        self.written: Written | None = None
        self._bind({"table": table, "key": notation, **words}, Path())

    @classmethod
    def read(cls, path: str | Path) -> Design:
        """The design of a file.

        Raises:
            DeclarationError: with every mistake, each with its line; or the file cannot be read.
        """
        path = Path(path)
        return cls.loads(text_of(path), source=str(path), directory=path.parent)

    @classmethod
    @explains_shortage
    def loads(cls, text: str, *, source: str = "", directory: Path | None = None) -> Design:
        """The design of a text.

        Args:
            text: what stands in the file.
            source: its name, printed before line numbers.
            directory: what the path of a sample is relative to.

        Raises:
            DeclarationError: with every mistake, each with its line.
        """
        words, places = parsed(text, source)
        design = cls.__new__(cls)
        try:
            design._bind(words, directory or Path())  # noqa: SLF001 - its own
        except DeclarationError as problem:
            raise DeclarationError(places.placed(problem.mistakes), source) from None
        design.written = Written(source, text, places)
        return design

    def dumps(self, *, defaults: bool = True) -> str:
        """The design as the text of a file; `loads` gives it back.

        What was declared stays declared: rules ask which words a design says itself, and a word
        that stands in its file means the same when defaults have changed.

        Args:
            defaults: whether words are kept that were declared and say the default; without them
                designs that mean the same have the same text.

        >>> print(Design("t", "[id]", fields={"id": "u64"}).dumps())
        table = "t"
        key   = "[id]"
        <BLANKLINE>
        [fields]
        id = "u64"
        <BLANKLINE>
        """
        return dumped(self.declaration, defaults=defaults)

    def in_use(self, dictionary: Dictionary, seed: int) -> Design:
        """The same design for a table that lives: its codes are the table's, its salts its own.

        Args:
            dictionary: gives ids to the values of `code`.
            seed: where random salts begin; a number that nobody else uses spreads best.
        """
        used = copy(self)
        key = bound_key(self.key.terms, self.fields, Mistakes(), dictionary=dictionary, seed=seed)
        assert key is not None, "it was bound before"
        used._complete(key)  # noqa: SLF001 - its own
        return used

    def counted(self, counts: Mapping[int, int]) -> tuple[Term, ...]:
        """The terms of the key with other counts.

        Args:
            counts: how many numbers a part takes, by its place from 0; others stay as they are.
        """
        terms = list(self.key.terms)
        for place, count in counts.items():
            term = terms[place]
            assert isinstance(term, Call), "what counts is a transform"
            terms[place] = replace(term, scalars=(count, *term.scalars[1:]))
        return tuple(terms)

    def counting(self, counts: Mapping[int, int]) -> Design:
        """The same design with other counts in its key.

        Args:
            counts: as for `counted`.

        Raises:
            DeclarationError: the key cannot have them.

        >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
        >>> str(design.counting({0: 8}).key)
        '[bucket(id, 8)][id]'
        """
        words = self.declaration.model_dump(by_alias=True, exclude_defaults=True)
        words["key"] = print_key(self.counted(counts))
        found = Design(**words)
        found.directory = self.directory
        return found

    def reading(self, others: Sequence[Design]) -> Design:
        """The same design for reading rows that were written under other counts as well.

        It writes as it did. A read tries every place that a row may have, under whichever count.

        Args:
            others: the same design with those counts, as `counting` and `in_use` give it.
        """
        used = copy(self)
        used._complete(recounted([self.key, *(one.key for one in others)]))  # noqa: SLF001 - its own
        return used

    def __repr__(self) -> str:
        """The design as Python would declare it."""
        words = said(self.declaration)
        table, key = words.pop("table"), words.pop("key")
        more = "".join(f", {word}={spelled(value)}" for word, value in words.items())
        return f"Design({table!r}, {key!r}{more})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.declaration == other.declaration

    __hash__ = None  # type: ignore[assignment]

    def _bind(self, words: Mapping[str, Any], directory: Path) -> None:
        """Bind every word; what is wrong with any of them is raised together."""
        noted, later = Mistakes(), Mistakes()
        left = mended(words, noted)
        self.declaration = left.declaration
        self.directory = directory
        self._bind_words(left, later)
        noted.found += [mistake for mistake in later.found if not left.is_follow_up(mistake.path)]
        noted.raise_any()

    def _bind_words(self, left: Mended, mistakes: Mistakes) -> None:
        declaration = left.declaration
        for refusal in check_table(declaration.table):
            mistakes.refused("table", refusal)
        self.table = declaration.table
        bound = self._declared(declaration, mistakes)
        self.fields = {n: f for n, f in bound.items() if n not in {NO_NAME, *left.unbound}}
        terms = self._terms(declaration.key, mistakes)
        unknown = left.unknown(self.fields, terms)
        key = self._key(terms, unknown, mistakes)
        self.families: dict[str, Family] = bind_families(declaration, mistakes)
        self.cut = bind_splits(declaration.splits, mistakes)
        self.cluster = self._cluster(declaration, mistakes)
        self.reads: tuple[Read, ...] = bind_reads(left.reads(unknown), self.fields, mistakes)
        self._bind_writes(unknown, mistakes)
        self._check_sample(mistakes)
        check_places(self.fields, self.families, left.families, mistakes)
        if key is not None:
            self.cut.check(key, mistakes)
            self._complete(key)
            check_columns(self.layout, mistakes)

    def _declared(self, declaration: Declaration, mistakes: Mistakes) -> dict[str, Field]:
        """The bound fields: each by itself, so that paths name it whatever it is called."""
        bound: dict[str, Field] = {}
        for name, words in declaration.fields.items():
            found = Mistakes()
            bound |= bind_fields({name: words}, found)
            mistakes.found += requoted(found.found, ("fields", name))
        return bound

    def _key(
        self, terms: tuple[Term, ...], unknown: frozenset[str], mistakes: Mistakes
    ) -> Key | None:
        """The bound key; what is wrong with it is noted first part first."""
        found = Mistakes()
        key = bound_key(terms, self.fields, found, unknown=unknown) if terms else None
        mistakes.found += sorted(found.found, key=lambda mistake: in_order(mistake.path))
        return key if key is not None and len(key.parts) == len(terms) else None

    def _bind_writes(self, unknown: frozenset[str], mistakes: Mistakes) -> None:
        """The writes; what names a field that could not be bound is no mistake of its own."""
        words, found = self.declaration.writes, Mistakes()
        self.writes = bind_writes(words, self.fields, found)
        named = {"writes.time": words.time, "writes.arrival": entity_of(words.arrival)}
        lost = {path for path, name in named.items() if name in unknown}
        noted = [mistake for mistake in found.found if mistake.path not in lost]
        for name in filter(needs_quotes, self.fields):
            noted = list(requoted(noted, ("fields", name, "draw")))
        mistakes.found += noted

    def _complete(self, key: Key) -> None:
        self.key = key
        self.layout = lay_out(key, self.fields, next(iter(self.families)))

    def _terms(self, text: str, mistakes: Mistakes) -> tuple[Term, ...]:
        try:
            return parse(text)
        except Refused as refusal:
            mistakes.refused("key", refusal)
            return ()

    def _cluster(self, declaration: Declaration, mistakes: Mistakes) -> Cluster:
        words = declaration.cluster

        def number(path: str, text: str | None, parse_it: Callable[[str], Any]) -> Any:
            try:
                value = None if text is None else parse_it(text)
            except Refused as refusal:
                mistakes.refused(f"cluster.{path}", refusal)
                return None
            if value == 0:
                mistakes.add(f"cluster.{path}", f"{text!r} is nothing", "above 0")
            return value

        capacity = number("capacity", words.capacity, read_rate)
        return Cluster(words.servers, capacity, number("heap", words.heap, read_size))

    def _check_sample(self, mistakes: Mistakes) -> None:
        """Note what is wrong with the way the sample is read."""
        words, path = self.sample_format, "sample.format"
        if words is None:
            return
        name = str(words.get("kind")).replace("-", "_")
        if name not in FORMATS:
            near = did_you_mean(name, FORMATS)
            mistakes.add(path, f"{name!r} is not a format", ", ".join(FORMATS), near)
            return
        try:
            FORMATS[name](words)
        except Refused as refusal:
            mistakes.refused(path, refusal)

    @property
    def sample_path(self) -> Path | None:
        """The declared sample, relative to where the design lies."""
        sample = self.declaration.sample
        return None if sample is None else Path(normpath(self.directory / sample.path))

    @property
    def sample_format(self) -> Mapping[str, Any] | None:
        """How the declared sample is read, if that was said."""
        sample = self.declaration.sample
        return None if sample is None else sample.format

    def wanted_fields(self) -> dict[str, Field]:
        """The fields that judging needs of each event: those of the key, of reads, and the time."""
        names = dict.fromkeys(self.key.fields)
        for read in self.reads:
            names |= dict.fromkeys(read.asked)
        if self.writes.time is not None:
            names[self.writes.time.name] = None
        return {name: self.fields[name] for name in names}

    def domain(self, name: str) -> Domain:
        """The values that a field may have: those of its type that the key has room for."""
        return self.key.domain(name) if name in self.key.fields else self.fields[name].type.domain

    def demand(
        self, facts: Mapping[str, Facts] | None = None, *, counts: RowCounts | None = None
    ) -> Demand:
        """What the table will hold and stand, as far as the file and a sample tell.

        Rows that are written again do not make it larger, but for the versions that are kept.

        Args:
            facts: what is known of the fields.
            counts: how many rows the events of a sample are.
        """
        prefixes = prefixes_of(self.key)
        each = self.layout.family_bytes(self.key_bytes(facts), facts)
        size_each = sum(each.values())
        rate, capacity = self.writes.rate, self.cluster.capacity
        size = standing_bytes(self.layout, self.families, self.writes, each, counts)
        return Demand(
            size=0 if size is None else int(min(size, 2**62)),
            servers=self.cluster.servers,
            families=len(self.families),
            heap=self.cluster.heap,
            writes=None if rate is None else int(rate * size_each),
            capacity=None if capacity is None else max(int(capacity * size_each), 1),
            scans=any(read.limit is None for read in self.reads),
            prefixes=None if prefixes is None else len(prefixes),
        )

    def key_bytes(self, facts: Mapping[str, Facts] | None = None) -> float:
        """Mean bytes of a row key, from the widths of its parts and what is known of the fields."""
        total = 0.0
        for part in self.key.parts:
            framing = part.framing
            if framing.width is not None:
                total += framing.width
                continue
            known = [(facts or {}).get(name) for name in part.fields]
            widths = [f.bytes_mean for f in known if f is not None and f.bytes_mean is not None]
            top = framing.most if framing.most is not None else framing.least + 32
            total += framing.least + sum(widths) if widths else (framing.least + top) / 2
        return total
