"""Judge one design, compare several, search for better ones, and draft a first from a sample."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.advise.advice import Advice, Pick, RefusedKey
    from rowkey.advise.comparison import ComparedDesign, Comparison, Figure, Measure
    from rowkey.advise.comparison_run import MAX_DESIGNS, compare_designs
    from rowkey.advise.drafts import Draft, draft_design
    from rowkey.advise.judgement import JudgedDesign, judge_comparison, judge_simulation
    from rowkey.advise.key_remedy import KeyRemedy
    from rowkey.advise.key_search import search
    from rowkey.advise.lower_bounds import LowerBounds, ReadBound
    from rowkey.advise.resources import (
        ResourceFigure,
        Resources,
        estimate_resources,
        get_capacity,
    )
    from rowkey.advise.robustness import Change, ChangedLoad
    from rowkey.advise.verdict import (
        GRADES,
        Assessment,
        DesignVerdict,
        Grade,
        judge_design,
    )
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "advice": "Advice Pick RefusedKey",
            "comparison": "ComparedDesign Comparison Figure Measure",
            "comparison_run": "MAX_DESIGNS compare_designs",
            "drafts": "Draft draft_design",
            "judgement": "JudgedDesign judge_comparison judge_simulation",
            "key_remedy": "KeyRemedy",
            "key_search": "search",
            "lower_bounds": "LowerBounds ReadBound",
            "resources": "ResourceFigure Resources estimate_resources get_capacity",
            "robustness": "Change ChangedLoad",
            "verdict": "GRADES Assessment DesignVerdict Grade judge_design",
        },
    )

__all__ = [
    "GRADES",
    "MAX_DESIGNS",
    "Advice",
    "Assessment",
    "Change",
    "ChangedLoad",
    "ComparedDesign",
    "Comparison",
    "DesignVerdict",
    "Draft",
    "Figure",
    "Grade",
    "JudgedDesign",
    "KeyRemedy",
    "LowerBounds",
    "Measure",
    "Pick",
    "ReadBound",
    "RefusedKey",
    "ResourceFigure",
    "Resources",
    "compare_designs",
    "draft_design",
    "estimate_resources",
    "get_capacity",
    "judge_comparison",
    "judge_design",
    "judge_simulation",
    "search",
]
