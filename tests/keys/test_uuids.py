"""Columns of UUIDs have the bytes and the texts of Python's `uuid`, however each is written."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.keys.fields.uuid import UuidField
from rowkey.schema import FieldDeclaration

FORMS: list[Callable[[UUID], str]] = [
    str,
    lambda one: str(one).upper(),
    lambda one: one.hex,
    lambda one: f"{{{one}}}",
    lambda one: one.urn,
]
TYPE = UuidField(FieldDeclaration(type="uuid"))


@given(st.lists(st.tuples(st.uuids(), st.sampled_from(FORMS[:2]))))
def test_a_column_of_uuid_texts_is_encoded_to_the_bytes_of_each_uuid(
    written: list[tuple[UUID, Callable[[UUID], str]]],
) -> None:
    """A column of texts with hyphens, in any case, has the bytes of each, in a slice too."""
    texts = pa.array([form(one) for one, form in written], pa.string())
    expected = [one.bytes for one, _ in written]
    assert expected == TYPE.to_internal_batch(texts).tolist()
    assert expected[1:] == TYPE.to_internal_batch(texts[1:]).tolist()


@given(st.lists(st.tuples(st.uuids(), st.sampled_from(FORMS)), min_size=1))
def test_uuid_texts_of_every_form_in_one_column_have_their_bytes(
    written: list[tuple[UUID, Callable[[UUID], str]]],
) -> None:
    """Braces, a missing hyphen or a URN in one text change the bytes of none."""
    texts = pa.array([form(one) for one, form in written], pa.large_string())
    assert [one.bytes for one, _ in written] == TYPE.to_internal_batch(texts).tolist()


@pytest.mark.parametrize(
    "text",
    ["", "0", "g" * 36, "0" * 36, "00000000-0000-0000-0000-00000000000g", "-" * 36, "é" * 18],
)
def test_a_text_of_36_bytes_that_is_no_uuid_is_refused(text: str) -> None:
    """A text of 36 bytes that is no UUID is refused like any other."""
    texts = pa.array(["00112233-4455-6677-8899-aabbccddeeff", text])
    with pytest.raises(InvalidArgument, match="not a UUID"):
        TYPE.to_internal_batch(texts)


def test_a_generated_uuid_is_the_text_of_its_drawn_bytes() -> None:
    """A generated UUID is the text of the 16 bytes that are drawn for its number."""
    indexes = np.array([0, 1, 7, 2**40])
    drawn = TYPE.domain.draw_values(indexes).to_pylist()
    base = TYPE.domain.base.draw_values(indexes).to_pylist()
    assert [str(UUID(bytes=one)) for one in base] == drawn
    assert [] == TYPE.domain.draw_values(indexes[:0]).to_pylist()
