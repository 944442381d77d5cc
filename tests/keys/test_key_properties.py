"""The properties of keys hold for random keys with each field type and each transform."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import decoding_properties
import key_properties
import strategies
from rowkey.keys import TRANSFORMS, TYPES, Compatibility, NullablePart

if TYPE_CHECKING:
    from rowkey.keys import Key

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
ONE_TO_FOUR, ONE_TO_TWELVE = st.integers(1, 4), st.integers(1, 12)
FOLLOWING_BYTES, DISTANCES = st.binary(max_size=3), st.integers(0, 10**18)


def check_decoding(key: Key, data: st.DataObject) -> None:
    """Check that keys and parts decode to what they do not lose, and differ by their rows."""
    one, other, *_ = rows = [strategies.draw_row(data.draw, key) for _ in range(4)]
    for row in rows:
        key_properties.check_recovered_fields(key, row)
    key_properties.check_distinct_keys(key, one, other)
    key_properties.check_distinct_keys(key, one, {**other, **dict(list(one.items())[1:])})
    for part in key_properties.list_parts(key):
        if part.has_null_encoding or all(one[name] is not None for name in part.fields):
            key_properties.check_part_decoding(part, one)


def check_order(key: Key, data: st.DataObject) -> None:
    """Check that bytes sort as the order of a part says, ascending and descending."""
    for part in key_properties.list_parts(key):
        if key_properties.has_single_field(part):
            field = key.fields[part.fields[0]]
            values = data.draw(st.lists(strategies.values(field), min_size=2, max_size=4))
            key_properties.check_order(part, field, values)
            key_properties.check_descending(part, field, values)


def check_traits(key: Key, data: st.DataObject) -> None:
    """Check lengths, ends, alphabets, nulls, resolution and number of encodings."""
    rows = [strategies.draw_row(data.draw, key) for _ in range(data.draw(ONE_TO_FOUR))]
    following_bytes, distance = data.draw(FOLLOWING_BYTES), data.draw(DISTANCES)
    for part in key_properties.list_parts(key):
        key_properties.check_cardinality(part, rows)
        for row in rows:
            key_properties.check_framing(part, row, following_bytes)
            key_properties.check_alphabet(part, row)
            key_properties.check_input_encoder(part, row)
            if all(row[name] is not None for name in part.fields):
                key_properties.check_resolution(part, row, distance)
    for part in key.parts:
        if isinstance(part, NullablePart):
            key_properties.check_nulls_first(part, rows[0])


def check_images(key: Key, data: st.DataObject) -> None:
    """Check that images have the bytes of all rows in the bounds and, where exact, no others."""
    row, other = strategies.draw_row(data.draw, key), strategies.draw_row(data.draw, key)
    bounds = {
        name: data.draw(strategies.bounds_around(field, row[name]))
        for name, field in key.fields.items()
        if data.draw(st.integers(0, 3))
    }
    for part in key.parts:
        key_properties.check_images(part, key.fields, bounds, row, other)


def check_equidistant_values(key: Key, data: st.DataObject) -> None:
    """Check that numbers a step apart have no more encodings than `count_reachable` says."""
    for part in key.parts:
        if (
            key_properties.has_single_field(part)
            and key.fields[part.fields[0]].type.has_integer_form
        ):
            field = key.fields[part.fields[0]]
            step = data.draw(st.sampled_from([1, 2, 5, 60, 256, 3_600]))
            low, high = field.type.number_range
            first = field.type.to_internal(
                field.type.domain.generate_value(data.draw(st.integers(0, 99)))
            )
            numbers = [first + step * n for n in range(40) if low <= first + step * n <= high]
            rows = [{field.name: field.type.from_internal(number)} for number in numbers]
            key_properties.check_reachable_count(part, rows, step)


def check_batches(key: Key, data: st.DataObject) -> None:
    """Check that plain, dictionary-encoded and sliced columns encode as single rows do."""
    rows = [
        strategies.draw_row(data.draw, key, normal=False) for _ in range(data.draw(ONE_TO_TWELVE))
    ]
    salts = [index % 2 for index in range(len(rows))] if key.is_salted else [0] * len(rows)
    key_properties.check_batch_encoding(key, rows, salts)
    key_properties.check_batch_refusal(key, rows, salts)
    key_properties.check_batch_decoding(key, rows, salts)


def check_other_bytes(key: Key, data: st.DataObject) -> None:
    """Check that bytes that are not a key of the design are refused, alone and in batches."""
    mutants = []
    for _ in range(4):
        encoded = key_properties.try_encode_row(key, strategies.draw_row(data.draw, key))
        mutant = strategies.draw_mutated_bytes(data.draw, encoded or b"")
        decoding_properties.check_only_keys_decode(key, mutant)
        decoding_properties.check_batch_decodes_as_single_keys(key, [mutant])
        mutants.append(mutant)
    decoding_properties.check_batch_decodes_as_single_keys(key, mutants)


def check_compatibility(key: Key, data: st.DataObject) -> None:
    """Check that a part that is compatible with another one writes the same bytes."""
    row = strategies.draw_row(data.draw, key)
    for old in key.parts:
        for new in key.parts:
            if set(new.fields) <= set(row):
                key_properties.check_compatible_bytes(old, new, row)


CHECKS = (
    check_compatibility,
    check_decoding,
    check_order,
    check_traits,
    check_images,
    check_equidistant_values,
    check_batches,
    check_other_bytes,
)


@pytest.mark.parametrize("plugin_name", [*sorted(TYPES), *sorted(TRANSFORMS)])
@settings(max_examples=50 if IS_LONG else 2)
@given(data=st.data())
def test_keys_of_every_type_and_transform_have_every_property(
    plugin_name: str, data: st.DataObject
) -> None:
    """Keys with each field type and transform pass every check; compatible parts keep bytes."""
    # To draw a key costs as much as a check, so each key is given to all.
    key, other = data.draw(strategies.keys(plugin_name)), data.draw(strategies.keys(plugin_name))
    row = strategies.draw_row(data.draw, key)
    for old in key.parts:  # before the checks, which give ids to the values of one of the keys
        for new in other.parts:
            if set(new.fields) <= set(row):
                key_properties.check_compatible_bytes(old, new, row)
    for check in CHECKS:
        check(key, data)


@pytest.mark.parametrize("changes_width", [False, True])
@given(data=st.data())
def test_a_wider_domain_is_compatible_only_if_the_width_stays(
    changes_width: bool, data: st.DataObject
) -> None:
    """A longer text, a longer list or more digits break stored rows only if the width changes."""
    small, large, rows = data.draw(strategies.widened_keys(changes_width=changes_width))
    key_properties.check_widened_field(small, large, rows)
    assert changes_width == (small.check_compatibility(large) is Compatibility.BREAKS)
    for old, new in zip(small.parts, large.parts, strict=True):
        key_properties.check_compatible_bytes(old, new, rows[0])


@given(data=st.data())
def test_the_normal_form_of_a_value_is_stable_and_parsed_from_its_text(data: st.DataObject) -> None:
    """A normal form is stable, and is parsed from its own text."""
    for field in data.draw(strategies.fields()).values():
        key_properties.check_normal_form(field, data.draw(strategies.values(field)))


@given(data=st.data())
def test_a_domain_generates_the_same_values_alone_and_in_batches(data: st.DataObject) -> None:
    """A larger number always generates a larger value, alone and in a batch."""
    for field in data.draw(strategies.fields()).values():
        domain = field.type.domain
        indexes = sorted(
            data.draw(st.sets(st.integers(0, min(domain.size, 10**18) - 1), max_size=5))
        )
        expected = [domain.generate_value(index) for index in indexes]
        batch = domain.generate_values(np.array(indexes, np.int64))
        assert expected == (batch.to_pylist() if isinstance(batch, pa.Array) else batch)
        internal_values = [field.type.to_internal(value) for value in expected]
        assert internal_values == sorted(set(internal_values))
