"""Each mutant of a part of a key must fail the check that is named with it.

A mutant has one planted mistake for one check, which runs in this process with a fixed seed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import test_key_properties as properties
from hypothesis import HealthCheck, Phase, given, seed, settings

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
from rowkey.keys.fields.texts import TextField
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
from strategies import keys

Check = Callable[[Any, st.DataObject], None]
Mutant = Callable[[pytest.MonkeyPatch], None]

MUTANT_EXAMPLES, UNCHANGED_EXAMPLES = 400, 3
"""Examples in which a mutant must be caught, and in which the unchanged code must pass."""
SEED = 9
"""With this seed, each mutant is caught within about 100 examples."""


CHECK_WIDENING: Check = (
    properties.test_a_wider_domain_is_compatible_only_if_the_width_stays.hypothesis.inner_test
)


def is_mutant_caught(check: Check, subjects: st.SearchStrategy[Any], examples: int) -> bool:
    """Return whether a check fails for one of some keys."""

    @seed(SEED)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def check_example(data: st.DataObject) -> None:
        check(data.draw(subjects), data)

    try:
        check_example()
    except AssertionError:
        return True
    return False


def _replace_attribute(owner: Any, name: str, replacement: Any) -> Mutant:
    """Return a mutant that replaces an attribute of a class."""
    return lambda patch: patch.setattr(owner, name, replacement)


def _replace_traits(owner: type, **traits: Any) -> Mutant:
    """Return a mutant that sets traits of a part to wrong values after it is built."""
    original: Any = vars(owner).get("__init__") or owner.__init__  # type: ignore[misc]

    def initialize(self: Any, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        for name, value in traits.items():
            setattr(self, name, value)

    return _replace_attribute(owner, "__init__", initialize)


def _change_result(owner: type, name: str, change: Callable[[Any], Any]) -> Mutant:
    """Return a mutant that changes the result of a method."""
    original = getattr(owner, name)
    return _replace_attribute(
        owner,
        name,
        lambda self, *arguments, **options: change(original(self, *arguments, **options)),
    )


def _drop_first_point(images: Images) -> Images:
    """Return images without their first point."""
    return (
        Images(images.points[1:] or None, images.intervals, images.exact)
        if images.points
        else images
    )


def _invert_with_marker(part: NullablePart) -> ComplementPart:
    """Return a nullable part inverted together with its null marker."""
    return ComplementPart(part)


def _omit_last_image(self: ModTransform, bounds: Any) -> Images:
    """Return the images of a range without one of its values."""
    images = _MOD_IMAGES(self, bounds)
    return _drop_first_point(images) if images.points and len(images.points) < self.n else images


_MOD_IMAGES = ModTransform.images

MUTANTS: dict[str, tuple[Check, st.SearchStrategy[Any], Mutant]] = {
    "reverse keeps order": (
        properties.check_order, keys("reverse"),
        _replace_traits(ReverseTransform, order=Order.STRICT),
    ),
    "a truncated value sorts strictly": (
        properties.check_order, keys("truncate"),
        _replace_traits(TruncateTransform, order=Order.STRICT),
    ),
    "the sign bit is not flipped": (
        properties.check_order, keys("i32"),
        _replace_attribute(BigEndianCodec, "pack", lambda self, value: (
            value % (1 << 8 * self.width)).to_bytes(self.width, "big")),
    ),
    "negative floats are not inverted": (
        properties.check_order, keys("float64"),
        _replace_attribute(OrderedFloatCodec, "pack", lambda self, value: struct.pack(">d", value)),
    ),
    "a batch is one too high": (
        properties.check_batches, keys("u16"),
        _change_result(BigEndianCodec, "_to_stored", lambda stored: stored + stored.dtype.type(1)),
    ),
    "a batch floors times upwards": (
        properties.check_batches, keys("time_bucket"),
        _change_result(
            TimeFloorPart, "compute_numbers",
            lambda numbers: numbers + numbers.dtype.type(1),
        ),
    ),
    "a batch forgets to escape": (
        properties.check_batches, keys("bytes"),
        _replace_attribute(EscapedCodec, "pack_batch", TerminatedCodec.pack_batch),
    ),
    "a truncated value is whole": (
        properties.check_decoding, keys("truncate"),
        _replace_attribute(TruncateTransform, "residue", lambda self, name: NO_RESIDUE),
    ),
    "a digest recovers": (
        properties.check_decoding, keys("digest"),
        _replace_attribute(DigestTransform, "residue", lambda self, name: NO_RESIDUE),
    ),
    "text may hold 00": (
        properties.check_traits, keys("bytes"),
        _replace_attribute(EscapedCodec, "pack", lambda self, value: value + b"\0\1"),
    ),
    "an end is one byte too early": (
        properties.check_traits, keys("text"),
        _change_result(TerminatedCodec, "find_end", lambda end: end - 1),
    ),
    "padding is wider than said": (
        properties.check_traits, keys("text"),
        _replace_traits(PaddedCodec, framing=Framing.from_width(2)),
    ),
    "there is one bucket less": (
        properties.check_traits, keys("bucket"),
        _replace_traits(BucketTransform, cardinality=1),
    ),
    "digits are letters": (
        properties.check_traits, keys("mod"),
        _replace_traits(ModTransform, alphabet=Alphabet(b"ab")),
    ),
    "images of a range miss its end": (
        properties.check_images, keys("mod"),
        _replace_attribute(ModTransform, "images", _omit_last_image),
    ),
    "images of a bucket miss one": (
        properties.check_images, keys("bucket"),
        _change_result(BucketTransform, "images", _drop_first_point),
    ),
    "images of a remainder are exact": (
        properties.check_images, keys("mod"),
        _change_result(
            ModTransform, "images",
            lambda images: Images(images.points, images.intervals, exact=True),
        ),
    ),
    "the null marker is inverted": (
        properties.check_traits, keys("u8"),
        _replace_attribute(NullablePart, "to_descending", _invert_with_marker),
    ),
    "desc leaves the end as it is": (
        properties.check_order, keys("text"),
        _replace_attribute(ComplementedCodec, "pack", lambda self, value: bytes(
            255 - byte for byte in self.base.pack(value)[:-1]) + self.base.pack(value)[-1:]),
    ),
    "zeros before values are left out": (
        properties.check_decoding, keys("bool"),
        _replace_attribute(
            SequencePart, "join_pieces",
            lambda self, pieces: b"".join(p for p in pieces if p != b"\0"),
        ),
    ),
    "padded text may begin with 0": (
        properties.check_decoding, keys("pad"),
        _replace_attribute(PadTransform, "encode", lambda self, row: (
            self.field.to_internal(row[self.field.name])[: self.n].rjust(self.n, "0").encode())),
    ),
    "two values share a code": (
        properties.check_decoding, keys("code"),
        _replace_attribute(
            FirstSeenDictionary, "assign_id", lambda self, name, value, max_id=None: 1
        ),
    ),
    "an hour is constant for a day": (
        properties.check_traits, keys("time_bucket"),
        _replace_traits(TimeFloorPart, resolution_ns=10**15),
    ),
    "steps reach one number": (
        properties.check_equidistant_values, keys("mod"),
        _replace_attribute(ModTransform, "count_reachable", lambda self, step: 1),
    ),
    "any byte is a salt": (
        properties.check_other_bytes, keys("salt"),
        _replace_attribute(NumberedPrefix, "check", lambda self, piece: None),
    ),
    "a null may stand at the end": (
        properties.check_other_bytes, keys("u8"),
        _replace_attribute(SequencePart, "_find_last_omittable", lambda self, pieces: b""),
    ),
    "any time is the start of an hour": (
        properties.check_other_bytes, keys("time_bucket"),
        _replace_attribute(TimeFloorPart, "check", lambda self, piece: None),
    ),
    "shorter texts are the same texts": (
        CHECK_WIDENING, st.just(False),
        _replace_attribute(FieldType, "max_value_bytes", None),
    ),
    "the range of a number is part of its bytes": (
        CHECK_WIDENING, st.just(False),
        _replace_attribute(BigEndianCodec, "byte_layout", property(Codec.__repr__)),
    ),
    "two bytes are as good as one": (
        CHECK_WIDENING, st.just(True),
        _replace_attribute(BigEndianCodec, "byte_layout", "a number"),
    ),
    "text is stored without normalising it": (
        properties.check_batches, keys("text"),
        _replace_attribute(TextField, "is_internal_form", lambda self, array: True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("mutant_name", MUTANTS)
def test_the_named_check_fails_for_each_planted_mutant(
    mutant_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The named check fails for the mutant and passes for the unchanged code."""
    check, subjects, apply_mutant = MUTANTS[mutant_name]
    with monkeypatch.context() as patch:
        apply_mutant(patch)
        assert is_mutant_caught(check, subjects, MUTANT_EXAMPLES)
    assert not is_mutant_caught(check, subjects, UNCHANGED_EXAMPLES)


def test_a_replay_that_loses_an_event_changes_the_sum_of_its_windows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The operations of equal-count windows add up to all operations unless an event is lost."""
    add_events = EqualCountWindows.add
    regions = np.array([0, 1, 1, 0, 1])

    def count_events() -> int:
        equal = EqualCountWindows(len(regions), 2, 2)
        equal.add(regions)
        return int(equal.counts.sum())

    assert len(regions) == count_events()
    monkeypatch.setattr(
        EqualCountWindows, "add", lambda self, regions: add_events(self, regions[1:])
    )
    assert len(regions) != count_events()
