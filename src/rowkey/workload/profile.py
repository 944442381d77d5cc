"""What a sample tells of each field: how many values, which are heavy, whether it only rises."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from rowkey.schema import Facts
from rowkey.workload.distinct import Distinct
from rowkey.workload.reservoir import Reservoir

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pyarrow as pa

    from rowkey.keys import Field
    from rowkey.workload.sample import Events

HEAVIEST = 10
MOST_COMPARED = 20_000
"""Events in which fields are compared for dependence."""
MOST_FIELDS_COMPARED = 12


class Profile:
    """Looks at events and tells the facts of their fields.

    Counts are exact up to 524,288 different values a field; heavy values and dependencies are
    judged from a uniform sample of 131,072 events, which is all of them where there are fewer.

    Args:
        fields: the fields to look at, by name.
        seed: where the sample's randomness begins.
    """

    def __init__(self, fields: Mapping[str, Field], seed: int = 0) -> None:
        self.fields = dict(fields)
        self.reservoir = Reservoir(seed=seed)
        self._columns = {name: _ColumnProfile(field) for name, field in self.fields.items()}

    def add(self, events: Events) -> None:
        """Look at the next events."""
        self.reservoir.offer(events.rows)
        for name, column in self._columns.items():
            column.add(events.rows.column(name))

    @property
    def count(self) -> int:
        """How many events were seen."""
        return self.reservoir.seen

    def facts(self) -> dict[str, Facts]:
        """The facts of each field."""
        rows = self.reservoir.rows()
        determined = _dependencies(rows, list(self.fields))
        return {
            name: column.facts(rows.column(name), determined[name], self.reservoir)
            for name, column in self._columns.items()
            if self.count
        }


class _ColumnProfile:
    """What is counted of one field while events pass."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.distinct = Distinct()
        self.nulls = 0
        self.seen = 0
        self.bytes_sum = 0
        self.bytes_most = 0
        self.numbers = _Numbers() if field.type.counts else None

    def add(self, array: pa.Array) -> None:
        """Look at the next values."""
        import numpy as np

        from rowkey.keys import batch_column, fingerprints, own_pieces

        column = batch_column(self.field, array)
        self.seen += len(array)
        pieces = own_pieces(self.field, column.values)
        lengths, prints = pieces.lengths, fingerprints(pieces)
        if column.codes is not None:
            codes = column.codes[column.codes >= 0]
            self.nulls += len(column.codes) - len(codes)
            used = np.zeros(len(prints), np.bool_)
            used[codes] = True
            lengths, prints = lengths.take(codes), prints[used]
        self.distinct.add(prints)
        self.bytes_sum += int(lengths.sum())
        self.bytes_most = max(self.bytes_most, int(lengths.max(initial=0)))
        if self.numbers is not None:
            held = column.values if column.codes is None else column.values.take(codes)
            self.numbers.add(held)

    def facts(self, kept: pa.Array, determined_by: tuple[str, ...], reservoir: Reservoir) -> Facts:
        """What was seen, with the heavy values of the events kept."""
        numbers = self.numbers
        values, codes = _coded(self.field, kept)
        counts = Counter(dict(zip(values, _tallied(codes, len(values)), strict=True)))
        low, high = (min(values), max(values)) if values else (None, None)
        if numbers is not None and numbers.low is not None:
            release = self.field.type.release
            low, high = release(numbers.low), release(numbers.high)
        return Facts(
            seen=self.seen,
            distinct=self.distinct.count,
            heaviest=tuple((v, n / max(len(kept), 1)) for v, n in counts.most_common(HEAVIEST)),
            least=low,
            greatest=high,
            bytes_mean=self.bytes_sum / max(self.seen - self.nulls, 1),
            bytes_most=self.bytes_most,
            nulls=self.nulls / max(self.seen, 1),
            rising=numbers.rising if numbers is not None else _rising(values, codes),
            step=numbers.step if numbers is not None else None,
            determined_by=determined_by,
            exact=reservoir.is_exact and self.distinct.is_exact,
        )


class _Numbers:
    """What is counted of numbers: their ends, their step, and whether they rise."""

    def __init__(self) -> None:
        self.low: int | None = None
        self.high: int | None = None
        self.first: int | None = None
        self.divisor = 0
        self.rises = 0
        self.seen = 0

    def add(self, held: np.ndarray[Any, Any]) -> None:
        """Look at the next numbers."""
        import numpy as np

        if not len(held):
            return
        before = self.high if self.high is not None else int(held[0])
        if before > np.iinfo(held.dtype).max:
            # Unsigned numbers come signed where all of a batch are small.
            held = held.astype(np.uint64)
        highest = np.maximum.accumulate(np.maximum(held, held.dtype.type(before)))
        earlier = np.concatenate([[held.dtype.type(before)], highest[:-1]])
        self.rises += int((held >= earlier).sum())
        self.seen += len(held)
        self.first = int(held[0]) if self.first is None else self.first
        self.low = min(int(held.min()), self.low if self.low is not None else int(held[0]))
        self.high = int(highest[-1])
        if self.divisor != 1:
            self.divisor = _common_divisor(held, self.first, self.divisor)

    @property
    def rising(self) -> float | None:
        """Share of numbers not below all before them."""
        return self.rises / self.seen if self.seen else None

    @property
    def step(self) -> int | None:
        """The greatest common divisor of all differences; None if there is no difference."""
        return self.divisor or None


def _common_divisor(held: np.ndarray[Any, Any], first: int, known: int) -> int:
    """The greatest common divisor of a known one and all distances from the first number."""
    import numpy as np

    low, high = int(held.min()), int(held.max())
    if max(high, high - first, first - low) >= 1 << 62:
        return math.gcd(known, *(number - first for number in held.tolist()))
    away = np.abs(held.astype(np.int64) - first)
    return math.gcd(known, int(np.gcd.reduce(away, initial=0)))


def _coded(field: Field, kept: pa.Array) -> tuple[list[Any], np.ndarray[Any, Any]]:
    """The different values of a column in the order in which they come, and which one each has.

    Nulls are left out.
    """
    import numpy as np
    import pyarrow as pa

    from rowkey.keys import batch_column

    held = kept.drop_null()
    if field.type.counts:
        column = batch_column(field, held)
        numbers = column.values if column.codes is None else column.values.take(column.codes)
        _, firsts, codes = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        return field.type.listed(numbers.take(firsts[order])), np.argsort(order).take(codes)
    if pa.types.is_null(held.type):
        return [], np.empty(0, np.int64)
    coded = held if isinstance(held.type, pa.DictionaryType) else held.dictionary_encode()
    listed = coded.dictionary.to_pylist()
    places: dict[Any, int] = {}
    same = [places.setdefault(value, len(places)) for value in listed]  # 0.0 and -0.0 are equal
    return list(places), np.array(same, np.int64).take(coded.indices.to_numpy())


def _tallied(codes: np.ndarray[Any, Any], count: int) -> list[int]:
    """How often each of some values comes."""
    import numpy as np

    tallied: list[int] = np.bincount(codes, minlength=count).tolist()
    return tallied


def _rising(values: list[Any], codes: np.ndarray[Any, Any]) -> float | None:
    """Share of values not below all before them.

    Args:
        values: the different values.
        codes: which of them each is.
    """
    import numpy as np

    if not len(codes):
        return None
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = np.argsort(np.array(order)).take(codes)
    return int((ranks >= np.maximum.accumulate(ranks)).sum()) / len(codes)


def _dependencies(rows: pa.RecordBatch, names: list[str]) -> dict[str, tuple[str, ...]]:
    """For each field the others of which every value goes with one value of it.

    A field that never repeats determines every other by accident and is left out.
    """
    import numpy as np

    found: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    head = rows.slice(0, MOST_COMPARED)
    if len(names) > MOST_FIELDS_COMPARED or not head.num_rows:
        return found
    codes, counts = {}, {}
    for name in names:
        coded = head.column(name).dictionary_encode()
        codes[name] = (
            coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
        )
        counts[name] = len(np.unique(codes[name]))
    for name in names:
        by = []
        for other in names:
            repeats = counts[other] * 2 <= head.num_rows and counts[other] > 1
            if other != name and repeats and counts[name] > 1:
                pairs = len(np.unique(codes[other] * (head.num_rows + 1) + codes[name]))
                by += [other] if pairs == counts[other] else []
        found[name] = tuple(by)
    return found
