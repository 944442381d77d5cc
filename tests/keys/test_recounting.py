"""One key for the rows of several counts: it reads what each of them writes, and nothing else."""

from __future__ import annotations

from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import RowError
from rowkey.keys import Key, bind_key, combine_keys
from rowkey.schema import Equal, OneOf, Range

FIELDS: dict[str, Any] = {"host": "text", "n": "u32", "ts": "timestamp_ms"}
KEYS = (
    "[bucket(host, {})][host][n]",
    "[bucket(host, n, {}, as=hex)][host][n]",
    "[bucket({}, over=rest)][mod(n, {})][host][n]",
    "[host][mod(n, {})][n]",
    "[bucket(n, {}, width=2)][n][salt({})][host]",
    "[salt({})][host][n]",
    "[bucket(code(host), {})][code(host)][n]",
    "[bucket(ts, {})][host][n]",
)
COUNTS = (1, 3, 7, 16)
rows = st.fixed_dictionaries(
    {"host": st.sampled_from(["", "a", "ab", "ÿ"]), "n": st.integers(0, 300), "ts": st.just(5)}
)


def keys_of(notation: str, counts: tuple[int, ...]) -> list[Key]:
    """A key under each count, all with the same ids of `code`."""
    given_fields = {name: FIELDS[name] for name in FIELDS if name in notation}
    first = bind_key(notation.replace("{}", str(counts[0])), given_fields)
    return [
        bind_key(notation.replace("{}", str(n)), given_fields, dictionary=first.dictionary)
        for n in counts
    ]


@given(st.sampled_from(KEYS), st.permutations(COUNTS), st.lists(rows, min_size=1), st.data())
def test_it_reads_what_any_count_writes(
    notation: str, counts: list[int], given_rows: list[Any], data: st.DataObject
) -> None:
    """One by one and together, and the first count is the one that writes."""
    keys = keys_of(notation, tuple(counts[: data.draw(st.integers(1, 4))]))
    both = combine_keys(keys)
    salt = 0 if both.is_salted else None
    by = [data.draw(st.sampled_from(keys)) for _ in given_rows]
    written = [key.encode(row, salt=salt) for key, row in zip(by, given_rows, strict=True)]
    expected = [key.decode(row) for key, row in zip(by, written, strict=True)]
    assert expected == [both.decode(row) for row in written]
    columns = both.decode_batch(pa.array(written, pa.binary()))
    assert expected == columns.to_pylist()
    assert [keys[0].encode(row, salt=salt) for row in given_rows] == [
        both.encode(row, salt=salt) for row in given_rows
    ]


@given(st.sampled_from(KEYS[:4]), st.permutations(COUNTS), rows)
def test_it_refuses_what_no_count_writes(notation: str, counts: list[int], row: Any) -> None:
    """A row under another count is none, in either way of reading, and is told alike."""
    *live, closed = counts
    both = combine_keys(keys_of(notation, tuple(live)))
    (other,) = keys_of(notation, (closed,))
    key = other.encode(row)
    mixed = {
        b"".join(pieces)
        for pieces in product(*(
            {form.encode(row) for form in part.variants} for part in both.parts
        ))
    }  # fmt: skip
    if key in mixed:
        assert {name: row[name] for name in both.fields} == both.decode(key)
        return
    with pytest.raises(RowError):
        both.decode(key)
    with pytest.raises(RowError):
        both.decode_batch(pa.array([key], pa.binary()))


@given(st.sampled_from(KEYS[:4]), st.permutations(COUNTS), rows, st.data())
def test_its_images_are_those_of_all_counts(
    notation: str, counts: list[int], row: Any, data: st.DataObject
) -> None:
    """Whatever is asked, a part may be what it is under any count, and nothing more."""
    keys = keys_of(notation, tuple(counts[:3]))
    both = combine_keys(keys)
    names = data.draw(st.lists(st.sampled_from(sorted(both.fields)), unique=True))
    bounds = {
        name: data.draw(
            st.sampled_from([Equal(row[name]), OneOf((row[name],)), Range(row[name], row[name])])
        )
        for name in names
    }
    for part, *forms in zip(both.parts, *(key.parts for key in keys), strict=True):
        points = [form.images(bounds).points for form in forms]
        if len({repr(form) for form in forms}) > 1:
            assert {point for one in points for point in one or ()} == {
                *(part.images(bounds).points or ())
            }
        else:
            assert points[0] == part.images(bounds).points


def test_a_beginning_is_shown_by_any_count() -> None:
    """A bucket that only the greater count has is named as one."""
    both = combine_keys(keys_of("[bucket(host, {})][host][n]", (3, 16)))
    assert "bucket 15, host a" == both.format_prefix(b"\x0fa\0")
    assert "[bucket(host, 3)][host][n]" == str(both)
    assert (16, False) == (both.parts[0].cardinality, both.is_salted)
