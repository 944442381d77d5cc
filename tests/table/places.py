"""Random designs with slices, wide rows, packs, timestamps, families, codes and lossy keys.

As in `worlds`, the expected rows of a read are filtered and sorted as values, by separate code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from rowkey import Design
from table.worlds import BUCKETS, VALUES, Row, make_presence_check, rank_value

SLICE = 10
"""Milliseconds of a slice; the times of a world span four of them."""
ValueFunction = Callable[[Any], Any]


@dataclass(frozen=True)
class Part:
    """A part of a key in the notation, and what the part keeps of its field's values.

    Args:
        text: the part in the notation.
        name: the field of the part.
        falls: whether rows descend by the field.
        order: returns the sort key of a value; None where the bytes have no order.
        same: returns what the key keeps of a value.
        rest: returns what the qualifier keeps of a value.
    """

    text: str
    name: str
    falls: bool
    order: ValueFunction | None
    same: ValueFunction
    rest: ValueFunction | None = None


def list_parts(name: str) -> list[Part]:
    """Return the parts that a key may have for a field."""
    by = _make_value_order(name)
    whole = [
        Part(f"[{name}]", name, False, by, _keep_value),
        Part(f"[desc({name})]", name, True, by, _keep_value),
    ]
    return whole * 2 + LOSSY.get(name, [])


def _keep_value(value: Any) -> Any:
    return value


def _get_slice(value: int) -> tuple[int, int]:
    return (1, value // SLICE)


def _get_slice_offset(value: int) -> tuple[int, int]:
    return (1, value % SLICE)


LOSSY: dict[str, list[Part]] = {
    "host": [
        Part("[digest(host, 6)]", "host", False, None, _keep_value),
        Part("[code(host)]", "host", False, None, _keep_value),
        Part(
            "[truncate(host, 2)]",
            "host",
            False,
            lambda v: v.encode()[:2].ljust(2, b"\0"),
            lambda v: v.encode()[:2].ljust(2, b"\0"),
        ),
    ],
    "raw": [
        Part(
            "[truncate(raw, 1)]",
            "raw",
            False,
            lambda v: v[:1].ljust(1, b"\0"),
            lambda v: v[:1].ljust(1, b"\0"),
        ),
    ],
    "n": [
        Part("[digest(n, 6)]", "n", False, None, _keep_value),
        Part("[reverse(n)]", "n", False, None, _keep_value),
    ],
    "ts": [
        Part(f"[time_bucket(ts, {SLICE}ms)]", "ts", False, _get_slice, _get_slice),
        Part("[ts:u32]", "ts", False, lambda v: v // 1000, lambda v: v // 1000),
        *[
            Part(
                f"[time_slice(ts, {SLICE}ms)]",
                "ts",
                False,
                _get_slice,
                _keep_value,
                _get_slice_offset,
            )
        ]
        * 2,
        *[
            Part(
                f"[desc(time_slice(ts, {SLICE}ms))]",
                "ts",
                True,
                _get_slice,
                _keep_value,
                _get_slice_offset,
            )
        ]
        * 2,
    ],
}


@dataclass(frozen=True)
class PlacedWorld:
    """A design whose fields have any placement, with the rows of its table.

    Args:
        design: the design.
        parts: the parts of the key after the spreading parts.
        wide: the fields of the qualifier, in order.
        values: the possible values of each field.
        rows: rows with different keys, in the order of their puts.
    """

    design: Design
    parts: tuple[Part, ...]
    wide: tuple[str, ...]
    values: dict[str, st.SearchStrategy[Any]]
    rows: tuple[Row, ...]

    @property
    def steps(self) -> list[tuple[str, ValueFunction | None, bool]]:
        """The field, direction and order function of each sorting part, most significant first."""
        found = [(part.name, part.order, part.falls) for part in self.parts]
        found += [(one.name, one.rest, one.falls) for one in self.parts if one.rest]
        return [*found, *((name, _make_value_order(name), False) for name in self.wide)]

    @property
    def is_ordered(self) -> bool:
        """Whether the order of all rows follows from values alone."""
        return all(order is not None for _, order, _ in self.steps)

    def sort_rows(self, rows: list[Row]) -> list[Row]:
        """Return rows in the order of the key after spreading parts, if values define it."""
        found = list(rows)
        for name, order, falls in reversed(self.steps):
            assert order is not None
            found.sort(key=_make_row_order(name, order), reverse=falls)
            found.sort(key=make_presence_check(name))
        return found

    def identity(self, row: Row) -> tuple[Hashable, ...]:
        """Return the values that identify a row."""
        return _build_identity(self.parts, self.wide, row)


def _make_row_order(name: str, order: ValueFunction) -> Callable[[Row], Any]:
    return lambda row: order(row[name])


def _make_value_order(name: str) -> ValueFunction:
    return lambda value: rank_value(name, value)


def _build_identity(
    parts: tuple[Part, ...], wide: tuple[str, ...], row: Row
) -> tuple[Hashable, ...]:
    kept = (row[part.name] if part.name in wide else part.same(row[part.name]) for part in parts)
    return (*kept, *(row[name] for name in wide))


COLUMNS: tuple[tuple[dict[str, Any], ...], ...] = (
    ({"note": {"type": "text", "nullable": True}, "size": "u32"},),
    ({"note": {"type": "text", "nullable": True}, "size": {"type": "u32", "nullable": True}},),
    (
        {"note": {"type": "text", "nullable": True, "pack": "p"},
         "size": {"type": "u32", "pack": "p"}},
        {"note": {"type": "text", "nullable": True, "pack": "p", "family": "e"},
         "size": {"type": "u32", "nullable": True, "pack": "p", "family": "e"}},
    ),
    (
        {"note": {"type": "text", "nullable": True, "family": "e"}, "size": "u32"},
        {"note": {"type": "text", "nullable": True, "qualifier": ""},
         "size": {"type": "u32", "family": "e", "qualifier": "s"}},
    ),
)  # fmt: skip
"""How two fields may lie in columns: the second family is `e`."""
NOTES = st.sampled_from([None, "", "x"])
SIZES = st.integers(0, 9)
STAMPS = st.integers(1_600_000_000_000, 1_600_000_000_020)


@st.composite
def draw_placed_worlds(draw: st.DrawFn, most_rows: int = 24) -> PlacedWorld:
    """Draw a design with fields in any placement, and rows."""
    names = draw(st.lists(st.sampled_from(["ts", *sorted(VALUES)]), min_size=1, max_size=3,
                          unique=True))  # fmt: skip
    parts = tuple(draw(st.sampled_from(list_parts(name))) for name in names)
    wide = _draw_qualifier_fields(draw, parts)
    columns = dict(draw(st.sampled_from(draw(st.sampled_from(COLUMNS)))))
    fields = {
        name: _build_field_options(name, in_qualifier=name in wide) for name in {*names}.union(wide)
    }
    # Fields stand in the qualifier in the order in which they are declared.
    declared = {name: fields[name] for name in (*(n for n in names if n not in wide), *wide)}
    values = {name: VALUES[name][1] for name in declared} | {"note": NOTES}
    nullable = isinstance(columns["size"], dict) and "nullable" in columns["size"]
    values["size"] = st.none() | SIZES if nullable else SIZES
    if draw(st.integers(0, 4)) == 0:
        columns["stamp"] = {"type": "timestamp_ms", "at": "timestamp"}
        values["stamp"] = STAMPS
    design = _draw_design(draw, parts, declared | columns)
    drawn = draw(st.lists(st.fixed_dictionaries(values), max_size=most_rows))
    rows = {_build_identity(parts, wide, row): row for row in drawn}
    # A key of nulls alone would be empty, which no row may have.
    kept = [row for row in rows.values() if any(row[name] is not None for name in names)]
    return PlacedWorld(design, parts, wide, values, tuple(kept))


def _draw_qualifier_fields(draw: st.DrawFn, parts: tuple[Part, ...]) -> tuple[str, ...]:
    """Draw fields for the qualifier: fields outside of the key, or a partly kept time."""
    names = [part.name for part in parts]
    halves = [one.name for one in parts if one.text.startswith("[time_bucket")]
    others = sorted({*VALUES} - {*names})
    if not draw(st.booleans()):
        return ()
    found: list[str] = draw(st.lists(st.sampled_from(others), max_size=2, unique=True))
    if draw(st.booleans()):
        return tuple(found)
    return tuple(found + halves)


def _build_field_options(name: str, *, in_qualifier: bool) -> Any:
    kind = VALUES[name][0]
    if not in_qualifier:
        return kind
    return {**(kind if isinstance(kind, dict) else {"type": kind}), "at": "qualifier"}


def _draw_design(draw: st.DrawFn, parts: tuple[Part, ...], fields: dict[str, Any]) -> Design:
    names = [part.name for part in parts]
    n = draw(st.sampled_from(BUCKETS[:-1]))
    over = draw(st.sampled_from(names))
    spread = draw(st.sampled_from(["", "", f"[salt({n})]", f"[bucket({over}, {n})]"]))
    # A bucket of what the key holds in part would tell rows apart that the key does not.
    whole = {p.name for p in parts if p.same is _keep_value and (p.rest is None)}
    if spread.startswith("[bucket") and over not in whole:
        spread = ""
    times = [name for name in fields if name in ("ts", "day", "stamp")]
    families = {
        one["family"] for one in fields.values() if isinstance(one, dict) and "family" in one
    }
    return Design(
        "t",
        spread + "".join(part.text for part in parts),
        fields=fields,
        splits="per_bucket" if spread and n > 1 else None,
        writes={"time": times[0]} if len(times) > 1 else {},
        families={"d": {}} | {name: {} for name in families},
    )


@dataclass(frozen=True)
class PlacedRead:
    """Conditions as text with their values, and a direct check of a row."""

    where: str
    values: tuple[Any, ...]
    tests: tuple[tuple[str, str, Any], ...]

    def matches(self, row: Row) -> bool:
        """Return whether a row satisfies all conditions."""
        return all(
            _satisfies(name, operator, row[name], wanted) for name, operator, wanted in self.tests
        )


def _satisfies(name: str, operator: str, value: Any, wanted: Any) -> bool:
    if operator == "in":
        return value in wanted
    if operator == "=":
        return bool(value == wanted)
    if value is None:
        return False
    if operator == "starts with":
        return bool(value.startswith(wanted))
    if operator == "between":
        low, high = wanted
        return bool(rank_value(name, low) <= rank_value(name, value) <= rank_value(name, high))
    mine, other = rank_value(name, value), rank_value(name, wanted)
    return bool({"<": mine < other, ">=": mine >= other}[operator])


@st.composite
def draw_placed_reads(draw: st.DrawFn, world: PlacedWorld) -> PlacedRead:
    """Draw conditions on any fields of a design."""
    tests: list[tuple[str, str, Any]] = []
    words: list[str] = []
    given: list[Any] = []
    for name in draw(st.lists(st.sampled_from(sorted(world.values)), max_size=3, unique=True)):
        values = world.values[name]
        there = values.filter(lambda value: value is not None)
        operators = ["=", "in", "<", ">=", "between"]
        if name in ("host", "raw", "note"):
            operators.append("starts with")
        operator = draw(st.sampled_from(operators))
        wanted: Any
        if operator == "in":
            wanted = draw(st.lists(values, min_size=1, max_size=4, unique=True))
        elif operator == "between":
            wanted = sorted([draw(there), draw(there)], key=_make_value_order(name))
        else:
            wanted = draw(values if operator == "=" else there)
        given += wanted if operator == "between" else [wanted]
        words.append(f"{name} between ? and ?" if operator == "between" else f"{name} {operator} ?")
        tests.append((name, operator, wanted))
    return PlacedRead(" and ".join(words), tuple(given), tuple(tests))
