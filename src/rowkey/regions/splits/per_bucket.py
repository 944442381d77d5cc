"""One region per value of the key's leading part, or these joined or split."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rowkey.errors import InvalidArgument
from rowkey.messages import Message
from rowkey.regions.boundaries import Boundaries
from rowkey.regions.range_splits import split_prefix
from rowkey.regions.split_algorithm import SplitAlgorithm, SplitRequest, SplitVector

EXAMPLE_PREFIXES = (b"a", b"b", b"c", b"d")


class PerBucketSplit(SplitAlgorithm):
    """A region for each value the leading part of the key can take: bucket, salt or choice.

    With fewer regions than values, neighbours share one: of k values, region i of R begins with
    value k * i // R. With more regions than values, each value is cut into R // k parts, the first
    R % k values into one more, in equal steps of the bytes that follow it. That is right only if
    those bytes are evenly spread; the quantiles of a sample, `sample`, fit all keys.

    Source: HBase book, Pre-splitting with a custom algorithm; Phoenix's SALT_BUCKETS for the plain
    form.

    >>> prefixes = [bytes([bucket]) for bucket in range(4)]
    >>> boundaries = PerBucketSplit().build_boundaries(SplitRequest(prefixes=prefixes))
    >>> [split.hex() for split in boundaries.splits]
    ['01', '02', '03']
    """

    name = "per_bucket"
    required_fields = frozenset({"prefixes"})
    optional_fields = frozenset({"regions"})
    vectors = (
        SplitVector(SplitRequest(prefixes=EXAMPLE_PREFIXES), (b"b", b"c", b"d")),
        SplitVector(SplitRequest(prefixes=EXAMPLE_PREFIXES, regions=1), ()),
        SplitVector(SplitRequest(prefixes=EXAMPLE_PREFIXES, regions=3), (b"b", b"c")),
        SplitVector(
            SplitRequest(prefixes=EXAMPLE_PREFIXES, regions=6),
            (b"a\x80", b"b", b"b\x80", b"c", b"d"),
        ),
    )

    def compute_splits(self, request: SplitRequest) -> list[bytes]:
        """Return the first key of every region except the first region."""
        prefixes = _sort_prefixes(request.prefixes or ())
        regions = request.regions or len(prefixes)
        if regions <= len(prefixes):
            return [prefixes[len(prefixes) * i // regions] for i in range(1, regions)]
        splits: list[bytes] = []
        for index, prefix in enumerate(prefixes):
            parts = regions // len(prefixes) + (index < regions % len(prefixes))
            splits += [prefix] if index else []
            splits += split_prefix(prefix, parts)
        return splits

    def describe_regions(self, request: SplitRequest, boundaries: Boundaries) -> Iterator[str]:
        """Yield remarks if the regions are not one for each leading value."""
        values = len(set(request.prefixes or ()))
        if len(boundaries) < values:
            yield Message(
                "splits.values_share_regions",
                "The {values} leading values of the key share {regions} regions.",
                values=values,
                regions=len(boundaries),
            )
        if len(boundaries) % values and len(boundaries) > values:
            yield Message(
                "splits.uneven_values",
                "{regions} regions are not a multiple of the {values} leading values: some "
                "values get more regions than others.",
                values=values,
                regions=len(boundaries),
            )


def _sort_prefixes(prefixes: Sequence[bytes]) -> list[bytes]:
    """Return the leading values, ascending; raise if one starts with another."""
    ordered = sorted(prefixes)
    if not ordered:
        raise InvalidArgument(
            "prefixes", "the list is empty", "the encoded values of the key's first part"
        )
    for one, other in pairwise(ordered):
        if other.startswith(one):
            what = f"the leading value {one!r} is the beginning of the leading value {other!r}"
            raise InvalidArgument(
                "prefixes", what, "leading values of which none starts with another one"
            )
    return ordered
