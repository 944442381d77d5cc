"""Tables in use: opened, written, read and repaired, with rows as values of their fields."""

from rowkey.table.batch import Batch
from rowkey.table.bulk_delete import BulkDelete
from rowkey.table.bulk_load import compute_load_salts
from rowkey.table.client_wait import compute_wait_s, wait_for_clients
from rowkey.table.companions.companion_repair import (
    CompanionRepair,
    build_row_mutations,
    repair_companions,
)
from rowkey.table.companions.companion_tables import TableWithCompanions
from rowkey.table.file_load import FileLoadResult, load_file
from rowkey.table.generations.activation import reconcile_attributes
from rowkey.table.generations.bucket_change import BucketChange, BucketChangeResult
from rowkey.table.generations.bucket_counts import (
    BucketCounts,
    CountedPart,
    ReadCostChange,
    compare_read_costs,
)
from rowkey.table.generations.generation_tracker import GenerationState, GenerationTracker
from rowkey.table.lifecycle import create_table, drop_table, open_table
from rowkey.table.moves.carried_columns import CarriedColumns, StayReason
from rowkey.table.moves.move_follower import MoveFollower
from rowkey.table.moves.moved_table import (
    find_moving_table,
    find_replacement,
    find_used_table,
    rename_design,
)
from rowkey.table.moves.row_translator import RowTranslator
from rowkey.table.moves.shadow_reads import (
    SHADOW_NOTE_PREFIX,
    ShadowCounts,
    sum_shadow_counts,
)
from rowkey.table.moves.slot_mapping import SlotMapping
from rowkey.table.repair import (
    CatalogRepair,
    VerifiedTable,
    repair_catalog,
    repair_tables,
    save_tables,
    verify_tables,
)
from rowkey.table.scans import Scan, UndecodableRow, UndecodableRows, read_cell_blocks
from rowkey.table.scans.merge import merge_runs
from rowkey.table.table import Table
from rowkey.table.table_location import (
    KEEP_ALL_DELETES,
    TableLocation,
    build_missing_error,
    check_table_name,
)
from rowkey.table.table_spec import build_table_spec

__all__ = [
    "KEEP_ALL_DELETES",
    "SHADOW_NOTE_PREFIX",
    "Batch",
    "BucketChange",
    "BucketChangeResult",
    "BucketCounts",
    "BulkDelete",
    "CarriedColumns",
    "CatalogRepair",
    "CompanionRepair",
    "CountedPart",
    "FileLoadResult",
    "GenerationState",
    "GenerationTracker",
    "MoveFollower",
    "ReadCostChange",
    "RowTranslator",
    "Scan",
    "ShadowCounts",
    "SlotMapping",
    "StayReason",
    "Table",
    "TableLocation",
    "TableWithCompanions",
    "UndecodableRow",
    "UndecodableRows",
    "VerifiedTable",
    "build_missing_error",
    "build_row_mutations",
    "build_table_spec",
    "check_table_name",
    "compare_read_costs",
    "compute_load_salts",
    "compute_wait_s",
    "create_table",
    "drop_table",
    "find_moving_table",
    "find_replacement",
    "find_used_table",
    "load_file",
    "merge_runs",
    "open_table",
    "read_cell_blocks",
    "reconcile_attributes",
    "rename_design",
    "repair_catalog",
    "repair_companions",
    "repair_tables",
    "save_tables",
    "sum_shadow_counts",
    "verify_tables",
    "wait_for_clients",
]
