"""Moves: take a table in use to another design, and verify that no row was lost or changed."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.move.bucket_retirement import BucketRetirement, BucketRetirementResult
    from rowkey.move.collisions import (
        Collision,
        CollisionResult,
        find_collisions,
        has_distinct_places,
    )
    from rowkey.move.copier import CopyResult, RowCopier
    from rowkey.move.copy_progress import (
        CopyInterval,
        CopyProgress,
        load_progress,
        save_progress,
    )
    from rowkey.move.copying import TransferResult, transfer_table
    from rowkey.move.design_comparison import compare_designs
    from rowkey.move.difference_repair import RepairOutcome, RowRepair, repair_differences
    from rowkey.move.difference_search import FieldDifference, RowDifference
    from rowkey.move.move import Move
    from rowkey.move.move_record import MoveRecord
    from rowkey.move.preflight import MovePlan, MoveStep, plan_move
    from rowkey.move.rate_limit import RateLimit
    from rowkey.move.status import MoveSettings, MoveStatus, read_status
    from rowkey.move.staying_cells import StayingCells
    from rowkey.move.switch import SwitchResult
    from rowkey.move.table_digest import SideCounts, SkippedRow
    from rowkey.move.verification import VerificationResult, verify_move
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "bucket_retirement": "BucketRetirement BucketRetirementResult",
            "collisions": "Collision CollisionResult find_collisions has_distinct_places",
            "copier": "CopyResult RowCopier",
            "copying": "TransferResult transfer_table",
            "copy_progress": "CopyInterval CopyProgress load_progress save_progress",
            "design_comparison": "compare_designs",
            "difference_repair": "RepairOutcome RowRepair repair_differences",
            "difference_search": "FieldDifference RowDifference",
            "staying_cells": "StayingCells",
            "move": "Move",
            "move_record": "MoveRecord",
            "preflight": "MovePlan MoveStep plan_move",
            "rate_limit": "RateLimit",
            "status": "MoveSettings MoveStatus read_status",
            "switch": "SwitchResult",
            "table_digest": "SideCounts SkippedRow",
            "verification": "VerificationResult verify_move",
        },
    )

__all__ = [
    "BucketRetirement",
    "BucketRetirementResult",
    "Collision",
    "CollisionResult",
    "CopyInterval",
    "CopyProgress",
    "CopyResult",
    "FieldDifference",
    "Move",
    "MovePlan",
    "MoveRecord",
    "MoveSettings",
    "MoveStatus",
    "MoveStep",
    "RateLimit",
    "RepairOutcome",
    "RowCopier",
    "RowDifference",
    "RowRepair",
    "SideCounts",
    "SkippedRow",
    "StayingCells",
    "SwitchResult",
    "TransferResult",
    "VerificationResult",
    "compare_designs",
    "find_collisions",
    "has_distinct_places",
    "load_progress",
    "plan_move",
    "read_status",
    "repair_differences",
    "save_progress",
    "transfer_table",
    "verify_move",
]
