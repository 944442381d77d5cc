"""Explanations of reads: how a read runs, what it costs, and which key would serve it better."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.explanations.explanation import (
        Explanation,
        FormattedRange,
        ReadKeyProposal,
        format_explanation,
    )
    from rowkey.explanations.read_explanation import explain_read
    from rowkey.explanations.table_choice import explain_chosen_read, explain_table_choice
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "explanation": "Explanation FormattedRange ReadKeyProposal format_explanation",
            "read_explanation": "explain_read",
            "table_choice": "explain_chosen_read explain_table_choice",
        },
    )

__all__ = [
    "Explanation",
    "FormattedRange",
    "ReadKeyProposal",
    "explain_chosen_read",
    "explain_read",
    "explain_table_choice",
    "format_explanation",
]
