"""Split keys written down one by one."""

from collections.abc import Sequence

from rowkey.regions.split_algorithm import SplitAlgorithm, SplitRequest, SplitVector


class ExplicitSplit(SplitAlgorithm):
    """The split keys as they are listed, ascending and distinct.

    Source: HBase shell, create with SPLITS => [...].

    >>> ExplicitSplit().build_boundaries(SplitRequest(listed=[b"g", b"p"])).splits
    (b'g', b'p')
    """

    name = "explicit"
    required_fields = frozenset({"listed"})
    vectors = (
        SplitVector(SplitRequest(listed=()), ()),
        SplitVector(SplitRequest(listed=(b"\x01", b"\x02", b"a")), (b"\x01", b"\x02", b"a")),
    )

    def compute_splits(self, request: SplitRequest) -> Sequence[bytes]:
        """Return the listed split keys."""
        assert request.listed is not None
        return request.listed
