"""Which ranges of keys answer a read; no data is touched."""

from typing import TYPE_CHECKING

from rowkey.doors import lazily

if TYPE_CHECKING:
    from rowkey.plan.asking import EXAMPLES, Asked, ask, example_of, listed_examples, stretch_end
    from rowkey.plan.explanation import Explanation, RangeShown, explain
    from rowkey.plan.merging import merge_key, sorted_rows
    from rowkey.plan.narration import lines_of
    from rowkey.plan.ordering import orders_behind
    from rowkey.plan.proposal import Proposal, proposed_key
    from rowkey.plan.ranges import KeyRange, Plan, plan_read, spreading
    from rowkey.plan.read import Read, bind_reads
    from rowkey.plan.residual import Residual
else:
    __getattr__ = lazily(
        __name__,
        {
            "asking": "EXAMPLES Asked ask example_of listed_examples stretch_end",
            "explanation": "Explanation RangeShown explain",
            "merging": "merge_key sorted_rows",
            "narration": "lines_of",
            "ordering": "orders_behind",
            "proposal": "Proposal proposed_key",
            "ranges": "KeyRange Plan plan_read spreading",
            "read": "Read bind_reads",
            "residual": "Residual",
        },
    )

__all__ = [
    "EXAMPLES",
    "Asked",
    "Explanation",
    "KeyRange",
    "Plan",
    "Proposal",
    "RangeShown",
    "Read",
    "Residual",
    "ask",
    "bind_reads",
    "example_of",
    "explain",
    "lines_of",
    "listed_examples",
    "merge_key",
    "orders_behind",
    "plan_read",
    "proposed_key",
    "sorted_rows",
    "spreading",
    "stretch_end",
]
