"""The transform `pad`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rowkey.errors import InvalidArgument, RowError
from rowkey.keys.base_types.domains import (
    Domain,
    HexDomain,
    IntegerDomain,
    MappedDomain,
    TextDomain,
)
from rowkey.keys.base_types.strings import TextBasedField
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.part_interface import BindingContext, NumberArgument, Part, Row, Transform
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.traits import NO_RESIDUE, Framing, Residue
from rowkey.schema import Value


class PadTransform(Transform):
    """ASCII text padded on its left with the digit 0, so that numbers written as text sort.

    Longer text and text that begins with 0 are refused: two values could get the same bytes.
    """

    name = "pad"
    scalars = (NumberArgument("n", 1, 1_024, "characters in all"),)
    vectors: ClassVar = (
        GoldenVector("[pad(n, 6)]", {"n": "text"}, {"n": "42"}, b"000042".hex()),
        GoldenVector("[pad(n, 2)]", {"n": "text"}, {"n": "42"}, b"42".hex()),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        super().__init__(inputs, arguments, context)
        source = self.sole_input
        if not isinstance(source, FieldPart) or not isinstance(source.field.type, TextBasedField):
            raise InvalidArgument(
                "", f"pad cannot be applied to {source.title}", "a field of type text"
            )
        self.field = source.field
        self.n: int = arguments["n"]

    @property
    def framing(self) -> Framing:
        return Framing.from_width(self.n)

    def encode(self, row: Row) -> bytes:
        text = self.field.to_internal(row[self.field.name])
        if not isinstance(text, str) or not text.isascii():
            raise RowError(
                f"field {self.field.name}",
                f"{text!r} is not ASCII, which pad requires",
                "ASCII text",
            )
        if len(text) > self.n:
            raise RowError(
                f"field {self.field.name}",
                f"{text[:60]!r} has {len(text):,} characters, but is padded to {self.n}",
                f"at most {self.n} characters",
                f"Shorten it, or write a larger number in pad({self.field.name}, {self.n}).",
            )
        if text.startswith("0"):
            raise RowError(
                f"field {self.field.name}",
                f"{text[:60]!r} begins with 0, which could not be told from the zeros of pad",
                "text that does not begin with 0",
                f"Remove the zeros, or write {self.field.name} into the key without pad.",
            )
        return text.rjust(self.n, "0").encode()

    def restrict_domain(self, name: str, domain: Domain) -> Domain:
        if name != self.field.name:
            return domain
        if isinstance(domain, MappedDomain):  # another part of the key pads the field as well
            return domain.limit_range(1, 10 ** min(self.n, 17) - 1)
        max_digits, min_digits = self.n, 1
        if isinstance(domain, TextDomain | HexDomain):
            max_digits = domain.width or min(self.n, getattr(domain, "max_bytes", self.n))
            min_digits = domain.width or 1
        low, high = (10 ** (min(count, 18) - 1) for count in (min_digits, max_digits + 1))
        return MappedDomain(IntegerDomain(low, max(high - 1, low), low), str)

    def residue(self, name: str) -> Residue:
        return NO_RESIDUE

    def describe_encoding(self) -> str:
        return f"{self.field.name} in ASCII, padded on its left with the digit 0 to {self.n}"

    def decode(self, piece: bytes) -> dict[str, Value]:
        return {self.field.name: piece.decode("ascii", "replace").lstrip("0")}
