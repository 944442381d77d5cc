"""Declared reads become bounds of fields, with normal values and merged conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.random_keys import FIELDS, VALUES_BY_FIELD, satisfies_bounds
from rowkey.errors import Mistakes, ReadError
from rowkey.keys import bind_key
from rowkey.plan import DeclaredRead, bind_declared_reads, plan_read
from rowkey.schema import Equal, OneOf, Range, ReadDeclaration, StartsWith

if TYPE_CHECKING:
    from rowkey.errors import Mistake
    from rowkey.schema import Bound

MORE_FIELDS: dict[str, Any] = {
    **FIELDS,
    "name": {"type": "text", "normalize": "nfc"},
    "id": {"type": "hex", "width": 4},
}
KEY = bind_key("".join(f"[{name}]" for name in MORE_FIELDS), MORE_FIELDS)


def bind_reads(where: str) -> tuple[tuple[DeclaredRead, ...], list[Mistake]]:
    """Bind a declared read, and return it with its mistakes."""
    mistakes = Mistakes()
    words = ReadDeclaration(name="r", where=where)
    return bind_declared_reads([words], KEY.declared_fields, mistakes), mistakes.mistakes


def build_bounds(where: str, *values: Any) -> dict[str, Bound]:
    """Return the bounds of a declared read with values."""
    (read,), _ = bind_reads(where)
    return dict(read.build_bounds(dict(enumerate(values))))


PREFIXES: list[tuple[str, Any, Any]] = [
    ("name", "e\u0301", "\u00e9"),
    ("host", "", ""),
    ("raw", "61ff", b"a\xff"),
    ("raw", b"a", b"a"),
    ("raw", bytearray(b"a"), b"a"),
    ("code", "12", "12"),
    ("id", "AB", "ab"),
    ("id", "abCD", "abcd"),
]


@pytest.mark.parametrize(("name", "given_", "expected"), PREFIXES)
def test_a_prefix_value_is_normalized_as_its_field(name: str, given_: Any, expected: Any) -> None:
    """Prefixes are composed, parsed as hexadecimal digits or lower-cased as the field is."""
    assert {name: StartsWith(expected)} == build_bounds(f"{name} starts with ?", given_)


def test_a_prefix_in_a_design_file_is_normalized_as_a_parameter() -> None:
    """A quoted prefix in a read means the same as a parameter."""
    expected = {"name": StartsWith("\u00e9"), "raw": StartsWith(b"\xab")}
    assert expected == build_bounds("name starts with 'e\u0301' and raw starts with 'ab'")


def test_a_decomposed_prefix_finds_rows_with_composed_text() -> None:
    """A decomposed prefix finds a row whose text is composed."""
    key = bind_key("[name]", {"name": MORE_FIELDS["name"]})
    plan = plan_read(key, build_bounds("name starts with ?", "e\u0301"))
    assert plan.has_key(key.encode({"name": "e\u0301x"}))
    assert not plan.is_full_scan


INVALID_VALUES: list[tuple[str, tuple[Any, ...]]] = [
    ("host starts with ?", (None,)),
    ("host starts with ?", (5,)),
    ("host starts with ?", (b"x",)),
    ("host starts with ?", ("\ud800",)),
    ("host starts with ?", ("a\0",)),
    ("host starts with ?", ("longer than six",)),
    ("raw starts with ?", (5,)),
    ("raw starts with ?", ("xy",)),
    ("code starts with ?", (12,)),
    ("code starts with ?", ("1x",)),
    ("code starts with ?", ("12345",)),
    ("id starts with ?", ("xy",)),
    ("n > ?", (None,)),
    ("n <= ?", (None,)),
    ("n between ? and 5", (None,)),
    ("n between 1 and ?", (None,)),
    ("n > ?", ([1],)),
    ("n = ?", (1 << 20,)),
]


@pytest.mark.parametrize(("where", "values"), INVALID_VALUES)
def test_an_invalid_value_of_a_read_is_refused_with_its_field(
    where: str, values: tuple[Any, ...]
) -> None:
    """The error names the field, and no rows are returned."""
    with pytest.raises(ReadError) as caught:
        build_bounds(where, *values)
    assert where.split(maxsplit=1)[0] == caught.value.mistake.path


MERGED_CONDITIONS: list[tuple[str, tuple[Any, ...], Bound]] = [
    ("n > ? and n > ?", (4, 5), Range(low=5, includes_low=False)),
    ("n > ? and n >= ?", (5, 5), Range(low=5, includes_low=False)),
    ("n < 9 and n <= 3 and n > 1", (), Range(1, 3, includes_low=False)),
    ("n = 1 and n = 1", (), Equal(1)),
    ("n in (1, 2) and n = 1", (), Equal(1)),
    ("n in (1, 2, 3) and n > 1", (), OneOf((2, 3))),
    ("n between 1 and 2 and n < 3", (), Range(1, 2)),
    ("n = ? and n = ?", (1, 2), OneOf(())),
    ("kind >= 'warn' and kind in ('info', 'error')", (), Equal("error")),
    ("host starts with 'a' and host starts with 'ab'", (), StartsWith("ab")),
    ("host starts with ? and host starts with 'ab'", ("b",), OneOf(())),
    ("host starts with 'a' and host > 'a' and host in ('a', 'b', 'ab')", (), Equal("ab")),
]


@pytest.mark.parametrize(("where", "values", "expected"), MERGED_CONDITIONS)
def test_conditions_on_one_field_are_merged(
    where: str, values: tuple[Any, ...], expected: Bound
) -> None:
    """Ranges are intersected, listed values are filtered, and the longer prefix wins."""
    assert [expected] == list(build_bounds(where, *values).values())


CONDITION_FORMS = ("= {}", "< {}", "<= {}", "> {}", ">= {}", "in ({}, {})", "between {} and {}")


@given(st.data())
def test_merged_conditions_match_the_values_that_each_condition_matches(
    data: st.DataObject,
) -> None:
    """The merged bound of random conditions matches a value exactly if each condition does."""
    forms = data.draw(st.lists(st.sampled_from(CONDITION_FORMS), min_size=1, max_size=4))
    values = data.draw(st.lists(VALUES_BY_FIELD["n"], min_size=8, max_size=8))
    together = " and ".join(f"n {form.replace('{}', '?')}" for form in forms)
    singly, at = [], 0
    for form in forms:
        count = form.count("{}")
        singly.append(build_bounds(f"n {form.replace('{}', '?')}", *values[at : at + count]))
        at += count
    merged = build_bounds(together, *values)
    for value in values:
        expected = all(satisfies_bounds({"n": value}, one, {"n"}) for one in singly)
        assert expected == satisfies_bounds({"n": value}, merged, {"n"}), (together, values, merged)


IMPOSSIBLE_READS = {
    "n = 1 and n = 2": "n = 1 and n = 2: no value satisfies this",
    "n > 5 and n < 4": "n > 5 and n < 4: no value satisfies this",
    "n between 5 and 4": "n between 5 and 4: no value satisfies this",
    "n in (1, 2) and n > 2 and n < ?": ("n in (1, 2) and n > 2 and n < ?: no value satisfies this"),
    "host starts with ? and host > ?": (
        "host starts with ? and host > ?: a prefix and a range of one field"
    ),
    "host starts with 5": "host starts with 5: the prefix 5 is of the type int",
    "raw starts with 'xy'": "raw starts with 'xy': 'xy' is ",
    "n starts with '1'": "n starts with '1': values of the type i16 have no prefix",
    "n = 1 and n = 'x'": "n = 'x': 'x' is ",
}


@pytest.mark.parametrize("where", IMPOSSIBLE_READS)
def test_a_read_that_matches_no_row_is_a_mistake_of_the_design(where: str) -> None:
    """The mistake is found without values, and its path is that of the conditions."""
    reads, found = bind_reads(where)
    assert () == reads
    assert ["reads[0].where"] == [one.path for one in found]
    assert found[0].problem.startswith(IMPOSSIBLE_READS[where])


@pytest.mark.parametrize(
    ("options", "path", "problem"),
    [
        ({"keys": "uniform"}, "keys", "'uniform' has no effect: no condition with = or in has"),
        ({"where": "host = 'a'", "keys": "zipf"}, "keys", "'zipf(0.99)' has no effect"),
        ({"where": "host = ?", "age": "latest"}, "age", "'latest' has no effect: no range over a"),
        ({"where": "ts = ?", "age": "exp(1h)"}, "age", "'exp(1h)' has no effect"),
        ({"where": "ts >= 5", "age": "uniform"}, "age", "'uniform' has no effect"),
        ({"where": "host = ?", "span": "1h"}, "span", "'1h' has no effect: no range over a"),
        ({"where": "ts = ?", "span": "1h"}, "span", "'1h' has no effect"),
        ({"where": "ts >= 5", "span": "1h"}, "span", "'1h' has no effect"),
        ({"where": "host = ?", "keys": "often"}, "keys", "'often' is not a popularity"),
        ({"where": "ts >= ?", "age": "old"}, "age", "'old' is not an age"),
    ],
)
def test_keys_and_age_of_a_read_without_use_are_mistakes(
    options: dict[str, str], path: str, problem: str
) -> None:
    """Where no condition has a use for `keys` or `age`, or they are wrong, their path is named."""
    mistakes = Mistakes()
    fields = bind_key("[host][ts]", {"host": "text", "ts": "timestamp_s"}).declared_fields
    assert () == bind_declared_reads([ReadDeclaration(name="r", **options)], fields, mistakes)  # type: ignore[arg-type]
    assert [f"reads[0].{path}"] == [one.path for one in mistakes.mistakes]
    assert mistakes.mistakes[0].problem.startswith(problem)


def test_a_read_by_device_and_day_has_the_device_as_its_value() -> None:
    fields = bind_key("[host][day]", {"host": "text", "day": "date"}).declared_fields
    words = [
        ReadDeclaration(name=where, where=where)
        for where in ("day = ? and host in (?, ?)", "day = ? and host = 'a'", "day >= ?")
    ]
    reads = bind_declared_reads(words, fields, Mistakes())
    assert [("host",), ("day",), ()] == [read.parameter_fields for read in reads]
    assert [(), (), ("day",)] == [read.time_ranges for read in reads]
