"""The subject of the rules: a design with its facts, and what follows from them, computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

from rowkey.cells import FOREVER_S, Family
from rowkey.design import (
    Design,
    choose_example_values,
    compute_regions,
    count_combined_values,
    find_ambiguities,
    find_serving_companion,
    format_path,
    format_toml_value,
)
from rowkey.errors import InvalidDesign, ReadError, SampleError
from rowkey.hotspots import (
    WARM_RATIO,
    CauseFinding,
    build_declared_facts,
    count_table_values,
    find_clock_field,
    find_leading_part,
    measure_time_density,
    predict_causes,
)
from rowkey.keys import Key, Part, Transform, walk_parts
from rowkey.lint.allowances import Allowance, parse_allowances
from rowkey.plan import DeclaredRead, Plan, count_spreading_parts, plan_read
from rowkey.regions import (
    MAX_FILE_SIZE,
    Boundaries,
    Sizing,
    TableDemand,
    choose_region_count,
    compute_min_servers,
)
from rowkey.rows import CellEstimate
from rowkey.schema import Bounds, Cluster, FieldFacts, RowCounts
from rowkey.workload import (
    DEFAULT_CAPACITY_PER_S,
    FAIR_UTILIZATION,
    FORESEEN_GROWTH,
    HARMLESS_UTILIZATION,
    count_read_operations,
    count_write_operations,
    estimate_table_bytes,
)

if TYPE_CHECKING:
    from rowkey.findings import Finding
    from rowkey.workload import FamilySize, KeyedEvents, SampleSummary

LARGE_VALUE_BYTES = 102_400
"""Mean bytes from which a value is large: HBase's own threshold, DEFAULT_MOB_THRESHOLD."""
DAYS_OF_A_YEAR = 365
MAX_COMPRESSION_RATIO = 10
"""By how much encoding and compression divide bytes at most, where no sample tells: of five tables
with `FAST_DIFF` and `ZSTD` that an engineer wrote without knowing of this, 12 to 20 % was left."""
MANY_VERSIONS = 100
"""Versions from which a family keeps very many. Source: the book's "hundreds or more"."""


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """A declared read, planned with example values.

    Args:
        path: its path in the design, such as `reads[0]`.
        read: the declared read.
        bounds: its condition on each field, with example values.
        plan: how it runs; None if no example values can be found.
        companion: the declared companion that serves it in place of this table; empty for none.
    """

    path: str
    read: DeclaredRead
    bounds: Bounds
    plan: Plan | None
    companion: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredWrites:
    """What a replay of the sample shows of the writes.

    Args:
        is_good: whether they are even, or known to be so few that one server bears them.
        causes: why one server takes more than others, the largest first.
        peak_factor: events of the busiest minute over the mean; 1 if no minute stands out.
        needed_servers: servers that bear the writes and the reads; None if they are no question, or
            if it is unknown.
    """

    is_good: bool
    causes: tuple[CauseFinding, ...]
    peak_factor: float
    needed_servers: int | None = None


@dataclass(frozen=True)
class LintSubject:
    """A design to be checked, with facts derived from it on first use.

    Args:
        design: the design.
        sample: the summary of a sample; None without one.
        extra_facts: further facts of fields, by name.
        measured_writes: what a replay of the sample shows; None without one.
        sample_problem: why the declared sample cannot be read, if so.
        earlier_findings: what the rules that ran before have found, without what comments allow.
    """

    design: Design
    sample: SampleSummary | None = None
    extra_facts: Mapping[str, FieldFacts] = field(default_factory=dict)
    measured_writes: MeasuredWrites | None = None
    sample_problem: SampleError | None = None
    earlier_findings: list[Finding] = field(default_factory=list)

    @property
    def key(self) -> Key:
        """Return the row key of the design; `terms[i]` is the notation of `parts[i]`."""
        return self.design.key

    @property
    def cluster(self) -> Cluster:
        """Return the declared cluster."""
        return self.design.cluster

    @property
    def families(self) -> Mapping[str, Family]:
        """Return the families by name, in the order of the file."""
        return self.design.families

    @cached_property
    def facts(self) -> dict[str, FieldFacts]:
        """Return the facts of each field, from the sample or else as declared.

        Fields without any fact are left out.
        """
        facts = build_declared_facts(self.design)
        for name, declared in self.design.fields.items():
            mean = declared.declaration.mean_bytes
            if mean is not None:
                facts[name] = replace(facts.get(name, FieldFacts()), mean_bytes=mean)
        return {
            **facts,
            **self.extra_facts,
            **(self.sample.facts if self.sample is not None else {}),
        }

    def find_facts(self, name: str) -> FieldFacts:
        """Return the facts of a field; empty facts if nothing is known."""
        return self.facts.get(name, FieldFacts())

    def count_distinct(self, name: str) -> int | None:
        """Return how many values of a field the table has; None if nothing tells."""
        found = count_combined_values(self.design.fields, self.facts, [name])
        if self.sample is None or found is None:
            return found
        values = count_table_values(self.design, name, found)
        return None if values is None else round(values)

    def list_values(self, name: str) -> list[Any]:
        """Return the distinct values of a field in the sample; empty without a sample."""
        return [] if self.sample is None else self.sample.list_values(name)

    # The key

    def iter_parts(self) -> Iterator[tuple[str, Part]]:
        """Yield each part of the row key with its notation."""
        for term, part in zip(self.key.terms, self.key.parts, strict=True):
            yield f"[{term}]", part

    def iter_transforms(self) -> Iterator[tuple[str, Transform]]:
        """Yield every transform of the key, nested ones too, with the notation of its part."""
        for notation, part in self.iter_parts():
            for nested in walk_parts(part):
                if isinstance(nested, Transform):
                    yield notation, nested

    @cached_property
    def unordered_fields(self) -> Mapping[str, str]:
        """Return the fields that the key holds whole but not sorted, with their key parts."""
        fields = {}
        for notation, part in self.iter_parts():
            if len(part.fields) != 1 or not part.residue(part.fields[0]).is_empty:
                continue
            same_field = [other for other in self.key.parts if other.fields == part.fields]
            if not any(one.order.is_ascending or one.order.is_descending for one in same_field):
                fields[part.fields[0]] = notation
        return fields

    @cached_property
    def ambiguities(self) -> tuple[str, ...]:
        """Return a description of each part whose end cannot be found in a row key."""
        return find_ambiguities(self.design)

    @cached_property
    def leading_part(self) -> Part | None:
        """Return the first part of the key that is not the same in all keys."""
        return find_leading_part(self.design, self.facts)

    @cached_property
    def bucket_count(self) -> int | None:
        """Return the product of all bucket and salt counts of the key; None without any."""
        count, product = count_spreading_parts(self.key), 1
        for part in self.key.parts[:count]:
            product *= part.cardinality or 1
        return product if count and product > 1 else None

    @cached_property
    def key_bytes(self) -> float:
        """Return the mean bytes of a row key, estimated from field types if unknown."""
        return self.design.estimate_key_bytes(self.facts)

    @cached_property
    def mean_key_bytes(self) -> float | None:
        """Return the mean bytes of a row key by widths, and by declared or sampled means.

        It is None where a field of varying width has no such mean.
        """
        for part in self.key.parts:
            framing = part.framing
            has_means = all(self.find_facts(name).mean_bytes is not None for name in part.fields)
            if framing.min_bytes != framing.max_bytes and not has_means:
                return None
        return self.key_bytes

    # Rows and bytes

    @cached_property
    def cells(self) -> tuple[CellEstimate, ...]:
        """Return the cells that an event writes."""
        return self.design.layout.estimate_cells(self.facts)

    @cached_property
    def event_bytes(self) -> float:
        """Return the bytes of one event in a store, before encoding and compression."""
        return self.design.layout.estimate_event_bytes(self.key_bytes, self.facts)

    def can_write_to_one_server(self, rate: float | None) -> bool:
        """Return whether one server easily bears all writes, so that it may take any share.

        Args:
            rate: events a second; None if that is unknown.
        """
        if rate is None:
            return False
        operations = rate * count_write_operations(self.event_bytes)
        return operations <= HARMLESS_UTILIZATION * self._server_operations_per_s

    @cached_property
    def write_rate(self) -> float | None:
        """Return the declared events a second, in the strongest burst, or else the recording's.

        None where no rate is declared and events do not arrive by the clock. A sample may be a
        declared share of the recording.
        """
        declared_rate = self.design.writes.peak_rate
        if declared_rate is not None or self.sample is None:
            return declared_rate
        rows, count = self.sample.rows, self.sample.event_count
        density = measure_time_density(self.design, rows, count, is_generated=False)
        return None if density is None else density.rate

    @property
    def needs_no_spreading(self) -> bool:
        """Return whether one server easily bears many times the declared writes, and all reads.

        At the peak of the sample; its own rate, without a declared one, says little of the table's.
        """
        rate, measured = self.design.writes.peak_rate, self.measured_writes
        if rate is None or not self.can_read_from_one_server:
            return False
        peak_factor = 1.0 if measured is None else measured.peak_factor
        return self.can_write_to_one_server(FORESEEN_GROWTH * peak_factor * rate)

    @cached_property
    def can_read_from_one_server(self) -> bool:
        """Return whether one server easily bears the declared rates of reads, a request a range."""
        requests = sum(
            one.read.rate * one.plan.fan_out
            for one in self.reads
            if one.read.rate is not None and one.plan is not None
        )
        return requests <= HARMLESS_UTILIZATION * self._server_operations_per_s

    @cached_property
    def counted_read_operations(self) -> float:
        """Return the operations a second of the reads with a rate whose rows are known."""
        return sum(
            (one.read.rate or 0.0)
            * count_read_operations(one.plan.fan_out, one.read.limit or 1, self.event_bytes)
            for one in self.reads
            if one.plan is not None and self._knows_rows(one)
        )

    @property
    def counts_all_reads(self) -> bool:
        """Return whether the rows of all reads with a rate are known."""
        return all(map(self._knows_rows, (one for one in self.reads if one.read.rate is not None)))

    def _knows_rows(self, one: PlannedRead) -> bool:
        """Return whether a read says how many rows it returns: by a limit, or by the whole key."""
        is_get = {*self.key.fields} <= {*one.read.equality_fields}
        return one.plan is not None and (one.read.limit is not None or is_get)

    def is_harmless(self, code: str) -> bool:
        """Return whether what a rule predicts of the writes only deserves a remark.

        A replay decides where there is one.

        Args:
            code: the cause that the rule predicts; empty for none.
        """
        measured = self.measured_writes
        if measured is not None:
            return measured.is_good or (code != "" and not self.has_measured(code))
        if self.can_write_to_one_server(self.write_rate):
            return True
        cause = self.causes.get(code)
        return cause is not None and cause.explained_skew < WARM_RATIO

    def has_measured(self, code: str) -> bool:
        """Return whether a replay shows that a cause makes the writes uneven."""
        measured = self.measured_writes
        return measured is not None and any(cause.code == code for cause in measured.causes)

    @property
    def server_events_per_s(self) -> float:
        """Return how many events a server can write a second: as declared, or as is assumed."""
        return self._server_operations_per_s / count_write_operations(self.event_bytes)

    @property
    def _server_operations_per_s(self) -> float:
        """Return how many operations a server can serve a second: as declared, or as is assumed."""
        return self.cluster.capacity_per_s or DEFAULT_CAPACITY_PER_S

    def count_needed_servers(self) -> int:
        """Return the fewest servers that bear the writes and carry all regions of the table.

        With the reads too, and as uneven as they are, where a replay shows it.
        """
        by_size = max(compute_min_servers(self.demand), self.cluster.servers)
        measured = self.measured_writes
        if measured is not None and measured.needed_servers is not None:
            return max(by_size, measured.needed_servers)
        writes = (self.design.writes.peak_rate or 0.0) * count_write_operations(self.event_bytes)
        bearable = FAIR_UTILIZATION * self._server_operations_per_s
        return max(by_size, ceil((writes + self.counted_read_operations) / bearable))

    # Regions

    @cached_property
    def demand(self) -> TableDemand:
        """Return the expected size and load of the table; a size of 0 if unknown."""
        return self.design.estimate_demand(
            self.facts, counts=self.row_counts, family_sizes=self.family_sizes
        )

    @cached_property
    def endless_bytes_a_year(self) -> float:
        """Return what the regions get in a year of rows that are never deleted.

        It is 0 where a ttl deletes them, where events are no rows of their own, and if unknown.
        """
        design, time = self.design, self.design.writes.time
        is_kept = all(family.ttl_s == FOREVER_S for family in self.families.values())
        if not is_kept or time is None or time.name not in design.layout.identity_fields:
            return 0.0
        year_s = DAYS_OF_A_YEAR * 86_400
        families = {name: replace(each, ttl_s=year_s) for name, each in self.families.items()}
        event_bytes, _ = design.estimate_region_bytes(self.facts, self.family_sizes)
        return estimate_table_bytes(design.layout, families, design.writes, event_bytes) or 0.0

    @property
    def final_bytes(self) -> float:
        """Return the final bytes of the table, or those of a year if it grows without an end.

        It is 0 if that is unknown.
        """
        return self.demand.size or self.endless_bytes_a_year

    @cached_property
    def final_region_bytes(self) -> float:
        """Return what a region comes to hold on average; all of the table if it begins with a time.

        It is 0 if that is unknown.
        """
        if self.boundaries is None or not self.demand.size:
            return 0.0
        is_front = find_clock_field(self.design, self.facts) is not None
        return float(self.demand.size) / (1 if is_front else len(self.boundaries))

    @property
    def outgrows_its_splits(self) -> bool:
        """Return whether regions that are declared come to hold more than HBase keeps in one.

        Not where the size is that of very many versions, which another key would not keep.
        """
        has_many = any(one.versions >= MANY_VERSIONS for one in self.families.values())
        is_large = self.final_region_bytes > MAX_FILE_SIZE
        return is_large and not has_many and self.is_declared("splits")

    @property
    def compressible_ratio(self) -> int:
        """Return by how much encoding and compression may divide the size, 1 if it is measured."""
        is_compressed = all(
            {family.compression, family.compression_compact} - {"NONE", None}
            for family in self.families.values()
        )
        return MAX_COMPRESSION_RATIO if is_compressed and not self.demand.is_compressed else 1

    @cached_property
    def large_fields(self) -> Mapping[str, float]:
        """Return the mean bytes of each field with large values among ordinary cells."""
        found = {}
        for cell in self.cells:
            family = self.families[cell.family]
            for name in cell.fields:
                mean = self.find_facts(name).mean_bytes or 0.0
                if mean >= LARGE_VALUE_BYTES and not (family.mob and mean > family.mob_threshold):
                    found[name] = mean
        return found

    @property
    def writes_at_the_end_of_buckets(self) -> bool:
        """Return whether the time of writing comes next to the bucket in the key."""
        writes = self.design.writes
        rest = self.key.parts[count_spreading_parts(self.key) :]
        part = next((one for one in rest if one.cardinality != 1), None)
        return (
            writes.time is not None
            and writes.has_advancing_time
            and part is not None
            and part.fields == (writes.time.name,)
        )

    @cached_property
    def family_sizes(self) -> Mapping[str, FamilySize]:
        """Return the measured bytes of an event in each family; empty without such a sample."""
        design, sample = self.design, self.sample
        is_growth_known = design.writes.rate is not None or self.row_counts is not None
        if sample is None or not is_growth_known:
            return {}
        return sample.measure_family_sizes(design.layout, design.families, design.writes)

    @cached_property
    def sizing(self) -> Sizing:
        """Return the recommended region count with its reasons."""
        return choose_region_count(self.demand)

    @cached_property
    def boundaries(self) -> Boundaries | None:
        """Return the region boundaries; None if they need a sample that is missing."""
        cut = self.design.splits
        keys = self.sample.keys if self.sample is not None and cut.needs_sample else None
        if cut.needs_sample and not keys:
            return None
        try:
            return compute_regions(
                self.design, self.facts, keys, self.row_counts, self.family_sizes
            ).boundaries
        except InvalidDesign:
            return None

    @property
    def row_counts(self) -> RowCounts | None:
        """Return how many distinct rows the sampled events write; None if not counted."""
        return None if self.sample is None else self.sample.row_counts

    @property
    def keyed_events(self) -> KeyedEvents | None:
        """Return the sampled events with their row keys; None if too few or salted."""
        if self.sample is None or self.sample.is_thin or self.key.is_salted:
            return None
        return self.sample.keyed_events

    @cached_property
    def causes(self) -> Mapping[str, CauseFinding]:
        """Return the predicted causes of hot spots by code."""
        if self.sample is None or self.extra_facts:
            return self._predict_causes()
        name = f"predicted causes {self.design.build_write_identity()}"
        return self.sample.share_result(name, self._predict_causes)

    def _predict_causes(self) -> dict[str, CauseFinding]:
        """Predict the causes of hot spots by code."""
        findings = predict_causes(self.design, self.facts, self.boundaries, self.keyed_events)
        return {cause.code: cause for cause in findings}

    # Reads

    @cached_property
    def planned_reads(self) -> tuple[PlannedRead, ...]:
        """Return all declared reads with their plans under this key."""
        return tuple(self._plan_declared_read(n, read) for n, read in enumerate(self.design.reads))

    @property
    def reads(self) -> tuple[PlannedRead, ...]:
        """Return the declared reads that this table serves, and none of its companions."""
        return tuple(one for one in self.planned_reads if not one.companion)

    def _plan_declared_read(self, index: int, read: DeclaredRead) -> PlannedRead:
        """Plan a declared read with example values of its parameters."""
        path = self.format_path("reads", index)
        try:
            bounds = read.build_bounds(choose_example_values(read, self.facts))
            plan = plan_read(self.design.build_example_key(), bounds, read.order)
        except ReadError:
            return PlannedRead(path, read, {}, None)
        companion = find_serving_companion(self.design, read, self.facts)
        return PlannedRead(path, read, bounds, plan, companion)

    def format_fan_out_change(self, bucket_count: int) -> str:
        """Return a phrase that names the reads with more ranges under more buckets."""
        now = self.bucket_count or 1
        names = [
            one.read.name
            for one in self.reads
            if one.plan is not None and not one.plan.is_full_scan and one.plan.fan_out >= now > 1
        ]
        if not names or bucket_count <= now:
            return ""
        asks = "asks" if len(names) == 1 else "ask"
        return f"; {' and '.join(names)} then {asks} {bucket_count:,} ranges for {now:,}"

    def format_split_advice(self, part: Part, *, keeps_size: bool = True) -> str:
        """Return a phrase with new splits for a key part that changes from text to bytes.

        Empty if the part is not the leading one, if there is one region, or if the splits are
        quantiles of a sample, which adapt to the part.

        Args:
            part: the part.
            keeps_size: whether the table stays about as large as it is, so that the regions that
                it needs are known.
        """
        cut = self.design.splits
        if part is not self.leading_part or self.boundaries is None or cut.algorithm == "sample":
            return ""
        regions = len(self.boundaries)
        if keeps_size and self.outgrows_its_splits:
            regions = max(regions, self.sizing.regions)
        if regions == 1:
            return ""
        evenly = {"algorithm": "uniform", "regions": regions}
        return f", and set splits = {format_toml_value(evenly)}"

    def count_pinned_bytes(self, planned_read: PlannedRead) -> int:
        """Return how many leading key bytes are constant within each range of a read."""
        pinned = planned_read.plan.pinned_count if planned_read.plan is not None else 0
        total = 0
        for part in self.key.parts[:pinned]:
            total += part.framing.min_bytes
            if part.framing.width is None:
                break
        return total

    # The file

    @staticmethod
    def format_path(*steps: str | int) -> str:
        """Join steps to a dotted path as findings show it.

        >>> LintSubject.format_path("families", "d", "ttl"), LintSubject.format_path("reads", 0)
        ('families.d.ttl', 'reads[0]')
        """
        return format_path(steps)

    def is_declared(self, *steps: str | int) -> bool:
        """Return whether the design file itself sets an option."""
        node: Any = self.declared_tree
        for step in steps:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    def find_nearest_path(self, *steps: str | int) -> str:
        """Return the path of an option, or of the nearest table above it in the file."""
        while len(steps) > 1 and not self.is_declared(*steps):
            steps = steps[:-1]
        return format_path(steps)

    @cached_property
    def declared_tree(self) -> dict[str, Any]:
        """Return the options that the design file sets, as nested dictionaries."""
        return self.design.declaration.model_dump(by_alias=True, exclude_unset=True)

    def find_family_path(self, name: str) -> str:
        """Return the path of a family's table in the file, or of the first field in it.

        If the file does not mention the family, as with the default family `d`, this is the path of
        all families, or of the fields.
        """
        if self.is_declared("families", name):
            return format_path(("families", name))
        fields = (n for n, field in self.design.fields.items() if field.declaration.family == name)
        first = next(fields, None)
        if first is not None:
            return format_path(("fields", first))
        return "families" if self.is_declared("families") else "fields"

    def find_line(self, path: str) -> int:
        """Return the file line of a path or of the nearest table above it; 0 without a file."""
        written = self.design.source
        return 0 if written is None else written.source_map.find_line(path)

    def find_path_at(self, line: int) -> str:
        """Return the path of the first option on a file line, or an empty string."""
        written = self.design.source
        return "" if written is None else written.source_map.find_path_at(line)

    @cached_property
    def allowances(self) -> tuple[Allowance, ...]:
        """Return the allow comments of the design file, or of the one it was changed from."""
        written = self.design.first_source
        return () if written is None else tuple(parse_allowances(written.text))

    def find_allowances(self, finding: Finding) -> Iterator[Allowance]:
        """Yield the allow comments that cover the line of a finding, and record that they are used.

        The findings of a design that was changed lie where their option is in the first file.
        """
        file = self.design.first_source
        line = finding.line or (0 if file is None else file.source_map.find_line(finding.path))
        for allowance in self._allowances_by_line.get(line, ()):
            if allowance.match_rule(finding.name, finding.code):
                yield allowance

    @cached_property
    def _allowances_by_line(self) -> dict[int, list[Allowance]]:
        """Return the allow comments by the file line that they cover."""
        allowances_by_line: dict[int, list[Allowance]] = {}
        for one in self.allowances:
            allowances_by_line.setdefault(one.covered_line, []).append(one)
        return allowances_by_line
