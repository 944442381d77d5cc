"""The cause `uneven_buckets`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.hotspots.contract import Cause
from rowkey.hotspots.leading_parts import is_time_only
from rowkey.hotspots.least_skew import compute_least_skew
from rowkey.hotspots.load_result import CauseFinding, LoadResult, assign_row_codes
from rowkey.hotspots.skew import compute_even_skew
from rowkey.keys import Determinant, Part
from rowkey.messages import pluralize
from rowkey.proposals import ANOTHER_KEY, MIN_VALUES_PER_REGION
from rowkey.regions import Boundaries, compute_server_imbalance
from rowkey.schema import FieldFacts

if TYPE_CHECKING:
    from rowkey.workload import KeyedEvents

MIN_UNEVEN_RATIO = 1.5
"""Values in the fullest bucket, as a multiple of what chance gives, from which a hash is uneven."""


class UnevenBucketsCause(Cause):
    """The leading remainder or hash puts many different values into few of its buckets.

    Ids that end in zero bits have one remainder by a power of two. `java31` is a weak hash: texts
    of one pattern fall into few buckets. The hash that `bucket` has by default spreads both.
    """

    name = "uneven_buckets"
    map_shape = "empty"
    needs_boundaries = False

    @classmethod
    def predict(
        cls, design: Design, facts: Mapping[str, FieldFacts], boundaries: Boundaries
    ) -> CauseFinding | None:
        """Return the cause if the values of the leading field come in steps that miss buckets."""
        part = _find_bucket(design)
        if part is None or len(part.fields) != 1 or part.cardinality is None:
            return None
        (name,) = part.fields
        step = facts[name].step if name in facts else None
        reached = part.count_reachable(step) if step else None
        if reached is None or reached >= part.cardinality:
            return None
        message = (
            f"{part.name} reaches {reached:,} of {pluralize(part.cardinality, 'bucket')}, because "
            f"the values of {name} come in steps of {step:,}."
        )
        figures = {
            "fields": [name],
            "values": facts[name].distinct_count,
            "reached": reached,
            "buckets": part.cardinality,
            "share": 1 / reached,
        }
        bound = compute_server_imbalance(reached, design.cluster.servers)
        return CauseFinding(
            cls.name, message, ANOTHER_KEY, bound=bound, evidence=figures, needs_key=True
        )

    @classmethod
    def predict_from_sample(
        cls,
        design: Design,
        facts: Mapping[str, FieldFacts],
        boundaries: Boundaries,
        keyed_events: KeyedEvents | None,
    ) -> CauseFinding | None:
        """Return the cause if sampled values fall unevenly into the buckets."""
        part = _find_bucket(design)
        if part is None or keyed_events is None:
            return cls.predict(design, facts, boundaries)
        columns = design.key.build_columns(keyed_events.rows)
        points = design.key.encode_parts(columns, (part,)).tolist()
        return _find_uneven_values(design, facts, part, points, keyed_events.rows)

    @classmethod
    def recognise(cls, result: LoadResult) -> CauseFinding | None:
        """Return the cause if the values that occurred fall unevenly into the buckets."""
        part = _find_bucket(result.design)
        if part is None or not result.keys:
            return None
        if result.measured_skew.is_even and not result.has_hot_region:
            return None
        place = result.design.key.parts.index(part)
        points = result.take_leading_bytes(place + 1)
        if place:
            before = result.take_leading_bytes(place)
            points = [one[len(start) :] for start, one in zip(before, points, strict=True)]
        return _find_uneven_values(result.design, result.facts, part, points, result.rows)


def _find_bucket(design: Design) -> Part | None:
    """Return the leading part if it computes one of listed buckets from more than times."""
    part = next((one for one in design.key.parts if one.cardinality != 1), None)
    if part is None or part.order.is_ascending or part.order.is_descending:
        return None
    is_computed = part.determined_by is Determinant.FIELDS and not is_time_only(design, part)
    return part if is_computed and part.images({}).points is not None else None


def _find_uneven_values(
    design: Design,
    facts: Mapping[str, FieldFacts],
    part: Part,
    points: Sequence[bytes],
    rows: pa.RecordBatch,
) -> CauseFinding | None:
    """Return the cause if different values fall unevenly into the buckets.

    Each value counts once, because a heavy value is a cause of its own. Of several fields the
    values of the first count too: a bucket may keep the rows of each together.

    Args:
        design: the design.
        facts: the facts of its fields.
        part: its leading part.
        points: the bucket of each event.
        rows: the events.
    """
    buckets = part.cardinality or 0
    # Equal buckets get equal numbers, in any order.
    ranks = pa.array(points, pa.binary()).dictionary_encode().indices.to_numpy().astype(np.int64)
    for names in dict.fromkeys((part.fields[:1], part.fields)):
        value_counts = _count_values(assign_row_codes(rows, names), ranks)
        values, fullest = int(value_counts.sum()), float(value_counts.max() / value_counts.sum())
        even_share = float(compute_even_skew(values, buckets)) / buckets
        if values < MIN_VALUES_PER_REGION * buckets or fullest < MIN_UNEVEN_RATIO * even_share:
            return None
    reached = len(value_counts)
    message = (
        f"{part.name} puts {pluralize(values, 'value')} of {' and '.join(part.fields)} into "
        f"{reached:,} of {pluralize(buckets, 'bucket')}, and {fullest:.0%} of them into one."
    )
    step = facts[part.fields[0]].step if part.fields[0] in facts else None
    if len(part.fields) == 1 and step and (part.count_reachable(step) or buckets) < buckets:
        message = f"{message[:-1]}, because they come in steps of {step:,}."
    figures = {
        "fields": list(part.fields),
        "values": values,
        "reached": reached,
        "buckets": buckets,
        "share": fullest,
    }
    servers = design.cluster.servers
    return CauseFinding(
        UnevenBucketsCause.name,
        message,
        ANOTHER_KEY,
        bound=compute_least_skew(np.bincount(ranks), servers),
        evidence=figures,
        explained=servers * fullest,
        needs_key=True,
    )


def _count_values(codes: np.ndarray[Any, Any], ranks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return how many different values fall into each bucket that occurs."""
    width = int(codes.max(initial=0)) + 1
    # With counts NumPy sorts the numbers, which takes a tenth of the time of its hash table.
    pairs, _ = np.unique(ranks * width + codes, return_counts=True)
    return np.bincount(pairs // width)
