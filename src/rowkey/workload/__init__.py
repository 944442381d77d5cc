"""What comes in: recorded samples, generated events, and what they tell of the fields."""

from typing import TYPE_CHECKING

from rowkey.doors import lazily

if TYPE_CHECKING:
    from rowkey.workload.columnar.batches import read_batches
    from rowkey.workload.contract import Draw, Format, Option
    from rowkey.workload.distinct import Distinct
    from rowkey.workload.draws import KINDS as DRAWS
    from rowkey.workload.formats import KINDS as FORMATS
    from rowkey.workload.generate import Workload
    from rowkey.workload.packing import Packing, packing_of, stored_bytes
    from rowkey.workload.profile import Profile
    from rowkey.workload.records import LeftOut
    from rowkey.workload.reservoir import ROOM, Reservoir
    from rowkey.workload.sample import (
        Events,
        Sample,
        clock_ms,
        format_for,
        open_sample,
        split_events,
    )
    from rowkey.workload.standing import key_pieces, standing_bytes
    from rowkey.workload.values.digits import looks_of_calendar
    from rowkey.workload.writes import ARRIVALS, Arrival, Writes, bind_writes
else:
    __getattr__ = lazily(
        __name__,
        {
            "columnar.batches": "read_batches",
            "contract": "Draw Format Option",
            "distinct": "Distinct",
            "draws": "KINDS=DRAWS",
            "formats": "KINDS=FORMATS",
            "generate": "Workload",
            "packing": "Packing packing_of stored_bytes",
            "profile": "Profile",
            "records": "LeftOut",
            "reservoir": "ROOM Reservoir",
            "sample": "Events Sample clock_ms format_for open_sample split_events",
            "standing": "key_pieces standing_bytes",
            "values.digits": "looks_of_calendar",
            "writes": "ARRIVALS Arrival Writes bind_writes",
        },
    )

__all__ = [
    "ARRIVALS",
    "DRAWS",
    "FORMATS",
    "ROOM",
    "Arrival",
    "Distinct",
    "Draw",
    "Events",
    "Format",
    "LeftOut",
    "Option",
    "Packing",
    "Profile",
    "Reservoir",
    "Sample",
    "Workload",
    "Writes",
    "bind_writes",
    "clock_ms",
    "format_for",
    "key_pieces",
    "looks_of_calendar",
    "open_sample",
    "packing_of",
    "read_batches",
    "split_events",
    "standing_bytes",
    "stored_bytes",
]
