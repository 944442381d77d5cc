"""Split keys taken from a sample, so that each region gets as many of its keys."""

from collections.abc import Iterator

from rowkey.errors import InvalidArgument
from rowkey.messages import Message
from rowkey.regions.boundaries import Boundaries
from rowkey.regions.split_algorithm import SplitAlgorithm, SplitRequest, SplitVector


class SampleSplit(SplitAlgorithm):
    """The quantiles of a sample: of n ascending keys, split i of R regions is key n * i // R.

    Repeated quantiles and an empty key are left out, so a sample with few distinct keys gives fewer
    regions than were asked for.

    Source: definition; Phoenix and HBase's bulk load choose their splits likewise.

    >>> request = SplitRequest(regions=3, keys=[b"a", b"b", b"c", b"d", b"e", b"f"])
    >>> SampleSplit().build_boundaries(request).splits
    (b'c', b'e')
    """

    name = "sample"
    required_fields = frozenset({"regions", "keys"})
    vectors = (
        SplitVector(SplitRequest(regions=4, keys=(b"a", b"b", b"c", b"d")), (b"b", b"c", b"d")),
        SplitVector(SplitRequest(regions=4, keys=(b"", b"", b"", b"d")), (b"d",)),
        SplitVector(SplitRequest(regions=4, keys=(b"d",)), (b"d",)),
        SplitVector(SplitRequest(regions=1, keys=(b"a", b"b")), ()),
    )

    def compute_splits(self, request: SplitRequest) -> list[bytes]:
        """Return the quantiles of the sampled keys, without repetitions."""
        assert request.regions is not None
        assert request.keys is not None
        count = len(request.keys)
        if not count:
            raise InvalidArgument(
                "keys",
                "there are no row keys to place regions by",
                "1 or more",
                "Give a sample of two events or more: its first half places them.",
            )
        chosen = (request.keys[count * i // request.regions] for i in range(1, request.regions))
        return [key for key in dict.fromkeys(chosen) if key]

    def describe_regions(self, request: SplitRequest, boundaries: Boundaries) -> Iterator[str]:
        """Yield a remark if the sample has too few different keys."""
        if request.regions is not None and len(boundaries) < request.regions:
            yield Message(
                "splits.too_few_quantiles",
                "{wanted} regions were requested but only {regions} are possible: the sample's "
                "quantiles are {keys} different keys. A key that many rows share cannot be split.",
                wanted=request.regions,
                regions=len(boundaries),
                keys=len(boundaries.splits),
            )
