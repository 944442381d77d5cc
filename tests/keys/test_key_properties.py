"""Every property over random keys, and over every kind of field and transform by itself."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import decoding_properties
import key_properties
import strategies
from rowkey.keys import TRANSFORMS, TYPES, Compatibility, NullablePart

KINDS = [*sorted(TYPES), *sorted(TRANSFORMS)]

PER_KIND = settings(max_examples=max(settings().max_examples // 4, 1))
"""Each property is tried on three dozen types and transforms; a fourth of the examples will do."""


@pytest.fixture(params=KINDS, scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of field and of transform."""
    return str(request.param)


@PER_KIND
@given(data=st.data())
def test_what_a_key_claims_to_hold_is_read_back(kind: str, data: st.DataObject) -> None:
    """Decoding gives back the fields that a key holds whole."""
    key = data.draw(strategies.keys(kind))
    for _ in range(4):
        key_properties.check_recovers(key, data.draw(strategies.rows(key)))


@PER_KIND
@given(data=st.data())
def test_different_rows_have_different_keys(kind: str, data: st.DataObject) -> None:
    """Two rows share a key only if they are equal, where the key is neither ambiguous nor lossy."""
    key = data.draw(strategies.keys(kind))
    one = data.draw(strategies.rows(key))
    other = data.draw(strategies.rows(key))
    key_properties.check_distinct(key, one, other)
    key_properties.check_distinct(key, one, {**other, **dict(list(one.items())[1:])})


@PER_KIND
@given(data=st.data())
def test_order_is_what_the_part_says(kind: str, data: st.DataObject) -> None:
    """Bytes sort as the trait says, also descending."""
    key = data.draw(strategies.keys(kind))
    for part in key_properties.every_part(key):
        if key_properties.is_single(part):
            field = key.fields[part.fields[0]]
            values = data.draw(st.lists(strategies.values(field), min_size=2, max_size=4))
            key_properties.check_order(part, field, values)
            key_properties.check_descending(part, field, values)


@PER_KIND
@given(data=st.data())
def test_pieces_are_framed_as_said(kind: str, data: st.DataObject) -> None:
    """Lengths, ends, alphabets and numbers of encodings are what the part says."""
    key = data.draw(strategies.keys(kind))
    rows = data.draw(st.lists(strategies.rows(key), min_size=1, max_size=4))
    behind = data.draw(st.binary(max_size=3))
    for part in key_properties.every_part(key):
        key_properties.check_cardinality(part, rows)
        for row in rows:
            key_properties.check_framing(part, row, behind)
            key_properties.check_alphabet(part, row)
            key_properties.check_derived(part, row)


@PER_KIND
@given(data=st.data())
def test_parts_read_back_what_they_hold(kind: str, data: st.DataObject) -> None:
    """A part's own bytes give back what it does not lose."""
    key = data.draw(strategies.keys(kind))
    row = data.draw(strategies.rows(key))
    for part in key_properties.every_part(key):
        if part.has_null_encoding or all(row[name] is not None for name in part.fields):
            key_properties.check_reads(part, row)


@PER_KIND
@given(data=st.data())
def test_images_hold_every_row_within_the_bounds(kind: str, data: st.DataObject) -> None:
    """Images are sound, and tight where they say exact."""
    key = data.draw(strategies.keys(kind))
    row, other = data.draw(strategies.rows(key)), data.draw(strategies.rows(key))
    bounds = {
        name: data.draw(strategies.bounds_around(field, row[name]))
        for name, field in key.fields.items()
        if data.draw(st.integers(0, 3))
    }
    for part in key.parts:
        key_properties.check_images(part, key.fields, bounds, row, other)


@PER_KIND
@given(data=st.data())
def test_time_parts_stand_still_within_their_resolution(kind: str, data: st.DataObject) -> None:
    """Within a stretch of its resolution a part computed from time alone does not change."""
    key = data.draw(strategies.keys(kind))
    row = data.draw(strategies.rows(key))
    away = data.draw(st.integers(0, 10**18))
    for part in key_properties.every_part(key):
        if all(row[name] is not None for name in part.fields):
            key_properties.check_resolution(part, row, away)


@PER_KIND
@given(data=st.data())
def test_nulls_come_first_both_ways(kind: str, data: st.DataObject) -> None:
    """The marker of a null stands outside and is never turned round."""
    key = data.draw(strategies.keys(kind))
    row = data.draw(strategies.rows(key))
    for part in key.parts:
        if isinstance(part, NullablePart):
            key_properties.check_nulls_first(part, row)


@PER_KIND
@given(data=st.data())
def test_steps_reach_no_more_than_said(kind: str, data: st.DataObject) -> None:
    """Numbers a step apart reach as many encodings as `reach` says, or fewer."""
    key = data.draw(strategies.keys(kind))
    for part in key.parts:
        if key_properties.is_single(part) and key.fields[part.fields[0]].type.has_integer_form:
            field = key.fields[part.fields[0]]
            step = data.draw(st.sampled_from([1, 2, 5, 60, 256, 3_600]))
            low, high = field.type.number_range
            first = field.type.to_internal(
                field.type.domain.generate_value(data.draw(st.integers(0, 99)))
            )
            held = [first + step * n for n in range(40) if low <= first + step * n <= high]
            rows = [{field.name: field.type.from_internal(number)} for number in held]
            key_properties.check_reach(part, rows, step)


@PER_KIND
@given(data=st.data())
def test_batches_give_the_same_bytes(kind: str, data: st.DataObject) -> None:
    """Scalar and batch paths agree, on plain, coded and sliced columns, with nulls."""
    key = data.draw(strategies.keys(kind))
    rows = data.draw(st.lists(strategies.rows(key, normal=False), min_size=1, max_size=12))
    salts = [index % 2 for index in range(len(rows))] if key.is_salted else [0] * len(rows)
    key_properties.check_batch(key, rows, salts)
    key_properties.check_batch_refuses(key, rows, salts)
    key_properties.check_decode_batch(key, rows, salts)


@PER_KIND
@given(data=st.data())
def test_what_decodes_is_a_key(kind: str, data: st.DataObject) -> None:
    """No bytes but keys of the design decode, and batches judge as single keys do."""
    key = data.draw(strategies.keys(kind))
    given = []
    for _ in range(4):
        row = data.draw(strategies.rows(key))
        mutant = data.draw(strategies.mutated(key_properties.encoded(key, row) or b""))
        decoding_properties.check_decodes_only_keys(key, mutant)
        decoding_properties.check_batches_decode_alike(key, [mutant])
        given.append(mutant)
    decoding_properties.check_batches_decode_alike(key, given)


@PER_KIND
@given(data=st.data())
def test_a_declaration_that_grows_keeps_its_bytes(kind: str, data: st.DataObject) -> None:
    """Where `evolves` says that nothing breaks, stored bytes stay what they are."""
    key, other = data.draw(strategies.keys(kind)), data.draw(strategies.keys(kind))
    row = data.draw(strategies.rows(key))
    for old in key.parts:
        for new in (old, *other.parts):
            if set(new.fields) <= set(row):
                key_properties.check_evolves(old, new, row)


@pytest.mark.parametrize("crosses", [False, True])
@given(data=st.data())
def test_a_field_with_more_values(crosses: bool, data: st.DataObject) -> None:
    """A longer text, a longer list, more digits: nothing breaks unless the width changes."""
    small, large, rows = data.draw(strategies.grown(crosses=crosses))
    key_properties.check_grows(small, large, rows)
    assert crosses == (small.check_compatibility(large) is Compatibility.BREAKS)
    for old, new in zip(small.parts, large.parts, strict=True):
        key_properties.check_evolves(old, new, rows[0])


@given(data=st.data())
def test_values_have_one_normal_form(data: st.DataObject) -> None:
    """Normal forms are stable, and text shown is text read."""
    for field in data.draw(strategies.fields()).values():
        key_properties.check_normal(field, data.draw(strategies.values(field)))


@given(data=st.data())
def test_values_are_numbered_the_same_one_by_one_and_together(data: st.DataObject) -> None:
    """`some` gives what `nth` gives for each number, and larger numbers give larger values."""
    for field in data.draw(strategies.fields()).values():
        domain = field.type.domain
        indexes = sorted(
            data.draw(st.sets(st.integers(0, min(domain.size, 10**18) - 1), max_size=5))
        )
        expected = [domain.generate_value(index) for index in indexes]
        found = domain.generate_values(np.array(indexes, np.int64))
        assert expected == (found.to_pylist() if isinstance(found, pa.Array) else found)
        held = [field.type.to_internal(value) for value in expected]
        assert held == sorted(set(held))
