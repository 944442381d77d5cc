"""Explanations of reads: how a read runs, what it costs, and which key would serve it better."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.explanations.explanation import (
        Explanation,
        FormattedRange,
        ReadKeyProposal,
        explain_read,
    )
    from rowkey.explanations.explanation_text import format_explanation
    from rowkey.explanations.table_choice import describe_plan_choice, explain_chosen_read
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "explanation": "Explanation FormattedRange ReadKeyProposal explain_read",
            "explanation_text": "format_explanation",
            "table_choice": "describe_plan_choice explain_chosen_read",
        },
    )

__all__ = [
    "Explanation",
    "FormattedRange",
    "ReadKeyProposal",
    "describe_plan_choice",
    "explain_chosen_read",
    "explain_read",
    "format_explanation",
]
