"""Assigns a role to each column of a sample: the time, the entity, the row id, other columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafts.name_hints import (
    is_like_calendar,
    is_like_category,
    is_like_event,
    is_like_identity,
    is_like_measure,
    is_like_personal,
    is_like_prose,
    is_like_record,
    is_like_time,
)
from rowkey.array_libraries import np, pa
from rowkey.design import Design
from rowkey.proposals import BUCKETS_PER_SERVER, MIN_VALUES_PER_REGION
from rowkey.schema import MIN_VALUES_FOR_FACTS

if TYPE_CHECKING:
    from rowkey.advise.drafts.inferred_schema import InferredColumn, InferredSchema

MIN_SPREADING_VALUES = MIN_VALUES_PER_REGION * BUCKETS_PER_SERVER * 8
"""Values from which a hash fills the buckets of eight servers evenly."""
MIN_ROWS_TO_JUDGE = MIN_VALUES_FOR_FACTS
"""Rows below which how often a value comes tells nothing, and its name decides."""
MAX_TRIED_COLUMNS = 10
"""Columns of which pairs and triples are tried for telling rows apart."""
MAX_COMBINED_COLUMNS = 3
MAX_REJECTED_SETS = 4
"""Sets of columns that are tried on the whole file before one more column is taken."""
LONG_TEXT_BYTES = 40
"""Bytes of a text on average from which it says something rather than names it."""
FREQUENT_SHARE = 0.03
"""Share of the rows from which a value is a quarter of the load of one of eight servers."""
HEAD_ROWS = 16_384
"""Rows in which a set of columns is tried first."""


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column of a sample: entity, time, or another key column.

    Args:
        schema: what the sample holds.
        entity: the column whose events are read together; None if no value comes often.
        time: when events happened; None if nothing tells.
        extra_columns: what must stand in the key besides, so that no row overwrites another.
        uniqueness: tells whether columns tell the rows of the sample apart.
        rejected_sets: what was tried for `extra_columns`, by name, and does not tell all rows of
            the file apart.
    """

    schema: InferredSchema
    entity: InferredColumn | None
    time: InferredColumn | None
    extra_columns: tuple[InferredColumn, ...]
    uniqueness: UniquenessCheck
    rejected_sets: frozenset[tuple[str, ...]] = frozenset()

    @property
    def is_missing_time(self) -> bool:
        """Return whether the event time is in a format that cannot be read yet."""
        return self.time is None and bool(self.schema.unparsed_time_columns)

    @property
    def key_columns(self) -> tuple[InferredColumn, ...]:
        """Return the columns of the key, in the order of the key."""
        return tuple(
            one for one in (self.entity, self.time, *self.extra_columns) if one is not None
        )


def assign_roles(schema: InferredSchema) -> ColumnRoles:
    """Assign a role to each column of a sample.

    Args:
        schema: what the sample holds.
    """
    uniqueness = UniquenessCheck(schema.rows)
    time = _find_time(schema)
    other_columns = [column for column in schema.columns if column is not time]
    entity = _find_entity(schema, other_columns, time, uniqueness)
    if entity is None or _has_member_rows(schema, entity, other_columns, uniqueness):
        one = _find_row_id(schema, other_columns, uniqueness, is_timed=time is not None)
        if one is not None:
            return ColumnRoles(schema, None, None, (one,), uniqueness)
    return _choose_extra_columns(ColumnRoles(schema, entity, time, (), uniqueness))


def reassign_roles(roles: ColumnRoles) -> ColumnRoles | None:
    """Return roles with other columns that make rows unique; None if no column is left.

    Args:
        roles: the roles under which rows of the file still overwrite others.
    """
    base = [one for one in (roles.entity, roles.time) if one is not None]
    candidates = _find_candidates(roles, base)
    if not roles.uniqueness.is_unique([one.name for one in (*base, *candidates)]) and len(
        candidates
    ) < len(roles.schema.columns) - len(base):
        return None
    rejected_sets = roles.rejected_sets | {tuple(one.name for one in roles.extra_columns)}
    if len(rejected_sets) < MAX_REJECTED_SETS and roles.key_columns != roles.extra_columns:
        return _choose_extra_columns(replace(roles, rejected_sets=rejected_sets))
    used = {one.name for one in roles.key_columns}
    unused_candidates = [one for one in candidates if one.name not in used]
    if not unused_candidates:
        return None
    best = max(
        unused_candidates,
        key=lambda one: (
            _score_extra_column(one, is_timed=roles.time is not None),
            one.facts.distinct_count or 0,
        ),
    )
    return replace(roles, extra_columns=(*roles.extra_columns, best), rejected_sets=rejected_sets)


def add_key_columns(roles: ColumnRoles, design: Design) -> ColumnRoles:
    """Return roles in which each column of a design's key stands in the key."""
    known = {one.name for one in roles.key_columns}
    added = [
        one
        for one in roles.schema.columns
        if one.name in design.key.fields and one.name not in known
    ]
    return replace(roles, extra_columns=(*roles.extra_columns, *added))


def count_lost_rows(roles: ColumnRoles, column: InferredColumn) -> int:
    """Count the sample rows that would be overwritten without a column in the key.

    Args:
        roles: what the columns are for.
        column: one of the key's.
    """
    names = [one.name for one in roles.key_columns]
    rest = [name for name in names if name != column.name]
    return roles.uniqueness.count_distinct(names) - roles.uniqueness.count_distinct(rest)


def _choose_extra_columns(roles: ColumnRoles) -> ColumnRoles:
    """Return the roles with the fewest extra columns that make rows unique."""
    base = [one for one in (roles.entity, roles.time) if one is not None]
    score = partial(_score_extra_column, is_timed=roles.time is not None)
    candidates = sorted(_find_candidates(roles, base), key=score, reverse=True)
    adds = _find_fewest_columns(roles.uniqueness, base, candidates, roles.rejected_sets, score)
    if (
        roles.is_missing_time
        and base
        and not roles.uniqueness.is_unique([o.name for o in (*base, *adds)])
    ):
        adds = ()  # The time would; columns that differ by chance are no substitute.
    if not (adds or roles.entity or roles.rejected_sets):
        # A time alone spreads nothing, and two events of one moment would be one row.
        adds = tuple(one for one in candidates if _can_spread(one))[:1]
    return replace(roles, extra_columns=adds)


def _find_candidates(roles: ColumnRoles, base: Sequence[InferredColumn]) -> list[InferredColumn]:
    """Return the columns that could make the rows of one entity unique.

    Measured values do so only by accident: two readings of one sensor at one moment are one reading
    and its correction. They are candidates only where the key would be empty otherwise.
    """
    other_columns = [one for one in roles.schema.columns if one not in base]
    parsed_columns = [one for one in other_columns if not one.unparsed_time]
    if roles.is_missing_time and base:
        return [
            one for one in parsed_columns if is_like_identity(one.name) and not is_measured(one)
        ]
    if len(base) > 1:
        return [one for one in parsed_columns if not is_measured(one)]
    return parsed_columns or (other_columns if not base else [])


def is_measured(column: InferredColumn) -> bool:
    """Return whether a column is a measured quantity, by its type or its name."""
    field_type = column.field.type
    if field_type.unit_ns is not None:
        return False
    is_fraction = isinstance(field_type.domain.generate_value(0), float | Decimal)
    return is_fraction or (bool(field_type.has_integer_form) and is_like_measure(column.name))


def is_prose(column: InferredColumn) -> bool:
    """Return whether a column holds free text such as messages."""
    facts = column.facts
    is_long = (facts.mean_bytes or 0) > LONG_TEXT_BYTES or (
        facts.max_bytes or 0
    ) > 8 * LONG_TEXT_BYTES
    return column.field.type.is_sequence and (is_long or is_like_prose(column.name))


def _can_spread(column: InferredColumn) -> bool:
    """Return whether a column has enough values to spread rows over buckets."""
    facts, field_type = column.facts, column.field.type
    is_plain = (
        field_type.name not in ("bool", "bytes")
        and field_type.unit_ns is None
        and not column.unparsed_time
    )
    is_other = is_measured(column) or is_like_measure(column.name) or is_like_calendar(column.name)
    return (
        is_plain
        and not is_other
        and not facts.null_share
        and (facts.distinct_count or 0) >= MIN_SPREADING_VALUES
    )


class UniquenessCheck:
    """Counts distinct combinations of columns in the rows of a sample.

    Args:
        rows: the rows.
    """

    def __init__(self, rows: pa.RecordBatch) -> None:
        self.rows = rows
        self._codes: dict[str, np.ndarray[Any, Any]] = {}

    def encode_column(self, name: str) -> np.ndarray[Any, Any]:
        """Return an integer for each value of a column; equal values have equal integers."""
        if name not in self._codes:
            coded = self.rows.column(name).dictionary_encode().indices
            codes = coded.fill_null(-1).to_numpy(zero_copy_only=False)
            self._codes[name] = codes.astype(np.int64) + 1
        return self._codes[name]

    def count_distinct(self, names: Sequence[str], row_limit: int | None = None) -> int:
        """Count the distinct combinations of some columns."""
        total = np.zeros(len(self.rows.column(0)[:row_limit]), np.int64)
        for name in names:
            codes = self.encode_column(name)[:row_limit]
            _, total = np.unique(total * (int(codes.max(initial=0)) + 1) + codes,
                                 return_inverse=True)  # fmt: skip
        return int(total.max(initial=-1)) + 1

    @cached_property
    def distinct_counts(self) -> tuple[int, int]:
        """Return the number of distinct rows, in the head of the sample and in all of it."""
        names = self.rows.schema.names
        return self.count_distinct(names, HEAD_ROWS), self.count_distinct(names)

    def is_unique(self, names: Sequence[str]) -> bool:
        """Return whether some columns distinguish all different rows."""
        head, every = self.distinct_counts
        return self.count_distinct(names, HEAD_ROWS) == head and self.count_distinct(names) == every

    def has_dependency(self, column: str, other_column: str) -> bool:
        """Return whether each value of one column occurs with one value of another column."""
        count = self.count_distinct([column])
        return (
            count * 2 <= self.rows.num_rows and self.count_distinct([column, other_column]) == count
        )


def _find_time(schema: InferredSchema) -> InferredColumn | None:
    """Return the column that holds the time of events."""
    times = [column for column in schema.columns if column.field.type.unit_ns is not None]
    return max(times, key=_score_time, default=None)


def _score_time(column: InferredColumn) -> float:
    """Score how likely a time column is the time of the event."""
    facts, tick = column.facts, column.field.type.unit_ns or 1
    return (
        2 * is_like_event(column.name)
        + is_like_time(column.name)
        + 2 * (facts.rising_share or 0.0)
        + (tick <= 1_000_000_000)
        - 4 * (facts.null_share > 0)
    )


def _find_entity(
    schema: InferredSchema,
    columns: Sequence[InferredColumn],
    time: InferredColumn | None,
    uniqueness: UniquenessCheck,
) -> InferredColumn | None:
    """Return the column of the entity that events belong to; None if there is none."""
    scored = [
        (_score_entity(column), -place, column)
        for place, column in enumerate(columns)
        if _can_group(column, schema)
    ]
    for score, _, column in sorted(scored, key=lambda one: one[:2], reverse=True):
        if score >= 0 and not (time and uniqueness.has_dependency(time.name, column.name)):
            return column
    return None


def _has_member_rows(
    schema: InferredSchema,
    entity: InferredColumn,
    columns: Sequence[InferredColumn],
    uniqueness: UniquenessCheck,
) -> bool:
    """Return whether each row is a member with its own id and the entity is its group."""
    names = [column for column in columns if is_like_identity(column.name)]
    is_sort = (
        not is_like_identity(entity.name)
        and (entity.facts.distinct_count or 0) < MIN_SPREADING_VALUES
    )
    leads = bool(names) and schema.columns[0] is names[0]
    return is_sort and leads and uniqueness.is_unique([names[0].name])


def _can_group(column: InferredColumn, schema: InferredSchema) -> bool:
    """Return whether a column names entities with several events each."""
    distinct = column.facts.distinct_count or 0
    is_short_sample = schema.event_count < MIN_ROWS_TO_JUDGE
    field_type = column.field.type
    if (
        distinct < 2 - is_short_sample
        or field_type.name in ("bool", "bytes")
        or field_type.unit_ns is not None
    ):
        return False
    if is_measured(column) or column.unparsed_time:
        return False
    if is_like_calendar(column.name) or (column.facts.mean_bytes or 0) > 4 * LONG_TEXT_BYTES:
        return False
    # A short sample shows each of many users about once, so the column's name counts for more.
    is_counter = bool(field_type.has_integer_form) and column.facts.rising_share == 1.0
    if is_like_identity(column.name):
        return distinct < schema.event_count or (
            is_short_sample and not is_like_record(column.name)
        )
    return distinct * 2 <= schema.event_count and not is_short_sample and not is_counter


def _score_entity(column: InferredColumn) -> float:
    """Score how likely a column is the entity that events belong to."""
    facts, field_type, name = column.facts, column.field.type, column.name
    distinct = facts.distinct_count or 0
    is_signed = field_type.name.startswith("i") and field_type.has_integer_form
    return (
        3 * is_like_identity(name)
        + 2 * (distinct >= MIN_SPREADING_VALUES)
        + (distinct >= 8)
        + (distinct >= 16 * MIN_SPREADING_VALUES)
        - ((facts.heaviest_share or 0) > FREQUENT_SHARE)
        + (not field_type.has_integer_form)
        - 4 * (is_like_measure(name) or is_signed)
        - 4 * is_like_time(name)
        - 2 * is_like_category(name)
        - 4 * (facts.null_share > 0)
        - 2 * ((facts.mean_bytes or 0) > LONG_TEXT_BYTES)
        - 2 * ((facts.heaviest_share or 0) > 0.5)
        - is_like_record(name)
        - 3 * is_like_personal(name)
        - 3 * is_like_prose(name)
    )


def _find_row_id(
    schema: InferredSchema,
    columns: Sequence[InferredColumn],
    uniqueness: UniquenessCheck,
    *,
    is_timed: bool,
) -> InferredColumn | None:
    """Return the column that alone identifies each row; None if there is none."""
    candidates = [
        one
        for one in columns
        if _can_identify_row(one, schema, is_timed) and uniqueness.is_unique([one.name])
    ]
    return max(candidates, key=partial(_score_extra_column, is_timed=is_timed), default=None)


def _can_identify_row(column: InferredColumn, schema: InferredSchema, is_timed: bool) -> bool:
    """Return whether a column could identify rows, by its type and name."""
    facts, field_type = column.facts, column.field.type
    is_name = is_like_identity(column.name) or field_type.name in ("uuid", "hex", "digits")
    is_free = (
        schema.event_count >= MIN_ROWS_TO_JUDGE
        and not is_timed
        and not is_like_measure(column.name)
    )
    is_name = is_name or is_free
    plain = field_type.name not in ("bool", "bytes") and field_type.unit_ns is None
    plain = plain and not is_measured(column) and not column.unparsed_time
    return plain and is_name and not facts.null_share and (facts.mean_bytes or 0) <= LONG_TEXT_BYTES


def _score_extra_column(column: InferredColumn, *, is_timed: bool) -> float:
    """Score a column as an addition to the key that makes rows unique; ids score best.

    The year of rows without a time takes its place; with one it says nothing more.
    """
    facts, field_type = column.facts, column.field.type
    return (
        _score_entity(column)
        - 8 * is_measured(column)
        - 8 * is_like_personal(column.name)
        + (-4 if is_timed else 4) * is_like_calendar(column.name)
        - 3 * ((facts.mean_bytes or 0) > LONG_TEXT_BYTES)
        - 2 * (field_type.name in ("bytes", "bool"))
        - 2 * ((facts.distinct_count or 0) < 2)
    )


def _find_fewest_columns(
    uniqueness: UniquenessCheck,
    base: list[InferredColumn],
    candidates: list[InferredColumn],
    rejected_sets: frozenset[tuple[str, ...]],
    score: Callable[[InferredColumn], float],
) -> tuple[InferredColumn, ...]:
    """Return the fewest columns that make rows unique together with the base columns.

    Args:
        uniqueness: checks whether columns make rows unique.
        base: columns that are in the key anyway.
        candidates: columns that may be added, the best first.
        rejected_sets: sets of column names that are not tried again.
        score: how well a column suits.
    """
    names = [column.name for column in base]
    plain = [one for one in candidates if not is_measured(one)]
    short = [one for one in plain if not is_prose(one)]
    for column_set in chain(_iter_column_sets(short, score), _iter_column_sets(plain, score)):
        added_names = [one.name for one in column_set]
        if (
            (names or column_set)
            and tuple(added_names) not in rejected_sets
            and uniqueness.is_unique([*names, *added_names])
        ):
            return column_set
    fewest: tuple[InferredColumn, ...] = ()
    count = uniqueness.count_distinct(names) if names else 0
    for column in candidates:
        grown = uniqueness.count_distinct([*names, column.name])
        if grown > count:
            fewest, names, count = (*fewest, column), [*names, column.name], grown
        if names and uniqueness.is_unique(names):
            break
    return fewest or tuple(candidates[: not base])


def _iter_column_sets(
    candidates: list[InferredColumn], score: Callable[[InferredColumn], float]
) -> Iterator[tuple[InferredColumn, ...]]:
    """Yield sets of columns to try: smaller sets first, better columns first."""
    for size in range(MAX_COMBINED_COLUMNS + 1):
        sets = combinations(candidates[:MAX_TRIED_COLUMNS], size)
        yield from sorted(sets, key=lambda column_set: -sum(map(score, column_set)))
