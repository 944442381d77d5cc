"""The ways to choose split keys: one file, one kind."""

from collections.abc import Mapping

from rowkey.kinds import gather
from rowkey.regions.algorithm import SplitAlgorithm

SPLITS: Mapping[str, type[SplitAlgorithm]] = gather(
    SplitAlgorithm,  # type: ignore[type-abstract]
    __name__,
    __path__,
)
