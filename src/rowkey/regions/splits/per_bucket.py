"""One region per value of the key's leading part, or that many joined or cut."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rowkey.errors import Refused
from rowkey.regions.algorithm import CutRequest, SplitAlgorithm, Vector
from rowkey.regions.boundaries import Boundaries, next_prefix
from rowkey.regions.ranges import steps_below

BUCKETS = (b"a", b"b", b"c", b"d")


class PerBucket(SplitAlgorithm):
    """A region for each value the leading part of the key can take: bucket, salt or choice.

    With fewer regions than values, neighbours share one: of k values, region i of R begins with
    value k * i // R. With more regions than values, each value is cut into R // k parts, the first
    R % k values into one more: at the quantiles of the value's own keys if there is a sample, else
    in equal steps of the bytes that follow it, which is right only if those are evenly spread.

    Source: HBase book, Pre-splitting with a custom algorithm; Phoenix's SALT_BUCKETS for the plain
    form.

    >>> prefixes = [bytes([bucket]) for bucket in range(4)]
    >>> [split.hex() for split in PerBucket().cut(CutRequest(prefixes=prefixes)).splits]
    ['01', '02', '03']
    """

    name = "per_bucket"
    needs = frozenset({"prefixes"})
    takes = frozenset({"regions", "keys"})
    vectors = (
        Vector(CutRequest(prefixes=BUCKETS), (b"b", b"c", b"d")),
        Vector(CutRequest(prefixes=BUCKETS, regions=1), ()),
        Vector(CutRequest(prefixes=BUCKETS, regions=3), (b"b", b"c")),
        Vector(CutRequest(prefixes=BUCKETS, regions=6), (b"a\x80", b"b", b"b\x80", b"c", b"d")),
        Vector(
            CutRequest(prefixes=(b"a", b"b"), regions=4, keys=(b"a", b"ag", b"bm")),
            (b"ag", b"b", b"bm"),
        ),
    )

    def splits(self, request: CutRequest) -> list[bytes]:
        """The first key of every region but the first."""
        prefixes = _ordered(request.prefixes or ())
        regions = request.regions or len(prefixes)
        if regions <= len(prefixes):
            return [prefixes[len(prefixes) * i // regions] for i in range(1, regions)]
        splits: list[bytes] = []
        for index, prefix in enumerate(prefixes):
            parts = regions // len(prefixes) + (index < regions % len(prefixes))
            splits += [prefix] if index else []
            splits += _cut_one(prefix, parts, request.keys)
        return splits

    def remarks(self, request: CutRequest, boundaries: Boundaries) -> Iterator[str]:
        """How values and regions relate, where not one to one."""
        values = len(set(request.prefixes or ()))
        if len(boundaries) < values:
            yield f"{values} leading values share {len(boundaries)} regions."
        if len(boundaries) % values and len(boundaries) > values:
            yield f"{len(boundaries)} regions are not a multiple of {values}: some values get more."
        if request.regions is not None and len(boundaries) < request.regions:
            yield (
                f"{request.regions} regions were asked for, {len(boundaries)} cut: the sample has "
                "too few different keys under some leading values."
            )


def _ordered(prefixes: Sequence[bytes]) -> list[bytes]:
    """The values, ascending; they must be different, and none the beginning of another."""
    ordered = sorted(prefixes)
    if not ordered:
        raise Refused("prefixes", "the leading part has no values", "1 or more")
    for one, other in pairwise(ordered):
        if other.startswith(one):
            what = f"{one!r} is the beginning of {other!r}"
            raise Refused("prefixes", what, "leading values none of which begins with another")
    return ordered


def _cut_one(prefix: bytes, parts: int, keys: Sequence[bytes] | None) -> list[bytes]:
    """The keys that cut one value's rows into parts."""
    if keys is None:
        return steps_below(prefix, parts)
    low, high = _range_of(prefix, keys)
    chosen = (keys[low + (high - low) * i // parts] for i in range(1, parts)) if high > low else ()
    return [key for key in dict.fromkeys(chosen) if key > prefix]


def _range_of(prefix: bytes, keys: Sequence[bytes]) -> tuple[int, int]:
    """Where the keys with this prefix begin and end among ascending keys."""
    from bisect import bisect_left

    after = next_prefix(prefix)
    return bisect_left(keys, prefix), len(keys) if after is None else bisect_left(keys, after)
