"""Row keys for a sample, the cheapest to read first, each with the reason of every part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafting.roles import ENOUGH, is_measured, is_prose, lost_without
from rowkey.errors import counted
from rowkey.keys import TRANSFORMS, Source
from rowkey.regions import SPLITS
from rowkey.schema import Call, FieldRef, print_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rowkey.advise.drafting.roles import Roles
    from rowkey.advise.drafting.survey import Column
    from rowkey.schema import Term

A_SERVER = 2
"""Buckets a server: one more server, or one that is slow, then finds a whole one to take over."""
DIGEST = 8
"""Bytes of a digest: a million values meet with odds of 3 in 100 million."""
MOST_HEAVY = 8
"""Heavy values that are listed: the list is part of the bytes of a table."""
HEAVY = 0.25
"""Share of a server's fair share from which a value is listed."""

OF_FEW = ("few-leading-values", "hot-entity", "one-hot-row")
"""Rules that tell how many values lead a key."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A row key.

    Args:
        key: in the notation.
        splits: the word for where regions begin.
        reasons: why each part stands where it does, as sentences.
        heavy: values that are listed as heavy, by field.
        allowed: rules that find something which the sample is too small to tell, with the reason.
    """

    key: str
    splits: str
    reasons: tuple[str, ...]
    heavy: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    allowed: Mapping[str, str] = field(default_factory=dict)


def proposed_keys(
    roles: Roles, servers: int, refused: Callable[[], str] = str
) -> Iterator[Proposal]:
    """Row keys, from the one that reads ask the fewest ranges of to the one that spreads anything.

    Args:
        roles: what the columns are for.
        servers: region servers.
        refused: what spoke against the proposal before, asked when there was one.
    """
    n = A_SERVER * servers
    behind, reasons = _behind(roles)
    entity = roles.entity
    adds = [one for one in roles.adds if not is_measured(one)]
    adds = [one for one in adds if not is_prose(one)] or adds * (entity is None)
    columns = [one for one in (entity, roles.time, *adds) if one is not None] or [*roles.adds]
    splits = next(name for name, kind in SPLITS.items() if kind.needs == {"prefixes"})

    def led(front: Call, why: str, **more: Any) -> Proposal:
        return Proposal(
            print_key((front, *behind)), splits, (_said(front, why, n, servers), *reasons), **more
        )

    first = entity or (adds[0] if adds else None)
    if first is not None:
        whole = entity is not None or len(columns) == 1
        why = (
            f"rows of one {first.name} share a bucket, so a read of one asks one bucket"
            if whole
            else f"{first.name} spreads the rows"
        )
        yield led(_bucket([first], n), why, allowed=_too_few_seen(roles, first))
    if entity is not None and roles.misses_time:
        return
    heavy = _heavy(entity, servers) if entity is not None else ()
    if entity is not None and heavy and len(columns) > 1:
        spread = _spread(heavy, n, servers)
        shown = ", ".join(entity.field.type.show(value)[:24] for value, _ in heavy)
        yield led(
            _bucket(columns, n, spread),
            f"the heavy values of {entity.name} ({shown}) take {counted(spread, 'bucket')} each "
            "and reads of "
            f"them {counted(spread, 'range')}, any other value one",
            heavy={entity.name: tuple(value for value, _ in heavy)},
        )
    if first is not None and len(adds) > (entity is None):
        names = list(dict.fromkeys(one.name for one in (first, *adds)))
        some = [one for one in columns if one.name in names]
        why = f"a bucket of {first.name} alone was refused ({refused()}), so {_and(names)} fill it"
        yield led(_bucket(some, n), why)
    if len(columns) > 1:
        why = (
            f"the key before was refused ({refused()}), so rows of one {entity.name} are spread "
            f"too: a read of one asks all {n} buckets, and merges them"
            if entity is not None
            else "what tells rows apart spreads them"
        )
        yield led(_bucket(columns, n), why)
    why = "nothing in the rows spreads them: chance does, and a row put twice stands twice"
    drawn = next(name for name, kind in TRANSFORMS.items() if kind.source is Source.CHANCE)
    yield led(Call(drawn, (), (n,)), why)


def _bucket(columns: list[Column], n: int, *more: int) -> Call:
    return Call("bucket", tuple(FieldRef(one.name) for one in columns), (n, *more))


def _said(front: Call, why: str, n: int, servers: int) -> str:
    return (
        f"[{front}]: {counted(n, 'bucket')}, {A_SERVER} for each of "
        f"{counted(servers, 'server')}; {why}."
    )


def _behind(roles: Roles) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """The parts behind the bucket, and why each stands there."""
    terms: list[Term] = []
    reasons = []
    if (entity := roles.entity) is not None:
        term = _term(entity)
        terms.append(term)
        why = f"what belongs to one {entity.name} lies together"
        reasons.append(f"[{term}]: {why}.{_on_digest(entity, term)}")
    if (time := roles.time) is not None:
        terms.append(_term(time))
        within = f"of one {roles.entity.name} " if roles.entity is not None else ""
        reasons.append(
            f"[{terms[-1]}]: rows {within}in the order of time: in each bucket that a read asks, a "
            "stretch of time is one range, and the latest rows are a scan backwards."
        )
    for column in roles.adds:
        term = _term(column)
        terms.append(term)
        reasons.append(f"[{term}]: {_on_addition(roles, column)}.{_on_digest(column, term)}")
    return tuple(terms), tuple(reasons)


def _on_addition(roles: Roles, column: Column) -> str:
    """Why a column stands in the key that is neither the entity nor the time."""
    if roles.columns == (column,):
        return f"every row of the sample has its own {column.name}"
    lost = lost_without(roles, column)
    if not lost and roles.refused:
        return "rows of the file overwrite others without it"
    if not lost:
        return "two rows of one moment stay two"
    rows = "row of the sample overwrites" if lost == 1 else "rows of the sample overwrite"
    why = f"without it {lost:,} {rows} another"
    if is_measured(column):
        return f"{why}; if that is right, as of a corrected value, leave it out"
    return why


def _term(column: Column) -> Term:
    """A field as a part of the key, in as few bytes as tell its values apart."""
    kind = column.field.type
    if kind.name == "hex":
        return FieldRef(column.name, "bytes")
    if is_prose(column):
        return Call("digest", (FieldRef(column.name),), (DIGEST,))
    return FieldRef(column.name)


def _on_digest(column: Column, term: Term) -> str:
    if not isinstance(term, Call):
        return ""
    size = column.facts.bytes_most or 0
    return f" Up to {size:,} bytes stand in a column instead: every cell repeats the key."


def _heavy(entity: Column, servers: int) -> tuple[tuple[Any, float], ...]:
    """The values that take much of a server's share, if a list can hold them."""
    found = [one for one in entity.facts.heaviest if one[1] * servers >= HEAVY]
    writable = [one for one in found if isinstance(one[0], str | int)]
    others = (entity.facts.distinct or 0) - len(found)
    fits = len(found) == len(writable) <= MOST_HEAVY and others >= ENOUGH
    return tuple(writable) if fits else ()


def _spread(heavy: tuple[tuple[Any, float], ...], n: int, servers: int) -> int:
    """Buckets for each heavy value, so that one takes half a server's share in each or less."""
    share = max(share for _, share in heavy)
    spread = 2
    while spread < n and share * servers / spread > 1 / A_SERVER:
        spread *= 2
    return min(spread, n)


def _too_few_seen(roles: Roles, first: Column) -> dict[str, str]:
    """What is found where the sample is too small to show how many values there are."""
    distinct, events = first.facts.distinct or 0, roles.survey.events
    if roles.misses_time:
        missed = roles.survey.strays[0].name
        return dict.fromkeys(OF_FEW, f"the key has no time yet: see {missed}, which is not read")
    if distinct >= ENOUGH or distinct * 20 <= events:
        return {}
    why = f"{counted(distinct, 'value')} in {counted(events, 'row')} do not tell how many there are"
    return dict.fromkeys(OF_FEW, why)


def _and(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
