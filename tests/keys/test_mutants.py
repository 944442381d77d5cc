"""Each planted mistake in a part of a key must fail the property test that is named with it.

A mistake is put into one class for one test; the property runs in process, with a fixed seed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import test_key_properties as properties
from hypothesis import HealthCheck, Phase, given, settings

from rowkey.hotspots.windows import EqualCountWindows
from rowkey.keys import (
    Alphabet,
    FieldType,
    FirstSeenDictionary,
    Framing,
    Images,
    NullablePart,
    Order,
)
from rowkey.keys.codecs.codec import Codec, ComplementedCodec
from rowkey.keys.codecs.floats import OrderedFloatCodec
from rowkey.keys.codecs.numbers import BigEndianCodec
from rowkey.keys.codecs.strings import EscapedCodec, PaddedCodec, TerminatedCodec
from rowkey.keys.fields.text import TextField
from rowkey.keys.parts.complement import ComplementPart
from rowkey.keys.parts.numbered_prefix import NumberedPrefix
from rowkey.keys.parts.sequence import SequencePart
from rowkey.keys.parts.time_floor import TimeFloorPart
from rowkey.keys.traits import NO_RESIDUE
from rowkey.keys.transforms.bucket import BucketTransform
from rowkey.keys.transforms.digest import DigestTransform
from rowkey.keys.transforms.mod import ModTransform
from rowkey.keys.transforms.pad import PadTransform
from rowkey.keys.transforms.reverse import ReverseTransform
from rowkey.keys.transforms.truncate import TruncateTransform

Property = Callable[[str, st.DataObject], None]
Lie = Callable[[pytest.MonkeyPatch], None]

LIED, TRUE = 400, 3
"""Examples in which a lie must be caught, and in which the truth must not be."""


def catches(test: Any, kind: str, examples: int) -> bool:
    """Return whether a property test fails for parts of a kind, by what it asserts."""
    inner = test.hypothesis.inner_test

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def tried(data: st.DataObject) -> None:
        inner(kind, data)

    try:
        tried()
    except AssertionError:
        return True
    return False


def _set(owner: Any, name: str, lie: Any) -> Lie:
    """A lie that stands where the truth stood."""
    return lambda patch: patch.setattr(owner, name, lie)


def _after_init(owner: type, **lies: Any) -> Lie:
    """A lie that a part tells of itself once it is made."""
    truth: Any = vars(owner).get("__init__") or owner.__init__  # type: ignore[misc]

    def made(self: Any, *given: Any, **named: Any) -> None:
        truth(self, *given, **named)
        for name, lie in lies.items():
            setattr(self, name, lie)

    return _set(owner, "__init__", made)


def _changed(owner: type, name: str, change: Callable[[Any], Any]) -> Lie:
    """A method whose answer is changed."""
    truth = getattr(owner, name)
    return _set(owner, name, lambda self, *given, **named: change(truth(self, *given, **named)))


def _one_bucket_less(images: Images) -> Images:
    return (
        Images(images.points[1:] or None, images.intervals, images.exact)
        if images.points
        else images
    )


def _turned_round(part: NullablePart) -> ComplementPart:
    """The marker inverted with the value."""
    return ComplementPart(part)


def _off_by_one(self: ModTransform, bounds: Any) -> Images:
    """Images of a range that forget its last value."""
    truth = _MOD_IMAGES(self, bounds)
    return _one_bucket_less(truth) if truth.points and len(truth.points) < self.n else truth


_MOD_IMAGES = ModTransform.images

LIES: dict[str, tuple[Any, Any, Lie]] = {
    "reverse keeps order": (
        properties.test_order_is_what_the_part_says, "reverse",
        _after_init(ReverseTransform, order=Order.STRICT),
    ),
    "a truncated value sorts strictly": (
        properties.test_order_is_what_the_part_says, "truncate",
        _after_init(TruncateTransform, order=Order.STRICT),
    ),
    "the sign bit is not flipped": (
        properties.test_order_is_what_the_part_says, "i32",
        _set(BigEndianCodec, "pack", lambda self, held: (
            held % (1 << 8 * self.width)).to_bytes(self.width, "big")),
    ),
    "negative floats are not inverted": (
        properties.test_order_is_what_the_part_says, "float64",
        _set(OrderedFloatCodec, "pack", lambda self, held: struct.pack(">d", held)),
    ),
    "a batch is one too high": (
        properties.test_batches_give_the_same_bytes, "u16",
        _changed(BigEndianCodec, "_to_stored", lambda stored: stored + stored.dtype.type(1)),
    ),
    "a batch floors times upwards": (
        properties.test_batches_give_the_same_bytes, "time_bucket",
        _changed(TimeFloorPart, "compute_numbers", lambda numbers: numbers + numbers.dtype.type(1)),
    ),
    "a batch forgets to escape": (
        properties.test_batches_give_the_same_bytes, "bytes",
        _set(EscapedCodec, "pack_batch", TerminatedCodec.pack_batch),
    ),
    "a truncated value is whole": (
        properties.test_parts_read_back_what_they_hold, "truncate",
        _set(TruncateTransform, "residue", lambda self, name: NO_RESIDUE),
    ),
    "a digest recovers": (
        properties.test_what_a_key_claims_to_hold_is_read_back, "digest",
        _set(DigestTransform, "residue", lambda self, name: NO_RESIDUE),
    ),
    "text may hold 00": (
        properties.test_pieces_are_framed_as_said, "bytes",
        _set(EscapedCodec, "pack", lambda self, held: held + b"\0\1"),
    ),
    "an end is one byte too early": (
        properties.test_pieces_are_framed_as_said, "text",
        _changed(TerminatedCodec, "find_end", lambda end: end - 1),
    ),
    "padding is wider than said": (
        properties.test_pieces_are_framed_as_said, "text",
        _after_init(PaddedCodec, framing=Framing.from_width(2)),
    ),
    "there is one bucket less": (
        properties.test_pieces_are_framed_as_said, "bucket",
        _after_init(BucketTransform, cardinality=1),
    ),
    "digits are letters": (
        properties.test_pieces_are_framed_as_said, "mod",
        _after_init(ModTransform, alphabet=Alphabet(b"ab")),
    ),
    "images of a range miss its end": (
        properties.test_images_hold_every_row_within_the_bounds, "mod",
        _set(ModTransform, "images", _off_by_one),
    ),
    "images of a bucket miss one": (
        properties.test_images_hold_every_row_within_the_bounds, "bucket",
        _changed(BucketTransform, "images", _one_bucket_less),
    ),
    "images of a remainder are exact": (
        properties.test_images_hold_every_row_within_the_bounds, "mod",
        _changed(
            ModTransform, "images",
            lambda images: Images(images.points, images.intervals, exact=True),
        ),
    ),
    "a null is turned round": (
        properties.test_nulls_come_first_both_ways, "u8",
        _set(NullablePart, "to_descending", _turned_round),
    ),
    "desc leaves the end as it is": (
        properties.test_order_is_what_the_part_says, "text",
        _set(ComplementedCodec, "pack", lambda self, held: bytes(
            255 - byte for byte in self.base.pack(held)[:-1]) + self.base.pack(held)[-1:]),
    ),
    "zeros before values are left out": (
        properties.test_what_a_key_claims_to_hold_is_read_back, "bool",
        _set(
            SequencePart, "join_pieces",
            lambda self, pieces: b"".join(p for p in pieces if p != b"\0"),
        ),
    ),
    "padded text may begin with 0": (
        properties.test_parts_read_back_what_they_hold, "pad",
        _set(PadTransform, "encode", lambda self, row: (
            self.field.to_internal(row[self.field.name])[: self.n].rjust(self.n, "0").encode())),
    ),
    "two values share a code": (
        properties.test_what_a_key_claims_to_hold_is_read_back, "code",
        _set(FirstSeenDictionary, "assign_id", lambda self, name, value, most=None: 1),
    ),
    "an hour stands still for a day": (
        properties.test_time_parts_stand_still_within_their_resolution, "time_bucket",
        _after_init(TimeFloorPart, resolution_ns=10**15),
    ),
    "steps reach one number": (
        properties.test_steps_reach_no_more_than_said, "mod",
        _set(ModTransform, "count_reachable", lambda self, step: 1),
    ),
    "any byte is a salt": (
        properties.test_what_decodes_is_a_key, "salt",
        _set(NumberedPrefix, "check", lambda self, piece: None),
    ),
    "a null may stand at the end": (
        properties.test_what_decodes_is_a_key, "u8",
        _set(SequencePart, "_find_last_omittable", lambda self, pieces: b""),
    ),
    "any time is the start of an hour": (
        properties.test_what_decodes_is_a_key, "time_bucket",
        _set(TimeFloorPart, "check", lambda self, piece: None),
    ),
    "shorter texts are the same texts": (
        properties.test_a_field_with_more_values, False, _set(FieldType, "max_value_bytes", None),
    ),
    "the range of a number is part of its bytes": (
        properties.test_a_field_with_more_values, False,
        _set(BigEndianCodec, "byte_layout", property(Codec.__repr__)),
    ),
    "two bytes are as good as one": (
        properties.test_a_field_with_more_values, True,
        _set(BigEndianCodec, "byte_layout", "a number"),
    ),
    "text is held as it comes, normalised or not": (
        properties.test_batches_give_the_same_bytes, "text",
        _set(TextField, "is_internal_form", lambda self, array: True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_planted_lie_is_caught(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The property that must catch a mistake fails with it, and only with it."""
    test, kind, plant = LIES[lie]
    with monkeypatch.context() as patch:
        plant(patch)
        assert catches(test, kind, LIED)
    assert not catches(test, kind, TRUE)


def test_lost_events_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heat sums to operations: windows that lose an event do not."""
    truth = EqualCountWindows.add
    regions = np.array([0, 1, 1, 0, 1])

    def counted() -> int:
        equal = EqualCountWindows(len(regions), 2, 2)
        equal.add(regions)
        return int(equal.counts.sum())

    assert len(regions) == counted()
    monkeypatch.setattr(EqualCountWindows, "add", lambda self, given: truth(self, given[1:]))
    assert len(regions) != counted()
