"""The design of one table: every option of its file, bound and validated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.cells import Family, find_table_name_mistakes
from rowkey.design.companions import (
    bind_companions,
    declare_index_gets,
    find_serving_companion,
    is_index,
)
from rowkey.design.design_source import DesignSource, parse_toml, read_design_text
from rowkey.design.partial_declaration import (
    PLACEHOLDER_NAME,
    PartialDeclaration,
    parse_declaration,
    parse_entity,
)
from rowkey.design.paths import build_path_sort_key, needs_quotes, requote_paths
from rowkey.design.placement_checks import bind_families, check_column_collisions, check_placements
from rowkey.design.splits import bind_splits, list_key_prefixes
from rowkey.design.toml_dump import build_declared_tree, dump_declaration, format_python_value
from rowkey.errors import InvalidArgument, InvalidDesign, Mistakes
from rowkey.keys import (
    Determinant,
    Dictionary,
    Domain,
    ExampleDictionary,
    Field,
    Key,
    bind_fields,
    build_key,
    combine_keys,
)
from rowkey.messages import suggest_name
from rowkey.open_file_limit import explain_shortage
from rowkey.plan import DeclaredRead, bind_declared_reads
from rowkey.regions import TableDemand
from rowkey.rows import build_layout
from rowkey.schema import (
    Cluster,
    DesignDeclaration,
    FieldFacts,
    FunctionCall,
    RowCounts,
    Term,
    format_key,
    parse_key,
    parse_rate,
    parse_size,
)
from rowkey.workload import FORMATS, bind_writes, estimate_table_bytes

if TYPE_CHECKING:
    from rowkey.workload import FamilySize

MOB_REFERENCE_BYTES = 109
"""Bytes of a cell's value that stand for a large value in a MOB file: its length in 4, and the
file's name. Source: MobFileName.java; 32 of a digest, 8 of a date, 32 of an id, 33 of a region."""


class Design:
    """One table: its fields, row key, families, boundaries, writes and reads.

    Args:
        table: its name.
        key: the row key in bracket notation, or its terms.
        words: the other words of a design file, as they stand there: `fields`, `families`,
            `splits`, `cluster`, `writes`, `reads`, `sample`, `companions`, `catalog`.

    Raises:
        InvalidDesign: with every mistake found.

    >>> design = Design("logs", "[bucket(host, 16)][host][ts]",
    ...     fields={"host": "text", "ts": "timestamp_ms"}, splits="per_bucket")
    >>> design.key.encode({"host": "web-1", "ts": 1609459200000}).hex()
    '097765622d310000000176bb3e7000'
    >>> len(design.splits.compute_boundaries(design.key))
    16
    """

    def __init__(self, table: str, key: str | tuple[Term, ...], **words: Any) -> None:
        notation = format_key(key) if isinstance(key, tuple) else key
        self.source: DesignSource | None = None
        self.first_source: DesignSource | None = None
        self.companions: Mapping[str, Design]
        self._bind_tree({"table": table, "key": notation, **words}, Path())

    @classmethod
    def read(cls, path: str | Path) -> Design:
        """Read a design from a TOML file.

        Raises:
            InvalidDesign: with every mistake, each with its line; or the file cannot be read.
        """
        path = Path(path)
        return cls.loads(read_design_text(path), source=str(path), directory=path.parent)

    @classmethod
    @explain_shortage
    def loads(cls, text: str, *, source: str = "", directory: str | Path | None = None) -> Design:
        """Read a design from the text of a TOML file.

        Args:
            text: what stands in the file.
            source: its name, printed before line numbers.
            directory: what the paths of a sample and of companions are relative to; without it the
                design files of companions are not read.

        Raises:
            InvalidDesign: with every mistake, each with its line.
        """
        folder = None if directory is None else Path(directory)
        return cls._load(text, source, folder, reads_companions=folder is not None)

    @classmethod
    def read_companion(cls, path: Path) -> Design:
        """Read the design of a companion, which is not to have companions of its own.

        Raises:
            InvalidDesign: as `read`.
        """
        return cls._load(read_design_text(path), str(path), path.parent, reads_companions=False)

    @classmethod
    def _load(
        cls, text: str, source: str, directory: Path | None, *, reads_companions: bool
    ) -> Design:
        words, places = parse_toml(text, source)
        design = cls.__new__(cls)
        try:
            design._bind_tree(  # noqa: SLF001 - its own
                words, directory or Path(), reads_companions=reads_companions
            )
        except InvalidDesign as problem:
            raise InvalidDesign(places.locate_mistakes(problem.mistakes), source) from None
        design.source = design.first_source = DesignSource(source, text, places)
        return design

    def read_companions(self) -> Mapping[str, Design]:
        """Return the designs of the declared companions, read now if they were not read before.

        Raises:
            InvalidDesign: with every mistake in their declaration.
        """
        if self.declaration.companions and not self.companions:
            mistakes = Mistakes()
            self.companions = bind_companions(self, mistakes)
            mistakes.raise_any()
        return self.companions

    @property
    def companion_keys(self) -> dict[str, Key]:
        """The keys of this table and of its companions by name; empty without companions."""
        companions = {name: one.key for name, one in self.companions.items()}
        return {self.table: self.key, **companions} if companions else {}

    def keep_own_reads(self, facts: Mapping[str, FieldFacts]) -> Design:
        """Return the design without the reads that a companion serves; itself if none does.

        It has a read for the rows that each read of an index gets from this table.

        Args:
            facts: the facts of the fields, from which reads get example values.
        """
        own, gets = [], []
        for read in self.reads:
            name = find_serving_companion(self, read, facts)
            if not name:
                own.append(read)
            elif is_index(self, self.companions[name]):
                gets.append(declare_index_gets(self, self.companions[name], read, facts))
        if len(own) == len(self.reads):
            return self
        names = {read.name for read in own}
        added = [one for one in gets if one is not None]
        declared = [one for one in self.declaration.reads if one.name in names]
        found = copy(self)
        found.reads = (*own, *bind_declared_reads(added, self.fields, Mistakes()))
        found.declaration = self.declaration.model_copy(update={"reads": (*declared, *added)})
        return found

    def dumps(self, *, defaults: bool = True) -> str:
        """Return the design as the text of a TOML file, which `loads` reads back.

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
        return dump_declaration(self.declaration, defaults=defaults)

    def copy_with_dictionary(self, dictionary: Dictionary) -> Design:
        """Return the same design with other ids for the values of `code`.

        Args:
            dictionary: assigns the ids, such as those of a table.
        """
        design_copy = copy(self)
        key = build_key(self.key.terms, self.fields, Mistakes(), dictionary=dictionary)
        assert key is not None, "it was bound before"
        design_copy._set_key(key)  # noqa: SLF001 - its own
        return design_copy

    def build_example_key(self) -> Key:
        """Return the row key by which reads are planned with example values.

        It has ids for any values of `code`, as the dictionary of a table has for those of its rows.
        """
        if all(part.determined_by is not Determinant.DICTIONARY for part in self.key.parts):
            return self.key
        return self.copy_with_dictionary(ExampleDictionary()).key

    def replace_term_counts(self, counts: Mapping[int, int]) -> tuple[Term, ...]:
        """Return the terms of the key with other bucket or salt counts.

        Args:
            counts: how many numbers a part takes, by its place from 0; others stay as they are.
        """
        terms = list(self.key.terms)
        for place, count in counts.items():
            term = terms[place]
            assert isinstance(term, FunctionCall), "what counts is a transform"
            terms[place] = replace(term, scalars=(count, *term.scalars[1:]))
        return tuple(terms)

    def copy_with_counts(self, counts: Mapping[int, int]) -> Design:
        """Return the same design with other bucket or salt counts in its key.

        Args:
            counts: as for `replace_term_counts`.

        Raises:
            InvalidDesign: the key cannot have them.

        >>> design = Design("t", "[bucket(id, 4)][id]", fields={"id": "u64"})
        >>> str(design.copy_with_counts({0: 8}).key)
        '[bucket(id, 8)][id]'
        """
        found = self.copy_with_options(key=format_key(self.replace_term_counts(counts)))
        found.companions = self.companions
        return found

    @property
    def has_event_rows(self) -> bool:
        """Return whether each event is to be a row of its own: the key or an order names a time.

        Else the rows may be those of entities, of which later events change the values.
        """
        names = {*self.key.fields, *(one.field for read in self.reads for one in read.order)}
        return any(self.fields[name].type.unit_ns is not None for name in names)

    def copy_with_options(self, **options: Any) -> Design:
        """Return the same design with some options replaced, as a design file writes them.

        The comments of its file that allow findings hold for it too: `first_source` stays.

        Args:
            options: the new values by name; None removes an option.

        Raises:
            InvalidDesign: no design can have them.
        """
        declared = self.declaration.model_dump(by_alias=True, exclude_defaults=True)
        changed = {name: one for name, one in (declared | options).items() if one is not None}
        design = Design(**changed)
        design.directory, design.first_source = self.directory, self.first_source
        return design

    def copy_with_key(self, key: str, splits: str = "") -> Design:
        """Return the same design with another key, as `copy_with_options`, in a third of its time.

        Args:
            key: in bracket notation, of declared fields.
            splits: the split algorithm; that of this design if empty.

        Raises:
            InvalidDesign: the design cannot have the key.
        """
        design, mistakes = copy(self), Mistakes()
        options = {"key": key, **({"splits": splits} if splits else {})}
        design.declaration = self.declaration.model_copy(update=options)
        design.source, design.companions = None, {}
        design.splits = bind_splits(design.declaration.splits, mistakes)
        bound_key = self._bind_key(self._parse_key(key, mistakes), frozenset(), mistakes)
        design._bind_layout(bound_key, mistakes)  # noqa: SLF001 - its own
        mistakes.raise_any()
        return design

    def copy_for_reading(self, other_designs: Sequence[Design]) -> Design:
        """Return the design for reading rows that were also written under other counts.

        It writes as before. A read tries every row key that a row may have under any of the counts.

        Args:
            other_designs: the same design with those counts, from `copy_with_counts`.
        """
        design_copy = copy(self)
        design_copy._set_key(combine_keys([self.key, *(one.key for one in other_designs)]))  # noqa: SLF001 - its own
        return design_copy

    def __copy__(self) -> Design:
        """Return a shallow copy; `__reduce__` would bind the design again."""
        copied = object.__new__(type(self))
        copied.__dict__ |= self.__dict__
        return copied

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to bind the design again: its encoders are closures, which pickle refuses."""
        keys = self.key.variants or (self.key,)
        words = build_declared_tree(self.declaration)
        terms = tuple(key.terms for key in keys)
        files = self.source, self.first_source
        others = terms, self.key.dictionary, self.companions
        return _restore_design, (words, self.directory, *files, *others)

    def __repr__(self) -> str:
        """Return the design as the Python call that declares it."""
        words = build_declared_tree(self.declaration)
        table, key = words.pop("table"), words.pop("key")
        more = "".join(f", {word}={format_python_value(value)}" for word, value in words.items())
        return f"Design({table!r}, {key!r}{more})"

    def build_write_identity(self) -> str:
        """Return a text that is the same for designs that differ only in their name and reads."""
        options = self.declaration.model_dump(exclude={"table", "reads", "companions"})
        return json.dumps(options, sort_keys=True, default=str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.declaration == other.declaration

    __hash__ = None  # type: ignore[assignment]

    def _bind_tree(
        self, tree: Mapping[str, Any], directory: Path, *, reads_companions: bool = False
    ) -> None:
        """Bind every option; raise all mistakes together."""
        tree_mistakes, binding_mistakes = Mistakes(), Mistakes()
        partial = parse_declaration(tree, tree_mistakes)
        self.declaration = partial.declaration
        self.directory = directory
        self.companions = {}
        """The designs of the declared companions by name, if their files were read."""
        self._bind_declaration(partial, binding_mistakes)
        if reads_companions and partial.declaration.companions:
            self.companions = bind_companions(self, binding_mistakes)
        tree_mistakes.mistakes += [
            mistake
            for mistake in binding_mistakes.mistakes
            if not partial.is_follow_up(mistake.path)
        ]
        tree_mistakes.raise_any()

    def _bind_declaration(self, partial: PartialDeclaration, mistakes: Mistakes) -> None:
        """Bind a declaration and note the mistakes that only the whole file shows."""
        declaration = partial.declaration
        for refusal in find_table_name_mistakes(declaration.table):
            mistakes.add_invalid_argument("table", refusal)
        self.table = declaration.table
        bound = self._bind_fields(declaration, mistakes)
        self.fields = {
            n: f for n, f in bound.items() if n not in {PLACEHOLDER_NAME, *partial.unbound_fields}
        }
        terms = self._parse_key(declaration.key, mistakes)
        unknown = partial.find_unknown_names(self.fields, terms)
        key = self._bind_key(terms, unknown, mistakes)
        self.families: dict[str, Family] = bind_families(declaration, mistakes)
        self.splits = bind_splits(declaration.splits, mistakes)
        self.cluster = self._bind_cluster(declaration, mistakes)
        self.reads: tuple[DeclaredRead, ...] = bind_declared_reads(
            partial.filter_reads(unknown), self.fields, mistakes
        )
        self._bind_writes(unknown, mistakes)
        self._check_sample(mistakes)
        check_placements(self.fields, self.families, partial.family_names, mistakes)
        self._bind_layout(key, mistakes)

    def _bind_layout(self, key: Key | None, mistakes: Mistakes) -> None:
        """Set the key, and note mistakes in the splits and columns that follow from it."""
        if key is not None:
            self.splits.check_boundaries(key, mistakes)
            self._set_key(key)
            check_column_collisions(self.layout, mistakes)

    def _bind_fields(self, declaration: DesignDeclaration, mistakes: Mistakes) -> dict[str, Field]:
        """Return the bound fields, each bound alone so that mistakes have its path."""
        bound_fields: dict[str, Field] = {}
        for name, words in declaration.fields.items():
            field_mistakes = Mistakes()
            bound_fields |= bind_fields({name: words}, field_mistakes)
            mistakes.mistakes += requote_paths(field_mistakes.mistakes, ("fields", name))
        return bound_fields

    def _bind_key(
        self, terms: tuple[Term, ...], unknown: frozenset[str], mistakes: Mistakes
    ) -> Key | None:
        """Return the bound key; note its mistakes in the order of the parts."""
        key_mistakes = Mistakes()
        key = build_key(terms, self.fields, key_mistakes, unbound_names=unknown) if terms else None
        mistakes.mistakes += sorted(
            key_mistakes.mistakes, key=lambda mistake: build_path_sort_key(mistake.path)
        )
        return key if key is not None and len(key.parts) == len(terms) else None

    def _bind_writes(self, unknown: frozenset[str], mistakes: Mistakes) -> None:
        """Bind the writes, without mistakes that follow from fields that could not be bound."""
        words, write_mistakes = self.declaration.writes, Mistakes()
        self.writes = bind_writes(words, self.fields, write_mistakes)
        names_by_path = {"writes.time": words.time, "writes.arrival": parse_entity(words.arrival)}
        follow_up_paths = {path for path, name in names_by_path.items() if name in unknown}
        reported_mistakes = [
            mistake for mistake in write_mistakes.mistakes if mistake.path not in follow_up_paths
        ]
        for name in filter(needs_quotes, self.fields):
            reported_mistakes = list(requote_paths(reported_mistakes, ("fields", name, "draw")))
        mistakes.mistakes += reported_mistakes

    def _set_key(self, key: Key) -> None:
        """Set the key and the layout that follows from it."""
        self.key = key
        self.layout = build_layout(key, self.fields, next(iter(self.families)))

    def _parse_key(self, text: str, mistakes: Mistakes) -> tuple[Term, ...]:
        """Return the terms of the key, or none if it has a syntax error."""
        try:
            return parse_key(text)
        except InvalidArgument as refusal:
            mistakes.add_invalid_argument("key", refusal)
            return ()

    def _bind_cluster(self, declaration: DesignDeclaration, mistakes: Mistakes) -> Cluster:
        words = declaration.cluster

        def number(path: str, text: str | None, parse_it: Callable[[str], Any]) -> Any:
            """Return a parsed number above zero of `[cluster]`; None if absent or wrong."""
            try:
                value = None if text is None else parse_it(text)
            except InvalidArgument as refusal:
                mistakes.add_invalid_argument(f"cluster.{path}", refusal)
                return None
            if value == 0:
                mistakes.add(f"cluster.{path}", f"{text!r} is zero", "more than 0")
            return value

        capacity = number("capacity", words.capacity, parse_rate)
        return Cluster(
            words.servers,
            capacity,
            number("heap", words.heap, parse_size),
            words.price_per_server_hour,
            words.price_per_gib_month,
        )

    def _check_sample(self, mistakes: Mistakes) -> None:
        """Note mistakes in the part and the format of the declared sample."""
        known = ("period", "events", *self.declaration.fields)
        if self.sample_part not in known:
            what = f"{self.sample_part!r} is no field"
            near = suggest_name(self.sample_part, known)
            mistakes.add("sample.of", what, "period, events or the name of a field", near)
        if self.sample_share is not None and self.sample_part == "period":
            what = "a share is declared of a file with all events of some time"
            remedy = "Declare sample.of: what the file has a part of; or leave sample.share out."
            mistakes.add("sample.share", what, "of = events or a field", remedy)
        words, path = self.sample_format, "sample.format"
        if words is None:
            return
        name = str(words.get("kind")).replace("-", "_")
        if name not in FORMATS:
            near = suggest_name(name, FORMATS)
            mistakes.add(
                path, f"{name!r} is not a sample format", f"one of {', '.join(FORMATS)}", near
            )
            return
        try:
            FORMATS[name](words)
        except InvalidArgument as refusal:
            mistakes.add_invalid_argument(path, refusal)

    @property
    def sample_path(self) -> Path | None:
        """Return the path of the declared sample, relative to the directory of the design."""
        sample = self.declaration.sample
        if sample is None or sample.path is None:
            return None
        return Path(normpath(self.directory / sample.path))

    @property
    def sample_part(self) -> str:
        """Return what a sample is a part of: `period`, `events` or the name of a field."""
        sample = self.declaration.sample
        return (None if sample is None else sample.of) or "period"

    @property
    def sample_share(self) -> float | None:
        """Return how much of the events, or of the values of a field, a sample is, if declared."""
        sample = self.declaration.sample
        return None if sample is None else sample.share

    @property
    def sample_format(self) -> Mapping[str, Any] | None:
        """Return the declared format of the sample, if there is one."""
        sample = self.declaration.sample
        return None if sample is None else sample.format

    def collect_needed_fields(self) -> dict[str, Field]:
        """Return the fields of identity, the reads and the time, which judging a design needs."""
        names = dict.fromkeys(self.layout.identity_fields)
        for read in self.reads:
            names |= dict.fromkeys(read.tested_fields)
        if self.writes.time is not None:
            names[self.writes.time.name] = None
        return {name: self.fields[name] for name in names}

    def find_domain(self, name: str) -> Domain:
        """Return the values that a field may have: those of its type that fit the key."""
        return (
            self.key.find_domain(name) if name in self.key.fields else self.fields[name].type.domain
        )

    def estimate_demand(
        self,
        facts: Mapping[str, FieldFacts] | None = None,
        *,
        counts: RowCounts | None = None,
        family_sizes: Mapping[str, FamilySize] | None = None,
    ) -> TableDemand:
        """Estimate the size and load of the table from the file and a sample.

        Rows that are written again do not make it larger, but for the versions that are kept.

        Args:
            facts: what is known of the fields.
            counts: how many rows the events of a sample are.
            family_sizes: the measured bytes of an event in each family.
        """
        prefixes = list_key_prefixes(self.key)
        each = self.layout.estimate_family_bytes(self.estimate_key_bytes(facts), facts)
        size_each = sum(each.values())
        rate, capacity = self.writes.rate, self.cluster.capacity_per_s
        in_regions, is_stored = self.estimate_region_bytes(facts, family_sizes)
        codecs = {c for f in self.families.values() for c in (f.compression, f.compression_compact)}
        return TableDemand(
            size=self._estimate_size(in_regions, counts),
            is_compressed=is_stored and bool(codecs - {"NONE", None}),
            plain_size=self._estimate_size(each, counts),
            servers=self.cluster.servers,
            families=len(self.families),
            heap=self.cluster.heap_bytes,
            writes=None if rate is None else int(rate * size_each),
            capacity=None if capacity is None else max(int(capacity * size_each), 1),
            scans=any(read.limit is None for read in self.reads),
            prefixes=None if prefixes is None else len(prefixes),
        )

    def estimate_stored_bytes(
        self,
        facts: Mapping[str, FieldFacts] | None = None,
        family_sizes: Mapping[str, FamilySize] | None = None,
    ) -> tuple[Mapping[str, float], bool]:
        """Return the bytes of an event in the files of each family, and whether it is compressed.

        They are measured after encoding and compression, or else estimated before them.

        Args:
            facts: what is known of the fields.
            family_sizes: the measured bytes of an event in each family.
        """
        each = self.layout.estimate_family_bytes(self.estimate_key_bytes(facts), facts)
        sizes = family_sizes or {}
        if each and all(name in sizes and sizes[name].is_compressed for name in each):
            return {name: sizes[name].disk_bytes for name in each}, True
        return each, False

    def estimate_region_bytes(
        self,
        facts: Mapping[str, FieldFacts] | None = None,
        family_sizes: Mapping[str, FamilySize] | None = None,
    ) -> tuple[Mapping[str, float], bool]:
        """Return the same without the values in MOB files, which make no region larger."""
        stored, is_compressed = self.estimate_stored_bytes(facts, family_sizes)
        shares = self._find_region_shares(facts)
        return {name: stored[name] * share for name, share in shares.items()}, is_compressed

    def _find_region_shares(self, facts: Mapping[str, FieldFacts] | None) -> dict[str, float]:
        """Return which share of the bytes of each family is in files that a region splits by.

        Large values of a family with MOB are in files apart, and a reference in their place.
        """
        each = self.layout.estimate_family_bytes(self.estimate_key_bytes(facts), facts)
        apart = dict.fromkeys(each, 0.0)
        for cell in self.layout.estimate_cells(facts):
            family = self.families[cell.family]
            if family.mob and cell.mean_value_bytes > family.mob_threshold:
                moved_bytes = max(cell.mean_value_bytes - MOB_REFERENCE_BYTES, 0.0)
                apart[cell.family] += moved_bytes * cell.event_share
        return {name: 1 - apart[name] / size if size else 1.0 for name, size in each.items()}

    def _estimate_size(self, event_bytes: Mapping[str, float], counts: RowCounts | None) -> int:
        """Return the bytes of the full table; 0 if unknown."""
        size = estimate_table_bytes(self.layout, self.families, self.writes, event_bytes, counts)
        return 0 if size is None else int(min(size, 2**62))

    def estimate_key_bytes(self, facts: Mapping[str, FieldFacts] | None = None) -> float:
        """Estimate the mean bytes of a row key from its parts' widths and field facts."""
        total = 0.0
        for part in self.key.parts:
            framing = part.framing
            if framing.width is not None:
                total += framing.width
                continue
            known = [(facts or {}).get(name) for name in part.fields]
            widths = [f.mean_bytes for f in known if f is not None and f.mean_bytes is not None]
            top = framing.max_bytes if framing.max_bytes is not None else framing.min_bytes + 32
            total += framing.min_bytes + sum(widths) if widths else (framing.min_bytes + top) / 2
        return total


def _restore_design(
    words: Mapping[str, Any],
    directory: Path,
    source: DesignSource | None,
    first_source: DesignSource | None,
    terms: tuple[tuple[Term, ...], ...],
    dictionary: Dictionary,
    companions: Mapping[str, Design],
) -> Design:
    """Return the unpickled design, bound again.

    Args:
        words: what it declares.
        directory: what the path of its sample is relative to.
        source: its file.
        first_source: the file of the design that it was changed from.
        terms: those of its key, and of the keys with other counts that it reads as well.
        dictionary: gives ids to the values of `code`.
        companions: the designs of its companions that were read.
    """
    design = Design(**words)
    design.directory, design.source, design.first_source = directory, source, first_source
    design.companions = companions
    keys = [build_key(one, design.fields, Mistakes(), dictionary=dictionary) for one in terms]
    bound = [key for key in keys if key is not None]
    assert len(bound) == len(terms), "they were bound before"
    design._set_key(bound[0] if len(bound) == 1 else combine_keys(bound))  # noqa: SLF001 - its own
    return design
