"""The laws are good only if they catch lies: each planted one must fail the law that is named.

A lie is put into one class for one test; the law runs in process, with a fixed seed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import test_laws as laws
from hypothesis import HealthCheck, Phase, given, settings

from rowkey.heat.windows import EqualCounts
from rowkey.keys import Alphabet, FieldType, FirstAppearance, Framing, Images, Nullable, Order
from rowkey.keys.codecs.codec import Codec, Complemented
from rowkey.keys.codecs.floats import OrderedFloat
from rowkey.keys.codecs.numbers import BigEndian
from rowkey.keys.codecs.strings import Escaped, Padded, Terminated
from rowkey.keys.fields.text import Text
from rowkey.keys.parts.complement import Complement
from rowkey.keys.parts.floored import Floored
from rowkey.keys.parts.numbered import NumberedPrefix
from rowkey.keys.parts.sequence import Sequence
from rowkey.keys.traits import NOTHING
from rowkey.keys.transforms.bucket import Bucket
from rowkey.keys.transforms.digest import Digest
from rowkey.keys.transforms.mod import Mod
from rowkey.keys.transforms.pad import Pad
from rowkey.keys.transforms.reverse import Reverse
from rowkey.keys.transforms.truncate import Truncate

Law = Callable[[str, st.DataObject], None]
Lie = Callable[[pytest.MonkeyPatch], None]

LIED, TRUE = 400, 15
"""Examples in which a lie must be caught, and in which the truth must not be."""


def catches(law: Any, kind: str, examples: int) -> bool:
    """Whether a law of `test_laws` fails for parts of a kind, by what it asserts."""
    inner = law.hypothesis.inner_test

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


def _turned_round(part: Nullable) -> Complement:
    """The marker inverted with the value."""
    return Complement(part)


def _off_by_one(self: Mod, bounds: Any) -> Images:
    """Images of a range that forget its last value."""
    truth = _MOD_IMAGES(self, bounds)
    return _one_bucket_less(truth) if truth.points and len(truth.points) < self.n else truth


_MOD_IMAGES = Mod.images

LIES: dict[str, tuple[Any, Any, Lie]] = {
    "reverse keeps order": (
        laws.test_order_is_what_the_part_says, "reverse", _after_init(Reverse, order=Order.STRICT),
    ),
    "a truncated value sorts strictly": (
        laws.test_order_is_what_the_part_says, "truncate",
        _after_init(Truncate, order=Order.STRICT),
    ),
    "the sign bit is not flipped": (
        laws.test_order_is_what_the_part_says, "i32",
        _set(BigEndian, "pack", lambda self, held: (
            held % (1 << 8 * self.width)).to_bytes(self.width, "big")),
    ),
    "negative floats are not inverted": (
        laws.test_order_is_what_the_part_says, "float64",
        _set(OrderedFloat, "pack", lambda self, held: struct.pack(">d", held)),
    ),
    "a batch is one too high": (
        laws.test_batches_give_the_same_bytes, "u16",
        _changed(BigEndian, "_stored", lambda stored: stored + stored.dtype.type(1)),
    ),
    "a batch floors times upwards": (
        laws.test_batches_give_the_same_bytes, "time_bucket",
        _changed(Floored, "numbers", lambda numbers: numbers + numbers.dtype.type(1)),
    ),
    "a batch forgets to escape": (
        laws.test_batches_give_the_same_bytes, "bytes",
        _set(Escaped, "pack_batch", Terminated.pack_batch),
    ),
    "a truncated value is whole": (
        laws.test_parts_read_back_what_they_hold, "truncate",
        _set(Truncate, "residue", lambda self, name: NOTHING),
    ),
    "a digest recovers": (
        laws.test_what_a_key_claims_to_hold_is_read_back, "digest",
        _set(Digest, "residue", lambda self, name: NOTHING),
    ),
    "text may hold 00": (
        laws.test_pieces_are_framed_as_said, "bytes",
        _set(Escaped, "pack", lambda self, held: held + b"\0\1"),
    ),
    "an end is one byte too early": (
        laws.test_pieces_are_framed_as_said, "text",
        _changed(Terminated, "measure", lambda end: end - 1),
    ),
    "padding is wider than said": (
        laws.test_pieces_are_framed_as_said, "text",
        _after_init(Padded, framing=Framing.fixed(2)),
    ),
    "there is one bucket less": (
        laws.test_pieces_are_framed_as_said, "bucket", _after_init(Bucket, cardinality=1),
    ),
    "digits are letters": (
        laws.test_pieces_are_framed_as_said, "mod", _after_init(Mod, alphabet=Alphabet(b"ab")),
    ),
    "images of a range miss its end": (
        laws.test_images_hold_every_row_within_the_bounds, "mod", _set(Mod, "images", _off_by_one),
    ),
    "images of a bucket miss one": (
        laws.test_images_hold_every_row_within_the_bounds, "bucket",
        _changed(Bucket, "images", _one_bucket_less),
    ),
    "images of a remainder are exact": (
        laws.test_images_hold_every_row_within_the_bounds, "mod",
        _changed(Mod, "images", lambda images: Images(images.points, images.intervals, exact=True)),
    ),
    "a null is turned round": (
        laws.test_nulls_come_first_both_ways, "u8",
        _set(Nullable, "descending", _turned_round),
    ),
    "desc leaves the end as it is": (
        laws.test_order_is_what_the_part_says, "text",
        _set(Complemented, "pack", lambda self, held: bytes(
            255 - byte for byte in self.base.pack(held)[:-1]) + self.base.pack(held)[-1:]),
    ),
    "zeros before values are left out": (
        laws.test_what_a_key_claims_to_hold_is_read_back, "bool",
        _set(Sequence, "joined", lambda self, pieces: b"".join(p for p in pieces if p != b"\0")),
    ),
    "padded text may begin with 0": (
        laws.test_parts_read_back_what_they_hold, "pad",
        _set(Pad, "encode", lambda self, row: (
            self.field.hold(row[self.field.name])[: self.n].rjust(self.n, "0").encode())),
    ),
    "two values share a code": (
        laws.test_what_a_key_claims_to_hold_is_read_back, "code",
        _set(FirstAppearance, "id_of", lambda self, name, value, most=None: 1),
    ),
    "an hour stands still for a day": (
        laws.test_time_parts_stand_still_within_their_resolution, "time_bucket",
        _after_init(Floored, resolution=10**15),
    ),
    "steps reach one number": (
        laws.test_steps_reach_no_more_than_said, "mod", _set(Mod, "reach", lambda self, step: 1),
    ),
    "any byte is a salt": (
        laws.test_what_decodes_is_a_key, "salt",
        _set(NumberedPrefix, "check", lambda self, piece: None),
    ),
    "a null may stand at the end": (
        laws.test_what_decodes_is_a_key, "u8",
        _set(Sequence, "_last_of", lambda self, pieces: b""),
    ),
    "any time is the start of an hour": (
        laws.test_what_decodes_is_a_key, "time_bucket",
        _set(Floored, "check", lambda self, piece: None),
    ),
    "shorter texts are the same texts": (
        laws.test_a_field_with_more_values, False, _set(FieldType, "longest", None),
    ),
    "the range of a number is part of its bytes": (
        laws.test_a_field_with_more_values, False,
        _set(BigEndian, "layout", property(Codec.__repr__)),
    ),
    "two bytes are as good as one": (
        laws.test_a_field_with_more_values, True, _set(BigEndian, "layout", "a number"),
    ),
    "text is held as it comes, normalised or not": (
        laws.test_batches_give_the_same_bytes, "text",
        _set(Text, "is_held_plainly", lambda self, array: True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_planted_lie_is_caught(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law that must catch a lie fails when it is told, and only then."""
    law, kind, plant = LIES[lie]
    with monkeypatch.context() as patch:
        plant(patch)
        assert catches(law, kind, LIED)
    assert not catches(law, kind, TRUE)


def test_lost_events_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heat sums to operations: windows that lose an event do not."""
    truth = EqualCounts.add
    regions = np.array([0, 1, 1, 0, 1])

    def counted() -> int:
        equal = EqualCounts(len(regions), 2, 2)
        equal.add(regions)
        return int(equal.counts.sum())

    assert len(regions) == counted()
    monkeypatch.setattr(EqualCounts, "add", lambda self, given: truth(self, given[1:]))
    assert len(regions) != counted()
