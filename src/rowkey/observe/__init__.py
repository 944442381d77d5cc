"""What a running table counts: its heat now, its design as it stands, predicted against counted."""

from typing import TYPE_CHECKING

from rowkey.doors import lazily

if TYPE_CHECKING:
    from rowkey.observe.counting import Counted, Interval, RegionRate, between
    from rowkey.observe.describing import Description, describe
    from rowkey.observe.judging import Standing, standing
    from rowkey.observe.looking import Look, look
    from rowkey.observe.proving import (
        PhaseProof,
        Proof,
        ReadProof,
        RegionProof,
        Sized,
        prove,
    )
    from rowkey.observe.watching import Live, Watch, watch
else:
    __getattr__ = lazily(
        __name__,
        {
            "counting": "Counted Interval RegionRate between",
            "describing": "Description describe",
            "judging": "Standing standing",
            "looking": "Look look",
            "proving": "PhaseProof Proof ReadProof RegionProof Sized prove",
            "watching": "Live Watch watch",
        },
    )

__all__ = [
    "Counted",
    "Description",
    "Interval",
    "Live",
    "Look",
    "PhaseProof",
    "Proof",
    "ReadProof",
    "RegionProof",
    "RegionRate",
    "Sized",
    "Standing",
    "Watch",
    "between",
    "describe",
    "look",
    "prove",
    "standing",
    "watch",
]
