"""What declared reads ask of fields: values as they are held, and conditions that meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.designs import FIELDS, POOLS, matches
from rowkey.errors import Mistakes, ReadError
from rowkey.keys import bind_key
from rowkey.plan import DeclaredRead, bind_declared_reads, plan_read
from rowkey.schema import Equal, OneOf, Range, ReadDeclaration, StartsWith

if TYPE_CHECKING:
    from rowkey.errors import Mistake
    from rowkey.schema import Bound

MORE: dict[str, Any] = {
    **FIELDS,
    "name": {"type": "text", "normalize": "nfc"},
    "id": {"type": "hex", "width": 4},
}
KEY = bind_key("".join(f"[{name}]" for name in MORE), MORE)


def bound_reads(where: str) -> tuple[tuple[DeclaredRead, ...], list[Mistake]]:
    """A read over the record, and what is wrong with it."""
    mistakes = Mistakes()
    words = ReadDeclaration(name="r", where=where)
    return bind_declared_reads([words], KEY.declared_fields, mistakes), mistakes.mistakes


def asked(where: str, *values: Any) -> dict[str, Bound]:
    """What a read asks of each field, given its values."""
    (read,), _ = bound_reads(where)
    return dict(read.build_bounds(dict(enumerate(values))))


HELD: list[tuple[str, Any, Any]] = [
    ("name", "e\u0301", "\u00e9"),
    ("host", "", ""),
    ("raw", "61ff", b"a\xff"),
    ("raw", b"a", b"a"),
    ("raw", bytearray(b"a"), b"a"),
    ("code", "12", "12"),
    ("id", "AB", "ab"),
    ("id", "abCD", "abcd"),
]


@pytest.mark.parametrize(("name", "given_", "expected"), HELD)
def test_a_beginning_is_asked_as_the_field_holds_it(name: str, given_: Any, expected: Any) -> None:
    """Composed where the field composes, bytes from hexadecimal digits, lower-case digits."""
    assert {name: StartsWith(expected)} == asked(f"{name} starts with ?", given_)


def test_a_beginning_in_the_file_is_asked_as_the_field_holds_it() -> None:
    """Written between quotes, it means the same as when it is given."""
    expected = {"name": StartsWith("\u00e9"), "raw": StartsWith(b"\xab")}
    assert expected == asked("name starts with 'e\u0301' and raw starts with 'ab'")


def test_a_row_that_begins_so_is_found_however_its_text_was_composed() -> None:
    """The range of a beginning holds the row whose text was given in either form."""
    key = bind_key("[name]", {"name": MORE["name"]})
    plan = plan_read(key, asked("name starts with ?", "e\u0301"))
    assert plan.has_key(key.encode({"name": "e\u0301x"}))
    assert not plan.is_full_scan


NO_VALUES: list[tuple[str, tuple[Any, ...]]] = [
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


@pytest.mark.parametrize(("where", "values"), NO_VALUES)
def test_what_is_no_value_is_refused(where: str, values: tuple[Any, ...]) -> None:
    """Each is an error of the read that names the field: never all rows, and no other error."""
    with pytest.raises(ReadError) as caught:
        asked(where, *values)
    assert where.split(maxsplit=1)[0] == caught.value.mistake.path


MEETING: list[tuple[str, tuple[Any, ...], Bound]] = [
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


@pytest.mark.parametrize(("where", "values", "expected"), MEETING)
def test_conditions_on_one_field_are_asked_together(
    where: str, values: tuple[Any, ...], expected: Bound
) -> None:
    """Ranges overlap, listed values are tested, the longer beginning counts."""
    assert [expected] == list(asked(where, *values).values())


FORMS = ("= {}", "< {}", "<= {}", "> {}", ">= {}", "in ({}, {})", "between {} and {}")


@given(st.data())
def test_a_row_meets_all_conditions_if_it_meets_what_is_asked(data: st.DataObject) -> None:
    """Random conditions on one number: what is asked holds just the values that meet each."""
    forms = data.draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=4))
    values = data.draw(st.lists(POOLS["n"], min_size=8, max_size=8))
    together = " and ".join(f"n {form.replace('{}', '?')}" for form in forms)
    singly, at = [], 0
    for form in forms:
        count = form.count("{}")
        singly.append(asked(f"n {form.replace('{}', '?')}", *values[at : at + count]))
        at += count
    merged = asked(together, *values)
    for value in values:
        expected = all(matches({"n": value}, one, {"n"}) for one in singly)
        assert expected == matches({"n": value}, merged, {"n"}), (together, values, merged)


NEVER = {
    "n = 1 and n = 2": "n = 1 and n = 2: no value satisfies this",
    "n > 5 and n < 4": "n > 5 and n < 4: no value satisfies this",
    "n between 5 and 4": "n between 5 and 4: no value satisfies this",
    "n in (1, 2) and n > 2 and n < ?": ("n in (1, 2) and n > 2 and n < ?: no value satisfies this"),
    "host starts with ? and host > ?": (
        "host starts with ? and host > ?: a prefix and a range of one field"
    ),
    "host starts with 5": "host starts with 5: no value of the field starts with 5",
    "raw starts with 'xy'": "raw starts with 'xy': 'xy' is ",
    "n starts with '1'": "n starts with '1': values of the type i16 have no prefix",
    "n = 1 and n = 'x'": "n = 'x': 'x' is ",
}


@pytest.mark.parametrize("where", NEVER)
def test_a_read_that_can_never_run_is_a_mistake_of_its_file(where: str) -> None:
    """It is told without values, at the word where the conditions stand."""
    reads, found = bound_reads(where)
    assert () == reads
    assert ["reads[0].where"] == [one.path for one in found]
    assert found[0].problem.startswith(NEVER[where])
