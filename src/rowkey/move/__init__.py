"""Moves: take a table in use to another design, and verify that no row was lost or changed."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.move.collisions import (
        Collision,
        CollisionResult,
        find_collisions,
        has_distinct_places,
    )
    from rowkey.move.design_comparison import compare_designs
    from rowkey.move.difference_repair import RepairOutcome, RowRepair, repair_differences
    from rowkey.move.difference_search import FieldDifference, RowDifference
    from rowkey.move.finding import FindingLevel, MoveFinding
    from rowkey.move.preflight import MovePlan, MoveStep, plan_move
    from rowkey.move.table_digest import SideCounts, SkippedRow
    from rowkey.move.verification import VerificationResult, verify_move
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "collisions": "Collision CollisionResult find_collisions has_distinct_places",
            "design_comparison": "compare_designs",
            "difference_repair": "RepairOutcome RowRepair repair_differences",
            "difference_search": "FieldDifference RowDifference",
            "finding": "FindingLevel MoveFinding",
            "preflight": "MovePlan MoveStep plan_move",
            "table_digest": "SideCounts SkippedRow",
            "verification": "VerificationResult verify_move",
        },
    )

__all__ = [
    "Collision",
    "CollisionResult",
    "FieldDifference",
    "FindingLevel",
    "MoveFinding",
    "MovePlan",
    "MoveStep",
    "RepairOutcome",
    "RowDifference",
    "RowRepair",
    "SideCounts",
    "SkippedRow",
    "VerificationResult",
    "compare_designs",
    "find_collisions",
    "has_distinct_places",
    "plan_move",
    "repair_differences",
    "verify_move",
]
