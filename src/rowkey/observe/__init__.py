"""Observe running tables: their load now, their design as it stands, predicted against counted."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.observe.description import TableDescription, describe_table
    from rowkey.observe.entry_lookup import EntryLookup, look_up_entry
    from rowkey.observe.load_balance import LOAD_LEVEL_NAMES, LoadBalance, judge_balance
    from rowkey.observe.proof import (
        PhaseProof,
        Proof,
        ReadProof,
        RegionProof,
        SizeProof,
        prove_design,
    )
    from rowkey.observe.region_deltas import (
        CounterSnapshot,
        LoadInterval,
        RegionDelta,
        compute_interval,
    )
    from rowkey.observe.table_reader import TableReader, watch_table
    from rowkey.observe.table_watch import LiveLoad, TableWatch
    from rowkey.observe.write_sample import WriteSample, sample_writes
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "region_deltas": "CounterSnapshot LoadInterval RegionDelta compute_interval",
            "description": "TableDescription describe_table",
            "entry_lookup": "EntryLookup look_up_entry",
            "load_balance": "LOAD_LEVEL_NAMES LoadBalance judge_balance",
            "write_sample": "WriteSample sample_writes",
            "proof": "PhaseProof Proof ReadProof RegionProof SizeProof prove_design",
            "table_reader": "TableReader watch_table",
            "table_watch": "LiveLoad TableWatch",
        },
    )

__all__ = [
    "LOAD_LEVEL_NAMES",
    "CounterSnapshot",
    "EntryLookup",
    "LiveLoad",
    "LoadBalance",
    "LoadInterval",
    "PhaseProof",
    "Proof",
    "ReadProof",
    "RegionDelta",
    "RegionProof",
    "SizeProof",
    "TableDescription",
    "TableReader",
    "TableWatch",
    "WriteSample",
    "compute_interval",
    "describe_table",
    "judge_balance",
    "look_up_entry",
    "prove_design",
    "sample_writes",
    "watch_table",
]
