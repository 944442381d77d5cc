"""What a rule may look at: the design, what is known of it, and what follows, computed once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rowkey.design import cut_regions, example_values, path_text, properties_of, toml_value
from rowkey.errors import DeclarationError, Mistakes, ReadError
from rowkey.heat import Spreading, declared_facts, foreseen, leading_part, values_together
from rowkey.keys import Transform, bound_key, nested
from rowkey.lint.allowances import Allowance, allowances_in
from rowkey.plan import plan_read, proposed_key, spreading
from rowkey.regions import size_regions
from rowkey.schema import Call, Equal, Facts, FieldRef, fields_of, parse, print_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.cells import Family
    from rowkey.design import Design, Properties
    from rowkey.heat import Came
    from rowkey.heat import Finding as Foreseen
    from rowkey.keys import Key, Part
    from rowkey.lint.seen import Seen
    from rowkey.plan import Plan, Read
    from rowkey.regions import Boundaries, Demand, Sizing
    from rowkey.rows import CellShape
    from rowkey.schema import Bounds, Cluster, RowCounts


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """A declared read, asked with example values.

    Args:
        path: where it stands: `reads[0]`.
        read: what is declared.
        bounds: what it asks of each field.
        plan: how it runs; None if no example of it can be asked.
    """

    path: str
    read: Read
    bounds: Bounds
    plan: Plan | None


@dataclass(frozen=True)
class Subject:
    """A design under judgement.

    Args:
        design: the design, bound.
        seen: what a sample shows; None where there is none.
        given: what is known of the fields besides, by name.
    """

    design: Design
    seen: Seen | None = None
    given: Mapping[str, Facts] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """The bound row key; `parts[i]` is what `terms[i]` declares, at the path `key`."""
        return self.design.key

    @property
    def cluster(self) -> Cluster:
        """What the table runs on."""
        return self.design.cluster

    @property
    def families(self) -> Mapping[str, Family]:
        """The families, by name, in the order of the file."""
        return self.design.families

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """What is known of the fields: from the sample, else as the file declares it.

        A field of which nothing is known is missing.
        """
        facts = declared_facts(self.design)
        for name, declared in self.design.fields.items():
            mean = declared.words.mean_bytes
            if mean is not None:
                facts[name] = replace(facts.get(name, Facts()), bytes_mean=mean)
        return {**facts, **self.given, **(self.seen.facts if self.seen is not None else {})}

    def fact(self, name: str) -> Facts:
        """What is known of one field; of an unknown one, facts that say nothing."""
        return self.facts.get(name, Facts())

    def distinct(self, name: str) -> int | None:
        """How many values a field has, if the sample, the file or its type tells."""
        return values_together(self.design, self.facts, [name])

    def values(self, name: str) -> list[Any]:
        """Different values of a field that the sample shows; none without one."""
        if self.seen is None or name not in self.seen.rows.schema.names:
            return []
        from rowkey.keys import batch_column

        column = self.seen.rows.column(name).unique().drop_null()
        field = self.design.fields[name]
        # Python's own times know no nanoseconds.
        return batch_column(field, column).listed() if field.type.counts else column.to_pylist()

    # The key

    def parts(self) -> Iterator[tuple[str, Part]]:
        """Each part of the key with its notation."""
        for term, part in zip(self.key.terms, self.key.parts, strict=True):
            yield f"[{term}]", part

    def inner(self) -> Iterator[tuple[str, Part]]:
        """Each part of the key, and every part it is made of, with the notation it stands in."""
        for notation, part in self.parts():
            for one in nested(part):
                yield notation, one

    def transforms(self) -> Iterator[tuple[str, Transform]]:
        """Every transform of the key with the notation it stands in."""
        return ((shown, one) for shown, one in self.inner() if isinstance(one, Transform))

    @cached_property
    def properties(self) -> Properties:
        """What follows from the key: whether it decodes, what it loses, the order of its rows."""
        return properties_of(self.design, self.facts)

    @cached_property
    def leading(self) -> Part | None:
        """The first part of the key that is not the same in all keys."""
        return leading_part(self.design, self.facts)

    @cached_property
    def buckets(self) -> int | None:
        """How many numbers the parts take that only spread rows; None where no part does."""
        count, found = spreading(self.key), 1
        for part in self.key.parts[:count]:
            found *= part.cardinality or 1
        return found if count and found > 1 else None

    @cached_property
    def key_bytes(self) -> float:
        """Mean bytes of a row key; of a field of which nothing is known, a guess from its type."""
        return self.design.key_bytes(self.facts)

    @cached_property
    def known_key_bytes(self) -> float | None:
        """Mean bytes of a row key; None where neither the sample nor the file tells its fields'."""
        for part in self.key.parts:
            framing = part.framing
            is_told = any(self.fact(name).bytes_mean is not None for name in part.fields)
            if framing.least != framing.most and not is_told:
                return None
        return self.key_bytes

    # Rows and bytes

    @cached_property
    def cells(self) -> tuple[CellShape, ...]:
        """The cells that an event writes: family, qualifier, mean bytes of the value, share."""
        return self.design.layout.cells(self.facts)

    @cached_property
    def event_bytes(self) -> float:
        """Bytes that one event adds to a store before encoding and compression."""
        return self.design.layout.event_bytes(self.key_bytes, self.facts)

    # Regions

    @cached_property
    def demand(self) -> Demand:
        """What the table will hold and stand; a size of 0 where nobody knows it."""
        return self.design.demand(self.facts, counts=self._counts)

    @cached_property
    def sizing(self) -> Sizing:
        """How many regions there should be, and why."""
        return size_regions(self.demand)

    @cached_property
    def boundaries(self) -> Boundaries | None:
        """Where regions begin; None where that follows from a sample and there is none."""
        cut = self.design.cut
        keys = self.seen.keys if self.seen is not None else None
        if cut.needs_sample and not keys:
            return None
        try:
            return cut_regions(self.design, self.facts, keys, self._counts).boundaries
        except DeclarationError:
            return None

    @property
    def _counts(self) -> RowCounts | None:
        """How many rows the events of the sample are; None where nobody counted."""
        return None if self.seen is None else self.seen.counts

    @property
    def came(self) -> Came | None:
        """Events that came, with their keys; None where they are too few, or keys are salted."""
        if self.seen is None or self.seen.is_thin or self.key.is_salted:
            return None
        return self.seen.came

    @cached_property
    def causes(self) -> Mapping[str, Foreseen]:
        """The causes of heat that the design shows by itself, by name."""
        found = foreseen(self.design, self.facts, self.boundaries, self.came)
        return {cause.code: cause for cause in found}

    # Reads

    @cached_property
    def reads(self) -> tuple[PlannedRead, ...]:
        """The declared reads, each planned once."""
        return tuple(self._planned(n, read) for n, read in enumerate(self.design.reads))

    def _planned(self, index: int, read: Read) -> PlannedRead:
        path = self.at("reads", index)
        try:
            bounds = read.bounds(example_values(read, self.facts))
            return PlannedRead(path, read, bounds, plan_read(self.key, bounds, read.order))
        except ReadError:
            return PlannedRead(path, read, {}, None)

    def asked_then(self, buckets: int) -> str:
        """Which reads ask as many ranges as there are buckets, if those become so many."""
        now = self.buckets or 1
        names = [
            one.read.name
            for one in self.reads
            if one.plan is not None and not one.plan.is_full_scan and one.plan.fan_out >= now > 1
        ]
        if not names or buckets <= now:
            return ""
        asks = "asks" if len(names) == 1 else "ask"
        return f"; {' and '.join(names)} then {asks} {buckets:,} ranges for {now:,}"

    def cut_for_bytes(self, part: Part) -> str:
        """What is said of the splits where a part that is spelled in digits becomes plain bytes.

        Nothing where it does not lead the key, or the splits are quantiles, which follow it.
        """
        cut = self.design.cut
        if part is not self.leading or self.boundaries is None or cut.algorithm == "sample":
            return ""
        evenly = {"algorithm": "uniform", "regions": len(self.boundaries)}
        return f", and cut with splits = {toml_value(evenly)}"

    def serving_key(self, one: PlannedRead) -> Spreading | None:
        """A key of another table that serves a read, and its splits; None if none is known.

        What spreads is a bucket of what the read gives, where that differs between events of one
        moment; else what spreads the rows of this table.
        """
        found = proposed_key(self.key, one.bounds, one.read.order)
        if found is None:
            return None
        terms = tuple(parse(found.key))
        given = [n for n, bound in one.bounds.items() if isinstance(bound, Equal)]
        if not self.key.is_salted and not all(map(self._is_time, given)):
            made = bound_key(terms, self.design.fields, Mistakes())
            bucket = Call("bucket", tuple(map(FieldRef, given)), (2 * self.cluster.servers,))
            behind = terms[spreading(made) :] if made is not None else terms
            whole = print_key((bucket, *behind))
            return Spreading(f"[{bucket}]", whole, 'splits = "per_bucket"', "")
        if all(self._is_time(ref.name) for ref in fields_of(terms[0])):
            return None
        return Spreading("", found.key, "", "")

    def _is_time(self, name: str) -> bool:
        return self.design.fields[name].type.tick is not None

    def pinned_bytes(self, one: PlannedRead) -> int:
        """Bytes that each of a read's ranges begins with, as far as all its rows have as many."""
        pinned = one.plan.pinned if one.plan is not None else 0
        total = 0
        for part in self.key.parts[:pinned]:
            total += part.framing.least
            if part.framing.width is None:
                break
        return total

    # The file

    @staticmethod
    def at(*steps: str | int) -> str:
        """A path as findings print it.

        >>> Subject.at("families", "d", "ttl"), Subject.at("reads", 0)
        ('families.d.ttl', 'reads[0]')
        """
        return path_text(steps)

    def says(self, *steps: str | int) -> bool:
        """Whether the design has a word itself, so that no default stands in for it."""
        here: Any = self.words
        for step in steps:
            try:
                here = here[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    def nearest(self, *steps: str | int) -> str:
        """The path of a word if the design has it; else of the nearest word above it."""
        while len(steps) > 1 and not self.says(*steps):
            steps = steps[:-1]
        return path_text(steps)

    @cached_property
    def words(self) -> dict[str, Any]:
        """The declaration as a tree of what stands in the file."""
        return self.design.declaration.model_dump(by_alias=True, exclude_unset=True)

    def family_path(self, name: str) -> str:
        """Where a family stands: its own words, else the first field that names it.

        Nothing of the file names the family `d` where no field is said to be in it; then it is
        the path of the families as a whole, or of the fields.
        """
        if self.says("families", name):
            return path_text(("families", name))
        named = (n for n, field in self.design.fields.items() if field.words.family == name)
        first = next(named, None)
        if first is not None:
            return path_text(("fields", first))
        return "families" if self.says("families") else "fields"

    def line_of(self, path: str) -> int:
        """The line of a word, or of the nearest one above it; 0 if there is no file."""
        written = self.design.written
        return 0 if written is None else written.places.line_of(path)

    def path_at(self, line: int) -> str:
        """The first word on a line of the file; empty if none begins there."""
        written = self.design.written
        return "" if written is None else written.places.path_at(line)

    @cached_property
    def allowances(self) -> tuple[Allowance, ...]:
        """The findings that the file allows, each with its reason."""
        written = self.design.written
        return () if written is None else tuple(allowances_in(written.text))

    def allowances_of(self, line: int) -> Sequence[Allowance]:
        """Those of them that speak of a line."""
        return self._allowances_by_line.get(line, ())

    @cached_property
    def _allowances_by_line(self) -> dict[int, list[Allowance]]:
        found: dict[int, list[Allowance]] = {}
        for one in self.allowances:
            found.setdefault(one.covers, []).append(one)
        return found
