"""The transform `bucket`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

import mmh3

from rowkey.array_libraries import np
from rowkey.errors import InvalidArgument, RowError
from rowkey.keys.batches.byte_columns import ByteColumn, IntArray, concatenate_columns
from rowkey.keys.golden_vector import GoldenVector
from rowkey.keys.hash_functions import HASH_DESCRIPTIONS, HASH_NAMES, build_bucket_hash
from rowkey.keys.part_interface import (
    MAX_TERMS,
    BindingContext,
    EnumOption,
    NumberArgument,
    Part,
    Row,
    RowEncoder,
    walk_parts,
)
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.parts.nullable import NullablePart
from rowkey.keys.parts.numbered_prefix import (
    COUNT_ARGUMENT,
    FORM_OPTION,
    MAX_NUMBERS,
    WIDTH_OPTION,
    NumberedPrefix,
)
from rowkey.keys.parts.sequence import SequencePart
from rowkey.keys.traits import Images
from rowkey.messages import pluralize
from rowkey.schema import Bounds, Cluster, FieldFacts, Value

if TYPE_CHECKING:
    from rowkey.keys.batches.columns import ColumnBatch

MARKING_NUMBERS = 1 << 20
"""Numbers to which values of a batch are hashed, to compare only those like a heavy one."""


class BucketTransform(NumberedPrefix):
    """A number from 0 to n-1 by the hash of fields: it spreads rows, and reads can compute it.

    The hash runs over the bytes that each argument has as a part of a key. With a second number m,
    the values listed as `heavy` for the first field are spread over m of the n buckets by the hash
    of the other arguments. Any other value stays in one bucket: a read of a heavy value tries m
    buckets, a read of any other value tries one. `over=rest` hashes all parts that follow in the
    key, as Phoenix does for what it calls a "salt".
    """

    name = "bucket"
    term_limits = (0, MAX_TERMS)
    scalars = (
        COUNT_ARGUMENT,
        NumberArgument(
            "m", 1, MAX_NUMBERS, "buckets that a heavy value is spread over", optional=True
        ),
    )
    options = (
        EnumOption(
            "hash", HASH_NAMES, "the hash; java31 only to match Phoenix, it leaves buckets empty"
        ),
        EnumOption("over", ("arguments", "rest"), "what is hashed"),
        FORM_OPTION,
        WIDTH_OPTION,
    )
    hoists_null = False
    is_remainder = True
    vectors: ClassVar = (
        GoldenVector("[bucket(host, 16)]", {"host": "text"}, {"host": "web-1"}, "09"),
        GoldenVector("[bucket(id, 16, as=hex)]", {"id": "u32"}, {"id": 1}, "34"),
        GoldenVector("[bucket(id, 300)]", {"id": "u32"}, {"id": 1}, "00c0"),
        GoldenVector("[bucket(id, 16, hash=crc32)]", {"id": "u32"}, {"id": 1}, "0a"),
        GoldenVector("[bucket(id, 26, as=letters)]", {"id": "u32"}, {"id": 1}, "77"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: BindingContext
    ) -> None:
        if arguments["over"] == "rest":
            inputs = _build_following_sequence(inputs, context)
        super().__init__(inputs, arguments, context)
        if not inputs:
            raise InvalidArgument(
                "",
                "bucket has no field to hash",
                "at least one field",
                "Write bucket(field, n), or bucket(n, over=rest) to hash the rest of the key.",
            )
        self.m: int | None = arguments["m"]
        self.hash_to_bucket = build_bucket_hash(arguments["hash"], self.n)
        self.heavy_pieces = self._encode_heavy_values() if self.m is not None else frozenset()
        self.hash_to_offset = build_bucket_hash(arguments["hash"], self.m or 1)
        resolutions = [part.resolution_ns for part in inputs]
        if None not in resolutions and len(self.fields) == 1:
            self.resolution_ns = gcd(
                *(resolution for resolution in resolutions if resolution is not None)
            )

    def _encode_heavy_values(self) -> frozenset[bytes]:
        """Return the encodings of the heavy values, and keep their internal forms.

        A read finds its buckets by the encodings; a row is compared by its value, because an
        encoding may lose detail.

        Raises:
            InvalidArgument: heavy values need a second field, m is above n, or one cannot be
                encoded.
        """
        assert self.m is not None
        first = self.inputs[0]
        source = first.inner if isinstance(first, NullablePart) else first
        if not isinstance(source, FieldPart) or len(self.inputs) < 2:
            raise InvalidArgument(
                "m",
                f"m = {self.m} needs a second field: it spreads each heavy value of the first "
                f"field over {pluralize(self.m, 'bucket')} by the second",
                "two fields or more, the first without a function",
                "Leave m, the second number, out; or write, for example, bucket(host, ts, 16, 4) "
                "and list the heavy values of host under fields.host.",
            )
        if self.m > self.n:
            raise InvalidArgument(
                "m",
                f"m = {self.m} is more than n = {self.n}, the number of buckets",
                f"1..{self.n}",
            )
        self.heavy_field = source.field
        values = [
            source.field.type.parse_declared_value(value) for value in source.field.heavy_values
        ]
        self.heavy_values = frozenset(map(source.field.type.to_internal, values))
        try:
            return frozenset(first.encode({self.heavy_field.name: value}) for value in values)
        except RowError as problem:
            mistake = problem.mistake
            what = f"a heavy value cannot be encoded: {mistake.problem}"
            raise InvalidArgument("m", what, mistake.expected, mistake.remedy) from None

    def is_heavy(self, value: Value) -> bool:
        """Return whether a value of the first field is heavy, so that its rows are spread."""
        return value is not None and self.heavy_field.to_internal(value) in self.heavy_values

    def encode(self, row: Row) -> bytes:
        if self.m is None:
            return self.number_table[
                self.hash_to_bucket(b"".join([part.encode(row) for part in self.inputs]))
            ]
        first, *offset_pieces = [part.encode(row) for part in self.inputs]
        bucket = self.hash_to_bucket(first)
        if self.is_heavy(row.get(self.heavy_field.name)):
            bucket = (bucket + self.hash_to_offset(b"".join(offset_pieces))) % self.n
        return self.number_table[bucket]

    def compile_input_encoder(self) -> Callable[[bytes], bytes] | None:
        """Return a function from the joined bytes of the inputs to those of the bucket."""
        if self.m is not None:
            return None
        table, reduce, n = self.number_table, self.hash_to_bucket, self.n
        if self.arguments["hash"] != "murmur3":
            return lambda piece: table[reduce(piece)]
        murmur3 = mmh3.hash
        return lambda piece: table[murmur3(piece, 0, False) % n]

    def compile_encoder(self) -> RowEncoder:
        derive = self.compile_input_encoder()
        if derive is None:
            return self.encode
        writers = [part.compile_encoder() for part in self.inputs]
        if len(writers) == 1:
            write = writers[0]
            return lambda row: derive(write(row))
        join = b"".join
        return lambda row: derive(join([write(row) for write in writers]))

    def images(self, bounds: Bounds) -> Images:
        pinned = self.find_pinned_images(bounds)
        if pinned is not None and pinned.points is not None and len(pinned.points) <= self.n:
            return pinned.to_inexact()
        spread_images = self._find_spread_images(bounds) if self.m is not None else None
        return spread_images or self.build_all_images(exact=not self.is_constrained_by(bounds))

    def _find_spread_images(self, bounds: Bounds) -> Images | None:
        """Return the buckets of the first field's values, where the other fields are not known."""
        first_images = self.inputs[0].find_pinned_images(bounds)
        if first_images is None or first_images.points is None:
            return None
        pieces: set[bytes] = set()
        for first in first_images.points:
            bucket_count = (self.m or 1) if first in self.heavy_pieces else 1
            start = self.hash_to_bucket(first)
            pieces.update(
                self.number_table[(start + step) % self.n] for step in range(bucket_count)
            )
        return Images.from_points(pieces, exact=False)

    def encode_batch(self, columns: ColumnBatch) -> ByteColumn:
        return self.encode_numbers(self._compute_buckets(columns))

    def _compute_buckets(self, columns: ColumnBatch) -> IntArray:
        from rowkey.keys.batches.batch_hashes import hash_to_numbers

        name = self.arguments["hash"]
        pieces = [part.encode_distinct(columns) for part in self.inputs]
        if self.m is None:
            return hash_to_numbers(name, concatenate_columns(pieces), self.n)
        first = hash_to_numbers(name, pieces[0], self.n).astype(np.int64)
        others = hash_to_numbers(name, concatenate_columns(pieces[1:]), self.m).astype(np.int64)
        return np.where(self._mark_heavy(columns), (first + others) % self.n, first)

    def _mark_heavy(self, columns: ColumnBatch) -> Any:
        """Return which rows have a heavy value; coded values are checked once each."""
        from rowkey.keys.batches.batch_hashes import hash_to_numbers

        def mark(rows: ColumnBatch) -> Any:
            """Return which rows of a batch have a heavy value; compare only those with its hash."""
            numbers = hash_to_numbers("murmur3", first.encode_batch(rows), MARKING_NUMBERS)
            places = np.flatnonzero(np.isin(numbers, heavy_numbers))
            values = rows.take(places).columns[name].to_list()
            is_heavy = {value: self.is_heavy(value) for value in set(values)}
            marks = np.zeros(len(rows), np.bool_)
            marks[places[[is_heavy[value] for value in values]]] = True
            return marks

        name, first = self.heavy_field.name, self.inputs[0]
        hash_piece = build_bucket_hash("murmur3", MARKING_NUMBERS)
        heavy_numbers = list(map(hash_piece, self.heavy_pieces))
        if not columns.has_codes(name):
            return mark(columns)
        marks = columns.compute_per_value(name, (self, "heavy"), mark)
        return np.append(marks, False)[columns.columns[name].codes]  # the code of a null is -1

    def describe_encoding(self) -> str:
        hashed = " followed by ".join(f"({part.describe_encoding()})" for part in self.inputs)
        name = self.arguments["hash"]
        text = f"{HASH_DESCRIPTIONS[name]} of {hashed}, modulo {self.n}, in {self.describe_form()}"
        if self.m is not None:
            text += (
                f"; of the first argument alone, plus the hash of the others modulo {self.m} "
                f"where the first is one of {len(self.heavy_values)} heavy values"
            )
        return text

    @classmethod
    def suggest_arguments(
        cls, facts: Mapping[str, FieldFacts], cluster: Cluster
    ) -> Iterator[Mapping[str, int]]:
        """Yield one to eight buckets per server, so that all servers have equally many."""
        for factor in (1, 2, 4, 8):
            if (n := factor * cluster.servers) <= MAX_NUMBERS:
                yield {"n": n}

    def normalize_arguments(self) -> Mapping[str, Any]:
        """Return the arguments with the heavy values, which decide the bytes too."""
        return {**super().normalize_arguments(), "heavy": self._format_heavy_values()}

    def __repr__(self) -> str:
        return f"{super().__repr__()} heavy={self._format_heavy_values()}"

    def _format_heavy_values(self) -> list[str]:
        """Return the heavy values as sorted texts."""
        return sorted(map(repr, self.heavy_values)) if self.m is not None else []


def _build_following_sequence(
    inputs: tuple[Part, ...], context: BindingContext
) -> tuple[Part, ...]:
    """Return all parts that follow the bucket, as one part.

    Raises:
        InvalidArgument: no part follows, arguments are given too, or a later bucket does the same.
    """
    if inputs:
        raise InvalidArgument(
            "over",
            "over=rest hashes the parts after the bucket, so it takes no fields",
            remedy="Write bucket(n, over=rest), or leave out over=rest.",
        )
    if not context.following_parts:
        raise InvalidArgument(
            "over",
            "over=rest has no part after the bucket to hash",
            "the bucket before other parts",
        )
    following = (inner for part in context.following_parts for inner in walk_parts(part))
    if any(
        isinstance(part, BucketTransform) and part.arguments["over"] == "rest" for part in following
    ):
        raise InvalidArgument(
            "over",
            "a later bucket of the key has over=rest too",
            "over=rest in one bucket only",
            "Name the fields to hash: bucket(field, n).",
        )
    return (SequencePart(context.following_parts),)
