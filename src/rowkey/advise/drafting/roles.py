"""What each column of a sample is for: the time of an event, whom it belongs to, what it tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafting.hints import (
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
from rowkey.schema import SURE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import pyarrow as pa

    from rowkey.advise.drafting.survey import Column, Survey

FEW_ROWS = SURE
"""Rows below which how often a value comes tells nothing, and its name decides."""
ENOUGH = 64
"""Values from which a hash fills two regions a server of eight evenly; see `few_entities`."""
TRIED = 10
"""Columns of which pairs and triples are tried for telling rows apart."""
TOGETHER = 3
RETRIED = 4
"""Sets of columns that are tried on the whole file before one more column is taken."""
LONG = 40
"""Bytes of a text on average from which it says something rather than names it."""
OFTEN = 0.03
"""Share of the rows from which a value is a quarter of the load of one of eight servers."""
HEAD = 16_384
"""Rows in which a set of columns is tried first."""


@dataclass(frozen=True)
class Roles:
    """What the columns are for.

    Args:
        survey: what the sample holds.
        entity: the column whose events are read together; None if no value comes often.
        time: when events happened; None if nothing tells.
        adds: what must stand in the key besides, so that no row overwrites another.
        apart: tells whether columns tell the rows of the sample apart.
        refused: what was tried for `adds`, by name, and does not tell all rows of the file apart.
    """

    survey: Survey
    entity: Column | None
    time: Column | None
    adds: tuple[Column, ...]
    apart: Apart
    refused: frozenset[tuple[str, ...]] = frozenset()

    @property
    def misses_time(self) -> bool:
        """Whether a column looks like the time of an event, and nothing is read as one."""
        return self.time is None and bool(self.survey.strays)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the key in its order."""
        return tuple(one for one in (self.entity, self.time, *self.adds) if one is not None)


def assigned(survey: Survey) -> Roles:
    """The roles of a sample's columns.

    Args:
        survey: what the sample holds.
    """
    apart = Apart(survey.rows)
    time = _time(survey)
    rest = [column for column in survey.columns if column is not time]
    entity = _entity(survey, rest, time, apart)
    if entity is None or _is_of_a_member(survey, entity, rest, apart):
        one = _naming(survey, rest, apart, is_timed=time is not None)
        if one is not None:
            return Roles(survey, None, None, (one,), apart)
    return _with_adds(Roles(survey, entity, time, (), apart))


def reassigned(roles: Roles) -> Roles | None:
    """The same with other columns, or one more, to tell rows apart; None if there are none left.

    Args:
        roles: those under which rows of the file still overwrite others.
    """
    base = [one for one in (roles.entity, roles.time) if one is not None]
    others = _others(roles, base)
    if not roles.apart.tells([one.name for one in (*base, *others)]) and len(others) < len(
        roles.survey.columns
    ) - len(base):
        return None
    refused = roles.refused | {tuple(one.name for one in roles.adds)}
    if len(refused) < RETRIED and roles.columns != roles.adds:
        return _with_adds(replace(roles, refused=refused))
    used = {one.name for one in roles.columns}
    left = [one for one in others if one.name not in used]
    if not left:
        return None
    best = max(left, key=lambda one: (_telling(one), one.facts.distinct or 0))
    return replace(roles, adds=(*roles.adds, best), refused=refused)


def lost_without(roles: Roles, column: Column) -> int:
    """How many different rows of the sample would overwrite others without a column in the key.

    Args:
        roles: what the columns are for.
        column: one of the key's.
    """
    names = [one.name for one in roles.columns]
    rest = [name for name in names if name != column.name]
    return roles.apart.count(names) - roles.apart.count(rest)


def _with_adds(roles: Roles) -> Roles:
    """The same with the columns that tell rows apart."""
    base = [one for one in (roles.entity, roles.time) if one is not None]
    others = sorted(_others(roles, base), key=lambda one: -_telling(one))
    adds = _added(roles.apart, base, others, roles.refused)
    if roles.misses_time and base and not roles.apart.tells([o.name for o in (*base, *adds)]):
        adds = ()  # The time would, and what happens to differ instead says nothing.
    if not (adds or roles.entity or roles.refused):
        # A time alone spreads nothing, and two events of one moment would be one row.
        adds = tuple(one for one in others if _may_spread(one))[:1]
    return replace(roles, adds=adds)


def _others(roles: Roles, base: Sequence[Column]) -> list[Column]:
    """The columns that may tell rows of one entity apart.

    What is measured does so by accident: two readings of one sensor and moment are one that was
    corrected. It is taken only where nothing else would be in the key.
    """
    rest = [one for one in roles.survey.columns if one not in base]
    read = [one for one in rest if not one.stray]
    if roles.misses_time and base:
        return [one for one in read if is_like_identity(one.name) and not is_measured(one)]
    if len(base) > 1:
        return [one for one in read if not is_measured(one)]
    return read or (rest if not base else [])


def is_measured(column: Column) -> bool:
    """Whether a column tells how much: a number with a fraction, or one with such a name."""
    kind = column.field.type
    if kind.tick is not None:
        return False
    is_fraction = isinstance(kind.domain.nth(0), float | Decimal)
    return is_fraction or (bool(kind.counts) and is_like_measure(column.name))


def is_prose(column: Column) -> bool:
    """Whether a column is a text that says something rather than names it."""
    facts = column.facts
    is_long = (facts.bytes_mean or 0) > LONG or (facts.bytes_most or 0) > 8 * LONG
    return column.field.type.is_sequence and (is_long or is_like_prose(column.name))


def _may_spread(column: Column) -> bool:
    """Whether a column differs enough between rows to spread them, and is not what is measured."""
    facts, kind = column.facts, column.field.type
    is_plain = kind.name not in ("bool", "bytes") and kind.tick is None and not column.stray
    is_other = is_measured(column) or is_like_measure(column.name) or is_like_calendar(column.name)
    return is_plain and not is_other and not facts.nulls and (facts.distinct or 0) >= ENOUGH


class Apart:
    """Tells whether columns tell the rows of a sample apart.

    Args:
        rows: the rows.
    """

    def __init__(self, rows: pa.RecordBatch) -> None:
        self.rows = rows
        self._codes: dict[str, np.ndarray[Any, Any]] = {}

    def codes(self, name: str) -> np.ndarray[Any, Any]:
        """A number for each value of a column, equal for equal values; null has one too."""
        import numpy as np

        if name not in self._codes:
            coded = self.rows.column(name).dictionary_encode().indices
            held = coded.fill_null(-1).to_numpy(zero_copy_only=False)
            self._codes[name] = held.astype(np.int64) + 1
        return self._codes[name]

    def count(self, names: Sequence[str], head: int | None = None) -> int:
        """How many different rows some columns show."""
        import numpy as np

        total = np.zeros(len(self.rows.column(0)[:head]), np.int64)
        for name in names:
            codes = self.codes(name)[:head]
            _, total = np.unique(total * (int(codes.max(initial=0)) + 1) + codes,
                                 return_inverse=True)  # fmt: skip
        return int(total.max(initial=-1)) + 1

    @cached_property
    def wholes(self) -> tuple[int, int]:
        """How many different rows there are, in the head and in all."""
        names = self.rows.schema.names
        return self.count(names, HEAD), self.count(names)

    def tells(self, names: Sequence[str]) -> bool:
        """Whether rows that differ at all differ in these columns."""
        head, every = self.wholes
        return self.count(names, HEAD) == head and self.count(names) == every

    def determines(self, one: str, other: str) -> bool:
        """Whether one value of a column always goes with one of another, and not by accident."""
        count = self.count([one])
        return count * 2 <= self.rows.num_rows and self.count([one, other]) == count


def _time(survey: Survey) -> Column | None:
    """The column that tells when an event happened."""
    times = [column for column in survey.columns if column.field.type.tick is not None]
    return max(times, key=_of_event, default=None)


def _of_event(column: Column) -> float:
    """How much a time looks like that of the event."""
    facts, tick = column.facts, column.field.type.tick or 1
    return (
        2 * is_like_event(column.name)
        + is_like_time(column.name)
        + 2 * (facts.rising or 0.0)
        + (tick <= 1_000_000_000)
        - 4 * (facts.nulls > 0)
    )


def _entity(
    survey: Survey, columns: Sequence[Column], time: Column | None, apart: Apart
) -> Column | None:
    """The column whose events belong together, and are likely read together."""
    scored = [
        (_naming_score(column), -place, column)
        for place, column in enumerate(columns)
        if _may_group(column, survey)
    ]
    for score, _, column in sorted(scored, key=lambda one: one[:2], reverse=True):
        if score >= 0 and not (time and apart.determines(time.name, column.name)):
            return column
    return None


def _is_of_a_member(
    survey: Survey, entity: Column, columns: Sequence[Column], apart: Apart
) -> bool:
    """Whether rows are members, each with an id of its own, and the entity is a sort of them."""
    names = [one for one in columns if is_like_identity(one.name)]
    is_sort = not is_like_identity(entity.name) and (entity.facts.distinct or 0) < ENOUGH
    leads = bool(names) and survey.columns[0] is names[0]
    return is_sort and leads and apart.tells([names[0].name])


def _may_group(column: Column, survey: Survey) -> bool:
    """Whether several events have one value, and it names something."""
    distinct, few = column.facts.distinct or 0, survey.events < FEW_ROWS
    kind = column.field.type
    if distinct < 2 - few or kind.name in ("bool", "bytes") or kind.tick is not None:
        return False
    if is_measured(column) or column.stray:
        return False
    if is_like_calendar(column.name) or (column.facts.bytes_mean or 0) > 4 * LONG:
        return False
    # Of many users a short file shows each about once: what its name says counts for more then.
    if is_like_identity(column.name):
        return distinct < survey.events or (few and not is_like_record(column.name))
    return distinct * 2 <= survey.events and not few


def _naming_score(column: Column) -> float:
    """How much a column looks like the name of what events belong to."""
    facts, kind, name = column.facts, column.field.type, column.name
    distinct = facts.distinct or 0
    is_signed = kind.name.startswith("i") and kind.counts
    return (
        3 * is_like_identity(name)
        + 2 * (distinct >= ENOUGH)
        + (distinct >= 8)
        + (distinct >= 16 * ENOUGH)
        - ((facts.heaviest_share or 0) > OFTEN)
        + (not kind.counts)
        - 4 * (is_like_measure(name) or is_signed)
        - 4 * is_like_time(name)
        - 2 * is_like_category(name)
        - 4 * (facts.nulls > 0)
        - 2 * ((facts.bytes_mean or 0) > LONG)
        - 2 * ((facts.heaviest_share or 0) > 0.5)
        - is_like_record(name)
        - 3 * is_like_personal(name)
        - 3 * is_like_prose(name)
    )


def _naming(
    survey: Survey, columns: Sequence[Column], apart: Apart, *, is_timed: bool
) -> Column | None:
    """The column that names each row by itself."""
    fits = [one for one in columns if _may_name(one, survey, is_timed) and apart.tells([one.name])]
    return max(fits, key=_telling, default=None)


def _may_name(column: Column, survey: Survey, is_timed: bool) -> bool:
    """Whether a column may name rows; one that only happens to differ not where a time does."""
    facts, kind = column.facts, column.field.type
    is_name = is_like_identity(column.name) or kind.name in ("uuid", "hex", "digits")
    is_free = survey.events >= FEW_ROWS and not is_timed and not is_like_measure(column.name)
    is_name = is_name or is_free
    plain = kind.name not in ("bool", "bytes") and kind.tick is None
    plain = plain and not is_measured(column) and not column.stray
    return plain and is_name and not facts.nulls and (facts.bytes_mean or 0) <= LONG


def _telling(column: Column) -> float:
    """How gladly a column stands in the key to tell rows apart: names before what is measured."""
    facts, kind = column.facts, column.field.type
    return (
        _naming_score(column)
        - 8 * is_measured(column)
        - 8 * is_like_personal(column.name)
        - 4 * is_like_calendar(column.name)
        - 3 * ((facts.bytes_mean or 0) > LONG)
        - 2 * (kind.name in ("bytes", "bool"))
        - 2 * ((facts.distinct or 0) < 2)
    )


def _added(
    apart: Apart, base: list[Column], others: list[Column], refused: frozenset[tuple[str, ...]]
) -> tuple[Column, ...]:
    """The fewest columns that tell rows apart together with some.

    Args:
        apart: tells whether they do.
        base: columns that stand in the key anyway.
        others: those that may be added, the best first.
        refused: what is not tried again.
    """
    names = [column.name for column in base]
    plain = [one for one in others if not is_measured(one)]
    short = [one for one in plain if not is_prose(one)]
    for some in chain(_tried(short), _tried(plain)):
        more = [one.name for one in some]
        if (names or some) and tuple(more) not in refused and apart.tells([*names, *more]):
            return some
    found: tuple[Column, ...] = ()
    count = apart.count(names) if names else 0
    for column in others:
        grown = apart.count([*names, column.name])
        if grown > count:
            found, names, count = (*found, column), [*names, column.name], grown
        if names and apart.tells(names):
            break
    return found or tuple(others[: not base])


def _tried(others: list[Column]) -> Iterator[tuple[Column, ...]]:
    """Sets of columns, the smallest first, and of those the best first."""
    for size in range(TOGETHER + 1):
        sets = combinations(others[:TRIED], size)
        yield from sorted(sets, key=lambda some: -sum(map(_telling, some)))
