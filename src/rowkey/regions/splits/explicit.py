"""Split keys written down one by one."""

from collections.abc import Sequence

from rowkey.regions.algorithm import CutRequest, SplitAlgorithm, Vector


class Explicit(SplitAlgorithm):
    """The split keys as they are listed, ascending and distinct.

    Source: HBase shell, create with SPLITS => [...].

    >>> Explicit().cut(CutRequest(listed=[b"g", b"p"])).splits
    (b'g', b'p')
    """

    name = "explicit"
    needs = frozenset({"listed"})
    vectors = (
        Vector(CutRequest(listed=()), ()),
        Vector(CutRequest(listed=(b"\x01", b"\x02", b"a")), (b"\x01", b"\x02", b"a")),
    )

    def splits(self, request: CutRequest) -> Sequence[bytes]:
        """The list."""
        assert request.listed is not None
        return request.listed
