"""A key combined from several bucket counts decodes the rows of these counts and no others."""

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
KEY_TEMPLATES = (
    "[bucket(host, {})][host][n]",
    "[bucket(host, n, {}, as=hex)][host][n]",
    "[bucket({}, over=rest)][mod(n, {})][host][n]",
    "[host][mod(n, {})][n]",
    "[bucket(n, {}, width=2)][n][salt({})][host]",
    "[salt({})][host][n]",
    "[bucket(code(host), {})][code(host)][n]",
    "[bucket(ts, {})][host][n]",
)
BUCKET_COUNTS = (1, 3, 7, 16)
random_rows = st.fixed_dictionaries(
    {"host": st.sampled_from(["", "a", "ab", "ÿ"]), "n": st.integers(0, 300), "ts": st.just(5)}
)


def bind_keys(notation: str, counts: tuple[int, ...]) -> list[Key]:
    """Bind a key under each bucket count, all with the same dictionary of codes."""
    given_fields = {name: FIELDS[name] for name in FIELDS if name in notation}
    first = bind_key(notation.replace("{}", str(counts[0])), given_fields)
    return [
        bind_key(notation.replace("{}", str(n)), given_fields, dictionary=first.dictionary)
        for n in counts
    ]


@given(
    st.sampled_from(KEY_TEMPLATES),
    st.permutations(BUCKET_COUNTS),
    st.lists(random_rows, min_size=1),
    st.data(),
)
def test_a_key_of_several_bucket_counts_decodes_the_rows_of_each_count(
    notation: str, counts: list[int], given_rows: list[Any], data: st.DataObject
) -> None:
    """Rows of every count are decoded alone and in batches, and the first count encodes."""
    keys = bind_keys(notation, tuple(counts[: data.draw(st.integers(1, 4))]))
    combined = combine_keys(keys)
    salt = 0 if combined.is_salted else None
    writers = [data.draw(st.sampled_from(keys)) for _ in given_rows]
    written = [key.encode(row, salt=salt) for key, row in zip(writers, given_rows, strict=True)]
    expected = [key.decode(row) for key, row in zip(writers, written, strict=True)]
    assert expected == [combined.decode(row) for row in written]
    columns = combined.decode_batch(pa.array(written, pa.binary()))
    assert expected == columns.to_pylist()
    assert [keys[0].encode(row, salt=salt) for row in given_rows] == [
        combined.encode(row, salt=salt) for row in given_rows
    ]


@given(st.sampled_from(KEY_TEMPLATES[:4]), st.permutations(BUCKET_COUNTS), random_rows)
def test_a_key_of_several_bucket_counts_refuses_rows_of_another(
    notation: str, counts: list[int], row: Any
) -> None:
    """A row of another count is refused, alone and in a batch."""
    *open_counts, other_count = counts
    combined = combine_keys(bind_keys(notation, tuple(open_counts)))
    (other,) = bind_keys(notation, (other_count,))
    key = other.encode(row)
    mixed = {
        b"".join(pieces)
        for pieces in product(*(
            {form.encode(row) for form in part.variants} for part in combined.parts
        ))
    }  # fmt: skip
    if key in mixed:
        assert {name: row[name] for name in combined.fields} == combined.decode(key)
        return
    with pytest.raises(RowError):
        combined.decode(key)
    with pytest.raises(RowError):
        combined.decode_batch(pa.array([key], pa.binary()))


@given(st.sampled_from(KEY_TEMPLATES[:4]), st.permutations(BUCKET_COUNTS), random_rows, st.data())
def test_images_of_a_combined_part_are_those_of_all_bucket_counts(
    notation: str, counts: list[int], row: Any, data: st.DataObject
) -> None:
    """The images of a combined part are the union of the images under each count."""
    keys = bind_keys(notation, tuple(counts[:3]))
    combined = combine_keys(keys)
    names = data.draw(st.lists(st.sampled_from(sorted(combined.fields)), unique=True))
    bounds = {
        name: data.draw(
            st.sampled_from([Equal(row[name]), OneOf((row[name],)), Range(row[name], row[name])])
        )
        for name in names
    }
    for part, *forms in zip(combined.parts, *(key.parts for key in keys), strict=True):
        points = [form.images(bounds).points for form in forms]
        if len({repr(form) for form in forms}) > 1:
            assert {point for one in points for point in one or ()} == {
                *(part.images(bounds).points or ())
            }
        else:
            assert points[0] == part.images(bounds).points


def test_the_prefix_of_a_bucket_that_only_one_count_has_is_formatted_as_that_bucket() -> None:
    """The prefix of a bucket that only the larger count has is formatted as a bucket."""
    combined = combine_keys(bind_keys("[bucket(host, {})][host][n]", (3, 16)))
    assert "bucket 15, host a" == combined.format_prefix(b"\x0fa\0")
    assert "[bucket(host, 3)][host][n]" == str(combined)
    assert (16, False) == (combined.parts[0].cardinality, combined.is_salted)
