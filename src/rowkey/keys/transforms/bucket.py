"""The transform `bucket`."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

import mmh3

from rowkey.errors import Refused, RowError
from rowkey.keys.contract import MANY, Context, Count, Part, Pick, Row, Vector, Writer, nested
from rowkey.keys.hashing import HASH_WORDS, HASHES, reducer
from rowkey.keys.parts.field import FieldPart
from rowkey.keys.parts.nullable import Nullable
from rowkey.keys.parts.numbered import AS, MOST, NUMBER_OF, WIDTH, NumberedPrefix
from rowkey.keys.parts.sequence import Sequence
from rowkey.keys.traits import Images

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rowkey.keys.batches.columns import Columns
    from rowkey.keys.batches.pieces import Ints, Pieces
    from rowkey.schema import Bounds, Cluster, Facts, Value


class Bucket(NumberedPrefix):
    """One of n numbers by the hash of fields: rows spread, and a row's number can be computed.

    The hash runs over the bytes each argument would have as a part of the key. With a third
    number m the values listed as `heavy` of the first field are spread over m of the n buckets by
    the other arguments, all others stay in one: a read of a heavy value tries m buckets, a read of
    another one. `over=rest` hashes the rest of the finished key, as Phoenix does, whose "salt"
    this is.
    """

    name = "bucket"
    terms = (0, MANY)
    scalars = (
        NUMBER_OF,
        Count("m", 1, MOST, "buckets that a heavy value is spread over", optional=True),
    )
    options = (
        Pick("hash", HASHES, "the hash; java31 only to match Phoenix, it leaves buckets empty"),
        Pick("over", ("arguments", "rest"), "what is hashed"),
        AS,
        WIDTH,
    )
    hoists_null = False
    is_remainder = True
    vectors: ClassVar = (
        Vector("[bucket(host, 16)]", {"host": "text"}, {"host": "web-1"}, "09"),
        Vector("[bucket(id, 16, as=hex)]", {"id": "u32"}, {"id": 1}, "34"),
        Vector("[bucket(id, 300)]", {"id": "u32"}, {"id": 1}, "00c0"),
        Vector("[bucket(id, 16, hash=crc32)]", {"id": "u32"}, {"id": 1}, "0a"),
        Vector("[bucket(id, 26, as=letters)]", {"id": "u32"}, {"id": 1}, "77"),
    )

    def __init__(
        self, inputs: tuple[Part, ...], arguments: Mapping[str, Any], context: Context
    ) -> None:
        if arguments["over"] == "rest":
            inputs = _rest(inputs, context)
        super().__init__(inputs, arguments, context)
        if not inputs:
            raise Refused("", "has no field to hash", "one field or more", "Or write over=rest.")
        self.m: int | None = arguments["m"]
        self.reduce = reducer(arguments["hash"], self.n)
        self.heavy = self._heavy() if self.m is not None else frozenset()
        self.reduce_others = reducer(arguments["hash"], self.m or 1)
        stretches = [part.resolution for part in inputs]
        if None not in stretches and len(self.fields) == 1:
            self.resolution = gcd(*(stretch for stretch in stretches if stretch is not None))

    def _heavy(self) -> frozenset[bytes]:
        """The encodings of the values that are spread; the values are kept as the type holds them.

        A read finds its buckets by the encodings, a row by its value: an encoding may lose detail.
        """
        assert self.m is not None
        first = self.inputs[0]
        source = first.inner if isinstance(first, Nullable) else first
        if not isinstance(source, FieldPart) or len(self.inputs) < 2:
            raise Refused(
                "m", "bounded spread needs a field and something to spread it by", "two arguments"
            )
        if self.m > self.n:
            raise Refused("m", f"{self.m} buckets of {self.n}", f"1..{self.n}")
        self.spread = source.field
        values = [source.field.type.declared(given) for given in source.field.heavy]
        self.heavy_values = frozenset(map(source.field.type.hold, values))
        try:
            return frozenset(first.encode({self.spread.name: value}) for value in values)
        except RowError as problem:
            mistake = problem.mistake
            what = f"a heavy value has no bytes here: {mistake.what}"
            raise Refused("m", what, mistake.allowed, mistake.remedy) from None

    def is_heavy(self, value: Value) -> bool:
        """Whether a value of the first field is among those that are spread."""
        return value is not None and self.spread.hold(value) in self.heavy_values

    def encode(self, row: Row) -> bytes:
        if self.m is None:
            return self.table[self.reduce(b"".join([part.encode(row) for part in self.inputs]))]
        first, *others = [part.encode(row) for part in self.inputs]
        bucket = self.reduce(first)
        if self.is_heavy(row.get(self.spread.name)):
            bucket = (bucket + self.reduce_others(b"".join(others))) % self.n
        return self.table[bucket]

    def derived(self) -> Callable[[bytes], bytes] | None:
        if self.m is not None:
            return None
        table, reduce, n = self.table, self.reduce, self.n
        if self.arguments["hash"] != "murmur3":
            return lambda piece: table[reduce(piece)]
        murmur3 = mmh3.hash
        return lambda piece: table[murmur3(piece, 0, False) % n]

    def writer(self) -> Writer:
        derive = self.derived()
        if derive is None:
            return self.encode
        writers = [part.writer() for part in self.inputs]
        if len(writers) == 1:
            write = writers[0]
            return lambda row: derive(write(row))
        join = b"".join
        return lambda row: derive(join([write(row) for write in writers]))

    def images(self, bounds: Bounds) -> Images:
        listed = self.pinned(bounds)
        if listed is not None and listed.points is not None and len(listed.points) <= self.n:
            return listed.inexact()
        spread = self._spread_of(bounds) if self.m is not None else None
        return spread or self.every(exact=not self.asked(bounds))

    def _spread_of(self, bounds: Bounds) -> Images | None:
        """The buckets of the first field's values, where the other fields are not known."""
        firsts = self.inputs[0].pinned(bounds)
        if firsts is None or firsts.points is None:
            return None
        found: set[bytes] = set()
        for first in firsts.points:
            steps = (self.m or 1) if first in self.heavy else 1
            start = self.reduce(first)
            found.update(self.table[(start + step) % self.n] for step in range(steps))
        return Images.listed(found, exact=False)

    def batch(self, columns: Columns) -> Pieces:
        return self.written(self._numbers(columns))

    def _numbers(self, columns: Columns) -> Ints:
        from rowkey.keys.batches.hashing import numbers
        from rowkey.keys.batches.pieces import joined

        name = self.arguments["hash"]
        pieces = [part.pieces(columns) for part in self.inputs]
        if self.m is None:
            return numbers(name, joined(pieces), self.n)
        import numpy as np

        first = numbers(name, pieces[0], self.n).astype(np.int64)
        others = numbers(name, joined(pieces[1:]), self.m).astype(np.int64)
        return np.where(self._mark_heavy(columns), (first + others) % self.n, first)

    def _mark_heavy(self, columns: Columns) -> Any:
        """Mark the rows whose value is spread, once per different value where these are coded."""
        import numpy as np

        def mark(rows: Columns) -> Any:
            return np.array(list(map(self.is_heavy, rows.columns[name].listed())), np.bool_)

        name = self.spread.name
        if not columns.is_coded(name):
            return mark(columns)
        marks = columns.per_value(name, (self, "heavy"), mark)
        return np.append(marks, False)[columns.columns[name].codes]  # the code of a null is -1

    def words(self) -> str:
        hashed = " followed by ".join(f"({part.words()})" for part in self.inputs)
        name = self.arguments["hash"]
        text = f"{HASH_WORDS[name]} of {hashed}, modulo {self.n}, in {self.form_words()}"
        if self.m is not None:
            text += (
                f"; of the first argument alone, plus the hash of the others modulo {self.m} "
                f"where the first is one of {len(self.heavy_values)} heavy values"
            )
        return text

    @classmethod
    def tries(cls, facts: Mapping[str, Facts], cluster: Cluster) -> Iterator[Mapping[str, int]]:
        """One to eight buckets a server: multiples of the servers keep the count even."""
        for factor in (1, 2, 4, 8):
            if (n := factor * cluster.servers) <= MOST:
                yield {"n": n}

    def told(self) -> Mapping[str, Any]:
        """The list of heavy values is part of the bytes."""
        return {**super().told(), "heavy": self._shown_heavy()}

    def __repr__(self) -> str:
        return f"{super().__repr__()} heavy={self._shown_heavy()}"

    def _shown_heavy(self) -> list[str]:
        return sorted(map(repr, self.heavy_values)) if self.m is not None else []


def _rest(inputs: tuple[Part, ...], context: Context) -> tuple[Part, ...]:
    """What stands behind the bucket, as one part."""
    if inputs:
        raise Refused("over", "over=rest hashes the rest of the key, not arguments", "no arguments")
    if not context.following:
        raise Refused("over", "nothing stands behind the bucket", "the parts to hash behind it")
    behind = (below for part in context.following for below in nested(part))
    if any(isinstance(part, Bucket) and part.arguments["over"] == "rest" for part in behind):
        raise Refused(
            "over",
            "a bucket behind this one hashes the rest of the key already",
            "over=rest once",
            "Name the fields to hash here.",
        )
    return (Sequence(context.following),)
