"""Read plans: the ranges of row keys that answer a read, computed without access to data."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.plan.declared_read import DeclaredRead, bind_declared_reads
    from rowkey.plan.limited_reads import count_decoded_rows, count_first_rows, yield_group_sizes
    from rowkey.plan.plan_choice import choose_plan, compute_plan_cost
    from rowkey.plan.ranges import KeyRange, Plan, ReadPlanner, count_spreading_parts, plan_read
    from rowkey.plan.read_binding import (
        MAX_EXAMPLE_VALUES,
        BoundRead,
        bind_example,
        bind_read,
        choose_list_values,
        compute_span_end,
    )
    from rowkey.plan.residual_filter import ResidualFilter
    from rowkey.plan.row_merge import extract_merge_key, sort_rows
    from rowkey.plan.row_order import compute_merged_order, drop_repeated_orderings
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "read_binding": (
                "MAX_EXAMPLE_VALUES BoundRead bind_read bind_example choose_list_values "
                "compute_span_end"
            ),
            "row_merge": "extract_merge_key sort_rows",
            "row_order": "compute_merged_order drop_repeated_orderings",
            "ranges": "KeyRange Plan ReadPlanner plan_read count_spreading_parts",
            "limited_reads": "count_decoded_rows count_first_rows yield_group_sizes",
            "plan_choice": "choose_plan compute_plan_cost",
            "declared_read": "DeclaredRead bind_declared_reads",
            "residual_filter": "ResidualFilter",
        },
    )

__all__ = [
    "MAX_EXAMPLE_VALUES",
    "BoundRead",
    "DeclaredRead",
    "KeyRange",
    "Plan",
    "ReadPlanner",
    "ResidualFilter",
    "bind_declared_reads",
    "bind_example",
    "bind_read",
    "choose_list_values",
    "choose_plan",
    "compute_merged_order",
    "compute_plan_cost",
    "compute_span_end",
    "count_decoded_rows",
    "count_first_rows",
    "count_spreading_parts",
    "drop_repeated_orderings",
    "extract_merge_key",
    "plan_read",
    "sort_rows",
    "yield_group_sizes",
]
