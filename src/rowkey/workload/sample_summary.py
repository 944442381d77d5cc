"""What a sample of events shows, found in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Any, TypeVar

from rowkey.array_libraries import np, pa
from rowkey.errors import RowError
from rowkey.messages import pluralize
from rowkey.schema import MIN_VALUES_FOR_FACTS, FieldFacts, RowCounts
from rowkey.workload.disk_size import FamilySize, SampledEvents, measure_family_sizes
from rowkey.workload.distinct_counter import DistinctCounter
from rowkey.workload.event_batch import EventBatch
from rowkey.workload.field_profile import FieldProfile
from rowkey.workload.records import SkippedRows
from rowkey.workload.sample_file import SampleFile
from rowkey.workload.write_pattern import WritePattern

if TYPE_CHECKING:
    from rowkey.cells import Family
    from rowkey.keys import Field, Key
    from rowkey.rows import Layout

T = TypeVar("T")


class SampleSummary:
    """What a sample of events shows: the facts of each field, some rows, and the row counts.

    It is made in one pass, in bounded memory, and shared by all that judge a design. Summaries of
    the parts of a sample, each told where its part begins, merge to the summary of the whole.

    Counts are exact up to 524,288 different values a field; heavy values and dependencies are
    judged from a uniform sample of 131,072 events, which is all of them where there are fewer.

    Args:
        fields: the fields to look at, by name.
        key: the row key of the events; None if rows are not to be counted.
        layout: how events become rows; None if each event is a row.
        declared_facts: what takes the place of facts that too few events show.
        seed: where randomness begins.
        first_event: the number of the first event among those of the whole sample, from 0.
        path: the sample's file.
        profile: the profile of the fields in these same events, made before; None to make it now.
    """

    def __init__(
        self,
        fields: Mapping[str, Field],
        key: Key | None = None,
        layout: Layout | None = None,
        declared_facts: Mapping[str, FieldFacts] | None = None,
        *,
        seed: int = 0,
        first_event: int = 0,
        path: str = "",
        profile: FieldProfile | None = None,
    ) -> None:
        self.path = path
        self.profile = profile or FieldProfile(fields, seed=seed, first_event=first_event)
        self._is_profile_complete = profile is not None
        self.key = key
        self.skipped_rows, self.refused_rows = SkippedRows(), SkippedRows()
        self.assumptions: list[str] = []
        self._declared_facts = declared_facts or {}
        self._row_counter = DistinctCounter()
        self._has_shared_rows = layout is not None and layout.has_shared_rows
        self._has_cell_times = layout is not None and layout.cell_timestamp is not None
        self._can_count_rows = (
            key is not None and not self._has_shared_rows and not key.has_coded_fields
        )
        self._fewer_rows: pa.RecordBatch | None = None
        self._family_sizes: Mapping[str, FamilySize] | None = None
        self._cache: dict[str, Any] = {}

    def add(self, events: EventBatch, keyed_events: EventBatch | None = None) -> None:
        """Add the next events.

        Args:
            keyed_events: those of them that have a row key, of which rows are counted; all if None.
        """
        self._cache.clear()
        if not self._is_profile_complete:
            self.profile.add(events)
        if self._can_count_rows:
            self._count_rows(events if keyed_events is None else keyed_events)

    def add_sample(self, sample: SampleFile) -> None:
        """Add all events of a sample file."""
        for events in sample.read_events():
            self.add(events)
        self.skipped_rows, self.refused_rows = sample.skipped_rows, sample.refused_rows
        self.assumptions = sample.assumptions

    def merge(self, later: SampleSummary) -> None:
        """Add the summary of later events of the same sample."""
        self._cache.clear()
        self.profile.merge(later.profile)
        self._can_count_rows = self._can_count_rows and later._can_count_rows
        self._row_counter.merge(later._row_counter)
        self.skipped_rows = self.skipped_rows.merge(later.skipped_rows)
        self.refused_rows = self.refused_rows.merge(later.refused_rows)
        self.assumptions += [one for one in later.assumptions if one not in self.assumptions]

    def copy_with_key(
        self,
        key: Key,
        layout: Layout,
        row_counter: DistinctCounter | None,
        *,
        max_rows: int | None = None,
        family_sizes: Mapping[str, FamilySize] | None = None,
    ) -> SampleSummary:
        """Return the summary of the same events under another key.

        Args:
            layout: how events become rows under it.
            row_counter: the rows of the events under it; None if they were not counted.
            max_rows: sampled events that it keeps, at equal steps; all if None. The facts of the
                fields stay those of all events.
            family_sizes: what an event adds to each family; measured when needed if None.
        """
        other: SampleSummary = copy(self)
        other._family_sizes = family_sizes
        other.key = key
        if max_rows is not None and max_rows < self.rows.num_rows:
            other._fewer_rows = _take_rows(self.rows, max_rows)
        other._cache = {}
        other._has_shared_rows = layout.has_shared_rows
        other._has_cell_times = layout.cell_timestamp is not None
        other._row_counter = DistinctCounter() if row_counter is None else row_counter
        other._can_count_rows = (
            row_counter is not None and not layout.has_shared_rows and not key.has_coded_fields
        )
        return other

    def _count_rows(self, events: EventBatch) -> None:
        """Count distinct rows, where each event is a row or a version of one."""
        from rowkey.keys import compute_row_fingerprints

        assert self.key is not None
        try:
            columns = events.get_key_columns(self.key)
            self._row_counter.add(compute_row_fingerprints(self.key, columns))
        except RowError:
            self._can_count_rows = False

    @property
    def fields(self) -> Mapping[str, Field]:
        """Return the fields, by name."""
        return self.profile.fields

    @property
    def event_count(self) -> int:
        """Return how many events there are."""
        return self.profile.event_count

    @property
    def is_thin(self) -> bool:
        """Return whether the events are too few to tell shares, order and numbers of values."""
        return self.event_count < MIN_VALUES_FOR_FACTS

    @property
    def remark(self) -> str:
        """Return a note that the sample is too small for some rules, or an empty string."""
        if not self.is_thin:
            return ""
        return (
            f"the sample has {pluralize(self.event_count, 'event')}; shares, order and numbers of "
            f"values are judged from {MIN_VALUES_FOR_FACTS} on"
        )

    @property
    def measured_facts(self) -> Mapping[str, FieldFacts]:
        """Return the measured facts of each field, however few the events."""
        return self.profile.facts

    @property
    def facts(self) -> Mapping[str, FieldFacts]:
        """Return the facts of each field: measured, or declared where the sample is too small."""
        return {
            name: one.replace_uncertain(self._declared_facts.get(name, FieldFacts()))
            for name, one in self.measured_facts.items()
        }

    @property
    def rows(self) -> pa.RecordBatch:
        """Return a uniform sample of the events, in the order of their arrival."""
        return self.profile.rows if self._fewer_rows is None else self._fewer_rows

    def list_values(self, name: str) -> list[Any]:
        """Return the distinct values of a field in the sampled events; empty without the field."""
        return self.profile.list_values(name)

    def share_result(self, name: str, compute: Callable[[], T]) -> T:
        """Return what was computed before from the same events and key, or compute it now.

        Args:
            name: of the result, with all that it depends on besides the events and the key.
            compute: called if no result has the name.
        """
        results: dict[str, T] = self._cache.setdefault("results", {})
        if name not in results:
            results[name] = compute()
        return results[name]

    def measure_family_sizes(
        self, layout: Layout, families: Mapping[str, Family], writes: WritePattern
    ) -> Mapping[str, FamilySize]:
        """Return the bytes that an event adds to each family; empty if that cannot be measured.

        It cannot if the events lack a field of the layout, or cannot be encoded.

        Args:
            layout: where the fields live, under the key of this summary.
            families: how blocks are encoded and compressed.
            writes: how events come.

        Cost: a tenth of a second, once.
        """
        if self._family_sizes is not None:
            return self._family_sizes
        subject = (layout, families, writes)
        measured: list[tuple[Any, Mapping[str, FamilySize]]] = self._cache.setdefault("sizes", [])
        for other, sizes in measured:
            if all(one is same for one, same in zip(other, subject, strict=True)):
                return sizes
        sizes = self._measure_sizes(*subject)
        measured.append((subject, sizes))
        return sizes

    def _measure_sizes(
        self, layout: Layout, families: Mapping[str, Family], writes: WritePattern
    ) -> Mapping[str, FamilySize]:
        """Measure the bytes an event adds to each family; empty if rows cannot be encoded.

        Salts are drawn with a fixed seed.
        """
        if not set(layout.fields) <= set(self.rows.schema.names):
            return {}
        with suppress(RowError):
            is_coded = layout.key.has_coded_fields
            keyed = encode_rows(layout.key, self.rows) if is_coded else self.keyed_events
            if not keyed.keys:
                return {}
            positions = self.profile.row_numbers
            if len(positions) != len(keyed.keys):
                positions = np.arange(len(keyed.keys))
            salts = layout.key.draw_salts(len(keyed.keys), np.random.default_rng(0))
            events = SampledEvents(keyed.rows, keyed.keys, salts, positions)
            return measure_family_sizes(layout, families, writes, events)
        return {}

    @property
    def repeat_count(self) -> int | None:
        """Return how many events repeat an earlier row; None if that was not counted."""
        if not self._can_count_rows or self._has_cell_times:
            return None
        return self._row_counter.repeat_count

    @property
    def row_counts(self) -> RowCounts | None:
        """Return how many different keys the events have.

        None if that tells nothing of rows: of keys with codes, where many events share a row, and
        where events are few.
        """
        if not self._can_count_rows or self.is_thin:
            return None
        return self._row_counter.row_counts

    @property
    def keyed_events(self) -> KeyedEvents:
        """Return the sampled events that have a row key, with the key for salt 0."""
        if "keyed" not in self._cache:
            assert self.key is not None
            self._cache["keyed"] = encode_rows(self.key, self.rows)
        keyed: KeyedEvents = self._cache["keyed"]
        return keyed

    @property
    def keys_with_salts(self) -> Sequence[bytes]:
        """Return the keys of `keyed_events` with a salt drawn for each, where they have one."""
        keyed, key = self.keyed_events, self.key
        assert key is not None
        salts = key.draw_salts(len(keyed.keys), np.random.default_rng(0))
        if salts is None or not keyed.keys:
            return keyed.keys
        written: list[bytes] = key.encode_valid_batch(keyed.rows, salts=salts).to_pylist()
        return written

    @property
    def keys(self) -> tuple[bytes, ...]:
        """Return the row keys of the sampled events, ascending."""
        if "keys" not in self._cache:
            self._cache["keys"] = tuple(sorted(self.keyed_events.keys))
        keys: tuple[bytes, ...] = self._cache["keys"]
        return keys


@dataclass(frozen=True, slots=True)
class KeyedEvents:
    """Sampled events, each with its row key.

    Args:
        keys: the row key of each, in the same order.
        refusals: how many further events the key refuses, and why it refuses the first.
    """

    rows: pa.RecordBatch = dataclass_field(repr=False)
    keys: Sequence[bytes] = dataclass_field(repr=False)
    refusals: tuple[int, str] = (0, "")

    def find_keys(self, field: Field, value: Any) -> list[bytes]:
        """Return the keys of the events in which a field has a value.

        Args:
            value: the value, as the facts have it.
        """
        from rowkey.keys import build_field_column

        coded = self.rows.column(field.name).dictionary_encode()
        values = (
            build_field_column(field, coded.dictionary).to_list()
            if field.type.has_integer_form
            else coded.dictionary.to_pylist()
        )
        wanted = [code for code, one in enumerate(values) if one == value]
        codes: np.ndarray[Any, Any] = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return [self.keys[at] for at in np.flatnonzero(np.isin(codes, wanted)).tolist()]


def _take_rows(rows: pa.RecordBatch, count: int) -> pa.RecordBatch:
    """Return some rows at equal steps, whose dictionaries have no other values."""
    taken = rows.take([n * rows.num_rows // count for n in range(count)])
    columns = [
        column.dictionary_decode().dictionary_encode()
        if isinstance(column.type, pa.DictionaryType)
        else column
        for column in taken.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=taken.schema.names)


def encode_rows(key: Key, rows: pa.RecordBatch) -> KeyedEvents:
    """Return rows with their keys, without those that the key refuses.

    Args:
        key: the row key; its random salts are taken to be 0.
    """
    try:
        columns = EventBatch(rows, None).get_key_columns(key)
        return KeyedEvents(rows, key.encode_parts(columns, key.parts).tolist())
    except RowError:
        pass
    keys, indexes, first = [], [], ""
    for index, row in enumerate(rows.to_pylist()):
        try:
            keys.append(key.encode(row, salt=0))
            indexes.append(index)
        except RowError as problem:
            first = first or problem.mistake.problem
    return KeyedEvents(rows.take(indexes), keys, (rows.num_rows - len(indexes), first))
