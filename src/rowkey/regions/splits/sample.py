"""Split keys taken from a sample, so that each region gets as many of its keys."""

from collections.abc import Iterator

from rowkey.errors import Refused
from rowkey.regions.algorithm import CutRequest, SplitAlgorithm, Vector
from rowkey.regions.boundaries import Boundaries


class Sample(SplitAlgorithm):
    """The quantiles of a sample: of n ascending keys, split i of R regions is key n * i // R.

    Repeated quantiles and an empty key are left out, so a sample with few distinct keys gives fewer
    regions than were asked for.

    Source: definition; Phoenix and HBase's bulk load choose their splits likewise.

    >>> Sample().cut(CutRequest(regions=3, keys=[b"a", b"b", b"c", b"d", b"e", b"f"])).splits
    (b'c', b'e')
    """

    name = "sample"
    needs = frozenset({"regions", "keys"})
    vectors = (
        Vector(CutRequest(regions=4, keys=(b"a", b"b", b"c", b"d")), (b"b", b"c", b"d")),
        Vector(CutRequest(regions=4, keys=(b"", b"", b"", b"d")), (b"d",)),
        Vector(CutRequest(regions=4, keys=(b"d",)), (b"d",)),
        Vector(CutRequest(regions=1, keys=(b"a", b"b")), ()),
    )

    def splits(self, request: CutRequest) -> list[bytes]:
        """The quantiles, each once."""
        assert request.regions is not None
        assert request.keys is not None
        count = len(request.keys)
        if not count:
            raise Refused("keys", "the sample holds no keys", "1 or more")
        chosen = (request.keys[count * i // request.regions] for i in range(1, request.regions))
        return [key for key in dict.fromkeys(chosen) if key]

    def remarks(self, request: CutRequest, boundaries: Boundaries) -> Iterator[str]:
        """That the sample had too few different keys, if so."""
        if request.regions is not None and len(boundaries) < request.regions:
            yield (
                f"{request.regions} regions were asked for, but the sample's quantiles are only "
                f"{len(boundaries.splits)} different keys: {len(boundaries)} regions. "
                "A key that many rows share cannot be cut."
            )
