"""The summary of one field's values: distinct count, heavy values, and whether they rise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.schema import FieldFacts
from rowkey.workload.distinct_counter import DistinctCounter

if TYPE_CHECKING:
    from rowkey.keys import Field, FieldColumn

MAX_HEAVY_VALUES = 10
"""Heaviest values that are named."""
MAX_COMPARED_EVENTS = 20_000
"""Events in which fields are compared for dependence."""
MAX_COMPARED_FIELDS = 12
"""Fields that are compared for dependence; of more, none are."""
MAX_RISE_STEPS = 1 << 20
"""Highest values so far that are kept, so that columns can be merged; of more every second one."""


class ColumnSummary:
    """Summarizes the values of one field while events pass; summaries of parts can be merged."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.distinct_counter = DistinctCounter()
        self.null_count = 0
        self.value_count = 0
        self.bytes_sum = 0
        self.max_bytes = 0
        self.numbers = _NumberSummary() if field.type.has_integer_form else None

    def add(self, column: FieldColumn) -> None:
        """Count the next values."""
        from rowkey.keys import compute_fingerprints, encode_plain_values

        pieces = encode_plain_values(self.field, column.values)
        lengths, fingerprints = pieces.lengths, compute_fingerprints(pieces)
        self.value_count += len(pieces) if column.codes is None else len(column.codes)
        if column.codes is not None:
            codes = column.codes[column.codes >= 0]
            self.null_count += len(column.codes) - len(codes)
            used = np.zeros(len(fingerprints), np.bool_)
            used[codes] = True
            lengths, fingerprints = lengths.take(codes), fingerprints[used]
        self.distinct_counter.add(fingerprints)
        self.bytes_sum += int(lengths.sum())
        self.max_bytes = max(self.max_bytes, int(lengths.max(initial=0)))
        if self.numbers is not None:
            numbers = column.values if column.codes is None else column.values.take(codes)
            self.numbers.add(numbers)

    def merge(self, later: ColumnSummary) -> None:
        """Add the summary of later events."""
        self.distinct_counter.merge(later.distinct_counter)
        self.null_count += later.null_count
        self.value_count += later.value_count
        self.bytes_sum += later.bytes_sum
        self.max_bytes = max(self.max_bytes, later.max_bytes)
        if self.numbers is not None and later.numbers is not None:
            self.numbers.merge(later.numbers)

    def build_facts(
        self, sampled_values: pa.Array, determining_fields: tuple[str, ...], *, is_exact: bool
    ) -> FieldFacts:
        """Return the facts of the field.

        Args:
            sampled_values: the values of a uniform sample of the events, from which the heavy ones
                are told.
            determining_fields: the fields that decide this one.
            is_exact: whether the sample holds all events.
        """
        numbers = self.numbers
        low = high = rising_share = None
        if numbers is not None:
            heaviest = _count_heaviest_numbers(self.field, sampled_values)
            rising_share = numbers.rising_share
            if numbers.low is not None:
                from_internal = self.field.type.from_internal
                low, high = from_internal(numbers.low), from_internal(numbers.high)
        else:
            values, codes = _encode_values(sampled_values)
            heaviest = [(values[code], count) for code, count in _count_heaviest(codes)]
            if values:
                low, high = min(values), max(values)
                rising_share = _compute_rising_share(values, codes)
        return FieldFacts(
            value_count=self.value_count,
            distinct_count=self.distinct_counter.distinct_count,
            heaviest_values=tuple((v, n / max(len(sampled_values), 1)) for v, n in heaviest),
            minimum=low,
            maximum=high,
            mean_bytes=self.bytes_sum / max(self.value_count - self.null_count, 1),
            max_bytes=self.max_bytes,
            null_share=self.null_count / max(self.value_count, 1),
            rising_share=rising_share,
            step=numbers.step if numbers is not None else None,
            determining_fields=determining_fields,
            exact=is_exact and self.distinct_counter.is_exact,
        )


class _NumberSummary:
    """Summarizes numbers: minimum, maximum, step, and how often they rise."""

    def __init__(self) -> None:
        self.low: int | None = None
        self.high: int | None = None
        self.first: int | None = None
        self.divisor = 0
        self.rise_count = 0
        self.value_count = 0
        self._rises = _RunningMaxima()

    def add(self, numbers: np.ndarray[Any, Any]) -> None:
        if not len(numbers):
            return
        previous_high = self.high if self.high is not None else int(numbers[0])
        if previous_high > np.iinfo(numbers.dtype).max:
            # Unsigned numbers come signed where all of a batch are small.
            numbers = numbers.astype(np.uint64)
        highest = np.maximum.accumulate(np.maximum(numbers, numbers.dtype.type(previous_high)))
        earlier = np.concatenate([[numbers.dtype.type(previous_high)], highest[:-1]])
        is_rise = numbers >= earlier
        self.rise_count += int(is_rise.sum())
        self._rises.add(numbers[is_rise])
        self.value_count += len(numbers)
        self.first = int(numbers[0]) if self.first is None else self.first
        self.low = min(int(numbers.min()), self.low if self.low is not None else int(numbers[0]))
        self.high = int(highest[-1])
        if self.divisor != 1:
            self.divisor = _find_common_divisor(numbers, self.first, self.divisor)

    def merge(self, later: _NumberSummary) -> None:
        """Add the summary of later numbers.

        Numbers of the later part rise only if they are not below all of this one, too. Exact while
        the later part has no more than a million different highest values so far.
        """
        if later.first is None or later.low is None or later.high is None:
            return
        self.value_count += later.value_count
        if self.first is None or self.low is None or self.high is None:
            self.first, self.low, self.high = later.first, later.low, later.high
            self.divisor, self.rise_count, self._rises = (
                later.divisor,
                later.rise_count,
                later._rises,
            )
            return
        self.rise_count += self._rises.merge(later._rises, self.high)
        self.divisor = math.gcd(self.divisor, later.divisor, abs(self.first - later.first))
        self.low, self.high = min(self.low, later.low), max(self.high, later.high)

    @property
    def rising_share(self) -> float | None:
        """Return the share of numbers that are not below all earlier ones."""
        return self.rise_count / self.value_count if self.value_count else None

    @property
    def step(self) -> int | None:
        """Return the greatest common divisor of all differences; None without a difference."""
        return self.divisor or None


class _RunningMaxima:
    """The running maxima of a number column, in order, each with its count."""

    def __init__(self) -> None:
        self._values: list[np.ndarray[Any, Any]] = []
        self._counts: list[np.ndarray[Any, Any]] = []
        self._step_count = 0

    def add(self, rises: np.ndarray[Any, Any]) -> None:
        """Add the next running maxima, in ascending order."""
        values, counts = np.unique(rises, return_counts=True)
        self._append(values, counts)

    def _append(self, values: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> None:
        """Append maxima with their counts; drop every other one when the list is too long."""
        self._values.append(values)
        self._counts.append(counts)
        self._step_count += len(values)
        while self._step_count > MAX_RISE_STEPS:
            self._halve()

    def _halve(self) -> None:
        """Keep every second number, with the counts of both."""
        values, counts = self._collect()
        starts = np.arange(0, len(values), 2)
        self._values = [values[np.minimum(starts + 1, len(values) - 1)]]
        self._counts = [np.add.reduceat(counts, starts)]
        self._step_count = len(starts)

    def _collect(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the numbers and their counts as two arrays."""
        kinds = {values.dtype for values in self._values}
        # Unsigned numbers come signed where all of a batch are small.
        values = [one.astype(np.uint64) if len(kinds) > 1 else one for one in self._values]
        return np.concatenate(values), np.concatenate(self._counts)

    def merge(self, later: _RunningMaxima, high: int) -> int:
        """Add the later numbers that are not below the highest of this part."""
        values, counts = later._collect()
        is_rise = values >= values.dtype.type(max(high, 0) if values.dtype.kind == "u" else high)
        if high > int(values.max()):
            return 0
        self._append(values[is_rise], counts[is_rise])
        return int(counts[is_rise].sum())


def _find_common_divisor(numbers: np.ndarray[Any, Any], first: int, divisor: int) -> int:
    """Return the greatest common divisor of a known one and all distances from the first number."""
    low, high = int(numbers.min()), int(numbers.max())
    if max(high, high - first, first - low) >= 1 << 62:
        return math.gcd(divisor, *(number - first for number in numbers.tolist()))
    away = np.abs(numbers.astype(np.int64) - first)
    return math.gcd(divisor, int(np.gcd.reduce(away, initial=0)))


def _count_heaviest_numbers(field: Field, values: pa.Array) -> list[tuple[Any, int]]:
    """Return the most frequent values of a field of numbers, each with its count."""
    from rowkey.keys import build_field_column

    column = build_field_column(field, values.drop_null())
    numbers = column.values if column.codes is None else column.values.take(column.codes)
    coded = pa.array(numbers).dictionary_encode()
    heaviest = _count_heaviest(coded.indices.to_numpy())
    codes = [code for code, _ in heaviest]
    found = field.type.from_internal_batch(coded.dictionary.to_numpy().take(codes))
    return [(value, count) for value, (_, count) in zip(found, heaviest, strict=True)]


def _encode_values(values: pa.Array) -> tuple[list[Any], np.ndarray[Any, Any]]:
    """Return the distinct values of a column in order of appearance, and the index of each value.

    Nulls are left out.
    """
    present_values = values.drop_null()
    if pa.types.is_null(present_values.type):
        return [], np.empty(0, np.int64)
    coded = present_values.dictionary_encode()
    listed, codes = coded.dictionary.to_pylist(), coded.indices.to_numpy()
    if not pa.types.is_floating(coded.dictionary.type):
        return listed, codes
    places: dict[Any, int] = {}
    same = [places.setdefault(value, len(places)) for value in listed]  # 0.0 and -0.0 are equal
    return list(places), np.array(same, np.int64).take(codes)


def _count_heaviest(codes: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """Return the most frequent codes, each with its count; of equal ones the lowest code first."""
    counts = np.bincount(codes)
    heaviest = np.argsort(-counts, kind="stable")[:MAX_HEAVY_VALUES]
    return list(zip(heaviest.tolist(), counts[heaviest].tolist(), strict=True))


def _compute_rising_share(values: list[Any], codes: np.ndarray[Any, Any]) -> float:
    """Return the share of values not below all before them.

    Args:
        values: the different values, at least one, in the order of their first appearance.
        codes: which of them each is.
    """
    highest, records = values[0], [0]
    for code, value in enumerate(values):
        if value > highest:
            highest = value
            records.append(code)
    record_by_code = np.repeat(records, np.diff(records, append=len(values)))
    # The highest code so far says which different values have appeared.
    highest_codes = record_by_code.take(np.maximum.accumulate(codes))
    return int((codes == highest_codes).sum()) / len(codes)


def find_dependencies(rows: pa.RecordBatch, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each field, the other fields that determine its value.

    A field that never repeats determines every other by accident and is left out.
    """
    dependencies: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    head = rows.slice(0, MAX_COMPARED_EVENTS)
    if len(names) > MAX_COMPARED_FIELDS or not head.num_rows:
        return dependencies
    codes, counts = {}, {}
    for name in names:
        coded = head.column(name).dictionary_encode()
        codes[name] = (
            coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
        )
        counts[name] = _count_distinct(codes[name])
    for name in names:
        determinants = []
        for candidate in names:
            repeats = counts[candidate] * 2 <= head.num_rows and counts[candidate] > 1
            if candidate != name and repeats and counts[name] > 1:
                pairs = _count_distinct(codes[candidate] * (head.num_rows + 1) + codes[name])
                determinants += [candidate] if pairs == counts[candidate] else []
        dependencies[name] = tuple(determinants)
    return dependencies


def _count_distinct(codes: np.ndarray[Any, Any]) -> int:
    # With counts NumPy sorts the numbers, which takes a tenth of the time of its hash table.
    return len(np.unique(codes, return_counts=True)[0])
